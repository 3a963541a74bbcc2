"""Learning curves of any trainings, continued to four times the data (`curves.fit`, `curves.verdict`)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sumcurve.curves.fit import FURTHEST, LEAST_SIZES, Curves, Extrapolation, Fits, NoCurve, fit_curves
from sumcurve.curves.runs import curves_of_runs
from sumcurve.curves.scale import CEILING, Scale
from sumcurve.curves.verdict import claims, digits, verdicts
from sumcurve.files.layout import Layout
from sumcurve.files.sheet import RECORDS, SEED, SYSTEM, Sheet, Source, sheet_of
from sumcurve.interface.items import mixed_units, warnings_of
from sumcurve.machine.arguments import CommandError, require_whole
from sumcurve.machine.parameters import checked
from sumcurve.tables.reach import records_for
from sumcurve.tables.result import Result
from sumcurve.tables.table import Column, Table, Value, number, span

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

METHOD = ("method", *SYSTEM)
SIZE = (*RECORDS, "size", "sizes", "train_records", "samples", "examples", "n")
TIMES = (2.0, FURTHEST)  # of the largest size, which tables show


@dataclass(frozen=True, repr=False)
class CurveResult(Result):
    """Result of `curve`: `tables` are `expected`, `verdicts` (forecasts) and `needed`; `fits` are on `scale`."""

    fits: Fits = None  # type: ignore[assignment]
    scale: Scale = None  # type: ignore[assignment]
    score: str = "score"

    @property
    def bands(self) -> "pd.DataFrame":
        """Low, median and high of every method's true score, from the smallest size to four times the largest."""
        import pandas as pd

        return pd.DataFrame([row for method in self.fits.methods for row in _band(self.fits, self.scale, method)])

    def plot(self) -> "alt.Chart | alt.LayerChart":
        """Mean scores against sizes with bands of the true scores, dashed beyond the data, as an Altair chart."""
        import altair as alt
        import pandas as pd

        from sumcurve.tables.chart import configured, curves, looks_of
        from sumcurve.tables.figures import panel_of

        measured = pd.DataFrame(_measured(self.fits.curves, self.scale))
        bands = [next(_band(self.fits, self.scale, row.method, [row.size])) for row in measured.itertuples()]
        scores = pd.DataFrame(bands)[["method", "size", "low", "high"]].assign(score=measured.score)
        scores = scores.rename(columns={"size": "records", "low": "score_low", "high": "score_high"})
        beyond = self.bands[self.bands.beyond].rename(columns={"size": "x", "middle": "score"})
        panel = panel_of(scores.assign(system=scores.method), "score", self.score, fitted=beyond)
        return alt.Chart.from_dict(configured(curves(panel, looks_of(self.fits.methods), 460, 300)))


@checked
def curve(
    results: Source,
    *,
    method: str | None = None,
    size: str | None = None,
    score: str | None = None,
    seed: str | None = None,
    reach: Sequence[float] = (),
    best: float | None = None,
    lower_is_better: bool = False,
    random_seed: int = 1,
    layout: Layout | None = None,
) -> CurveResult:
    """Continue learning curves to four times the data: bands, records needed for a score, who is ahead and how sure.

    A curve takes four sizes. Without seeds the noise is estimated from how rough the curves are.

    Args:
        results: a data frame, a path of a CSV or of JSON lines, or a list of mappings: a row for each training, with
            columns for method, size, score and, where there are several, seed
        method: column of methods (default: method, model, system; none: one curve)
        size: column of training sizes (default: records, size, train_records, samples)
        score: column of scores (default: the only number left)
        seed: column of seeds (default: seed)
        reach: scores to be reached (default: the best method's at its largest size)
        best: the best possible score (default: 1 where all scores are from 0 to 1, else 100)
        lower_is_better: as of losses
        random_seed: of the draws
        layout: of a file

    Raises:
        CommandError: where no method has four sizes, and for rows that cannot be used
    """
    require_whole(0, random_seed=random_seed)
    sheet = sheet_of(results, layout)
    column, runs, taken = _runs(sheet, method, size, score, seed)
    curves, how = curves_of_runs(runs, random_seed)
    scale, fitted = _scaled(curves, lower_is_better, best, sheet.name, column)
    try:
        fits = fit_curves(fitted, Extrapolation(seed=random_seed, ceiling=CEILING))
    except NoCurve as reason:
        raise CommandError(f"{sheet.name}: {reason}; add sizes, {LEAST_SIZES} at least") from None
    decimals = _decimals(fits, scale)
    ordered = sorted(fits.methods, key=lambda name: -float(np.median(fits.predict(name, [_largest(fits, name)]))))
    wanted = [*reach] or [_score_of(fits, scale, ordered[0])]
    needed = [_needed(fits, scale, name, target) for target in wanted for name in ordered]
    notes = [how]
    tables = [
        _expected(fits, scale, ordered, decimals, notes),
        _verdicts(fits, scale, decimals),
        _needed_table(needed, decimals),
    ]
    warnings = warnings_of([column], lower_is_better)
    warnings += mixed_units(((name, value) for (name, _), of in runs.items() for value in of.values()), column)
    sentences = [*warnings, *_sentences(fits, scale, ordered, decimals)]
    if reach:
        sentences += [
            f"{row['method']} reaches {number(row['score'], decimals)} with {row['shown']} records." for row in needed
        ]
    left_out = [f"Left out: {name}: {why}." for name, why in fits.refused.items()]
    return CurveResult(sentences, tables, fits, scale, column, taken=[*taken, *left_out])


def _runs(
    sheet: Sheet, method: str | None, size: str | None, score: str | None, seed: str | None
) -> tuple[str, dict[tuple[str, float], dict[str, float]], list[str]]:
    """The column of scores, by method and size the score of every seed, and the roles of columns."""
    named = sheet.column(method, METHOD, "method", "--method") if method else sheet.called(METHOD)
    sizes = sheet.column(size, SIZE, "size", "--size")
    seeds = sheet.column(seed, SEED, "seed", "--seed") if seed else sheet.called(SEED)
    keys = {
        named,
        sizes,
        seeds,
        *(name for name in sheet.columns if name.casefold() in ("seconds", "percent", "split")),
    }
    numbers = [score] if score else sheet.numeric(filter(None, keys), "--score")
    if len(numbers) != 1:
        which = f"several columns of numbers ({', '.join(numbers)})" if numbers else "no column of scores"
        raise CommandError(f"{sheet.name}: {which}: name the scores (--score)")
    column = sheet.column(numbers[0], (), "score", "--score")
    runs: dict[tuple[str, float], dict[str, float]] = {}
    places: dict[tuple[str, float, str], str] = {}
    for line in sheet.lines:
        records = float(line.number(sizes, "write a number above 0, without signs for thousands"))
        if records <= 0:
            raise line.error(sizes, "a size is above 0: correct it, or remove the row")
        name, run = line.text(named) if named else column, line.seed(seeds) if seeds else ""
        if (earlier := places.setdefault((name, records, run), line.place)) != line.place:
            raise CommandError(
                f"{line.place}: {name} has a score at {records:,.0f} already ({earlier}): keep one, or name a column "
                "of seeds (--seed)"
            )
        runs.setdefault((name, records), {})[run] = float(line.number(column))
    roles = {"method": named, "size": sizes, "seed": seeds, "score": column}
    return column, runs, sheet.taken({role: [name] for role, name in roles.items() if name})


def _scaled(curves: Curves, lower_is_better: bool, best: float | None, where: str, column: str) -> tuple[Scale, Curves]:
    scores = curves.scores[np.isfinite(curves.scores)]
    least, most = float(scores.min()), float(scores.max())
    if best is not None and (lower_is_better or not 0 <= least <= most <= best):
        raise CommandError(
            f"{where}: --best {best:g}, and scores in {column} go from {least:g} to {most:g}: give what no score is "
            "above, of scores of which higher is better and none is below 0"
        )
    if best is None and not lower_is_better and 0 <= least <= most <= 1:
        best = 1.0
    scale = Scale(0.0, CEILING / best) if best else Scale.of(scores.tolist(), not lower_is_better)
    return scale, Curves(
        curves.methods, curves.sizes, scale.offset + scale.factor * curves.scores, scale.factor * curves.errors
    )


def _largest(fits: Fits, method: str) -> float:
    return float(fits.largest[fits.methods.index(method)])


def _score_of(fits: Fits, scale: Scale, method: str) -> float:
    """The measured score at a method's largest size."""
    row = fits.curves.scores[fits.curves.methods.index(method)]
    return scale.back(float(row[np.isfinite(row)][-1]))


def _measured(curves: Curves, scale: Scale) -> Iterator[dict[str, Any]]:
    for name, scores in zip(curves.methods, curves.scores.tolist(), strict=True):
        for size, score in zip(curves.sizes.tolist(), scores, strict=True):
            if math.isfinite(score):
                yield {"method": name, "size": size, "score": scale.back(score)}


def _band(fits: Fits, scale: Scale, method: str, sizes: Sequence[float] | None = None) -> Iterator[dict[str, Any]]:
    """A method's band at these sizes, or at all that it is drawn at."""
    largest = _largest(fits, method)
    at = [size for size in (fits.sizes.tolist() if sizes is None else sizes) if size <= FURTHEST * largest * (1 + 1e-9)]
    for size, *fitted in zip(at, *fits.band(method, at), strict=True):
        low, middle, high = sorted(scale.back(float(end)) for end in fitted)
        beyond = bool(size > largest * (1 + 1e-9))
        yield {"method": method, "size": size, "low": low, "middle": middle, "high": high, "beyond": beyond}


def _decimals(fits: Fits, scale: Scale) -> int:
    """Decimals with which the narrowest band beyond the data shows two digits."""
    rows = [row for name in fits.methods for row in _band(fits, scale, name, [2 * _largest(fits, name)])]
    least = min((row["high"] - row["low"]) / 2 for row in rows)
    return min(9, max(0, 1 - math.floor(math.log10(least)))) if least > 0 else 2


def _sentences(fits: Fits, scale: Scale, ordered: Sequence[str], decimals: int) -> Iterator[str]:
    """Sentences on who is ahead of whom, the best method first; then on the gain of each from twice the data."""
    first = ordered[0]
    for verdict in verdicts(fits):
        if first in (verdict.first, verdict.second):
            yield verdict.sentence
    for name in ordered:
        size = _largest(fits, name)
        gain = fits.predict(name, [2 * size])[:, 0] - fits.predict(name, [size])[:, 0]
        tail = (1 - fits.settings.confidence) / 2
        low, middle, high = (scale.difference(float(end)) for end in np.quantile(gain, [tail, 0.5, 1 - tail]))
        sign = 1 if scale.factor > 0 else -1
        ends = (low, high) if sign > 0 else (-high, -low)
        change = span(sign * middle, *ends, decimals)
        yield f"{name}: {number(2 * round(size))} in place of {number(round(size))} would change its score by {change}."


def _needed(fits: Fits, scale: Scale, method: str, target: float) -> dict[str, Any]:
    """Records with which the true curve first has a score: the median with the ends of its band."""
    furthest = FURTHEST * _largest(fits, method)
    here = fits.sizes <= furthest * (1 + 1e-9)
    drawn = fits.draws[:, fits.methods.index(method)][:, here]
    wanted = np.full(len(drawn), scale.offset + scale.factor * target)
    reached = (drawn >= wanted[:, None]).any(axis=1)
    sizes = np.where(reached, records_for(fits.sizes[here], drawn, wanted), np.inf)
    tail = (1 - fits.settings.confidence) / 2
    low, middle, high = np.quantile(sizes, [tail, 0.5, 1 - tail], method="higher").tolist()
    ends = [f"> {number(round(furthest))}" if math.isinf(end) else number(round(end)) for end in (low, middle, high)]
    known = [None if math.isinf(end) else round(end) for end in (low, middle, high)]
    return {
        "method": method,
        "score": target,
        "shown": f"{ends[1]} [{ends[0]}, {ends[2]}]" if ends[0] != ends[2] else ends[1],
        "records": known[1],
        "records_low": known[0],
        "records_high": known[2],
        "reached": float(reached.mean()),
    }


def _needed_table(rows: Sequence[Mapping[str, Any]], decimals: int) -> Table:
    columns = [
        Column("method", "method"),
        Column("score", "score", "number", decimals),
        Column("shown", "records needed"),
        *(Column(name, None, "count") for name in ("records", "records_low", "records_high")),
        Column("reached", "P(within four times the data)", "number", 2),
    ]
    return Table("needed", "Records needed for a score", columns, rows)


def _expected(fits: Fits, scale: Scale, ordered: Sequence[str], decimals: int, notes: Sequence[str]) -> Table:
    measured = {(row["method"], row["size"]): row["score"] for row in _measured(fits.curves, scale)}
    rows = []
    for name in ordered:
        sizes = [size for method, size in measured if method == name]
        for row in _band(fits, scale, name, [*sizes, *(times * sizes[-1] for times in TIMES)]):
            rows.append(
                {
                    "method": name,
                    "size": round(row["size"]),
                    "measured": measured.get((name, row["size"])),
                    "expected": Value(row["middle"], row["low"], row["high"]),
                }
            )
    columns = [
        Column("method", "method"),
        Column("size", "size", "count"),
        Column("measured", "measured", "number", decimals),
        Column("expected", "expected", "number", decimals, interval=True),
    ]
    share = f"{100 * fits.settings.confidence:g} %"
    about = f"Expected: median and {share} band of the true score; nothing is said beyond {FURTHEST:g} times the data."
    return Table("expected", "Learning curves", columns, rows, [about, *notes])


def _verdicts(fits: Fits, scale: Scale, decimals: int) -> Table:
    rows = []
    for verdict in verdicts(fits):
        low, middle, high = (scale.difference(end) for end in verdict.difference)
        chances = (Value(chance, decimals=digits(chance, verdict.confidence)) for chance in verdict.ahead)
        now, twice, four_times = chances
        rows.append(
            {
                "first": verdict.first,
                "second": verdict.second,
                "verdict": verdict.kind,
                "probability": verdict.probability,
                "at": round(verdict.size),
                "difference": Value(middle, low, high),
                "ahead_now": now,
                "ahead_twice": twice,
                "ahead_four_times": four_times,
            }
        )
    columns = [
        Column("first", "first"),
        Column("second", "second"),
        Column("verdict", "forecast"),
        Column("probability", None, "number"),
        Column("at", "size", "count"),
        Column("difference", "ahead by", "number", decimals, interval=True),
        Column("ahead_now", "P(ahead) at N", "number", 2),
        Column("ahead_twice", "at 2N", "number", 2),
        Column("ahead_four_times", "at 4N", "number", 2),
    ]
    notes = [claims(fits.settings.confidence)]
    return Table("verdicts", "Who is ahead, at the largest size N that both have and beyond", columns, rows, notes)

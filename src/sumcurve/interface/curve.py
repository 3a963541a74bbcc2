"""Learning curves of any trainings, continued to four times the data (`curves.fit`, `curves.verdict`)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sumcurve.curves.fit import FURTHEST, LEAST_SIZES, Array, Curves, Extrapolation, Fits, NoCurve, fit_curves
from sumcurve.curves.runs import curves_of_runs
from sumcurve.curves.scale import CEILING, TINY, Scale
from sumcurve.curves.verdict import Verdict, chance, claims, digits, short_chance, verdicts
from sumcurve.files.layout import Layout
from sumcurve.files.sheet import Source
from sumcurve.interface.items import mixed_units, warnings_of
from sumcurve.interface.runs import Runs, runs_of
from sumcurve.machine.arguments import CommandError, require_whole
from sumcurve.machine.parameters import checked
from sumcurve.machine.spelling import shortened
from sumcurve.tables.reach import records_for
from sumcurve.tables.result import Result
from sumcurve.tables.table import Column, Table, Value, listed, number, span

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

PICTURE = (460, 300)  # width and height of a panel, in pixels
TIMES = (2.0, FURTHEST)  # of the largest size, which tables show
NEAR = 0.005  # of a size, to which it is printed


@dataclass(frozen=True)
class Sizes:
    """Print of training sizes: as many decimals as show them and tell them apart; whole ones are records."""

    decimals: int

    @classmethod
    def of(cls, sizes: Array) -> "Sizes":
        for decimals in range(12):
            rounded = np.round(sizes, decimals)
            if len({*rounded}) == len(sizes) and np.allclose(rounded, sizes, rtol=NEAR * (decimals > 0), atol=0):
                return cls(decimals)
        return cls(12)

    def __call__(self, size: float) -> str:
        return number(float(size), self.decimals)

    @property
    def unit(self) -> str:
        return "size" if self.decimals else "records"

    def exact(self, size: float) -> float:
        """A size for programs: whole where sizes are."""
        return size if self.decimals else round(size)

    def column(self, name: str, title: str | None) -> Column:
        return Column(name, title, "number", self.decimals) if self.decimals else Column(name, title, "count")


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

    def plot(self, to: str | Path | None = None) -> "alt.Chart | alt.LayerChart":
        """The curves with bands, their forecasts dashed, and how probably each leads at the end, as an Altair chart.

        It is written `to` an .svg or .png, if given. CommandError for another ending, and without the packages.
        """
        try:
            import altair as alt
            import pandas as pd

            from sumcurve.tables.chart import configured, curves, looks_of, spaced, write
            from sumcurve.tables.figures import panel_of
        except ModuleNotFoundError as error:
            remedy = "pip install altair vl-convert-python"
            raise CommandError(f"a picture needs the package {error.name}, which is not installed: {remedy}") from None
        shown, (width, height) = Sizes.of(self.fits.curves.sizes), PICTURE
        points = [row for row in _measured(self.fits.curves, self.scale) if row["method"] in self.fits.methods]
        points = [next(_band(self.fits, self.scale, row["method"], [row["size"]])) | row for row in points]
        dashed = [
            row
            for name in self.fits.methods
            for row in _band(self.fits, self.scale, name)
            if row["size"] >= _largest(self.fits, name)
        ]
        scores = pd.DataFrame(points).rename(columns={"size": "records", "low": "score_low", "high": "score_high"})
        beyond = pd.DataFrame(dashed).rename(columns={"size": "x", "middle": "score"})
        at, most = FURTHEST * float(self.fits.largest.min()), float(self.fits.largest.max())
        labels = {
            name: f"{name} ({short_chance(share)})" for name, share in self.fits.leading(self.fits.methods, at).items()
        }
        band = f"{100 * self.fits.settings.confidence:g} %"
        about = f"Dashed: forecast. Bands: {band}." + " Lower is better." * (self.scale.factor < 0)
        if len(labels) > 1:
            about += f" In brackets: probability of leading at {shown(at)}."
        else:
            labels = {name: name for name in labels}
        panel = replace(
            panel_of(scores.assign(system=scores.method), "score", self.score, fitted=beyond),
            title={"text": self.score, "subtitle": about},
            x_title=f"training {shown.unit}, logarithmic",
            ticks=spaced([*scores.records, *(times * most for times in TIMES)], shown, width),
            labels=labels,
        )
        chart = curves(panel, looks_of(self.fits.methods), width, height)
        if to is not None:
            write(chart, Path(to))
        return alt.Chart.from_dict(configured(chart))


@checked
def curve(
    results: Source | Sequence[str | Path],
    *,
    method: str | None = None,
    size: str | None = None,
    score: str | None = None,
    seed: str | None = None,
    repeats: bool = False,
    reach: Sequence[float] = (),
    best: float | None = None,
    lower_is_better: bool = False,
    random_seed: int = 1,
    layout: Layout | None = None,
) -> CurveResult:
    """Continue learning curves to four times the data: bands, records needed for a score, who is ahead and how sure.

    A curve takes four sizes. Without seeds the noise is estimated from how rough the curves are.

    Args:
        results: a data frame, a path, or a list of mappings, with a row for each training, or a column for each method
            (`interface.runs` has the forms); or a list of paths, each of one method or one training
        method: column of methods (default: by its name, such as method, model; none: one curve)
        size: column of training sizes (default: by its name, such as records, size, max_train_samples)
        score: column of scores (default: by its name, such as score, rouge1, else the only number left)
        seed: column of seeds (default: by its name, such as seed)
        repeats: rows of one method and size are trainings with seeds that no column names
        reach: scores to be reached (default: the best method's at its largest size)
        best: the best possible score (default: 1 where all scores are from 0 to 1, else 100)
        lower_is_better: as of losses
        random_seed: of the draws
        layout: of a file

    Raises:
        CommandError: where no method has four sizes, and for rows that cannot be used
    """
    require_whole(0, random_seed=random_seed)
    found = runs_of(results, layout, "curve", method=method, size=size, scores=[score] if score else [], seed=seed)
    column, where = found.scores[0], found.sheet.name
    runs = _scores_of(found, repeats)
    curves, how = curves_of_runs(runs, random_seed)
    scale, fitted = _scaled(curves, lower_is_better, best, where, column)
    try:
        fits = fit_curves(fitted, Extrapolation(seed=random_seed, ceiling=CEILING))
    except NoCurve as reason:
        remedy = f"; add sizes, {LEAST_SIZES} at least" if "needs" in str(reason) else ""
        raise CommandError(f"{where}: {reason}{remedy}") from None
    decimals = _decimals(fits, scale)
    ordered = sorted(fits.methods, key=lambda name: -float(np.median(fits.predict(name, [_largest(fits, name)]))))
    shown = Sizes.of(curves.sizes)
    wanted = [*reach] or [_score_of(fits, scale, ordered[0])]
    needed = [_needed(fits, scale, name, target, shown) for target in wanted for name in ordered]
    notes = [how]
    tables = [
        _expected(fits, scale, ordered, decimals, shown, notes),
        _verdicts(fits, scale, decimals, shown),
        _needed_table(needed, decimals, shown),
    ]
    roles = {"method": found.method, "size": found.size, "seed": found.seed, "score": column}
    taken = found.sheet.taken({role: [name] for role, name in roles.items() if name})
    warnings = [sentence for sentence in taken if sentence.startswith("WARNING")]
    taken = [sentence for sentence in taken if sentence not in warnings]
    warnings += warnings_of([column], lower_is_better)
    warnings += mixed_units(((name, value) for (name, _), of in runs.items() for value in of.values()), column)
    sentences = [*warnings, *_ahead(fits, ordered, shown), *_gains(fits, scale, ordered, decimals, shown)]
    if reach:
        sentences += [
            f"{row['method']} reaches {number(row['score'], decimals)} with {shown.unit} {row['shown']}."
            for row in needed
        ]
    left_out = [f"Left out: {name}: {why}." for name, why in fits.refused.items()]
    return CurveResult(sentences, tables, fits, scale, column, taken=[*taken, *left_out])


def _scores_of(found: Runs, repeats: bool) -> dict[tuple[str, float], dict[str, float]]:
    """Scores of every seed by method and size; `repeats` number rows, as seeds that no two methods share.

    CommandError for a second score of one method, size and seed; FileError for a size that is not above 0.
    """
    column, lines = found.scores[0], found.sheet.lines
    names = [line.text(found.method) if found.method else column for line in lines]
    runs: dict[tuple[str, float], dict[str, float]] = {}
    places: dict[tuple[str, float, str], str] = {}
    for line, name in zip(lines, shortened(names), strict=True):
        records = float(line.number(found.size, "write a number above 0 without sign for thousands, such as 1000"))
        if records <= 0:
            raise line.error(found.size, "a size is above 0: correct it, or remove the row")
        run = line.seed(found.seed) if found.seed else line.place if repeats else ""
        if (earlier := places.setdefault((name, records, run), line.place)) != line.place:
            raise CommandError(
                f"{line.place}: {name} has a score at {records:,g} already ({earlier}): keep one, name a column of "
                "seeds (--seed), or, if these are several trainings, have them numbered (--repeats)"
            )
        runs.setdefault((name, records), {})[run] = float(line.number(column))
    return runs


def _scaled(curves: Curves, lower_is_better: bool, best: float | None, where: str, column: str) -> tuple[Scale, Curves]:
    scores = curves.scores[np.isfinite(curves.scores)]
    least, most = float(scores.min()), float(scores.max())
    if best is not None and (lower_is_better or not 0 <= least <= most <= best):
        raise CommandError(
            f"{where}: --best {best:g}, and scores in {column} go from {least:g} to {most:g}: give what no score is "
            "above, of scores of which higher is better and none is below 0"
        )
    if best is None and not lower_is_better and 0 <= least <= most <= 1 and most >= TINY:
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
    return max(0, 1 - math.floor(math.log10(least))) if least > 0 else 2


def _ahead(fits: Fits, ordered: Sequence[str], shown: Sizes) -> Iterator[str]:
    """Sentences on the best method and each other one, by rank: who leads at measured sizes and in the forecast."""
    groups: dict[Any, list[tuple[Verdict, str]]] = {}  # those that one sentence is about
    for verdict in sorted(verdicts(fits), key=lambda one: max(map(ordered.index, (one.first, one.second)))):
        if ordered[0] in (verdict.first, verdict.second):
            since = _since(fits, verdict, shown) if verdict.ahead[0] >= verdict.confidence else ""
            alike = (
                (verdict.first, since, verdict.furthest) if verdict.kind == "ahead throughout" and since else verdict
            )
            groups.setdefault(alike, []).append((verdict, since))
    for of in groups.values():
        verdict, since = of[0]
        now, twice, four_times = (chance(share, verdict.confidence) for share in verdict.ahead)
        ahead = f"{verdict.first} is ahead of {listed([one.second for one, _ in of])} {since}"
        furthest = shown(verdict.furthest)
        if since and verdict.kind == "ahead throughout":
            claimed = list(dict.fromkeys(chance(one.probability, one.confidence) for one, _ in of))
            noun = "probability" if len(claimed) == 1 else "probabilities"
            alone = ", each pair alone" * (len(of) > 1)
            yield f"{ahead}, and is forecast to stay ahead up to {furthest} ({noun} {listed(claimed)}{alone})."
        elif since and verdict.kind == "ahead now":
            yield (
                f"{ahead}; whether it stays ahead is undecided: probability {now} at {shown(verdict.size)}, {twice} at "
                f"{shown(TIMES[0] * verdict.size)}, {four_times} at {furthest}, each size alone."
            )
        else:
            said = verdict.said(shown, " records" * (shown.unit == "records"))
            yield f"{ahead}. {said}" if since else said


def _since(fits: Fits, verdict: Verdict, shown: Sizes) -> str:
    """The sizes up to the largest at which a method's measured mean is ahead without a break; empty without any."""
    first, second = (fits.curves.scores[fits.curves.methods.index(name)] for name in (verdict.first, verdict.second))
    both = np.isfinite(first - second)
    ahead, sizes = (first > second)[both].tolist(), fits.curves.sizes[both].tolist()
    behind = max((place for place, is_ahead in enumerate(ahead) if not is_ahead), default=-1)
    if behind == len(sizes) - 1:
        return ""
    last, since = shown(sizes[-1]), shown(sizes[behind + 1])
    span_of = f"from {since} to {last}" if since != last else f"at {last}"
    if behind < 0:
        return f"at every size {span_of}" if since != last else span_of
    return f"{span_of} (not at {shown(sizes[behind])})"


def _gains(fits: Fits, scale: Scale, ordered: Sequence[str], decimals: int, shown: Sizes) -> Iterator[str]:
    """A sentence on the gain of each method from twice the data."""
    for name in ordered:
        size = _largest(fits, name)
        gain = fits.predict(name, [2 * size])[:, 0] - fits.predict(name, [size])[:, 0]
        tail = (1 - fits.settings.confidence) / 2
        low, middle, high = (scale.difference(float(end)) for end in np.quantile(gain, [tail, 0.5, 1 - tail]))
        sign = 1 if scale.factor > 0 else -1
        ends = (low, high) if sign > 0 else (-high, -low)
        change = span(sign * middle, *ends, decimals)
        yield f"{name}: {shown(2 * size)} in place of {shown(size)} would change its score by {change}."


def _needed(fits: Fits, scale: Scale, method: str, target: float, shown: Sizes) -> dict[str, Any]:
    """Records with which the true curve first has a score: the median with the ends of its band."""
    furthest = FURTHEST * _largest(fits, method)
    here = fits.sizes <= furthest * (1 + 1e-9)
    drawn = fits.draws[:, fits.methods.index(method)][:, here]
    wanted = np.full(len(drawn), scale.offset + scale.factor * target)
    reached = (drawn >= wanted[:, None]).any(axis=1)
    sizes = np.where(reached, records_for(fits.sizes[here], drawn, wanted), np.inf)
    tail = (1 - fits.settings.confidence) / 2
    low, middle, high = np.quantile(sizes, [tail, 0.5, 1 - tail], method="higher").tolist()
    ends = [f"> {shown(furthest)}" if math.isinf(end) else shown(end) for end in (low, middle, high)]
    known = [None if math.isinf(end) else shown.exact(end) for end in (low, middle, high)]
    return {
        "method": method,
        "score": target,
        "shown": f"{ends[1]} [{ends[0]}, {ends[2]}]" if ends[0] != ends[2] else ends[1],
        "records": known[1],
        "records_low": known[0],
        "records_high": known[2],
        "reached": float(reached.mean()),
    }


def _needed_table(rows: Sequence[Mapping[str, Any]], decimals: int, shown: Sizes) -> Table:
    columns = [
        Column("method", "method"),
        Column("score", "score", "number", decimals),
        Column("shown", f"{shown.unit} needed"),
        *(shown.column(name, None) for name in ("records", "records_low", "records_high")),
        Column("reached", "P(within four times the data)", "number", 2),
    ]
    return Table("needed", f"{shown.unit.capitalize()} needed for a score", columns, rows)


def _expected(
    fits: Fits, scale: Scale, ordered: Sequence[str], decimals: int, shown: Sizes, notes: Sequence[str]
) -> Table:
    measured = {(row["method"], row["size"]): row["score"] for row in _measured(fits.curves, scale)}
    rows = []
    for name in ordered:
        sizes = [size for method, size in measured if method == name]
        for row in _band(fits, scale, name, [*sizes, *(times * sizes[-1] for times in TIMES)]):
            rows.append(
                {
                    "method": name,
                    "size": shown.exact(row["size"]),
                    "measured": measured.get((name, row["size"])),
                    "expected": Value(row["middle"], row["low"], row["high"]),
                }
            )
    columns = [
        Column("method", "method"),
        shown.column("size", "size"),
        Column("measured", "measured", "number", decimals),
        Column("expected", "expected", "number", decimals, interval=True),
    ]
    share = f"{100 * fits.settings.confidence:g} %"
    about = f"Expected: median and {share} band of the true score; nothing is said beyond {FURTHEST:g} times the data."
    return Table("expected", "Learning curves", columns, rows, [about, *notes])


def _verdicts(fits: Fits, scale: Scale, decimals: int, shown: Sizes) -> Table:
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
                "at": shown.exact(verdict.size),
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
        shown.column("at", "size"),
        Column("difference", "ahead by", "number", decimals, interval=True),
        Column("ahead_now", "P(ahead) at N", "number", 2),
        Column("ahead_twice", "at 2N", "number", 2),
        Column("ahead_four_times", "at 4N", "number", 2),
    ]
    notes = [claims(fits.settings.confidence)]
    return Table("verdicts", "Who is ahead, at the largest size N that both have and beyond", columns, rows, notes)

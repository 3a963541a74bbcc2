"""Answers of a study: the methods not behind the best at every size, and the records that would close their gap.

Sizes are those that were measured, and two and four times the largest, forecast by the fitted curves alone. Methods
that do not read their source are left out.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sumcurve.curves.fit import FURTHEST, Fits
from sumcurve.scores.scorer import Metric
from sumcurve.statistics.design import Cell, Design
from sumcurve.tables.columns import shared
from sumcurve.tables.efficiency import clock_refusal, mean_cost
from sumcurve.tables.pairs import DECIDING, LEVEL, POWER, SINGLE_RUN
from sumcurve.tables.ranking import Effect, Ranking, Standing
from sumcurve.tables.reach import records_for
from sumcurve.tables.results import Results, value
from sumcurve.tables.table import Column, Table, Value, listed, number
from sumcurve.tables.verdicts import learn

Array = NDArray[np.float64]

BEYOND = (2, 4)  # times the largest size


def table(results: Results) -> Table:
    """A row for every method at every size, the best first.

    `records_needed` are those with which the best method of the size has the method's score, "≤" where its smallest
    size does already; the best one has none. `ratio` divides them by the size. The CSV has the sign in `bound`.
    """
    refusal = clock_refusal(results)
    rows: list[dict[str, Any]] = []
    for corpus in results.corpora:
        for metric in results.ranking_metrics(corpus):
            design = results.design(corpus, metric.name)
            if design is None:
                continue
            drawn = None if design.why else results.draws(corpus, metric.name)
            for records in results.sizes(corpus):
                rows += _measured(results, corpus, metric, records, design, drawn, refusal)
            fits = learn(results).fits.get((corpus, metric.name))
            if fits is not None:
                rows += _fitted(results, corpus, metric, fits)
    columns = [
        *shared("corpus", "metric", "records"),
        Column("basis", "basis"),
        *shared("method"),
        Column("score", "score", "number", results.decimals, interval=True),
        Column("leading", "probability of leading", "number"),
        Column("place", "place"),
        Column("behind_best", "behind the best", "number", results.decimals, interval=True),
        Column("seen", "minimum detectable effect", "number", results.decimals),
        Column("records_needed", "records the best needs", "count"),
        Column("bound", None),
        Column("ratio", "share of records", "number", 2, interval=True),
        Column("per_doubling", "per doubling", "number", results.decimals, interval=True),
        *shared("seconds", "interval_covers"),
    ]
    notes = [
        *sentences(results),
        f"Place: behind where the paired test of table comparisons shows it (family: all pairs of the size and metric, "
        f"{100 * LEVEL:g} %), else not distinguishable. Minimum detectable effect: the true difference that this test "
        f"detects with {100 * POWER:g} % power. Brackets of behind the best: {DECIDING} Those of other columns, and of "
        f"what is not tested, are pointwise. A {SINGLE_RUN} supports no claim about its method.",
        "Records the best needs: trained on so many, the best method of the size matches this method's score "
        "(interpolated in log records within the data). Share of records: their number divided by the size, the best "
        "chosen anew in each draw. The other methods need more than the size for the best's score. Per doubling: what "
        "twice the records add, a line through the sizes up to this one at which the method has significant source "
        "sensitivity. Seconds: of training, up to the selected checkpoint, geometric mean over seeds"
        f"{f'; left out: {refusal}' if refusal else ''}.",
        "Basis fit: forecasts for two and four times the largest size, by the curves of table verdicts. Score: median "
        "and band; behind: where the probability of being behind reaches "
        f"{results.settings.confidence:g}, at which each end of behind the best is. Probability of leading: the share "
        "of draws in which the method's curve is the highest."
        if any(row["basis"] == "fit" for row in rows)
        else "",
        *(f"{corpus}, beyond the data: {reason}." for corpus, reason in learn(results).refused.items()),
        *results.notes.gaps,
        *results.notes.without_interval,
        f"{results.notes.seeds} {results.notes.caveat}",
        results.notes.cut_short,
        results.notes.marks,
        *results.notes.frames,
        *results.notes.identical,
        *results.notes.corpora,
    ]
    return Table("answers", results.title("Which method, at which size of data"), columns, rows, notes)


def _measured(
    results: Results,
    corpus: str,
    metric: Metric,
    records: int,
    design: Design,
    drawn: Array | None,
    refusal: str,
) -> list[dict[str, Any]]:
    """The rows of one size that was measured, the best method first."""
    ranking = results.ranking(corpus, metric.name, records)
    systems = {row.method: row for row in results.of(corpus, True, metric.name) if row.records == records}
    rows = []
    for standing in ranking.standings:
        system = systems[standing.name]
        score = results.estimate(corpus, metric.name, system.cell)
        row: dict[str, Any] = {
            "corpus": corpus,
            "metric": metric.title,
            "records": records,
            "basis": "measured",
            "method": results.name(system),
            "score": value(score, standing.name == ranking.winner, metric.decimals),
            "per_doubling": doubling(results, corpus, metric, system.method, records),
            "interval_covers": score.covers if score.low is not None else None,
            **placed(ranking, standing, metric.decimals),
        }
        if not refusal and (seconds := mean_cost(system, "seconds")):
            row["seconds"] = seconds
        if standing.outcome != "best" or len(ranking.best) == 1:
            methods = [name for name in systems if name in ranking.names]
            first = str(ranking.first), records
            row |= _needed(results, design, drawn, methods, first, system.cell, records, results.sign(metric.name))
        rows.append(row)
    return rows


def placed(ranking: Ranking, standing: Standing, decimals: int) -> dict[str, Any]:
    """The cells that `ranking.recorded` reads, except the method's name."""
    cells: dict[str, Any] = {"place": ranking.place(standing)}
    if (lead := standing.lead) is not None:
        cells["behind_best"] = Value(lead.value, lead.low, lead.high, decimals=decimals)
        cells["seen"] = Value(standing.detectable, decimals=decimals)
    return cells


def doubling(results: Results, corpus: str, metric: Metric, method: str, records: int) -> Value:
    """Gain from twice the records: the slope of a least-squares line over log2 of the sizes up to `records`.

    Sizes at which the method is not shown to use its source are left out; no value where fewer than two are left.
    """
    cells = [
        row.cell
        for row in results.of(corpus, True, metric.name)
        if row.method == method
        and row.records is not None
        and row.records <= records
        and results.counts(row, metric.name)
    ]
    if len(cells) < 2:
        return Value(None)
    logs = np.log2([float(size or 0) for _, size in cells])
    weights = (logs - logs.mean()) / ((logs - logs.mean()) ** 2).sum()
    slope = results.contrast(corpus, metric.name, dict(zip(cells, weights.tolist(), strict=True)))
    return value(slope, decimals=metric.decimals)


def _needed(
    results: Results,
    design: Design,
    drawn: Array | None,
    methods: list[str],
    best: Cell,
    cell: Cell,
    records: int,
    sign: float,
) -> dict[str, Any]:
    """Records with which the best method has the score of `cell`, and their ratio to `records` with its interval."""
    row: dict[str, Any] = {}
    curves = {
        method: sorted(
            (int(size), place)
            for place, (name, size) in enumerate(design.cells)
            if name == method and size is not None and size <= records
        )
        for method in methods
    }
    mine = design.place(cell)
    if min(size for size, _ in curves[best[0]]) == records:
        return {}  # nothing smaller to read off
    if cell != best:
        sizes, places = (np.array(column) for column in zip(*curves[best[0]], strict=True))
        means = sign * design.means
        reached = float(records_for(sizes, means[None, places], means[[mine]])[0])
        bound = "≤" if reached <= sizes[0] else ""
        row |= {"records_needed": Value(round(reached), sign=bound), "ratio": Value(reached / records, sign=bound)}
        row["bound"] = bound
    if drawn is None or cell == best:
        return row
    scores = sign * drawn
    tops = np.stack([scores[:, curves[method][-1][1]] for method in methods], axis=1)
    chosen = tops.argmax(axis=1)
    ratios = np.ones(len(scores))
    for number_of, method in enumerate(methods):
        rows = chosen == number_of
        if method == cell[0] or not rows.any():
            continue  # where it is best itself it needs all of the records
        sizes, places = (np.array(column) for column in zip(*curves[method], strict=True))
        ratios[rows] = records_for(sizes, scores[np.ix_(rows, places)], scores[rows, mine]) / records
    tail = (1 - results.settings.confidence) / 2
    low, high = np.quantile(ratios, [tail, 1 - tail])
    if low < high:  # else all draws are at the smallest size
        row["ratio"] = Value(row["ratio"].number, float(low), float(high), sign=row["ratio"].sign)
    return row


def _fitted(results: Results, corpus: str, metric: Metric, fits: Fits) -> list[dict[str, Any]]:
    """The rows of two and four times the largest size, by the fitted curves alone."""
    scale = learn(results).scales[corpus, metric.name]
    rows = []
    largest = float(max(fits.largest))
    tail = (1 - results.settings.confidence) / 2
    claimed = [1 - results.settings.confidence, 0.5, results.settings.confidence]  # as a verdict's claim
    for times in BEYOND:
        size = times * largest
        reaching = [
            method
            for method, own in zip(fits.methods, fits.largest, strict=True)
            if size <= FURTHEST * own * (1 + 1e-9) and size <= fits.sizes[-1] * (1 + 1e-9)
        ]
        if not reaching:
            continue
        drawn = {method: fits.predict(method, [size])[:, 0] for method in reaching}
        leading = fits.leading(reaching, size) if len(reaching) > 1 else {}
        ordered = sorted(reaching, key=lambda method: -float(np.median(drawn[method])))
        standings, scores = list[Standing](), list[Value]()
        for method in ordered:
            fitted = np.quantile(drawn[method], [tail, 0.5, 1 - tail]).tolist()
            low, middle, high = sorted(scale.back(end) for end in fitted)
            if method == ordered[0]:
                standings.append(Standing(method, "best"))
            else:
                behind = np.quantile(drawn[ordered[0]] - drawn[method], claimed, method="higher").tolist()
                low_end, lead, high_end = (scale.difference(end) for end in behind)
                outcome: Literal["behind", "tied"] = "behind" if behind[0] > 0 else "tied"
                standings.append(Standing(method, outcome, Effect(lead, low_end, high_end)))
            scores.append(Value(middle, low, high, decimals=metric.decimals))
        ranking = Ranking(tuple(standings))
        rows += [
            {
                "corpus": corpus,
                "metric": metric.title,
                "records": round(size),
                "basis": "fit",
                "method": results.name(results.largest(corpus)[standing.name]),
                "score": score,
                "leading": leading.get(standing.name),
                **placed(ranking, standing, metric.decimals),
            }
            for standing, score in zip(standings, scores, strict=True)
        ]
    return rows


def sentences(results: Results) -> list[str]:
    """State who is best at the largest measured size, a sentence for every corpus and metric."""
    lines = []
    for corpus in results.corpora:
        size = max(results.sizes(corpus), default=0)
        for metric in results.ranking_metrics(corpus) if size else ():
            ranking = results.ranking(corpus, metric.name, size)
            if ranking.standings:
                said = ranking.sentences(metric.title, lambda names: listed(list(map(results.title_of, names))))
                lines.append(f"{corpus}, {metric.title}, {number(size)} records: {'. '.join(said)}.")
    return lines

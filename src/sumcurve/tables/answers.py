"""What a person can act on: at every size, which methods are not behind the best, and what data would make up for it.

Sizes are those that were measured, and two and four times the largest, where the fitted curves alone speak. Methods
that do not read their source are left out.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sumcurve.curves.fit import FURTHEST, Fits
from sumcurve.scores.scorer import Metric
from sumcurve.statistics.design import Cell, Design
from sumcurve.tables.efficiency import clock_refusal, costs_of, geometric_mean
from sumcurve.tables.lines import sentences as against_lines
from sumcurve.tables.pairs import DECIDING, LEVEL, POWER, SINGLE_RUN, Pair
from sumcurve.tables.questions import sentences as answered
from sumcurve.tables.reach import records_for
from sumcurve.tables.results import Results, best_mean, value
from sumcurve.tables.table import Column, Table, Value, number
from sumcurve.tables.verdicts import learn

Array = NDArray[np.float64]

BEST, LEVEL_WITH, BEHIND, ALONE = "best", "not distinguishable", "behind", "the only one"
SHARED, NONE = "shares the best mean", "none is best: one mean of all"
BEYOND = (2, 4)  # times the largest size


def table(results: Results) -> Table:
    """A row for every method at every size, the best first.

    `records_needed` are those with which the best method of the size has the method's score, "≤" where its smallest
    size does already; the best one has none. `ratio` divides them by the size. The CSV has the sign in `bound`.
    """
    refusal = clock_refusal(results)
    rows: list[dict[str, Any]] = []
    for corpus in results.corpora:
        for metric in results.ranked(corpus):
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
        Column("corpus", "corpus"),
        Column("metric", "metric"),
        Column("records", "records", "count"),
        Column("basis", "basis"),
        Column("method", "method"),
        Column("score", "score", "number", results.decimals, interval=True),
        Column("place", "place"),
        Column("behind_best", "behind the best", "number", results.decimals, interval=True),
        Column("seen", f"seen at {100 * POWER:g} %", "number", results.decimals),
        Column("records_needed", "the best needs", "count"),
        Column("bound", None),
        Column("ratio", "of the records", "number", 2, interval=True),
        Column("per_doubling", "per doubling", "number", results.decimals, interval=True),
        Column("seconds", "seconds", "number", 0),
        Column("interval_covers", "intervals cover"),
    ]
    notes = [
        *answered(results),
        *(sentence for corpus in results.corpora for sentence in against_lines(results, corpus)),
        *sentences(results),
        *(note for evidence in results.study.evidence.values() for note in evidence.answer_notes(results)),
        f"Place: behind where the paired test of table comparisons shows it (family: all pairs of the size and metric, "
        f"{100 * LEVEL:g} %), else not distinguishable; seen at {100 * POWER:g} %: the true difference that it would "
        f"see with that probability. Brackets of behind the best: {DECIDING} Those of other columns, and of what is "
        f"not tested, are pointwise. A {SINGLE_RUN} supports no claim about its method.",
        "The best needs: with so many records the best method of the size reaches this method's score (interpolated in "
        "log records within the data); of the records: their ratio, the best chosen anew in each draw. The reverse, "
        "what others need for the best's score, is more than the size in every row. Per doubling: what twice the "
        "records add, a line through the sizes up to this one at which the method reads. Seconds: of training, up to "
        "the selected checkpoint, geometric mean over seeds"
        f"{f'; left out: {refusal}' if refusal else ''}.",
        "Basis fit: two and four times the largest size, by the curves of table verdicts; score: median and band; "
        "behind: as a claim there, where the probability of being behind reaches "
        f"{results.settings.confidence:g}, at which each end of behind the best is."
        if any(row["basis"] == "fit" for row in rows)
        else "",
        *(f"{corpus}, beyond the data: {reason}." for corpus, reason in learn(results).refused.items()),
        *results.gaps,
        *results.without_interval,
        f"{results.seeds_note} {results.caveat}",
        results.cut_short,
        results.marks_note,
        *results.frame_notes,
        *results.identical,
        *results.corpora_notes,
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
    placed, sharing = results.placed(corpus, metric.name, records), results.sharing(corpus, metric.name, records)
    here = [row for row in results.of(corpus, True, metric.name) if row.cell in placed]
    best = results.best(corpus, metric.name, records)
    if best is None:
        return []
    sign = results.sign(metric.name)
    methods = [row.method for row in here]
    rows = []
    for system in sorted(here, key=lambda row: -sign * design.means[design.place(row.cell)]):
        cell = system.cell
        score = results.estimate(corpus, metric.name, cell)
        row: dict[str, Any] = {
            "corpus": corpus,
            "metric": metric.title,
            "records": records,
            "basis": "measured",
            "method": results.name(system),
            "score": value(score, results.ahead(corpus, metric.name, records) == cell, metric.decimals),
            "per_doubling": doubling(results, corpus, metric, system.method, records),
            "interval_covers": score.covers if score.low is not None else None,
        }
        if not refusal and (seconds := geometric_mean(costs_of(system, "seconds"))):
            row["seconds"] = seconds
        if cell == best:
            row["place"] = BEST if len(here) > 1 else ALONE
        else:
            pair = results.pair(corpus, metric.name, records, best, cell)
            row |= _behind(pair, best, sign, metric.decimals)
        if cell in sharing and len(sharing) > 1:
            row["place"] = SHARED if len(sharing) < len(here) else NONE
        else:
            row |= _needed(results, design, drawn, methods, best, cell, records, sign)
        rows.append(row)
    return rows


def _behind(pair: Pair, best: Cell, sign: float, decimals: int) -> dict[str, Any]:
    """How far a method is behind the best one, and whether that is shown."""
    place = pair.why if pair.ahead is None else BEHIND if pair.ahead == best else LEVEL_WITH
    low, high = pair.interval
    if low is not None and high is not None:
        low, high = sorted((sign * low, sign * high))
    return {
        "place": place,
        "behind_best": Value(sign * pair.difference.mean, low, high, decimals=decimals),
        "seen": Value(pair.seen, decimals=decimals),
    }


def doubling(results: Results, corpus: str, metric: Metric, method: str, records: int) -> Value:
    """What twice the records add: the slope of a least-squares line over log2 of the sizes up to `records`.

    Sizes at which the method is not shown to read are left out; none where fewer than two are left.
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
        ordered = sorted(reaching, key=lambda method: -float(np.median(drawn[method])))
        for method in ordered:
            fitted = np.quantile(drawn[method], [tail, 0.5, 1 - tail]).tolist()
            low, middle, high = sorted(scale.back(end) for end in fitted)
            behind = np.quantile(drawn[ordered[0]] - drawn[method], claimed, method="higher").tolist()
            sure = behind[0] > 0
            ends = [scale.difference(end) for end in behind]
            place = BEST if method == ordered[0] else BEHIND if sure else LEVEL_WITH
            place = place if len(ordered) > 1 else ALONE
            row = {
                "corpus": corpus,
                "metric": metric.title,
                "records": round(size),
                "basis": "fit",
                "method": results.name(results.largest(corpus)[method]),
                "score": Value(middle, low, high, decimals=metric.decimals),
                "place": place,
            }
            if method != ordered[0]:
                row["behind_best"] = Value(ends[1], ends[0], ends[2], decimals=metric.decimals)
            rows.append(row)
    return rows


def sentences(results: Results) -> list[str]:
    """What came out at the largest measured size, a sentence for every corpus and metric."""
    lines = []
    for corpus in results.corpora:
        for metric in results.ranked(corpus):
            sizes = results.sizes(corpus)
            best = results.best(corpus, metric.name, max(sizes)) if sizes else None
            if best is None or results.design(corpus, metric.name) is None:
                continue
            placed, sharing = (of(corpus, metric.name, max(sizes)) for of in (results.placed, results.sharing))
            rivals = [cell for cell in placed if cell not in sharing]
            pairs = [results.pair(corpus, metric.name, max(sizes), best, rival) for rival in rivals]
            shared = [results.title_of(cell[0]) for cell in sharing]
            level = [results.title_of(pair.second[0]) for pair in pairs if pair.ahead == ""]
            unknown: dict[str, list[str]] = {}
            for pair in pairs:
                if pair.ahead is None:
                    unknown.setdefault(pair.why, []).append(results.title_of(pair.second[0]))
            several = len(sharing) > 1
            sentence = f"{corpus}, {metric.title}, {number(max(sizes))} records: "
            if not rivals:
                named = " and ".join(shared)
                alone = "have the same mean: none is best" if several else "is the only method to be compared"
                lines.append(f"{sentence}{named} {alone}.")
                continue
            sentence += best_mean(shared)
            if level:
                sentence += f"; not distinguishable from {'them' if several else 'it'}: {', '.join(level)}"
            elif not unknown and not several:
                sentence += " and is ahead of every other method"
            sentence += "".join(f"; not tested against {', '.join(names)} ({why})" for why, names in unknown.items())
            lines.append(f"{sentence}.")
    return lines

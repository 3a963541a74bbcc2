"""What pretraining is worth, in records: a BART that is made here from scratch, and what it learns of other packages.

Who is ahead of whom at a size comes from the tests of table comparisons, θ from table efficiency.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sumcurve.capabilities.pretrained.evidence import BETTER, LEVEL_WITH, WORSE, Pretraining, Shared, pretrainings_of
from sumcurve.scores.scorer import Metric
from sumcurve.tables import efficiency
from sumcurve.tables.efficiency import clock_refusal, costs_of, geometric_mean
from sumcurve.tables.pairs import DECIDING, LEVEL, decided
from sumcurve.tables.reach import records_for
from sumcurve.tables.results import Results, value
from sumcurve.tables.systems import System
from sumcurve.tables.table import Column, Table, Value, number

Array = NDArray[np.float64]


def table(results: Results) -> Table:
    """A row for every method that has learned of other packages, at every size, beside the same from scratch.

    `records_needed` are those with which the method reaches the score that from scratch has of the size: "<" where its
    smallest size does already, ">" where its largest does not. The CSV has the sign in `bound`.
    """
    rows = [row for pretraining in pretrainings_of(results) for row in _rows(results, pretraining)]
    columns = [
        Column("corpus", "corpus"),
        Column("metric", "metric"),
        Column("records", "records", "count"),
        Column("method", "method"),
        Column("scratch_method", None),
        Column("scratch", "from scratch", "number", results.decimals, interval=True, narrow=True),
        Column("score", "score", "number", results.decimals, interval=True, narrow=True),
        Column("difference", "difference", "number", results.decimals, interval=True),
        Column("says", "says"),
        Column("records_needed", "reaches it with", "count"),
        Column("bound", None),
        Column("ratio", "of the records", "number", 2, interval=True),
        Column("scratch_seconds", "seconds from scratch", "number", 0),
        Column("seconds", "seconds", "number", 0),
        Column("once_seconds", "pretraining, once", "number", 0),
        Column("scratch_theta_percent", "θ from scratch (%)", "number", 1, interval=True, narrow=True),
        Column("theta_percent", "θ (%)", "number", 1, interval=True, narrow=True),
        Column("interval_covers", "intervals cover"),
    ]
    refusal = clock_refusal(results)
    notes = [
        *sentences(results),
        f"Says: by the paired test of table comparisons (family: all pairs of the size and metric, {100 * LEVEL:g} %). "
        "Reaches it with: so many records give the method the score that from scratch has (interpolated in log records "
        f"within the data); of the records: their ratio to the size. Brackets of the difference: {DECIDING} Other "
        f"brackets: pointwise {results.share} intervals. θ: of the step from the size before (table efficiency).",
        "Seconds: of training, up to the selected checkpoint, geometric mean over seeds; pretraining is paid once, "
        f"whatever the sizes and seeds{f'; left out: {refusal}' if refusal else ''}.",
        *(_made(pretraining, refusal) for pretraining in pretrainings_of(results)),
        f"{results.seeds_note} {results.caveat}",
        results.marks_note,
        *results.corpora_notes,
    ]
    return Table("pretraining", results.title("What pretraining is worth, in records"), columns, rows, notes)


def sentences(results: Results) -> list[str]:
    """For every size with how many records a method reaches what from scratch has; one of each method and metric."""
    lines = []
    for pretraining in pretrainings_of(results):
        scratch = results.title_of(pretraining.scratch or "")
        answers: dict[tuple[str, str], list[str]] = {}
        for row in _rows(results, pretraining):
            needed = row.get("records_needed")
            answer = row["says"]
            if needed is not None and answer in (BETTER, WORSE):
                answer = f"{needed.sign}{' ' * bool(needed.sign)}{number(needed.number)} records"
            answers.setdefault((row["method"], row["metric"]), []).append(f"{number(row['records'])}: {answer}")
        lines += [
            f"{pretraining.corpus}, {metric}: {method} reaches {scratch}'s score of these records with: "
            f"{'; '.join(of)}."
            for (method, metric), of in answers.items()
        ]
    return lines


def _made(pretraining: Pretraining, refusal: str) -> str:
    removed = "; ".join(f"{count:,} for {reason}" for reason, count in pretraining.removed.items()) or "none"
    if pretraining.shared is not None:
        return _made_once(pretraining, pretraining.shared, removed, refusal)
    return (
        f"{pretraining.corpus}: pretrained on {pretraining.texts:,} texts of other packages in {pretraining.updates:,} "
        f"updates, to a loss of {pretraining.nll:.2f} nats a subword on texts that chose nothing. Of "
        f"{pretraining.read:,} records these were removed because they overlap the validation or test part: {removed}. "
        f"Of {pretraining.sentences:,} sentences of their bodies "
        f"{pretraining.sentences_removed:,} are some record's summary and were removed."
    )


def _made_once(pretraining: Pretraining, shared: Shared, removed: str, refusal: str) -> str:
    """`refusal`: why no measured time may be said."""
    seconds = "" if refusal else f", in {pretraining.seconds:,.0f} seconds"
    title = shared.title.rstrip(".") or "texts from elsewhere"
    return (
        f"{pretraining.corpus}: pretrained once, for every study that names {shared.key}, on: {title}. "
        f"{pretraining.texts:,} texts of {shared.subwords:,} subwords, of a vocabulary of {shared.vocabulary:,}, in "
        f"{pretraining.updates:,} updates ({shared.passes:.1f} passes, {shared.passes * shared.subwords:,.0f} "
        f"subwords){seconds}, to a loss of {pretraining.nll:.2f} nats a subword on texts that chose nothing. Of "
        f"{pretraining.sentences:,} sentences {pretraining.sentences_removed:,} are some record's summary and were "
        f"removed. Nothing was removed for this corpus: of {pretraining.read:,} records these have {shared.overlap} "
        f"tokens in a row in common with its validation or test part, or are near-duplicates: {removed}. A word has "
        f"{shared.of_a_word:.2f} subwords there, and {shared.of_a_word_here:.2f} in this corpus's sources."
    )


def _rows(results: Results, pretraining: Pretraining) -> list[dict[str, Any]]:
    if pretraining.scratch is None:
        return []
    refusal = clock_refusal(results)
    thetas = results.once("thetas", lambda: _thetas(results))
    rows = []
    for metric in results.ranked(pretraining.corpus):
        here = results.of(pretraining.corpus, True, metric.name)
        curves = {
            method: {trained.records: trained for trained in here if trained.method == method}
            for method in (pretraining.scratch, *pretraining.methods)
        }
        for method in pretraining.methods:
            for records, system in sorted(curves[method].items()):
                scratch = curves[pretraining.scratch].get(records)
                if scratch is None:
                    continue
                row = _row(results, metric, scratch, system, list(curves[method].values()))
                for name, trained in (("scratch_", scratch), ("", system)):
                    if not refusal:
                        row[f"{name}seconds"] = geometric_mean(costs_of(trained, "seconds"))
                    row[f"{name}theta_percent"] = thetas.get(
                        (pretraining.corpus, trained.method, metric.title, records)
                    )
                if pretraining.methods[method] and not refusal:
                    row["once_seconds"] = pretraining.seconds
                rows.append(row)
    return rows


def _thetas(results: Results) -> dict[tuple[str, str, str, int], Any]:
    """θ of the step that ends at a size, by corpus, method, metric and that size."""
    rows = efficiency.table(results).rows
    return {
        (row["corpus"], row["method"], row["metric"], row["to_records"]): row.get("theta_percent")
        for row in rows
        if row["interval"] == "step"
    }


def _row(results: Results, metric: Metric, scratch: System, system: System, curve: list[System]) -> dict[str, Any]:
    corpus, records = system.corpus, scratch.records or 0
    pair = results.pair(corpus, metric.name, records, system.cell, scratch.cell)
    scores = [results.estimate(corpus, metric.name, trained.cell) for trained in (scratch, system)]
    says = pair.why if pair.ahead is None else {"": LEVEL_WITH, system.cell: BETTER}.get(pair.ahead, WORSE)
    row: dict[str, Any] = {
        "corpus": corpus,
        "metric": metric.title,
        "records": records,
        "method": results.name(system),
        "scratch_method": results.name(scratch),
        "scratch": value(scores[0], decimals=metric.decimals),
        "score": value(scores[1], pair.ahead == system.cell, metric.decimals),
        "difference": decided(pair, metric.decimals),
        "says": says,
        "interval_covers": pair.difference.covers if pair.difference.low is not None else None,
    }
    design = results.design(corpus, metric.name)
    assert design is not None
    sign = results.sign(metric.name)
    sizes = np.array([trained.records for trained in curve])
    places = [design.place(trained.cell) for trained in curve]
    mine = design.place(scratch.cell)
    means = sign * design.means
    reached = float(records_for(sizes, means[None, places], means[[mine]])[0])
    bound = "<" if means[places[0]] >= means[mine] else ">" if (means[places] < means[mine]).all() else ""
    row["records_needed"] = Value(round(reached), sign=bound)
    ratio = reached / records
    decimals = max(2, 1 - math.floor(math.log10(ratio)))  # 10 of 3,000 records are 0.0033
    row["ratio"] = Value(ratio, sign=bound, decimals=decimals)
    row["bound"] = bound
    if not design.why:
        drawn = sign * results.draws(corpus, metric.name)
        ratios = records_for(sizes, drawn[:, places], drawn[:, mine]) / records
        tail = (1 - results.settings.confidence) / 2
        low, high = np.quantile(ratios, [tail, 1 - tail]).tolist()
        if low < high:  # else all draws are at one end of the curve
            row["ratio"] = Value(ratio, low, high, sign=bound, decimals=decimals)
    return row

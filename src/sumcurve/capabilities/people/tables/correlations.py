"""How far metrics agree with what people judged: correlations over systems, and over records within systems."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from sumcurve.scores.scorer import Metric
from sumcurve.statistics.correlation import Correlation, correlation
from sumcurve.statistics.design import Cell
from sumcurve.statistics.groups import LEAST_GROUPS, Groups
from sumcurve.tables.results import Results, System
from sumcurve.tables.table import Column, Table, Value

PEOPLE = "people"  # the scorer
SYSTEMS, RECORDS = "systems", "records"
LEAST = 3  # systems: two are always on a line
DECIMALS = 2

Values = Mapping[Cell, Mapping[str, float]]  # by system, by record


def table(results: Results) -> Table:
    """A row for every two metrics and each level, of corpora where people judged outputs.

    All is of the outputs and records that people judged. Over systems: their mean scores, those of one method as a
    group. Over records: each system's values less its mean, records of a group together.
    """
    rows = [row for corpus in results.corpora for row in _rows(results, corpus)]
    columns = [
        Column("corpus", "corpus"),
        Column("over", "over"),
        Column("first", "first"),
        Column("second", "second"),
        Column("systems", "systems", "count"),
        Column("records", "records", "count"),
        Column("pearson", "Pearson", "number", DECIMALS, interval=True),
        Column("pearson_p", "p", "p"),
        Column("spearman", "Spearman", "number", DECIMALS, interval=True),
        Column("spearman_p", "p ", "p"),
    ]
    notes = [
        "Of the outputs and records that people judged. Over systems: of mean scores; a method at several sizes is one "
        f"draw, and an interval takes {LEAST_GROUPS} methods. Over records: of values less the system's mean, so that "
        "which system is better plays no part; records of a group are one draw. In brackets: "
        f"{results.share} intervals (Fisher's z, jackknife over groups); p of single correlations.",
        results.marks_note,
    ]
    return Table("correlations", results.title("Metrics beside what people judged"), columns, rows, notes)


def _rows(results: Results, corpus: str) -> Iterator[dict[str, Any]]:
    judged = [system for system in results.of(corpus) if system.scored(PEOPLE)]
    if not judged:
        return
    ids = sorted({name for system in judged for items in system.scored(PEOPLE) for name in items.ids})
    group_of = dict(zip(judged[0].scored(PEOPLE)[0].ids, judged[0].scored(PEOPLE)[0].groups, strict=True))
    metrics = [
        metric for metric in results.compared if any(results.scorer(metric.name) in system.scorers for system in judged)
    ]
    values = {metric.name: _values(results, judged, metric, ids) for metric in metrics}
    for first, second in combinations(metrics, 2):
        both = values[first.name], values[second.name]
        cells = [cell for cell in both[0] if cell in both[1]]
        shared = {cell: [name for name in both[0][cell] if name in both[1][cell]] for cell in cells}
        cells = [cell for cell in cells if shared[cell]]
        if not cells:
            continue
        row = {
            "corpus": corpus,
            "first": results.titled(corpus, first),
            "second": results.titled(corpus, second),
            "systems": len(cells),
            "records": len({name for cell in cells for name in shared[cell]}),
        }
        means = [np.array([np.mean([of[cell][name] for name in shared[cell]]) for cell in cells]) for of in both]
        few = f"{len(cells)} systems were judged; over systems it takes {LEAST}" if len(cells) < LEAST else ""
        yield {**row, "over": SYSTEMS, **_both(results, means, Groups.of([method for method, _ in cells]), few)}
        apart = [
            np.concatenate([_less_mean([of[cell][name] for name in shared[cell]]) for cell in cells]) for of in both
        ]
        groups = Groups.of([group_of[name] for cell in cells for name in shared[cell]])
        yield {**row, "over": RECORDS, **_both(results, apart, groups, "")}


def _values(results: Results, judged: Sequence[System], metric: Metric, ids: Sequence[str]) -> Values:
    """By system the mean value of every judged record, over the seeds that people judged and an item's further keys."""
    scorer, wanted = results.scorer(metric.name), set(ids)
    values: dict[Cell, dict[str, float]] = {}
    for system in judged:
        by_record: dict[str, list[float]] = {}
        for output in system.outputs:
            if PEOPLE not in output.scores or scorer not in output.scores:
                continue
            items = output.scores[scorer]
            place = [column.name for column in items.metrics].index(metric.name)
            for name, score in zip(items.ids, items.values[place].tolist(), strict=True):
                if name in wanted:
                    by_record.setdefault(name, []).append(score)
        if by_record:
            values[system.cell] = {name: float(np.mean(several)) for name, several in by_record.items()}
    return values


def _less_mean(values: Sequence[float]) -> np.ndarray:
    array = np.array(values)
    return np.asarray(array - array.mean())


def _both(results: Results, pair: Sequence[np.ndarray], groups: Groups, why: str) -> dict[str, Any]:
    if why:
        return {"pearson": Value(None, why=why), "spearman": Value(None, why=why)}
    confidence = results.settings.confidence
    first, second = pair
    pearson = correlation(first, second, groups, "pearson", confidence)
    spearman = correlation(first, second, groups, "spearman", confidence)
    return {
        "pearson": _cell(pearson),
        "pearson_p": pearson.p,
        "spearman": _cell(spearman),
        "spearman_p": spearman.p,
    }


def _cell(correlated: Correlation) -> Value:
    if correlated.value is None:
        return Value(None, why="one of the two is the same everywhere")
    return Value(correlated.value, correlated.low, correlated.high)

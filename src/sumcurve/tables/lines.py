"""What trained methods are against systems that learn nothing: how near the optimum, and from which size ahead.

For studies that ask questions. The lines are those of the systems that see no reference; who is ahead is told by the
tests of table comparisons, made at every size.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from sumcurve.scores.scorer import Metric
from sumcurve.tables.evidence import BLIND
from sumcurve.tables.pairs import LEVEL
from sumcurve.tables.results import OPTIMUM, UNREAD, Results, value
from sumcurve.tables.systems import System
from sumcurve.tables.table import Column, Table, Value, listed, number

NEVER, NOT_TESTED, NOT_READING = "at no size", "not tested", "not shown to read its source"


def table(results: Results) -> Table:
    """A row for every system at every size: its score, its share of the optimum's, and the lines around it.

    `ahead_of`, `behind` and `not_shown` name systems that are not trained and see no reference; they are empty where
    nothing is tested, as with one seed, where the method does not read its source, and of metrics that are not to be
    read.
    """
    rows = []
    for corpus in results.corpora if results.study.questions else []:
        for metric in results.ranking:
            if results.design(corpus, metric.name) is not None:
                rows += [_row(results, metric, system) for system in results.of(corpus, metric=metric.name)]
    columns = [
        Column("corpus", "corpus"),
        Column("metric", "metric"),
        Column("method", "method"),
        Column("records", "records", "count"),
        Column("score", "score", "number", results.decimals, interval=True),
        Column("optimum_percent", "% of the optimum", "number", 1, interval=True),
        Column("ahead_of", "ahead of"),
        Column("not_shown", "no significant difference from"),
        Column("behind", "behind"),
    ]
    notes = [
        *(sentence for corpus in results.corpora for sentence in sentences(results, corpus)),
        f"Of the optimum: {results.optimum_words.share} Ahead, behind: by the tests of table comparisons, at every "
        f"size of its own (family: all pairs of the size and metric, {100 * LEVEL:g} %).",
        f"{results.seeds_note} {results.caveat}",
        results.marks_note,
        *results.unread_notes,
    ]
    caption = f"Trained methods against untrained systems, and the share of {results.optimum_words.of_all}"
    return Table("lines", results.title(caption), columns, rows, notes)


def sentences(results: Results, corpus: str) -> list[str]:
    """For every metric and line of a corpus, from how many records on each method is ahead of it.

    Lines of which the same is to be said share it.
    """
    lines_of = []
    for metric in results.ranking if results.study.questions else []:
        if results.design(corpus, metric.name) is None or results.unread(corpus, metric.name):
            continue
        methods: dict[str, list[str]] = {}
        for line in (system for system in results.of(corpus, False, metric.name) if system.role in BLIND):
            by_size: dict[int | str, list[str]] = {}
            for method, size in _from(results, corpus, metric, line):
                by_size.setdefault(size, []).append(method)
            sizes = sorted(size for size in by_size if isinstance(size, int))
            parts = [f"{number(size)} ({listed(by_size[size])})" for size in sizes]
            parts += [f"{words} ({listed(by_size[words])})" for words in (NEVER, NOT_TESTED) if words in by_size]
            if parts:
                methods.setdefault(", ".join(parts), []).append(line.method)
        if methods:
            lines = [f"{listed(names)}: {parts}" for parts, names in methods.items()]
            lines_of.append(
                f"{corpus}, {metric.title}: records from which on, at all sizes, a method is ahead of untrained "
                f"systems. {'; '.join(lines)}."
            )
    return lines_of


def _from(results: Results, corpus: str, metric: Metric, line: System) -> Iterator[tuple[str, int | str]]:
    """Of every method the smallest size from which on it is ahead of a line; NEVER or NOT_TESTED where none is."""
    for method in results.methods(corpus):
        ahead = [
            (system.records or 0, _place(results, metric, system, line))
            for system in results.of(corpus, True, metric.name)
            if system.method == method
        ]
        if all(place is None for _, place in ahead):
            yield method, NOT_TESTED
            continue
        first = None
        for records, place in sorted(ahead, reverse=True):
            if place != "ahead":
                break
            first = records
        yield method, NEVER if first is None else first


def _row(results: Results, metric: Metric, system: System) -> dict[str, Any]:
    estimate = results.estimate(system.corpus, metric.name, system.cell)
    row: dict[str, Any] = {
        "corpus": system.corpus,
        "metric": results.titled(system.corpus, metric),
        "method": results.name(system),
        "records": system.records,
        "score": value(
            estimate, mark=UNREAD if results.unread(system.corpus, metric.name) else "", decimals=metric.decimals
        ),
        "optimum_percent": share(results, metric, system),
    }
    if system.records is not None and not results.unread(system.corpus, metric.name):
        lines = [line for line in results.of(system.corpus, False, metric.name) if line.role in BLIND]
        places = {line.method: _place(results, metric, system, line) for line in lines}
        for column, place in (("ahead_of", "ahead"), ("not_shown", "not shown"), ("behind", "behind")):
            row[column] = ", ".join(name for name, met in places.items() if met == place) or None
    return row


def _place(results: Results, metric: Metric, system: System, line: System) -> str | None:
    """Where a system is against a line: "ahead", "behind", "not shown" or NOT_READING; None where nothing is tested."""
    assert system.records is not None
    if not results.counts(system):
        return NOT_READING
    pair = results.pair(system.corpus, metric.name, system.records, system.cell, line.cell)
    if pair.ahead is None:
        return None
    return {system.cell: "ahead", line.cell: "behind"}.get(pair.ahead or ("", None), "not shown")


def share(results: Results, metric: Metric, system: System) -> Value:
    """The system's mean score in percent of the optimum's, by joint draws; none where these are unknown."""
    design = results.design(system.corpus, metric.name)
    if design is None or (OPTIMUM, None) not in design.cells:
        return Value(None)
    places = design.place(system.cell), design.place((OPTIMUM, None))
    own, best = (float(design.means[place]) for place in places)
    if best <= 0:
        return Value(None)
    if design.why:
        return Value(100 * own / best)
    drawn = results.draws(system.corpus, metric.name)
    tail = (1 - results.settings.confidence) / 2
    low, high = np.quantile(100 * drawn[:, places[0]] / drawn[:, places[1]], [tail, 1 - tail]).tolist()
    return Value(100 * own / best, low, high)

"""Appendix: who is ahead of whom where each method is decoded by the search of its own paper."""

from itertools import combinations
from typing import Any

from sumcurve.scores.scorer import Metric
from sumcurve.tables.comparisons import NOT_SHOWN, numbers, paired
from sumcurve.tables.pairs import tested
from sumcurve.tables.results import NO_MEASURE, Results
from sumcurve.tables.systems import System
from sumcurve.tables.table import Column, Name, Table


def table(results: Results) -> Table:
    """A row for every two methods and every metric, first minus second, at the largest size.

    All pairs under one metric are a family of tests, as in table comparisons. `ahead` is who is better, or why nobody
    is shown to be.
    """
    rows = [row for corpus in results.corpora for metric in results.compared for row in _rows(results, corpus, metric)]
    columns = [
        Column("corpus", "corpus"),
        Column("metric", "metric"),
        Column("search", None),
        *paired(results),
    ]
    return Table("own_searches", results.title("Paired differences, each method by its paper's search"), columns, rows)


def _rows(results: Results, corpus: str, metric: Metric) -> list[dict[str, Any]]:
    scorer = results.scorer(metric.name)
    here = [system for system in results.paper if system.corpus == corpus and scorer in system.scorers]
    largest = max((system.records or 0 for system in here), default=0)
    systems = [system for system in here if system.records == largest]
    if len(systems) < 2:
        return []
    design = results.design_of(systems, metric.name)
    reasons = {
        system.cell: why.why for system in systems if (why := results.unranked(corpus, metric.name, system.cell))
    }
    pairs = tested(design, metric, list(combinations(systems, 2)), results.settings, reasons)
    names = {system.cell: _name(results, system) for system in systems}
    rows = []
    for (first, second), pair in pairs.items():
        if pair.ahead is None:
            ahead: str = pair.why
        elif results.unread(corpus, metric.name):
            ahead = NO_MEASURE
        else:
            ahead = names[pair.ahead] if pair.ahead else NOT_SHOWN
        rows.append(
            {
                "corpus": corpus,
                "metric": results.titled(corpus, metric),
                "search": "paper",
                "first": names[first],
                "second": names[second],
                "ahead": ahead,
                **numbers(pair, metric),
            }
        )
    return rows


def _name(results: Results, system: System) -> Name:
    return results.unasked(system.method, results.title_of(system.method))

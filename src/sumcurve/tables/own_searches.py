"""Appendix: paired comparisons of methods, each decoded by the search of its own paper."""

from itertools import combinations
from typing import Any

from sumcurve.scores.scorer import Metric
from sumcurve.tables.columns import shared
from sumcurve.tables.comparisons import cells, paired
from sumcurve.tables.pairs import tested
from sumcurve.tables.results import Results
from sumcurve.tables.table import Table


def table(results: Results) -> Table:
    """A row for every two methods and every metric, first minus second, at the largest size.

    All pairs under one metric are a family of tests, as in table comparisons. `ahead` is the better one, or the
    reason why neither is.
    """
    rows = [row for corpus in results.corpora for metric in results.compared for row in _rows(results, corpus, metric)]
    columns = [*shared("corpus", "metric", "search"), *paired(results)]
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
    names = {cell: results.unasked(cell[0], results.title_of(cell[0])) for cell in design.cells}
    return [cells(results, corpus, metric, pair, names.__getitem__) | {"search": "paper"} for pair in pairs.values()]

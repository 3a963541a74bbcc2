"""Appendix: each method at its largest size, the same weights decoded by the common search and by its paper's."""

from dataclasses import replace
from typing import Any

from sumcurve.statistics.intervals import difference
from sumcurve.tables.columns import shared
from sumcurve.tables.results import Results, value
from sumcurve.tables.table import Column, Table


def table(results: Results) -> Table:
    """A row for every method and metric; `difference` is paper minus common, paired over groups of items and seeds."""
    rows: list[dict[str, Any]] = []
    for corpus in results.corpora:
        for method, common in results.largest(corpus).items():
            paper = next(
                (system for system in results.paper if (system.corpus, system.method) == (corpus, method)), None
            )
            if paper is None:
                continue
            for metric in results.metrics:
                scorer = results.scorer(metric.name)
                if not all(scorer in system.scorers for system in (common, paper)):
                    continue
                both = [replace(common, method="common"), replace(paper, method="paper")]
                design = results.design_of(both, metric.name)
                change = difference(design, ("paper", paper.records), ("common", common.records))
                rows.append(
                    {
                        "corpus": corpus,
                        "method": results.name(common),
                        "percent": common.percent,
                        "seeds": len(common.seeds),
                        "metric": results.titled(corpus, metric),
                        "common": float(design.means[0]),
                        "paper": float(design.means[1]),
                        "difference": value(change),
                        "interval_covers": change.covers if change.low is not None else None,
                        "common_search": common.outputs[0].search_signature,
                        "paper_search": paper.outputs[0].search_signature,
                    }
                )
    columns = [
        *shared("corpus", "method", "percent", "seeds", "metric"),
        Column("common", "common", "number", results.decimals),
        Column("paper", "paper", "number", results.decimals),
        Column("difference", "difference", "number", results.decimals, interval=True),
        *shared("interval_covers"),
        Column("common_search", "common search"),
        Column("paper_search", "paper's search"),
    ]
    return Table("decoding", results.title("The common search and that of the method's paper"), columns, rows)

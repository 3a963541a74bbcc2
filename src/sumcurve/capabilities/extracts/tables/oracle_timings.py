"""Appendix: measured seconds for an article, by who chose its sentences."""

from typing import Any

from sumcurve.capabilities.extracts.evidence import extracts_of
from sumcurve.capabilities.extracts.tables.extracts import Chosen, named, place_of
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table

MEASURES = ("median", "mean", "max", "total")


def table(results: Results) -> Table:
    """A row for everyone that chose sentences; of exact with tokenisation and the heuristic that it starts from."""
    rows: list[dict[str, Any]] = []
    for oracle in extracts_of(results.study):
        by_chosen = oracle.timings.groupby(["algorithm", "variant", "optimised"], sort=False).seconds
        measured: dict[Chosen, Any] = {(str(a), str(v), str(o)): seconds for (a, v, o), seconds in by_chosen}
        for chosen in sorted(measured, key=place_of):
            seconds = measured[chosen].astype(float)
            rows.append(
                {
                    "corpus": oracle.corpus,
                    **named(chosen),
                    "articles": len(seconds),
                    "median_seconds": seconds.median(),
                    "mean_seconds": seconds.mean(),
                    "max_seconds": seconds.max(),
                    "total_seconds": seconds.sum(),
                }
            )
    columns = [
        *(Column(name, name) for name in ("corpus", "algorithm", "variant", "optimised")),
        Column("articles", "articles", "count"),
        *(Column(f"{name}_seconds", name, "number", 6) for name in MEASURES),
    ]
    return Table("oracle_timings", results.title("Seconds for an article"), columns, rows)

"""APES of every system by each reader."""

from sumcurve.capabilities.apes.tables.apes import named, overlap_of, scores_of, systems_asked
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table


def table(results: Results) -> Table:
    """A row for every system, size and reader."""
    rows = [
        {
            "corpus": corpus,
            "method": named(results, system),
            "search": system.outputs[0].search,
            "percent": system.percent,
            "records": system.records,
            "reader": seed,
            "apes": share,
        }
        for corpus in results.corpora
        for system in systems_asked(results, corpus)
        for seed, share in (scores_of(results, system)[1] | overlap_of(system)).items()
    ]
    columns = [
        Column("corpus", "corpus"),
        Column("method", "method"),
        Column("search", None),
        Column("percent", "%", "count"),
        Column("records", "records", "count"),
        Column("reader", "reader"),
        Column("apes", "APES", "number", 2),
    ]
    return Table("apes_readers", results.title("APES by each reader"), columns, rows)

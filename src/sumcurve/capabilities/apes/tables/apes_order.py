"""Whether APES has gold above the source, the source above lead, and lead above the reference's words at random."""

from sumcurve.capabilities.apes.tables.apes import order
from sumcurve.tables.results import Results, value
from sumcurve.tables.table import Column, Table


def table(results: Results) -> Table:
    """A row for every two neighbours of that order that a corpus has."""
    rows = [
        {**row, "difference": value(row["difference"]), "interval_covers": row["difference"].covers}
        for corpus in results.corpora
        for row in order(results, corpus)
    ]
    columns = [
        Column("corpus", "corpus"),
        Column("first", "first"),
        Column("second", "second"),
        Column("difference", "difference", "number", 2, interval=True),
        Column("says", "says"),
        Column("interval_covers", "interval covers"),
    ]
    return Table("apes_order", results.title("APES of what a measure of content has in order"), columns, rows)

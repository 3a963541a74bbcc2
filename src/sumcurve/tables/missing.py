"""Appendix: outputs that a study lacks, because they are not finished."""

from sumcurve.tables.columns import shared
from sumcurve.tables.results import Results
from sumcurve.tables.table import Table


def table(results: Results) -> Table:
    """A row for every output that is not finished, with the folder it waits for."""
    rows = [
        {
            "corpus": output.corpus,
            "method": output.method,
            "percent": output.percent,
            "records": output.records,
            "seed": output.seed,
            "search": output.search,
            "why": f"waits for {output.folder}",
        }
        for output in results.study.missing
    ]
    columns = shared("corpus", "method", "percent", "records", "seed", "search", "why")
    return Table("missing", results.title("Outputs that are missing"), columns, rows)

"""Appendix: every two ways of choosing sentences on the same articles."""

from sumcurve.capabilities.extracts.tables.extracts import pairs_of
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table


def table(results: Results) -> Table:
    """A row for every pair and metric, first minus second in points.

    `p_family`, `low` and `high` are corrected over all of a metric; `p` and the pointwise ends are of each pair alone.
    """
    frame = pairs_of(results)
    texts = ["corpus", "metric"]
    texts += [f"{place}_{key}" for place in ("first", "second") for key in ("algorithm", "variant", "optimised")]
    columns = [
        *(Column(name, name) for name in texts),
        Column("items", "items", "count"),
        *(Column(name, name, "number") for name in ("difference", "low", "high", "pointwise_low", "pointwise_high")),
        *(Column(name, name, "count") for name in ("wins", "ties", "losses")),
        *(Column(name, name, "p") for name in ("p", "p_family")),
    ]
    rows = frame.to_dict("records")
    return Table("oracle_pairs", results.title("Every two ways of choosing sentences"), columns, rows)

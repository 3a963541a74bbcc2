"""Whether APES has gold above the source, the source above lead, and lead above the reference's words at random."""

from sumcurve.capabilities.apes.levels import BY_OVERLAP, SHARE
from sumcurve.capabilities.apes.tables.apes import order
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table, Value


def table(results: Results) -> Table:
    """A row for every two neighbours of that order that a corpus has: one family of tests for each corpus, and where
    word overlap stands beside the readers another one for it.

    The ends of `difference` are those of the test that decides; `pointwise_low` and `pointwise_high` of its own.
    """
    metric_of = {metric.name: metric for metric in results.metrics}
    rows = [
        {
            "corpus": corpus,
            "metric": results.titled(corpus, metric_of[metric]),
            "first": tested.first[0],
            "second": tested.second[0],
            "difference": Value(tested.difference.mean, low, high, why=tested.difference.why),
            "pointwise_low": tested.difference.low,
            "pointwise_high": tested.difference.high,
            "p": tested.p_family,
            "says": says,
            "interval_covers": tested.difference.covers,
        }
        for corpus in results.corpora
        for metric in (SHARE, BY_OVERLAP)
        for tested, says in order(results, corpus, metric)
        for low, high in [tested.interval or (None, None)]
    ]
    columns = [
        Column("corpus", "corpus"),
        Column("metric", "metric"),
        Column("first", "first"),
        Column("second", "second"),
        Column("difference", "difference", "number", 2, interval=True),
        *(Column(f"pointwise_{end}", None, "number", 2) for end in ("low", "high")),
        Column("p", "p (family)", "p"),
        Column("says", "says"),
        Column("interval_covers", "interval covers"),
    ]
    return Table("apes_order", results.title("APES of what a measure of content has in order"), columns, rows)

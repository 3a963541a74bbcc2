"""Printed results below the leaderboard of a corpus."""

from collections.abc import Iterator

from sumcurve.capabilities.published.table import SECOND_HAND, SECOND_HAND_NOTE
from sumcurve.tables.report.facts import Corpus, Record
from sumcurve.tables.report.leaderboard import Printed

REFERENCES = {"mean": "mean over references", "best": "best reference", "first": "first reference"}


def rows(corpus: Corpus) -> Iterator[Printed]:
    """The rows of table published that have the leaderboard's metric, in its order."""
    for row in corpus.rows("published"):
        if row.get(corpus.column):
            yield _row(row, row[corpus.column])


def _row(row: Record, score: str) -> Printed:
    second_hand = row["seen"] != "yes"
    scored = [row["rouge"], REFERENCES.get(row["references"], row["references"])]
    return Printed(
        row["system"] + (f" {SECOND_HAND}" if second_hand else ""),
        score,
        ", ".join(filter(None, scored)),
        row["source"],
        row["comparable"],
        int(row["parameters"]) if row["parameters"] else None,
        int(row["records"]) if row["records"] else None,
        SECOND_HAND_NOTE if second_hand else "",
    )

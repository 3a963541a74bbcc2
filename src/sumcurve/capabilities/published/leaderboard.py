"""Printed results below the leaderboard of a corpus."""

from collections.abc import Iterator

from sumcurve.capabilities.published.table import REFERENCES, SECOND_HAND, SECOND_HAND_NOTE
from sumcurve.tables.report.facts import Corpus, Record
from sumcurve.tables.report.leaderboard import Printed


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
        [*_ours(row), *([SECOND_HAND_NOTE] if second_hand else [])],
    )


def _ours(row: Record) -> list[str]:
    """What our best has by the rule of the printed row, where the leaderboard's own is another."""
    rule = row.get("ours_references", "")
    if not rule or rule == REFERENCES["best"]:
        return []
    score = f"{float(row['ours_rouge1']):.1f}"
    by = f"Against the {rule}" if rule == REFERENCES["first"] else f"By the {rule}"
    return [f"{by} our ROUGE-1 is {score} at most."]

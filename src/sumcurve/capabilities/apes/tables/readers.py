"""The readers that answer APES's questions: what they know beyond guessing, and what they took to train."""

from typing import Any

import numpy as np

from sumcurve.capabilities.apes.evidence import questions_of
from sumcurve.capabilities.apes.levels import BASELINES, POINTS
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table, Value


def table(results: Results) -> Table:
    """A row for every reader: what it learned from, what it knows of held-out questions, what that took."""
    rows: list[dict[str, Any]] = []
    evidence = questions_of(results)
    levels = evidence.reader_levels(results)
    for reader in evidence.readers:
        whole = levels[reader.corpus]
        rows.append(
            {
                "corpus": reader.corpus,
                "seed": reader.seed,
                "train_questions": reader.questions["train"],
                "left_out": sum(reader.left_out.values()),
                "test_questions": reader.questions["test"],
                "accuracy": POINTS * float(np.mean(reader.right)),
                "chance": POINTS * reader.chance,
                **{name: whole.baselines[name] for name in BASELINES},
                **{
                    f"over_{name}": Value(estimate.mean, estimate.low, estimate.high, why=estimate.why)
                    for name, estimate in whole.differences.items()
                },
                "updates": reader.updates,
                "seconds": reader.seconds,
            }
        )
    columns = [
        Column("corpus", "corpus"),
        Column("seed", "seed", "count"),
        Column("train_questions", "questions", "count"),
        Column("left_out", "left out", "count"),
        Column("test_questions", "held-out questions", "count"),
        Column("accuracy", "right (%)", "number", 1),
        Column("chance", "chance (%)", "number", 1),
        Column("majority", "majority (%)", "number", 1),
        Column("frequency", "frequency (%)", "number", 1),
        Column("over_majority", "over majority", "number", 1, interval=True),
        Column("over_frequency", "over frequency", "number", 1, interval=True),
        Column("updates", "updates", "count"),
        Column("seconds", "seconds", "number", 0),
    ]
    return Table("readers", results.title("The readers that answer questions about references"), columns, rows)

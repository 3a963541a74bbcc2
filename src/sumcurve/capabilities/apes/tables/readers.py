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
    for one in evidence.readers:
        whole = levels[one.corpus]
        rows.append(
            {
                "corpus": one.corpus,
                "seed": one.seed,
                "train_questions": one.questions["train"],
                "left_out": sum(one.left_out.values()),
                "test_questions": one.questions["test"],
                "accuracy": POINTS * float(np.mean(one.right)),
                "chance": POINTS * one.chance,
                **{name: whole.baselines[name] for name in BASELINES},
                **{
                    f"over_{name}": Value(told.mean, told.low, told.high, why=told.why)
                    for name, told in whole.differences.items()
                },
                "updates": one.updates,
                "seconds": one.seconds,
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

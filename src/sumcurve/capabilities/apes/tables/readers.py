"""The readers that answer APES's questions: what they know beyond guessing, and what they took to train."""

from typing import Any

import numpy as np

from sumcurve.capabilities.apes.evidence import questions_of
from sumcurve.capabilities.apes.levels import BASELINES, POINTS, Level, Reader
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table, Value

SHORT = {"majority": "majority", "frequency": "frequency", "first": "first named", "overlap": "word overlap"}


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
                **({"of_sources": reader.of_sources} if reader.of_sources else {}),
                "left_out": sum(reader.left_out.values()),
                "test_questions": reader.questions["test"],
                "accuracy": POINTS * float(np.mean(reader.held_out.right)),
                "chance": POINTS * reader.chance,
                **whole.baselines,
                **{
                    f"over_{name}": Value(estimate.mean, estimate.low, estimate.high, why=estimate.why)
                    for name, estimate in whole.differences.items()
                },
                **_validation(reader, whole),
                "updates": reader.updates,
                "seconds": reader.seconds,
            }
        )
    known = {name for row in rows for name in row}
    here = [name for name in BASELINES if name in known] if rows else ["majority", "frequency"]
    checked = [
        Column("valid_questions", "validation questions", "count"),
        Column("valid_accuracy", "right there (%)", "number", 1),
        Column("best_guesser", "best guesser"),
        Column("best_guess", "best guess (%)", "number", 1),
        Column("over_best", "over the best guess", "number", 1, interval=True),
    ]
    columns = [
        Column("corpus", "corpus"),
        Column("seed", "seed", "count"),
        Column("train_questions", "questions", "count"),
        *([Column("of_sources", "of sources", "count")] if "of_sources" in known else []),
        Column("left_out", "left out", "count"),
        Column("test_questions", "held-out questions", "count"),
        Column("accuracy", "right (%)", "number", 1),
        Column("chance", "chance (%)", "number", 1),
        *(Column(name, f"{SHORT[name]} (%)", "number", 1) for name in here),
        *(Column(f"over_{name}", f"over {SHORT[name]}", "number", 1, interval=True) for name in here),
        *(checked if "over_best" in known else []),
        Column("updates", "updates", "count"),
        Column("seconds", "seconds", "number", 0),
    ]
    return Table("readers", results.title("The readers that answer questions about references"), columns, rows)


def _validation(reader: Reader, whole: Level) -> dict[str, Any]:
    """What a reader knows of validation questions; the difference is that of all readers, from the best guesser."""
    if reader.validation is None or whole.validation is None:
        return {}
    checked = whole.validation
    apart = checked.difference
    return {
        "valid_questions": checked.questions,
        "valid_accuracy": POINTS * float(np.mean(reader.validation.right)),
        "best_guesser": SHORT[checked.best],
        "best_guess": checked.share,
        "over_best": Value(apart.mean, apart.low, apart.high, why=apart.why),
    }

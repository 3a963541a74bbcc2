"""Questions of APES about each corpus (Eyal et al. 2019), and the readers' accuracy compared with guessing."""

from typing import Any

import numpy as np

from sumcurve.capabilities.apes.evidence import AskedOfPart, questions_of
from sumcurve.capabilities.apes.levels import POINTS, Level, Reader
from sumcurve.capabilities.apes.questions import FEWEST, GUESSES, NOT_ASKED
from sumcurve.corpora.store import PARTS
from sumcurve.tables.columns import shared
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table, Value

SHORT = {"majority": "majority", "frequency": "frequency", "first": "first named", "overlap": "word overlap"}


def table(results: Results) -> Table:
    """A row for every part of a corpus, with its references, questions, and accuracies of guessers; and one for every
    reader, with its training questions, its accuracy on held-out questions, and the cost of its training.

    Accuracies of guessers are shares of the row's own questions: of a part, those with an answer in the source, right
    even where a question names it; of a reader, the held-out ones, for which guessers leave out entities that a
    question names.
    """
    evidence = questions_of(results)
    levels = evidence.reader_levels(results.corpora)
    parts = sorted(evidence.parts, key=lambda part: (part.corpus, PARTS.index(part.part)))
    rows = [_of_part(part) for part in parts]
    rows += [_of_reader(reader, levels[reader.corpus]) for reader in evidence.readers]
    known = {name for row in rows for name in row}
    columns = [
        *shared("corpus", "part"),
        Column("references", "references", "count"),
        *(Column(reason, reason, "count") for reason in NOT_ASKED),
        Column("asked", f"{FEWEST} entities or more", "count"),
        Column("asked_percent", "% of references", "number", 1),
        Column("entities", "entities each", "number", 2),
        Column("questions", "questions", "count"),
        Column("questions_each", "questions each", "number", 2),
        Column("answerable", "answer in source", "count"),
        Column("answerable_percent", "% of questions", "number", 1),
        *shared("seed"),
        Column("train_questions", "learned from", "count"),
        Column("of_sources", "of sources", "count"),
        Column("left_out", "left out", "count"),
        Column("test_questions", "held-out questions", "count"),
        Column("accuracy", "right (%)", "number", 1),
        Column("chance", "chance (%)", "number", 1),
        *(Column(name, f"{title} (%)", "number", 1) for name, title in SHORT.items()),
        *(Column(f"over_{name}", f"over {title}", "number", 1, interval=True) for name, title in SHORT.items()),
        Column("valid_questions", "validation questions", "count"),
        Column("valid_accuracy", "right there (%)", "number", 1),
        Column("best_guesser", "best guesser"),
        Column("best_guess", "best guess (%)", "number", 1),
        Column("over_best", "over the best guess", "number", 1, interval=True),
        Column("updates", "updates", "count"),
        *shared("seconds"),
    ]
    here = [column for column in columns if column.name in known]
    return Table("readers", results.title("Questions about references, and the readers that answer them"), here, rows)


def _of_part(part: AskedOfPart) -> dict[str, Any]:
    return {
        "corpus": part.corpus,
        "part": part.part,
        "references": part.references,
        **{reason: part.not_asked[reason] for reason in NOT_ASKED},
        "asked": part.with_questions,
        "asked_percent": POINTS * part.with_questions / part.references if part.references else None,
        "entities": part.entities / part.with_questions if part.with_questions else None,
        "questions": part.questions,
        "questions_each": part.questions / part.with_questions if part.with_questions else None,
        "answerable": part.answerable,
        "answerable_percent": POINTS * part.answerable / part.questions if part.questions else None,
        **{guess: None if (right := part.right[guess]) is None else POINTS * right for guess in GUESSES},
    }


def _of_reader(reader: Reader, whole: Level) -> dict[str, Any]:
    row = {
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
        "updates": reader.updates,
        "seconds": reader.seconds,
    }
    if reader.validation is not None and whole.validation is not None:
        checked, apart = whole.validation, whole.validation.difference
        row |= {
            "valid_questions": checked.questions,
            "valid_accuracy": POINTS * float(np.mean(reader.validation.right)),
            "best_guesser": SHORT[checked.best],
            "best_guess": checked.share,
            "over_best": Value(apart.mean, apart.low, apart.high, why=apart.why),
        }
    return row

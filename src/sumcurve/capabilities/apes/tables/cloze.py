"""What APES asks about each corpus (Eyal et al. 2019): references with entities enough, questions, and guesses."""

from sumcurve.capabilities.apes.evidence import questions_of
from sumcurve.capabilities.apes.questions import FEWEST, GUESSES, NOT_ASKED
from sumcurve.corpora.store import PARTS
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table


def table(results: Results) -> Table:
    """A row for every part of a corpus: its references, those asked about, their questions, and who guesses them."""
    parts = sorted(questions_of(results).parts, key=lambda one: (one.corpus, PARTS.index(one.part)))
    rows = [
        {
            "corpus": one.corpus,
            "part": one.part,
            "references": one.references,
            **{reason: one.not_asked[reason] for reason in NOT_ASKED},
            "asked": one.asked,
            "asked_percent": 100 * one.asked / one.references if one.references else None,
            "entities": one.entities / one.asked if one.asked else None,
            "questions": one.questions,
            "questions_each": one.questions / one.asked if one.asked else None,
            "answerable": one.answerable,
            "answerable_percent": 100 * one.answerable / one.questions if one.questions else None,
            **{guess: None if (right := one.right[guess]) is None else 100 * right for guess in GUESSES},
        }
        for one in parts
    ]
    columns = [
        Column("corpus", "corpus"),
        Column("part", "part"),
        Column("references", "references", "count"),
        *(Column(reason, reason, "count") for reason in NOT_ASKED),
        Column("asked", f"{FEWEST} entities or more", "count"),
        Column("asked_percent", "% of references", "number", 1),
        Column("entities", "entities each", "number", 2),
        Column("questions", "questions", "count"),
        Column("questions_each", "questions each", "number", 2),
        Column("answerable", "answer in source", "count"),
        Column("answerable_percent", "% of questions", "number", 1),
        *(Column(guess, f"{guess} %", "number", 1) for guess in GUESSES),
    ]
    notes = [
        f"Only references that name {FEWEST} entities or more are asked about: one question for every sentence and "
        "entity in it. Answer in source: questions whose answer the source mentions. Readers learn from and are tested "
        "by others, too: table readers counts them, of references with one entity where the source names more, but "
        "not of sources that name one alone. Over questions with an answer in the source, right answers of a guess "
        "among the entities of the source (chance), of the entity that is most often the answer in the training part, "
        "numbered by first occurrence (majority), and of the one that is most often in the source (frequency).",
        *results.corpora_notes,
    ]
    return Table("cloze", results.title("Questions about references"), columns, rows, notes)

"""What APES asks about each corpus (Eyal et al. 2019): references with entities enough, questions, and guesses."""

from sumcurve.capabilities.apes.evidence import questions_of
from sumcurve.capabilities.apes.questions import FEWEST, GUESSES, NOT_ASKED
from sumcurve.corpora.store import PARTS
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table


def table(results: Results) -> Table:
    """A row for every part of a corpus: its references, those asked about, their questions, and who guesses them."""
    parts = sorted(questions_of(results).parts, key=lambda part: (part.corpus, PARTS.index(part.part)))
    rows = [
        {
            "corpus": part.corpus,
            "part": part.part,
            "references": part.references,
            **{reason: part.not_asked[reason] for reason in NOT_ASKED},
            "asked": part.with_questions,
            "asked_percent": 100 * part.with_questions / part.references if part.references else None,
            "entities": part.entities / part.with_questions if part.with_questions else None,
            "questions": part.questions,
            "questions_each": part.questions / part.with_questions if part.with_questions else None,
            "answerable": part.answerable,
            "answerable_percent": 100 * part.answerable / part.questions if part.questions else None,
            **{guess: None if (right := part.right[guess]) is None else 100 * right for guess in GUESSES},
        }
        for part in parts
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
        "numbered by first occurrence (majority), and of the one that is most often in the source (frequency), even "
        "where the question names it: the guessers of tables apes and readers leave out what it names.",
        *results.corpora_notes,
    ]
    return Table("cloze", results.title("Questions about references"), columns, rows, notes)

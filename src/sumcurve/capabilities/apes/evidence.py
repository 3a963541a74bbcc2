"""Evidence of finished folders about questions, their readers, and the measurements with them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from sumcurve.capabilities.apes.answered import ANSWERS, NOBODY
from sumcurve.capabilities.apes.entities import PLACEHOLDER
from sumcurve.capabilities.apes.levels import (
    BASELINES,
    BY_OVERLAP,
    SCORER,
    SHARE,
    Answered,
    Array,
    Level,
    Reader,
    levels,
    share_of,
)
from sumcurve.capabilities.apes.questions import GUESSES, NOT_ASKED, entity_in, read_questions
from sumcurve.capabilities.capability import Folders
from sumcurve.planning.folder import Folder
from sumcurve.settings.base import HELD_OUT
from sumcurve.store.records import read_csv
from sumcurve.tables.evidence import Evidence, Items, ScoredOutput, Study
from sumcurve.tables.results import Results

HELD_OUT_FILE, VALIDATION_FILE = "held_out.csv", "validation.csv"  # of a reader's run
GAP = "____"  # the hidden entity of a question
NOT_BEYOND_GUESSING = "its readers are not shown to beat guessing"


@dataclass(frozen=True)
class AskedOfPart:
    """Questions about the references of one part of a corpus (made by `cloze.ask`).

    `references` = `with_questions` + those without questions, by reason. `entities` counts those of references with
    questions. The answer of `answerable` questions is mentioned in the source; over these `right` holds the shares
    (0..1) of right guesses by guesser, None where there is nothing to guess.
    """

    corpus: str
    part: str
    references: int
    with_questions: int
    not_asked: Mapping[str, int]
    entities: int
    questions: int
    answerable: int
    right: Mapping[str, float | None]


@dataclass(frozen=True)
class AboutItem:
    """The questions about a test item's reference in readable words, each with its answer's number; and names."""

    questions: Sequence[tuple[str, int]]
    names: Mapping[int, str]


@dataclass(frozen=True)
class Questions(Evidence):
    """Questions of every part, the readers, and by corpus and id the questions about the items that are shown."""

    parts: Sequence[AskedOfPart] = ()
    readers: Sequence[Reader] = ()
    items: Mapping[str, Mapping[str, AboutItem]] = field(default_factory=dict)
    confidence: float = 0.95  # of the intervals of readers' accuracies

    @cached_property
    def _levels(self) -> dict[str, Level]:
        return levels(list(self.readers), self.confidence)

    def reader_levels(self, corpora: Sequence[str]) -> dict[str, Level]:
        """Accuracies of each corpus's readers on held-out questions, by corpus.

        A held-out part of a corpus has no readers of its own: those of the corpus answer there, too.
        """
        by_corpus = dict(self._levels)
        for corpus in corpora:
            whole = corpus.removesuffix(HELD_OUT)
            if corpus not in by_corpus and whole in by_corpus:
                by_corpus[corpus] = replace(by_corpus[whole], corpus=corpus, readers_of=whole)
        return by_corpus

    def unread(self, study: Study, corpus: str, metric: str) -> str:
        level = self.reader_levels([corpus]).get(corpus) if study.metrics[metric][1] == SCORER else None
        return NOT_BEYOND_GUESSING if level is not None and not level.beats else ""

    def notes(self, study: Study) -> list[str]:
        return [level.sentence() for level in self.reader_levels(study.corpora).values() if not level.beats]

    def ratio(self, metric: str, items: Items) -> tuple[Array, Array] | None:
        return share_of(items, metric) if metric in (SHARE, BY_OVERLAP) else None

    def questions(self, corpus: str) -> Mapping[str, Sequence[tuple[str, str]]]:
        return {
            item: [(text, about.names[answer]) for text, answer in about.questions]
            for item, about in self.items.get(corpus, {}).items()
        }

    def answers(self, output: ScoredOutput) -> Mapping[str, Sequence[tuple[str, bool]]]:
        """Answers of the first reader."""
        items = output.scores.get(SCORER)
        column = next((name for name in items.details if name.startswith(ANSWERS)), None) if items else None
        if items is None or column is None:
            return {}
        about = self.items.get(output.corpus, {})
        return {
            item: _named(about[item], answers.split(" "))
            for item, answers in zip(items.ids, items.details[column], strict=True)
            if item in about
        }


def _named(about: AboutItem, answers: Sequence[str]) -> list[tuple[str, bool]]:
    """Answers to the questions about an item by name, each with whether it is right."""
    pairs = []
    for (_, right), answer in zip(about.questions, answers, strict=False):
        number = None if answer == NOBODY else int(answer)
        pairs.append(("" if number is None else about.names.get(number, f"entity {number}"), number == right))
    return pairs


def questions_of(results: Results) -> Questions:
    """Evidence of a study about questions; empty where it has none."""
    evidence = results.study.evidence.get("apes")
    return evidence if isinstance(evidence, Questions) else Questions()


# --- by folders


def questions(folders: Folders) -> Questions:
    """Read the evidence of all finished folders of questions and readers."""
    plan = folders.plan
    shown = {examples.corpus: {item.id for item in examples.items} for examples in folders.examples}

    def finished(step: str, kind: str) -> list[tuple[str, Folder]]:
        return [
            (plan.corpus_name(folder.specification["corpus"]), folder)
            for folder in plan.named(step, kind)
            if folders.finished(folder.key)
        ]

    annotations = [(corpus, folders.results / folder.key) for corpus, folder in finished("annotations", "questions")]
    return Questions(
        [part for corpus, path in annotations for part in parts(corpus, path)],
        [reader(corpus, folders, folder) for corpus, folder in finished("runs", "reader")],
        {corpus: items(path, shown[corpus]) for corpus, path in annotations if corpus in shown},
        plan.settings.bootstrap.confidence,
    )


def parts(corpus: str, folder: Path) -> list[AskedOfPart]:
    """Questions of every part of a corpus."""
    statistics = json.loads((folder / "statistics.json").read_text(encoding="utf-8"))["parts"]
    return [
        AskedOfPart(
            corpus=corpus,
            part=part,
            references=counts["records"],
            with_questions=counts["asked"],
            not_asked={reason: counts[reason] for reason in NOT_ASKED},
            entities=counts["entities"],
            questions=counts["questions"],
            answerable=counts["answerable"],
            right={guess: counts[guess] for guess in GUESSES},
        )
        for part, counts in statistics.items()
    ]


def reader(corpus: str, folders: Folders, folder: Folder) -> Reader:
    """Training data of a reader, and its answers to held-out questions."""
    results, run = folders.results, folders.results / folder.key
    training, rows = json.loads((run / "training.json").read_text(encoding="utf-8")), read_csv(run / HELD_OUT_FILE)
    validation = read_csv(run / VALIDATION_FILE) if (run / VALIDATION_FILE).is_file() else []

    of_summaries = {
        reference.item
        for reference in read_questions(results / folder.specification["questions"])
        if reference.questions
    }
    return Reader(
        corpus=corpus,
        seed=folder.specification["seed"],
        held_out=answered_of(rows),
        several=np.array([row["id"] in of_summaries for row in rows], dtype=bool),
        chance=float(np.mean([float(row["chance"]) for row in rows])),
        questions=training["questions"],
        left_out=training["left_out"]["train"],
        updates=training["updates"],
        seconds=folders.timing(folder.key).seconds,
        of_sources=training.get("of_sources", 0),
        validation=answered_of(validation) if validation else None,
    )


def answered_of(rows: Sequence[Mapping[str, str]]) -> Answered:
    """Answers in held_out.csv, or validation.csv, of a reader's run."""
    columns = {name: np.array([float(row[name]) for row in rows]) for name in ("reader", *BASELINES) if name in rows[0]}
    right = columns.pop("reader")
    return Answered(tuple(row["group"] for row in rows), right, columns)


def items(folder: Path, shown: set[str]) -> dict[str, AboutItem]:
    """The questions about references of test items. In a question each entity has the longest of its names."""
    shown_items = {}
    for reference in read_questions(folder):
        if reference.item in shown and reference.questions:
            names = {
                number: name for name, number in sorted(reference.source_names.items(), key=lambda pair: len(pair[0]))
            }
            texts = [(in_words(question.words, names), question.answer) for question in reference.questions]
            shown_items[reference.item] = AboutItem(texts, names)
    return shown_items


def in_words(words: Sequence[str], names: Mapping[int, str]) -> str:
    """A question in readable words: the hidden entity is a gap."""
    readable = []
    for word in words:
        number = entity_in(word)
        readable.append(GAP if word == PLACEHOLDER else word if number is None else names.get(number, word))
    return " ".join(readable)

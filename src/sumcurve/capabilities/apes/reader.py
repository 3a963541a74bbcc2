"""Training of the reader that answers cloze questions: `fit` with its History, patience and resume.

It learns from the questions about the references of a corpus's whole training part, each asked of the record's source
with entities numbered by their first occurrence, and, where set, from questions about the sentences of these sources,
each asked of the other sentences. A question is left out, and counted, where its document does not name the answer or
names one entity only.
"""

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from sumcurve.capabilities.apes.answers import WORDS
from sumcurve.capabilities.apes.entities import questions as questions_about
from sumcurve.capabilities.apes.questions import (
    Asked,
    asked_of,
    by_number,
    candidates,
    chance,
    guesses,
    majority,
    most_frequent,
    renumbered,
)
from sumcurve.capabilities.apes.reader_model import (
    AttentiveReader,
    ClozeBatch,
    Posing,
    Words,
    build,
    collate,
    read_vectors,
    start_from,
)
from sumcurve.capabilities.apes.settings import AttentiveSettings
from sumcurve.corpora.store import Corpus
from sumcurve.scores.scorer import group_of
from sumcurve.settings.training import PhaseSettings
from sumcurve.store.records import Record, RecordError, write_csv, write_json
from sumcurve.training.history import History
from sumcurve.training.learner import Learner
from sumcurve.training.place import Place
from sumcurve.training.run import begun, fitted, write_run

HELD_OUT = "held_out.csv"
VALIDATION = "validation.csv"  # the same of validation questions, where three guessers stand beside the reader
TOGETHER = 64  # questions of a batch from which nothing is learned; answers do not depend on it
ANSWERING = ("phase", "update", "updates", "examples", "epoch", "rate", "train_loss", "nll", "accuracy", "best")
NOT_THERE, ONE_ENTITY = "the source does not name the answer", "the source names one entity alone"
NOT_AGAIN = "no other sentence of the source names the answer"


@dataclass(frozen=True, slots=True)
class Posed:
    """A question about a reference, asked of its source; entities are numbered by their first occurrence.

    `guesses` are by guesser, where guessers answer.
    """

    item: str
    group: str
    document: tuple[str, ...]
    question: tuple[str, ...]
    answer: int
    guesses: Mapping[str, int | None] = field(default_factory=dict)


def history_rows(history: History) -> list[dict[str, Any]]:
    """One dict per validation with `ANSWERING`; columns of `History.rows` about summaries are left out."""
    return [{column: getattr(row, column) for column in ANSWERING} for row in history]


def posed(pairs: Iterable[tuple[Record, Asked]], dropped: Counter[str], guessing: bool = False) -> Iterator[Posed]:
    """The questions about the references of a part that can be asked of its sources; adds to `dropped`, by reason.

    Unlike for a summary, a reference with one entity has a question, too, since sources have further entities. Guessers
    answer with `guessing`.
    """
    for record, reference in pairs:
        if not reference.names:
            continue
        source = reference.anonymised(record.source_tokens)
        about = [(question.words, question.answer) for question in reference.questions]
        if not about:
            rows = questions_about(reference.parted(record.target), by_number(reference.names))
            about = [(tuple(row["text"].split(" ")), row["answer"]) for row in rows]
        sentences = [reference.anonymised([sentence]) for sentence in record.source] if guessing else []
        for words, hidden in about:
            document, question, numbers = renumbered(source, words)
            there = candidates(document)
            answer = numbers.get(hidden)
            if answer is None or answer not in there:
                dropped[NOT_THERE] += 1
            elif len(there) == 1:
                dropped[ONE_ENTITY] += 1
            else:
                guessed = guesses(sentences, words) if guessing else {}
                known = {name: numbers.get(number) if number is not None else None for name, number in guessed.items()}
                yield Posed(record.id, group_of(record), document, question, answer, known)


def posed_of_sources(pairs: Iterable[tuple[Record, Asked]], dropped: Counter[str]) -> Iterator[Posed]:
    """The questions about single sentences of the sources of a part, asked of the other sentences of each.

    Adds to `dropped`, by reason. Of the references only the names of entities are read.
    """
    for record, reference in pairs:
        for others, words, hidden in reference.about_source(record):
            document, question, numbers = renumbered(others, words)
            there = candidates(document)
            if numbers.get(hidden) not in there:
                dropped[NOT_AGAIN] += 1
            elif len(there) == 1:
                dropped[ONE_ENTITY] += 1
            else:
                yield Posed(record.id, group_of(record), document, question, numbers[hidden])


def in_ids(questions: Iterable[Posed], words: Words) -> list[Posing]:
    """The questions in ids; those of one document share it. An answer that the reader has no marker for is left out."""
    rows: list[Posing] = []
    last: tuple[str, ...] = ()
    ids: list[int] = []
    for question in questions:
        if question.answer < words.entities:
            if question.document != last:
                last, ids = question.document, words.ids(question.document)
            rows.append(Posing(ids, words.ids(question.question), question.answer))
    return rows


class ReaderLearner(Learner):
    """Trains `model` to answer; ValueError for an empty list of questions."""

    model: AttentiveReader

    def __init__(
        self, model: AttentiveReader, train: Sequence[Posing], valid: Sequence[Posing], device: torch.device
    ) -> None:
        if not train or not valid:
            raise ValueError(f"{len(train)} training and {len(valid)} validation questions; a reader needs both")
        self.model, self.train, self.valid, self.device = model.to(device), train, valid, device
        ordered = sorted(valid, key=lambda question: len(question.document))
        self.batches = [collate(part).to(device) for part in _parts(ordered)]

    def prepare(self, phase: PhaseSettings) -> Sequence[Posing]:
        return self.train

    def length(self, item: Posing, phase: PhaseSettings) -> tuple[int, ...]:
        return len(item.document), len(item.question)

    def collate(self, items: Sequence[Posing], phase: PhaseSettings) -> ClozeBatch:
        return collate(items)

    def loss(self, batch: ClozeBatch, phase: PhaseSettings) -> Tensor:
        return functional.nll_loss(self.model(batch), batch.answers)

    @torch.no_grad()
    def validate(self, phase: PhaseSettings) -> dict[str, float]:
        """`nll` and `accuracy`; a reader generates no summaries."""
        self.model.eval()
        losses: list[float] = []
        right: list[float] = []
        for batch in self.batches:
            scores = self.model(batch)
            losses += functional.nll_loss(scores, batch.answers, reduction="none").tolist()
            right += (scores.argmax(1) == batch.answers).float().tolist()
        written = dict.fromkeys(("rouge1", "rouge2", "rougeLsum", "repetition", "tokens"), 0.0)
        return {**written, "nll": fmean(losses), "accuracy": fmean(right)}

    def identity(self) -> dict[str, str]:
        return {"training questions": _digest(self.train), "validation questions": _digest(self.valid)}


def _parts(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (items[first : first + TOGETHER] for first in range(0, len(items), TOGETHER))


def _digest(items: Sequence[Posing]) -> str:
    whole = hashlib.sha256()
    for question in items:
        whole.update(f"{len(question.document)} {len(question.question)} {question.answer}\n".encode())
        whole.update(array("q", [*question.document, *question.question]).tobytes())
    return whole.hexdigest()


@torch.no_grad()
def answers_of(model: AttentiveReader, words: Words, questions: Sequence[Posed]) -> list[int]:
    """Answer each question by the reader."""
    model.eval()
    device = next(model.parameters()).device
    answers: list[int] = []
    for part in _parts(questions):
        rows = [Posing(words.ids(question.document), words.ids(question.question), 0) for question in part]
        answers += model(collate(rows).to(device)).argmax(1).tolist()
    return answers


def levels(questions: Sequence[Posed], answers: Sequence[int | None], frequent: int | None) -> list[dict[str, Any]]:
    """Tell whether the reader, and each baseline without a reader, answers each held-out question (0 or 1).

    `majority` always answers `frequent`, the most frequent answer of the training questions; `frequency` the document's
    most frequent entity; `chance` is the probability that a guess among the document's entities is right. Where
    guessers answered, their answers replace the last two.
    """
    return [
        {
            "id": question.item,
            "group": question.group,
            "reader": int(answer == question.answer),
            **{
                name: int(guess == question.answer)
                for name, guess in (
                    question.guesses or {"majority": frequent, "frequency": most_frequent(question.document)}
                ).items()
            },
            "chance": round(chance(question.document, question.answer), 6),
        }
        for question, answer in zip(questions, answers, strict=True)
    ]


@dataclass(frozen=True)
class Lesson:
    """Data of a reader's training and test; `frequent` is the training questions' most frequent answer.

    `of_sources` counts the training questions that are about sources. `checked` are the validation questions, all of
    them, which guessers answer, too.
    """

    words: Words
    train: list[Posing]
    of_sources: int
    valid: list[Posing]
    checked: list[Posed]
    test: list[Posed]
    frequent: int | None
    left_out: Mapping[str, Counter[str]]  # questions, by part and reason


def lesson(corpus: Path, questions: Path, settings: AttentiveSettings) -> Lesson:
    """Build a lesson from the folders of a corpus and its questions; RecordError for a part without questions."""
    training = settings.training()
    dropped: dict[str, Counter[str]] = {part: Counter() for part in ("train", "valid", "test")}
    answers: Counter[int] = Counter()

    def of_part(part: str) -> Iterator[Posed]:
        guessing = settings.guessers and part != "train"
        return posed(asked_of(Corpus(corpus).part(part), questions), dropped[part], guessing)

    def learned(origin: str) -> Iterator[Posed]:
        if origin == "references":
            return of_part("train")
        return posed_of_sources(asked_of(Corpus(corpus).part("train"), questions), dropped["train"])

    def texts() -> Iterator[Sequence[str]]:
        for question in chain.from_iterable(map(learned, settings.learns)):
            answers[question.answer] += 1
            yield question.document
            yield question.question

    try:
        words = Words.counted(texts(), training.vocabulary, training.min_count)
    except ValueError as error:
        raise RecordError(f"{questions}, train: {error}; remove the corpus's `cloze`") from error
    dropped["train"].clear()
    by_origin = {origin: in_ids(learned(origin), words) for origin in settings.learns}
    train = list(chain.from_iterable(by_origin.values()))
    checked = list(of_part("valid"))
    valid = in_ids(checked, words)[: training.valid_records]
    test = list(of_part("test"))
    if not valid or not test:
        raise RecordError(
            f"{questions}: {len(train)} training, {len(valid)} validation and {len(test)} test questions can be asked "
            "of sources, and a reader needs some of each; remove the corpus's `cloze`"
        )
    checked = checked if settings.guessers else []
    of_sources = len(by_origin.get("sources", ()))
    return Lesson(words, train, of_sources, valid, checked, test, majority(answers.elements()), dropped)


def train_reader(
    specification: Mapping[str, Any],
    settings: AttentiveSettings,
    corpus: Path,
    questions: Path,
    vectors: Path | None,
    place: Place,
) -> None:
    """Train a reader and write weights, words, History, measured time, training.json and held_out.csv.

    `corpus` and `questions` are folders, `vectors` is a file of words to start from. training.json counts the questions
    that were left out, by part and reason. With guessers validation.csv is written, too. RecordError where a part has
    no question.
    """
    device, group = begun(specification, place)
    training = settings.training()
    learned = lesson(corpus, questions, settings)
    words, train = learned.words, learned.train
    model = build(words, settings, specification["seed"])
    started = 0
    if vectors is not None:
        known = read_vectors(vectors, words, settings.embedding)
        start_from(model, known)
        started = len(known)
        place.note(f"{place.name}: {started} of {len(words.words)} words start from {vectors}")
    learner = ReaderLearner(model, train, learned.valid, device)
    counts = learner.parameter_counts()
    place.note(f"{place.name}: {len(train)} questions, {len(words)} words, {counts['total']} parameters")
    trained = fitted(learner, training, specification, place, device, group)
    if group.rank:
        return
    learner.load(trained.weights)
    rows = levels(learned.test, answers_of(model, words, learned.test), learned.frequent)
    write_csv(place.folder / HELD_OUT, list(rows[0]), rows)
    if settings.guessers:
        checked = levels(learned.checked, answers_of(model, words, learned.checked), learned.frequent)
        write_csv(place.folder / VALIDATION, list(checked[0]), checked)
    further = {
        "entities": words.entities,
        "words_started": started,
        "questions": {"train": len(train), "valid": len(learned.valid), "test": len(learned.test)},
        "left_out": {part: dict(sorted(of.items())) for part, of in learned.left_out.items()},
        "majority": learned.frequent,
        **({"of_sources": learned.of_sources} if "sources" in settings.learns else {}),
    }
    write_json(place.folder / WORDS, words.to_json())
    history = trained.history
    write_run(
        place.folder, trained, history, training, len(train), len(words), counts, further, columns_of=history_rows
    )

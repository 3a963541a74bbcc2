"""Training of the reader that answers cloze questions: `fit` with its History, patience and resume.

It learns from the questions about the references of a corpus's whole training part, each asked of the record's source
with entities numbered by their first occurrence. A source that does not name the answer, or names one entity alone,
teaches nothing and is left out, counted.
"""

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, TextIO

import torch
from torch import Tensor
from torch.nn import functional

from sumcurve.capabilities.apes.answers import WORDS
from sumcurve.capabilities.apes.questions import (
    Asked,
    by_number,
    candidates,
    chance,
    majority,
    most_frequent,
    read_questions,
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
from sumcurve.corpora.entities import questions as questions_about
from sumcurve.corpora.store import Corpus
from sumcurve.machine.devices import Lease
from sumcurve.scores.scorer import group_of
from sumcurve.settings.training import PhaseSettings
from sumcurve.store.records import Record, RecordError, write_csv, write_json
from sumcurve.training.fit import ResumeError, fit
from sumcurve.training.history import History
from sumcurve.training.learner import Learner
from sumcurve.training.parallel import join
from sumcurve.training.progress import Watchers
from sumcurve.training.run import compute_clock, read_together, write_run, write_state

HELD_OUT = "held_out.csv"
TOGETHER = 64  # questions of a batch from which nothing is learned; answers do not depend on it
ANSWERING = ("phase", "update", "updates", "examples", "epoch", "rate", "train_loss", "nll", "accuracy", "best")
NOT_THERE, ONE_ENTITY = "the source does not name the answer", "the source names one entity alone"


@dataclass(frozen=True, slots=True)
class Posed:
    """A question about a reference, asked of its source; entities are numbered by their first occurrence."""

    item: str
    group: str
    document: tuple[str, ...]
    question: tuple[str, ...]
    answer: int


def history_rows(history: History) -> list[dict[str, Any]]:
    """One dict per validation with `ANSWERING`: what `History.rows` has of summaries is left out."""
    return [{column: getattr(row, column) for column in ANSWERING} for row in history]


def posed(records: Iterable[Record], asked: Iterable[Asked], dropped: Counter[str]) -> Iterator[Posed]:
    """The questions about the references of a part that can be asked of its sources; adds to `dropped`, by reason.

    Other than of a summary, one is asked about a reference of one entity, too, since sources have others.
    RecordError where the two are not of the same records.
    """
    for record, one in zip(records, asked, strict=True):
        if record.id != one.item:
            raise RecordError(f"questions about {one.item!r} where the corpus has {record.id!r}; rebuild their folder")
        if not one.names:
            continue
        source = one.anonymised(record.source_tokens)
        about = [(question.words, question.answer) for question in one.questions]
        if not about:
            told = questions_about(one.parted(record.target), by_number(one.names))
            about = [(tuple(of["text"].split(" ")), of["answer"]) for of in told]
        for words, hidden in about:
            document, question, numbers = renumbered(source, words)
            there = candidates(document)
            answer = numbers.get(hidden)
            if answer is None or answer not in there:
                dropped[NOT_THERE] += 1
            elif len(there) == 1:
                dropped[ONE_ENTITY] += 1
            else:
                yield Posed(record.id, group_of(record), document, question, answer)


def clozes(of: Iterable[Posed], words: Words) -> list[Posing]:
    """The questions in ids; those of one document share it. An answer that the reader has no marker for is left out."""
    found: list[Posing] = []
    last: tuple[str, ...] = ()
    ids: list[int] = []
    for one in of:
        if one.answer < words.entities:
            if one.document != last:
                last, ids = one.document, words.ids(one.document)
            found.append(Posing(ids, words.ids(one.question), one.answer))
    return found


class ReaderLearner(Learner):
    """Trains `model` to answer; ValueError for no questions."""

    model: AttentiveReader

    def __init__(
        self, model: AttentiveReader, train: Sequence[Posing], valid: Sequence[Posing], device: torch.device
    ) -> None:
        if not train or not valid:
            raise ValueError(f"{len(train)} training and {len(valid)} validation questions; a reader needs both")
        self.model, self.train, self.valid, self.device = model.to(device), train, valid, device
        ordered = sorted(valid, key=lambda one: len(one.document))
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
        """`nll` and `accuracy`; a reader writes nothing."""
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
    for one in items:
        whole.update(f"{len(one.document)} {len(one.question)} {one.answer}\n".encode())
        whole.update(array("q", [*one.document, *one.question]).tobytes())
    return whole.hexdigest()


@torch.no_grad()
def answers_of(model: AttentiveReader, words: Words, asked: Sequence[Posed]) -> list[int]:
    """What the reader answers to each question."""
    model.eval()
    device = next(model.parameters()).device
    found: list[int] = []
    for part in _parts(asked):
        known = [Posing(words.ids(one.document), words.ids(one.question), 0) for one in part]
        found += model(collate(known).to(device)).argmax(1).tolist()
    return found


def levels(asked: Sequence[Posed], answers: Sequence[int | None], frequent: int | None) -> list[dict[str, Any]]:
    """Of each held-out question whether the reader answers it, and what needs no reader does (0 or 1).

    `majority` always says `frequent`, the most frequent answer of the training questions; `frequency` the document's
    most frequent entity; `chance` is the probability that a guess among the document's entities is right.
    """
    return [
        {
            "id": one.item,
            "group": one.group,
            "reader": int(answer == one.answer),
            "majority": int(frequent == one.answer),
            "frequency": int(most_frequent(one.document) == one.answer),
            "chance": round(chance(one.document, one.answer), 6),
        }
        for one, answer in zip(asked, answers, strict=True)
    ]


def train_reader(
    specification: dict[str, Any],
    settings: AttentiveSettings,
    corpus: Path,
    questions: Path,
    vectors: Path | None,
    stage: Path,
    state: Path,
    events: Path,
    name: str,
    lease: Lease,
    note: Callable[[str], None],
    terminal: TextIO,
    position: int,
    found: dict[str, Any],
) -> None:
    """Train a reader and write weights, words, History, measured time, training.json and held_out.csv.

    `corpus` and `questions` are folders, `vectors` is a file of words to start from; the other arguments are as of
    `training.run.train_run`. training.json counts the questions that were left out, by part and reason. RecordError
    where a part has no question.
    """
    torch.set_num_threads(specification["threads"])
    torch.use_deterministic_algorithms(lease.device == "cpu")
    device = torch.device(lease.device)
    group = join(device)
    found |= {"threads": specification["threads"], "processes": group.size}
    training, seed = settings.training(), specification["seed"]
    dropped: dict[str, Counter[str]] = {part: Counter() for part in ("train", "valid", "test")}

    def asked_of(part: str) -> Iterator[Posed]:
        dropped[part].clear()
        return posed(Corpus(corpus).part(part), read_questions(questions, part), dropped[part])

    answers: Counter[int] = Counter()

    def texts() -> Iterator[Sequence[str]]:
        for one in asked_of("train"):
            answers[one.answer] += 1
            yield one.document
            yield one.question

    try:
        words = Words.counted(texts(), training.vocabulary, training.min_count)
    except ValueError as error:
        raise RecordError(f"{questions}, train: {error}; remove the corpus's `cloze`") from error
    train = clozes(asked_of("train"), words)
    valid = clozes(asked_of("valid"), words)[: training.valid_records]
    test = list(asked_of("test"))
    if not valid or not test:
        raise RecordError(
            f"{questions}: {len(train)} training, {len(valid)} validation and {len(test)} test questions can be asked "
            "of sources, and a reader needs some of each; remove the corpus's `cloze`"
        )
    model = build(words, settings, seed)
    started = 0
    if vectors is not None:
        known = read_vectors(vectors, words, settings.embedding)
        start_from(model, known)
        started = len(known)
        note(f"{name}: {started} of {len(words.words)} words start from {vectors}")
    learner = ReaderLearner(model, train, valid, device)
    counts = learner.parameter_counts()
    note(f"{name}: {len(train)} questions, {len(words)} words, {counts['total']} parameters")
    resume = read_together(state, note, group)
    with Watchers(name, events if not group.rank else None, note, stream=terminal, position=position) as watch:
        try:
            fitted = fit(
                learner,
                training,
                seed=seed,
                clock=compute_clock(device),
                device=device,
                group=group,
                identity=specification,
                resume=resume,
                keep=lambda kept: None if group.rank else write_state(state, kept),
                watch=watch,
            )
        except ResumeError as error:
            raise ResumeError(f"{state}: {error}; delete it to train {name} from its beginning", error.keys) from error
    if group.rank:
        return
    learner.load(fitted.weights)
    frequent = majority(answers.elements())
    rows = levels(test, answers_of(model, words, test), frequent)
    write_csv(stage / HELD_OUT, list(rows[0]), rows)
    further = {
        "entities": words.entities,
        "words_started": started,
        "questions": {"train": len(train), "valid": len(valid), "test": len(test)},
        "left_out": {part: dict(sorted(of.items())) for part, of in dropped.items()},
        "majority": frequent,
    }
    write_json(stage / WORDS, words.to_json())
    write_run(stage, fitted, fitted.history, training, len(train), len(words), counts, further, columns_of=history_rows)

"""APES: the number of questions about its reference that a reader of a summary answers.

Eyal, Baumel and Elhadad (NAACL 2019), section 3. The questions hide the entities of the reference one by one; a trained
reader of the anonymised summary names the hidden entity. The score of a corpus is the share of all its questions that
are answered ("micro"); the mean of the references' shares is given, too.

A reference with fewer than two entities has no questions. A summary without any entity scores 0 without a reader, as an
empty one does; both are counted. The readers are the same for all outputs of a corpus; scores are their mean.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sumcurve.capabilities.apes.answered import ANSWERS, NOBODY, OVERLAP, QUESTIONS, RIGHT
from sumcurve.capabilities.apes.entities import is_marker
from sumcurve.capabilities.apes.questions import Asked, candidates, guesses, read_questions
from sumcurve.capabilities.apes.settings import Apes, AttentiveSettings, CorpusKeys
from sumcurve.scores.needs import Need, Needing, original_id
from sumcurve.scores.scorer import Metric, Scores, group_of, own_reference, summaries_of
from sumcurve.settings.study import StudySettings
from sumcurve.store.records import Record, RecordError

if TYPE_CHECKING:
    from sumcurve.capabilities.apes.answers import AttentiveAnswers

POINTS = 100
TEST = "test"
BY_OVERLAP = Metric("apes_overlap", "APES by word overlap", "by overlap", "% of questions", ranks=False)


class AnswersQuestions(Needing):
    """Scores every output by its summaries.

    The value of `apes` of an item is its right answers over the mean number of questions of an item, so that the mean
    over items is the share of all questions; so is that of `apes_named`, the questions whose answer the summary names,
    an upper bound of every reader. Where three guessers answer beside the reader, `apes_overlap` is the score of word
    overlap. The first reference, which the questions are about, is not scored as an output; other references are.
    """

    version = "98eb71efeeab8e97"
    Settings = Apes
    together: ClassVar[bool] = True
    claim = "coverage"
    metrics: ClassVar[Sequence[Metric]] = (
        Metric("apes", "APES", "APES", "% of questions"),
        Metric("apes_documents", "APES by document", "by document", "% of questions", ranks=False),
        Metric("apes_named", "answer named", "named", "% of questions", ranks=False),
        Metric("apes_entities", "entities", "entities", "entities", higher_is_better=None, ranks=False),
        Metric("apes_salient", "salient entities", "salient", "entities", higher_is_better=None, ranks=False),
        Metric("apes_perfect", "all answered", "all", "% of summaries", ranks=False),
        Metric("apes_none", "none answered", "none", "% of summaries", higher_is_better=False, ranks=False),
    )
    settings: Apes

    def __init__(self, settings: Apes) -> None:
        super().__init__(settings)
        if settings.reader.guessers:
            self.metrics = (*type(self).metrics, BY_OVERLAP)  # type: ignore[misc]  # of this study's

    def inputs(
        self, output: str, outputs: Sequence[str], specifications: Mapping[str, Mapping[str, Any]]
    ) -> Mapping[str, Any] | None:
        """No further folder; None for the first reference as an output."""
        return None if own_reference(specifications[output]) == 1 else {}

    def needs(self, corpus: str, study: StudySettings) -> Sequence[Need] | None:
        corpora = [name for name, keys in study.corpora.items() if isinstance(keys, CorpusKeys) and keys.cloze]
        if not corpora:
            raise RecordError("no corpus of the study has questions; add `cloze: {}` to one")
        if corpus not in corpora:
            return None
        reader, seeds = self.settings.reader, self.settings.seeds
        files: dict[str, tuple[str, tuple[str, ...]]] = {}
        if reader.vectors is not None:
            if not reader.vectors.path:
                raise RecordError("reader.vectors.path: say where the file with that sha256 lies")
            files = {reader.vectors.sha256: (reader.vectors.path, ())}
        decides = {"reader": reader.model_dump(mode="json"), "threads": study.threads, "sums": study.sums}
        return [
            Need("questions", "questions"),
            *(
                Need("reader", {"seed": seed}, decides | {"seed": seed}, ("questions",), files, {"seed": seed})
                for seed in seeds
            ),
        ]

    def score(self, output: Path, records: Sequence[Record], inputs: Mapping[Path, Any]) -> Scores:
        (folder,) = (path for path, role in inputs.items() if role == "questions")
        readers = sorted((role["seed"], path) for path, role in inputs.items() if role != "questions")
        every = asked_of(folder, records)
        places = [place for place, reference in enumerate(every) if reference.questions]
        if not places:
            raise RecordError(
                f"{folder}: no test reference has two entities, so that nothing is asked; remove the corpus's `cloze`"
            )
        references, rows = [every[place] for place in places], list(summaries_of(output, records))
        words = [[word for line in rows[place]["summary"] for word in line.split(" ") if word] for place in places]
        documents = [reference.anonymised(text) for text, reference in zip(words, references, strict=True)]
        right, answers = self._answers(readers, references, documents)
        counts = [len(reference.questions) for reference in references]
        named = [candidates(document) for document in documents]
        values = _values(references, named, list(right.values()))
        beside: dict[str, list[int]] = {}
        if self.settings.reader.guessers:
            lines = [rows[place]["summary"] for place in places]
            beside[OVERLAP] = [by_overlap(*pair) for pair in zip(references, lines, strict=True)]
            values[BY_OVERLAP.name] = [POINTS * count * len(counts) / sum(counts) for count in beside[OVERLAP]]
        markers = sum(is_marker(word) for text in words for word in text)  # which name no entity
        return Scores(
            ids=[records[place].id for place in places],
            groups=[group_of(records[place]) for place in places],
            values=values,
            signature=self.signature(len(readers)),
            details={QUESTIONS: counts, **right, **answers, **beside},
            counts={
                "empty": sum(not text for text in words),
                "without_entity": sum(not there for there in named),
                "questions": sum(counts),
                "not_asked": len(records) - len(places),
                **({"literal_markers": markers} if markers else {}),
            },
        )

    def _answers(
        self, readers: Sequence[tuple[int, Path]], references: Sequence[Asked], documents: Sequence[Sequence[str]]
    ) -> tuple[dict[str, list[int]], dict[str, list[str]]]:
        """Right answers of each item by every reader, by column of items.csv, and the answers as numbers."""
        texts = [[question.words for question in reference.questions] for reference in references]
        right: dict[str, list[int]] = {}
        answers: dict[str, list[str]] = {}
        for seed, path in readers:
            rows = reader_of(path, self.settings.renumber).answers(documents, texts)
            right[f"{RIGHT}{seed}"] = [
                sum(answer == question.answer for answer, question in zip(row, reference.questions, strict=True))
                for row, reference in zip(rows, references, strict=True)
            ]
            answers[f"{ANSWERS}{seed}"] = [
                " ".join(NOBODY if answer is None else str(answer) for answer in row) for row in rows
            ]
        return right, answers

    def signature(self, readers: int) -> str:
        """Signature with the readers, their seeds, and the numbering of entities; sizes are in the folder's name."""
        reader = self.settings.reader
        size = f"-{reader.embedding}-{reader.hidden}"
        if reader.answer != "markers":
            size = f"-{reader.answer}{size}"
        seeds = ".".join(map(str, self.settings.seeds[:readers]))
        numbers = "first-occurrence" if self.settings.renumber else "the-article's"
        return f"reader:{reader.kind}{size}|seeds:{seeds}|entities:{numbers}"


def _values(
    references: Sequence[Asked], named: Sequence[Mapping[int, int]], right: Sequence[Sequence[int]]
) -> dict[str, list[float]]:
    """Values of every reference by metric, from the entities named in its summary and each reader's right answers."""
    counts = [len(reference.questions) for reference in references]
    mean_count = sum(counts) / len(counts)
    means = [sum(column) / len(right) for column in zip(*right, strict=True)]
    answers = [[question.answer for question in reference.questions] for reference in references]
    within = [sum(answer in there for answer in column) for column, there in zip(answers, named, strict=True)]

    def share(wanted: Sequence[int]) -> list[float]:
        """Percentage of the readers with so many right answers, for each reference."""
        rows = zip(wanted, *right, strict=True)
        return [POINTS * sum(count == number for count in row) / len(right) for number, *row in rows]

    return {
        "apes": [POINTS * mean / mean_count for mean in means],
        "apes_documents": [POINTS * mean / count for mean, count in zip(means, counts, strict=True)],
        "apes_named": [POINTS * count / mean_count for count in within],
        "apes_entities": [float(len(there)) for there in named],
        "apes_salient": [float(len(set(of) & there.keys())) for of, there in zip(answers, named, strict=True)],
        "apes_perfect": share(counts),
        "apes_none": share([0] * len(counts)),
    }


def by_overlap(reference: Asked, summary: Sequence[str]) -> int:
    """The questions about a reference that word overlap with a summary, given as its sentences, answers."""
    sentences = [reference.anonymised(line.split()) for line in summary]
    return sum(guesses(sentences, question.words)[OVERLAP] == question.answer for question in reference.questions)


@lru_cache(maxsize=4)
def _asked(folder: Path) -> tuple[Asked, ...]:
    return tuple(read_questions(folder, TEST))


def asked_of(folder: Path, records: Sequence[Record]) -> Sequence[Asked]:
    """The questions about every record, in its order; RecordError where one has no line there."""
    by_id = {reference.item: reference for reference in _asked(folder)}
    ids = [original_id(record.id) for record in records]
    if strange := [name for name in ids if name not in by_id]:
        many = f"{len(by_id)} records, but the test set has {len(ids)}"
        raise RecordError(f"{folder}: questions of {many}: {strange[0]!r}; rebuild the folder")
    return [by_id[name] for name in ids]


@lru_cache(maxsize=16)
def reader_of(folder: Path, renumber: bool) -> "AttentiveAnswers":
    """The reader of a finished run's folder; cached, since it reads all outputs of a corpus."""
    from sumcurve.capabilities.apes.answers import read_reader
    from sumcurve.store import manifest

    sealed = manifest.read(folder)
    if sealed is None:
        raise RecordError(f"{folder} is not finished; make it first")
    return read_reader(folder, AttentiveSettings.of_specification(sealed["specification"]["reader"]), renumber)

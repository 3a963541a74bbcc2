"""How many questions about its reference a summary lets a reader answer: APES.

Eyal, Baumel and Elhadad (NAACL 2019), section 3. The questions hide the entities of the reference one by one; a trained
reader of the anonymised summary names what is hidden. The score of a corpus is the share of all its questions that are
answered ("micro"); beside it stands the mean over references of the share of each.

A reference with fewer than two entities is not asked about. A summary without any entity scores 0 without being asked,
as an empty one does; both are counted. The readers are the same for all outputs of a corpus; scores are their mean.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sumcurve.capabilities.apes.answered import ANSWERS, NOBODY, QUESTIONS, RIGHT
from sumcurve.capabilities.apes.questions import Asked, candidates, read_questions
from sumcurve.capabilities.apes.settings import Apes, AttentiveSettings, CorpusKeys, reader_settings
from sumcurve.corpora.entities import is_marker
from sumcurve.scores.needs import Need, Needing
from sumcurve.scores.scorer import Metric, Scores, group_of, summaries_of
from sumcurve.settings.base import MODEL_FILES
from sumcurve.settings.study import StudySettings
from sumcurve.store.records import Record, RecordError

if TYPE_CHECKING:
    from sumcurve.capabilities.apes.answers import Answering

POINTS = 100
TEST = "test"


class AnswersQuestions(Needing):
    """Scores every output by its summaries.

    The value of `apes` of an item is its right answers over the mean number of questions of an item, so that the mean
    over items is the share of all questions; so is that of `apes_named`, the questions whose answer the summary names,
    which no reader exceeds.
    """

    Settings = Apes
    together: ClassVar[bool] = True
    metrics = (
        Metric("apes", "APES", "APES", "% of questions"),
        Metric("apes_documents", "APES by document", "by document", "% of questions", ranks=False),
        Metric("apes_named", "answer named", "named", "% of questions", ranks=False),
        Metric("apes_entities", "entities", "entities", "entities", higher_is_better=None, ranks=False),
        Metric("apes_salient", "salient entities", "salient", "entities", higher_is_better=None, ranks=False),
        Metric("apes_perfect", "all answered", "all", "% of summaries", ranks=False),
        Metric("apes_none", "none answered", "none", "% of summaries", higher_is_better=False, ranks=False),
    )
    settings: Apes

    def needs(self, corpus: str, study: StudySettings) -> Sequence[Need] | None:
        asked = [name for name, keys in study.corpora.items() if isinstance(keys, CorpusKeys) and keys.cloze]
        if not asked:
            raise RecordError("no corpus of the study has questions; add `cloze: {}` to one")
        if corpus not in asked:
            return None
        reader, seeds = self.settings.reader, self.settings.seeds
        files: dict[str, tuple[str, tuple[str, ...]]] = {}
        if isinstance(reader, AttentiveSettings):
            if reader.vectors is not None:
                files = {reader.vectors.sha256: (_named(reader.vectors.path, "reader.vectors.path"), ())}
        else:
            files = {reader.sha256: (_named(reader.path, "reader.path"), MODEL_FILES)}
            seeds = seeds[:1]  # it is not trained
        decides = {"reader": reader.model_dump(mode="json"), "threads": study.threads, "sums": study.sums}
        return [
            Need("questions", "questions"),
            *(
                Need("reader", {"seed": seed}, decides | {"seed": seed}, ("questions",), files, {"seed": seed})
                for seed in seeds
            ),
        ]

    def score(self, output: Path, records: Sequence[Record], inputs: Mapping[Path, Any]) -> Scores:
        (folder,) = (path for path, told in inputs.items() if told == "questions")
        readers = sorted((told["seed"], path) for path, told in inputs.items() if told != "questions")
        asked = asked_of(folder, records)
        places = [place for place, one in enumerate(asked) if one.questions]
        if not places:
            raise RecordError(
                f"{folder}: no test reference has two entities, so that nothing is asked; remove the corpus's `cloze`"
            )
        words = [
            [word for sentence in row["summary"] for word in sentence.split(" ") if word]
            for row in summaries_of(output, records)
        ]
        asked, words = [asked[place] for place in places], [words[place] for place in places]
        documents = [one.anonymised(text) for text, one in zip(words, asked, strict=True)]
        texts = [[question.words for question in one.questions] for one in asked]
        right: dict[str, list[int]] = {}
        said: dict[str, list[str]] = {}
        for seed, path in readers:
            answers = reader_of(path, self.settings.renumber).answers(documents, texts)
            right[f"{RIGHT}{seed}"] = [
                sum(answer == question.answer for answer, question in zip(given, one.questions, strict=True))
                for given, one in zip(answers, asked, strict=True)
            ]
            said[f"{ANSWERS}{seed}"] = [
                " ".join(NOBODY if answer is None else str(answer) for answer in given) for given in answers
            ]
        counts = [len(one.questions) for one in asked]
        markers = sum(is_marker(word) for text in words for word in text)  # which name nobody
        means = [sum(column) / len(right) for column in zip(*right.values(), strict=True)]
        every = sum(counts) / len(counts)  # questions of an item
        named = [candidates(document) for document in documents]
        salient = [{question.answer for question in one.questions} for one in asked]
        within = [
            sum(question.answer in there for question in one.questions) for one, there in zip(asked, named, strict=True)
        ]

        def share(of: int | None) -> list[float]:
            """Of the readers, those that answer all (None) or so many questions."""
            columns = zip(counts, *right.values(), strict=True)
            return [
                POINTS * sum(got == (many if of is None else of) for got in all_) / len(right)
                for many, *all_ in columns
            ]

        return Scores(
            ids=[one.item for one in asked],
            groups=[group_of(records[place]) for place in places],
            values={
                "apes": [POINTS * mean / every for mean in means],
                "apes_documents": [POINTS * mean / many for mean, many in zip(means, counts, strict=True)],
                "apes_named": [POINTS * many / every for many in within],
                "apes_entities": [float(len(there)) for there in named],
                "apes_salient": [float(len(of & there.keys())) for of, there in zip(salient, named, strict=True)],
                "apes_perfect": share(None),
                "apes_none": share(0),
            },
            signature=self.signature(len(readers)),
            details={QUESTIONS: counts, **right, **said},
            counts={
                "empty": sum(not text for text in words),
                "without_entity": sum(not there for there in named),
                "questions": sum(counts),
                "not_asked": len(records) - len(places),
                **({"literal_markers": markers} if markers else {}),
            },
        )

    def signature(self, readers: int) -> str:
        """Who answers, with which seeds, and how entities are numbered; the sizes are part of the folder's name."""
        reader = self.settings.reader
        size = f"-{reader.embedding}-{reader.hidden}" if isinstance(reader, AttentiveSettings) else ""
        seeds = ".".join(map(str, self.settings.seeds[:readers]))
        numbers = "first-occurrence" if self.settings.renumber else "the-article's"
        return f"reader:{reader.kind}{size}|seeds:{seeds}|entities:{numbers}"


def _named(path: str, key: str) -> str:
    if not path:
        raise RecordError(f"{key}: say where the file or folder with that sha256 lies")
    return path


@lru_cache(maxsize=4)
def _asked(folder: Path) -> tuple[Asked, ...]:
    return tuple(read_questions(folder, TEST))


def asked_of(folder: Path, records: Sequence[Record]) -> Sequence[Asked]:
    """The questions about every record, in order; RecordError where they are about others."""
    asked = _asked(folder)
    ids, known = [record.id for record in records], [one.item for one in asked]
    if ids != known:
        strange = next((one for one in [*ids, *known] if (one in ids) != (one in known)), "their order")
        raise RecordError(f"{folder}: questions of {len(known)} records, but the test set has {len(ids)}: {strange!r}")
    return asked


@lru_cache(maxsize=16)
def reader_of(folder: Path, renumber: bool) -> "Answering":
    """The reader of a finished run's folder; kept, since all outputs of a corpus are read by it."""
    from sumcurve.capabilities.apes.answers import read_reader
    from sumcurve.store import manifest

    sealed = manifest.read(folder)
    if sealed is None:
        raise RecordError(f"{folder} is not finished; make it first")
    settings = reader_settings(sealed["specification"]["reader"])
    if isinstance(settings, AttentiveSettings):
        return read_reader(folder, settings, renumber)
    from sumcurve.capabilities.apes.spans import MODEL, SpanAnswers

    return SpanAnswers(folder / MODEL, settings)

"""What finished folders say of pretrainings, and what they are worth in records."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sumcurve.capabilities.capability import Folders
from sumcurve.capabilities.pretrained.settings import BartSettings
from sumcurve.corpora.store import Corpus
from sumcurve.scores.scorer import Metric
from sumcurve.tables.evidence import Evidence
from sumcurve.tables.table import number

if TYPE_CHECKING:
    from sumcurve.study.plan import Folder
    from sumcurve.tables.results import Results

BETTER, WORSE, LEVEL_WITH = "better", "worse", "no difference"


@dataclass(frozen=True)
class Shared:
    """What is said of a pretraining that serves several studies: its folder `key`, the same in all of them.

    `title` says what is denoised: `subwords` in a pass, of a `vocabulary`, `passes` up to the selected checkpoint.
    `overlap` are the tokens in a row by which a record of it overlaps a corpus. A word has on average `of_a_word`
    subwords in these texts, and `of_a_word_here` in the corpus's.
    """

    key: str
    title: str
    vocabulary: int
    subwords: int
    passes: float
    overlap: int
    of_a_word: float
    of_a_word_here: float


@dataclass(frozen=True)
class Pretraining:
    """A BART that was made for a corpus, and its methods.

    `scratch` is the method trained from scratch, without pretraining, None where there is none; of the others `methods`
    says whether they start from the pretraining's weights. `texts` were denoised for `updates` up to the selected
    checkpoint, in `seconds` of compute; `nll` is the loss on texts that chose nothing, in nats. `removed` counts by
    reason, of `read` records, those that overlap the validation or test part, and `sentences_removed`, of the
    `sentences` of the others, those that are a summary. Of one that is `shared` nothing was removed: `removed` counts
    what would have been.
    """

    corpus: str
    scratch: str | None
    methods: Mapping[str, bool]
    seconds: float
    updates: int
    texts: int
    nll: float
    read: int
    removed: Mapping[str, int]
    sentences: int
    sentences_removed: int
    shared: Shared | None = None


@dataclass(frozen=True)
class Pretrainings(Evidence):
    """The pretrainings of a study."""

    made: Sequence[Pretraining] = ()

    def answer_notes(self, results: "Results") -> Sequence[str]:
        from sumcurve.capabilities.pretrained.tables.pretraining import sentences

        return sentences(results)

    def question_rows(
        self, results: "Results", asks: str, corpus: str, metric: Metric, sizes: Sequence[int]
    ) -> Sequence[Mapping[str, Any]]:
        """The records that a pretrained method needs for the score that the same from scratch has."""
        if asks != "pretraining" or not any(pretraining.methods for pretraining in self.made):
            return ()
        from sumcurve.capabilities.pretrained.tables.pretraining import table

        rows = [row for row in table(results).rows if (row["corpus"], row["metric"]) == (corpus, metric.title)]
        return [_answer(row, metric) for row in rows if row["records"] in sizes]


def _answer(row: Mapping[str, Any], metric: Metric) -> dict[str, Any]:
    """A row of table questions for one of table pretraining."""
    from sumcurve.tables.questions import NOT_KNOWN

    size = {"records": row["records"], "method": row["method"]}
    if row["says"] not in (BETTER, WORSE):
        return size | {"answer": NOT_KNOWN, "value": row["difference"], "unit": metric.unit, "why": row["says"]}
    needed = row["records_needed"]
    records = f"{needed.sign}{' ' * bool(needed.sign)}{number(needed.number)} records"
    answer = f"{row['says']}: {row['method']} has from scratch's score with {records}"
    return size | {"answer": answer, "value": row["ratio"], "unit": "of the records"}


def pretrainings_of(results: "Results") -> Sequence[Pretraining]:
    """Those of a study; empty where it has none."""
    evidence = results.study.evidence.get("pretrained")
    return evidence.made if isinstance(evidence, Pretrainings) else ()


# --- by folders


def pretrainings(folders: Folders) -> Pretrainings:
    """Of all finished pretrainings; of one that several studies share for every corpus that it was compared with."""
    plan, made = folders.plan, []
    for folder in plan.named("runs", "pretrain"):
        if not folders.finished(folder.key):
            continue
        apart = plan.folder(folder.specification["outside"]).specification
        if "corpus" in apart:
            made.append(_pretraining(folders, folder, plan.corpus_name(apart["corpus"])))
            continue
        for overlap in plan.named("annotations", "overlap"):
            of_it = overlap.specification["subwords"] == folder.specification["subwords"]
            if of_it and folders.finished(overlap.key):
                made.append(_shared(folders, folder, overlap))
    return Pretrainings(made)


def _pretraining(folders: Folders, folder: "Folder", corpus: str) -> Pretraining:
    """What a finished pretraining cost and was made of, and the methods that it is for."""
    plan, results = folders.plan, folders.results
    statistics = Corpus(results / folder.specification["outside"]).statistics
    training = _json(folders, folder, "training.json")
    learned = {name: form.model.outside for name, form in plan.methods.items() if isinstance(form.model, BartSettings)}
    return Pretraining(
        corpus=corpus,
        scratch=next((name for name, outside in learned.items() if outside == "nothing"), None),
        methods={name: outside == "bodies" for name, outside in learned.items() if outside != "nothing"},
        seconds=folders.timing(folder.key).seconds,
        updates=training["updates"],
        texts=training["records"],
        nll=training["test_nll"],
        read=statistics["read"],
        removed=statistics["removed"],
        sentences=statistics["sentences"],
        sentences_removed=statistics["sentences_removed"],
    )


def _shared(folders: Folders, folder: "Folder", compared: "Folder") -> Pretraining:
    """The same of one that several studies share, and what `compared` says of it and a corpus."""
    plan, settings = folders.plan, folders.plan.settings.pretraining
    counts, training = _json(folders, compared, "overlap.json"), _json(folders, folder, "training.json")
    shared = Shared(
        key=folder.key,
        title=settings.title if settings is not None else "",
        vocabulary=training["vocabulary"],
        subwords=counts["subwords"],
        passes=training["epochs"],
        overlap=compared.specification["overlap"],
        of_a_word=counts["of_a_word"],
        of_a_word_here=counts["of_a_word_here"],
    )
    pretraining = _pretraining(folders, folder, plan.corpus_name(compared.specification["corpus"]))
    return replace(pretraining, removed=counts["overlapping"], shared=shared)


def _json(folders: Folders, folder: "Folder", name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folders.results / folder.key / name).read_text())
    return content

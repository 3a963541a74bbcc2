"""What finished folders say of pretrainings, and what they are worth in records."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
class Pretraining:
    """A BART that was made for a corpus, and its methods.

    `scratch` is the method trained from scratch, without pretraining, None where there is none; of the others `methods`
    says whether they start from the pretraining's weights. `texts` were denoised for `updates` up to the selected
    checkpoint, in `seconds` of compute; `nll` is the loss on texts that chose nothing, in nats. `removed` counts by
    reason, of `read` records, those that overlap the validation or test part, and `sentences_removed`, of the
    `sentences` of the others, those that are a summary.
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
    """Of all finished pretrainings."""
    finished = [folder for folder in folders.plan.named("runs", "pretrain") if folders.finished(folder.key)]
    return Pretrainings([_pretraining(folders, folder) for folder in finished])


def _pretraining(folders: Folders, folder: "Folder") -> Pretraining:
    """What a finished pretraining cost and was made of, and the methods that it is for."""
    plan, results = folders.plan, folders.results
    apart = plan.folder(folder.specification["outside"])
    statistics = Corpus(results / apart.key).statistics
    training = json.loads((results / folder.key / "training.json").read_text())
    learned = {name: form.model.outside for name, form in plan.methods.items() if isinstance(form.model, BartSettings)}
    return Pretraining(
        corpus=plan.corpus_name(apart.specification["corpus"]),
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

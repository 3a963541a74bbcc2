"""Evidence of finished folders about related words."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sumcurve.capabilities.capability import Folders
from sumcurve.store.records import read_csv
from sumcurve.tables.evidence import Evidence

LABELS = 10  # whose related words are shown


@dataclass(frozen=True)
class RelatedWords:
    """Related words of a method's labels (`related.write_labels`): shares are 0..1, means."""

    corpus: str
    method: str
    records: int
    labels: int
    related: int
    itself: float
    function_words: float
    overlap: float
    examples: Sequence[tuple[str, Sequence[str]]]  # the most frequent labels, each with its related words


@dataclass(frozen=True)
class Related(Evidence):
    """Related words of every requested method."""

    rows: Sequence[RelatedWords]


def related_words(folders: Folders) -> Related:
    """Read the related words of every requested method with a finished folder."""
    plan, results = folders.plan, folders.results
    rows = []
    for folder in plan.named("outputs", "labels"):
        if not folders.finished(folder.key):
            continue
        run = plan.folder(folder.specification["run"]).specification
        corpus = plan.corpus_name(plan.folder(run["fraction"]).specification["corpus"])
        shown: dict[str, list[str]] = {}
        for row in read_csv(results / folder.key / "labels.csv"):
            if row["label"] in shown or len(shown) < LABELS:
                shown.setdefault(row["label"], []).append(row["word"])
        numbers = json.loads((results / folder.key / "labels.json").read_text(encoding="utf-8"))
        training = json.loads((results / folder.specification["run"] / "training.json").read_text(encoding="utf-8"))
        rows.append(RelatedWords(corpus, run["method"], training["records"], **numbers, examples=list(shown.items())))
    return Related(rows)

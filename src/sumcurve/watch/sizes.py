"""Numbers of records of corpora and of trainings, as far as they are known before corpora are prepared."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sumcurve.corpora import fraction
from sumcurve.corpora.store import Corpus
from sumcurve.planning.folder import Folder
from sumcurve.settings.corpus import CorpusSettings, Preparation
from sumcurve.store import manifest
from sumcurve.store.records import read_csv
from sumcurve.study.plan import Plan
from sumcurve.watch.verify import TABLES_KEYS

Counts = Mapping[str, int | None]  # records by corpus; None: not known


def recorded_sizes(tables: Path, part: Literal["train", "read"] = "train") -> dict[str, int]:
    """The training records of corpora that stand in tables of recorded studies, by the keys of their folders; or all
    records that were read to make them.

    ManifestError where the manifest of such tables is damaged.
    """
    records = {}
    for path in tables.glob("*/manifest-*.json"):
        sizes = {
            row["corpus"]: int(row["records"])
            for row in read_csv(path.parent / "corpora.csv")
            if (row["part"], row["percent"]) == (part, "100" if part == "train" else "")
        }
        sealed = manifest.read_sealed(path, TABLES_KEYS, "restore it") or {"inputs": {}}
        for key in sealed["inputs"]:
            if key.startswith("corpora/") and (name := Plan.corpus_name(key)) in sizes:
                records[key] = sizes[name]
    return records


def _parts(results: Path, key: str) -> dict[str, dict[str, int]] | None:
    """The statistics of a prepared corpus's parts; None where it is not finished."""
    path = results / key
    return Corpus(path).statistics["parts"] if manifest.state(path) == "finished" else None


def _published(settings: Preparation) -> Mapping[Any, int]:
    return settings.published if isinstance(settings, CorpusSettings) else {}


def records_of(plan: Plan, results: Path, assumed: int | None, recorded: Mapping[str, int]) -> dict[str, int | None]:
    """The records of each corpus's training part: as prepared, `recorded`, by its split, published, or `assumed`.

    None where they are not known.
    """
    records: dict[str, int | None] = {}
    for key, (name, settings) in plan.prepared.items():
        if (parts := _parts(results, key)) is not None:
            records[name] = int(parts["train"]["records"])
        else:
            records[name] = recorded.get(key) or settings.split.train or _published(settings).get("train") or assumed
    return records


@dataclass(frozen=True)
class Sizes:
    """Numbers of records of each corpus's training part and of its test part; None: not known.

    `read` are those that are read to prepare a corpus that is not finished: from recorded studies, or as many as are
    published. Where neither has them (`guessed`), they are taken to be the records of the corpus's parts; a corpus
    whose parts are not known either is left out. `home` is the study's, below which fetched files lie.
    """

    train: Counts
    test: Counts
    read: Mapping[str, int]
    guessed: tuple[str, ...]
    home: Path

    @classmethod
    def of(cls, plan: Plan, results: Path, assumed: int | None, recorded: Mapping[str, int]) -> "Sizes":
        """Sizes of a study's corpora; see `records_of`."""
        train, test = records_of(plan, results, assumed, recorded), plan.test_items
        recorded_read = recorded_sizes(results / "tables", "read")
        read, guessed = {}, []
        for key, (name, settings) in plan.prepared.items():
            if (parts := _parts(results, key)) is not None:
                if name in test:
                    test[name] = int(parts["test"]["records"])
            elif count := recorded_read.get(key) or sum(_published(settings).values()):
                read[name] = count
            elif (records := train[name]) is not None:
                read[name] = records + (settings.split.valid or 0) + (settings.split.test or 0)
                guessed.append(name)
        return cls(train, test, read, tuple(guessed), results.parent)


def corpus_of(plan: Plan, folder: Folder) -> str:
    """The name of the corpus that a folder is of."""
    specification = folder.specification
    if folder.kind == "corpus" or "corpus" in specification:
        return plan.corpus_name(specification.get("corpus", folder.key))
    trained = plan.folder(specification["run"]) if "run" in specification else folder
    return plan.corpus_name(plan.folder(trained.specification["fraction"]).specification["corpus"])


def size_of(plan: Plan, folder: Folder, records: Counts) -> int | None:
    """The records that a training learns from; `records` are those of training parts. None where it is not known."""
    specification = plan.folder(folder.specification["fraction"]).specification
    if "records" in specification:
        return int(specification["records"])
    total = records.get(corpus_of(plan, folder))
    return None if total is None else fraction.records_of(specification["percent"], total)

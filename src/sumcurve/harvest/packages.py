"""Packages of a harvested corpus: which they are, what each gave, and the licence of its text."""

from collections import Counter
from pathlib import Path
from typing import Any

from sumcurve.corpora.store import PARTS, UNSEEN, Corpus
from sumcurve.harvest.archives import chosen, normalized, read_archives
from sumcurve.settings.config import PlanError
from sumcurve.settings.content import Harvest
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import csv_text, read_jsonl

COLUMNS = (
    *("corpus", "package", "version", "licence", "file", "bytes", "files", "files_dropped", "docstrings", "raw"),
    *(*PARTS, UNSEEN, "train_percent"),
)


def yields(corpus: Corpus, raw: Path) -> list[dict[str, Any]]:
    """A row for every package, the one with the most training records first, then one of the sums: of all COLUMNS but
    `corpus`.

    `raw` is the harvested file. `docstrings` were found in `files`, `raw` of them became raw records, and the parts
    hold what of these passed the filters and repeats nothing; `train_percent` is the package's share of the training
    part. Of installed packages nothing is known but raw records and parts. CorpusError for a corpus that is not
    harvested, is composed, or was made from other raw content.
    """
    counts = corpus.harvest
    if counts is None or corpus.statistics["composed"]:
        raise CorpusError(
            f"{corpus.folder}: its records are no docstrings of packages, one by one: name another corpus"
        )
    if corpus.statistics["read"] != counts["kept"]:
        raise CorpusError(f"{corpus.folder} was made from other content than its harvest.json counts; make it anew")
    archives = counts.get("archives") or [
        {"name": name, "kept": counts["packages"][name]} for name in sorted(counts["packages"], key=str.lower)
    ]
    packages = [archive["name"] for archive in archives for _ in range(archive["kept"])]  # of every line of `raw`
    part_of = {name: part.name for part in corpus.parts for name in part.ids}
    dropped = {row["line"] for row in read_jsonl(corpus.dropped_path)}
    by_package: dict[str, Counter[str]] = {archive["name"]: Counter() for archive in archives}
    for number, (package, row) in enumerate(zip(packages, read_jsonl(raw), strict=True), start=1):
        if number not in dropped:
            by_package[package][part_of[row["id"]]] += 1
    train = len(corpus.part("train"))
    rows = []
    for archive in archives:
        parts = by_package[archive["name"]]
        rows.append(
            {
                "package": archive["name"],
                **{key: archive.get(key, "") for key in ("version", "licence", "file", "bytes", "files")},
                "files_dropped": sum(archive["files_dropped"].values()) if "files_dropped" in archive else "",
                "docstrings": archive.get("found", ""),
                "raw": archive["kept"],
                **{part: parts[part] for part in (*PARTS, UNSEEN)},
                "train_percent": f"{100 * parts['train'] / train:.1f}",
            }
        )
    rows.sort(key=lambda row: (-row["train"], -row[UNSEEN], row["package"].lower()))
    counted = ("bytes", "files", "files_dropped", "docstrings", "raw", *PARTS, UNSEEN)
    sums = {key: sum(row[key] or 0 for row in rows) for key in counted}
    return [*rows, {**dict.fromkeys(COLUMNS[1:], ""), "package": "all", **sums, "train_percent": "100.0"}]


def yields_csv(rows: list[dict[str, Any]]) -> str:
    return csv_text(COLUMNS, ([row[column] for column in COLUMNS] for row in rows))


def packages_of(harvest: Harvest | None, config: Path) -> set[str]:
    """The packages of a harvest, by their normalized names; PlanError for a list that cannot be read."""
    if harvest is None:
        return set()
    if harvest.archives is None:
        return set(map(normalized, harvest.packages or {}))
    try:
        archives = chosen(read_archives(config / "harvest" / f"{harvest.archives}.csv"), harvest.without, harvest.only)
    except CorpusError as error:
        raise PlanError(str(error)) from None
    return {normalized(archive.name) for archive in archives}

"""Parts of a plan: folders, corpora while they are planned, and the files that they are read from."""

from dataclasses import dataclass
from typing import Any, Literal

from sumcurve.corpora.folders import Sized
from sumcurve.settings.content import Raw
from sumcurve.settings.corpus import CorpusSettings, Split
from sumcurve.sources.content import patterns
from sumcurve.sources.pinned import File
from sumcurve.store.manifest import digest
from sumcurve.systems.rows import Scored

HUB, GIT = "hub-", "git-"


@dataclass(frozen=True)
class Folder:
    """One folder of results: `step/name` below the results folder, of a kind (`study.kinds`), made from `inputs`."""

    kind: str
    step: str
    name: str
    specification: dict[str, Any]
    inputs: tuple[str, ...]  # keys of other folders
    files: tuple[File, ...] = ()

    @property
    def key(self) -> str:
        return f"{self.step}/{self.name}"

    @property
    def stem(self) -> str:
        """Name without the digest."""
        return self.name.rsplit("-", 1)[0]


def no_folder(study: str, key: str) -> str:
    """Error text for a folder that a study does not require."""
    return (
        f"study {study} asks for no folder {key}: settings or versions have changed since its name was made; run the "
        "study again"
    )


@dataclass(frozen=True)
class PlannedCorpus:
    """A corpus while its folders are planned; `prepared` and `entities` are keys of folders."""

    name: str
    settings: CorpusSettings
    prepared: str
    entities: str | None = None  # where a method learns them, or a search reads them: the folder that has them
    seen: "PlannedCorpus | None" = None  # of a part that is held out: the corpus
    decoded: Literal["test", "valid"] = "test"  # which part programs summarize: the second while settings are tried

    def sized(self, size: int) -> Sized:
        """One of its sizes as specifications and rows say it."""
        return {"percent": size} if self.settings.percents is not None else {"records": size}

    def called(self, size: int) -> str:
        """One of its sizes as names of folders say it."""
        return f"{size:03d}" if self.settings.percents is not None else f"n{size}"

    def row(
        self, method: str, size: int, seed: int, search: Literal["common", "own"], run: str | None, **further: Any
    ) -> Scored:
        """A row of one training whose output is not planned yet."""
        sized = self.sized(size)
        percent, records = sized.get("percent"), sized.get("records")
        return Scored(self.name, method, percent, seed, search, run, "", records=records, **further)


def raw_file(raw: Raw, split: Split) -> File:
    """The raw content of a corpus. What is made here is named after it and shared by the corpora made from it."""
    if raw.origin:
        return raw.origin.file(str(raw.sha256))
    shards = patterns(raw.source, split.files(), raw.only or ())
    if raw.tree:
        return File(raw.tree, place_of_tree(raw.tree), harvested=True, shards=shards, tree=True)
    files = tuple(sorted((raw.files or {}).items()))
    if raw.path:
        return File(raw.sha256, raw.path, shards=shards, files=files)
    return File(raw.sha256, place_of_hub(raw), harvested=True, shards=shards, files=files)


def place_of_hub(raw: Raw) -> str:
    """Path of files of the hub below the study's home: their name, revision and list decide it."""
    decides = {"hub": raw.hub, "revision": raw.revision, "files": sorted(raw.files or {})}
    return f"data/raw/{HUB}{digest(decides)}"


def place_of_tree(tree: str) -> str:
    """Path of a folder of a git repository below the study's home."""
    return f"data/raw/{GIT}{tree[:12]}"

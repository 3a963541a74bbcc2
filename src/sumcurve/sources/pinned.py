"""Inputs of a study from outside of its results, whose content is pinned by its sha256, or by the id of git's tree."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sumcurve.store.manifest import sha256_file, sha256_files
from sumcurve.store.members import names_of_shards
from sumcurve.store.trees import tree_id

PIPELINE_FILES = ("**/*",)  # of the folder of a spaCy pipeline


@dataclass(frozen=True)
class File:
    """Input from outside of the results, whose content is pinned.

    One that is `harvested`, or fetched, lies below the study's home.

    It may be a folder. Its content are the files below it that match one of the patterns `shards`; of a `tree` all
    files, and its sha256 is the id of git's tree.
    """

    sha256: str | None  # None: not yet stated by the study
    path: str
    harvested: bool = False
    shards: tuple[str, ...] = ()
    pinned: str = ""  # the file of the configuration that states the sha256; "": the study's
    files: tuple[tuple[str, str | None], ...] = ()  # of a folder, where the study names them: each with its sha256
    tree: bool = False
    model: tuple[str, str | None] | None = None  # by which it is fetched: name of hub or package, commit or wheel

    @property
    def word(self) -> str:
        """Name of its digest, in messages."""
        return "tree" if self.tree else "sha256"

    def at(self, home: Path) -> Path:
        return home / self.path if self.harvested else Path(self.path)

    def observed(self, home: Path) -> str | None:
        """The sha256 of the present content; for a folder that of the lines of `sha256sum` for its sorted shards.

        None where the path is missing; CorpusError for a folder without shards.
        """
        path = self.at(home)
        if self.tree:
            return tree_id(path) if path.is_dir() else None
        if path.is_dir():
            return sha256_files(path, names_of_shards(path, self.shards))
        return sha256_file(path) if path.is_file() else None

    def problem(self, home: Path, study: str) -> str:
        """Fault of the present content, with the remedy."""
        path, observed = self.at(home), self.observed(home)
        pinned = self.pinned or f"config/studies/{study}.yaml"
        if observed is None:
            return f"{path} is missing; what it is, and where it comes from: {pinned} and docs/reference/corpora.md"
        if self.sha256 is None:
            return (
                f"{path} has sha256 {observed}, and {pinned} does not say which copy is meant: if it is this one, "
                f"write `sha256: {observed}` below its `raw:`"
            )
        if self.tree:
            return (
                f"{path} is git's tree {observed}, but study {study} pins {self.sha256}: a file was changed, added or "
                "lost, or its mode was; delete the folder and it is fetched again, or bring a copy as it was published"
            )
        others = "; ".join(self._others(path))
        return (
            f"{path} has sha256 {observed}, but study {study} pins {self.sha256}{f' ({others})' if others else ''}: "
            f"restore it, or name its new content by `sha256: {observed}` in {pinned}"
        )

    def _others(self, folder: Path) -> Iterator[str]:
        """Differences of a folder's files from those that the study names."""
        if not self.files or not folder.is_dir():
            return
        there = set(names_of_shards(folder, self.shards))
        for name, sha256 in self.files:
            if name not in there:
                yield f"{name} is missing"
            elif sha256 is not None and (observed := sha256_file(folder / name)) != sha256:
                yield f"{name} has sha256 {observed}, not {sha256}"
        for name in sorted(there - {name for name, _ in self.files}):
            yield f"{name} is not of it"


def fetched_model(sha256: str | None) -> str:
    """Path of a model of the hub, below the study's home; that of a model without a sha256 is never used."""
    return f"data/raw/model-{sha256[:12] if sha256 else 'not-pinned'}"

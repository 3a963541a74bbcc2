"""Folders of results that no study asks for any more, and what unfinished ones left: listed, and deleted on request.

What is needed is what any study of the configuration asks for, and what any tables that lie here were made from, be it
by other settings or code than today's. What other branches ask for is known by their tables alone.
"""

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sumcurve.machine import locks
from sumcurve.settings.config import PlanError
from sumcurve.store import manifest, resume
from sumcurve.study.kinds import STEPS
from sumcurve.study.plan import Plan, studies
from sumcurve.watch.verify import TABLES_KEYS

NAMED = re.compile(r"[A-Za-z0-9_.-]+-[0-9a-f]{8}")  # as every folder of the plan is; others are not ours to delete


@dataclass(frozen=True)
class Needless:
    """One thing that nothing needs: a folder or a file, and why."""

    path: Path
    name: str  # of the folder of results that it is, or was to become: that of its lock
    why: str

    @property
    def bytes(self) -> int:
        if self.path.is_symlink() or self.path.is_file():
            return self.path.lstat().st_size
        return sum(path.stat().st_size for path in self.path.rglob("*") if path.is_file())


def needed(config: Path, results: Path) -> set[str]:
    """The keys of all folders that a study asks for or that tables were made from.

    PlanError where one study cannot be read, where there is none, or where the results lie beside another
    configuration; ManifestError where a tables' manifest is damaged: then nobody knows.
    """
    names = studies(config)
    if not names:
        raise PlanError(f"{config / 'studies'} holds no study: go to the folder of config/ and prune from there")
    for home in (results.absolute().parent, results.resolve().parent):  # which differ where `results` is a link
        other = home / config.name
        if studies(other) and other.resolve() != config.resolve():
            raise PlanError(f"{results} is of the studies in {other}, not of those in {config.resolve()}: go to {home}")
    keys = {key for study in names for key in Plan.read(config, study).folders}
    for path in sorted((results / "tables").glob("*/manifest-*.json")):
        sealed = manifest.read_sealed(path, TABLES_KEYS, "restore it")
        keys |= set(sealed["inputs"]) if sealed else set()
    return keys


def needless(config: Path, results: Path) -> list[Needless]:
    """What of `results` and of the states beside it nothing needs, in the order of the steps."""
    keys = needed(config, results)
    home, scratch, unneeded = results.parent, results.parent / "scratch", []
    for step in STEPS[:-1]:
        for path in sorted((results / step).glob("*")):
            ours = NAMED.fullmatch(path.name) and path.is_dir() and not path.is_symlink()
            if ours and f"{step}/{path.name}" not in keys:
                unneeded.append(Needless(path, path.name, "no study asks for it"))
        for path in sorted((results / ".partial" / step).glob("*")):
            key = f"{step}/{path.name}"
            if key not in keys or manifest.read(results / key) is not None:
                unneeded.append(Needless(path, path.name, "was being made, and is finished or not asked for"))
    for path in sorted(path for place in (resume.RESUME, resume.PROGRAMS) for path in (home / place).glob("*")):
        key = f"runs/{resume.name(path)}"
        if key not in keys or manifest.read(results / key) is not None:
            unneeded.append(
                Needless(path, resume.name(path), "the state of a training that is finished or not asked for")
            )
    for path in sorted((scratch / "shards").glob("*-of-*")):
        name = path.name.rpartition("-of-")[0]
        if f"corpora/{name}" not in keys:
            unneeded.append(Needless(path, name, "pieces of a corpus that no study asks for"))
    return unneeded


def delete(unneeded: Sequence[Needless], locked: Path, say: Callable[[str], None]) -> int:
    """Delete these but those whose folder some process is making now, by the locks in `locked`; how many went.

    Manifests go first: what a kill leaves is unfinished, not damaged. Of a link the link itself goes, and nothing else.
    """
    count = 0
    locked.mkdir(parents=True, exist_ok=True)
    for entry in unneeded:
        with (locked / entry.name).open("a") as stream:
            if not locks.take(stream):
                say(f"{entry.path}: some process is making {entry.name} now; it stays")
                continue
            if entry.path.is_symlink() or not entry.path.is_dir():
                entry.path.unlink()
            else:
                if not (entry.path / manifest.MANIFEST).is_dir():  # as no manifest is
                    (entry.path / manifest.MANIFEST).unlink(missing_ok=True)
                shutil.rmtree(entry.path)
            count += 1
    return count

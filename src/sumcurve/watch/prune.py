"""Folders of results that no study requires any more, and remains of unfinished ones: listed, and deleted on request.

Needed are the folders that any study of the configuration requires, and those that any tables in this clone were made
from, also by other settings or code than today's. Folders of other branches are known by their tables alone.
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
from sumcurve.study.written import WrittenPlan
from sumcurve.watch.verify import TABLES_KEYS

NAMED = re.compile(r"[A-Za-z0-9_.-]+-[0-9a-f]{8}")  # as every folder of the plan is; others are not ours to delete


@dataclass(frozen=True)
class Needless:
    """A folder or a file that nothing needs, with the reason."""

    path: Path
    name: str  # of the folder of results that it is, or was to become: that of its lock
    why: str

    @property
    def bytes(self) -> int:
        if self.path.is_symlink() or self.path.is_file():
            return self.path.lstat().st_size
        return sum(path.stat().st_size for path in self.path.rglob("*") if path.is_file())


def needed(config: Path, results: Path) -> set[str]:
    """The keys of all folders that a study requires or that tables were made from, and the names of studies' plans.

    PlanError where one study cannot be read, where there is none, or where the results lie beside another
    configuration; ManifestError where a tables' manifest is damaged: its folders are then unknown.
    """
    names = studies(config)
    if not names:
        raise PlanError(f"{config / 'studies'} holds no study: go to the folder of config/ and prune from there")
    for home in (results.absolute().parent, results.resolve().parent):  # which differ where `results` is a link
        other = home / config.name
        if studies(other) and other.resolve() != config.resolve():
            raise PlanError(f"{results} is of the studies in {other}, not of those in {config.resolve()}: go to {home}")
    keys = set[str]()
    for plan in (Plan.read(config, study) for study in names):
        keys |= {*plan.folders, f"scratch/{WrittenPlan.of(plan).path(results.parent).name}"}
    for path in sorted((results / "tables").glob("*/manifest-*.json")):
        sealed = manifest.read_sealed(path, TABLES_KEYS, "restore it")
        keys |= set(sealed["inputs"]) if sealed else set()
    return keys


def needless(config: Path, results: Path) -> list[Needless]:
    """Needless folders and files of `results` and of the states beside it, in the order of the steps."""
    keys, home = needed(config, results), results.parent
    # Each thing, the key of the folder that it is or was to become, why it would go, and whether it is of no use once
    # that folder is made.
    things: list[tuple[Path, str, str, bool]] = []
    for step in STEPS[:-1]:
        for path in sorted((results / step).glob("*")):
            if NAMED.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
                things.append((path, f"{step}/{path.name}", "no study asks for it", False))
        for path in sorted((results / ".partial" / step).glob("*")):
            things.append((path, f"{step}/{path.name}", "was being made, and is finished or not asked for", True))
    for path in sorted(path for place in (resume.RESUME, resume.PROGRAMS) for path in (home / place).glob("*")):
        why = "the state of a training that is finished or not asked for"
        things.append((path, f"runs/{resume.name(path)}", why, True))
    for path in sorted((home / "scratch").glob("plan-*.json")):
        things.append((path, f"scratch/{path.name}", "the plan of no study as it is now", False))
    return [
        Needless(path, key.partition("/")[2], why)
        for path, key, why, until_made in things
        if key not in keys or (until_made and manifest.read(results / key) is not None)
    ]


def delete(unneeded: Sequence[Needless], locked: Path, say: Callable[[str], None]) -> int:
    """Delete these but those whose folder some process is making now, by the locks in `locked`; returns how many.

    Manifests are deleted first: a kill leaves unfinished folders, not damaged ones. Of a link only the link is deleted.
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

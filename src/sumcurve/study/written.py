"""A study's plan as a file: the driver plans once and writes it, and each job reads it in place of the configuration.

The file is named by a digest of its content, `scratch/plan-STUDY-DIGEST.json` below the study's home, so that two
drivers of one plan share it, and one whose settings have changed writes another.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sumcurve.planning.folder import Folder, no_folder
from sumcurve.settings.config import PlanError
from sumcurve.sources.pinned import File
from sumcurve.store.manifest import digest
from sumcurve.store.records import write_text
from sumcurve.study.kinds import KINDS
from sumcurve.study.plan import Plan

WRITE = "`sumcurve plan HOME/results --study STUDY --write` writes"
KEYS = ("kind", "step", "name", "specification", "inputs", "files")  # of a folder in the file


@dataclass(frozen=True)
class WrittenPlan:
    """Plan of a study for its jobs: its name, its folders by key, and the sets of folders that one process makes."""

    study: str
    folders: Mapping[str, Folder]
    together: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, plan: Plan) -> "WrittenPlan":
        return cls(plan.study, plan.folders, tuple(map(tuple, plan.together.values())))

    def folder(self, key: str) -> Folder:
        """The folder of this key. Raises PlanError where the plan has none, or the code has another version of it."""
        folder = self.folders.get(key)
        if folder is None or folder.kind not in KINDS:
            raise PlanError(no_folder(self.study, key))
        kind = KINDS[folder.kind]
        planned, version = folder.specification[kind.version_key], kind.version_of(folder.specification)
        if version != planned:
            raise PlanError(
                f"{key} was planned with version {planned} of the code that makes it, which has version {version} now: "
                "run the study again"
            )
        return folder

    def described(self) -> dict[str, Any]:
        """Plan as plain JSON values, which `read` reads back."""
        folders = [{name: getattr(folder, name) for name in KEYS} for folder in self.folders.values()]
        for folder in folders:
            folder["files"] = [asdict(file) for file in folder["files"]]
        return {"study": self.study, "folders": folders, "together": self.together}

    def path(self, home: Path) -> Path:
        """Path of its file below the study's home."""
        return home / "scratch" / f"plan-{self.study}-{digest(self.described())}.json"

    def write(self, home: Path) -> Path:
        """Write its file, whole, unless it exists."""
        path = self.path(home)
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, json.dumps(self.described(), ensure_ascii=False))
        return path


def read(path: Path) -> WrittenPlan:
    """The plan that a driver wrote. Raises PlanError for a missing file, and for one that is no plan."""
    try:
        described = json.loads(path.read_text(encoding="utf-8"))
        folders = [_folder(**{name: folder[name] for name in KEYS}) for folder in described["folders"]]
        return WrittenPlan(
            described["study"], {folder.key: folder for folder in folders}, tuple(map(tuple, described["together"]))
        )
    except FileNotFoundError:
        raise PlanError(f"{path} is missing: {WRITE} the plan of a study") from None
    except (ValueError, KeyError, TypeError) as error:
        raise PlanError(f"{path} is no plan ({error}): delete it; {WRITE} it again") from None


def holding(home: Path, key: str) -> WrittenPlan:
    """The newest plan below a study's home that has the folder. Raises PlanError where none has it."""
    paths = sorted((home / "scratch").glob("plan-*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    unread: list[str] = []
    for path in paths:
        try:
            plan = read(path)
        except PlanError as error:
            unread.append(f"\n{error}")
            continue
        if key in plan.folders:
            return plan
    raise PlanError(
        f"no plan in {home / 'scratch'} has {key}: {WRITE} the plan of a study, and `snakemake` that of one that it "
        "runs; where neither has it, settings or versions have changed since its name was made" + "".join(unread)
    )


def _folder(
    kind: str, step: str, name: str, specification: dict[str, Any], inputs: list[str], files: list[Any]
) -> Folder:
    """A folder of the file. Raises ValueError where its name does not end in the digest of its specification."""
    if not name.endswith(f"-{digest(specification)}"):
        raise ValueError(f"the name {name} does not follow from the specification")
    pinned = tuple(
        File(
            **file
            | {"shards": tuple(file["shards"]), "files": tuple(map(tuple, file["files"]))}
            | {"model": file["model"] and tuple(file["model"])}
        )
        for file in files
    )
    return Folder(kind, step, name, specification, tuple(inputs), pinned)

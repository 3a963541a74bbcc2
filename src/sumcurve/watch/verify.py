"""Verification of every folder of a study against its manifest. All files are hashed; no file's time is used."""

import json
import os
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sumcurve.planning.folder import Folder
from sumcurve.store import manifest
from sumcurve.store.manifest import Damage, ManifestError
from sumcurve.study.plan import Plan

TABLES_KEYS = {"study", "inputs", "files", "facts"}
WITHOUT_WEIGHTS = "packed"  # among a tables' manifest's facts: the folders that were not whole where they were made
PARTIAL = "manifest-partial.json"  # of tables that are made of a part of the study
REPORT = "report.html"  # made after the tables, with run times in it
TIMESTAMP = ".snakemake_timestamp"  # Snakemake's own, in a folder that a rule declares
LEAST_UPDATES = 100  # of a last phase, in the weights that are scored
PAGES = "pages"  # the tables again, as HTML for the report: not in git, so that a clone lacks them
PAGES_KEYS = {"files"}  # of their own manifest, which lies among them


@dataclass(frozen=True)
class Verification:
    """Result of hashing the folders that a study requires."""

    manifests: Mapping[str, dict[str, Any]]  # by key, of the folders that are finished
    missing: list[Path]
    damages: list[Damage]
    seconds: float
    restored: Mapping[str, list[str]] = field(default_factory=dict)  # by key, files that stayed behind

    @property
    def contents(self) -> dict[str, str]:
        """Content of each finished folder (`manifest.content`), by key."""
        return {key: manifest.content(sealed) for key, sealed in self.manifests.items()}

    def __str__(self) -> str:
        files = [
            entry
            for key, sealed in self.manifests.items()
            for name, entry in sealed["files"].items()
            if name not in self.restored.get(key, ())
        ]
        megabytes = sum(entry["bytes"] for entry in files) / 1e6
        counts = f"{len(self.manifests)} folders, {len(files)} files, {megabytes:.1f} MB"
        missing = f"; {len(self.missing)} are not made yet" if self.missing else ""
        restored = (
            f"; {len(self.restored)} were restored from committed results, and are not here whole"
            if self.restored
            else ""
        )
        return f"hashed {counts} in {self.seconds:.1f} s{missing}{restored}"

    def require(self) -> None:
        """Raise ManifestError that names all damages."""
        manifest.require(self.damages)


def folders(plan: Plan, results: Path) -> Verification:
    """Hash every folder that the study requires, except its tables, and compare with its manifest and the plan.

    A folder that was made from other content than the present one is damaged, too.
    """
    began = time.perf_counter()

    def look(folder: Folder) -> tuple[dict[str, Any] | None, list[Damage]]:
        return manifest.damages(results / folder.key, folder.specification)

    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as threads:
        looked = dict(zip(plan.folders, threads.map(look, plan.folders.values()), strict=True))
    sealed = {key: record for key, (record, _) in looked.items() if record is not None}
    missing = [results / key for key, (record, damages) in looked.items() if record is None and not damages]
    damages = [damage for _, of_folder in looked.values() for damage in of_folder]
    contents = {key: manifest.content(record) for key, record in sealed.items()}
    for key, record in sealed.items():
        damages += manifest.changed_inputs(results / key, record["inputs"], contents)
    restored = {key: absent for key in sealed if (absent := _absent(results / key))}
    return Verification(sealed, missing, damages, time.perf_counter() - began, restored)


def _absent(folder: Path) -> list[str]:
    try:
        return manifest.lacking(folder)
    except ManifestError:  # which is among the damages
        return []


def tables_manifest(plan: Plan, results: Path) -> Path:
    """The manifest of a study's tables, or of a part's where only this exists."""
    folder = results / "tables" / plan.study
    whole, part = folder / f"manifest-{plan.tables}.json", folder / PARTIAL
    return part if part.is_file() and not whole.is_file() else whole


def besides(path: Path) -> set[str]:
    """Files that may lie among tables beside those that their manifest `path` names."""
    others = [*path.parent.rglob(TIMESTAMP), *(path.parent / PAGES).glob("*")]
    return {path.name, REPORT} | {file.relative_to(path.parent).as_posix() for file in others}


def tables(plan: Plan, results: Path, contents: Mapping[str, str]) -> list[Damage]:
    """Damages of a study's tables; none where there are none of the present plan, which makes them again.

    Tables without a manifest are damaged: it was lost, or not committed with them.
    """
    path = tables_manifest(plan, results)
    remedy = f"restore it or delete {path.parent}, then run again"
    try:
        sealed = manifest.read_sealed(path, TABLES_KEYS, remedy)
    except ManifestError as error:
        return error.damages
    if sealed is None:
        known = sorted(path.parent.glob("*.csv"))
        if any(path.parent.glob("manifest-*.json")) or not known:
            return []
        return [Damage(path.parent, f"has no manifest, but tables ({known[0].name} first)", remedy)]
    damages = manifest.changed_files(path.parent, sealed["files"], besides(path), remedy)
    return damages + pages(path.parent / PAGES) + manifest.changed_inputs(path.parent, sealed["inputs"], contents)


def pages(folder: Path) -> list[Damage]:
    """Damages of the pages of a study; none where there are none, as in a clone, which makes them again."""
    remedy = f"delete {folder}, then run again"
    if not folder.is_dir():
        return []
    try:
        sealed = manifest.read_sealed(folder / manifest.MANIFEST, PAGES_KEYS, remedy)
    except ManifestError as error:
        return error.damages
    if sealed is None:
        return [Damage(folder, "has no manifest", remedy)]
    return manifest.changed_files(folder, sealed["files"], {manifest.MANIFEST, TIMESTAMP}, remedy)


def study(plan: Plan, results: Path) -> Verification:
    """Hash every folder that the study requires, its tables included."""
    began = time.perf_counter()
    verified = folders(plan, results)
    damages = verified.damages + tables(plan, results, verified.contents)
    return Verification(verified.manifests, verified.missing, damages, time.perf_counter() - began, verified.restored)


def last_phases(plan: Plan, results: Path, verified: Verification) -> list[Damage]:
    """Trainings whose scored weights hold less than `LEAST_UPDATES` of their last phase, though it had more to spend.

    Where patience ends the last phase too early, the scored weights are those of a method without that phase.
    """
    weak = []
    for folder in plan.named("runs", "train"):
        path = results / folder.key / "training.json"
        phases = folder.specification["training"]["phases"]
        if folder.key not in verified.manifests or len(phases) < 2:
            continue
        selected, last = json.loads(path.read_text(encoding="utf-8"))["selected"], phases[-1]
        trained = selected["update"] if selected["phase"] == last["name"] else 0
        if trained < min(LEAST_UPDATES, last["stop"]["most_updates"]):
            what = f"scores weights with {trained} updates of its final training stage, {last['name']}"
            remedy = f"raise that stage's `patience` or `every_updates` in the method's file, or delete {path.parent}"
            weak.append(Damage(path, what, remedy))
    return weak


def require_recordable(plan: Plan, results: Path, verified: Verification) -> None:
    """Raise ManifestError unless the verified study is complete, with its tables, and made by committed code.

    Weights may be elsewhere for the share of its trainings that the study states (`packed_percent`). The tables'
    manifest names them.
    """
    path = tables_manifest(plan, results)
    made = manifest.read_sealed(path, TABLES_KEYS, "run again")
    whole = made is not None and path.name != PARTIAL
    if verified.missing or made is None or not whole:
        missing = [*verified.missing, *([] if whole else [path.parent])]
        raise ManifestError(f"{missing[0]} is not finished ({len(missing)} in all): run the study before recording it")
    runs = [folder.key for folder in plan.named("runs")]
    restored = [key for key in runs if key in verified.restored]
    if len(restored) * 100 > plan.settings.packed_percent * len(runs):
        raise ManifestError(
            f"the weights of {len(restored)} of {len(runs)} trainings are not here, of {results / restored[0]} first: "
            f"copy them from where they were made, or state in the study, by `packed_percent`, how many may be "
            f"recorded without theirs ({plan.settings.packed_percent} % now)"
        )
    if sorted(verified.restored) != made["facts"].get(WITHOUT_WEIGHTS, []):
        raise ManifestError(
            f"{path} does not name what was restored from committed results; delete {path.parent} and run again"
        )
    facts = {results / key: sealed["facts"] for key, sealed in verified.manifests.items()} | {
        path.parent: made["facts"]
    }
    unclean = [folder for folder, fact in facts.items() if fact["clean"] is False]
    if unclean:
        what = "was made by code that was not committed"
        raise ManifestError(
            *(Damage(folder, what, f"commit the code, delete {folder}, then run again") for folder in unclean)
        )

"""Is every folder of a study what was made? All files are hashed; no time of a file is believed."""

import os
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sumcurve import manifest
from sumcurve.manifest import Damage, ManifestError
from sumcurve.plan import Folder, Plan

TABLES_KEYS = {"study", "inputs", "files", "facts"}
PARTIAL = "manifest-partial.json"  # of tables that are made of a part of the study
REPORT = "report.html"  # made after the tables, with run times in it
TIMESTAMP = ".snakemake_timestamp"  # Snakemake's own, in a folder that a rule declares
PAGES = "pages"  # the tables again, as HTML for the report: not in git, so that a clone lacks them


@dataclass(frozen=True)
class Verification:
    """What was found of the folders that a study asks for."""

    manifests: Mapping[str, dict[str, Any]]  # by key, of the folders that are finished
    missing: list[Path]
    damages: list[Damage]
    seconds: float

    @property
    def contents(self) -> dict[str, str]:
        """What each finished folder says (`manifest.content`), by key."""
        return {key: manifest.content(sealed) for key, sealed in self.manifests.items()}

    def __str__(self) -> str:
        files = [entry for sealed in self.manifests.values() for entry in sealed["files"].values()]
        megabytes = sum(entry["bytes"] for entry in files) / 1e6
        counts = f"{len(self.manifests)} folders, {len(files)} files, {megabytes:.1f} MB"
        missing = f"; {len(self.missing)} are not made yet" if self.missing else ""
        return f"hashed {counts} in {self.seconds:.1f} s{missing}"

    def require(self) -> None:
        """Raise ManifestError that names all that is damaged."""
        manifest.require(self.damages)


def folders(plan: Plan, results: Path) -> Verification:
    """Hash every folder that the study asks for, but for its tables, and compare with its manifest and the plan.

    A folder that was made from other content than is here now is damaged, too.
    """
    began = time.perf_counter()

    def look(folder: Folder) -> tuple[dict[str, Any] | None, list[Damage]]:
        return manifest.damages(results / folder.key, folder.specification)

    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as threads:
        looked = dict(zip(plan.folders, threads.map(look, plan.folders.values()), strict=True))
    sealed = {key: found for key, (found, _) in looked.items() if found is not None}
    missing = [results / key for key, (found, damages) in looked.items() if found is None and not damages]
    damages = [damage for _, found in looked.values() for damage in found]
    contents = {key: manifest.content(found) for key, found in sealed.items()}
    for key, found in sealed.items():
        damages += manifest.changed_inputs(results / key, found["inputs"], contents)
    return Verification(sealed, missing, damages, time.perf_counter() - began)


def tables_manifest(plan: Plan, results: Path) -> Path:
    """The manifest of a study's tables, or of a part's where only this is there."""
    folder = results / "tables" / plan.study
    whole, part = folder / f"manifest-{plan.tables}.json", folder / PARTIAL
    return part if part.is_file() and not whole.is_file() else whole


def besides(path: Path) -> set[str]:
    """What may lie among tables beside what their manifest `path` names."""
    others = [*path.parent.rglob(TIMESTAMP), *(path.parent / PAGES).glob("*")]
    return {path.name, REPORT} | {found.relative_to(path.parent).as_posix() for found in others}


def tables(plan: Plan, results: Path, contents: Mapping[str, str]) -> list[Damage]:
    """What is wrong with a study's tables; nothing where there are none of the present plan, which makes them anew."""
    path = tables_manifest(plan, results)
    remedy = f"restore it or delete {path.parent}, then run again"
    try:
        sealed = manifest.read_sealed(path, TABLES_KEYS, remedy)
    except ManifestError as error:
        return error.damages
    if sealed is None:
        return []
    found = manifest.changed_files(path.parent, sealed["files"], besides(path), remedy)
    return found + manifest.changed_inputs(path.parent, sealed["inputs"], contents)


def study(plan: Plan, results: Path) -> Verification:
    """Hash every folder that the study asks for, its tables included."""
    began = time.perf_counter()
    found = folders(plan, results)
    damages = found.damages + tables(plan, results, found.contents)
    return Verification(found.manifests, found.missing, damages, time.perf_counter() - began)


def require_recordable(plan: Plan, results: Path, found: Verification) -> None:
    """Raise ManifestError unless all of the verified study is there, its tables too, and made by committed code."""
    path = tables_manifest(plan, results)
    made = manifest.read_sealed(path, TABLES_KEYS, "run again")
    whole = made is not None and path.name != PARTIAL
    if found.missing or made is None or not whole:
        missing = [*found.missing, *([] if whole else [path.parent])]
        raise ManifestError(f"{missing[0]} is not finished ({len(missing)} in all): run the study before recording it")
    facts = {results / key: sealed["facts"] for key, sealed in found.manifests.items()} | {path.parent: made["facts"]}
    unclean = [folder for folder, told in facts.items() if told["clean"] is False]
    if unclean:
        what = "was made by code that was not committed"
        raise ManifestError(
            *(Damage(folder, what, f"commit the code, delete {folder}, then run again") for folder in unclean)
        )

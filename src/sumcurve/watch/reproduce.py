"""Comparison of a recorded study with its rebuilding elsewhere: the first difference, except in measured time.

The record is in git: the manifest of the study's tables holds the content of every folder (`manifest.content`).
"""

import re
from pathlib import Path
from typing import Any

from sumcurve.settings.config import PlanError
from sumcurve.store import manifest, provenance
from sumcurve.store.manifest import ManifestError
from sumcurve.study.doors import MEASURED
from sumcurve.study.kinds import STEPS
from sumcurve.study.plan import Plan
from sumcurve.watch import verify


class Difference(ManifestError):
    """A rebuilt study that is not the recorded one; the message names the differences in order."""


def _recorded(plan: Plan, results: Path) -> dict[str, Any]:
    path = verify.tables_manifest(plan, results)
    sealed = manifest.read_sealed(path, verify.TABLES_KEYS, f"restore it (`git checkout -- {path.parent}`)")
    if sealed is None or path.name == verify.PARTIAL:
        raise PlanError(
            f"{path.parent} holds no tables of the study {plan.study} as it is configured now: check out the commit "
            "that recorded it"
        )
    if change := provenance.changed(path.parent):
        raise ManifestError(
            f"{path.parent} is not what is committed ({change.strip()}): restore it, or commit it first"
        )
    manifest.require(manifest.changed_files(path.parent, sealed["files"], verify.besides(path), "restore it"))
    return sealed


def _measured(name: str) -> bool:
    """Tell whether a file of tables holds measured time; its other content is made of folders that are compared.

    A page may have its table's rank before the name.
    """
    return re.sub(r"^\d+-", "", Path(name).stem) in MEASURED


def _different_files(folder: Path, other: Path) -> list[str]:
    """The files that differ between two folders, by their manifests; empty where one is not here."""
    here, there = manifest.read(folder), manifest.read(other)
    if here is None or there is None:
        return []
    names = sorted(set(here["files"]) | set(there["files"]))
    return [
        name
        for name in names
        if Path(name).name != manifest.MEASURED and here["files"].get(name) != there["files"].get(name)
    ]


def compare(plan: Plan, results: Path, rebuilt: Path) -> str:
    """Compare, and state in a sentence what was compared; Difference names all folders that differ, in order of steps.

    ManifestError or PlanError where the record or the rebuilt study is damaged or not whole.
    """
    recorded = _recorded(plan, results)
    verified = verify.study(plan, rebuilt)
    verified.require()
    if verified.missing:
        raise ManifestError(
            f"{verified.missing[0]} is not finished ({len(verified.missing)} in all): rebuild the study first"
        )
    if verified.restored:
        raise ManifestError(
            f"{rebuilt / min(verified.restored)} was restored from committed results ({len(verified.restored)} folders "
            "in all): that is no rebuilding; delete them, then rebuild the study"
        )
    contents = verified.contents
    keys = sorted(contents, key=lambda key: STEPS.index(key.split("/")[0]))
    wrong = []
    for key in keys:
        if contents[key] != recorded["inputs"].get(key):
            files = _different_files(results / key, rebuilt / key)
            wrong.append(f"{rebuilt / key}" + (f" ({', '.join(files)})" if files else ""))
    folder = verify.tables_manifest(plan, rebuilt).parent
    hashes = {name: value for name, value in recorded["files"].items() if not _measured(name)}
    for name in sorted(hashes):
        if not (folder / name).is_file() or manifest.sha256_file(folder / name) != hashes[name]:
            wrong.append(f"{folder / name}")
    counts = f"{len(keys)} folders and {len(hashes)} files of tables"
    if wrong:
        raise Difference(
            f"{len(wrong)} of {counts} differ from the record. The first is {wrong[0]}; then follow:\n"
            + "\n".join(wrong[1:])
        )
    measured = len(recorded["files"]) - len(hashes)
    return f"{counts} are the recorded bytes; {measured} files of tables with measured time were left out"

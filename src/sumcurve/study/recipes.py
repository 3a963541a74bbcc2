"""Versions of what code writes: recipes.yaml, with a row for every kind of folder, scorer, system and raw format.

A folder's name holds the version of its row, which stands still while code moves. Beside it stands the code (its
fingerprint) that is known to write the same bytes. `sumcurve.study.kinds.RECIPES` says which modules a row stands for.
What has no row yet, as a scorer of a user's own, has its code's fingerprint for a version: it is made anew after every
edit.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from sumcurve.capabilities import CAPABILITIES
from sumcurve.settings.config import PlanError, read
from sumcurve.store.fingerprint import fingerprint
from sumcurve.store.records import write_text

Version = int | str


@dataclass(frozen=True)
class Recipe:
    """The `version` in force of what one row's code writes, and the fingerprints of the `code` that writes it.

    `recorded`: studies whose recorded folders are named by an earlier version. `capability`: whose row it is.
    """

    version: Version
    code: tuple[str, ...]
    recorded: Mapping[str, Version]  # by study
    capability: str = ""

    def of(self, study: str) -> Version:
        return self.recorded.get(study, self.version)


def read_recipes(path: Path, rows: Mapping[str, Sequence[str]]) -> dict[str, Recipe]:
    """The recipes of the `rows` (by name: their modules); PlanError for a row of none, or one that says no version.

    Rows of a capability that is not here are passed over.
    """
    written = {name: _recipe(path, name, value) for name, value in read(path).plain().items()}
    known = {name: recipe for name, recipe in written.items() if recipe.capability in ("", *CAPABILITIES)}
    if strange := sorted(set(known) - set(rows)):
        raise PlanError(f"{path}: {', '.join(strange)}: no row of RECIPES (sumcurve.study.kinds); correct or remove it")
    return known | {name: _without_row(modules) for name, modules in rows.items() if name not in known}


def _without_row(modules: Sequence[str]) -> Recipe:
    here = fingerprint(*modules)
    return Recipe(here, (here,), {})


def list_code(
    path: Path, recipes: Mapping[str, Recipe], here: Mapping[str, str], owners: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Write the file anew with the code `here` (row: fingerprint) listed beside the versions in force.

    `owners` says which rows are those of a capability.
    """
    lines = [line for line in path.read_text().splitlines() if line.startswith("#")]
    for name, recipe in recipes.items():
        code = [*recipe.code, *({here[name]} - set(recipe.code))]
        row: dict[str, object] = {"version": recipe.version, "code": code}
        studies: dict[Version, list[str]] = {}
        for study, version in recipe.recorded.items():
            studies.setdefault(version, []).append(study)
        row |= {"recorded": studies} if studies else {}
        row |= {"capability": owner} if (owner := owners.get(name, recipe.capability)) else {}
        lines.append(
            re.sub(r'"(\d+)": \[', r"\1: [", f"{name}: {json.dumps(row, ensure_ascii=False)}")
        )  # JSON quotes keys
    write_text(path, "\n".join(lines) + "\n")


def _recipe(path: Path, name: str, value: object) -> Recipe:
    keys = {"version", "code", "recorded", "capability"}
    if not isinstance(value, dict) or not {"version", "code"} <= set(value) <= keys:
        raise PlanError(f"{path}: {name}: say `version` and `code` (and `recorded`), not {value!r:.60}")
    recorded = {study: version for version, studies in value.get("recorded", {}).items() for study in studies}
    for version in (value["version"], *recorded.values()):
        if not isinstance(version, Version) or isinstance(version, bool):
            raise PlanError(f"{path}: {name}: a version is a whole number or a quoted string, not {version!r}")
    return Recipe(value["version"], tuple(value["code"]), recorded, value.get("capability", ""))

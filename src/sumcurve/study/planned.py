"""The code that a run was planned with, told to its jobs: one that starts hours later must be made by the same.

The driver hands the fingerprints on in an environment variable, which local jobs inherit and schedulers export.
"""

import os
from collections.abc import Iterator, Mapping, MutableMapping

from sumcurve.settings.config import PlanError
from sumcurve.store.fingerprint import fingerprint
from sumcurve.store.manifest import digest
from sumcurve.study.plan import Plan
from sumcurve.study.planning.folder import Folder

VARIABLE = "SUMCURVE_PLANNED"


def _key(folder: Folder) -> str:
    """What names the modules behind a folder: its kind, and which of its variants."""
    return f"{folder.kind}:{digest({'code': list(folder.code)})}"


def announce(plan: Plan, environment: MutableMapping[str, str] = os.environ) -> None:
    """Write the fingerprints of the code behind all folders of the plan into the environment."""
    environment[VARIABLE] = " ".join(f"{key}={code}" for key, code in _known(plan).items())


def _known(plan: Plan) -> dict[str, str]:
    """The fingerprints of the code behind all folders of the plan; many folders have one code."""
    alike = {(folder.kind, folder.code): folder for folder in plan.folders.values()}
    return {_key(folder): fingerprint(*folder.code) for folder in alike.values()}


def _told(environment: Mapping[str, str]) -> dict[str, str]:
    return dict(pair.split("=") for pair in environment.get(VARIABLE, "").split())


def require(folder: Folder, environment: Mapping[str, str] = os.environ) -> None:
    """PlanError where the code behind a folder is not what its run was planned with; nothing where none was."""
    then, now = _told(environment).get(_key(folder)), fingerprint(*folder.code)
    if then not in (None, now):
        raise PlanError(
            f"{folder.key}: the code that makes it has fingerprint {now}, and had {then} when this job was planned: "
            "start the run again, which goes on where it was, or put the code back; submit from a `git worktree` that "
            "nobody edits"
        )


def changes(plan: Plan, environment: Mapping[str, str] = os.environ) -> Iterator[str]:
    """A line for each kind of folder whose code is not what the run was planned with."""
    announced = _told(environment)
    now = _known(plan)
    for key, then in announced.items():
        if now.get(key, then) != then:
            yield f"code of {key.split(':')[0]}: fingerprint {now[key]}, and {then} when this job was planned"

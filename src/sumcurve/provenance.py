"""What was true when a folder was made: code, versions, device. No dates: two honest makings may be equal."""

import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sumcurve.fingerprint import fingerprint

DISTRIBUTIONS = ("nltk", "numba", "numpy", "py-rouge", "scipy", "spacy", "sumy", "torch")


def _git(*arguments: str) -> str | None:
    try:
        answer = subprocess.run(["git", *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.stdout.strip()


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def facts(step: str, *modules: str) -> dict[str, Any]:
    """The part of a manifest that every step shares; steps that train or decode add device and threads."""
    state = _git("status", "--porcelain", "--untracked-files=no", "--", "src", "config", "workflow", "Snakefile")
    return {
        "fingerprint": fingerprint(step, *modules),
        "commit": _git("rev-parse", "HEAD"),
        "clean": None if state is None else not state,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "versions": {name: _version(name) for name in DISTRIBUTIONS},
    }

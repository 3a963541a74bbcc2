"""Facts about the making of a folder: code, versions, device. No dates: two honest makings may be equal."""

import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]  # the code
DISTRIBUTIONS = (
    "nltk",
    "numba",
    "numpy",
    "peft",
    "py-rouge",
    "scipy",
    "spacy",
    "tokenizers",
    "torch",
    "transformers",
)


def _git(*arguments: str) -> str | None:
    try:
        answer = subprocess.run(["git", *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.stdout.strip()


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except (PackageNotFoundError, ValueError):  # ValueError: no name of a distribution, but a path
        return None


def commit_of(path: Path) -> str | None:
    """The short id of the newest commit that changed the file; None without a repository that has its history."""
    if _git("-C", str(path.parent), "rev-parse", "--is-shallow-repository") != "false":
        return None
    return _git("-C", str(path.parent), "log", "-1", "--format=%h", "--", path.name)


def changed(folder: Path) -> str | None:
    """The first difference of a folder from the commit that is checked out; None for none, and without a repository."""
    return (_git("-C", str(folder), "status", "--porcelain", "--", ".") or "").partition("\n")[0] or None


def versions(*distributions: str) -> dict[str, str | None]:
    """The installed version of each distribution by its name; None where it is not installed."""
    return {name: _version(name) for name in distributions}


def facts() -> dict[str, Any]:
    """The part of a manifest that all folders share; trainings and outputs add more.

    `clean`: the commit holds this code as it ran. Configuration stands in the specification, with the code's version.
    """
    state = _git("-C", str(PACKAGE), "status", "--porcelain", "--", ".")
    return {
        "commit": _git("-C", str(PACKAGE), "rev-parse", "HEAD"),
        "clean": None if state is None else not state,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "versions": versions(*DISTRIBUTIONS),
    }

"""What was true when a folder was made: code, versions, device. No dates: two honest makings may be equal."""

import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sumcurve.store.fingerprint import files, fingerprint

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


def versions(*distributions: str) -> dict[str, str | None]:
    """The installed version of each distribution by its name; None where it is not installed."""
    return {name: _version(name) for name in distributions}


def facts(*modules: str) -> dict[str, Any]:
    """The part of a manifest that all folders share, by the modules that decide one; trainings and outputs add more.

    `clean`: the commit holds this code as it ran. Configuration stands in the specification.
    """
    code = files(*modules)
    state = _git("-C", str(code[0].parent), "status", "--porcelain", "--", *map(str, code))
    return {
        "fingerprint": fingerprint(*modules),
        "commit": _git("-C", str(code[0].parent), "rev-parse", "HEAD"),
        "clean": None if state is None else not state,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "versions": versions(*DISTRIBUTIONS),
    }

"""Stage of a folder: all that the builder of a kind of folder is given.

A builder receives the specification (a folder's name ends in its digest), where each input lies, and a stage: what the
name does not hold cannot decide what is written. Beside its keys a specification holds the version of the code, under
`recipe` or `fingerprint`, which the plan adds. Strings that look like `corpora/docstrings-1c72ccea` are keys of other
folders.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sumcurve.machine.devices import Lease
from sumcurve.store import manifest

Inputs = Mapping[str, Path]  # verified folders by key, verified files from outside by sha256
Block = dict[str, Any]  # a block of settings as plain JSON values
CPU = Lease("cpu", exclusive=False)


class BuildError(RuntimeError):
    """A folder that cannot be made here; the message is that of the package that makes it."""


@dataclass(frozen=True)
class Stage:
    """Place where a builder writes, and the machine that it uses; nothing of it decides what is written.

    `facts` go into the manifest beside what all folders record there; a builder adds to them. Below `home` a builder
    may keep what outlives a kill (`scratch/`) and what people watch (`logs/`). `lease` is the device of a kind that
    wants a GPU.
    """

    folder: Path  # empty; what is in it in the end becomes the finished folder
    name: str  # of the finished folder
    home: Path
    note: Callable[[str], None]  # one line for whoever listens
    lease: Lease = CPU
    facts: dict[str, Any] = field(default_factory=dict)


def sealed(folder: Path) -> dict[str, Any]:
    """An input's manifest. Its specification decides its name, and so the name of what is made from it."""
    sealed = manifest.read(folder)
    if sealed is None:
        raise BuildError(f"{folder} is not finished; make it first")
    return sealed

"""numba's `njit` for every kernel of the package, with a cache that follows the code of all of them.

numba keeps compiled code as long as the file of the function is the same, and would go on calling old code of another
file. Here the folder of the cache is named after the content of every file that has kernels.
"""

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

import numba
from numba import njit
from numba.core import event

__all__ = ["njit"]

_PACKAGE = Path(__file__).parents[1]


def kernels() -> list[Path]:
    """The files of the package that have code to be compiled."""
    return [path for path in sorted(_PACKAGE.rglob("*.py")) if b"njit" in path.read_bytes()]


def cache_folder() -> Path:
    """Folder of the compiled code of exactly these files: beside the package, else in the user's cache.

    Where neither can be written, a folder that is deleted with the process: a shared one could run code of other users.
    """
    content = hashlib.sha256()
    for path in kernels():
        content.update(path.name.encode() + b"\0" + path.read_bytes())
    name = f"numba-{content.hexdigest()[:8]}"
    users = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    for parent in (_PACKAGE / "__pycache__", users / "sumcurve"):
        if parent.is_absolute() and _can_write(parent):
            return parent / name
    own = tempfile.mkdtemp(prefix="sumcurve-")
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    return Path(own) / name


def _can_write(folder: Path) -> bool:
    """Tell whether the folder can be written, or be made where it is missing."""
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    return os.access(there, os.W_OK | os.X_OK)


class _Compiling(event.Listener):
    """Notice that the first kernel is being compiled, which takes up to a minute without output: numba loads others."""

    def on_start(self, _: event.Event) -> None:
        event.unregister("numba:compile", self)
        print("compiling, once on this machine: this takes up to a minute", file=sys.stderr, flush=True)

    def on_end(self, _: event.Event) -> None:
        """Do nothing: one line is enough."""


event.register("numba:compile", _Compiling())
if not os.environ.get("NUMBA_CACHE_DIR"):
    numba.config.CACHE_DIR = str(cache_folder())  # type: ignore[attr-defined]

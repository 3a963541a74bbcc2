"""numba's `njit` for every kernel of the package, with a cache that follows the code of all of them.

numba keeps compiled code as long as the file of the function is the same, and would go on calling old code of another
file. Here the folder of the cache is named after the content of every file that has kernels, and is the user's, so that
clones of the same code share it; numba itself tells CPUs and its own versions apart.
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
from numba.core import caching, event

__all__ = ["njit"]

_PACKAGE = Path(__file__).parents[1]


def kernels() -> list[Path]:
    """The files of the package that have code to be compiled."""
    return [path for path in sorted(_PACKAGE.rglob("*.py")) if b"njit" in path.read_bytes()]


def cache_folder() -> Path:
    """Folder of the compiled code of exactly these files: in the user's cache, else beside the package.

    Where neither can be written, a folder that is deleted with the process: a shared one could run code of other users.
    """
    content = hashlib.sha256()
    for path in kernels():
        content.update(path.name.encode() + b"\0" + path.read_bytes())
    name = f"numba-{content.hexdigest()[:8]}"
    users = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    for parent in (users / "sumcurve", _PACKAGE / "__pycache__"):
        if parent.is_absolute() and _can_write(parent):
            return parent / name
    own = tempfile.mkdtemp(prefix="sumcurve-")
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    return Path(own) / name


def _can_write(folder: Path) -> bool:
    """Tell whether the folder can be written, or be made where it is missing."""
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    return os.access(there, os.W_OK | os.X_OK)


def subfolder(file: str) -> str:
    """Folder of the code of a file within the cache: by its place in the package, which numba takes from the root."""
    path = Path(file)
    return (
        ".".join(path.relative_to(_PACKAGE).with_suffix("").parts) if path.is_relative_to(_PACKAGE) else _outside(file)
    )


class _Compiling(event.Listener):
    """Notice that the first kernel is being compiled, which takes up to a minute without output: numba loads others."""

    def on_start(self, _: event.Event) -> None:
        event.unregister("numba:compile", self)
        print("compiling, once on this machine: this takes up to a minute", file=sys.stderr, flush=True)

    def on_end(self, _: event.Event) -> None:
        """Do nothing: one line is enough."""


event.register("numba:compile", _Compiling())
_outside = caching.UserProvidedCacheLocator.get_suitable_cache_subpath
caching.UserProvidedCacheLocator.get_suitable_cache_subpath = staticmethod(subfolder)  # type: ignore[method-assign]
if not os.environ.get("NUMBA_CACHE_DIR"):
    numba.config.CACHE_DIR = str(cache_folder())  # type: ignore[attr-defined]

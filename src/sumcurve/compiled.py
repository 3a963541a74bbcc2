"""numba's `njit` for every kernel of the package, with a cache that follows the code of all of them.

numba keeps compiled code as long as the file of the function is the same, and would go on calling what another file
held when that was compiled. Here the folder of the cache is named after the content of every file that has kernels.
"""

import hashlib
import os
from pathlib import Path

import numba
from numba import njit

__all__ = ["njit"]

_PACKAGE = Path(__file__).parent
_KERNELS = (_PACKAGE / "scores", _PACKAGE / "annotations" / "oracle")


def cache_folder() -> Path:
    """Where compiled code of exactly these files lies."""
    content = hashlib.sha256()
    for folder in _KERNELS:
        for path in sorted(folder.glob("*.py")):
            content.update(path.name.encode() + b"\0" + path.read_bytes())
    return _PACKAGE / "__pycache__" / f"numba-{content.hexdigest()[:8]}"


if not os.environ.get("NUMBA_CACHE_DIR") and os.access(_PACKAGE, os.W_OK):  # else numba finds a folder of the user's
    numba.config.CACHE_DIR = str(cache_folder())  # type: ignore[attr-defined]

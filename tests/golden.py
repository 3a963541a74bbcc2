"""Golden files below tests/data/golden/: what stood when it was last looked at, a line for each thing and its digest.

Keys hold versions: names of folders end in a digest of theirs, and tables stand below that of all tables. Written anew
where the environment variable SUMCURVE_GOLDEN is `write`, but for what has other bytes under the same version.
"""

import os
from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).parent / "data" / "golden"


def keys(name: str) -> set[str]:
    """What the golden file `name` lists."""
    return set(_read(name))


def _read(name: str) -> dict[str, str]:
    lines = (line.partition(" ") for line in (FOLDER / name).read_text().splitlines())
    return {key: digest for key, _, digest in lines}


def differences(name: str, now: Mapping[str, str]) -> list[str]:
    """What of the golden file `name` is missing, new or of another digest now, a line each."""
    golden = _read(name) if (FOLDER / name).is_file() else {}
    moved = sorted(key for key in {*golden} & {*now} if golden[key] != now[key])
    if os.environ.get("SUMCURVE_GOLDEN") == "write" and not moved:
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{key} {digest}".rstrip() + "\n" for key, digest in sorted(now.items())))
    golden = _read(name)
    return [
        f"{key}: {golden.get(key, 'not there')} before, {now.get(key, 'not there')} now"
        for key in sorted({*golden, *now})
        if golden.get(key) != now.get(key)
    ]

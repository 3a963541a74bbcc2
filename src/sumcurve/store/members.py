"""Members of zip and tar archives, and files of folders, read as streams where they are: nothing is unpacked.

    with zip_members(path, limits) as members:  # by their names, in any order
        members["a.txt"].read()
    for member in tar_members(path, limits):  # one after another, in constant memory
        member.read()

No statement of an archive is trusted. ArchiveError, which names archive, member and remedy, refuses one that holds more
than its limits, is truncated or damaged, goes on behind its end, or has a member whose path is absolute or leads out of
its folder (paths become parts of records' ids), or whose content has another size or checksum than announced. A link
or a device is refused when it is opened. Of a zip archive are refused, too, two members with one name, and bytes that
belong to no member of its directory or to two.

Nothing outside the standard library is imported.
"""

import gzip
import hashlib
import io
import lzma
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from sumcurve.store.errors import CorpusError

CHUNK = 1 << 20
BUFFER = 1 << 18
TARS = (".tgz", ".tar.gz")
UNPACKED: dict[str, Callable[[Path, str], Any]] = {".xz": lzma.open, ".tar": open}  # by endings; others are gzip's
# Of a corpus of text: a byte becomes about 4. CNN's and the Daily Mail's question files are 1.4 million.
MOST_MEMBERS, LARGEST_RATIO, SLACK = 3_000_000, 200, 10_000_000
REMEDY = "copy it again, and compare its sha256 with the published one"
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
HEADER = struct.Struct("<4s2xH18x2H")  # before a zip's member: its magic, flags, lengths of its name and extra fields
END = struct.Struct("<4s6xH10x")  # of a zip, before its comment: its magic, how many members the directory has
END_64 = struct.Struct("<4s28xQ16x4s16x")  # before that of large zips: the same, and the magic of what finds it
UTF_8 = 0x800  # flag of a name
DAMAGE = (  # errors of zipfile, tarfile and the compressions for it
    zipfile.BadZipFile,
    tarfile.TarError,
    struct.error,
    zlib.error,
    lzma.LZMAError,
    UnicodeDecodeError,  # of a name
    EOFError,
    OSError,
)


class ArchiveError(CorpusError):
    """A list or an archive that cannot be used; the message names it, what is wrong with it, and the remedy."""


@dataclass(frozen=True)
class Limits:
    """Limits of an archive's content, and the remedy for one that holds more."""

    members: int
    content: int  # bytes of all members
    remedy: str


@dataclass(frozen=True)
class Member:
    """A file of an archive or a folder. `open` gives its content; of a tar archive until the next member is read."""

    name: str
    size: int  # bytes, as the archive announces; the content is held to that
    is_regular: bool  # no link and no device
    is_executable: bool
    open: Callable[[], BinaryIO]

    def read(self) -> bytes:
        with self.open() as stream:
            return stream.read()


def limits_of_text(path: Path) -> Limits:
    """Limits of an archive of a corpus; ArchiveError where there is no such file."""
    return Limits(MOST_MEMBERS, LARGEST_RATIO * size_of(path) + SLACK, REMEDY)


@contextmanager
def zip_members(path: Path, limits: Limits) -> Iterator[Mapping[str, Member]]:
    """The files of a zip archive by their names, in its own order; several may be read at a time."""
    with refused(path, limits.remedy):
        opened = zipfile.ZipFile(path)
    with opened:
        with refused(path, limits.remedy):
            members = _zip_members(path, opened, limits)
        yield members


def _zip_members(path: Path, opened: zipfile.ZipFile, limits: Limits) -> dict[str, Member]:
    infos = opened.infolist()
    check_sizes(path, limits, len(infos), sum(info.file_size for info in infos))
    members: dict[str, Member] = {}
    for info in infos:
        for name in (info.orig_filename, info.filename):  # zipfile may have corrected the second
            check_name(path, name, limits.remedy)
        if info.is_dir():
            if info.file_size:
                raise ArchiveError(f"{path}: {info.filename} is a folder, but has content: {limits.remedy}")
            continue
        if info.filename in members:
            raise ArchiveError(f"{path} has two members {info.filename!r}: make it anew with one")
        mode = info.external_attr >> 16
        is_regular = stat.S_IFMT(mode) in (0, stat.S_IFREG)
        longer = copy(info)  # zipfile would cut off content beyond the announced size, in silence where checksums fit
        longer.file_size += 2 * BUFFER
        members[info.filename] = _member(
            path, info.filename, info.file_size, mode, is_regular, limits.remedy, partial(opened.open, longer)
        )
    _check_spans(path, opened, limits.remedy)
    return members


def tar_members(path: Path, limits: Limits) -> Iterator[Member]:
    """The files of a tar archive, packed by gzip or xz, or not, in constant memory.

    The archive is read to its last byte, so that a change on its way is seen by the packing's checksum.
    """
    with (
        refused(path, limits.remedy),
        cast(IO[bytes], UNPACKED.get(path.suffix, gzip.open)(path, "rb")) as unzipped,
    ):
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
                    content = partial(_file_of, opened, info)
                    yield _member(path, name, info.size, info.mode, info.isfile(), limits.remedy, content)
        while rest := limited.read(CHUNK):
            if rest.strip(b"\0"):
                raise ArchiveError(f"{path} goes on behind its end, or a header in it is broken: {limits.remedy}")
        if limited.size % tarfile.BLOCKSIZE:  # tarfile takes the half of a header for the end
            raise ArchiveError(f"{path} is truncated or damaged (it ends in a member's header): {limits.remedy}")


def members_in(path: Path, ending: str, archives: Sequence[str]) -> Iterator[Member]:
    """The files whose names have this ending: of a gzipped tar archive, of a folder, or the one that `path` is.

    A folder's come in the order of their names, and so do its archives, whose names have one of the endings `archives`;
    those of an archive come in its own order. Hidden ones are left out. CorpusError where a folder holds none, and for
    an archive that may not be read, or unpacks to more than text can.
    """
    if path.is_dir():
        for name in names_of_shards(path, [f"**/*{pattern}" for pattern in (ending, *archives)]):
            for member in members_in(path / name, ending, archives):
                place = name if name.endswith(ending) else f"{name}/{member.name}"
                yield Member(place, member.size, member.is_regular, member.is_executable, member.open)
    elif path.name.endswith(TARS):
        for member in tar_members(path, limits_of_text(path)):
            if member.name.endswith(ending) and is_visible(member.name):
                yield member
    else:
        yield Member(path.name, size_of(path), True, False, lambda: path.open("rb"))


def names_of_shards(folder: Path, patterns: Sequence[str]) -> list[str]:
    """The paths below `folder` of its files, but for hidden ones, that match a pattern, sorted.

    CorpusError where there is none.
    """
    matches = {
        path.relative_to(folder).as_posix() for pattern in patterns for path in folder.glob(pattern) if path.is_file()
    }
    names = sorted(filter(is_visible, matches))
    if not names:
        raise CorpusError(f"{folder} holds no file {' or '.join(patterns)}: check raw.path and split.ready")
    return names


def is_visible(name: str) -> bool:
    """Tell whether a path is neither hidden nor one that desktops add to an archive: `.DS_Store`, `__MACOSX/…`."""
    return not any(part == "__MACOSX" or (part.startswith(".") and part != ".") for part in name.split("/"))


def sha256_file(path: Path) -> str:
    """The sha256 (hex) of a file's bytes, read in pieces."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def size_of(path: Path) -> int:
    """Bytes of a file; ArchiveError where it is missing."""
    if not path.is_file():
        raise ArchiveError(f"{path} is missing: check raw.path in the study file")
    return path.stat().st_size


@contextmanager
def refused(place: Path | str, remedy: str) -> Iterator[None]:
    """ArchiveError that names the archive, or its member, instead of an error that says it is damaged."""
    try:
        yield
    except RuntimeError as error:  # a password; NotImplementedError: an unused version, method or flag
        raise ArchiveError(
            f"{place} cannot be read ({error}): pack it anew, by deflate and without a password"
        ) from error
    except DAMAGE as error:
        raise ArchiveError(f"{place} is truncated or damaged ({error or type(error).__name__}): {remedy}") from error


def _member(
    path: Path, name: str, size: int, mode: int, is_regular: bool, remedy: str, content: Callable[[], IO[bytes]]
) -> Member:
    open_content = partial(_content, f"{path}: {name}", size, is_regular, remedy, content)
    return Member(name, size, is_regular, bool(mode & stat.S_IXUSR), open_content)


def _file_of(opened: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    stream = opened.extractfile(info)
    assert stream is not None  # it is a regular file
    return stream


def _content(place: str, size: int, is_regular: bool, remedy: str, content: Callable[[], IO[bytes]]) -> BinaryIO:
    """The content of a member, whose reading raises ArchiveError where it differs from what the archive announces."""
    if not is_regular:
        raise ArchiveError(f"{place} is a link or a device, no file: {remedy}")
    with refused(place, remedy):
        return io.BufferedReader(Content(place, size, remedy, content()), BUFFER)


class Content(io.RawIOBase):
    """The content of a member, held to the size that its archive announces."""

    def __init__(self, place: str, size: int, remedy: str, content: IO[bytes]) -> None:
        self.place = place
        self.size = size
        self.remedy = remedy
        self.content = content
        self.read_so_far = 0

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.content.close()
        super().close()

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        with refused(self.place, self.remedy):
            data = self.content.read(len(buffer))
        self.read_so_far += len(data)
        if self.read_so_far > self.size or (not data and self.read_so_far < self.size):
            than = "more" if self.read_so_far > self.size else "less"
            raise ArchiveError(
                f"{self.place} unpacks to {than} than the {self.size:,} bytes that it announces: no honest archive "
                f"does; {self.remedy}"
            )
        buffer[: len(data)] = data
        return len(data)


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
    parts = name.removesuffix("/").split("/")
    if not all(parts) or ".." in parts or ":" in parts[0] or "\\" in name or CONTROL.search(name):
        raise ArchiveError(
            f"{path}: the member {name!r} would be unpacked outside of its folder or has no usable name: no release "
            f"is made so; {remedy}"
        )


def _check_spans(path: Path, opened: zipfile.ZipFile, remedy: str) -> None:
    """Raise ArchiveError where a zip's members overlap, and where there may be one that its directory does not have."""
    infos = opened.infolist()
    with path.open("rb") as stream:
        announced = _announced(path, stream, len(opened.comment), remedy)
        if announced != len(infos):
            raise ArchiveError(
                f"{path}: its end says {announced:,} members, its directory has {len(infos):,}: {remedy}"
            )
        at, last = 0, "its beginning"
        for info in sorted(infos, key=lambda info: info.header_offset):
            _check_gap(path, at, info.header_offset, last, info.filename, remedy)
            stream.seek(info.header_offset)
            magic, flags, name, extra = HEADER.unpack(stream.read(HEADER.size))
            written = stream.read(name).decode("utf-8" if flags & UTF_8 else "cp437")
            if magic != b"PK\x03\x04" or written != info.orig_filename:
                raise zipfile.BadZipFile(f"before {info.filename} stands {magic!r}, {written!r}")
            at, last = info.header_offset + HEADER.size + name + extra + info.compress_size, info.filename
        _check_gap(path, at, opened.start_dir, last, "its directory", remedy)


def _check_gap(path: Path, at: int, start: int, last: str, following: str, remedy: str) -> None:
    """Raise ArchiveError where members overlap or leave a gap; one too small for a header may hold sizes."""
    if start < at:
        raise ArchiveError(f"{path}: {following} begins in {last}, {at - start:,} bytes before its end: {remedy}")
    if start - at >= HEADER.size:
        raise ArchiveError(
            f"{path}: {start - at:,} bytes between {last} and {following} belong to no member that its directory has: "
            f"{remedy}"
        )


def _announced(path: Path, stream: BinaryIO, comment: int, remedy: str) -> int:
    """Number of members stated at the end of a zip; ArchiveError where that is not its end."""
    end = stream.seek(-END.size - comment, io.SEEK_END)
    magic, count = END.unpack(stream.read(END.size))
    if magic != b"PK\x05\x06":
        raise ArchiveError(f"{path} goes on behind its end: {remedy}")
    if count == 0xFFFF and end >= END_64.size:
        stream.seek(end - END_64.size)
        magic, members, locator = END_64.unpack(stream.read(END_64.size))
        if (magic, locator) == (b"PK\x06\x06", b"PK\x06\x07"):
            count = members
    return int(count)

"""Members of a zip archive, read where they are: nothing is unpacked to disk, and no more than a line is in memory.

    with Archive(path) as archive:
        for member in archive.members(lambda name: name.endswith(".txt")):
            for line in archive.lines(member): ...

An archive is believed in nothing. Refused is one with a member whose path is absolute or leads out of its folder (the
paths become parts of records' ids) or that is a link or a device, one that announces far more content than so many
bytes can hold, one of which a member unpacks to another size or another checksum than it announces, and one with bytes
that belong to no member of its directory or to two. All this is a CorpusError that names archive, member and remedy,
as is an archive that is truncated or damaged.
"""

import io
import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from copy import copy
from pathlib import Path
from typing import IO, BinaryIO, Self

from sumcurve.sources.lines import lines_of
from sumcurve.sources.raw import Refused
from sumcurve.store.errors import CorpusError
from sumcurve.store.members import leads_outside

LARGEST_RATIO = 200  # bytes that a byte of a member becomes, at most; text becomes about 4
RATIO_FROM = 10_000_000  # bytes of a member from which the ratio counts: small files may well repeat one line
MOST_MEMBERS = 1_000_000
BUFFER = 1 << 18
REMEDY = "fetch it from where it is published"
HEADER = struct.Struct("<4s2xH18x2H")  # before a member's data: its magic, flags, lengths of its name and extra fields
END = struct.Struct("<4s6xH10x")  # of an archive, before its comment: its magic, how many members the directory has
END_64 = struct.Struct("<4s28xQ16x4s16x")  # before that of large archives: the same, and the magic of what finds it
UTF_8 = 0x800  # flag of a name
DAMAGE = (  # what zipfile and the packings raise for it
    zipfile.BadZipFile,
    struct.error,
    zlib.error,
    lzma.LZMAError,
    UnicodeDecodeError,  # of a name
    NotImplementedError,  # a version, a method or a flag that nobody writes
    EOFError,
    OSError,
)


class Archive:
    """A zip archive that was found fit to be read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.zip = zipfile.ZipFile(path)
        except FileNotFoundError as error:
            raise CorpusError(f"{path} is missing: check raw.path in the study file") from error
        except DAMAGE as error:
            raise CorpusError(f"{path} is no zip archive, or truncated ({error}): copy it again") from error
        self.infos = {info.filename: info for info in self.zip.infolist() if not info.filename.endswith("/")}
        try:
            self._check()
        except DAMAGE as error:
            self.zip.close()
            raise CorpusError(f"{path} is damaged ({error}): copy it again") from error
        except CorpusError:
            self.zip.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.zip.close()

    def members(self, wanted: Callable[[str], bool] = lambda name: True) -> list[str]:
        """The paths of its files that are `wanted`, in its own order, without folders and what desktops leave."""
        return [name for name in self.infos if not is_litter(name) and wanted(name)]

    def size(self, member: str) -> int:
        """Bytes that a member unpacks to, as the archive announces; its content is held to that."""
        return self.infos[member].file_size

    def lines(self, member: str) -> Iterator[bytes | Refused]:
        """The lines of a member, as `lines.lines_of` gives them.

        CorpusError where the member is missing or damaged, or is not what the archive announces; the lines before the
        damage have been yielded by then.
        """
        with self.open(member) as stream:
            yield from lines_of(stream)

    def open(self, member: str) -> BinaryIO:
        """The content of a member; reading it raises CorpusError as `lines` says."""
        if member not in self.infos:
            raise CorpusError(f"{self.path} has no member {member!r}: is it the archive that the study names?")
        longer = copy(self.infos[member])
        longer.file_size += (
            2 * BUFFER
        )  # zipfile would cut off what is more than announced, in silence where checksums fit
        try:
            content = self.zip.open(longer)
        except NotImplementedError as error:
            raise CorpusError(f"{self.path}: {member} cannot be read ({error}): pack it by deflate") from error
        except RuntimeError as error:  # a password
            raise CorpusError(f"{self.path}: {member} cannot be read ({error}): make the archive anew") from error
        except DAMAGE as error:
            raise CorpusError(damaged(self.path, member, error)) from error
        return io.BufferedReader(Content(self.path, self.infos[member], content), BUFFER)

    def _check(self) -> None:
        """CorpusError for an archive that may not be read."""
        infos = [info for info in self.zip.infolist() if not info.filename.endswith("/") or info.file_size]
        if len(infos) > MOST_MEMBERS:
            raise CorpusError(f"{self.path} has {len(infos):,} members; {MOST_MEMBERS:,} are allowed")
        for info in infos:
            if leads_outside(info.orig_filename) or leads_outside(info.filename):  # a field beside may say another
                raise CorpusError(
                    f"{self.path}: the member {info.orig_filename!r} would be unpacked outside of its folder, or has "
                    f"no usable name: no published corpus is packed so; {REMEDY}"
                )
            if info.filename.endswith("/"):
                raise CorpusError(f"{self.path}: {info.filename} is a folder, but has content: {REMEDY}")
            if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
                raise CorpusError(
                    f"{self.path}: {info.filename} is a link or a device, no file; make it anew with files"
                )
            if self.infos[info.filename] is not info:
                raise CorpusError(f"{self.path} has two members {info.filename!r}; make it anew with one")
            if info.file_size > RATIO_FROM and info.file_size > LARGEST_RATIO * info.compress_size:
                raise CorpusError(
                    f"{self.path}: {info.filename} announces {info.file_size:,} bytes out of {info.compress_size:,}, "
                    f"more than {LARGEST_RATIO} of one: no text packs so well; {REMEDY}"
                )
        self._check_spans()

    def _check_spans(self) -> None:
        """CorpusError where members overlap, and where one could be that the directory does not have."""
        infos = self.zip.infolist()
        with self.path.open("rb") as stream:
            announced = self._announced(stream)
            if announced != len(infos):
                raise CorpusError(
                    f"{self.path}: its end says {announced:,} members, its directory has {len(infos):,}: {REMEDY}"
                )
            at, last = 0, "its beginning"
            for info in sorted(infos, key=lambda info: info.header_offset):
                self._check_gap(at, info.header_offset, last, info.filename)
                stream.seek(info.header_offset)
                magic, flags, name, extra = HEADER.unpack(stream.read(HEADER.size))
                written = stream.read(name).decode("utf-8" if flags & UTF_8 else "cp437")
                if magic != b"PK\x03\x04" or written != info.orig_filename:
                    raise CorpusError(damaged(self.path, info.filename, f"before it stands {magic!r}, {written!r}"))
                at, last = info.header_offset + HEADER.size + name + extra + info.compress_size, info.filename
            self._check_gap(at, self.zip.start_dir, last, "its directory")

    def _check_gap(self, at: int, start: int, last: str, following: str) -> None:
        """CorpusError unless one begins where another ends; what fits is a member's sizes, and no header of one."""
        if start < at:
            raise CorpusError(
                f"{self.path}: {following} begins in {last}, {at - start:,} bytes before its end: {REMEDY}"
            )
        if start - at >= HEADER.size:
            raise CorpusError(
                f"{self.path}: {start - at:,} bytes between {last} and {following} belong to no member that its "
                f"directory has: {REMEDY}"
            )

    def _announced(self, stream: BinaryIO) -> int:
        """How many members there are by the end of the archive; CorpusError where that is not its end."""
        end = stream.seek(-END.size - len(self.zip.comment), io.SEEK_END)
        magic, count = END.unpack(stream.read(END.size))
        if magic != b"PK\x05\x06":
            raise CorpusError(f"{self.path} goes on behind its end: {REMEDY}")
        if count == 0xFFFF and end >= END_64.size:
            stream.seek(end - END_64.size)
            magic, members, locator = END_64.unpack(stream.read(END_64.size))
            if (magic, locator) == (b"PK\x06\x06", b"PK\x06\x07"):
                count = members
        return int(count)


class Content(io.RawIOBase):
    """The content of a member, held to the size and the checksum that its archive announces."""

    def __init__(self, path: Path, info: zipfile.ZipInfo, content: IO[bytes]) -> None:
        self.path = path
        self.info = info
        self.content = content
        self.read_so_far = 0

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.content.close()
        super().close()

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            data = self.content.read(len(buffer))
        except DAMAGE as error:
            raise CorpusError(damaged(self.path, self.info.filename, error)) from error
        self.read_so_far += len(data)
        announced = self.info.file_size
        if self.read_so_far > announced or (not data and self.read_so_far < announced):
            than = "more" if self.read_so_far > announced else "less"
            raise CorpusError(
                f"{self.path}: {self.info.filename} unpacks to {than} than the {announced:,} bytes that it announces: "
                f"no honest archive does; {REMEDY}"
            )
        buffer[: len(data)] = data
        return len(data)


def is_litter(name: str) -> bool:
    """Whether a path is one that a desktop leaves in an archive: `__MACOSX/…`, `.DS_Store`."""
    return any(part == "__MACOSX" or (part.startswith(".") and part != ".") for part in name.split("/"))


def damaged(path: Path, member: str, error: object) -> str:
    return f"{path}: {member} is truncated or damaged ({error}): copy the archive again"

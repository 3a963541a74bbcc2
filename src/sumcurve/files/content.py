"""The content of a file: what its first bytes say that it is, unpacked, its lines, its text and their encoding."""

import bz2
import codecs
import gzip
import io
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from math import inf
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

from sumcurve.files.errors import FileError, Refused
from sumcurve.machine.spelling import no_file
from sumcurve.store.members import ArchiveError, is_visible, limits_of_text, zip_members

PACKED: dict[str, tuple[bytes, ...]] = {  # how packed files begin, by the endings of their names
    ".gz": (b"\x1f\x8b",),
    ".zst": (b"\x28\xb5\x2f\xfd",),
    ".xz": (b"\xfd7zXZ\0",),
    ".bz2": tuple(b"BZh%d" % size for size in range(1, 10)),
    ".zip": (b"PK\x03\x04", b"PK\x05\x06"),
}
PARQUET = b"PAR1"
STDIN = Path("-")
MARKS = {  # of byte order; the longer ones first
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
WESTERN = "windows-1252"
CHUNK = 1 << 14  # compressed bytes; their content is in memory at once
FILE_NAME = re.compile(  # that a lone string is, in place of a text
    r"[^\n]+\.(jsonl|ndjson|json|txt|csv|tsv|parquet|pq)(\.(gz|zst|xz|bz2|zip))?|[^\n ]+\.(gz|zst|xz|bz2|zip)",
    re.IGNORECASE,
)
HEAD = 512  # bytes by which a file is known
LONGEST_LINE = 1 << 25  # bytes, about five million words
LONG_LINE = "line too long"

# Other files: the place of the bytes by which they are known, the bytes, a name, and what writes the rows as a table.
_PANDAS = "`python -c \"import pandas; pandas.{}('{}').to_csv('rows.csv', index=False)\"`"
_ARROW = "`python -c \"import pyarrow as a, pyarrow.parquet as p; p.write_table(a.ipc.open_{}('{}').read_all(), "
_ARROW += "'rows.parquet')\"`"
_NUMPY = "`python -c \"import numpy; numpy.savetxt('rows.csv', numpy.load('{}'), delimiter=',', fmt='%s')\"`"
OTHERS: Sequence[tuple[int, tuple[bytes, ...], str, str]] = (
    (0, tuple(b"\x80" + bytes([version]) for version in range(2, 6)), "a pickle of Python, which may run any program",
     "of yours, write it as CSV, such as by " + _PANDAS.format("read_pickle", "{path}")),
    (0, (b"%PDF-",), "a PDF", "take its text out, such as by `pdftotext {path}`"),
    (0, (b"\x93NUMPY",), "an array of NumPy", f"write it as CSV, such as by {_NUMPY.format('{path}')}"),
    (0, (b"\x89HDF\r\n\x1a\n",), "an HDF5 file", "write it as CSV, such as by " + _PANDAS.format("read_hdf", "{path}")),
    (0, (b"SQLite format 3\0",), "a database of SQLite",
     "write a table of it as CSV, such as by `sqlite3 -header -csv {path} 'SELECT * FROM NAME' > rows.csv`"),
    (0, (b"ARROW1\0\0",), "an Arrow file", "write it as Parquet, such as by " + _ARROW.format("file", "{path}")),
    (0, (b"\xff\xff\xff\xff",), "a stream of Arrow",
     "write it as Parquet, such as by " + _ARROW.format("stream", "{path}")),
    (0, (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",), "an old document of Office", "save the table as CSV in UTF-8"),
    (0, (b"7z\xbc\xaf\x27\x1c",), "a 7z archive", "unpack it (`7z x {path}`), and name a file of it"),
    (257, (b"ustar",), "a tar archive", "unpack it (`tar -xf {path}`), and name a file of it"),
    (5, (b"\0\0\0{\"",), "a checkpoint of a model (safetensors)", "name the file of the rows"),
)  # fmt: skip
# Zips of one thing in many members: the end of a member's name by which they are known, a name, and what to do.
OF_ZIPS = (
    ("xl/workbook.xml", "a workbook of Excel",
     "save the table as CSV in UTF-8, or " + _PANDAS.format("read_excel", "{path}")),
    ("word/document.xml", "a document of Word", "copy its text into a file of plain text"),
    ("data.pkl", "a checkpoint of a model (PyTorch)", "name the file of the rows"),
    (".npy", "arrays of NumPy", "write one as CSV, such as by numpy.savetxt"),
)  # fmt: skip
DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError)


@dataclass(frozen=True)
class Encoding:
    """An encoding and, where it is guessed, why; `bad` are the numbers of lines that are not UTF-8."""

    name: str
    why: str = ""
    bad: tuple[int, ...] = ()


def encoding_of(lines: Sequence[bytes]) -> Encoding:
    """The encoding of a file's lines, or of its first ones.

    By a byte order mark; UTF-16 where NUL follows line 1's letters, or they follow it; else UTF-8, unless more lines
    are not UTF-8 than hold letters beyond ASCII in it.
    """
    first = lines[0] if lines else b""
    if marked := next((name for mark, name in MARKS.items() if first.startswith(mark)), None):
        return Encoding(marked)
    for begin, name in ((1, "utf-16le"), (0, "utf-16be")):
        if first[begin::2] and not first[begin::2].strip(b"\0"):
            return Encoding(name, "every second byte of line 1 is NUL")
    bad = tuple(number for number, line in enumerate(lines, start=1) if not is_utf8(line))
    beyond = sum(not line.isascii() for line in lines) - len(bad)
    return Encoding(WESTERN, f"line {bad[0]} is not UTF-8", bad) if len(bad) > beyond else Encoding("utf-8", "", bad)


def is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def text_of(path: Path, encoding: str | None = None) -> tuple[str, list[str]]:
    """The text of a file, and sentences about guesses; line breaks stay.

    FileError as in `opened`, and for bytes that are no text in its encoding.
    """
    with opened(path) as stream:
        data = stream.read()
    lines = data.split(b"\n")
    guess = Encoding(encoding) if encoding else encoding_of(lines)
    try:
        text = data.decode(guess.name)
    except UnicodeDecodeError as error:
        number = data[: error.start].count(b"\n") + 1
        remedy = "correct the line, or name the file's encoding (--encoding)"
        named = f"neither UTF-8 nor {guess.name}" if guess.why else f"not {guess.name.upper()}"
        raise FileError(f"{path}:{number}: {named} ({error.reason}): {remedy}") from None
    if (at := text.find("\0")) >= 0:
        number = text.count("\n", 0, at) + 1
        raise FileError(f"{path}:{number}: a NUL character, which would part words: remove it, or name the encoding")
    said = [f"Encoding of {path}: {guess.name}, a guess, since {guess.why} (--encoding)."] if guess.why else []
    return text.removeprefix("\ufeff"), said


def read_lines(path: Path) -> Iterator[bytes | Refused]:
    """The lines of a file as `lines_of` gives them, in constant memory; FileError as in `opened`."""
    with opened(path) as stream:
        yield from lines_of(stream)


def lines_of(stream: BinaryIO, within: float = inf) -> Iterator[bytes | Refused]:
    """Every line without its end, be that \\n or \\r\\n; Refused for one longer than LONGEST_LINE bytes.

    Only those that begin `within` so many bytes from here.
    """
    while within > 0 and (line := stream.readline(LONGEST_LINE + 1)):
        within -= len(line)
        if len(line) > LONGEST_LINE and not line.endswith(b"\n"):
            length = len(line)
            while not line.endswith(b"\n") and (line := stream.readline(LONGEST_LINE)):
                length += len(line)
                within -= len(line)
            yield Refused(LONG_LINE, f"{length:,} bytes; {LONGEST_LINE:,} are allowed")
        else:
            yield line.rstrip(b"\r\n")


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked where they are packed, whatever its name; `-` is standard input.

    FileError for a file that is missing, a folder, truncated or damaged, or none that holds rows: with its name.
    """
    with ExitStack() as stack:
        try:
            stream = _raw(path, stack)
            packed = _packing(stream)
            if path.suffix in PACKED and packed != path.suffix and _peeked(stream):
                raise FileError(f"{path} is not a {path.suffix} file: rename it, or copy it again")
            while packed:
                stream = stack.enter_context(
                    io.BufferedReader(cast(io.RawIOBase, UNPACKERS[packed](stream, path, stack)))
                )
                packed = _packing(stream)
            _check(path, _peeked(stream))
            yield cast(BinaryIO, stream)
        except ArchiveError as error:
            raise FileError(str(error)) from error
        except DAMAGE as error:
            raise FileError(f"{path} is truncated or damaged ({error}): copy it again") from error


def path_of(text: object) -> Path | None:
    """The path that a value is, or a lone string: of a file that is there, or with a file's ending; None for a text."""
    if isinstance(text, Path) or not isinstance(text, str):
        return text if isinstance(text, Path) else None
    if FILE_NAME.fullmatch(text):
        return Path(text)
    try:
        return Path(text) if text.strip() and Path(text).exists() and not Path(text).is_dir() else None
    except (OSError, ValueError):  # a text that is too long for a path, or that holds a NUL
        return None


def is_parquet(path: Path) -> bool:
    """Tell whether a file, or the one that is packed in it, begins as Parquet."""
    with opened(path) as stream:
        return _peeked(stream).startswith(PARQUET)


def is_packed(path: Path) -> bool:
    """Tell whether a file begins as a packed one."""
    with path.open("rb") as stream:
        return _packing(stream) is not None


def _raw(path: Path, stack: ExitStack) -> io.BufferedReader:
    if path == STDIN or (path.exists() and not path.is_file() and not path.is_dir()):
        return cast(io.BufferedReader, stack.enter_context(io.BufferedReader(io.BytesIO(_piped(path)))))
    if not path.is_file():
        raise FileError(f"{path} is a folder: name a file" if path.is_dir() else no_file(path))
    try:
        return stack.enter_context(path.open("rb"))
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error.strerror})") from error


@cache
def _piped(path: Path) -> bytes:
    """Bytes of a pipe, which can be read once, kept for the roles that read several columns of it."""
    return sys.stdin.buffer.read() if path == STDIN else path.read_bytes()


def _peeked(stream: BinaryIO) -> bytes:
    return cast(io.BufferedReader, stream).peek(HEAD)[:HEAD]


def _packing(stream: BinaryIO) -> str | None:
    head = _peeked(stream)
    return next((ending for ending, magics in PACKED.items() if head.startswith(magics)), None)


def _zipped(stream: BinaryIO, path: Path, stack: ExitStack) -> BinaryIO:
    """The only file in a zip, hidden ones and those of macOS aside."""
    if not path.is_file():
        raise FileError(f"{path}: a zip, which cannot be read from a pipe: name the file")
    archive = stack.enter_context(zip_members(path, limits_of_text(path)))
    names = [*filter(is_visible, archive)]
    for ending, name, remedy in OF_ZIPS:
        if any(member.endswith(ending) for member in names):
            raise FileError(f"{path} is {name}: {remedy.format(path=path)}")
    if len(names) != 1:
        shown = f" ({', '.join(names[:3])}{', …' if names[3:] else ''})" if names else ""
        raise FileError(
            f"{path} is a zip of {len(names)} files{shown}: unpack it (`unzip {path}`), and name one of them"
        )
    return stack.enter_context(archive[names[0]].open())


UNPACKERS: dict[str, Callable[[BinaryIO, Path, ExitStack], object]] = {
    ".gz": lambda stream, path, stack: gzip.GzipFile(fileobj=stream),
    ".bz2": lambda stream, path, stack: bz2.BZ2File(stream),
    ".xz": lambda stream, path, stack: lzma.LZMAFile(stream),  # noqa: SIM115 (the stack closes it)
    ".zst": lambda stream, path, stack: Frames(stream),
    ".zip": _zipped,
}


def _check(path: Path, head: bytes) -> None:
    """Raise FileError for a file that is known by its first bytes and holds no rows as they are read."""
    for place, magics, name, remedy in OTHERS:
        if head[place:].startswith(magics):
            raise FileError(f"{path} is {name}: {remedy.format(path=path)}")
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith((b"<!doctype html", b"<html")):
        program = f"import pandas; pandas.read_html('{path}')[0].to_csv('rows.csv', index=False)"
        raise FileError(
            f"{path} is a page in HTML, as of a failed download: copy the file again, or take a table out, such as by "
            f'`python -c "{program}"`'
        )


class Frames(io.RawIOBase):
    """Content of all frames of a .zst file; zstandard's own reader takes a truncated file for a finished one."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.frame = zstandard.ZstdDecompressor().decompressobj()
        self.rest = memoryview(b"")  # that is unpacked and not yet read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self.rest and (data := self.stream.read(CHUNK)):
            unpacked = bytearray()
            while data:
                if self.frame.eof:
                    self.frame = zstandard.ZstdDecompressor().decompressobj()
                unpacked += self.frame.decompress(data)
                data = self.frame.unused_data if self.frame.eof else b""
            self.rest = memoryview(unpacked)
        if not self.rest and not self.frame.eof:
            raise EOFError("the last zstd frame has no end")
        size = min(len(buffer), len(self.rest))
        buffer[:size], self.rest = self.rest[:size], self.rest[size:]
        return size

"""JSON lines: an object a line, plain, .gz or .zst, read strictly."""

import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

from sumcurve.sources.lines import lines_of
from sumcurve.sources.raw import EMPTY_LINE, NOT_JSON, NOT_OBJECT, NOT_UTF8, REPEATED_KEY, REQUIRED, Refused
from sumcurve.sources.source import Rows, Source
from sumcurve.store.errors import CorpusError

PACKED = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}  # endings, and what their files begin with
MARK = b"\xef\xbb\xbf"  # of byte order, by some Windows programs
CHUNK = 1 << 14  # compressed bytes; what they become is in memory at once


def rows(path: Path, names: Sequence[str] | None) -> Rows:
    """Every line as an object, with all its keys, whatever the `names`.

    A missing, empty, truncated or wrongly named file raises CorpusError.
    """
    empty = True
    for row in rows_of(read_lines(path)):
        empty = False
        yield row
    if empty:
        raise CorpusError(f"{path} is empty: write one JSON object a line with the keys {', '.join(REQUIRED)}")


def rows_of(lines: Iterable[bytes | Refused], first: bool = True) -> Iterator[dict[str, Any] | Refused]:
    """The objects in lines, of which the `first` may be a file's first."""
    for number, line in enumerate(lines, start=0 if first else 1):
        if isinstance(line, Refused):
            yield line
            continue
        try:
            yield row_of(line if number else line.removeprefix(MARK))
        except Refused as refused:
            yield refused


def row_of(data: bytes) -> dict[str, Any]:
    if not data.strip():
        raise Refused(EMPTY_LINE, "")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise Refused(NOT_UTF8, data[error.start : error.start + 16]) from None
    try:
        row = json.loads(text, object_pairs_hook=object_of)
    except (ValueError, RecursionError) as error:
        raise Refused(NOT_JSON, error) from None
    if not isinstance(row, dict):
        raise Refused(NOT_OBJECT, repr(row))
    return row


def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        raise Refused(REPEATED_KEY, repr(next(name for name in names if names.count(name) > 1)))
    return row


def read_lines(path: Path) -> Iterator[bytes | Refused]:
    """The lines of a plain, .gz or .zst file, as `lines.lines_of` gives them; CorpusError if it is damaged."""
    check(path)
    try:
        with path.open("rb") as raw:
            unpacked = {".gz": lambda: gzip.GzipFile(fileobj=raw), ".zst": lambda: io.BufferedReader(Frames(raw))}
            yield from lines_of(unpacked.get(path.suffix, lambda: raw)())
    except (EOFError, OSError, zlib.error, zstandard.ZstdError) as error:
        raise CorpusError(f"{path} is truncated or damaged ({error}): copy it again") from error


def check(path: Path) -> None:
    """CorpusError for a file that is missing, empty, or not what its ending says."""
    try:
        with path.open("rb") as stream:
            magic = stream.read(4)
    except OSError as error:
        raise CorpusError(f"{path} cannot be read ({error.strerror}): check raw.path in the study file") from error
    if not magic:
        raise CorpusError(f"{path} is empty: is it the file that the study means? Copy it again")
    for suffix, expected in PACKED.items():
        if path.suffix == suffix and not magic.startswith(expected):
            raise CorpusError(f"{path} is not a {suffix} file: compress it, or rename it to what it is")
        if path.suffix not in PACKED and magic.startswith(expected):
            raise CorpusError(f"{path} is compressed: rename it to {path.name}{suffix}")


def lines(path: Path) -> bool:
    """Whether a file's bytes are its lines."""
    return path.suffix not in PACKED


def between(path: Path, start: int, end: int) -> Rows:
    """`rows` of the lines that begin in these bytes of a file that is not packed."""
    check(path)
    with path.open("rb") as stream:
        stream.seek(start)
        yield from rows_of(lines_of(stream, end - start), first=start == 0)


class Frames(io.RawIOBase):
    """What all frames of a .zst file hold; zstandard's own reader takes a truncated file for a finished one."""

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


SOURCE = Source(
    suffixes=[f"{name}{packed}" for name in (".jsonl", ".ndjson", ".json", ".txt") for packed in ("", ".gz", ".zst")],
    unit="line",
    rows=rows,
    lines=lines,
    between=between,
)

"""JSON lines: an object a line, plain, .gz or .zst, read strictly."""

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import zstandard

from sumcurve.corpora.errors import CorpusError
from sumcurve.corpora.raw import EMPTY_LINE, NOT_JSON, NOT_OBJECT, NOT_UTF8, REPEATED_KEY, REQUIRED, Refused
from sumcurve.corpora.sources.source import Rows, Source

PACKED = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}  # endings, and what their files begin with
CHUNK = 1 << 14  # compressed bytes; what they become is in memory at once


def rows(path: Path, names: Sequence[str] | None) -> Rows:
    """Every line as an object, with all its keys, whatever the `names`.

    A missing, empty, truncated or wrongly named file raises CorpusError.
    """
    found = False
    for row in rows_of(read_lines(path), begins=True):
        found = True
        yield row
    if not found:
        raise CorpusError(f"{path} is empty: write one JSON object a line with the keys {', '.join(REQUIRED)}")


def lines(path: Path) -> bool:
    return path.suffix not in PACKED


def between(path: Path, start: int, end: int) -> Rows:
    """`rows` of the lines that begin in these bytes of a file that is not packed."""
    check(path)
    yield from rows_of(lines_between(path, start, end), begins=start == 0)


def lines_between(path: Path, start: int, end: int) -> Iterator[bytes]:
    with path.open("rb") as stream:
        stream.seek(start)
        while start < end and (line := stream.readline()):
            start += len(line)
            yield line.rstrip(b"\r\n")


def rows_of(lines: Iterator[bytes], begins: bool) -> Rows:
    """The row of every line; `begins` says whether the first is the file's."""
    for data in lines:
        if begins:
            data = data.removeprefix(b"\xef\xbb\xbf")  # the byte order mark of some Windows programs
            begins = False
        try:
            yield row_of(data)
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


def read_lines(path: Path) -> Iterator[bytes]:
    """The lines of a plain, .gz or .zst file without their ends; CorpusError if it is damaged."""
    check(path)
    try:
        if path.suffix == ".zst":
            yield from zstd_lines(path)
        else:
            with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
                for line in stream:
                    yield line.rstrip(b"\r\n")
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
        raise CorpusError(f"{path} is empty: write one JSON object a line with the keys {', '.join(REQUIRED)}")
    for suffix, expected in PACKED.items():
        if path.suffix == suffix and not magic.startswith(expected):
            raise CorpusError(f"{path} is not a {suffix} file: compress it, or rename it to what it is")
        if path.suffix not in PACKED and magic.startswith(expected):
            raise CorpusError(f"{path} is compressed: rename it to {path.name}{suffix}")


def zstd_lines(path: Path) -> Iterator[bytes]:
    """Lines of all frames; zstandard's own reader takes a truncated file for a finished one."""
    rest = b""
    with path.open("rb") as stream:
        frame = zstandard.ZstdDecompressor().decompressobj()
        while data := stream.read(CHUNK):
            while data:
                if frame.eof:
                    frame = zstandard.ZstdDecompressor().decompressobj()
                rest += frame.decompress(data)
                data = frame.unused_data if frame.eof else b""
            *lines, rest = rest.split(b"\n")
            for line in lines:
                yield line.rstrip(b"\r")
        if not frame.eof:
            raise EOFError("the last zstd frame has no end")
    if rest:
        yield rest.rstrip(b"\r")


SOURCE = Source(
    suffixes=[f"{name}{packed}" for name in (".jsonl", ".ndjson", ".json", ".txt") for packed in ("", ".gz", ".zst")],
    unit="line",
    rows=rows,
    lines=lines,
    between=between,
)

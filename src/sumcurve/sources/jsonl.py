"""JSON lines: an object a line, plain, .gz or .zst, read strictly."""

import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import zstandard

from sumcurve.files import content
from sumcurve.sources.lines import lines_of
from sumcurve.sources.raw import EMPTY_LINE, NOT_JSON, NOT_OBJECT, NOT_UTF8, REPEATED_KEY, REQUIRED, Refused
from sumcurve.sources.source import Rows, Source
from sumcurve.store.errors import CorpusError

PACKED = {ending: content.PACKED[ending] for ending in (".gz", ".zst")}  # first bytes of such files
MARK = b"\xef\xbb\xbf"  # of byte order, by some Windows programs


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


def rows_of(lines: Iterable[bytes | Refused]) -> Iterator[dict[str, Any] | Refused]:
    """The objects in the lines of a file."""
    for number, line in enumerate(lines):
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
            unpacked = {
                ".gz": lambda: gzip.GzipFile(fileobj=raw),
                ".zst": lambda: io.BufferedReader(content.Frames(raw)),
            }
            yield from lines_of(unpacked.get(path.suffix, lambda: raw)())
    except (EOFError, OSError, zlib.error, zstandard.ZstdError) as error:
        raise CorpusError(f"{path} is truncated or damaged ({error}): copy it again") from error


def check(path: Path) -> None:
    """Raise CorpusError for a file that is missing, empty, or not of the format of its ending."""
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


SOURCE = Source(
    suffixes=[f"{name}{packed}" for name in (".jsonl", ".ndjson", ".json", ".txt") for packed in ("", ".gz", ".zst")],
    unit="line",
    rows=rows,
)

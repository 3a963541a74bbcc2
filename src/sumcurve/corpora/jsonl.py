"""The user's raw records: JSON lines, read strictly.

A line is `{"id": ..., "source": ..., "target": ...}`, where source and target are a string or a list of
sentences. Optional: `references` (a list of further targets), `group` (records of one group never fall into
two parts) and `split` ("train", "valid" or "test": the record's part, given for all records of a file or for
none). A line that cannot be used is not skipped but reported as `Dropped`; a file that cannot be read is a
`CorpusError`.
"""

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zstandard

from sumcurve.corpora.errors import CorpusError

RawText = str | list[str]

PARTS = ("train", "valid", "test")
REQUIRED = ("id", "source", "target")
KEYS = (*REQUIRED, "references", "group", "split")

# Reasons for which a line is dropped.
NOT_UTF8 = "invalid UTF-8"
NOT_JSON = "broken JSON"
EMPTY_LINE = "empty line"
NOT_OBJECT = "not an object"
REPEATED_KEY = "repeated key"
MISSING_KEY = "missing key"
UNKNOWN_KEY = "unknown key"
WRONG_TYPE = "wrong type"
SURROGATE = "lone surrogate"
BAD_ID = "empty id, or control characters in it"
EMPTY_SOURCE = "empty source"
EMPTY_TARGET = "empty target"
EMPTY_REFERENCE = "empty reference"
EMPTY_SENTENCE = "empty sentence"
EMPTY_GROUP = "empty group"
BAD_SPLIT = "unknown split"
MIXED_SPLIT = "split given for some records only"
DUPLICATE_ID = "duplicate id"
SHARED_ID = "id shared by two parts"

EXCERPT = 80  # characters of a bad value that are shown
GZIP_MAGIC, ZSTD_MAGIC = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
CHUNK = 1 << 20
CONTROL = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]")
LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class RawRecord:
    line: int  # from 1
    id: str
    source: RawText
    target: RawText
    references: list[RawText] = field(default_factory=list)
    group: str | None = None
    split: str | None = None


@dataclass(frozen=True, slots=True)
class Dropped:
    """A record that is left out: where it stood, why, and the value that decided."""

    line: int
    id: str | None
    reason: str
    value: str

    def as_dict(self, file: str) -> dict[str, Any]:
        return {"file": file, "line": self.line, "id": self.id, "reason": self.reason, "value": self.value}


class Refused(Exception):
    """Why a line is no record: a reason and the value that decided."""

    def __init__(self, reason: str, value: object) -> None:
        super().__init__(reason)
        self.reason = reason
        self.value = excerpt(value)


def read_raw(path: Path) -> Iterator[RawRecord | Dropped]:
    """Every line of a plain, .gz or .zst file, in order: the record, or why it is none.

    Of records with one id the first is kept. A missing, empty, truncated or wrongly named file raises
    CorpusError.
    """
    ids: dict[str, tuple[int, str | None]] = {}  # id -> its line and part
    with_splits: bool | None = None
    line = 0
    for line, data in enumerate(read_lines(path), start=1):
        if line == 1:
            data = data.removeprefix(b"\xef\xbb\xbf")  # the byte order mark of some Windows programs
        identity: str | None = None
        try:
            row = row_of(data)
            if isinstance(row.get("id"), str) and not LONE_SURROGATE.search(row["id"]):
                identity = row["id"]
            record = record_of(row, line)
            if record.id in ids:
                first, part = ids[record.id]
                reason = DUPLICATE_ID if part == record.split else SHARED_ID
                raise Refused(reason, f"{record.id} first at line {first}" + (f" ({part})" if part else ""))
            if with_splits is None:
                with_splits = record.split is not None
            if with_splits != (record.split is not None):
                raise Refused(MIXED_SPLIT, "the first record has " + ("one" if with_splits else "none"))
        except Refused as refused:
            yield Dropped(line, identity, refused.reason, refused.value)
            continue
        ids[record.id] = (line, record.split)
        yield record
    if line == 0:
        raise CorpusError(f"{path} is empty: write one JSON object a line with the keys {', '.join(REQUIRED)}")


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


def record_of(row: dict[str, Any], line: int) -> RawRecord:
    """The record of one object, checked. An optional key may be null, which is as if it were left out."""
    row = {key: value for key, value in row.items() if value is not None or key in REQUIRED}
    for key in row:
        if key not in KEYS:
            raise Refused(UNKNOWN_KEY, f"{key!r}; known are {', '.join(KEYS)}")
    for key in REQUIRED:
        if key not in row:
            raise Refused(MISSING_KEY, key)
    for key in ("id", "group", "split"):
        if not isinstance(row.get(key, ""), str):
            raise Refused(WRONG_TYPE, f"{key}: {row[key]!r}, must be a string")
        if LONE_SURROGATE.search(row.get(key, "")):
            raise Refused(SURROGATE, f"{key}: {row[key]!r}")
    if not row["id"].strip() or CONTROL.search(row["id"]):
        raise Refused(BAD_ID, repr(row["id"]))
    if "group" in row and not row["group"].strip():
        raise Refused(EMPTY_GROUP, repr(row["group"]))
    if row.get("split", "train") not in PARTS:
        raise Refused(BAD_SPLIT, f"{row['split']}; known are {', '.join(PARTS)}")
    check_text(row["source"], "source", EMPTY_SOURCE)
    check_text(row["target"], "target", EMPTY_TARGET)
    references = row.get("references", [])
    if not isinstance(references, list):
        raise Refused(WRONG_TYPE, f"references: {references!r}, must be a list of targets")
    for reference in references:
        check_text(reference, "references", EMPTY_REFERENCE)
    return RawRecord(line, **row)


def check_text(value: Any, key: str, empty: str) -> None:
    if not isinstance(value, str | list) or (
        isinstance(value, list) and not all(isinstance(sentence, str) for sentence in value)
    ):
        raise Refused(WRONG_TYPE, f"{key}: {value!r}, must be a string or a list of strings")
    sentences = [value] if isinstance(value, str) else value
    if not any(sentence.strip() for sentence in sentences):
        raise Refused(empty, repr(value))
    for sentence in sentences:
        if not sentence.strip():
            raise Refused(EMPTY_SENTENCE, f"{key}: sentence {sentences.index(sentence) + 1} of {len(sentences)}")
        if LONE_SURROGATE.search(sentence):
            raise Refused(SURROGATE, f"{key}: {sentence!r}")


def excerpt(value: object) -> str:
    text = str(value)
    return text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…"


def read_lines(path: Path) -> Iterator[bytes]:
    """The lines of a plain, .gz or .zst file without their ends; CorpusError if it is damaged."""
    try:
        with path.open("rb") as stream:
            magic = stream.read(4)
    except OSError as error:
        raise CorpusError(f"{path} cannot be read ({error.strerror}): check raw.path in the study file") from error
    if not magic:
        raise CorpusError(f"{path} is empty: write one JSON object a line with the keys {', '.join(REQUIRED)}")
    packed = {".gz": GZIP_MAGIC, ".zst": ZSTD_MAGIC}
    for suffix, expected in packed.items():
        if path.suffix == suffix and not magic.startswith(expected):
            raise CorpusError(f"{path} is not a {suffix} file: compress it, or rename it to what it is")
        if path.suffix not in packed and magic.startswith(expected):
            raise CorpusError(f"{path} is compressed: rename it to {path.name}{suffix}")
    try:
        if path.suffix == ".zst":
            yield from zstd_lines(path)
        else:
            with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
                for line in stream:
                    yield line.rstrip(b"\r\n")
    except (EOFError, OSError, zlib.error, zstandard.ZstdError) as error:
        raise CorpusError(f"{path} is truncated or damaged ({error}): copy it again") from error


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

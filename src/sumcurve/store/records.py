"""The record, its text, and the files that hold them.

A *raw* record is what a user writes; a *prepared* record is tokenised: every sentence is one string of tokens
separated by single blanks, so that `sentence.split(" ")` gives its tokens. Its *text* has the same sentences as they
were written.
"""

import csv
import gzip
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import zstandard

REMEDY = "rebuild its folder, or correct the line of a file of your own"  # of a line that cannot be read


class RecordError(ValueError):
    """A record that cannot be read; the message names file, line, value and remedy."""


@dataclass(frozen=True, slots=True)
class Record:
    """A prepared record: `source` and `target` are lists of sentences, `references` holds further targets."""

    id: str
    source: list[str]
    target: list[str]
    references: list[list[str]] = field(default_factory=list)
    group: str | None = None

    def as_dict(self) -> dict[str, Any]:
        row: dict[str, Any] = {"id": self.id, "source": self.source, "target": self.target}
        if self.references:
            row["references"] = self.references
        if self.group is not None:
            row["group"] = self.group
        return row

    @property
    def source_tokens(self) -> list[str]:
        return [token for sentence in self.source for token in sentence.split(" ")]

    @property
    def all_references(self) -> list[list[str]]:
        """The target and the further references, each a list of sentences."""
        return [self.target, *self.references]


@dataclass(frozen=True, slots=True)
class Text:
    """A record as people wrote it: its sentences in their own case, spelling and spacing.

    Sentence for sentence the record of the same id: tokenising a sentence here gives the sentence there.
    """

    id: str
    source: list[str]
    target: list[str]
    references: list[list[str]] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        row: dict[str, Any] = {"id": self.id, "source": self.source, "target": self.target}
        if self.references:
            row["references"] = self.references
        return row


def open_bytes(path: Path) -> IO[bytes]:
    """An uncompressed byte stream of a plain, .gz or .zst file."""
    if path.suffix == ".gz":
        return gzip.open(path, "rb")  # type: ignore[return-value]
    if path.suffix == ".zst":
        return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(path.open("rb"), read_across_frames=True))
    return path.open("rb")


def read_records(path: Path) -> Iterator[Record]:
    """Prepared records of a finished corpus, in order."""
    with open_bytes(path) as stream:
        for number, line in enumerate(stream, start=1):
            yield parsed(line, path, number)


def parsed(line: bytes, path: Path, number: int) -> Record:
    """The prepared record of line `number` of `path`."""
    try:
        record = Record(**json.loads(line))
        for name in ("source", "target"):
            if not isinstance(getattr(record, name), list):
                raise ValueError(f"{name} is no list of sentences")
        return record
    except (ValueError, TypeError) as error:
        raise RecordError(f"{path}:{number}: not a prepared record ({error}); {REMEDY}") from error


@contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears at the end of the block, whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as stream:
        yield stream
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(partial, path)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    with writing(path) as stream:
        stream.write(data)


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode())


def write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


_as_json = json.JSONEncoder(ensure_ascii=False).encode  # the form of json.dumps, which makes an encoder every time


def line_of(value: Any) -> bytes:
    return _as_json(value).encode() + b"\n"


def write_jsonl(path: Path, rows: Iterable[dict[str, Any]]) -> int:
    """Write one JSON object a line, streaming; returns how many."""
    count = 0
    with writing(path) as stream:
        for row in rows:
            stream.write(line_of(row))
            count += 1
    return count


def csv_text(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A header and a line for each row; None is an empty cell."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return stream.getvalue()


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write these columns of the rows, whole or not at all."""
    write_text(path, csv_text(columns, ([row[column] for column in columns] for row in rows)))


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV that `write_csv` wrote."""
    with path.open(encoding="utf-8", newline="") as stream:
        return csv_rows(stream.read())


def csv_rows(text: str) -> list[dict[str, str]]:
    """The rows of a text that `csv_text` gave."""
    return list(csv.DictReader(io.StringIO(text, newline="")))


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    with open_bytes(path) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                yield json.loads(line)
            except ValueError as error:
                raise RecordError(f"{path}:{number}: not JSON ({error}); {REMEDY}") from error

"""Records of a part of a corpus by their positions: where their lines begin, and how long they are.

Both are in an Arrow file, which is mapped into memory and never read whole.
"""

import hashlib
import json
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sumcurve.corpora.store import Part
from sumcurve.machine.locks import locked
from sumcurve.store.errors import CorpusError
from sumcurve.store.manifest import sha256_file
from sumcurve.store.records import Record, open_bytes, parsed, write_json

ROWS = 8192  # of a record batch
LINES, SUMMARY = "lines.arrow", "lines.json"
FORMAT = 1  # of the file; with a new number it is written again


class _Batch(NamedTuple):
    """ROWS records: their ids, the offsets of their lines, and the lengths of their sources and targets."""

    ids: Sequence[Any]
    starts: np.ndarray
    sources: np.ndarray
    targets: np.ndarray


class Lines(Sequence[Record]):
    """The records of a part, each read at its access; `digest` is the hash of all of them."""

    def __init__(self, batches: Sequence[_Batch], read: Callable[[int, int], Record], digest: str) -> None:
        self._batches, self._read, self.digest = batches, read, digest
        self._size = sum(len(batch.ids) for batch in batches)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, position: Any) -> Any:
        batch, row = divmod(position, ROWS)
        return self._read(position, int(self._batches[batch].starts[row]))

    @property
    def ids(self) -> Sequence[str]:
        """The records' ids, in order."""
        return _Ids(self._batches, self._size)

    def lengths(self, position: int) -> tuple[int, int]:
        """Lengths of a record: words of the source; words of the target, and one for each end between two sentences."""
        batch, row = divmod(position, ROWS)
        return int(self._batches[batch].sources[row]), int(self._batches[batch].targets[row])

    @classmethod
    def of(cls, records: Sequence[Record]) -> "Lines":
        """The same of records in memory."""
        digest = hashlib.sha256(json.dumps([record.as_dict() for record in records]).encode()).hexdigest()
        batches = [*_batches((record, 0) for record in records)]
        return cls(batches, lambda position, start: records[position], digest)

    @classmethod
    def of_part(cls, part: Part, sha256: str, folder: Path, note: Callable[[str], None]) -> "Lines":
        """Open the file below `folder` of a part whose file has this sha256; it is written where it is missing.

        It may be deleted while nothing reads it. One process writes, others wait.
        """
        import pyarrow

        place = folder / f"{part.folder.name}-{sha256[:16]}"
        place.mkdir(parents=True, exist_ok=True)
        with locked(place / "lock", lambda: note(f"{place}: waiting for another process that reads {part.path}")):
            summary = _summary(place)
            if summary is None or summary["of"] != sha256 or summary["format"] != FORMAT:
                _write(part, place / LINES)
                summary = {"format": FORMAT, "of": sha256, "sha256": sha256_file(place / LINES)}
                write_json(place / SUMMARY, summary)
        if sha256_file(place / LINES) != summary["sha256"]:
            raise CorpusError(f"{place / LINES} is not what was written: delete {place}, then run again")
        lines = pyarrow.ipc.open_file(pyarrow.memory_map(str(place / LINES)))
        columns = [lines.get_batch(number).columns for number in range(lines.num_record_batches)]
        batches = [_Batch(ids, *(numbers.to_numpy() for numbers in rest)) for ids, *rest in columns]
        stream = part.path.open("rb")

        def read(position: int, start: int) -> Record:
            stream.seek(start)
            return parsed(stream.readline(), part.path, position + 1)

        return cls(batches, read, sha256)


class _Ids(Sequence[str]):
    """The ids of all records, each read from the file on access."""

    def __init__(self, batches: Sequence[_Batch], size: int) -> None:
        self._batches, self._size = batches, size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, position: Any) -> Any:
        if not 0 <= position < self._size:
            raise IndexError(position)
        return str(self._batches[position // ROWS].ids[position % ROWS])


class Drawn(Sequence[Record]):
    """The records at some positions of a part, each read from its file on access."""

    def __init__(self, lines: Lines, positions: Sequence[int]) -> None:
        self.lines = lines
        self.positions = positions if isinstance(positions, range) else array("q", positions)

    def __len__(self) -> int:
        return len(self.positions)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return Drawn(self.lines, self.positions[number])
        return self.lines[self.positions[number]]

    def lengths(self, number: int) -> tuple[int, int]:
        return self.lines.lengths(self.positions[number])

    @property
    def digest(self) -> str:
        """The sha256 (hex) of all data that determine them."""
        return hashlib.sha256(f"{self.lines.digest} {array('q', self.positions).tobytes().hex()}".encode()).hexdigest()

    @classmethod
    def of(cls, records: Sequence[Record]) -> "Drawn":
        """All of these records."""
        return records if isinstance(records, cls) else cls(Lines.of(records), range(len(records)))


def _summary(place: Path) -> dict[str, Any] | None:
    """The summary, which is written last: without it the file counts for nothing."""
    try:
        summary = json.loads((place / SUMMARY).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return summary if isinstance(summary, dict) and summary.keys() >= {"format", "of", "sha256"} else None


def _batches(records: Iterable[tuple[Record, int]]) -> Iterator[_Batch]:
    """The records and the offsets of their lines, ROWS at a time."""
    while rows := [*islice(((record.id, start, *_lengths(record)) for record, start in records), ROWS)]:
        ids, *numbers = zip(*rows, strict=True)
        yield _Batch(ids, *map(np.array, numbers))


def _lengths(record: Record) -> tuple[int, int]:
    source = sum(sentence.count(" ") + 1 for sentence in record.source)
    target = sum(sentence.count(" ") + 2 for sentence in record.target if sentence)
    return source, max(0, target - 1)


def _with_starts(part: Part) -> Iterator[tuple[Record, int]]:
    start = 0
    with open_bytes(part.path) as stream:
        for number, line in enumerate(stream, start=1):
            yield parsed(line, part.path, number), start
            start += len(line)


def _write(part: Part, path: Path) -> None:
    import pyarrow

    numbers = ("start", "source", "target")
    schema = pyarrow.schema([("id", pyarrow.string()), *((name, pyarrow.int64()) for name in numbers)])
    with path.open("wb") as stream:
        with pyarrow.ipc.new_file(stream, schema) as writer:
            for batch in _batches(_with_starts(part)):
                writer.write_batch(pyarrow.record_batch([pyarrow.array(batch[0]), *batch[1:]], schema=schema))
        os.fsync(stream.fileno())

"""The tokens of a part of a corpus as numbers, in Arrow files that are mapped into memory and never read whole.

The numbers count the part's distinct words in the order in which they appear, so that one pair of files serves every
fraction, vocabulary and length. `models.examples` makes of them what a model reads.
"""

import hashlib
import json
import os
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sumcurve.corpora.store import Part
from sumcurve.machine.locks import locked
from sumcurve.store.errors import CorpusError
from sumcurve.store.manifest import sha256_file
from sumcurve.store.records import Record, RecordError, open_bytes, parsed, write_json

if TYPE_CHECKING:
    import pyarrow

SENTENCE = -1  # stands between two sentences of a target
ROWS = 8192  # of a record batch
IDS, WORDS, TOLD = "ids.arrow", "words.arrow", "token-ids.json"
FORMAT = 1  # of the files; a new number makes them anew


class TokenIds:
    """Of every record of a part its id, and the numbers of its words in source and target.

    `read` gives the record at a position; `digest` is a hash of all numbers and words.
    """

    def __init__(
        self, batches: Sequence["_Batch"], words: Sequence[Any], read: Callable[[int], Record], digest: str
    ) -> None:
        self._ids = [batch.ids for batch in batches]
        self._sources = [batch.source for batch in batches]
        self._targets = [batch.target for batch in batches]
        self._words, self.read, self.digest = words, read, digest
        self._size = sum(map(len, self._ids))

    def __len__(self) -> int:
        return self._size

    @property
    def ids(self) -> Sequence[str]:
        """The records' ids, in order."""
        return _Ids(self)

    def id(self, position: int) -> str:
        return str(self._ids[position // ROWS][position % ROWS])

    @property
    def words(self) -> Iterator[str]:
        """The distinct words, in the order of their numbers."""
        return map(str, self._words)

    def word(self, number: int) -> str:
        return str(self._words[number])

    def source(self, position: int) -> np.ndarray:
        """The numbers of a source's words, int32."""
        offsets, values = self._sources[position // ROWS]
        row = position % ROWS
        return values[offsets[row] : offsets[row + 1]]

    def target(self, position: int) -> np.ndarray:
        """The numbers of a target's words, int32, with SENTENCE between two of its sentences."""
        offsets, values = self._targets[position // ROWS]
        row = position % ROWS
        return values[offsets[row] : offsets[row + 1]]

    def lengths(self, position: int) -> tuple[int, int]:
        """How many words the source has, and how many words and SENTENCEs the target has."""
        batch, row = divmod(position, ROWS)
        sources, targets = self._sources[batch][0], self._targets[batch][0]
        return int(sources[row + 1] - sources[row]), int(targets[row + 1] - targets[row])

    @classmethod
    def of(cls, records: Sequence[Record]) -> "TokenIds":
        """Of records that lie in no file; the numbers are in memory."""
        numbers = _Numbers()
        batches = [rows.batch() for rows in _rows(((record, 0) for record in records), numbers)]
        words = list(numbers.of)
        held = hashlib.sha256("\n".join([*words, *(record.id for record in records)]).encode("utf-8", "surrogatepass"))
        for batch in batches:
            for offsets, values in (batch.source, batch.target):
                held.update(offsets.tobytes() + values.tobytes())
        return cls(batches, words, read=records.__getitem__, digest=held.hexdigest())

    @classmethod
    def of_part(cls, part: Part, sha256: str, folder: Path, note: Callable[[str], None]) -> "TokenIds":
        """Of a part whose file has this sha256: its files below `folder`, which are written where they are missing.

        They may be deleted whenever nothing reads them. One process writes, others wait.
        """
        import pyarrow

        place = folder / f"{part.folder.name}-{sha256[:16]}"
        place.mkdir(parents=True, exist_ok=True)
        with locked(place / "lock", lambda: note(f"{place}: waiting for another process that numbers {part.path}")):
            summary = _told(place)
            if summary is None or summary["of"] != sha256 or summary["format"] != FORMAT:
                summary = _write_files(part, sha256, place)
                note(f"{place}: {summary['records']} records numbered, {summary['words']} distinct words")
        for name, expected in summary["files"].items():
            if sha256_file(place / name) != expected:
                raise CorpusError(f"{place / name} is not what was written: delete {place}, then run again")
        ids, words = (pyarrow.ipc.open_file(pyarrow.memory_map(str(place / name))) for name in (IDS, WORDS))
        batches = [ids.get_batch(number) for number in range(ids.num_record_batches)]
        read = _Lines(part.path, [batch.column(1).to_numpy() for batch in batches])
        mapped = [_Batch(batch.column(0), _lists(batch.column(2)), _lists(batch.column(3))) for batch in batches]
        digest = hashlib.sha256(" ".join(summary["files"].values()).encode()).hexdigest()
        return cls(mapped, words.get_batch(0).column(0), read, digest)


class _Batch(NamedTuple):
    """So many records as ROWS: their ids, and offsets and values of the numbers of their words."""

    ids: Sequence[Any]
    source: tuple[np.ndarray, np.ndarray]
    target: tuple[np.ndarray, np.ndarray]


class _Ids(Sequence[str]):
    """The ids of all records, each read from the file when it is asked for."""

    def __init__(self, tokens: TokenIds) -> None:
        self._tokens = tokens

    def __len__(self) -> int:
        return len(self._tokens)

    def __getitem__(self, position: Any) -> Any:
        if not 0 <= position < len(self):
            raise IndexError(position)
        return self._tokens.id(position)


class Drawn(Sequence[Record]):
    """The records at some positions of a part, each read from its file when it is asked for."""

    def __init__(self, tokens: TokenIds, positions: Sequence[int]) -> None:
        self.tokens = tokens
        self.positions = positions if isinstance(positions, range) else array("q", positions)

    def __len__(self) -> int:
        return len(self.positions)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return Drawn(self.tokens, self.positions[number])
        return self.tokens.read(self.positions[number])

    @property
    def digest(self) -> str:
        """The sha256 (hex) of all that decides them."""
        return hashlib.sha256(f"{self.tokens.digest} {array('q', self.positions).tobytes().hex()}".encode()).hexdigest()

    @classmethod
    def of(cls, records: Sequence[Record]) -> "Drawn":
        """All of these, numbered in memory where they are not drawn from a part."""
        return records if isinstance(records, cls) else cls(TokenIds.of(records), range(len(records)))


class _Lines:
    """Reads the record at a position of a part's file; `starts` says, by batches, where its line begins."""

    def __init__(self, path: Path, starts: Sequence[np.ndarray]) -> None:
        self.path, self.starts = path, starts
        self.stream = path.open("rb")

    def __call__(self, position: int) -> Record:
        self.stream.seek(int(self.starts[position // ROWS][position % ROWS]))
        return parsed(self.stream.readline(), self.path, position + 1)


def _lists(column: "pyarrow.ListArray") -> tuple[np.ndarray, np.ndarray]:
    """Offsets and values of a column of lists, in place."""
    return column.offsets.to_numpy(), column.values.to_numpy()


def _told(place: Path) -> dict[str, Any] | None:
    try:
        summary = json.loads((place / TOLD).read_text())
    except (FileNotFoundError, ValueError):
        return None
    return summary if isinstance(summary, dict) and summary.keys() >= {"format", "of", "files"} else None


def _write_files(part: Part, sha256: str, place: Path) -> dict[str, Any]:
    import pyarrow

    (place / TOLD).unlink(missing_ok=True)  # it is written last: without it the files count for nothing
    with pyarrow.OSFile(str(place / IDS), "wb") as ids, pyarrow.OSFile(str(place / WORDS), "wb") as words:
        counts = _write(_with_starts(part), ids, words)
    for name in (IDS, WORDS):
        with (place / name).open("rb") as stream:
            os.fsync(stream.fileno())
    files = {name: sha256_file(place / name) for name in (IDS, WORDS)}
    summary = {"format": FORMAT, "of": sha256, **counts, "files": files}
    write_json(place / TOLD, summary)
    return summary


def _with_starts(part: Part) -> Iterator[tuple[Record, int]]:
    start = 0
    with open_bytes(part.path) as stream:
        for number, line in enumerate(stream, start=1):
            yield parsed(line, part.path, number), start
            start += len(line)


class _Numbers:
    """Words and their numbers, in the order in which they were asked for."""

    def __init__(self) -> None:
        self.of: defaultdict[str, int] = defaultdict()
        self.of.default_factory = self.of.__len__


def _rows(records: Iterable[tuple[Record, int]], numbers: _Numbers) -> "Iterator[_Rows]":
    """The records and where their lines start, ROWS at a time. Memory grows with the words alone."""
    number_of = numbers.of.__getitem__
    rows = _Rows()
    for record, start in records:
        source = list(map(number_of, record.source_tokens))
        target: list[int] = []
        for sentence in filter(None, record.target):
            if target:
                target.append(SENTENCE)
            target.extend(map(number_of, sentence.split(" ")))
        rows.add(record.id, start, source, target)
        if len(rows.ids) == ROWS:
            yield rows
            rows = _Rows()
    if rows.ids:
        yield rows


class _Rows:
    """What becomes one batch."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.starts = array("q")
        self.columns = tuple((array("i", [0]), array("i")) for _ in range(2))  # offsets and values

    def add(self, name: str, start: int, source: list[int], target: list[int]) -> None:
        self.ids.append(name)
        self.starts.append(start)
        for (offsets, values), row in zip(self.columns, (source, target), strict=True):
            values.extend(row)
            offsets.append(len(values))

    def batch(self) -> _Batch:
        source, target = ((np.asarray(offsets), np.asarray(values)) for offsets, values in self.columns)
        return _Batch(self.ids, source, target)


def _write(
    records: Iterable[tuple[Record, int]], ids: "pyarrow.NativeFile", words: "pyarrow.NativeFile"
) -> dict[str, int]:
    """Write both files; how many records and distinct words there are."""
    import pyarrow

    numbers, written = _Numbers(), 0
    lists = pyarrow.list_(pyarrow.int32())
    schema = pyarrow.schema(
        [("id", pyarrow.string()), ("start", pyarrow.int64()), ("source", lists), ("target", lists)]
    )
    with pyarrow.ipc.new_file(ids, schema) as writer:
        for rows in _rows(records, numbers):
            batch = rows.batch()
            columns = [pyarrow.ListArray.from_arrays(*lists_of) for lists_of in (batch.source, batch.target)]
            writer.write_batch(pyarrow.record_batch([rows.ids, np.asarray(rows.starts), *columns], schema=schema))
            written += len(rows.ids)
    schema = pyarrow.schema([("word", pyarrow.string())])
    try:
        column = pyarrow.array(list(numbers.of), pyarrow.string())
    except UnicodeEncodeError as error:
        raise RecordError(f"a word of a record is no text ({error}); rebuild its folder") from error
    with pyarrow.ipc.new_file(words, schema) as writer:
        writer.write_batch(pyarrow.record_batch([column], schema=schema))
    return {"records": written, "words": len(numbers.of)}

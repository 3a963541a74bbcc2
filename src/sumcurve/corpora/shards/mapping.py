"""What a shard's rows are: a table of all of them, and the records among them by their keyed hashes.

`rows.parquet` says of each row where it stands, what became of it and what it shares with others; `records.arrow` has
the records and texts of candidates. Where near-duplicates are dropped, `sources.arrow` has the shingles of each
candidate's source, and `keys.arrow` the keys of their bands.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sumcurve.corpora.candidates import line_of, unit_of
from sumcurve.corpora.duplicates import keys_of, shingles_of
from sumcurve.corpora.parts import holds_out, keyed
from sumcurve.corpora.prepare import digests_of, tokenized
from sumcurve.corpora.shards.cutting import Piece, read_piece
from sumcurve.corpora.shards.work import Buckets, Work, planned, step
from sumcurve.settings.corpus import Preparation
from sumcurve.sources.cleaning import Cleaned, StepRefused
from sumcurve.sources.content import PRECEDENCE, Content
from sumcurve.sources.raw import Dropped, RawRecord, Refused
from sumcurve.store.records import Record, Text

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Schema

RUN = 64_000_000  # bytes of prepared records in memory
LINE = 500  # bytes in memory of a row that is none
SPLITS = (None, *PRECEDENCE)  # by their numbers
# What became of a row in its shard: it is no record, no filter lets it pass, it may be kept. With a group is one more.
NO_RECORD, REFUSED, CANDIDATE = 0, 1, 2
OF_SPLIT, OF_SHARD = 48, 32  # bits of a row's number below its split's and its shard's: so rows rise as they are read

PLACE = {"file": "string", "number": "int64", "kind": "string", "several": "bool"}
ROWS = {"row": "int64", "state": "uint8", "unseen": "int16"}
ROWS |= {"id": "uuid", "unit": "uuid", "source": "uuid", "target": "uuid", "order": "uuid"} | PLACE
ROWS |= {"name": "string", "group": "string", "reason": "string", "line": "binary", "steps": "strings"}
RECORDS = {"row": "int64", "order": "uuid", "record": "large_binary", "text": "large_binary", "name": "string"}
RECORDS |= {"tokens": "int64", "length": "int64"} | PLACE  # of tokens in source and target
SHINGLES = {"shingles": "numbers"}
KEYS = {"key": "uint64", "row": "int64", "source": "uuid", "place": "int64", "size": "int64"}


def schema_of(columns: dict[str, str]) -> "Schema":
    """Arrow's types of columns; a uuid is a hash of 16 bytes."""
    import pyarrow

    types = {
        "uuid": pyarrow.uuid(),
        "strings": pyarrow.list_(pyarrow.string()),
        "numbers": pyarrow.list_(pyarrow.uint64()),
    }
    return pyarrow.schema([(name, types.get(kind, kind)) for name, kind in columns.items()])


class Table:
    """Rows of these columns that wait to be written."""

    def __init__(self, columns: dict[str, str]) -> None:
        self.schema = schema_of(columns)
        self.rows: list[tuple[Any, ...]] = []

    def taken(self) -> "RecordBatch":
        """The waiting rows, which wait no longer."""
        import pyarrow

        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(self.schema)
        arrays = [pyarrow.array(column, field.type) for column, field in zip(columns, self.schema, strict=True)]
        self.rows = []
        return pyarrow.RecordBatch.from_arrays(arrays, schema=self.schema)


class Mapped:
    """The files of a shard, written in runs of RUN bytes."""

    def __init__(self, folder: Path, shards: int, near: bool) -> None:
        import pyarrow
        from pyarrow import parquet

        self.rows, self.records, self.shingles, self.keys = map(Table, (ROWS, RECORDS, SHINGLES, KEYS))
        self.bytes = self.sources = 0
        self.rows_file = parquet.ParquetWriter(folder / "rows.parquet", self.rows.schema, compression="zstd")
        self.records_file = Buckets(folder / "records.arrow", self.records.schema, shards)
        self.near = near
        if near:
            self.keys_file = Buckets(folder / "keys.arrow", self.keys.schema, shards)
            self.shingles_file = pyarrow.ipc.new_file(str(folder / "sources.arrow"), self.shingles.schema)

    def add_row(self, *row: Any) -> None:
        self.rows.rows.append(row)
        self.bytes += LINE
        if self.bytes >= RUN:
            self.flush()

    def add_record(self, row: int, order: bytes, source: bytes, raw: RawRecord, record: Record, text: Text) -> None:
        lines = line_of(record.as_dict()), line_of(text.as_dict())
        counts = (sum(sentence.count(" ") + 1 for sentence in part) for part in (record.source, record.target))
        self.records.rows.append((row, order, *lines, raw.id, *counts, *place_of(raw)))
        self.bytes += sum(map(len, lines))
        if self.near:
            shingles = shingles_of(" ".join(record.source))
            self.shingles.rows.append((shingles,))
            self.keys.rows += [(key, row, source, self.sources, len(shingles)) for key in keys_of(shingles)]
            self.sources += 1

    def flush(self) -> None:
        """Write what waits."""
        self.rows_file.write_batch(self.rows.taken())
        orders = b"".join(order[:8] for _, order, *_ in self.records.rows)
        self.records_file.add(self.records.taken(), np.frombuffer(orders, ">u8").astype(np.uint64))
        if self.near:
            keys = np.array([key for key, *_ in self.keys.rows], np.uint64)
            self.keys_file.add(self.keys.taken(), keys)
            self.shingles_file.write_batch(self.shingles.taken())
        self.bytes = 0

    def close(self) -> None:
        self.flush()
        self.rows_file.close()
        self.records_file.close()
        if self.near:
            self.keys_file.close()
            self.shingles_file.close()


def place_of(row: RawRecord | Dropped) -> tuple[str, int, str, bool]:
    """Where a row stands, as the columns PLACE."""
    return row.place.file, row.place.number, row.place.unit, row.place.several


class Steps:
    """What the steps of cleaning did to one row, as `STEP changed`, `STEP left` and `STEP dropped`."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def add(self, cleaned: Cleaned) -> None:
        self.said = [f"{name} changed" for name in cleaned.changed] + [f"{name} left" for name in cleaned.left]

    def drop(self, refused: StepRefused) -> None:
        self.said = [f"{refused.step} dropped"]


def map_shard(content: Content, settings: Preparation, work: Work, number: int) -> None:
    """Write map-NUMBER/ and, last, map-NUMBER.json."""
    plan = planned(work, content)
    if work.mapped(number).is_file():
        return
    files = {file.name: file for file in content.shards}
    with step(work.mapped(number)) as folder:
        mapped = Mapped(folder, work.shards, near=settings.prepare.near_duplicates is not None)
        place = 0
        for piece in (Piece(**fields) for fields in plan["pieces"][number]):
            for row in read_piece(content, files[piece.file], piece):
                of_row = (SPLITS.index(row.split) << OF_SPLIT) | (number << OF_SHARD) | place
                map_row(row, of_row, settings, mapped)
                place += 1
        mapped.close()


def map_row(row: RawRecord | Dropped, number: int, settings: Preparation, mapped: Mapped) -> None:
    """Add a row of this number, and its record where it may be kept."""
    nothing = bytes(16)
    if isinstance(row, Dropped):
        line = line_of(row.as_dict())
        mapped.add_row(number, NO_RECORD, -1, *[nothing] * 5, *place_of(row), row.id, None, row.reason, line, [])
        return
    identity, steps = keyed("", "id", row.id), Steps()
    try:
        record, text = tokenized(row, settings.prepare, steps)
    except Refused as refused:
        line = line_of(Dropped(row.place, row.id, refused.reason, refused.value, row.split).as_dict())
        hashes = (identity, *[nothing] * 4)
        about = (row.id, row.group, refused.reason, line, steps.said)
        mapped.add_row(number, REFUSED, -1, *hashes, *place_of(row), *about)
        return
    key, unseen = settings.split.key, settings.split.unseen or ()
    source, target = digests_of(record)
    order, unit = keyed(key, "record", row.id), keyed(key, "group", unit_of(row.id, row.group))
    held = holds_out(row.group, unseen)
    mapped.add_record(number, order, source, row, record, text)
    mapped.add_row(
        number,
        CANDIDATE + (row.group is not None),
        -1 if held is None else unseen.index(held),
        *(identity, unit, source, target, order),
        *place_of(row),
        *(row.id, row.group, None, None, steps.said),
    )

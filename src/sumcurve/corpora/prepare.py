"""Preparation of raw records as a corpus: tokenised, filtered, without duplicates, split by group, in a fixed order.

Every row of the raw content is kept or counted under the one reason for which it was dropped. Rows that `raw.gather`
joins as references of one record count as one.

Order. Groups are ordered by a keyed hash of their name; a record without a group is a group of its own. The first
groups fill test, the next valid, the rest is train. Inside a part records are ordered by a keyed hash of their id, so
that the first p % are a random sample and a smaller sample is a prefix of every larger one. When records are appended
to the raw file, none moves to a part further from train, that is from train to valid or test, or from valid to test:
training records never become test records. Old records of one part keep their order. With `compose` this holds for
groups.

Groups that the study holds out whole (`split.unseen`) are drawn for no other part. They are the part unseen, in the
order of the keyed hash of the records' ids, without records that repeat an earlier record of the raw content.

Ready parts, as those of a published corpus, are taken as they are; a third that two lack is `drawn` from train. A
published test part is not filtered: none of its
records is dropped as a duplicate, for a limit or for its language, but only rows that are no record, that have the id
of an earlier record, or that are beyond the size that a study sets for the part. Records that test holds, too, are
dropped from valid, those that test or valid hold from train, and duplicates inside train. With `split.shared_groups`
a shared group is no reason.

Memory does not grow with the number of records, but with their vocabulary, with the duplicates and near-duplicates
(about 100 bytes each), with composed records (60 bytes) and with gathered ones (300, and their references): rows,
records and hashes lie in files, which DuckDB compares and sorts out of core (`decisions`).
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from sumcurve.corpora.decisions import (
    DUPLICATE_ID,
    answers,
    by_reason,
    decide,
    dropped_by,
    groups_of,
    number_of,
    schema_of,
    split_of,
    table_of,
)
from sumcurve.corpora.duplicates import keys_of, shingles_of
from sumcurve.corpora.filters import digest_of, tokenized
from sumcurve.corpora.parts import SHARED_GROUP, SHARED_ID, holds_out, in_one, keyed, record_of, unit_of
from sumcurve.corpora.statistics import Statistics
from sumcurve.corpora.store import PARTS, UNSEEN, Corpus
from sumcurve.settings.corpus import Preparation
from sumcurve.sources.cleaning import LANGUAGE
from sumcurve.sources.content import Content
from sumcurve.sources.raw import Dropped, Place, RawRecord, Refused, excerpt
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import Record, Text, line_of, write_json, write_jsonl, writing

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ENGINE: dict[str, Any] = {"threads": 1, "memory_limit": "300MB", "preserve_insertion_order": False}  # the rest spills
RUN = 20_000  # rows in memory

# A table's columns and their types in Arrow; a uuid is a hash of 16 bytes. What is no record has no id, and what passes
# no filter no source.
ROWS = {"row": "int64", "unseen": "int16"}
ROWS |= {"id": "uuid", "unit": "uuid", "source": "uuid", "target": "uuid", "order": "uuid"}
ROWS |= {"file": "string", "number": "int64", "kind": "string", "several": "bool"}
ROWS |= {"name": "string", "group": "string", "reason": "string", "value": "string", "steps": "strings"}
RECORDS = {"row": "int64", "begin": "int64", "record": "int64", "text": "int64"}  # bytes in the file `spool`
KEYS = {"key": "uint64", "row": "int64", "source": "uuid", "start": "int64", "size": "int64"}


def prepare(content: Content, settings: Preparation, folder: Path) -> dict[str, Any]:
    """Write PART.jsonl, PART.text.jsonl (of every part), dropped.jsonl and statistics.json; returns the last.

    PART.text.jsonl holds the records of PART.jsonl, in order, as people wrote them (`records.Text`).

    `read` = `kept` + the sum of `dropped` (reason -> raw records). `parts` holds, for train, valid, test, and unseen
    where groups are held out, the number of records, their mean source and target lengths in tokens and their
    vocabulary. With `compose` a record of a part holds several raw records, and `kept` counts the raw ones. Where the
    parts are ready, `ready` has `kept` and `dropped` of each, and, where duplicates are kept, `shared` counts the
    records of each that are in each other (`decisions.shared_by`; before parts are cut to sizes). Where they may share
    groups, `groups` counts those of valid and test, and how many of these are in train (before the cut, too). With
    steps of cleaning, `cleaning` has for each the raw records that it `changed`, `dropped` and, of a published test
    part, `left`.

    Raises CorpusError for a file that cannot be read, too few records, a part that lies mostly in another, and a broken
    invariant.
    """
    corpus = Corpus(folder)
    with TemporaryDirectory(prefix="preparation-", dir=folder) as name, engine(place := Path(name)) as connection:
        read = read_rows(content, settings, place)
        for table in ("rows", "records"):
            connection.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{place / table}.parquet')")
        shared = decide(connection, content, settings, place)
        counts = dropped_by(connection)
        kept = dict(connection.execute("SELECT part, count(*) FROM kept GROUP BY part").fetchall())
        statistics: dict[str, Any] = {
            "read": read,
            "kept": sum(kept.values()),
            "dropped": by_reason(counts),
            "composed": settings.compose is not None,
        }
        if read != statistics["kept"] + sum(counts.values()):
            raise CorpusError(f"{content.path}: {statistics} do not add up; report this bug")
        if steps := [*settings.prepare.clean, *([LANGUAGE] if settings.prepare.language else [])]:
            statistics["cleaning"] = cleaning_of(connection, steps)
        if content.ready is not None:
            statistics["ready"] = {part: {"kept": kept[part], "dropped": by_reason(counts, part)} for part in PARTS}
        if shared is not None:
            statistics["shared"] = shared
        if settings.split.shared_groups:
            statistics["groups"] = groups_of(connection)
        write_jsonl(corpus.dropped_path, dropped_rows(connection))
        statistics["parts"] = write_parts(connection, corpus, UNSEEN in kept, place / "spool")
    write_json(corpus.statistics_path, statistics)
    return statistics


@contextmanager
def engine(folder: Path) -> Iterator["DuckDBPyConnection"]:
    """DuckDB in bounded memory; its temporary files lie in the folder."""
    import duckdb

    with duckdb.connect(f"{folder}/prepare.duckdb", config=ENGINE | {"temp_directory": str(folder)}) as connection:
        yield connection


# --- reading


class Waiting:
    """Rows of these columns that are written to a Parquet file in runs."""

    def __init__(self, path: Path, columns: dict[str, str]) -> None:
        from pyarrow import parquet

        self.columns = columns
        self.rows: list[tuple[Any, ...]] = []
        self.file = parquet.ParquetWriter(path, schema_of(columns), compression="zstd")

    def flush(self) -> None:
        """Write the rows that wait."""
        self.file.write_table(table_of(self.rows, self.columns))
        self.rows = []


def read_rows(content: Content, settings: Preparation, folder: Path) -> int:
    """Write rows.parquet and records.parquet, and return the number of rows.

    rows.parquet has a row for each of the content: its place, the reason for which it is dropped, and hashes of the
    fields that it may share with another. `spool` has the records and texts that may be kept, and records.parquet their
    offsets there. Where near-duplicates are dropped, `shingles` has those of every such source, and keys.parquet their
    offsets there and the keys of their bands.
    """
    import numpy as np

    near = settings.prepare.near_duplicates is not None
    columns = {"rows": ROWS, "records": RECORDS} | ({"keys": KEYS} if near else {})
    tables = {name: Waiting(folder / f"{name}.parquet", of) for name, of in columns.items()}
    count = waiting = begin = start = 0
    with (folder / "shingles").open("wb") as stream, (folder / "spool").open("wb") as spool:
        for count, raw in enumerate(content.records(), start=1):
            row = number_of(raw.split, count)
            of_row, prepared = described(raw, settings)
            tables["rows"].rows.append((row, *of_row))
            waiting += 1
            if prepared is not None:
                record, text, source = prepared
                lines = line_of(record.as_dict()), line_of(text.as_dict())
                tables["records"].rows.append((row, begin, *map(len, lines)))
                spool.writelines(lines)
                begin += sum(map(len, lines))
                if near:
                    shingles = shingles_of(" ".join(record.source))
                    tables["keys"].rows += [(key, row, source, start, len(shingles)) for key in keys_of(shingles)]
                    start += len(shingles)
                    waiting += 8
                    stream.write(np.ascontiguousarray(shingles).data)
            if waiting >= RUN:
                for table in tables.values():
                    table.flush()
                waiting = 0
    for table in tables.values():
        table.flush()
        table.file.close()
    return count


def described(
    raw: RawRecord | Dropped, settings: Preparation
) -> tuple[tuple[Any, ...], tuple[Record, Text, bytes] | None]:
    """A row's columns ROWS without the first; and its record, its text and its source's hash, if it may be kept."""
    place = raw.place.file, raw.place.number, raw.place.unit, raw.place.several
    if isinstance(raw, Dropped):
        return (-1, None, None, None, None, None, *place, raw.id, None, raw.reason, raw.value, []), None
    identity, steps = keyed("", "id", raw.id), list[str]()
    try:
        record, text = tokenized(raw, settings.prepare, steps)
    except Refused as refused:
        about = (raw.id, raw.group, refused.reason, refused.value, steps)
        return (-1, identity, None, None, None, None, *place, *about), None
    key, unseen = settings.split.key, settings.split.unseen or ()
    source, held = digest_of(record.source), holds_out(raw.group, unseen)
    hashes = keyed(key, "group", unit_of(raw.id, raw.group)), source, digest_of(record.target)
    columns = (-1 if held is None else unseen.index(held), identity, *hashes, keyed(key, "record", raw.id), *place)
    return (*columns, raw.id, raw.group, None, None, steps), (record, text, source)


# --- writing


def cleaning_of(connection: "DuckDBPyConnection", steps: list[str]) -> dict[str, dict[str, int]]:
    """Count the rows that each step of cleaning `changed`, `dropped` and `left`; repeated ids are not counted."""
    counts = dict(
        connection.execute(
            f"""SELECT step, count(*) FROM (SELECT unnest(steps) AS step FROM rows
            ANTI JOIN (SELECT row FROM drops WHERE reason = '{DUPLICATE_ID}') USING (row)) GROUP BY step"""
        ).fetchall()
    )
    return {name: {what: counts.get(f"{name} {what}", 0) for what in ("changed", "dropped", "left")} for name in steps}


def dropped_rows(connection: "DuckDBPyConnection") -> Iterator[dict[str, Any]]:
    """The rows that are not kept, in the order of the phases that drop them."""
    query = """SELECT dropped.row, this.name, this."group", this.file, this.number, this.kind, this.several,
            dropped.reason, dropped.value, owner, other.file, other.number, other.kind, other.several
        FROM dropped JOIN rows AS this ON this.row = dropped.row LEFT JOIN rows AS other ON other.row = owner
        LEFT JOIN placed ON placed.row = dropped.row ORDER BY phase, position, placed."order", place"""
    for row, name, group, *places, reason, value, owner, file, number, kind, several in answers(connection, query):
        if owner is not None:
            there = Place(file, number, kind, several)
            value = f"as {there}"
            if reason == DUPLICATE_ID:
                value = excerpt(f"{name} first at {there}")
            elif reason in (SHARED_ID, SHARED_GROUP):
                value = excerpt(f"{name if reason == SHARED_ID else group} is in {split_of(owner)}, {there}")
        yield Dropped(Place(*places), name, reason, value, split_of(row)).as_dict()


def write_parts(
    connection: "DuckDBPyConnection", corpus: Corpus, unseen: bool, spool: Path
) -> dict[str, dict[str, Any]]:
    """Write the records, part by part, in the order of their keyed hashes; returns the statistics of every part."""
    statistics = {name: Statistics() for name in (*PARTS, *([UNSEEN] if unseen else []))}
    query = """SELECT part, "order", begin, record, text FROM kept JOIN records USING (row)
        ORDER BY part, "order", place"""
    with ExitStack() as streams, spool.open("rb") as lines_of_records:
        files = {
            part.name: [streams.enter_context(writing(path)) for path in (part.path, part.text_path)]
            for part in map(corpus.part, statistics)
        }
        for (name, _), members in groupby(answers(connection, query), key=lambda row: row[:2]):
            of_unit = []
            for *_, begin, record_bytes, text_bytes in members:
                lines_of_records.seek(begin)
                of_unit.append((lines_of_records.read(record_bytes), lines_of_records.read(text_bytes)))
            record = record_of([json.loads(line) for line, _ in of_unit])
            lines = of_unit[0]
            if len(of_unit) > 1:
                text = Text(record.id, *in_one([json.loads(line) for _, line in of_unit]))
                lines = line_of(record.as_dict()), line_of(text.as_dict())
            statistics[name].add(record)
            for stream, line in zip(files[name], lines, strict=True):
                stream.write(line)
    return {name: of_part.as_dict() for name, of_part in statistics.items()}

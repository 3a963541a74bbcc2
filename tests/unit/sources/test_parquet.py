import json
from pathlib import Path
from typing import Any

import pytest

from sumcurve.files.parquet import BATCH
from sumcurve.sources import SOURCES, raw
from sumcurve.sources.content import Content
from sumcurve.sources.parquet import rows
from sumcurve.sources.raw import Dropped, RawRecord
from sumcurve.store.errors import CorpusError

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

FIELDS = {"id": "url", "source": "article", "target": "highlights"}
ROWS = [
    {"url": f"u{n}", "article": [f"The otter {n} swims.", "It dives."], "highlights": f"otter {n}", "date": n}
    for n in range(3 * BATCH + 7)
]


def write(path: Path, table: Any, **options: Any) -> Path:
    parquet.write_table(pyarrow.Table.from_pylist(table) if isinstance(table, list) else table, path, **options)
    return path


@pytest.mark.parametrize("size", [1, BATCH - 1, 10_000])  # of row groups
def test_a_table_gives_the_records_of_the_same_json_lines(tmp_path, size) -> None:
    lines = tmp_path / "raw.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    packed = write(tmp_path / "raw.parquet", ROWS, row_group_size=size)
    found = [
        [(row.place.number, row.id, row.source, row.target) for row in content.records() if isinstance(row, RawRecord)]
        for content in (Content(lines, SOURCES["jsonl"], FIELDS), Content(packed, SOURCES["parquet"], FIELDS))
    ]
    assert found[0] == found[1]
    assert len(found[0]) == len(ROWS)


@pytest.mark.parametrize("kind", [pyarrow.string(), pyarrow.large_string(), pyarrow.dictionary(pyarrow.int32(), "str")])
def test_all_kinds_of_text_columns_are_text(tmp_path, kind) -> None:
    columns = [pyarrow.array(["a", None, "c"], pyarrow.string()).cast(kind)] * 3
    path = write(tmp_path / "raw.parquet", pyarrow.Table.from_arrays(columns, ["id", "source", "target"]))
    first, none, last = Content(path, SOURCES["parquet"]).records()
    assert (first.id, first.source, last.target) == ("a", "a", "c")
    assert (none.place.number, none.reason, none.value) == (2, raw.WRONG_TYPE, "id: None, must be a string")
    assert str(none.place) == "row 2"


@pytest.mark.parametrize("bad", [{"source": 1}, {"target": 2}, {"source": [1, 2]}, {"split": 0}])
def test_a_number_may_be_an_id_and_is_no_text(tmp_path, bad) -> None:
    good = {"id": 7, "source": "s", "target": "t"}
    found = [
        list(Content(write(tmp_path / "raw.parquet", [row]), SOURCES["parquet"], ready=None).records())
        for row in (good, good | bad)
    ]
    assert [row.id for (row,) in found] == ["7", "7"]
    assert found[1][0].reason == raw.WRONG_TYPE


def test_text_that_is_no_utf8_is_dropped_and_its_neighbours_are_read(tmp_path) -> None:
    odd = pyarrow.array([b"one", b"\xff", b"three"]).cast(pyarrow.binary())
    text = pyarrow.Array.from_buffers(pyarrow.string(), 3, odd.buffers())
    good = pyarrow.array(["a", "b", "c"])
    path = write(tmp_path / "raw.parquet", pyarrow.Table.from_arrays([good, text, good], ["id", "source", "target"]))
    found = list(Content(path, SOURCES["parquet"]).records())
    assert [type(row) for row in found] == [RawRecord, Dropped, RawRecord]
    assert (found[1].place.number, found[1].reason, found[1].value) == (2, raw.NOT_UTF8, "source")


def test_a_column_that_is_not_there_is_named_beside_those_that_are(tmp_path) -> None:
    path = write(tmp_path / "raw.parquet", ROWS)
    with pytest.raises(CorpusError, match=r"raw\.parquet has no column 'artcle'.*url, article, .*raw\.fields"):
        list(Content(path, SOURCES["parquet"], {**FIELDS, "source": "artcle"}).records())


def test_files_that_cannot_be_read_are_errors_that_name_them(tmp_path) -> None:
    path = write(tmp_path / "raw.parquet", ROWS, row_group_size=100, compression="gzip")
    whole = path.read_bytes()
    broken = bytearray(whole)
    broken[len(whole) // 3 : len(whole) // 3 + 200] = bytes(200)
    for name, data in {"text": b'{"id": "a"}\n', "empty": b"", "cut": whole[:-100], "broken": bytes(broken)}.items():
        bad = tmp_path / f"{name}.parquet"
        bad.write_bytes(data)
        with pytest.raises(CorpusError, match=rf"{name}\.parquet .*copy it again"):
            list(rows(bad, None))
    with pytest.raises(CorpusError, match=r"none\.parquet: no such file"):
        list(rows(tmp_path / "none.parquet", None))


def test_memory_does_not_grow_with_the_file_whatever_its_row_groups(tmp_path) -> None:
    def peak(count: int, size: int) -> int:
        """Bytes of Arrow's memory beyond what is in use already."""
        path = tmp_path / f"{count}-{size}.parquet"
        schema = pyarrow.schema([("id", pyarrow.string()), ("source", pyarrow.string()), ("target", pyarrow.string())])
        with parquet.ParquetWriter(path, schema, use_dictionary=False) as writer:
            for start in range(0, count, size):
                numbers = range(start, start + size)
                part = [{"id": f"{n}", "source": f"{n * 7919} " * 100, "target": f"t{n}"} for n in numbers]
                writer.write_table(pyarrow.Table.from_pylist(part, schema), row_group_size=size)
        memory = pyarrow.system_memory_pool()
        before = pyarrow.default_memory_pool()
        pyarrow.set_memory_pool(memory)
        try:
            start, most = memory.bytes_allocated(), 0
            for number, _ in enumerate(rows(path, None)):
                if number % 100 == 0:
                    most = max(most, memory.bytes_allocated() - start)
            return most
        finally:
            pyarrow.set_memory_pool(before)

    small, large = peak(2000, 1000), peak(20_000, 1000)  # 2 and 18 MB of text
    one = peak(20_000, 20_000)  # in a single row group
    assert large < 1.5 * small
    assert one < 4_000_000 + small

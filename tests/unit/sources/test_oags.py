"""OAGS as it was published; every file here is written by `papers`, with invented texts."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from published_formats import line, oags, parts_of, write_zip
from sumcurve.sources import SOURCES, raw
from sumcurve.sources.content import Content
from sumcurve.sources.raw import Dropped, RawRecord
from sumcurve.store.errors import CorpusError

ROWS = [oags(number) for number in range(25)]
TEXTS = [(row["abstract"], row["title"]) for row in ROWS]


def read(path: Path) -> list[RawRecord | Dropped]:
    return list(Content(path, SOURCES["oags"]).records())


def texts(rows: list[RawRecord | Dropped]) -> list[tuple[Any, Any]]:
    return [(row.source, row.target) for row in rows if isinstance(row, RawRecord)]


def test_an_archive_gives_every_record_of_every_part_and_says_where_it_stood(tmp_path) -> None:
    members = parts_of(map(line, ROWS), 10) | {
        "README.txt": b"About this collection.\n",
        "__MACOSX/._part_0_0.txt": b"x",
    }
    rows = read(write_zip(tmp_path / "oags.zip", members))
    assert texts(rows) == TEXTS
    assert len(rows) == len(ROWS)
    assert [str(row.place) for row in rows[9:11]] == ["line 10 of part_0_0.txt", "line 1 of part_0_1.txt"]
    assert [row.id for row in rows[9:11]] == ["part_0_0.txt:10", "part_0_1.txt:1"]


@pytest.mark.parametrize("ending", [".txt", ".jsonl", ".txt.gz"])
def test_unpacked_parts_are_the_same_records_in_the_order_of_their_names(tmp_path, ending) -> None:
    for name, data in parts_of(map(line, ROWS), 10).items():
        path = tmp_path / name.replace(".txt", ending)
        path.write_bytes(gzip.compress(data) if ending.endswith(".gz") else data)
    rows = read(tmp_path)
    assert texts(rows) == TEXTS
    assert str(rows[10].place) == f"line 1 of part_0_1{ending}"


def test_every_line_is_a_record_or_is_counted_by_its_reason(tmp_path) -> None:
    good = [line(row) for row in ROWS]
    bad = {
        b"": raw.EMPTY_LINE,
        good[0][:40]: raw.NOT_JSON,
        line(list(ROWS[0].values())): raw.NOT_OBJECT,
        line({"title": "no abstract"}): raw.MISSING_KEY,
        line({"title": "empty", "abstract": " "}): raw.EMPTY_SOURCE,
        line({"title": None, "abstract": "x"}): raw.WRONG_TYPE,
        line({"title": "", "abstract": "x"}): raw.EMPTY_TARGET,
    }
    data = b"\xef\xbb\xbf" + b"\r\n".join([*good[:12], *bad, *good[12:]])  # a mark of byte order, ends of Windows
    path = write_zip(tmp_path / "oags.zip", {"part_0_0.txt": data + b"\r\n", "part_0_1.txt": b"\n".join(good)})
    rows = read(path)
    assert len(rows) == len(bad) + 2 * len(good)
    assert texts(rows) == [*TEXTS, *TEXTS]
    dropped = [(row.place.file, row.place.number, row.reason) for row in rows if isinstance(row, Dropped)]
    assert dropped == [("part_0_0.txt", number, reason) for number, reason in enumerate(bad.values(), 13)]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"oags.csv": b"x"}, r"oags\.zip has no member \.txt, \.jsonl, \.json"),
        ({"part_0_0.txt.gz": b"x"}, r"has no member .*: unpack what is packed in it"),
        ({"../part_0_0.txt": b"{}"}, "would be unpacked outside"),
    ],
)
def test_another_archive_is_an_error(tmp_path, members, message) -> None:
    with pytest.raises(CorpusError, match=message):
        read(write_zip(tmp_path / "oags.zip", members))

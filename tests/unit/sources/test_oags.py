"""OAGS and OAG as they were published; every file here is written by `papers`, with invented texts."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from published_formats import inverted, line, oags, parts_of, write_zip
from sumcurve.sources import SOURCES, raw
from sumcurve.sources.content import Content
from sumcurve.sources.oag import BROKEN_INDEX, LONGEST_ABSTRACT, NO_ABSTRACT, NO_TITLE, rebuilt
from sumcurve.sources.raw import Dropped, RawRecord, Refused
from sumcurve.store.errors import CorpusError

ROWS = [oags(number) for number in range(25)]
TEXTS = [(row["abstract"], row["title"]) for row in ROWS]


TWICE = '{"IndexLength": 3, "InvertedIndex": {"to": [0], "be": [1], "to": [2]}}'  # a word


def read(path: Path, form: str = "oags") -> list[RawRecord | Dropped]:
    return list(Content(path, SOURCES[form]).records())


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
        ({"part_0_0.txt.gz": b"x"}, r"part_0_0\.txt\.gz is packed inside of the archive: unpack it once"),
        ({"../part_0_0.txt": b"{}"}, "would be unpacked outside"),
    ],
)
def test_another_archive_is_an_error(tmp_path, members, message) -> None:
    with pytest.raises(CorpusError, match=message):
        read(write_zip(tmp_path / "oags.zip", members))


def test_oag_has_abstracts_as_text_as_an_index_and_as_an_index_in_a_string(tmp_path) -> None:
    told = [
        {"id": "53e99", "title": row["title"], "abstract": row["abstract"], "lang": "en", "year": 2001}
        for row in ROWS[:3]
    ]
    told[1] = {"id": 2095, "title": told[1]["title"], "indexed_abstract": json.dumps(inverted(ROWS[1]["abstract"]))}
    told[2] = {"id": "7", "title": told[2]["title"], "indexed_abstract": inverted(ROWS[2]["abstract"]), "abstract": ""}
    bad = {
        line({"id": "8", "title": "without", "lang": "en"}): NO_ABSTRACT,
        line({"id": "9", "title": "empty", "abstract": "", "indexed_abstract": ""}): NO_ABSTRACT,
        line({"id": "10", "abstract": "without a title"}): NO_TITLE,
        line({"id": "11", "title": "broken", "indexed_abstract": '{"IndexLength":'}): BROKEN_INDEX,
        line({"id": "12", "title": "twice", "indexed_abstract": TWICE}): raw.REPEATED_KEY,
        b'{"id": "13", "title": "twice", "indexed_abstract": %b}' % TWICE.encode(): raw.REPEATED_KEY,
        line({"title": "without an id", "abstract": "x"}): raw.WRONG_TYPE,
        b"nonsense": raw.NOT_JSON,
    }
    (tmp_path / "mag").mkdir()
    write_zip(tmp_path / "mag" / "mag_papers_0.zip", {"mag_papers_0.txt": b"\n".join(map(line, told))})
    write_zip(tmp_path / "mag" / "mag_papers_1.zip", {"mag_papers_4.txt": b"\n".join(bad)})
    rows = read(tmp_path / "mag", "oag")
    assert texts(rows) == TEXTS[:3]
    assert [row.id for row in rows[:3]] == ["53e99", "2095", "7"]
    dropped = [row for row in rows if isinstance(row, Dropped)]
    assert Counter(row.reason for row in dropped) == Counter(bad.values())
    assert str(dropped[0].place) == "line 1 of mag_papers_1.zip/mag_papers_4.txt"


@pytest.mark.parametrize("text", ["to be or not to be", "one", "a a a a", "naïve “signs” stay"])
def test_a_text_is_rebuilt_from_its_index(text) -> None:
    assert rebuilt(inverted(text)) == rebuilt(json.dumps(inverted(text))) == text
    index = inverted(text)
    assert rebuilt(index | {"IndexLength": index["IndexLength"] + 3}) == text  # places of no word are passed over


@pytest.mark.parametrize(
    "index",
    [
        *("[1]", "nonsense", {"IndexLength": 1}, {"InvertedIndex": {"a": [0]}}),
        *({"IndexLength": 1, "InvertedIndex": words} for words in ({"a": [1]}, {"a": [-1]}, {"a": ["0"]})),
        {"IndexLength": 1, "InvertedIndex": {"a": [0], "b": [0]}},
        *({"IndexLength": length, "InvertedIndex": {"a": [0]}} for length in (True, LONGEST_ABSTRACT + 1)),
    ],
)
def test_what_is_no_index_is_refused(index) -> None:
    with pytest.raises(Refused, match=BROKEN_INDEX):
        rebuilt(index)

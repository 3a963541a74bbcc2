import hashlib
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sumcurve.files.errors import EXCERPT
from sumcurve.sources import SOURCES, format_of, raw
from sumcurve.sources.content import Content, Ready, patterns
from sumcurve.sources.pinned import File
from sumcurve.sources.raw import Dropped, Place, RawRecord
from sumcurve.sources.source import Source
from sumcurve.store.errors import CorpusError

JSONL = SOURCES["jsonl"]


def line(**changes: Any) -> bytes:
    row = {"id": "a", "source": "The otter swims.", "target": "otter", **changes}
    return json.dumps({key: value for key, value in row.items() if value is not ...}).encode()


def read(path: Path, data: bytes, ready: Ready | None = None) -> list[RawRecord | Dropped]:
    path.write_bytes(data)
    return list(Content(path, JSONL, ready=ready).records())


BAD = {
    raw.NOT_JSON: [b'{"id": "a", "source": "x"', line()[:-1] + b"NaNN}", b"[" * 100_000, b"9" * 10_000],
    raw.NOT_UTF8: [line()[:-2] + b'\xff"}'],
    raw.EMPTY_LINE: [b"", b" \t"],
    raw.NOT_OBJECT: [b'["a", "b"]', b"null"],
    raw.REPEATED_KEY: [b'{"id": "a", "id": "b", "source": "x", "target": "y"}'],
    raw.MISSING_KEY: [line(id=...), line(source=...), line(target=...)],
    raw.UNKNOWN_KEY: [line(titel="x")],
    raw.WRONG_TYPE: [
        *(line(source=wrong) for wrong in (None, {"text": "x"}, ["x", 1])),
        *(line(references=wrong) for wrong in ("x", [["x", None]])),
        *(line(id=True), line(id=7.0), line(source=7), line(target=3.5), line(group=["g"]), line(split=1)),
    ],
    raw.SURROGATE: [line(source="\ud800"), line(id="\udfff"), line(group="\udfff")],
    raw.NUL: [line(target=["x", "a\0b"])],
    raw.BAD_ID: [line(id=" "), line(id="a\tb")],
    raw.EMPTY_SOURCE: [line(source=" \n"), line(source=[])],
    raw.EMPTY_TARGET: [line(target=""), line(target=["", " "])],
    raw.EMPTY_SENTENCE: [line(source=["x", ""])],
    raw.EMPTY_REFERENCE: [line(references=["x", ""])],
    raw.EMPTY_GROUP: [line(group="")],
    raw.BAD_SPLIT: [line(split="exam")],
}


@pytest.mark.parametrize(("reason", "bad"), [(reason, one) for reason, lines in BAD.items() for one in lines])
def test_a_bad_line_is_reported_with_its_number_and_its_neighbours_are_read(tmp_path, bad, reason) -> None:
    rows = read(tmp_path / "raw.jsonl", b"\n".join([line(id="before"), bad, line(id="after")]))
    assert [type(row) for row in rows] == [RawRecord, Dropped, RawRecord]
    assert (rows[1].place.number, rows[1].reason) == (2, reason)
    assert len(rows[1].value) <= EXCERPT
    json.dumps(rows[1].as_dict(), ensure_ascii=False).encode()  # can be written


def test_fields_arrive_as_written(tmp_path) -> None:
    data = line(source=["One.", "Two."], references=["r", ["s", "t"]], group="g", split="valid")
    (row,) = read(tmp_path / "raw.jsonl", data, ready="records")
    place = Place("raw.jsonl", 1)
    assert row == RawRecord(place, "a", ["One.", "Two."], "otter", ["r", ["s", "t"]], "g", "valid")


def test_null_is_an_optional_key_left_out_and_a_byte_order_mark_is_no_text(tmp_path) -> None:
    (row,) = read(tmp_path / "raw.jsonl", b"\xef\xbb\xbf" + line(group=None, references=None) + b"\r\n")
    assert row == RawRecord(Place("raw.jsonl", 1), "a", "The otter swims.", "otter")


def test_a_limit_of_a_field_that_no_record_has_is_refused(tmp_path) -> None:
    path = tmp_path / "raw.jsonl"
    path.write_bytes(line(grade=4) + b"\n" + line(id="b"))
    fields = {"id": "id", "source": "source", "target": "target"}
    assert len(list(Content(path, JSONL, fields, least={"grade": 3}).records())) == 2
    with pytest.raises(CorpusError, match=r"raw.jsonl: no record has the field 'zzz', .*raw.min"):
        list(Content(path, JSONL, fields, least={"zzz": 3}).records())


def test_a_whole_number_may_be_an_id_or_a_group_and_is_its_text(tmp_path) -> None:
    (row,) = read(tmp_path / "raw.jsonl", line(id=7, group=0))
    assert (row.id, row.group) == ("7", "0")


def records(content: Content) -> list[Any]:
    """Its records; none may be dropped."""
    found = list(content.records())
    assert all(isinstance(row, RawRecord) for row in found), found
    return found


def lay(folder: Path, shards: Mapping[str, bytes]) -> Path:
    for name, data in shards.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def sha256(path: Path, ready: Ready | None = None) -> str | None:
    return File("", str(path), shards=patterns(JSONL, ready)).observed(Path())


SHARDS = {"b.jsonl": line(id="b1") + b"\n" + line(id="b2"), "a/9.jsonl": line(id="a1"), "c.jsonl": line(id="c1")}


def test_a_folder_is_read_like_one_file_of_its_shards_in_the_order_of_their_names(tmp_path) -> None:
    litter = {"README.md": b"# No record", ".b.jsonl.swp": b"{", ".git/x.jsonl": b"{"}
    folder = lay(tmp_path / "shards", SHARDS | litter)
    found = records(Content(folder, JSONL))
    whole = tmp_path / "whole.jsonl"
    whole.write_bytes(b"\n".join(SHARDS[name] for name in sorted(SHARDS)))
    expected = records(Content(whole, JSONL))
    assert [(row.id, row.source) for row in found] == [(row.id, row.source) for row in expected]
    places = ["1 of a/9.jsonl", "1 of b.jsonl", "2 of b.jsonl", "1 of c.jsonl"]
    assert [str(row.place) for row in found] == [f"line {place}" for place in places]
    assert [str(row.place) for row in expected] == ["line 1", "line 2", "line 3", "line 4"]


def test_a_folders_hash_is_that_of_what_sha256sum_prints(tmp_path) -> None:
    folder = lay(tmp_path / "shards", SHARDS | {"README.md": b"# No record"})
    printed = subprocess.run(["sha256sum", *sorted(SHARDS)], cwd=folder, capture_output=True, check=True).stdout
    assert sha256(folder) == hashlib.sha256(printed).hexdigest()
    one = folder / "b.jsonl"
    assert sha256(one) == hashlib.sha256(one.read_bytes()).hexdigest()


PARTS_AS_FILES = {"train": "train-*.jsonl", "valid": "validation/*.jsonl", "test": "test.jsonl"}
PUBLISHED = {
    "train-0.jsonl": line(id="t1"),
    "train-1.jsonl": line(id="t2", split="train"),
    "validation/0.jsonl": line(id="v", split="dev"),
    "test.jsonl": line(id="x"),
    "extra.jsonl": b"not of the corpus",
}


def test_files_say_the_parts_of_their_records(tmp_path) -> None:
    content = Content(lay(tmp_path / "raw", PUBLISHED), JSONL, ready=PARTS_AS_FILES)
    parts = [("x", "test"), ("v", "valid"), ("t1", "train"), ("t2", "train")]
    assert [(row.id, row.split) for row in records(content)] == parts
    before = sha256(tmp_path / "raw", PARTS_AS_FILES)
    (tmp_path / "raw" / "extra.jsonl").write_bytes(b"else")
    assert sha256(tmp_path / "raw", PARTS_AS_FILES) == before


def test_a_record_of_another_part_than_its_files_is_dropped(tmp_path) -> None:
    shards = {**PUBLISHED, "train-1.jsonl": line(id="t2", split="test") + b"\n" + line(id="t3")}
    found = list(Content(lay(tmp_path / "raw", shards), JSONL, ready=PARTS_AS_FILES).records())
    (dropped,) = (row for row in found if isinstance(row, Dropped))
    assert (dropped.id, dropped.reason, dropped.split) == ("t2", raw.OTHER_SPLIT, "train")
    assert (dropped.place.file, dropped.place.number) == ("train-1.jsonl", 1)


def test_records_say_their_parts_in_the_words_that_published_corpora_use(tmp_path) -> None:
    said = {"train": "train", "training": "train", "valid": "valid", "validation": "valid", "val": "valid"}
    said |= {"dev": "valid", "test": "test"}
    data = b"\n".join(line(id=word, split=word) for word in said)
    found = read(tmp_path / "raw.jsonl", data, ready="records")
    assert {row.id: row.split for row in found} == said


def test_parts_that_records_say_may_be_exchanged(tmp_path) -> None:
    path = tmp_path / "raw.jsonl"
    words = ("train", "dev", "val", "test")
    path.write_bytes(b"\n".join(line(id=word, split=word, source="" if word == "val" else "x") for word in words))
    found = Content(path, JSONL, None, "records", roles={"valid": "test", "test": "valid"}).records()
    assert [row.split for row in found] == ["train", "test", "test", "valid"]  # the third is dropped


REFUSED: list[tuple[dict[str, bytes], str, Ready | None, str]] = [  # files, raw.path, split.ready, message
    (PUBLISHED, "", {**PARTS_AS_FILES, "valid": "dev.jsonl"}, r"holds no file dev\.jsonl: check raw\.path and"),
    (PUBLISHED, "", {**PARTS_AS_FILES, "train": "t*.jsonl"}, r"test\.jsonl is a file of test and of train"),
    (PUBLISHED, "test.jsonl", PARTS_AS_FILES, r"test\.jsonl is no folder"),
    ({"README.md": b"x"}, "", None, r"raw holds no file \*\*/\*\.jsonl or"),
    ({"raw.jsonl": line(split="test")}, "raw.jsonl", None, r"raw\.jsonl: line 1: .*own split is test.*ready: records"),
]


@pytest.mark.parametrize(("files", "path", "ready", "message"), REFUSED)
def test_content_that_cannot_be_the_studys_is_refused(tmp_path, files, path, ready, message) -> None:
    content = Content(lay(tmp_path / "raw", files) / path, JSONL, ready=ready)
    with pytest.raises(CorpusError, match=message):
        list(content.records())


@pytest.mark.parametrize("fields", [None, {"group": "topic", "split": "part"}])
def test_a_row_that_is_no_record_is_dropped_of_the_part_that_it_says(tmp_path, fields) -> None:
    name = "split" if fields is None else "part"
    bad: list[dict[str, Any]] = [{"source": ""}, {"source": 1}, {"id": None}, {"grade": 2}, {"grade": "high"}]
    (tmp_path / "raw.jsonl").write_bytes(b"\n".join(line(**{name: "dev", **row}) for row in bad))
    content = Content(tmp_path / "raw.jsonl", JSONL, fields, "records", {"grade": 3})
    found = [row for row in content.records() if isinstance(row, Dropped)]
    assert [row.split for row in found] == ["valid"] * len(bad)
    assert {row.as_dict()["split"] for row in found} == {"valid"}


@pytest.mark.parametrize("said", [..., "exam", 1, ["test"]])
def test_a_row_that_says_no_known_part_is_dropped_of_none(tmp_path, said) -> None:
    (row,) = read(tmp_path / "raw.jsonl", line(split=said), ready="records")
    assert "split" not in row.as_dict()
    assert (row.reason == raw.NO_SPLIT) == (said is ...)


def test_fields_may_have_other_names_and_others_are_not_read(tmp_path) -> None:
    rows = [
        {"url": "u1", "article": "The otter swims.", "highlights": ["otter"], "more": ["o"], "date": 1},
        {"url": "u2", "article": "It dives.", "highlights": "dive", "date": 2},
    ]
    path = tmp_path / "raw.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    fields = {"id": "url", "source": "article", "target": "highlights", "references": "more"}
    first, second = records(Content(path, JSONL, fields))
    assert (first.id, first.source, first.target, first.references) == ("u1", "The otter swims.", ["otter"], ["o"])
    assert (second.id, second.target, second.references) == ("u2", "dive", [])
    unnamed = Content(path, JSONL).records()
    assert [row.reason for row in unnamed] == [raw.UNKNOWN_KEY] * 2
    misspelt = Content(path, JSONL, {**fields, "source": "artcle"}).records()
    assert [(row.reason, row.value) for row in misspelt] == [(raw.MISSING_KEY, "artcle (raw.fields: source)")] * 2


def test_records_without_ids_are_called_by_their_places(tmp_path) -> None:
    row = b'{"source": "The otter swims.", "target": "otter"}'
    fields = {"id": None}
    path = tmp_path / "raw.jsonl"
    path.write_bytes(row + b"\n" + row)
    assert [one.id for one in records(Content(path, JSONL, fields))] == ["1", "2"]
    folder = lay(tmp_path / "raw", {"a.jsonl": row, "b.jsonl": row + b"\n" + row})
    assert [one.id for one in records(Content(folder, JSONL, fields))] == ["a.jsonl:1", "b.jsonl:1", "b.jsonl:2"]


def test_an_ending_says_the_format() -> None:
    for path in ("data/a.jsonl", "a.jsonl.zst", "a.txt.gz", "a.jsonl/", "part_0_0.txt"):
        assert format_of(path, SOURCES) == "jsonl"
    assert [format_of(path, SOURCES) for path in ("a.parquet", "shards", "oags.zip")] == ["parquet", None, None]


def test_records_are_read_one_by_one(tmp_path) -> None:
    """A reader that stops has not asked its source for more than the next row."""
    asked = []

    def rows(path: Path, names: Any) -> Any:
        for number in range(1000):
            asked.append(number)
            yield {"id": str(number), "source": "a", "target": "b"}

    reader = Content(tmp_path / "raw", Source([".x"], "row", rows)).records()
    for _ in range(3):
        next(reader)
    assert asked == [0, 1, 2]


def test_ends_of_lines_part_a_text_where_the_study_says_so(tmp_path) -> None:
    path = tmp_path / "raw.jsonl"
    path.write_bytes(line(source="a\r\nb\n\nc", target="x .\ny ."))
    for lines, source, target in [
        ({}, "a\r\nb\n\nc", "x .\ny ."),
        ({"target": "sentences"}, "a\r\nb\n\nc", ["x .", "y ."]),
        ({"source": "paragraphs", "target": "sentences"}, "a\n\nb\n\nc", ["x .", "y ."]),
    ]:
        (row,) = records(Content(path, JSONL, {"lines": lines}))
        assert (row.source, row.target) == (source, target)

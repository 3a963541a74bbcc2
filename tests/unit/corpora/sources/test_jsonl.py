import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from sumcurve.corpora import jsonl
from sumcurve.corpora.errors import CorpusError
from sumcurve.corpora.jsonl import Dropped, RawRecord, read_raw


def line(**changes: Any) -> bytes:
    row = {"id": "a", "source": "The otter swims.", "target": "otter", **changes}
    return json.dumps({key: value for key, value in row.items() if value is not ...}).encode()


def read(path: Path, data: bytes) -> list[RawRecord | Dropped]:
    path.write_bytes(data)
    return list(read_raw(path))


BAD = [
    (b'{"id": "a", "source": "x"', jsonl.NOT_JSON),
    (b'{"id": "a", "source": "x", "target": NaNN}', jsonl.NOT_JSON),
    (b"[" * 100_000, jsonl.NOT_JSON),
    (b"9" * 10_000, jsonl.NOT_JSON),
    (line()[:-2] + b'\xff"}', jsonl.NOT_UTF8),
    (b"", jsonl.EMPTY_LINE),
    (b" \t", jsonl.EMPTY_LINE),
    (b'["a", "b"]', jsonl.NOT_OBJECT),
    (b"null", jsonl.NOT_OBJECT),
    (b'{"id": "a", "id": "b", "source": "x", "target": "y"}', jsonl.REPEATED_KEY),
    (line(id=...), jsonl.MISSING_KEY),
    (line(source=...), jsonl.MISSING_KEY),
    (line(target=...), jsonl.MISSING_KEY),
    (line(titel="x"), jsonl.UNKNOWN_KEY),
    (line(id=7), jsonl.WRONG_TYPE),
    (line(source=None), jsonl.WRONG_TYPE),
    (line(source={"text": "x"}), jsonl.WRONG_TYPE),
    (line(source=["x", 1]), jsonl.WRONG_TYPE),
    (line(target=3.5), jsonl.WRONG_TYPE),
    (line(references="x"), jsonl.WRONG_TYPE),
    (line(references=[["x", None]]), jsonl.WRONG_TYPE),
    (line(group=["g"]), jsonl.WRONG_TYPE),
    (line(split=1), jsonl.WRONG_TYPE),
    (line(source="\ud800"), jsonl.SURROGATE),
    (line(id="\udfff"), jsonl.SURROGATE),
    (line(group="\udfff"), jsonl.SURROGATE),
    (line(id=" "), jsonl.BAD_ID),
    (line(id="a\tb"), jsonl.BAD_ID),
    (line(source=" \n"), jsonl.EMPTY_SOURCE),
    (line(source=[]), jsonl.EMPTY_SOURCE),
    (line(target=""), jsonl.EMPTY_TARGET),
    (line(target=["", " "]), jsonl.EMPTY_TARGET),
    (line(source=["x", ""]), jsonl.EMPTY_SENTENCE),
    (line(references=["x", ""]), jsonl.EMPTY_REFERENCE),
    (line(group=""), jsonl.EMPTY_GROUP),
    (line(split="dev"), jsonl.BAD_SPLIT),
]


@pytest.mark.parametrize(("bad", "reason"), BAD)
def test_a_bad_line_is_reported_with_its_number_and_its_neighbours_are_read(
    tmp_path: Path, bad: bytes, reason: str
) -> None:
    rows = read(tmp_path / "raw.jsonl", b"\n".join([line(id="before"), bad, line(id="after")]))
    assert [type(row) for row in rows] == [RawRecord, Dropped, RawRecord]
    assert isinstance(rows[1], Dropped)
    assert (rows[1].line, rows[1].reason) == (2, reason)
    assert len(rows[1].value) <= jsonl.EXCERPT
    json.dumps(rows[1].as_dict("raw.jsonl"), ensure_ascii=False).encode()  # can be written


def test_every_reason_has_a_case() -> None:
    named = {getattr(jsonl, name) for name in dir(jsonl) if name.isupper() and isinstance(getattr(jsonl, name), str)}
    tested_below = {jsonl.DUPLICATE_ID, jsonl.SHARED_ID, jsonl.MIXED_SPLIT}
    assert named == {reason for _, reason in BAD} | tested_below


def test_fields_arrive_as_written(tmp_path: Path) -> None:
    data = line(source=["One.", "Two."], references=["r", ["s", "t"]], group="g", split="valid")
    (row,) = read(tmp_path / "raw.jsonl", data)
    assert row == RawRecord(1, "a", ["One.", "Two."], "otter", ["r", ["s", "t"]], "g", "valid")


def test_null_is_an_optional_key_left_out_and_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    (row,) = read(tmp_path / "raw.jsonl", b"\xef\xbb\xbf" + line(group=None, references=None) + b"\r\n")
    assert row == RawRecord(1, "a", "The otter swims.", "otter")


def test_the_first_of_two_records_with_one_id_stays(tmp_path: Path) -> None:
    rows = read(tmp_path / "raw.jsonl", b"\n".join([line(), line(id="b"), line(source="else")]))
    assert isinstance(rows[0], RawRecord)
    assert isinstance(rows[2], Dropped)
    assert (rows[2].reason, rows[2].id, rows[2].value) == (jsonl.DUPLICATE_ID, "a", "a first at line 1")


def test_an_id_in_two_parts_is_named_as_such(tmp_path: Path) -> None:
    rows = read(tmp_path / "raw.jsonl", b"\n".join([line(split="train"), line(split="test")]))
    assert isinstance(rows[1], Dropped)
    assert (rows[1].reason, rows[1].value) == (jsonl.SHARED_ID, "a first at line 1 (train)")


@pytest.mark.parametrize("first", ["train", ...])
def test_a_split_is_given_for_all_or_none(tmp_path: Path, first: Any) -> None:
    second = "test" if first is ... else ...
    rows = read(tmp_path / "raw.jsonl", b"\n".join([line(split=first), line(id="b", split=second)]))
    assert isinstance(rows[1], Dropped)
    assert rows[1].reason == jsonl.MIXED_SPLIT


def test_compressed_files_read_like_plain_ones(tmp_path: Path) -> None:
    data = b"".join(line(id=f"{number}", source=f"word {number}") + b"\n" for number in range(3000))
    expected = read(tmp_path / "raw.jsonl", data)
    assert len(expected) == 3000
    assert read(tmp_path / "raw.jsonl.gz", gzip.compress(data, mtime=0)) == expected
    pack = zstandard.ZstdCompressor().compress
    assert read(tmp_path / "raw.jsonl.zst", pack(data)) == expected
    assert read(tmp_path / "frames.jsonl.zst", pack(data[:1001]) + pack(data[1001:])) == expected
    assert read(tmp_path / "no_end.jsonl.zst", pack(data[:-1])) == expected


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_truncated_archive_is_an_error_wherever_it_ends(tmp_path: Path, suffix: str) -> None:
    data = b"".join(line(id=f"{number}", source=f"word {number * 7919}") + b"\n" for number in range(200))
    packed = gzip.compress(data, mtime=0) if suffix == ".gz" else zstandard.ZstdCompressor().compress(data)
    for end in range(4, len(packed), 97):
        with pytest.raises(CorpusError, match=r"raw\.jsonl.*truncated"):
            read(tmp_path / f"raw.jsonl{suffix}", packed[:end])
    broken = bytearray(packed)
    broken[len(packed) // 2] ^= 0xFF
    if suffix == ".gz":  # zstd frames carry no checksum by default
        with pytest.raises(CorpusError, match="damaged"):
            read(tmp_path / f"raw.jsonl{suffix}", bytes(broken))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("raw.jsonl", b"", "is empty"),
        ("raw.jsonl.gz", b"", "is empty"),
        ("raw.jsonl.gz", gzip.compress(b"", mtime=0), "is empty"),
        ("raw.jsonl.zst", zstandard.ZstdCompressor().compress(b""), "is empty"),
        ("raw.jsonl.gz", line(), "is not a .gz file"),
        ("raw.jsonl.zst", line(), "is not a .zst file"),
        ("raw.jsonl", gzip.compress(line(), mtime=0), "rename it to raw.jsonl.gz"),
        ("raw.jsonl", zstandard.ZstdCompressor().compress(line()), "rename it to raw.jsonl.zst"),
    ],
)
def test_an_unusable_file_is_an_error_that_names_it(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    with pytest.raises(CorpusError, match=message) as error:
        read(tmp_path / name, data)
    assert str(tmp_path / name) in str(error.value)


def test_a_missing_file_and_a_folder_are_errors(tmp_path: Path) -> None:
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(CorpusError, match="cannot be read"):
            list(read_raw(path))

"""Files of records: read as written, whole or not at all."""

import errno
import gzip
import json
import os

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from sumcurve.__main__ import main
from sumcurve.store.records import (
    Record,
    RecordError,
    read_csv,
    read_jsonl,
    read_records,
    write_csv,
    write_jsonl,
    write_text,
)

sentences = st.lists(st.text(alphabet="abc é中.", min_size=1), min_size=1, max_size=3)
records = st.builds(
    Record,
    id=st.text(min_size=1),
    source=sentences,
    target=sentences,
    references=st.lists(sentences, max_size=2),
    group=st.none() | st.text(min_size=1),
)


@settings(deadline=None)
@given(st.lists(records, max_size=5))
def test_records_survive_writing_and_reading(tmp_path_factory, many):
    path = tmp_path_factory.mktemp("records") / "records.jsonl"
    assert write_jsonl(path, (record.as_dict() for record in many)) == len(many)
    assert list(read_records(path)) == many


@pytest.mark.parametrize(
    ("ending", "compress"), [(".gz", gzip.compress), (".zst", zstandard.ZstdCompressor().compress)]
)
def test_compressed_files_read_as_plain_ones(tmp_path, ending, compress):
    path = tmp_path / f"records.jsonl{ending}"
    path.write_bytes(compress(b'{"a": 1}\n{"a": 2}\n'))
    assert list(read_jsonl(path)) == [{"a": 1}, {"a": 2}]


def test_an_unreadable_line_is_named(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text('{"id": "1", "source": [], "target": []}\n{"id":\n')
    with pytest.raises(RecordError, match=r"records.jsonl:2: not a prepared record"):
        list(read_records(path))


@pytest.mark.parametrize("name", ["source", "target"])
def test_a_text_that_is_no_list_of_sentences_is_named(tmp_path, name):
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps({"id": "a", "source": ["a b ."], "target": ["c ."]} | {name: "a b ."}) + "\n")
    with pytest.raises(RecordError, match=rf"records.jsonl:1: .*{name} is no list of sentences"):
        list(read_records(path))


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "records.jsonl"
    write_jsonl(path, [{"a": 1}])

    def rows():
        yield {"a": 2}
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_jsonl(path, rows())
    assert path.read_text() == '{"a": 1}\n'


def test_a_full_disk_is_an_error_and_leaves_nothing(tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    path = tmp_path / "weights.txt"
    path.with_name(path.name + ".partial").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        write_text(path, "x" * 100_000)
    assert not path.exists()


@pytest.mark.parametrize(
    ("number", "said"), [(errno.ENOSPC, "the disk is full"), (errno.EDQUOT, "your quota of the disk is used up")]
)
def test_want_of_room_is_a_sentence_on_the_command_line(number, said, monkeypatch):
    def status(*_):
        raise OSError(number, os.strerror(number), "results/x")

    monkeypatch.setattr("sumcurve.cli.studies.status", status)
    monkeypatch.setattr("sys.argv", ["sumcurve", "status"])
    with pytest.raises(SystemExit, match=rf"{said} \(results/x\): free some space"):
        main()


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=8)


@settings(deadline=None)  # every example waits for the disk
@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=5))
def test_a_csv_that_was_written_is_read_as_it_was(tmp_path_factory, cells) -> None:
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    rows = [{"name": name, "a, b": text, "left out": "x"} for name, text in cells]
    write_csv(path, ["name", "a, b"], rows)
    assert read_csv(path) == [{"name": name, "a, b": text} for name, text in cells]


def test_nothing_is_an_empty_cell_of_a_csv_and_numbers_keep_their_digits(tmp_path) -> None:
    write_csv(tmp_path / "table.csv", ["x", "y"], [{"x": None, "y": 0.1 + 0.2}])
    (row,) = read_csv(tmp_path / "table.csv")
    assert (row["x"], float(row["y"])) == ("", 0.1 + 0.2)

"""Rows of files as people write them: the same whatever packs, encodes and parts them, or refused by file and line."""

import csv
import gzip
import io
import json
import lzma

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.files.errors import FileError
from sumcurve.files.layout import Layout
from sumcurve.files.rows import read_rows
from sumcurve.files.sheet import read_sheet, sheet_of
from sumcurve.machine.arguments import CommandError

HEADS = ["id", "summary", "score"]
ROWS = [["a", 'one, "two"; three\tfour', "1.5"], ["b", "fünf\nsechs", "2.25"], ["c", "", "3"]]
PACK = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress, ".xz": lzma.compress}


def table(delimiter: str, rows=ROWS, end: str = "\n") -> str:
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, lineterminator=end).writerows([HEADS, *rows])
    return stream.getvalue()


@pytest.mark.parametrize("packed", PACK)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_table_has_the_same_rows_however_it_is_written(tmp_path, packed, encoding, delimiter) -> None:
    path = tmp_path / f"t.csv{packed}"
    path.write_bytes(PACK[packed](table(delimiter).encode(encoding)))
    read = read_rows(path, Layout(), "text")
    assert (read.kind, list(read.columns)) == ("table", HEADS)
    assert [list(row.value.values()) for row in read.rows] == ROWS
    assert [(row.place, row.number) for row in read.rows] == [(f"{path}:2", 2), (f"{path}:3", 3), (f"{path}:5", 4)]
    guessed = [name for name in ("Encoding", "Delimiter") if any(guess.startswith(name) for guess in read.guesses)]
    assert guessed == ["Encoding"] * (encoding in ("cp1252", "utf-16-le", "utf-16-be")) + ["Delimiter"] * (
        delimiter != ","
    )
    said = read_rows(path, Layout(encoding, delimiter, "."), "text")
    assert (said.rows, said.guesses) == (read.rows, [])


def test_a_packed_file_is_read_whatever_its_name(tmp_path) -> None:
    path = tmp_path / "t.csv"
    for pack in PACK.values():
        path.write_bytes(pack(table(",").encode()))
        assert [list(row.value.values()) for row in read_rows(path, Layout(), "text").rows] == ROWS


@given(
    rows=st.lists(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0\r")), min_size=3, max_size=3)),
    delimiter=st.sampled_from(",;\t|"),
)
def test_what_a_csv_library_writes_is_read_back(tmp_path_factory, rows, delimiter) -> None:
    path = tmp_path_factory.mktemp("rows") / "t.csv"
    path.write_text(table(delimiter, rows), encoding="utf-8", newline="")
    read = read_rows(path, Layout(delimiter=delimiter), "text")
    assert [list(row.value.values()) for row in read.rows] == rows


@given(
    values=st.lists(st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.text())), min_size=1)
)
def test_json_lines_and_lists_have_the_same_rows(tmp_path_factory, values) -> None:
    folder = tmp_path_factory.mktemp("rows")
    forms = {
        "lines.jsonl": "".join(json.dumps(value) + "\n" for value in values),
        "list.json": json.dumps(values),
        "indented.json": json.dumps(values, indent=2),
        "unnamed": json.dumps(values, ensure_ascii=False),
    }
    for name, content in forms.items():
        (folder / name).write_text(content, encoding="utf-8", newline="")
        read = read_rows(folder / name, Layout(), "text")
        assert (read.kind, [row.value for row in read.rows]) == ("json", values), name
        starts = content.split("\n")
        assert all(starts[row.line - 1].lstrip("[ ").startswith("{") for row in read.rows)


def test_lines_of_json_that_are_lists_stay_lines(tmp_path) -> None:
    path = tmp_path / "t.jsonl"
    for content, values in (
        ('["a", "b"]\n["c"]\n', [["a", "b"], ["c"]]),
        ('["a", "b"]', [["a", "b"]]),
        ('"[{"\n', ["[{"]),
    ):
        path.write_text(content)
        assert [row.value for row in read_rows(path, Layout(), "text").rows] == values


def test_a_file_that_says_no_kind_is_what_the_caller_says(tmp_path) -> None:
    path = tmp_path / "scores.txt"
    path.write_text("a;b\n1;2\n\n")
    assert [row.value for row in read_rows(path, Layout(), "text").rows] == ["a;b", "1;2", ""]
    assert [row.value for row in read_rows(path, Layout(), "table").rows] == [{"a": "1", "b": "2"}]


@pytest.mark.parametrize(
    ("content", "layout", "numbers"),
    [
        ("id;x;y\na;0,5;1\nb;12,25;2\n", Layout(), [("0.5", "1"), ("12.25", "2")]),
        ('id,x,y\na,"0,5",1\n', Layout(), [("0.5", "1")]),
        ('id,x,y\na,"1,500",2\n', Layout(), [("1,500", "2")]),  # of thousands, it may be
        ('id,x,y\na,"1,500",2\n', Layout(decimal=","), [("1.500", "2")]),
        ("id;x;y\na;0,5;1.5\n", Layout(), [("0,5", "1.5")]),  # both signs: nothing is guessed
        ("id;x;y\na;0,5;1\n", Layout(decimal="."), [("0,5", "1")]),
    ],
)
def test_a_decimal_comma_is_known_by_numbers_that_can_have_no_other(tmp_path, content, layout, numbers) -> None:
    path = tmp_path / "t.csv"
    path.write_text(content)
    sheet = read_sheet(path, layout)
    assert [(line.cells["x"], line.cells["y"]) for line in sheet.lines] == numbers
    assert any("Decimal sign" in guess for guess in sheet.guesses) is (numbers[0][0] == "0.5")


@pytest.mark.parametrize("size", ["1.000", "12.000.000", "-1.500"])
def test_a_sign_for_thousands_beside_a_decimal_comma_is_no_decimal_point(tmp_path, size) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"method;records;score\na;{size};0,5\n")
    with pytest.raises(FileError, match=rf"t.csv:2: column records holds '{size}': .* a point parts thousands"):
        read_sheet(path, Layout(decimal=","))


def test_the_index_of_a_data_frame_and_empty_columns_of_a_spreadsheet_do_no_harm(tmp_path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(",id,score,,\n0,a,1,,\n\n1,b,2,,\n")
    sheet = read_sheet(path)
    assert sheet.columns == ("index", "id", "score")
    assert [list(line.cells.values()) for line in sheet.lines] == [["0", "a", "1"], ["1", "b", "2"]]
    assert [*sheet.guesses] == [f"Column 1 of {path} has no name: called index."]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", "", "is empty"),
        ("t.csv", "a,b\n", "only a header"),
        ("t.csv", "a,a\n1,2\n", r"t\.csv:1: column a stands twice"),
        ("t.csv", "a,,b\n1,2,3\n", r"t\.csv:1: a column has no name"),
        ("t.csv", "a,b\n1,2\n3\n", r"t\.csv:3: 1 cells, 2 columns"),
        ("t.csv", "a,b\n1,2,3\n", r"t\.csv:2: 3 cells, 2 columns"),
        ("t.csv", 'a,b\n1,"2\n3,4,5\n', r"t\.csv:2: no row of a table .*in line 3 of the row that begins here"),
        ("t.csv", b"a,b\n1,\x81\n", r"t\.csv:2: neither UTF-8 nor windows-1252 .*--encoding"),
        ("t.csv", "a,ä\n1,ö\n2,".encode() + b"\xe4\n", r"t\.csv:3: not UTF-8 .*--encoding"),
        ("t.csv", "a,b\n1,2\0\n", r"t\.csv:2: a NUL character"),
        ("t.csv", b"PK\x03\x04 rest", r"t\.csv is truncated or damaged"),
        ("t.csv.gz", b"a,b\n1,2\n", r"t\.csv\.gz is not a \.gz file"),
        ("t.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "truncated or damaged .*copy it again"),
        ("t.csv.zst", zstandard.compress(b"a,b\n1,2\n" * 99)[:-9], "truncated or damaged .*copy it again"),
        ("t.csv.xz", lzma.compress(b"a,b\n1,2\n" * 99)[:-30], "truncated or damaged .*copy it again"),
        ("t.jsonl", '{"a": 1}\n\n{"a": }\n', r"t\.jsonl:3: not JSON"),
        ("t.jsonl", '{"a": 1}\n{"a": 1, "a": 2}\n', r"t\.jsonl:2: not JSON \(the key 'a' stands twice"),
        ("t.jsonl", '{"a": 1}\n{"b": "\\udc80"}\n', r"t\.jsonl:2: half of a surrogate pair"),
        ("t.jsonl", '{"a": 1}\n[1]\n', r"t\.jsonl:2: a list, not an object"),
        ("t.json", '[\n {"a": 1},\n {"a" 2}\n]', r"t\.json:3: not JSON"),
        ("t.json", '[\n {"a": 1},\n {"a": 2, "a": 2}\n]', r"t\.json:3: not JSON \(the key 'a' stands twice"),
        ("t.json", '[\n {"a": 1}\n {"a": 2}\n]', r"t\.json:3: not JSON"),
        ("t.json", '[\n {"a": 1},\n', r"t\.json:3: not JSON .*end the list"),
        ("t.json", '[\n {"a": 1}\n]\n{"a": 2}\n', r"t\.json:3: something stands behind the list"),
    ],
)
def test_what_is_no_row_is_named_by_file_and_line(tmp_path, name, content, message) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FileError, match=message):
        read_sheet(path)


def test_a_file_that_is_missing_is_called_so_with_the_nearest_name(tmp_path) -> None:
    (tmp_path / "scores.csv").write_text("a\n1\n")
    with pytest.raises(FileError, match=r"score\.csv: no such file; did you mean scores\.csv\?"):
        read_sheet(tmp_path / "score.csv")
    with pytest.raises(FileError, match="is a folder"):
        read_sheet(tmp_path)


@pytest.mark.parametrize("said", [{"encoding": "utf-9"}, {"delimiter": "::"}, {"delimiter": ""}])
def test_a_layout_that_no_file_has_is_refused(said) -> None:
    with pytest.raises(CommandError, match=f"--{next(iter(said))}"):
        Layout(**said)


def test_rows_of_json_of_a_frame_and_of_mappings_are_one_sheet(tmp_path) -> None:
    pd = pytest.importorskip("pandas")
    rows = [{"id": "a", "doc": {"subject": "s"}, "score": 0.5, "ok": True}, {"id": "b", "score": None, "ok": False}]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    columns, cells = ("id", "doc.subject", "score", "ok"), [["a", "s", "0.5", "1"], ["b", "", "", "0"]]
    flat = pd.DataFrame([{"id": "a", "doc.subject": "s", "score": 0.5, "ok": True}, {"id": "b", "ok": False}])
    for sheet in (read_sheet(tmp_path / "t.jsonl"), sheet_of(rows), sheet_of(flat)):
        assert (sheet.columns, [list(line.cells.values()) for line in sheet.lines]) == (columns, cells)

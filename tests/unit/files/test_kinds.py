"""Files of every kind that people have: tools and corpora read the same rows of them, or both name them in one line."""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import pickle
import sqlite3
import subprocess
import sys
import tarfile
import tracemalloc
import zipfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import zstandard

from sumcurve.files.content import path_of
from sumcurve.files.errors import FileError, Refused
from sumcurve.files.layout import Layout
from sumcurve.files.rows import kind_by_content, read_rows
from sumcurve.files.sheet import read_sheet
from sumcurve.sources import SOURCES
from sumcurve.sources.content import Content
from sumcurve.sources.raw import Dropped, RawRecord
from sumcurve.store.errors import CorpusError

ROWS = [{"text": f"The otter {n} swims, it dives; twice.", "summary": f"Óttar | {n}"} for n in range(7)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)
FORMATS = {"table": "csv", "json": "jsonl", "parquet": "parquet"}


def table(delimiter=",", end="\n", rows=ROWS, index=False, quoting=csv.QUOTE_MINIMAL):
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerow([*[""] * index, *rows[0]])
    writer.writerows([*[n] * index, *row.values()] for n, row in enumerate(rows))
    return stream.getvalue()


def zipped(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def of_tool(path, layout=None):
    """The rows as a tool reads them, without an index, and what it says."""
    read = read_rows(path, layout or Layout(), "table")
    return [{name: cell for name, cell in row.value.items() if name != "index"} for row in read.rows], read.guesses


def of_corpus(path, layout=None, names=None):
    """The rows as a corpus has them, in the format that their content says."""
    source = SOURCES[FORMATS[kind_by_content(path)]].by_layout(layout or {})
    return [row if isinstance(row, Refused) else {n: v for n, v in row.items() if n != "index"}
            for row in source.rows(path, names)]  # fmt: skip


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


INDENTED = json.dumps({"info": {"n": 7}, "data": ROWS}, indent=2)
TAKEN = {
    "pandas_index": ("a.csv", table(index=True)),
    "index_semicolon": ("a.csv", table(";", index=True)),
    "index_tab": ("a.tsv", table("\t", end="\r\n", index=True)),
    "index_marked": ("a.csv", "\ufeff" + table(index=True, quoting=csv.QUOTE_ALL)),
    "array": ("a.json", json.dumps(ROWS)),
    "array_indented": ("a.json", json.dumps(ROWS, indent=2)),
    "array_a_line_each": ("a.json", "[\n" + ",\n".join(map(json.dumps, ROWS)) + "\n]\n"),
    "array_of_one_named_lines": ("a.jsonl", "\ufeff[" + LINES.splitlines()[0] + "]"),
    "array_of_one_indented": ("a.txt", "\n[\n" + LINES.splitlines()[0] + "\n]"),
    "wrapped": ("a.json", json.dumps({"version": "1.0", "data": ROWS})),
    "wrapped_indented": ("a.json", INDENTED),
    "wrapped_deep": ("a.json", json.dumps({"result": {"items": ROWS}, "data": "items"})),
    "wrapped_after_its_name": ("a.jsonl", json.dumps({"x": {"data": ["data"]}, "data": ROWS})),
    "zip": ("a.zip", zipped({"train.csv": table()})),
    "zip_of_lines_and_a_mac": ("a.zip", zipped({"b/train.jsonl": LINES, "__MACOSX/._train.jsonl": b"\0", ".x": ""})),
    "zip_called_csv": ("a.csv", zipped({"a": table("\t")})),
    "zip_of_gz": ("a.zip", zipped({"a.json.gz": gzip.compress(json.dumps(ROWS).encode())})),
    "csv_that_is_gz": ("a.csv", gzip.compress(table().encode())),
    "lines_bz2": ("a.jsonl.bz2", bz2.compress(LINES.encode())),
    "lines_xz_unnamed": ("a.jsonl", lzma.compress(LINES.encode())),
    "table_zst": ("a.csv.zst", zstandard.compress(table().encode())),
    "table_in_txt": ("a.txt", table("\t")),
    "pipes": ("a.csv", table("|", quoting=csv.QUOTE_ALL)),
    "lines_called_csv": ("a.csv", LINES),
}


@pytest.mark.parametrize("kind", TAKEN)
def test_tools_and_corpora_read_the_same_rows(tmp_path, kind) -> None:
    name, content = TAKEN[kind]
    path = write(tmp_path / name, content)
    expected = ROWS[:1] if "_of_one_" in kind else ROWS
    rows, guesses = of_tool(path)
    assert rows == of_corpus(path) == expected
    if "index" in kind:
        assert f"Column 1 of {path} has no name: called index." in guesses


NO_QUOTES = {
    "lone_first": ("a.tsv", "\t", ['"Otters swim.\tan otter', 'Two otters.\tthe "otter']),
    "inches": ("a.csv", ",", ['"A 5" otter" swims,small', 'A 19" screen,large"', '"n" is one,a letter']),
    "never_closed": ("a.txt", "\t", ['Otters.\t"a', "b\tc"]),
    "pipes": ("a.csv", "|", ['"Stop|he said', 'said "stop" twice"|x']),
}


@pytest.mark.parametrize("kind", NO_QUOTES)
def test_a_table_without_quoting_is_known_by_quotes_that_are_no_pairs(tmp_path, kind) -> None:
    name, delimiter, lines = NO_QUOTES[kind]
    path = write(tmp_path / name, "\n".join([f"text{delimiter}summary", *lines, ""]))
    expected = [dict(zip(("text", "summary"), line.split(delimiter), strict=True)) for line in lines]
    rows, guesses = of_tool(path)
    assert rows == of_corpus(path) == expected
    assert any(guess.startswith(f"Quoting of {path}: none, a guess") for guess in guesses)
    said = Layout(delimiter=delimiter, quoting="none")
    assert of_tool(path, said) == (expected, [])
    with pytest.raises(FileError, match=r"no row of a table .*--quoting none"):
        of_tool(path, Layout(quoting="quotes"))


def test_quotes_are_read_where_most_cells_are_in_two_and_one_is_broken(tmp_path) -> None:
    path = write(tmp_path / "a.csv", 'text,summary\n"a","b"\n"c","d"\n"e" f,"g"\n')
    for read in (of_tool, of_corpus):
        with pytest.raises((FileError, CorpusError), match=r"a\.csv:4: no row of a table"):
            read(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("excel.csv", "\ufeffitem;system;rouge1\r\n0;bart;37,51\r\n0;t5;44,67\r\n"),
        ("tabs.csv", "item\tsystem\trouge1\n0\tbart\t37,51\n0\tt5\t44,67\n"),
        ("pipes.txt", "item|system|rouge1\n0|bart|37,51\n0|t5|44,67\n"),
        ("packed.tsv", gzip.compress(b"item;system;rouge1\n0;bart;37,51\n0;t5;44,67\n", mtime=0)),
    ],
)
def test_decimal_commas_are_numbers_whatever_parts_the_cells(tmp_path, name, content) -> None:
    sheet = read_sheet(write(tmp_path / name, content))
    assert [line.number("rouge1") for line in sheet.lines] == [Decimal("37.51"), Decimal("44.67")]


@pytest.mark.parametrize(
    "first", ["0.5238\t0.61", "Otters swim in rivers. " * 8 + "\tAn otter.", "0.5;1", "a\t" + "word " * 21]
)
def test_a_line_1_that_is_plainly_a_row_is_asked_for(tmp_path, first) -> None:
    delimiter = ";" if ";" in first else "\t"
    path = write(tmp_path / "a.tsv", f"{first}\n{first}\n")
    for read in (of_tool, of_corpus):
        with pytest.raises((FileError, CorpusError), match=r"a\.tsv:1: '.* is no name of a column: say --no-heads"):
            read(path)
    cells = dict(zip("12", first.split(delimiter), strict=True))
    assert of_tool(path, Layout(no_heads=True))[0] == of_corpus(path, {"no_heads": True}, ["1", "2"]) == [cells, cells]


@pytest.mark.parametrize("heads", ["0,1,2", "2019,2020", "id,0.5", "a model of otters"])
def test_numbers_and_short_phrases_are_names_of_columns(tmp_path, heads) -> None:
    path = write(tmp_path / "a.csv", f"{heads}\n" + ",".join("x" for _ in heads.split(",")) + "\n")
    assert [*of_tool(path)[0][0]] == heads.split(",")


def test_bytes_that_are_no_utf8_cost_a_corpus_their_row_alone_in_a_list_as_in_lines(tmp_path) -> None:
    rows = [{"id": str(n), "source": f"s{n}", "target": "t"} for n in range(3)]
    for name, content in (("a.json", json.dumps(rows)), ("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))):
        path = write(tmp_path / name, content.encode().replace(b"s1", b"s\xff"))
        found = [*Content(path, SOURCES["jsonl"]).records()]
        assert [type(row) for row in found] == [RawRecord, Dropped, RawRecord]


def test_of_several_lists_the_path_is_asked_for(tmp_path) -> None:
    path = write(tmp_path / "a.json", json.dumps({"set": {"train": ROWS, "test": ROWS[:2]}, "n": 1}))
    for read in (of_tool, of_corpus):
        with pytest.raises((FileError, CorpusError), match=r"several lists") as error:
            read(path)
        assert "by --rows set.train or --rows set.test, or write all" in str(error.value)
        program = str(error.value).split("jq -c '")[1].split("'")[0]
        assert program == '(."set"."train"[] | .split = "train"), (."set"."test"[] | .split = "test")'
    assert of_tool(path, Layout(rows="set.test"))[0] == of_corpus(path, {"rows": "set.test"}) == ROWS[:2]
    with pytest.raises(FileError, match=r"no list of objects at --rows set.tests; did you mean set.test\?"):
        of_tool(path, Layout(rows="set.tests"))


def test_one_record_with_a_list_beside_its_texts_stays_a_record(tmp_path) -> None:
    row = {"id": 1, "source": "word " * 50, "target": "a", "marks": [{"by": "x"}]}
    assert of_corpus(write(tmp_path / "a.jsonl", json.dumps(row))) == [row]


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_rows_by_their_ids_are_rows(tmp_path, indent) -> None:
    rows = [{"id": f"a,{n}]}}", **row} for n, row in enumerate(ROWS)]
    keyed = {row["id"]: {"id": "of the source", **ROWS[n]} for n, row in enumerate(rows)}
    path = write(tmp_path / "a.json", json.dumps(keyed, indent=indent))
    assert of_tool(path)[0] == of_corpus(path) == rows


@pytest.mark.parametrize("value", [{"en": ROWS[0], "de": {"text": "x"}, "fr": ROWS[2]}, {"a": ROWS[0], "b": ROWS[1]}])
def test_an_object_of_unlike_or_of_two_objects_is_one_record(tmp_path, value) -> None:
    assert of_corpus(write(tmp_path / "a.jsonl", json.dumps(value))) == [value]


def test_an_object_of_numbers_is_named_without_all_of_its_keys(tmp_path) -> None:
    path = write(tmp_path / "a.json", json.dumps({f"k{n}": {"x": n, "y": 1} for n in range(90)}, indent=1))
    with pytest.raises((FileError, CorpusError), match=r"among k0, k1, .*k7 and 82 more: write"):
        of_corpus(path)


@pytest.mark.parametrize("orient", ["columns", "index", "split"])
def test_a_frame_by_columns_is_called_so_and_the_line_that_it_prints_makes_rows_of_it(tmp_path, orient) -> None:
    pd = pytest.importorskip("pandas")
    path = tmp_path / "a.json"
    pd.DataFrame(ROWS).to_json(path, orient=orient)
    for read in (of_tool, of_corpus):
        with pytest.raises((FileError, CorpusError), match=rf"pandas' to_json\(\) writes by {orient}") as error:
            read(path)
    program = str(error.value).split('python -c "')[1].split('"`')[0]
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path)
    assert of_corpus(tmp_path / "rows.jsonl") == ROWS


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lambda data: zipped({"a.parquet": data})])
def test_parquet_is_read_by_tools_and_corpora_and_inside_its_columns(tmp_path, pack) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [{"doc": row, "id": n} for n, row in enumerate(ROWS)]
    stream = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows), stream)
    path = write(tmp_path / "a.bin", pack(stream.getvalue()))
    assert of_tool(path)[0] == of_corpus(path) == rows
    assert [*read_sheet(path).columns] == ["doc.text", "doc.summary", "id"]
    inner = [row["doc.text"] for row in of_corpus(path, None, ["id", "doc.text"])]
    assert inner == [row["text"] for row in ROWS]
    with pytest.raises(CorpusError, match=r"has no column 'doc\.texts'.* doc\.text, "):
        of_corpus(path, None, ["doc.texts"])


def test_dotted_names_reach_into_json_and_a_name_with_a_dot_comes_first(tmp_path) -> None:
    rows = [{"a": {"b": {"c": "deep"}, "b.c": "dotted"}}, {"a.b.c": "plain", "a": {"b": {"c": "no"}}}, {"a": "none"}]
    path = write(tmp_path / "a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert [row.get("a.b.c") for row in of_corpus(path, None, ["a.b.c"])] == ["dotted", "plain", None]


def tarred():
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("a.csv"))
    return stream.getvalue()


def database():
    connection = sqlite3.connect(":memory:")
    connection.execute("create table a (b)")
    return connection.serialize()


def array(save, *values):
    stream = io.BytesIO()
    save(stream, *values)
    return stream.getvalue()


OTHERS = {
    "pickle": (pickle.dumps(ROWS), "a pickle of Python.*read_pickle"),
    "pickle_packed": (gzip.compress(pickle.dumps(ROWS, 2)), "a pickle of Python"),
    "pdf": (b"%PDF-1.7\n...", "a PDF: .*pdftotext"),
    "numpy": (array(np.save, np.eye(2)), "an array of NumPy.*savetxt"),
    "npz": (array(np.savez, np.eye(2)), "arrays of NumPy"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(99), "an HDF5 file.*read_hdf"),
    "sqlite": (database(), "a database of SQLite.*sqlite3 -header -csv"),
    "arrow": (b"ARROW1\0\0" + bytes(99), "an Arrow file.*open_file"),
    "arrow_stream": (b"\xff\xff\xff\xff" + bytes(99), "a stream of Arrow.*open_stream"),
    "tar": (tarred(), "a tar archive.*tar -xf"),
    "xlsx": (zipped({"[Content_Types].xml": "", "xl/workbook.xml": ""}), "a workbook of Excel.*read_excel"),
    "docx": (zipped({"word/document.xml": ""}), "a document of Word"),
    "torch": (zipped({"model/data.pkl": "", "model/data/0": ""}), r"a checkpoint of a model \(PyTorch\)"),
    "safetensors": (b"\x40\0\0\0\0\0\0\0{\"__metadata__\":{}}", r"a checkpoint of a model \(safetensors\)"),
    "html": ("\n<!DOCTYPE html><html>Not found", "a page in HTML.*read_html"),
    "two_tables": (zipped({"a.csv": table(), "b.csv": table()}), r"a zip of 2 files \(a.csv, b.csv\): unpack it"),
    "no_table": (zipped({}), "a zip of 0 files: unpack it"),
    "7z": (b"7z\xbc\xaf\x27\x1c" + bytes(30), "a 7z archive"),
    "truncated_zip": (zipped({"a.csv": table()})[:-30], "a.csv is truncated or damaged|no zip|copy it again"),
    **{
        f"truncated_{pack.__module__}": (pack(os.urandom(9999))[:-20], r"truncated or damaged .*copy it again")
        for pack in (gzip.compress, bz2.compress, lzma.compress, zstandard.compress)
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", OTHERS)
def test_anything_else_is_named_for_what_it_is_in_one_line(tmp_path, kind) -> None:
    content, message = OTHERS[kind]
    path = write(tmp_path / "a.csv", content)
    for read in (of_tool, of_corpus, lambda path: [*SOURCES["jsonl"].rows(path, None)]):
        with pytest.raises((FileError, CorpusError), match=message) as error:
            read(path)
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zst", ".zip"])
def test_a_name_that_says_packed_of_a_plain_file_is_refused(tmp_path, ending) -> None:
    path = write(tmp_path / f"a.csv{ending}", table())
    for read in (of_tool, of_corpus):
        with pytest.raises((FileError, CorpusError), match=rf"a\.csv{ending} is not a {ending} file"):
            read(path)


@pytest.mark.parametrize("content", [table(";"), LINES, json.dumps(ROWS), gzip.compress(LINES.encode(), mtime=0)])
def test_standard_input_and_pipes_are_read(tmp_path, content) -> None:
    """Twice, since one file may hold summaries and references."""
    program = (
        "import sys; from pathlib import Path; from sumcurve.files.rows import read_rows\n"
        "from sumcurve.files.layout import Layout\n"
        "read = [[row.value for row in read_rows(Path(sys.argv[1]), Layout(), 'table').rows] for _ in range(2)]\n"
        "print(read[0] == read[1] and read[0])"
    )
    for name in ("-", "/dev/stdin"):
        run = subprocess.run([sys.executable, "-c", program, name], capture_output=True, check=True,
                             input=content if isinstance(content, bytes) else content.encode())  # fmt: skip
        assert run.stdout.decode().strip() == str(ROWS)


@pytest.mark.parametrize("kind", ["a.csv", "a.csv.bz2", "a.jsonl.xz", "a.zip"])
def test_memory_of_a_corpus_does_not_grow_with_its_file(tmp_path, kind) -> None:
    def peak(count):
        rows = [{"source": f"{n * 7919 % 1000003} " * 60, "target": str(n)} for n in range(count)]
        data = (table(rows=rows) if "csv" in kind else "".join(json.dumps(row) + "\n" for row in rows)).encode()
        pack = {".bz2": bz2.compress, ".xz": lzma.compress, ".zip": lambda data: zipped({"a": data})}
        path = write(tmp_path / f"{count}{kind}", pack.get(Path(kind).suffix, bytes)(data))
        source = SOURCES["csv" if "csv" in kind else "jsonl"]
        tracemalloc.start()
        try:
            assert sum(1 for _ in source.rows(path, ["source", "target"])) == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(10)  # what is loaded once
    small, large = peak(2500), peak(10_000)  # of text 1 MB, by which a delimiter is known, and 4
    assert large < small + 300_000


def test_a_lone_string_is_a_path_where_it_names_a_file_or_ends_like_one(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "mine", "a")
    for name in ("mine", "no.jsonl", "my refs.csv", "a/b.txt.gz", "x.PARQUET", "a.zip"):
        assert path_of(name) == Path(name)
    for text in ("the cat sat", "He read a.csv, twice.", "", " ", ".", "a\nb.txt", "x" * 9999, "a\0b", ["a.csv"], None):
        assert path_of(text) is None

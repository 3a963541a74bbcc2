import csv
import gzip
import json

import pytest

from sumcurve.files.tables import CELLS
from sumcurve.sources import SOURCES
from sumcurve.sources.content import Content
from sumcurve.sources.csv import layout_notes
from sumcurve.sources.raw import EMPTY_LINE, MISSING_KEY, NOT_UTF8, Dropped
from sumcurve.store.errors import CorpusError

FIELDS = {"id": None, "source": "article", "target": "title"}
ROWS = [{"article": f'The "otter" {n},\nit dives.\tTwice.', "title": f"Óttar {n}"} for n in range(20)]


@pytest.mark.parametrize(("name", "separator"), [("a.csv", ","), ("a.tsv", "\t"), ("a.csv.gz", ",")])
def test_a_table_gives_the_records_of_the_same_json_lines(tmp_path, name, separator) -> None:
    """Written by the standard library, with quotes, separators and line breaks in cells."""
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    opened = gzip.open if name.endswith(".gz") else open
    with opened(tmp_path / name, "wt", encoding="utf-8-sig", newline="") as stream:
        table = csv.DictWriter(stream, ["title", "article"], delimiter=separator)  # line ends are \r\n
        table.writeheader()
        table.writerows(ROWS)
    lines, cells = (
        [(raw.id, raw.source, raw.target) for raw in Content(tmp_path / file, SOURCES[kind], FIELDS).records()]
        for file, kind in (("a.jsonl", "jsonl"), (name, "csv"))
    )
    assert cells == lines


def test_a_row_that_is_no_record_is_dropped_and_its_neighbours_are_read(tmp_path) -> None:
    (tmp_path / "a.csv").write_bytes(b"article,title\nA.,a\n\nB.,b,c\n\xff,d\nE.,\nF.,f\n")
    records = list(Content(tmp_path / "a.csv", SOURCES["csv"], FIELDS).records())
    dropped = [(record.place.number, record.reason) for record in records if isinstance(record, Dropped)]
    assert dropped == [(2, EMPTY_LINE), (3, CELLS), (4, NOT_UTF8), (5, MISSING_KEY)]
    assert [record.target for record in records if not isinstance(record, Dropped)] == ["a", "f"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("text,title\nA.,a\n", r"no column 'article'.*text, title.*raw\.fields"),
        ("article,article\nA.,a\n", r"a\.csv:1: column article stands twice"),
        ('article,title\nA.,"a\nB.,b, c\n', r"a\.csv:2: .*unexpected end of data, in line 3 .*close each"),
        ('article,title\n"A" is, he says,a\n', r"a\.csv:2: .*double the quotes"),
        ("article,title\n", "no row below its heads"),
    ],
)
def test_a_table_that_cannot_be_read_is_an_error_with_its_line(tmp_path, text, complaint) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(CorpusError, match=complaint):
        list(Content(tmp_path / "a.csv", SOURCES["csv"], FIELDS).records())


@pytest.mark.parametrize(("name", "separator"), [("a.csv", ","), ("a.tsv", "\t")])
def test_an_open_quote_that_swallows_rows_is_seen_and_a_text_of_several_lines_is_not(tmp_path, name, separator) -> None:
    """Rows are written without quotes, as many tools do; then by the standard library, of texts with line breaks."""
    rows = [("article", "title"), *((f"The otter {n} dives.", f"Otter {n}") for n in range(9))]
    rows[3], rows[6] = ('"Otter', "begins"), ("It ends", 'an otter"')
    path = tmp_path / name
    path.write_text("".join(separator.join(row) + "\n" for row in rows))
    (note,) = layout_notes(path)
    assert f"{name}:4: one row has 4 lines" in note  # rows 4 to 7 are one record
    assert len(list(Content(path, SOURCES["csv"], FIELDS).records())) == len(rows) - 1 - 3
    with path.open("w", newline="") as stream:
        table = csv.writer(stream, delimiter=separator)
        table.writerow(rows[0])
        table.writerows((f"The otter, {n}:\tdives.\nTwice.\nAnd again", f"Otter {n}") for n in range(9))
    assert layout_notes(path) == []


def test_a_long_row_of_rows_is_seen_beside_texts_of_several_lines_and_though_one_is_ragged(tmp_path) -> None:
    texts = "".join(f'"Two\nlines {n}",t\n' for n in range(9))
    joined = '"Otter,begins\n' + "".join(f"It dives {n},d\n" for n in range(20)) + 'Once, more,d\nIt ends,an otter"\n'
    (tmp_path / "a.csv").write_text("article,title\n" + texts + joined)
    (note,) = layout_notes(tmp_path / "a.csv")
    assert "a.csv:20: one row has 23 lines" in note

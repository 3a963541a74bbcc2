import csv
import re

import pandas as pd
import pytest

from sumcurve.tables.table import Column, Name, Table, Value, number, probability, span, write_table

TABLE = Table(
    "t",
    "A <caption> of 5 %",
    [
        Column("name", "name"),
        Column("count", None, "count"),
        Column("value", "σ [%]", "number", 2, interval=True),
        Column("p", "p", "p"),
    ],
    [
        {"name": "a_b", "count": 1200, "value": Value(1.0, 0.5, 2.25, bold=True), "p": 0.0000499},
        {"name": "c&d", "value": Value(-0.00001), "p": 0.5},
        {"name": "e|f", "count": 3, "value": Value(None, why="it is 0"), "p": 1.0},
        {"name": "g", "value": Value(None, why="it is 0")},
        {"name": "h", "value": Value(7, sign="≤")},
    ],
    ["a_note.", ""],
)


def test_csv_holds_every_column_and_the_reasons_with_fixed_decimals() -> None:
    assert list(csv.reader(TABLE.csv().splitlines())) == [
        ["name", "count", "value", "value_low", "value_high", "p", "reason"],
        ["a_b", "1200", "1.0000", "0.5000", "2.2500", "0.000050", ""],
        ["c&d", "", "0.0000", "", "", "0.500000", ""],
        ["e|f", "3", "", "", "", "1.000000", "it is 0"],
        ["g", "", "", "", "", "", "it is 0"],
        ["h", "", "7.0000", "", "", "", ""],
    ]
    assert "\r" not in TABLE.csv()


def test_people_see_the_titled_columns_and_each_reason_once() -> None:
    lines = TABLE.markdown().splitlines()
    assert lines[0] == "A \\<caption> of 5 %"
    assert lines[2:] == [
        "| name | σ [%] | p |",
        "| --- | ---: | ---: |",
        "| a_b | **1.00 [0.50, 2.25]** | <0.0001 |",
        "| c&d | 0.00 | 0.500 |",
        "| e\\|f | – [1] | 1.00 |",
        "| g | – [1] | – |",
        "| h | ≤ 7 | – |",
        "",
        "[1] it is 0.",
        "",
        "a_note.",
    ]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines if line.startswith("|")} == {4}


def test_a_table_without_rows_is_not_written(tmp_path) -> None:
    write_table(Table("empty", "", TABLE.columns, []), tmp_path)
    assert not list(tmp_path.iterdir())
    write_table(TABLE, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_a_row_holds_nothing_that_no_column_shows() -> None:
    with pytest.raises(ValueError, match="table t: a row has colour, which no column shows"):
        Table("t", "", TABLE.columns, [{"name": "a", "colour": "red"}])


@pytest.mark.parametrize(
    ("form", "value", "text"),
    [
        *((number, *pair) for pair in ((1234.567, "1,234.57"), (-0.001, "0.00"), (-1.5, "−1.50"), (12345, "12,345"))),
        *((number, *pair) for pair in ((0, "0"), (None, "–"), (pd.NA, "–"))),
        *((probability, *pair) for pair in ((0.00004, "<0.0001"), (0.0123456, "0.0123"), (0.5, "0.500"))),
        *((probability, *pair) for pair in ((1.0, "1.00"), (None, "–"))),
        (lambda ends: span(*ends, decimals=1), (1, -2.04, 3.06), "1 [−2.0, 3.1]"),
        (lambda ends: span(*ends), (1.0, None, None), "1.00"),
        (lambda ends: span(*ends), (None, None, None), "–"),
    ],
)
def test_numbers_for_people(form, value, text) -> None:
    assert form(value) == text


def test_latex_holds_every_cell_and_escapes_what_is_special():
    columns = [Column("who", "who & 100 %"), Column("x", "score_1", "number", interval=True)]
    rows = [
        {"who": Name("a_b", "a_b†¶"), "x": Value(-1.5, -2.0, -1.0, bold=True)},
        {"who": "50 % of $5 {c} \\ ~^#", "x": Value(None, why="1 < 2")},
    ]
    text = Table("t", "A caption: 5 % & more", columns, rows, ["Note_1."]).tex()
    for line in (
        r"\begin{tabular}{lr}",
        r"who \& 100 \% & score\_1 \\",
        r"a\_b\textsuperscript{\textdagger}\textsuperscript{\textparagraph} & \textbf{$-$1.50 [$-$2.00, $-$1.00]} \\",
        r"50 \% of \$5 \{c\} \textbackslash{} \textasciitilde{}\textasciicircum{}\# & – [1] \\",
        r"\caption{A caption: 5 \% \& more}",
        r"\par\footnotesize [1] 1 $<$ 2.",
        r"\par\footnotesize Note\_1.",
    ):
        assert line in text.splitlines(), line
    assert text.count(r"\begin") == text.count(r"\end")
    assert text.rstrip().endswith(r"\end{table}")

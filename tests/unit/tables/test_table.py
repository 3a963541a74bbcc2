import csv
import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from sumcurve.tables.table import bold, escape_latex, number, span, write_table

FRAME = pd.DataFrame(
    {
        "name": ["a_b", "c&d", "e|f"],
        "count": pd.array([1200, None, 3], dtype="Int64"),
        "value": [1.0, -0.00001, float("nan")],
        "p": [0.0000499, 0.5, 1.0],
    }
)
SHOWN = pd.DataFrame({"name": ["a_b", "c&d", "e|f"], "σ [%]": ["−1.00 [−2.00, 0.00]", "–", "– [1]"]})


@pytest.fixture
def written(tmp_path):
    write_table(FRAME, tmp_path, "t", "A <caption> of 5 %", SHOWN, ["[1] a_note."], {"p": 6})
    return {suffix: (tmp_path / f"t.{suffix}").read_text() for suffix in ("csv", "md", "tex", "html")}


def test_csv_holds_all_rows_with_fixed_decimals(written) -> None:
    rows = list(csv.reader(written["csv"].splitlines()))
    assert rows == [
        ["name", "count", "value", "p"],
        ["a_b", "1200", "1.0000", "0.000050"],
        ["c&d", "", "0.0000", "0.500000"],
        ["e|f", "3", "", "1.000000"],
    ]
    assert "\r" not in written["csv"]


def test_markdown_rows_have_equal_numbers_of_cells(written) -> None:
    lines = [line for line in written["md"].splitlines() if line.startswith("|")]
    assert len(lines) == 2 + len(SHOWN)
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {3}
    assert lines[1] == "| --- | ---: |"
    assert "A <caption> of 5 %" in written["md"]
    assert "[1] a_note." in written["md"]


def test_latex_is_well_formed(written) -> None:
    text = written["tex"]
    body = text[text.index(r"\toprule") : text.index(r"\bottomrule")]
    rows = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert len(rows) == 1 + len(SHOWN)
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {1}
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    assert not re.findall(r"(?<!\\)[_#]", text.replace(r"\label{tab:t}", ""))
    assert len(re.findall(r"(?<!\\)\$", text)) % 2 == 0
    begun = re.findall(r"\\begin\{(\w+)\}", text)
    assert begun == re.findall(r"\\end\{(\w+)\}", text)[::-1] == ["table", "tabular"]
    assert text.isascii()


def test_latex_escapes_what_it_would_read() -> None:
    assert escape_latex(r"a\b_c 5% {x} ~ ^ $") == (
        r"a\textbackslash{}b\_c 5\% \{x\} \textasciitilde{} \textasciicircum{} \$"
    )
    assert escape_latex("σ → −1") == r"$\sigma$ $\to$ $-$1"


class Cells(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        self.open.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def test_html_holds_the_same_cells_and_asks_for_nothing(written) -> None:
    page = Cells()
    page.feed(written["html"])
    assert page.rows == [
        list(SHOWN.columns),
        *(list(row) for row in SHOWN.itertuples(index=False, name=None)),
    ]
    assert not page.links
    assert "<caption>" not in written["html"]
    assert "A &lt;caption&gt; of 5 %" in written["html"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234.567, "1,234.57"),
        (-0.001, "0.00"),
        (-1.5, "−1.50"),
        (12345, "12,345"),
        (0, "0"),
        (None, "–"),
        (pd.NA, "–"),
    ],
)
def test_numbers_for_people(value, text) -> None:
    assert number(value) == text


def test_a_span_shows_what_there_is() -> None:
    assert span(1, -2.04, 3.06, decimals=1) == "1 [−2.0, 3.1]"
    assert span(1.0, None, None) == "1.00"
    assert span(None, None, None) == "–"


def test_bold_cells_are_bold_in_every_form_and_count_as_numbers(tmp_path) -> None:
    shown = pd.DataFrame({"name": ["a", "b"], "x": [bold("1.50 [1.00, 2.00]"), "−0.50"]})
    write_table(FRAME, tmp_path, "t", "caption", shown)
    texts = {suffix: (tmp_path / f"t.{suffix}").read_text() for suffix in ("md", "tex", "html")}
    assert "| **1.50 [1.00, 2.00]** |" in texts["md"]
    assert "| --- | ---: |" in texts["md"]
    assert r"\textbf{1.50 {[}1.00, 2.00{]}}" in texts["tex"]
    assert '<td class="number"><b>1.50 [1.00, 2.00]</b></td>' in texts["html"]
    assert "**" not in texts["tex"] + texts["html"]

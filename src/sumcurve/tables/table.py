"""Table of a study: its columns, rows and notes; as CSV for programs, Markdown, HTML and LaTeX for people.

A row is a dict by column name. A cell is a number, a text, a `Value` (a number with its interval, or the reason why
there is none), or nothing. A CSV holds every column with its own number of decimals, so that equal numbers give equal
bytes; people see the columns that have a title, and reasons as notes.
"""

import html
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from sumcurve.store.records import csv_text, write_text

NOTHING = "–"
ROUNDING = 1e-9  # nearer values are 0
SINGLE = ("method", "metric")  # columns of names whose facts have columns without their name
MOST_DECIMALS = 9  # beyond which a number has an exponent
DECIMALS = 4  # of a number in a CSV, if the column's own are fewer
BOLD = re.compile(r"\*\*(.*)\*\*")
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 1.5rem; }
figure { margin: 0; overflow-x: auto; }
figcaption { max-width: 60rem; margin-bottom: .8rem; }
table { border-collapse: collapse; border-top: 2px solid #1a1a1a; border-bottom: 2px solid #1a1a1a; }
th, td { padding: .25rem .7rem; text-align: left; white-space: nowrap; }
th { border-bottom: 1px solid #1a1a1a; vertical-align: bottom; }
.number, th:has(.number) { text-align: right; font-variant-numeric: tabular-nums; }
td.rule { border-top: 1px solid #bbb; }
.note { max-width: 60rem; color: #444; font-size: .9em; margin: .5rem 0 0; overflow-wrap: anywhere; }
"""

Row = Mapping[str, Any]


class Name(str):
    """A name for programs: equal to the name alone, as in a CSV, which has its `facts` in further columns.

    People see it with its marks, as `shown`: in tables, and wherever an f-string puts it into a sentence.
    """

    shown: str
    facts: Mapping[str, str]

    def __new__(cls, name: str, shown: str = "", facts: Mapping[str, str] | None = None) -> "Name":
        made = super().__new__(cls, name)
        made.shown, made.facts = shown or name, facts or {}
        return made

    def __format__(self, how: str) -> str:
        return format(self.shown, how)


@dataclass(frozen=True)
class Value:
    """A number with its interval, where there is one; without a number, `why` has the reason.

    `bold` is for people; `sign` stands before the number (">", "≤") where it is a bound, `mark` behind it where a note
    is about it. `decimals` are its own, where a column holds values of several metrics.
    """

    number: float | None
    low: float | None = None
    high: float | None = None
    why: str = ""
    bold: bool = False
    sign: str = ""
    mark: str = ""
    decimals: int | None = None


@dataclass(frozen=True)
class Column:
    """A column: `name` in the CSV, `title` for people, None where a CSV alone holds it.

    `kind` is "text", "count" (a whole number), "number" (with `decimals`), or "p" (a probability of chance, three
    significant digits). With `interval` the CSV has `name`, `name_low` and `name_high`; people see the interval unless
    the column is `narrow`.
    """

    name: str
    title: str | None
    kind: Literal["text", "count", "number", "p"] = "text"
    decimals: int = 2
    interval: bool = False
    narrow: bool = False

    @property
    def names(self) -> list[str]:
        return [self.name, f"{self.name}_low", f"{self.name}_high"] if self.interval else [self.name]


@dataclass(frozen=True)
class Table:
    """A table of a study: `name` is that of its files, `caption` stands over it and `notes` below."""

    name: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    notes: Sequence[str] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        known = {column.name for column in self.columns}
        for row in self.rows:
            if strange := sorted(set(row) - known):
                raise ValueError(f"table {self.name}: a row has {', '.join(strange)}, which no column shows")

    def frame(self) -> pd.DataFrame:
        """Content of the CSV, numbers unrounded; the facts behind marks of names follow the table's own columns."""
        facts = self._facts()
        rows = []
        for row in self.rows:
            cells: dict[str, Any] = {}
            for column in self.columns:
                cell = row.get(column.name)
                ends = (cell.number, cell.low, cell.high) if isinstance(cell, Value) else (cell, None, None)
                cells |= dict(zip(column.names, ends, strict=False))
            for (name, fact), column_name in facts.items():
                cell = row.get(name)
                cells[column_name] = cell.facts.get(fact, "") if isinstance(cell, Name) else ""
            if self._reasoned:
                cells["reason"] = "; ".join(dict.fromkeys(_reasons(row)))
            rows.append(cells)
        names = [name for column in self.columns for name in column.names]
        names += [*facts.values(), *(["reason"] if self._reasoned else [])]
        frame = pd.DataFrame(rows, columns=names)
        kinds = {name: column.kind for column in self.columns for name in column.names}
        types = {"count": "Int64", "number": "float", "p": "float"}
        return frame.astype({name: types[kind] for name, kind in kinds.items() if kind in types})

    def _facts(self) -> dict[tuple[str, str], str]:
        """Columns of facts, by column of names and fact: `reads_source` of a method, `first_reads_source` of two."""
        own = {column.name for column in self.columns}
        return {
            (name, fact): fact if name in SINGLE and fact not in own else f"{name}_{fact}"
            for name in dict.fromkeys(column.name for column in self.columns)
            for row in self.rows
            if isinstance(cell := row.get(name), Name)
            for fact in cell.facts
        }

    @property
    def _reasoned(self) -> bool:
        return any(_reasons(row) for row in self.rows)

    def csv(self) -> str:
        frame = self.frame()
        column_of = {name: column for column in self.columns for name in column.names}
        rows = (
            [_plain(value, column_of.get(name)) for name, value in zip(frame.columns, row, strict=True)]
            for row in frame.itertuples(index=False, name=None)
        )
        return csv_text(frame.columns, rows)

    @property
    def titles(self) -> dict[str, str]:
        """Titles of the shown columns, by name."""
        return {column.name: column.title for column in self.columns if column.title is not None}

    @property
    def numeric(self) -> set[str]:
        """The columns that are set flush right."""
        return {column.name for column in self.columns if column.kind != "text"}

    def shown(self) -> tuple[pd.DataFrame, list[str]]:
        """Ready cells of the columns that people see, by name; all notes: the reasons in cells, then the table's."""
        reasons = list(dict.fromkeys(why for row in self.rows for why in _reasons(row)))
        columns = [column for column in self.columns if column.title is not None]
        cells = [[_cell(row.get(column.name), column, reasons) for column in columns] for row in self.rows]
        notes = [f"[{place}] {_sentence(why)}" for place, why in enumerate(reasons, start=1)]
        notes += [note.strip() for note in self.notes if note.strip()]
        return pd.DataFrame(cells, columns=[*self.titles]), notes

    def markdown(self) -> str:
        """The table between its caption and its notes."""

        def line(cells: Iterable[str]) -> str:
            return "| " + " | ".join(cell.replace("\\", "\\\\").replace("|", "\\|") for cell in cells) + " |"

        shown, notes = self.shown()
        rule = ["---:" if name in self.numeric else "---" for name in shown]
        lines = map(line, [self.titles.values(), rule, *shown.itertuples(index=False, name=None)])
        return "\n\n".join([without_markup(self.caption), "\n".join(lines), *notes]) + "\n"

    def html(self) -> str:
        """A page with the table and its notes."""
        shown, notes = self.shown()
        caption = html.escape(self.caption)
        lines = [
            "<!DOCTYPE html>",
            f'<html lang="en"><head><meta charset="utf-8"><title>{caption}</title>',
            f"<style>{STYLE}</style></head><body><figure>",
            f"<figcaption>{caption}</figcaption>",
            self._html_of(shown),
            *(f'<p class="note">{html.escape(note)}</p>' for note in notes),
            "</figure></body></html>",
        ]
        return "\n".join(lines) + "\n"

    def html_table(self) -> tuple[str, list[tuple[str, str]]]:
        """The `<table>` without the columns that are constant, and heading and cell of those."""
        shown, _ = self.shown()
        varied = [name for name in shown if len(shown) < 2 or shown[name].nunique() > 1] or [*shown]
        constant = [(title, shown[name][0]) for name, title in self.titles.items() if name not in varied]
        return self._html_of(shown[varied]), constant

    def _html_of(self, shown: pd.DataFrame) -> str:
        """HTML of the table, with the column's name as `data-column` of a heading, and rules between first cells."""
        flush = {name: "number" if name in self.numeric else "" for name in shown}

        def heading(name: str) -> str:
            return f'<span class="{flush[name]}" data-column="{name}">{html.escape(self.titles[name])}</span>'

        first = shown.iloc[:, 0]
        rules = pd.Series(np.where(first == first.shift().fillna(first), "", " rule"))
        styler = shown.style.hide(axis="index").format(_html).format_index(heading, axis=1)
        styler.cell_ids = False
        styler.set_td_classes(pd.DataFrame(flush, shown.index).add(rules, axis=0))
        return str(styler.to_html(table_uuid=self.name)).partition("</style>\n")[2]  # of styles it has none

    def tex(self) -> str:
        """LaTeX for a paper: a `table` of `booktabs` rules with the notes below, in the Unicode that LuaLaTeX reads."""
        shown, notes = self.shown()
        styler = shown.style.hide(axis="index").format(_tex).format_index(lambda name: _tex(self.titles[name]), axis=1)
        flush = "".join("r" if name in self.numeric else "l" for name in shown)
        body = styler.to_latex(caption=_tex(self.caption), label=f"tab:{self.name}", column_format=flush, hrules=True)
        below = [f"\\par\\footnotesize {_tex(note)}" for note in notes]
        return str(body).replace("\\end{table}", "\n".join([*below, "\\end{table}"]))


def write_table(table: Table, folder: Path, form: str = "csv") -> None:
    """Write name.csv, or the table as "tex", into `folder`; nothing without rows."""
    if table.rows:
        text = {"csv": table.csv, "tex": table.tex}[form]()
        write_text(folder / f"{table.name}.{form}", text)


def listed(names: Sequence[str]) -> str:
    """Join names with commas, and "and" before the last."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def number(value: Any, decimals: int = 2) -> str:
    """A cell for people: thousands apart, a true minus sign, none before zero, a dash for nothing."""
    if value is None or pd.isna(value):
        return NOTHING
    text = f"{value:,}" if isinstance(value, int | np.integer) else f"{value:,.{decimals}f}"
    if decimals > MOST_DECIMALS and isinstance(value, float):
        text = f"{value:.2e}" if value else "0"
    if text.startswith("-"):
        text = "−" + text[1:] if text.strip("-0.,") else text[1:]
    return text


def significant(value: Any, digits: int = 3) -> str:
    """A number with so many significant digits, such as a measured time: 15,863.73 is 15,900."""
    if value is None or pd.isna(value):
        return NOTHING
    if value == 0:
        return "0"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    return number(round(float(value), places), max(0, places))


def probability(value: Any) -> str:
    """A p value: three significant digits."""
    if value is None or pd.isna(value):
        return NOTHING
    return "<0.0001" if value < 0.0001 else f"{value:.{max(2, 2 - math.floor(math.log10(value)))}f}"


def span(value: Any, low: Any, high: Any, decimals: int = 2) -> str:
    """A cell that holds a value with its interval."""
    text = number(value, decimals)
    if text == NOTHING or low is None or pd.isna(low):
        return text
    return f"{text} [{_end(low, decimals)}, {_end(high, decimals)}]"


def _end(value: Any, decimals: int) -> str:
    """An end of an interval: with more decimals where it would print as 0 and is not, since 0 is in or out by it."""
    text = number(value, decimals)
    if text.strip("0.") or abs(value) < ROUNDING:
        return text
    return number(value, -math.floor(math.log10(abs(value))))


def _reasons(row: Row) -> list[str]:
    return [cell.why for cell in row.values() if isinstance(cell, Value) and cell.why]


def _sentence(text: str) -> str:
    return text if text.endswith(".") else text + "."


def _cell(cell: Any, column: Column, reasons: Sequence[str]) -> str:
    value = cell if isinstance(cell, Value) else Value(cell)
    if column.kind == "text":
        plain = value.number if isinstance(cell, Value) else cell
        text = NOTHING if plain is None or plain == "" else plain.shown if isinstance(plain, Name) else str(plain)
    elif column.kind == "p":
        text = probability(value.number)
    elif column.kind == "count":
        text = number(None if value.number is None or pd.isna(value.number) else int(value.number))
    else:
        decimals = column.decimals if value.decimals is None else value.decimals
        text = number(value.number, decimals) if column.narrow else span(value.number, value.low, value.high, decimals)
    if value.sign and text != NOTHING:
        text = f"{value.sign} {text}"
    if value.mark and text != NOTHING:
        text += value.mark
    if value.why:
        text += f" [{reasons.index(value.why) + 1}]"
    return f"**{text}**" if value.bold else text


def _plain(value: Any, column: Column | None) -> str:
    if value is None or pd.isna(value):
        return ""
    if isinstance(value, float):
        decimals = DECIMALS if column is None else 6 if column.kind == "p" else max(DECIMALS, column.decimals)
        text = f"{value:.{decimals}f}"
        return text.lstrip("-") if not text.strip("-0.") else text
    return str(value)


TEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "−": "$-$",
    "≤": "$\\leq$",
    "≥": "$\\geq$",
    "<": "$<$",
    ">": "$>$",
    "×": "$\\times$",
    "†": "\\textsuperscript{\\textdagger}",
    "‡": "\\textsuperscript{\\textdaggerdbl}",
    "¶": "\\textsuperscript{\\textparagraph}",
}


def _tex(cell: str) -> str:
    """A text whose every character stands for itself in LaTeX; bold where it is."""
    text, heavy = _parts(cell)
    text = "".join(TEX.get(sign, sign) for sign in text)
    return f"\\textbf{{{text}}}" if heavy else text


def _html(cell: str) -> str:
    text, heavy = _parts(cell)
    return f"<b>{html.escape(text)}</b>" if heavy else html.escape(text)


def _parts(cell: str) -> tuple[str, bool]:
    """A cell's text and whether it is bold."""
    bold = BOLD.fullmatch(cell)
    return (bold[1], True) if bold else (cell, False)


def without_markup(text: str) -> str:
    """Markdown of a text that starts no tag, code or emphasis; brackets of intervals are followed by no link."""
    for sign in "\\`*<":
        text = text.replace(sign, f"\\{sign}")
    return text

"""Rows of a file: cells of a table by column, values of JSON, rows of Parquet, or lines of text, each with its place.

Parquet and JSON are known by how they begin, a list of objects, one object or an object a line; any other file is a
table where its name ends in .csv or .tsv, JSON where it ends in .jsonl, .ndjson or .json (before .gz and the like).
"""

import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from sumcurve.files import parquet
from sumcurve.files.content import LONG_LINE, PARQUET, encoding_of, is_parquet, opened, text_of
from sumcurve.files.errors import FileError, Refused
from sumcurve.files.layout import Layout
from sumcurve.files.objects import BOM, DECODER, LIST, NOT_JSON, NOT_UTF8, REPEATED_KEY, begins_as_json, values
from sumcurve.files.tables import (
    CELLS,
    DELIMITERS,
    EMPTY_LINE,
    FIRST,
    INDEX,
    TABLES,
    delimiter_of,
    fitting,
    plain_name,
    reader_of,
    table_of,
)

JSON_NAMES = (".jsonl", ".ndjson", ".json")
MOSTLY = 0.9  # of the first rows of a table have as many cells as line 1
PANDAS_INDEX = "__index_level_0__"  # name of a data frame's index in Parquet
COMMA = re.compile(r"[-+]?\d+,\d+", re.ASCII)  # a number with a decimal comma, or with a sign for thousands
THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}", re.ASCII)
POINT = re.compile(r"[-+]?\d*\.\d+", re.ASCII)
THOUSANDS_BY_POINT = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+", re.ASCII)
FAULTS = {  # a refused row's reason in an error, with its value and the remedy
    CELLS: '{value}: quote cells that hold the delimiter or a line break, write an empty cell as "", a number '
    "without sign for thousands",
    NOT_JSON: "not JSON ({value}): write one value a line, or one list of objects",
    REPEATED_KEY: "not JSON (the key {value} stands twice in an object): write each key once",
    NOT_UTF8: "no UTF-8 ({value}): repair the text",
    LONG_LINE: "a line that is too long ({value}): is it one row?",
}

Kind = Literal["table", "json", "text"]


@dataclass(frozen=True)
class Row:
    """A row's place, `file:line`, and its value: a mapping, a JSON value, or a line's text.

    `line` is where it begins; `number` counts rows from 1, as a spreadsheet does, line 1 of a table included.
    """

    place: str
    line: int
    number: int
    value: Any


@dataclass(frozen=True)
class Rows:
    """The rows of a file; `columns` and the `decimal` sign are a table's, `guesses` sentences for people."""

    kind: Kind
    rows: list[Row]
    columns: tuple[str, ...] = ()
    decimal: str = "."
    guesses: list[str] = field(default_factory=list)


def kind_by_name(path: Path) -> Kind | None:
    """The kind of file by its name; None where the name has no known ending."""
    name = plain_name(path)
    return "table" if name.endswith((*TABLES,)) else "json" if name.endswith(JSON_NAMES) else None


def kind_by_content(path: Path) -> Kind | Literal["parquet"] | None:
    """The kind of file by how it begins; by its name where that shows none. FileError as in `content.opened`."""
    text = _beginning(path)
    if text is None:
        return "parquet"
    if LIST.match(text) or text.lstrip().startswith("{"):
        return "json"
    named = kind_by_name(path)
    is_table = named == "table" or max(fitting(text, delimiter) for delimiter in DELIMITERS) >= MOSTLY
    return "table" if is_table else named


def first_cells(path: Path) -> list[str]:
    """Cells of a table's first line, whatever the file's name; [] for another kind. FileError as in `opened`."""
    text = _beginning(path) if kind_by_content(path) == "table" else None
    return next(reader_of(io.StringIO(text, newline=""), delimiter_of(text, ",")), []) if text else []


def _beginning(path: Path) -> str | None:
    """The beginning of a file's text; None of Parquet."""
    with opened(path) as stream:
        head = stream.read(FIRST)
    if head.startswith(PARQUET):
        return None
    return head.decode(encoding_of(head.split(b"\n")).name, errors="replace").removeprefix(BOM)


def read_rows(path: Path, layout: Layout, other: Kind) -> Rows:
    """The rows of a file; one whose kind is clear neither by content nor name is of kind `other`.

    FileError names file, line and remedy of the first invalid row; blank lines are skipped, except in plain text.
    """
    if is_parquet(path):
        found = enumerate(
            (
                {INDEX if n == PANDAS_INDEX else n: v for n, v in row.items()} if isinstance(row, dict) else row
                for row in parquet.rows(path)
            ),
            start=1,
        )
        return Rows("json", [*_rows(path, found)])
    text, guesses = text_of(path, layout.encoding)
    kind = "json" if begins_as_json(text) else kind_by_name(path) or other
    if kind == "table":
        read = _table(path, text, layout)
        return Rows("table", read.rows, read.columns, read.decimal, [*guesses, *read.guesses])
    if kind == "json":
        rows = [*_rows(path, values(path, text.split("\n"), lambda: text, DECODER, layout.rows, other == "table"))]
        for row in rows if "\\u" in text else ():
            _check_halves(row)
        return Rows("json", rows, guesses=guesses)
    lines = text.removesuffix("\n").split("\n") if text else []
    rows = [
        Row(f"{path}:{number}", number, number, line.removesuffix("\r")) for number, line in enumerate(lines, start=1)
    ]
    return Rows("text", rows, guesses=guesses)


def _rows(path: Path, found: Iterable[tuple[int, Any]], start: int = 1) -> Iterator[Row]:
    """Rows with their places, without blank lines; FileError for the first one that is refused."""
    for number, (line, value) in enumerate(found, start=start):
        if not isinstance(value, Refused):
            yield Row(f"{path}:{line}", line, number, value)
        elif value.reason != EMPTY_LINE:
            raise FileError(f"{path}:{line}: {FAULTS[value.reason].format(value=value.value)}")


def _check_halves(row: Row) -> None:
    """Raise FileError where a text holds half of a character, as only an escape can."""
    try:
        json.dumps(row.value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise FileError(f"{row.place}: half of a surrogate pair, which is no character; repair the text") from None


def _table(path: Path, text: str, layout: Layout) -> Rows:
    if not text.strip():
        return Rows("table", [])
    table = table_of(path, lambda: io.StringIO(text, newline=""), layout)
    start = 2 if table.has_heads else 1
    rows = [
        replace(row, value=dict(zip(table.columns, row.value, strict=True)))
        for row in _rows(path, table.rows(is_exact=False), start)
    ]
    decimal = layout.decimal or decimal_of([cell for row in rows for cell in row.value.values()])
    guesses = [*table.guesses]
    if decimal == "," and not layout.decimal:
        guesses.append(f"Decimal sign of {path}: a comma, a guess from its numbers (--decimal).")
    return Rows("table", rows, table.columns, decimal, guesses)


def decimal_of(cells: Sequence[str]) -> str:
    """The decimal sign of numbers: a comma where some have one that cannot part thousands, and none has a point."""
    commas = [cell for cell in map(str.strip, cells) if COMMA.fullmatch(cell)]
    is_comma = any(not THOUSANDS.fullmatch(cell) for cell in commas)
    return "," if is_comma and not any(POINT.fullmatch(cell.strip()) for cell in cells) else "."

"""Rows of a file: cells of a table by column, values of JSON, or lines of text, each with the line it begins in.

A name that ends in .csv or .tsv (before .gz, .zst or .xz) is a table's, one in .jsonl, .ndjson or .json is JSON's; any
other file is JSON if it begins with an object or a list of objects. JSON is lines with a value each, or one list.
"""

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sumcurve.files.content import PACKED, text_of
from sumcurve.files.errors import FileError
from sumcurve.files.layout import Layout

JSON_NAMES = (".jsonl", ".ndjson", ".json")
TABLES = {".csv": ",", ".tsv": "\t"}  # delimiters by name
DELIMITERS = (",", ";", "\t", "|")
INDEX = "index"  # name of a table's first column where it has none, as pandas writes its index
FIRST, FIRST_ROWS = 1 << 20, 100  # characters and rows by which a delimiter is known
COMMA = re.compile(r"[-+]?\d+,\d+", re.ASCII)  # a number with a decimal comma, or with a sign for thousands
THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}", re.ASCII)
POINT = re.compile(r"[-+]?\d*\.\d+", re.ASCII)
THOUSANDS_BY_POINT = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+", re.ASCII)
SPACE = re.compile(r"\s*")

Kind = Literal["table", "json", "text"]


class NotFinite(float):
    """NaN, an infinity or a number too large for a float, of JSON; its text is that in the file."""

    written: str

    def __new__(cls, written: str) -> "NotFinite":
        number = super().__new__(cls, written)
        number.written = written
        return number

    def __repr__(self) -> str:
        return self.written


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
    name = _plain(path)
    return "table" if name.endswith((*TABLES,)) else "json" if name.endswith(JSON_NAMES) else None


def delimiter_by_name(path: Path) -> str | None:
    """The sign between cells by a table's name; None where the name is not a table's."""
    return next((delimiter for ending, delimiter in TABLES.items() if _plain(path).endswith(ending)), None)


def read_rows(path: Path, layout: Layout, other: Kind) -> Rows:
    """The rows of a file; one whose kind is clear neither by name nor content is of kind `other`.

    FileError names file, line and remedy of an invalid row; blank lines are skipped, except in plain text.
    """
    text, guesses = text_of(path, layout.encoding)
    kind = kind_by_name(path) or ("json" if _begins_as_json(text) else other)
    if kind == "table":
        read = _table(path, text, layout)
        return Rows("table", read.rows, read.columns, read.decimal, [*guesses, *read.guesses])
    if kind == "json":
        return Rows("json", [*_json(path, text)], guesses=guesses)
    lines = text.removesuffix("\n").split("\n") if text else []
    rows = [
        Row(f"{path}:{number}", number, number, line.removesuffix("\r")) for number, line in enumerate(lines, start=1)
    ]
    return Rows("text", rows, guesses=guesses)


def _plain(path: Path) -> str:
    return path.name.removesuffix(path.suffix if path.suffix in PACKED else "").lower()


# --- tables


def _table(path: Path, text: str, layout: Layout) -> Rows:
    if not text.strip():
        return Rows("table", [])
    csv.field_size_limit(2**31 - 1)  # a cell may hold a whole source
    usual = delimiter_by_name(path) or ","
    delimiter = layout.delimiter or delimiter_of(text, usual)
    guesses = []
    if delimiter not in (layout.delimiter, usual):
        guesses.append(f"Delimiter of {path}: {_sign(delimiter)}, a guess from its first lines (--delimiter).")
    (number, first), *table = _cells(path, text, delimiter)
    columns = [cell.strip() for cell in first]
    if columns[1:] and not columns[0] and INDEX not in columns:
        columns[0] = INDEX
        guesses.append(f"Column 1 of {path} has no name: called {INDEX}.")
    while columns and not columns[-1] and not any(cell for _, row in table for cell in row[len(columns) - 1 :]):
        columns.pop()  # as spreadsheets leave them, empty in all rows
    for name in columns:
        if not name or columns.count(name) > 1:
            problem = f"column {name} stands twice" if name else "a column has no name"
            raise FileError(f"{path}:{number}: {problem} in line 1: give every column its own name")
    rows = []
    for place, (number, row) in enumerate(table, start=2):
        if not any(row) and len(columns) > 1 and len(row) <= 1:
            continue
        if len(row) < len(columns) or any(row[len(columns) :]):
            raise FileError(
                f"{path}:{number}: {len(row)} cells, but line 1 has {len(columns)}: quote cells that hold "
                f'{_sign(delimiter)} or a line break, write an empty cell as "", a number without sign for thousands'
            )
        rows.append(Row(f"{path}:{number}", number, place, dict(zip(columns, row, strict=False))))
    decimal = layout.decimal or decimal_of([cell for row in rows for cell in row.value.values()])
    if decimal == "," and not layout.decimal:
        guesses.append(f"Decimal sign of {path}: a comma, a guess from its numbers (--decimal).")
    return Rows("table", rows, tuple(columns), decimal, guesses)


def _cells(path: Path, text: str, delimiter: str) -> list[tuple[int, list[str]]]:
    """The first line and the cells of every row."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows, line = [], 1
    try:
        for row in reader:
            rows.append((line, row))
            line = reader.line_num + 1
    except csv.Error as error:
        begin = "" if reader.line_num == line else f", in line {reader.line_num} of the row that begins here"
        raise FileError(
            f"{path}:{line}: no row of a table ({error}{begin}): close its quote, or export it again"
        ) from None
    return rows


def delimiter_of(text: str, usual: str) -> str:
    """The sign by which most of the first rows have as many cells as line 1, two at least; else the `usual` one."""

    def fitting(delimiter: str) -> float:
        rows = []
        try:
            for row in csv.reader(io.StringIO(text[:FIRST], newline=""), delimiter=delimiter, strict=True):
                rows += [len(row)] if row else []
                if len(rows) == FIRST_ROWS:
                    break
        except csv.Error:
            pass  # `_cells` names the place
        return sum(row == rows[0] for row in rows) / len(rows) if rows and rows[0] > 1 else 0.0

    return max((usual, *DELIMITERS), key=fitting)  # the first of equal ones


def decimal_of(cells: Sequence[str]) -> str:
    """The decimal sign of numbers: a comma where some have one that cannot part thousands, and none has a point."""
    commas = [cell for cell in map(str.strip, cells) if COMMA.fullmatch(cell)]
    is_comma = any(not THOUSANDS.fullmatch(cell) for cell in commas)
    return "," if is_comma and not any(POINT.fullmatch(cell.strip()) for cell in cells) else "."


def _sign(delimiter: str) -> str:
    return "a tab" if delimiter == "\t" else repr(delimiter)


# --- JSON


def _begins_as_json(text: str) -> bool:
    """Tell whether line 1 is an object, or a list of objects begins there."""
    if re.match(r"\s*\[\s*\{", text):
        return True
    try:
        return isinstance(json.loads(text[: text.find("\n") if "\n" in text else None]), dict)
    except ValueError:
        return False


def _json(path: Path, text: str) -> Iterator[Row]:
    lines = text.split("\n")
    if is_list(lines):
        yield from _elements(path, text)
        return
    count = 0
    for number, line in enumerate(lines, start=1):
        if line.strip():
            count += 1
            try:
                value = DECODER.decode(line)
            except (ValueError, RecursionError) as error:
                raise FileError(
                    f"{path}:{number}: not JSON ({error}): write one value a line, each key of an object once, or one "
                    "list of objects"
                ) from None
            yield _checked(Row(f"{path}:{number}", number, count, value), line)


def is_list(lines: Sequence[str]) -> bool:
    """Tell whether JSON is one list of objects, or a list over several lines, in place of a value a line."""
    first = next((line for line in lines if line.strip()), "")
    if re.match(r"\s*\[\s*\{", first):
        return True
    try:
        json.loads(first)
    except ValueError:
        return first.lstrip().startswith("[")
    return False


def _elements(path: Path, text: str) -> Iterator[Row]:
    """The elements of a list, each with the line that it begins in."""
    at, line, counted, count = text.index("[") + 1, 1, 0, 0
    try:
        while True:
            at = _after_space(text, at)
            line, counted = line + text.count("\n", counted, at), at
            if text[at : at + 1] == "]":
                break
            value, end = DECODER.raw_decode(text, at)
            count += 1
            yield _checked(Row(f"{path}:{line}", line, count, value), text[at:end])
            at = _after_space(text, end)
            if text[at : at + 1] not in (",", "]"):
                raise json.JSONDecodeError("Expecting ',' or ']'", text, at)
            at += text[at] == ","
    except json.JSONDecodeError as error:
        raise FileError(
            f"{path}:{error.lineno}: not JSON ({error.msg}): end the list, or write one value a line"
        ) from None
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path}:{line}: not JSON ({error}): correct the element that begins here") from None
    if text[at + 1 :].strip():
        line += text.count("\n", counted, at)
        raise FileError(f"{path}:{line}: something stands behind the list that ends here: remove it")


def _checked(row: Row, written: str) -> Row:
    """The row; FileError where a text in it holds half of a character, as only an escape can."""
    try:
        if "\\u" in written:
            json.dumps(row.value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise FileError(f"{row.place}: half of a surrogate pair, which is no character; repair the text") from None
    return row


def _after_space(text: str, at: int) -> int:
    return SPACE.match(text, at).end()  # type: ignore[union-attr]


def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object; ValueError where a key stands twice, of which json would keep the last."""
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} stands twice in an object")
    return row


def _number(written: str) -> float:
    number = float(written)
    return number if math.isfinite(number) else NotFinite(written)


DECODER = json.JSONDecoder(object_pairs_hook=once, parse_float=_number, parse_constant=NotFinite)

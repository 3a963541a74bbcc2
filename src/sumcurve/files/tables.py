"""Tables of text cells: their delimiter, their quoting and the names of their columns, and their rows one by one."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from sumcurve.files.content import LONGEST_LINE, PACKED
from sumcurve.files.errors import FileError, Refused, excerpt
from sumcurve.files.layout import Layout

if TYPE_CHECKING:
    import _csv

TABLES = {".csv": ",", ".tsv": "\t"}  # delimiters by name
DELIMITERS = (",", ";", "\t", "|")
INDEX = "index"  # name of a table's first column where it has none, as pandas writes its index
FIRST, FIRST_ROWS = 1 << 20, 100  # characters and rows by which a delimiter is known
MOST_WORDS = 20  # of a column's name
MOST_LETTERS = 120  # likewise, as of Chinese, which has no blanks
FRACTION = re.compile(r"[-+]?\d*[.,]\d+", re.ASCII)
NUMBER = re.compile(rf"[-+]?\d+|{FRACTION.pattern}", re.ASCII)
REMEDY = "double the quotes inside cells and close each, or export it again; a table without quoting: --quoting none"

# Reasons for which a row is refused.
EMPTY_LINE = "empty line"
CELLS = "other number of cells than columns"


def plain_name(path: Path) -> str:
    """The name of a file in small letters, without the ending of a packing."""
    return path.name.removesuffix(path.suffix if path.suffix in PACKED else "").lower()


def delimiter_by_name(path: Path) -> str | None:
    """The sign between cells by a table's name; None where the name is not a table's."""
    return next((delimiter for ending, delimiter in TABLES.items() if plain_name(path).endswith(ending)), None)


@dataclass(frozen=True)
class Table:
    """A table whose `lines()` may be read again; `columns` have its `names`, `guesses` are sentences for people.

    Line 1 has `width` cells, those without a name at its end included.
    """

    path: Path
    lines: Callable[[], Iterable[str]]
    delimiter: str
    is_quoted: bool
    columns: tuple[str, ...]
    width: int
    has_heads: bool
    guesses: tuple[str, ...]

    def rows(self, is_exact: bool = True) -> Iterator[tuple[int, list[str] | Refused]]:
        """The line in which each row begins, and its cells, one for each column; Refused for a row of other cells.

        Where they need not be exact, empty cells behind the last column are left out, and one empty cell is no row.
        FileError for quotes that do not match, and for a cell in a last column without a name.
        """
        count = len(self.columns)
        for line, cells in islice(self._cells(), int(self.has_heads), None):
            has_count = len(cells) in (count, self.width) if is_exact else len(cells) >= count
            if (not cells and is_exact) or (count > 1 and not is_exact and cells in ([], [""])):
                yield line, Refused(EMPTY_LINE, "")
            elif len(cells) == self.width > count and any(cells[count:]):
                raise FileError(f"{self.path}:1: a column has no name, but cells (line {line}): give it one")
            elif not has_count or any(cells[count:]):
                yield line, Refused(CELLS, f"{len(cells)} cells, {count} columns")
            else:
                yield line, cells[:count]

    def _cells(self) -> Iterator[tuple[int, list[str]]]:
        reader = reader_of(self.lines(), self.delimiter, self.is_quoted)
        line = 1
        try:
            for cells in reader:
                yield line, cells
                line = reader.line_num + 1
        except csv.Error as error:
            begin = "" if reader.line_num == line else f", in line {reader.line_num} of the row that begins here"
            raise FileError(f"{self.path}:{line}: no row of a table ({error}{begin}): {REMEDY}") from None


def reader_of(lines: Iterable[str], delimiter: str, is_quoted: bool = True) -> "_csv.Reader":
    """The reader of the standard library, strict as RFC 4180 has it; a cell may hold a whole source."""
    csv.field_size_limit(LONGEST_LINE)
    if not is_quoted:
        return csv.reader(lines, delimiter=delimiter, strict=True, quoting=csv.QUOTE_NONE)
    return csv.reader(lines, delimiter=delimiter, strict=True)


def table_of(
    path: Path, lines: Callable[[], Iterable[str]], layout: Layout, wanted: Sequence[str] | None = None
) -> Table:
    """The table in lines of text, whose ends they keep; with the columns `wanted`, by which its delimiter is known.

    FileError for a column without a name, or with that of another, and for a line 1 that is plainly a row.
    """
    usual = delimiter_by_name(path) or ","
    first = _first(lines())
    delimiter = layout.delimiter or (usual if _has(first, usual, wanted) else delimiter_of(first, usual))
    guesses = []
    if delimiter not in (layout.delimiter, usual):
        guesses.append(f"Delimiter of {path}: {sign(delimiter)}, a guess from its first lines (--delimiter).")
    is_quoted = layout.quoting == "quotes" or (layout.quoting is None and _is_quoted(lines, delimiter))
    if not is_quoted and layout.quoting is None:
        guesses.append(f"Quoting of {path}: none, a guess, since its quotes are no pairs (--quoting).")
    try:
        cells = next(reader_of(lines(), delimiter, is_quoted), [])
    except csv.Error as error:
        raise FileError(f"{path}:1: no row of a table ({error}): {REMEDY}") from None
    if layout.no_heads:
        columns = [str(place) for place, _ in enumerate(cells, start=1)]
    else:
        columns = _names(path, cells, guesses)
    return Table(path, lines, delimiter, is_quoted, (*columns,), len(cells), not layout.no_heads, (*guesses,))


def _names(path: Path, cells: Sequence[str], guesses: list[str]) -> list[str]:
    """The names of the columns in line 1; a first one without a name is called INDEX, the last such are left out."""
    columns = [cell.strip() for cell in cells]
    if columns[1:] and not columns[0] and INDEX not in columns:
        columns[0] = INDEX
        guesses.append(f"Column 1 of {path} has no name: called {INDEX}.")
    while columns and not columns[-1]:
        columns.pop()  # as spreadsheets leave them, empty in all rows
    numbers = [NUMBER.fullmatch(cell) for cell in columns]
    long = next((cell for cell in columns if len(cell.split()) > MOST_WORDS or len(cell) > MOST_LETTERS), None)
    if long or (columns and all(numbers) and any(FRACTION.fullmatch(cell) for cell in columns)):
        raise FileError(
            f"{path}:1: {excerpt(long or columns[0])!r} is no name of a column: say --no-heads, by which columns are "
            "called 1, 2, …, or write their names in line 1"
        )
    for name in columns:
        if not name or columns.count(name) > 1:
            problem = f"column {name} stands twice" if name else "a column has no name"
            raise FileError(f"{path}:1: {problem} in line 1: give every column its own name")
    return columns


def _first(lines: Iterable[str]) -> str:
    """The first lines, until they have as many characters as a delimiter is known by."""
    taken, size = list[str](), 0
    for line in lines:
        taken.append(line)
        size += len(line)
        if size >= FIRST:
            break
    return "".join(taken)


def _has(first: str, delimiter: str, wanted: Sequence[str] | None) -> bool:
    """Tell whether line 1 has all wanted columns by a delimiter."""
    try:
        columns = [cell.strip() for cell in next(reader_of(first.splitlines(True), delimiter), [])]
    except csv.Error:
        return False
    return wanted is not None and {*wanted} <= {*columns}


def _is_quoted(lines: Callable[[], Iterable[str]], delimiter: str) -> bool:
    """Tell whether quotes bound cells: not where they are no pairs, but lines have as many cells and few are in two."""
    try:
        for _ in reader_of(lines(), delimiter):
            pass
        return True
    except csv.Error:
        counts, enclosed, lone = set[int](), 0, 0
        for line in filter(str.strip, lines()):
            cells = line.rstrip("\r\n").split(delimiter)
            counts.add(len(cells))
            if len(counts) > 1:
                return True
            for cell in cells if '"' in line else ():
                is_enclosed = len(cell) > 1 and cell[0] == cell[-1] == '"'
                enclosed += is_enclosed
                lone += not is_enclosed and '"' in cell
        return enclosed > lone


def delimiter_of(text: str, usual: str) -> str:
    """The sign by which most of the first rows have as many cells as line 1, two at least; else the `usual` one."""
    return max((usual, *DELIMITERS), key=lambda delimiter: fitting(text, delimiter))  # the first of equal ones


def fitting(text: str, delimiter: str) -> float:
    """The share of the first rows that have as many cells as line 1; 0 where that has one."""
    rows = []
    try:
        for row in csv.reader(io.StringIO(text[:FIRST], newline=""), delimiter=delimiter, strict=True):
            rows += [len(row)] if row else []
            if len(rows) == FIRST_ROWS:
                break
    except csv.Error:
        pass  # `Table` names the place
    return sum(row == rows[0] for row in rows) / len(rows) if rows and rows[0] > 1 else 0.0


def sign(delimiter: str) -> str:
    return "a tab" if delimiter == "\t" else repr(delimiter)

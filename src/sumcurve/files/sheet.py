"""Tables with named columns: rows of a file, a data frame or a list of mappings, and the roles of their columns.

JSON is one object a row; keys inside objects are named with dots, as `doc.subject`.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumcurve.files.errors import FileError
from sumcurve.files.layout import Layout
from sumcurve.files.rows import COMMA, INDEX, THOUSANDS_BY_POINT, read_rows
from sumcurve.machine.numbers import finite

if TYPE_CHECKING:
    import pandas as pd

# Names of columns that are looked for where a caller names none, whatever their case.
ITEM = ("item", "id", "_id", "doc_id", "docid", "item_id", "example_id", "question_id")
SYSTEM = ("system", "model", "method")
SEED, GROUP, RECORDS = ("seed",), ("group", "cluster"), ("records",)
NO_SCORES = {  # never taken for scores
    *("corpus", "method", "split", "records", "train_seconds", "seconds", "seed", "parameters", "percent", "items"),
    *("updates", "examples", "epochs", INDEX),
}
MOST = Decimal(10) ** 50  # of a number, so that products of several are numbers, too


@dataclass(frozen=True)
class Line:
    """A row of a sheet, with the place that an error names; cells have no blanks around them."""

    place: str
    cells: dict[str, str]

    def error(self, column: str, remedy: str) -> FileError:
        return FileError(f"{self.place}: column {column} holds {self.cells[column]!r}: {remedy}")

    def text(self, column: str) -> str:
        if not self.cells[column]:
            raise self.error(column, "fill it in, or remove the row")
        return self.cells[column]

    def seed(self, column: str) -> str:
        """A seed's name: 1, 1.0 and 01 are one."""
        number = decimal(self.text(column))
        return self.cells[column] if number is None else f"{number.normalize():f}"

    def number(self, column: str, remedy: str = "write a plain number, such as 12.34, or remove the row") -> Decimal:
        number = decimal(self.cells[column])
        if number is None:
            raise self.error(column, remedy)
        if abs(number) > MOST:
            raise self.error(column, f"no result is beyond {MOST:.0e}: correct it, or remove the row")
        return number

    def count(self, column: str, remedy: str) -> int:
        number = self.number(column, remedy)
        if number < 1 or number != number.to_integral_value():
            raise self.error(column, remedy)
        return int(number)


@dataclass(frozen=True)
class Sheet:
    """Rows with their places, as text; `columns` are all that any row has, `guesses` sentences for people."""

    name: str
    columns: tuple[str, ...]
    lines: Sequence[Line]
    guesses: Sequence[str] = field(default=())

    def column(self, wanted: str | None, names: Iterable[str], what: str, option: str) -> str:
        """The column that a caller wants, else the first of these names, whatever their case.

        FileError where there is none.
        """
        if wanted is not None:
            if wanted in self.columns:
                return wanted
            near = difflib.get_close_matches(wanted, self.columns, 1)
            meant = f"; did you mean {near[0]!r}?" if near else "."
            raise FileError(f"{self.name}: no column {wanted!r}{meant} There are: {', '.join(self.columns)}")
        if (column := self.called(names)) is not None:
            return column
        raise FileError(
            f"{self.name}: no column of {what}s among {', '.join(self.columns)}: call it {next(iter(names))!r}, or "
            f"name it ({option})"
        )

    def called(self, names: Iterable[str]) -> str | None:
        """The column of one of these names, whatever its case; None where there is none."""
        folded = {column.casefold(): column for column in reversed(self.columns)}
        return next((folded[name] for name in names if name in folded), None)

    def taken(self, roles: Mapping[str, Sequence[str]]) -> list[str]:
        """Sentences about guesses of the file, the role of each column, and columns that are not used."""
        used = {column for columns in roles.values() for column in columns}
        by_role = [f"{', '.join(columns)} ({role})" for role, columns in roles.items() if columns]
        unused = [column for column in self.columns if column not in used]
        rest = f"; not used: {', '.join(unused)}" if unused else ""
        return [*self.guesses, f"Columns: {'; '.join(by_role)}{rest}."]

    def numeric(self, without: Iterable[str], option: str) -> list[str]:
        """Columns whose every filled cell is a number, and some are; `option` names them in their place.

        FileError for the first cell that is no number where most of its column are.
        """
        columns, left_out = [], {*without}
        for column in self.columns:
            filled = [line for line in self.lines if line.cells[column]]
            bad = [line for line in filled if finite(line.cells[column]) is None]
            if column in left_out or len(bad) > len(filled) / 2 or not filled:
                continue
            if bad:
                remedy = (
                    f"other cells of the column are numbers: write one, remove the row, or name the scores ({option})"
                )
                raise bad[0].error(column, remedy)
            columns.append(column)
        return columns


def decimal(text: str) -> Decimal | None:
    """The number that a text is, with all its digits; None for any other text."""
    return Decimal(text) if finite(text) is not None else None


def sheet_of(source: "str | Path | pd.DataFrame | Sequence[Mapping[str, Any]]", layout: Layout | None = None) -> Sheet:
    """The rows of a file, a data frame (of pandas or polars), or a list of mappings; FileError where there are none."""
    if isinstance(source, str | Path):
        return read_sheet(Path(source), layout)
    if hasattr(source, "to_dicts"):  # polars
        rows = source.to_dicts()
    elif hasattr(source, "to_dict"):
        rows = source.to_dict("records")
    else:
        rows = list(source)
    return _sheet("the table", [(f"row {number}", _flat(row)) for number, row in enumerate(rows, start=1)])


def read_sheet(path: Path, layout: Layout | None = None) -> Sheet:
    """The rows of a table or of JSON; FileError names file, line and remedy."""
    read = read_rows(path, layout or Layout(), "table")
    for row in read.rows:
        if not isinstance(row.value, dict):
            raise FileError(f"{row.place}: a {type(row.value).__name__}, not an object; write one object a line")
    rows = [(row.place, _flat(row.value)) for row in read.rows]
    for place, cells in rows if read.decimal == "," else ():
        for name, cell in cells.items():
            if THOUSANDS_BY_POINT.fullmatch(cell):
                raise FileError(
                    f"{place}: column {name} holds {cell!r}: beside a decimal comma a point parts thousands: write the "
                    "number without it"
                )
        cells |= {name: cell.replace(",", ".") for name, cell in cells.items() if COMMA.fullmatch(cell)}
    return _sheet(str(path), rows, read.columns, read.guesses)


def _sheet(
    name: str,
    rows: Sequence[tuple[str, dict[str, str]]],
    columns: Iterable[str] = (),
    guesses: Sequence[str] = (),
) -> Sheet:
    if not rows:
        raise FileError(f"{name} {'has only a header' if columns else 'is empty'}: it needs names of columns, and rows")
    columns = tuple(columns) or tuple(dict.fromkeys(column for _, cells in rows for column in cells))
    empty = dict.fromkeys(columns, "")
    return Sheet(name, columns, [Line(place, empty | cells) for place, cells in rows], guesses)


def _flat(row: Mapping[str, Any], before: str = "") -> dict[str, str]:
    """Scalars of a row as text, of nested objects with dotted names; lists of scalars joined, as `metrics`."""
    cells: dict[str, str] = {}
    for key, value in row.items():
        name = f"{before}{key}"
        if isinstance(value, Mapping):
            cells |= _flat(value, f"{name}.")
        elif isinstance(value, bool):
            cells[name] = str(int(value))
        elif value is None or value != value:
            cells[name] = ""
        elif isinstance(value, list | tuple):
            cells[name] = ",".join(value) if all(isinstance(part, str) for part in value) else "[…]"  # no number
        else:
            cells[name] = str(value).strip()
    return cells

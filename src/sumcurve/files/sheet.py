"""Tables with named columns: rows of a file, a data frame or a list of mappings, and the roles of their columns.

JSON is one object a row; keys inside objects are named with dots, as `doc.subject`.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from sumcurve.files.errors import FileError
from sumcurve.files.fields import called
from sumcurve.files.layout import Layout
from sumcurve.files.rows import COMMA, THOUSANDS_BY_POINT, read_rows
from sumcurve.files.tables import INDEX
from sumcurve.machine.numbers import finite
from sumcurve.machine.spelling import there_are

# Names of columns that are looked for where a caller names none, whatever their case.
ITEM: Sequence[str] = (
    "item",
    "id",
    "_id",
    "doc_id",
    "docid",
    "item_id",
    "example_id",
    "question_id",
    "sent_id",
    "sentence_id",
)
ITEM = (*ITEM, "segment_id", "seg_id", "sample_id", "instance_id", "article_id", "document_id")
SYSTEM = ("system", "model", "method", "system_name", "sys_name", "system_id", "model_name", "model_id")
SEED, GROUP, RECORDS = ("seed",), ("group", "cluster"), ("records",)
NO_SCORES = {  # never taken for scores
    *("corpus", "method", "split", "records", "train_seconds", "seconds", "seed", "parameters", "percent", "items"),
    *("updates", "examples", "epochs", INDEX),
}
METRIC = re.compile(  # names of scores, which are no names of systems
    r"(r|rouge)[-_. ]?([1-9l]|lsum|su?4)([-_. ](f1?|p|r|fmeasure|precision|recall))?|(sacre)?bleu([-_ ]?[1-4])?|meteor"
    r"|chrf\d?|(bert|bart|mover)[-_ ]?score([-_ ](f1?|p|r|precision|recall))?|bleurt|comet|cider|spice|questeval"
    r"|summac(zs|conv)?|perplexity|accuracy|exact[-_ ]?match|f1",
    re.IGNORECASE,
)
MOST = Decimal(10) ** 50  # of a number, so that products of several are numbers, too


@runtime_checkable
class DataFrame(Protocol):
    """A data frame of pandas or polars, which are not imported to recognise it."""

    @property
    def columns(self) -> Any: ...

    def to_dict(self, *options: Any, **more: Any) -> Any: ...


Source = str | Path | DataFrame | Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Line:
    """A row of a sheet, with the place that an error names; cells have no blanks around them.

    The cell of a NaN is empty; `written` is its text, and that of lists of numbers.
    """

    place: str
    cells: dict[str, str]
    written: Mapping[str, str] = field(default_factory=dict)

    def error(self, column: str, remedy: str) -> FileError:
        return FileError(f"{self.place}: column {column} holds {self.shown(column)}: {remedy}")

    def shown(self, column: str) -> str:
        """The text of a column for an error."""
        return repr(self.written.get(column, self.cells[column]))

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
            raise FileError(f"{self.name}: no column {wanted!r}; {there_are(wanted, self.columns)}")
        if (column := self.called(names)) is not None:
            return column
        raise FileError(
            f"{self.name}: no column of {what}s among {', '.join(self.columns)}: call it {next(iter(names))!r}, or "
            f"name it ({option})"
        )

    def called(self, names: Iterable[str]) -> str | None:
        """The column of one of these names, whatever its case; None where there is none."""
        return called(self.columns, names)

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


def metrics_among(names: Iterable[str], remedy: str) -> str:
    """The end of an error on names of columns that are metrics', with a remedy; empty where there are none."""
    metrics = [name for name in names if METRIC.fullmatch(name.strip())]
    return (
        f"; {', '.join(metrics)} {'is a metric' if len(metrics) == 1 else 'are metrics'}: {remedy}" if metrics else ""
    )


def decimal(text: str) -> Decimal | None:
    """The number that a text is, with all its digits; None for any other text."""
    return Decimal(text) if finite(text) is not None else None


def sheet_of(source: Source, layout: Layout | None = None) -> Sheet:
    """The rows of a file, a data frame (of pandas or polars), or a list of mappings; FileError where there are none."""
    if isinstance(source, str | Path):
        return read_sheet(Path(source), layout)
    if isinstance(source, DataFrame):
        frame = _with_index(source)
        names = [str(name) for name in frame.columns]
        if twice := [name for name in names if names.count(name) > 1]:
            raise FileError(f"the table: column {twice[0]} stands twice: give every column its own name")
    if hasattr(source, "to_dicts"):  # polars
        rows = source.to_dicts()
    elif isinstance(source, DataFrame):
        rows = frame.to_dict("records")
    else:
        rows = list(source)
    return sheet_of_lines("the table", [_line(f"row {number}", row) for number, row in enumerate(rows, start=1)])


def _with_index(frame: Any) -> Any:
    """A data frame of pandas with its index as a column, where that does not only count rows."""
    index = getattr(frame, "index", None)
    if index is None or (index.nlevels == 1 and index.name is None and index.dtype.kind in "iu"):
        return frame
    return frame.rename_axis([name or INDEX for name in index.names]).reset_index()


def read_sheet(path: Path, layout: Layout | None = None) -> Sheet:
    """The rows of a table or of JSON; FileError names file, line and remedy."""
    read = read_rows(path, layout or Layout(), "table")
    for row in read.rows:
        if not isinstance(row.value, dict):
            raise FileError(f"{row.place}: a {type(row.value).__name__}, not an object; write one object a line")
    lines = [_line(row.place, row.value) for row in read.rows]
    for line in lines if read.decimal == "," else ():
        for name, cell in line.cells.items():
            if THOUSANDS_BY_POINT.fullmatch(cell):
                raise FileError(
                    f"{line.place}: column {name} holds {cell!r}: beside a decimal comma a point parts thousands: "
                    "write the number without it"
                )
        line.cells.update({name: cell.replace(",", ".") for name, cell in line.cells.items() if COMMA.fullmatch(cell)})
    return sheet_of_lines(str(path), lines, read.guesses, read.columns)


def sheet_of_lines(name: str, lines: Sequence[Line], guesses: Sequence[str] = (), columns: Iterable[str] = ()) -> Sheet:
    """A sheet of these lines, of which some lack columns of others; FileError where there are none."""
    if not lines:
        raise FileError(f"{name} {'has only a header' if columns else 'is empty'}: it needs names of columns, and rows")
    columns = tuple(columns) or tuple(dict.fromkeys(column for line in lines for column in line.cells))
    empty = dict.fromkeys(columns, "")
    return Sheet(name, columns, [replace(line, cells=empty | line.cells) for line in lines], guesses)


def _line(place: str, row: Mapping[str, Any]) -> Line:
    written: dict[str, str] = {}
    return Line(place, _flat(row, written), written)


def _flat(row: Mapping[str, Any], written: dict[str, str], before: str = "") -> dict[str, str]:
    """Scalars of a row as text, of nested objects with dotted names; lists of scalars joined, as `metrics`.

    Texts of NaN, and of lists of numbers, go into `written`.
    """
    cells: dict[str, str] = {}
    for key, value in row.items():
        name = f"{before}{key}"
        if isinstance(value, Mapping):
            cells |= _flat(value, written, f"{name}.")
        elif isinstance(value, bool):
            cells[name] = str(int(value))
        elif value is None or _is_nan(value):
            cells[name] = ""
            if value is not None:
                written[name] = str(value)
        elif isinstance(value, list | tuple):
            is_text = all(isinstance(part, str) for part in value)
            cells[name] = ",".join(value) if is_text else "[…]"  # no number
            if value and all(isinstance(part, int | float) for part in value):
                written[name] = json.dumps(value)
        else:
            cells[name] = str(value).strip()
    return cells


def _is_nan(value: Any) -> bool:
    try:
        return bool(value != value)
    except TypeError:  # pandas' NA has no truth
        return True

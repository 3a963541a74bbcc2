"""Rows of anybody's results, of a file or a data frame: CSV, TSV, JSON lines, plain or in .gz or .zst.

JSON lines are one object a line; keys inside objects are named with dots, as `doc.subject`.
"""

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumcurve.curves.results_file import Line, read_lines
from sumcurve.machine.arguments import CommandError
from sumcurve.machine.numbers import finite
from sumcurve.machine.spelling import no_file
from sumcurve.rouge_engine.texts import JSON_NAMES
from sumcurve.store.records import open_bytes

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Sheet:
    """Rows with their places, as text; `columns` are all that any row has."""

    name: str
    columns: tuple[str, ...]
    lines: Sequence[Line]

    def column(self, wanted: str | None, names: Iterable[str], what: str, option: str) -> str:
        """The column that a caller wants, else the first of these names, whatever their case.

        CommandError where there is none.
        """
        if wanted is not None:
            if wanted in self.columns:
                return wanted
            near = difflib.get_close_matches(wanted, self.columns, 1)
            meant = f"; did you mean {near[0]!r}?" if near else "."
            raise CommandError(f"{self.name}: no column {wanted!r}{meant} There are: {', '.join(self.columns)}")
        if (known := self.known(names)) is not None:
            return known
        raise CommandError(
            f"{self.name}: no column of {what}s among {', '.join(self.columns)}: call it {next(iter(names))!r}, or "
            f"name it ({option})"
        )

    def known(self, names: Iterable[str]) -> str | None:
        """The column of one of these names, whatever its case; None where there is none."""
        folded = {column.casefold(): column for column in reversed(self.columns)}
        return next((folded[name] for name in names if name in folded), None)

    def taken(self, roles: Mapping[str, Sequence[str]]) -> str:
        """In a sentence, what each column is taken for, and which are not used."""
        used = {column for columns in roles.values() for column in columns}
        known = [f"{', '.join(columns)} ({role})" for role, columns in roles.items() if columns]
        others = [column for column in self.columns if column not in used]
        rest = f"; not used: {', '.join(others)}" if others else ""
        return f"Columns: {'; '.join(known)}{rest}."

    def numeric(self, without: Iterable[str], option: str) -> list[str]:
        """Columns whose every filled cell is a number, and some are; `option` names them in their place.

        ResultsError for the first cell that is none where most of its column are.
        """
        columns, left_out = [], {*without}
        for column in self.columns:
            filled = [line for line in self.lines if line.cells.get(column)]
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


def sheet_of(source: "str | Path | pd.DataFrame | Sequence[Mapping[str, Any]]") -> Sheet:
    """The rows of a file, a data frame (of pandas or polars), or a list of mappings."""
    if isinstance(source, str | Path):
        return read_sheet(Path(source))
    if hasattr(source, "to_dicts"):  # polars
        rows = source.to_dicts()
    elif hasattr(source, "to_dict"):
        rows = source.to_dict("records")
    else:
        rows = list(source)
    lines = [Line(f"row {number}", _flat(row)) for number, row in enumerate(rows, start=1)]
    return _sheet("the table", lines)


def read_sheet(path: Path) -> Sheet:
    """The rows of a file; CommandError or ResultsError names file, line and remedy."""
    if not path.is_file():
        raise CommandError(no_file(path))
    plain = path.with_suffix("") if path.suffix in (".gz", ".zst") else path
    if plain.suffix.lower() not in JSON_NAMES:
        header, lines = read_lines(path)
        return Sheet(str(path), tuple(header), lines)
    lines = []
    with open_bytes(path) as stream:
        for number, text in enumerate(stream, start=1):
            if not text.strip():
                continue
            try:
                row = json.loads(text, object_pairs_hook=_once)
            except ValueError as error:
                raise CommandError(
                    f"{path}:{number}: not JSON ({error}); write one object a line, each key once"
                ) from error
            if not isinstance(row, dict):
                raise CommandError(f"{path}:{number}: a {type(row).__name__}, not an object; write one object a line")
            lines.append(Line(f"{path}:{number}", _flat(row)))
    return _sheet(str(path), lines)


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object; ValueError where a key stands twice, of which json would keep the last."""
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"key {next(name for name in names if names.count(name) > 1)!r} stands twice")
    return row


def _sheet(name: str, lines: Sequence[Line]) -> Sheet:
    if not lines:
        raise CommandError(f"{name} has no row: give one for every item and system")
    return Sheet(name, tuple(dict.fromkeys(column for line in lines for column in line.cells)), lines)


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

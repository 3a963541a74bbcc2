"""Sheets as CSV in UTF-8: to annotators, and back from them.

Texts are from other sources, so a cell that a spreadsheet would compute (it begins with = + - @, a tab or a carriage
return) is written with an apostrophe before it.
"""

import codecs
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sumcurve.capabilities.people.protocols import PeopleError, Protocol
from sumcurve.capabilities.people.sheets import Key, Task, check_of
from sumcurve.files.layout import Layout
from sumcurve.files.rows import read_rows
from sumcurve.store.records import csv_text, write_bytes

CODE, REMARKS = "code", "remarks"
CHECK = "check"  # of answers, which are kept without their texts
COMPUTED = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Row:
    """A row of a filled sheet: its place, for messages, and its cells by column."""

    where: str
    cells: dict[str, str]


def escaped(cell: str) -> str:
    """The cell, escaped so that no spreadsheet computes it."""
    return f"'{cell}" if cell.startswith(COMPUTED) else cell


def write_sheet(path: Path, protocol: Protocol, tasks: Sequence[Task]) -> None:
    """Write the tasks in order, with empty cells for answers; with a mark by which spreadsheets recognise UTF-8."""
    blank = [""] * (len(protocol.questions) + 1)
    columns = [CODE, *protocol.shown, *(question.name for question in protocol.questions), REMARKS]
    rows = ([task.code, *(escaped(task.text.shown[name]) for name in protocol.shown), *blank] for task in tasks)
    write_bytes(path, codecs.BOM_UTF8 + csv_text(columns, rows).encode())


def read_sheet(path: Path, layout: Layout | None = None) -> tuple[list[str], list[Row], list[str]]:
    """The columns of a sheet, its rows that are not empty, and notes on guesses about the file.

    Rows are counted as in a spreadsheet, from 1. PeopleError for a file without column `code`, FileError for a file
    that is no table.
    """
    read = read_rows(path, layout or Layout(), "table")
    columns = [name.casefold() for name in read.columns]
    if CODE not in columns:
        raise PeopleError(
            f"{path}: the first row has no column {CODE!r} (it is {','.join(read.columns)[:60]!r}); restore the "
            "sheet's first row, or save the sheet as CSV in UTF-8"
        )
    if doubled := [name for name in columns if columns.count(name) > 1]:
        raise PeopleError(f"{path}: two columns are called {doubled[0]}; remove one")
    rows = [
        Row(f"{path}, row {row.number}", dict(zip(columns, row.value.values(), strict=True)))
        for row in read.rows
        if any(cell.strip() for cell in row.value.values())
    ]
    return columns, rows, read.guesses


def has_texts(columns: Collection[str], protocol: Protocol) -> bool:
    """Tell whether rows with these columns hold texts, as sheets do, or a check in their place, as answers do."""
    return protocol.judged in columns or CHECK not in columns


def harm(cells: Mapping[str, str], key: Key) -> tuple[str, str] | None:
    """Column and error of a row whose code or texts are not those sent out; None for an intact row.

    A spreadsheet has changed the code, the row is of other sheets, or columns were sorted separately. Sheets are
    identified by their texts, answers without texts by their check.
    """
    code = cells.get(CODE, "").strip()
    if code not in key.entries:
        return CODE, (
            f"{code!r} is no code of these sheets; name the key.json that was written with them, or restore the column "
            "as it went out (a spreadsheet makes numbers, dates and capitals of cells)"
        )
    if not has_texts(cells, key.protocol):
        if cells[CHECK].strip() == key.check(code):
            return None
        return CHECK, (
            f"{cells[CHECK]!r} is not the check of code {code}: the answer is of other sheets, or columns were sorted "
            "apart; name the key.json that was written with these sheets, or write the answers anew"
        )
    for name in key.protocol.shown:
        text = cells.get(name, "")
        if check_of(text) != key.entries[code].checks[name]:
            what = f"not the text of code {code}" if text.strip() else f"no text, but code {code} has one"
            return name, (
                f"{what}: columns were sorted apart, or letters were lost; restore the sheet, sort whole rows, save it "
                "as CSV in UTF-8"
            )
    return None

"""Sheets as CSV in UTF-8: what goes out, and what comes back filled.

Texts are other people's, so a cell that a spreadsheet would compute (it begins with = + - @, a tab or a carriage
return) goes out behind an apostrophe.
"""

import codecs
import csv
import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sumcurve.capabilities.people.protocols import PeopleError, Protocol
from sumcurve.capabilities.people.sheets import Key, Task, check_of
from sumcurve.store.records import csv_text, write_bytes

CODE, REMARKS = "code", "remarks"
CHECK = "check"  # of answers, which are kept without their texts
COMPUTED = ("=", "+", "-", "@", "\t", "\r")
SAVE_AGAIN = "save the sheet as CSV in UTF-8, with commas between its cells"


@dataclass(frozen=True)
class Row:
    """A row that came back: where it stands, for people, and its cells by column."""

    where: str
    cells: dict[str, str]


def escaped(cell: str) -> str:
    """The cell as no spreadsheet computes it."""
    return f"'{cell}" if cell.startswith(COMPUTED) else cell


def write_sheet(path: Path, protocol: Protocol, tasks: Sequence[Task]) -> None:
    """Write the tasks in their order, with empty cells for answers; with a mark, by which spreadsheets know UTF-8."""
    blank = [""] * (len(protocol.questions) + 1)
    columns = [CODE, *protocol.shown, *(question.name for question in protocol.questions), REMARKS]
    rows = ([task.code, *(escaped(task.text.shown[name]) for name in protocol.shown), *blank] for task in tasks)
    write_bytes(path, codecs.BOM_UTF8 + csv_text(columns, rows).encode())


def decoded(path: Path, data: bytes) -> str:
    """The text of a file in UTF-8, with or without its mark; PeopleError names the line of what is not."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise PeopleError(f"{path}:{line}: byte {data[error.start]:#04x} is not UTF-8; {SAVE_AGAIN}") from None


def read_rows(path: Path, text: str) -> tuple[list[str], list[Row]]:
    """The columns of a CSV and its rows that are not empty; rows are counted as a spreadsheet counts them, from 1.

    PeopleError for a file without column `code`, a column that stands twice, and a row with too many cells.
    """
    try:
        first, *table = csv.reader(io.StringIO(text, newline=""), strict=True)
    except csv.Error as error:
        raise PeopleError(f"{path} is no CSV ({error}); {SAVE_AGAIN}") from error
    head = [name.strip().casefold() for name in first]
    if CODE not in head:
        raise PeopleError(
            f"{path}: the first row has no column {CODE!r} (it is {','.join(first)[:60]!r}); restore the sheet's first "
            f"row, or {SAVE_AGAIN}"
        )
    if doubled := sorted({name for name in head if name and head.count(name) > 1}):
        raise PeopleError(f"{path}: two columns are called {doubled[0]}; remove one")
    rows = []
    for number, cells in enumerate(table, start=2):
        if any(cell.strip() for cell in cells[len(head) :]):
            raise PeopleError(
                f"{path}, row {number}: {len(cells)} cells for {len(head)} columns; a text with a comma lost its "
                "quotes, or a cell was put in: restore the row"
            )
        if any(cell.strip() for cell in cells):
            rows.append(Row(f"{path}, row {number}", dict(zip(head, cells, strict=False))))
    return head, rows


def has_texts(columns: Collection[str], protocol: Protocol) -> bool:
    """Whether rows with these columns hold texts, as sheets do, or a check in place of them, as answers do."""
    return protocol.judged in columns or CHECK not in columns


def harm(cells: Mapping[str, str], key: Key) -> tuple[str, str] | None:
    """Column and what is wrong in it, of a row whose code or texts are not those that went out.

    A spreadsheet has changed the code, the row is of other sheets, or columns were sorted apart. Sheets are known by
    their texts, answers without texts by their check.
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

"""Sheets as CSV: what goes out, and what a spreadsheet made of it when it comes back.

Texts are other people's, so a cell that a spreadsheet would compute (it begins with = + - @, a tab or a carriage
return) goes out behind an apostrophe. What comes back may be in UTF-8, with or without its mark, in UTF-16 or in
Windows-1252, have semicolons or tabs between its cells, and end its lines as any system does.
"""

import codecs
import csv
import io
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sumcurve.capabilities.people.protocols import PeopleError, Protocol
from sumcurve.capabilities.people.sheets import Key, Task, ascii_check_of, check_of
from sumcurve.store.records import csv_text, write_bytes

CODE, REMARKS = "code", "remarks"
CHECK = "check"  # of answers, which are kept without their texts
COMPUTED = ("=", "+", "-", "@", "\t", "\r")
SEPARATORS = (",", ";", "\t")
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
LINE_END = re.compile(r"\r\n|\r|\n")  # \r alone is what "CSV (Macintosh)" has
NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?")
DATE = re.compile(
    r"\d{1,4}[./-]\d{1,2}([./-]\d{1,4})?"  # 2026-03-01, 1/2
    r"|\d{1,2}[. -]?[^\W\d]{3,9}\.?([. -]\d{2,4})?"  # 1-Mar, 1. März 2026
    r"|[^\W\d]{3}[.-]\d{2,4}"  # Mar-26
)


@dataclass(frozen=True)
class Row:
    """A row that came back: where it stands, for people, and its cells by column."""

    where: str
    cells: dict[str, str]


def escaped(cell: str) -> str:
    """The cell as no spreadsheet computes it."""
    return f"'{cell}" if cell.startswith(COMPUTED) else cell


def columns(protocol: Protocol) -> list[str]:
    return [CODE, *protocol.shown, *(question.name for question in protocol.questions), REMARKS]


def write_sheet(path: Path, protocol: Protocol, tasks: Sequence[Task]) -> None:
    """Write the tasks in their order, with empty cells for answers; with a mark, by which spreadsheets know UTF-8."""
    names = columns(protocol)
    rows = []
    for task in tasks:
        shown = [escaped(task.text.shown[name]) for name in protocol.shown]
        rows.append([task.code, *shown, *([""] * (len(names) - 1 - len(shown)))])
    write_bytes(path, codecs.BOM_UTF8 + csv_text(names, rows).encode())


def decoded(path: Path, data: bytes) -> tuple[str, str]:
    """The text of a file, and the encoding that it is in.

    PeopleError where it is in none of UTF-8, UTF-16 and Windows-1252.
    """
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return _decoded(path, data, encoding), encoding
    zeros = [data[place : place + 400 : 2].count(0) for place in (0, 1)]
    if max(zeros) > len(data[:400]) // 4:  # ASCII in UTF-16 without its mark: every other byte is 0
        encoding = "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"
        return _decoded(path, data, encoding), encoding
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return _decoded(path, data, "cp1252"), "cp1252"


def _decoded(path: Path, data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = len(LINE_END.findall(data[: error.start].decode(encoding, "ignore"))) + 1
        raise PeopleError(
            f"{path}:{line}: byte {data[error.start]:#04x} is of no encoding that is read here (UTF-8, UTF-16, "
            "Windows-1252); save the sheet as CSV in UTF-8"
        ) from None


def read_rows(path: Path, text: str) -> tuple[list[str], list[Row]]:
    """The columns of a CSV and its rows that are not empty; rows are counted as a spreadsheet counts them, from 1.

    PeopleError for what has no column `code`.
    """
    separator, skipped = _separator(path, text)
    try:
        table = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error as error:
        raise PeopleError(f"{path} is no CSV ({error}); save the sheet as CSV again") from error
    head = [name.strip().casefold() for name in table[skipped]]
    doubled = sorted({name for name in head if name and head.count(name) > 1})
    if doubled:
        raise PeopleError(f"{path}: two columns are called {doubled[0]}; remove one")
    rows = []
    for number, cells in enumerate(table[skipped + 1 :], start=skipped + 2):
        if not any(cell.strip() for cell in cells):
            continue
        if any(cell.strip() for cell in cells[len(head) :]):
            raise PeopleError(
                f"{path}, row {number}: {len(cells)} cells for {len(head)} columns; a text with a "
                f"{separator!r} lost its quotes, or a cell was put in"
            )
        named = {name: cell for name, cell in zip(head, cells, strict=False) if name}
        rows.append(Row(f"{path}, row {number}", named))
    return [name for name in head if name], rows


def _separator(path: Path, text: str) -> tuple[str, int]:
    """What divides cells, and how many lines stand over the head; Excel writes `sep=;` there."""
    first, second = [*LINE_END.split(text, maxsplit=2), ""][:2]
    told = re.fullmatch(r'"?sep=(.)"?', first.strip(), re.IGNORECASE)
    head = second if told else first
    for separator in (told[1],) if told else SEPARATORS:
        names = [name.strip().casefold() for name in next(csv.reader([head], delimiter=separator), [])]
        if CODE in names:
            return separator, 1 if told else 0
    raise PeopleError(
        f"{path}: the first row has no column {CODE!r} (it is {head.strip()[:60]!r}); restore the sheet's first row"
    )


def strange_code(code: str, key: Key) -> str:
    """Why a code is none of the key's, and what to do."""
    like = next((one for one in key.entries if one.casefold() == code.casefold()), None)
    if like is not None:
        return f"{code!r} is no code of these sheets, {like!r} is: a spreadsheet has changed its case; write {like!r}"
    if NUMBER.fullmatch(code) or DATE.fullmatch(code):
        return (
            f"{code!r} is no code of these sheets but a number or date, which a spreadsheet may have made of one; "
            "restore the column `code` of the sheet that went out"
        )
    if not code:
        return "no code, but other cells are filled; restore the column `code` of the sheet that went out"
    return f"{code!r} is no code of these sheets; name the key.json that was written with them"


def has_texts(columns: Collection[str], protocol: Protocol) -> bool:
    """Whether rows with these columns hold texts, as sheets do, or a check in place of them, as answers do."""
    return protocol.judged in columns or CHECK not in columns


def other_row(cells: Mapping[str, str], key: Key) -> tuple[str, str] | None:
    """Column and what is wrong in it, of a row that is not its code's: of other sheets, or of columns sorted apart.

    Sheets are known by their texts, answers without texts by their check. Where an encoding lost letters, those that
    are left must be of this text alone.
    """
    code = cells[CODE].strip()
    if not has_texts(cells, key.protocol):
        if cells[CHECK].strip() == key.check(code):
            return None
        return CHECK, (
            f"{cells[CHECK]!r} is not the check of code {code}: the answer is of other sheets, or columns were sorted "
            "apart; name the key.json that was written with these sheets, or write the answers anew"
        )
    entry = key.entries[code]
    shown = {name: cells.get(name, "") for name in key.protocol.shown}
    others = [name for name, text in shown.items() if check_of(text) != entry.checks[name]]
    if not others:
        return None
    left = ascii_check_of(shown.values())
    if left and left == entry.ascii_check:
        alike = (one for one in key.entries.values() if one.ascii_check == left)
        if all(one.checks == entry.checks for one in alike):
            return None
    what = f"not the text of code {code}" if shown[others[0]].strip() else f"no text, but code {code} has one"
    return others[0], (
        f"{what}; if columns were sorted apart, restore the sheet, and sort whole rows; if letters were lost, save it "
        "as CSV in UTF-8"
    )

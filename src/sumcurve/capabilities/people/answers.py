"""Filled sheets, whatever file they come back in, as one answer for every code; or an error that names every cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sumcurve.capabilities.people import label_studio
from sumcurve.capabilities.people.protocols import PeopleError, either
from sumcurve.capabilities.people.sheets import MAIN, Key
from sumcurve.capabilities.people.spreadsheet import (
    CHECK,
    CODE,
    REMARKS,
    Row,
    decoded,
    has_texts,
    other_row,
    read_rows,
    strange_code,
)
from sumcurve.store.records import csv_text, write_text

WORKBOOKS = (b"PK\x03\x04", bytes.fromhex("d0cf11e0a1b11ae1"))  # zip (xlsx, ods) and OLE 2 (xls)
SHOWN = 20  # problems that are printed


@dataclass(frozen=True)
class Answers:
    """Complete answers by code and question, the codes that have none yet, and what the files were like."""

    key: Key
    given: Mapping[str, Mapping[str, str]]
    unanswered: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def outcome(self, code: str) -> str:
        return self.key.protocol.outcome(self.given[code])

    def outcomes(self, round_: str, whose: str | None = None) -> dict[str, tuple[str, str]]:
        """Code and outcome by unit, of one round, of one annotator where named."""
        found = {}
        for code in self.given:
            entry = self.key.entries[code]
            if entry.round == round_ and whose in (None, entry.annotator):
                found[entry.unit] = (code, self.outcome(code))
        return found

    def complete(self) -> tuple[dict[str, dict[str, str]], int]:
        """By record the code of every system that was judged there, of main rows; and how many records are left out.

        A record is left out where the text of one of its systems has no answer: what is compared is compared on the
        same records.
        """
        wanted: dict[str, dict[str, str]] = {}
        for code in self.key.codes(MAIN):
            entry = self.key.entries[code]
            wanted.setdefault(entry.id, {}).update(dict.fromkeys(entry.of, code))
        whole = {
            record: codes for record, codes in wanted.items() if all(code in self.given for code in codes.values())
        }
        return whole, len(wanted) - len(whole)


def read_answers(paths: Sequence[Path], key: Key, partial: bool = False) -> Answers:
    """The answers of sheets in CSV and of Label Studio's exports in JSON or CSV.

    Raises PeopleError that names file, row and column of every answer that is half-filled, doubled, contradictory, none
    of those that may be given, of no code of the key, or in a row that is not its code's (`other_row`); and codes
    without any answer unless `partial`.
    """
    notes: list[str] = []
    rows = [row for path in paths for row in _rows(path, key, notes)]
    given: dict[str, dict[str, str]] = {}
    first: dict[str, str] = {}
    problems: list[str] = []
    for row in rows:
        code = row.cells.get(CODE, "").strip()
        if code not in key.entries:
            problems.append(f"{row.where}, column {CODE}: {strange_code(code, key)}")
            continue
        if other := other_row(row.cells, key):
            problems.append(f"{row.where}, column {other[0]}: {other[1]}")
            continue
        answers, wrong = _answers(row, key)
        problems += wrong
        if wrong or not any(answers.values()):
            continue
        if code in given:
            same = "alike" if given[code] == answers else "otherwise"
            problems.append(f"{row.where}: code {code} is answered {same} in {first[code]}, too; keep one of the two")
            continue
        given[code], first[code] = answers, row.where
    unanswered = tuple(code for code in key.entries if code not in given)
    if not partial and not problems and unanswered:
        raise PeopleError(
            f"{len(unanswered)} of {len(key.entries)} codes have no answer ({', '.join(unanswered[:5])}"
            f"{', …' if len(unanswered) > 5 else ''}); name all filled sheets, or read what there is with --partial"
        )
    if problems:
        more = [f"and {len(problems) - SHOWN} more"] if len(problems) > SHOWN else []
        raise PeopleError("\n".join([*problems[:SHOWN], *more]))
    return Answers(key, given, unanswered, tuple(notes))


def write_answers(path: Path, answers: Answers) -> None:
    """Write what a study reads: codes, their checks, and answers, no texts; `read_answers` reads it as a sheet."""
    names = [question.name for question in answers.key.protocol.questions]
    check = answers.key.check
    rows = (
        [code, check(code), *(answers.given[code].get(name, "") for name in names)] for code in sorted(answers.given)
    )
    write_text(path, csv_text([CODE, CHECK, *names], rows))


def _rows(path: Path, key: Key, notes: list[str]) -> list[Row]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PeopleError(f"{path} cannot be read: {error.strerror}") from error
    if data.startswith(WORKBOOKS):
        raise PeopleError(f"{path} is a workbook; save the sheet as CSV (UTF-8)")
    text, encoding = decoded(path, data)
    if not text.strip():
        raise PeopleError(f"{path} is empty; name a filled sheet")
    if encoding not in ("utf-8", "utf-8-sig"):
        notes.append(f"{path} was read as {encoding}.")
    if text.lstrip()[0] in "[{":
        return label_studio.rows_of_json(path, text, key.protocol, notes)
    columns, rows = read_rows(path, text)
    questions = [question.name for question in key.protocol.questions]
    export = label_studio.is_export(columns)
    # An export lacks the column of a question that nobody came to.
    needed = [name for name in questions if not (export and _follows(name, key))]
    # By its texts, or by a check in place of them, a row is known to be its code's.
    known_by = list(key.protocol.shown) if has_texts(columns, key.protocol) else [CHECK]
    needed += known_by
    if missing := [name for name in needed if name not in columns]:
        raise PeopleError(
            f"{path} has no column {missing[0]!r}, which sheets of protocol {key.protocol.name} have; restore it, or "
            "name the key.json that was written with this sheet"
        )
    if export:
        return list(label_studio.rows_of_csv(rows, key.protocol))
    if strange := [name for name in columns if name not in (CODE, *known_by, *questions, REMARKS)]:
        notes.append(f"{path}: columns that were not of the sheet are not read: {', '.join(strange)}.")
    return rows


def _follows(name: str, key: Key) -> bool:
    return next(question.follows is not None for question in key.protocol.questions if question.name == name)


def _answers(row: Row, key: Key) -> tuple[dict[str, str], list[str]]:
    """A row's answers and what is wrong with them; a row without any answer is not judged yet."""
    found: dict[str, str] = {}
    wrong = []
    for question in key.protocol.questions:
        cell = row.cells.get(question.name, "").strip()
        answer = cell.casefold()
        if cell and answer not in question.answers:
            formula = " (a formula)" if cell.startswith(("=", "+", "-", "@")) else ""
            wrong.append(
                f"{row.where}, column {question.name}: {cell!r}{formula} is no answer; write {either(question.answers)}"
            )
        found[question.name] = answer
    if wrong or not any(found.values()):
        return found, wrong
    problem = key.protocol.problem(found)
    return found, [f"{row.where}, column {problem[0]}: {problem[1]}"] if problem else []

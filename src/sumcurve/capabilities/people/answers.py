"""Filled sheets as one answer for every code, or an error that names every wrong cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sumcurve.capabilities.people.protocols import PeopleError, either
from sumcurve.capabilities.people.sheets import MAIN, Key
from sumcurve.capabilities.people.spreadsheet import CHECK, CODE, REMARKS, Row, harm, has_texts, read_sheet
from sumcurve.files.layout import Layout
from sumcurve.store.records import csv_text, write_text

SHOWN = 20  # problems that are printed


@dataclass(frozen=True)
class Answers:
    """Complete answers by code and question, the codes without an answer, and notes about the files."""

    key: Key
    given: Mapping[str, Mapping[str, str]]
    unanswered: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def outcome(self, code: str) -> str:
        return self.key.protocol.outcome(self.given[code])

    def outcomes(self, round_: str, whose: str | None = None) -> dict[str, tuple[str, str]]:
        """Code and outcome by unit, of one round, of one annotator where named."""
        entries = ((code, self.key.entries[code]) for code in self.given)
        return {
            entry.unit: (code, self.outcome(code))
            for code, entry in entries
            if entry.round == round_ and whose in (None, entry.annotator)
        }

    def complete(self) -> tuple[dict[str, dict[str, list[str]]], int]:
        """Complete records: by record and system the codes of main rows, one for each annotator of the record; and the
        number of records left out.

        A record is left out where the text of one of its systems has an annotator without an answer, so that systems
        are compared on the same records.
        """
        wanted: dict[str, dict[str, list[str]]] = {}
        for code in self.key.codes(MAIN):
            entry = self.key.entries[code]
            for system in entry.of:
                wanted.setdefault(entry.id, {}).setdefault(system, []).append(code)
        whole = {
            record: codes
            for record, codes in wanted.items()
            if all(code in self.given for judged in codes.values() for code in judged)
        }
        return whole, len(wanted) - len(whole)


def read_answers(paths: Sequence[Path], key: Key, partial: bool = False, layout: Layout | None = None) -> Answers:
    """The answers of filled sheets.

    Raises PeopleError that names file, row and column of every answer that is incomplete, repeated, contradictory, not
    among those allowed, or in a row that is not its code's (`spreadsheet.harm`); and codes without any answer unless
    `partial`.
    """
    notes: list[str] = []
    rows = [row for path in paths for row in _rows(path, key, notes, layout)]
    given: dict[str, dict[str, str]] = {}
    first: dict[str, str] = {}
    problems: list[str] = []
    for row in rows:
        if harmed := harm(row.cells, key):
            problems.append(f"{row.where}, column {harmed[0]}: {harmed[1]}")
            continue
        code = row.cells[CODE].strip()
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
    """Write a study's input: codes, their checks, and answers, no texts; `read_answers` reads it as a sheet."""
    names = [question.name for question in answers.key.protocol.questions]
    check = answers.key.check
    rows = (
        [code, check(code), *(answers.given[code].get(name, "") for name in names)] for code in sorted(answers.given)
    )
    write_text(path, csv_text([CODE, CHECK, *names], rows))


def _rows(path: Path, key: Key, notes: list[str], layout: Layout | None) -> list[Row]:
    columns, rows, guesses = read_sheet(path, layout)
    notes += guesses
    # Its texts, or a check in place of them, identify a row as its code's.
    known_by = list(key.protocol.shown) if has_texts(columns, key.protocol) else [CHECK]
    needed = [*(question.name for question in key.protocol.questions), *known_by]
    if missing := [name for name in needed if name not in columns]:
        raise PeopleError(
            f"{path} has no column {missing[0]!r}, which sheets of protocol {key.protocol.name} have; restore it, or "
            "name the key.json that was written with this sheet"
        )
    if strange := [name for name in columns if name not in (CODE, *needed, REMARKS, "")]:
        notes.append(f"{path}: columns that were not of the sheet are not read: {', '.join(strange)}.")
    return rows


def _answers(row: Row, key: Key) -> tuple[dict[str, str], list[str]]:
    """A row's answers and its errors; a row without any answer is not judged yet."""
    answers = {question.name: row.cells.get(question.name, "").strip() for question in key.protocol.questions}
    wrong = [
        f"{row.where}, column {name}: {answers[name]!r} is no answer; write {either(allowed)}"
        for name, allowed in ((question.name, question.answers) for question in key.protocol.questions)
        if answers[name] and answers[name].casefold() not in allowed
    ]
    answers = {name: answer.casefold() for name, answer in answers.items()}
    if wrong or not any(answers.values()):
        return answers, wrong
    problem = key.protocol.problem(answers)
    return answers, [f"{row.where}, column {problem[0]}: {problem[1]}"] if problem else []

"""Sheets for Label Studio: tasks to import, the labelling configuration, and its exports as JSON and as CSV.

Formats as its documentation has them (Task format, Choices; 2026): a task is {"data": {...}}; an annotation's result
names the tag (`from_name`) and holds {"choices": [...]}. A CSV export has a row for each annotation, the task's data
as columns, and beside them id, annotator, annotation_id, created_at, updated_at and lead_time; a single choice is its
bare value, several are JSON.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from sumcurve.capabilities.people.protocols import PeopleError, Protocol, in_json
from sumcurve.capabilities.people.sheets import Task
from sumcurve.capabilities.people.spreadsheet import CODE, Row
from sumcurve.store.records import write_bytes, write_text

ANNOTATION = "annotation_id"  # a column of CSV exports
NO_ANSWERS = ("relation", "textarea")  # links between results, and remarks in free text


def write_tasks(path: Path, protocol: Protocol, tasks: Sequence[Task]) -> None:
    """Write what Label Studio imports, in the order of the tasks."""
    made = [{"data": {CODE: task.code, **{name: task.text.shown[name] for name in protocol.shown}}} for task in tasks]
    write_text(path, json.dumps(made, indent=1, ensure_ascii=False) + "\n")


def write_configuration(path: Path, protocol: Protocol) -> None:
    """Write the labelling configuration: texts, and questions that show where they follow."""
    view = ElementTree.Element("View")
    ElementTree.SubElement(view, "Header", value=protocol.title, size="4")
    ElementTree.SubElement(view, "Header", value=protocol.guide, size="5")
    for name, heading in protocol.shown.items():
        ElementTree.SubElement(view, "Header", value=heading)
        ElementTree.SubElement(view, "Text", name=name, value=f"${name}")
    for question in protocol.questions:
        inner = view
        if question.follows is not None:
            before, answer = question.follows
            shown = {"visibleWhen": "choice-selected", "whenTagName": before, "whenChoiceValue": answer}
            inner = ElementTree.SubElement(view, "View", shown)
        ElementTree.SubElement(inner, "Header", value=question.text)
        told = {"name": question.name, "toName": protocol.judged, "choice": "single-radio", "required": "true"}
        if question.follows is not None:
            told |= shown  # a hidden question is neither asked for nor exported
        choices = ElementTree.SubElement(inner, "Choices", told)
        for answer in question.answers:
            ElementTree.SubElement(choices, "Choice", value=answer)
    ElementTree.indent(view)
    write_bytes(path, ElementTree.tostring(view, encoding="utf-8") + b"\n")


def is_export(columns: Sequence[str]) -> bool:
    """Whether a CSV with these columns is an export of annotations."""
    return ANNOTATION in columns


def rows_of_csv(rows: Sequence[Row], protocol: Protocol) -> Iterator[Row]:
    """The annotations of a CSV export that were not skipped, without what is Label Studio's own."""
    for row in rows:
        if row.cells.get("was_cancelled", "").strip().casefold() == "true":
            continue
        kept = {CODE: row.cells.get(CODE, "")}
        kept |= {name: row.cells[name] for name in protocol.shown if name in row.cells}
        where = f"{row.where} (annotation {row.cells.get(ANNOTATION, '?')} by {row.cells.get('annotator', '?')})"
        for question in protocol.questions:
            kept[question.name] = _bare(row.cells.get(question.name, ""), f"{where}, column {question.name}")
        yield Row(where, kept)


def _bare(cell: str, where: str) -> str:
    """The only choice of a cell; PeopleError where there are several."""
    if not re.match(r"\s*[\[{]", cell):
        return cell
    try:
        told = json.loads(cell)
    except ValueError:
        return cell
    found = told if isinstance(told, list) else [told]
    choices = [choice for one in found for choice in (_choices(one, where) if isinstance(one, dict) else [one])]
    return _only(choices, where)


def _choices(value: Any, where: str) -> list[Any]:
    choices = value.get("choices") if isinstance(value, dict) else None
    if not isinstance(choices, list):
        raise PeopleError(f"{where}: {in_json(value)} holds no list `choices`; export again as JSON or CSV")
    return choices


def _of_kind(found: Any, kind: type, what: str, where: str) -> Any:
    """What was found, if it is of this kind; PeopleError else."""
    if not isinstance(found, kind):
        raise PeopleError(
            f"{where}: {what} is {in_json(found)}, which is no {'list' if kind is list else 'object'} as Label Studio "
            "writes it; export again as JSON (not JSON-MIN) or as CSV"
        )
    return found


def _only(choices: Sequence[Any], where: str) -> str:
    if len(choices) > 1:
        raise PeopleError(f"{where}: {' and '.join(map(str, choices))} are chosen; keep one")
    return str(choices[0]) if choices else ""


def rows_of_json(path: Path, text: str, protocol: Protocol, notes: list[str]) -> list[Row]:
    """The annotations of an export in Label Studio's JSON that were not skipped.

    What carries no answer (`NO_ANSWERS`) is counted in `notes`. PeopleError for what is no such export, where a
    question has several answers in one annotation, and for any other result that is no choice of a question.
    """
    try:
        tasks = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PeopleError(f"{path} is not JSON ({error}); export again as JSON or CSV") from error
    tasks = [tasks] if isinstance(tasks, dict) else tasks
    found = []
    beside: Counter[str] = Counter()
    for place, task in enumerate(tasks if isinstance(tasks, list) else [], start=1):
        if not isinstance(task, dict) or not isinstance(task.get("data"), dict) or "annotations" not in task:
            raise PeopleError(
                f"{path}, task {place}: no `data` with `annotations`; export as JSON (not JSON-MIN) or as CSV"
            )
        code = str(task["data"].get(CODE, ""))
        named = f"{path}, task {task.get('id', place)}"
        for annotation in _of_kind(task["annotations"], list, "`annotations`", named):
            _of_kind(annotation, dict, "an annotation", named)
            if annotation.get("was_cancelled"):
                continue
            where = f"{named} (annotation {annotation.get('id')} by {_who(annotation)})"
            cells: dict[str, list[Any]] = {}
            for result in _of_kind(annotation.get("result", []), list, "`result`", where):
                _of_kind(result, dict, "a result", where)
                if name := _answered(result, protocol, where):
                    cells.setdefault(name, []).extend(_choices(result.get("value"), f"{where}, column {name}"))
                else:
                    beside[result["type"]] += 1
            answers = {name: _only(choices, f"{where}, column {name}") for name, choices in cells.items()}
            shown = {name: str(task["data"][name]) for name in protocol.shown if name in task["data"]}
            found.append(Row(where, {CODE: code, **shown, **answers}))
    if not found:
        raise PeopleError(f"{path} holds no annotation that was not skipped; export again when tasks are labelled")
    notes += [f"{path}: {count} results of type {kind} are not read." for kind, count in sorted(beside.items())]
    return found


def _answered(result: dict[str, Any], protocol: Protocol, where: str) -> str:
    """The question that a result answers; empty for what carries no answer. PeopleError for all else."""
    name, kind = result.get("from_name"), result.get("type")
    names = [question.name for question in protocol.questions]
    if kind in NO_ANSWERS and name not in names:
        return ""
    if name not in names:
        raise PeopleError(
            f"{where}: a result of `from_name` {in_json(name)} with the value {in_json(result.get('value'))}, which is "
            f"no question of these sheets ({', '.join(names)}): the labelling configuration has another name for it; "
            "restore the one that was written with the sheets and export again, or correct the name in the export"
        )
    if kind != "choices":
        raise PeopleError(
            f"{where}, column {name}: a result of type {in_json(kind)} with the value {in_json(result.get('value'))}; "
            "questions are answered by choices: restore the labelling configuration that was written with the sheets, "
            "and answer again"
        )
    return str(name)


def _who(annotation: dict[str, Any]) -> str:
    by = annotation.get("completed_by", "?")
    return str(by.get("email", by.get("id", "?")) if isinstance(by, dict) else by)

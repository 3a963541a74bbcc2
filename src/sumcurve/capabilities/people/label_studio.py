"""Sheets for Label Studio: tasks to import, the labelling configuration, and its exports as JSON.

Formats as its documentation has them (Task format, Choices; 2026): a task is {"data": {...}}; an annotation's result
names the tag (`from_name`) and holds {"choices": [...]}.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from sumcurve.capabilities.people.protocols import PeopleError, Protocol, from_json, in_json
from sumcurve.capabilities.people.sheets import Task
from sumcurve.capabilities.people.spreadsheet import CODE, Row
from sumcurve.store.records import write_bytes, write_text

NO_ANSWERS = ("relation", "textarea")  # links between results, and remarks in free text
EXPORT_AGAIN = "export again as JSON (not JSON-MIN) when tasks are labelled"


@dataclass(frozen=True)
class Result:
    """What was said in one place of an annotation."""

    type: str
    from_name: str | None = None
    value: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Annotation:
    """What one annotator said of a task."""

    result: list[Result]
    id: Any = None
    completed_by: Any = "?"
    was_cancelled: bool = False

    @property
    def annotator(self) -> str:
        by = self.completed_by
        return str(by.get("email", by.get("id", "?")) if isinstance(by, dict) else by)


@dataclass(frozen=True)
class Exported:
    """A task as an export has it."""

    data: dict[str, Any]
    annotations: list[Annotation]
    id: Any = None


def write_tasks(path: Path, protocol: Protocol, tasks: Sequence[Task]) -> None:
    """Write what Label Studio imports, in the order of the tasks."""
    rows = [{"data": {CODE: task.code, **{name: task.text.shown[name] for name in protocol.shown}}} for task in tasks]
    write_text(path, json.dumps(rows, indent=1, ensure_ascii=False) + "\n")


def write_configuration(path: Path, protocol: Protocol) -> None:
    """Write the labelling configuration: texts, and questions that show where they follow."""
    view = ElementTree.Element("View")
    ElementTree.SubElement(view, "Header", value=protocol.title, size="4")
    ElementTree.SubElement(view, "Header", value=protocol.guide, size="5")
    for name, heading in protocol.shown.items():
        ElementTree.SubElement(view, "Header", value=heading)
        ElementTree.SubElement(view, "Text", name=name, value=f"${name}")
    for question in protocol.questions:
        inner, shown = view, {}
        if question.follows is not None:
            before, answer = question.follows
            shown = {"visibleWhen": "choice-selected", "whenTagName": before, "whenChoiceValue": answer}
            inner = ElementTree.SubElement(view, "View", shown)
        ElementTree.SubElement(inner, "Header", value=question.text)
        # A hidden question is neither asked for nor exported.
        tag = {"name": question.name, "toName": protocol.judged, "choice": "single-radio", "required": "true", **shown}
        choices = ElementTree.SubElement(inner, "Choices", tag)
        for answer in question.answers:
            ElementTree.SubElement(choices, "Choice", value=answer)
    ElementTree.indent(view)
    write_bytes(path, ElementTree.tostring(view, encoding="utf-8") + b"\n")


def read_export(path: Path, text: str, protocol: Protocol, notes: list[str]) -> list[Row]:
    """The annotations of an export that were not skipped.

    Results without an answer (`NO_ANSWERS`) are counted in `notes`. PeopleError for any other file, where a question
    has several answers in one annotation, and for any other result that is no choice of a question.
    """
    rows = []
    ignored: Counter[str] = Counter()
    tasks = from_json(list[Exported], text.encode(), f"{path} is no export of Label Studio's", EXPORT_AGAIN)
    for place, task in enumerate(tasks, start=1):
        for annotation in task.annotations:
            if annotation.was_cancelled:
                continue
            number = place if task.id is None else task.id
            where = f"{path}, task {number} (annotation {annotation.id} by {annotation.annotator})"
            cells = {name: str(task.data[name]) for name in (CODE, *protocol.shown) if name in task.data}
            answers: dict[str, list[Any]] = {}
            for result in annotation.result:
                if name := _question(result, protocol, where):
                    answers.setdefault(name, []).extend(result.value["choices"])
                else:
                    ignored[result.type] += 1
            for name, choices in answers.items():
                if len(choices) > 1:
                    raise PeopleError(f"{where}, column {name}: {' and '.join(map(str, choices))} are chosen; keep one")
                cells[name] = "".join(map(str, choices))
            rows.append(Row(where, cells))
    if not rows:
        raise PeopleError(f"{path} holds no annotation that was not skipped; {EXPORT_AGAIN}")
    notes += [f"{path}: {count} results of type {kind} are not read." for kind, count in sorted(ignored.items())]
    return rows


def _question(result: Result, protocol: Protocol, where: str) -> str | None:
    """The question that a result answers; None for a result without an answer. PeopleError for all else."""
    names = [question.name for question in protocol.questions]
    if result.type in NO_ANSWERS and result.from_name not in names:
        return None
    if result.from_name in names and result.type == "choices" and isinstance(result.value.get("choices"), list):
        return result.from_name
    raise PeopleError(
        f"{where}: a result of `from_name` {in_json(result.from_name)}, type {in_json(result.type)} and value "
        f"{in_json(result.value)} answers no question of these sheets ({', '.join(names)}) by a choice: restore the "
        "labelling configuration that was written with the sheets and export again, or correct the export"
    )

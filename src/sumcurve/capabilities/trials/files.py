"""What trials have chosen, put into the files of methods and studies; all else in them stays."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from sumcurve.capabilities.trials.grid import tuned
from sumcurve.capabilities.trials.table import Choice
from sumcurve.settings.config import PlanError
from sumcurve.settings.forms import Form
from sumcurve.store.records import write_text


def places_of(form: Form, name: str, choice: Choice) -> dict[tuple[str, ...], Any]:
    """The values of a choice by their places in a method's file, below this form of it."""
    values = {}
    for key, places in tuned(form).items():
        for block, *way in places:
            if block == "training":
                _, index, *way = way
                block, way = "phases", [form.training.phases[int(index)].name, *way]
            values["forms", name, str(block), *map(str, way)] = choice[key]
    return values


def replace(path: Path, values: Mapping[tuple[str, ...], Any]) -> None:
    """Put values into a YAML file in place of those that stand there. PlanError where a key is missing or shared."""
    text = path.read_text()
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    nodes = {at: _node(path, root, at) for at in values}
    for at in sorted(values, key=lambda place: nodes[place].start_mark.index, reverse=True):
        value = f"{values[at]:g}" if isinstance(values[at], float) else str(values[at])
        text = text[: nodes[at].start_mark.index] + value + text[nodes[at].end_mark.index :]
    write_text(path, text)


def _node(path: Path, node: Any, location: tuple[str, ...]) -> yaml.Node:
    for part in location:
        above, inner = node, [value for key, value in node.value if key.value == part]
        if not inner:
            shown = ".".join(location)
            raise PlanError(f"{path}:{node.start_mark.line + 1}: {shown} is not there to be changed; write it out")
        (node,) = inner
        if others := [key.value for key, value in above.value if value is node and key.value != part]:
            shown = ".".join(location)
            raise PlanError(f"{path}: {shown} is {', '.join(others)}, too (a YAML alias); write it out on its own")
    assert isinstance(node, yaml.Node)
    return node

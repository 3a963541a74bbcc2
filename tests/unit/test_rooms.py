"""What a module may import: rooms have an order, and no capability is known to the core."""

import ast

import pytest

from rooms import ORDER, imports, modules, room
from sumcurve import capabilities

MODULES = modules()
# Imports between capabilities, each with its reason.
BETWEEN = {
    # Sheets are drawn from what judged folders hold; nothing else knows their form.
    ("capabilities.people", "capabilities.contrasts"): "people judge contrasts, whose sets they are shown",
    # A corpus says of its contrasts whose answers there are (`contrasts: people:`); their table, a sentence of the
    # finding about contrasts and what is said where nobody has judged follow from these answers.
    ("capabilities.contrasts", "capabilities.people"): "what people said of contrasts stands beside them in tables",
    ("capabilities.exam", "capabilities.contrasts"): "a metric sits an exam on sets of contrasts",
    ("capabilities.axis", "capabilities.chat"): "what answers of prompted models took stands beside their scores",
}
# What a capability reads of rooms that put capabilities together, when one of its verbs runs: each with its reason.
VERBS = {
    ("capabilities.people", "study"): "`correlate` takes the scores of a study's finished folders, by its plan",
    ("capabilities.trials", "study"): "`trials` takes up the finished trainings of a study's plan",
    ("capabilities.exam", "study"): "`exam` takes scorers by name, and a study by its plan",
}
# What the core still knows of capabilities: this list only shrinks.
LEFT: dict[str, set[str]] = {}


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    return {module: ast.parse(path.read_text()) for module, path in MODULES.items()}


def against(importing: str, imported: str) -> bool:
    """Whether an import goes against the order; the package itself says its version, which anyone may read."""
    here, there = room(importing), room(imported)
    if here == there or not there:
        return False
    if "." in there:  # a capability: nothing imports it but the composition of what a study can name, by its name
        return True
    first, second = ORDER.index(here.split(".")[0]), ORDER.index(there.split(".")[0])
    return second > first


def test_every_module_is_in_a_room_and_every_capability_has_its_line() -> None:
    assert {room(module).split(".")[0] for module in MODULES if module} == set(ORDER)
    folders = {room(module).split(".")[1] for module in MODULES if "." in room(module)}
    assert set(capabilities.CAPABILITIES) == folders


def test_imports_follow_the_order_of_rooms(trees) -> None:
    found: dict[str, set[str]] = {}
    for module, tree in trees.items():
        for name in imports(tree, MODULES):
            if against(module, name) and (room(module), room(name)) not in BETWEEN | VERBS:
                found.setdefault(room(module), set()).add(room(name))
    assert found == LEFT


def test_verbs_import_study_only_when_they_run(trees) -> None:
    """Never at the head of a module: `sumcurve.study` imports capabilities there."""
    heads = {
        (room(module), room(name))
        for module, tree in trees.items()
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for name in imports(node, MODULES)
    }
    assert not heads & set(VERBS)


def test_no_module_imports_itself_by_others(trees) -> None:
    """Imports at the head of modules make no circle."""
    heads = {
        module: {name for node in tree.body if isinstance(node, ast.ImportFrom) for name in imports(node, MODULES)}
        for module, tree in trees.items()
    }
    clear: set[str] = set()
    while ready := {module for module, needed in heads.items() if module not in clear and needed <= clear | {module}}:
        clear |= ready
    assert set(heads) - clear == set()

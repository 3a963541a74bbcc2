"""What a module may import: rooms have an order, and no capability is known to the core."""

import ast

import pytest

from rooms import ORDER, TABLES, imports, modules, room
from sumcurve import capabilities

MODULES = modules()
# Imports between capabilities, each with its reason.
BETWEEN = {
    ("capabilities.axis", "capabilities.chat"): "prompted models stand on the axis of data, by what chat says of them",
    (
        "capabilities.chat",
        "capabilities.pretrained",
    ): "weights that are prompted are loaded as those that are fine-tuned",
    ("capabilities.people", "capabilities.contrasts"): "people judge contrasts, whose sets they are shown",
    ("capabilities.exam", "capabilities.contrasts"): "a metric sits an exam on sets of contrasts",
    ("capabilities.extract_rewrite", "capabilities.contrasts"): "its system is asked for likelihoods of contrasts",
}
# What a capability reads of rooms that put capabilities together, when one of its verbs runs: each with its reason.
VERBS = {
    ("capabilities.across", "interface"): "`across` loads recorded tables as `load` does",
    ("capabilities.people", "study"): "`correlate` takes the scores of a study's finished folders, by its plan",
    ("capabilities.trials", "study"): "`trials` takes up the finished trainings of a study's plan",
    ("capabilities.exam", "study"): "`exam` takes scorers by name, and a study by its plan",
}


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    return {module: ast.parse(path.read_text()) for module, path in MODULES.items()}


def against(importing: str, imported: str) -> bool:
    """True for an import that goes against the order."""
    here, there = room(importing), room(imported)
    if here == there or not there:
        return False
    if "." in there:  # a capability: nothing imports it but the composition of what a study can name, by its name
        return True
    if not here:
        return False  # the package itself stands above all rooms
    first, second = ORDER.index(here.split(".")[0]), ORDER.index(there.split(".")[0])
    return second > first


def _imports(node: ast.AST) -> bool:
    return isinstance(node, (ast.Import, ast.ImportFrom))


def test_only_verbs_import_the_package_itself(trees) -> None:
    """Its functions are imported by name when they are first used, so that no import shows what it needs."""
    names = {
        module: {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        for module, tree in trees.items()
    }
    rooms = {room(module) for module, imported in names.items() if "sumcurve" in imported}
    assert {name for name in rooms if "." not in name} <= {"cli", "__main__"}


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
    assert found == {}


def test_verbs_import_study_only_when_they_run(trees) -> None:
    """Never at the head of a module: `sumcurve.study` imports capabilities there."""
    heads = {
        (room(module), room(name))
        for module, tree in trees.items()
        for node in tree.body
        if _imports(node)
        for name in imports(node, MODULES)
    }
    assert not heads & set(VERBS)


def test_no_module_imports_itself_by_others(trees) -> None:
    """Imports at the head of modules make no circle."""
    heads = {
        module: {name for node in tree.body if _imports(node) for name in imports(node, MODULES)}
        for module, tree in trees.items()
    }
    clear: set[str] = set()
    while ready := {module for module, needed in heads.items() if module not in clear and needed <= clear | {module}}:
        clear |= ready
    assert set(heads) - clear == set()


def test_tables_stand_on_modules_that_have_an_order(trees) -> None:
    order = [f"tables.{name}" for name in TABLES]
    for place, module in enumerate(order):
        imported = {name for name in imports(trees[module], MODULES) if room(name) == "tables"}
        assert imported <= {*order[:place]}, module


def test_circles_of_imports_stay_inside_one_capability(trees) -> None:
    """Imports at any place, for type checkers, too; the core has no circle."""
    needed = {module: {*imports(tree, MODULES)} - {module, ""} for module, tree in trees.items()}
    reached: dict[str, set[str]] = {}
    for module in needed:
        waiting, behind = [module], set[str]()
        while waiting:
            more = needed[waiting.pop()] - behind
            behind |= more
            waiting += more
        reached[module] = behind
    circles = {module: {one for one in reached[module] if module in reached[one]} for module in needed}
    assert [module for module, others in circles.items() if {room(one) for one in others} - {room(module)}] == []
    assert [module for module, others in circles.items() if others and "." not in room(module)] == []

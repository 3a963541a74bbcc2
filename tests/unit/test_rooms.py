"""The order of rooms: what a module may import. A room imports rooms above it in the list, never one below."""

import ast
from collections.abc import Iterator
from pathlib import Path

import sumcurve

ROOT = Path(sumcurve.__file__).parent
ORDER = (
    "machine",
    "store",
    "sources",
    "settings",
    "statistics",
    "rouge",
    "corpora",
    "harvest",
    "curves",
    "models",
    "decoding",
    "training",
    "systems",
    "scores",
    "tables",
    "capabilities",  # the list and the base class; each capability's folder is a room of its own, behind it
    "study",
    "watch",
    "share",
    "cli",
    "__main__",
)


def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name below it."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def room(module: str) -> str:
    """`training` of training.fit; a capability is called by its path, as `capabilities.apes`."""
    parts = module.split(".")
    inside = parts[0] == "capabilities" and len(parts) > 1 and parts[1] != "capability"
    return ".".join(parts[:2]) if inside else parts[0]


def imports(path: Path) -> Iterator[str]:
    """The modules of the package that a file imports at any place but for type checkers alone."""
    waiting: list[ast.AST] = [ast.parse(path.read_text())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            waiting += node.orelse
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sumcurve":
            base = str(node.module).removeprefix("sumcurve").lstrip(".")
            for alias in node.names:
                name = f"{base}.{alias.name}".lstrip(".")
                yield name if name in MODULES else base
        waiting += ast.iter_child_nodes(node)


def rank(name: str) -> int:
    return ORDER.index(name.split(".")[0])


def against(importing: str, imported: str) -> bool:
    """Whether an import goes against the order; the package itself says its version, which anyone may read."""
    here, there = room(importing), room(imported)
    if here == there or not there:
        return False
    if "." in there:  # a capability is imported by nothing but the composition of what a study can name
        return True
    return rank(there) > rank(here) or (rank(there) == rank(here) and "." not in here)


# Imports between capabilities, each with its reason.
BETWEEN = {
    ("capabilities.people", "capabilities.contrasts"): "people judge contrasts, whose sets they are shown",
}
# What the core still knows of capabilities that are not whole folders yet: this list only shrinks.
LEFT: dict[str, set[str]] = {}


def test_every_module_is_in_a_room() -> None:
    assert {room(module).split(".")[0] for module in MODULES if module} == set(ORDER)


def test_imports_follow_the_order_of_rooms() -> None:
    found: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        for name in imports(path):
            if against(module, name) and (room(module), room(name)) not in BETWEEN:
                found.setdefault(room(module), set()).add(room(name))
    assert found == LEFT


def test_no_module_imports_itself_by_others() -> None:
    """Imports at the head of modules make no circle."""
    heads: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        tree = ast.parse(path.read_text())
        head = ast.Module([node for node in tree.body if isinstance(node, ast.ImportFrom)], [])
        heads[module] = set()
        for node in head.body:
            assert isinstance(node, ast.ImportFrom)
            base = str(node.module or "")
            if base.split(".")[0] == "sumcurve":
                base = base.removeprefix("sumcurve").lstrip(".")
                names = {f"{base}.{alias.name}".lstrip(".") for alias in node.names}
                heads[module] |= {name if name in MODULES else base for name in names}
    clear: set[str] = set()
    while ready := {module for module, needed in heads.items() if module not in clear and needed <= clear | {module}}:
        clear |= ready
    assert set(heads) - clear == set()

"""The rooms of the package in their order, and what each may weigh: `make lint` prints both."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1] / "src" / "sumcurve"
# A room imports rooms that stand above it here, never one below. Lines of code files are a compass, not a law.
BUDGETS = {
    "machine": 800,
    "numerics": 1900,
    "store": 1050,
    "files": 1450,
    "sources": 2100,
    "settings": 1750,
    "statistics": 1350,
    "rouge_engine": 1500,
    "corpora": 3000,
    "fetch": 650,
    "curves": 1200,
    "models": 1500,
    "decoding": 550,
    "training": 2200,
    "systems": 700,
    "scores": 600,
    "tables": 4400,
    "planning": 250,
    "capabilities": 100,  # the list and the base class; each capability's folder is a room of its own, behind it
    "study": 2200,
    "watch": 650,
    "share": 500,
    "interface": 2550,
    "cli": 600,
    "__main__": 300,
}
CAPABILITIES = {
    "across": 750,
    "extracts": 4300,
    "apes": 3700,
    "contrasts": 2300,
    "pretrained": 1700,
    "people": 2400,
    "programs": 850,
    "exam": 2150,
    "extract_rewrite": 1200,
    "harvest": 1150,
    "corpora_public": 600,
    "labels": 300,
    "published": 300,
    "papers": 850,
    "trials": 300,
}
# Modules of the room `tables` that all of its others stand upon: each imports those before it alone.
TABLES = ("table", "evidence", "systems", "pairs", "ranking", "numbers", "notes", "results")
CORE = 27_000
ORDER = tuple(BUDGETS)


def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name below it."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def room(module: str) -> str:
    """`training` of training.fit; a capability is called by its path, as `capabilities.apes`."""
    parts = module.split(".")
    inside = parts[0] == "capabilities" and len(parts) > 1 and parts[1] != "capability"
    return ".".join(parts[:2]) if inside else parts[0]


def imports(tree: ast.AST, known: dict[str, Path]) -> Iterator[str]:
    """The modules of the package that a file imports at any place, for type checkers, too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.removeprefix("sumcurve.") for alias in node.names if alias.name[:9] == "sumcurve.")
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sumcurve":
            base = str(node.module).removeprefix("sumcurve").lstrip(".")
            for alias in node.names:
                name = f"{base}.{alias.name}".lstrip(".")
                yield name if name in known else base


def weights() -> dict[str, int]:
    """Lines of each room."""
    found: dict[str, int] = {}
    for module, path in modules().items():
        found[room(module)] = found.get(room(module), 0) + len(path.read_text().splitlines())
    return found


def main() -> None:
    """Print the lines of each room beside its budget; `>` marks what exceeds its own."""
    lines = weights()
    core = sum(count for name, count in lines.items() if not name.startswith("capabilities."))
    told = {name: (lines.get(name, 0), budget) for name, budget in BUDGETS.items()}
    told["core"] = core, CORE
    of_capabilities = sorted(name.split(".")[1] for name in lines if "." in name)
    told |= {name: (lines[f"capabilities.{name}"], CAPABILITIES.get(name, 0)) for name in of_capabilities}
    for name, (count, budget) in told.items():
        mark = ">" if budget and count > budget else " "
        print(f"{mark} {name:<13}{count:>7,} of {f'{budget:,}' if budget else 'any':>6} lines")


if __name__ == "__main__":
    main()

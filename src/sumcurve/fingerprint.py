"""Fingerprints of code: what a step's syntax trees say, without comments, docstrings, layout or Python version.

Every step names its entry modules; the project's modules that these import, directly or not, belong to the step too.
`sumcurve.settings` does not: the values of settings are in each folder's specification already.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path

from sumcurve.tables import APPENDIX, TABLES

PACKAGE = "sumcurve"
SOURCE = Path(__file__).parent

ENTRY_MODULES = {
    "corpora": ["corpora.prepare", "corpora.fraction", "corpora.sources.jsonl", "corpora.sources.parquet"],
    "annotations": ["annotations.extraction"],
    "entities": ["annotations.entities"],
    "oracle": ["annotations.oracle.corpus"],
    "runs": ["training.run", "sums"],
    "outputs": ["decoding.run", "decoding.trivial", "sums"],
    "scores": ["scores.run"],  # and the scorer's own module
    "tables": ["tables.study", "tables.collect", *(f"tables.{name}" for name in (*TABLES, *APPENDIX))],
}
OUTSIDE = {f"{PACKAGE}.settings"}


def _path(module: str) -> Path | None:
    """The file of a dotted module of this package, or None when there is none (a name inside a module)."""
    parts = module.split(".")[1:]
    file = SOURCE.joinpath(*parts).with_suffix(".py") if parts else SOURCE / "__init__.py"
    if file.is_file():
        return file
    package = SOURCE.joinpath(*parts) / "__init__.py"
    return package if package.is_file() else None


def _imports(tree: ast.Module) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in names if name.startswith(PACKAGE + ".")}


def _describe(node: object) -> object:
    """A nested tuple that equals for trees that mean the same, on every supported Python.

    Empty fields are left out, because newer Pythons add fields (`type_params`) to old nodes.
    """
    if isinstance(node, ast.AST):
        fields = [(name, _describe(value)) for name, value in ast.iter_fields(node) if value not in (None, [])]
        return (type(node).__name__, *fields)
    if isinstance(node, list):
        return tuple(_describe(item) for item in node)
    return repr(node)


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                node.body = node.body[1:]
    return tree


def fingerprint_source(text: str) -> str:
    """The sha256 (hex) of one source text's syntax tree without comments and docstrings."""
    return hashlib.sha256(repr(_describe(_without_docstrings(ast.parse(text)))).encode()).hexdigest()


def modules(step: str, *further: str) -> list[str]:
    """The dotted names of all project modules behind a step and behind `further` modules, sorted."""
    found: set[str] = set()
    waiting = [*(f"{PACKAGE}.{module}" for module in ENTRY_MODULES[step]), *further]
    while waiting:
        module = waiting.pop()
        path = _path(module)
        if path is None or module in found or module in OUTSIDE:
            continue
        found.add(module)
        waiting += _imports(ast.parse(path.read_text()))
    return sorted(found)


def files(step: str, *further: str) -> list[Path]:
    """The files of code behind a step and `further` modules, and those that read settings and name and seal folders."""
    shared = ("settings.py", "__main__.py", "manifest.py")
    behind = {path for module in modules(step, *further) if (path := _path(module)) is not None}
    return sorted(behind | {SOURCE / name for name in shared})


@cache
def fingerprint(step: str, *further: str) -> str:
    """16 hex digits that change when code behind the step or behind `further` modules changes, and only then."""
    lines = []
    for module in modules(step, *further):
        path = _path(module)
        if path is None:
            raise FileNotFoundError(f"{module}, an entry module of step {step}, has no file below {SOURCE}")
        lines.append(f"{module} {fingerprint_source(path.read_text())}")
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]

"""Fingerprints of code: what syntax trees say, without comments, docstrings, layout or Python version.

`sumcurve.study.kinds` names the modules that decide each kind of folder; the project's modules that these import,
directly or not, count too. Neither the names of modules nor their imports of each other do: code that moves is the same
code. `sumcurve.settings` does not: the values of settings are in each folder's specification already. Nor do the table
of kinds and the builders, which lead to the code of every kind.
"""

import ast
import contextlib
import hashlib
import json
import os
import sys
import tempfile
from functools import cache
from pathlib import Path

PACKAGE = "sumcurve"
SOURCE = Path(__file__).parents[1]
OUTSIDE = {f"{PACKAGE}.{name}" for name in ("store.kind", "store.stage", "study.kinds", "study.doors")}
SETTINGS = f"{PACKAGE}.settings"
BUILDERS = "folders"  # modules of this name hold builders and rows of kinds,
CAPABILITY = "capability"  # and of this one what is put together of a capability: both lead to the code of every kind


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


def _is_own_import(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import):
        return all(alias.name.split(".")[0] == PACKAGE for alias in node.names)
    return isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").split(".")[0] == PACKAGE


def _without_own_imports(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, name, [statement for statement in value if not _is_own_import(statement)])
    return tree


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
    """The sha256 (hex) of one source text's syntax tree without comments, docstrings and imports of this package."""
    tree = _without_own_imports(_without_docstrings(ast.parse(text)))
    return hashlib.sha256(repr(_describe(tree)).encode()).hexdigest()


class _Kept:
    """What each file of code imports, and its fingerprint, kept for later processes beside its bytecode.

    Every process that makes a folder plans its study: to parse all code would be two thirds of its time before its own
    work begins. An entry holds for a file of the same content; all hold for this file's content and this Python.
    """

    def __init__(self) -> None:
        own = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
        self.path = SOURCE / "__pycache__" / f"fingerprints-{own}.{sys.implementation.cache_tag}.json"
        self.found: dict[str, tuple[str, list[str], str]] = {}  # by path: sha256 of its bytes, imports, fingerprint
        with contextlib.suppress(OSError, ValueError):
            self.found = json.loads(self.path.read_text())
        self.new = False

    def parsed(self, path: Path) -> tuple[list[str], str]:
        name, text = path.relative_to(SOURCE).as_posix(), path.read_text()
        content = hashlib.sha256(text.encode()).hexdigest()
        if name not in self.found or self.found[name][0] != content:
            self.found[name] = content, sorted(_imports(ast.parse(text))), fingerprint_source(text)
            self.new = True
        return self.found[name][1], self.found[name][2]

    def write(self) -> None:
        """Write what is new, whole; where that cannot be done, later processes parse again."""
        if not self.new or sys.dont_write_bytecode:
            return
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=self.path.parent, delete=False) as stream:
                json.dump(self.found, stream)
            os.replace(stream.name, self.path)
        self.new = False


@cache
def _kept() -> _Kept:
    return _Kept()


@cache
def _parsed(path: Path) -> tuple[list[str], str]:
    """What a file imports, and its fingerprint; a file is read once in a process."""
    return _kept().parsed(path)


def _leads_everywhere(module: str) -> bool:
    """Whether a module is of settings, whose values names hold, or puts together the code of every kind."""
    together = module.endswith((f".{BUILDERS}", f".{CAPABILITY}"))
    return module in OUTSIDE or module.startswith(SETTINGS) or together


def modules(*entries: str) -> list[str]:
    """The dotted names of the modules `entries` and of all project modules that these import, sorted."""
    found: set[str] = set()
    waiting = list(entries)
    while waiting:
        module = waiting.pop()
        path = _path(module)
        if path is None or module in found or _leads_everywhere(module):
            continue
        found.add(module)
        waiting += _parsed(path)[0]
    return sorted(found)


def files(*entries: str) -> list[Path]:
    """The files of code behind the modules, and those that read settings, call builders and name and seal folders."""
    shared = ("study/kinds.py", "cli/make.py", "store/manifest.py")
    behind = {path for module in modules(*entries) if (path := _path(module)) is not None}
    return sorted(
        behind
        | {SOURCE / name for name in shared}
        | {*SOURCE.rglob(f"{BUILDERS}.py"), *(SOURCE / "settings").glob("*.py")}
    )


@cache
def fingerprint(*entries: str) -> str:
    """16 hex digits that change when code behind the modules changes, and only then."""
    for module in entries:
        if module.startswith(f"{PACKAGE}.") and _path(module) is None:
            raise FileNotFoundError(f"{module} has no file below {SOURCE}; correct its row of KINDS")
        if _leads_everywhere(module):
            raise ValueError(
                f"{module} stands for no code, because it leads to that of every kind: put what decides a folder's "
                "content into a module of its own, and name that one in the row's `modules`"
            )
    trees = sorted(_parsed(path)[1] for module in modules(*entries) if (path := _path(module)) is not None)
    _kept().write()
    return hashlib.sha256("\n".join(trees).encode()).hexdigest()[:16]

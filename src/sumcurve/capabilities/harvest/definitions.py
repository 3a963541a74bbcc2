"""Docstrings of a file, from its syntax tree, and candidates of records: `docstrings` and `outlines`."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sumcurve.capabilities.harvest.prose import dedented, is_template, paragraphs_of

Kind = Literal["docstrings", "outlines"]

# Reasons for which a docstring is dropped.
ONE_PARAGRAPH = "no body below the summary line"
EMPTY_BODY = "body empty after cleaning"
NO_SUMMARY = "no summary line"
INTRODUCES = "summary line ends in a colon"
TEMPLATE = "template with unfilled placeholders"
NO_TEXT = "no running text"

LEAST_BELOW = 5  # docstrings with running text that an outline joins
FEW_BELOW = f"fewer than {LEAST_BELOW} docstrings below"


@dataclass(frozen=True, slots=True)
class Candidate:
    """Candidate of a record, or the reason to drop it."""

    name: str
    source: str = ""
    target: str = ""
    reason: str | None = None
    below: Counter[str] = field(default_factory=Counter)  # of an outline: "kept" and reasons to drop docstrings below


def titled(tree: ast.Module) -> Iterator[Candidate]:
    """Every docstring, by position: body and summary line."""
    for name, docstring in docstrings(tree):
        summary, body, reason = cleaned(docstring)
        yield Candidate(name, body, summary, reason)


def outlined(tree: ast.Module) -> Iterator[Candidate]:
    """The module and every class that have a docstring, by position: the docstrings below, and their own."""
    for name, body in (("<module>", tree.body), *class_bodies(tree.body)):
        docstring = docstring_of(body)
        if docstring is None:
            continue
        target, has_summary = paragraphs_of(dedented(docstring))
        if not has_summary:
            yield Candidate(name, reason=NO_SUMMARY)
            continue
        if is_template(target):
            yield Candidate(name, reason=TEMPLATE)
            continue
        source: list[str] = []
        below: Counter[str] = Counter()
        for _, lower in docstrings_below(body, ""):
            paragraphs, _ = paragraphs_of(dedented(lower))
            reason = NO_TEXT if not paragraphs else TEMPLATE if is_template(paragraphs) else "kept"
            below[reason] += 1
            if reason == "kept":
                source += paragraphs
        if below["kept"] < LEAST_BELOW:
            yield Candidate(name, reason=FEW_BELOW)
            continue
        yield Candidate(name, "\n\n".join(source), "\n\n".join(target), below=below)


CANDIDATES = {"docstrings": titled, "outlines": outlined}


def docstrings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(qualified name, docstring) of the module, its classes, functions and add_newdoc calls, by position."""
    first = docstring_of(tree.body)
    if first is not None:
        yield "<module>", first
    yield from docstrings_below(tree.body, "")


def docstrings_below(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, str]]:
    for name, node in definitions(body, prefix):
        if isinstance(node, ast.Call):
            yield from added_docstrings(node, name)
        else:
            text = docstring_of(node.body)
            if text is not None:
                yield name, text


def class_bodies(body: Sequence[ast.stmt]) -> Iterator[tuple[str, Sequence[ast.stmt]]]:
    """(qualified name, body) of the classes, by position."""
    for name, node in definitions(body, ""):
        if isinstance(node, ast.ClassDef):
            yield name, node.body


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def definitions(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, Definition | ast.Call]]:
    """Functions and classes with their qualified names, calls that stand alone with their place's prefix; by position.

    Definitions in a function or class follow it.
    """
    for node in body:
        if isinstance(node, Definition):
            name = prefix + node.name
            yield name, node
            yield from definitions(node.body, name + ".")
        elif isinstance(node, ast.If | ast.For | ast.While | ast.With | ast.Try):
            for part in ("body", "orelse", "finalbody"):
                yield from definitions(getattr(node, part, ()), prefix)
            for handler in getattr(node, "handlers", ()):
                yield from definitions(handler.body, prefix)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield prefix, node.value


def docstring_of(body: Sequence[ast.stmt]) -> str | None:
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        value = body[0].value.value
        return value if isinstance(value, str) else None
    return None


def added_docstrings(call: ast.Call, prefix: str) -> Iterator[tuple[str, str]]:
    """Docstrings of objects written in C, by `add_newdoc(place, name, doc)` and similar functions.

    `doc` is a string, a (method, string) pair or a list of such pairs.
    """
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if not (name.startswith("add_newdoc") or name == "add_docstr") or not call.args:
        return
    strings = [text for text in map(string_of, call.args[:-1]) if text is not None]
    of = prefix + (strings[-1] if strings else ast.unparse(call.args[0]))
    last = call.args[-1]
    pairs = last.elts if isinstance(last, ast.List) else [last]
    for pair in pairs:
        if isinstance(pair, ast.Tuple) and len(pair.elts) == 2:
            method, text = map(string_of, pair.elts)
            if method is not None and text is not None:
                yield f"{of}.{method}", text
        else:
            text = string_of(pair)
            if text is not None:
                yield of, text


def string_of(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def cleaned(docstring: str) -> tuple[str, str, str | None]:
    """(summary line, body, None), or the reason to drop in the third place."""
    lines = dedented(docstring)
    if not any(not line for line in lines):
        return "", "", ONE_PARAGRAPH
    paragraphs, has_summary = paragraphs_of(lines)
    if not has_summary:
        return "", "", NO_SUMMARY
    summary, *rest = paragraphs
    if not rest:
        return "", "", EMPTY_BODY
    if is_template(paragraphs):
        return "", "", TEMPLATE
    if summary.endswith(":"):
        return "", "", INTRODUCES
    return summary.rstrip(". "), "\n\n".join(rest), None

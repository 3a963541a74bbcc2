"""Rows of JSON lines as objects of pydantic."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from sumcurve.files.errors import FileError
from sumcurve.files.layout import Layout
from sumcurve.files.rows import read_rows
from sumcurve.machine.arguments import shown

M = TypeVar("M")


def said(error: ValidationError) -> str:
    """The first error: key, fault, and value."""
    first = error.errors()[0]
    key, complaint, value = ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, "), first["input"]
    held = "" if first["type"] == "missing" or isinstance(value, dict) else f" (value: {shown(value)})"
    return f"{key}: {complaint}{held}" if key else f"{complaint}{held}"


def read_models(path: Path, model: type[M], what: str) -> Iterator[tuple[str, M]]:
    """Each row of JSON as a `what`, with its place; FileError names file, line, key and value of an invalid one."""
    adapter = TypeAdapter(model)
    for row in read_rows(path, Layout(), "json").rows:
        try:
            yield row.place, adapter.validate_python(row.value)
        except ValidationError as error:
            raise FileError(f"{row.place}: no {what} ({said(error)}); correct the line") from error

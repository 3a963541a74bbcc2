"""Options of a verb that are parameters of a Python function: its signature and docstring describe both.

A parameter `random_seed: int = 1` is the option `--random-seed N`, whose help stands in the section "Args:".
"""

import argparse
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from itertools import takewhile
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from sumcurve.machine.arguments import listed

METAVARS = {int: "N", float: "X", str: "NAME"}
COMMAS = {"action": "store", "type": listed, "metavar": "A,B"}  # of a list that stands in one argument
ARGS = "\nArgs:\n"  # head of a section, whose lines are indented
ENTRY = re.compile(r" {4}(\w+): (.*)")


def add_function(
    command: argparse.ArgumentParser, function: Callable[..., Any], text: str = "", **changes: Mapping[str, Any]
) -> None:
    """Describe a verb by its function's docstring, and by a text on what only a shell has, and add its options."""
    about, _, _ = _docstring(function).partition(ARGS)
    command.description = f"{about.strip()}\n\n{text}".strip()
    add_options(command, function, **changes)


def add_options(
    command: argparse._ActionsContainer, function: Callable[..., Any], **changes: Mapping[str, Any]
) -> None:
    """Add an option for every parameter with a default, or for every field of a dataclass that is such a parameter.

    Options that the command has already are left out. `changes` holds arguments of `add_argument` by parameter.
    """
    for parameter in inspect.signature(function).parameters.values():
        type_ = _type(parameter)
        if _has_fields(type_):
            add_options(command, type_)
        elif parameter.default is not parameter.empty and _spelt(parameter.name) not in command._option_string_actions:
            add_option(command, function, parameter.name, **changes.get(parameter.name, {}))


def add_option(command: argparse._ActionsContainer, function: Callable[..., Any], name: str, **changes: Any) -> None:
    """Add the option for one parameter, with `changes` of the arguments of `add_argument`."""
    parameter = inspect.signature(function).parameters[name]
    default = None if parameter.default is parameter.empty else parameter.default
    options: dict[str, Any] = {"default": default} | _read_as(_type(parameter)) | changes
    text = texts_of(function)[name]
    if options.get("action") == "append":
        text += "; may stand again"
        options["default"] = None  # to another argparse would append
    command.add_argument(_spelt(name), help=_help(text, default), **options)


def given(arguments: argparse.Namespace, function: Callable[..., Any]) -> dict[str, Any]:
    """Values of the function's parameters by the command line; those that are None are left out."""
    values = {}
    for name, parameter in inspect.signature(function).parameters.items():
        type_ = _type(parameter)
        value = type_(**given(arguments, type_)) if _has_fields(type_) else getattr(arguments, name, None)
        if value is not None:
            values[name] = value
    return values


def _docstring(function: Callable[..., Any]) -> str:
    return inspect.getdoc(function) or ""


def texts_of(function: Callable[..., Any]) -> dict[str, str]:
    """The texts of the docstring's section "Args:", by parameter."""
    _, _, section = _docstring(function).partition(ARGS)
    texts: dict[str, str] = {}
    for line in takewhile(lambda line: line.startswith("    "), section.splitlines()):
        if entry := ENTRY.fullmatch(line):
            name, texts[entry[1]] = entry.groups()
        else:
            texts[name] += f" {line.strip()}"
    return texts


def whole(text: str) -> int:
    """A whole number, in ASCII digits."""
    if not re.fullmatch(r"-?\d+", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number")
    return int(text)


def _spelt(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _type(parameter: inspect.Parameter) -> Any:
    """The annotation; of a union its last part but None, which of `T | Sequence[T]` is the sequence."""
    if get_origin(parameter.annotation) not in (Union, UnionType):
        return parameter.annotation
    return [part for part in get_args(parameter.annotation) if part is not NoneType][-1]


def _has_fields(type_: Any) -> bool:
    return is_dataclass(type_)


def _read_as(type_: Any) -> dict[str, Any]:
    """Arguments of `add_argument` by which values of a type are read; a list is an option that may stand again."""
    if type_ is bool:
        return {"action": "store_true"}
    if get_origin(type_) is Literal:
        return {"choices": get_args(type_)}
    if get_origin(type_) is Sequence:
        return {"action": "append"} | _read_as(get_args(type_)[0])
    return {"type": whole if type_ is int else type_, "metavar": METAVARS[type_]}


def _help(text: str, default: Any) -> str:
    """The text with the default, where that is a value."""
    values = default if isinstance(default, tuple) else (default,)
    shown = ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values)
    has_value = default is not None and default is not False and default != ()
    return (f"{text} (default: {shown})" if has_value else text).replace("%", "%%")

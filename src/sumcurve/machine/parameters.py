"""Options of a verb that are parameters of a Python function: its signature and docstring describe both.

A parameter `random_seed: int = 1` is the option `--random-seed N`, whose help stands in the section "Args:". The
function, if `checked`, takes no value of another type.
"""

import argparse
import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache, reduce, wraps
from itertools import takewhile
from numbers import Integral, Real
from operator import or_
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

from sumcurve.machine.arguments import UsageError, listed, shown
from sumcurve.machine.spelling import meant

METAVARS = {int: "N", float: "X", str: "NAME"}
COMMAS = {"action": "store", "type": listed, "metavar": "A,B"}  # of a list that stands in one argument
ARGS = "\nArgs:\n"  # head of a section, whose lines are indented
ENTRY = re.compile(r" {4}(\w+): (.*)")
NOUNS = {  # of types in errors, for one value and for several
    bool: ("True or False", "True or False"),
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    str: ("a string", "strings"),
    Path: ("a path", "paths"),
}

P = ParamSpec("P")
R = TypeVar("R")


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


# --- types of values


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, with its arguments checked by the annotations of its signature; numbers for `float` become floats.

    UsageError names the first argument of another type, its value and the type; a TypeError is that of any call with
    missing or unexpected arguments.
    """
    parameters = inspect.signature(function).parameters

    @wraps(function)
    def check_and_call(*arguments: P.args, **options: P.kwargs) -> R:
        for name, value in {**dict(zip(parameters, arguments, strict=False)), **options}.items():
            if name in parameters:
                optional = parameters[name].default is None
                check_type(name, value, parameters[name].annotation, ", or leave it out" if optional else "")
        types = {name: parameter.annotation for name, parameter in parameters.items()}
        placed = [_numbers(value, type_) for value, type_ in zip(arguments, types.values(), strict=False)]
        named = {name: _numbers(value, types.get(name, Any)) for name, value in options.items()}
        return function(*placed, *arguments[len(placed) :], **named)  # type: ignore[arg-type]

    return check_and_call


def _numbers(value: Any, type_: Any) -> Any:
    """A number for `float` or `int` as Python's own, also in a list of them; other values as given."""
    parts = _parts(type_)
    if float in parts and int not in parts and _is_number(value):
        return float(plain(value))
    if int in parts and isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    elements = [get_args(part)[0] for part in parts if get_origin(part) is Sequence]
    if any({float, int} & {*_parts(element)} for element in elements) and _is_list(plain(value)):
        return [_numbers(element, reduce(or_, elements)) for element in plain(value)]
    return value


def check_type(name: str, value: Any, type_: Any, remedy: str = "") -> None:
    """Raise UsageError for a value of another type, or for the first element of a list that is.

    Types are those of annotations: Any, None, bool, int, float, str, other classes, Literal, Sequence and Mapping with
    their elements, Iterable without, and unions. A whole number is a number, True is none; a string is no list. An
    array or a column of a data frame is a list.
    """
    if _is_of(type_)(value):
        return
    of_elements = [get_args(part)[0] for part in _parts(type_) if get_origin(part) is Sequence]
    of_values = [get_args(part)[1] for part in _parts(type_) if get_origin(part) is Mapping]
    if of_elements and _is_list(plain(value)):
        for place, element in enumerate(plain(value)):
            check_type(f"{name}[{place}]", element, reduce(or_, of_elements))
    if of_values and isinstance(value, Mapping):
        for key, part in value.items():
            check_type(f"{name}[{key!r}]", part, reduce(or_, of_values))
    words = [word for part in _parts(type_) if get_origin(part) is Literal for word in get_args(part)]
    if isinstance(value, str) and (near := meant(value, words)):
        remedy = f"; {near}"
    if inspect.isgenerator(value):
        raise UsageError(f"{name} is a generator, whose values are gone once they are read; give list(…) of it")
    noun = "a finite number" if float in _parts(type_) and _is_number(value) else _noun(type_)
    raise UsageError(f"{name} is {shown(value)}; give {noun}{remedy}")


def plain(value: Any) -> Any:
    """An array, a column of a data frame, or a number of an array as Python's list or number; other values as given."""
    for name in ("tolist", "to_list"):  # of numpy and pandas; of polars
        if hasattr(value, name):
            return getattr(value, name)()
    return value


def _parts(type_: Any) -> tuple[Any, ...]:
    return get_args(type_) if get_origin(type_) in (Union, UnionType) else (type_,)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _is_number(value: Any, kind: type = Real) -> bool:
    given = plain(value)
    return isinstance(given, kind) and not isinstance(given, bool)


def _is_finite(number: Real) -> bool:
    """Tell whether a number is finite as a float, which 10**400 is not."""
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False


@cache
def _is_of(type_: Any) -> Callable[[Any], bool]:
    """The test of a type; made once, because lists have many elements."""
    origin, inner = get_origin(type_), get_args(type_)
    if type_ is Any:
        return lambda value: True
    if type_ in (None, NoneType):
        return lambda value: value is None
    if origin in (Union, UnionType):
        tests = [_is_of(part) for part in inner]
        return lambda value: any(test(value) for test in tests)
    if origin is Literal:
        return lambda value: isinstance(value, str | int) and value in inner
    if origin is Sequence:
        of_element = _is_of(inner[0])
        return lambda value: _is_list(given := plain(value)) and all(map(of_element, given))
    if origin is Mapping:
        of_value = _is_of(inner[1])
        return lambda value: isinstance(value, Mapping) and all(map(of_value, value.values()))
    if origin is Iterable:  # whose elements may be there only once
        return lambda value: isinstance(value, Iterable) and not isinstance(value, str | bytes)
    if type_ is int:
        return lambda value: _is_number(value, Integral)
    if type_ is float:
        return lambda value: _is_number(value) and _is_finite(plain(value))
    return lambda value: isinstance(value if isinstance(value, type_) else plain(value), type_)


def _noun(type_: Any, several: bool = False) -> str:
    """The type in words, as `a list of whole numbers`."""
    origin, inner = get_origin(type_), get_args(type_)
    if origin in (Union, UnionType):
        nouns = list(dict.fromkeys(_noun(part, several) for part in inner if part is not NoneType))
        nouns = [noun for noun in nouns if not any(other.startswith(f"{noun} or ") for other in nouns)]
        return " or ".join(filter(None, (", ".join(nouns[:-1]), nouns[-1])))
    if origin is Literal:
        return f"one of {', '.join(map(str, inner))}"
    if origin in (Sequence, Iterable):
        of = "" if inner[0] is Any else f" of {_noun(inner[0], several=True)}"
        return f"lists{of}" if several else f"a list{of}"
    one = {Mapping: "mapping", tuple: "tuple"}.get(origin) or type_.__name__
    return NOUNS.get(type_, (f"a {one}", f"{one}s"))[several]

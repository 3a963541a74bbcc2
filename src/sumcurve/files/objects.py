"""Values of JSON: one a line, the elements of a list, or those of the list that an object holds."""

import json
import math
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from sumcurve.files.errors import FileError, Refused
from sumcurve.files.tables import EMPTY_LINE
from sumcurve.machine.spelling import there_are

SPACE = re.compile(r"\s*")
LIST = re.compile(r"\s*\[\s*(\{|$)")  # how line 1 of a list of objects begins
SHOWN, LEAST_KEYED = 8, 3  # names in an error; rows that an object holds by their ids
BOM, UTF8 = "\ufeff", b"\xef\xbb\xbf"

# Reasons for which a row is refused.
NOT_UTF8 = "invalid UTF-8"
NOT_JSON = "broken JSON"
REPEATED_KEY = "repeated key"

Line = str | bytes | Refused


class NotFinite(float):
    """NaN, an infinity or a number too large for a float, of JSON; its text is that in the file."""

    written: str

    def __new__(cls, written: str) -> "NotFinite":
        number = super().__new__(cls, written)
        number.written = written
        return number

    def __repr__(self) -> str:
        return self.written


class TwiceError(ValueError):
    """Error of a key that stands twice in an object, of which json would keep the last."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {key!r} stands twice in an object")
        self.key = key


def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object; TwiceError where a key stands twice."""
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        raise TwiceError(next(name for name in names if names.count(name) > 1))
    return row


def _number(written: str) -> float:
    number = float(written)
    return number if math.isfinite(number) else NotFinite(written)


DECODER = json.JSONDecoder(object_pairs_hook=once, parse_float=_number, parse_constant=NotFinite)
PLAIN = json.JSONDecoder(object_pairs_hook=once)


def values(
    path: Path,
    lines: Iterable[Line],
    content: Callable[[], str],
    decoder: json.JSONDecoder,
    inside: str | None = None,
    is_row: bool = False,
) -> Iterator[tuple[int, Any]]:
    """The values of a file with the lines in which they begin: one a line, in constant memory, or those of a list.

    A list is that of which the `content` consists, or the one at the dotted path `inside` the object that it is; the
    only one, where no path is given. `is_row`: an object that is mostly no list is one value. Of lines, a value is
    Refused where it is none. FileError for a list that is broken, and for an object with several lists, or of pandas'
    columns.
    """
    lines, first = iter(lines), list[Line]()
    for line in lines:
        first.append(line)
        if sum(map(_has_content, first)) == 2:
            break
    if inside is not None or _is_one([*filter(_has_content, first)]):
        text = content()
        if (found := _list_in(path, text, decoder, inside, is_row)) is not None:
            if text[found] == "[" or _is_keyed(value := decoder.decode(text)):
                yield from _elements(path, text, decoder, found)
            else:
                yield 1, value
            return
    yield from values_of_lines(chain(first, lines), decoder)


def values_of_lines(lines: Iterable[Line], decoder: json.JSONDecoder) -> Iterator[tuple[int, Any]]:
    """The value of each line with its number; Refused for one that is none."""
    for number, line in enumerate(lines, start=1):
        try:
            if isinstance(line, Refused):
                raise line
            yield (
                number,
                value_of(line.removeprefix(UTF8) if number == 1 and isinstance(line, bytes) else line, decoder),
            )
        except Refused as refused:
            yield number, refused


def value_of(line: str | bytes, decoder: json.JSONDecoder = PLAIN) -> Any:
    """The value in a line; Refused where it is none."""
    if not line.strip():
        raise Refused(EMPTY_LINE, "")
    try:
        text = line if isinstance(line, str) else line.decode()
    except UnicodeDecodeError as error:
        raise Refused(NOT_UTF8, error.object[error.start : error.start + 16]) from None
    if text.startswith(BOM):
        raise Refused(NOT_JSON, "Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0)")
    try:
        return decoder.decode(text)
    except TwiceError as error:
        raise Refused(REPEATED_KEY, repr(error.key)) from None
    except (ValueError, RecursionError) as error:
        raise Refused(NOT_JSON, error) from None


def begins_as_json(text: str) -> bool:
    """Tell whether line 1 is an object, or a list of objects begins there, or all of the text is one object."""
    if LIST.match(text):
        return True
    return any(is_object(part.lstrip(BOM)) for part in (text.partition("\n")[0], text))


def is_object(text: str) -> bool:
    """Tell whether a text is one JSON object."""
    return text.lstrip().startswith("{") and isinstance(_parsed(text), dict)


def dotted(row: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """The values of a row with their names; those inside objects have dots in theirs, as `doc.text`."""
    for key, value in row.items():
        if isinstance(value, Mapping):
            yield from dotted(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def at_path(row: Mapping[str, Any], path: str) -> Any:
    """The value under a name, or at a dotted path; KeyError where there is none."""
    if path in row:
        return row[path]
    head, dot, rest = path.partition(".")
    while dot:
        if isinstance(inner := row.get(head), Mapping):
            return at_path(inner, rest)
        more, dot, rest = rest.partition(".")
        head = f"{head}.{more}"
    raise KeyError(path)


# --- lists


def _has_content(line: Line) -> bool:
    return isinstance(line, Refused) or bool(line.strip())


def _is_one(first: Sequence[Line]) -> bool:
    """Tell whether the first two lines that are not blank begin one value, and are no values themselves."""
    if not first or (isinstance(first[0], Refused) and first[1:]):
        return False
    parsed = [_parsed(line) for line in first]
    if isinstance(first[0], Refused):  # a line that is too long, and the only one
        return True
    head = first[0] if isinstance(first[0], str) else first[0].decode(errors="replace")
    head = head.removeprefix(BOM).strip()
    if head in ("[", "{"):
        return True
    if parsed[0] is not None:
        return not first[1:] and (isinstance(parsed[0], dict) or _is_objects(parsed[0]))
    return head[:1] in ("[", "{") and not isinstance(parsed[-1], dict)


def _parsed(line: Line) -> Any:
    """The value in a line; None where it is none."""
    try:
        return None if isinstance(line, Refused) else json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(element, dict) for element in value)


def _list_in(path: Path, text: str, decoder: json.JSONDecoder, inside: str | None, is_row: bool) -> int | None:
    """The place of the list in a text, or of the object that `is_row`; None where that is lines, or one record."""
    begin = _after_space(text, 0)
    is_long = "\n" in text.strip()
    second = text[begin:].partition("\n")[2].partition("\n")[0]
    has_lines = second.startswith("{") and is_object(second)  # behind a lone bracket, if in no list
    if text[begin : begin + 1] == "[" and LIST.match(text):
        if inside is not None:
            raise FileError(f"{path}: a list itself, without a path {inside!r}: leave --rows out")
        return None if has_lines and _parsed(text.removeprefix(BOM)) is None else begin
    try:
        value = decoder.decode(text)
    except (ValueError, RecursionError) as error:
        if inside is None and (has_lines or text[begin:].partition("\n")[0].strip() != "{"):
            return None
        place = f"{path}:{error.lineno}" if isinstance(error, json.JSONDecodeError) else str(path)
        raise FileError(f"{place}: not JSON ({error}): correct it, or write one object a line") from None
    if isinstance(value, list) and is_long and inside is None:
        return begin
    if not isinstance(value, dict):
        return None
    _refuse_columns(path, value)
    if inside is None and _is_keyed(value):
        return begin
    lists = {name: of for name, of in dotted(value) if _is_objects(of)}
    if is_row and inside is None and 2 * sum(len(json.dumps(of)) for of in lists.values()) <= len(json.dumps(value)):
        return begin
    if inside is not None and inside not in lists:
        raise FileError(f"{path}: no list of objects at --rows {inside}; {there_are(inside, lists)}")
    if inside is None and len(lists) != 1:
        if is_long and not lists:
            names = ", ".join([*value][:SHOWN]) + (f" and {len(value) - SHOWN} more" if len(value) > SHOWN else "")
            raise FileError(f"{path}: one object, without a list of objects among {names}: write one a line")
        if lists and 2 * sum(len(json.dumps(of)) for of in lists.values()) > len(text):
            keys = [[*map(json.dumps, name.split("."))] for name in lists]
            program = shlex.quote(", ".join(f"(.{'.'.join(of)}[] | .split = {of[-1]})" for of in keys))
            raise FileError(
                f"{path}: several lists of objects: name one, by --rows {' or --rows '.join(lists)}, or write all, "
                f"each row with its list as `split`, by `jq -c {program} {shlex.quote(str(path))} > rows.jsonl`"
            )
        return None
    ((name, wanted),) = lists.items() if inside is None else [(inside, lists[inside])]
    if inside is None and not is_long and 2 * len(json.dumps(wanted)) <= len(text):
        return None  # a record with a list beside its texts
    places = re.finditer(rf"{re.escape(json.dumps(name.split('.')[-1]))}\s*:\s*(?=\[)", text)
    return next(found.end() for found in places if repr(decoder.raw_decode(text, found.end())[0]) == repr(wanted))


def _is_keyed(value: Mapping[str, Any]) -> bool:
    """Tell whether an object's values are rows by their ids: objects alone, of which two names or more are in all."""
    rows = [*value.values()]
    if len(rows) < LEAST_KEYED or not all(isinstance(row, dict) for row in rows):
        return False
    names = set(rows[0]).intersection(*rows)
    return len(names) > 1 and all(any(isinstance(row[name], str) for name in names) for row in rows)


def _refuse_columns(path: Path, value: Mapping[str, Any]) -> None:
    """Raise FileError for a table that pandas' to_json() wrote by columns, by rows with their numbers, or split."""
    inner, data = [*value.values()], value.get("data")
    is_table = bool(inner) and all(isinstance(of, dict) and of.keys() == inner[0].keys() for of in inner)
    keyed = {"columns": inner[0], "index": value} if is_table else {}
    orients = [name for name, of in keyed.items() if len(of) > 1 and [*of] == [*map(str, range(len(of)))]]
    if {*value} - {"index"} == {"columns", "data"} and isinstance(data, list):
        orients += ["split"] if all(isinstance(row, list) for row in data) else []
    if orients:
        program = f"import pandas; pandas.read_json('{path}', orient='{orients[0]}')"
        raise FileError(
            f"{path}: this is what pandas' to_json() writes by {orients[0]}: write lines, such as by `python -c "
            f"\"{program}.to_json('rows.jsonl', orient='records', lines=True)\"`"
        )


def _elements(path: Path, text: str, decoder: json.JSONDecoder, begin: int) -> Iterator[tuple[int, Any]]:
    """The elements of the list that begins at a place, each with the line that it begins in.

    Of an object with rows by their ids, these rows, each with its key as `id`.
    """
    at, line, counted, keyed = begin + 1, 1, 0, text[begin] == "{"
    end_mark, key = "}" if keyed else "]", {}
    try:
        while True:
            at = _after_space(text, at)
            line, counted = line + text.count("\n", counted, at), at
            if text[at : at + 1] == end_mark:
                break
            if keyed:
                key["id"], end = decoder.raw_decode(text, at)
                at = _after_space(text, _after_space(text, end) + 1)
            value, end = decoder.raw_decode(text, at)
            yield line, {**value, **key} if keyed else value
            at = _after_space(text, end)
            if text[at : at + 1] not in (",", end_mark):
                raise json.JSONDecodeError("Expecting ',' or ']'", text, at)
            at += text[at] == ","
    except json.JSONDecodeError as error:
        raise FileError(
            f"{path}:{error.lineno}: not JSON ({error.msg}): end the list, or write one value a line"
        ) from None
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path}:{line}: not JSON ({error}): correct the element that begins here") from None
    if text[at + 1 :].strip() and not text[:begin].strip():
        raise FileError(f"{path}:{line}: something stands behind the list that ends here: remove it")


def _after_space(text: str, at: int) -> int:
    return SPACE.match(text, at).end()  # type: ignore[union-attr]

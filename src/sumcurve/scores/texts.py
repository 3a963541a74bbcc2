"""Files of summaries and references, one item a line: plain text or JSON lines, as they are or in .gz or .zst.

A file whose name ends in .jsonl, .ndjson or .json (before .gz or .zst) is JSON lines; so is any other whose first
line is a JSON object. All lines of a file have the form of the first.

Plain text: a line is a text. The marks ``<t>`` and ``</t>`` bound its sentences; without marks it is one sentence. An
empty line is an empty text.

JSON lines: a line is a text, or an object that holds one under a key.

- A text is a string, whose sentences are bounded by line breaks and by the marks above, or a list of sentences, which
  are taken as they are.
- A candidate lies under "candidate", else "summary".
- References lie under "reference", "references" or "target", else "summary". Several references are a list of lists of
  sentences. Under "references" a list of strings is several references; elsewhere it is the sentences of one. Beside
  "target", "references" holds further ones, as in a prepared record. Without a key, a list of lists is several
  references, too.
- Other keys are not read, but for "id": where both files have it, it must agree.
"""

import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import zstandard

from sumcurve.records import open_bytes

JSON_NAMES = (".jsonl", ".ndjson", ".json")
KEYS = {"candidate": ("candidate",), "reference": ("reference", "references", "target")}  # of an object, by role
MARK = re.compile(r"</?t>")

Role = Literal["candidate", "reference"]
Text = list[str]  # sentences


class TextError(ValueError):
    """A file of texts that cannot be read; the message names file, line and remedy."""


@dataclass
class Texts:
    """The items of one file: a candidate is one text, references are one or more; ids where the file has them."""

    path: Path
    items: list[list[Text]] = field(default_factory=list)
    ids: list[str | None] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.items)


def read_texts(path: Path, role: Role) -> Texts:
    """All items of a file, in order. TextError where a line is none, or where there is no line."""
    texts = Texts(path)
    form = None
    json_lines = path.name.removesuffix(path.suffix if path.suffix in (".gz", ".zst") else "").endswith(JSON_NAMES)
    for number, line in enumerate(_lines(path), start=1):
        place = f"{path}:{number}"
        if number == 1:
            json_lines = json_lines or _is_object(line)
        if not json_lines:
            if _is_object(line):
                raise TextError(f"{place}: a JSON object, but line 1 is plain text; write all lines in one form")
            texts.items.append([sentences(line)])
            texts.ids.append(None)
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            raise TextError(f"{place}: not JSON ({error}); in JSON lines every line is one JSON value") from None
        item, found, name = _item(value, role, place)
        form = form or found
        if found and found != form:
            raise TextError(f"{place}: {found}, but earlier lines are {form}; write all lines in one form")
        texts.items.append(item)
        texts.ids.append(name)
    if not texts.items:
        raise TextError(f"{path} is empty; it needs one item a line")
    return texts


def check_same_items(first: Texts, second: Texts) -> None:
    """TextError unless both files have the same number of items and, where both name them, the same ids."""
    for number, (one, other) in enumerate(zip(first.ids, second.ids, strict=False), start=1):
        if one is not None and other is not None and one != other:
            raise TextError(
                f"line {number}: id {one!r} in {first.path}, but {other!r} in {second.path}; put both in the same order"
            )
    if len(first) != len(second):
        shorter = min(first, second, key=len)
        raise TextError(
            f"{first.path} has {len(first)} lines, {second.path} {len(second)}: {shorter.path} ends before line "
            f"{len(shorter) + 1}"
        )


def sentences(text: str) -> Text:
    """The sentences of a string: what lies between line breaks and marks, stripped, without the empty ones."""
    pieces = (piece.strip() for line in text.split("\n") for piece in MARK.split(line))
    return [piece for piece in pieces if piece]


def _lines(path: Path) -> Iterator[str]:
    """The lines of a file, with their ends; a byte order mark is no text."""
    try:
        with open_bytes(path) as stream:
            for number, line in enumerate(stream, start=1):
                try:
                    yield line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    raise TextError(f"{path}:{number}: not UTF-8 ({error}); convert the file to UTF-8") from None
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        raise TextError(f"{path} cannot be read: {error}") from error


def _is_object(line: str) -> bool:
    if not line.lstrip().startswith("{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _item(value: Any, role: Role, place: str) -> tuple[list[Text], str, str | None]:
    """The texts of a JSON value, its form in words (empty where the value fits several), and its id."""
    if not isinstance(value, dict):
        texts, form = _texts(value, role, "", place)
        return texts, form, None
    name = None if value.get("id") is None else str(value["id"])
    keys = [key for key in KEYS[role] if key in value] or [key for key in ("summary",) if key in value]
    if not keys:
        wanted = " or ".join(repr(key) for key in (*KEYS[role], "summary"))
        raise TextError(f"{place}: an object without {wanted}; it has {', '.join(map(repr, value)) or 'no key'}")
    if len(keys) > 1 and keys != ["references", "target"]:
        raise TextError(f"{place}: both {keys[0]!r} and {keys[1]!r}; keep the one to score against")
    texts, form = _texts(value[keys[-1]], role, keys[-1], place)
    if len(keys) > 1:
        texts += _texts(value["references"], role, "references", place)[0]
    if not texts:
        raise TextError(f"{place}: no reference; every item needs one")
    return texts, form and f"objects with {keys[-1]!r}: {form}", name


def _texts(value: Any, role: Role, key: str, place: str) -> tuple[list[Text], str]:
    """The texts of a value under a key, and its form in words; empty lists have the form of their neighbours."""
    if isinstance(value, str):
        return [_text(value, place)], "strings"
    if isinstance(value, list):
        kinds = {type(element) for element in value}
        if kinds == {list} and role == "reference":
            return [_text(element, place) for element in value], "lists of references"
        if key == "references" and kinds <= {str}:
            return [_text(element, place) for element in value], "lists of references" if value else ""
        if kinds <= {str}:
            return [_text(value, place)], "lists of sentences" if value else ""
    several = ", a list of such lists" if role == "reference" else ""
    where = f" under {key!r}" if key else ""
    raise TextError(f"{place}: {json.dumps(value)[:60]}{where} is no text; give a string, a list of sentences{several}")


def _text(value: Any, place: str) -> Text:
    """One text of a string or a list of sentences."""
    for sentence in [value] if isinstance(value, str) else value:
        if not isinstance(sentence, str):
            raise TextError(f"{place}: sentence {json.dumps(sentence)[:60]} is no string")
        if not sentence.isascii() and any("\ud800" <= character <= "\udfff" for character in sentence):
            raise TextError(f"{place}: half of a surrogate pair, which is no character; repair the text")
        if not isinstance(value, str) and "\n" in sentence:
            raise TextError(f"{place}: a line break in sentence {sentence[:60]!r}; make it two sentences")
    return sentences(value) if isinstance(value, str) else value

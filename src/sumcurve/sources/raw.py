"""Raw record, independent of its file's format, and the reasons for which a row is invalid.

A row is an object with `id`, `source` and `target`, where source and target are a string or a list of sentences.
Optional: `references` (a list of further targets), `group` (records of one group never fall into two parts) and
`split` (the record's part, where a published corpus states it). The names may be others (`raw.fields` of a study). A
row that cannot be used is not skipped but reported as `Dropped`; a file that cannot be read is a `CorpusError`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from sumcurve.files.content import LONG_LINE as LONG_LINE
from sumcurve.files.errors import Refused as Refused
from sumcurve.files.errors import excerpt as excerpt
from sumcurve.files.objects import NOT_JSON as NOT_JSON
from sumcurve.files.objects import NOT_UTF8 as NOT_UTF8
from sumcurve.files.objects import REPEATED_KEY as REPEATED_KEY
from sumcurve.files.tables import EMPTY_LINE as EMPTY_LINE

PARTS = ("train", "valid", "test")  # of a prepared corpus
RawText = str | list[str]

REQUIRED = ("id", "source", "target")
FIELDS = (*REQUIRED, "references", "group", "split")
SPLITS = {  # names of the parts in published corpora
    **{part: part for part in PARTS},
    "training": "train",
    **dict.fromkeys(["validation", "val", "dev"], "valid"),
}

# Reasons for which a row is dropped, beside those of `files`.
NOT_OBJECT = "not an object"
MISSING_KEY = "missing key"
UNKNOWN_KEY = "unknown key"
WRONG_TYPE = "wrong type"
SURROGATE = "lone surrogate"
NUL = "NUL character"
BAD_ID = "empty id, or control characters in it"
EMPTY_SOURCE = "empty source"
EMPTY_TARGET = "empty target"
EMPTY_REFERENCE = "empty reference"
EMPTY_SENTENCE = "empty sentence"
EMPTY_GROUP = "empty group"
BAD_SPLIT = "unknown split"
OTHER_SPLIT = "split other than its file's"
NO_SPLIT = "no split"
NO_ANSWER = "no message of a user with an answer"

ROLES = {  # of messages in a chat, as tools write them
    **dict.fromkeys(("user", "human", "prompter"), "user"),
    **dict.fromkeys(("assistant", "gpt", "bot", "model", "chatgpt", "ai"), "assistant"),
}

CONTROL = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]")
ENDS = re.compile(r"\r\n|\r|\n")  # of lines; str.splitlines has more
LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Place:
    """Place of a row: `line 3`, or `line 3 of test.jsonl` where the corpus has several files."""

    file: str  # its name; below the corpus's folder where it has several; in its archive where it is in one
    number: int  # from 1
    unit: str = "line"
    several: bool = False

    def __str__(self) -> str:
        return f"{self.unit} {self.number}" + (f" of {self.file}" if self.several else "")


@dataclass(frozen=True, slots=True)
class RawRecord:
    """A row that can be used: texts as they stand in the file, a string or a list of sentences."""

    place: Place
    id: str
    source: RawText
    target: RawText
    references: list[RawText] = field(default_factory=list)
    group: str | None = None
    split: str | None = None


@dataclass(frozen=True, slots=True)
class Dropped:
    """A record that is left out: its place, the reason, the value that decided, and its part where that is known."""

    place: Place
    id: str | None
    reason: str
    value: str
    split: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Row of dropped.jsonl; it has `split` where that is known."""
        split = {} if self.split is None else {"split": self.split}
        place = {"file": self.place.file, "line": self.place.number}
        return {**place, "id": self.id, **split, "reason": self.reason, "value": self.value}


def part_called(name: Any) -> str | None:
    """The part that a value names, whatever its case and the blanks around it; None where it names none."""
    return SPLITS.get(name.strip().lower()) if isinstance(name, str) else None


def identity(row: Mapping[str, Any]) -> str | None:
    """The id of a row that may be no record, if it has one that can be written."""
    name = row.get("id")
    name = str(name) if type(name) is int else name
    return name if isinstance(name, str) and not not_utf8(name) else None


def names_of(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The rows' names of our fields: a string, a list of columns, or None."""
    return {name: fields.get(name, name) for name in FIELDS if name in REQUIRED or name in fields}


def renamed(row: Mapping[str, Any], fields: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """The fields of a row that `fields` names, under our names. Where the id is None, it is the row's place.

    Columns of `source` are joined by an empty line. Columns of `references` are a reference each, where they have
    text; the first of them is the target of a row that lacks its own. `target_list` says whether a list is the
    sentences of one target, or alternatives, of which the first is the target and the rest are references. `chat`
    names a field of messages. `lines` lists the fields whose lines divide a text, and whether these are sentences or
    paragraphs. Raises Refused for a required field that the row does not have.
    """
    names = names_of(fields)
    if (chat := fields.get("chat")) is not None:
        row = {**row, **dict(zip(("source", "target"), exchange(row, chat), strict=True))}
        names |= {"source": "source", "target": "target"}
    if isinstance(columns := names["source"], list):
        row = {**row, ", ".join(columns): joined(row, columns)}
        names["source"] = ", ".join(columns)
    further: list[Any] = []
    if isinstance(columns := names.get("references"), list):
        further = [row[name] for name in columns if name != names["target"] and has_text(row.get(name))]
        del names["references"]
        if further and not has_text(row.get(names["target"])):
            row = {**row, names["target"]: further.pop(0)}
    if fields.get("target_list") == "alternatives":
        if isinstance(texts := row.get(names["target"]), list):
            first, *others = [text for text in texts if has_text(text)] or [""]
            row, further = {**row, names["target"]: first}, others + further
        if names.get("references") == names["target"]:
            del names["references"]
    for name in REQUIRED:
        if names[name] is not None and names[name] not in row:
            raise Refused(MISSING_KEY, f"{names[name]} (raw.fields: {name})")
    record = {ours: row[theirs] for ours, theirs in names.items() if theirs is not None and theirs in row}
    if further:
        listed = record.get("references") or []
        record["references"] = [*further, *listed] if isinstance(listed, list) else listed  # which is refused, as ever
    if names["id"] is None:
        record["id"] = f"{place.file}:{place.number}" if place.several else str(place.number)
    for name, kind in fields.get("lines", {}).items():
        if isinstance(text := record.get(name), str):
            lines = [line for line in ENDS.split(text) if line.strip()]
            record[name] = lines if kind == "sentences" else "\n\n".join(lines)
    return record


def not_utf8(text: str) -> bool:
    """Tell whether bytes that are no UTF-8 were read into this text, or half of a character is in it."""
    return not text.isascii() and LONE_SURROGATE.search(text) is not None


def has_text(value: Any) -> bool:
    """Tell whether a field holds anything but blanks; of another type it does, and is refused where it is checked."""
    return bool(value.strip() if isinstance(value, str) else value)


def is_strings(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def joined(row: Mapping[str, Any], columns: Sequence[str]) -> str:
    """The texts of these columns, parted by an empty line; Refused where none has one, or one is no text."""
    texts = [row[name] for name in columns if has_text(row.get(name))]
    if not texts:
        raise Refused(EMPTY_SOURCE, f"none of {', '.join(columns)} has text")
    if bad := next((text for text in texts if not isinstance(text, str)), None):
        raise Refused(WRONG_TYPE, f"source: {bad!r}, must be a string")
    return "\n\n".join(texts)


def messages_of(value: Any) -> list[tuple[str, str]]:
    """The messages of a chat: `user`, `assistant` or another role, and the text; none where it is no chat."""
    if not isinstance(value, list):
        return []
    messages = []
    for message in value:
        if not isinstance(message, Mapping):
            return []
        role = str(message.get("role", message.get("from"))).lower()
        text = message.get("content", message.get("value", message.get("text")))
        if isinstance(text, list):  # parts, of which images have no text
            text = "".join(str(part.get("text", "")) for part in text if isinstance(part, Mapping))
        if not isinstance(text, str):
            return []
        messages.append((ROLES.get(role, role), text))
    return messages


def exchange(row: Mapping[str, Any], name: str) -> tuple[str, str]:
    """Words of the user before the assistant's first answer, and that answer; other roles and later turns are left.

    Refused for a row without the field, and for a chat without an answer.
    """
    said: list[str] = []
    for role, text in messages_of(row.get(name)):
        if role == "user":
            said.append(text)
        elif role == "assistant" and said:
            return "\n\n".join(said), text
    if name not in row:
        raise Refused(MISSING_KEY, f"{name} (raw.fields: chat)")
    raise Refused(NO_ANSWER, row[name])


def check_numbers(row: Mapping[str, Any], least: Mapping[str, int]) -> None:
    """Raise Refused for a row of which a number is not at least the `least` of its field. A row without it passes."""
    for name, limit in least.items():
        value = row.get(name)
        if value is None:
            continue
        try:
            number = int(value) if isinstance(value, str) else value
        except ValueError:
            number = None
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise Refused(WRONG_TYPE, f"{name}: {value!r}, must be a number (raw.min)")
        if not number >= limit:  # as NaN is not
            raise Refused(f"{name} below {limit}", value)


def raw_record(row: Mapping[str, Any], place: Place) -> RawRecord:
    """The record of one row, checked. An optional field may be None, which is as if it were left out.

    A whole number is an id, or a group, by its digits, and no text.
    """
    row = {key: value for key, value in row.items() if value is not None or key in REQUIRED}
    row |= {key: str(row[key]) for key in ("id", "group") if type(row.get(key)) is int}
    for key in row:
        if key not in FIELDS:
            raise Refused(UNKNOWN_KEY, f"{key!r}; known are {', '.join(FIELDS)}")
    for key in REQUIRED:
        if key not in row:
            raise Refused(MISSING_KEY, key)
    for key in ("id", "group", "split"):
        if not isinstance(row.get(key, ""), str):
            raise Refused(WRONG_TYPE, f"{key}: {row[key]!r}, must be a string")
        if not_utf8(row.get(key, "")):
            raise Refused(SURROGATE, f"{key}: {row[key]!r}")
    if not row["id"].strip() or CONTROL.search(row["id"]):
        raise Refused(BAD_ID, repr(row["id"]))
    if "group" in row and not row["group"].strip():
        raise Refused(EMPTY_GROUP, repr(row["group"]))
    if "split" in row:
        if (part := part_called(row["split"])) is None:
            raise Refused(BAD_SPLIT, f"{row['split']}; known are {', '.join(SPLITS)}")
        row["split"] = part
    check_text(row["source"], "source", EMPTY_SOURCE)
    check_text(row["target"], "target", EMPTY_TARGET)
    references = row.get("references", [])
    if not isinstance(references, list):
        raise Refused(WRONG_TYPE, f"references: {references!r}, must be a list of targets")
    for reference in references:
        check_text(reference, "references", EMPTY_REFERENCE)
    return RawRecord(place, **row)


def check_text(value: Any, key: str, empty: str) -> None:
    """Raise Refused for a value that is no text, for one without a word (reason `empty`), and for an empty sentence."""
    if not isinstance(value, str) and not is_strings(value):
        raise Refused(WRONG_TYPE, f"{key}: {value!r}, must be a string or a list of strings")
    sentences = [value] if isinstance(value, str) else value
    if not any(sentence.strip() for sentence in sentences):
        raise Refused(empty, repr(value))
    for sentence in sentences:
        if not sentence.strip():
            raise Refused(EMPTY_SENTENCE, f"{key}: sentence {sentences.index(sentence) + 1} of {len(sentences)}")
        if not_utf8(sentence):
            raise Refused(SURROGATE, f"{key}: {sentence!r}")
        if (place := sentence.find("\0")) >= 0:
            raise Refused(NUL, f"{key}: {sentence[max(0, place - 30) : place + 30]!r}")

"""Files of summaries and references, one item a line: plain text, JSON lines or a table, plain or in .gz or .zst.

A file whose name ends in .csv or .tsv (before .gz or .zst) is a table, one in .jsonl, .ndjson or .json is JSON lines;
so is any other whose first line is a JSON object. All lines of a file have the form of the first.

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
- Ids lie under "id" or "_id", else under another name of IDS; other keys only show whether an order is the same.

Tables: line 1 names the columns, which stand for the keys of an object, but that a cell is always one text, like a
string above. Quotes are those of RFC 4180, so that a quoted cell may hold line breaks. Without a column of such a name
the only one beside "id" is taken. A caller may name key or column itself.

Files whose items have ids are joined by them, others by the order of their items, unless a column of both shows that
the order is not the same.
"""

import csv
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import zstandard

from sumcurve.machine.spelling import no_file
from sumcurve.store.records import open_bytes

JSON_NAMES = (".jsonl", ".ndjson", ".json")
TABLES = {".csv": ",", ".tsv": "\t"}  # what parts their cells
KEYS = {  # of an object, by role
    "candidate": ("candidate", "summary"),
    "reference": ("reference", "references", "target"),
}
OPTIONS = {"candidate": "--column", "reference": "--reference-column"}  # of `sumcurve rouge`, by role
MANY_CELLS = 4_000_000_000  # of a table of longest common subsequences: half a gigabyte and some seconds
IDS = ("item", "id", "_id", "doc_id", "docid", "item_id", "example_id", "question_id")  # whatever their case
PACKED = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}  # how such files begin
MARK = re.compile(r"</?t>")
LIST = re.compile(r"""\s*\[+\s*["'].*["']\s*\]+\s*""", re.DOTALL)  # as pandas and json write one into a cell

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
    lines: list[int] = field(default_factory=list)  # in which the items begin
    column: str | None = None  # of a table
    id_column: str | None = None  # or key, as it was first written
    columns: dict[str, dict[int, None]] = field(
        default_factory=dict
    )  # hashes, of beside the texts what differs by item
    by_id: bool = False  # put into another file's order
    unpaired: int | None = None  # the first line whose marks are no pairs

    def __len__(self) -> int:
        return len(self.items)

    @property
    def named(self) -> bool:
        return any(name is not None for name in self.ids)

    def add(self, line: int, item: list[Text], name: str | None) -> None:
        self.items.append(item)
        self.ids.append(name)
        self.lines.append(line)

    def note(self, row: Mapping[str, Any]) -> None:
        """Keep what the last item has beside its texts, in columns that no item lacks and no two share a value of."""
        if len(self.items) == 1:
            self.columns = {name: {} for name in row}
        for name, values in [*self.columns.items()]:
            value = row.get(name)
            key = hash(str(value))
            if value is None or value == "" or key in values:
                del self.columns[name]
            else:
                values[key] = None

    def check_marks(self, text: str) -> None:
        """Note the line of the last item, of which this is the text, where its marks are no pairs."""
        if self.unpaired is None and text.count("<t>") != text.count("</t>"):
            self.unpaired = self.lines[-1]


def read_texts(path: Path, role: Role, key: str | None = None, ids: str | None = None) -> Texts:
    """All items of a file, in order; texts lie under `key`, ids under `ids`, columns or keys of objects, if given.

    TextError where a line is no item, or where there is no line.
    """
    separator = separator_of(path)
    texts = _table(path, role, key, ids, separator) if separator else _by_line(path, role, key, ids)
    if not texts.items:
        raise TextError(f"{path} is empty; it needs one item a line{' below the heads' if separator else ''}")
    return texts


def separator_of(path: Path) -> str | None:
    """What parts the cells of a table; None where the file's name is not a table's."""
    return next((separator for ending, separator in TABLES.items() if _unpacked(path).endswith(ending)), None)


def _unpacked(path: Path) -> str:
    return path.name.removesuffix(path.suffix if path.suffix in (".gz", ".zst") else "").lower()


def _by_line(path: Path, role: Role, key: str | None, ids: str | None) -> Texts:
    texts = Texts(path)
    form, json_lines = None, _unpacked(path).endswith(JSON_NAMES)
    for number, line in enumerate(_lines(path), start=1):
        place = f"{path}:{number}"
        if number == 1:
            json_lines = json_lines or _is_object(line)
        if not json_lines:
            if _is_object(line):
                raise TextError(f"{place}: a JSON object, but line 1 is plain text; write all lines in one form")
            if key is not None:
                raise TextError(f"{place}: plain text, which has no {key!r}; leave {OPTIONS[role]} out")
            if ids is not None:
                raise TextError(f"{place}: plain text, which has no {ids!r}; leave --item out")
            texts.add(number, [sentences(line)], None)
            texts.check_marks(line)
            continue
        try:
            value = json.loads(line, object_pairs_hook=_object)
        except _RepeatedKey as error:
            raise TextError(f"{place}: the key {error.args[0]!r} stands twice in an object; keep one") from None
        except ValueError as error:
            raise TextError(f"{place}: not JSON ({error}); in JSON lines every line is one JSON value") from None
        item, form_here, beside = _item(value, role, key, place)
        column = _id_column([name for name, own in beside.items() if own is not None], ids, place)
        form = form or form_here
        if form_here and form_here != form:
            raise TextError(f"{place}: {form_here}, but earlier lines are {form}; write all lines in one form")
        texts.add(number, item, None if column is None else str(beside[column]))
        texts.id_column = texts.id_column or column
        texts.note(beside)
    return texts


def _table(path: Path, role: Role, key: str | None, ids: str | None, separator: str) -> Texts:
    csv.field_size_limit(2**31 - 1)  # a column may hold whole sources
    rows = csv.reader(_lines(path), delimiter=separator, strict=True)
    texts = Texts(path)
    line = 1  # in which the row begins
    try:
        heads = next(rows, [])
        if heads:
            texts.column, texts.id_column = _columns(heads, role, key, ids, f"{path}:1")
        line = rows.line_num + 1
        for row in rows:
            if len(row) != len(heads):
                raise TextError(
                    f"{path}:{line}: {len(row)} cells, but line 1 has {len(heads)}; quote cells that hold "
                    f'{separator!r} or a line break, write an empty text as "", and remove empty lines'
                )
            cells = dict(zip(heads, row, strict=True))
            text = cells[texts.column or ""]
            if LIST.fullmatch(text):
                raise TextError(f"{path}:{line}: a list in a cell of {texts.column!r}; write lists as JSON lines")
            texts.add(line, [sentences(text)], cells.get(texts.id_column or "") or None if texts.id_column else None)
            texts.note({name: cell for name, cell in cells.items() if name != texts.column})
            texts.check_marks(text)
            line = rows.line_num + 1
    except csv.Error as error:
        begin = "" if rows.line_num == line else f", in line {rows.line_num} of the row that begins here"
        raise TextError(f"{path}:{line}: no row of a table ({error}{begin}); write it by a CSV library") from None
    return texts


def _columns(
    heads: Sequence[str], role: Role, wanted: str | None, ids: str | None, place: str
) -> tuple[str, str | None]:
    """The columns that hold the texts and the ids."""
    columns = _keys(heads, role, wanted)
    id_column = _id_column([name for name in heads if name not in columns], ids, place)
    if not columns and wanted is None and id_column is not None:  # without it line 1 may be no heads
        columns = [name for name in heads if name != id_column]
    if len(columns) == 1 and heads.count(columns[0]) > 1:
        raise TextError(f"{place}: column {columns[0]!r} stands {heads.count(columns[0])} times; rename all but one")
    if len(columns) == 1:
        return columns[0], id_column
    what = f"column {wanted!r}" if wanted is not None else f"one column of {role}s"
    raise TextError(
        f"{place}: not {what} among {', '.join(map(repr, heads))}; call the texts' column {KEYS[role][0]!r} and the "
        f"ids' 'id', or name the texts' (`sumcurve rouge`: {OPTIONS[role]})"
    )


def _id_column(names: Sequence[str], wanted: str | None, place: str) -> str | None:
    """The column, or key of objects, that holds ids: the one wanted, "id" however it is written, else one of IDS."""
    if wanted is not None:
        if wanted not in names:
            raise TextError(f"{place}: no {wanted!r} among {', '.join(map(repr, names)) or 'no key'}; correct --item")
        return wanted
    known = [name for name in names if name.strip().casefold() in IDS]
    columns = [name for name in known if name.strip().casefold() in ("id", "_id")] or known
    if len(columns) > 1:
        raise TextError(
            f"{place}: the columns {' and '.join(map(repr, columns))} may both be the ids'; rename all but one, or "
            "name it (`sumcurve rouge`: --item)"
        )
    return columns[0] if columns else None


def in_order_of(first: Texts, second: Texts) -> Texts:
    """The second file's items in the order of the first's: by id where both have ids, else as they stand.

    TextError that names file, line and id where one of them is missing, doubled or not in the first, where the files
    have other numbers of items, and where without ids a column of both shows another order.
    """
    if first.path == second.path:
        return second
    if first.named and second.named:
        wanted = {name: f"{first.path}:{first.lines[place]}" for name, place in places_of(first).items()}
        joined = replace(second, items=[], ids=[], lines=[], by_id=True)
        for place in places_by_id(second, wanted):
            joined.add(second.lines[place], second.items[place], second.ids[place])
        return joined
    if len(first) != len(second):
        shorter = min(first, second, key=len)
        raise TextError(
            f"{first.path} has {len(first)} items, {second.path} {len(second)}: {shorter.path} ends before item "
            f"{len(shorter) + 1}; give both the same items, or ids"
        )
    _check_order(first, second)
    return second


def _check_order(first: Texts, second: Texts) -> None:
    """TextError where two columns hold the same values, one an item, in another order; counts are of one name."""
    counts = {hash(str(number)) for number in range(len(first) + 1)}
    for name, values in first.columns.items():
        for other, theirs in second.columns.items():
            alike = name.strip().casefold() == other.strip().casefold() or not values.keys() <= counts
            if alike and values.keys() == theirs.keys() and [*values] != [*theirs]:
                raise TextError(
                    f"{second.path}: {other!r} holds what {name!r} of {first.path} holds, in another order, so that "
                    f"items cannot be joined by order; call both 'id' (`sumcurve rouge`: --item {name})"
                )


def long_item(candidates: Texts, references: Texts, whole: bool, words: Callable[[str], int]) -> str | None:
    """A warning of the first item whose longest common subsequence takes a table of more than MANY_CELLS bits.

    It is that of `whole` texts (rougeL), or of their longest sentences (rougeLsum). `words` counts those of a text.
    """

    def longest(item: list[Text], count: Callable[[str], int]) -> int:
        return max((count(piece) for text in item for piece in (["\n".join(text)] if whole else text)), default=0)

    for place, (ours, theirs) in enumerate(zip(candidates.items, references.items, strict=True)):
        if longest(ours, len) * longest(theirs, len) <= MANY_CELLS:  # no word is shorter than a character
            continue
        n, m = longest(ours, words), longest(theirs, words)
        if n * m > MANY_CELLS:
            return (
                f"WARNING: {candidates.path}:{candidates.lines[place]}: item {place + 1} has a "
                f"{'text' if whole else 'sentence'} of {n:,} words, its reference ({references.path}:"
                f"{references.lines[place]}) one of {m:,}: {'rougeL' if whole else 'rougeLsum'} takes time and memory "
                f"as their product, here {n * m / 8e9:,.1f} GB and a second or more for each; leave it out (--metrics)"
                + ("" if whole else ", or mark the sentences (<t> ... </t>)")
            )
    return None


def places_of(texts: Texts) -> dict[str, int]:
    """The place of each id, in order; TextError where an item has none or another's."""
    places: dict[str, int] = {}
    for place, (name, line) in enumerate(zip(texts.ids, texts.lines, strict=True)):
        if name is None:
            raise TextError(f"{texts.path}:{line}: no id, but other lines have one; give every line an id or none")
        if name in places:
            first = texts.lines[places[name]]
            raise TextError(f"{texts.path}:{line}: id {name!r} comes a second time, after line {first}; keep one")
        places[name] = place
    return places


def places_by_id(texts: Texts, wanted: Mapping[str, str]) -> list[int]:
    """The place of each wanted id, of which `wanted` says in words where it stands; TextError unless they are all."""
    places = places_of(texts)
    for name, place in places.items():
        if name not in wanted:
            first, where = next(iter(wanted.items()))
            raise TextError(
                f"{texts.path}:{texts.lines[place]}: id {name!r} is of no test item; the first is {first!r} ({where}); "
                "correct the id or remove the item"
            )
    if missing := [name for name in wanted if name not in places]:
        raise TextError(
            f"{texts.path}: no summary of id {missing[0]!r} ({wanted[missing[0]]}; {len(missing)} of {len(wanted)} "
            'items have none); add it, an empty one as ""'
        )
    return [places[name] for name in wanted]


def sentences(text: str) -> Text:
    """The sentences of a string: what lies between line breaks and marks, stripped, without the empty ones."""
    pieces = (piece.strip() for line in text.split("\n") for piece in MARK.split(line))
    return [piece for piece in pieces if piece]


def _lines(path: Path) -> Iterator[str]:
    """The lines of a file, with their ends; a byte order mark is no text."""
    try:
        with open_bytes(path) as stream:
            for number, line in enumerate(stream, start=1):
                packed = [ending for ending, magic in PACKED.items() if number == 1 and line.startswith(magic)]
                if packed:
                    raise TextError(f"{path} is compressed: rename it to {path.name}{packed[0]}")
                if b"\0" in line:
                    raise TextError(
                        f"{path}:{number}: a NUL character, as in UTF-16, which would part words; save the file as "
                        "UTF-8, or remove the character"
                    )
                try:
                    yield line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    raise TextError(f"{path}:{number}: not UTF-8 ({error}); convert the file to UTF-8") from None
    except FileNotFoundError:
        raise TextError(no_file(path)) from None
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        raise TextError(f"{path} cannot be read: {error}; copy it again") from error


class _RepeatedKey(ValueError):
    """Of a JSON object; json keeps the last of two equal keys and says nothing."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key, value in pairs:
        if key in mapping:
            raise _RepeatedKey(key)
        mapping[key] = value
    return mapping


def _is_object(line: str) -> bool:
    if not line.lstrip().startswith("{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _item(value: Any, role: Role, key: str | None, place: str) -> tuple[list[Text], str, dict[str, Any]]:
    """The texts of a JSON value, its form in words (empty where it fits several), and what is beside the texts."""
    if not isinstance(value, dict):
        if key is not None:
            raise TextError(f"{place}: no object, which could have {key!r}; leave {OPTIONS[role]} out")
        texts, form = _texts(value, role, "", place)
        return texts, form, {}
    keys = _keys(list(value), role, key)
    if not keys:
        wanted = " or ".join(map(repr, dict.fromkeys((*KEYS[role], "summary")) if key is None else (key,)))
        raise TextError(
            f"{place}: an object without {wanted}; it has {', '.join(map(repr, value)) or 'no key'}; rename the texts' "
            f"key, or name it (`sumcurve rouge`: {OPTIONS[role]})"
        )
    if len(keys) > 1 and keys != ["references", "target"]:
        raise TextError(
            f"{place}: both {keys[0]!r} and {keys[1]!r} may be the {role}; keep one, or name it (`sumcurve rouge`: "
            f"{OPTIONS[role]})"
        )
    beside = {name: own for name, own in value.items() if name not in keys}
    texts, form = _texts(value[keys[-1]], role, keys[-1], place)
    if len(keys) > 1:
        texts += _texts(value["references"], role, "references", place)[0]
    if not texts:
        raise TextError(f"{place}: no reference; every item needs one")
    return texts, form and f"objects with {keys[-1]!r}: {form}", beside


def _keys(names: Sequence[str], role: Role, wanted: str | None) -> list[str]:
    """Those of an object, or a table, that hold the role's texts: the one wanted, the role's own, else "summary"."""
    if wanted is not None:
        return [wanted] if wanted in names else []
    return [name for name in KEYS[role] if name in names] or [name for name in ("summary",) if name in names]


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
        if "\0" in sentence:
            raise TextError(f"{place}: a NUL character, which would part words; remove it")
        if not isinstance(value, str) and "\n" in sentence:
            raise TextError(f"{place}: a line break in sentence {sentence[:60]!r}; make it two sentences")
    return sentences(value) if isinstance(value, str) else value

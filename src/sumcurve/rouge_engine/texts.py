"""Files of summaries and references, one item a row (`files.rows`): plain text, JSON lines or lists, or tables.

Plain text: a line is a text. Marks such as ``<t>`` and ``</t>``, ``<q>``, ``<n>``, ``</s>`` or ``[SEP]`` (`MARK`) bound
its sentences; without marks it is one sentence. An empty line is an empty text.

JSON: a value is a text, or an object that holds one under a key of `KEYS`, else "summary". A text is a string, whose
sentences are bounded by line breaks and marks, or a list of sentences. Several references are a list of lists of
sentences; under "references", a list of strings, too. Beside "target", "references" holds further ones, as in a
prepared record.

Tables: columns stand for keys, and a cell is always one text. Without such a column the only one beside "id" is taken.

Files whose items have ids (`sheet.ITEM`) are joined by them, others by the order of their items, unless a column of
both shows that the order is not the same.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from sumcurve.files.content import FILE_NAME, path_of
from sumcurve.files.errors import FileError
from sumcurve.files.layout import Layout
from sumcurve.files.objects import is_object
from sumcurve.files.rows import Row, first_cells, read_rows
from sumcurve.files.sheet import ITEM, metrics_among
from sumcurve.machine.numbers import finite
from sumcurve.machine.parameters import plain
from sumcurve.machine.spelling import alike

KEYS = {  # of an object, by role
    "candidate": (
        "candidate",
        "prediction",
        "predictions",
        "hypothesis",
        "generated_summary",
        "generated_text",
        "summary",
    ),
    "reference": ("reference", "references", "target", "reference_summary", "ground_truth", "gold"),
}
SCORES = "`sumcurve compare` and `sumcurve correlate` take scores"
OPTIONS = {"candidate": "--column", "reference": "--reference-column"}  # of `sumcurve rouge`, by role
MARK = re.compile(r"</?(?:[tqnsS]|sep|SEP|eos|EOS|bos|sent|sentence)>|\[(?:X_)?SEP\]|\[(?:CLS|EOS)\]|<br ?/?>")
LIST = re.compile(r"""\s*\[+\s*["'].*["']\s*\]+\s*""", re.DOTALL)  # as pandas and json write one into a cell
# One object or a list of them, likewise:
OBJECT = re.compile(r"""\s*\[*\s*\{\s*(["'])[^"']*\1\s*:.*\}\s*\]*\s*""", re.DOTALL)

Role = Literal["candidate", "reference"]
Text = list[str]  # sentences


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
    )  # hashes of the values beside the texts that differ by item
    by_id: bool = False  # put into another file's order
    unpaired: int | None = None  # the first line whose marks are no pairs
    guesses: list[str] = field(default_factory=list)  # of the file, in sentences
    is_plain: bool = False  # text, a line an item

    is_list: bool = False  # of a caller's texts, no file
    others: list[Path] = field(default_factory=list)  # further files of references

    def __len__(self) -> int:
        return len(self.items)

    @property
    def texts(self) -> list[Text]:
        """The first text of each item, a candidate's only one."""
        return [item[0] for item in self.items]

    def place(self, item: int) -> str:
        """The place of an item by its number from 0."""
        return f"item {item + 1}" if self.is_list else f"{self.path}:{self.lines[item]}"

    @property
    def named(self) -> bool:
        return any(name is not None for name in self.ids)

    def add(self, line: int, item: list[Text], name: str | None) -> None:
        self.items.append(item)
        self.ids.append(name)
        self.lines.append(line)

    def note(self, row: Mapping[str, Any]) -> None:
        """Keep the last item's values beside its texts, in columns that every item has with distinct values."""
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
        """Note the line of the last item, whose text this is, where its marks are not paired."""
        if self.unpaired is None and text.count("<t>") != text.count("</t>"):
            self.unpaired = self.lines[-1]


def files_of(given: Any) -> list[Path]:
    """The file that a value names, or the files of a list of names alone; none of texts."""
    if path := path_of(given):
        return [path]
    listed = given if isinstance(given, list | tuple) else ()
    are_files = all(isinstance(one, Path) or (isinstance(one, str) and FILE_NAME.fullmatch(one)) for one in listed)
    return [Path(one) for one in listed] if are_files else []


def texts_of(
    given: Any, role: Role, name: str, key: str | None = None, ids: str | None = None, layout: Layout | None = None
) -> Texts:
    """The items of a file, of several files of references, each of which has one of every item, or of a list of texts.

    Texts of a list are not checked: the scorer does so.
    """
    if files := files_of(given):
        if twice := [path for place, path in enumerate(files) if path.resolve() in map(Path.resolve, files[:place])]:
            raise FileError(f"{twice[0]}: this file of {role}s is given twice: name each once")
        texts, *others = [read_texts(path, role, key, ids, layout) for path in files]
        texts.others = files[1:]
        for other in others:
            further = in_order_of(texts, other)
            texts.items = [[*ours, *theirs] for ours, theirs in zip(texts.items, further.items, strict=True)]
        if others:
            texts.guesses.append(f"References of an item: one of each of {', '.join(map(str, files))}.")
        return texts
    values = [given] if isinstance(given, str) else plain(given)
    is_several = [role == "reference" and isinstance(value, list | tuple) for value in values]
    items = [[*map(parted, one)] if several else [parted(one)] for one, several in zip(values, is_several, strict=True)]
    return Texts(Path(name), items, [None] * len(items), [*range(1, len(items) + 1)], is_list=True)


def in_blocks(references: Texts, many: int) -> Texts:
    """References of which blank lines part the `many` items, a line a reference, where they are so; else as given."""
    blocks = [[*block] for is_text, block in groupby(references.items, lambda item: item != [[]]) if is_text]
    if not references.is_plain or len(references) == many or not len(blocks) == many > 1:
        return references
    said = f"Blank lines of {references.path} part its items, whose lines are a reference each."
    items = [[line[0] for line in block] for block in blocks]
    lines, guesses = [*range(1, many + 1)], [*references.guesses, said]
    return replace(references, items=items, ids=[None] * many, lines=lines, guesses=guesses, is_list=True)


def read_texts(
    path: Path, role: Role, key: str | None = None, ids: str | None = None, layout: Layout | None = None
) -> Texts:
    """All items of a file, in order; texts lie under `key`, ids under `ids`, columns or keys of objects, if given.

    FileError where a row is no item, or where there is no row.
    """
    cells = first_cells(path)
    names = {cell.strip().casefold() for cell in cells}
    is_table = bool(cells) and bool(key or ids or names & {*ITEM, *KEYS[role], "summary"})  # whatever its name
    read = read_rows(path, layout or Layout(), "table" if is_table else "text")
    texts = Texts(path, guesses=read.guesses)
    if cells and read.kind == "text":
        said = f"{path}: read as text, a line an item, though most lines have {len(cells)} cells, as a table has"
        texts.guesses.append(f"{said}; name its column of texts ({OPTIONS[role]}) if it is one.")
    if not read.rows:
        below = " below the names of columns" if read.kind == "table" else ""
        raise FileError(f"{path} is empty; it needs one item a line{below}")
    texts.is_plain = read.kind == "text"
    if texts.is_plain:
        _add_lines(texts, read.rows, role, key, ids)
    elif read.kind == "json":
        _add_values(texts, read.rows if key else _of_samples(texts, read.rows), role, key, ids)
    else:
        _add_cells(texts, read.rows, read.columns, role, key, ids)
    return texts


def _add_lines(texts: Texts, rows: Sequence[Row], role: Role, key: str | None, ids: str | None) -> None:
    for name, option in ((key, OPTIONS[role]), (ids, "--item")):
        if name is not None:
            raise FileError(f"{rows[0].place}: plain text, which has no {name!r}; leave {option} out")
    for row in rows:
        if is_object(row.value):
            raise FileError(f"{row.place}: a JSON object, but line 1 is plain text; write all lines in one form")
        texts.add(row.line, [sentences(row.value)], None)
        texts.check_marks(row.value)


def _of_samples(texts: Texts, rows: Sequence[Row]) -> Sequence[Row]:
    """Rows of samples of lm-evaluation-harness as items with id, reference and candidate, of the first filter alone.

    Other rows are as they are.
    """
    if not all(isinstance(row.value, dict) and {"doc_id", "target", "filtered_resps"} <= {*row.value} for row in rows):
        return rows
    filters = list(dict.fromkeys(str(row.value.get("filter", "")) for row in rows))
    if len(filters) > 1:
        texts.guesses.append(f"Filter of {texts.path}: {filters[0]}; not used: {', '.join(filters[1:])}.")
    items = []
    for row in rows:
        response = row.value["filtered_resps"]
        while isinstance(response, list) and response:
            if [str(one) for one in response[1:]] in (["True"], ["False"]):  # is it what greedy decoding gives?
                raise FileError(f"{row.place}: log-likelihoods of choices, no texts; sumcurve compare takes its scores")
            response = response[0]
        if str(row.value.get("filter", "")) == filters[0]:
            item = {"id": row.value["doc_id"], "reference": row.value["target"], "candidate": response}
            items.append(replace(row, value=item))
    return items


def _add_values(texts: Texts, rows: Sequence[Row], role: Role, key: str | None, ids: str | None) -> None:
    form = ""
    for row in rows:
        item, its_form, beside = _item(row.value, role, key, row.place)
        column = _id_column([name for name, value in beside.items() if value is not None], ids, row.place)
        form = form or its_form
        if its_form and its_form != form:
            raise FileError(f"{row.place}: {its_form}, but earlier lines are {form}; write all lines in one form")
        texts.add(row.line, item, None if column is None else str(beside[column]))
        texts.id_column = texts.id_column or column
        texts.note(beside)


def _add_cells(
    texts: Texts, rows: Sequence[Row], columns: Sequence[str], role: Role, key: str | None, ids: str | None
) -> None:
    of_texts, id_column = _columns(columns, role, key, ids, f"{texts.path}:1")
    texts.column, texts.id_column = ", ".join(of_texts), id_column
    if not _keys(columns, role, key) and all(finite(row.value[of_texts[0]]) is not None for row in rows):
        raise FileError(
            f"{texts.path}: column {of_texts[0]!r}, the only one beside {id_column!r}, holds numbers, no texts; name "
            f"the texts' (`sumcurve rouge`: {OPTIONS[role]}); {SCORES}"
        )
    for row in rows:
        cells = {column: row.value[column] for column in of_texts}
        for column, text in cells.items():
            if packed := packed_as(text):
                raise FileError(f"{row.place}: {packed} in a cell of {column!r}; write lists as JSON lines")
        item = [sentences(text) for text in cells.values() if text.strip() or len(cells) == 1]
        if not item:
            raise FileError(f"{row.place}: no reference in {texts.column}; every item needs one")
        texts.add(row.line, item, row.value[id_column].strip() or None if id_column else None)
        texts.note({name: cell for name, cell in row.value.items() if name not in cells})
        for text in cells.values():
            texts.check_marks(text)


def _columns(
    heads: Sequence[str], role: Role, wanted: str | None, ids: str | None, place: str
) -> tuple[list[str], str | None]:
    """The columns that hold the texts, and that of the ids."""
    columns = _keys(heads, role, wanted)
    id_column = _id_column([name for name in heads if name not in columns], ids, place)
    if not columns and wanted is None and id_column is not None:  # without it line 1 may be no heads
        columns = [name for name in heads if name != id_column]
    if len(columns) == 1 or (columns and wanted is not None):
        return columns, id_column
    what = f"column {wanted!r}" if wanted is not None else f"one column of {role}s"
    raise FileError(
        f"{place}: not {what} among {', '.join(map(repr, heads))}; call the texts' column {KEYS[role][0]!r} and the "
        f"ids' 'id', or name the texts' (`sumcurve rouge`: {OPTIONS[role]}){metrics_among(heads, SCORES)}"
    )


def packed_as(cell: str) -> str:
    """Name what a table's cell holds in place of a text: "a list" or "an object"; "" for a text."""
    return "a list" if LIST.fullmatch(cell) else "an object" if OBJECT.fullmatch(cell) else ""


def _id_column(names: Sequence[str], wanted: str | None, place: str) -> str | None:
    """The column, or key of objects, that holds ids: the one wanted, "id" however it is written, else one of ITEM."""
    if wanted is not None:
        if wanted not in names:
            raise FileError(f"{place}: no {wanted!r} among {', '.join(map(repr, names)) or 'no key'}; correct --item")
        return wanted
    known = [name for name in names if name.strip().casefold() in ITEM]
    columns = [name for name in known if name.strip().casefold() in ("id", "_id")] or known
    if len(columns) > 1:
        raise FileError(
            f"{place}: the columns {' and '.join(map(repr, columns))} may both be the ids'; rename all but one, or "
            "name it (`sumcurve rouge`: --item)"
        )
    return columns[0] if columns else None


def in_order_of(first: Texts, second: Texts) -> Texts:
    """The second file's items in the order of the first's: by id where both have ids, else as they stand.

    FileError that names file, line and id where one of them is missing, doubled or not in the first, where the files
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
        shorter, longer = sorted((first, second), key=len)
        why = ""
        if longer.is_plain:
            last = ", and its last line is empty" if longer.items[-1] == [[]] else ""
            why = f"; in {longer.path} every line is an item, so that a line break inside a text makes two{last}"
        raise FileError(
            f"{first.path} has {len(first)} items, {second.path} {len(second)}: {shorter.path} ends before item "
            f"{len(shorter) + 1}{why}; give both the same items, or ids"
        )
    _check_order(first, second)
    return second


def _check_order(first: Texts, second: Texts) -> None:
    """Raise FileError where two columns hold the same values, one an item, in another order; counts are of one name."""
    counts = {hash(str(number)) for number in range(len(first) + 1)}
    for name, values in first.columns.items():
        for other, theirs in second.columns.items():
            alike = name.strip().casefold() == other.strip().casefold() or not values.keys() <= counts
            if alike and values.keys() == theirs.keys() and [*values] != [*theirs]:
                raise FileError(
                    f"{second.path}: {other!r} holds what {name!r} of {first.path} holds, in another order, so that "
                    f"items cannot be joined by order; call both 'id' (`sumcurve rouge`: --item {name})"
                )


def places_of(texts: Texts) -> dict[str, int]:
    """The place of each id, in order; FileError where an item has none or another's."""
    places: dict[str, int] = {}
    for place, (name, line) in enumerate(zip(texts.ids, texts.lines, strict=True)):
        if name is None:
            raise FileError(f"{texts.path}:{line}: no id, but other lines have one; give every line an id or none")
        if name in places:
            first = texts.lines[places[name]]
            raise FileError(f"{texts.path}:{line}: id {name!r} comes a second time, after line {first}; keep one")
        places[name] = place
    return places


def places_by_id(texts: Texts, wanted: Mapping[str, str]) -> list[int]:
    """The place of each wanted id, whose own place `wanted` describes; FileError where one is missing."""
    places = places_of(texts)
    for name, place in places.items():
        if name not in wanted:
            first, where = next(iter(wanted.items()))
            raise FileError(
                f"{texts.path}:{texts.lines[place]}: id {name!r} is of no test item; the first is {first!r} ({where}); "
                f"correct the id or remove the item{alike(name, wanted)}"
            )
    if missing := [name for name in wanted if name not in places]:
        raise FileError(
            f"{texts.path}: no summary of id {missing[0]!r} ({wanted[missing[0]]}; {len(missing)} of {len(wanted)} "
            f'items have none); add it, an empty one as ""{alike(missing[0], places)}'
        )
    return [places[name] for name in wanted]


def sentences(text: str) -> Text:
    """The sentences of a string: text between line breaks and marks, stripped, without the empty ones."""
    pieces = (piece.strip() for line in text.split("\n") for piece in MARK.split(line))
    return [piece for piece in pieces if piece]


def parted(text: Any) -> Any:
    """A text whose sentences end at marks, too: a string, with a sentence a line, or a list of sentences.

    One without a mark, and any other value, is returned as it is.
    """
    if isinstance(text, str):
        return "\n".join(sentences(text)) if MARK.search(text) else text
    if not isinstance(text, list | tuple) or not any(isinstance(one, str) and MARK.search(one) for one in text):
        return text
    return [piece for one in text for piece in (sentences(one) if isinstance(one, str) and MARK.search(one) else [one])]


def _item(value: Any, role: Role, key: str | None, place: str) -> tuple[list[Text], str, dict[str, Any]]:
    """The texts of a JSON value, its form in words (empty where it fits several), and its further values."""
    if not isinstance(value, dict):
        if key is not None:
            raise FileError(f"{place}: no object, which could have {key!r}; leave {OPTIONS[role]} out")
        texts, form = _texts(value, role, "", place)
        return texts, form, {}
    keys = _keys(list(value), role, key)
    if not keys:
        there = ", ".join(map(repr, [*value][:20])) + ", …" * (len(value) > 20)  # ids may be keys
        wanted = " or ".join(map(repr, dict.fromkeys((*KEYS[role], "summary")) if key is None else (key,)))
        raise FileError(
            f"{place}: an object without {wanted}; it has {there or 'no key'}; rename the texts' "
            f"key, or name it (`sumcurve rouge`: {OPTIONS[role]}){metrics_among(value, SCORES)}"
        )
    if len(keys) > 1 and key is None and [name.casefold() for name in keys] != ["references", "target"]:
        raise FileError(
            f"{place}: both {keys[0]!r} and {keys[1]!r} may be the {role}; keep one, or name it (`sumcurve rouge`: "
            f"{OPTIONS[role]})"
        )
    beside = {name: own for name, own in value.items() if name not in keys}
    if key is not None and len(keys) > 1:
        each = [_texts(value[name], role, name, place)[0] for name in keys if value[name] is not None]
        texts, form = [text for of_key in each for text in of_key], ""
    else:
        texts, form = _texts(value[keys[-1]], role, keys[-1], place)
        if len(keys) > 1:
            texts += _texts(value[keys[0]], role, "references", place)[0]
    if not texts:
        raise FileError(f"{place}: no reference; every item needs one")
    return texts, form and f"objects with {keys[-1]!r}: {form}", beside


def _keys(names: Sequence[str], role: Role, wanted: str | None) -> list[str]:
    """Keys of an object, or a table, that hold the role's texts: those wanted, the role's own, else "summary".

    Several of references are wanted with commas between them. The case of the role's own does not count.
    """
    if wanted is not None:
        several = wanted.split(",") if role == "reference" and wanted not in names else [wanted]
        return several if {*several} <= {*names} else []
    folded = {name.casefold(): name for name in reversed(names)}
    return [folded[name] for name in KEYS[role] if name in folded] or [
        folded[name] for name in folded if name == "summary"
    ]


def _texts(value: Any, role: Role, key: str, place: str) -> tuple[list[Text], str]:
    """The texts of a value under a key, and its form in words; empty lists have the form of their neighbours."""
    if isinstance(value, str):
        return [_text(value, place)], "strings"
    if isinstance(value, list):
        kinds = {type(element) for element in value}
        if kinds == {list} and role == "reference":
            return [_text(element, place) for element in value], "lists of references"
        if key.casefold() == "references" and kinds <= {str}:
            return [_text(element, place) for element in value], "lists of references" if value else ""
        if kinds <= {str}:
            return [_text(value, place)], "lists of sentences" if value else ""
    several = ", a list of such lists" if role == "reference" else ""
    where = f" under {key!r}" if key else ""
    raise FileError(f"{place}: {json.dumps(value)[:60]}{where} is no text; give a string, a list of sentences{several}")


def _text(value: Any, place: str) -> Text:
    """One text of a string or a list of sentences."""
    for sentence in [value] if isinstance(value, str) else value:
        if not isinstance(sentence, str):
            raise FileError(f"{place}: sentence {json.dumps(sentence)[:60]} is no string")
        if "\0" in sentence:
            raise FileError(f"{place}: a NUL character, which would part words; remove it")
        if not isinstance(value, str) and "\n" in sentence:
            raise FileError(f"{place}: a line break in sentence {sentence[:60]!r}; make it two sentences")
    return sentences(value) if isinstance(value, str) else parted(value)

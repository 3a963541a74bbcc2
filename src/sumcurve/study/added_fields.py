"""Fields of an added corpus: found by the names of its columns, without regard to case, and by what they hold."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from statistics import median_low
from typing import Any

from sumcurve.corpora.tokenizers import tokenizer
from sumcurve.files.fields import ID, MORE_SOURCES, MORE_TARGETS, REFERENCES, SOURCE, TARGET
from sumcurve.machine.counts import counted
from sumcurve.machine.spelling import there_are
from sumcurve.settings.config import PlanError
from sumcurve.sources.raw import FIELDS, has_text, is_strings, messages_of, part_called

NAMES = {
    "id": ID,
    "source": SOURCE,
    "target": TARGET,
    "references": REFERENCES,
    **{name: (name,) for name in ("group", "split")},
}
FURTHER = {"source": MORE_SOURCES, "target": MORE_TARGETS}
SEVERAL = {"summaries", "titles", "targets", "abstracts", "simplifications", "headlines", "references", "refs"}
ANSWERS = ("output", "response", "completion", "answer")  # to instructions
SHORT_TEXT = 4  # words; a shorter text is a name or a number
LONG_WORDS = 8  # characters in the mean: lists of words have fewer, and of sentences more
EXAMPLE = 30  # characters of a value that are shown
Row = Mapping[str, Any]
Parted = tuple[str | None, Row]  # a row and the part that its file states


@dataclass
class Found:
    """Fields as a study's `raw.fields` has them; what was decided, in lines; and what could be meant by the others."""

    fields: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    asked: dict[str, list[str]] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)  # of all columns


def plain(name: str) -> str:
    """A column's name in small letters, with one sign between its words."""
    return re.sub(r"[\W_]+", "_", name.lower()).strip("_")


def found_in(
    path: object, rows: Sequence[Row], stated: Mapping[str, str | None], raw: Iterable[Parted], drawn: bool
) -> Found:
    """The fields of the first rows, as stated or found; `raw` are all rows, which are read where lists are there.

    `drawn`: whether no files state the parts. PlanError for a stated field that is not there.
    """
    found = Found()
    for row in rows:
        for name, value in row.items():
            if value:
                found.examples.setdefault(name, short(value))
    there, fields = [*found.examples], found.fields
    for name in (*FIELDS, "chat"):
        if (given := stated.get(name)) is not None:
            columns = [given] if given in there or name not in ("source", "references") else given.split(",")
            if missing := [column for column in columns if column not in there]:
                raise PlanError(f"{path}: no field {missing[0]!r} for --{name}; {there_are(missing[0], there)}")
            fields[name] = columns if len(columns) > 1 else given
    taken = {column for of in fields.values() for column in ([of] if isinstance(of, str) else of)}

    filled = Counter(name for row in rows for name, value in row.items() if value)

    def fitting(name: str) -> list[str]:
        for least in (len(rows) / 2, 0):  # a title that few rows have is no target beside summaries that all have
            for candidates in (NAMES, FURTHER):
                fits = [c for n in candidates.get(name, ()) for c in there if plain(c) == n and c not in taken]
                if fits := [column for column in fits if filled[column] >= least]:
                    return fits
        return []

    for name in ("id", "group", "split"):
        if name not in fields and (columns := fitting(name)):
            fields[name] = columns[0]
    of_parts = (column for column in there if all(part_called(row.get(column)) for row in rows))
    if drawn and "split" not in fields and (column := next(of_parts, None)):
        fields["split"] = column
        found.notes.append(f"parts: field {column!r} states them; --split FIELD names another")
    taken |= {fields[name] for name in ("id", "group", "split") if name in fields}
    numbered = numbered_columns(there, taken - {fields.get("target")})
    alike = numbered.get("target", [])
    targets = (
        [fields["target"]] if "target" in fields else [column for column in fitting("target") if column not in alike]
    )
    if "target" not in fields:
        targets = [*alike[:1], *targets] or fitting("references")[:1] or numbered.get("references", [])[:1]
    targets = [column for column in targets if plain(column) == "target"] or targets  # a title beside it is another
    sources = [fields["source"]] if "source" in fields else fitting("source")
    chat = fields.get("chat") or (None if sources and targets else next((n for n in there if is_chat(rows, n)), None))
    if chat is not None:
        fields["chat"] = chat
        found.notes.append(of_chat(chat, rows))
        return found
    if "source" not in fields:
        by_name, sources = sources, instruction(found, rows, there, sources, targets)
        if len(sources) == 1 and sources == by_name:
            known = {*NAMES["target"], *FURTHER["target"], *NAMES["references"]}
            numbers = {column for columns in numbered.values() for column in columns}
            others = {c for c in there if plain(c) not in known} - taken - {*sources, *targets} - numbers
            sources = [*sources, *longer_fields(rows, sources[0], others)]
    for name, columns in (("source", sources), ("target", targets)):
        if name not in fields and len(columns) == 1:
            fields[name] = columns[0]
        elif name not in fields:
            found.asked[name] = columns
    target, columns = fields.get("target"), fields.get("references") or []
    columns = [columns] if isinstance(columns, str) else columns
    if target and not columns:
        columns = [column for column in alike if column != target] if target in alike else []
        columns = columns or numbered.get("references", []) or fitting("references")[:1]
        columns = [column for column in columns if column != target]
    if len(columns) == 1 and (columns[0] == target or any(isinstance(row.get(columns[0]), list) for row in rows)):
        fields["references"] = columns[0]
    elif columns:
        fields["references"] = columns
        found.notes.append(
            f"references: {', '.join(columns)}, a summary each, beside the target {target or ''}; "
            "--references FIELD,… names others"
        )
    read_lists(found, rows, stated.get("target_list"), raw)
    return found


def short(value: object) -> str:
    """The beginning of a value, in one line."""
    text = " ".join(str(value).split())
    return text if len(text) <= EXAMPLE else f"{text[: EXAMPLE - 1]}…"


def numbered_columns(columns: Iterable[str], taken: Iterable[str]) -> dict[str, list[str]]:
    """Columns that are named alike but for a number, `summary1` and `summary2`, of targets and of references."""
    groups: dict[str, list[tuple[int, str]]] = {}
    for column in columns:
        if column not in taken and (of := re.fullmatch(r"(\D*?)_?(\d*)", plain(column))):
            groups.setdefault(of[1], []).append((int(of[2] or -1), column))
    found: dict[str, list[str]] = {}
    for stem, group in sorted(groups.items(), key=lambda item: item[0] not in NAMES["target"]):
        names = [column for _, column in sorted(group)]
        kind = "references" if stem in NAMES["references"] else "target"
        if any(number >= 0 for number, _ in group) and (
            kind == "references" or stem in (*NAMES["target"], *FURTHER["target"])
        ):
            found.setdefault(kind, names)
    return found


def is_chat(rows: Sequence[Row], column: str) -> bool:
    """Tell whether most values of a column are messages of a user and an assistant."""
    roles = [{role for role, _ in messages_of(row.get(column))} for row in rows]
    return 2 * sum({"user", "assistant"} <= of for of in roles) > len(rows)


def keys_of_objects(rows: Sequence[Row], column: str) -> list[str]:
    """The keys of the objects in a column's lists, as turns of a meeting, the longest text's first; none of a chat."""
    lists = [value for row in rows if isinstance(value := row.get(column), list)]
    words: Counter[str] = Counter()
    for one in chain.from_iterable(lists):
        for key, text in one.items() if isinstance(one, Mapping) else ():
            words[key] += len(text.split()) if isinstance(text, str) else 0
    return [] if is_chat(rows, column) else [key for key, _ in words.most_common()]


def has_words(rows: Sequence[Row], column: str) -> bool:
    """Tell whether a column holds lists of single words, or lists of such lists."""
    lists = [value for row in rows if isinstance(value := row.get(column), list)]
    flat = [inner for of in lists for one in of for inner in (one if isinstance(one, list) else [one])]
    words = [inner for inner in flat if isinstance(inner, str)]
    is_short = sum(map(len, words)) < LONG_WORDS * len(words)
    return len(words) > 3 * len(lists) and is_short and not any(re.search(r"\s|.[。！？]$", word) for word in words)


def of_chat(column: str, rows: Sequence[Row]) -> str:
    """Line on what is read of a chat, and how much is not."""
    said = [Counter(role for role, _ in messages_of(row.get(column))) for row in rows]
    more, system = sum(of["assistant"] > 1 for of in said), sum(of["system"] > 0 for of in said)
    left = [f"later turns of {more} of the first {len(rows)} chats"] if more else []
    left += [f"messages of the system in {system}"] if system else []
    return f"{column}: the user's words are the source, and the assistant's first answer the target" + (
        f"; not read: {', '.join(left)}" if left else ""
    )


def instruction(
    found: Found, rows: Sequence[Row], there: Sequence[str], sources: list[str], targets: Sequence[str]
) -> list[str]:
    """The sources: of an instruction with its input both, joined, or the input alone where one instruction is all.

    A field `text` beside them is the prompt with its answer, as in Alpaca.
    """
    by_name = {plain(column): column for column in there}
    column, given = by_name.get("instruction"), by_name.get("input") or by_name.get("context")
    if column is None or not targets or plain(targets[0]) not in ANSWERS:
        return sources
    if given is None:
        return [column]
    instructions = {row.get(column) for row in rows if isinstance(row.get(column), str)}
    if len(instructions) == 1 and all(has_text(row.get(given)) for row in rows):
        found.notes.append(f"source: {given}; {column} is the same in all rows: --source {column},{given} joins both")
        return [given]
    found.notes.append(f"source: {column} and {given}, joined by an empty line; --source {given} takes that alone")
    found.fields["source"] = [column, given]
    return []


def read_lists(found: Found, rows: Sequence[Row], stated: str | None, raw: Iterable[Parted]) -> None:
    """Decide whether a list in the target's field is sentences or alternatives, and say so."""
    fields, target = found.fields, found.fields.get("target")
    listed = fields.get("references")
    if target is None or isinstance(target, list) or not any(isinstance(row.get(target), list) for row in rows):
        lists = [(row[listed], row.get(target or "")) for row in rows if isinstance(listed, str) and row.get(listed)]
        if lists and all(isinstance(texts, list) and texts[0] == text for texts, text in lists):
            found.notes.append(f"references: the first of {listed} is the target, and not counted twice")
            fields |= {"target": fields.pop("references"), "target_list": "alternatives"}
        return
    shown, why = (
        ("alternatives", "--references is the same field") if listed == target else kind_of(target, raw, fields)
    )
    kind = stated or shown
    if kind == "alternatives":
        fields["target_list"] = kind
    if listed == target:
        del fields["references"]
    meaning = {
        "alternatives": "several summaries, of which the first is the target and all are references",
        "sentences": "the sentences of one summary",
    }
    other = next(name for name in meaning if name != kind)
    reason = "--target-list says so" if stated else f"{why}; --target-list {other} says otherwise"
    found.notes.append(f"{target}: its lists are {meaning[kind]} ({reason})")


def kind_of(target: str, raw: Iterable[Parted], fields: Mapping[str, Any]) -> tuple[str, str]:
    """Kind of a column's lists, `sentences` or `alternatives`, and the sign of it.

    Alternatives: one in each training record and several in most others; elements that are lists, or mostly of several
    sentences; or a column named in the plural.
    """
    words = tokenizer("unicode")
    single, several, elements, texts = Counter[str](), Counter[str](), 0, 0
    for of_file, row in raw:
        value = row.get(target)
        if not value or not isinstance(value, str | list):
            continue
        value = [value] if isinstance(value, str) else value
        part = of_file or part_called(row.get(fields.get("split") or "split")) or ""
        (several if len(value) > 1 else single)[part] += 1
        if any(isinstance(element, list) for element in value):
            return "alternatives", "an element is a list itself"
        if len(value) > 1 and elements < 1000:
            elements += len(value)
            texts += sum(len(words.sentences(element)) > 1 for element in value if isinstance(element, str))
    total = single + several
    alone = single["train"] >= 0.95 * total["train"] > 0
    most = [part for part in ("test", "valid") if several[part] > single[part]]
    if alone and most:
        shown = ", ".join(f"several in {several[part]} of {total[part]} of {part}" for part in most)
        return "alternatives", f"one element in {single['train']} of {total['train']} training records, {shown}"
    if 2 * texts > elements:
        return "alternatives", f"{texts} of {elements} elements have several sentences"
    if plain(target) in SEVERAL:
        return "alternatives", "the field's name"
    return (
        "sentences",
        f"elements are single sentences, {counted(several.total(), 'list')} of {total.total()} have several",
    )


def words_of(rows: Iterable[Row], name: str) -> int:
    """The median of the words that a field's values have, where it has any; numbers and objects have none."""
    texts = [" ".join(value) if is_strings(value) else value for row in rows if (value := row.get(name))]
    return median_low([len(text.split()) if isinstance(text, str) else 0 for text in texts]) if texts else 0


def longer_fields(rows: Sequence[Row], source: str, others: Iterable[str]) -> list[str]:
    """Other fields that hold longer texts than the source, and so may be the source."""
    length = max(words_of(rows, source), SHORT_TEXT)
    return sorted(name for name in others if words_of(rows, name) > length)

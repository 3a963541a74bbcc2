"""Input files of a metric validation: prepared records, summaries, judgements, broken texts, and items written before.

Each line is read by a model of pydantic. FileError or RecordError names file, line, key, value and remedy.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    ValidationError,
)

from sumcurve.files.fields import MORE_SOURCES, MORE_TARGETS, SOURCE, TARGET
from sumcurve.files.models import read_models, said
from sumcurve.machine.spelling import no_file
from sumcurve.scores.scorer import Claim
from sumcurve.store.records import Record, RecordError, csv_rows, csv_text, write_text

if TYPE_CHECKING:
    from sumcurve.capabilities.exam.judgements import Pair
    from sumcurve.capabilities.exam.rows import Item

# --- a user's own files


def _with_word(text: list[str]) -> list[str]:
    if not any(sentence.strip() for sentence in text):
        raise ValueError("no word; give a list of sentences, each of tokens joined by blanks")
    return text


def _split(text: Any) -> Any:
    """A text as its sentences, of tokens joined by blanks; a list of sentences as it is."""
    from sumcurve.corpora.tokenizers import tokenizer

    words = tokenizer("words")
    return words.tokens(words.sentences(text), False) if isinstance(text, str) else text


Sentences = Annotated[list[str], BeforeValidator(_split)]
Words = Annotated[Sentences, AfterValidator(_with_word)]


class Prepared(BaseModel):
    """A record, prepared or of texts that are split into sentences and tokens; other keys are not read."""

    model_config = ConfigDict(strict=True)

    id: str
    source: Annotated[Sentences, Field(validation_alias=AliasChoices(*SOURCE, *MORE_SOURCES))]
    target: Annotated[Words, Field(validation_alias=AliasChoices(*TARGET, *MORE_TARGETS))]
    references: list[Words] = []
    group: str | None = None


class Summary(BaseModel):
    """A system's summary of a record."""

    model_config = ConfigDict(strict=True)

    id: str
    summary: Sentences


def read_documents(path: Path) -> list[Record]:
    """The prepared records of a file, two at least, each with a unique id."""
    records: list[Record] = []
    places: dict[str, str] = {}
    for where, row in read_models(path, Prepared, "prepared record"):
        if row.id in places:
            raise RecordError(f"{where}: id {row.id!r}, as in {places[row.id]}; give each record an id of its own")
        places[row.id] = where
        records.append(Record(**row.model_dump()))
    if len(records) < 2:
        raise RecordError(f"{path}: {len(records)} records; a validation takes two at least")
    return records


def read_summaries(path: Path, records: Sequence[Record]) -> list[list[str]]:
    """A system's summaries of these records, in their order."""
    texts: list[list[str]] = []
    for where, row in read_models(path, Summary, "summary"):
        if len(texts) == len(records) or row.id != records[len(texts)].id:
            raise RecordError(f"{where}: id {row.id!r} is not that of the corpus there; give its order")
        texts.append(row.summary)
    if len(texts) != len(records):
        raise RecordError(f"{path}: {len(texts)} summaries of {len(records)} records; give one of each")
    if not any("".join(text).strip() for text in texts):
        raise RecordError(f"{path}: every summary is empty; give some, or leave the system out")
    return texts


def read_pairs(folder: Path, records: Sequence[Record], where: str) -> list["Pair"]:
    """The broken references of a folder of contrasts, each beside its reference; `where` names the records."""
    from sumcurve.capabilities.contrasts.sets import FILE, read
    from sumcurve.capabilities.exam.judgements import Pair

    if not (folder / FILE).is_file():
        raise RecordError(no_file(folder / FILE))
    places = {record.id: place for place, record in enumerate(records)}
    pairs = []
    for contrasted in read(folder):
        if contrasted.item not in places:
            raise RecordError(f"{folder / FILE}: item {contrasted.item!r} is not of {where}")
        for contrast in contrasted.contrasts:
            pairs.append(Pair(places[contrasted.item], contrasted.sentences, contrast.sentences, contrast.rule))
    return pairs


# --- items


class Head(BaseModel):
    """Head of a file of items: the metric, its material, and the number of items. Older files have no `texts`.

    For a study, `outputs` are the outputs of the summaries, by system.
    """

    scorer: str
    settings: dict[str, Any]
    metric: str
    claim: Claim
    corpus: str
    kinds: dict[str, str]
    items: int
    texts: str | None = None
    study: str | None = None
    outputs: dict[str, str] = {}


def _listed(name: str) -> str:
    from sumcurve.capabilities.exam.thresholds import thresholds

    if name not in thresholds().rows:
        raise ValueError(f"no row {name!r}")
    return name


Number = Annotated[FiniteFloat | None, BeforeValidator(lambda cell: None if cell == "" else cell)]


class Line(BaseModel):
    """Cells of one item in a file of items."""

    row: Annotated[str, AfterValidator(_listed)]
    part: str
    system: str
    document: str
    value: Number
    people: Number
    length: Number
    group: str


def write_items(path: Path, head: Mapping[str, Any], items: Sequence["Item"]) -> None:
    """Write a line of JSON after "# ", with the metric and the number of items, then a CSV of the items."""
    from sumcurve.capabilities.exam.rows import Item

    columns = [field.name for field in fields(Item)]
    head = {**head, "items": len(items)}
    table = csv_text(columns, ([_exact(getattr(item, name)) for name in columns] for item in items))
    write_text(path, f"# {json.dumps(head, sort_keys=True, ensure_ascii=False)}\n{table}")


def _exact(value: Any) -> Any:
    return repr(value) if isinstance(value, float) else value


def read_items(path: Path) -> tuple[Head, list["Item"]]:
    """Read a file of `write_items`."""
    try:
        first, _, table = path.read_text(encoding="utf-8-sig").partition("\n")
        head = Head.model_validate_json(first.removeprefix("# "))
    except ValueError as error:
        why = said(error) if isinstance(error, ValidationError) else str(error)
        raise RecordError(f"{path}:1: no head of items of a validation ({why}); validate again") from error
    if not table.endswith("\n"):
        raise RecordError(f"{path}: its last line does not end, so it was cut; validate again")
    items = []
    for number, cells in enumerate(csv_rows(table), start=3):
        try:
            items.append(_item(Line.model_validate(cells), head.kinds))
        except ValueError as error:
            why = said(error) if isinstance(error, ValidationError) else str(error)
            raise RecordError(f"{path}:{number}: no item ({why}); validate again") from error
    if len(items) != head.items:
        raise RecordError(f"{path}:{len(items) + 2}: {len(items)} items, but {head.items} were written; validate again")
    return head, items


def _item(line: Line, kinds: Mapping[str, str]) -> "Item":
    """The item of a line; ValueError for a dose, a system or a value that is invalid in its row."""
    from sumcurve.capabilities.exam.perturbations import PERTURBATIONS
    from sumcurve.capabilities.exam.rows import Item
    from sumcurve.capabilities.exam.thresholds import thresholds

    if line.row in PERTURBATIONS and float(line.part) not in thresholds().doses:
        raise ValueError(f"no dose {line.part!r}")
    if line.row == "people" and line.system not in kinds:
        raise ValueError(f"system {line.system!r} is not in the head")
    if line.row not in ("repeats", "people") and line.value is not None and not -1 <= line.value <= 1:
        raise ValueError(f"value {line.value}: no share, nor a difference of shares")
    return Item(**dict(line))

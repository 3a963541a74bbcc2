"""What people judged of summaries, in the layouts of the collections that are public.

- `realsumm` (Bhandari et al. 2020): JSON lines, a summary each; LitePyramid recall; no sources
- `summeval` (Fabbri et al. 2021; `mteb/summeval`): JSON lines, a document each; four scores from relevance to fluency
- `rose` (Liu et al. 2023; `Salesforce/rose`): JSON lines, a document each; shares of atomic content units
- `frank` (Pagnoni et al. 2021): JSON, summaries (`benchmark_data.json`) and factuality (`human_annotations.json`)
- `bump` (Ma et al. 2023): JSON, pairs of a summary and an unfaithful edited form of it

A file may be packed by gzip, xz or zstandard. Texts that are not tokenised are split and tokenised as corpora are by
`words`, in small letters.
"""

import json
import lzma
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sumcurve.corpora.tokens import sentences, tokenize
from sumcurve.machine.spelling import no_file, there_are
from sumcurve.statistics.groups import Array
from sumcurve.store.records import Record, RecordError, open_bytes

Sentences = list[str]  # of tokens, joined by blanks
MARKED = re.compile(r"<t>(.*?)(?:</t>|$)", re.DOTALL)  # four summaries of REALSumm end before their last </t>
KINDS = {"abs": "abstractive", "ext": "extractive"}


@dataclass(frozen=True)
class Pair:
    """A summary and a broken form of it, which is less faithful to the document at that place of the records."""

    document: int
    whole: Sentences
    broken: Sentences
    kind: str


@dataclass(frozen=True)
class Material:
    """What a metric is examined on: documents, what systems wrote of them, and what people said of that.

    `summaries` are ``[systems][documents]``, `people` by name ``[systems, documents]``; a higher score is better.
    `kinds` say of every system whether it is abstractive or extractive, where the collection does. A record without a
    source has none in the collection. `left_out` counts summaries that the grid of systems and documents lacks.
    """

    name: str
    records: list[Record]
    systems: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    summaries: list[list[Sentences]] = field(default_factory=list)
    people: dict[str, Array] = field(default_factory=dict)
    pairs: list[Pair] = field(default_factory=list)
    left_out: int = 0


@dataclass(frozen=True)
class Judged:
    """One summary of a document, and its scores by people."""

    where: str  # file and line
    document: str
    system: str
    summary: Sentences
    scores: Mapping[str, float]
    references: list[Sentences]
    source: Sentences
    kind: str = ""


def read_material(paths: Sequence[Path], layout: str) -> Material:
    """The collection in these files.

    RecordError with file and line, in a JSON array the entry, for what is not one.
    """
    if layout not in LAYOUTS:
        raise RecordError(f"layout {layout!r}: no such layout of judgements; {there_are(layout, LAYOUTS)}")
    count = 2 if layout == "frank" else 1
    if len(paths) != count:
        wanted = "benchmark_data.json and human_annotations.json" if layout == "frank" else "one file"
        raise RecordError(f"{layout}: {len(paths)} files; give {wanted}")
    return LAYOUTS[layout](paths)


def grid(name: str, rows: Iterable[Judged]) -> Material:
    """Rows in the grid of those documents that have the systems that most summaries are of.

    The others are left out and counted. RecordError where a summary comes twice, or scores are of other names.
    """
    by_document: dict[str, dict[str, Judged]] = {}
    for row in rows:
        of_document = by_document.setdefault(row.document, {})
        if row.system in of_document:
            earlier = of_document[row.system].where
            raise RecordError(
                f"{row.where}: system {row.system!r} has a summary of document {row.document!r} at {earlier}, too; "
                "remove one"
            )
        first = next(iter(of_document.values()), row)
        if row.scores.keys() != first.scores.keys():
            raise RecordError(
                f"{row.where}: scores {', '.join(row.scores)}, but {first.where} has {', '.join(first.scores)}; give "
                "both the same"
            )
        of_document[row.system] = row
    if not by_document:
        raise RecordError(f"{name}: no summary; give a file that has some")
    sets: Counter[tuple[str, ...]] = Counter()
    for of_document in by_document.values():
        sets[tuple(sorted(of_document))] += len(of_document)
    systems = list(max(sets.items(), key=lambda item: (item[1], item[0]))[0])
    documents = [of for of in by_document.values() if sorted(of) == systems]
    firsts = [of[systems[0]] for of in documents]
    return Material(
        name,
        records=[Record(row.document, row.source, row.references[0], row.references[1:]) for row in firsts],
        systems=systems,
        kinds=[firsts[0].kind if system == systems[0] else documents[0][system].kind for system in systems],
        summaries=[[of[system].summary for of in documents] for system in systems],
        people={
            score: np.array([[of[system].scores[score] for of in documents] for system in systems])
            for score in firsts[0].scores
        },
        left_out=sum(map(len, by_document.values())) - len(systems) * len(documents),
    )


# --- layouts


def realsumm(paths: Sequence[Path]) -> Material:
    """Sentences stand between <t> and </t>, tokenised and in small letters.

    The collection has BART among abstractive and among extractive systems, with the same summaries and scores: its 25
    systems are 24. Names hold the kind, so that both stay, as in the published figures.
    """

    def rows() -> Iterator[Judged]:
        for where, row in _lines(paths[0]):
            kind = _text(row, "kind", where)
            if kind not in KINDS:
                raise RecordError(f"{where}: kind is {kind!r}; {there_are(kind, KINDS)}")
            yield Judged(
                where,
                document=_text(row, "id", where),
                system=f"{kind}/{_text(row, 'system', where)}",
                summary=_marked(_text(row, "summary", where), where, empty=True),
                scores={"litepyramid_recall": _number(row, "litepyramid_recall", where)},
                references=[_marked(_text(row, "reference", where), where)],
                source=[],
                kind=KINDS[kind],
            )

    return grid("realsumm", rows())


SUMMEVAL = ("relevance", "coherence", "fluency", "consistency")


def summeval(paths: Sequence[Path]) -> Material:
    """Systems have no names there: they are called by their place, from 1."""

    def rows() -> Iterator[Judged]:
        for where, row in _lines(paths[0]):
            written = _texts(row, "machine_summaries", where)
            references = [_tokens(text) for text in _texts(row, "human_summaries", where)]
            scores = {name: _numbers(row, name, where, len(written)) for name in SUMMEVAL}
            source = _tokens(_text(row, "text", where))
            for place, summary in enumerate(written):
                yield Judged(
                    where,
                    document=_text(row, "id", where),
                    system=f"system-{place + 1:02}",
                    summary=_tokens(summary),
                    scores={name: values[place] for name, values in scores.items()},
                    references=_some(references, "human_summaries", where),
                    source=source,
                )

    return grid("summeval", rows())


ROSE = ("acu", "normalized_acu")


def rose(paths: Sequence[Path]) -> Material:
    """Shares of the reference's atomic content units that people find in a summary."""

    def rows() -> Iterator[Judged]:
        for where, row in _lines(paths[0]):
            outputs, annotations = (_block(row, name, where) for name in ("system_outputs", "annotations"))
            if outputs.keys() != annotations.keys():
                alone = min(outputs.keys() ^ annotations.keys())
                raise RecordError(f"{where}: system {alone!r} stands in one of system_outputs and annotations alone")
            reference, source = (_tokens(_text(row, name, where)) for name in ("reference", "source"))
            for system in outputs:
                annotated = _block(annotations, system, where)
                yield Judged(
                    where,
                    document=_text(row, "example_id", where),
                    system=system,
                    summary=_tokens(_text(outputs, system, where)),
                    scores={name: _number(annotated, name, where) for name in ROSE},
                    references=_some([reference], "reference", where),
                    source=source,
                )

    return grid("rose", rows())


def frank(paths: Sequence[Path]) -> Material:
    """Summaries of two data sets, of which the grid takes the one with more."""
    benchmark, annotations = paths
    judged: dict[tuple[str, str], float] = {}
    for where, row in _entries(annotations):
        judged[_text(row, "hash", where), _text(row, "model_name", where)] = _number(row, "Factuality", where)

    def rows() -> Iterator[Judged]:
        for where, row in _entries(benchmark):
            key = _text(row, "hash", where), _text(row, "model_name", where)
            if key not in judged:
                raise RecordError(f"{where}: no annotation of hash {key[0]!r} and model {key[1]!r} in {annotations}")
            yield Judged(
                where,
                document=key[0],
                system=key[1],
                summary=_tokens(_text(row, "summary", where)),
                scores={"factuality": judged[key]},
                references=_some([_tokens(_text(row, "reference", where))], "reference", where),
                source=_tokens(_text(row, "article", where)),
            )

    return grid("frank", rows())


def bump(paths: Sequence[Path]) -> Material:
    """Every article is one document; pairs are of the types that the authors corrected, where they did."""
    records: dict[str, Record] = {}
    places: dict[str, int] = {}
    pairs = []
    for where, row in _entries(paths[0]):
        document = _text(row, "article_id", where)
        whole, broken = (_tokens(_text(row, name, where)) for name in ("reference_summary", "edited_summary"))
        if whole == broken:
            raise RecordError(f"{where}: the edited summary has the reference's tokens; remove the entry")
        if document not in records:
            places[document] = len(records)
            records[document] = Record(document, _tokens(_text(row, "article", where)), whole)
        kind = row.get("corrected_error_type") or _text(row, "error_type", where)
        pairs.append(Pair(places[document], whole, broken, str(kind)))
    if not pairs:
        raise RecordError(f"{paths[0]}: no pair; give a file that has some")
    return Material("bump", list(records.values()), pairs=pairs)


LAYOUTS: dict[str, Callable[[Sequence[Path]], Material]] = {
    "realsumm": realsumm,
    "summeval": summeval,
    "rose": rose,
    "frank": frank,
    "bump": bump,
}


# --- files


def _bytes(path: Path) -> bytes:
    if not path.is_file():
        raise RecordError(no_file(path))
    try:
        with lzma.open(path) if path.suffix == ".xz" else open_bytes(path) as stream:
            return bytes(stream.read())
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise RecordError(f"{path} cannot be unpacked ({error}); fetch it again") from error


def _lines(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, line in enumerate(_bytes(path).splitlines(), start=1):
        if line.strip():
            yield f"{path}:{number}", _json(line, f"{path}:{number}")


def _entries(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Entries of an array, or JSON lines."""
    content = _bytes(path)
    if not content.lstrip().startswith(b"["):
        yield from _lines(path)
        return
    try:
        entries = json.loads(content)
    except ValueError as error:
        raise RecordError(f"{path}: not JSON ({error}); fetch it again") from error
    for number, entry in enumerate(entries, start=1):
        where = f"{path}: entry {number}"
        if not isinstance(entry, Mapping):
            raise RecordError(f"{where} is a {type(entry).__name__}, no object with names; fetch the file again")
        yield where, entry


def _json(line: bytes, where: str) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise RecordError(f"{where}: not JSON ({error}); correct the line") from error
    if not isinstance(row, Mapping):
        raise RecordError(f"{where}: a {type(row).__name__}, no object with names; correct the line")
    return row


def _value(row: Mapping[str, Any], name: str, where: str) -> Any:
    if name not in row:
        raise RecordError(f"{where}: no {name!r}, which this layout has; {there_are(name, row)}")
    return row[name]


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    value = _value(row, name, where)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise RecordError(f"{where}: {name} is {value!r}, no text; correct it")
    return str(value)


def _block(row: Mapping[str, Any], name: str, where: str) -> Mapping[str, Any]:
    value = _value(row, name, where)
    if not isinstance(value, Mapping):
        raise RecordError(f"{where}: {name} is a {type(value).__name__}, no object with names; correct it")
    return value


def _texts(row: Mapping[str, Any], name: str, where: str) -> list[str]:
    values = _value(row, name, where)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise RecordError(f"{where}: {name} is no list of texts; correct it")
    return values


def _numbers(row: Mapping[str, Any], name: str, where: str, count: int) -> list[float]:
    values = _value(row, name, where)
    if not isinstance(values, list) or len(values) != count:
        raise RecordError(f"{where}: {name} is no list of {count} numbers, one a summary; correct it")
    return [_number({name: value}, name, where) for value in values]


def _number(row: Mapping[str, Any], name: str, where: str) -> float:
    value = _value(row, name, where)
    if isinstance(value, bool) or not isinstance(value, int | float) or value - value != 0:
        raise RecordError(f"{where}: {name} is {value!r}, no number; correct it or remove the summary")
    return float(value)


def _some(references: list[Sentences], name: str, where: str) -> list[Sentences]:
    if not references or not all(references):
        raise RecordError(f"{where}: {name} holds a reference without a word; remove the document")
    return references


def _tokens(text: str) -> Sentences:
    return [" ".join(tokens) for sentence in sentences(text) if (tokens := tokenize(sentence, lower=True))]


def _marked(text: str, where: str, empty: bool = False) -> Sentences:
    marked = [" ".join(sentence.split()) for sentence in MARKED.findall(text)]
    kept = [sentence for sentence in marked if sentence]
    if MARKED.sub("", text).strip() or not (kept or empty):
        raise RecordError(f"{where}: text {text[:40]!r} is not sentences between <t> and </t>; correct it")
    return kept

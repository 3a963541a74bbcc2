"""Human judgements of summaries, in the layouts of two public collections: JSON lines, plain or packed.

- `realsumm` (Bhandari et al. 2020): a summary each; LitePyramid recall; no sources
- `summeval` (Fabbri et al. 2021; `mteb/summeval`): a document each; four scores from relevance to fluency

Texts that are not tokenised are split and tokenised by the tokenizer `words` of corpora, in small letters.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, FiniteFloat, model_validator

from sumcurve.corpora.tokens import sentences, tokenize
from sumcurve.files.models import read_models
from sumcurve.machine.spelling import there_are
from sumcurve.statistics.groups import Array
from sumcurve.store.records import Record, RecordError

Sentences = list[str]  # of tokens, joined by blanks
MARKED = re.compile(r"<t>(.*?)(?:</t>|$)", re.DOTALL)  # four summaries of REALSumm end before their last </t>
KINDS = {"abs": "abstractive", "ext": "extractive"}


@dataclass(frozen=True)
class Pair:
    """A summary and a broken form of it, less faithful to the document at that place of the records."""

    document: int
    whole: Sentences
    broken: Sentences
    kind: str


@dataclass(frozen=True)
class Material:
    """Data on which a metric is examined: documents, summaries by systems, and human scores of these.

    `summaries` are ``[systems][documents]``, `people` by name ``[systems, documents]``; a higher score is better.
    `kinds` state whether each system is abstractive or extractive, where the collection does. A record without a
    source has none in the collection. `left_out` counts summaries that are not in the grid of systems and documents.
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


def read_material(path: Path, layout: str) -> Material:
    """The collection in a file; RecordError with file and line for any other content."""
    if layout not in LAYOUTS:
        raise RecordError(f"layout {layout!r}: no such layout of judgements; {there_are(layout, LAYOUTS)}")
    return grid(layout, LAYOUTS[layout](path))


def grid(name: str, rows: Iterable[Judged]) -> Material:
    """Rows in the grid of the documents that have the most frequent set of systems.

    Other rows are left out and counted. RecordError where a summary occurs twice, or scores have other names.
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


class Layout(BaseModel):
    model_config = ConfigDict(strict=True)


class Realsumm(Layout):
    """A summary; its sentences are between <t> and </t>, tokenised and in small letters."""

    id: str | int
    kind: Literal["abs", "ext"]
    system: str
    summary: str
    reference: str
    litepyramid_recall: FiniteFloat


def realsumm(path: Path) -> Iterator[Judged]:
    """The collection has BART among abstractive and among extractive systems, with the same summaries and scores.

    So only 24 of its 25 systems are distinct: names include the kind, so that both stay, as in the published figures.
    """
    for where, row in read_models(path, Realsumm, "summary of REALSumm"):
        yield Judged(
            where,
            document=str(row.id),
            system=f"{row.kind}/{row.system}",
            summary=_marked(row.summary, where, empty=True),
            scores={"litepyramid_recall": row.litepyramid_recall},
            references=[_marked(row.reference, where)],
            source=[],
            kind=KINDS[row.kind],
        )


class Summeval(Layout):
    """A document with its summaries by machines, and for each of these four scores."""

    id: str | int
    text: str
    machine_summaries: list[str]
    human_summaries: list[str]
    relevance: list[FiniteFloat]
    coherence: list[FiniteFloat]
    fluency: list[FiniteFloat]
    consistency: list[FiniteFloat]

    @property
    def scores(self) -> dict[str, list[float]]:
        return {name: getattr(self, name) for name in ("relevance", "coherence", "fluency", "consistency")}

    @model_validator(mode="after")
    def one_score_a_summary(self) -> "Summeval":
        for name, values in self.scores.items():
            if len(values) != len(self.machine_summaries):
                raise ValueError(f"{name} has {len(values)} numbers for {len(self.machine_summaries)} summaries")
        return self


def summeval(path: Path) -> Iterator[Judged]:
    """The collection has no names of systems: they are called by their place, from 1."""
    for where, row in read_models(path, Summeval, "document of SummEval"):
        references = [_tokens(text) for text in row.human_summaries]
        if not references or not all(references):
            raise RecordError(f"{where}: human_summaries holds a reference without a word; remove the document")
        source = _tokens(row.text)
        for place, summary in enumerate(row.machine_summaries):
            yield Judged(
                where,
                document=str(row.id),
                system=f"system-{place + 1:02}",
                summary=_tokens(summary),
                scores={name: values[place] for name, values in row.scores.items()},
                references=references,
                source=source,
            )


LAYOUTS: dict[str, Callable[[Path], Iterator[Judged]]] = {"realsumm": realsumm, "summeval": summeval}


def _tokens(text: str) -> Sentences:
    return [" ".join(tokens) for sentence in sentences(text) if (tokens := tokenize(sentence, lower=True))]


def _marked(text: str, where: str, empty: bool = False) -> Sentences:
    marked = [" ".join(sentence.split()) for sentence in MARKED.findall(text)]
    kept = [sentence for sentence in marked if sentence]
    if MARKED.sub("", text).strip() or not (kept or empty):
        raise RecordError(f"{where}: text {text[:40]!r} is not sentences between <t> and </t>; correct it")
    return kept

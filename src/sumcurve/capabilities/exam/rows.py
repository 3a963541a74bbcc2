"""The rows of a metric validation: the texts that a metric scores, and the items from which a verdict is computed.

A row's items are a grid of systems and documents. Where a row compares two texts, an item's value is 1 where the first
is scored above the second, 0.5 where both score the same, else 0; elsewhere it is the metric's score. The sign of a
metric that is better when lower is reversed. An item with a text without a score has no value.
"""

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, get_args

import numpy as np

from sumcurve.capabilities.exam.judgements import Material
from sumcurve.capabilities.exam.perturbations import PERTURBATIONS
from sumcurve.capabilities.exam.thresholds import thresholds
from sumcurve.corpora.derangement import GroupError, derangement
from sumcurve.machine.spelling import there_are
from sumcurve.scores.files import ReadsFiles
from sumcurve.scores.needs import Needing, copy_of
from sumcurve.scores.scorer import Claim, Metric, Scorer, Scores
from sumcurve.statistics.groups import Array
from sumcurve.store.records import Record, RecordError, write_jsonl

HUMAN, LEAD, PAIRS = "human", "lead", "pairs"
MIDDLE_HALF = 1.349  # how wide that of a normal distribution is, in standard deviations
METRIC = re.compile(r"[\w-]+")  # a name that a file can have
NEAR: tuple[Claim, ...] = ("closeness", "coverage")


@dataclass(frozen=True)
class Item:
    """A value of one metric in a row: of a system's summary of a document, at a dose or for a score of people.

    Several of one system and document count as their mean. `group` is the group that the document was drawn with, or
    empty. `value` is None where the scorer gives none.
    """

    row: str
    part: str  # dose, or name of people's score; else empty
    system: str
    document: str
    value: float | None
    people: float | None = None
    length: float | None = None
    group: str = ""


@dataclass(frozen=True)
class Question:
    """An item before it is scored: places of its texts in the sheet."""

    row: str
    part: str
    system: str
    document: str
    texts: tuple[int, ...]  # one that is scored, two that are compared, four whose two comparisons are
    claims: Sequence[Claim]
    people: float | None = None
    length: float | None = None
    group: str = ""


class Sheet:
    """All texts to be scored, each once, and the questions about them."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.texts: list[list[str]] = []
        self.questions: list[Question] = []
        self._places: dict[tuple[str, ...], int] = {}

    def place(self, record: Record, text: Sequence[str]) -> int:
        """Place of this text, as a summary of this record."""
        references = "\n\n".join("\n".join(reference) for reference in record.all_references)
        key = (record.id, "\n".join(record.source), references, *text)
        if key not in self._places:
            self._places[key] = len(self.texts)
            self.records.append(record)
            self.texts.append(list(text))
        return self._places[key]

    def ask(
        self,
        row: str,
        part: str,
        system: str,
        record: Record,
        texts: Sequence[Sequence[str]],
        claims: Sequence[Claim],
        people: float | None = None,
    ) -> None:
        """Add a question about summaries of one record."""
        places = tuple(self.place(record, text) for text in texts)
        length = float(sum(len(sentence.split()) for sentence in texts[0])) if len(texts) == 1 else None
        group = record.group or ""
        self.questions.append(Question(row, part, system, record.id, places, claims, people, length, group))


@dataclass(frozen=True)
class Base:
    """Texts ``[documents]`` of one writer, as summaries of these records."""

    writer: str
    records: Sequence[Record]
    texts: Sequence[Sequence[str]]


def sheet_of(material: Material, claims: set[Claim], of_first: bool = False) -> Sheet:
    """Build the questions for metrics with these claims, and for all metrics that are compared with people's scores.

    `of_first`: the metrics are computed from the first reference, which is then not scored as a text.
    """
    sheet = Sheet()
    near: list[Claim] = [claim for claim in NEAR if claim in claims]
    if near:
        bases = _bases(material, of_first)
        humans = all(record.source and record.references for record in material.records)
        _compare(sheet, bases, near, [name for name in PERTURBATIONS if not (name == "copied" and humans)])
        _order(sheet, material.records, near, of_first)
    if "faithfulness" in claims and all(record.source for record in material.records):
        bases = _bases(material, of_first, faithful=True)
        _compare(sheet, bases, ["faithfulness"], ["swapped"])
        _pairs(sheet, material, of_first)
    _judged(sheet, material)
    return sheet


def _bases(material: Material, of_first: bool, faithful: bool = False) -> list[Base]:
    """Systems' texts where there are any; else the references, against each other or the source; else leads."""
    records = material.records
    if len(records) < 2:
        return []
    if material.systems:
        return [Base(name, records, texts) for name, texts in zip(material.systems, material.summaries, strict=True)]
    if faithful and not of_first:
        return [Base(HUMAN, records, [record.target for record in records])]
    if all(record.references for record in records):
        against, texts = zip(*(_human(record, of_first) for record in records), strict=True)
        return [Base(HUMAN, against, texts)]
    if all(record.source for record in records):
        return [Base(LEAD, records, [_lead(record, record.target) for record in records])]
    return []


def _human(record: Record, of_first: bool) -> tuple[Record, list[str]]:
    """The record without one of its references, and that one: the first, or the last where the first must stay."""
    if of_first:
        return replace(record, references=record.references[:-1]), record.references[-1]
    return replace(record, target=record.references[0], references=record.references[1:]), record.target


def _lead(record: Record, text: Sequence[str]) -> list[str]:
    """Lead of the source with as many sentences as the text."""
    return record.source[: max(len(text), 1)]


def _others(records: Sequence[Record]) -> list[int]:
    groups = [record.group or record.id for record in records]
    try:
        return derangement([record.id for record in records], groups, f"exam {thresholds().seed}")
    except GroupError as error:
        raise RecordError(f"no document of another group to compare with ({error}); give records of two") from error


def _compare(sheet: Sheet, bases: Sequence[Base], claims: Sequence[Claim], names: Sequence[str]) -> None:
    """Add comparisons of every text with another document's; and of a few writers' texts with perturbed forms."""
    rules = thresholds()
    chosen = {*range(len(bases))}
    if len(bases) > rules.systems:
        chosen = {*random.Random(rules.seed).sample(range(len(bases)), rules.systems)}
    for number, base in enumerate(bases):
        others = _others(base.records)
        for record, text, other in zip(base.records, base.texts, others, strict=True):
            sheet.ask("guessing", "", base.writer, record, [text, base.texts[other]], claims)
            for name in names if number in chosen else ():
                if name == "copied" and not record.source:
                    continue
                for dose in rules.doses:
                    key = f"exam {rules.seed} {base.writer} {record.id}"
                    harmed = PERTURBATIONS[name](text, base.texts[other], record.source, dose, key)
                    sheet.ask(name, f"{dose:g}", base.writer, record, [text, harmed], claims)


def _order(sheet: Sheet, records: Sequence[Record], claims: Sequence[Claim], of_first: bool) -> None:
    """Add comparisons of held-out humans, leads and other documents' references, by the other references."""
    if len(records) < 2 or not all(record.source and record.references for record in records):
        return
    for record, other in zip(records, _others(records), strict=True):
        against, text = _human(record, of_first)
        lead = _lead(record, text)
        sheet.ask("human", "", HUMAN, against, [text, lead], claims)
        for dose in thresholds().doses:  # a poor summary may be worse than its source; a human's is not
            copy = PERTURBATIONS["copied"](text, [], record.source, dose, "")
            sheet.ask("copied", f"{dose:g}", HUMAN, against, [text, copy], claims)
        sheet.ask("lead", "", LEAD, against, [lead, _human(records[other], of_first)[1]], claims)


def _pairs(sheet: Sheet, material: Material, of_first: bool) -> None:
    """Add intact and broken texts given their own source; and the difference to another document's source."""
    if len(material.records) < 2:
        return
    others = _others(material.records)
    for pair in material.pairs:
        record = material.records[pair.document]
        if of_first and list(pair.whole) == record.target:
            continue
        other = replace(record, source=material.records[others[pair.document]].source)
        texts = [pair.whole, pair.broken]
        own, elsewhere = ([sheet.place(given, text) for text in texts] for given in (record, other))
        for row, places in (("dodges", own), ("dodges_by_source", own + elsewhere)):
            question = Question(row, "", PAIRS, record.id, tuple(places), ["faithfulness"], group=record.group or "")
            sheet.questions.append(question)


def _judged(sheet: Sheet, material: Material) -> None:
    """Add summaries that people have judged; for metrics with other claims they are descriptive."""
    for score, judgements in material.people.items():
        for system, texts, values in zip(material.systems, material.summaries, judgements.tolist(), strict=True):
            for record, text, value in zip(material.records, texts, values, strict=True):
                claims = thresholds().people.get(score, ())
                sheet.ask("people", score, system, record, [text], claims, value)
    if not material.people:
        for system, texts in zip(material.systems, material.summaries, strict=True):
            for record, text in zip(material.records, texts, strict=True):
                sheet.ask("people", "", system, record, [text], NEAR)


def check(scorer: Scorer) -> None:
    """Raise RecordError for a scorer with invalid metrics or claims."""
    name, metrics = type(scorer).__name__, getattr(scorer, "metrics", ())
    names = [metric.name for metric in metrics]
    if not names:
        raise RecordError(f"{name}: no `metrics`; name what it measures, as a tuple of Metric")
    for metric in metrics:
        if not METRIC.fullmatch(metric.name) or names.count(metric.name) > 1:
            twice = " comes twice" if names.count(metric.name) > 1 else "; take letters, digits, _ and -"
            raise RecordError(f"{name}: metric {metric.name!r}{twice}")
        claim_of(scorer, metric)
    if unknown := sorted({*scorer.claims} - {*names}):
        raise RecordError(f"{name}: claims of metric {unknown[0]!r}; {there_are(unknown[0], names)}")


def claim_of(scorer: Scorer, metric: Metric) -> Claim:
    """Claim of a metric; one without a direction is descriptive. RecordError for an unknown claim."""
    claim = "description" if metric.higher_is_better is None else scorer.claims.get(metric.name, scorer.claim)
    if claim not in get_args(Claim):
        raise RecordError(f"{type(scorer).__name__}: claim {claim!r}; {there_are(str(claim), get_args(Claim))}")
    return claim


def items_of(
    scorer: Scorer, material: Material, folders: Mapping[Path, Any] = MappingProxyType({})
) -> dict[str, list[Item]]:
    """The items of every row, for each metric of the scorer by name; `folders` are those that it needs beside files.

    Row `repeats` has the texts that were scored again in another order: the difference in standard deviations, which
    are those of a normal distribution with the scores' middle half. A scorer that stores its answers has no such row,
    since it would look them up. RecordError where a value is no number.
    """
    rules = thresholds()
    claims = {claim_of(scorer, metric) for metric in scorer.metrics}
    sheet = sheet_of(material, claims, isinstance(scorer, Needing))
    if not sheet.texts:
        return {metric.name: [] for metric in scorer.metrics}
    values, given = scored(scorer, sheet, range(len(sheet.texts)), folders)
    known = np.flatnonzero(given).tolist()
    drawn = random.Random(rules.seed).sample(known, 0 if scorer.keeps_answers else min(rules.order, len(known)))
    orders = [sorted(drawn), drawn[::-1]] if drawn else []
    twice = []
    for order in orders:
        again, there = scored(scorer, sheet, order, folders)
        if not there.all():
            raise RecordError(
                f"{type(scorer).__name__}: texts with a value have none in another order; let it depend on nothing else"
            )
        twice.append(again)
    items: dict[str, list[Item]] = {}
    for metric in scorer.metrics:
        claim = claim_of(scorer, metric)
        own = values[metric.name] * (-1 if metric.higher_is_better is False else 1)
        spread = _spread(own[given]) if known else 0.0
        parts = [
            dict(zip(order, part[metric.name].tolist(), strict=True)) for order, part in zip(orders, twice, strict=True)
        ]
        items[metric.name] = [
            Item("repeats", "", "", f"text {at}", abs(parts[0][at] - parts[1][at]) / (spread or 1))
            for at in sorted(drawn)
        ] + [
            Item(
                question.row,
                question.part,
                question.system,
                question.document,
                _value(own, question.texts),
                question.people,
                question.length,
                question.group,
            )
            for question in sheet.questions
            if question.row == "people" or claim in question.claims
        ]
    return items


def _spread(values: Array) -> float:
    """The standard deviation from the middle half, which is robust to extreme values; where that is 0, from all."""
    low, high = np.quantile(values, [0.25, 0.75])
    scale = float(np.abs(values).max()) or 1.0  # squares of large numbers overflow
    return float(high - low) / MIDDLE_HALF or scale * float((values / scale).std())


def _value(scores: Array, texts: Sequence[int]) -> float | None:
    if np.isnan(scores[list(texts)]).any():
        return None
    if len(texts) == 1:
        return float(scores[texts[0]])
    shares = [
        (1 + np.sign(scores[first] - scores[second])) / 2 for first, second in zip(texts[::2], texts[1::2], strict=True)
    ]
    return float(shares[0] - sum(shares[1:]))


def scored(
    scorer: Scorer, sheet: Sheet, order: Sequence[int], folders: Mapping[Path, Any]
) -> tuple[dict[str, Array], Array]:
    """Values ``[order]`` of every metric, of these texts as one output, NaN where there is none; and a mask of values.

    Each text has an id of its own there, since one record has many. RecordError for an unknown item.
    """
    numbers = random.Random(thresholds().seed).sample(range(len(sheet.texts)), len(sheet.texts))
    copies = [copy_of(sheet.records[at], numbers[at]) for at in order]  # ids that do not reveal their texts
    with TemporaryDirectory() as folder:
        output = Path(folder)
        rows = ({"id": copy.id, "summary": sheet.texts[at]} for copy, at in zip(copies, order, strict=True))
        write_jsonl(output / "summaries.jsonl", rows)
        scores = scorer.score(output, copies, {**files_of(scorer), **folders})
    if not isinstance(scores, Scores):
        raise RecordError(f"{type(scorer).__name__}: score gave {type(scores).__name__}; return Scores")
    if not isinstance(scores.ids, Sequence) or not all(isinstance(name, str) for name in scores.ids):
        raise RecordError(f"{type(scorer).__name__}: ids {str(scores.ids)[:80]}; give the id of each record, a text")
    if not isinstance(scores.values, Mapping):
        raise RecordError(f"{type(scorer).__name__}: values {str(scores.values)[:80]}; give lists by metric")
    by_id = {copy.id: at for at, copy in enumerate(copies)}
    if strange := [name for name, count in Counter(scores.ids).items() if count > 1 or name not in by_id]:
        raise RecordError(
            f"{type(scorer).__name__}: id {strange[0]!r} twice, or of no record, so that it cannot be validated: give "
            "the id of each record once, or leave it out where there is no value"
        )
    if declared := {metric.name for metric in scorer.metrics} ^ {*scores.values}:
        raise RecordError(
            f"{type(scorer).__name__}: values and metrics differ ({', '.join(sorted(declared))}); name each in both"
        )
    places = [by_id[name] for name in scores.ids]
    given = np.zeros(len(order), dtype=bool)
    given[places] = True
    values = {}
    for name, of in scores.values.items():
        values[name] = np.full(len(order), np.nan)
        values[name][places] = _numbers(name, of, len(places))
        if (unknown := given & ~np.isfinite(values[name])).any():
            at = int(np.flatnonzero(unknown)[0])
            document = sheet.records[order[at]].id
            raise RecordError(
                f"metric {name}: {values[name][at]} for a summary of document {document!r}, no number; leave its id "
                "out of `ids` where there is no value"
            )
    return values, given


def _numbers(name: str, values: Any, count: int) -> Array:
    """So many numbers; RecordError for anything else."""
    try:
        numbers = np.asarray([np.nan if value is None else value for value in values], dtype=float)
    except (OverflowError, TypeError, ValueError) as error:
        raise RecordError(f"metric {name}: no list of numbers ({error}); give a number for each id") from error
    if numbers.shape != (count,):
        raise RecordError(f"metric {name}: values of shape {numbers.shape} for {count} ids; give a number for each id")
    return numbers


def files_of(scorer: Scorer) -> dict[Path, str]:
    """The files that a scorer reads, with their descriptions; RecordError where their sha256 differs."""
    if not isinstance(scorer, ReadsFiles):
        return {}
    scorer.check([])
    files: dict[Path, str] = {}
    for file, role in scorer.files("exam").items():
        observed = file.observed(Path())
        if observed is None:
            raise RecordError(f"{file.path} is missing; bring it, or fetch a model by `sumcurve model NAME`")
        if observed != file.sha256:
            raise RecordError(f"{file.path}: its sha256 is {observed}, not {file.sha256}; correct sha256 or path")
        files[Path(file.path)] = role
    return files

"""Scorers: metrics, a signature, and values of every item of one output.

A scorer is one file beside this one and one line of `sumcurve.scores.SCORERS`. A study names it under `scores:`; tables
read what its folders describe, so that nothing else changes. The plan imports every scorer on each parse: heavy
packages are imported by `score`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from sumcurve.settings.base import Settings
from sumcurve.store.kind import Version
from sumcurve.store.records import Record, RecordError, read_jsonl

# What a metric measures: nearness to references, how much of what matters is there, what the source says; or none.
Claim = Literal["closeness", "coverage", "faithfulness", "description"]


class NoSettings(Settings):
    """Settings of a scorer that has none."""


@dataclass(frozen=True)
class Metric:
    """One column of values: its name in files, how people read it, and which direction is better.

    `title` heads columns and panels, `short` stands where room is scarce, `unit` is that of every value ("points" are
    100 F1), and `decimals` is what a cell for people holds. `higher_is_better` is None where neither direction is.

    Systems are ranked by a metric in answers, efficiency and verdicts unless `ranks` is false. With a `threshold` the
    metric is a check, such as source sensitivity: a system passes where its interval's lower end is above the
    threshold; others take no part in answers and verdicts. A metric that `stands_in_for` another one's threshold counts
    only for systems that do not have the other. A metric that neither ranks nor has a threshold *describes*.

    ValueError for one that ranks, or has a threshold, without a direction.
    """

    name: str
    title: str
    short: str
    unit: str
    decimals: int = 2
    higher_is_better: bool | None = True
    ranks: bool = True
    threshold: float | None = None
    stands_in_for: str | None = None

    def __post_init__(self) -> None:
        if self.higher_is_better is None and not self.describes:
            raise ValueError(f"metric {self.name} ranks or has a threshold: say whether higher is better")

    @property
    def describes(self) -> bool:
        return not self.ranks and self.threshold is None


@dataclass(frozen=True)
class Scores:
    """Values of a scorer for one output, item by item.

    `values` holds for every metric, by name and in its unit, one value for each item. `ids` names the record of each
    item, `groups` the group that the record was drawn with (`group_of`), since intervals resample groups. Where an item
    is not a record alone but a record and a rater, or what it is contrasted with, `further` holds that, by column: an
    item's key is its id and these. `details` are further columns of items.csv that no table reads, `counts` what was
    counted over all items (`empty`: summaries without a word), `references` the means of metrics that can be asked of
    the references themselves.
    """

    ids: Sequence[str]
    groups: Sequence[str]
    values: Mapping[str, Sequence[float]]
    signature: str
    further: Mapping[str, Sequence[str]] = field(default_factory=dict)
    details: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    counts: Mapping[str, float] = field(default_factory=dict)
    references: Mapping[str, float] = field(default_factory=dict)


class Scorer(ABC):
    """Scores outputs under `settings`, which a study states below the scorer's name.

    Its items need not be those of another scorer: a record, a record and what it is contrasted with, a record and a
    rater (`Scores.further`). Those of one corpus are the same for every output.

    What its metrics claim to measure is stated beforehand, and tested by `sumcurve validate-metric`. `claims` are of
    those that claim something else than `claim`. One that `keeps_answers` looks up what it has scored before. `version`
    stands for its code in the names of its folders: raise it in the commit that changes a value.
    """

    version: ClassVar[Version] = 1
    Settings: ClassVar[type[Settings]] = NoSettings
    metrics: ClassVar[Sequence[Metric]]
    claim: ClassVar[Claim] = "description"
    claims: ClassVar[Mapping[str, Claim]] = {}
    reads_output: ClassVar[bool] = True  # else it reads further folders alone
    keeps_answers: ClassVar[bool] = False

    def __init__(self, settings: Any) -> None:
        self.settings = settings

    def inputs(
        self, output: str, outputs: Sequence[str], specifications: Mapping[str, Mapping[str, Any]]
    ) -> Mapping[str, Any] | None:
        """The folders that it reads beside the output and its corpus, by key, and what `score` is told of each.

        None where it has nothing to say of the output. `outputs` are all of the corpus in this study; `specifications`
        those of every folder of the study, by key. What is told becomes a part of the score folder's name.
        """
        return {}

    @abstractmethod
    def score(self, output: Path, records: Sequence[Record], inputs: Mapping[Path, Any]) -> Scores:
        """Score the files of an output's folder against the test records.

        `inputs` are the folders asked for, and what was told of them.

        Raises RecordError where the output is not one of these records.
        """


class AgainstAll(Scorer):
    """A scorer that compares with all references, by which a human who wrote one of them has no score."""

    claim = "closeness"

    def inputs(
        self, output: str, outputs: Sequence[str], specifications: Mapping[str, Mapping[str, Any]]
    ) -> Mapping[str, Any] | None:
        """No further folder; None of a human."""
        return {} if own_reference(specifications[output]) is None else None


def own_reference(specification: Mapping[str, Any]) -> int | None:
    """Number, from 1, of the reference that an output repeats (`systems.bounds.Human`); None of other outputs."""
    number: int | None = specification["told"]["reference"] if specification.get("system") == "human" else None
    return number


def group_of(record: Record) -> str:
    """The group that a record was drawn with; a record without one is a group of its own."""
    return record.group if record.group is not None else record.id


def summaries_of(output: Path, records: Sequence[Record]) -> list[dict[str, Any]]:
    """The rows of an output's summaries.jsonl, one for each record, in order.

    Raises RecordError where they are not those of the records, item by item.
    """
    path = output / "summaries.jsonl"
    rows = list(read_jsonl(path))
    for number, (record, row) in enumerate(zip(records, rows, strict=False), start=1):
        if row["id"] != record.id:
            raise RecordError(f"{path}:{number}: id {row['id']!r}, but the test set has {record.id!r} there")
    if len(rows) != len(records):
        raise RecordError(f"{path} holds {len(rows)} summaries for {len(records)} test items; decode again")
    return rows

"""Evidence behind a study's tables: scored outputs, measured training costs, statistics of corpora.

Plain data, given by the caller; nothing here reads a folder.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sumcurve.curves.stopping import Validation
from sumcurve.scores.scorer import Metric
from sumcurve.statistics.design import Cell
from sumcurve.systems.system import Role
from sumcurve.tables.table import Table

BLIND: tuple[Role, ...] = ("baseline", "outside")  # not trained by the study, and without sight of references
ROLES: tuple[Role, ...] = (*BLIND, "bound", "trained")  # in the order of rows
UNGRADED = "ungraded"  # a scorer's count of items that it could give no value, which are none of its own
CUT = "best-sentence"  # the bound that is cut to the length of summaries (systems.baselines)


def is_beside(role: Role, method: str) -> bool:
    """Tell whether a system is an untruncated upper bound, such as the reference itself; measures compare with it."""
    return role == "bound" and method != CUT


class EvidenceError(ValueError):
    """Evidence that does not fit together; the message names the conflict and the remedy."""


@dataclass(frozen=True)
class Timing:
    """The cost of one training up to its selected checkpoint, validation excluded, preparations included.

    `seconds` are process CPU seconds on a CPU, device seconds on a GPU; `total_seconds` run to the end of
    training. `phases` splits `seconds` by phase. `exclusive` is false when the GPU was shared with other
    work. Of an outside program updates and examples are unknown, and `seconds` are all that it took, by whatever rule
    it stops (`own_rule`).
    """

    seconds: float
    total_seconds: float
    updates: int | None
    examples: int | None
    device: str
    exclusive: bool
    phases: Mapping[str, float] = field(default_factory=dict)

    @property
    def own_rule(self) -> bool:
        return self.updates is None


@dataclass(frozen=True)
class Training:
    """Facts of a training and how it ended, without measured time.

    `parameters` counts those of the model: total, of it vocabulary and other. `epochs` are passes over the training
    items up to the selected checkpoint; `ended` names every phase, in order, and the reason it ended. `selected` is the
    phase and the update in it whose checkpoint was scored. `validated` counts the records of the validation part that
    chose it, at most: 0 where records that are counted as training's chose it.
    """

    parameters: Mapping[str, int]
    epochs: float
    ended: Sequence[tuple[str, str]]
    precision: str
    threads: int
    selected: tuple[str, int]
    validated: int | None = None


@dataclass(frozen=True)
class Items:
    """Per-item values of one output under one scorer, as its score folder describes them.

    `values` ``[metrics, items]`` are in each metric's unit, in the order of `ids`, which name every item's record;
    `groups` names its group. `further` are the other columns of an item's key, such as a rater. `references` are the
    means of metrics that were computed for the references themselves. `details` are the other columns of items.csv.
    """

    metrics: tuple[Metric, ...]
    ids: tuple[str, ...]
    groups: tuple[str, ...]
    values: NDArray[np.float64]
    signature: str
    counts: Mapping[str, float] = field(default_factory=dict)
    further: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    references: Mapping[str, float] = field(default_factory=dict)
    details: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        columns = (self.groups, *self.further.values(), *self.details.values())
        if self.values.shape != (len(self.metrics), len(self.ids)) or {len(column) for column in columns} != {
            len(self.ids)
        }:
            raise EvidenceError(
                f"values of shape {self.values.shape} and {len(self.groups)} groups for "
                f"{len(self.metrics)} metrics and {len(self.ids)} items; score again"
            )
        repeated = [key for key, count in Counter(self.keys).items() if count > 1]
        if repeated:
            raise EvidenceError(f"item {', '.join(sorted(repeated)[0])} is scored twice")

    def of(self, metric: str) -> NDArray[np.float64]:
        """Values ``[items]`` of a metric."""
        row: NDArray[np.float64] = self.values[[column.name for column in self.metrics].index(metric)]
        return row

    @property
    def keys(self) -> list[tuple[str, ...]]:
        """Identifiers of the items: each record's id, then `further`."""
        return list(zip(self.ids, *self.further.values(), strict=True))


@dataclass(frozen=True)
class ScoredOutput:
    """One output with its per-item values by scorer.

    A trained output has records (it was trained on), percent where the study has them, seed, search and, where
    measured, its timing and training and history. A system of another `role` (`systems.system.System`) has none of
    them. `search` states whose search decoded it: "common" for the corpus's, "paper" for that of the method's paper,
    "own" for systems from outside; `search_signature` describes it, where it is known. `run` names the folder
    behind the row. `part` states its purpose: "study", or "after", "before", "control" for the effect of the
    method's last phase. `summaries` is the sha256 of its summaries.
    """

    corpus: str
    method: str
    percent: int | None
    records: int | None
    seed: int | None
    search: Literal["common", "paper", "own"] | None
    run: str
    scores: Mapping[str, Items]
    search_signature: str = ""
    part: Literal["study", "after", "before", "control"] = "study"
    timing: Timing | None = None
    training: Training | None = None
    history: Sequence[Validation] = ()
    summaries: str = ""
    role: Role = "trained"

    def __str__(self) -> str:
        parts = [self.corpus, self.method]
        if self.percent is not None:
            parts.append(f"{self.percent} %")
        elif self.records is not None:
            parts.append(f"{self.records:,} records")
        parts += [f"seed {self.seed}"] if self.seed is not None else []
        parts += ["paper search"] if self.search == "paper" else []
        parts += [f"({self.part})"] if self.part != "study" else []
        return " ".join(parts)


@dataclass(frozen=True)
class PartStatistics:
    """One line of the corpora table. Means are in tokens; `vocabulary` counts the part's distinct words.

    `words_used` counts those of them in the vocabulary of a method that is trained on the part and reads whole words,
    the most of any; None where there is none, and for valid and test.
    """

    part: str  # train, valid, test
    percent: int | None  # of the training part
    records: int
    mean_source_tokens: float
    mean_target_tokens: float
    vocabulary: int | None = None
    words_used: int | None = None


@dataclass(frozen=True)
class CorpusStatistics:
    """Statistics of a corpus: records read, kept, dropped by reason, and those of its parts."""

    corpus: str
    title: str
    read: int
    kept: int
    dropped: Mapping[str, int]
    parts: Sequence[PartStatistics]
    train_records: int | None = None  # of the whole training part, where it is known

    def __post_init__(self) -> None:
        lost = self.read - self.kept - sum(self.dropped.values())
        if lost:
            raise EvidenceError(
                f"corpus {self.corpus}: {self.read} records read, {self.kept} kept, "
                f"{sum(self.dropped.values())} dropped for a reason; account for the other {lost}"
            )


@dataclass(frozen=True)
class Missing:
    """An output that the study requires and that is not finished; `folder` is the first missing one on its way."""

    corpus: str
    method: str
    percent: int | None
    seed: int | None
    search: str | None
    folder: str
    records: int | None = None  # where the study has these in place of a percent


@dataclass(frozen=True)
class Example:
    """A test item and the systems' summaries of it.

    `source` and `references` hold sentences as people wrote them, `source_tokens` those of the prepared record.
    `summaries` holds the sentences of every system by its method and training records (None: not trained); of several
    seeds the smallest.
    """

    id: str
    source: Sequence[str]
    references: Sequence[Sequence[str]]
    source_tokens: Sequence[str]
    summaries: Mapping[tuple[str, int | None], Sequence[str]]


@dataclass(frozen=True)
class Examples:
    """Test items of a corpus that were drawn by `seed`, in the order of the draw.

    Trained methods read the first `read_tokens` of a source; baselines write `most_tokens` at most.
    """

    corpus: str
    seed: int
    read_tokens: int
    most_tokens: int
    items: Sequence[Example]


@dataclass(frozen=True)
class Unranked:
    """Reason, in a clause, why a metric does not rank a system, and the mark beside its score."""

    mark: str
    why: str


@dataclass(frozen=True)
class Optimum:
    """The best that is possible on a corpus's test items under one metric, which stands beside its systems.

    `scores` ``[items]`` are in the metric's unit, in the order of the sorted ids. `levels` are drawn, by name, over the
    figure of scores.
    """

    scores: NDArray[np.float64]
    levels: Sequence[tuple[str, float]]


@dataclass(frozen=True)
class OptimumWords:
    """Display strings of an optimum: its name, the explanation of shares of it, and a note on its drawing."""

    name: str = "optimum"
    share: str = "it is not known."
    drawn: str = ""


class Evidence:
    """Evidence of a capability on a study: content of its tables, and additions to the core's. All is optional."""

    optimum_words: ClassVar[OptimumWords | None] = None

    def optimum(self, study: "Study", corpus: str, metric: str) -> Optimum | None:
        """The best that is possible on a corpus under a metric; None where it is not known."""
        return None

    def kinds(self) -> Mapping[str, str]:
        """Kinds of methods by name, where figures have a marker for every kind."""
        return {}

    def unread(self, study: "Study", corpus: str, metric: str) -> str:
        """Explain, in a clause, why a metric ranks no system on a corpus; empty where there is no reason."""
        return ""

    def validation(self, study: "Study", corpus: str, metric: str) -> str:
        """Outcome of the validation of a metric that ranks on a corpus, "passed" or a clause; empty where not asked."""
        return ""

    def unranked(self, corpus: str, metric: str, cell: Cell) -> Unranked | None:
        """Explain why a metric does not rank a system of a corpus; None where there is no reason."""
        return None

    def mark(self, method: str) -> str:
        """A sign beside a system's name, which `notes` explain; empty where there is none."""
        return ""

    def notes(self, study: "Study") -> Sequence[str]:
        """Sentences under the core's tables: metrics that are not interpreted, and systems without a rank."""
        return ()

    def levels(self, tables: Mapping[str, Table]) -> Sequence[Mapping[str, Any]]:
        """Reference lines of the figure of scores, as rows of table scores."""
        return ()

    def ratio(self, metric: str, items: Items) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Linearized values ``[items]`` of a metric that is a ratio of sums, such as a share of all questions: they
        vary as it does and have it as their mean; and the ratio by each judge ``[judges]``; None for a mean over items.
        """
        return None

    def questions(self, corpus: str) -> Mapping[str, Sequence[tuple[str, str]]]:
        """Questions about the reference of each shown item, by its id, each with the answer."""
        return {}

    def answers(self, output: ScoredOutput) -> Mapping[str, Sequence[tuple[str, bool]]]:
        """Answers of a summary to these questions by id of a shown item ("": none), and whether each is right."""
        return {}


@dataclass(frozen=True)
class Study:
    """All that a study's tables are made of.

    `form` names that of the methods ("small", "paper"), `titles` the methods for people, `about` describes
    each in a clause, `systems` each untrained system. `trained` counts the trained outputs that the study requires;
    where some are `missing`, all tables state it. `scores` are the keys of the folders that `outputs` come from.
    `examples` are for reading; no table is made of them.
    """

    title: str
    form: str
    statistics: Sequence[CorpusStatistics]
    outputs: Sequence[ScoredOutput]
    titles: Mapping[str, str]
    about: Mapping[str, str] = field(default_factory=dict)
    missing: Sequence[Missing] = ()
    trained: int = 0
    scores: Sequence[str] = ()
    systems: Mapping[str, str] = field(default_factory=dict)
    examples: Sequence[Examples] = ()
    rank_by: str | None = None
    evidence: Mapping[str, Evidence] = field(default_factory=dict)  # of capabilities, by their names

    @cached_property
    def metrics(self) -> dict[str, tuple[Metric, str]]:
        """Every metric by name with its scorer, in the order of the study's scorers."""
        return metrics_of(self.outputs, self.rank_by)

    @property
    def corpora(self) -> list[str]:
        return list(dict.fromkeys(output.corpus for output in self.outputs))

    @property
    def in_part(self) -> str:
        """Note on tables of an unfinished study; empty where nothing is missing."""
        if not self.missing:
            return ""
        count = sum(output.records is not None for output in self.outputs)
        return f"IN PART: {count} of {self.trained} trained outputs"


def checked(outputs: Sequence[ScoredOutput]) -> list[ScoredOutput]:
    """The outputs in one order, whatever theirs was, and every scorer's items in the order of their keys.

    Systems that are not trained come first, bounds behind the others, then methods by name, percent, search, part and
    seed. An item that a scorer could not give a value for one output (`UNGRADED`) is left out for all of the corpus.
    Raises EvidenceError, naming the output, for any other item that another output of the corpus has and it lacks,
    signatures within a corpus that differ in more than the version of sumcurve, and fractions with as many records.
    """
    outputs = _graded(outputs)
    if not outputs:
        raise EvidenceError("no scored output; a table needs at least one")
    outputs_of: list[ScoredOutput] = []
    first_of: dict[tuple[str, str], ScoredOutput] = {}
    percents: dict[tuple[str, int], int] = {}  # by corpus and records
    for output in sorted(outputs, key=_place):
        for scorer, items in output.scores.items():
            first = first_of.setdefault((output.corpus, scorer), output)
            _check_items(scorer, first, output)
            if _comparable(first.scores[scorer].signature) != _comparable(items.signature):
                raise EvidenceError(
                    f"{first} is scored as {first.scores[scorer].signature} but {output} as {items.signature}; "
                    "score both alike"
                )
        if output.percent is not None and output.records is not None:
            percent = percents.setdefault((output.corpus, output.records), output.percent)
            if percent != output.percent:
                both = f"{percent} % and {output.percent} % are both {output.records} records"
                raise EvidenceError(f"{output.corpus}: {both}; leave one of them out of the study")
        outputs_of.append(replace(output, scores={scorer: _sorted(items) for scorer, items in output.scores.items()}))
    return outputs_of


def _graded(outputs: Sequence[ScoredOutput]) -> Sequence[ScoredOutput]:
    """The outputs on the items that all of their corpus have, of scorers that lack values of some (`UNGRADED`)."""
    lacking = {
        (output.corpus, scorer)
        for output in outputs
        for scorer, items in output.scores.items()
        if items.counts.get(UNGRADED)
    }
    if not lacking:
        return outputs
    common: dict[tuple[str, str], set[tuple[str, ...]]] = {}
    counts: dict[tuple[str, str], float] = {}
    for output in outputs:
        for scorer, items in output.scores.items():
            if (key := (output.corpus, scorer)) in lacking:
                common[key] = common.get(key, {*items.keys}) & {*items.keys}
                count = len(items.ids) + items.counts.get(UNGRADED, 0)
                if counts.setdefault(key, count) != count:
                    raise EvidenceError(
                        f"{output} has {count:g} items of {scorer}, others {counts[key]:g}; score again"
                    )
    for (corpus, scorer), keys in common.items():
        if not keys:
            raise EvidenceError(f"{corpus}: no item has a value of {scorer} for every output; leave {scorer} out")
    return [
        replace(
            output,
            scores={
                scorer: _within(items, common[output.corpus, scorer]) if (output.corpus, scorer) in lacking else items
                for scorer, items in output.scores.items()
            },
        )
        for output in outputs
    ]


def _within(items: Items, keys: set[tuple[str, ...]]) -> Items:
    return _at(items, [place for place, key in enumerate(items.keys) if key in keys])


def _sorted(items: Items) -> Items:
    keys = items.keys
    return _at(items, sorted(range(len(keys)), key=keys.__getitem__))


def _at(items: Items, places: list[int]) -> Items:
    """The items at these places, in their order."""

    def ordered(column: Sequence[str]) -> tuple[str, ...]:
        return tuple(column[place] for place in places)

    return replace(
        items,
        ids=ordered(items.ids),
        groups=ordered(items.groups),
        values=items.values[:, places],
        further={name: ordered(column) for name, column in items.further.items()},
        details={name: ordered(column) for name, column in items.details.items()},
    )


def metrics_of(outputs: Sequence[ScoredOutput], first: str | None = None) -> dict[str, tuple[Metric, str]]:
    """Every metric by name with its scorer: that called `first`, then in the order of the study's scorers.

    That is the order of the outputs that all of them scored: a scorer may not score the lead baseline. Raises
    EvidenceError where two scorers give a metric one name.
    """
    metrics: dict[str, tuple[Metric, str]] = {}
    for output in sorted(outputs, key=lambda scored: -len(scored.scores)):
        for scorer, items in output.scores.items():
            for metric in items.metrics:
                if metrics.setdefault(metric.name, (metric, scorer)) != (metric, scorer):
                    raise EvidenceError(
                        f"{scorer} and {metrics[metric.name][1]} have different metrics {metric.name!r}"
                    )
    return {name: metrics[name] for name in sorted(metrics, key=lambda name: name != first)}


def _place(output: ScoredOutput) -> tuple[Any, ...]:
    rank = ROLES.index(output.role)
    size = output.records if output.percent is None else output.percent
    size, seed = (-1 if value is None else value for value in (size, output.seed))
    return (output.corpus, rank, output.method, size, output.search or "", output.part, seed, output.run)


def _comparable(signature: str) -> list[str]:
    """Signature without the version of sumcurve."""
    return [part for part in signature.split("|") if not part.startswith(("sumcurve:", "engine:"))]


def _check_items(scorer: str, first: ScoredOutput, output: ScoredOutput) -> None:
    known, given = set(first.scores[scorer].keys), set(output.scores[scorer].keys)
    for lacking, having, lost in ((output, first, known - given), (first, output, given - known)):
        if lost:
            named = ", ".join(min(lost))
            raise EvidenceError(f"{lacking} lacks {scorer}'s item {named} ({len(lost)} in all), which {having} has")

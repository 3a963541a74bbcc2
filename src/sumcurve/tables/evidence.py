"""What a study's tables are made of: scored outputs, measured training costs, statistics of corpora.

Plain data, given by the caller; nothing here reads a folder.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sumcurve.curves.stopping import Validation
from sumcurve.scores.scorer import Metric
from sumcurve.settings.study import Equivalence, Question
from sumcurve.statistics.design import Cell
from sumcurve.systems.system import Role

if TYPE_CHECKING:
    from markupsafe import Markup

    from sumcurve.tables.results import Results
    from sumcurve.tables.systems import System
    from sumcurve.tables.table import Table

BLIND: tuple[Role, ...] = ("baseline", "outside")  # not trained by the study, and without sight of references
ROLES: tuple[Role, ...] = (*BLIND, "bound", "trained")  # in the order of rows
UNGRADED = "ungraded"  # a scorer's count of items that it could give no value, which are none of its own
CUT = "best-sentence"  # the bound that is cut to the length of summaries (systems.baselines)


def is_beside(role: Role, method: str) -> bool:
    """Whether it is a bound of which nothing is cut, such as the reference itself: measures are put beside it."""
    return role == "bound" and method != CUT


class EvidenceError(ValueError):
    """Evidence that does not fit together; the message names what and the remedy."""


@dataclass(frozen=True)
class Timing:
    """The cost of one training up to its selected checkpoint, validation excluded, preparations included.

    `seconds` are process CPU seconds on a CPU, device seconds on a GPU; `total_seconds` run to the end of
    training. `phases` splits `seconds` by phase. `exclusive` is false when the GPU was shared with other
    work. Of an outside program updates and examples are unknown, and `seconds` are all that it took.
    """

    seconds: float
    total_seconds: float
    updates: int | None
    examples: int | None
    device: str
    exclusive: bool
    phases: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Training:
    """What was trained and how it ended, without measured time.

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
    means of metrics that were asked of the references themselves. `details` are the other columns of items.csv.
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

    @property
    def keys(self) -> list[tuple[str, ...]]:
        """What identifies each item: its record's id, then `further`."""
        return list(zip(self.ids, *self.further.values(), strict=True))


@dataclass(frozen=True)
class ScoredOutput:
    """One output with its per-item values by scorer.

    A trained output has records (it was trained on), percent where the study asked for that, seed, search and, where
    measured, its timing and training and history. A system of another `role` (`systems.system.System`) has none of
    them. `search` says whose search decoded it: "common" for the corpus's, "paper" for that of the method's paper,
    "own" for what came from outside; `search_signature` says what it was, where it is known. `run` names the folder
    behind the row. `part` says what it is for: "study", or "after", "before", "control" for what the method's last
    phase buys, or "variance" for what draws and trainings vary by; `draw` is the seed that drew its records, where it
    is not `seed`. `summaries` is the sha256 of what it wrote.
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
    part: Literal["study", "after", "before", "control", "variance"] = "study"
    draw: int | None = None
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
        parts += [f"draw {self.draw}"] if self.draw is not None else []
        return " ".join(parts)


@dataclass(frozen=True)
class PartStatistics:
    """One line of the corpora table. Means are in tokens; `vocabulary` counts the part's distinct words.

    `words_used` counts those of them that the methods know that are trained on the part and read whole words, the most
    of any; None where there is none, and for valid and test.
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
    """What became of a corpus: records read, kept, dropped by reason, and the statistics of its parts."""

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
    """An output that the study asks for and that is not finished; `folder` is the first one missing on its way."""

    corpus: str
    method: str
    percent: int | None
    seed: int | None
    search: str | None
    folder: str
    records: int | None = None  # where the study asks for these in place of a percent


@dataclass(frozen=True)
class Example:
    """A test item and what systems wrote of it.

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
    """Test items of a corpus that were drawn by `seed`, in the order of the draw; `read_tokens` is what models read."""

    corpus: str
    seed: int
    read_tokens: int
    items: Sequence[Example]


@dataclass(frozen=True)
class Unranked:
    """Why a system takes no part in what a metric ranks, in a clause, and the mark beside its score."""

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
    """What pages call an optimum: alone, of all items and of every item; what a share of it is, and what is drawn."""

    name: str = "optimum"
    of_all: str = "the optimum"
    of_every: str = "the optimum"
    share: str = "it is not known."
    drawn: str = ""


class Evidence:
    """What a capability has found of a study: its tables' content, and what it says of the core's. All is optional."""

    optimum_words: ClassVar[OptimumWords | None] = None

    def optimum(self, results: "Results", corpus: str, metric: str) -> Optimum | None:
        """The best that is possible on a corpus under a metric; None where it is not known."""
        return None

    def figures(self, results: "Results", folder: Path) -> Mapping[str, str]:
        """Draw figures into a folder; the title of each by its name."""
        return {}

    def unread(self, results: "Results", corpus: str, metric: str) -> str:
        """Why nobody is ranked by a metric on a corpus, in a clause; empty where there is no reason."""
        return ""

    def unranked(self, results: "Results", corpus: str, metric: str, cell: Cell) -> Unranked | None:
        """Why a system of a corpus takes no part in what a metric ranks; None where there is no reason."""
        return None

    def mark(self, system: "System") -> str:
        """A sign beside a system's name, which `notes` explain; empty where there is none."""
        return ""

    def notes(self, results: "Results") -> Sequence[str]:
        """Sentences under the core's tables: metrics that are not interpreted, and systems without a rank."""
        return ()

    def answer_notes(self, results: "Results") -> Sequence[str]:
        """Sentences under table answers: what else stands for records."""
        return ()

    def question_rows(
        self, results: "Results", asks: str, corpus: str, metric: Metric, sizes: Sequence[int]
    ) -> Sequence[Mapping[str, Any]]:
        """Rows of table questions, each an answer at one of these sizes to what the core cannot answer by itself."""
        return ()

    def levels(self, tables: Mapping[str, "Table"]) -> Sequence[Mapping[str, Any]]:
        """Level lines of the figure of scores, as rows of table scores."""
        return ()

    def sections(self, results: "Results") -> Sequence["Markup"]:
        """Of the page that people read, behind its tables; all that comes from records is escaped."""
        return ()

    def ratio(self, metric: str, items: Items) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Of a metric that is a ratio of sums, such as a share of all questions: values ``[items]`` that vary as it
        does and have it as their mean, and the ratio by each who judges ``[judges]``; None of a mean over items.
        """
        return None

    def questions(self, corpus: str) -> Mapping[str, Sequence[tuple[str, str]]]:
        """By id of a shown item what is asked about its reference, each with the answer."""
        return {}

    def answers(self, system: "System") -> Mapping[str, Sequence[tuple[str, bool]]]:
        """By id of a shown item the answers that a summary gives to these ("": none), and whether each is right."""
        return {}


@dataclass(frozen=True)
class Study:
    """All that a study's tables are made of.

    `form` names that of the methods ("small", "paper"), `titles` the methods for people, `about` says in a clause what
    each is, `systems` what each is that is not trained. `trained` counts the trained outputs that the study asks for;
    where some are `missing`, all tables say so. `scores` are the keys of the folders that `outputs` come from.
    `examples` are for reading; no table is made of them, and of every corpus the README has what methods wrote of the
    first `shown_items`.
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
    equivalence: Equivalence | None = None
    questions: Sequence[Question] = ()
    shown_items: int = 0
    rank_by: str | None = None
    evidence: Mapping[str, Evidence] = field(default_factory=dict)  # of capabilities, by their names

    @property
    def in_part(self) -> str:
        """What a table made of an unfinished study must say; empty where nothing is missing."""
        if not self.missing:
            return ""
        count = sum(output.records is not None for output in self.outputs)
        return f"IN PART: {count} of {self.trained} trained outputs"


def checked(outputs: Sequence[ScoredOutput]) -> list[ScoredOutput]:
    """The outputs in one order, whatever theirs was, and every scorer's items in the order of their keys.

    Systems that are not trained come first, bounds behind the others, then methods by name, percent, search, part and
    seed. An item that a scorer could not give a value for one output (`UNGRADED`) is left out for all of the corpus.
    Raises EvidenceError, naming the output, for any other item that another output of the corpus has and it lacks, an
    output given twice, a training without its size, and signatures within a corpus that differ in more than the
    version of sumcurve.
    """
    outputs = _graded(outputs)
    if not outputs:
        raise EvidenceError("no scored output; a table needs at least one")
    outputs_of: list[ScoredOutput] = []
    first_of: dict[tuple[str, str], ScoredOutput] = {}
    sizes: dict[str, dict[int, dict[int, str]]] = {}  # corpus -> percent -> records -> an output
    for output in sorted(outputs, key=_place):
        _check_form(output)
        if outputs_of and _place(outputs_of[-1])[:-1] == _place(output)[:-1]:
            raise EvidenceError(f"{output} is given twice: {outputs_of[-1].run} and {output.run}")
        for scorer, items in output.scores.items():
            first = first_of.setdefault((output.corpus, scorer), output)
            _check_items(scorer, first, output)
            if _comparable(first.scores[scorer].signature) != _comparable(items.signature):
                raise EvidenceError(
                    f"{first} is scored as {first.scores[scorer].signature} but {output} as {items.signature}; "
                    "score both alike"
                )
        if output.percent is not None and output.records is not None:
            sizes.setdefault(output.corpus, {}).setdefault(output.percent, {})[output.records] = str(output)
        outputs_of.append(replace(output, scores={scorer: _sorted(items) for scorer, items in output.scores.items()}))
    for corpus, fractions in sizes.items():
        _check_sizes(corpus, fractions)
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

    That is the order of the outputs that all of them scored: a scorer may have nothing to say of lead. Raises
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
    size, draw, seed = (-1 if value is None else value for value in (size, output.draw, output.seed))
    return (output.corpus, rank, output.method, size, output.search or "", output.part, draw, seed, output.run)


def _check_sizes(corpus: str, fractions: dict[int, dict[int, str]]) -> None:
    """One size for each fraction of a corpus, and a larger one for a larger fraction."""
    previous = 0
    for percent in sorted(fractions):
        records = sorted(fractions[percent])
        if len(records) > 1:
            shown = ", ".join(f"{name}: {size}" for size, name in sorted(fractions[percent].items()))
            raise EvidenceError(f"{corpus} {percent} % has different training records: {shown}")
        if records[0] <= previous:
            raise EvidenceError(
                f"{corpus} {percent} % has {records[0]} records, not above the smaller fraction's {previous}"
            )
        previous = records[0]


def _comparable(signature: str) -> list[str]:
    """Without the version of sumcurve."""
    return [part for part in signature.split("|") if not part.startswith(("sumcurve:", "engine:"))]


def _check_form(output: ScoredOutput) -> None:
    trained = [part is not None for part in (output.records, output.search, output.seed)]
    if output.role != "trained":
        if any(trained[:2]) or output.percent is not None:
            raise EvidenceError(f"{output} is not trained; it has no percent, no records and no search")
    elif not all(trained):
        raise EvidenceError(f"{output} ({output.run}) needs records, seed and search, as all that is trained")


def _check_items(scorer: str, first: ScoredOutput, output: ScoredOutput) -> None:
    there, here = first.scores[scorer], output.scores[scorer]
    if tuple(there.further) != tuple(here.further):
        raise EvidenceError(
            f"{first} has {scorer}'s items by {', '.join(('id', *there.further))}, {output} by "
            f"{', '.join(('id', *here.further))}; score both alike"
        )
    known, given = set(there.keys), set(here.keys)
    for lacking, having, lost in ((output, first, known - given), (first, output, given - known)):
        if lost:
            named = ", ".join(min(lost))
            raise EvidenceError(f"{lacking} lacks {scorer}'s item {named} ({len(lost)} in all), which {having} has")
    groups = dict(zip(there.keys, there.groups, strict=True))
    for key, group in zip(here.keys, here.groups, strict=True):
        if groups[key] != group:
            raise EvidenceError(f"{output} has item {', '.join(key)} in group {group}, {first} in group {groups[key]}")

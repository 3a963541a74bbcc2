"""What a study's tables are made of: scored outputs, measured training costs, statistics of corpora.

Plain data, given by the caller; nothing here reads a folder.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sumcurve.curves.stopping import Validation
from sumcurve.plan import Refused
from sumcurve.scores.rouge import METRICS
from sumcurve.settings import Oracle

BLIND = ("lead", "random")  # trivial systems that read the source only
TRIVIAL = (*BLIND, "best-sentence")  # best-sentence picks by the reference
SEARCH = "search:"  # begins that part of a signature


class EvidenceError(ValueError):
    """Evidence that does not fit together; the message names what and the remedy."""


@dataclass(frozen=True)
class Timing:
    """The cost of one training up to its selected checkpoint, validation excluded, preparations included.

    `seconds` are process CPU seconds on a CPU, device seconds on a GPU; `total_seconds` run to the end of
    training. `phases` splits `seconds` by phase. `exclusive` is false when the GPU was shared with other
    work.
    """

    seconds: float
    total_seconds: float
    updates: int
    examples: int
    device: str
    exclusive: bool
    phases: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Training:
    """What was trained and how it ended, without measured time.

    `parameters` counts those of the model: total, of it vocabulary and other. `epochs` are passes over the training
    items up to the selected checkpoint; `ended` names every phase, in order, and the reason it ended.
    """

    parameters: Mapping[str, int]
    epochs: float
    ended: Sequence[tuple[str, str]]
    precision: str
    threads: int


@dataclass(frozen=True)
class ScoredOutput:
    """Per-item scores of one output: `items` as `scores.rouge.score_items` returns them, one for each of
    `ids`.

    A trained output has percent, records (it was trained on), seed, search and, where measured, its timing and
    training and history. A trivial system (`TRIVIAL`) has none of them. `search` says whose search decoded it:
    "common" for the corpus's, "paper" for that of the method's paper. `run` names the folder behind the row.
    `signature` holds the scorer's, then `search:` with the search's.
    """

    corpus: str
    method: str
    percent: int | None
    records: int | None
    seed: int | None
    search: Literal["common", "paper"] | None
    run: str
    signature: str
    ids: Sequence[str]
    items: Sequence[Mapping[str, Any]]
    timing: Timing | None = None
    training: Training | None = None
    history: Sequence[Validation] = ()

    @property
    def search_signature(self) -> str:
        """The part of the signature that says how it was decoded; empty where there is none."""
        parts = [part for part in self.signature.split("|") if part.startswith(SEARCH)]
        return parts[0].removeprefix(SEARCH) if parts else ""

    def __str__(self) -> str:
        parts = [self.corpus, self.method]
        parts += [f"{self.percent} %"] if self.percent is not None else []
        parts += [f"seed {self.seed}"] if self.seed is not None else []
        parts += ["paper search"] if self.search == "paper" else []
        return " ".join(parts)


@dataclass(frozen=True)
class PartStatistics:
    """One line of the corpora table. Means are in tokens; `vocabulary` counts the part's distinct words.

    `words_used` counts those of them that a model trained on the part knows; both may be None for valid and
    test.
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


@dataclass(frozen=True)
class Ceiling:
    """The best extracts of a corpus's test items under one metric: proven optima, or where unproven, upper bounds.

    `optimum` holds F1 in 0..1 for each of `ids`, `proven` how many of them are proven; `source_words` is the mean F1
    of the best that can be said with words of the source alone, in any order, which bounds extracts, too.
    """

    corpus: str
    metric: str
    ids: Sequence[str]
    optimum: Sequence[float]
    proven: int
    source_words: float | None

    def percents(self) -> NDArray[np.float64]:
        """The optima in percent, in the order of the ids, which is that of `align`."""
        order = sorted(range(len(self.ids)), key=lambda index: self.ids[index])
        return 100 * np.array([self.optimum[index] for index in order])


@dataclass(frozen=True)
class Extracts:
    """How far extracts of a corpus's test items go, as `annotations.oracle.corpus.write_oracle` left it.

    `found` has a row for every article, search or system, and metric that it optimised; `features` one for every
    article; `timings` the seconds of each search; `certificates` are those of the exact searches.
    """

    corpus: str
    settings: Oracle
    scorer: str
    found: pd.DataFrame
    features: pd.DataFrame
    timings: pd.DataFrame
    certificates: Sequence[Mapping[str, Any]]

    def ceilings(self) -> list[Ceiling]:
        """Of an item with several references, the best of them."""
        made = []
        words = self.features.set_index("id").source_words_bound.groupby(item_of).max()
        for metric in ("rouge1", "rouge2"):
            best: dict[str, float] = {}
            proven: dict[str, bool] = {}
            for one in self.certificates:
                if one["metric"] == metric:
                    item = item_of(one["id"])
                    best[item] = max(best.get(item, 0.0), one["bound"])
                    proven[item] = proven.get(item, True) and one["status"] == "proven"
            mean = float(words.mean()) if metric == "rouge1" else None
            made.append(Ceiling(self.corpus, metric, list(best), list(best.values()), sum(proven.values()), mean))
        return made


def item_of(article: str) -> str:
    """The id of the item behind an article: `id (reference 2)` is the item's second one."""
    return re.sub(r" \(reference \d+\)$", "", article)


@dataclass(frozen=True)
class Study:
    """All that a study's tables are made of.

    `settings` names the recipe of each method ("small", "paper"), `titles` the methods for people. `trained` counts
    the trained outputs that the study asks for; where some are `missing`, all tables say so. `scores` are the keys of
    the folders that `outputs` come from.
    """

    title: str
    settings: str
    statistics: Sequence[CorpusStatistics]
    outputs: Sequence[ScoredOutput]
    titles: Mapping[str, str]
    refused: Sequence[Refused] = ()
    missing: Sequence[Missing] = ()
    trained: int = 0
    scores: Sequence[str] = ()
    extracts: Sequence[Extracts] = ()

    @property
    def ceilings(self) -> list[Ceiling]:
        """Of the corpora whose every test item has been searched, whatever the filter of the oracle."""
        items = {output.corpus: {*output.ids} for output in self.outputs}
        every = [ceiling for one in self.extracts for ceiling in one.ceilings()]
        return [ceiling for ceiling in every if {*ceiling.ids} == items.get(ceiling.corpus)]

    @property
    def in_part(self) -> str:
        """What a table made of an unfinished study must say; empty where nothing is missing."""
        if not self.missing:
            return ""
        found = sum(output.percent is not None for output in self.outputs)
        return f"IN PART: {found} of {self.trained} trained outputs"


@dataclass(frozen=True)
class Aligned:
    """A scored output with its F1 in percent, `[metrics, items]`, items in the order of their ids."""

    output: ScoredOutput
    scores: NDArray[np.float64]

    @property
    def empty(self) -> int:
        """Summaries without a word."""
        return sum(item["empty"] for item in self.output.items)


def align(outputs: Sequence[ScoredOutput]) -> list[Aligned]:
    """The outputs in one order, whatever theirs was, those of a corpus over the same items in one order.

    Trivial systems come first, then methods by name, percent, search and seed. Raises EvidenceError, naming the
    output, for an item that is missing, surplus or repeated, an output given twice, a training without its
    size, and signatures within a corpus that differ in more than the version of sumcurve and the search.
    """
    if not outputs:
        raise EvidenceError("no scored output; a table needs at least one")
    aligned: list[Aligned] = []
    first_of: dict[str, ScoredOutput] = {}
    sizes: dict[str, dict[int, dict[int, str]]] = {}  # corpus -> percent -> records -> an output
    for output in sorted(outputs, key=_place):
        _check_form(output)
        if aligned and _place(aligned[-1].output)[:-1] == _place(output)[:-1]:
            raise EvidenceError(f"{output} is given twice: {aligned[-1].output.run} and {output.run}")
        first = first_of.setdefault(output.corpus, output)
        _check_items(first, output)
        if _comparable(first.signature) != _comparable(output.signature):
            raise EvidenceError(
                f"{first} is scored as {first.signature} but {output} as {output.signature}; score both alike"
            )
        if output.percent is not None and output.records is not None:
            sizes.setdefault(output.corpus, {}).setdefault(output.percent, {})[output.records] = str(output)
        order = sorted(range(len(output.ids)), key=lambda index: output.ids[index])
        f1 = [[100 * float(output.items[index][metric]) for index in order] for metric in METRICS]
        aligned.append(Aligned(output, np.array(f1)))
    for corpus, fractions in sizes.items():
        _check_sizes(corpus, fractions)
    return aligned


def groups(aligned: Sequence[Aligned]) -> list[list[Aligned]]:
    """The outputs that differ by their seed alone, together; the order stays."""
    found: dict[tuple[str, str, int | None, str | None], list[Aligned]] = {}
    for one in aligned:
        output = one.output
        found.setdefault((output.corpus, output.method, output.percent, output.search), []).append(one)
    return list(found.values())


def _place(output: ScoredOutput) -> tuple[Any, ...]:
    trivial = TRIVIAL.index(output.method) if output.method in TRIVIAL else len(TRIVIAL)
    percent, seed = (-1 if value is None else value for value in (output.percent, output.seed))
    return (output.corpus, trivial, output.method, percent, output.search or "", seed, output.run)


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
    """The scorer's part, without the version of sumcurve: two searches compare, two ways of scoring do not."""
    return [part for part in signature.split("|") if not part.startswith(("sumcurve:", SEARCH))]


def _check_form(output: ScoredOutput) -> None:
    trained = [part is not None for part in (output.percent, output.records, output.search, output.seed)]
    if output.method in TRIVIAL:
        if any(trained[:3]):
            raise EvidenceError(f"{output} is a trivial system; it has no percent, no records and no search")
    elif not all(trained):
        raise EvidenceError(
            f"{output} ({output.run}) needs percent, records, seed and search; trivial are {', '.join(TRIVIAL)}"
        )
    if len(output.ids) != len(output.items):
        raise EvidenceError(f"{output}: {len(output.ids)} ids for {len(output.items)} scored items")
    if any(not isinstance(item["empty"], bool) for item in output.items):
        raise EvidenceError(f"{output}: `empty` of an item must be true or false, not text or a number")
    repeated = [name for name, count in Counter(output.ids).items() if count > 1]
    if repeated:
        raise EvidenceError(f"{output}: item {sorted(repeated)[0]} is scored twice")


def _check_items(first: ScoredOutput, output: ScoredOutput) -> None:
    known, given = set(first.ids), set(output.ids)
    if missing := sorted(known - given):
        raise EvidenceError(f"{output} lacks item {missing[0]} ({len(missing)} in all), which {first} has")
    if surplus := sorted(given - known):
        raise EvidenceError(f"{first} lacks item {surplus[0]} ({len(surplus)} in all), which {output} has")

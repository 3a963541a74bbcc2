"""ROUGE of summaries with intervals, and of two systems on the same items: what `sumcurve rouge` prints of files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from sumcurve.machine.arguments import CommandError
from sumcurve.machine.counts import counted
from sumcurve.rouge_engine.scorer import METRICS, Mode, Multi, References, Scorer, Text
from sumcurve.rouge_engine.stemmers import MissingExceptions
from sumcurve.rouge_engine.tokens import unread_letters
from sumcurve.settings.study import Bootstrap
from sumcurve.statistics.ungrouped import bca_intervals, holm, sign_flip_p
from sumcurve.tables.result import Result
from sumcurve.tables.table import Column, Table, Value, probability, span

if TYPE_CHECKING:
    import pandas as pd

CHUNK = 16_384  # items scored between two moves of the progress bar
PARTS = ("precision", "recall", "f")
POINTS = 100  # scores are shares in files, percent ("points") on paper
LEVEL = 0.05
NOT_SHOWN = "no significant difference"
UNREAD = 0.01  # of the references' letters; English with foreign names stays below
NAMES = ("candidates", "compare")  # of the systems


@dataclass
class Scored:
    """Shares of one system by metric, each ``[items]``, and which summaries, or items' references, have no word."""

    precision: dict[str, NDArray[np.float64]]
    recall: dict[str, NDArray[np.float64]]
    f: dict[str, NDArray[np.float64]]
    empty: NDArray[np.bool_]
    empty_references: NDArray[np.bool_]


@dataclass
class Interval:
    """The ends of a mean's interval."""

    low: float | None  # None: of one item there is no interval
    high: float | None


@dataclass
class Difference:
    """First minus second system: mean difference of F, its interval, p of it alone and corrected over the metrics.

    `wins` counts the items on which the first system is better.
    """

    mean: float
    low: float | None
    high: float | None
    p: float
    p_holm: float
    wins: int
    ties: int
    losses: int


@dataclass
class Outcome:
    """Every system's scores and intervals of F, and of each further system each metric's difference from the first."""

    signature: str
    names: list[str]  # of the systems
    scored: list[Scored]
    intervals: list[dict[str, Interval]]
    families: list[dict[str, Difference]]

    @property
    def metrics(self) -> list[str]:
        return list(self.intervals[0])


@dataclass(frozen=True, repr=False)
class RougeResult(Result):
    """What `rouge` found: `tables` are `scores` and, of several systems, `differences`, in points (percent)."""

    outcome: Outcome = None  # type: ignore[assignment]

    @property
    def signature(self) -> str:
        """All that decides the scores, to be published with them."""
        return self.outcome.signature

    @property
    def items(self) -> "pd.DataFrame":
        """Every item's precision, recall and F as shares, for `compare` and `power`."""
        import pandas as pd

        frames = []
        for name, scored in zip(self.outcome.names, self.outcome.scored, strict=True):
            columns = {f"{metric}_{part}": getattr(scored, part)[metric] for metric in scored.f for part in PARTS}
            frame = pd.DataFrame({"system": name, "item": np.arange(1, len(scored.empty) + 1), **columns})
            frames.append(frame)
        return pd.concat(frames, ignore_index=True)


def rouge(
    candidates: Text | Sequence[Text],
    references: References | Sequence[References],
    compare: Text | Sequence[Text] | None = None,
    stem: bool = False,
    metrics: Sequence[str] = METRICS,
    *,
    mode: Mode = "rouge-score",
    multi: Multi | None = None,
    seed: int = Bootstrap().seed,
    resamples: int = Bootstrap().resamples,
    threads: int | None = None,
) -> RougeResult:
    """Precision, recall and F of candidates against references, with 95 % intervals of F; BCa bootstrap over items.

    `candidates` is a list of texts, one for each item, or one text. A text is a string, with a sentence a line (which
    rougeLsum reads), or a list of sentences. `references` has a text for each item, or a list of texts where an item
    has several. `compare` are a second system's texts of the same items: the differences are tested (sign flips, Holm
    over metrics). `stem` as in rouge-score's `use_stemmer`; modes and metrics are those of `Scorer`.

    CommandError for what cannot be scored.
    """
    if isinstance(candidates, str):  # one item
        candidates, references = [candidates], [references]  # type: ignore[list-item]
        compare = [compare] if isinstance(compare, str) else compare
    candidates, references, compare = (_as_list(texts) for texts in (candidates, references, compare))
    scorer = scorer_of(metrics, mode, stem, multi, threads)
    systems = [candidates, *([] if compare is None else [compare])]
    _check_lengths(systems, references)
    settings = Bootstrap(seed=seed, resamples=resamples)
    try:
        scores = [scored(scorer, texts, references, name) for texts, name in zip(systems, NAMES, strict=False)]
        outcome = outcome_of(scores, NAMES[: len(scores)], scorer.signature_for(references), settings)
    except ValueError as error:
        raise CommandError(str(error)) from error
    if scores[0].empty_references.all():
        raise CommandError(f"no reference has a word in mode {scorer.mode}; for other scripts: mode='unicode'")
    return result_of(outcome, [*unread_warning(references, mode), *_warnings(outcome)])


def _as_list(texts: Any) -> Any:
    """A column of a data frame, or an array, as a list; what else there is stays."""
    return texts.tolist() if hasattr(texts, "tolist") else texts


def _check_lengths(systems: Sequence[Sequence[Text]], references: Sequence[References]) -> None:
    """CommandError unless every system has a text for each item's references."""
    for texts, name in zip(systems, NAMES, strict=False):
        if not len(references) or len(texts) != len(references):
            raise CommandError(
                f"{len(texts):,} {name} and {len(references):,} references: give a text of each system for each item; "
                "several references of an item are a list"
            )


def scorer_of(metrics: Sequence[str], mode: Mode, stem: bool, multi: Multi | None, threads: int | None) -> Scorer:
    """The scorer; CommandError for settings that do not go together."""
    try:
        return Scorer(metrics, mode, stem, multi, threads)
    except (ValueError, MissingExceptions) as error:
        raise CommandError(str(error)) from error


def outcome_of(scores: Sequence[Scored], names: Sequence[str], signature: str, settings: Bootstrap) -> Outcome:
    """Scores with intervals and, of further systems, each metric's difference from the first."""
    families = differences(scores[0], scores[1:], settings)
    ends = [intervals(system, settings) for system in scores]
    return Outcome(signature, [*names], [*scores], ends, families)


def result_of(outcome: Outcome, warnings: Sequence[str] = (), notes: Sequence[str] = ()) -> RougeResult:
    """An outcome in sentences, behind its warnings, and in tables, the first with these notes."""
    return RougeResult([*warnings, *_sentences(outcome)], [*_tables(outcome, notes)], outcome)


def scored(scorer: Scorer, texts: Sequence[Text], references: Sequence[References], name: str) -> Scored:
    """Scores of all items, in pieces so that a terminal sees how far they are."""
    pieces = []
    with tqdm(total=len(texts), desc=name, unit="item", disable=None, leave=False) as bar:
        for start in range(0, len(texts), CHUNK):
            stop = min(start + CHUNK, len(texts))
            pieces.append(scorer.score(texts[start:stop], references[start:stop]))
            bar.update(stop - start)

    def joined(part: str) -> "dict[str, NDArray[np.float64]]":
        columns = [getattr(piece, part) for piece in pieces]
        return {metric: np.concatenate([column[metric] for column in columns]) for metric in scorer.metrics}

    return Scored(
        joined("precision"),
        joined("recall"),
        joined("f"),
        np.concatenate([piece.empty for piece in pieces]),
        np.concatenate([piece.empty_references for piece in pieces]),
    )


def intervals(scored: Scored, settings: Bootstrap) -> dict[str, Interval]:
    """Of every metric's mean F; none of one item."""
    if len(scored.empty) == 1:
        return {metric: Interval(None, None) for metric in scored.f}
    ends = bca_intervals(np.stack([*scored.f.values()]), settings.confidence, settings.resamples, settings.seed)
    return {metric: Interval(*pair) for metric, pair in zip(scored.f, ends.tolist(), strict=True)}


def differences(first: Scored, others: Sequence[Scored], settings: Bootstrap) -> list[dict[str, Difference]]:
    """Of every metric's F, on the same items, from each of the others; their tests are one family."""
    if not others:
        return []
    pairs = np.stack([first.f[metric] - other.f[metric] for other in others for metric in first.f])
    ends = bca_intervals(pairs, settings.confidence, settings.resamples, settings.seed)
    p = sign_flip_p(pairs, settings.resamples, settings.seed)
    counts = np.stack([(pairs > 0).sum(axis=1), (pairs == 0).sum(axis=1), (pairs < 0).sum(axis=1)])
    columns = np.column_stack([pairs.mean(axis=1), ends, p, holm(p)]).tolist()
    rows = [Difference(*values, *outcomes) for values, outcomes in zip(columns, counts.T.tolist(), strict=True)]
    if len(first.empty) == 1:
        rows = [replace(test, low=None, high=None) for test in rows]
    many = len(first.f)
    return [dict(zip(first.f, rows[start : start + many], strict=True)) for start in range(0, many * len(others), many)]


def points(share: float | None) -> float | None:
    """A share in percent."""
    return None if share is None else POINTS * share


def _title(metric: str) -> str:
    return metric.replace("rouge", "ROUGE-")


def _f(outcome: Outcome, place: int, metric: str) -> tuple[float, float | None, float | None]:
    """A system's mean F in points with its interval, which one item has not."""
    ends = outcome.intervals[place][metric]
    return POINTS * float(outcome.scored[place].f[metric].mean()), points(ends.low), points(ends.high)


def unread_warning(references: Sequence[References], mode: Mode) -> list[str]:
    """A warning where a mode takes many letters of the references for gaps between words."""

    def strings(texts: Any) -> Iterator[str]:
        for text in texts:
            yield from [text] if isinstance(text, str) else strings(text)

    share = unread_letters(strings(references), mode)
    if share < UNREAD:
        return []
    return [
        f"WARNING: {100 * share:.0f} % of the references' letters are not a to z: mode {mode} takes them for gaps, and "
        "words are cut or vanish; mode unicode reads them, mode characters Chinese and Japanese."
    ]


def _warnings(outcome: Outcome) -> Iterator[str]:
    if missing := int(outcome.scored[0].empty_references.sum()):
        without = f"{counted(missing, 'item')} without a word in the references"
        yield f"WARNING: {without}, which score 0 and stay in every mean."
    for name, system in zip(outcome.names, outcome.scored, strict=True):
        if empty := int(system.empty.sum()):
            yield f"WARNING: {name}: {counted(empty, 'text')} without a word, which score 0 and stay in every mean."


def _sentences(outcome: Outcome) -> Iterator[str]:
    """The tests of the first system against each other one, then every system's F."""
    over = f"over {counted(len(outcome.scored[0].empty), 'item')}"
    for other, family in zip(outcome.names[1:], outcome.families, strict=True):
        for metric, test in family.items():
            better = "worse" if test.mean < 0 else "better"
            shown = f"significantly {better}" if test.p_holm < LEVEL else NOT_SHOWN
            difference = span(POINTS * test.mean, points(test.low), points(test.high))
            p = f"p = {probability(test.p_holm)}".replace("= <", "< ")
            yield f"{_title(metric)}: {shown}: {outcome.names[0]} minus {other} is {difference}, {p} (Holm), {over}."
    for place, name in enumerate(outcome.names):
        scores = ", ".join(f"{_title(metric)} {span(*_f(outcome, place, metric))}" for metric in outcome.metrics)
        yield f"{name}: {scores}, {over}."


def _tables(outcome: Outcome, notes: Sequence[str]) -> Iterator[Table]:
    rows: list[Mapping[str, Any]] = []
    for place, (name, scored_system) in enumerate(zip(outcome.names, outcome.scored, strict=True)):
        for metric in outcome.metrics:
            means = {part: POINTS * float(getattr(scored_system, part)[metric].mean()) for part in PARTS}
            f = Value(*_f(outcome, place, metric))
            rows.append({"system": name, "metric": metric, **means, "f": f, "items": len(scored_system.empty)})
    columns = [
        Column("system", "system" if len(outcome.scored) > 1 else None),
        Column("metric", "metric"),
        *(Column(part, part, "number") for part in PARTS[:2]),
        Column("f", "F", "number", interval=True),
        Column("items", "items", "count"),
    ]
    yield Table("scores", "ROUGE in percent", columns, rows, [*notes, outcome.signature])
    if not outcome.families:
        return
    tests = [
        {
            "other": other,
            "metric": metric,
            "difference": Value(POINTS * test.mean, points(test.low), points(test.high)),
            **{name: getattr(test, name) for name in ("p", "p_holm", "wins", "ties", "losses")},
        }
        for other, family in zip(outcome.names[1:], outcome.families, strict=True)
        for metric, test in family.items()
    ]
    first, *others = outcome.names
    columns = [
        Column("other", "minus" if others[1:] else None),
        Column("metric", "metric"),
        Column("difference", "difference of F", "number", interval=True),
        *(Column(name, title, "p") for name, title in (("p", "p"), ("p_holm", "p (Holm)"))),
        *(Column(name, name, "count") for name in ("wins", "ties", "losses")),
    ]
    minus = f"{first} minus {'each other system' if others[1:] else others[0]}"
    yield Table("differences", f"{minus}, on the same items", columns, tests)

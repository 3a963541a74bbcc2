"""ROUGE of summaries with intervals, and of two systems on the same items, for `sumcurve rouge`."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ValidationError

from sumcurve.files.layout import Layout
from sumcurve.files.models import said
from sumcurve.machine.arguments import CommandError, UsageError
from sumcurve.machine.counts import counted
from sumcurve.machine.parameters import checked
from sumcurve.machine.spelling import shortened
from sumcurve.rouge_engine.scorer import METRICS, Multi, References, RougeEngine, RougeScores, Text
from sumcurve.rouge_engine.scripts import UNREAD, beyond_ascii
from sumcurve.rouge_engine.stemmers import MissingExceptions
from sumcurve.rouge_engine.texts import Texts, files_of, in_blocks, in_order_of, texts_of
from sumcurve.rouge_engine.tokens import Mode, tokenize
from sumcurve.settings.study import Bootstrap
from sumcurve.statistics.ungrouped import bca_intervals, holm, sign_flip_p
from sumcurve.tables.result import Result
from sumcurve.tables.table import Column, Table, Value, probability, span

if TYPE_CHECKING:
    import pandas as pd

PARTS = ("precision", "recall", "f")
POINTS = 100  # scores are shares in files, percent ("points") on paper
LEVEL = 0.05
FEW = 100  # resamples below which the ends of an interval are a handful of draws
NOT_SHOWN = "no significant difference"
# Tokens that may be marks: <sent_1>, <|sep|>, </x>, [X_SEP], ##SENT##, {SEP}
LIKE_MARK = re.compile(
    r"</?\|?[A-Za-z][\w-]{0,15}\|? ?/?>|\[[A-Z][A-Z_]{1,11}\]|\{[A-Z][A-Z_]{1,11}\}|#{1,2}[A-Z]{2,10}#{1,2}"
)
OFTEN = 0.01  # share of texts, or of items, from which marks and repeated items are told


Ends = tuple[float | None, float | None]  # of a mean's interval; None: of one item there is none


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
    ids: list[list[Any]]  # of each system's items, or their numbers from 1
    scored: list[RougeScores]
    intervals: list[dict[str, Ends]]
    families: list[dict[str, Difference]]

    @property
    def metrics(self) -> list[str]:
        return list(self.intervals[0])


@dataclass(frozen=True, repr=False)
class RougeResult(Result):
    """Result of `rouge`: `tables` are `scores` and, of several systems, `differences`, in points (percent)."""

    outcome: Outcome = None  # type: ignore[assignment]

    @property
    def signature(self) -> str:
        """All that decides the scores, to be published with them."""
        return self.outcome.signature

    @property
    def items(self) -> "pd.DataFrame":
        """Every item's precision, recall and F as shares, for `compare` and `power`.

        `item` is its id, or its number where the texts have no ids; `empty` is 1 for a text without a word.
        """
        import pandas as pd

        frames = []
        for name, ids, scored in zip(self.outcome.names, self.outcome.ids, self.outcome.scored, strict=True):
            columns = {f"{metric}_{part}": getattr(scored, part)[metric] for metric in scored.f for part in PARTS}
            frames.append(pd.DataFrame({"system": name, "item": ids, "empty": scored.empty.astype(int), **columns}))
        return pd.concat(frames, ignore_index=True)


@checked
def rouge(
    candidates: Path | Text | Sequence[Path | Text],
    references: Path | References | Sequence[Path | References],
    compare: Path | Text | Sequence[Text] | None = None,
    stem: bool = False,
    metrics: Sequence[str] = METRICS,
    *,
    mode: Mode = "rouge-score",
    multi: Multi | None = None,
    seed: int = Bootstrap().seed,
    resamples: int = Bootstrap().resamples,
    threads: int | None = None,
    column: str | None = None,
    compare_column: str | None = None,
    reference_column: str | None = None,
    item: str | None = None,
    layout: Layout | None = None,
) -> RougeResult:
    """Precision, recall and F of candidates against references, with 95 % intervals of F; BCa bootstrap over items.

    Args:
        candidates: a list of texts, one for each item, or one text: a string, with a sentence a line (which rougeLsum
            reads) or marks such as <q> between them, or a list of sentences; or a file of texts, by path or name, or
            a list of files, each of which is tested against the first
        references: a text for each item, or a list of texts where an item has several; or a file of them, or a list of
            files, as of annotators, each with a reference of every item
        compare: a second system's texts of the same items, or their file, whose differences are tested (sign flips,
            Holm over metrics)
        stem: with the mode's stemmer (1.5.5: -m)
        metrics: of rouge1 to rouge9, rougeL, rougeLsum and, in 1.5.5, rougeS4, rougeSU4
        mode: whose scores
        multi: of several references: the best one, or counts pooled (1.5.5: -f A) (default: pooled in 1.5.5, else best)
        seed: of the resamples
        resamples: for intervals and tests, 20 to 1,000,000
        threads: that share the items (default: all cores)
        column: of the candidates' texts in a table or JSON objects (default: candidate, summary)
        compare_column: of the second system's (default: that of the candidates)
        reference_column: of the references', several with commas between them (default: reference, references, target,
            summary)
        item: column of all files' ids (default: id, item, doc_id)
        layout: of files

    Raises:
        CommandError: for texts that cannot be scored
    """
    try:
        scorer, settings = RougeEngine(metrics, mode, stem, multi, threads), Bootstrap(seed=seed, resamples=resamples)
    except ValidationError as error:
        raise UsageError(f"{said(error)}; correct it, or leave it out") from None
    except UsageError:
        raise
    except (ValueError, MissingExceptions) as error:
        raise CommandError(str(error)) from error
    paths = files_of(candidates)
    if compare is not None and len(paths) > 1:
        raise CommandError(
            f"--compare {compare}: several --candidates are compared by themselves; name it among them, or name one"
        )
    if compare_column and compare is None:
        raise CommandError(f"--compare-column {compare_column}: no --compare, whose column it is; add it")
    targets: Any = references
    if isinstance(candidates, str) and not paths and not files_of(references):
        targets = [references]  # of one item
    ours: Sequence[Any] = paths or [candidates]
    wanted: list[tuple[Any, str, str | None]] = [(given, "candidates", column) for given in ours]
    if compare is not None:
        wanted.append((compare, "compare", compare_column or column))
    files = [
        texts_of(targets, "reference", "references", reference_column, item, layout),
        *(texts_of(given, "candidate", name, key, item, layout) for given, name, key in wanted),
    ]
    files[0] = in_blocks(files[0], len(files[1]))
    first = next((file for file in files if file.named), files[0])
    truth, *systems = [in_order_of(first, file) for file in files]
    try:
        outcome = outcome_of(scorer, systems, truth, settings)
    except ValueError as error:
        raise CommandError(str(error)) from error
    return RougeResult(
        [*warnings_of(outcome, systems, truth, mode, settings), *_warnings(truth, systems), *_sentences(outcome)],
        [*_tables(outcome, [*_notes(outcome.metrics, truth, systems, settings)])],
        outcome,
        taken=[*dict.fromkeys(guess for file in (truth, *systems) for guess in file.guesses)],
    )


def outcome_of(scorer: RougeEngine, systems: Sequence[Texts], references: Texts, settings: Bootstrap) -> Outcome:
    """Scores of systems with intervals and, of further systems, each metric's difference from the first.

    CommandError where no reference has a word, which says where they stand.
    """
    scores = [scorer.score(system.texts, references.items) for system in systems]
    if scores[0].empty_references.all():
        raise CommandError(
            f"{references.path}: none of its {len(references):,} items has a reference with a word in mode "
            f"{scorer.mode}; give the references, or take mode unicode or characters for other scripts"
        )
    families = differences(scores[0], scores[1:], settings)
    ends = [intervals(system, settings) for system in scores]
    short = shortened([str(system.path) for system in systems], True)
    names = [_named(system, name) for system, name in zip(systems, short, strict=True)]
    ids = [[name or number for number, name in enumerate(system.ids, start=1)] for system in systems]
    return Outcome(scorer.signature_for(references.items), names, ids, scores, ends, families)


def intervals(scored: RougeScores, settings: Bootstrap) -> dict[str, Ends]:
    """Intervals of every metric's mean F; none for a single item."""
    if len(scored.empty) == 1:
        return dict.fromkeys(scored.f, (None, None))
    ends = bca_intervals(np.stack([*scored.f.values()]), settings.confidence, settings.resamples, settings.seed)
    return {metric: (low, high) for metric, (low, high) in zip(scored.f, ends.tolist(), strict=True)}


def differences(first: RougeScores, others: Sequence[RougeScores], settings: Bootstrap) -> list[dict[str, Difference]]:
    """Differences of every metric's F, on the same items, from each of the others; their tests are one family."""
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
    """A system's mean F in points with its interval, which a single item lacks."""
    low, high = outcome.intervals[place][metric]
    return POINTS * float(outcome.scored[place].f[metric].mean()), points(low), points(high)


def warnings_of(
    outcome: Outcome, systems: Sequence[Texts], references: Texts, mode: Mode, settings: Bootstrap
) -> Iterator[str]:
    """Warnings before all scores: of letters and marks that a mode misreads, of equal files, of items that are there
    more than once, of texts without a word, and of intervals that say little.
    """
    share, _ = beyond_ascii(_strings(references.items)) if mode.startswith("rouge") else (0.0, 0.0)
    if share >= UNREAD:
        yield (
            f"WARNING: {100 * share:.0f} % of the references' letters are not a to z: mode {mode} takes them for gaps, "
            "and words are cut or vanish; mode unicode reads them, mode characters Chinese and Japanese."
        )
    names, many = outcome.names, len(references)
    for texts, name in zip((references, *systems), ("the references", *names), strict=True):
        first: dict[str, int] = {}
        counts: Counter[str] = Counter()
        for item, text in enumerate(texts.items):
            for mark in {*LIKE_MARK.findall("\n".join(_strings([text])))}:
                first.setdefault(mark, item)
                counts[mark] += 1
        for mark, count in counts.most_common(1):
            if count >= OFTEN * many and (words := tokenize(mark, mode)):
                yield (
                    f"WARNING: {mark} stands in {count:,} of {many:,} texts of {name} (first: "
                    f"{texts.place(first[mark])}) and is scored as {' '.join(words)!r}; where it bounds sentences, "
                    "write <q> in its place"
                )
    yield from _warnings_of_repeats(systems, references, names) if many > 1 else ()
    if missing := int(outcome.scored[0].empty_references.sum()):
        first_empty = references.place(int(outcome.scored[0].empty_references.argmax()))
        yield (
            f"WARNING: {missing:,} of {many:,} items {'has' if missing == 1 else 'have'} an empty reference (first: "
            f"{first_empty}); they score 0 and stay in every mean, as in rouge-score and ROUGE-1.5.5; add the "
            "references, or remove the items"
        )
    for scored_system, texts in zip(outcome.scored, systems, strict=True):
        if missing := int(scored_system.empty.sum()):
            yield (
                f"WARNING: {missing:,} of {many:,} summaries {'has' if missing == 1 else 'have'} no word (first: "
                f"{texts.place(int(scored_system.empty.argmax()))}); they score 0 and stay in every mean"
            )
    if many == 1:
        yield "WARNING: one item says nothing of the spread over items: its intervals are none; take at least 2"
    if settings.resamples < FEW:
        level = f"{100 * settings.confidence:g} %"
        yield f"WARNING: {settings.resamples} resamples are too few for a {level} interval; take {FEW} at least"


def _warnings_of_repeats(systems: Sequence[Texts], references: Texts, names: Sequence[str]) -> Iterator[str]:
    many = len(references)
    ours = [[_joined(text) for text in system.texts] for system in systems]
    theirs = [frozenset(map(_joined, item)) for item in references.items]
    for texts, name in zip(ours, names, strict=True):
        same = all(text in targets for text, targets in zip(texts, theirs, strict=True))
        if same or (texts == ours[0] and texts is not ours[0]):
            yield (
                f"WARNING: {name} and {'the references' if same else names[0]} are the same texts in all {many:,} "
                "items; where one file holds both, name the column of each"
            )
    seen: dict[Any, int] = {}
    again = [item for item, key in enumerate(zip(*ours, theirs, strict=True)) if seen.setdefault(key, item) != item]
    if again and len(again) >= OFTEN * many:
        yield (
            f"WARNING: {len(again):,} of {many:,} items repeat an earlier one, texts and references alike (first: "
            f"{references.place(again[0])}), as in a table with a row an annotator: they count as independent, so that "
            "intervals and p are too small; keep one row of each"
        )


def _strings(texts: Any) -> Iterator[str]:
    for text in texts:
        yield from [text] if isinstance(text, str) else _strings(text)


def _joined(text: Text) -> str:
    return "\n".join(_strings([text])).strip()


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


def _warnings(references: Texts, systems: Sequence[Texts]) -> Iterator[str]:
    """Warnings of files: items that are joined by their order, and marks that are no pairs."""
    without = [str(file.path) for file in (references, *systems) if not file.named]
    if 0 < len(without) <= len(systems):
        yield (
            f"WARNING: no ids in {', '.join(without)}, but in another file: its items are taken in the order in which "
            "they stand; give them ids (`id`) where that may be another"
        )
    for file in (references, *systems):
        if file.unpaired is not None:
            yield (
                f"WARNING: {file.path}:{file.unpaired}: its marks <t> and </t> are no pairs; each is taken for the "
                "bound of a sentence; write both around every sentence"
            )


def _named(file: Texts, name: str = "") -> str:
    name = name or ", ".join(map(str, (file.path, *file.others)))
    return f"{name}, column {file.column!r}" if file.column else name


def _notes(metrics: Sequence[str], references: Texts, systems: Sequence[Texts], settings: Bootstrap) -> Iterator[str]:
    """Notes on joining of items, on intervals, and on sentence breaks that change rougeLsum."""
    joined = ", ".join(f"{_named(file)} by {file.id_column if file.by_id else 'order'}" for file in systems)
    yield f"References: {_named(references)}. Joined: {joined}."
    yield f"Brackets: {100 * settings.confidence:g} % (BCa, {settings.resamples} resamples, seed {settings.seed})."
    if "rougeLsum" not in metrics:
        return
    broken = {file.path: any(len(text) > 1 for item in file.items for text in item) for file in (*systems, references)}
    if not any(broken.values()):
        yield "note: no text has more than one sentence, so rougeLsum is one common subsequence, as rougeL"
    elif not all(broken.values()):
        whole = ", ".join(str(path) for path, several in broken.items() if not several)
        yield f"note: no text of {whole} has more than one sentence, while other files have; rougeLsum depends on it"

"""What came out of a study, in sentences; every number is a cell of its tables.

Sentences quote the study's first ranking metric and name the others, which the tables hold in full.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sumcurve.scores.scorer import Metric
from sumcurve.tables.answers import ALONE, BEHIND, BEST, LEVEL_WITH, NONE, SHARED
from sumcurve.tables.comparisons import NOT_SHOWN, SIZE
from sumcurve.tables.lines import sentences as against_lines
from sumcurve.tables.pairs import DECIDING, THESE_WEIGHTS
from sumcurve.tables.questions import sentences as answered
from sumcurve.tables.results import OPTIMUM, Results
from sumcurve.tables.systems import System
from sumcurve.tables.table import Row, Table, Value, listed, number, span

LISTED = 6  # methods that a sentence names; the table it comes from holds all


@dataclass(frozen=True)
class Finding:
    """What is to be said on one question about one corpus, a paragraph each; `table` is where the numbers stand."""

    corpus: str
    question: str
    paragraphs: tuple[str, ...]
    table: str

    @property
    def text(self) -> str:
        """All paragraphs in one."""
        return " ".join(self.paragraphs)


def findings(results: Results, tables: Mapping[str, Table]) -> list[Finding]:
    """Who is ahead and at which sizes, what is ahead of no training, what data buys, what reads and answers."""
    all_findings = []
    for corpus in results.corpora:
        ranking = [metric for metric in results.ranked(corpus) if results.design(corpus, metric.name) is not None]
        if not ranking:
            continue
        questions: Sequence[tuple[str, str, Iterator[str]]]
        if results.sizes(corpus):
            questions = (
                ("What the study asked", "questions", iter(answered(results, corpus))),
                ("Who is ahead", "answers", _ahead(results, tables["answers"], corpus, ranking)),
                ("Against no training", "comparisons", _untaught(results, tables["comparisons"], corpus, ranking)),
                (
                    "From how many records",
                    "lines",
                    (line.removeprefix(f"{corpus}, ") for line in against_lines(results, corpus)),
                ),
                ("What more data buys", "answers", _data(results, tables["answers"], corpus, ranking[0])),
                ("What does not read", "scores", _reading(results, corpus)),
                (
                    "What fills one frame",
                    "descriptions",
                    (
                        note.removeprefix(f"{corpus}: ")
                        for note in results.frame_notes
                        if note.startswith(f"{corpus}: ")
                    ),
                ),
                ("What last phases buy", "phases", _phases(tables["phases"], corpus, ranking[0])),
                ("What should be equal", "equivalence", _equivalence(tables["equivalence"], corpus)),
            )
        else:
            questions = (("Without training", "scores", _untrained(results, corpus, ranking[0])),)
        here = [Finding(corpus, question, tuple(sentences), table) for question, table, sentences in questions]
        for evidence in results.study.evidence.values():
            for after, finding in evidence.findings(results, tables, corpus):
                places = [place for place, before in enumerate(here, start=1) if before.question == after]
                here.insert(places[0] if places else len(here), finding)
        all_findings += [finding for finding in here if finding.paragraphs]
    return all_findings


def _ahead(results: Results, answers: Table, corpus: str, ranking: Sequence[Metric]) -> Iterator[str]:
    """Of the largest size, then of the smaller ones; metrics that say the same share a sentence."""
    sizes = results.sizes(corpus)
    largest = sizes[-1]
    for outcome, metrics in _alike(ranking, lambda metric: _outcome(_at(answers, corpus, metric, largest))).items():
        best, level = outcome.best, outcome.level
        rows = _at(answers, corpus, metrics[0], largest)
        titles = listed([metric.title for metric in metrics])
        if not best:
            yield f"With {number(largest)} records no method is shown to read its source: none is ranked in {titles}."
            continue
        score = spanned(rows[0]["score"], metrics[0].decimals)
        where = f"with {number(largest)} records, in {titles}"
        several = len(best) > 1
        leads = f"{listed(best)} {'share' if several else 'has'} the best mean"
        if outcome.equal:
            first = f"{listed(best)} have the same mean {where}: none is best."
        elif outcome.untested and not outcome.behind and not level:
            methods = "the methods" if several else "the method"
            first = f"{leads} {where}; with one seed that is said of {THESE_WEIGHTS}, not of {methods}."
        elif outcome.untested:
            clauses = [f"ahead of {listed(outcome.behind)}"] if outcome.behind else []
            clauses += [f"not told apart from {listed(level)}"] if level else []
            clauses += [f"not tested against {method} ({why})" for method, why in outcome.untested]
            first = f"{leads} {where}: {'; '.join(clauses)}."
        elif level:
            first = f"{leads} {where}, but {'are' if several else 'is'} not told apart from {listed(level)}."
        elif several:
            first = f"{leads} {where}."
        elif outcome.behind:
            first = f"{best[0]} is ahead of every other trained method {where}."
        else:
            first = f"{best[0]} is the only method that is ranked {where}."
        following = next((row for row in rows if row["place"] == BEHIND), None)
        behind = ""
        if following is not None:
            behind = f"; {following['method']} is {spanned(following['behind_best'], metrics[0].decimals)} behind"
        yield f"{first} {'Their' if several else 'Its'} {metrics[0].title} is {score} {metrics[0].unit}{behind}."
    readers = [system for system in results.of(corpus, True) if results.counts(system)]
    smaller = [size for size in sizes[:-1] if sum(system.records == size for system in readers) > 1]
    for (leads,), metrics in _alike(ranking, lambda metric: (_leads(results, corpus, metric, smaller),)).items():
        by_method: dict[str | None, list[int]] = {}
        for size, method in zip(smaller, leads, strict=True):
            by_method.setdefault(method, []).append(size)
        parts = [
            f"with {listed(list(map(number, records)))} "
            + (f"{method} is ahead of every other" if method else "none is shown to be ahead of all others")
            for method, records in by_method.items()
        ]
        if parts:
            yield f"At smaller sizes, in {listed([metric.title for metric in metrics])}: {'; '.join(parts)}."


def _equivalence(equivalence: Table, corpus: str) -> Iterator[str]:
    """Every two methods that should be equal, at every size."""
    here = [row for row in equivalence.rows if row["corpus"] == corpus]
    for method, other in dict.fromkeys((row["method"], row["other"]) for row in here):
        rows = [row for row in here if (row["method"], row["other"]) == (method, other)]
        parts = [
            f"with {number(row['records'])} records {row['says']} ({spanned(row['difference'], 2)})" for row in rows
        ]
        yield f"{method} and {other}, to within {number(rows[0]['margin'])} {rows[0]['metric']}: {'; '.join(parts)}."


def _at(answers: Table, corpus: str, metric: Metric, records: int, basis: str = "measured") -> list[Row]:
    """The rows of one size, the best method first."""
    key = corpus, metric.title, records, basis
    return [row for row in answers.rows if (row["corpus"], row["metric"], row["records"], row["basis"]) == key]


@dataclass(frozen=True)
class Outcome:
    """Of one size and metric: who is best or shares that, or whose means are equal; and the others, each method with
    why it is not tested where it is not."""

    best: tuple[str, ...]
    equal: bool = False
    behind: tuple[str, ...] = ()
    level: tuple[str, ...] = ()
    untested: tuple[tuple[str, str], ...] = ()


def _outcome(rows: Sequence[Row]) -> Outcome:
    """What the answers of one size say, others by name: metrics that rank them otherwise may share a sentence."""
    places = {f"{row['method']}": row["place"] for row in rows}
    best = tuple(method for method, place in places.items() if place in (BEST, ALONE, SHARED, NONE))
    if NONE in places.values():
        return Outcome(best, equal=True)
    others = sorted((method, place) for method, place in places.items() if method not in best)
    return Outcome(
        best,
        behind=tuple(method for method, place in others if place == BEHIND),
        level=tuple(method for method, place in others if place == LEVEL_WITH),
        untested=tuple((method, place) for method, place in others if place not in (BEHIND, LEVEL_WITH)),
    )


def _leads(results: Results, corpus: str, metric: Metric, sizes: Sequence[int]) -> tuple[str | None, ...]:
    """At every size the method that is ahead of every other."""
    leading = [results.ahead(corpus, metric.name, size) for size in sizes]
    return tuple(None if cell is None else results.marked(corpus, cell).shown for cell in leading)


def _untaught(results: Results, comparisons: Table, corpus: str, ranking: Sequence[Metric]) -> Iterator[str]:
    """By metric every method at its largest size against the best system that is not trained and sees no reference."""
    each = (_against_best_blind(results, comparisons, corpus, metric) for metric in ranking)
    sentences = [sentence for sentence in each if sentence]
    if sentences:
        yield from (
            *sentences,
            f"In parentheses the method minus what learns nothing. Brackets: {DECIDING} Who is not tested has a "
            "pointwise interval (table comparisons).",
        )


def _against_best_blind(results: Results, comparisons: Table, corpus: str, metric: Metric) -> str:
    """Of one metric; empty where nothing is compared."""
    blind = results.best_blind(corpus, metric.name)
    if blind is None:
        return ""
    rows = [
        row
        for row in comparisons.rows
        if (row["corpus"], row["metric"], row["question"], row["second"])
        == (corpus, metric.title, SIZE, results.marked(corpus, blind))
        and row["first_records"] is not None
    ]
    methods: dict[str, list[str]] = {"ahead": [], "behind": [], "open": [], "weights": [], "untested": []}
    better = results.sign(metric.name)
    for row in sorted(rows, key=lambda row: -better * row["difference"].number):
        why = str(row["ahead"])
        untested = "weights" if why.endswith(THESE_WEIGHTS) else "open" if why == NOT_SHOWN else "untested"
        ahead = {row["first"]: "ahead", row["second"]: "behind"}.get(why, untested)
        methods[ahead].append(f"{row['first']} ({spanned(row['difference'], metric.decimals)})")
    score = number(results.estimate(corpus, metric.name, blind).mean, metric.decimals)
    parts = {
        "ahead": "ahead of it",
        "behind": "behind it",
        "open": "not shown to differ",
        "weights": f"with one seed, said of {THESE_WEIGHTS} alone",
        "untested": "not tested (the table says why)",
    }
    clauses = [f"{parts[how]}: {listed(names[:LISTED])}{more(names)}" for how, names in methods.items() if names]
    if not clauses:
        return ""
    return (
        f"{metric.title}: {blind[0]}, which learns nothing, has {score} {metric.unit}. {_capital('; '.join(clauses))}."
    )


def _data(results: Results, answers: Table, corpus: str, metric: Metric) -> Iterator[str]:
    """Points for a doubling, the records with which the best method is as good as another, and what fits expect."""
    largest = results.sizes(corpus)[-1]
    rows = _at(answers, corpus, metric, largest)
    gains = [row for row in rows if row["per_doubling"].number is not None]
    if gains:
        figures = [f"{row['method']} {spanned(row['per_doubling'], metric.decimals)}" for row in gains]
        yield (
            f"Twice the records bring, over the sizes at which a method reads, {metric.unit} of {metric.title}: "
            f"{listed(figures[:LISTED])}{more(figures)}."
        )
    for row in [row for row in rows if row["place"] == BEHIND and row.get("records_needed")][:2]:
        needed, ratio = row["records_needed"], row["ratio"]
        share = spanned(Value(ratio.number, ratio.low, ratio.high), 2)
        few = "at most " if needed.sign else ""
        yield (
            f"{rows[0]['method']} needs {few}{number(int(needed.number))} records for what {row['method']} reaches "
            f"with {number(largest)} ({share} of them)."
        )
    fitted = _at(answers, corpus, metric, 2 * largest, "fit")
    if fitted:
        figures = [f"{row['method']} {spanned(row['score'], metric.decimals)}" for row in fitted]
        yield (
            f"The fitted curves expect with {number(2 * largest)} records, which nobody measured: "
            f"{listed(figures[:LISTED])}{more(figures)}."
        )


def _reading(results: Results, corpus: str) -> Iterator[str]:
    """Which methods do not depend on their source, and at which sizes."""
    tested, all_read = False, True
    for metric in (gate for gate in results.metrics if gate.threshold is not None):
        here = [system for system in results.of(corpus, True, metric.name) if metric in results.gates(system)]
        here = [system for system in here if results.reads(system) is not None]
        by_method: dict[str, list[System]] = {}
        for system in here:
            by_method.setdefault(system.method, []).append(system)
        sometimes = []
        for method, systems in by_method.items():
            blind = [system for system in systems if results.reads(system) is False]
            if not blind:
                continue
            if results.reads(systems[-1]) is False:
                estimate = results.estimate(corpus, metric.name, systems[-1].cell)
                score = span(estimate.mean, estimate.low, estimate.high, metric.decimals)
                where = "at any size" if len(blind) == len(systems) else f"with {listed(_records(blind))} records"
                yield (
                    f"{method} is not shown to read its source {where}: its {metric.title.lower()} is {score} "
                    f"{metric.unit} with {number(systems[-1].records)} records."
                )
            else:
                sometimes.append(f"{method} with {listed(_records(blind))} records")
        if sometimes:
            yield f"Not shown to read at smaller sizes only: {listed(sometimes)}."
        tested = tested or bool(here)
        if any(results.reads(system) is False for system in here):
            all_read = False
            at_least = number(metric.threshold, metric.decimals)
            yield (
                f"To read, the interval has to lie above {at_least} {metric.unit}; what does not is marked † and "
                "takes no part in rankings."
            )
    if tested and all_read:
        yield "Every method reads its source at every size."


def _records(systems: Iterable[System]) -> list[str]:
    return [number(system.records) for system in systems]


def _phases(phases: Table, corpus: str, metric: Metric) -> Iterator[str]:
    """What a last phase's own loss buys, against a control, of methods that have one."""
    title = f"{metric.title} ({metric.unit})"
    rows = [row for row in phases.rows if (row["corpus"], row["metric"]) == (corpus, title)]
    figures = [
        f"{row['phase']} of {row['method']} {spanned(row['after_minus_control'], metric.decimals)} ({row['worth']})"
        for row in rows
        if "after_minus_control" in row
    ]
    if figures:
        yield (
            f"A last phase, minus a control that had the same budget of updates without it, in {metric.unit} of "
            f"{metric.title}: "
            f"{listed(figures[:LISTED])}{more(figures)}."
        )


def _untrained(results: Results, corpus: str, metric: Metric) -> Iterator[str]:
    """Scores of systems that learn nothing, and of the optimum, where no method is trained."""
    systems = [system.cell for system in results.of(corpus, False, metric.name)]
    if results.optimum(corpus, metric.name) is not None:
        systems.append((OPTIMUM, None))
    figures = []
    for cell in systems:
        estimate = results.estimate(corpus, metric.name, cell)
        name = results.optimum_words.of_every if cell[0] == OPTIMUM else cell[0]
        figures.append(f"{name} {span(estimate.mean, estimate.low, estimate.high, metric.decimals)}")
    yield f"No method is trained on {corpus}. {metric.title}, in {metric.unit}: {listed(figures)}."


def _alike(metrics: Sequence[Metric], outcome: Any) -> dict[Any, list[Metric]]:
    """The metrics of every outcome, in their order."""
    groups: dict[Any, list[Metric]] = {}
    for metric in metrics:
        groups.setdefault(outcome(metric), []).append(metric)
    return groups


def spanned(value: Value, decimals: int) -> str:
    return span(value.number, value.low, value.high, decimals)


def more(names: Sequence[str]) -> str:
    return f" and {len(names) - LISTED} more" if len(names) > LISTED else ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

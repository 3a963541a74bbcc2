"""Facts of a study, read from the CSVs of its tables, so that anyone can work them out again from what is recorded.

A fact is one outcome of one question: who it is about, at which sizes, how it ended, and the effect with the interval
of the test that decides. `tables.report.findings` puts facts into sentences.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Literal

from sumcurve.tables.answers import ALONE, BEHIND, BEST, LEVEL_WITH, NONE, SHARED
from sumcurve.tables.comparisons import NOT_SHOWN, SIZE
from sumcurve.tables.evidence import BLIND
from sumcurve.tables.questions import YES
from sumcurve.tables.table import Table

Record = Mapping[str, str]  # a row of a CSV
Records = Mapping[str, Sequence[Record]]  # of every table of a study, by its name
Outcome = Literal["better", "worse", "no significant difference", "single run", "not tested", "alone", "measured"]
NAMES = ("method", "first", "second", "other")  # columns that name systems
SINGLE = re.compile("one seed|single run")  # tables had the first until version 4
MARKS = re.compile("[†¶]+$")  # of a name, in tables that were recorded before marks had columns


def learned(row: Record) -> bool:
    """Whether a row is of a training: neither of what learns nothing nor of a model without any record."""
    return row["records"] not in ("", "0")


@dataclass(frozen=True)
class Effect:
    """A number with its interval, where there is one."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Fact:
    """One outcome of `question`: of `methods` at sizes `records`, beside `against`, where it compares."""

    question: str
    corpus: str
    metric: str
    methods: tuple[str, ...]
    outcome: Outcome
    records: tuple[int, ...] = ()
    against: tuple[str, ...] = ()
    effect: Effect | None = None
    note: str = ""
    single: tuple[str, ...] = ()  # methods with one run, which no test compares
    next_single: Effect | None = None  # the lead over the first of them, where it has the next best mean


def read_tables(folder: Path) -> dict[str, list[Record]]:
    """The rows of every CSV in a folder of tables, by table."""
    return {path.stem: _rows(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.csv"))}


def rows_of(tables: Mapping[str, Table]) -> dict[str, list[Record]]:
    """The same of tables that are not written yet."""
    return {name: _rows(table.csv()) for name, table in tables.items() if table.rows}


def _rows(text: str) -> list[Record]:
    rows: list[Record] = []
    for row in csv.DictReader(io.StringIO(text)):
        for name in NAMES:
            if marks := MARKS.search(row.get(name) or ""):
                row[name] = row[name][: marks.start()]
                if name == "method":
                    row.setdefault("reads_source", "no" if "†" in marks[0] else "yes")
        if "ahead" in row:
            row["ahead"] = MARKS.sub("", row["ahead"])
        rows.append(row)
    return rows


@dataclass(frozen=True)
class Corpus:
    """The tables' rows of one corpus, and the metric that its sentences quote: the first that ranks methods.

    `chosen` is a column of table scores to be shown in place of that metric's.
    """

    name: str
    tables: Records
    chosen: str = ""

    def rows(self, table: str, **cells: str) -> list[Record]:
        """The rows of this corpus whose cells are these."""
        return [
            row
            for row in self.tables.get(table, ())
            if row.get("corpus") == self.name and all(row.get(name, "") == cell for name, cell in cells.items())
        ]

    @property
    def metrics(self) -> list[str]:
        """Titles of the metrics that rank methods."""
        return list(dict.fromkeys(row["metric"] for row in self.rows("answers")))

    @property
    def metric(self) -> str:
        return self.metrics[0] if self.metrics else ""

    @property
    def prompted(self) -> set[str]:
        """Systems that answer prompts (table prompts): what other rows have as records are their examples."""
        return {row["method"] for row in self.rows("prompts")}

    @property
    def trainings(self) -> list[Record]:
        """The rows of table scores that a training made."""
        prompted = self.prompted
        return [row for row in self.rows("scores") if learned(row) and row["method"] not in prompted]

    @property
    def sizes(self) -> list[int]:
        return sorted({int(row["records"]) for row in self.rows("scores") if learned(row)})

    def at(self, metric: str, size: int) -> list[Record]:
        """What table answers says of a measured size, the best method first."""
        return self.rows("answers", metric=metric, records=str(size), basis="measured")

    @property
    def blind(self) -> tuple[str, float] | None:
        """The best system that is not trained and sees no reference, with its score."""
        name = self.column
        scored = [row for row in self.rows("scores") if row["role"] in BLIND and not learned(row) and row.get(name)]
        best = max(scored, key=lambda row: float(row[name]), default=None)
        return None if best is None else (best["method"], float(best[name]))

    @property
    def column(self) -> str:
        """The column of table scores that has the metric of `metric`, or the first metric."""
        if self.chosen:
            return self.chosen
        columns = list(self.rows("scores")[0])
        first = columns[columns.index("seeds") + 1]
        known = {
            (row["method"], row["records"]): row["score"] for row in self.at(self.metric, max(self.sizes, default=0))
        }
        scores = [row for row in self.rows("scores") if (row["method"], row["records"]) in known]
        return next(
            (
                name
                for name in columns
                if scores and all(row[name] == known[row["method"], row["records"]] for row in scores)
            ),
            first,
        )


def effect(row: Record, column: str, sign: int = 1) -> Effect | None:
    """The number of a column, with the interval beside it; of the other sign where it is turned round."""
    if not row.get(column):
        return None
    ends = [row.get(f"{column}_{end}") or None for end in ("low", "high")]
    low, high = (None if end is None else sign * float(end) for end in ends)
    return Effect(sign * float(row[column]), *((high, low) if sign < 0 else (low, high)))


def best(corpus: Corpus) -> Iterator[Fact]:
    """Of every metric and size with two methods or more: who is best, and whether all others are significantly worse.

    `against` are the methods that the outcome is about, the effect is the lead over the nearest of them, where one
    leads. All are in the order of their means. Where the others ignore their source, the one that is ranked, or none,
    is "alone".
    """
    for metric in corpus.metrics:
        for size in corpus.sizes:
            rows = corpus.at(metric, size)
            trained = corpus.rows("scores", records=str(size))
            if len(trained) > 1 and len(rows) < 2 and len(trained) == len(rows) + sum(map(_ignores, trained)):
                alone = tuple(row["method"] for row in rows)
                yield Fact("best", corpus.name, metric, alone, "alone", (size,))
                continue
            leaders = tuple(row["method"] for row in rows if row["place"] in (BEST, SHARED, NONE))
            others = [row for row in rows if row["method"] not in leaders and row["place"] != ALONE]
            if not leaders or len(rows) < 2:
                continue
            behind = [row for row in others if row["place"] == BEHIND]
            level = [row for row in others if row["place"] == LEVEL_WITH]
            single = [row for row in others if row not in behind and row not in level]
            outcome: Outcome = "better" if behind and not level else "no significant difference"
            if (not behind and not level and single) or len(leaders) > 1:
                outcome = "single run" if single else "no significant difference"
            yield Fact(
                "best",
                corpus.name,
                metric,
                leaders,
                outcome,
                (size,),
                tuple(row["method"] for row in (behind if outcome == "better" else level)),
                _lead(behind if outcome == "better" or not level else level, leaders),
                single=tuple(row["method"] for row in single),
                next_single=effect(others[0], "behind_best") if single and others[0] is single[0] else None,
            )


def _lead(against: Sequence[Record], leaders: Sequence[str]) -> Effect | None:
    return effect(against[0], "behind_best") if against and len(leaders) == 1 else None


def _ignores(row: Record) -> bool:
    return row.get("reads_source") == "no"


def _ahead(row: Record) -> Outcome:
    """How a test of two systems ended, for the first."""
    outcomes: dict[str, Outcome] = {row["first"]: "better", row["second"]: "worse"}
    outcomes[NOT_SHOWN] = "no significant difference"
    return outcomes.get(row["ahead"], "single run" if SINGLE.search(row["ahead"]) else "not tested")


def baseline(corpus: Corpus) -> Iterator[Fact]:
    """Every method at its largest size, of every metric, against the best untrained baseline by the first metric."""
    blind = corpus.blind
    if blind is None or not corpus.sizes:
        return
    for row in corpus.rows("comparisons", question=SIZE, second=blind[0], second_records=""):
        if row["first_records"] != str(corpus.sizes[-1]):
            continue
        yield Fact(
            "baseline",
            corpus.name,
            row["metric"],
            (row["first"],),
            _ahead(row),
            (corpus.sizes[-1],),
            (blind[0],),
            effect(row, "difference"),
        )


def doubling(corpus: Corpus) -> Iterator[Fact]:
    """What twice the records add: where a study asks, from each size on, else over the sizes of a method."""
    questions = [row for row in corpus.rows("questions", metric=corpus.metric) if "worth it" in row["unit"]]
    for row in questions:
        worth = row["unit"].partition("worth it: ")[2]
        outcome: Outcome = "better" if row["answer"] == YES else "no significant difference"
        yield Fact(
            "doubling",
            corpus.name,
            corpus.metric,
            (row["method"],),
            outcome,
            (int(row["records"]),),
            effect=effect(row, "value"),
            note=worth,
        )
    if not questions:
        size = max(corpus.sizes, default=0)
        for row in corpus.at(corpus.metric, size):
            if (gain := effect(row, "per_doubling")) is not None:
                known = corpus.rows("answers", metric=corpus.metric, method=row["method"], basis="measured")
                sizes = (min(int(here["records"]) for here in known), size)
                yield Fact("doubling", corpus.name, corpus.metric, (row["method"],), "measured", sizes, effect=gain)


def needed(corpus: Corpus) -> Iterator[Fact]:
    """Records that the best method needs for what another has with all of them."""
    size = max(corpus.sizes, default=0)
    rows = corpus.at(corpus.metric, size)
    for row in rows:
        if row["place"] == BEHIND and row["records_needed"]:
            share = effect(row, "ratio")
            yield Fact(
                "needed",
                corpus.name,
                corpus.metric,
                (rows[0]["method"],),
                "measured",
                (int(float(row["records_needed"])), size),
                (row["method"],),
                share,
                row["bound"],
            )


def source(corpus: Corpus) -> Iterator[Fact]:
    """Methods that are not shown to use their source, with the sizes and the gap at the largest of them."""
    trained = [row for row in corpus.rows("scores") if learned(row)]
    for method in dict.fromkeys(row["method"] for row in trained):
        rows = [row for row in trained if row["method"] == method]
        blind = [row for row in rows if _ignores(row)]
        if blind:
            sizes = tuple(int(row["records"]) for row in blind)
            everywhere = "every size" if len(blind) == len(rows) else ""
            gap = effect(blind[-1], "gap")
            yield Fact("source", corpus.name, "reading gap", (method,), "measured", sizes, effect=gap, note=everywhere)


def template(corpus: Corpus) -> Iterator[Fact]:
    """Methods that write most of their summaries by one sentence template; `note` has the references' share."""
    rows = corpus.rows("descriptions")
    references = next((row.get("commonest_frame", "") for row in rows if row["method"] == "references"), "")
    for row in rows:
        if row.get("one_frame") == "yes" and learned(row):
            share = effect(row, "commonest_frame")
            sizes = (int(row["records"]),)
            yield Fact("template", corpus.name, "share", (row["method"],), "measured", sizes, (), share, references)


def beyond(corpus: Corpus) -> Iterator[Fact]:
    """Verdicts beyond the data: who is expected to stay ahead of whom, up to how many records.

    `note` names the ranked methods without a fitted curve.
    """
    rows = corpus.rows("verdicts", metric=corpus.metric)
    fitted = {row[name] for row in rows for name in ("first", "second")}
    ranked = [row["method"] for row in corpus.at(corpus.metric, max(corpus.sizes, default=0))]
    unknown = " ".join(name for name in ranked if name not in fitted)
    for row in rows:
        decided = row["verdict"] == "ahead throughout"
        sizes = (int(row["at_records"]), int(row["up_to_records"])) if row["up_to_records"] else ()
        probability = Effect(float(row["probability"])) if row["probability"] else None
        outcome: Outcome = "better" if decided else "no significant difference"
        pair = ((row["first"],), outcome, sizes, (row["second"],))
        yield Fact("beyond", corpus.name, corpus.metric, *pair, probability, unknown)


def own_searches(corpus: Corpus) -> Iterator[Fact]:
    """Every two methods, each by its paper's search, by the first metric."""
    for row in corpus.rows("own_searches", metric=corpus.metric):
        yield Fact(
            "own searches",
            corpus.name,
            corpus.metric,
            (row["first"],),
            _ahead(row),
            (int(row["first_records"]),),
            (row["second"],),
            effect(row, "difference"),
        )


def phases(corpus: Corpus) -> Iterator[Fact]:
    """What the last phase of a method buys, against a control that had the same updates without it."""
    for row in corpus.rows("phases"):
        if row["metric"].partition(" (")[0] == corpus.metric and row["after_minus_control"]:
            single = SINGLE.search(row["worth"])
            outcomes: dict[str, Outcome] = {"better": "better", "worse": "worse"}
            outcome = outcomes.get(row["worth"], "single run" if single else "no significant difference")
            about = ("phases", corpus.name, corpus.metric, (row["method"],), outcome)
            yield Fact(*about, effect=effect(row, "after_minus_control"), note=row["phase"])


def equivalence(corpus: Corpus) -> Iterator[Fact]:
    """Methods that should be equal; `note` has the margin and what the interval says of it."""
    for row in corpus.rows("equivalence"):
        note = f"{float(row['margin']):g}, {row['says']}"
        change = effect(row, "difference")
        pair = (row["method"], row["other"])
        yield Fact(
            "equivalence",
            corpus.name,
            row["metric"],
            pair,
            "measured",
            (int(row["records"]),),
            effect=change,
            note=note,
        )


def untrained(corpus: Corpus) -> Iterator[Fact]:
    """The best untrained baseline of a corpus on which nothing is trained."""
    if corpus.sizes or corpus.blind is None:
        return
    name, _ = corpus.blind
    row = corpus.rows("scores", method=name)[0]
    titles = {row["metric"]: row["title"] for row in corpus.rows("scores_long")}
    metric = titles.get(corpus.column, corpus.column)
    yield Fact("untrained", corpus.name, metric, (name,), "measured", effect=effect(row, corpus.column))


def identical(corpus: Corpus) -> Iterator[tuple[str, ...]]:
    """Methods whose scores at the largest size are the same in every metric, as of models that differ in search."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for row in corpus.rows("scores", records=str(max(corpus.sizes, default=0))):
        scores = tuple(row[name] for name in row if f"{name}_low" in row)
        groups.setdefault(scores, []).append(row["method"])
    yield from (tuple(group) for group in groups.values() if len(group) > 1)


def detectable(corpus: Corpus) -> float | None:
    """The difference at the largest size that tests of two methods find with a power of 80 %, the median."""
    size = str(max(corpus.sizes, default=0))
    rows = corpus.rows("comparisons", question=SIZE, metric=corpus.metric, first_records=size, second_records=size)
    seen = [float(row["seen"]) for row in rows if row.get("seen")]
    return median(seen) if seen else None


def detectable_with_fewer(corpus: Corpus) -> float | None:
    """The same at the size below the largest at which tests see least, against the method with the best mean."""
    medians = []
    for size in corpus.sizes[:-1]:
        seen = [float(row["seen"]) for row in corpus.at(corpus.metric, size) if row.get("seen")]
        medians += [median(seen)] if seen else []
    return max(medians, default=None)

"""Rows of a study's tables, with numbers as numbers: of new tables, or of recorded CSVs.

`tables.report.findings` puts them into sentences.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from sumcurve.store.records import read_csv
from sumcurve.tables.comparisons import SIZE
from sumcurve.tables.evidence import BLIND
from sumcurve.tables.ranking import Ranking, recorded
from sumcurve.tables.results import UNREAD
from sumcurve.tables.scores_long import DESCRIBES, MEASURES_SOURCE, OF_SYSTEMS
from sumcurve.tables.table import Table

Record = Mapping[str, Any]  # a row of a table by columns; None where a cell is empty
Records = Mapping[str, Sequence[Record]]  # of every table of a study, by its name
TEXTS = ("corpus", "method", "first", "second")  # columns that are no numbers, whatever their cells are
WHOLE, DECIMAL = re.compile(r"-?\d+"), re.compile(r"-?\d+\.\d{4,}")  # as tables write numbers; "35.1" is as printed
OF_METRICS = (DESCRIBES, MEASURES_SOURCE)  # reasons of metrics by which nobody is to be ranked


def rows_of(tables: Mapping[str, Table]) -> dict[str, list[Record]]:
    """The rows of tables, by table; of those that have any."""
    return {
        name: [{column: _cell(value) for column, value in row.items()} for row in table.frame().to_dict("records")]
        for name, table in tables.items()
        if table.rows
    }


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return str(value) or None  # without a name's marks
    return None if pd.isna(value) else value


def read_tables(folder: Path) -> dict[str, list[Record]]:
    """The rows of every CSV in a folder of tables; numbers have the decimals that it has."""
    return {path.stem: _typed(read_csv(path)) for path in sorted(folder.glob("*.csv"))}


def _typed(rows: Sequence[Mapping[str, str]]) -> list[Record]:
    kinds: dict[str, type] = {}
    for name in rows[0] if rows else ():
        cells = [row[name] for row in rows if row[name]]
        matching = (kind for form, kind in ((WHOLE, int), (DECIMAL, float)) if all(map(form.fullmatch, cells)))
        kinds[name] = str if name in TEXTS else next(matching, str)
    return [{name: kinds[name](cell) if cell else None for name, cell in row.items()} for row in rows]


def learned(row: Record) -> bool:
    """Tell whether a row is of a training: neither of an untrained system nor of a model without any record."""
    return bool(row["records"])


@dataclass(frozen=True)
class Corpus:
    """The tables' rows of one corpus, and the metric that its sentences quote: the first that ranks methods.

    `chosen` is a column of table scores to be shown in place of that metric's.
    """

    name: str
    tables: Records
    chosen: str = ""

    def rows(self, table: str, **cells: Any) -> list[Record]:
        """The rows of this corpus whose cells are these; None is an empty cell."""
        return [
            row
            for row in self.tables.get(table, ())
            if row.get("corpus") == self.name and all(row.get(name) == cell for name, cell in cells.items())
        ]

    @cached_property
    def metrics(self) -> list[str]:
        """Titles of the metrics that rank methods."""
        return list(dict.fromkeys(row["metric"] for row in self.rows("answers")))

    @property
    def metric(self) -> str:
        return self.metrics[0] if self.metrics else ""

    @cached_property
    def unread(self) -> str:
        """The reason for which no metric ranks a method (‡), as table scores_long has it; empty where there is none."""
        reasons = {row.get("why") or "" for row in self.rows("scores_long", metric=self.column)}
        return reasons.pop() if not self.metrics and len(reasons) == 1 and not reasons <= OF_SYSTEMS else ""

    @property
    def shown(self) -> str:
        """Title of the metric that is shown: the first that ranks, or where none may, the first that would, with ‡."""
        if self.metric and not self.chosen:
            return self.metric
        rows = self.rows("scores_long", metric=self.column)
        return rows[0]["title"] + (UNREAD if self.unread else "") if rows else "score"

    @property
    def prompted(self) -> set[str]:
        """Systems that answer prompts (table prompts): the records of their rows are examples in the prompt."""
        return {row["method"] for row in self.rows("prompts")}

    @cached_property
    def trainings(self) -> list[Record]:
        """The rows of table scores that a training made."""
        prompted = self.prompted
        return [row for row in self.rows("scores") if learned(row) and row["method"] not in prompted]

    @cached_property
    def sizes(self) -> list[int]:
        return sorted({row["records"] for row in self.rows("scores") if learned(row)})

    @property
    def largest(self) -> int:
        return max(self.sizes, default=0)

    def at(self, metric: str, size: int) -> list[Record]:
        """The rows of table answers of a measured size, the best method first."""
        return self.rows("answers", metric=metric, records=size, basis="measured")

    def rankings(self, metric: str) -> dict[int, Ranking]:
        """The ranking at every size with two methods, also where all but one of them ignore their source."""
        rankings = {}
        for size in self.sizes:
            ranking = recorded(self.at(metric, size))
            trained = self.rows("scores", records=size)
            ranked_or_not = len(ranking.standings) + sum(map(ignores_source, trained))
            if len(ranking.standings) > 1 or (len(trained) > 1 and len(trained) == ranked_or_not):
                rankings[size] = ranking
        return rankings

    @property
    def ignoring(self) -> list[Record]:
        """The rows of table scores of trainings without significant source sensitivity."""
        return [row for row in self.rows("scores") if learned(row) and ignores_source(row)]

    @property
    def blind(self) -> tuple[str, float] | None:
        """The best untrained baseline, which sees no reference, with its score."""
        name = self.column
        rows = [row for row in self.rows("scores") if row["role"] in BLIND and not learned(row)]
        best = max((row for row in rows if row.get(name) is not None), key=lambda row: float(row[name]), default=None)
        return None if best is None else (best["method"], best[name])

    @cached_property
    def column(self) -> str:
        """The column of table scores that has the metric of `metric`, or the first that would rank."""
        if self.chosen:
            return self.chosen
        columns = list(self.rows("scores")[0])
        names = {row["title"]: row["metric"] for row in self.rows("scores_long")}
        first = next((row["metric"] for row in self.rows("scores_long") if row.get("why") not in OF_METRICS), "")
        return str(names.get(self.metric) or first or columns[columns.index("seeds") + 1])


def corpora_of(tables: Records) -> list[Corpus]:
    """The corpora of a study, those with most sizes first."""
    names = dict.fromkeys(row["corpus"] for row in tables.get("scores", ()))
    return sorted((Corpus(name, tables) for name in names), key=lambda corpus: -len(corpus.sizes))


def ignores_source(row: Record) -> bool:
    return row.get("reads_source") == "no"


def identical(corpus: Corpus) -> list[list[str]]:
    """Methods whose scores at the largest size are the same in every metric, as of models that differ in search."""
    groups: dict[tuple[float, ...], list[str]] = {}
    for row in corpus.rows("scores", records=corpus.largest):
        scores = tuple(row[name] for name in row if f"{name}_low" in row)
        groups.setdefault(scores, []).append(row["method"])
    return [group for group in groups.values() if len(group) > 1]


def detectable(corpus: Corpus) -> Sequence[float]:
    """Minimum detectable effects of pairs of ranked methods at the largest size (80 % power), the least first."""
    size, ranked = corpus.largest, {row["method"] for row in corpus.at(corpus.metric, corpus.largest)}
    rows = corpus.rows("comparisons", question=SIZE, metric=corpus.metric, first_records=size, second_records=size)
    rows = [row for row in rows if {row["first"], row["second"]} <= ranked]
    return sorted(row["seen"] for row in rows if row.get("seen") is not None)

"""Published tables of efficiency, checked against the results that they were computed from.

A *published* file has one row per corpus, method and `interval` ("12": from split 1 to split 2) and columns named as in
`results_file.EfficiencyRow.values`. That of Čano and Bojar (2020) is shipped.
"""

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from sumcurve.curves.efficiency import Undefined
from sumcurve.curves.errors import ResultsError
from sumcurve.curves.results_file import (
    EfficiencyRow,
    Line,
    Results,
    Training,
    efficiency_rows,
    last_digit,
    quotients,
    read_lines,
    shipped,
)

TABLES = {"cano-bojar-2020": "cano_bojar_2020_tables3_4.csv"}  # shipped
INTERVAL = re.compile(r"([1-9])([1-9])|([1-9]\d*)-([1-9]\d*)", re.ASCII)


@dataclass(frozen=True)
class Published:
    """One row of a published file; `cells` holds the columns that are not empty, as printed."""

    corpus: str
    method: str
    interval: str  # as written in the file
    splits: tuple[int, int]
    cells: dict[str, Decimal]


@dataclass(frozen=True)
class Cell:
    """A published cell beside its computed value, which is None where nothing can be computed."""

    corpus: str
    method: str
    interval: str
    column: str
    published: Decimal
    computed: float | None
    note: str

    def as_dict(self) -> dict[str, str | float | None]:
        return {
            "corpus": self.corpus,
            "method": self.method,
            "interval": self.interval,
            "column": self.column,
            "published": float(self.published),
            "computed": self.computed,
        }


@dataclass(frozen=True)
class Comparison:
    """Every published cell either follows or is among `mismatches`.

    `coarse` holds cells that follow at their own digits, though not at those of their column's longest number.
    `unpublished` holds rows that the published file does not have, whole curves apart.
    """

    cells: int
    mismatches: list[Cell]
    coarse: list[Cell]
    unpublished: list[EfficiencyRow]


def published_file(name: str) -> Path:
    """The published file at that path, or the shipped one of that name; ResultsError without either."""
    return shipped(name, TABLES)


def read_published(path: Path, scores: Sequence[str]) -> list[Published]:
    """Read a published file; its columns must be among those that `scores` have. ResultsError as `read_results`."""
    header, lines = read_lines(path)
    keys = ("corpus", "method", "interval")
    for key in keys:
        if key not in header:
            remedy = "this looks like a results file, which comes first" if "split" in header else "add it"
            raise ResultsError(f"{path}: no column {key}, which every published table needs: {remedy}")
    known = [column.name for column in quotients(scores)]
    columns = [name for name in header if name not in keys]
    for name in columns:
        if name not in known:
            raise ResultsError(
                f"{path}: column {name} cannot be compared: rename or remove it; with the scores {', '.join(scores)} "
                f"the columns are {', '.join(known)}"
            )
    if not columns:
        raise ResultsError(f"{path}: no column to compare: add some of {', '.join(known)}")
    rows: dict[tuple[str, str, tuple[int, int]], Published] = {}
    for line in lines:
        row = Published(
            corpus=line.text("corpus"),
            method=line.text("method"),
            interval=line.text("interval"),
            splits=_splits(line),
            cells={name: line.number(name, "write a plain number") for name in columns if line.cells[name]},
        )
        place = (row.corpus, row.method, row.splits)
        if place in rows:
            raise line.error("interval", f"an earlier row of {row.corpus} {row.method} has it; keep one of them")
        rows[place] = row
    return list(rows.values())


def compare(results: Results, published: Sequence[Published], by_column: bool = False) -> Comparison:
    """Which published cells do not follow from the results.

    A cell with k decimals follows if it is the computed value rounded to k decimals, where half a unit may go either
    way. With `by_column`, k is the most decimals of the column, which is right only if zeros at the end were lost: a
    table may print some of its cells with fewer digits. A cell without computed value does not follow.

    A mismatch's note says what would explain it: digits cut off, scores and seconds that had more digits than the
    results show (`bounds`), or an ε that comes from the printed σ and θ; else "slip".
    """
    computed = {(row.corpus, row.method, row.first.split, row.second.split): row for row in efficiency_rows(results)}
    if not any((row.corpus, row.method, *row.splits) in computed for row in published):
        raise ResultsError(
            "no row of the published table is among the results' rows: compare names of corpora, methods, intervals"
        )
    units: dict[str, Decimal] = {}
    for printed in published:
        for column, number in printed.cells.items():
            units[column] = min(units.get(column, last_digit(number)), last_digit(number))
    mismatches: list[Cell] = []
    coarse: list[Cell] = []
    for printed in published:
        row = computed.pop((printed.corpus, printed.method, *printed.splits), None)
        for column, number in printed.cells.items():
            value = row.values[column] if row else None
            unit = units[column] if by_column else last_digit(number)
            if row is None:
                note = "no such row in the results"
            elif value is None:
                note = row.reasons[column]
            elif not _rounds_to(value, number, unit):
                note = _explanation(row, printed, column, unit, results)
            elif not _rounds_to(value, number, units[column]):
                note = f"at the column's digits {value:.{_decimals(units[column])}f}"
            else:
                continue
            cell = Cell(printed.corpus, printed.method, printed.interval, column, number, value, note)
            (coarse if value is not None and _rounds_to(value, number, unit) else mismatches).append(cell)
    unpublished = [row for row in computed.values() if row.place != "whole"]
    return Comparison(sum(len(row.cells) for row in published), mismatches, coarse, unpublished)


def bounds(row: EfficiencyRow, column: str, results: Results) -> tuple[float, float] | None:
    """The least and the greatest value of a column that scores and seconds before rounding may have given.

    Each quotient is monotone in each of the two scores and costs as long as its sign and its denominator's hold, so
    its extremes lie where all four are at an end of their rounding. None where it is undefined at one of these.
    """
    (quotient,) = (quotient for quotient in quotients(results.scores) if quotient.name == column)
    slack = results.rounding[quotient.score] if quotient.score else 0.0
    wait = results.rounding[results.seconds] if results.seconds else 0.0
    ends = [
        [_shifted(training, more, longer) for more in (-slack, slack) for longer in (-wait, wait)]
        for training in (row.first, row.second)
    ]
    try:
        values = [quotient.of(first, second) for first, second in itertools.product(*ends)]
    except Undefined:
        return None
    return min(values), max(values)


def _shifted(training: Training, more: float, longer: float) -> Training:
    """The training as if its scores were higher by `more`, and each seed had taken `longer` seconds more."""
    return replace(
        training,
        scores={score: value + more for score, value in training.scores.items()},
        seconds=tuple(max(seconds + longer, 0.0) for seconds in training.seconds),
    )


def _splits(line: Line) -> tuple[int, int]:
    match = INTERVAL.fullmatch(line.cells["interval"])
    splits = [int(split) for split in match.groups() if split] if match else [0, 0]
    if splits[0] >= splits[1]:
        raise line.error("interval", "write 12 for split 1 to split 2, and 9-10 where a split is above 9")
    return splits[0], splits[1]


def _explanation(row: EfficiencyRow, printed: Published, column: str, unit: Decimal, results: Results) -> str:
    value, number = row.values[column], printed.cells[column]
    assert value is not None
    notes = []
    if math.trunc(Decimal(value) / unit) * unit == number:
        notes.append("truncated")
    ends, half = bounds(row, column, results), float(unit) / 2
    if ends and ends[0] <= float(number) + half and ends[1] >= float(number) - half:
        notes.append("within input rounding")
    if column.startswith("epsilon"):
        sigma = printed.cells.get(f"sigma{column.removeprefix('epsilon')}_pct")
        theta = printed.cells.get("theta_pct")
        if sigma is not None and theta and _rounds_to(float(sigma / theta), number, unit):
            notes.append("from the printed σ and θ")
    return ", ".join(notes) or "slip"


def _rounds_to(value: float, number: Decimal, unit: Decimal) -> bool:
    """Whether `number` is `value` rounded to a multiple of `unit`; a tie may go either way."""
    return abs(value - float(number)) <= float(unit) / 2 + 1e-12 * max(1.0, abs(value))


def _decimals(unit: Decimal) -> int:
    return max(0, -int(unit.as_tuple().exponent))

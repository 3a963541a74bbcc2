"""Efficiency of any systems from a CSV of their results.

A *results* file has one row per training: `corpus`, `method`, `split` (1, 2, … by size), `records`, one or more columns
of scores and, where known, `train_seconds` or `seconds`. With a column `seed`, the rows of one corpus, method and split
are repetitions: their mean scores count and, as in `efficiency.py`, the geometric mean of their seconds.

Čano and Bojar (2020), arXiv 1909.06618, print σ and θ in percent and ε as a plain ratio; so do these columns.
"""

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from sumcurve.curves import efficiency
from sumcurve.curves.efficiency import Point, Quotient, Repeats, Spread, Undefined
from sumcurve.files.content import STDIN
from sumcurve.files.errors import FileError
from sumcurve.files.sheet import NO_SCORES, Line, Sheet

RESULTS = {"cano-bojar-2020": "cano_bojar_2020_table2.csv"}  # shipped
ENDS = ("low", "high")
KEYS = ("corpus", "method", "split", "records")
SECONDS = ("train_seconds", "seconds")
BEYOND = "it is beyond any number"
NO_TIME = "a seed has 0 seconds, of which there is no logarithm"


@dataclass(frozen=True)
class Training:
    """One split of one method: mean scores over its seeds, and the seconds of each; empty where not known."""

    corpus: str
    method: str
    split: int
    records: int
    scores: dict[str, float]
    seconds: tuple[float, ...]
    seeds: int
    by_seed: dict[str, tuple[float, ...]]  # the scores of each seed

    def repeats(self, score: str) -> Repeats:
        """All seeds; without seconds where one of them is 0."""
        seconds = self.seconds if self.seconds and min(self.seconds) > 0 else ()
        return Repeats(self.records, self.by_seed[score], seconds)

    @property
    def cost(self) -> float | None:
        """The geometric mean of the seeds' seconds; 0 where one of them is 0, None where they are not known."""
        if len(set(self.seconds)) < 2 or min(self.seconds) == 0:
            return min(self.seconds, default=None)
        return math.exp(fmean(math.log(seconds) for seconds in self.seconds))


@dataclass(frozen=True)
class Results:
    """A results file: which columns are scores and seconds, which are not used, and its trainings by size."""

    scores: tuple[str, ...]
    seconds: str | None
    seeded: bool
    left_out: tuple[str, ...]
    trainings: dict[tuple[str, str], list[Training]]  # by corpus and method, in the file's order


@dataclass(frozen=True)
class EfficiencyRow:
    """Efficiency of one method on one interval.

    `values` maps columns to numbers, None where undefined; `reason` says why. A score has a short name S: rouge1 gives
    1, rougeL gives L, any other name gives _name. Its columns are `sigmaS_pct`, `epsilonS`, `SigmaS` in points per
    record and `ES` in points per second; those of the cost are `theta_pct` and `Theta` in seconds per record.
    `intervals` holds the 95 % intervals from seeds, their variance pooled over the corpus's methods and splits; none
    where every training has one seed.
    """

    corpus: str
    method: str
    interval: str
    place: str  # whole, or what `efficiency.Interval.marks` holds, separated by commas
    first: Training
    second: Training
    values: dict[str, float | None]
    reasons: dict[str, str]
    intervals: dict[str, tuple[float, float]]

    @property
    def reason(self) -> str:
        """Every reason with the columns it leaves empty; empty where all is defined."""
        columns: dict[str, list[str]] = {}
        for column, reason in self.reasons.items():
            columns.setdefault(reason, []).append(column)
        return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in columns.items())

    def as_dict(self) -> dict[str, str | int | float | None]:
        """One flat row, numbers not rounded."""
        return {
            "corpus": self.corpus,
            "method": self.method,
            "interval": self.interval,
            "place": self.place,
            "from_records": self.first.records,
            "to_records": self.second.records,
            "from_seeds": self.first.seeds,
            "to_seeds": self.second.seeds,
            **self.values,
            **{
                f"{column}_{end}": at
                for column, ends in self.intervals.items()
                for end, at in zip(ENDS, ends, strict=True)
            },
            "reason": self.reason,
        }


def results_file(name: str) -> Path:
    """The results file at that path, or the shipped one of that name; FileError without either."""
    path = Path(name)
    if name in RESULTS and not path.is_file():
        return Path(str(resources.files("sumcurve.curves") / "published" / RESULTS[name]))
    if path.exists() or path == STDIN:
        return path
    raise FileError(f"{name}: no such file: give a CSV, or shipped data by name: {', '.join(RESULTS)}")


def interval_name(first: int, second: int) -> str:
    """Name of an interval: from split 1 to 2 it is "12"; where a split is above 9, a hyphen parts the two: "9-10"."""
    return f"{first}{second}" if second <= 9 else f"{first}-{second}"


def results_of(sheet: Sheet, scores: Sequence[str] = ()) -> Results:
    """The results in rows that were read from a file, or come from elsewhere.

    Without `scores`, every column of numbers is a score unless its name is in `NO_SCORES`. FileError names the line,
    the value and the remedy.
    """
    path, header, lines = sheet.name, sheet.columns, sheet.lines
    if missing := [key for key in KEYS if key not in header]:
        raise FileError(f"{path}: no column {', '.join(missing)}: every results file needs it: add it")
    costs = [name for name in SECONDS if name in header]
    if len(costs) > 1:
        raise FileError(f"{path}: columns {' and '.join(costs)} both mean the training time: keep one of them")
    seconds = costs[0] if costs and any(line.cells[costs[0]] for line in lines) else None
    columns = _given_scores(path, header, scores) if scores else tuple(sheet.numeric(NO_SCORES, "--scores"))
    if not columns:
        raise FileError(f"{path}: no column of scores: add one, such as rouge1, with a number in every row")
    if len({short_name(column) for column in columns}) < len(columns):
        raise FileError(
            f"{path}: of the scores {', '.join(columns)} two have one short name: choose between them with --scores"
        )
    cells: dict[tuple[str, str], dict[int, list[Line]]] = {}
    for line in lines:
        split = line.count("split", "number the splits 1, 2, 3, … by size")
        method = cells.setdefault((line.text("corpus"), line.text("method")), {})
        method.setdefault(split, []).append(line)
    trainings = {
        key: _growing([_training(splits[split], split, columns, seconds) for split in sorted(splits)], splits)
        for key, splits in cells.items()
    }
    if all(len(splits) == 1 for splits in trainings.values()):
        raise FileError(f"{path}: no method has two splits, so there is no interval: add rows of more splits")
    used = (*columns, *([seconds] if seconds else []))
    return Results(
        scores=columns,
        seconds=seconds,
        seeded="seed" in header,
        left_out=tuple(name for name in header if name not in {*KEYS, *used, *costs, "seed"}),
        trainings=trainings,
    )


def efficiency_rows(results: Results) -> list[EfficiencyRow]:
    """Every method's intervals: between neighbouring splits, then across the whole curve of more than two."""
    rows = []
    spreads = _spreads(results)
    for (corpus, method), trainings in results.trainings.items():
        by_records = {training.records: training for training in trainings}
        steps = efficiency.intervals([Point(training.records, 0.0) for training in trainings])
        for step in steps:
            first, second = by_records[int(step.first.samples)], by_records[int(step.second.samples)]
            row = EfficiencyRow(
                corpus=corpus,
                method=method,
                interval=interval_name(first.split, second.split),
                place="whole" if step.whole else ", ".join(step.marks),
                first=first,
                second=second,
                values={},
                reasons={},
                intervals={},
            )
            for column in quotients(results.scores):
                try:
                    value = column.of(first, second)
                    if not math.isfinite(value):
                        raise Undefined(BEYOND)
                    row.values[column.name] = value
                except Undefined as reason:
                    row.values[column.name] = None
                    row.reasons[column.name] = str(reason)
            for score in results.scores:
                if (corpus, score) in spreads:
                    _spread_out(row, score, spreads[corpus, score])
            rows.append(row)
    return rows


def _spreads(results: Results) -> dict[tuple[str, str], Spread]:
    """Variation between seeds, for each corpus that has several and each score."""
    spreads = {}
    for corpus in dict.fromkeys(corpus for corpus, _ in results.trainings):
        of_corpus = [training for (name, _), curve in results.trainings.items() if name == corpus for training in curve]
        if any(training.seeds > 1 for training in of_corpus):
            for score in results.scores:
                spreads[corpus, score] = efficiency.spread([training.repeats(score) for training in of_corpus])
    return spreads


def _spread_out(row: EfficiencyRow, score: str, spread: Spread) -> None:
    """Add the intervals of one score's columns, and of the cost's; a column without one keeps its value alone."""
    name = short_name(score)
    made = efficiency.bounds_from_seeds(row.first.repeats(score), row.second.repeats(score), spread)
    columns: list[tuple[str, Quotient, float]] = [
        (f"sigma{name}_pct", "sigma", 100.0),
        ("theta_pct", "theta", 100.0),
        (f"epsilon{name}", "epsilon", 1.0),
        (f"Sigma{name}", "Sigma", 1.0),
        ("Theta", "Theta", 1.0),
        (f"E{name}", "E", 1.0),
    ]
    timeless = any(training.seconds and not min(training.seconds) for training in (row.first, row.second))
    for column, quotient, factor in columns:
        bounds = made.get(quotient)
        if isinstance(bounds, Undefined):
            if row.values[column] is not None:
                reason = NO_TIME if timeless and quotient not in ("Sigma", "sigma") else str(bounds)
                row.reasons[f"interval of {column}"] = reason
        elif bounds is not None and not all(math.isfinite(end * factor) for end in bounds):
            row.reasons[f"interval of {column}"] = BEYOND
        elif bounds is not None:
            row.intervals[column] = (bounds[0] * factor, bounds[1] * factor)


class Column(NamedTuple):
    """A column of `EfficiencyRow.values`: a quotient, what it is multiplied by, and the score it is of."""

    name: str
    function: Callable[[Point, Point], float]
    factor: float
    score: str | None

    def of(self, first: Training, second: Training) -> float:
        """The value between two trainings; Undefined where there is none."""
        points = [
            Point(training.records, training.scores[self.score] if self.score else 0.0, training.cost)
            for training in (first, second)
        ]
        return self.factor * self.function(*points)


def quotients(scores: Sequence[str]) -> list[Column]:
    """The columns of `EfficiencyRow.values`, in their order."""
    names = [(score, short_name(score)) for score in scores]
    return [
        *(Column(f"sigma{name}_pct", efficiency.relative_score_efficiency, 100, score) for score, name in names),
        Column("theta_pct", efficiency.relative_cost_deficiency, 100, None),
        *(Column(f"epsilon{name}", efficiency.relative_overall_efficiency, 1, score) for score, name in names),
        *(Column(f"Sigma{name}", efficiency.score_efficiency, 1, score) for score, name in names),
        Column("Theta", efficiency.cost_deficiency, 1, None),
        *(Column(f"E{name}", efficiency.overall_efficiency, 1, score) for score, name in names),
    ]


def short_name(score: str) -> str:
    """The end of a score's columns: rouge1 gives 1, rougeL and ROUGE-L give L, bleu gives _bleu."""
    ending = re.sub(r"(?i)^rouge[-_ ]?", "", score)
    return ending if ending not in ("", score) else f"_{score}"


def _given_scores(path: Path | str, header: Sequence[str], scores: Sequence[str]) -> tuple[str, ...]:
    for name in scores:
        if name not in header or name in {*KEYS, *SECONDS, "seed"} or scores.count(name) > 1:
            raise FileError(
                f"{path}: {name!r} cannot be taken as a score: name columns once each, among {', '.join(header)}"
            )
    return tuple(scores)


def _training(lines: Sequence[Line], split: int, columns: Sequence[str], seconds: str | None) -> Training:
    """The means over all rows of one corpus, method and split."""
    first = lines[0]
    records = first.count("records", "write a whole number above 0, without signs for thousands")
    seeds = set()
    for line in lines:
        if "seed" not in line.cells and len(lines) > 1:
            raise lines[1].error("split", f"{first.place} has it, too; keep one row, or add a column seed")
        if "seed" in line.cells:
            seed = line.seed("seed")
            if seed in seeds:
                raise line.error("seed", f"an earlier row of split {split} has it; keep one of them")
            seeds.add(seed)
        if line.count("records", "write a whole number above 0") != records:
            raise line.error("records", f"{first.place} has {records} for the same split; all seeds need the same")
    remedy = "write a plain number, such as 12.34, remove the row, or name the scores with --scores"
    by_seed = {column: tuple(float(line.number(column, remedy)) for line in lines) for column in columns}
    values = {column: fmean(numbers) for column, numbers in by_seed.items()}
    costs: tuple[float, ...] = ()
    if seconds and any(line.cells[seconds] for line in lines):
        remedy = "write the seconds as a plain number, at least 0; leave them empty only for all seeds of a split"
        for line in lines:
            if line.number(seconds, remedy) < 0:
                raise line.error(seconds, remedy)
        costs = tuple(float(line.number(seconds)) for line in lines)
    return Training(first.cells["corpus"], first.cells["method"], split, records, values, costs, len(lines), by_seed)


def _growing(trainings: list[Training], lines: Mapping[int, Sequence[Line]]) -> list[Training]:
    for first, second in itertools.pairwise(trainings):
        if second.records <= first.records:
            raise lines[second.split][0].error(
                "records", f"split {first.split} has {first.records}; number the splits by growing records"
            )
    return trainings

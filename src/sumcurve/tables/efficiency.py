"""What more data buys, and what it costs: the measures of Čano and Bojar (2020) and the elasticity of the score."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sumcurve.curves.efficiency import marks
from sumcurve.scores.scorer import Metric
from sumcurve.statistics.design import Cell, Design, Replicates, common_seeds
from sumcurve.statistics.intervals import difference, draws
from sumcurve.tables.results import OPTIMUM, Results
from sumcurve.tables.systems import System
from sumcurve.tables.table import Column, Table, Value

UNITS = ("seconds", "updates", "examples")
BLANKS = 10  # a cost has no test items: as many equal ones as a design asks for, which then vary by nothing
NEEDS_SEEDS = "needs two seeds"
NO_SIGMA = "σ has no interval"
NOT_DEARER = "the larger training is not shown to cost more"


@dataclass(frozen=True)
class Step:
    """Two sizes of one curve: neighbours, or its smallest and largest (`whole`)."""

    smaller: System
    larger: System
    whole: bool
    marks: str

    @property
    def growth(self) -> float:
        """Δd / d"""
        return self._records[1] / self._records[0] - 1

    @property
    def added(self) -> int:
        return self._records[1] - self._records[0]

    @property
    def doublings(self) -> float:
        return float(np.log2(self._records[1] / self._records[0]))

    @property
    def _records(self) -> tuple[int, int]:
        return int(self.smaller.records or 0), int(self.larger.records or 0)

    @property
    def named(self) -> dict[str, Any]:
        """The cells that name it; see `STEP_COLUMNS`."""
        return {
            "corpus": self.smaller.corpus,
            "method": self.smaller.method,
            "interval": "whole" if self.whole else "step",
            "marks": self.marks,
            "from_percent": self.smaller.percent,
            "to_percent": self.larger.percent,
            "from_records": self.smaller.records,
            "to_records": self.larger.records,
            "seeds": min(len(self.smaller.seeds), len(self.larger.seeds)),
        }


STEP_COLUMNS = [
    Column("corpus", "corpus"),
    Column("method", "method"),
    Column("interval", None),
    Column("marks", None),
    Column("from_percent", None, "count"),
    Column("to_percent", None, "count"),
    Column("from_records", "from", "count"),
    Column("to_records", "to", "count"),
    Column("seeds", "seeds", "count"),
]


def steps(results: Results) -> Iterator[Step]:
    """Neighbouring sizes of every curve, then its smallest and largest where there are more than two."""
    for corpus in results.corpora:
        for method in results.methods(corpus):
            curve = [system for system in results.of(corpus, trained=True) if system.method == method]
            count = len(curve) - 1
            for number, (smaller, larger) in enumerate(pairwise(curve), start=1):
                yield Step(smaller, larger, False, "+".join(marks(number, count)))
            if count > 1:
                yield Step(curve[0], curve[-1], True, "")


def clock_refusal(results: Results) -> str:
    """Why seconds of these trainings must not stand in one table; empty where they may."""
    known = [output.timing for output in results.outputs if output.timing is not None and output.part == "study"]
    devices = sorted({timing.device for timing in known})
    if len(devices) > 1:
        return f"seconds of different devices do not compare ({', '.join(devices)})"
    shared = sum(not timing.exclusive for timing in known)
    return f"{shared} of {len(known)} trainings shared their device with other work" if shared else ""


def costs_of(system: System, unit: str) -> tuple[float, ...] | None:
    """What each seed's training cost, or None where not all are known and above 0."""
    costs = [(getattr(output.timing, unit) or 0) if output.timing else 0 for output in system.outputs]
    return tuple(map(float, costs)) if min(costs) > 0 else None


def geometric_mean(costs: tuple[float, ...] | None) -> float | None:
    return float(np.exp(np.log(costs).mean())) if costs else None


def cost_design(
    costs: Mapping[Cell, tuple[tuple[int, ...], tuple[float, ...]]], full_records: int | None, confidence: float
) -> Design | None:
    """A design of the logarithms of costs by cell, seeds and cost of each; None where no cell has two seeds."""
    replicates = [
        Replicates(method, records, seeds, np.repeat(np.log(values)[:, None], BLANKS, axis=1))
        for (method, records), (seeds, values) in costs.items()
        if len(seeds) > 1
    ]
    if not replicates:
        return None
    kept, _ = common_seeds(replicates)
    return Design(kept, [str(blank) for blank in range(BLANKS)], full_records, confidence)


def table(results: Results) -> Table:
    """A row for every interval of a curve and metric; relative measures in percent, Σ for 1,000 records, E an hour.

    A cell without a value says why. Intervals of ε take score and cost as independent.
    """
    refusal = clock_refusal(results)
    designs = {corpus: None if refusal else _seconds(results, corpus) for corpus in results.corpora}
    rows = []
    for step in steps(results):
        for metric in results.ranked(step.smaller.corpus):
            ends = step.smaller, step.larger
            left_out = any(results.unranked(system.corpus, metric.name, system.cell) for system in ends)
            if all(results.scorer(metric.name) in system.scorers for system in ends) and not left_out:
                rows.append(_row(results, step, metric, designs[step.smaller.corpus], refusal))
    columns = [
        *STEP_COLUMNS,
        Column("metric", "metric"),
        Column("elasticity", "elasticity", "number", 2, interval=True),
        Column("sigma_percent", "σ (%)", "number", 1, interval=True),
        Column("gap_closed_percent", "gap closed (%)", "number", 1, interval=True),
        Column("theta_percent", "θ (%)", "number", 1, interval=True),
        Column("epsilon", "ε", "number", 2, interval=True),
        Column("interval_covers", "intervals of scores cover"),
        Column("Sigma_per_1000_records", None, "number"),
        Column("Theta_seconds_per_1000_records", None, "number"),
        Column("E_per_hour", None, "number"),
        *(Column(f"theta_{unit}_percent", None, "number") for unit in UNITS[1:]),
    ]
    notes = [
        "Elasticity: Δ log s / Δ log d, which does not shrink with the interval's width as σ does. σ = (Δs/s)/(Δd/d), "
        "θ = (Δt/t)/(Δd/d), ε = σ/θ, after Čano and Bojar (2020); t: seconds up to the selected checkpoint, of several "
        "seeds their geometric mean. Gap closed: Δs over the distance of the smaller training from the "
        f"{results.optimum_words.name}. In brackets: {results.share}; θ over seeds alone; ε takes score and cost as "
        f"independent. {refusal}",
        *results.without_interval,
        f"{results.seeds_note} {results.caveat}",
        *results.unread_notes,
    ]
    caption = "What more data buys: data efficiency on every interval of the training data"
    return Table("efficiency", results.title(caption), columns, rows, notes)


def _seconds(results: Results, corpus: str) -> Design | None:
    designs = {}
    for system in results.of(corpus, trained=True):
        costs = costs_of(system, "seconds")
        if costs:
            designs[system.cell] = system.seeds, costs
    return cost_design(designs, results.full_records(corpus), results.settings.confidence)


def _row(results: Results, step: Step, metric: Metric, seconds: Design | None, refusal: str) -> dict[str, Any]:
    corpus = step.smaller.corpus
    design = results.design(corpus, metric.name)
    assert design is not None
    first, second = (results.estimate(corpus, metric.name, system.cell) for system in (step.smaller, step.larger))
    ends = [design.place(system.cell) for system in (step.smaller, step.larger)]
    drawn = None if design.why else results.draws(corpus, metric.name)
    growth = results.contrast(corpus, metric.name, {step.larger.cell: 1.0, step.smaller.cell: -1.0})
    row: dict[str, Any] = {**step.named, "method": results.name(step.smaller, step.larger), "metric": metric.title}
    row["Sigma_per_1000_records"] = 1000 * growth.mean / step.added
    row["interval_covers"] = growth.covers if drawn is not None else None

    def of_draws(point: float, values: NDArray[np.float64] | None) -> Value:
        if values is None:
            return Value(point)
        tail = (1 - results.settings.confidence) / 2
        low, high = np.quantile(values, [tail, 1 - tail])
        return Value(point, float(low), float(high)) if low < high else Value(point)

    relative: NDArray[np.float64] | None = None
    low = first.low if first.low is not None else first.mean
    if first.mean <= 0 or low <= 0:
        why = "the smaller training's score is not shown to be above 0"
        row |= {name: Value(None, why=why) for name in ("elasticity", "sigma_percent")}
        sigma = None
    else:
        sigma = (second.mean - first.mean) / first.mean / step.growth
        if drawn is not None:
            below = np.maximum(drawn[:, ends[0]], 1e-9)
            relative = (drawn[:, ends[1]] - below) / below / step.growth
        row["sigma_percent"] = of_draws(100 * sigma, None if relative is None else 100 * relative)
        if second.mean <= 0:
            row["elasticity"] = Value(None, why="the larger training's score is not above 0")
        else:
            logs = None
            if drawn is not None:
                logs = np.log2(np.maximum(drawn[:, ends[1]], 1e-9) / below) / step.doublings
            row["elasticity"] = of_draws(float(np.log2(second.mean / first.mean)) / step.doublings, logs)
    row["gap_closed_percent"] = _gap(results.optimum_words.name, design, drawn, ends, of_draws)
    row |= _costs(results, step, seconds, refusal, growth.mean, sigma, relative, of_draws)
    return row


def _gap(name: str, design: Design, drawn: NDArray[np.float64] | None, ends: list[int], of_draws: Any) -> Value:
    """How much of the way from the smaller training to the optimum of this name is gone, in percent."""
    if (OPTIMUM, None) not in design.cells:
        return Value(None)
    best = design.place((OPTIMUM, None))
    gap = design.means[best] - design.means[ends[0]]
    gaps = None if drawn is None else drawn[:, best] - drawn[:, ends[0]]
    if gap <= 0 or (gaps is not None and (gaps <= 0).any()):
        return Value(None, why=f"the smaller training is not shown to be below the {name}")
    closed = 100 * (design.means[ends[1]] - design.means[ends[0]]) / gap
    values = None if drawn is None or gaps is None else 100 * (drawn[:, ends[1]] - drawn[:, ends[0]]) / gaps
    value: Value = of_draws(float(closed), values)
    return value


def _costs(
    results: Results,
    step: Step,
    seconds: Design | None,
    refusal: str,
    gain: float,
    sigma: float | None,
    relative: NDArray[np.float64] | None,
    of_draws: Any,
) -> dict[str, Any]:
    """θ in every unit, Θ, E and ε."""
    row: dict[str, Any] = {}
    for unit in UNITS[1:]:
        before, after = (geometric_mean(costs_of(system, unit)) for system in (step.smaller, step.larger))
        if before and after:
            row[f"theta_{unit}_percent"] = 100 * (after / before - 1) / step.growth
    before, after = (geometric_mean(costs_of(system, "seconds")) for system in (step.smaller, step.larger))
    if refusal or not before or not after:
        why = refusal or "seconds were not measured"
        return row | {name: Value(None, why=why) for name in ("theta_percent", "epsilon")}
    row["Theta_seconds_per_1000_records"] = 1000 * (after - before) / step.added
    theta = (after / before - 1) / step.growth
    cells = step.larger.cell, step.smaller.cell
    if seconds is None or not all(cell in seconds.cells for cell in cells) or seconds.why:
        return row | {"theta_percent": 100 * theta, "epsilon": Value(None, why=NEEDS_SEEDS)}
    change = difference(seconds, *cells)
    if change.low is None or change.high is None:
        return row | {"theta_percent": 100 * theta, "epsilon": Value(None, why=NOT_DEARER)}
    low, high = (100 * float(np.expm1(end)) / step.growth for end in (change.low, change.high))
    row["theta_percent"] = Value(100 * theta, low, high)
    if change.low <= 0:
        return row | {"epsilon": Value(None, why=NOT_DEARER)}
    row["E_per_hour"] = 3600 * gain / (after - before)
    if sigma is None or relative is None or np.ptp(relative) == 0:
        return row | {"epsilon": Value(None, why=NO_SIGMA)}
    generator = np.random.default_rng([results.settings.seed, 6])
    logs = draws(seconds, len(relative), generator)
    place = [seconds.place(cell) for cell in cells]
    ratios = relative / (np.expm1(logs[:, place[0]] - logs[:, place[1]]) / step.growth)
    row["epsilon"] = of_draws(sigma / theta, ratios)
    return row

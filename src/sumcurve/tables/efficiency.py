"""Data efficiency: gains and costs of more data by the measures of Čano and Bojar (2020), and elasticity of scores."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sumcurve.curves import efficiency
from sumcurve.curves.efficiency import Point, marks, relative_slope
from sumcurve.scores.scorer import Metric
from sumcurve.statistics.design import Cell, Design, Replicates, common_seeds
from sumcurve.statistics.intervals import difference, draws
from sumcurve.tables.columns import shared
from sumcurve.tables.numbers import OPTIMUM
from sumcurve.tables.results import Results
from sumcurve.tables.systems import System
from sumcurve.tables.table import Column, Table, Value

UNITS = ("seconds", "updates", "examples")
BLANKS = 10  # a cost has no test items: as many equal ones as a design requires, without variance
NEEDS_SEEDS = "needs two seeds"
NO_SIGMA = "σ has no interval"
OWN_RULE = "an outside program stops by its own rule"
NOT_DEARER = "the larger training is not shown to cost more"


@dataclass(frozen=True)
class Step:
    """Two sizes of one curve: neighbours, or its smallest and largest (`whole`)."""

    smaller: System
    larger: System
    whole: bool
    marks: str

    @property
    def own_rule(self) -> bool:
        return own_rule(self.smaller) or own_rule(self.larger)

    @property
    def named(self) -> dict[str, Any]:
        """The cells that identify the step; see `STEP_COLUMNS`."""
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
    *shared("corpus", "method"),
    Column("interval", None),
    Column("marks", None),
    Column("from_percent", None, "count"),
    Column("to_percent", None, "count"),
    Column("from_records", "from", "count"),
    Column("to_records", "to", "count"),
    *shared("seeds"),
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
    """Explain why seconds of these trainings must not stand in one table; empty where they may."""
    known = [output.timing for output in results.outputs if output.timing is not None and output.part == "study"]
    devices = sorted({timing.device for timing in known})
    if len(devices) > 1:
        return f"seconds of different devices do not compare ({', '.join(devices)})"
    shared = sum(not timing.exclusive for timing in known)
    return f"{shared} of {len(known)} trainings shared their device with other work" if shared else ""


def own_rule(system: System) -> bool:
    """Tell whether an outside program was trained: its stopping rule is unknown, so seconds give neither θ nor ε."""
    return any(output.timing is not None and output.timing.own_rule for output in system.outputs)


def costs_of(system: System, unit: str) -> tuple[float, ...] | None:
    """Cost of each seed's training, or None where not all are known and above 0."""
    costs = [(getattr(output.timing, unit) or 0) if output.timing else 0 for output in system.outputs]
    return tuple(map(float, costs)) if min(costs) > 0 else None


def mean_cost(system: System, unit: str) -> float | None:
    """Geometric mean of the costs of its seeds' trainings, or None where not all are known and above 0."""
    costs = costs_of(system, unit)
    return efficiency.geometric_mean(costs) if costs else None


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

    A cell without a value names the reason. Intervals of ε take score and cost as independent.
    """
    refusal = clock_refusal(results)
    designs = {corpus: None if refusal else _seconds(results, corpus) for corpus in results.corpora}
    rows = []
    for step in steps(results):
        for metric in results.ranking_metrics(step.smaller.corpus):
            ends = step.smaller, step.larger
            left_out = any(results.unranked(system.corpus, metric.name, system.cell) for system in ends)
            if all(results.scorer(metric.name) in system.scorers for system in ends) and not left_out:
                rows.append(_row(results, step, metric, designs[step.smaller.corpus], refusal))
    columns = [
        *STEP_COLUMNS,
        *shared("metric"),
        Column("elasticity", "elasticity", "number", 2, interval=True),
        Column("sigma_percent", "σ (%)", "number", 1, interval=True),
        Column("gap_closed_percent", "gap closed (%)", "number", 1, interval=True),
        Column("theta_percent", "θ (%)", "number", 1, interval=True),
        Column("epsilon", "ε", "number", 2, interval=True),
        *shared("interval_covers"),
        Column("Sigma_per_1000_records", None, "number"),
        Column("Theta_seconds_per_1000_records", None, "number"),
        Column("E_per_hour", None, "number"),
        *(Column(f"theta_{unit}_percent", None, "number") for unit in UNITS[1:]),
    ]
    notes = [
        f"Gap closed: of the distance to the {results.optimum_words.name}. In brackets: {results.share}. {refusal}",
        *results.notes.without_interval,
        f"{results.notes.seeds} {results.notes.caveat}",
        *results.notes.unread,
    ]
    caption = "What more data buys: data efficiency on every interval of the training data"
    return Table("efficiency", results.title(caption), columns, rows, notes)


def _seconds(results: Results, corpus: str) -> Design | None:
    designs = {}
    for system in results.of(corpus, trained=True):
        costs = costs_of(system, "seconds")
        if costs and not own_rule(system):
            designs[system.cell] = system.seeds, costs
    return cost_design(designs, results.full_records(corpus), results.settings.confidence)


def _row(results: Results, step: Step, metric: Metric, seconds: Design | None, refusal: str) -> dict[str, Any]:
    corpus = step.smaller.corpus
    design = results.design(corpus, metric.name)
    assert design is not None
    first, second = (results.estimate(corpus, metric.name, system.cell) for system in (step.smaller, step.larger))
    ends = [design.place(system.cell) for system in (step.smaller, step.larger)]
    drawn = None if design.why else results.draws(corpus, metric.name)
    change = results.contrast(corpus, metric.name, {step.larger.cell: 1.0, step.smaller.cell: -1.0})
    before, after = (
        Point(int(system.records or 0), estimate.mean, mean_cost(system, "seconds"))
        for system, estimate in ((step.smaller, first), (step.larger, second))
    )
    growth = efficiency.growth(before, after)
    row: dict[str, Any] = {**step.named, "method": results.name(step.smaller, step.larger), "metric": metric.title}
    row["Sigma_per_1000_records"] = 1000 * efficiency.score_efficiency(before, after)
    row["interval_covers"] = change.covers if drawn is not None else None

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
    else:
        if drawn is not None:
            below = np.maximum(drawn[:, ends[0]], 1e-9)
            relative = relative_slope(below, drawn[:, ends[1]], growth)
        sigma = efficiency.relative_score_efficiency(before, after)
        row["sigma_percent"] = of_draws(100 * sigma, None if relative is None else 100 * relative)
        if second.mean <= 0:
            row["elasticity"] = Value(None, why="the larger training's score is not above 0")
        else:
            doublings = float(np.log2(1 + growth))
            logs = None
            if drawn is not None:
                logs = np.log2(np.maximum(drawn[:, ends[1]], 1e-9) / below) / doublings
            row["elasticity"] = of_draws(float(np.log2(second.mean / first.mean)) / doublings, logs)
    row["gap_closed_percent"] = _gap(results.optimum_words.name, design, drawn, ends, of_draws)
    row |= _costs(results, step, before, after, seconds, refusal, relative, of_draws)
    return row


def _gap(name: str, design: Design, drawn: NDArray[np.float64] | None, ends: list[int], of_draws: Any) -> Value:
    """Share of the gap between the smaller training and the optimum of this name that is closed, in percent."""
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
    before: Point,
    after: Point,
    seconds: Design | None,
    refusal: str,
    relative: NDArray[np.float64] | None,
    of_draws: Any,
) -> dict[str, Any]:
    """θ in every unit, Θ, E and ε; `relative` are draws of σ."""
    row: dict[str, Any] = {}
    for unit in UNITS[1:]:
        costs = [mean_cost(system, unit) for system in (step.smaller, step.larger)]
        if all(costs):
            ends = (replace(point, cost=cost) for point, cost in zip((before, after), costs, strict=True))
            row[f"theta_{unit}_percent"] = 100 * efficiency.relative_cost_deficiency(*ends)
    if step.own_rule or refusal or before.cost is None or after.cost is None:
        why = OWN_RULE if step.own_rule else refusal or "seconds were not measured"
        return row | {name: Value(None, why=why) for name in ("theta_percent", "epsilon")}
    row["Theta_seconds_per_1000_records"] = 1000 * efficiency.cost_deficiency(before, after)
    theta = 100 * efficiency.relative_cost_deficiency(before, after)
    cells = step.larger.cell, step.smaller.cell
    if seconds is None or not all(cell in seconds.cells for cell in cells) or seconds.why:
        return row | {"theta_percent": theta, "epsilon": Value(None, why=NEEDS_SEEDS)}
    change = difference(seconds, *cells)
    if change.low is None or change.high is None:
        return row | {"theta_percent": theta, "epsilon": Value(None, why=NOT_DEARER)}
    growth = efficiency.growth(before, after)
    low, high = (100 * relative_slope(1.0, float(np.exp(end)), growth) for end in (change.low, change.high))
    row["theta_percent"] = Value(theta, low, high)
    if change.low <= 0:
        return row | {"epsilon": Value(None, why=NOT_DEARER)}
    row["E_per_hour"] = 3600 * efficiency.overall_efficiency(before, after)
    if relative is None or np.ptp(relative) == 0:
        return row | {"epsilon": Value(None, why=NO_SIGMA)}
    generator = np.random.default_rng([results.settings.seed, 6])
    drawn = np.exp(draws(seconds, len(relative), generator))
    larger, smaller = (drawn[:, seconds.place(cell)] for cell in cells)
    ratios = relative / relative_slope(smaller, larger, growth)
    row["epsilon"] = of_draws(efficiency.relative_overall_efficiency(before, after), ratios)
    return row

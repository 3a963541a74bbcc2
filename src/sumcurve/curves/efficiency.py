"""Data efficiency on an interval of training data.

Čano and Bojar (2020), "Efficiency Metrics for Data-Driven Models: A Text Summarization Case Study" (arXiv
1909.06618): a method trained on d samples scores s on a fixed test set and takes t to converge; with Δd more
samples it scores Δs higher and takes Δt longer. The six quotients hold for an interval of the data, not for a
method as such. The relative ones (σ, θ, ε) are plain ratios here; the paper prints σ and θ in percent.

A cost is seconds, updates or examples; the paper's is seconds.

`interval_efficiency` gives all of them error bars from all seeds of both trainings. Costs vary by seeds alone, and by
factors rather than summands, so that their spread is pooled on the logarithm and several seeds' cost is their
geometric mean. σ and ε are quotients of uncertain numbers: their intervals are Fieller's.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sumcurve.curves.variance import (
    Bounds,
    Cell,
    Estimate,
    Replicates,
    SeedVariance,
    fieller,
    linear,
    moments,
    pooled_covariance,
    pooled_variance,
    quantile,
    quotient,
    satterthwaite,
    seed_variance,
)
from sumcurve.settings import Bootstrap
from sumcurve.statistics.errors import Undefined as Undefined

Mark = Literal["leftmost", "middle", "rightmost"]


@dataclass(frozen=True)
class Point:
    """One training: `samples` d, `score` s on the test set (any unit), `cost` t up to convergence."""

    samples: float
    score: float
    cost: float | None = None


@dataclass(frozen=True)
class Interval:
    """From one point of a learning curve to a later one; `whole`: first to last, across points between.

    `marks` are those of the paper's scheme, none for most intervals of a long curve; an only interval is both leftmost
    and rightmost.
    """

    first: Point
    second: Point
    whole: bool = False
    marks: tuple[Mark, ...] = ()


def intervals(points: Sequence[Point]) -> list[Interval]:
    """All intervals between neighbours, by growing samples, then first to last of more than two points.

    Across the whole curve Δs is largest against the noise of the test items, so its σ is the least uncertain
    one.
    """
    ordered = sorted(points, key=lambda point: point.samples)
    count = max(0, len(ordered) - 1)
    steps = [Interval(*ends, marks=marks(number, count)) for number, ends in enumerate(pairwise(ordered), start=1)]
    for step in steps:
        _added_samples(step.first, step.second)
    return [*steps, Interval(ordered[0], ordered[-1], whole=True)] if len(ordered) > 2 else steps


def marks(number: int, count: int) -> tuple[Mark, ...]:
    """What the `number`-th of `count` intervals between neighbours, from 1, is in the paper's scheme.

    The middle of n intervals is number ceil(n / 2): of an even number the left one of the two in the middle, where a
    curve is still steeper. One or two intervals have no middle.
    """
    found: list[Mark] = ["leftmost"] if number == 1 else []
    if count > 2 and number == (count + 1) // 2:
        found.append("middle")
    return (*found, "rightmost") if number == count else tuple(found)


def score_efficiency(first: Point, second: Point) -> float:
    """Σ = Δs / Δd, the data score efficiency, in units of score per sample."""
    return (second.score - first.score) / _added_samples(first, second)


def relative_score_efficiency(first: Point, second: Point) -> float:
    """σ = (Δs / s) / (Δd / d). Undefined where the first score is 0."""
    if first.score <= 0:
        raise Undefined("the smaller training scores 0")
    growth = _added_samples(first, second) / first.samples
    return (second.score - first.score) / first.score / growth


def cost_deficiency(first: Point, second: Point) -> float:
    """Θ = Δt / Δd, with seconds the data time deficiency, as cost per sample; negative where t fell."""
    before, after = _costs(first, second)
    return (after - before) / _added_samples(first, second)


def relative_cost_deficiency(first: Point, second: Point) -> float:
    """θ = (Δt / t) / (Δd / d); negative where t fell. Undefined where the first cost is 0."""
    before, after = _costs(first, second)
    if before == 0:
        raise Undefined("the smaller training costs 0")
    return (after - before) / before / (_added_samples(first, second) / first.samples)


def overall_efficiency(first: Point, second: Point) -> float:
    """E = Σ / Θ = Δs / Δt, overall efficiency. Undefined where t did not grow: its sign would mislead."""
    _added_samples(first, second)
    before, after = _costs(first, second)
    if after <= before:
        raise Undefined("the larger training costs no more")
    return (second.score - first.score) / (after - before)


def relative_overall_efficiency(first: Point, second: Point) -> float:
    """ε = σ / θ = (Δs / s) / (Δt / t). Undefined where t did not grow, or where s or t is 0."""
    sigma, theta = relative_score_efficiency(first, second), relative_cost_deficiency(first, second)
    if theta <= 0:
        raise Undefined("the larger training costs no more")
    return sigma / theta


def gap_closed(first: Point, second: Point, optimum: float) -> float:
    """(s2 - s1) / (optimum - s1): the share of the gap to the optimum that more data closed.

    `optimum` is the score of the best possible extracts. Where σ flatters a low start, this does not. Undefined where
    the smaller training is not below the optimum.
    """
    _added_samples(first, second)
    if first.score >= optimum:
        raise Undefined("the smaller training is not below the extractive optimum")
    return (second.score - first.score) / (optimum - first.score)


def _added_samples(first: Point, second: Point) -> float:
    if not 0 < first.samples < second.samples:
        raise ValueError(f"an interval from {first.samples:g} to {second.samples:g} samples; both above 0, growing")
    return second.samples - first.samples


def _costs(first: Point, second: Point) -> tuple[float, float]:
    if first.cost is None or second.cost is None:
        raise Undefined("no training cost is known")
    if first.cost < 0 or second.cost < 0:
        raise ValueError(f"costs of {first.cost:g} and {second.cost:g}; a cost is not below 0")
    return first.cost, second.cost


@dataclass(frozen=True)
class Trained:
    """All seeds of one method at one size: per-item scores, and where known what each seed's training cost."""

    cell: Cell  # its size is d, the number of samples
    costs: tuple[float, ...] | None = None  # [seeds], in the order of the cell's

    def __post_init__(self) -> None:
        if self.costs is not None and (len(self.costs) != len(self.cell.seeds) or min(self.costs) <= 0):
            raise ValueError(
                f"{self.cell.method} at {self.cell.size:g}: costs of {list(self.costs)} for seeds "
                f"{list(self.cell.seeds)}; give a cost above 0 for each seed, or None"
            )

    @property
    def cost(self) -> float | None:
        """The geometric mean over seeds."""
        return float(np.exp(np.log(self.costs).mean())) if self.costs else None

    @property
    def point(self) -> Point:
        """Mean score and geometric mean cost over seeds."""
        return Point(self.cell.size, self.cell.mean, self.cost)

    def log_costs(self) -> Replicates:
        return Replicates(self.cell.method, self.cell.size, self.cell.seeds, np.log(self.costs or ()))


@dataclass(frozen=True)
class Spread:
    """What seeds vary by, pooled over all trainings of a corpus and metric; None where there is one seed only.

    `costs` is of the logarithm of costs, `covariance` that of a seed's mean score and the logarithm of its cost.
    """

    scores: SeedVariance | None
    costs: SeedVariance | None
    covariance: float


def spread(trained: Sequence[Trained], settings: Bootstrap) -> Spread:
    """The pooled spread over seeds of all trainings of a corpus and metric, one entry for each method and size."""
    timed = [one for one in trained if one.costs is not None]
    logs = [one.log_costs() for one in timed]
    return Spread(
        seed_variance([one.cell for one in trained], settings),
        pooled_variance(logs, settings),
        pooled_covariance([one.cell.replicates() for one in timed], logs),
    )


@dataclass(frozen=True)
class Efficiency:
    """The six quotients and the gap closed on one interval: each with its intervals, or Undefined with the reason."""

    Sigma: Estimate | Undefined
    Theta: Estimate | Undefined
    E: Estimate | Undefined
    sigma: Estimate | Undefined
    theta: Estimate | Undefined
    epsilon: Estimate | Undefined
    gap_closed: Estimate | Undefined


def interval_efficiency(
    first: Trained, second: Trained, spread: Spread, settings: Bootstrap, optimum: Cell | None = None
) -> Efficiency:
    """All quotients from one training to a larger one with error bars; relative ones as plain ratios.

    Σ, σ and the gap closed vary by items and seeds; Θ and θ by seeds alone. E and ε are undefined unless the larger
    training is significantly more costly; with one seed that cannot be told, and they have an interval from items
    alone. `optimum` holds the per-item scores of the best possible extracts, a cell without seeds.
    """
    before, after = first.point, second.point
    added = _added_samples(before, after)
    growth = added / before.samples
    cells = [first.cell, second.cell]

    def gain() -> Estimate:
        return linear(cells, [-1, 1], spread.scores, settings)

    def relative_gain() -> Estimate:
        relative_score_efficiency(before, after)
        try:
            return quotient(cells, [-1, 1], [1, 0], spread.scores, settings)
        except Undefined as error:
            raise Undefined("the smaller training's score is not significantly above 0") from error

    def closed() -> Estimate:
        if optimum is None:
            raise Undefined("no extractive optimum is known")
        gap_closed(before, after, optimum.mean)
        try:
            return quotient([*cells, optimum], [-1, 1, 0], [-1, 0, 1], spread.scores, settings)
        except Undefined as error:
            raise Undefined("the gap to the extractive optimum is not significantly above 0") from error

    def per_cost(relative: bool) -> Estimate:
        (relative_overall_efficiency if relative else overall_efficiency)(before, after)  # refuses
        return _per_cost(first, second, spread, settings, relative, relative_gain() if relative else gain())

    return Efficiency(
        Sigma=_scaled(gain, 1 / added),
        Theta=_scaled(lambda: _extra_cost(first, second, spread.costs, settings), 1 / added),
        E=_scaled(lambda: per_cost(relative=False), 1.0),
        sigma=_scaled(relative_gain, 1 / growth),
        theta=_scaled(lambda: relative_cost_growth(first, second, spread.costs, settings), 1 / growth),
        epsilon=_scaled(lambda: per_cost(relative=True), 1.0),
        gap_closed=_scaled(closed, 1.0),
    )


def _scaled(estimate: Callable[[], Estimate], factor: float) -> Estimate | Undefined:
    try:
        return estimate().scaled(factor)
    except Undefined as reason:
        return reason


def _rates(first: Trained, second: Trained) -> NDArray[np.float64]:
    return np.array([1 / len(one.cell.seeds) for one in (first, second)])


def relative_cost_growth(first: Trained, second: Trained, costs: SeedVariance | None, settings: Bootstrap) -> Estimate:
    """Δt / t; its interval is that of log(t2 / t1), from the pooled variance of log t, taken back to the ratio."""
    before, after = _costs(first.point, second.point)
    ratio = after / before
    if costs is None:
        return Estimate(ratio - 1, None, None, None, seeds_known=False)
    reach = quantile(costs.degrees, settings) * (costs.variance * _rates(first, second).sum()) ** 0.5
    bounds = float(ratio * np.exp(-reach) - 1), float(ratio * np.exp(reach) - 1)
    return Estimate(ratio - 1, bounds, None, bounds, seeds_known=True, degrees=costs.degrees)


def _extra_cost(first: Trained, second: Trained, costs: SeedVariance | None, settings: Bootstrap) -> Estimate:
    """Δt; its interval is put together from those of both costs (MOVER; Zou and Donner, 2008, eq. 3)."""
    before, after = _costs(first.point, second.point)
    if costs is None:
        return Estimate(after - before, None, None, None, seeds_known=False)
    factors = np.exp(quantile(costs.degrees, settings) * (costs.variance * _rates(first, second)) ** 0.5)
    t = np.array([before, after])
    below, above = t - t / factors, t * factors - t
    down, up = np.hypot(below[1], above[0]), np.hypot(above[1], below[0])
    bounds = float(after - before - down), float(after - before + up)
    return Estimate(after - before, bounds, None, bounds, seeds_known=True, degrees=costs.degrees)


def _per_cost(
    first: Trained, second: Trained, spread: Spread, settings: Bootstrap, relative: bool, gained: Estimate
) -> Estimate:
    """Δs / Δt, or (Δs / s) / (Δt / t) if `relative`, with Fieller's interval; `gained` is the numerator.

    The slopes of numerator and denominator in scores and log t give their variances and covariance (delta method).
    """
    before, after = first.point, second.point
    t1, t2 = _costs(before, after)
    added = t2 / t1 - 1 if relative else t2 - t1
    scores, costs = spread.scores, spread.costs
    of_items = None if gained.items is None else (gained.items[0] / added, gained.items[1] / added)
    if scores is None or costs is None:
        return Estimate(gained.value / added, None, of_items, None, seeds_known=False)
    theta = relative_cost_growth(first, second, costs, settings).total
    if theta is None or theta[0] <= 0:
        raise Undefined("the larger training is not significantly more costly than the smaller one")
    found = moments([first.cell, second.cell])
    s1, s2 = found.means
    over = np.array([-s2 / s1**2, 1 / s1]) if relative else np.array([-1.0, 1.0])
    under = np.array([-t2, t2]) / t1 if relative else np.array([-t1, t2])
    rates = _rates(first, second)
    value = gained.value / added
    of_cost = costs.variance * float(under**2 @ rates)
    covariance = spread.covariance * float(over * under @ rates)

    def bounds(part: Literal["total", "seeds"]) -> tuple[Bounds, float]:
        variance, degrees = found.spread(over, scores, part)
        both = satterthwaite([(variance, degrees), (value**2 * of_cost, costs.degrees)])
        variances = (variance, of_cost)
        try:
            return fieller(gained.value, added, variances, covariance, quantile(both, settings)), both
        except Undefined as error:
            raise Undefined("the larger training is not significantly more costly than the smaller one") from error

    total, degrees = bounds("total")
    return Estimate(value, total, of_items, bounds("seeds")[0], seeds_known=True, degrees=degrees)

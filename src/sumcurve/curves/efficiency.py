"""Data efficiency on an interval of training data.

Čano and Bojar (2020), "Efficiency Metrics for Data-Driven Models: A Text Summarization Case Study" (arXiv
1909.06618): a method trained on d samples scores s on a fixed test set and takes t to converge; with Δd more
samples it scores Δs higher and takes Δt longer. The six quotients hold for an interval of the data, not for a
method as such. The relative ones (σ, θ, ε) are plain ratios here; the paper prints σ and θ in percent.

A cost is seconds, updates or examples; the paper's is seconds.

`bounds_from_seeds` gives all of them error bars where only mean scores are known: from seeds alone, on one test set.
Costs vary by factors rather than summands, so that their spread is pooled on the logarithm and several seeds' cost is
their geometric mean. σ, E and ε are quotients of uncertain numbers: their intervals are Fieller's. Where the scores of
single items are known, `tables.efficiency` puts draws over items and seeds into the same quotients.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from sumcurve.statistics.errors import Undefined as Undefined
from sumcurve.statistics.seeds import satterthwaite

Mark = Literal["leftmost", "middle", "rightmost"]
Number = TypeVar("Number", float, NDArray[np.float64])


@dataclass(frozen=True)
class Point:
    """One training: `samples` d, `score` s on the test set (any unit), `cost` t up to convergence."""

    samples: float
    score: float
    cost: float | None = None


@dataclass(frozen=True)
class Interval:
    """Interval from one point of a learning curve to a later one; `whole`: first to last, across points between.

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
    """Mark in the paper's scheme of the `number`-th of `count` intervals between neighbours, from 1.

    The middle of n intervals is number ceil(n / 2): of an even number the left one of the two in the middle, where a
    curve is still steeper. One or two intervals have no middle.
    """
    marks: list[Mark] = ["leftmost"] if number == 1 else []
    if count > 2 and number == (count + 1) // 2:
        marks.append("middle")
    return (*marks, "rightmost") if number == count else tuple(marks)


def growth(first: Point, second: Point) -> float:
    """Δd / d."""
    return _added_samples(first, second) / first.samples


def relative_slope(before: Number, after: Number, growth: float) -> Number:
    """(Δy / y) / (Δd / d) of two numbers above 0, or of arrays of them: σ of scores, θ of costs."""
    return (after - before) / before / growth


def geometric_mean(costs: Sequence[float]) -> float:
    """The cost of several seeds; all above 0."""
    return float(np.exp(np.log(costs).mean()))


def score_efficiency(first: Point, second: Point) -> float:
    """Σ = Δs / Δd, the data score efficiency, in units of score per sample."""
    return (second.score - first.score) / _added_samples(first, second)


def relative_score_efficiency(first: Point, second: Point) -> float:
    """σ = (Δs / s) / (Δd / d). Undefined where the first score is 0 or less."""
    if first.score <= 0:
        raise Undefined("the smaller training scores 0 or less")
    return relative_slope(first.score, second.score, growth(first, second))


def cost_deficiency(first: Point, second: Point) -> float:
    """Θ = Δt / Δd, with seconds the data time deficiency, as cost per sample; negative where t fell."""
    before, after = _costs(first, second)
    return (after - before) / _added_samples(first, second)


def relative_cost_deficiency(first: Point, second: Point) -> float:
    """θ = (Δt / t) / (Δd / d); negative where t fell. Undefined where the first cost is 0."""
    before, after = _costs(first, second)
    if before == 0:
        raise Undefined("the smaller training costs 0")
    return relative_slope(before, after, growth(first, second))


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


Bounds = tuple[float, float]
"""Low and high end of an interval."""

Quotient = Literal["Sigma", "Theta", "E", "sigma", "theta", "epsilon"]


@dataclass(frozen=True)
class Repeats:
    """One method trained on `samples`: the mean score of every seed, and what each training cost, () if not known."""

    samples: float
    scores: tuple[float, ...]
    costs: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.scores or (self.costs and (len(self.costs) != len(self.scores) or min(self.costs) <= 0)):
            raise ValueError(
                f"{len(self.scores)} scores with costs of {list(self.costs)} at {self.samples:g} samples; give a score "
                "and a cost above 0 for each seed, or no costs"
            )

    @property
    def point(self) -> Point:
        """Mean score and geometric mean cost over seeds."""
        return Point(self.samples, float(np.mean(self.scores)), geometric_mean(self.costs) if self.costs else None)


@dataclass(frozen=True)
class Spread:
    """Variances of one seed, pooled over trainings; variances are None, with 0 degrees, where all have one seed.

    `costs` is the variance of the logarithm of a cost, `covariance` that of a score and the logarithm of its cost.
    """

    scores: float | None
    score_degrees: int
    costs: float | None
    cost_degrees: int
    covariance: float


def spread(trainings: Sequence[Repeats]) -> Spread:
    """The pooled spread over seeds of all trainings of a corpus and score."""
    repeated = [training for training in trainings if len(training.scores) > 1]
    timed = [training for training in repeated if training.costs]
    logs = [np.log(training.costs) for training in timed]
    degrees, cost_degrees = (sum(len(training.scores) - 1 for training in some) for some in (repeated, timed))
    return Spread(
        sum(_products(training.scores, training.scores) for training in repeated) / degrees if degrees else None,
        degrees,
        sum(_products(log, log) for log in logs) / cost_degrees if cost_degrees else None,
        cost_degrees,
        sum(_products(training.scores, log) for training, log in zip(timed, logs, strict=True)) / max(1, cost_degrees),
    )


def _products(first: ArrayLike, second: ArrayLike) -> float:
    left, right = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    return float(((left - left.mean()) * (right - right.mean())).sum())


def bounds_from_seeds(
    first: Repeats, second: Repeats, spread: Spread, confidence: float = 0.95
) -> dict[Quotient, Bounds | Undefined]:
    """Intervals of the quotients from one training to a larger one, on one test set; relative ones as plain ratios.

    A quotient whose spread is not known is left out; one that has no interval is Undefined with the reason. E and ε are
    undefined unless the larger training is significantly more costly.
    """
    before, after = first.point, second.point
    added = _added_samples(before, after)
    rates = np.array([1 / len(training.scores) for training in (first, second)])
    intervals: dict[Quotient, Bounds | Undefined] = {}

    def put(name: Quotient, factor: float, make: Callable[[], Bounds]) -> None:
        try:
            low, high = make()
            intervals[name] = low * factor, high * factor
        except Undefined as reason:
            intervals[name] = reason

    variance, costs = spread.scores, spread.costs
    if variance is not None:
        reach = _quantile(spread.score_degrees, confidence)
        gain = after.score - before.score

        def relative_gain() -> Bounds:
            relative_score_efficiency(before, after)  # refuses
            variances = variance * rates.sum(), variance * rates[0]
            try:
                return fieller(gain, before.score, variances, -variance * rates[0], reach)
            except Undefined as error:
                raise Undefined("the smaller training's score is not significantly above 0") from error

        margin = reach * float(variance * rates.sum()) ** 0.5
        put("Sigma", 1 / added, lambda: (gain - margin, gain + margin))
        put("sigma", 1 / growth(before, after), relative_gain)
    if costs is not None:
        cost_reach = _quantile(spread.cost_degrees, confidence)
        put("Theta", 1 / added, lambda: _extra_cost(before, after, cost_reach * (costs * rates) ** 0.5))
        margin_of_log = cost_reach * float(costs * rates.sum()) ** 0.5
        put("theta", 1 / growth(before, after), lambda: _cost_growth(before, after, margin_of_log))
    if variance is not None and costs is not None:
        put("E", 1.0, lambda: _per_cost(before, after, spread, rates, confidence, relative=False))
        put("epsilon", 1.0, lambda: _per_cost(before, after, spread, rates, confidence, relative=True))
    return intervals


def _quantile(degrees: float, confidence: float) -> float:
    """The t quantile of a two-sided interval."""
    return float(stats.t.ppf((1 + confidence) / 2, degrees))


def _cost_growth(before: Point, after: Point, reach: float) -> Bounds:
    """Δt / t: the interval of log(t2 / t1), taken back to the ratio."""
    t1, t2 = _costs(before, after)
    return float(t2 / t1 * np.exp(-reach) - 1), float(t2 / t1 * np.exp(reach) - 1)


def _extra_cost(before: Point, after: Point, reach: NDArray[np.float64]) -> Bounds:
    """Δt, put together from the intervals of both costs (MOVER; Zou and Donner, 2008, eq. 3)."""
    t = np.array(_costs(before, after))
    below, above = t - t / np.exp(reach), t * np.exp(reach) - t
    down, up = np.hypot(below[1], above[0]), np.hypot(above[1], below[0])
    return float(t[1] - t[0] - down), float(t[1] - t[0] + up)


def _per_cost(
    before: Point, after: Point, spread: Spread, rates: NDArray[np.float64], confidence: float, relative: bool
) -> Bounds:
    """Δs / Δt, or (Δs / s) / (Δt / t) if `relative`, with Fieller's interval.

    The slopes of numerator and denominator in scores and log t give their variances and covariance (delta method).
    """
    value = (relative_overall_efficiency if relative else overall_efficiency)(before, after)  # refuses
    (s1, s2), (t1, t2) = (before.score, after.score), _costs(before, after)
    gain, added = (s2 / s1 - 1, t2 / t1 - 1) if relative else (s2 - s1, t2 - t1)
    dear = Undefined("the larger training is not significantly more costly than the smaller one")
    variance, costs = spread.scores or 0.0, spread.costs or 0.0
    if (
        _cost_growth(before, after, _quantile(spread.cost_degrees, confidence) * float(costs * rates.sum()) ** 0.5)[0]
        <= 0
    ):
        raise dear
    over = np.array([-s2 / s1**2, 1 / s1]) if relative else np.array([-1.0, 1.0])
    under = np.array([-t2, t2]) / t1 if relative else np.array([-t1, t2])
    variances = variance * float(over**2 @ rates), costs * float(under**2 @ rates)
    degrees = satterthwaite([(variances[0], spread.score_degrees), (value**2 * variances[1], spread.cost_degrees)])
    covariance = spread.covariance * float(over * under @ rates)
    try:
        return fieller(gain, added, variances, covariance, _quantile(degrees, confidence))
    except Undefined as error:
        raise dear from error


def fieller(
    numerator: float, denominator: float, variances: tuple[float, float], covariance: float, quantile: float
) -> Bounds:
    """The values q for which numerator - q denominator is within `quantile` standard errors of 0 (Fieller, 1954).

    Raises Undefined where these do not form an interval, that is where the denominator itself is within `quantile`
    standard errors of 0.
    """
    square = quantile**2
    a = denominator**2 - square * variances[1]
    b = numerator * denominator - square * covariance
    c = numerator**2 - square * variances[0]
    if a <= 0:
        raise Undefined("the denominator is not significantly different from 0")
    root = float(np.sqrt(max(0.0, b**2 - a * c)))
    return (b - root) / a, (b + root) / a

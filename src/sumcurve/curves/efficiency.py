"""Data efficiency on an interval of training data.

Čano and Bojar (2020), "Efficiency Metrics for Data-Driven Models: A Text Summarization Case Study" (arXiv
1909.06618): a method trained on d samples scores s on a fixed test set and takes t to converge; with Δd more
samples it scores Δs higher and takes Δt longer. The six quotients hold for an interval of the data, not for a
method as such. The relative ones (σ, θ, ε) are plain ratios here; the paper prints σ and θ in percent.

A cost is seconds, updates or examples; the paper's is seconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from sumcurve.scores.comparison import bootstrap_means, percentile_interval
from sumcurve.settings import Bootstrap


class Undefined(ValueError):
    """A quotient without a meaningful value here; the message is the reason, fit for a table's cell."""


@dataclass(frozen=True)
class Point:
    """One training: `samples` d, `score` s on the test set (any unit), `cost` t up to convergence."""

    samples: float
    score: float
    cost: float | None = None


@dataclass(frozen=True)
class Interval:
    """From one point of a learning curve to a later one; `whole`: first to last, across points between."""

    first: Point
    second: Point
    whole: bool = False


def intervals(points: Sequence[Point]) -> list[Interval]:
    """All intervals between neighbours, by growing samples, then first to last of more than two points.

    Across the whole curve Δs is largest against the noise of the test items, so its σ is the least uncertain
    one.
    """
    ordered = sorted(points, key=lambda point: point.samples)
    steps = [Interval(first, second) for first, second in pairwise(ordered)]
    for step in steps:
        _added_samples(step.first, step.second)
    return [*steps, Interval(ordered[0], ordered[-1], whole=True)] if len(ordered) > 2 else steps


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


def relative_score_efficiency_interval(
    first: ArrayLike, second: ArrayLike, first_samples: float, second_samples: float, settings: Bootstrap
) -> tuple[float, float]:
    """Percentile interval (low, high) of σ from ``[items]`` scores of both trainings on the same items.

    Every resample of the items counts for both trainings. It says how far σ depends on which items are in the
    test set, not how it varies between seeds. Undefined where the smaller training scores 0 in a resample.
    """
    if np.shape(first) != np.shape(second):
        raise ValueError(f"shapes {np.shape(first)} and {np.shape(second)}; score both trainings on the same items")
    before, after = bootstrap_means(np.stack([np.asarray(first), np.asarray(second)]), settings)
    if not (before > 0).all():
        raise Undefined("the smaller training scores 0 in a resample")
    growth = _added_samples(Point(first_samples, 0.0), Point(second_samples, 0.0)) / first_samples
    return percentile_interval((after - before) / before / growth, settings)


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

"""Do metrics of summaries say what people say? Correlations of both, with bootstrap intervals, and Williams' test.

Scores are ``[systems, items]``. Over systems the mean scores of systems are correlated, over items all summaries'. The
bootstrap draws systems and items, both with replacement (Deutsch, Dror and Roth 2021): what is asked is how other
systems and other items would agree. Williams' (1959) test tells two dependent correlations apart, which share the
people's scores (Graham and Baldwin 2014, equation 1).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from sumcurve.statistics.coefficients import COEFFICIENTS, Coefficient, coefficients
from sumcurve.statistics.groups import Array

Over = Literal["systems", "items"]
FEWEST = 3  # systems, or items, below which a correlation says nothing
USABLE = 0.9  # share of the resamples in which both vary, without which there is no interval


@dataclass(frozen=True)
class Agreement:
    """A coefficient with its interval; without them `why` says why."""

    value: float | None
    low: float | None = None
    high: float | None = None
    why: str = ""


def _level(scores: Array, over: Over) -> Array:
    return scores.mean(axis=1) if over == "systems" else scores.reshape(-1)


def agreements(
    metric: Array,
    people: Array,
    over: Over,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 1,
) -> dict[Coefficient, Agreement]:
    """The correlations of two ``[systems, items]``, with percentile intervals of the bootstrap over both."""
    if metric.shape != people.shape:
        raise ValueError(f"scores of shape {metric.shape} and {people.shape}; give both of the same systems and items")
    systems, items = metric.shape
    count = systems if over == "systems" else systems * items
    if count < FEWEST:
        return dict.fromkeys(COEFFICIENTS, Agreement(None, why=f"{count} {over}: it takes {FEWEST}"))
    whole = coefficients(_level(metric, over), _level(people, over))
    if None in whole.values():
        return dict.fromkeys(COEFFICIENTS, Agreement(None, why="a score is the same everywhere"))
    generator = np.random.default_rng([seed, 14])
    drawn = []
    for _ in range(resamples):
        places = np.ix_(generator.integers(systems, size=systems), generator.integers(items, size=items))
        one = coefficients(_level(metric[places], over), _level(people[places], over))
        if None not in one.values():
            drawn.append(one)
    if len(drawn) < USABLE * resamples:
        few = "too few resamples in which both scores vary"
        return {kind: Agreement(value, why=few) for kind, value in whole.items()}
    tail = (1 - confidence) / 2
    found = {}
    for kind, value in whole.items():
        low, high = np.quantile(np.array([one[kind] for one in drawn], dtype=float), [tail, 1 - tail]).tolist()
        found[kind] = Agreement(value, low, high)
    return found


def williams(first: float, second: float, between: float, count: int) -> tuple[float, float]:
    """Williams' t, with `count` - 3 degrees of freedom, and its two-sided p.

    `first` and `second` are two metrics' correlations with people, `between` is that of the metrics with each other.
    ValueError for fewer than four observations, and for correlations that no data have.
    """
    if count < 4:
        raise ValueError(f"{count} observations; Williams' test takes four")
    rest = 1 - first**2 - second**2 - between**2 + 2 * first * second * between  # determinant
    if rest < -1e-12:
        raise ValueError(f"no data have the correlations {first}, {second} and {between}")
    scale = 2 * max(rest, 0.0) * (count - 1) / (count - 3) + (first + second) ** 2 / 4 * (1 - between) ** 3
    if scale <= 0:
        return 0.0, 1.0  # the metrics are one
    t = (first - second) * float(np.sqrt((count - 1) * (1 + between) / scale))
    return t, float(2 * stats.t.sf(abs(t), count - 3))

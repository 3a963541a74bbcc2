"""Intervals of one system's mean score and paired comparison of two systems over the same test items.

Test items are resampled, not scores of repeated runs: the spread between seeds is a matter of its own. Items
count as independent. Intervals of two systems that overlap say little about their difference; compare them in
pairs.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sumcurve.settings import Bootstrap

FLIPS_PER_RESAMPLE = 10  # the least p-value, 1 / (flips + 1), must survive a Holm correction over a whole study
CELLS = 2_000_000  # array elements held at a time


@dataclass(frozen=True)
class Interval:
    """A mean with its percentile bootstrap interval, in the unit of the values."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Difference:
    """First minus second system: mean difference per item, its interval, and what the items say."""

    mean: float
    low: float
    high: float
    p: float
    wins: int
    ties: int
    losses: int
    items: int


def bootstrap_means(values: ArrayLike, settings: Bootstrap) -> NDArray[np.float64]:
    """Means over resampled items: ``[items] -> [resamples]``, ``[columns, items] -> [columns, resamples]``.

    The resamples depend on the seed and the number of items alone, so two systems scored on the same items,
    each in the same order, are resampled jointly whether they come in one call or in two (Efron, 1979).
    """
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim not in (1, 2) or array.shape[-1] == 0:
        raise ValueError(f"values of shape {array.shape}; give at least one item, items on the last axis")
    if not np.isfinite(array).all():
        raise ValueError("a value is not finite; every item needs a score")
    items = array.shape[-1]
    generator = np.random.default_rng(settings.seed)
    means = np.empty((*array.shape[:-1], settings.resamples))
    batch = max(1, CELLS // items)
    for start in range(0, settings.resamples, batch):
        stop = min(start + batch, settings.resamples)
        drawn = generator.integers(0, items, size=(stop - start, items))
        if array.ndim == 1:
            means[start:stop] = array[drawn].mean(axis=-1)
        else:
            for row, column in zip(means, array, strict=True):
                row[start:stop] = column[drawn].mean(axis=-1)
    return means


def percentile_interval(statistics: ArrayLike, settings: Bootstrap) -> tuple[float, float]:
    """The central `settings.confidence` of resampled statistics, by linear interpolation."""
    tail = 50 * (1 - settings.confidence)
    low, high = np.percentile(np.asarray(statistics), [tail, 100 - tail])
    return float(low), float(high)


def bootstrap_interval(values: ArrayLike, settings: Bootstrap) -> Interval:
    """The mean of per-item values ``[items]`` with its percentile interval."""
    low, high = percentile_interval(bootstrap_means(values, settings), settings)
    return Interval(float(np.mean(np.asarray(values, dtype=np.float64))), low, high)


def paired_difference(first: ArrayLike, second: ArrayLike, settings: Bootstrap) -> Difference:
    """`first` minus `second`, both ``[items]`` over the same items in the same order.

    The interval is the percentile bootstrap's of the mean difference. `p` is the two-sided p-value of
    approximate randomisation (Noreen, 1989): the share of random sign flips of the differences whose mean is
    as far from zero, counting the observed one, from ten times `settings.resamples` flips.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape:
        raise ValueError(f"{a.shape[0]} items against {b.shape[0]}; both systems must be scored on the same items")
    differences = a - b
    interval = bootstrap_interval(differences, settings)
    return Difference(
        interval.mean,
        interval.low,
        interval.high,
        _sign_flip_p(differences, settings),
        int((differences > 0).sum()),
        int((differences == 0).sum()),
        int((differences < 0).sum()),
        len(differences),
    )


def _sign_flip_p(differences: NDArray[np.float64], settings: Bootstrap) -> float:
    moved = differences[differences != 0]  # a zero has no sign to flip
    if not len(moved):
        return 1.0
    generator = np.random.default_rng([settings.seed, 1])
    flips = FLIPS_PER_RESAMPLE * settings.resamples
    total = moved.sum()
    # Rounding must not decide whether a flip that gives the observed sum in another order counts as equal.
    bound = abs(total) - 1e-9 * np.abs(moved).sum()
    extreme = 0
    batch = max(1, CELLS // len(moved))
    for start in range(0, flips, batch):
        rows = min(batch, flips - start)
        octets = np.frombuffer(generator.bytes(rows * -(-len(moved) // 8)), dtype=np.uint8).reshape(rows, -1)
        kept = np.unpackbits(octets, axis=1, count=len(moved))
        extreme += int((np.abs(2 * (kept @ moved) - total) >= bound).sum())  # [rows, moved] @ [moved] -> [rows]
    return (extreme + 1) / (flips + 1)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Holm's (1979) step-down adjusted p-values, in the order given."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    scaled = p[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted

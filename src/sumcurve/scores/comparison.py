"""Intervals of one system's mean score and paired comparison of systems over the same test items.

Test items are resampled, not scores of repeated runs: the spread between seeds is a matter of its own. Items
count as independent. Whether two intervals overlap is never the test of a difference: items that are hard for one
system are hard for the other, so two overlapping intervals can hide a sure difference. The test is the paired one.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from sumcurve.settings import Bootstrap

FLIPS_PER_RESAMPLE = 10  # the least p-value, 1 / (flips + 1), must survive a Holm correction over a whole study
CELLS = 2_000_000  # array elements held at a time

Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True)
class Interval:
    """A mean, or a statistic of means, with its bootstrap interval, in its own unit."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Difference:
    """First minus second system: mean difference per item, its interval, and what the items say.

    `wins` counts the items on which the first system is better. `p` is of this comparison alone; `p_holm` is
    corrected for the family of comparisons that it was made in, and equals `p` where it is the only one.
    """

    mean: float
    low: float
    high: float
    p: float
    wins: int
    ties: int
    losses: int
    items: int
    p_holm: float
    first: str = ""
    second: str = ""


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
    centre = array.mean(axis=-1, keepdims=True)  # so that what never varies is exact
    deviations = array - centre
    parts = [
        deviations @ times.T  # [columns, items] @ [items, batch] -> [columns, batch]
        for times in _resamples(items, settings.resamples, settings.seed)
    ]
    return centre + np.concatenate(parts, axis=-1) / items


@lru_cache(maxsize=4)
def _kept_resamples(items: int, resamples: int, seed: int) -> list[NDArray[np.float64]]:
    return list(_drawn_resamples(items, resamples, seed))


def _resamples(items: int, resamples: int, seed: int) -> Iterable[NDArray[np.float64]]:
    """How often every resample holds every item, in batches ``[batch, items]``; small ones are drawn once only."""
    small = items * resamples <= 2 * CELLS
    return _kept_resamples(items, resamples, seed) if small else _drawn_resamples(items, resamples, seed)


def _drawn_resamples(items: int, resamples: int, seed: int) -> Iterator[NDArray[np.float64]]:
    generator = np.random.default_rng(seed)
    batch = max(1, CELLS // items)
    for start in range(0, resamples, batch):
        rows = min(batch, resamples - start)
        drawn = generator.integers(0, items, size=(rows, items)) + items * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * items).reshape(rows, items).astype(np.float64)


def bca_interval(columns: ArrayLike, statistic: Statistic, settings: Bootstrap) -> Interval:
    """A statistic of the means of per-item values ``[k, items]`` with its BCa interval (Efron, 1987).

    `statistic` maps means ``[k, ...]`` to ``[...]``: ``lambda m: (m[1] - m[0]) / m[0]`` is the relative growth from
    the first column to the second. Items are resampled jointly over columns. The percentiles of the resampled
    statistics that bound the interval are shifted by the median bias z0 and by the acceleration a, which the
    jackknife gives (Efron and Tibshirani, 1993, eq. 14.10, 14.14, 14.15).

    Where no item moves the statistic, and for a single item, both ends are the statistic itself: such data have no
    spread to resample. A statistic that is not finite in a resample is a ValueError.
    """
    array = np.asarray(columns, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"columns of shape {array.shape}; give [k, items]")
    resampled = np.asarray(statistic(bootstrap_means(array, settings)))
    items = array.shape[1]
    means = array.mean(axis=1)
    point = float(statistic(means))
    if not (np.isfinite(point) and np.isfinite(resampled).all()):
        raise ValueError("the statistic is not finite, or not in every resample; a denominator may be 0")
    if items == 1:
        return Interval(point, point, point)
    left_out = np.asarray(statistic((means[:, None] * items - array) / (items - 1)))  # [k, items] -> [items]
    return Interval(point, *_bca(point, resampled, left_out, settings))


def bootstrap_interval(values: ArrayLike, settings: Bootstrap) -> Interval:
    """The mean of per-item values ``[items]`` with its BCa interval."""
    return bca_interval(np.asarray(values, dtype=np.float64)[None], _first_mean, settings)


def paired_difference(first: ArrayLike, second: ArrayLike, settings: Bootstrap) -> Difference:
    """`first` minus `second`, both ``[items]`` over the same items in the same order.

    The interval is the BCa bootstrap's of the mean difference. `p` is the two-sided p-value of approximate
    randomisation (Noreen, 1989): the share of random sign flips of the differences whose mean is as far from
    zero, counting the observed one, from ten times `settings.resamples` flips. `p_holm` is `p`: one comparison.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape:
        raise ValueError(f"{a.shape[0]} items against {b.shape[0]}; both systems must be scored on the same items")
    return _differences((a - b)[None], [("", "")], settings)[0]


def compare_all(systems: Mapping[str, ArrayLike], settings: Bootstrap) -> list[Difference]:
    """Every pair of systems, each ``[items]`` over the same items in the same order, as `paired_difference`.

    Pairs come in the order of `systems`, the earlier one first; `p_holm` is corrected over all of them. Resamples
    and flips are the same for every pair. That the intervals of two systems' means overlap is no test: read
    `p_holm`, and `low` and `high` of the difference.
    """
    scores = {name: np.asarray(values, dtype=np.float64) for name, values in systems.items()}
    lengths = {name: len(values) for name, values in scores.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"systems of {lengths} items; all must be scored on the same items")
    pairs = list(combinations(scores, 2))
    if not pairs:
        return []
    differences = np.stack([scores[first] - scores[second] for first, second in pairs])
    return holm_corrected(_differences(differences, pairs, settings))


def holm_corrected(family: Sequence[Difference]) -> list[Difference]:
    """The same comparisons in the same order, with `p_holm` corrected over all of them."""
    adjusted = holm([one.p for one in family])
    return [replace(one, p_holm=float(p)) for one, p in zip(family, adjusted, strict=True)]


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Holm's (1979) step-down adjusted p-values, in the order given."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    scaled = p[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted


def _differences(
    differences: NDArray[np.float64], names: Sequence[tuple[str, str]], settings: Bootstrap
) -> list[Difference]:
    """One `Difference` for each row of ``[pairs, items]``."""
    items = differences.shape[1]
    resampled = bootstrap_means(differences, settings)
    p_values = _sign_flip_p(differences, settings)
    found = []
    for row, means, p, (first, second) in zip(differences, resampled, p_values, names, strict=True):
        mean = float(row.mean())
        left_out = (row.sum() - row) / (items - 1) if items > 1 else np.array([mean])
        low, high = _bca(mean, means, left_out, settings)
        wins, losses = int((row > 0).sum()), int((row < 0).sum())
        ties = items - wins - losses
        found.append(Difference(mean, low, high, float(p), wins, ties, losses, items, float(p), first, second))
    return found


def _first_mean(means: NDArray[np.float64]) -> NDArray[np.float64]:
    return means[0]


def _bca(
    point: float, resampled: NDArray[np.float64], left_out: NDArray[np.float64], settings: Bootstrap
) -> tuple[float, float]:
    """Ends from the statistic, its resamples ``[resamples]`` and its jackknife values ``[items]``."""
    pulls = left_out.mean() - left_out
    if np.abs(pulls).max() <= 1e-13 * np.abs(left_out).max() or np.ptp(resampled) == 0:
        return point, point
    # Resamples equal to the point but for rounding count half, as ties do.
    slack = 1e-9 * np.ptp(resampled)
    below, above = (resampled < point - slack).mean(), (resampled > point + slack).mean()
    half = 0.5 / len(resampled)
    bias = ndtri(np.clip((below + 1 - above) / 2, half, 1 - half))
    # Scaled first: cubes of small pulls would vanish.
    scaled = pulls / np.abs(pulls).max()
    acceleration = (scaled**3).sum() / (6 * (scaled**2).sum() ** 1.5)
    tail = (1 - settings.confidence) / 2
    shifted = bias + ndtri(np.array([tail, 1 - tail]))
    room = 1 - acceleration * shifted
    # Beyond the pole of the transformation (room <= 0) the percentile is the outermost one.
    levels = np.where(room > 0, ndtr(bias + shifted / np.where(room > 0, room, 1)), shifted > 0)
    low, high = np.percentile(resampled, 100 * levels)
    return float(low), float(high)


def _sign_flip_p(differences: NDArray[np.float64], settings: Bootstrap) -> NDArray[np.float64]:
    """Two-sided p-values ``[pairs]`` of ``[pairs, items]``; 1 where all items tie. All pairs share the flips."""
    pairs, items = differences.shape
    generator = np.random.default_rng([settings.seed, 1])
    flips = FLIPS_PER_RESAMPLE * settings.resamples
    totals = differences.sum(axis=1)
    # Rounding must not decide whether a flip that gives the observed sum in another order counts as equal.
    bounds = np.abs(totals) - 1e-9 * np.abs(differences).sum(axis=1)
    extreme = np.zeros(pairs, dtype=np.int64)
    batch = max(1, CELLS // max(items, pairs))
    octets = -(-items // 8)
    for start in range(0, flips, batch):
        rows = min(batch, flips - start)
        drawn = np.frombuffer(generator.bytes(rows * octets), dtype=np.uint8).reshape(rows, octets)
        kept = np.unpackbits(drawn, axis=1, count=items).astype(np.float64)
        sums = 2 * (kept @ differences.T) - totals  # [rows, items] @ [items, pairs] -> [rows, pairs]
        extreme += (np.abs(sums) >= bounds).sum(axis=0)
    return (extreme + 1) / (flips + 1)

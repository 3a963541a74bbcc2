"""Systems scored on the same items where no groups of items are known: every item is a draw of its own.

Whether two intervals overlap is never the test of a difference: items that are hard for one system are hard for the
other, so two overlapping intervals can hide a sure difference. The test is the paired one.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from sumcurve.statistics.groups import Array

FLIPS_PER_RESAMPLE = 10  # the least p value, 1 / (flips + 1), must survive a correction over metrics
CELLS = 2_000_000  # array elements held at a time


def bca_intervals(values: Array, confidence: float, resamples: int, seed: int) -> Array:
    """Low and high ends ``[rows, 2]`` of the means of ``[rows, items]``: the BCa bootstrap over items (Efron, 1987).

    Rows are resampled jointly. The jackknife of a mean is known in closed form, which scipy's general one (items
    squared) does not use. A row without spread, such as a single item, has its mean at both ends.
    """
    if values.ndim != 2 or values.shape[1] == 0 or not np.isfinite(values).all():
        raise ValueError(f"values of shape {values.shape}; give finite ones, [rows, items], of one item at least")
    means = values.mean(axis=1)
    deviations = values - means[:, None]  # so that what never varies is exact
    resampled = _resampled_means(deviations, resamples, seed)
    ends = [_bca(row, drawn, confidence) for row, drawn in zip(deviations, resampled, strict=True)]
    return np.asarray(means[:, None] + np.array(ends))


def _resampled_means(values: Array, resamples: int, seed: int) -> Array:
    """``[rows, items] -> [rows, resamples]``"""
    rows, items = values.shape
    generator = np.random.default_rng(seed)
    means = np.empty((rows, resamples))
    batch = max(1, CELLS // items)
    for start in range(0, resamples, batch):
        count = min(batch, resamples - start)
        drawn = generator.integers(0, items, size=(count, items)) + items * np.arange(count)[:, None]
        times = np.bincount(drawn.ravel(), minlength=count * items).reshape(count, items)
        means[:, start : start + count] = values @ times.T.astype(np.float64) / items
    return means


def _bca(deviations: Array, resampled: Array, confidence: float) -> tuple[float, float]:
    """Ends around a mean of 0 (Efron and Tibshirani, 1993, eq. 14.10, 14.14, 14.15); pulls are the deviations."""
    if np.abs(deviations).max() == 0 or np.ptp(resampled) == 0:
        return 0.0, 0.0
    # Resamples equal to the mean but for rounding count half, as ties do.
    slack = 1e-9 * np.ptp(resampled)
    below, above = (resampled < -slack).mean(), (resampled > slack).mean()
    half = 0.5 / len(resampled)
    bias = ndtri(np.clip((below + 1 - above) / 2, half, 1 - half))
    scaled = deviations / np.abs(deviations).max()  # cubes of small ones would vanish
    acceleration = (scaled**3).sum() / (6 * (scaled**2).sum() ** 1.5)
    tail = (1 - confidence) / 2
    shifted = bias + ndtri(np.array([tail, 1 - tail]))
    room = 1 - acceleration * shifted
    # Beyond the pole of the transformation (room <= 0) the percentile is the outermost one.
    levels = np.where(room > 0, ndtr(bias + shifted / np.where(room > 0, room, 1)), shifted > 0)
    low, high = np.percentile(resampled, 100 * levels)
    return float(low), float(high)


def sign_flip_p(differences: Array, resamples: int, seed: int) -> Array:
    """Two-sided p values ``[rows]`` of approximate randomisation (Noreen, 1989) for differences ``[rows, items]``.

    The share of random sign flips whose mean is as far from zero, counting the observed one, from ten times `resamples`
    flips, the same for all rows; 1 where all items tie. Packed bits, because scipy's permutations of 11,490 items take
    minutes.
    """
    rows, items = differences.shape
    generator = np.random.default_rng([seed, 1])
    flips = FLIPS_PER_RESAMPLE * resamples
    totals = differences.sum(axis=1)
    # Rounding must not decide whether a flip that gives the observed sum in another order counts as equal.
    bounds = np.abs(totals) - 1e-9 * np.abs(differences).sum(axis=1)
    extreme = np.zeros(rows, dtype=np.int64)
    batch = max(1, CELLS // max(items, rows))
    octets = -(-items // 8)
    for start in range(0, flips, batch):
        count = min(batch, flips - start)
        drawn = np.frombuffer(generator.bytes(count * octets), dtype=np.uint8).reshape(count, octets)
        kept = np.unpackbits(drawn, axis=1, count=items).astype(np.float64)
        sums = 2 * (kept @ differences.T) - totals  # [batch, items] @ [items, rows] -> [batch, rows]
        extreme += (np.abs(sums) >= bounds).sum(axis=0)
    return np.asarray((extreme + 1) / (flips + 1))


def holm(p_values: ArrayLike) -> Array:
    """Holm's (1979) step-down adjusted p values, in the order given."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    scaled = p[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted


def holm_steps(tests: int, level: float) -> Array:
    """Thresholds of Holm's procedure for p values ``[tests]`` with, from the smallest on, at `level` of the family."""
    return level / np.arange(tests, 0, -1)

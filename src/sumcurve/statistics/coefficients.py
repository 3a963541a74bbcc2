"""Pearson's r, Spearman's ρ and Kendall's τ-b of two rows: every correlation of the project is worked out here.

Means that are equal as fractions differ in the last bits of their floats. Ranks and ties are therefore those of values
to `DIGITS` significant digits, so that rounding orders nothing.
"""

from typing import Literal

import numpy as np
from scipy import stats

from sumcurve.statistics.groups import Array

Coefficient = Literal["pearson", "spearman", "kendall"]
COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall")
DIGITS = 12  # significant ones, of the row's largest magnitude; floats have almost 16, and means lose one or two


def ranks(values: Array) -> Array:
    """Ranks ``[n]`` from 1 of values ``[n]``, ties at their mean rank.

    Two neighbours in order tie where they differ by no more than 10**-DIGITS of the row's largest magnitude: a
    distance, and no grid, on whose lines rounding would still decide.
    """
    order = np.argsort(values, kind="stable")
    placed = np.empty(len(values))
    placed[order] = np.cumsum(np.diff(values[order], prepend=values[order[:1]]) > _reach(values))
    return np.asarray(stats.rankdata(placed), dtype=float)


def varies(values: Array) -> bool:
    """Whether the values ``[n]`` are not all the same, to `DIGITS` significant digits of the largest magnitude."""
    return bool(np.ptp(values) > _reach(values))


def coefficient(first: Array, second: Array, kind: Coefficient) -> float | None:
    """The coefficient of two rows ``[n]`` in [-1, 1]; None where one does not vary.

    τ-b is Kendall's (1945) with ties: pairs in order less pairs out of order, over the geometric mean of the pairs that
    each row tells apart.
    """
    if not (varies(first) and varies(second)):
        return None
    if kind != "pearson":
        first, second = ranks(first), ranks(second)
    if kind == "kendall":
        return float(stats.kendalltau(first, second, method="asymptotic").statistic)  # its p is not used
    return float(np.clip(np.corrcoef(first, second)[0, 1], -1, 1))


def _reach(values: Array) -> float:
    return float(np.abs(values).max() * 10.0**-DIGITS)

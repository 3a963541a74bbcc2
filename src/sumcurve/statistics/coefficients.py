"""Pearson's r, Spearman's ρ and Kendall's τ-b of two rows: every correlation of the project is worked out here.

Means that are equal as fractions differ in the last bits of their floats. Ranks and ties are therefore those of values
to `DIGITS` significant digits, so that rounding orders nothing.
"""

from collections.abc import Callable, Sequence
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
    starts = np.flatnonzero(np.diff(values[order], prepend=-np.inf) > _reach(values))
    ends = np.append(starts[1:], len(values))
    ranks = np.empty(len(values))
    ranks[order] = np.repeat((starts + 1 + ends) / 2, ends - starts)
    return ranks


def varies(values: Array) -> bool:
    """Tell whether the values ``[n]`` are not all the same, to `DIGITS` significant digits of the largest magnitude."""
    return bool(np.ptp(values) > _reach(values))


def coefficient(first: Array, second: Array, kind: Coefficient) -> float | None:
    """One of `coefficients`."""
    return coefficients(first, second, (kind,))[kind]


def coefficients(
    first: Array, second: Array, kinds: Sequence[Coefficient] = COEFFICIENTS
) -> dict[Coefficient, float | None]:
    """The coefficients of two rows ``[n]``, each in [-1, 1]; None where one of the rows does not vary.

    τ-b is Kendall's (1945) with ties: pairs in order less pairs out of order, over the geometric mean of the pairs that
    each row tells apart.
    """
    if not (varies(first) and varies(second)):
        return dict.fromkeys(kinds)
    values_by_kind: dict[Coefficient, float | None] = {}
    ranked = (ranks(first), ranks(second)) if {*kinds} - {"pearson"} else (first, second)
    for kind in kinds:
        if kind == "kendall":
            values_by_kind[kind] = float(stats.kendalltau(*ranked, method="asymptotic").statistic)  # its p is not used
        else:
            pair = ranked if kind == "spearman" else (first, second)
            values_by_kind[kind] = float(np.clip(np.corrcoef(*pair)[0, 1], -1, 1))
    return values_by_kind


def resampled_coefficients(
    first: Array, second: Array, weights: Array, kinds: Sequence[Coefficient] = COEFFICIENTS
) -> dict[Coefficient, Array]:
    """`coefficients` of samples that hold value i of both rows ``weights[r, i]`` times: ``[r]``, NaN for None.

    Rows are ``[n]``, or ``[r, n]`` where every sample has values of its own. With the signs s of a row's pairwise
    differences, τ-b is Σ w w s s' over the root of Σ w w s s and Σ w w s' s' (Daniels 1944), and a sample's midranks
    are Σ w s, moved and scaled.
    """
    ranked = (np.apply_along_axis(ranks, -1, row) for row in (first, second))
    signs = [np.sign(row[..., :, None] - row[..., None, :]) for row in ranked]  # [n, n] or [r, n, n]
    sizes = weights.sum(axis=1, keepdims=True)

    def weighted(matrix: Array) -> Array:
        """Σ_j w[r, j] m[i, j]: ``[r, n]``."""
        return weights @ matrix.T if matrix.ndim == 2 else np.einsum("rj,rij->ri", weights, matrix)

    def over_pairs(left: Array, right: Array) -> Array:
        return np.asarray((weighted(left * right) * weights).sum(axis=1))

    def over_values(left: Array, right: Array) -> Array:
        left, right = (row - (weights * row).sum(axis=1, keepdims=True) / sizes for row in (left, right))
        return np.asarray((weights * left * right).sum(axis=1))

    kendall = _ratio(signs[0], signs[1], over_pairs)
    vary = np.where(np.isnan(kendall), np.nan, 1.0)
    values_by_kind: dict[Coefficient, Array] = {}
    for kind in kinds:
        if kind == "kendall":
            values_by_kind[kind] = kendall
        else:
            pair = (weighted(signs[0]), weighted(signs[1])) if kind == "spearman" else (first, second)
            values_by_kind[kind] = vary * _ratio(*pair, over_values)
    return values_by_kind


def _ratio(first: Array, second: Array, product: Callable[[Array, Array], Array]) -> Array:
    """The product of two over the root of the products with themselves, in [-1, 1]; NaN where one of these is 0."""
    lengths = np.sqrt(product(first, first) * product(second, second))
    ratio = np.divide(product(first, second), lengths, out=np.full_like(lengths, np.nan), where=lengths > 0)
    return np.clip(ratio, -1, 1)


def _reach(values: Array) -> float:
    return float(np.abs(values).max() * 10.0**-DIGITS)

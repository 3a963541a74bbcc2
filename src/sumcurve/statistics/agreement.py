"""Agreement of judgements beyond chance: Cohen's kappa of two, Krippendorff's alpha of any number.

Both are one minus observed over expected disagreement, and both follow from a sum over items of matrices
``[categories, categories]``: kappa (Cohen, 1960) from how often the first judged k where the second judged l, nominal
alpha (Krippendorff, 2004, chapter 11) from the coincidences of values within an item. So a resample of items is a
weighted sum of matrices, and intervals are the BCa bootstrap's (Efron, 1987) over groups of items.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from sumcurve.settings.study import Bootstrap
from sumcurve.statistics.groups import Array, Groups

Coefficient = Callable[[Array], Array]  # of summed matrices ``[..., k, k] -> [...]``
MOST_UNDEFINED = 0.05  # share of resamples without a value, above which there is no interval


@dataclass(frozen=True)
class Agreement:
    """A coefficient with its interval; `same` is the share of pairs of judgements of one item that are equal.

    `items` had two judgements at least. `value` is None where it is not defined (all judgements are one category), the
    ends where there is no interval; then `why` says why.
    """

    value: float | None
    low: float | None
    high: float | None
    same: float | None
    items: int
    why: str = ""


def cohens_kappa(
    first: Sequence[Hashable], second: Sequence[Hashable], groups: Sequence[str], settings: Bootstrap | None = None
) -> Agreement:
    """Kappa of two judgements ``[items]`` of the same items, in the order of `groups`.

    ValueError where they differ in length or there is no item.
    """
    if not (len(first) == len(second) == len(groups)) or not first:
        raise ValueError(f"{len(first)} and {len(second)} judgements, {len(groups)} groups; give each item all three")
    places = {value: place for place, value in enumerate(dict.fromkeys([*first, *second]))}
    matrices = np.zeros((len(first), len(places), len(places)))
    for item, (left, right) in enumerate(zip(first, second, strict=True)):
        matrices[item, places[left], places[right]] = 1
    return _agreement(matrices, groups, _kappa, settings or Bootstrap())


def krippendorffs_alpha(
    judgements: Sequence[Mapping[Any, Hashable]], groups: Sequence[str], settings: Bootstrap | None = None
) -> Agreement:
    """Nominal alpha of items' judgements by rater; whoever did not judge an item is left out of it.

    Items with fewer than two judgements say nothing of agreement and do not count. ValueError where lengths differ.
    """
    if len(judgements) != len(groups):
        raise ValueError(f"{len(judgements)} items, {len(groups)} groups; give every item its group")
    paired = [(list(item.values()), group) for item, group in zip(judgements, groups, strict=True) if len(item) > 1]
    if not paired:
        return Agreement(None, None, None, None, 0, "no item has two judgements")
    places = {value: place for place, value in enumerate(dict.fromkeys(v for values, _ in paired for v in values))}
    matrices = np.zeros((len(paired), len(places), len(places)))
    for item, (values, _) in enumerate(paired):
        counts = np.bincount([places[value] for value in values], minlength=len(places)).astype(float)
        matrices[item] = (np.outer(counts, counts) - np.diag(counts)) / (len(values) - 1)
    return _agreement(matrices, [group for _, group in paired], _alpha, settings or Bootstrap())


def _kappa(sums: Array) -> Array:
    """``[..., k, k] -> [...]``; nan where one category alone is expected."""
    total = sums.sum(axis=(-2, -1))
    expected = (sums.sum(axis=-1) * sums.sum(axis=-2)).sum(axis=-1) / total**2
    return _beyond_chance(1 - np.trace(sums, axis1=-2, axis2=-1) / total, 1 - expected)


def _alpha(sums: Array) -> Array:
    """``[..., k, k] -> [...]``; nan where all values are one category."""
    of_value = sums.sum(axis=-1)
    total = of_value.sum(axis=-1)
    expected = (total**2 - (of_value**2).sum(axis=-1)) / (total * (total - 1))
    return _beyond_chance(1 - np.trace(sums, axis1=-2, axis2=-1) / total, expected)


def _beyond_chance(observed: Array, expected: Array) -> Array:
    defined = expected > 1e-12
    return np.where(defined, 1 - observed / np.where(defined, expected, 1.0), np.nan)


def _agreement(matrices: Array, groups: Sequence[str], coefficient: Coefficient, settings: Bootstrap) -> Agreement:
    whole = matrices.sum(axis=0)
    same = float(np.trace(whole) / whole.sum())
    value, items = float(coefficient(whole)), len(matrices)
    if np.isnan(value):
        return Agreement(None, None, None, same, items, "all judgements are of one category")
    codes = np.unique(np.asarray(groups, dtype=str), return_inverse=True)[1]
    sums = np.zeros((codes.max() + 1, *matrices.shape[1:]))
    np.add.at(sums, codes, matrices)
    if why := Groups.of(groups).why:
        return Agreement(value, None, None, same, items, why)
    ends = _bca(sums, value, coefficient, settings)
    if isinstance(ends, str):
        return Agreement(value, None, None, same, items, ends)
    return Agreement(value, *ends, same, items)


def _bca(sums: Array, value: float, coefficient: Coefficient, settings: Bootstrap) -> tuple[float, float] | str:
    """The ends of the interval over groups, of their sums ``[groups, k, k]``; a sentence where there is none."""
    generator = np.random.default_rng([settings.seed, 15])
    count = len(sums)
    times = generator.multinomial(count, np.full(count, 1 / count), settings.resamples).astype(float)
    drawn = coefficient(np.tensordot(times, sums, axes=1))
    left_out = coefficient(sums.sum(axis=0) - sums)
    defined: NDArray[np.bool_] = ~np.isnan(drawn)
    if np.isnan(left_out).any() or (~defined).mean() > MOST_UNDEFINED:
        return "no interval: almost all judgements are of one category"
    drawn = drawn[defined]
    deviations = left_out.mean() - left_out
    if np.ptp(drawn) == 0 or not deviations.any():
        return "no interval: the judgements agree alike in all groups"
    slack = 1e-9 * np.ptp(drawn)
    half = 0.5 / len(drawn)
    below, above = (drawn < value - slack).mean(), (drawn > value + slack).mean()
    bias = ndtri(np.clip((below + 1 - above) / 2, half, 1 - half))
    acceleration = (deviations**3).sum() / (6 * (deviations**2).sum() ** 1.5)
    tail = (1 - settings.confidence) / 2
    shifted = bias + ndtri(np.array([tail, 1 - tail]))
    room = 1 - acceleration * shifted
    levels = np.where(room > 0, ndtr(bias + shifted / np.where(room > 0, room, 1)), shifted > 0)
    low, high = np.percentile(drawn, 100 * levels)
    return float(low), float(high)

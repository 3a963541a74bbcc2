"""Do metrics of summaries say what people say? Correlations of both, with bootstrap intervals, and Williams' test.

Scores are ``[systems, items]``. At system level the mean scores of systems are correlated; at summary level the scores
of one item's summaries, over systems, and the mean over items is taken; pooled, all summaries are one sample, in which
differences of systems and of items mix. The bootstrap draws systems and items, both with replacement (Deutsch, Dror and
Roth 2021, whose levels the first two are): what is asked is how other systems and other items would agree. Two metrics'
correlations with the same people are compared by a permutation test over systems and items (the same paper), and by
Williams' (1959) test of dependent correlations (Graham and Baldwin 2014, equation 1), which takes items as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from sumcurve.statistics.coefficients import COEFFICIENTS, DIGITS, Coefficient, coefficients, resampled_coefficients
from sumcurve.statistics.groups import Array

Draw = tuple[NDArray[np.int64], NDArray[np.int64]]  # of systems, of items
Level = Literal["system", "summary", "pooled"]
LEVELS: tuple[Level, ...] = get_args(Level)
FEWEST = 3  # systems, or summaries, below which a correlation says nothing
USABLE = 0.9  # share of the resamples in which both vary, without which there is no interval


@dataclass(frozen=True)
class Agreement:
    """A coefficient with its interval; without them `why` says why.

    At summary level `undefined` items have no correlation, since a score is the same for all their systems; they are
    not in the mean.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    why: str = ""
    undefined: int = 0


def agreements(
    metric: Array,
    people: Array,
    level: Level,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 1,
) -> dict[Coefficient, Agreement]:
    """The correlations of two ``[systems, items]``, with percentile intervals of the bootstrap over both.

    Without resamples they have no intervals.
    """
    if metric.shape != people.shape:
        raise ValueError(f"scores of shape {metric.shape} and {people.shape}; give both of the same systems and items")
    systems, items = metric.shape
    count, of = (systems * items, "summaries") if level == "pooled" else (systems, "systems")
    if count < FEWEST:
        return dict.fromkeys(COEFFICIENTS, Agreement(None, why=f"{count} {of}: it takes {FEWEST}"))
    generator = np.random.default_rng([seed, 14])
    draws: list[Draw] = [(np.arange(systems), np.arange(items))]
    for _ in range(resamples):
        draws.append((generator.integers(systems, size=(systems,)), generator.integers(items, size=(items,))))
    values, undefined = correlations(metric, people, level, draws)
    tail = (1 - confidence) / 2
    agreements = {}
    for kind, (whole, *drawn) in values.items():
        usable = [value for value in drawn if value == value]
        if whole != whole:
            everywhere = "everywhere" if level != "summary" else "for all systems, in every item"
            agreements[kind] = Agreement(None, why=f"a score is the same {everywhere}", undefined=undefined)
        elif not usable or len(usable) < USABLE * resamples:
            few = "too few resamples in which both scores vary"
            agreements[kind] = Agreement(whole, why=few, undefined=undefined)
        else:
            low, high = np.quantile(usable, [tail, 1 - tail]).tolist()
            agreements[kind] = Agreement(whole, low, high, undefined=undefined)
    return agreements


def correlations(
    first: Array, second: Array, level: Level, draws: Sequence[Draw]
) -> tuple[dict[Coefficient, list[float]], int]:
    """The correlations of every draw of systems and items, NaN where a score does not vary.

    Beside them how many items have none in the first draw, at summary level.
    """
    if level == "summary":
        return _means_over_items(first, second, draws)
    values: dict[Coefficient, list[float]] = {kind: [] for kind in COEFFICIENTS}
    for draw in draws:
        left, right = (
            scores[np.ix_(*draw)].mean(axis=1) if level == "system" else scores[np.ix_(*draw)].reshape(-1)
            for scores in (first, second)
        )
        for kind, value in coefficients(left, right).items():
            values[kind].append(np.nan if value is None else value)
    return values, 0


def _means_over_items(first: Array, second: Array, draws: Sequence[Draw]) -> tuple[dict[Coefficient, list[float]], int]:
    """An item that is drawn several times counts as often; one without a correlation does not count."""
    systems, items = (
        np.stack([np.bincount(draw[axis], minlength=first.shape[axis]) for draw in draws]).astype(float)
        for axis in (0, 1)
    )  # [draws, systems], [draws, items]: how often each is drawn
    totals = {kind: np.zeros(len(draws)) for kind in COEFFICIENTS}
    counts = np.zeros(len(draws))
    for item, times in enumerate(items.T):
        of_item = resampled_coefficients(first[:, item], second[:, item], systems)
        counts += times * ~np.isnan(of_item["kendall"])
        for kind, values in of_item.items():
            totals[kind] += times * np.nan_to_num(values)
    means = {
        kind: np.divide(total, counts, out=np.full(len(draws), np.nan), where=counts > 0).tolist()
        for kind, total in totals.items()
    }
    return means, int(items[0].sum() - counts[0])


@dataclass(frozen=True)
class Difference:
    """How much higher the first metric's correlation with people is, and the two-sided p of the permutation test."""

    value: float
    p: float


def differences(
    first: Array, second: Array, people: Array, level: Level, permutations: int = 999, seed: int = 1
) -> dict[Coefficient, Difference | None]:
    """Two metrics' correlations with people compared; scores are ``[systems, items]``.

    The standardised scores of both change places at every summary alone, in half of the cases ("Perm-Both" of Deutsch,
    Dror and Roth 2021): under no difference, whose score is whose does not matter. The observed difference is counted
    among the permuted ones; of these one that is not defined counts as being as large. None where a correlation is not
    defined. ValueError for pooled summaries, whose pairs are too many.
    """
    if level == "pooled":
        raise ValueError("no permutation test of pooled summaries; compare at system or summary level")
    generator = np.random.default_rng([seed, 7])
    pair, manual = [_standardised(scores) for scores in (first, second)], _units(people, level)
    gaps: dict[Coefficient, list[float]] = {kind: [] for kind in COEFFICIENTS}
    for draw in range(permutations + 1):
        swapped = generator.random(first.shape) < (0.5 if draw else 0.0)
        left, right = (_units(np.where(swapped, *both), level) for both in (pair[::-1], pair))
        for kind, gap in gaps.items():
            gap.append(_correlation(left[kind], manual[kind]) - _correlation(right[kind], manual[kind]))
    compared: dict[Coefficient, Difference | None] = {}
    for kind, (observed, *drawn) in gaps.items():
        extreme = sum(not abs(gap) < abs(observed) - 1e-12 for gap in drawn)
        known = observed == observed
        compared[kind] = Difference(observed, (extreme + 1) / (permutations + 1)) if known else None
    return compared


def _units(scores: Array, level: Level) -> dict[Coefficient, Array]:
    """Columns ``[n, items]`` whose product with those of other scores is the coefficient; nought without spread.

    τ-b is the correlation of the signs of differences, and a rank is, but for a constant, the sum of its signs.
    """
    if level == "system":
        scores = scores.mean(axis=1, keepdims=True)
    signs = _signs(scores)
    columns: dict[Coefficient, Array] = {
        "pearson": scores - scores.mean(axis=0),
        "spearman": signs.sum(axis=1),
        "kendall": signs.reshape(-1, scores.shape[1]),
    }
    varies = (signs != 0).any(axis=(0, 1))
    for kind, values in columns.items():
        lengths = np.sqrt((values**2).sum(axis=0))
        columns[kind] = np.divide(values, lengths, out=np.zeros_like(values), where=varies)
    return columns


def _correlation(left: Array, right: Array) -> float:
    """The mean over the items in which both scores vary, NaN where none does."""
    both = left.any(axis=0) & right.any(axis=0)
    return float((left * right).sum(axis=0)[both].mean()) if both.any() else np.nan


def _signs(scores: Array) -> Array:
    """Signs of differences ``[n, n, items]`` of scores ``[n, items]``, 0 where they are equal but for rounding."""
    apart = scores[:, None] - scores[None]
    return np.sign(np.where(np.abs(apart) <= 10.0**-DIGITS * np.abs(scores).max(axis=0), 0, apart))


def _standardised(scores: Array) -> Array:
    spread = scores.std()
    return (scores - scores.mean()) / (spread if spread > 0 else 1)


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

"""Do metrics of summaries say what people say? Correlations of both, with bootstrap intervals, and Williams' test.

Scores are ``[systems, items]``. At system level the mean scores of systems are correlated; at summary level the scores
of one item's summaries, over systems, and the mean over items is taken (Bhandari et al. 2020, section 4); pooled, all
summaries are one sample, in which differences of systems and of items mix. The bootstrap draws systems and items, both
with replacement (Deutsch, Dror and Roth 2021, "Boot-Both", whose levels the first two are): what is asked is how other
systems and other items would agree. Two metrics' correlations with the same people are compared by a permutation test
over systems and items (the same paper), and by Williams' (1959) test of dependent correlations (Graham and Baldwin
2014, equation 1), which takes items as they are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from sumcurve.statistics.coefficients import (
    COEFFICIENTS,
    DIGITS,
    Coefficient,
    coefficients,
    resampled_coefficients,
    varies,
)
from sumcurve.statistics.groups import Array

Level = Literal["system", "summary", "pooled"]
LEVELS: tuple[Level, ...] = get_args(Level)
FEWEST = 3  # systems, or summaries, below which a correlation says nothing
USABLE = 0.9  # share of the resamples in which both vary, without which there is no interval

ByKind = dict[Coefficient, Array]


@dataclass(frozen=True)
class Draws:
    """Counts of how often each system ``[r, systems]`` and item ``[r, items]`` is drawn; the first draw is the data."""

    systems: Array
    items: Array

    @classmethod
    @cache
    def crossed(
        cls, systems: int, items: int, resamples: int, seed: int, groups: tuple[int, ...] | None = None
    ) -> "Draws":
        """The data and so many resamples of both. Of one system, all are of that system.

        `groups` are the group of every item, counted from 0, which is drawn as a whole (mails of a mailbox, docstrings
        of a package); without them each item is one of its own.
        """
        places = np.arange(items) if groups is None else np.array(groups)
        counts = []
        for axis, size in enumerate((systems, int(places.max()) + 1)):
            generator = np.random.default_rng([seed, axis])
            drawn = generator.multinomial(size, np.full(size, 1 / size), size=resamples).astype(float)
            counts.append(np.concatenate([np.ones((1, size)), drawn]))
        return cls(counts[0], counts[1][:, places])


def correlations(
    metric: Array,
    people: Array,
    level: Level,
    draws: Draws,
    given: Array | None = None,
    kinds: Sequence[Coefficient] = COEFFICIENTS,
) -> ByKind:
    """The coefficients ``[r]`` in every draw, NaN where a score does not vary; partial on `given` where it is named.

    (r_xy - r_xz r_yz) / sqrt((1 - r_xz²) (1 - r_yz²)), of Kendall's τ as of the others (Kendall 1942). An item that is
    drawn several times counts as often; items whose summaries all have one score are not in the mean of the summary
    level. ValueError for scores of other shapes.
    """
    rows = [metric, people] if given is None else [metric, people, given]
    if any(row.shape != metric.shape for row in rows):
        shapes = " and ".join(str(row.shape) for row in rows)
        raise ValueError(f"scores of shape {shapes}; give all of the same systems and items")

    def over_systems(first: Array, second: Array) -> ByKind:
        return resampled_coefficients(first, second, draws.systems, kinds)

    if level == "pooled":
        return _partial(rows, lambda first, second: _pooled(first, second, draws, kinds))
    if level == "system":
        shares = draws.items / draws.items.sum(axis=1, keepdims=True)
        return _partial([shares @ row.T for row in rows], over_systems)
    totals, counts = ({kind: np.zeros(len(draws.items)) for kind in kinds} for _ in range(2))
    for item, times in enumerate(draws.items.T):
        for kind, values in _partial([row[:, item] for row in rows], over_systems).items():
            totals[kind] += times * np.nan_to_num(values)
            counts[kind] += times * ~np.isnan(values)
    return {kind: _quotient(totals[kind], counts[kind], counts[kind] > 0) for kind in kinds}


def by_items(metric: Array, people: Array, kind: Coefficient) -> Array:
    """The coefficient over systems of every item ``[items]``, NaN where a score does not vary."""
    alone = np.ones((1, len(metric)))
    pairs = zip(metric.T, people.T, strict=True)
    return np.array([resampled_coefficients(*pair, alone, (kind,))[kind][0] for pair in pairs])


def _pooled(first: Array, second: Array, draws: Draws, kinds: Sequence[Coefficient]) -> ByKind:
    values: dict[Coefficient, list[float]] = {kind: [] for kind in kinds}
    for counts in zip(draws.systems, draws.items, strict=True):
        places = np.ix_(*(np.repeat(np.arange(len(times)), times.astype(int)) for times in counts))
        for kind, value in coefficients(first[places].reshape(-1), second[places].reshape(-1), kinds).items():
            values[kind].append(np.nan if value is None else value)
    return {kind: np.array(of_kind) for kind, of_kind in values.items()}


def _partial(rows: Sequence[Array], of: Callable[[Array, Array], ByKind]) -> ByKind:
    """Coefficients of two rows; of three rows partial ones, NaN where the third explains one of both without rest."""
    first, second, *given = rows
    both = of(first, second)
    if not given:
        return both
    left, right = of(first, given[0]), of(second, given[0])
    partial: ByKind = {}
    for kind, values in both.items():
        rest = (1 - left[kind] ** 2) * (1 - right[kind] ** 2)
        partial[kind] = np.clip(_quotient(values - left[kind] * right[kind], np.sqrt(rest), rest > 1e-12), -1, 1)
    return partial


def _quotient(numerator: Array, denominator: Array, where: NDArray[np.bool_]) -> Array:
    """NaN elsewhere."""
    return np.divide(numerator, denominator, out=np.full_like(denominator, np.nan), where=where)


def interval(values: Array, confidence: float = 0.95) -> tuple[float, float]:
    """Percentile ends of what all draws but the first gave; both NaN where a tenth of the draws gave none."""
    drawn = values[1:][~np.isnan(values[1:])]
    if len(drawn) < USABLE * (len(values) - 1) or not len(drawn):
        return np.nan, np.nan
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail]).tolist()
    return low, high


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
    systems, items = metric.shape
    count, of = (systems * items, "summaries") if level == "pooled" else (systems, "systems")
    if count < FEWEST:
        return dict.fromkeys(COEFFICIENTS, Agreement(None, why=f"{count} {of}: it takes {FEWEST}"))
    values = correlations(metric, people, level, _drawn(systems, items, resamples, seed))
    undefined = 0
    if level == "summary":
        undefined = sum(not (varies(own) and varies(other)) for own, other in zip(metric.T, people.T, strict=True))
    agreements = {}
    for kind, of_kind in values.items():
        value, (low, high) = float(of_kind[0]), interval(of_kind, confidence)
        if np.isnan(value):
            everywhere = "everywhere" if level != "summary" else "for all systems, in every item"
            agreements[kind] = Agreement(None, why=f"a score is the same {everywhere}", undefined=undefined)
        elif np.isnan(low):
            few = "too few resamples in which both scores vary"
            agreements[kind] = Agreement(value, why=few, undefined=undefined)
        else:
            agreements[kind] = Agreement(value, low, high, undefined=undefined)
    return agreements


def _drawn(systems: int, items: int, resamples: int, seed: int) -> Draws:
    """Draws as `Draws.crossed` has them, of places drawn one after the other."""
    generator = np.random.default_rng([seed, 14])
    counts = [(np.ones(systems), np.ones(items))]
    for _ in range(resamples):
        of_systems, of_items = (np.bincount(generator.integers(n, size=n), minlength=n) for n in (systems, items))
        counts.append((of_systems.astype(float), of_items.astype(float)))
    return Draws(*(np.stack(of) for of in zip(*counts, strict=True)))


@dataclass(frozen=True)
class Difference:
    """Difference of two metrics' correlations with people, and the two-sided p of the permutation test."""

    value: float
    p: float


def differences(
    first: Array, second: Array, people: Sequence[Array], level: Level, permutations: int = 999, seed: int = 1
) -> list[dict[Coefficient, Difference | None]]:
    """Two metrics' correlations with each score of people compared; scores are ``[systems, items]``.

    The standardised scores of both change places at every summary alone, in half of the cases ("Perm-Both" of Deutsch,
    Dror and Roth 2021): under no difference, whose score is whose does not matter. The observed difference is counted
    among the permuted ones; of these one that is not defined counts as being as large. None where a correlation is not
    defined. ValueError for pooled summaries, whose pairs are too many.
    """
    if level == "pooled":
        raise ValueError("no permutation test of pooled summaries; compare at system or summary level")
    generator = np.random.default_rng([seed, 7])
    pair, judged = [_standardised(scores) for scores in (first, second)], [_units(scores, level) for scores in people]
    gaps: list[dict[Coefficient, list[float]]] = [{kind: [] for kind in COEFFICIENTS} for _ in people]
    for draw in range(permutations + 1):
        swapped = generator.random(first.shape) < (0.5 if draw else 0.0)
        left, right = (_units(np.where(swapped, *both), level) for both in (pair[::-1], pair))
        for of_kind, manual in zip(gaps, judged, strict=True):
            for kind, gap in of_kind.items():
                gap.append(_correlation(left[kind], manual[kind]) - _correlation(right[kind], manual[kind]))
    return [{kind: _difference(*gap) for kind, gap in of_kind.items()} for of_kind in gaps]


def _difference(observed: float, *drawn: float) -> Difference | None:
    extreme = sum(not abs(gap) < abs(observed) - 1e-12 for gap in drawn)
    return Difference(observed, (extreme + 1) / (len(drawn) + 1)) if observed == observed else None


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
    vary = (signs != 0).any(axis=(0, 1))
    for kind, values in columns.items():
        lengths = np.sqrt((values**2).sum(axis=0))
        columns[kind] = np.divide(values, lengths, out=np.zeros_like(values), where=vary)
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

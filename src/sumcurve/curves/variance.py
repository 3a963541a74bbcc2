"""Two sources of variance of a score, kept apart: test items and seeds.

A *cell* holds all seeds of one method at one size. A seed draws the training subset, the initialisation and the order
of the data; the test items are the same in every cell. Items are crossed with seeds, so with R seeds and n items

    Y[r, i] = mean + A[r] + I[i] + W[r, i],    var(mean of Y) = var(A) / R + var(I) / n + var(W) / (n R),

where A is how much better this seed's model is, I how easy the item is, and W the rest (this model on this item).

- The variance s² of the R means over items has expectation var(A) + var(W) / n. It is pooled over cells, so that its
  t quantiles have the degrees of freedom of all of them; s² / R is the part of the seeds, on the same test set.
- The variance over items of scores averaged over seeds has expectation var(I) + var(W) / R. Divided by n it is the part
  of the items, for these very models; over items one may resample.
- Both hold var(W) / (n R), which must count once: total = items + max(0, s² - var(W) / n) / R, where var(W) is the
  residual mean square of the two-way layout (seeds x items), pooled like s². So the total is never narrower than the
  items' part. Its degrees of freedom are Satterthwaite's (1946).

For several systems the part of the items is a covariance matrix, since items are shared: one that is hard for one is
hard for the other. Seeds of different cells count as independent. Where one seed draws the same subset for two methods,
or nested subsets for two sizes, their scores rise and fall together, and a difference varies less than its interval
says: the assumption errs on the safe side. `SeedVariance` tells how strong that is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from sumcurve.scores.comparison import Statistic, bca_interval, compare_all
from sumcurve.settings import Bootstrap
from sumcurve.statistics.errors import Undefined

Bounds = tuple[float, float]
"""Low and high end of an interval with the confidence of its `Bootstrap` settings."""

Part = Literal["total", "items", "seeds"]
DRAWS = 1_999  # of Bartlett's statistic under equal variances


@dataclass(frozen=True)
class Replicates:
    """One number per seed of one method at one size: a mean score, or the logarithm of a cost."""

    method: str
    size: float
    seeds: tuple[int, ...]
    values: NDArray[np.float64]  # [seeds]

    def __post_init__(self) -> None:
        if len(set(self.seeds)) != len(self.seeds) or self.values.shape != (len(self.seeds),):
            raise ValueError(
                f"{self.method} at {self.size:g}: values of shape {self.values.shape} for seeds {list(self.seeds)}; "
                "give one value for each seed, and each seed once"
            )
        if not np.isfinite(self.values).all():
            raise ValueError(f"{self.method} at {self.size:g}: a value is not finite: {self.values}")


@dataclass(frozen=True)
class Cell:
    """Per-item scores ``[seeds, items]`` of one method at one size, or ``[1, items]`` of a system without seeds.

    A system without seeds (lead, the extractive optimum) has `seeds` () and is the same in every repetition; its size
    has no meaning. All cells that are compared hold the same items in the same order.
    """

    method: str
    size: float
    seeds: tuple[int, ...]
    scores: NDArray[np.float64]

    def __post_init__(self) -> None:
        shape = self.scores.shape
        if len(shape) != 2 or shape[0] != max(1, len(self.seeds)) or shape[1] < 2:
            raise ValueError(
                f"{self.method} at {self.size:g}: scores of shape {shape} for seeds {list(self.seeds)}; "
                "give [seeds, items] with two items at least, a system without seeds [1, items]"
            )
        if not np.isfinite(self.scores).all():
            raise ValueError(f"{self.method} at {self.size:g}: a score is not finite; every item needs one")

    @property
    def items(self) -> NDArray[np.float64]:
        """Scores averaged over seeds: [seeds, items] -> [items]"""
        return self.scores.mean(axis=0)

    @property
    def mean(self) -> float:
        return float(self.scores.mean())

    def replicates(self) -> Replicates:
        """The mean score of every seed."""
        return Replicates(self.method, self.size, self.seeds, self.scores.mean(axis=1))

    def interaction(self) -> float:
        """var(W) / n: what seeds' means over these items would vary by if all seeds were equally good."""
        seeds, items = self.scores.shape
        residuals = self.scores - self.items
        residuals -= residuals.mean(axis=1, keepdims=True)
        return float((residuals**2).sum() / ((seeds - 1) * (items - 1) * items))


@dataclass(frozen=True)
class SeedVariance:
    """Variance between seeds, pooled over the cells that have two seeds or more.

    `variance` is that of one seed's value with `degrees` degrees of freedom; `interaction` (0 for costs) is how much of
    it the finite test set makes. `smallest` and `largest` are the cells (method, size, standard deviation) at the ends.

    `equal_p` is Bartlett's (1937) test that all cells vary alike, with its distribution under equality simulated. Read
    it with care: it takes seeds as normal, so that one collapsed training rejects; and with three seeds a cell it sees
    gross differences only, so that a high p is no proof. Where it rejects, intervals of the cells that vary most are
    too narrow and those of the others too wide.

    `between_methods` correlates methods over common seeds at one size, `between_sizes` sizes of one method; None
    without such pairs. Intervals take both as 0.
    """

    variance: float
    degrees: int
    interaction: float
    cells: int
    smallest: tuple[str, float, float]
    largest: tuple[str, float, float]
    equal_p: float | None
    between_methods: float | None
    between_sizes: float | None

    @property
    def of_models(self) -> float:
        """The estimate of var(A), the part of `variance` that a larger test set would not take away."""
        return max(0.0, self.variance - self.interaction)


@dataclass(frozen=True)
class Estimate:
    """A value with its intervals: all told, from test items alone (these models), from seeds alone (this test set).

    `total` and `seeds` are None where every method has one seed (`seeds_known` is False), `items` where items play no
    part (a cost). `degrees` are those of the total's t quantile.
    """

    value: float
    total: Bounds | None
    items: Bounds | None
    seeds: Bounds | None
    seeds_known: bool
    degrees: float | None = None

    @property
    def bounds(self) -> Bounds | None:
        """The widest source known: the total, else the items'. Say which, if `seeds_known` is False."""
        return self.total if self.seeds_known else self.items

    def scaled(self, factor: float) -> "Estimate":
        """The same in another unit; `factor` is positive."""

        def times(bounds: Bounds | None) -> Bounds | None:
            return None if bounds is None else (bounds[0] * factor, bounds[1] * factor)

        return Estimate(
            self.value * factor,
            times(self.total),
            times(self.items),
            times(self.seeds),
            self.seeds_known,
            self.degrees,
        )


@dataclass(frozen=True)
class SeededDifference:
    """First minus second system: mean difference with its intervals, and the test that there is none.

    With seeds known, `p` is of the t test over items and seeds; otherwise it is the sign-flip test's over items, which
    says that these two models differ, not that their methods do. Wins, ties and losses count items, scores averaged
    over seeds. `p` is of this comparison alone: correct a family with `scores.comparison.holm`.
    """

    first: str
    second: str
    mean: Estimate
    p: float
    wins: int
    ties: int
    losses: int
    items: int


def seed_variance(cells: Sequence[Cell], settings: Bootstrap) -> SeedVariance | None:
    """The variance of mean scores between seeds, pooled over cells; None where no cell has two seeds.

    Give all cells of one corpus and metric, one for each method and size. Leave out a method that is known to vary
    otherwise, and pool its cells apart.
    """
    repeated = [cell for cell in cells if len(cell.seeds) > 1]
    if not repeated:
        return None
    weights = [len(cell.seeds) - 1 for cell in repeated]
    interaction = float(np.average([cell.interaction() for cell in repeated], weights=weights))
    return _pooled([cell.replicates() for cell in repeated], interaction, settings)


def pooled_variance(replicates: Sequence[Replicates], settings: Bootstrap) -> SeedVariance | None:
    """The variance between seeds of any number (such as the logarithm of a cost), pooled likewise; None without."""
    repeated = [one for one in replicates if len(one.seeds) > 1]
    return _pooled(repeated, 0.0, settings) if repeated else None


def pooled_covariance(first: Sequence[Replicates], second: Sequence[Replicates]) -> float:
    """The covariance over seeds of two numbers of the same trainings, pooled over cells; 0 without repeated seeds.

    Both lists name the same methods, sizes and seeds in the same order.
    """
    products, degrees = 0.0, 0
    for one, other in zip(first, second, strict=True):
        if (one.method, one.size, one.seeds) != (other.method, other.size, other.seeds):
            raise ValueError(f"{one.method} at {one.size:g} stands beside {other.method} at {other.size:g}")
        if len(one.seeds) > 1:
            products += float((_centred(one.values) * _centred(other.values)).sum())
            degrees += len(one.seeds) - 1
    return products / degrees if degrees else 0.0


def _pooled(repeated: Sequence[Replicates], interaction: float, settings: Bootstrap) -> SeedVariance:
    places = [(one.method, one.size) for one in repeated]
    if len(set(places)) < len(places):
        raise ValueError(f"a cell comes twice: {sorted(place for place in places if places.count(place) > 1)[0]}")
    variances = np.array([one.values.var(ddof=1) for one in repeated])
    degrees = np.array([len(one.seeds) - 1 for one in repeated])
    least, most = int(variances.argmin()), int(variances.argmax())
    return SeedVariance(
        variance=float(np.average(variances, weights=degrees)),
        degrees=int(degrees.sum()),
        interaction=interaction,
        cells=len(repeated),
        smallest=(*places[least], float(variances[least] ** 0.5)),
        largest=(*places[most], float(variances[most] ** 0.5)),
        equal_p=_equal_variances(variances, degrees, settings) if len(repeated) > 1 else None,
        between_methods=_correlation([pair for pair in combinations(repeated, 2) if pair[0].size == pair[1].size]),
        between_sizes=_correlation([pair for pair in combinations(repeated, 2) if pair[0].method == pair[1].method]),
    )


def _equal_variances(variances: NDArray[np.float64], degrees: NDArray[np.int64], settings: Bootstrap) -> float:
    """p of Bartlett's statistic ``[cells]``, against as many draws of normal data with equal variances."""

    def statistic(found: NDArray[np.float64]) -> NDArray[np.float64]:
        mean = found @ degrees / degrees.sum()  # [draws, cells] @ [cells] -> [draws]
        with np.errstate(divide="ignore"):
            return degrees.sum() * np.log(mean) - np.log(found) @ degrees

    if not variances.any():
        return 1.0
    drawn = np.random.default_rng([settings.seed, 2]).chisquare(degrees, size=(DRAWS, len(degrees))) / degrees
    return float((1 + (statistic(drawn) >= statistic(variances[None])[0]).sum()) / (DRAWS + 1))


def _correlation(pairs: Sequence[tuple[Replicates, Replicates]]) -> float | None:
    """Pooled covariance over pooled variance of pairs of cells, over the seeds that both have."""
    products = squares = 0.0
    for first, second in pairs:
        common = sorted({*first.seeds} & {*second.seeds})
        if len(common) > 1:
            one, other = (
                _centred(cell.values[[cell.seeds.index(seed) for seed in common]]) for cell in (first, second)
            )
            products += float((one * other).sum())
            squares += float((one**2 + other**2).sum()) / 2
    return products / squares if squares else None


def _centred(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values - values.mean()


@dataclass(frozen=True)
class Moments:
    """Mean scores of k cells and what they vary by.

    `items` is the covariance of the means over items, for these models; `rates` is 1 / R for a cell of R seeds and 0
    for a system without seeds.
    """

    means: NDArray[np.float64]  # [k]
    items: NDArray[np.float64]  # [k, k]
    rates: NDArray[np.float64]  # [k]
    count: int  # of items

    def spread(
        self, weights: NDArray[np.float64], seeds: SeedVariance | None, part: Part = "total"
    ) -> tuple[float, float]:
        """Variance and degrees of freedom of the weighted sum of the means.

        Without `seeds` only "items" can be told; the others are the caller's mistake, hence ValueError.
        """
        of_items = float(weights @ self.items @ weights)
        if part == "items":
            return of_items, self.count - 1
        if seeds is None:
            raise ValueError(f"no variance between seeds is known: ask for the part of the items, not {part!r}")
        rate = float(weights**2 @ self.rates)
        if part == "seeds":
            return rate * seeds.variance, seeds.degrees
        total = of_items + rate * seeds.of_models
        between = rate * max(seeds.variance, seeds.interaction)
        within = max(0.0, of_items - rate * seeds.interaction)
        return total, satterthwaite([(between, seeds.degrees), (within, self.count - 1)])

    def covariance(
        self,
        first: NDArray[np.float64],
        second: NDArray[np.float64],
        seeds: SeedVariance | None,
        part: Part = "total",
    ) -> float:
        """The covariance of two weighted sums of the means."""
        both, one, other = (self.spread(weights, seeds, part)[0] for weights in (first + second, first, second))
        return (both - one - other) / 2


def moments(cells: Sequence[Cell]) -> Moments:
    """Means, covariance over items and rates of cells over the same items."""
    counts = {cell.scores.shape[1] for cell in cells}
    if len(counts) > 1:
        raise ValueError(f"cells of {sorted(counts)} items; all must be scored on the same items")
    columns = np.stack([cell.items for cell in cells])
    rates = np.array([1 / len(cell.seeds) if cell.seeds else 0.0 for cell in cells])
    count = columns.shape[1]
    return Moments(columns.mean(axis=1), np.atleast_2d(np.cov(columns)) / count, rates, count)


def satterthwaite(parts: Sequence[tuple[float, float]]) -> float:
    """Degrees of freedom of a sum of independent estimates (variance, degrees); Satterthwaite (1946), eq. 17."""
    weight = sum(variance**2 / degrees for variance, degrees in parts)
    total = sum(variance for variance, _ in parts)
    return total**2 / weight if weight > 0 else min(degrees for _, degrees in parts)


def quantile(degrees: float, settings: Bootstrap) -> float:
    """The t quantile of a two-sided interval."""
    return float(stdtrit(degrees, (1 + settings.confidence) / 2))


def fieller(
    numerator: float, denominator: float, variances: tuple[float, float], covariance: float, quantile: float
) -> Bounds:
    """The values q for which numerator - q denominator is within `quantile` standard errors of 0 (Fieller, 1954).

    Raises Undefined where these do not form an interval, that is where the denominator itself is within `quantile`
    standard errors of 0.
    """
    square = quantile**2
    a = denominator**2 - square * variances[1]
    b = numerator * denominator - square * covariance
    c = numerator**2 - square * variances[0]
    if a <= 0:
        raise Undefined("the denominator is not significantly different from 0")
    root = float(np.sqrt(max(0.0, b**2 - a * c)))
    return (b - root) / a, (b + root) / a


def linear_bounds(
    found: Moments,
    weights: NDArray[np.float64],
    seeds: SeedVariance | None,
    settings: Bootstrap,
    part: Part = "total",
) -> tuple[Bounds, float]:
    """The t interval of a weighted sum of mean scores, and its degrees of freedom."""
    value = float(weights @ found.means)
    variance, degrees = found.spread(weights, seeds, part)
    reach = quantile(degrees, settings) * variance**0.5
    return (value - reach, value + reach), degrees


def zero_p(found: Moments, weights: NDArray[np.float64], seeds: SeedVariance) -> float:
    """The two-sided p of the t test that a weighted sum of mean scores is 0, over items and seeds."""
    value = float(weights @ found.means)
    variance, degrees = found.spread(weights, seeds)
    return float(2 * stdtr(degrees, -abs(value) / variance**0.5)) if variance > 0 else float(value == 0)


def linear(cells: Sequence[Cell], weights: ArrayLike, seeds: SeedVariance | None, settings: Bootstrap) -> Estimate:
    """The weighted sum of mean scores of `cells`, such as a difference, with its intervals.

    The items' interval is the BCa bootstrap's; the others are t intervals. Without seeds in any of the cells, the
    items' interval is the total.
    """
    weighting = np.asarray(weights, dtype=np.float64)
    found = moments(cells)
    columns = np.stack([cell.items for cell in cells])
    resampled = bca_interval((weighting @ columns)[None], lambda means: means[0], settings)
    return _estimate(found, weighting, (resampled.low, resampled.high), seeds, settings)


def _estimate(
    found: Moments, weights: NDArray[np.float64], items: Bounds, seeds: SeedVariance | None, settings: Bootstrap
) -> Estimate:
    """The weighted sum of means with its intervals, that of the items given."""
    value = float(weights @ found.means)
    if not found.rates.any():
        return Estimate(value, items, items, None, seeds_known=True)
    if seeds is None:
        return Estimate(value, None, items, None, seeds_known=False)
    total, degrees = linear_bounds(found, weights, seeds, settings)
    alone, _ = linear_bounds(found, weights, seeds, settings, "seeds")
    return Estimate(value, total, items, alone, seeds_known=True, degrees=degrees)


def mean_score(cell: Cell, seeds: SeedVariance | None, settings: Bootstrap) -> Estimate:
    """A cell's mean score with its intervals."""
    return linear([cell], [1.0], seeds, settings)


def quotient_bounds(
    found: Moments,
    numerator: NDArray[np.float64],
    denominator: NDArray[np.float64],
    seeds: SeedVariance | None,
    settings: Bootstrap,
    part: Part = "total",
) -> tuple[Bounds, float]:
    """Fieller's interval of the quotient of two weighted sums of mean scores, and its degrees of freedom.

    Those are of numerator minus quotient times denominator, at the quotient found. Raises Undefined.
    """
    over, under = float(numerator @ found.means), float(denominator @ found.means)
    if under == 0:
        raise Undefined("the denominator is 0")
    degrees = found.spread(numerator - over / under * denominator, seeds, part)[1]
    variances = found.spread(numerator, seeds, part)[0], found.spread(denominator, seeds, part)[0]
    covariance = found.covariance(numerator, denominator, seeds, part)
    return fieller(over, under, variances, covariance, quantile(degrees, settings)), degrees


def quotient(
    cells: Sequence[Cell],
    numerator: ArrayLike,
    denominator: ArrayLike,
    seeds: SeedVariance | None,
    settings: Bootstrap,
) -> Estimate:
    """The quotient of two weighted sums of mean scores of `cells` with its intervals.

    ``quotient([small, large], [-1, 1], [1, 0], ...)`` is the relative growth from `small` to `large`. The items'
    interval is the BCa bootstrap's, the others Fieller's. Raises Undefined where the denominator is not significantly
    different from 0.
    """
    over, under = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    found = moments(cells)
    quotient_bounds(found, over, under, seeds, settings, "items")  # refuses what resampling could not tell
    columns = np.stack([cell.items for cell in cells])
    items = _resampled(np.stack([over @ columns, under @ columns]), lambda means: means[0] / means[1], settings)
    value = float(over @ found.means / (under @ found.means))
    if not found.rates.any():
        return Estimate(value, items, items, None, seeds_known=True)
    if seeds is None:
        return Estimate(value, None, items, None, seeds_known=False)
    total, degrees = quotient_bounds(found, over, under, seeds, settings)
    alone, _ = quotient_bounds(found, over, under, seeds, settings, "seeds")
    return Estimate(value, total, items, alone, seeds_known=True, degrees=degrees)


def _resampled(columns: NDArray[np.float64], statistic: Statistic, settings: Bootstrap) -> Bounds:
    with np.errstate(divide="ignore", invalid="ignore"):
        try:
            found = bca_interval(columns, statistic, settings)
        except ValueError as error:
            raise Undefined("the denominator is 0 in a resample of the items") from error
    return found.low, found.high


def seeded_differences(
    cells: Sequence[Cell], seeds: SeedVariance | None, settings: Bootstrap
) -> list[SeededDifference]:
    """Every two cells over the same items, the earlier one minus the later, and the tests that there is no difference.

    With seeds known: t = difference / standard error, both sources of variance in it, with pooled seeds and
    Satterthwaite's degrees of freedom. Otherwise, and for two systems without seeds, the sign-flip test over items.
    """
    over_items = compare_all({str(number): cell.items for number, cell in enumerate(cells)}, settings)
    weights = np.array([1.0, -1.0])
    found = []
    for (first, second), result in zip(combinations(cells, 2), over_items, strict=True):
        both = moments([first, second])
        mean = _estimate(both, weights, (result.low, result.high), seeds, settings)
        p = result.p if seeds is None or mean.degrees is None else zero_p(both, weights, seeds)
        counts = (result.wins, result.ties, result.losses, result.items)
        found.append(SeededDifference(first.method, second.method, mean, p, *counts))
    return found


def seeded_difference(first: Cell, second: Cell, seeds: SeedVariance | None, settings: Bootstrap) -> SeededDifference:
    """`seeded_differences` of these two."""
    return seeded_differences([first, second], seeds, settings)[0]

"""Sample sizes: the test items and seeds that it takes to detect a difference between two systems.

Two systems are scored on the same n items; each is trained with k seeds, and its scores are averaged over them. The
variance of the mean difference is

    V(n, k) = D sd_items² / n + 2 sd_seed² / k

with sd_items of the per-item differences, D their design effect (how much more groups of items vary than as many
single items; 1 where items are independent), and sd_seed of one system's mean score between seeds. The two-sided
t-test of level α divides the mean difference by √V. Its degrees of freedom ν are Satterthwaite's (1946): n / D − 1 of
the items and m (k − 1) of the seeds, whose variance is pooled over m systems. Where seeds are paired (seed k draws the
same records for every system), sd_seed is the residual's of systems × seeds, with (m − 1)(k − 1) degrees of freedom. A
true difference δ is then found, with its right sign, with probability

    power = P(T'(ν, δ / √V) > c),   T' noncentral t   (Cohen, 1988, section 2.5).

For this difference alone c is t(1 − α/2, ν); in the family of all pairs of m systems it is that of max-|t|, which of
systems that vary alike is q(1 − α; m, ν) / √2 of the studentized range (Tukey, 1953). In large samples the first is the
normal approximation V = δ² / (z(1 − α/2) + z(power))².

A real test has to estimate ν, and takes it with care (`statistics.design`), so that it finds an effect more rarely than
this says where few seeds alone tell what seeds vary by: two systems with two seeds, or with three.

Without seed noise (`sd_seed` 0) the question is about the two trained models at hand, not about their methods.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.interpolate import CubicSpline

from sumcurve.machine.arguments import CommandError

MOST_ITEMS = 100_000_000  # no test set is larger
MOST_SEEDS = 1_000_000
MOST_SYSTEMS = 1000  # beyond, SciPy's studentized range is not exact
MOST_SDS = 1000  # of an effect, of the items' noise: far beyond, SciPy's noncentral t is not finite


class Unreachable(CommandError):
    """No number of items, or of seeds, is enough; the message names what the limit is, and the way out."""


@dataclass(frozen=True)
class Noise:
    """Standard deviations in the unit of the effect: of per-item differences, and of mean scores between seeds.

    `design_effect` is that of the differences over groups of items. `systems` is over how many of them the seeds'
    variance is pooled; `paired`: it is the residual's of systems x seeds.
    """

    sd_items: float
    sd_seed: float = 0.0
    design_effect: float = 1.0
    paired: bool = False
    systems: int = 2

    def __post_init__(self) -> None:
        if not (np.isfinite(self.design_effect) and self.design_effect > 0):
            raise CommandError(
                f"design_effect is {self.design_effect}; it is 1 for independent items, above 1 in groups"
            )
        if self.systems < 2:
            raise CommandError(f"systems is {self.systems}; a comparison has two at least")
        for name, value in (("sd_items", self.sd_items), ("sd_seed", self.sd_seed)):
            if not value >= 0:
                raise CommandError(f"{name} is {value:g}; a standard deviation is at least 0")
            if not np.isfinite(value * value):
                raise CommandError(f"{name} is {value:g}; its square is beyond any number: give points")
        if self.sd_items == 0:
            raise CommandError("sd_items is 0: on every item the difference is the same; one item shows it")

    def seed_degrees(self, seeds: ArrayLike) -> NDArray[np.float64]:
        """Degrees of freedom of the seeds' variance."""
        return (self.systems - 1 if self.paired else self.systems) * (np.asarray(seeds, dtype=np.float64) - 1)


@dataclass(frozen=True)
class Aim:
    """Aim of a test: to detect a true difference of `effect`, at this two-sided level, with this power.

    `family`: among all pairs of the noise's systems, any of which is falsely found with probability `level` at most.
    """

    effect: float = 1.0
    power: float = 0.8
    level: float = 0.05
    family: bool = False

    def __post_init__(self) -> None:
        if not (np.isfinite(self.effect) and self.effect > 0):
            raise CommandError(f"effect is {self.effect}; give a difference above 0, in the unit of the noise")
        if not 0 < self.level < 1:
            raise CommandError(f"level is {self.level}; give a share between 0 and 1, usually 0.05")
        if not self.level / 2 < self.power < 1:
            raise CommandError(f"power is {self.power}; give a share above {self.level / 2:g} (chance) and below 1")


def sd_of_differences(first: ArrayLike, second: ArrayLike) -> float:
    """Standard deviation of first minus second, both ``[items]``, with n − 1 in the denominator."""
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or len(a) < 2:
        raise CommandError(f"shapes {a.shape} and {b.shape}; give scores of both systems on the same two items or more")
    return float(np.std(a - b, ddof=1))


def pooled_sd(groups: Sequence[ArrayLike]) -> float:
    """Standard deviation of mean scores between seeds, pooled: each group holds one system's scores, one per seed."""
    arrays = [np.asarray(group, dtype=np.float64) for group in groups]
    degrees = sum(len(array) - 1 for array in arrays)
    if degrees < 1 or any(len(array) == 0 for array in arrays):
        raise CommandError("no group has two seeds; one seed says nothing of the spread between seeds")
    return float(np.sqrt(sum(((array - array.mean()) ** 2).sum() for array in arrays) / degrees))


def paired_sd(groups: Sequence[ArrayLike]) -> float:
    """Standard deviation of the residual of systems x seeds; a group holds a system's scores, in one order of seeds."""
    arrays = [np.asarray(group, dtype=np.float64) for group in groups]
    if len({len(array) for array in arrays}) != 1 or len(arrays) < 2 or len(arrays[0]) < 2:
        counts = [len(array) for array in arrays]
        raise CommandError(f"systems of {counts} seeds; paired seeds take two systems and two seeds, the same of each")
    layout = np.stack(arrays)
    residual = layout - layout.mean(axis=1, keepdims=True) - layout.mean(axis=0) + layout.mean()
    return float(np.sqrt((residual**2).sum() / ((layout.shape[0] - 1) * (layout.shape[1] - 1))))


def variance(noise: Noise, items: ArrayLike, seeds: ArrayLike = 1) -> NDArray[np.float64]:
    """V, the variance of the mean difference of two systems; broadcasts."""
    n, k = np.asarray(items, dtype=np.float64), np.asarray(seeds, dtype=np.float64)
    return noise.design_effect * noise.sd_items**2 / n + 2 * noise.sd_seed**2 / k


def power(noise: Noise, aim: Aim, items: ArrayLike, seeds: ArrayLike = 1) -> NDArray[np.float64]:
    """The probability of finding the effect with its right sign; broadcasts over items and seeds.

    It is 0 where a part of the variance cannot be estimated: of one item, or of one seed where seeds differ.
    """
    n, k = np.broadcast_arrays(np.asarray(items, dtype=np.float64), np.asarray(seeds, dtype=np.float64))
    if (n < 1).any() or (k < 1).any():
        raise CommandError("fewer than one item or seed")
    item_degrees = n / noise.design_effect - 1
    estimable = (item_degrees > 0) & ((k > 1) | (noise.sd_seed == 0))
    total = variance(noise, n, k)
    of_seeds = 2 * noise.sd_seed**2 / k
    with np.errstate(divide="ignore", invalid="ignore"):
        seeds_part = (of_seeds / total) ** 2 / noise.seed_degrees(k) if noise.sd_seed else 0.0
        degrees = 1 / ((1 - of_seeds / total) ** 2 / item_degrees + seeds_part)
    degrees = np.where(estimable, degrees, 1.0)
    if aim.family and noise.systems > 2:
        critical = family_critical(noise.systems, aim.level, degrees)
    else:
        critical = stats.t.isf(aim.level / 2, degrees)
    chances = stats.nct.sf(critical, degrees, aim.effect / np.sqrt(total))
    return np.where(estimable, chances, 0.0)


def family_critical(systems: int, level: float, degrees: ArrayLike) -> NDArray[np.float64]:
    """Critical value of |t| among all pairs of systems, q / √2; broadcasts. Below one degree of freedom, that of one.

    The studentized range is slow, so that it is interpolated (its logarithm, over 1 / degrees; within 0.01 %).
    """
    inverse = 1 / np.maximum(np.asarray(degrees, dtype=np.float64), 1.0)
    return np.asarray(np.exp(_log_range(systems, level)(inverse)) / np.sqrt(2))


@lru_cache(maxsize=8)
def _log_range(systems: int, level: float) -> CubicSpline:
    inverse = np.array([0, 0.005, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 1 / 3, 0.5, 0.75, 1])
    quantiles = [
        stats.studentized_range.isf(level, systems, 1 / inverse_degrees if inverse_degrees else 1e6)
        for inverse_degrees in inverse
    ]
    return CubicSpline(inverse, np.log(quantiles))


def items_needed(noise: Noise, aim: Aim, seeds: int = 1) -> int:
    """The least number of items that shows the effect with `seeds` seeds of each system.

    Unreachable where the seeds alone hide the effect, however many items there are.
    """
    if noise.sd_seed and seeds < 2:
        raise Unreachable(
            f"not with any number of items: {seeds} seed says nothing of the spread between seeds; train at least 2"
        )
    # Power grows with items but for Satterthwaite's degrees of freedom, which fall as the seeds' share of the
    # variance grows: hence the first grid point that reaches it, then the least number before.
    grid = np.unique(np.geomspace(2, MOST_ITEMS, 1500).astype(np.int64))
    reached = power(noise, aim, grid, seeds) >= aim.power
    if not reached.any():
        if not noise.sd_seed:
            raise Unreachable(f"not with {MOST_ITEMS:,} items: the effect is too small against the items' noise")
        error = float(np.sqrt(2 * noise.sd_seed**2 / seeds))
        raise Unreachable(
            f"not with any number of items: seeds are the limit. {seeds} seeds alone leave a standard error of "
            f"{error:.3g}; train at least {_seeds_without_item_noise(noise, aim)}"
        )
    place = int(reached.argmax())
    below = int(grid[place - 1]) if place else 1
    return _least(lambda items: float(power(noise, aim, items, seeds)) >= aim.power, below, int(grid[place]))


def seeds_needed(noise: Noise, aim: Aim, items: int) -> int:
    """The least number of seeds of each system that shows the effect on `items` items.

    Unreachable where the items alone hide the effect, however many seeds there are; 1 where seeds do not differ.
    """
    alone = replace(noise, sd_seed=0.0)
    if float(power(alone, aim, items)) < aim.power:
        need = items_needed(alone, aim)
        error = float(np.sqrt(variance(alone, items)))
        raise Unreachable(
            f"not with any number of seeds: items are the limit. {items:,} items alone leave a standard error of "
            f"{error:.3g}; take at least {need:,}"
        )
    if not noise.sd_seed:
        return 1
    high = 2
    while float(power(noise, aim, items, high)) < aim.power:
        high *= 2
        if high > MOST_SEEDS:
            raise Unreachable(
                f"not with {MOST_SEEDS:,} seeds: {items:,} items leave almost no room for noise of seeds; take more"
            )
    return _least(lambda seeds: float(power(noise, aim, items, seeds)) >= aim.power, high // 2, high)


def visible_effect(noise: Noise, aim: Aim, items: int, seeds: int = 1) -> float:
    """Minimum detectable effect with the aim's power and level, on `items` items with `seeds` seeds.

    The aim's effect is not used. Unreachable where a part of the variance cannot be estimated.
    """
    if items <= noise.design_effect or (noise.sd_seed and seeds < 2):
        raise Unreachable("one item, or one seed where seeds differ, says nothing of the spread; take at least 2")

    def seen(effect: float) -> bool:
        return float(power(noise, replace(aim, effect=effect), items, seeds)) >= aim.power

    low, high = 0.0, float(np.sqrt(variance(noise, items, seeds)))
    while not seen(high):
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if seen(middle) else (middle, high)
    return high


def _seeds_without_item_noise(noise: Noise, aim: Aim) -> int:
    """The least number of seeds that would do on endlessly many items."""
    return seeds_needed(replace(noise, sd_items=noise.sd_seed * 1e-9), aim, MOST_ITEMS)


def _least(enough: Callable[[int], bool], below: int, high: int) -> int:
    """The least number in (below, high] that is enough, where `below` is not and `high` is."""
    while high - below > 1:
        middle = (below + high) // 2
        below, high = (below, middle) if enough(middle) else (middle, high)
    return high

"""How often the intervals of `sumcurve.curves` hold the truth: a simulation with item noise and seed noise.

Scores look like per-item ROUGE: in [0, 1], skewed, some of them 0, items shared by all methods, sizes and seeds. What
a seed adds to a model's true score is normal; each model's latent scores are shifted until its true mean is just that,
so that the truth is known exactly. Methods 0 and 1 are equally good; tests of no difference are counted on them.

Prints a table, one design a row: the share of 95 % intervals that hold the truth (averaged over cells, intervals and
pairs of methods, with the worst and best single one), and the share of true hypotheses rejected at 5 %.
"""

import argparse
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sumcurve.curves.efficiency import Trained, Undefined, interval_efficiency, spread
from sumcurve.curves.variance import (
    Cell,
    SeedVariance,
    linear_bounds,
    moments,
    quotient_bounds,
    seed_variance,
    zero_p,
)
from sumcurve.scores.comparison import bca_interval, paired_difference
from sumcurve.settings import Bootstrap

SETTINGS = Bootstrap(resamples=1000)
FEW = Bootstrap(resamples=20)  # where the interval from items alone is not looked at
COMMON, OWN, REST = 0.14, 0.07, 0.14  # latent: of an item, of an item for a method, of an item for one model
Array = NDArray[np.float64]
Counts = dict[str, dict[object, list[bool]]]


@dataclass(frozen=True)
class Design:
    name: str
    methods: int = 4
    sizes: int = 6
    seeds: int = 3
    items: int = 1000
    low: float = 0.12  # mean score at the smallest size
    high: float = 0.28  # of the best method at the largest
    seed_sd: float = 0.01  # of true mean scores
    across_methods: float = 0.0  # correlation of methods trained with one seed, as if it drew a telling subset
    across_sizes: float = 0.0  # correlation of sizes of one seed, as of nested subsets
    unequal: float = 1.0  # the standard deviation at the largest size over that at the smallest


DESIGNS = [
    Design("3 seeds, sd 1.0 points"),
    Design("3 seeds, sd 0.3 points", seed_sd=0.003),
    Design("3 seeds, no seed noise", seed_sd=0.0),
    Design("5 seeds, sd 1.0 points", seeds=5),
    Design("2 seeds, sd 1.0 points", seeds=2),
    Design("2 seeds, sd 0.3 points", seeds=2, seed_sd=0.003),
    Design("like ROUGE-2, sd 0.2 points", low=0.012, high=0.05, seed_sd=0.002),
    Design("200 items, sd 0.5 points", items=200, seed_sd=0.005),
    Design("2 methods, 2 sizes, 2 seeds", methods=2, sizes=2, seeds=2),
    Design("2 methods, 2 sizes, 2 seeds, sd 0.3", methods=2, sizes=2, seeds=2, seed_sd=0.003),
    Design("methods correlate 0.3", across_methods=0.3),
    Design("methods correlate 0.7", across_methods=0.7),
    Design("sizes correlate 0.3", across_sizes=0.3),
    Design("sd grows threefold with size", unequal=3.0),
]


def score(latent: Array) -> Array:
    """A per-item score in [0, 1): 0 for easily failed items, skewed to the right."""
    squared = np.maximum(latent, 0.0) ** 2
    return squared / (1 + squared)


class World:
    """Draws of a design; `truth` [methods, sizes] are the mean scores over items and seeds."""

    def __init__(self, design: Design) -> None:
        self.design = design
        sizes = 500 * 2.0 ** np.arange(design.sizes)
        rise = np.log2(sizes / sizes[0]) / max(1, design.sizes - 1)
        ranks = np.array([0.0, 0.0, 0.1, 0.2])[: design.methods, None]
        self.sizes = sizes
        self.truth = design.low + (design.high - design.low) * (0.8 * rise[None] + ranks * (0.2 + rise[None]))
        noise = np.sqrt(COMMON**2 + OWN**2 + REST**2)
        nodes = np.linspace(-8, 8, 4001)
        weights = np.exp(-(nodes**2) / 2) / np.exp(-(nodes**2) / 2).sum()
        self.shifts = np.linspace(-1.5, 2.5, 1601)
        self.means = score(self.shifts[:, None] + noise * nodes) @ weights

    def draw(self, generator: np.random.Generator) -> tuple[Array, Array]:
        """Scores [methods, sizes, seeds, items] and the seeds' true mean scores [methods, sizes, seeds]."""
        design = self.design
        shape = (design.methods, design.sizes, design.seeds)
        rest = 1 - design.across_methods - design.across_sizes
        of_seed = np.sqrt(design.across_methods) * generator.normal(size=(1, *shape[1:]))
        of_seed = of_seed + np.sqrt(design.across_sizes) * generator.normal(size=(shape[0], 1, shape[2]))
        of_seed = of_seed + np.sqrt(rest) * generator.normal(size=shape)
        growth = np.linspace(1, design.unequal, design.sizes)
        true = self.truth[:, :, None] + design.seed_sd * (growth / growth.mean())[:, None] * of_seed
        shift = np.interp(true, self.means, self.shifts)
        latent = shift[..., None] + REST * generator.normal(size=(*shape, design.items))
        latent += COMMON * generator.normal(size=design.items)
        latent += OWN * generator.normal(size=(design.methods, 1, 1, design.items))
        return score(latent), true

    def cells(self, scores: Array) -> list[list[Cell]]:
        names = tuple(range(1, self.design.seeds + 1))
        return [
            [Cell(str(method), float(size), names, one) for size, one in zip(self.sizes, own, strict=True)]
            for method, own in enumerate(scores)
        ]


def holds(bounds: tuple[float, float], truth: float) -> bool:
    return bounds[0] <= truth <= bounds[1]


def judge(world: World, scores: Array, counts: Counts) -> None:
    """Count what the intervals of one draw hold."""
    cells = world.cells(scores)
    seeds: SeedVariance | None = seed_variance([cell for own in cells for cell in own], SETTINGS)
    assert seeds is not None
    truth, last = world.truth, world.design.sizes - 1
    for method, own in enumerate(cells):
        for size, cell in enumerate(own):
            bounds, _ = linear_bounds(moments([cell]), np.ones(1), seeds, SETTINGS)
            counts["mean"][method, size].append(holds(bounds, truth[method, size]))
        steps = [(size, size + 1) for size in range(last)]
        for first, second in [*steps, (0, last)] if last > 1 else steps:
            found = moments([own[first], own[second]])
            ends = truth[method, first], truth[method, second]
            bounds, _ = quotient_bounds(found, np.array([-1.0, 1]), np.array([1.0, 0]), seeds, SETTINGS)
            kind = "sigma" if second - first == 1 else "sigma whole"
            counts[kind][method, first].append(holds(bounds, ends[1] / ends[0] - 1))
    for size in range(last + 1):
        for one, other in combinations(range(world.design.methods), 2):
            found = moments([cells[one][size], cells[other][size]])
            weights = np.array([1.0, -1.0])
            bounds, _ = linear_bounds(found, weights, seeds, SETTINGS)
            counts["difference"][one, other, size].append(holds(bounds, truth[one, size] - truth[other, size]))
            if (one, other) == (0, 1):
                counts["rejected"][size].append(zero_p(found, weights, seeds) < 0.05)


def judge_one_seed(world: World, scores: Array, true: Array, counts: Counts) -> None:
    """The same for one seed: items alone, and the truth is that of these very models."""
    size = world.design.sizes - 2
    for method, items in enumerate(scores[:, :, 0]):
        pair, ends = items[size : size + 2], true[method, size : size + 2, 0]
        mean = bca_interval(pair[:1], lambda m: m[0], SETTINGS)
        sigma = bca_interval(pair, lambda m: m[1] / m[0] - 1, SETTINGS)
        counts["mean"][method].append(holds((mean.low, mean.high), ends[0]))
        counts["sigma"][method].append(holds((sigma.low, sigma.high), ends[1] / ends[0] - 1))
    found = paired_difference(scores[0, size, 0], scores[1, size, 0], SETTINGS)
    counts["difference"][0].append(holds((found.low, found.high), true[0, size, 0] - true[1, size, 0]))
    counts["rejected"][0].append(found.p < 0.05)


def judge_costs(world: World, scores: Array, true: Array, generator: np.random.Generator, counts: Counts) -> None:
    """θ and ε from the smallest to the largest size; the logarithm of costs correlates 0.5 with the seeds' scores."""
    design, sd = world.design, 0.3
    seeds = (true - world.truth[..., None]) / design.seed_sd
    logs = sd * (0.5 * seeds + np.sqrt(0.75) * generator.normal(size=seeds.shape))
    costs = np.exp(logs) * (world.sizes**0.8)[:, None]
    trained = [
        [Trained(cell, tuple(cost)) for cell, cost in zip(own, spent, strict=True)]
        for own, spent in zip(world.cells(scores), costs, strict=True)
    ]
    pooled = spread([one for own in trained for one in own], SETTINGS)
    growth = world.sizes[-1] / world.sizes[0] - 1
    theta = ((world.sizes[-1] / world.sizes[0]) ** 0.8 - 1) / growth
    for method, own in enumerate(trained):
        found = interval_efficiency(own[0], own[-1], pooled, FEW)
        sigma = (world.truth[method, -1] / world.truth[method, 0] - 1) / growth
        added = (world.sizes[-1] ** 0.8 - world.sizes[0] ** 0.8) / (world.sizes[-1] - world.sizes[0])
        for name, value, true_value in (
            ("theta", found.theta, theta),
            ("Theta", found.Theta, added),
            ("epsilon", found.epsilon, sigma / theta),
        ):
            counts[f"{name} defined"][method].append(not isinstance(value, Undefined))
            if not isinstance(value, Undefined) and value.total is not None:
                counts[name][method].append(holds(value.total, true_value))


def printed(counts: Counts, columns: tuple[str, ...]) -> str:
    """Averages in percent, with the least and greatest over cells."""
    found = []
    for name in columns:
        shares = [100 * float(np.mean(one)) for one in counts[name].values()]
        found.append(f"{np.mean(shares):5.1f} ({min(shares):.1f}-{max(shares):.1f})" if shares else "")
    return " | ".join(f"{cell:>18}" for cell in found)


def fresh() -> Counts:
    return defaultdict(lambda: defaultdict(list))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--design", default="", help="only designs whose name holds this")
    arguments = parser.parse_args()
    columns = ("mean", "sigma", "sigma whole", "difference", "rejected")
    print(
        f"{arguments.repeats} repeats; percent of 95 % intervals that hold the truth, and of tests at 5 % that reject"
    )
    print(f"{'':40} | " + " | ".join(f"{name:>18}" for name in columns))
    for design in DESIGNS:
        if arguments.design in design.name:
            began, counts, world = time.perf_counter(), fresh(), World(design)
            for repeat in range(arguments.repeats):
                judge(world, world.draw(np.random.default_rng([arguments.seed, repeat]))[0], counts)
            print(f"{design.name:40} | {printed(counts, columns)} | {time.perf_counter() - began:.0f} s", flush=True)
    if arguments.design in "1 seed":
        counts, world = fresh(), World(replace(DESIGNS[0], seeds=1, sizes=2, seed_sd=0.0))
        for repeat in range(arguments.repeats):
            judge_one_seed(world, *world.draw(np.random.default_rng([arguments.seed, repeat])), counts)
        print(f"{'1 seed, these models, items alone':40} | {printed(counts, columns)}", flush=True)
    if arguments.design in "costs":
        counts, world = fresh(), World(replace(DESIGNS[0], items=200))
        for repeat in range(arguments.repeats):
            generator = np.random.default_rng([arguments.seed, repeat])
            judge_costs(world, *world.draw(generator), generator, counts)
        costs = ("theta", "Theta", "epsilon", "epsilon defined")
        print(f"{'':40} | " + " | ".join(f"{name:>18}" for name in costs))
        print(f"{'costs vary by a third':40} | {printed(counts, costs)}")


if __name__ == "__main__":
    main()

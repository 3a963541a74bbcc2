"""How often intervals hold the truth and tests err, by simulation in the designs as recorded (`sumcurve.statistics`).

Scores look like per-item ROUGE: in [0, 1], skewed, some of them 0. Items come in 180 groups, the largest of 68 of 1,000
items, where a design names no others; groups, items and single models each add to the latent score, so that scores have
a design effect of about 2.5 and differences one of about 1.6. What a seed adds to a model's true score is normal with
the standard deviation of its method and size, correlated over methods (paired seeds) and, where named, over sizes
(nested records). Each model's latent scores are shifted until its true mean is just that, so that the truth is known
exactly. All methods are equally good.

Prints a table, one design a row, and writes it as CSV. Coverage is that of 95 % intervals in percent, averaged over
cells, with the worst single one; `family` the share of families (all pairs of methods at one size) with a false
rejection at 5 %. Power is that of finding a true difference of 2.2 points at 100 %, one method being ahead of all
others, beside a test told the true covariance of the scores. Coverage outside 93 to 97 %, errors outside 3 to 7 % and
a power below 85 % of the told test's are marked with an asterisk.
"""

import argparse
import csv
import time
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sumcurve.statistics.design import Cell, Design, Replicates
from sumcurve.statistics.family import family
from sumcurve.statistics.intervals import contrast, difference, draws, estimate

Array = NDArray[np.float64]

POINTS, EFFECT, DRAWS = 100, 2.2, 999
RECORDED = (1.74, 1.42, 1.90, 1.40, 0.91, 0.41)  # standard deviation over seeds of recorded ROUGE-1, 5 to 100 %
LARGE = (68, 63, 44, 39)  # groups of the recorded test part; the others hold a few items each
# latent standard deviations
OF_GROUP, OF_GROUP_FOR_METHOD = 0.06, 0.028
OF_ITEM, OF_ITEM_FOR_METHOD, OF_ITEM_FOR_MODEL = 0.14, 0.12, 0.14


@dataclass(frozen=True)
class World:
    """A design. `sds` are points by size, the last at all records; `methods` factors of them, one a method."""

    name: str
    methods: tuple[float, ...] = (1.0, 1.0, 1.0)
    sds: tuple[float, ...] = RECORDED
    seeds: int = 3
    across_methods: float = 0.4
    across_sizes: float = 0.0
    items: int = 1000
    groups: int = 180
    large: tuple[int, ...] = LARGE
    is_full: bool = True  # whether the last size is all records


def one_size(methods: int, seeds: int, items: int = 200, of_largest: float = 0.0) -> World:
    """What `compare` is given most: one size below all records, seeds of 2 points, single items or one large group."""
    large = round(of_largest * items)
    return World(
        f"one size, {methods} methods, {seeds} seeds" + (f", a group of {100 * of_largest:.0f} %" if large else ""),
        methods=(1.0,) * methods,
        sds=(2.0,),
        seeds=seeds,
        across_methods=0.5,
        items=items,
        groups=items - large + bool(large),
        large=(large,) if large else (),
        is_full=False,
    )


WORLDS = [
    World("as recorded, 2 seeds", seeds=2),
    World("as recorded, 3 seeds"),
    World("as recorded, 4 seeds", seeds=4),
    World("as recorded, 5 seeds", seeds=5),
    World("nested sizes correlate 0.4", across_sizes=0.4),
    World("methods do not correlate", across_methods=0.0),
    World("2 methods", methods=(1.0, 1.0)),
    World("6 methods, 3 sizes", methods=(1.0,) * 6, sds=(1.74, 1.40, 0.41)),
    World("sds of methods .3 .3 2.4", methods=(0.3, 0.3, 2.4), sds=(1.0,) * 6, across_methods=0.0),
    World("the same, 5 seeds", methods=(0.3, 0.3, 2.4), sds=(1.0,) * 6, across_methods=0.0, seeds=5),
    World("sds alike, 100 % too", sds=(1.0,) * 6),
    World("no variance of seeds", sds=(0.0,) * 6),
    World("one size, all records", sds=(0.41,)),
    World("1,000 groups of one item", groups=1000, large=()),
    *(one_size(methods, seeds) for methods, seeds in ((2, 2), (2, 3), (2, 5), (5, 2), (5, 3))),
    *(one_size(6, seeds, of_largest=0.45) for seeds in (2, 3, 5)),
]


def score(latent: Array) -> Array:
    """A per-item score in [0, 1): 0 for easily failed items, skewed to the right."""
    squared = np.maximum(latent, 0.0) ** 2
    return squared / (1 + squared)


def group_sizes(world: World) -> list[int]:
    """Falling sizes: the recorded large ones, then a tail that uses up the items."""
    rest, items = world.groups - len(world.large), world.items - sum(world.large)
    falling = np.exp(-np.arange(rest) / 40.0)
    sizes = 1 + np.floor((items - rest) * falling / falling.sum()).astype(int)
    sizes[: items - sizes.sum()] += 1
    return [*world.large, *sizes.tolist()]


class Simulated:
    """Draws of a world. `truth` ``[sizes]`` are all methods' mean scores in points."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.records = [2000 >> step for step in reversed(range(len(world.sds)))]
        self.truth = np.linspace(14.0, 22.0, len(world.sds))
        self.codes = np.repeat(np.arange(world.groups), group_sizes(world))
        parts = (OF_GROUP, OF_GROUP_FOR_METHOD, OF_ITEM, OF_ITEM_FOR_METHOD, OF_ITEM_FOR_MODEL)
        noise = np.sqrt(sum(part**2 for part in parts))
        nodes = np.linspace(-8, 8, 4001)
        weights = np.exp(-(nodes**2) / 2) / np.exp(-(nodes**2) / 2).sum()
        self.shifts = np.linspace(-1.5, 2.5, 1601)
        self.means = POINTS * score(self.shifts[:, None] + noise * nodes) @ weights

    @property
    def cells(self) -> list[list[Cell]]:
        """[methods, sizes]"""
        return [[(f"m{method}", records) for records in self.records] for method in range(len(self.world.methods))]

    def draw(self, generator: np.random.Generator) -> Design:
        world = self.world
        shape = (len(world.methods), len(world.sds), world.seeds)
        normal = generator.standard_normal
        effects = np.sqrt(world.across_methods) * normal((1, *shape[1:]))
        effects = effects + np.sqrt(world.across_sizes) * normal((shape[0], 1, shape[2]))
        effects = effects + np.sqrt(1 - world.across_methods - world.across_sizes) * normal(shape)
        sds = np.outer(world.methods, world.sds)[..., None]
        true = self.truth[:, None] + sds * effects
        of_group = OF_GROUP * normal(world.groups) + OF_GROUP_FOR_METHOD * normal((shape[0], 1, 1, world.groups))
        latent = OF_ITEM_FOR_MODEL * normal((*shape, world.items))
        latent += OF_ITEM * normal(world.items) + OF_ITEM_FOR_METHOD * normal((shape[0], 1, 1, world.items))
        latent += of_group[..., self.codes] + np.interp(true, self.means, self.shifts)[..., None]
        scores = POINTS * score(latent)
        seeds = tuple(range(1, world.seeds + 1))
        replicates = [
            Replicates(*cell, seeds, one)
            for cells, own in zip(self.cells, scores, strict=True)
            for cell, one in zip(cells, own, strict=True)
        ]
        return Design(replicates, [str(code) for code in self.codes], self.records[-1] if world.is_full else None)


def judge(simulated: Simulated, design: Design, generator: np.random.Generator) -> tuple[dict[str, list[bool]], Array]:
    """What the intervals and tests of one draw say, by question; and the scores at 100 %, for the told test."""
    cells, truth = simulated.cells, simulated.truth
    last, methods = len(truth) - 1, len(cells)
    told: dict[str, list[bool]] = defaultdict(list)

    def holds(low: float | None, high: float | None, true: float) -> bool:
        assert low is not None
        assert high is not None
        return low <= true <= high

    for size, true in enumerate(truth):
        where = "at 100 %" if size == last and simulated.world.is_full else "below"
        for method in range(methods):
            found = estimate(design, cells[method][size])
            told[f"mean {where}|{method},{size}"].append(holds(found.low, found.high, float(true)))
        for one, other in combinations(range(methods), 2):
            found = difference(design, cells[one][size], cells[other][size])
            told[f"difference {where}|{one},{other},{size}"].append(holds(found.low, found.high, 0.0))
        pairs = list(combinations([own[size] for own in cells], 2))
        result = family(design, pairs, DRAWS)
        told[f"family {where}|{size}"].append(any(one.p_family < 0.05 for one in result.tests if one.p_family))
    joint = draws(design, DRAWS, generator)
    if last:
        x = np.log2(simulated.records)
        slopes = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
        for method, own in enumerate(cells):
            for size in range(last):
                found = contrast(design, {own[size]: -1.0, own[size + 1]: 1.0})
                told[f"growth|{method},{size}"].append(
                    holds(found.low, found.high, float(truth[size + 1] - truth[size]))
                )
            places = [design.place(cell) for cell in own]
            low, high = np.quantile(joint[:, places] @ slopes, [0.025, 0.975])
            told[f"slope, drawn|{method}"].append(holds(low, high, float(slopes @ truth)))
            sigma = joint[:, places[-1]] / joint[:, places[0]] - 1
            low, high = np.quantile(sigma, [0.025, 0.975])
            told[f"ratio, drawn|{method}"].append(holds(low, high, float(truth[-1] / truth[0] - 1)))
    for one, other in combinations(range(methods), 2):
        places = [design.place(cells[method][last]) for method in (one, other)]
        low, high = np.quantile(joint[:, places[0]] - joint[:, places[1]], [0.025, 0.975])
        told[f"difference, drawn|{one},{other}"].append(holds(low, high, 0.0))
    at_full = np.array([design.means[design.place(own[last])] for own in cells])
    design.means[design.place(cells[0][last])] += EFFECT
    result = family(design, list(combinations([own[last] for own in cells], 2)), DRAWS)
    ahead = [one for one in result.tests if one.first[0] == "m0"]
    told["alone"] += [one.difference.low is not None and one.difference.low > 0 for one in ahead]
    told["in family"] += [one.p_family is not None and one.p_family < 0.05 and one.difference.mean > 0 for one in ahead]
    return told, at_full


def told_power(scores: Array) -> tuple[float, float]:
    """Power ``(alone, in its family)`` of tests that know the true covariance of scores ``[repeats, methods]``."""
    pairs = list(combinations(range(scores.shape[1]), 2))
    values = np.stack([scores[:, one] - scores[:, other] for one, other in pairs], axis=1)
    values -= values.mean(axis=0)
    errors = values.std(axis=0)
    critical = np.quantile(np.abs(values / errors).max(axis=1), 0.95)
    alone = [(values[:, place] + EFFECT) / errors[place] for place, pair in enumerate(pairs) if pair[0] == 0]
    return float(np.mean(np.array(alone) > 1.96)), float(np.mean(np.array(alone) > critical))


def run(world: World, repeats: int, seed: int) -> dict[str, str]:
    """One row of the table."""
    simulated = Simulated(world)
    counts: dict[str, list[bool]] = defaultdict(list)
    scores = []
    for repeat in range(repeats):
        generator = np.random.default_rng([seed, repeat])
        told, at_full = judge(simulated, simulated.draw(generator), generator)
        scores.append(at_full)
        for question, answers in told.items():
            counts[question] += answers
    row = {"design": world.name}
    kinds = dict.fromkeys(question.split("|")[0] for question in counts)
    for kind in kinds:
        shares = [100 * float(np.mean(found)) for question, found in counts.items() if question.split("|")[0] == kind]
        if kind in ("alone", "in family"):
            continue
        low, high = (3.0, 7.0) if kind.startswith("family") else (93.0, 97.0)
        mean, worst = float(np.mean(shares)), max(shares, key=lambda one: abs(one - (low + high) / 2))
        row[kind] = f"{mean:.1f} ({worst:.1f}){'' if low <= mean <= high else ' *'}"
    for kind, told_share in zip(("alone", "in family"), told_power(np.array(scores)), strict=True):
        own = float(np.mean(counts[kind]))
        mark = "" if own >= 0.85 * told_share else " *"
        row[f"power {kind}"] = f"{100 * own:.0f} of {100 * told_share:.0f}{mark}"
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--design", default="", help="only designs whose name holds this")
    parser.add_argument(
        "--csv", type=Path, help="write the rows into this table, in place of those of the same designs"
    )
    arguments = parser.parse_args()
    rows = []
    for world in WORLDS:
        if arguments.design in world.name:
            began = time.perf_counter()
            rows.append(run(world, arguments.repeats, arguments.seed))
            print(f"{world.name} ({time.perf_counter() - began:.0f} s)", flush=True)
            for question, found in list(rows[-1].items())[1:]:
                print(f"    {question:20} {found}", flush=True)
    if arguments.csv and rows:
        found = {row["design"]: row for row in rows}
        if arguments.csv.exists():
            with arguments.csv.open(encoding="utf-8", newline="") as stream:
                found = {row["design"]: row for row in csv.DictReader(stream)} | found
        rows = [found[world.name] for world in WORLDS if world.name in found]
        columns = list(dict.fromkeys(column for row in rows for column in row))
        with arguments.csv.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()

"""Are verdicts on learning curves right as often as they claim?

Studies are invented: true curves of known course, mostly of kinds that are no candidates (an exponent or a half-way
size of its own for every method; offsets; a bend), measured at six sizes with three seeds, with noise of seeds and of
shared test items. Every pair gets a verdict, which is compared with the true curves up to four times the largest size.
The paper's rule is judged on the same pairs: of two methods level at the largest size, the one with the higher
rightmost σ will be ahead.

OMP_NUM_THREADS=1 python benchmarks/verdicts.py [--studies 300] [--methods 4] [--noise 0.3 0.6 1.2] [--seed 1]
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sumcurve.curves.fit import Curves, Extrapolation, fit_curves
from sumcurve.curves.verdict import Verdict, verdicts

Array = NDArray[np.float64]
Truth = Callable[[Array], Array]  # sizes as shares of the largest -> scores
SIZES = np.array([0.05, 0.1, 0.18, 0.32, 0.56, 1.0])
SEEDS = 3
ITEM_NOISE = (0.5, 0.25, 0.1)  # points: of all cells together, of a method, of a cell
KINDS = ("own exponents", "offset power", "own Weibull", "own sigmoid", "bend", "shared exponent", "mixed")


def true_curve(kind: str, generator: np.random.Generator, exponent: float) -> Truth:
    """A curve through about 25 points at the largest size, up by 4 to 18 points since the smallest."""
    if kind == "mixed":
        kind = str(generator.choice(KINDS[:5]))
    at_largest, rise = generator.normal(25, 1.5), generator.uniform(4, 18)
    own = generator.uniform(0.15, 1.2)
    offset = generator.uniform(0.02, 0.3)
    half, steep = np.exp(generator.uniform(np.log(0.05), np.log(2.0))), generator.uniform(0.5, 1.6)
    bend, before = np.exp(generator.uniform(np.log(0.1), np.log(1.0))), generator.uniform(0.2, 1.0)

    def course(d: Array) -> Array:
        if kind == "own exponents":
            return -(d**-own)
        if kind == "shared exponent":
            return -(d**-exponent)
        if kind == "offset power":
            return -((d + offset) ** -(2 * own))
        if kind == "own Weibull":
            return -np.exp(-((d / half) ** steep))
        if kind == "own sigmoid":
            return 1 / (1 + (d / half) ** -steep)
        # A smooth change of slope in log d (Caballero et al., 2023).
        x = np.log(d / bend)
        return before * x + (1 - 2 * before) * np.logaddexp(0, 4 * x) / 4 * 0.7

    ends = course(np.array([SIZES[0], 1.0]))
    return lambda d: at_largest + rise * (course(d) - ends[1]) / (ends[1] - ends[0])


@dataclass(frozen=True)
class Study:
    truths: list[Truth]
    curves: Curves


def study(kind: str, methods: int, noise: float, generator: np.random.Generator) -> Study:
    exponent = float(generator.uniform(0.15, 1.2))
    truths = [true_curve(kind, generator, exponent) for _ in range(methods)]
    true = np.array([truth(SIZES) for truth in truths])
    seeds = true[:, :, None] + noise * generator.standard_normal((*true.shape, SEEDS))
    dof = true.size * (SEEDS - 1)
    pooled = np.sqrt(seeds.var(axis=2, ddof=1).mean())
    shape = (400, *true.shape)
    items = (
        ITEM_NOISE[0] * generator.standard_normal((shape[0], 1, 1))
        + ITEM_NOISE[1] * generator.standard_normal((shape[0], shape[1], 1))
        + ITEM_NOISE[2] * generator.standard_normal(shape)
    )
    scores = np.clip(seeds.mean(axis=2) + items[0], 0, 100)
    errors = np.full(true.shape, pooled / np.sqrt(SEEDS))
    names = tuple(f"m{index}" for index in range(methods))
    return Study(truths, Curves(names, SIZES * 2000, scores, errors, dof, items[1:]))


def right(verdict: Verdict, truths: dict[str, Truth]) -> bool:
    """Whether the claim of `verdict` holds for the true curves."""
    d = np.geomspace(verdict.size, verdict.furthest, 200) / 2000
    lead = truths[verdict.first](d) - truths[verdict.second](d)
    if verdict.kind == "ahead throughout":
        return bool((lead > 0).all())
    if verdict.kind == "ahead now":
        return bool(lead[0] > 0)
    if verdict.kind == "overtaken":
        return bool(lead[0] < 0 < lead[-1])
    return bool(lead[-1] > 0)


def crossing_within(verdict: Verdict, truths: dict[str, Truth]) -> bool:
    d = np.geomspace(verdict.size, verdict.furthest, 2000)
    behind = truths[verdict.first](d / 2000) <= truths[verdict.second](d / 2000)
    last = len(d) - 1 - int(np.argmax(behind[::-1])) if behind.any() else -1
    crossing = np.inf if behind[-1] else d[last + 1] if last >= 0 else d[0]
    return (
        verdict.low is not None and verdict.high is not None and verdict.low * 0.999 <= crossing <= verdict.high * 1.001
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=300, help="per kind of curve and noise")
    parser.add_argument("--methods", type=int, default=4)
    parser.add_argument("--noise", type=float, nargs="+", default=[0.3, 0.6, 1.2], help="sd of a seed, in points")
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    settings = Extrapolation(draws=2000)
    rows: list[dict[str, object]] = []
    bands: list[dict[str, object]] = []
    for kind in arguments.kinds:
        for noise in arguments.noise:
            for number in range(arguments.studies):
                generator = np.random.default_rng([arguments.seed, KINDS.index(kind), int(1000 * noise), number])
                made = study(kind, arguments.methods, noise, generator)
                fits = fit_curves(made.curves, settings)
                truths = dict(zip(made.curves.methods, made.truths, strict=True))
                for method, truth in truths.items():
                    low, _, high = fits.band(method, [2000, 4000, 8000])
                    actual = truth(np.array([1.0, 2.0, 4.0]))
                    bands.append(
                        {
                            "kind": kind,
                            "noise": noise,
                            "within": (low <= actual) & (actual <= high),
                            "width": high - low,
                        }
                    )
                for verdict, (a, b) in zip(verdicts(fits), combinations(range(arguments.methods), 2), strict=True):
                    last, before = made.curves.scores[:, -1], made.curves.scores[:, -2]
                    steepness = (last - before) / before
                    steeper, other = (a, b) if steepness[a] >= steepness[b] else (b, a)
                    ahead = [
                        made.truths[steeper](np.array([d]))[0] > made.truths[other](np.array([d]))[0]
                        for d in (1 / 0.56, 4.0)
                    ]
                    rows.append(
                        {
                            "kind": kind,
                            "noise": noise,
                            "verdict": verdict.kind,
                            "claimed": verdict.probability,
                            "right": right(verdict, truths),
                            "interval": crossing_within(verdict, truths) if verdict.low is not None else None,
                            "level": verdict.level,
                            "sigma": ahead,
                        }
                    )
    report(rows, bands)


def share(values: list[bool]) -> str:
    return f"{100 * np.mean(values):5.1f}" if values else "    –"


def report(rows: list[dict], bands: list[dict]) -> None:
    print(f"{len(rows):,} pairs\n\nverdict            pairs  claimed %  right %  crossing within its interval %")
    for kind in ("ahead throughout", "ahead now", "overtaken", "level then ahead", "undecided"):
        chosen = [row for row in rows if row["verdict"] == kind]
        inside = [row["interval"] for row in chosen if row["interval"] is not None]
        claimed = 100 * np.mean([row["claimed"] for row in chosen]) if chosen else np.nan
        print(f"{kind:18} {len(chosen):6,}  {claimed:9.1f}  {share([r['right'] for r in chosen])}  {share(inside):>20}")
    print("\nclaimed probability of every pair, undecided ones included\n   from     to   pairs  claimed %  right %")
    for low, high in ((0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 0.975), (0.975, 0.99), (0.99, 1.001)):
        chosen = [row for row in rows if low <= row["claimed"] < high]
        if chosen:
            claimed = 100 * np.mean([row["claimed"] for row in chosen])
            correct = share([row["right"] for row in chosen])
            print(f"{low:7.3f} {min(high, 1):6.3f} {len(chosen):7,} {claimed:10.1f}  {correct}")
    print(
        "\ncurve                noise  decided  claimed %  right %  "
        "95 % band holds the true curve at d, 2d, 4d (width at 4d)"
    )
    for kind in dict.fromkeys(row["kind"] for row in rows):
        for noise in dict.fromkeys(row["noise"] for row in rows):
            chosen = [r for r in rows if r["kind"] == kind and r["noise"] == noise and r["verdict"] != "undecided"]
            band = [b for b in bands if b["kind"] == kind and b["noise"] == noise]
            within = 100 * np.mean([b["within"] for b in band], axis=0)
            width = np.mean([b["width"] for b in band], axis=0)[2]
            claimed = 100 * np.mean([r["claimed"] for r in chosen]) if chosen else np.nan
            print(
                f"{kind:20} {noise:5.1f}  {len(chosen):7,}  {claimed:9.1f}  {share([r['right'] for r in chosen])}  "
                f"{within[0]:9.1f} {within[1]:5.1f} {within[2]:5.1f} ({width:.1f})"
            )
    level = [row for row in rows if row["level"]]
    decided = [row for row in level if row["verdict"] == "level then ahead"]
    print(f"\nthe paper's rule on {len(level):,} pairs level at d: the higher rightmost σ is ahead")
    for name, chosen in (("all level pairs", level), ("those given a verdict here", decided)):
        next_size, far = ([not row["sigma"][i] for row in chosen] for i in (0, 1))
        print(f"{name:28} {len(chosen):6,}: wrong at the next size {share(next_size)} %, at 4d {share(far)} %")
    print(f"{'the verdicts here':28} {len(decided):6,}: wrong {share([not row['right'] for row in decided])} %")


if __name__ == "__main__":
    main()

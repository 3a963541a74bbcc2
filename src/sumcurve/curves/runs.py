"""Curves of trainings that only their scores are known of: a score for each method, size and seed.

What a seed varies by is estimated as for a study (`statistics.seeds`) where all sizes have the same seeds; else pooled
over all sizes, and with the noise of curves where this has more degrees of freedom: a single repeated run alone would
make bands several times as wide as none. Without seeds the noise is that of Gasser, Sroka and Jennen-Steinmetz (1986):
how far scores are from the line through their neighbours, which curvature adds to, so that it errs on the safe side.
"""

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from sumcurve.curves.fit import ERRORS, Array, Curves
from sumcurve.machine.counts import counted
from sumcurve.statistics.seeds import seed_covariance

Runs = Mapping[tuple[str, float], Mapping[str, float]]
"""Scores of seeds, by method and number of training records: seed to score."""


def curves_of_runs(runs: Runs, seed: int = 1) -> tuple[Curves, str]:
    """The curves with joint draws of their errors, and a sentence on what the noise is estimated from."""
    generator = np.random.default_rng([seed, 4])
    cells = [*runs]
    methods, sizes = tuple(dict.fromkeys(name for name, _ in cells)), sorted({size for _, size in cells})
    means = np.array([np.mean([*runs[cell].values()]) for cell in cells])
    counts = np.array([len(runs[cell]) for cell in cells])
    seeds = {frozenset(runs[cell]) for cell in cells}
    if len(seeds) == 1 and counts[0] > 1:
        order = sorted(next(iter(seeds)))
        values = np.array([[runs[cell][name] for name in order] for cell in cells])
        errors = seed_errors(values, [name for name, _ in cells], [size for _, size in cells], ERRORS, generator)
        how = f"Noise: of {counts[0]} seeds, paired over methods, on this test set."
    elif (counts > 1).any():
        free = float((counts - 1).sum())
        squares = sum(float(np.var([*runs[cell].values()])) * len(runs[cell]) for cell in cells)
        how = f"Noise: of seeds, pooled over all sizes ({counted(int(free), 'degree')} of freedom), on this test set."
        deviation, of_curves = _roughness(
            dict(zip(cells, zip(means.tolist(), counts.tolist(), strict=True), strict=True))
        )
        if free < of_curves:
            squares, free = squares + of_curves * deviation**2, free + of_curves
            how = "Noise: of the few repeated runs, pooled, and of how rough the curves are; more seeds would show it."
        errors = _independent(np.sqrt(squares / free / counts), free, generator)
    else:
        deviation, free = _roughness({cell: (float(mean), 1) for cell, mean in zip(cells, means, strict=True)})
        errors = _independent(np.full(len(cells), deviation), free, generator)
        how = "Single runs: the noise is estimated from how rough the curves are; several seeds would show it."
    scores = np.full((len(methods), len(sizes)), np.nan)
    drawn = np.full((ERRORS, *scores.shape), np.nan)
    for place, (name, size) in enumerate(cells):
        at = methods.index(name), sizes.index(size)
        scores[at], drawn[:, *at] = means[place], errors[:, place]
    return Curves(methods, np.array(sizes), scores, drawn), how


def seed_errors(
    values: Array, methods: list[str], sizes: list[float], draws: int, generator: np.random.Generator
) -> Array:
    """Joint draws ``[draws, cells]`` of the errors of means over seeds of ``[cells, seeds]``, with Student's tails."""
    shared = seed_covariance(values, methods, sizes, None)
    roots, vectors = np.linalg.eigh(shared.covariance / values.shape[1])
    errors = generator.normal(size=(draws, len(values))) @ (vectors * np.sqrt(np.maximum(roots, 0.0))).T
    units = np.eye(len(values))
    for place in np.unique(shared.size):
        at = np.flatnonzero(shared.size == place)
        weights = [units[a] - units[b] for a, b in combinations(at, 2)] or [units[at[0]]]
        degrees = float(np.median([shared.degrees(weight) for weight in weights]))
        errors[:, at] *= np.sqrt(degrees / generator.chisquare(degrees, draws))[:, None]
    return np.asarray(errors)


def _independent(deviations: Array, degrees: float, generator: np.random.Generator) -> Array:
    """Draws ``[draws, cells]`` of independent errors whose common scale has these degrees of freedom."""
    tails = np.sqrt(degrees / generator.chisquare(degrees, ERRORS))
    return np.asarray(generator.normal(size=(ERRORS, len(deviations))) * deviations * tails[:, None])


def _roughness(means: Mapping[tuple[str, float], tuple[float, int]]) -> tuple[float, float]:
    """Standard deviation of single scores around lines through their neighbours in log size, and its degrees.

    `means` are of so many scores each.
    """
    squares = []
    for method in dict.fromkeys(name for name, _ in means):
        points = sorted((np.log(size), *mean) for (name, size), mean in means.items() if name == method)
        for (x1, y1, n1), (x2, y2, n2), (x3, y3, n3) in zip(points, points[1:], points[2:], strict=False):
            share = (x3 - x2) / (x3 - x1)
            residual = share * y1 + (1 - share) * y3 - y2
            squares.append(residual**2 / (share**2 / n1 + (1 - share) ** 2 / n3 + 1 / n2))
    # Neighbouring residuals share scores: they count for about half as many.
    return (float(np.sqrt(np.mean(squares))), max(1.0, len(squares) / 2)) if squares else (0.0, 1.0)

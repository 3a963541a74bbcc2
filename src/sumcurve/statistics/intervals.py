"""Means, differences and joint draws of a design's true scores."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from sumcurve.statistics.design import TINY, Cell, Design
from sumcurve.statistics.groups import Array

ITEMS, TRAINING, DRAW = "items", "items and training", "items, training and draw"
MIXED = "items and training, and the draw below all records"
READERS = ", and readers"


@dataclass(frozen=True)
class Estimate:
    """A mean, or a weighted sum of means, in points, with its interval and what the interval covers.

    `covers` is "items" (these weights: one seed, or a system that is not trained), "items and training" (at all
    records, where all seeds share them: conditional on this training set), "items, training and draw", or, of cells of
    both kinds, "items and training, and the draw below all records"; of scores by several readers "and readers", too.
    `low`, `high`, `error` (the standard error), `df` and `p` (two-sided, of the value 0) are None where no number can
    be defended; then `why` is the sentence to print.
    """

    mean: float
    low: float | None
    high: float | None
    error: float | None
    df: float | None
    p: float | None
    covers: str
    why: str = ""

    def interval(self, level: float) -> tuple[float, float] | None:
        """Low and high end at another level, such as a family's `level`: confidence is 1 - level."""
        if self.error is None or self.df is None:
            return None
        reach = float(stats.t.isf(level / 2, self.df)) * self.error
        return self.mean - reach, self.mean + reach

    def within(self, most: float, least: float = 0.0) -> "Estimate":
        """Estimate with ends from `least` to `most`, as of a share, or of a difference of shares."""
        if self.low is None or self.high is None:
            return self
        return replace(self, low=max(least, self.low), high=min(most, self.high))


def estimate(design: Design, cell: Cell) -> Estimate:
    """The mean score of a cell. Its `p` is of no use."""
    return contrast(design, {cell: 1.0})


def difference(design: Design, first: Cell, second: Cell) -> Estimate:
    """First minus second, paired in groups of items and in seeds.

    Where one of the two has a single seed, it is about these weights: items alone.
    """
    if first == second:
        raise ValueError(f"{first} is compared with itself; name two cells")
    return contrast(design, {first: 1.0, second: -1.0})


def contrast(design: Design, weights: Mapping[Cell, float]) -> Estimate:
    """A weighted sum of mean scores, such as a slope over log sizes.

    Where a cell with a weight has a single seed, it is about these weights: items alone.
    """
    weighting = np.zeros(len(design.cells))
    for cell, weight in weights.items():
        weighting[design.place(cell)] = weight
    mean = float(weighting @ design.means)
    covers = _covers(design, weighting)
    if design.why:
        return Estimate(mean, None, None, None, None, None, covers, design.why)
    if covers == ITEMS:
        variance, degrees = float(weighting @ design.items_covariance @ weighting), design.items_degrees
    else:
        variance, degrees = design.spread(weighting)
    if not design.moves(weighting) or variance <= TINY:
        why = "no interval: the score is the same on every item"
        if np.count_nonzero(weighting) > 1:
            why = "no interval: the difference is the same on every item"
        return Estimate(mean, None, None, None, None, None, covers, why)
    variance, degrees = design.among_readers(weighting, variance, degrees)
    covers += READERS if design.reader_deviations.size else ""
    error = float(np.sqrt(variance))
    reach = float(stats.t.isf((1 - design.confidence) / 2, degrees)) * error
    p = float(2 * stats.t.sf(abs(mean) / error, degrees))
    return Estimate(mean, mean - reach, mean + reach, error, float(degrees), p, covers)


def _covers(design: Design, weighting: Array) -> str:
    used = [place for place in range(len(weighting)) if weighting[place]]
    kinds = {design.kinds[place] for place in used}
    if "single" in kinds or "replicated" not in kinds:
        return ITEMS
    full = {design.cells[place][1] == design.full_records for place in used if design.kinds[place] == "replicated"}
    return MIXED if len(full) == 2 else TRAINING if full == {True} else DRAW


def draws(design: Design, count: int, generator: np.random.Generator) -> Array:
    """Joint draws ``[count, cells]`` of all cells' true mean scores, in points, which spread as the intervals do.

    Groups of items are resampled once for all systems, the seeds' errors drawn paired within a size, both with the
    tails that their degrees of freedom ask for. Quantiles of any function of a row are an interval of that function:
    slopes, records to reach a score, who is best. Single-seed and fixed cells vary by items only.
    ValueError with the design's sentence where its groups allow no interval.
    """
    if design.why:
        raise ValueError(design.why)
    groups = design.groups.count
    times = generator.multinomial(groups, np.full(groups, 1 / groups), count) - 1.0
    times *= np.sqrt(groups / (groups - 1)) * _tails(design.items_degrees, count, generator)[:, None]
    draws = design.means + times @ design.deviations.T
    if many := design.reader_deviations.shape[1]:
        errors = generator.normal(size=(count, many)) @ design.reader_deviations.T
        draws += errors * _tails(many - 1.0, count, generator)[:, None]
    if design.moderated is None:
        return draws
    here = design.replicated
    values, vectors = np.linalg.eigh(design.seeds_covariance[np.ix_(here, here)])
    errors = generator.normal(size=(count, len(here))) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    for place in np.unique(design.moderated.size):
        at = design.moderated.size == place
        degrees = [design.moderated.degrees(pair) for pair in _pairs(at)]
        errors[:, at] *= _tails(float(np.median(degrees)), count, generator)[:, None]
    draws[:, here] += errors
    return draws


def _tails(degrees: float, count: int, generator: np.random.Generator) -> Array:
    """Factors that make normal errors Student's."""
    return np.asarray(np.sqrt(degrees / generator.chisquare(degrees, count)))


def _pairs(at: Array) -> list[Array]:
    """Weights of the differences of the cells at one size, or of its only one."""
    places = np.flatnonzero(at)
    unit = np.eye(len(at))
    if len(places) == 1:
        return [unit[places[0]]]
    return [unit[a] - unit[b] for index, a in enumerate(places) for b in places[index + 1 :]]

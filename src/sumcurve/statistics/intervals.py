"""Means, differences and joint draws of a design's true scores."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sumcurve.statistics.design import Array, Cell, Design

COVERS = ("items", "items and training", "items, training and draw")


@dataclass(frozen=True)
class Estimate:
    """A mean, or a weighted sum of means, in points, with its interval and what the interval covers.

    `covers` is "items" (these weights: one seed, or a system that is not trained), "items and training" (at all records,
    where all seeds share them: conditional on this training set) or "items, training and draw".
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


def estimate(design: Design, cell: Cell) -> Estimate:
    """The mean score of a cell. Its `p` is of no use."""
    raise NotImplementedError


def difference(design: Design, first: Cell, second: Cell) -> Estimate:
    """First minus second, paired in groups of items and in seeds."""
    raise NotImplementedError


def contrast(design: Design, weights: Mapping[Cell, float]) -> Estimate:
    """A weighted sum of mean scores, such as a slope over log sizes."""
    raise NotImplementedError


def draws(design: Design, count: int, generator: np.random.Generator) -> Array:
    """Joint draws ``[count, cells]`` of all cells' true mean scores, in points, which spread as the intervals do.

    Groups of items are resampled once for all systems, the seeds' errors drawn paired within a size. Quantiles of any
    function of a row are an interval of that function: slopes, records to reach a score, who is best.
    A ValueError with the design's sentence where its groups allow no interval. Single-seed and fixed cells vary by
    items only.
    """
    raise NotImplementedError

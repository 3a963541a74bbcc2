"""A design: all systems of one corpus under one metric, the seeds that they share, the groups of their test items.

Seed k draws the same training records for every method, so that seeds are paired over methods. Test items come in
groups (the docstrings of one module), which are what a test set samples. Scores are in points.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

Cell = tuple[str, int | None]
"""A system and the number of its training records; None where a system is not trained (lead)."""


@dataclass(frozen=True)
class Replicates:
    """Per-item scores ``[seeds, items]`` in points of one system, trained on `records` records with each of `seeds`.

    A system that is not trained (lead, the extractive optimum) has `records` None, `seeds` () and scores ``[1, items]``.
    """

    system: str
    records: int | None
    seeds: tuple[int, ...]
    items: Array

    @property
    def cell(self) -> Cell:
        return self.system, self.records


class Design:
    """Systems over the same items in the same order; `groups` names every item's group, `full_records` are all records.

    Attributes: `cells` (in the order given), `means` ``[cells]`` (over seeds and items), `kinds` ("replicated": two
    seeds or more; "single": one seed; "fixed": not trained), `seeds` (those of the replicated ones), and, in squared
    points, `items_covariance` and `seeds_covariance` ``[cells, cells]`` of the means: their sum is the means' whole
    covariance. `why` is a sentence where the groups allow no interval, empty otherwise.

    ValueError where a cell comes twice, items differ in number, a score is not finite, or replicated systems have
    different seeds (`common_seeds` cuts them to those that all have).
    """

    cells: tuple[Cell, ...]
    kinds: tuple[str, ...]
    means: Array
    seeds: tuple[int, ...]
    items_covariance: Array
    seeds_covariance: Array
    why: str

    def __init__(
        self, replicates: Sequence[Replicates], groups: Sequence[str], full_records: int | None, confidence: float = 0.95
    ) -> None:
        raise NotImplementedError

    def place(self, cell: Cell) -> int:
        """The position of a cell; KeyError names the cells there are."""
        raise NotImplementedError


def common_seeds(replicates: Sequence[Replicates]) -> tuple[list[Replicates], str]:
    """The same systems with only the seeds that all replicated ones have, and a sentence of what that leaves out."""
    raise NotImplementedError

"""A design: all systems of one corpus under one metric, the seeds that they share, the groups of their test items.

Seed k draws the same training records for every method, so that seeds are paired over methods. Test items come in
groups (the docstrings of one module), which are what a test set samples. Scores are in points.

With R seeds, a weighted sum of mean scores varies by

    items + max(0, seeds - both) / R.

`items` is the variance of the mean over groups of items, of scores averaged over seeds: for these very models.
`seeds` is that of one seed's value on this test set (`statistics.seeds`). Both hold what one model does with one item,
which must count once: `both` is the variance of one seed's mean over the groups of items around the seeds' mean.

Degrees of freedom are Satterthwaite's, with the part that has the fewest at the upper limit of its variance
(`statistics.seeds.LIMIT`; the nuisance of Berger and Boos, 1994). Two seeds that happen to agree show too little
variance, and so too small a share of it: tests at 5 % would reject up to 12.8 % (one degree of freedom), 7.8 (two) and
5.9 (four), over all true shares and for normal values; so they reject at most 6.7, 5.5 and 5.1, the most where seeds
vary ten times as much as items. A higher limit errs less and finds less.

Where several readers give the scores, their mean is the score, and they are draws, too: the covariance of the means by
each reader, over their number, adds to all that the means vary by.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sumcurve.statistics.groups import Array, Groups
from sumcurve.statistics.seeds import SeedCovariance, satterthwaite, seed_covariance, upper_limit

Cell = tuple[str, int | None]
"""A system and the number of its training records; None where a system is not trained (lead)."""

TINY = 1e-12  # squared points: rounding, not spread

Kind = Literal["replicated", "single", "fixed"]


@dataclass(frozen=True, eq=False)
class Replicates:
    """Per-item scores ``[seeds, items]`` in points of one system, trained on `records` records with each of `seeds`.

    A system that is not trained (lead, the extractive optimum) has `records` None, `seeds` () and ``[1, items]``.
    `readers` ``[seeds, readers]`` are the means by each reader, where scores are the mean of several. What stands
    `beside` the others, such as the reference itself, decides nothing of their intervals.
    """

    system: str
    records: int | None
    seeds: tuple[int, ...]
    items: Array
    readers: Array | None = None
    beside: bool = False

    def __post_init__(self) -> None:
        named = self.system if self.records is None else f"{self.system} at {self.records:,} records"
        if (self.records is None) != (not self.seeds):
            raise ValueError(
                f"{named} has seeds {list(self.seeds)}; a trained system has records and seeds, others none"
            )
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f"{named} has seeds {list(self.seeds)}; give each seed once")
        if self.items.ndim != 2 or len(self.items) != max(1, len(self.seeds)) or self.items.shape[1] == 0:
            raise ValueError(
                f"{named}: scores of shape {self.items.shape} for seeds {list(self.seeds)}; give [seeds, items], and "
                "[1, items] of a system that is not trained"
            )
        if not np.isfinite(self.items).all():
            raise ValueError(f"{named}: a score is not finite; every item needs one")
        if self.readers is not None and not np.allclose(self.readers.mean(axis=1), self.items.mean(axis=1)):
            raise ValueError(f"{named}: the readers' means are not those of the scores, which are the mean of readers")

    @property
    def cell(self) -> Cell:
        return self.system, self.records

    @property
    def kind(self) -> Kind:
        return "fixed" if self.records is None else "replicated" if len(self.seeds) > 1 else "single"


class Design:
    """Systems over the same items in the same order; `groups` names every item's group, `full_records` are all records.

    Attributes: `cells` (in the order given), `means` ``[cells]`` (over seeds and items), `kinds` ("replicated": two
    seeds or more; "single": one seed; "fixed": not trained), `seeds` (those of the replicated ones), and, in squared
    points, `items_covariance`, `seeds_covariance` and `readers_covariance` ``[cells, cells]`` of the means, whose sum
    is all that the means vary by; `items_degrees`; `deviations` ``[cells, groups]``, with `items_covariance` =
    deviations @ deviations.T, and so `reader_deviations` ``[cells, readers]``, without columns where no readers score;
    `seed_means` ``[replicated cells, seeds]``. `why` is a sentence where the groups allow no interval, else empty.

    ValueError where a cell comes twice, items differ in number, a score is not finite, or replicated systems have
    different seeds (`common_seeds` cuts them to those that all have).
    """

    def __init__(
        self,
        replicates: Sequence[Replicates],
        groups: Sequence[str],
        full_records: int | None,
        confidence: float = 0.95,
    ) -> None:
        if not replicates:
            raise ValueError("there is no system; give one at least")
        self.cells: tuple[Cell, ...] = tuple(entry.cell for entry in replicates)
        self.kinds: tuple[Kind, ...] = tuple(entry.kind for entry in replicates)
        self.confidence, self.full_records = confidence, full_records
        self.groups = Groups.of(groups)
        for entry in replicates:
            if entry.items.shape[1] != self.groups.items:
                raise ValueError(
                    f"{_named(entry.cell)} has {entry.items.shape[1]:,} items, groups are named for "
                    f"{self.groups.items:,}; score all systems on the same items"
                )
            if self.cells.count(entry.cell) > 1:
                raise ValueError(f"{_named(entry.cell)} comes twice; give one entry with all its seeds")
        replicated = [entry for entry in replicates if entry.kind == "replicated"]
        if len({frozenset(entry.seeds) for entry in replicated}) > 1:
            listed = "; ".join(f"{_named(entry.cell)}: {sorted(entry.seeds)}" for entry in replicated)
            raise ValueError(f"systems have different seeds ({listed}); cut them with `common_seeds`")
        self.seeds: tuple[int, ...] = tuple(sorted(replicated[0].seeds)) if replicated else ()
        self.replicated = np.array(
            [place for place, kind in enumerate(self.kinds) if kind == "replicated"], dtype=np.int64
        )
        self.means = np.array([entry.items.mean() for entry in replicates])
        self.why = self.groups.why
        averaged = np.stack([entry.items.mean(axis=0) for entry in replicates])
        residuals = self.groups.residuals(averaged)
        self.deviations = self.groups.deviations(residuals)
        self.items_covariance = self.deviations @ self.deviations.T
        among = [place for place, entry in enumerate(replicates) if not entry.beside] or list(range(len(residuals)))
        self.items_degrees = np.nan if self.why else self.groups.degrees(_with_contrasts(residuals[among]))
        self.both = np.zeros((len(self.cells), len(self.cells)))
        self.seeds_of_one = np.zeros_like(self.both)
        self.seed_means = np.zeros((0, 0))
        self.moderated: SeedCovariance | None = None
        if replicated:
            self._replicate(replicated)
        self.reader_deviations = _of_readers(replicates)
        self.readers_covariance = self.reader_deviations @ self.reader_deviations.T
        excess = self.seeds_of_one - self.both
        self.seeds_covariance = _without_negative(excess) / max(1, len(self.seeds))

    def _replicate(self, replicated: Sequence[Replicates]) -> None:
        scores = np.stack([entry.items[[entry.seeds.index(seed) for seed in self.seeds]] for entry in replicated])
        own = self.groups.deviations(self.groups.residuals(scores - scores.mean(axis=1, keepdims=True)))
        here = np.ix_(self.replicated, self.replicated)
        self.both[here] = np.einsum("arg,brg->ab", own, own) / (len(self.seeds) - 1)
        self.seed_means = scores.mean(axis=2)
        sizes = [float(entry.records or 0) for entry in replicated]
        full = None if self.full_records is None else float(self.full_records)
        self.moderated = seed_covariance(self.seed_means, [entry.system for entry in replicated], sizes, full)
        self.seeds_of_one[here] = self.moderated.covariance

    def place(self, cell: Cell) -> int:
        """The position of a cell; KeyError names the cells there are."""
        try:
            return self.cells.index(cell)
        except ValueError:
            there = ", ".join(_named(cell) for cell in self.cells)
            raise KeyError(f"no {_named(cell)}; there are: {there}") from None

    def moves(self, weights: Array) -> bool:
        """Tell whether the weighted sum ``[cells]`` of scores is different on any group of items, or with any seed."""
        if float(weights @ self.items_covariance @ weights) > TINY:
            return True
        return len(self.replicated) > 0 and float(np.ptp(weights[self.replicated] @ self.seed_means)) ** 2 > TINY

    def spread(self, weights: Array) -> tuple[float, float]:
        """Variance (squared points) and degrees of freedom of the weighted sum ``[cells]`` of the means."""
        items, both = float(weights @ self.items_covariance @ weights), float(weights @ self.both @ weights)
        seeds = float(weights @ self.seeds_of_one @ weights)
        variance = items + float(weights @ self.seeds_covariance @ weights)
        if self.moderated is None or not weights[self.replicated].any():
            return variance, self.items_degrees
        degrees = self.moderated.degrees(weights[self.replicated])
        within = max(0.0, items - both / len(self.seeds))
        if degrees <= self.items_degrees:
            seeds *= upper_limit(degrees)
        else:
            within *= upper_limit(self.items_degrees)
        between = max(seeds, both) / len(self.seeds)
        return variance, satterthwaite([(between, degrees), (within, self.items_degrees)])

    def among_readers(self, weights: Array, variance: float, degrees: float) -> tuple[float, float]:
        """Variance and degrees of freedom of a weighted sum ``[cells]`` with what readers vary by.

        Few seeds and few readers add up to more degrees than the seeds have: that is no help, and not taken.
        """
        between = float(weights @ self.readers_covariance @ weights)
        if between <= TINY:
            return variance, degrees
        both = satterthwaite([(variance, degrees), (between, self.reader_deviations.shape[1] - 1.0)])
        return variance + between, min(both, degrees)


def _of_readers(replicates: Sequence[Replicates]) -> Array:
    """Deviations ``[cells, readers]`` of each reader's means, whose products are the covariance of the readers' mean.

    ValueError where systems have different numbers of readers.
    """
    counts = {0 if entry.readers is None else entry.readers.shape[1] for entry in replicates}
    if len(counts) > 1:
        raise ValueError(f"systems have {' and '.join(map(str, sorted(counts)))} readers; let the same ones score all")
    (count,) = counts
    if count < 2:
        return np.zeros((len(replicates), 0))
    means = np.stack([entry.readers.mean(axis=0) for entry in replicates if entry.readers is not None])
    return np.asarray((means - means.mean(axis=1, keepdims=True)) / np.sqrt(count * (count - 1)))


def common_seeds(replicates: Sequence[Replicates]) -> tuple[list[Replicates], str]:
    """The same systems with only the seeds that all replicated ones have, and a sentence of what that leaves out.

    Where fewer than two seeds are common to all, the systems with the fewest seeds keep their first alone (they
    are single ones then) until two are.
    """
    replicated = [entry for entry in replicates if entry.kind == "replicated"]
    single: list[Cell] = []
    while replicated and len(common := frozenset.intersection(*(frozenset(entry.seeds) for entry in replicated))) < 2:
        poorest = min(replicated, key=lambda entry: len(entry.seeds))
        single.append(poorest.cell)
        replicated.remove(poorest)
    if not replicated:
        return list(replicates), ""
    kept, dropped = [], []
    for entry in replicates:
        if entry.kind != "replicated":
            kept.append(entry)
            continue
        seeds = entry.seeds[:1] if entry.cell in single else tuple(seed for seed in entry.seeds if seed in common)
        places = [entry.seeds.index(seed) for seed in seeds]
        readers = None if entry.readers is None else entry.readers[places]
        kept.append(replace(entry, seeds=seeds, items=entry.items[places], readers=readers))
        if len(seeds) < len(entry.seeds):
            left_out = ", ".join(str(seed) for seed in entry.seeds if seed not in seeds)
            dropped.append(f"{_named(entry.cell)} without seeds {left_out}")
    return kept, f"seeds that all have: {'; '.join(dropped)}" if dropped else ""


def _named(cell: Cell) -> str:
    system, records = cell
    return system if records is None else f"{system} at {records:,} records"


def _with_contrasts(residuals: Array) -> Array:
    """Residuals ``[cells, groups]`` and, of several cells, those of each cell less the mean cell."""
    return residuals if len(residuals) == 1 else np.vstack([residuals, residuals - residuals.mean(axis=0)])


def _without_negative(matrix: Array) -> Array:
    """The nearest covariance: negative eigenvalues are 0 (Higham, 1988)."""
    if not matrix.any():
        return matrix
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)

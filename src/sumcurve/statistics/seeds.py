"""Variation between seeds: a moderated covariance of cells over the seeds that they share.

Three seeds say little of one cell's variance, much of what all cells have in common. At one size, a seed's effect is
shared by all methods (it draws the same records for them) but for a residual:

    y[m, r] = mean[m] + scale[m] (shared[r] + residual[m, r]),    T = var(shared + residual),  E = var(residual).

Scales are how unequal methods are at all sizes, drawn towards 1. T and E are pooled over the methods of a size, then
drawn towards those of the other sizes; the size of all records is kept apart, because there a seed draws nothing. So
every size has a prior covariance. Sizes count as independent, although one seed's are nested. Last, the covariance of
all cells as these seeds show it, with R - 1 degrees of freedom, is drawn towards that prior.

How strongly something is drawn is estimated, by how unequal the variances are beyond what sampling makes: a prior's
degrees of freedom d0 are infinite where they are alike. This is limma's moderation (Smyth, 2004, sections 4 to 6), the
standard for many variances of few replicates each. Few sizes cannot show that they are alike: what others add to a
size's variance is bounded.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, digamma, polygamma

Array = NDArray[np.float64]
Places = NDArray[np.int64]

OTHER_SIZES = 6.0  # degrees of freedom that all other sizes count for at most, or as many as a size has itself
LIMIT = 0.7  # one-sided confidence


def satterthwaite(parts: Sequence[tuple[float, float]]) -> float:
    """Degrees of freedom of a sum of independent estimates (variance, degrees); Satterthwaite (1946), eq. 17."""
    weight = sum(variance**2 / degrees for variance, degrees in parts if variance)
    total = sum(variance for variance, _ in parts)
    return total**2 / weight if weight > 0 else min(degrees for _, degrees in parts)


def upper_limit(degrees: float) -> float:
    """The upper confidence limit (`LIMIT`) of a variance whose estimate, with these degrees of freedom, is 1."""
    return degrees / float(chdtri(degrees, LIMIT))


def prior_degrees(variances: Array, degrees: Array, *factors: Places) -> float:
    """d0 of variances ``[n]`` that have a scaled F distribution with (degrees, d0); infinite where they are alike.

    Smyth (2004), section 6.2: from the variance of log variances beyond what sampling alone makes. Each of `factors`
    ``[n]`` names classes that may differ by a constant factor. Infinite where that leaves nothing to tell it by.
    """
    usable = (variances > 0) & (degrees > 0)
    if not usable.any():
        return np.inf
    degrees = degrees[usable]
    logs = np.log(variances[usable]) - digamma(degrees / 2) + np.log(degrees / 2)
    columns = [np.ones((len(logs), 1))]
    columns += [(places[usable][:, None] == np.unique(places[usable])).astype(np.float64) for places in factors]
    classes = np.hstack(columns)
    fitted, _, rank, _ = np.linalg.lstsq(classes, logs, rcond=None)
    free = len(logs) - int(rank)
    if free < 1:
        return np.inf
    excess = float(((logs - classes @ fitted) ** 2).sum() / free - polygamma(1, degrees / 2).mean())
    return 2 * _trigamma_inverse(excess) if excess > 0 else np.inf


def prior_location(variances: Array, degrees: Array, before: float) -> float:
    """The most likely s0² of variances ``[n]`` that are s0² F(degrees, before), by its own fixed point."""
    location = float(np.average(variances, weights=degrees))
    if np.isinf(before) or location == 0:
        return location
    for _ in range(200):  # falls steadily from the mean
        step = len(variances) / float(((degrees + before) / (before * location + degrees * variances)).sum())
        location, last = step, location
        if abs(location - last) <= 1e-6 * last:
            break
    return location


def _trigamma_inverse(value: float) -> float:
    """Newton's iteration of Smyth (2004), appendix."""
    if value > 1e7:
        return float(1 / np.sqrt(value))
    if value < 1e-6:
        return 1 / value
    y = 0.5 + 1 / value
    for _ in range(50):
        step = float(polygamma(1, y) * (1 - polygamma(1, y) / value) / polygamma(2, y))
        y += step
        if -step / y < 1e-8:
            break
    return y


def _moderated(variances: Array, degrees: Array) -> tuple[Array, Array]:
    """Variances ``[n]`` drawn towards what they have in common, and the degrees of freedom that they have then."""
    usable = degrees > 0
    if usable.sum() < 2 or not (variances[usable] > 0).any():
        return variances, degrees
    before = np.minimum(prior_degrees(variances, degrees), np.maximum(degrees, OTHER_SIZES))
    location = float(np.average(variances[usable], weights=degrees[usable]))
    moderated = (before * location + degrees * variances) / (before + degrees)
    return moderated, np.minimum(degrees + before, degrees[usable].sum())


@dataclass(frozen=True)
class SeedCovariance:
    """The covariance ``[cells, cells]`` of one seed's values, and the degrees of freedom of weighted sums.

    `own_degrees` are R - 1, `prior_degrees` d0. `size` and `method` ``[cells]`` are positions in what follows: `total`
    T and `residual` E ``[sizes]`` of one seed, with their degrees, and each method's `scale` ``[methods]`` (of standard
    deviations), with `scale_degrees`, infinite where methods vary alike.
    """

    covariance: Array
    own_degrees: int
    prior_degrees: float
    size: Places
    method: Places
    total: Array
    total_degrees: Array
    residual: Array
    residual_degrees: Array
    scale: Array
    scale_degrees: float

    def degrees(self, weights: Array) -> float:
        """Degrees of freedom of the variance of a weighted sum ``[cells]``."""
        scaled = weights * self.scale[self.method]
        parts: list[tuple[float, float]] = []
        for place in np.unique(self.size[weights != 0]):
            here = scaled[self.size == place]
            shared, alone = float(here.sum() ** 2), float((here**2).sum())
            if self.residual_degrees[place] > 0:
                total = max(self.total[place], self.residual[place])
                parts += [(shared * total, self.total_degrees[place])]
                parts += [((alone - shared) * self.residual[place], self.residual_degrees[place])]
            else:
                parts += [(alone * self.total[place], self.total_degrees[place])]
        if not parts:
            return float(self.own_degrees)
        pooled = satterthwaite(parts)
        if np.isfinite(self.scale_degrees):
            of_methods = np.bincount(self.method, weights=scaled**2)
            pooled = 1 / (1 / pooled + float((of_methods**2).sum() / of_methods.sum() ** 2) / self.scale_degrees)
        return float(max(self.own_degrees, min(self.own_degrees + self.prior_degrees, pooled)))


def seed_covariance(
    values: Array, methods: Sequence[str], records: Sequence[float], full_records: float | None
) -> SeedCovariance:
    """The moderated covariance of ``[cells, seeds]``, such as mean scores, or logarithms of costs.

    Seeds are those that all cells share, two at least. `methods` and `records` ``[cells]`` name the cells; the size
    `full_records` is kept apart from the others.
    """
    cells, seeds = values.shape
    if seeds < 2:
        raise ValueError("one seed says nothing of what seeds vary by; give two at least")
    own = seeds - 1
    sizes, size = np.unique(np.asarray(records, dtype=np.float64), return_inverse=True)
    names, method = np.unique(np.asarray(methods, dtype=str), return_inverse=True)
    size, method = size.astype(np.int64), method.astype(np.int64)
    centred = values - values.mean(axis=1, keepdims=True)
    sample = centred @ centred.T / own

    scale, scale_degrees = np.ones(len(names)), np.inf
    if len(names) > 1 and len(sizes) > 1:
        scale, scale_degrees = _scales(np.diag(sample), own, size, method)
    scaled = centred / scale[method][:, None]
    total, total_degrees, residual, residual_degrees = _by_size(scaled, size)
    drawn = sizes != full_records
    total[drawn], total_degrees[drawn] = _moderated(total[drawn], total_degrees[drawn])
    residual[drawn], residual_degrees[drawn] = _moderated(residual[drawn], residual_degrees[drawn])

    prior = np.zeros((cells, cells))
    for place in range(len(sizes)):
        here = np.flatnonzero(size == place)
        own_part = residual[place] if len(here) > 1 else total[place]
        prior[np.ix_(here, here)] = max(0.0, total[place] - own_part)
        prior[here, here] += own_part
    prior *= np.outer(scale[method], scale[method])

    # How far single cells go their own ways, of what a seed does not add for all methods of the size.
    variances = (_less_shared(scaled, size) ** 2).sum(axis=1) / own
    relative = np.divide(variances, total[size], out=np.zeros(cells), where=total[size] > 0)
    degrees = np.full(cells, float(own))
    before = prior_degrees(relative, degrees, *((size,) if np.isinf(scale_degrees) else (size, method)))
    covariance = prior
    if np.isfinite(before):
        covariance = (before * prior + own * sample) / (before + own)
    return SeedCovariance(
        covariance,
        own,
        before,
        size,
        method,
        total,
        total_degrees,
        residual,
        residual_degrees,
        scale,
        scale_degrees,
    )


def _by_size(centred: Array, size: Places) -> tuple[Array, Array, Array, Array]:
    """T, E and their degrees ``[sizes]`` of centred values ``[cells, seeds]``; E is 0 where a size has one method."""
    own, count = centred.shape[1] - 1, np.bincount(size)
    total, residual = np.zeros(len(count)), np.zeros(len(count))
    for place in range(len(count)):
        here = centred[size == place]
        total[place] = (here**2).sum() / (len(here) * own)
        if len(here) > 1:
            residual[place] = ((here - here.mean(axis=0)) ** 2).sum() / ((len(here) - 1) * own)
    correlation = 1 - np.divide(residual, total, out=np.ones_like(total), where=(total > 0) & (count > 1))
    total_degrees = count * own / (1 + (count - 1) * np.maximum(0.0, correlation) ** 2)
    return total, total_degrees, residual, (count - 1.0) * own


def _less_shared(centred: Array, size: Places) -> Array:
    """Values ``[cells, seeds]`` less the best prediction of what a seed adds for all methods of a size."""
    total, _, residual, degrees = _by_size(centred, size)
    several = degrees > 0
    if not total[several].sum() > 0:
        return centred
    unshared = min(1.0, residual[several].sum() / total[several].sum())
    alone = centred.copy()
    for place in np.flatnonzero(several):
        here = size == place
        alone[here] -= (1 - unshared) / (1 - unshared + unshared / here.sum()) * centred[here].mean(axis=0)
    return alone


def _scales(variances: Array, own: int, size: Places, method: Places) -> tuple[Array, float]:
    """Ratios of methods' standard deviations ``[methods]`` are at all sizes, and the degrees of their squares."""
    level = np.bincount(size, weights=variances) / np.bincount(size)
    relative = np.divide(variances, level[size], out=np.ones_like(variances), where=level[size] > 0)
    count = np.bincount(method)
    squares, degrees = np.bincount(method, weights=relative) / count, own * count.astype(np.float64)
    before = prior_degrees(squares, degrees)
    if np.isinf(before):
        return np.ones(len(count)), np.inf
    location = prior_location(squares, degrees, before)
    return np.sqrt((before * location + degrees * squares) / (before + degrees)), float(degrees.mean() + before)

"""One family of tests per question, metric and corpus: max-|t| over all its differences.

The null draws numerators and denominators jointly for all differences: numerators from the covariance of groups of
items and of paired seeds (for the items that is the multiplier bootstrap over groups, with normal weights;
Chernozhukov, Chetverikov and Kato, 2013), denominators from chi-squared distributions at one and the same level. So one
test alone has the p value of its t interval, and differences that rise and fall together pay less than Bonferroni's
price. Correlations that few groups of items show are too strong, so that they are drawn towards none: with weight r,
the rank of the differences, against the items' degrees of freedom (Schäfer and Strimmer, 2005, target D). Where degrees
of freedom differ, |t| is compared through its own p value. Corrected p values step down (Westfall and Young, 1993,
algorithm 4.1); `deciding_levels` are those of the intervals that agree with them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from sumcurve.statistics.design import Cell, Design
from sumcurve.statistics.groups import Array
from sumcurve.statistics.intervals import Estimate, difference

STRATA = 4_000  # of the denominators' distribution


@dataclass(frozen=True)
class Tested:
    """One difference of a family; `p_family` is corrected for all of them, None where no test can be made.

    `level` is that at which the family decides it.
    """

    first: Cell
    second: Cell
    difference: Estimate
    p_family: float | None
    level: float | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Low and high end: they leave 0 out just where `p_family` is below the family's level (`deciding_levels`)."""
        return None if self.level is None else self.difference.interval(self.level)


@dataclass(frozen=True)
class FamilyOfTests:
    """All differences of a question. `level` is that of one test which keeps the whole family's.

    An interval of a difference with confidence 1 - `level` (`Estimate.interval`) is simultaneous. `why` says why there
    is no test.
    """

    tests: tuple[Tested, ...]
    level: float | None
    why: str = ""


def family(
    design: Design, pairs: Sequence[tuple[Cell, Cell]], draws: int = 19_999, seed: int = 1, level: float = 0.05
) -> FamilyOfTests:
    """Every pair's difference with p values of max-|t|, step-down, and the level of the interval that decides it.

    Only pairs whose whole error is known belong here: of replicated methods and of fixed systems. A pair with a
    single-seed system is a ValueError. A difference without standard error is untested. `level` is that of the whole
    family.
    """
    tests = [Tested(first, second, difference(design, first, second), None) for first, second in pairs]
    for first, second in pairs:
        if "single" in (design.kinds[design.place(first)], design.kinds[design.place(second)]):
            raise ValueError(f"{first} against {second}: one seed; a family holds replicated methods and fixed systems")
    if not tests:
        return FamilyOfTests((), None, "no tests: no two methods have several seeds")
    tested = [place for place, test in enumerate(tests) if test.difference.error is not None]
    if not tested:
        return FamilyOfTests(tuple(tests), None, tests[0].difference.why)
    weights = np.zeros((len(tested), len(design.cells)))
    for row, place in zip(weights, tested, strict=True):
        row[design.place(tests[place].first)], row[design.place(tests[place].second)] = 1.0, -1.0
    degrees = np.array([tests[place].difference.df for place in tested])
    null = _null(design, weights, degrees, draws, np.random.default_rng(seed))
    p = np.array([tests[place].difference.p for place in tested])
    corrected, steps = _step_down(p, null, level)
    for place, own, decides in zip(tested, corrected.tolist(), deciding_levels(p, steps).tolist(), strict=True):
        tests[place] = replace(tests[place], p_family=own, level=decides)
    return FamilyOfTests(tuple(tests), float(steps[0]))


def deciding_levels(p: Array, steps: Array) -> Array:
    """Levels ``[tests]`` of intervals that leave 0 out just where a step-down test rejects.

    `steps` ``[tests]``, rising, are the levels that it compares p values with, from the smallest p value on. The first
    is that of simultaneous intervals (Hochberg and Tamhane, 1987), which every test has but those that a later step
    alone rejects. These have that step's level (as Efird and Nielsen, 2008, do for Hochberg's steps), and are not
    simultaneous: intervals that are, and go with a step-down test, may tell no more of what it rejects than its side of
    0 (Brannath, Kluge and Scharpenberg, 2024).
    """
    order = np.argsort(p, kind="stable")
    rejected = np.logical_and.accumulate(p[order] < steps)
    levels = np.repeat(steps[:1], len(p))
    later = rejected & (p[order] >= steps[:1])
    levels[order[later]] = steps[later]
    return levels


def _null(design: Design, weights: Array, degrees: Array, draws: int, generator: np.random.Generator) -> Array:
    """p values ``[draws, tests]`` under no difference anywhere, joint over tests."""
    whole = design.items_covariance + design.seeds_covariance + design.readers_covariance
    covariance = weights @ whole @ weights.T
    errors = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(errors, errors)
    unrelated = np.where(np.abs(correlation) > 1 - 1e-9, correlation, 0.0)  # but of copies
    rank = int(np.linalg.matrix_rank(correlation, tol=1e-9, hermitian=True))
    correlation = (design.items_degrees * correlation + rank * unrelated) / (design.items_degrees + rank)
    values, vectors = np.linalg.eigh(correlation)
    # The symmetric root: eigenvectors of equal eigenvalues turn with the rounding of a machine, the root does not.
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    scores = generator.normal(size=(draws, len(degrees))) @ root
    strata = (np.arange(STRATA) + 0.5)[:, None] / STRATA
    spread = (stats.chi2.ppf(strata, degrees) / degrees)[generator.integers(STRATA, size=draws)]
    return np.asarray(2 * stats.t.sf(np.abs(scores) / np.sqrt(spread), degrees))


def _step_down(p: Array, null: Array, level: float) -> tuple[Array, Array]:
    """Corrected p values ``[tests]`` from those found and those of the null ``[draws, tests]``, and the steps' levels.

    A corrected p value is below `level` where its own and all smaller p values are below their steps' levels.
    """
    order = np.argsort(p, kind="stable")
    least = np.minimum.accumulate(null[:, order[::-1]], axis=1)[:, ::-1]  # over this test and all with a larger p
    above = (1 + (least <= p[order]).sum(axis=0)) / (len(null) + 1)
    corrected = np.empty_like(p)
    corrected[order] = np.maximum.accumulate(np.maximum(above, p[order]))
    allowed = math.ceil(round(level * (len(null) + 1), 9)) - 2  # draws at or below a p value that is still rejected
    if allowed < 0:
        return corrected, np.zeros_like(p)
    return corrected, np.minimum(np.partition(least, allowed, axis=0)[allowed], level)

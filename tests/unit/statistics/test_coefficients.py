"""Coefficients of correlation: scipy's where floats are exact, and those of the fractions where they are not."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from sumcurve.statistics.coefficients import COEFFICIENTS, DIGITS, coefficient, ranks, varies
from sumcurve.statistics.correlation import correlation
from sumcurve.statistics.groups import Groups

KNOWN = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


@pytest.mark.parametrize("kind", COEFFICIENTS)
def test_they_are_scipys_with_and_without_ties(kind: str) -> None:
    generator = np.random.default_rng(1)
    for _ in range(20):
        whole = generator.integers(0, 6, size=(2, 15)).astype(float)
        real = generator.normal(size=(2, 15))
        for first, second in (whole, real):
            assert coefficient(first, second, kind) == pytest.approx(KNOWN[kind](first, second).statistic)


@pytest.mark.parametrize("kind", ["spearman", "kendall"])
def test_rounding_orders_no_equal_means(kind: str) -> None:
    """Systems whose items are the same in another order have the same mean, which their floats have not."""
    generator = np.random.default_rng(0)
    split = 0
    for _ in range(100):
        thirds = generator.integers(0, 4, size=(5, 60))
        thirds[1] = generator.permutation(thirds[0])
        means = (thirds * (100 / 3)).mean(axis=1)
        exact = [Fraction(sum(row.tolist()), 3) for row in thirds]
        places = np.array([sorted(set(exact)).index(one) for one in exact])
        other = np.arange(5.0)
        known = KNOWN[kind](places, other).statistic
        split += means[0] != means[1]
        assert coefficient(means, other, kind) == pytest.approx(known)
        if kind == "spearman":
            whole = correlation(means, other, Groups.of(["a", "b"] * 2 + ["a"]), "spearman")
            assert whole.value == pytest.approx(known)
    assert split > 10


def test_ranks_are_of_so_many_digits_and_no_line_of_a_grid_divides_them() -> None:
    near, far = 10.0 ** -(DIGITS + 1), 10.0 ** -(DIGITS - 1)
    for start in (0.3, 0.5, 1 - near / 2, 1 + near):
        assert ranks(np.array([4.0, start + near, start, start - near])).tolist() == [4, 2, 2, 2]
    assert ranks(np.array([1.0, 1.0 + far, 1.0 - far, -1.0])).tolist() == [3, 4, 2, 1]
    assert ranks(1e30 * np.array([1.0, 1.0 + near, 2.0])).tolist() == [1.5, 1.5, 3]
    assert ranks(np.zeros(3)).tolist() == [2, 2, 2]


@pytest.mark.parametrize("kind", COEFFICIENTS)
def test_what_is_the_same_but_for_rounding_does_not_vary(kind: str) -> None:
    same = np.array([0.1 + 0.2, 0.3, 0.3, 0.6 / 2])
    assert np.ptp(same) > 0
    assert not varies(same)
    assert coefficient(same, np.arange(4.0), kind) is None
    assert coefficient(np.arange(4.0), np.arange(4.0)[::-1], kind) == pytest.approx(-1)

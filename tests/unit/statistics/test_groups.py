import numpy as np
import pytest
from scipy import stats

from sumcurve.statistics.groups import Groups


def of(sizes: list[int]) -> Groups:
    return Groups.of([f"module {number}" for number, size in enumerate(sizes) for _ in range(size)])


def uneven(seed: int = 0) -> list[int]:
    return [30, 20, 12, *np.random.default_rng(seed).integers(1, 6, 40).tolist()]


def test_one_item_a_group_is_the_textbook() -> None:
    values = np.random.default_rng(1).gamma(2, 5, size=(3, 50))
    groups = of([1] * 50)
    deviations = groups.deviations(groups.residuals(values))
    assert np.allclose(deviations @ deviations.T, np.cov(values) / 50)
    assert groups.degrees(groups.residuals(values)) == 49


def test_leaving_one_group_out_at_a_time() -> None:
    """The deviations against a jackknife done group by group."""
    values, groups = np.random.default_rng(2).normal(size=sum(uneven())), of(uneven())
    left_out = np.array([values[groups.codes != code].mean() for code in range(groups.count)])
    jackknife = (groups.count - 1) / groups.count * ((left_out - values.mean()) ** 2).sum()
    assert groups.deviations(groups.residuals(values)) @ groups.deviations(groups.residuals(values)) == pytest.approx(
        jackknife
    )


def test_degrees_are_those_of_the_variance_in_simulation() -> None:
    """Where groups are normal, the estimate's own mean and variance tell its degrees: 2 mean² / variance."""
    groups, generator = of(uneven()), np.random.default_rng(6)
    values = generator.normal(size=(4000, groups.count))[:, groups.codes] + generator.normal(size=(4000, groups.items))
    residuals = groups.residuals(values)
    variances = (groups.deviations(residuals) ** 2).sum(axis=1)
    assert groups.degrees(residuals[:300]) == pytest.approx(2 * variances.mean() ** 2 / variances.var(), rel=0.15)
    assert groups.degrees(residuals[:300]) < (groups.count - 1) / 2  # a few large groups decide


def test_intervals_hold_the_truth_where_items_as_if_independent_do_not() -> None:
    groups, generator = of(uneven()), np.random.default_rng(7)
    values = generator.normal(size=(3000, groups.count))[:, groups.codes]
    values = 0.5 * values + generator.normal(size=(3000, groups.items))
    residuals = groups.residuals(values)
    errors = np.sqrt((groups.deviations(residuals) ** 2).sum(axis=1))
    means = np.abs(values.mean(axis=1))
    degrees = groups.degrees(residuals[:300])
    assert 0.94 < (means < stats.t.isf(0.025, degrees) * errors).mean() < 0.98
    assert (means < 1.96 * values.std(axis=1) / np.sqrt(groups.items)).mean() < 0.85


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ([100], "all 100 test items are of one group, 'module 0'"),
        ([1], "no interval: 1 test item; it takes 10"),
        ([1] * 9, "no interval: 9 test items; it takes 10"),
        ([1] * 10, ""),
        ([10] * 9, "the test items come from 9 groups; it takes 10"),
        ([101, *[5] * 20], "group 'module 0' holds 50 % of the test items"),
        ([100, 100, *[1] * 50], "so that 52 groups count as 3.1 equal ones; it takes 4"),
        ([90, *[1] * 110], ""),
    ],
)
def test_groups_that_allow_no_interval_say_so(sizes: list[int], sentence: str) -> None:
    with pytest.raises(ValueError, match="no item"):
        Groups.of([])
    assert sentence in of(sizes).why
    assert bool(of(sizes).why) == bool(sentence)

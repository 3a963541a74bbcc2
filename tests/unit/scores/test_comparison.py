import numpy as np
import pytest
from scipy import stats

from sumcurve.scores.comparison import (
    bootstrap_interval,
    bootstrap_means,
    holm,
    paired_difference,
    percentile_interval,
)
from sumcurve.settings import Bootstrap

SETTINGS = Bootstrap(resamples=2000, seed=3)


@pytest.fixture
def values() -> np.ndarray:
    return np.random.default_rng(0).beta(2, 5, 300)


def test_the_interval_is_scipys(values) -> None:
    ours = bootstrap_interval(values, SETTINGS)
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=2000, method="percentile", rng=np.random.default_rng(9)
    ).confidence_interval
    width = theirs.high - theirs.low
    assert ours.mean == pytest.approx(values.mean())
    assert ours.low == pytest.approx(theirs.low, abs=0.08 * width)  # other draws of 2,000
    assert ours.high == pytest.approx(theirs.high, abs=0.08 * width)


def test_coverage_of_the_true_mean_is_near_that_of_the_t_interval() -> None:
    generator = np.random.default_rng(5)
    settings = Bootstrap(resamples=1000)
    ours = theirs = 0
    for _ in range(400):
        sample = generator.beta(2, 5, 100)
        interval = bootstrap_interval(sample, settings)
        ours += interval.low <= 2 / 7 <= interval.high
        low, high = stats.t.interval(0.95, 99, sample.mean(), stats.sem(sample))
        theirs += low <= 2 / 7 <= high
    assert 0.91 < ours / 400 < 0.98
    assert abs(ours - theirs) / 400 < 0.03


def test_more_confidence_is_a_wider_interval_and_the_seed_decides(values) -> None:
    narrow, wide = (bootstrap_interval(values, Bootstrap(confidence=share)) for share in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.mean < narrow.high < wide.high
    assert bootstrap_interval(values, Bootstrap(seed=1)) == bootstrap_interval(values, Bootstrap(seed=1))
    assert bootstrap_interval(values, Bootstrap(seed=1)) != bootstrap_interval(values, Bootstrap(seed=2))


def test_systems_are_resampled_jointly(values) -> None:
    other = 2 * values + 0.5
    rows = bootstrap_means(np.stack([values, other]), SETTINGS)
    assert rows.shape == (2, 2000)
    assert np.array_equal(rows[0], bootstrap_means(values, SETTINGS))
    np.testing.assert_allclose(rows[1], 2 * rows[0] + 0.5)


def test_resampling_in_pieces_changes_nothing(values, monkeypatch) -> None:
    whole = bootstrap_means(values, SETTINGS)
    p = paired_difference(values, values[::-1], SETTINGS).p
    monkeypatch.setattr("sumcurve.scores.comparison.CELLS", 7 * len(values))
    assert np.array_equal(whole, bootstrap_means(values, SETTINGS))
    assert paired_difference(values, values[::-1], SETTINGS).p == pytest.approx(p, abs=0.02)


@pytest.mark.parametrize("bad", [[], [[[1.0]]], [0.1, float("nan")]])
def test_values_that_cannot_be_resampled_are_refused(bad) -> None:
    with pytest.raises(ValueError, match=r"item|finite"):
        bootstrap_means(bad, SETTINGS)


def test_the_percentiles_are_the_central_ones() -> None:
    low, high = percentile_interval(np.arange(1001), Bootstrap(confidence=0.9))
    assert (low, high) == pytest.approx((50, 950))


def test_a_difference_counts_items_and_turns_round(values) -> None:
    other = values + np.random.default_rng(1).normal(0.004, 0.05, len(values))
    other[:10] = values[:10]
    there, back = paired_difference(other, values, SETTINGS), paired_difference(values, other, SETTINGS)
    assert there.mean == pytest.approx(other.mean() - values.mean())
    assert (there.wins, there.ties, there.losses) == (back.losses, back.ties, back.wins)
    assert there.wins + there.ties + there.losses == there.items == len(values)
    assert there.ties == 10
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))
    assert there.p == back.p
    assert there.low < there.mean < there.high


def test_p_agrees_with_scipys_permutation_test(values) -> None:
    other = values + np.random.default_rng(1).normal(0.004, 0.05, len(values))
    ours = paired_difference(other, values, SETTINGS)
    theirs = stats.permutation_test(
        (other, values),
        lambda a, b, axis: (a - b).mean(axis=axis),
        permutation_type="samples",
        n_resamples=9999,
        vectorized=True,
        rng=np.random.default_rng(2),
    )
    assert 0.01 < theirs.pvalue < 0.9  # a case that could go either way
    assert ours.p == pytest.approx(theirs.pvalue, abs=0.02)


def test_p_of_few_items_is_the_exact_one() -> None:
    # Of the 2**4 sign patterns two are as extreme as 4 equal wins; ties add nothing.
    result = paired_difference([0.3, 0.3, 0.3, 0.3, 0.5], [0.1, 0.1, 0.1, 0.1, 0.5], SETTINGS)
    assert result.p == pytest.approx(2 / 16, abs=0.01)


def test_equal_systems_do_not_differ(values) -> None:
    result = paired_difference(values, values, SETTINGS)
    assert (result.mean, result.low, result.high, result.p) == (0, 0, 0, 1)
    assert result.ties == len(values)


def test_p_is_uniform_where_nothing_differs() -> None:
    generator = np.random.default_rng(11)
    settings = Bootstrap(resamples=100)
    p = [paired_difference(generator.normal(size=40), generator.normal(size=40), settings).p for _ in range(300)]
    assert stats.kstest(p, "uniform").pvalue > 1e-3


def test_different_numbers_of_items_are_refused() -> None:
    with pytest.raises(ValueError, match="3 items against 2"):
        paired_difference([1, 2, 3], [1, 2], SETTINGS)


def test_holm_multiplies_by_the_tests_left() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.5, 0.9]) == pytest.approx([1, 1])
    assert len(holm([])) == 0

import numpy as np
import pytest
from scipy import stats

from sumcurve.scores.comparison import (
    bca_interval,
    bootstrap_interval,
    bootstrap_means,
    compare_all,
    holm,
    holm_corrected,
    paired_difference,
)
from sumcurve.settings import Bootstrap

SETTINGS = Bootstrap(resamples=2000, seed=3)


@pytest.fixture
def values() -> np.ndarray:
    return np.random.default_rng(0).beta(2, 5, 300)


def scipys(columns: list[np.ndarray], statistic, method: str = "BCa", seed: int = 3):
    """scipy draws as we do, so that a generator with the same seed gives the same resamples."""
    return stats.bootstrap(
        columns,
        statistic,
        paired=len(columns) > 1,
        n_resamples=SETTINGS.resamples,
        method=method,
        rng=np.random.default_rng(seed),
    ).confidence_interval


@pytest.mark.parametrize("skew", [0.05, 0.5, 2.0])
def test_the_interval_is_scipys_bca(skew) -> None:
    values = np.random.default_rng(0).gamma(skew, size=60)
    ours, theirs = bootstrap_interval(values, SETTINGS), scipys([values], np.mean)
    assert ours.mean == pytest.approx(values.mean())
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=1e-9)
    plain = scipys([values], np.mean, "percentile")
    assert ours.low > plain.low  # skewed to the right: BCa moves both ends up
    assert ours.high > plain.high
    others = scipys([values], np.mean, seed=8)
    assert ours.high == pytest.approx(others.high, abs=0.15 * (ours.high - ours.low))


def test_the_interval_of_a_ratio_is_scipys_bca(values) -> None:
    first, second = values[:80], 1.2 * values[:80] + np.random.default_rng(4).exponential(0.1, 80)
    ours = bca_interval([first, second], lambda means: (means[1] - means[0]) / means[0], SETTINGS)
    theirs = scipys([first, second], lambda a, b, axis: (b.mean(axis=axis) - a.mean(axis=axis)) / a.mean(axis=axis))
    assert ours.mean == pytest.approx(second.mean() / first.mean() - 1)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=1e-9)


def test_ties_of_resamples_and_point_count_half() -> None:
    values = np.zeros(20)
    values[np.arange(7) * 20 // 7] = 0.1  # a resample often has the very mean, up to the order of its sum
    ours = bootstrap_interval(values, SETTINGS)
    whole = bootstrap_interval(np.rint(10 * values), SETTINGS)  # integers: sums are exact
    theirs = scipys([np.rint(10 * values)], np.mean)
    assert (10 * ours.low, 10 * ours.high) == pytest.approx((whole.low, whole.high))
    assert (whole.low, whole.high) == pytest.approx((theirs.low, theirs.high))


@pytest.mark.parametrize("values", [[0.3] * 7, [0.1 + 0.2], [0.0, 0.0]])
def test_data_without_spread_give_the_point(values) -> None:
    with np.errstate(all="raise"):
        interval = bootstrap_interval(values, SETTINGS)
        assert paired_difference(values, np.zeros(len(values)), SETTINGS).low == interval.low
    assert interval.low == interval.mean == interval.high == np.mean(values)


def test_a_ratio_that_items_do_not_move_is_the_point(values) -> None:
    interval = bca_interval([values, 1.1 * values], lambda means: means[1] / means[0], SETTINGS)
    assert interval.low == interval.high == interval.mean == pytest.approx(1.1)


def test_intervals_stay_within_the_resamples_whatever_the_skew() -> None:
    generator = np.random.default_rng(2)
    for items in (2, 3, 5, 20):
        for _ in range(20):
            values = np.exp(4 * generator.normal(size=items))
            interval = bootstrap_interval(values, Bootstrap(resamples=50))
            assert values.min() * (1 - 1e-12) <= interval.low <= interval.high <= values.max() * (1 + 1e-12)


def test_a_ratio_without_denominator_is_refused() -> None:
    with pytest.raises(ValueError, match="denominator"), np.errstate(divide="ignore", invalid="ignore"):
        bca_interval([[0.0, 0.0, 1.0], [1.0, 1.0, 1.0]], lambda means: means[1] / means[0], SETTINGS)
    with pytest.raises(ValueError, match=r"\[k, items\]"):
        bca_interval([0.1, 0.2], lambda means: means[0], SETTINGS)


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
    assert rows[0] == pytest.approx(bootstrap_means(values, SETTINGS), rel=1e-13)
    np.testing.assert_allclose(rows[1], 2 * rows[0] + 0.5)


def test_resampling_in_pieces_changes_nothing(values, monkeypatch) -> None:
    whole = bootstrap_means(values, SETTINGS)
    p = paired_difference(values, values[::-1], SETTINGS).p
    monkeypatch.setattr("sumcurve.scores.comparison.CELLS", 7 * len(values))
    assert whole == pytest.approx(bootstrap_means(values, SETTINGS), rel=1e-13)
    assert paired_difference(values, values[::-1], SETTINGS).p == pytest.approx(p, abs=0.02)


@pytest.mark.parametrize("bad", [[], [[[1.0]]], [0.1, float("nan")]])
def test_values_that_cannot_be_resampled_are_refused(bad) -> None:
    with pytest.raises(ValueError, match=r"item|finite"):
        bootstrap_means(bad, SETTINGS)


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


def test_a_win_is_an_item_on_which_the_first_is_better() -> None:
    result = paired_difference([0.9, 0.8, 0.2, 0.5], [0.1, 0.2, 0.3, 0.5], SETTINGS)
    assert (result.wins, result.ties, result.losses) == (2, 1, 1)
    assert result.mean > 0


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


def test_all_pairs_are_the_pairs_one_by_one_with_one_correction(values) -> None:
    generator = np.random.default_rng(6)
    systems = {"a": values, "b": values + generator.normal(0.005, 0.04, 300), "c": values[::-1], "d": values}
    found = compare_all(systems, SETTINGS)
    assert [(one.first, one.second) for one in found] == [tuple(pair) for pair in ("ab", "ac", "ad", "bc", "bd", "cd")]
    for one in found:
        alone = paired_difference(systems[one.first], systems[one.second], SETTINGS)
        assert (one.mean, one.low, one.high) == pytest.approx((alone.mean, alone.low, alone.high))
        assert (one.p, one.wins, one.ties, one.losses) == (alone.p, alone.wins, alone.ties, alone.losses)
        assert alone.p_holm == alone.p
    assert [one.p_holm for one in found] == pytest.approx(holm([one.p for one in found]))
    assert any(one.p_holm > one.p for one in found)
    assert holm_corrected(found) == found  # corrected from p, not twice
    assert compare_all({"a": values}, SETTINGS) == []


def test_systems_of_other_items_are_refused(values) -> None:
    with pytest.raises(ValueError, match="'b': 299"):
        compare_all({"a": values, "b": values[:-1]}, SETTINGS)


def test_holm_rejects_one_of_many_true_nulls_as_rarely_as_promised() -> None:
    generator = np.random.default_rng(8)
    settings = Bootstrap(resamples=100)
    wrong = 0
    for _ in range(200):
        systems = {name: generator.normal(size=30) for name in "abcd"}
        wrong += min(one.p_holm for one in compare_all(systems, settings)) <= 0.05
    assert wrong / 200 < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 200)


def test_overlapping_intervals_hide_a_sure_difference() -> None:
    generator = np.random.default_rng(9)
    easy = generator.beta(2, 5, 300)  # what both systems find easy
    first, second = easy + generator.normal(0.01, 0.02, 300), easy
    one, other = bootstrap_interval(first, SETTINGS), bootstrap_interval(second, SETTINGS)
    assert one.low < other.high  # they overlap
    result = compare_all({"first": first, "second": second}, SETTINGS)[0]
    assert result.p_holm < 0.001
    assert result.low > 0


def test_holm_multiplies_by_the_tests_left() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.5, 0.9]) == pytest.approx([1, 1])
    assert len(holm([])) == 0

import numpy as np
import pytest
from scipy import stats

from sumcurve.statistics import ungrouped
from sumcurve.statistics.family import deciding_levels
from sumcurve.statistics.ungrouped import bca_intervals, holm, holm_steps, sign_flip_p


@pytest.fixture
def values() -> np.ndarray:
    return np.random.default_rng(0).beta(2, 5, 300)


def interval(values: np.ndarray, resamples: int = 2000, seed: int = 3, confidence: float = 0.95) -> tuple[float, float]:
    return tuple(bca_intervals(np.asarray(values, dtype=float)[None], confidence, resamples, seed)[0])


def p_of(differences: np.ndarray, resamples: int = 2000, seed: int = 3) -> float:
    return float(sign_flip_p(np.asarray(differences, dtype=float)[None], resamples, seed)[0])


def scipys(values: np.ndarray, method: str = "BCa", seed: int = 3) -> tuple[float, float]:
    """scipy draws as we do, so that a generator with the same seed gives the same resamples."""
    generator = np.random.default_rng(seed)
    return tuple(stats.bootstrap([values], np.mean, n_resamples=2000, method=method, rng=generator).confidence_interval)


@pytest.mark.parametrize("skew", [0.05, 0.5, 2.0])
def test_the_interval_is_scipys_bca(skew) -> None:
    values = np.random.default_rng(0).gamma(skew, size=60)
    low, high = interval(values)
    assert (low, high) == pytest.approx(scipys(values), rel=1e-9)
    plain = scipys(values, "percentile")
    assert low > plain[0]  # skewed to the right: BCa moves both ends up
    assert high > plain[1]


def test_ties_of_resamples_and_mean_count_half() -> None:
    values = np.zeros(20)
    values[np.arange(7) * 20 // 7] = 0.1  # a resample often has the very mean, up to the order of its sum
    whole = np.rint(10 * values)  # integers: sums are exact
    assert [10 * end for end in interval(values)] == pytest.approx(scipys(whole))


def test_intervals_stay_within_the_values_whatever_the_skew() -> None:
    generator = np.random.default_rng(2)
    for items in (2, 3, 5, 20):
        for _ in range(20):
            values = np.exp(4 * generator.normal(size=items))
            low, high = interval(values, resamples=50)
            assert values.min() - 1e-9 * values.max() <= low <= high <= values.max() * (1 + 1e-12)


def test_rows_are_resampled_jointly_and_in_pieces_alike(values, monkeypatch) -> None:
    assert interval(values, seed=1) == interval(values, seed=1) != interval(values, seed=2)
    rows = np.stack([values, 2 * values + 0.5])
    both = bca_intervals(rows, 0.95, 500, 3)
    np.testing.assert_allclose(both[1], 2 * both[0] + 0.5)
    p = p_of(values - values[::-1])
    monkeypatch.setattr(ungrouped, "CELLS", 7 * len(values))
    assert both == pytest.approx(bca_intervals(rows, 0.95, 500, 3), rel=1e-12)
    assert p_of(values - values[::-1]) == pytest.approx(p, abs=0.02)


@pytest.mark.parametrize("bad", [[[]], [0.1, 0.2], [[0.1, float("nan")]]])
def test_values_that_cannot_be_resampled_are_refused(bad) -> None:
    with pytest.raises(ValueError, match="finite"):
        bca_intervals(np.array(bad), 0.95, 100, 1)


def test_a_difference_turns_round(values) -> None:
    difference = np.random.default_rng(1).normal(0.004, 0.05, len(values))
    (low, high), back = interval(difference), interval(-difference)
    assert (low, high) == pytest.approx((-back[1], -back[0]))
    assert p_of(difference) == p_of(-difference)


def test_p_agrees_with_scipys_permutation_test(values) -> None:
    other = values + np.random.default_rng(1).normal(0.004, 0.05, len(values))
    theirs = stats.permutation_test(
        (other, values),
        lambda a, b, axis: (a - b).mean(axis=axis),
        permutation_type="samples",
        n_resamples=9999,
        vectorized=True,
        rng=np.random.default_rng(2),
    )
    assert 0.01 < theirs.pvalue < 0.9  # a case that could go either way
    assert p_of(other - values) == pytest.approx(theirs.pvalue, abs=0.02)


def test_p_of_few_items_is_the_exact_one() -> None:
    # Of the 2**4 sign patterns two are as extreme as 4 equal wins; ties add nothing.
    assert p_of(np.array([0.3, 0.3, 0.3, 0.3, 0.5]) - [0.1, 0.1, 0.1, 0.1, 0.5]) == pytest.approx(2 / 16, abs=0.01)
    assert p_of(np.zeros(9)) == 1
    with np.errstate(all="raise"):
        assert interval([0.1 + 0.2] * 7) == (np.mean([0.1 + 0.2] * 7),) * 2


def test_p_is_uniform_where_nothing_differs() -> None:
    p = sign_flip_p(np.random.default_rng(11).normal(size=(300, 40)), 100, 1)
    assert stats.kstest(p, "uniform").pvalue > 1e-3


def test_holm_rejects_what_its_step_down_rejects_and_intervals_leave_0_out_where_it_does() -> None:
    generator = np.random.default_rng(3)
    later = 0
    for _ in range(200):
        p_values = generator.beta(0.3, 2, size=generator.integers(1, 9))
        steps = holm_steps(len(p_values), 0.05)
        rejected = set()
        for rank, place in enumerate(np.argsort(p_values)):
            if p_values[place] >= 0.05 / (len(p_values) - rank):
                break
            rejected.add(place)
        assert {place for place, p in enumerate(holm(p_values)) if p < 0.05} == rejected
        levels = deciding_levels(p_values, steps)
        assert {place for place, p in enumerate(p_values) if p < levels[place]} == rejected
        assert ((levels >= 0.05 / len(p_values)) & (levels <= 0.05)).all()
        later += (levels > steps[0]).sum()
    assert later > 20  # what a later step alone rejects
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert len(holm([])) == len(deciding_levels(np.array([]), holm_steps(0, 0.05))) == 0

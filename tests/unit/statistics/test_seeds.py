import numpy as np
import pytest
from scipy import stats

from sumcurve.statistics.seeds import prior_degrees, satterthwaite, seed_covariance

METHODS, SIZES = "abc", (100.0, 200.0, 400.0, 800.0)


def layout(values: np.ndarray) -> tuple[np.ndarray, list[str], list[float]]:
    """``[methods, sizes, seeds]`` as cells."""
    methods, sizes, seeds = values.shape
    names = [METHODS[method] for method in range(methods) for _ in range(sizes)]
    return values.reshape(-1, seeds), names, [SIZES[size] for _ in range(methods) for size in range(sizes)]


def test_three_alike_methods_at_one_size_are_the_two_way_analysis_of_variance() -> None:
    """The residual mean square of methods x seeds, against Friedman's layout done by least squares."""
    values = np.array([[1.0, 2.1, 4.0], [2.0, 3.4, 4.8], [0.4, 1.4, 3.3]])
    found = seed_covariance(*layout(values[:, None]), full_records=None)
    assert np.isinf(found.prior_degrees)
    dummies = np.hstack([np.kron(np.eye(3), np.ones((3, 1))), np.kron(np.ones((3, 1)), np.eye(3))])
    fitted = dummies @ np.linalg.lstsq(dummies, values.ravel(), rcond=None)[0]
    square = ((values.ravel() - fitted) ** 2).sum() / 4
    weights = np.array([1.0, 0.0, -1.0])
    assert weights @ found.covariance @ weights == pytest.approx(2 * square)
    assert found.degrees(weights) == 4


def test_what_a_seed_adds_for_all_methods_leaves_differences_alone() -> None:
    """Methods that vary alike at every size: the same residuals in another order of seeds."""
    residual = np.array([[2.0, -1.0, -1.0], [-1.0, 2.0, -1.0], [-1.0, -1.0, 2.0]])
    values = residual[:, None] * np.array([1.0, 1.2, 0.9, 0.3])[:, None]
    shift = 5 * np.random.default_rng(3).normal(size=(1, 4, 3))
    weights = np.zeros(12)
    for place in range(4):
        weights[:] = 0
        weights[place], weights[8 + place] = 1, -1
        one, other = (seed_covariance(*layout(both), full_records=800.0) for both in (values, values + shift))
        assert weights @ one.covariance @ weights == pytest.approx(weights @ other.covariance @ weights)
        assert one.degrees(weights) == pytest.approx(other.degrees(weights))
        mean = np.abs(weights)
        assert mean @ one.covariance @ mean < mean @ other.covariance @ mean


def test_the_size_of_all_records_is_kept_apart() -> None:
    values = np.random.default_rng(4).normal(size=(3, 4, 3)) * np.array([2, 2, 2, 0.2])[:, None]
    apart, pooled = (seed_covariance(*layout(values), full_records=full) for full in (800.0, None))
    other = values.copy()
    other[:, :3] *= 10
    again = seed_covariance(*layout(other), full_records=800.0)
    assert apart.residual[-1] == pytest.approx(
        ((values[:, 3] - values[:, 3].mean(axis=1, keepdims=True)) ** 2).sum() / 4
        - 3 * (values[:, 3].mean(axis=0) - values[:, 3].mean()).var(ddof=1) * 2 / 4
    )
    assert apart.residual_degrees[-1] == 4
    assert pooled.residual[-1] > apart.residual[-1]
    assert again.residual[-1] == pytest.approx(apart.residual[-1])


def test_prior_degrees_are_found_again() -> None:
    """Variances drawn from the very model: chi-squared about an inverse chi-squared."""
    generator = np.random.default_rng(5)
    true = 6 / generator.chisquare(6, 20_000)
    variances = true * generator.chisquare(2, 20_000) / 2
    assert prior_degrees(variances, np.full(20_000, 2.0)) == pytest.approx(6, rel=0.2)
    classes = np.arange(20_000) % 4
    assert prior_degrees(variances * 10.0**classes, np.full(20_000, 2.0), classes) == pytest.approx(6, rel=0.2)
    alike = generator.chisquare(2, 20_000) / 2
    assert prior_degrees(alike, np.full(20_000, 2.0)) > 50
    assert prior_degrees(np.ones(1), np.ones(1)) == np.inf
    assert prior_degrees(np.zeros(3), np.ones(3)) == np.inf


@pytest.mark.parametrize("sds", [(0.3, 0.3, 2.4), (1.0, 1.0, 1.0)])
def test_intervals_of_unequal_methods_hold_the_truth(sds: tuple[float, float, float]) -> None:
    """Over all cells as promised; pooled over methods, 82 % of the unstable one's and all of the others' would."""
    generator, held = np.random.default_rng(6), np.zeros((3, 4))
    for _ in range(400):
        values = generator.normal(size=(3, 4, 3)) * np.array(sds)[:, None, None]
        cells, names, records = layout(values)
        found = seed_covariance(cells, names, records, full_records=800.0)
        degrees = np.array([found.degrees(unit) for unit in np.eye(12)])
        reach = stats.t.isf(0.025, degrees) * np.sqrt(np.diag(found.covariance) / 3)
        held += (np.abs(cells.mean(axis=1)) < reach).reshape(3, 4) / 400
    assert 0.93 < held.mean() < 0.97
    assert held.mean(axis=1).min() > 0.87


def test_covariances_are_positive_and_degrees_never_fall_below_the_seeds_own() -> None:
    generator = np.random.default_rng(8)
    for _ in range(50):
        values = generator.normal(size=(3, 4, 3)) * generator.gamma(1, size=(3, 1, 1))
        assert np.linalg.eigvalsh(seed_covariance(*layout(values), full_records=800.0).covariance).min() > -1e-9
        found = seed_covariance(*layout(generator.normal(size=(3, 4, 2))), full_records=800.0)
        assert min(found.degrees(generator.normal(size=12)) for _ in range(5)) >= 1
    assert not seed_covariance(*layout(np.ones((3, 4, 3))), full_records=800.0).covariance.any()
    with pytest.raises(ValueError, match="one seed says nothing"):
        seed_covariance(np.ones((2, 1)), ["a", "b"], [1.0, 1.0], None)


def test_satterthwaite_is_welch() -> None:
    x, y = np.random.default_rng(9).normal(size=5), 3 * np.random.default_rng(10).normal(size=8)
    parts = [(float(x.var(ddof=1)) / 5, 4.0), (float(y.var(ddof=1)) / 8, 7.0)]
    assert satterthwaite(parts) == pytest.approx(stats.ttest_ind(x, y, equal_var=False).df)

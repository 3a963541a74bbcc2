"""Correlations with people: against scipy, intervals that hold the truth, and Williams' test by what it must say."""

import numpy as np
import pytest
from scipy import stats

from sumcurve.statistics.coefficients import COEFFICIENTS
from sumcurve.statistics.metric_agreement import agreements, williams


def drawn(systems: int, items: int, noise: float, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    truth = generator.normal(size=(systems, 1)) + generator.normal(0, 0.5, size=(1, items))
    return tuple(truth + generator.normal(0, noise, size=(systems, items)) for _ in range(2))


@pytest.mark.parametrize("kind", COEFFICIENTS)
def test_levels_are_means_of_systems_and_all_summaries(kind: str) -> None:
    metric, people = drawn(6, 9, 1.0)
    known = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[kind]
    over_systems = agreements(metric, people, "systems", resamples=50)[kind]
    over_items = agreements(metric, people, "items", resamples=50)[kind]
    assert over_systems.value == pytest.approx(known(metric.mean(axis=1), people.mean(axis=1)).statistic)
    assert over_items.value == pytest.approx(known(metric.ravel(), people.ravel()).statistic)
    assert over_items.low <= over_items.value <= over_items.high


def test_more_systems_and_items_narrow_the_interval() -> None:
    few, many = (agreements(*drawn(systems, 20, 1.0), "items", 200)["pearson"] for systems in (6, 40))
    assert many.high - many.low < few.high - few.low


def test_what_cannot_be_told_says_why() -> None:
    metric, people = drawn(2, 9, 1.0)
    assert agreements(metric, people, "systems")["pearson"].why == "2 systems: it takes 3"
    assert agreements(np.ones((4, 3)), drawn(4, 3, 1.0)[1], "items")["kendall"].why == "a score is the same everywhere"
    with pytest.raises(ValueError, match="the same systems and items"):
        agreements(np.ones((4, 3)), np.ones((3, 3)), "items")


def test_williams_test_gives_the_published_numbers_of_an_example() -> None:
    """Howell (2007), Statistical Methods for Psychology, 6th edition, page 262, as SPSS syntax for it prints them."""
    t, p = williams(0.80, 0.72, 0.89, 26)
    assert t == pytest.approx(1.361, abs=5e-4)
    assert p == pytest.approx(0.187, abs=5e-4)


def test_williams_test_has_its_formula_and_is_fair() -> None:
    # t = (r1 - r2) sqrt((n - 1)(1 + r) / (2 |R| (n - 1) / (n - 3) + (r1 + r2)^2 (1 - r)^3 / 4)), |R| by determinant
    first, second, between, count = 0.4, 0.5, 0.1, 103
    matrix = np.array([[1, first, second], [first, 1, between], [second, between, 1]])
    scale = 2 * np.linalg.det(matrix) * (count - 1) / (count - 3) + (first + second) ** 2 / 4 * (1 - between) ** 3
    t, p = williams(first, second, between, count)
    assert t == pytest.approx((first - second) * np.sqrt((count - 1) * (1 + between) / scale))
    assert p == pytest.approx(2 * stats.t.sf(abs(t), count - 3))
    assert williams(second, first, between, count)[0] == pytest.approx(-t)
    assert williams(0.5, 0.5, 0.3, 20)[1] == 1
    assert williams(0.7, 0.7, 1.0, 20) == (0.0, 1.0)
    generator, count = np.random.default_rng(3), 30
    rejected = 0
    for _ in range(400):  # two metrics that are equally good
        people = generator.normal(size=count)
        shared = generator.normal(size=count)
        one, two = (people + shared + generator.normal(size=count) for _ in range(2))
        rejected += (
            williams(*(stats.pearsonr(*pair)[0] for pair in ((one, people), (two, people), (one, two))), count)[1]
            < 0.05
        )
    assert 8 <= rejected <= 34  # 5 % of 400 is 20
    with pytest.raises(ValueError, match="takes four"):
        williams(0.1, 0.2, 0.3, 3)
    with pytest.raises(ValueError, match="no data have"):
        williams(0.9, -0.9, 0.9, 30)

import numpy as np
import pytest
from scipy import stats

from sumcurve.statistics.correlation import correlation
from sumcurve.statistics.groups import Groups


def alone(count: int) -> Groups:
    return Groups.of([str(number) for number in range(count)])


def test_values_are_scipys_and_items_alone_are_nearly_fishers_interval() -> None:
    generator = np.random.default_rng(3)
    first = generator.normal(size=400)
    second = 0.5 * first + generator.normal(size=400)
    pearson = stats.pearsonr(first, second)
    found = correlation(first, second, alone(400), "pearson")
    assert found.value == pytest.approx(pearson.statistic)
    assert (found.low, found.high) == pytest.approx(tuple(pearson.confidence_interval(0.95)), abs=0.015)
    ranks = correlation(first, second, alone(400), "spearman")
    assert ranks.value == pytest.approx(stats.spearmanr(first, second).statistic)
    assert correlation(np.exp(first), second**3, alone(400), "spearman") == ranks  # it knows ranks alone
    back = correlation(first, -second, alone(400), "pearson")
    assert (back.low, back.high) == pytest.approx((-found.high, -found.low))
    assert back.p == pytest.approx(found.p)


@pytest.mark.long
@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
def test_the_interval_covers_the_true_one_where_groups_share_what_they_say(coefficient) -> None:
    generator = np.random.default_rng(5)
    groups = Groups.of([str(number // 4) for number in range(96)])
    true = 0.6 if coefficient == "pearson" else 6 / np.pi * np.arcsin(0.6 / 2)
    covered, naive = [], []
    for _ in range(200):
        shared = np.repeat(generator.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 24), 4, axis=0)
        pair = np.sqrt(0.7) * shared
        pair += np.sqrt(0.3) * generator.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 96)
        for held, of in ((covered, groups), (naive, alone(96))):
            found = correlation(*pair.T, of, coefficient)
            held.append(found.low <= true <= found.high)
    assert 0.90 < np.mean(covered) < 0.985
    assert np.mean(naive) < 0.85


def test_what_cannot_be_told_is_not() -> None:
    values = np.arange(20.0)
    assert correlation(values, np.ones(20), alone(20), "pearson").value is None
    perfect = correlation(values, -values, alone(20), "spearman")
    assert (perfect.value, perfect.low, perfect.p) == (-1, None, None)
    few = correlation(values, values**2, Groups.of(["a", "b"] * 10), "pearson")
    assert few.value > 0.9
    assert few.low is few.high is few.p is None
    only = np.eye(20)[3]  # without that item it does not vary
    assert correlation(only, values, alone(20), "pearson").low is None

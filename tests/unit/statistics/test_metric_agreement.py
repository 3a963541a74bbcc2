"""Correlations with people: against scipy, intervals that hold the truth, and Williams' test by what it must say."""

import numpy as np
import pytest
from scipy import stats

from sumcurve.statistics.coefficients import COEFFICIENTS
from sumcurve.statistics.groups import Array
from sumcurve.statistics.metric_agreement import (
    LEVELS,
    Draws,
    agreements,
    by_items,
    correlations,
    differences,
    interval,
    williams,
)


def drawn(systems: int, items: int, noise: float, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    truth = generator.normal(size=(systems, 1)) + generator.normal(0, 0.5, size=(1, items))
    return tuple(truth + generator.normal(0, noise, size=(systems, items)) for _ in range(2))


def scores(seed: int, systems: int = 9, documents: int = 14, shared: float = 0.7) -> tuple[Array, Array]:
    """A metric's and people's: systems, documents and single summaries share so much of their spread."""
    generator = np.random.default_rng(seed)
    metric, people = np.zeros((2, systems, documents))
    for shape, spread in (((systems, 1), 1.0), ((1, documents), 1.0), ((systems, documents), 1.0)):
        common, *own = generator.normal(scale=spread, size=(3, *shape))
        metric += np.sqrt(shared) * common + np.sqrt(1 - shared) * own[0]
        people += np.sqrt(shared) * common + np.sqrt(1 - shared) * own[1]
    return metric, people


def data_alone(metric: Array) -> Draws:
    return Draws.crossed(*metric.shape, resamples=0, seed=1)


KNOWN = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def mean_over_items(metric: np.ndarray, people: np.ndarray, kind: str) -> float:
    """The mean of the items' correlations over systems, without those where a score does not vary."""
    pairs = [pair for pair in zip(metric.T, people.T, strict=True) if np.ptp(pair, axis=1).all()]
    return float(np.mean([KNOWN[kind](*pair).statistic for pair in pairs]))


@pytest.mark.parametrize("kind", COEFFICIENTS)
def test_levels_are_means_of_systems_means_over_items_and_all_summaries(kind: str) -> None:
    metric, people = (np.round(scores) for scores in drawn(6, 9, 1.0))  # ties
    system, summary, pooled = (agreements(metric, people, level, resamples=50)[kind] for level in LEVELS)
    assert system.value == pytest.approx(KNOWN[kind](metric.mean(axis=1), people.mean(axis=1)).statistic)
    assert summary.value == pytest.approx(mean_over_items(metric, people, kind))
    assert pooled.value == pytest.approx(KNOWN[kind](metric.ravel(), people.ravel()).statistic)
    for one in (system, summary, pooled):
        assert one.low <= one.value <= one.high


@pytest.mark.parametrize("kind", COEFFICIENTS)
def test_the_summary_level_of_resamples_is_that_of_the_drawn_scores(kind: str) -> None:
    metric, people = (np.round(scores) for scores in drawn(7, 8, 1.0))  # ties
    metric[:, 2] = people[:, 5] = 1.0
    found = agreements(metric, people, "summary", resamples=40, seed=3)[kind]
    assert found.value == pytest.approx(mean_over_items(metric, people, kind))
    assert found.undefined == 2
    generator, values = np.random.default_rng([3, 14]), []
    for _ in range(40):
        places = np.ix_(generator.integers(7, size=7), generator.integers(8, size=8))
        values.append(mean_over_items(metric[places], people[places], kind))
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])))


@pytest.mark.parametrize("kind", COEFFICIENTS)
def test_the_summary_level_is_the_mean_over_items_that_have_a_coefficient(kind: str) -> None:
    metric, people = drawn(6, 9, 1.0)
    people[:, 4] = 2.0
    values = by_items(metric, people, kind)
    assert np.isnan(values).tolist() == [item == 4 for item in range(9)]
    assert correlations(metric, people, "summary", data_alone(metric))[kind][0] == pytest.approx(np.nanmean(values))


def test_what_makes_items_hard_counts_when_pooled_alone() -> None:
    generator = np.random.default_rng(5)
    hard = 10 * generator.normal(size=60)
    metric, people = (hard + generator.normal(size=(5, 60)) for _ in range(2))  # all systems are alike
    values = {level: agreements(metric, people, level, resamples=0)["pearson"].value for level in LEVELS}
    assert values["pooled"] > 0.95
    assert abs(values["summary"]) < 0.3


def test_what_cannot_be_told_says_why() -> None:
    metric, people = drawn(2, 9, 1.0)
    for level in ("system", "summary"):
        assert agreements(metric, people, level)["pearson"].why == "2 systems: it takes 3"
    assert agreements(metric[:, :1], people[:, :1], "pooled")["pearson"].why == "2 summaries: it takes 3"
    assert agreements(np.ones((4, 3)), drawn(4, 3, 1.0)[1], "pooled")["kendall"].why == "a score is the same everywhere"
    same = agreements(np.ones((4, 1)) * [1, 2, 3], drawn(4, 3, 1.0)[1], "summary", resamples=5)["pearson"]
    assert (same.value, same.undefined) == (None, 3)
    assert same.why == "a score is the same for all systems, in every item"
    with pytest.raises(ValueError, match="the same systems and items"):
        agreements(np.ones((4, 3)), np.ones((3, 3)), "pooled")


def test_a_partial_correlation_is_that_of_what_a_regression_leaves() -> None:
    metric, people = scores(2)
    length = np.random.default_rng(3).normal(size=metric.shape) + metric + people

    def rest(row: Array, on: Array) -> Array:
        slope, intercept, *_ = stats.linregress(on, row)
        return row - slope * on - intercept

    summary = np.mean(
        [
            stats.pearsonr(*(rest(row[:, at], length[:, at]) for row in (metric, people))).statistic
            for at in range(metric.shape[1])
        ]
    )
    given = length.mean(axis=1)
    system = stats.pearsonr(*(rest(row.mean(axis=1), given) for row in (metric, people))).statistic
    alone = data_alone(metric)
    assert correlations(metric, people, "summary", alone, length)["pearson"][0] == pytest.approx(summary)
    assert correlations(metric, people, "system", alone, length)["pearson"][0] == pytest.approx(system)
    for level in ("summary", "system"):
        assert np.isnan(correlations(2 * length, people, level, alone, length)["pearson"][0])


@pytest.mark.parametrize("level", LEVELS)
def test_a_draw_is_the_scores_that_it_holds(level) -> None:
    metric, people = scores(4)
    draws = Draws.crossed(*metric.shape, resamples=3, seed=1)
    places = [[np.repeat(np.arange(len(times)), times.astype(int)) for times in of] for of in
              zip(draws.systems, draws.items, strict=True)]  # fmt: skip
    of_draws = correlations(metric, people, level, draws)
    for kind in COEFFICIENTS:
        values = of_draws[kind]
        drawn = [
            correlations(metric[np.ix_(*at)], people[np.ix_(*at)], level, data_alone(metric))[kind][0] for at in places
        ]
        np.testing.assert_allclose(values, drawn)


def test_documents_of_one_score_are_not_in_the_mean_and_a_constant_has_no_coefficient() -> None:
    metric, people = scores(5)
    people[:, 0] = 2.0
    alone = data_alone(metric)
    whole = correlations(metric, people, "summary", alone)["kendall"][0]
    assert whole == pytest.approx(agreements(metric[:, 1:], people[:, 1:], "summary", resamples=0)["kendall"].value)
    for level in ("summary", "system"):
        values = correlations(np.ones_like(people), people, level, Draws.crossed(*people.shape, 20, 1))["kendall"]
        assert np.isnan(values).all()
        assert np.isnan(interval(values)).all()
    with pytest.raises(ValueError, match="the same systems and items"):
        correlations(metric[:, 1:], people, "system", alone)


def covered(level: str, kind: str, simulations: int, systems: int = 20, documents: int = 40) -> float:
    """Share of simulations whose interval holds the coefficient of many systems and documents."""
    truth = np.mean([agreements(*scores(seed, 800, documents), level, 0)[kind].value for seed in range(900, 910)])
    hits = 0
    for seed in range(simulations):
        metric, people = scores(10_000 + seed, systems, documents)
        draws = Draws.crossed(systems, documents, 300, seed)
        low, high = interval(correlations(metric, people, level, draws)[kind])
        hits += low <= truth <= high
    return hits / simulations


@pytest.mark.parametrize("level", ["summary", "system"])
def test_intervals_cover_in_a_few_simulations_of_the_crossed_design(level) -> None:
    assert covered(level, "pearson", 40) >= 0.8  # 95 % but for Monte Carlo: 0.8 is 4 standard errors below


@pytest.mark.slow
@pytest.mark.parametrize("level", ["summary", "system"])
@pytest.mark.parametrize("kind", COEFFICIENTS)
def test_intervals_cover_in_many_simulations_of_the_crossed_design(level, kind) -> None:
    """Pearson's r of 20 systems' means covers in 89 % of 500 simulations, all others in 91 % or more."""
    assert 0.87 <= covered(level, kind, 500) <= 1


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


@pytest.mark.parametrize("level", ["system", "summary"])
def test_a_difference_is_that_of_the_coefficients(level: str) -> None:
    first, people = (np.round(scores, 1) for scores in drawn(7, 9, 1.0))  # ties
    second, _ = drawn(7, 9, 2.0, seed=2)
    first[:, 3] = 0.0
    (found,) = differences(first, second, [people], level, permutations=9)
    for kind in COEFFICIENTS:
        left, right = (agreements(metric, people, level, resamples=0)[kind].value for metric in (first, second))
        assert found[kind].value == pytest.approx(left - right)
    assert differences(np.ones_like(first), second, [people], level, 9) == [dict.fromkeys(COEFFICIENTS)]
    both = differences(first, second, [second, people], level, permutations=9)  # one set of draws serves all people
    assert both == [*differences(first, second, [second], level, permutations=9), found]


@pytest.mark.parametrize("level", ["system", "summary"])
def test_the_permutation_test_is_fair_and_sees_a_difference(level: str) -> None:
    by_kind: dict[str, list[float]] = {kind: [] for kind in COEFFICIENTS}
    for seed in range(60):
        generator = np.random.default_rng(seed)
        metric, people = drawn(8, 12, 1.0, seed)
        noisy = [metric + generator.normal(size=metric.shape) for _ in range(2)]  # equally good
        for kind, difference in differences(*noisy, [people], level, 99, seed)[0].items():
            by_kind[kind].append(difference.p)
    assert stats.kstest(by_kind["pearson"], "uniform").pvalue > 0.001
    for p_values in by_kind.values():  # coefficients of ranks tie, which makes p larger
        assert stats.kstest(p_values, "uniform", alternative="greater").pvalue > 0.001
    people, _ = drawn(20, 12, 1.0)
    other = np.random.default_rng(1).normal(size=people.shape)
    for kind, difference in differences(3 * people + 1, other, [people], level, 199)[0].items():
        assert difference.value > 0
        assert difference.p < 0.05
        swapped = differences(other, people, [people], level, 199)[0][kind]
        assert (swapped.value, swapped.p) == (pytest.approx(-difference.value), pytest.approx(difference.p, abs=0.05))


def test_pooled_summaries_have_no_permutation_test() -> None:
    with pytest.raises(ValueError, match="compare at system or summary level"):
        differences(*drawn(4, 4, 1.0), [drawn(4, 4, 1.0)[0]], "pooled")


def test_permutations_without_a_correlation_do_not_make_a_difference_significant() -> None:
    first = np.array([[1.0], [2.0]])  # one of both scores swapped: both metrics are constant
    for difference in differences(first, first[::-1], [first], "system", 199)[0].values():
        assert (difference.value, difference.p) == (pytest.approx(2), 1)

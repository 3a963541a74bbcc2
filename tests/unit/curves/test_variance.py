from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sumcurve.curves.variance import (
    Cell,
    Replicates,
    SeedVariance,
    Undefined,
    fieller,
    linear,
    linear_bounds,
    mean_score,
    moments,
    pooled_covariance,
    pooled_variance,
    quantile,
    quotient,
    quotient_bounds,
    satterthwaite,
    seed_variance,
    seeded_difference,
    zero_p,
)
from sumcurve.settings import Bootstrap

SETTINGS = Bootstrap(resamples=400)
GROWTH = np.array([-1.0, 1.0]), np.array([1.0, 0.0])


def cell(scores, method: str = "a", size: float = 100) -> Cell:
    array = np.asarray(scores, dtype=np.float64)
    return Cell(method, size, tuple(range(1, len(array) + 1)), array)


def lead(scores) -> Cell:
    return Cell("lead", 0, (), np.asarray(scores, dtype=np.float64)[None])


def drawn(
    generator: np.random.Generator, truth, seeds: int, items: int, of_seed: float, of_item: float, rest: float
) -> list[list[Cell]]:
    """Cells [methods][sizes] of Y = truth + A + I + W; A is correlated over methods where `of_seed` is a pair."""
    truth = np.asarray(truth)
    shape = (*truth.shape, seeds, 1)
    easy = of_item * generator.normal(size=items)
    scores = truth[..., None, None] + of_seed * generator.normal(size=shape) + easy
    scores = scores + rest * generator.normal(size=(*truth.shape, seeds, items))
    return [
        [cell(one, str(method), 100.0 * 2**size) for size, one in enumerate(own)] for method, own in enumerate(scores)
    ]


def every(cells: list[list[Cell]]) -> list[Cell]:
    return [one for own in cells for one in own]


# --- the decomposition ------------------------------------------------------------------------------------------------


def test_one_cell_is_the_two_way_layout_of_the_text_books() -> None:
    """var(grand mean) of a crossed random-effects design: (MS seeds + MS items - MS residual) / (seeds items)."""
    generator = np.random.default_rng(3)
    y = generator.normal(size=(4, 1)) + generator.normal(size=25) + generator.normal(size=(4, 25))
    seeds, items, grand = 4, 25, y.mean()
    of_seeds = items * sum((y[r].mean() - grand) ** 2 for r in range(seeds)) / (seeds - 1)
    of_items = seeds * sum((y[:, i].mean() - grand) ** 2 for i in range(items)) / (items - 1)
    residual = sum(
        (y[r, i] - y[r].mean() - y[:, i].mean() + grand) ** 2 for r in range(seeds) for i in range(items)
    ) / ((seeds - 1) * (items - 1))
    found, pooled = moments([cell(y)]), seed_variance([cell(y)], SETTINGS)
    assert pooled.variance == pytest.approx(of_seeds / items)
    assert pooled.interaction == pytest.approx(residual / items)
    one = np.ones(1)
    assert found.spread(one, pooled)[0] == pytest.approx((of_seeds + of_items - residual) / (seeds * items))
    assert found.spread(one, pooled, "items")[0] == pytest.approx(of_items / (seeds * items))
    assert found.spread(one, pooled, "seeds")[0] == pytest.approx(of_seeds / (seeds * items))


def test_variance_is_pooled_with_degrees_of_freedom_as_weights() -> None:
    generator = np.random.default_rng(0)
    arrays = [generator.normal(size=(seeds, 12)) * seeds for seeds in (2, 3, 5)]
    cells = [cell(array, method=str(number)) for number, array in enumerate(arrays)]
    single = Cell("once", 100, (1,), generator.normal(size=(1, 12)))
    pooled = seed_variance([*cells, single, lead(np.zeros(12))], SETTINGS)
    squares = sum(((array.mean(axis=1) - array.mean()) ** 2).sum() for array in arrays)
    assert pooled.variance == pytest.approx(squares / 7)
    assert (pooled.degrees, pooled.cells) == (7, 3)
    deviations = [array.mean(axis=1).std(ddof=1) for array in arrays]
    assert pooled.smallest == ("0", 100, pytest.approx(min(deviations)))
    assert pooled.largest == ("2", 100, pytest.approx(max(deviations)))


def test_without_repeated_seeds_there_is_no_variance_between_them() -> None:
    assert seed_variance([cell(np.ones((1, 5)))], SETTINGS) is None
    assert pooled_variance([Replicates("a", 1, (1,), np.ones(1))], SETTINGS) is None


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.1, 3.0]))
def test_the_total_is_never_narrower_than_the_items_and_units_do_not_matter(seed, of_seed) -> None:
    cells = every(drawn(np.random.default_rng(seed), [[90.0, 95.0]], 3, 20, of_seed, 1.0, 1.0))
    pooled = seed_variance(cells, SETTINGS)
    found = moments(cells)
    for weights in (np.array([1.0, 0.0]), np.array([1.0, -1.0])):
        total, items = (found.spread(weights, pooled, part)[0] for part in ("total", "items"))
        assert total >= items * (1 - 1e-12)
    larger = [replace(one, scores=100 * one.scores) for one in cells]
    again = seed_variance(larger, SETTINGS)
    bounds = quotient_bounds(found, *GROWTH, pooled, SETTINGS)[0]
    assert quotient_bounds(moments(larger), *GROWTH, again, SETTINGS)[0] == pytest.approx(bounds)
    mean = linear_bounds(found, GROWTH[0], pooled, SETTINGS)[0]
    assert linear_bounds(moments(larger), GROWTH[0], again, SETTINGS)[0] == pytest.approx([100 * end for end in mean])


def test_items_that_are_hard_for_one_are_hard_for_the_other() -> None:
    easy = np.random.default_rng(0).normal(size=50)
    first, second = cell(np.stack([easy] * 2)), cell(np.stack([easy + 1] * 2), "b")
    found = moments([first, second])
    assert found.spread(np.array([1.0, -1.0]), None, "items")[0] == pytest.approx(0, abs=1e-12)
    assert found.spread(np.array([1.0, 0.0]), None, "items")[0] == pytest.approx(easy.var(ddof=1) / 50)


def test_correlations_between_methods_and_between_sizes_are_told_apart() -> None:
    generator = np.random.default_rng(0)
    seeds = tuple(range(400))
    shared = generator.normal(size=(3, 400))  # one for each size
    replicates = [
        Replicates(method, size, seeds, np.sqrt(0.6) * shared[size] + np.sqrt(0.4) * generator.normal(size=400))
        for method in "ab"
        for size in range(3)
    ]
    pooled = pooled_variance(replicates, SETTINGS)
    assert pooled.between_methods == pytest.approx(0.6, abs=0.08)
    assert pooled.between_sizes == pytest.approx(0.0, abs=0.08)
    other = [
        replace(one, seeds=tuple(1000 + 1000 * number + s for s in seeds)) for number, one in enumerate(replicates)
    ]
    assert pooled_variance(other, SETTINGS).between_methods is None


def test_covariance_is_pooled_within_cells() -> None:
    x, y = np.array([1.0, 2, 3]), np.array([10.0, 14, 12])
    one = [Replicates("a", 1, (1, 2, 3), x), Replicates("a", 2, (1, 2, 3), 50 + x)]
    two = [Replicates("a", 1, (1, 2, 3), y), Replicates("a", 2, (1, 2, 3), -y)]
    assert pooled_covariance(one[:1], two[:1]) == pytest.approx(np.cov(x, y)[0, 1])
    assert pooled_covariance(one, two) == pytest.approx(0)
    with pytest.raises(ValueError, match="stands beside"):
        pooled_covariance(one, two[::-1])


def test_the_test_of_equal_variances_agrees_with_bartletts_and_sees_a_collapse() -> None:
    generator = np.random.default_rng(5)
    values = generator.normal(size=(6, 12)) * np.linspace(1, 1.8, 6)[:, None]
    many = [Replicates("a", size, tuple(range(12)), one) for size, one in enumerate(values)]
    assert pooled_variance(many, SETTINGS).equal_p == pytest.approx(stats.bartlett(*values).pvalue, abs=0.04)
    few = generator.normal(size=(12, 3))
    few[7, 1] -= 40
    collapsed = [Replicates("a", size, (1, 2, 3), one) for size, one in enumerate(few)]
    pooled = pooled_variance(collapsed, SETTINGS)
    assert pooled.equal_p < 0.01
    assert pooled.largest[:2] == ("a", 7)


def test_equal_variances_are_rejected_as_often_as_said_with_three_seeds() -> None:
    generator = np.random.default_rng(1)
    p = [
        pooled_variance(
            [Replicates("a", size, (1, 2, 3), generator.normal(size=3)) for size in range(6)], SETTINGS
        ).equal_p
        for _ in range(500)
    ]
    assert 0.025 < np.mean(np.array(p) < 0.05) < 0.08  # four standard errors of 500 draws


def test_degrees_of_freedom_are_welchs() -> None:
    generator = np.random.default_rng(2)
    first, second = generator.normal(size=5), 4 * generator.normal(size=9)
    parts = [(one.var(ddof=1) / len(one), len(one) - 1) for one in (first, second)]
    assert satterthwaite(parts) == pytest.approx(stats.ttest_ind(first, second, equal_var=False).df)
    assert satterthwaite([(3.0, 7), (0.0, 2)]) == pytest.approx(7)


# --- intervals and tests ----------------------------------------------------------------------------------------------


@given(st.floats(-5, 5), st.floats(1, 5), st.floats(0.01, 2), st.floats(0.0001, 0.1), st.floats(-0.9, 0.9))
def test_fiellers_ends_are_where_the_line_is_a_quantile_from_zero(over, under, v_over, v_under, correlation) -> None:
    covariance = correlation * (v_over * v_under) ** 0.5
    if under**2 <= 4 * v_under:
        with pytest.raises(Undefined):
            fieller(over, under, (v_over, v_under), covariance, 2.0)
        return
    low, high = fieller(over, under, (v_over, v_under), covariance, 2.0)
    assert low <= over / under <= high
    for end in (low, high):
        error = v_over - 2 * end * covariance + end**2 * v_under
        assert abs(over - end * under) == pytest.approx(2 * error**0.5, rel=1e-6, abs=1e-9)


def test_fieller_is_unbounded_where_the_denominator_may_be_zero() -> None:
    with pytest.raises(Undefined, match="denominator"):
        fieller(1.0, 1.0, (0.1, 0.26), 0.0, 2.0)
    assert fieller(1.0, 2.0, (0.0, 0.0), 0.0, 2.0) == (0.5, 0.5)


def test_two_methods_with_hardly_any_item_noise_are_the_t_test() -> None:
    """Two cells pool to the equal-variance t test of the seeds' means, for which scipy is the reference."""
    generator = np.random.default_rng(4)
    means = generator.normal(size=(2, 4)) + np.array([[0.0], [1.0]])
    noise = 1e-7 * generator.normal(size=40)
    first, second = (cell(one[:, None] + noise, name) for one, name in zip(means, "ab", strict=True))
    found = seeded_difference(first, second, seed_variance([first, second], SETTINGS), SETTINGS)
    reference = stats.ttest_ind(means[0], means[1])
    interval = reference.confidence_interval(0.95)
    assert found.p == pytest.approx(reference.pvalue)
    assert found.mean.total == pytest.approx((interval.low, interval.high))
    assert found.mean.seeds == pytest.approx(found.mean.total)
    assert found.mean.degrees == pytest.approx(6)


def test_with_one_seed_only_items_are_told_and_that_is_said() -> None:
    generator = np.random.default_rng(0)
    first, second = (cell(generator.uniform(size=(1, 60)), name) for name in "ab")
    for estimate in (
        mean_score(first, None, SETTINGS),
        quotient([first, second], *GROWTH, None, SETTINGS),
        seeded_difference(first, second, None, SETTINGS).mean,
    ):
        assert not estimate.seeds_known
        assert estimate.total is estimate.seeds is estimate.degrees is None
        assert estimate.items[0] < estimate.value < estimate.items[1]
        assert estimate.bounds == estimate.items
    with pytest.raises(ValueError, match="no variance between seeds"):
        moments([first]).spread(np.ones(1), None)


def test_systems_without_seeds_vary_by_items_alone() -> None:
    generator = np.random.default_rng(0)
    trained = cell(generator.normal(0.3, 0.1, size=(3, 80)))
    one, other = (lead(generator.normal(0.2, 0.1, size=80)) for _ in range(2))
    pooled = seed_variance([trained], SETTINGS)
    alone = seeded_difference(one, other, pooled, SETTINGS)
    assert alone.mean.seeds_known
    assert alone.mean.total == alone.mean.items
    mixed = linear_bounds(moments([trained, one]), np.array([1.0, -1.0]), pooled, SETTINGS, "seeds")[0]
    reach = quantile(2, SETTINGS) * (pooled.variance / 3) ** 0.5  # of one of the two alone
    assert mixed[1] - mixed[0] == pytest.approx(2 * reach)


def test_a_difference_changes_its_sign_with_the_order() -> None:
    cells = every(drawn(np.random.default_rng(0), [[5.0], [5.4]], 3, 60, 0.2, 1.0, 1.0))
    pooled = seed_variance(cells, SETTINGS)
    one, other = seeded_difference(*cells, pooled, SETTINGS), seeded_difference(*cells[::-1], pooled, SETTINGS)
    assert one.mean.total == pytest.approx([-end for end in other.mean.total[::-1]])
    assert one.p == pytest.approx(other.p)
    assert (one.wins, one.ties, one.losses) == (other.losses, other.ties, other.wins)
    assert one.wins + one.ties + one.losses == one.items == 60
    assert (one.first, one.second) == ("0", "1")
    assert (one.p < 0.05) == (not one.mean.total[0] < 0 < one.mean.total[1])


def test_the_public_estimates_hold_the_bounds_that_the_simulation_judges() -> None:
    cells = every(drawn(np.random.default_rng(0), [[5.0, 6.0]], 3, 60, 0.2, 1.0, 1.0))
    pooled, found = seed_variance(cells, SETTINGS), moments(cells)
    relative = quotient(cells, *GROWTH, pooled, SETTINGS)
    assert relative.total == quotient_bounds(found, *GROWTH, pooled, SETTINGS)[0]
    assert relative.value == pytest.approx(cells[1].mean / cells[0].mean - 1)
    assert linear(cells, GROWTH[0], pooled, SETTINGS).total == linear_bounds(found, GROWTH[0], pooled, SETTINGS)[0]
    assert seeded_difference(*cells, pooled, SETTINGS).p == zero_p(found, np.array([1.0, -1.0]), pooled)
    assert relative.scaled(3).items == pytest.approx([3 * end for end in relative.items])


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"a at 100: scores of shape \(2, 5\) for seeds \[1\]"):
        Cell("a", 100, (1,), np.ones((2, 5)))
    with pytest.raises(ValueError, match="not finite"):
        cell([[1.0, float("nan")]])
    with pytest.raises(ValueError, match="same items"):
        moments([cell(np.ones((2, 5))), cell(np.ones((2, 6)))])
    with pytest.raises(ValueError, match="comes twice"):
        seed_variance([cell(np.eye(2)), cell(np.eye(2))], SETTINGS)
    with pytest.raises(ValueError, match="each seed once"):
        Replicates("a", 1, (1, 1), np.ones(2))
    with pytest.raises(Undefined, match="denominator"):
        quotient([lead(np.zeros(4)), lead(np.ones(4))], *GROWTH, None, SETTINGS)


# --- coverage ---------------------------------------------------------------------------------------------------------
# Normal scores, 1,200 repeats, four cells or two pairs in each. The bounds are 93 to 97 % (3 to 7 %
# of tests): more than three standard errors from 95 and 5 %. See `benchmarks/interval_coverage.py`.

REPEATS = 1200


def covered(truth, seeds: int, items: int, of_seed: float, of_item: float, rest: float) -> dict[str, float]:
    """Shares of repeats in which intervals hold the truth, and in which equal means are told apart."""
    truth = np.asarray(truth)
    holds: dict[str, list[bool]] = {"mean": [], "difference": [], "sigma": [], "rejected": [], "items": []}
    for repeat in range(REPEATS):
        cells = drawn(np.random.default_rng([9, repeat]), truth, seeds, items, of_seed, of_item, rest)
        pooled = seed_variance(every(cells), SETTINGS)
        for own, true in zip(cells, truth, strict=True):
            low, high = linear_bounds(moments(own[:1]), np.ones(1), pooled, SETTINGS)[0]
            holds["mean"].append(low <= true[0] <= high)
            low, high = linear_bounds(moments(own[:1]), np.ones(1), pooled, SETTINGS, "items")[0]
            holds["items"].append(low <= true[0] <= high)
            low, high = quotient_bounds(moments(own), *GROWTH, pooled, SETTINGS)[0]
            holds["sigma"].append(low <= true[1] / true[0] - 1 <= high)
        pair = moments([own[-1] for own in cells])
        low, high = linear_bounds(pair, np.array([1.0, -1.0]), pooled, SETTINGS)[0]
        holds["difference"].append(low <= truth[0, -1] - truth[1, -1] <= high)
        holds["rejected"].append(zero_p(pair, np.array([1.0, -1.0]), pooled) < 0.05)
    return {name: float(np.mean(found)) for name, found in holds.items()}


TRUTH = [[0.2, 0.3], [0.22, 0.3]]  # equal at the larger size


@pytest.mark.parametrize(
    ("seeds", "of_seed", "of_item", "rest"),
    [
        (2, 0.01, 0.02, 0.02),  # four degrees of freedom: 1.96 in place of t's quantile covers 88 %
        (3, 0.01, 0.06, 0.08),  # both sources weigh alike
    ],
)
def test_intervals_cover_and_tests_reject_as_often_as_they_say(seeds, of_seed, of_item, rest) -> None:
    found = covered(TRUTH, seeds, 100, of_seed, of_item, rest)
    for name in ("mean", "difference", "sigma"):
        assert 0.93 <= found[name] <= 0.97, (name, found)
    assert 0.03 <= found["rejected"] <= 0.07, found
    assert found["items"] < 0.9  # so that leaving seeds out would be seen


def test_what_items_and_seeds_share_counts_once() -> None:
    """No seed is better than another: the spread between seeds is of the items, and counted twice covers 99 %."""
    found = covered(TRUTH, 5, 100, 0.0, 0.05, 0.2)
    assert found["mean"] <= 0.975
    assert found["difference"] <= 0.975
    assert 0.025 <= found["rejected"] <= 0.07


def test_seeds_that_methods_share_only_widen_the_intervals_of_differences() -> None:
    weights, truth = np.array([1.0, -1.0]), 0.3
    held, means = [], []
    for repeat in range(REPEATS):
        generator = np.random.default_rng([11, repeat])
        shared = generator.normal(size=(1, 3, 3, 1))  # of size and seed, for all methods
        of_seed = 0.01 * (np.sqrt(0.5) * shared + np.sqrt(0.5) * generator.normal(size=(3, 3, 3, 1)))
        scores = truth + of_seed + 0.02 * generator.normal(size=50) + 0.02 * generator.normal(size=(3, 3, 3, 50))
        cells = [[cell(one, str(m), size) for size, one in enumerate(own)] for m, own in enumerate(scores)]
        pooled: SeedVariance = seed_variance(every(cells), SETTINGS)
        low, high = linear_bounds(moments([cells[0][0], cells[1][0]]), weights, pooled, SETTINGS)[0]
        held.append(low <= 0 <= high)
        low, high = linear_bounds(moments([cells[0][0]]), np.ones(1), pooled, SETTINGS)[0]
        means.append(low <= truth <= high)
    assert np.mean(held) >= 0.97
    assert 0.93 <= np.mean(means) <= 0.97

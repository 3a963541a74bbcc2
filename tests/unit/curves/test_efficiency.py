from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from sumcurve.curves.efficiency import (
    Point,
    Repeats,
    Spread,
    Undefined,
    bounds_from_seeds,
    cost_deficiency,
    fieller,
    intervals,
    marks,
    overall_efficiency,
    relative_cost_deficiency,
    relative_overall_efficiency,
    relative_score_efficiency,
    score_efficiency,
    spread,
)

NUMBER = st.floats(0.1, 1000)


@given(NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER)
def test_quotients_agree_with_each_other_and_do_not_depend_on_units(d, more, s1, s2, t, longer) -> None:
    assume(abs(s2 - s1) > 1e-3)
    first, second = Point(d, s1, t), Point(d + more, s2, t + longer)
    assert overall_efficiency(first, second) == pytest.approx(
        score_efficiency(first, second) / cost_deficiency(first, second)
    )
    relative = [relative_score_efficiency, relative_cost_deficiency, relative_overall_efficiency]
    sigma, theta, epsilon = (function(first, second) for function in relative)
    assert epsilon == pytest.approx(sigma / theta)
    assert sigma == pytest.approx(score_efficiency(first, second) * d / s1)
    assert theta == pytest.approx(cost_deficiency(first, second) * d / t)
    scaled = [Point(3 * point.samples, 7 * point.score, 5 * point.cost) for point in (first, second)]
    assert [function(*scaled) for function in relative] == pytest.approx([sigma, theta, epsilon])


def test_all_intervals_by_size_and_the_whole_curve_last() -> None:
    small, middle, large = (Point(d, 1.0) for d in (10, 20, 40))
    found = intervals([large, small, middle])
    assert found[-1].marks == ()
    assert [(one.first, one.second, one.whole) for one in found] == [
        (small, middle, False),
        (middle, large, False),
        (small, large, True),
    ]
    assert len(intervals([large, small])) == 1
    assert intervals([small]) == intervals([]) == []


FIRST = Point(100, 20.0, 50.0)


@pytest.mark.parametrize(
    ("function", "first", "second", "reason"),
    [
        (relative_score_efficiency, Point(100, 0.0), Point(200, 5.0), "scores 0"),
        (relative_overall_efficiency, Point(100, 0.0, 5.0), Point(200, 5.0, 9.0), "scores 0"),
        (relative_cost_deficiency, Point(100, 1.0, 0.0), Point(200, 5.0, 9.0), "costs 0"),
        (overall_efficiency, FIRST, Point(200, 25.0, 50.0), "costs no more"),
        (relative_overall_efficiency, FIRST, Point(200, 25.0, 40.0), "costs no more"),
        (cost_deficiency, FIRST, Point(200, 25.0), "no training cost"),
    ],
)
def test_what_has_no_value_says_why(function, first, second, reason) -> None:
    with pytest.raises(Undefined, match=reason):
        function(first, second)


@pytest.mark.parametrize("function", [score_efficiency, relative_score_efficiency, overall_efficiency])
def test_an_interval_must_grow_and_may_not_cost_less_than_nothing(function) -> None:
    for samples in (100, 50, 0):
        with pytest.raises(ValueError, match="samples; both above 0"):
            function(FIRST, Point(samples, 25.0, 60.0))
    with pytest.raises(ValueError, match="not below 0"):
        cost_deficiency(FIRST, Point(200, 25.0, -1.0))
    assert relative_cost_deficiency(FIRST, Point(200, 25.0, 40.0)) == pytest.approx(-0.2)  # larger, and faster


@pytest.mark.parametrize("count", range(1, 9))
def test_the_first_the_last_and_one_between_with_as_many_on_either_side_are_marked(count) -> None:
    found = [one.marks for one in intervals([Point(10 * d, 1.0) for d in range(1, count + 2)]) if not one.whole]
    assert found == [marks(number, count) for number in range(1, count + 1)]
    assert "leftmost" in found[0]
    assert "rightmost" in found[-1]
    places = [number for number, names in enumerate(found) if "middle" in names]
    assert len(places) == (count > 2)
    for place in places:
        before, after = place, count - 1 - place
        assert after - before in (0, 1)
    assert sum(len(names) for names in found) == (3 if count > 2 else 2)


NAMES = ("Sigma", "Theta", "E", "sigma", "theta", "epsilon")
SMALL = Repeats(100, (0.198, 0.205, 0.201), (10.0, 11.0, 10.4))
LARGE = Repeats(300, (0.262, 0.255, 0.259), (41.0, 36.0, 40.0))


def test_intervals_hold_the_published_quotients_of_means() -> None:
    found = bounds_from_seeds(SMALL, LARGE, spread([SMALL, LARGE]))
    assert set(found) == set(NAMES)
    points = [Point(one.samples, np.mean(one.scores), stats.gmean(one.costs)) for one in (SMALL, LARGE)]
    functions = (
        score_efficiency,
        cost_deficiency,
        overall_efficiency,
        relative_score_efficiency,
        relative_cost_deficiency,
        relative_overall_efficiency,
    )
    for name, function in zip(NAMES, functions, strict=True):
        low, high = found[name]
        assert low < function(*points) < high, name


def test_intervals_of_differences_are_those_of_the_t_test() -> None:
    found = bounds_from_seeds(SMALL, LARGE, spread([SMALL, LARGE]))
    costs = stats.ttest_ind(np.log(LARGE.costs), np.log(SMALL.costs)).confidence_interval(0.95)
    assert found["theta"] == pytest.approx([(np.exp(end) - 1) / 2 for end in costs])
    scores = stats.ttest_ind(LARGE.scores, SMALL.scores).confidence_interval(0.95)
    assert found["Sigma"] == pytest.approx([end / 200 for end in scores])


def test_sigma_agrees_with_the_delta_method_where_seeds_hardly_vary() -> None:
    pair = [replace(SMALL, scores=(0.1999, 0.2001, 0.2)), replace(LARGE, scores=(0.2599, 0.2601, 0.26))]
    low, high = bounds_from_seeds(*pair, spread(pair))["sigma"]
    error = 1e-4 / 3**0.5 * np.hypot(1, 1.3) / 0.2 / 2  # of the ratio 1.3, over a growth of 2
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, 4) * error, rel=1e-3)
    assert (high + low) / 2 == pytest.approx(0.15, rel=1e-3)


def test_the_spread_is_pooled_within_trainings() -> None:
    two = Repeats(200, (0.3, 0.32), (20.0, 26.0))
    alone = Repeats(300, (0.9,), (1.0,))
    found = spread([SMALL, two, alone])
    scores = [np.var(one.scores, ddof=1) for one in (SMALL, two)]
    assert (found.score_degrees, found.cost_degrees) == (3, 3)
    assert found.scores == pytest.approx(np.average(scores, weights=[2, 1]))
    assert found.costs == pytest.approx(
        np.average([np.var(np.log(o.costs), ddof=1) for o in (SMALL, two)], weights=[2, 1])
    )
    covariances = [np.cov(one.scores, np.log(one.costs))[0, 1] for one in (SMALL, two)]
    assert found.covariance == pytest.approx(np.average(covariances, weights=[2, 1]))
    assert spread([alone]) == Spread(None, 0, None, 0, 0.0)
    assert not bounds_from_seeds(alone, replace(alone, samples=600), spread([alone]))
    untimed = spread([replace(SMALL, costs=()), two])
    assert (untimed.scores, untimed.cost_degrees) == (found.scores, 1)


def test_certain_costs_leave_epsilon_the_uncertainty_of_sigma() -> None:
    sure = [replace(SMALL, costs=(10.0,) * 3), replace(LARGE, costs=(40.0,) * 3)]
    found = bounds_from_seeds(*sure, spread(sure))
    assert found["theta"] == pytest.approx((1.5, 1.5))
    assert found["epsilon"] == pytest.approx([end / 1.5 for end in found["sigma"]], rel=0.05)
    assert found["E"] == pytest.approx([end / found["Theta"][0] for end in found["Sigma"]])
    less = bounds_from_seeds(SMALL, LARGE, replace(spread([SMALL, LARGE]), covariance=0.0))
    assert np.ptp(less["E"]) > np.ptp(found["E"])


def test_certain_scores_leave_the_uncertainty_of_costs() -> None:
    pair = [replace(SMALL, scores=(0.20,) * 3), replace(LARGE, scores=(0.26,) * 3)]
    found = bounds_from_seeds(*pair, spread(pair))
    t1, t2 = (stats.gmean(one.costs) for one in pair)
    logs = [np.log(one.costs) for one in pair]
    error = (np.mean([one.var(ddof=1) for one in logs]) / 3) ** 0.5  # of a mean log cost
    reach = stats.t.ppf(0.975, 4) * error
    # By the delta method t2 / t1 varies by (t2 / t1) sqrt(2) error, t2 - t1 by hypot(t1, t2) error.
    for bounds, gain, cost, spans in (
        (found["epsilon"], 0.3, t2 / t1 - 1, t2 / t1 * 2**0.5),
        (found["E"], 0.06, t2 - t1, np.hypot(t1, t2)),
    ):
        assert bounds == pytest.approx([gain / (cost + spans * reach), gain / (cost - spans * reach)])
    # The difference's ends by the ends of both costs (Zou and Donner, 2008).
    low1, low2, high1, high2 = (t * np.exp(sign * reach) for sign in (-1, 1) for t in (t1, t2))
    low = t2 - t1 - ((t2 - low2) ** 2 + (high1 - t1) ** 2) ** 0.5
    high = t2 - t1 + ((high2 - t2) ** 2 + (t1 - low1) ** 2) ** 0.5
    assert found["Theta"] == pytest.approx((low / 200, high / 200))


def test_epsilon_is_undefined_wherever_theta_may_be_zero() -> None:
    """Also where scores weigh more, so that the quotient's own quantile is smaller than that of the costs."""
    pair = [SMALL, replace(LARGE, costs=(14.0, 12.9, 13.2))]
    pooled = spread(pair)
    for degrees, refused in ((1, True), (100, False)):
        wide = replace(pooled, scores=1e-3, score_degrees=100, cost_degrees=degrees, covariance=0.0)
        found = bounds_from_seeds(*pair, wide)
        assert (found["theta"][0] < 0) == refused
        for name in ("epsilon", "E"):
            assert isinstance(found[name], Undefined) == refused
            assert ("not significantly more costly" in str(found[name])) == refused
        assert not isinstance(found["sigma"], Undefined)


def test_what_is_not_known_leaves_its_reason_and_the_rest() -> None:
    bare = [replace(SMALL, costs=()), replace(LARGE, costs=())]
    assert set(bounds_from_seeds(*bare, spread(bare))) == {"Sigma", "sigma"}
    found = bounds_from_seeds(*bare, spread([SMALL, LARGE]))
    for name in ("theta", "Theta", "epsilon", "E"):
        assert "no training cost" in str(found[name])
    zero = replace(SMALL, scores=(0.0, 0.0, 0.0))
    assert "scores 0" in str(bounds_from_seeds(zero, LARGE, spread([zero, LARGE]))["sigma"])
    shaky = replace(SMALL, scores=(0.01, 0.4, 0.02))
    assert "not significantly above 0" in str(bounds_from_seeds(shaky, LARGE, spread([shaky, LARGE]))["sigma"])
    with pytest.raises(ValueError, match="a cost above 0 for each seed"):
        replace(SMALL, costs=(1.0, 2.0))


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


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Costs vary by a tenth and go with scores; three seeds of two methods at two sizes, 1,200 repeats."""
    held: dict[str, list[bool]] = {name: [] for name in NAMES}
    truth = {"theta": 1.5, "Theta": 0.15, "epsilon": 0.3 / 3, "E": 0.06 / 30, "sigma": 0.15, "Sigma": 0.0003}
    for repeat in range(1200):
        generator = np.random.default_rng([13, repeat])
        everything = []
        for _ in "ab":
            for size, mean, cost in ((100, 0.20, 10.0), (300, 0.26, 40.0)):
                of_seed = generator.normal(size=3)
                factors = np.exp(0.1 * (0.6 * of_seed + 0.8 * generator.normal(size=3)))
                everything.append(Repeats(size, tuple(mean + 0.005 * of_seed), tuple(cost * factors)))
        found = bounds_from_seeds(*everything[:2], spread(everything))
        for name, value in truth.items():
            bounds = found[name]
            held[name].append(not isinstance(bounds, Undefined) and bounds[0] <= value <= bounds[1])
    for name, values in held.items():
        assert 0.93 <= np.mean(values) <= 0.97, name

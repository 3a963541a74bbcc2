import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from sumcurve.curves.efficiency import (
    Point,
    Spread,
    Trained,
    Undefined,
    cost_deficiency,
    gap_closed,
    interval_efficiency,
    intervals,
    marks,
    overall_efficiency,
    relative_cost_deficiency,
    relative_overall_efficiency,
    relative_score_efficiency,
    score_efficiency,
    spread,
)
from sumcurve.curves.published import published_file, results_file
from sumcurve.curves.variance import Cell, Estimate
from sumcurve.settings import Bootstrap

# Cells of Čano and Bojar's Tables 3 and 4 that their own Table 2 does not give.
SLIPS = {
    ("CNNDM", "ABS", "12", "epsilon2"),
    ("CNNDM", "NATS", "23", "sigma1_pct"),
    ("CNNDM", "NATS", "23", "sigma2_pct"),
    ("CNNDM", "TRANS", "12", "epsilon2"),
    ("CNNDM", "FASTRL", "12", "epsilonL"),
    ("OAGS", "PCOV", "23", "sigma2_pct"),
}


def read(path: Path) -> list[dict[str, str]]:
    with path.open() as stream:
        return list(csv.DictReader(stream))


def rebuilt(first: dict[str, str], second: dict[str, str]) -> dict[str, float]:
    values = {}
    for short, metric in (("1", "rouge1"), ("2", "rouge2"), ("L", "rougeL")):
        points = [
            Point(float(row["records"]), float(row[metric]), float(row["train_seconds"])) for row in (first, second)
        ]
        values[f"sigma{short}_pct"] = 100 * relative_score_efficiency(*points)
        values["theta_pct"] = 100 * relative_cost_deficiency(*points)
        values[f"epsilon{short}"] = relative_overall_efficiency(*points)
    return values


def test_tables_3_and_4_of_the_paper_follow_from_its_table_2_but_for_its_slips() -> None:
    trained = {(row["corpus"], row["method"], row["split"]): row for row in read(results_file("cano-bojar-2020"))}
    cells, off = 0, set()
    for row in read(published_file("cano-bojar-2020")):
        corpus, method, interval = row["corpus"], row["method"], row["interval"]
        for name, value in rebuilt(*(trained[corpus, method, split] for split in interval)).items():
            unit = 10.0 ** -len(row[name].partition(".")[2])
            cells += 1
            if abs(value - float(row[name])) > unit / 2 + 1e-9:
                off.add((corpus, method, interval, name))
    assert cells == 154
    assert off == SLIPS


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


def test_a_faster_larger_training_has_a_negative_deficiency() -> None:
    assert relative_cost_deficiency(FIRST, Point(200, 25.0, 40.0)) == pytest.approx(-0.2)


@pytest.mark.parametrize("function", [score_efficiency, relative_score_efficiency, overall_efficiency])
@pytest.mark.parametrize("samples", [100, 50, 0])
def test_an_interval_must_grow(function, samples) -> None:
    with pytest.raises(ValueError, match="samples; both above 0"):
        function(FIRST, Point(samples, 25.0, 60.0))


def test_a_cost_below_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="not below 0"):
        cost_deficiency(FIRST, Point(200, 25.0, -1.0))


SETTINGS = Bootstrap(resamples=1000)


def items(shift: float, noise: float = 0.05) -> np.ndarray:
    easy = np.random.default_rng(0).uniform(0.2, 0.8, 400)
    return easy + shift + np.random.default_rng(1).normal(0, noise, 400)


def sigma_interval(first: np.ndarray, second: np.ndarray, settings: Bootstrap = SETTINGS) -> tuple[float, float]:
    """From 100 to 200 samples, one seed each."""
    ends = [Trained(Cell("m", size, (1,), scores[None])) for size, scores in ((100, first), (200, second))]
    found = interval_efficiency(*ends, Spread(None, None, 0.0), settings).sigma
    if isinstance(found, Undefined):
        raise found
    return found.bounds


def test_the_interval_of_sigma_holds_it_and_narrows_with_more_items() -> None:
    first, second = items(0.0, 0.04), items(0.02)
    low, high = sigma_interval(first, second)
    sigma = relative_score_efficiency(Point(100, first.mean()), Point(200, second.mean()))
    assert low < sigma < high
    few = sigma_interval(first[:50], second[:50])
    assert few[1] - few[0] > 2 * (high - low)


def test_items_are_drawn_for_both_trainings_together() -> None:
    first = items(0.0)
    # Every item gains a tenth: whatever the items, sigma is a tenth.
    assert sigma_interval(first, 1.1 * first) == pytest.approx((0.1, 0.1))


def test_the_interval_agrees_with_the_delta_method() -> None:
    first, second = items(0.0), items(0.02)[::-1].copy()
    low, high = sigma_interval(first, second, Bootstrap(resamples=4000))
    ratio = second.mean() / first.mean()
    error = np.std(second - ratio * first, ddof=1) / np.sqrt(len(first)) / first.mean()
    assert (high - low) / 2 == pytest.approx(1.96 * error, rel=0.08)


def test_a_score_that_may_be_zero_leaves_no_interval() -> None:
    first = np.zeros(30)
    first[0] = 1.0
    with pytest.raises(Undefined, match="not significantly above 0"):
        sigma_interval(first, items(0.0)[:30])


def test_scores_of_other_items_are_refused() -> None:
    with pytest.raises(ValueError, match="same items"):
        sigma_interval(items(0.0), items(0.0)[1:])


# --- the paper's scheme -----------------------------------------------------------------------------------------------


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


def test_the_whole_curve_has_no_mark() -> None:
    assert [one.marks for one in intervals([Point(d, 1.0) for d in (10, 20, 30)]) if one.whole] == [()]


@given(NUMBER, st.floats(0.1, 50), NUMBER)
def test_the_gap_closed_is_all_at_the_optimum_and_none_without_gain(start, gain, room) -> None:
    first, optimum = Point(100, start), start + gain + room
    assert gap_closed(first, Point(200, start), optimum) == 0
    assert gap_closed(first, Point(200, optimum), optimum) == pytest.approx(1)
    share = gap_closed(first, Point(200, start + gain), optimum)
    assert first.score + share * (optimum - first.score) == pytest.approx(start + gain)


@pytest.mark.parametrize("start", [40.0, 41.0])
def test_above_the_optimum_there_is_no_gap(start) -> None:
    with pytest.raises(Undefined, match="not below the extractive optimum"):
        gap_closed(Point(100, start), Point(200, 45.0), 40.0)


# --- error bars -------------------------------------------------------------------------------------------------------

FAST = Bootstrap(resamples=300)
NAMES = ("Sigma", "Theta", "E", "sigma", "theta", "epsilon", "gap_closed")


def trained(size: float, mean: float, costs, seeds: int = 3, seed: int = 0, method: str = "a") -> Trained:
    generator = np.random.default_rng([seed, int(size)])
    easy = np.random.default_rng(7).normal(0, 0.05, 200)
    scores = mean + easy + generator.normal(0, 0.005, (seeds, 1)) + generator.normal(0, 0.05, (seeds, 200))
    return Trained(Cell(method, size, tuple(range(seeds)), scores), costs)


SMALL = trained(100, 0.20, (10.0, 11.0, 10.4))
LARGE = trained(300, 0.26, (41.0, 36.0, 40.0))
OPTIMUM = Cell("optimum", 0, (), np.random.default_rng(1).normal(0.5, 0.05, (1, 200)))


def test_values_are_the_published_quotients_of_means_and_their_intervals_hold_them() -> None:
    found = interval_efficiency(SMALL, LARGE, spread([SMALL, LARGE], FAST), FAST, OPTIMUM)
    points = [
        Point(one.cell.size, one.cell.scores.mean(), float(np.prod(one.costs)) ** (1 / 3)) for one in (SMALL, LARGE)
    ]
    functions = (
        score_efficiency,
        cost_deficiency,
        overall_efficiency,
        relative_score_efficiency,
        relative_cost_deficiency,
        relative_overall_efficiency,
        lambda first, second: gap_closed(first, second, OPTIMUM.scores.mean()),
    )
    for name, function in zip(NAMES, functions, strict=True):
        estimate = getattr(found, name)
        assert isinstance(estimate, Estimate), name
        assert estimate.value == pytest.approx(function(*points)), name
        assert estimate.total[0] < estimate.value < estimate.total[1], name
        assert estimate.seeds_known
        assert (estimate.items is None) == (name in ("Theta", "theta")), name


def test_the_interval_of_theta_is_that_of_the_log_ratio_of_costs() -> None:
    pooled = spread([SMALL, LARGE], FAST)
    found = interval_efficiency(SMALL, LARGE, pooled, FAST).theta
    reference = stats.ttest_ind(np.log(LARGE.costs), np.log(SMALL.costs)).confidence_interval(0.95)
    assert found.total == pytest.approx([(np.exp(end) - 1) / 2 for end in reference])
    assert found.seeds == found.total


def test_one_seed_prints_items_only_and_says_so() -> None:
    pair = [trained(100, 0.20, (10.0,), seeds=1), trained(300, 0.26, (40.0,), seeds=1)]
    pooled = spread(pair, FAST)
    assert pooled == Spread(None, None, 0.0)
    found = interval_efficiency(*pair, pooled, FAST, OPTIMUM)
    for name in NAMES:
        estimate = getattr(found, name)
        assert not estimate.seeds_known
        assert estimate.total is estimate.seeds is None
        assert (estimate.items is None) == (name in ("Theta", "theta"))
    assert found.epsilon.items == pytest.approx([end / found.theta.value for end in found.sigma.items])


def test_certain_costs_leave_epsilon_the_uncertainty_of_sigma() -> None:
    sure = [trained(100, 0.20, (10.0,) * 3), trained(300, 0.26, (40.0,) * 3)]
    found = interval_efficiency(*sure, spread(sure, FAST), FAST)
    assert found.theta.total == pytest.approx((1.5, 1.5))
    assert found.epsilon.total == pytest.approx([end / 1.5 for end in found.sigma.total], rel=0.05)
    assert found.E.total == pytest.approx([end / found.Theta.value for end in found.Sigma.total])
    less = interval_efficiency(SMALL, LARGE, spread([SMALL, LARGE], FAST), FAST)
    assert np.ptp(less.epsilon.total) > np.ptp(found.epsilon.total)


def test_certain_scores_leave_the_uncertainty_of_costs() -> None:
    pair = [
        Trained(Cell("a", size, (1, 2, 3), np.full((3, 20), score)), costs)
        for size, score, costs in ((100, 0.20, (10.0, 11.0, 10.4)), (300, 0.26, (41.0, 36.0, 40.0)))
    ]
    found = interval_efficiency(*pair, spread(pair, FAST), FAST)
    t1, t2 = (stats.gmean(one.costs) for one in pair)
    logs = [np.log(one.costs) for one in pair]
    error = (np.mean([one.var(ddof=1) for one in logs]) / 3) ** 0.5  # of a mean log cost
    reach = stats.t.ppf(0.975, 4) * error
    # By the delta method t2 / t1 varies by (t2 / t1) sqrt(2) error, t2 - t1 by hypot(t1, t2) error.
    for estimate, gain, cost, spans in (
        (found.epsilon, 0.3, t2 / t1 - 1, t2 / t1 * 2**0.5),
        (found.E, 0.06, t2 - t1, np.hypot(t1, t2)),
    ):
        assert estimate.total == pytest.approx([gain / (cost + spans * reach), gain / (cost - spans * reach)])
    # The difference's ends by the ends of both costs (Zou and Donner, 2008).
    low1, low2, high1, high2 = (t * np.exp(sign * reach) for sign in (-1, 1) for t in (t1, t2))
    low = t2 - t1 - ((t2 - low2) ** 2 + (high1 - t1) ** 2) ** 0.5
    high = t2 - t1 + ((high2 - t2) ** 2 + (t1 - low1) ** 2) ** 0.5
    assert found.Theta.total == pytest.approx((low / 200, high / 200))


def test_costs_that_hardly_grow_leave_quotients_by_cost_undefined() -> None:
    pair = [trained(100, 0.20, (10.0, 20.0, 40.0)), trained(300, 0.26, (12.0, 30.0, 45.0))]
    found = interval_efficiency(*pair, spread(pair, FAST), FAST)
    assert found.theta.total[0] < 0 < found.theta.total[1]
    for name in ("epsilon", "E"):
        assert isinstance(getattr(found, name), Undefined)
        assert "not significantly more costly" in str(getattr(found, name))
    assert isinstance(found.sigma, Estimate)


def test_epsilon_is_undefined_wherever_theta_may_be_zero() -> None:
    """Also where scores weigh more, so that the quotient's own quantile is smaller than that of the costs."""
    pair = [trained(100, 0.20, (10.0, 11.0, 10.4)), trained(300, 0.21, (14.0, 12.9, 13.2))]
    pooled = spread(pair, FAST)
    many = replace(pooled.scores, variance=1e-3, degrees=100)
    for degrees, kind in ((1, Undefined), (100, Estimate)):
        found = interval_efficiency(*pair, Spread(many, replace(pooled.costs, degrees=degrees), 0.0), FAST)
        assert (found.theta.total[0] < 0) == (kind is Undefined)
        assert isinstance(found.epsilon, kind)
        assert isinstance(found.E, kind)


def test_what_is_not_known_leaves_its_reason_and_the_rest() -> None:
    bare = [trained(100, 0.20, None), trained(300, 0.26, None)]
    found = interval_efficiency(*bare, spread(bare, FAST), FAST)
    assert isinstance(found.sigma, Estimate)
    for name in ("theta", "Theta", "epsilon", "E"):
        assert "no training cost" in str(getattr(found, name))
    assert "optimum" in str(found.gap_closed)
    zero = Trained(Cell("a", 100, (1, 2), np.zeros((2, 200))))
    nothing = interval_efficiency(zero, bare[1], spread([zero, bare[1]], FAST), FAST)
    assert "scores 0" in str(nothing.sigma)
    assert isinstance(nothing.Sigma, Estimate)
    with pytest.raises(ValueError, match="a cost above 0 for each seed"):
        trained(100, 0.2, (1.0, 2.0))


def test_scores_and_costs_that_go_together_narrow_epsilon() -> None:
    pair = [SMALL, LARGE]
    pooled = spread(pair, FAST)
    wide = (pooled.scores.variance * pooled.costs.variance) ** 0.5
    widths = [
        np.ptp(interval_efficiency(*pair, Spread(pooled.scores, pooled.costs, share * wide), FAST).epsilon.total)
        for share in (0.9, 0.0, -0.9)
    ]
    assert widths[0] < widths[1] < widths[2]


@pytest.mark.slow
def test_intervals_of_theta_and_epsilon_hold_the_truth_as_often_as_they_say() -> None:
    """Costs vary by a tenth and go with scores; three seeds of two methods at two sizes, 1,200 repeats."""
    held: dict[str, list[bool]] = {"theta": [], "Theta": [], "epsilon": [], "E": []}
    truth = {"theta": 1.5, "Theta": 0.15, "epsilon": 0.3 / 3, "E": 0.06 / 30}
    few = Bootstrap(resamples=20)
    for repeat in range(1200):
        generator = np.random.default_rng([13, repeat])
        easy = generator.normal(0, 0.05, 100)
        everything = []
        for method in "ab":
            for size, mean, cost in ((100, 0.20, 10.0), (300, 0.26, 40.0)):
                of_seed = generator.normal(size=3)
                scores = mean + 0.005 * of_seed[:, None] + easy + generator.normal(0, 0.05, (3, 100))
                factors = np.exp(0.1 * (0.6 * of_seed + 0.8 * generator.normal(size=3)))
                everything.append(Trained(Cell(method, size, (1, 2, 3), scores), tuple(cost * factors)))
        found = interval_efficiency(*everything[:2], spread(everything, few), few)
        for name, value in truth.items():
            estimate = getattr(found, name)
            held[name].append(isinstance(estimate, Estimate) and estimate.total[0] <= value <= estimate.total[1])
    for name, values in held.items():
        assert 0.93 <= np.mean(values) <= 0.97, name

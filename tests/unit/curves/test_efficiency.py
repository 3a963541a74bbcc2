import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sumcurve.curves.efficiency import (
    Point,
    Undefined,
    cost_deficiency,
    intervals,
    overall_efficiency,
    relative_cost_deficiency,
    relative_overall_efficiency,
    relative_score_efficiency,
    relative_score_efficiency_interval,
    score_efficiency,
)
from sumcurve.settings import Bootstrap

DATA = Path(__file__).parents[2] / "data"
# Cells of Čano and Bojar's Tables 3 and 4 that their own Table 2 does not give.
SLIPS = {
    ("CNNDM", "ABS", "12", "epsilon2"),
    ("CNNDM", "NATS", "23", "sigma1_pct"),
    ("CNNDM", "NATS", "23", "sigma2_pct"),
    ("CNNDM", "TRANS", "12", "epsilon2"),
    ("CNNDM", "FASTRL", "12", "epsilonL"),
    ("OAGS", "PCOV", "23", "sigma2_pct"),
}


def read(name: str) -> list[dict[str, str]]:
    with (DATA / name).open() as stream:
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
    trained = {(row["corpus"], row["method"], row["split"]): row for row in read("cano_bojar_table2.csv")}
    cells, off = 0, set()
    for row in read("cano_bojar_tables3_4.csv"):
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


def test_the_interval_of_sigma_holds_it_and_narrows_with_more_items() -> None:
    first, second = items(0.0, 0.04), items(0.02)
    low, high = relative_score_efficiency_interval(first, second, 100, 200, SETTINGS)
    sigma = relative_score_efficiency(Point(100, first.mean()), Point(200, second.mean()))
    assert low < sigma < high
    few = relative_score_efficiency_interval(first[:50], second[:50], 100, 200, SETTINGS)
    assert few[1] - few[0] > 2 * (high - low)


def test_items_are_drawn_for_both_trainings_together() -> None:
    first = items(0.0)
    # Every item gains a tenth: whatever the items, sigma is a tenth.
    assert relative_score_efficiency_interval(first, 1.1 * first, 100, 200, SETTINGS) == pytest.approx((0.1, 0.1))


def test_the_interval_agrees_with_the_delta_method() -> None:
    first, second = items(0.0), items(0.02)[::-1].copy()
    low, high = relative_score_efficiency_interval(first, second, 100, 200, Bootstrap(resamples=4000))
    ratio = second.mean() / first.mean()
    error = np.std(second - ratio * first, ddof=1) / np.sqrt(len(first)) / first.mean()
    assert (high - low) / 2 == pytest.approx(1.96 * error, rel=0.08)


def test_a_resample_that_scores_zero_leaves_no_interval() -> None:
    first = np.zeros(30)
    first[0] = 1.0
    with pytest.raises(Undefined, match="in a resample"):
        relative_score_efficiency_interval(first, items(0.0)[:30], 100, 200, SETTINGS)


def test_scores_of_other_items_are_refused() -> None:
    with pytest.raises(ValueError, match="same items"):
        relative_score_efficiency_interval(items(0.0), items(0.0)[1:], 100, 200, SETTINGS)

"""Agreement beyond chance, against published worked examples, and intervals that hold what they should."""

import numpy as np
import pytest

from sumcurve.settings.study import Bootstrap
from sumcurve.statistics.agreement import cohens_kappa, krippendorffs_alpha

NA = None
# Krippendorff's data C, four observers of twelve units (Computing Krippendorff's Alpha-Reliability, 2011).
DATA_C = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NA, NA, NA],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NA, 3],
    [NA, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NA],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NA],
]
# Data A of the same paper: two observers, ten units, two values.
DATA_A = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]


def units(rows):
    return [
        {f"observer {place}": value for place, value in enumerate(column) if value is not None}
        for column in zip(*rows, strict=True)
    ]


def pairs(*cells):
    """Two judgements of as many items as the contingency table's cells say: (first, second, count)."""
    first = [one for one, _, count in cells for _ in range(count)]
    second = [two for _, two, count in cells for _ in range(count)]
    return first, second, [str(number) for number in range(len(first))]


def test_krippendorffs_alpha_is_that_of_his_worked_examples():
    c = krippendorffs_alpha(units(DATA_C), [str(place) for place in range(12)])
    assert round(c.value, 3) == 0.743
    assert c.items == 11, "the unit that one observer alone judged says nothing of agreement"
    a = krippendorffs_alpha(units(DATA_A), [str(place) for place in range(10)])
    assert round(a.value, 3) == 0.095
    assert a.same == pytest.approx(0.6)


def test_cohens_kappa_is_that_of_worked_examples():
    yes_no = pairs(("yes", "yes", 20), ("yes", "no", 5), ("no", "yes", 10), ("no", "no", 15))
    assert cohens_kappa(*yes_no).value == pytest.approx(0.4)
    doctors = pairs(("yes", "yes", 12), ("yes", "no", 2), ("no", "yes", 4), ("no", "no", 2))
    assert cohens_kappa(*doctors).value == pytest.approx(0.08 / 0.38)
    assert cohens_kappa(*doctors).same == pytest.approx(0.7)


def test_agreement_of_all_or_none_and_what_has_no_value_or_no_interval():
    same = [str(number % 4) for number in range(40)]
    groups = [str(number) for number in range(40)]
    assert cohens_kappa(same, same, groups).value == pytest.approx(1)
    assert krippendorffs_alpha([{"a": one, "b": one} for one in same], groups).value == pytest.approx(1)
    turned = ["x", "y"] * 20, ["y", "x"] * 20
    assert cohens_kappa(*turned, groups).value == pytest.approx(-1)
    one = cohens_kappa(["x"] * 40, ["x"] * 40, groups)
    assert (one.value, one.same) == (None, 1)
    assert "one category" in one.why
    alone = krippendorffs_alpha([{"a": "x"}], ["g"])
    assert (alone.value, alone.items) == (None, 0)
    first, second, _ = pairs(("x", "x", 20), ("x", "y", 5), ("y", "y", 15))
    few = cohens_kappa(first, second, ["one", "two"] * 20)
    assert (few.value is None, few.low) == (False, None)
    assert "2 groups" in few.why
    with pytest.raises(ValueError, match="judgements"):
        cohens_kappa(["x"], ["x", "y"], ["g"])
    with pytest.raises(ValueError, match="groups"):
        krippendorffs_alpha([{"a": "x"}], [])


def judges(generator, items, right=0.85, per_group=1):
    """Two judges who see the truth, each with this probability, and else guess; groups of items share the truth."""
    groups = np.arange(items) // per_group
    truth = generator.integers(0, 2, items // per_group + 1)[groups]
    found = [np.where(generator.random(items) < right, truth, generator.integers(0, 2, items)) for _ in range(2)]
    return found[0].tolist(), found[1].tolist(), [str(group) for group in groups]


def test_intervals_hold_the_true_kappa_as_often_as_they_say():
    # Both know with .85, else toss a coin: they agree beyond chance with .85².
    generator = np.random.default_rng(7)
    settings = Bootstrap(resamples=300)
    held = {"kappa": 0, "alpha": 0}
    for _ in range(100):
        first, second, groups = judges(generator, 160, per_group=2)
        by_rater = [{"a": one, "b": two} for one, two in zip(first, second, strict=True)]
        for name, found in (
            ("kappa", cohens_kappa(first, second, groups, settings)),
            ("alpha", krippendorffs_alpha(by_rater, groups, settings)),
        ):
            held[name] += found.low <= 0.85**2 <= found.high
    assert all(86 <= count <= 99 for count in held.values()), held


def test_items_of_one_group_count_as_one_draw():
    first, second, groups = judges(np.random.default_rng(3), 60)
    alone = cohens_kappa(first, second, groups)
    times = 5
    repeated = cohens_kappa(first * times, second * times, groups * times)
    assert repeated.value == pytest.approx(alone.value)
    assert repeated.low == pytest.approx(alone.low, abs=1e-9)
    assert repeated.high == pytest.approx(alone.high, abs=1e-9)


def test_groups_that_count_as_few_have_no_interval():
    """Ninety items, a third of them in one group: these count as eight equal groups; with 56 % as three."""
    first, second = (["x", "y", "y"] * 30, ["x", "y", "x"] * 30)
    for large, has_interval in ((30, True), (50, False)):
        groups = ["large"] * large + [str(number) for number in range(90 - large)]
        for found in (
            cohens_kappa(first, second, groups),
            krippendorffs_alpha([{"a": a, "b": b} for a, b in zip(first, second, strict=True)], groups),
        ):
            assert (found.low is not None) == has_interval
            assert has_interval == (found.why == "")
            assert has_interval or "group 'large' holds 56 % of the test items" in found.why

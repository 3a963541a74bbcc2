from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from sumcurve.statistics.design import Design, Replicates
from sumcurve.statistics.intervals import DRAW, ITEMS, MIXED, TRAINING, Estimate, contrast, difference, draws, estimate

SINGLES = [f"item {number}" for number in range(200)]


def test_single_seeds_on_ungrouped_items_are_the_paired_t_test() -> None:
    first, second = np.random.default_rng(1).gamma(2, 8, size=(2, 200))
    made = Design([Replicates("a", 100, (1,), first[None]), Replicates("b", 100, (1,), second[None])], SINGLES, 100)
    found, reference = difference(made, ("a", 100), ("b", 100)), stats.ttest_rel(first, second)
    assert (found.df, found.p) == pytest.approx((reference.df, reference.pvalue))
    assert (found.low, found.high) == pytest.approx(tuple(reference.confidence_interval()))
    assert found.covers == ITEMS
    alone, reference = estimate(made, ("a", 100)), stats.ttest_1samp(first, 0)
    assert (alone.low, alone.high) == pytest.approx(tuple(reference.confidence_interval()))


def test_seeds_alone_are_the_paired_t_test() -> None:
    """Two methods at one size whose items all move together: only seeds are left to vary by."""
    effects = np.random.default_rng(2).normal(size=(2, 4))
    common = np.random.default_rng(3).normal(size=200)
    cells = [
        Replicates(name, 100, (1, 2, 3, 4), common + own[:, None]) for name, own in zip("ab", effects, strict=True)
    ]
    made = Design(cells, SINGLES, 400)
    assert np.isinf(made.moderated.prior_degrees)
    found, reference = difference(made, ("a", 100), ("b", 100)), stats.ttest_rel(*effects)
    assert (found.df, found.p) == pytest.approx((3, reference.pvalue))
    assert (found.low, found.high) == pytest.approx(tuple(reference.confidence_interval()))


def test_many_seeds_are_the_layout_of_random_seeds_and_items() -> None:
    """A cell's variance against that of independent repeats of the same experiment."""
    generator = np.random.default_rng(4)
    means, variances = [], []
    for _ in range(600):
        scores = generator.normal(size=(4, 1)) + generator.normal(size=60) * 4 + generator.normal(size=(4, 60)) * 3
        made = Design([Replicates("a", 100, (1, 2, 3, 4), scores)], SINGLES[:60], 400)
        found = estimate(made, ("a", 100))
        means.append(found.mean)
        variances.append(found.error**2)
    assert np.mean(variances) == pytest.approx(np.var(means), rel=0.15)
    assert np.var(means) == pytest.approx(1 / 4 + 16 / 60 + 9 / 240, rel=0.15)


def test_copies_of_items_in_their_groups_change_nothing(replicates, names) -> None:
    once = Design(replicates(), names, 400)
    cells = [replace(cell, items=np.repeat(cell.items, 2, axis=1)) for cell in replicates()]
    twice = Design(cells, [name for name in names for _ in range(2)], 400)
    for cell in once.cells:
        one, other = estimate(once, cell), estimate(twice, cell)
        assert (one.low, one.high, one.df) == pytest.approx((other.low, other.high, other.df))


def test_scale_and_shift(replicates, names) -> None:
    once = Design(replicates(), names, 400)
    scaled = Design([replace(cell, items=3 * cell.items + 5) for cell in replicates()], names, 400)
    one, other = (difference(made, ("a", 400), ("c", 400)) for made in (once, scaled))
    assert (other.low, other.high, other.p) == pytest.approx((3 * one.low, 3 * one.high, one.p))
    assert estimate(scaled, ("b", 100)).low == pytest.approx(3 * estimate(once, ("b", 100)).low + 5)


def test_a_difference_is_the_other_way_round_its_negative(design) -> None:
    one, other = difference(design, ("a", 400), ("c", 400)), difference(design, ("c", 400), ("a", 400))
    assert (one.mean, one.low, one.high, one.p) == pytest.approx((-other.mean, -other.high, -other.low, other.p))
    low, high = one.interval(0.01)
    assert low < one.low < one.mean < one.high < high
    assert one.interval(0.05) == pytest.approx((one.low, one.high))
    assert (one.p < 0.05) == (one.low > 0 or one.high < 0)
    with pytest.raises(ValueError, match="with itself"):
        difference(design, ("a", 400), ("a", 400))


def test_intervals_say_what_they_cover(replicates, names) -> None:
    lead = Replicates("lead", None, (), np.random.default_rng(5).normal(20, 5, size=(1, 200)))
    single = replicates("d", (400,), 1)[0]
    made = Design([*replicates(), lead, single], names, 400)
    assert estimate(made, ("a", 100)).covers == DRAW
    assert estimate(made, ("a", 400)).covers == TRAINING
    assert estimate(made, ("lead", None)).covers == ITEMS
    assert estimate(made, ("d", 400)).covers == ITEMS
    assert difference(made, ("a", 400), ("d", 400)).covers == ITEMS  # one seed: these weights
    assert difference(made, ("a", 400), ("lead", None)).covers == TRAINING
    assert contrast(made, {("a", 100): -1, ("a", 400): 1}).covers == MIXED
    held = Design(replicates(), names, None)
    assert estimate(held, ("a", 400)).covers == DRAW


def test_scores_that_never_move_and_groups_that_cannot_say_get_a_sentence(replicates, names) -> None:
    still = Replicates("still", None, (), np.full((1, 200), 7.0))
    one, *_ = replicates()
    copy = replace(one, system="copy")
    made = Design([still, one, copy], names, 400)
    found = estimate(made, ("still", None))
    assert (found.mean, found.low, found.p, found.error) == (7, None, None, None)
    assert found.why == "no interval: the score is the same on every item"
    assert found.interval(0.05) is None
    twins = difference(made, ("a", 100), ("copy", 100))
    assert twins.why == "no interval: the difference is the same on every item"
    held = Design(replicates(), ["one"] * 200, 400)
    assert "all 200 test items are of one group" in estimate(held, ("a", 100)).why
    with pytest.raises(ValueError, match="all 200 test items"):
        draws(held, 10, np.random.default_rng(0))


def test_draws_agree_with_intervals(replicates, names) -> None:
    lead = Replicates("lead", None, (), np.random.default_rng(6).normal(20, 5, size=(1, 200)))
    made = Design([*replicates(), lead], names, 400)
    joint = draws(made, 20_000, np.random.default_rng(7))
    assert joint.shape == (20_000, 10)
    for cell in made.cells:
        found = estimate(made, cell)
        low, high = np.quantile(joint[:, made.place(cell)], [0.025, 0.975])
        assert (low, high) == pytest.approx((found.low, found.high), abs=0.15 * (found.high - found.low))
    for records in (100, 400):
        found = difference(made, ("a", records), ("c", records))
        paired = joint[:, made.place(("a", records))] - joint[:, made.place(("c", records))]
        assert np.quantile(paired, [0.025, 0.975]) == pytest.approx(
            (found.low, found.high), abs=0.15 * (found.high - found.low)
        )
    again = draws(made, 20_000, np.random.default_rng(7))
    assert np.array_equal(joint, again)


def test_the_interval_of_a_share_ends_at_nothing_and_at_all():
    found = Estimate(99.0, 95.0, 103.0, 2.0, 20.0, 0.0, "items")
    assert found.within(100.0) == replace(found, high=100.0)
    assert replace(found, low=-1.0).within(100.0).low == 0
    assert replace(found, low=-140.0).within(100.0, -100.0).low == -100
    unknown = Estimate(100.0, None, None, None, None, None, "items", "no interval")
    assert unknown.within(100.0) == unknown

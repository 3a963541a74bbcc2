"""Means of people's answers with a judge's help: its equations, and how often intervals hold the truth."""

import numpy as np
import pytest

from sumcurve.statistics.prediction_powered import corrected

ITEMS, ANSWERED = 1000, 150


def answers(generator, slope=0.8, bias=0.7, noise=0.6, groups=None):
    """Answers of a judge to all items and of people to some; people's mean over all that could be drawn is 3."""
    names = np.arange(ITEMS) if groups is None else generator.integers(groups, size=ITEMS)
    shift = np.zeros(ITEMS) if groups is None else generator.normal(scale=0.5, size=groups)[names]
    people = 3 + shift + generator.normal(size=ITEMS)
    judge = bias + 3 + slope * (people - 3) + generator.normal(scale=noise, size=ITEMS)
    people[generator.permutation(ITEMS)[ANSWERED:]] = np.nan
    return judge, people, [str(name) for name in names]


def test_it_is_the_published_estimator_where_the_judge_is_trusted_and_items_are_drawn_alone():
    judge, people, names = answers(np.random.default_rng(1))
    here = np.isfinite(people)
    found = corrected(judge, people, names, weight=1.0).corrected
    gap = people[here] - judge[here]
    assert found.mean == pytest.approx(judge[~here].mean() + gap.mean())
    variance = judge[~here].var() / (ITEMS - ANSWERED) + gap.var() / ANSWERED
    assert found.error == pytest.approx(np.sqrt(variance * ANSWERED / (ANSWERED - 1)))
    tuned = corrected(judge, people, names)
    covariance = np.cov(people[here], judge[here], ddof=0)[0, 1]
    best = covariance / ANSWERED / (judge[here].var() / ANSWERED + judge[~here].var() / (ITEMS - ANSWERED))
    assert tuned.weight == pytest.approx(best)
    errors = [corrected(judge, people, names, weight=at).corrected.error for at in np.linspace(0, 1, 21)]
    assert tuned.corrected.error <= min(errors)


def test_without_weight_it_is_people_alone_whose_error_is_the_textbook_s():
    judge, people, names = answers(np.random.default_rng(2))
    found = corrected(judge, people, names, weight=0.0)
    own = people[np.isfinite(people)]
    assert found.corrected == found.people
    assert (found.people.mean, found.people.error) == pytest.approx((own.mean(), own.std(ddof=1) / np.sqrt(ANSWERED)))


@pytest.mark.parametrize("groups", [None, 60])
def test_intervals_hold_the_truth_as_often_as_they_say_and_are_narrower_with_a_judge_who_knows(groups):
    generator, held, widths = np.random.default_rng(3), [], []
    for _ in range(600):
        found = corrected(*answers(generator, groups=groups))
        held.append([one.low <= 3 <= one.high for one in (found.people, found.corrected)])
        widths.append([one.high - one.low for one in (found.people, found.corrected)])
    assert np.abs(np.mean(held, axis=0) - 0.95).max() < 0.03  # three standard errors are 0.027
    people, both = np.mean(widths, axis=0)
    assert both < 0.85 * people


def test_a_biased_judge_moves_nothing_and_one_who_knows_nothing_costs_nothing():
    generator, means, weights = np.random.default_rng(4), [], []
    for _ in range(300):
        found = corrected(*answers(generator, slope=0.0, bias=2.0))
        means.append(found.corrected.mean)
        weights.append(found.weight)
        assert found.corrected.error <= found.people.error
    assert np.mean(means) == pytest.approx(3, abs=3 * np.std(means) / np.sqrt(len(means)))
    assert np.mean(weights) < 0.1


def test_answers_to_all_items_need_no_judge():
    judge, people, names = answers(np.random.default_rng(5))
    people[:] = judge + 1
    found = corrected(judge, people, names)
    assert (found.weight, found.corrected) == (0.0, found.people)


@pytest.mark.parametrize(
    ("judge", "people", "message"),
    [([1.0, np.nan], [1.0, 2.0], "no answer for some"), ([1.0, 2.0], [1.0, np.nan], "1 items; it takes 2")],
)
def test_what_no_mean_can_be_had_of_is_refused(judge, people, message):
    with pytest.raises(ValueError, match=message):
        corrected(np.array(judge), np.array(people), ["a", "b"])


def test_few_groups_have_no_interval():
    generator = np.random.default_rng(6)
    found = corrected(*answers(generator, groups=5))
    assert found.corrected.low is None
    assert "5 groups" in found.corrected.why


def test_groups_of_answers_that_count_as_few_have_no_interval():
    judge, people, names = answers(np.random.default_rng(7))
    answered = np.flatnonzero(np.isfinite(people))
    for share, has_interval in ((0.3, True), (0.6, False)):
        grouped = [*map(str, names)]
        for place in answered[: round(share * len(answered))]:
            grouped[place] = "large"
        found = corrected(judge, people, grouped)
        assert (found.corrected.low is not None, found.people.low is not None) == (has_interval, has_interval)
        assert has_interval or "group 'large' holds 60 %" in found.corrected.why

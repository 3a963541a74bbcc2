"""Prediction-powered inference: means of people's answers, with less variance by a judge's answers to many more items.

People answer few items, a judge all. The mean over the judge's answers is corrected by how much it differs from people
where both answered (Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, Science 382, 669-674: mean estimation):

    mean = λ mean(judge, items without people) + mean(people - λ judge, items with people)

λ = 1 trusts the judge as theirs does, λ = 0 leaves it out. The λ of least variance is taken (Angelopoulos, Duchi and
Zrnic 2023, PPI++, section 6), here from sums over groups, between 0 and 1. A judge who is worthless then costs nothing;
one who is biased moves nothing. It takes that the items with people were drawn from all.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from sumcurve.statistics.groups import LEAST_EFFECTIVE, LEAST_GROUPS, Array, Groups
from sumcurve.statistics.intervals import ITEMS, Estimate


@dataclass(frozen=True)
class Corrected:
    """Estimates for one system, or for the difference of two: by people alone, and with the judge's answers.

    `judge` is the judge's mean over all items, `people` people's over theirs, `answered` items of `items`, and `weight`
    is λ. All are in the unit of the answers.
    """

    judge: float
    people: Estimate
    corrected: Estimate
    weight: float
    items: int
    answered: int


def corrected(
    judge: Array, people: Array, groups: Sequence[str], confidence: float = 0.95, weight: float | None = None
) -> Corrected:
    """Means over items ``[items]``; `people` is NaN where nobody answered, `groups` are drawn together.

    `weight` fixes λ. ValueError for lengths that differ, for a judge without an answer, and where fewer than 2 items
    have people's.
    """
    if not len(judge) == len(people) == len(groups):
        raise ValueError(f"{len(judge)} answers of the judge, {len(people)} of people and {len(groups)} groups")
    if not np.isfinite(judge).all():
        raise ValueError("the judge has no answer for some items; leave these out")
    by_people = np.isfinite(people)
    answered = int(by_people.sum())
    if answered < 2:
        raise ValueError(f"people answered {answered} items; it takes 2")
    names = Groups.of(groups)
    own = _deviations(names, people, by_people)
    of_judge = _deviations(names, judge, by_people)
    rest = _deviations(names, judge, ~by_people) - of_judge  # what λ adds
    if weight is None:
        square = float(rest @ rest)
        weight = float(np.clip(-(own @ rest) / square, 0.0, 1.0)) if square > 0 and not by_people.all() else 0.0
    alone = float(people[by_people].mean())
    beside = float(judge[~by_people].mean() - judge[by_people].mean()) if not by_people.all() else 0.0
    with_people = Groups.of([group for group, is_answered in zip(groups, by_people, strict=True) if is_answered])
    return Corrected(
        judge=float(judge.mean()),
        people=_estimate(alone, own, with_people, confidence),
        corrected=_estimate(alone + weight * beside, own + weight * rest, with_people, confidence),
        weight=weight,
        items=len(judge),
        answered=answered,
    )


def _deviations(groups: Groups, values: Array, here: np.ndarray) -> Array:
    """Contribution of each group to the error of the mean of the values `here`, ``[groups]``; zeros without any."""
    if not here.any():
        return np.zeros(groups.count)
    residuals = np.where(here, np.where(here, values, 0.0) - values[here].mean(), 0.0)
    return groups.sums(residuals) / here.sum()


def _estimate(mean: float, deviations: Array, groups: Groups, confidence: float) -> Estimate:
    """`groups` are those of people's answers, which are fewer: by them go degrees of freedom."""
    why = ""
    if groups.count < LEAST_GROUPS:
        why = f"no interval: people answered items of {groups.count} groups; it takes {LEAST_GROUPS}"
    elif groups.effective < LEAST_EFFECTIVE:
        why = f"no interval: people answered few groups: {groups.unequal}; it takes {LEAST_EFFECTIVE:g}"
    if why:
        return Estimate(mean, None, None, None, None, None, ITEMS, why)
    degrees = groups.count - 1.0
    error = float(np.sqrt(deviations @ deviations * groups.count / degrees))
    if error == 0:
        return Estimate(mean, None, None, None, None, None, ITEMS, "no interval: all answers are the same")
    reach = float(stats.t.isf((1 - confidence) / 2, degrees)) * error
    p = float(2 * stats.t.sf(abs(mean) / error, degrees))
    return Estimate(mean, mean - reach, mean + reach, error, degrees, p, ITEMS)

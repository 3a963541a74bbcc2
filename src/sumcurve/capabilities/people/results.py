"""Results of human judgements: agreement, accuracy of each system, and properties of contrasts.

Shares are in percent. Intervals and tests are those of the tables: groups of records are drawn together
(`statistics.design`); of coefficients of agreement the bootstrap's over groups (`statistics.agreement`). Differences
are paired over records; their p values are corrected over all pairs of systems (Holm, 1979), and so are the intervals.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations

import numpy as np

from sumcurve.capabilities.people.answers import Answers
from sumcurve.capabilities.people.protocols import GOOD
from sumcurve.capabilities.people.sheets import AGAIN, MAIN, PILOT
from sumcurve.settings.study import Bootstrap
from sumcurve.statistics.agreement import Agreement, cohens_kappa, krippendorffs_alpha
from sumcurve.statistics.design import Design, Replicates
from sumcurve.statistics.family import deciding_levels
from sumcurve.statistics.intervals import Estimate, difference, estimate
from sumcurve.statistics.ungrouped import holm, holm_steps

PERCENT = 100.0
ALL_RULES = "all rules"


@dataclass(frozen=True)
class Share:
    """Outcomes of one system, or one rule: their counts, and the share that is good, or has an issue, in percent."""

    name: str
    counts: Mapping[str, int]
    share: Estimate


@dataclass(frozen=True)
class Difference:
    """First minus second system in points; `p` is corrected over all pairs, None where no test is made.

    The `difference` has its pointwise interval; `interval` is that of the test (`family.deciding_levels`).
    """

    first: str
    second: str
    difference: Estimate
    p: float | None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Agreed:
    """Agreement on the outcome: the annotators compared, and the coefficient."""

    whose: str
    coefficient: str
    agreement: Agreement


@dataclass(frozen=True)
class Results:
    """All results, over so many records (or contrasts); `left_out` counts those where an answer is missing."""

    records: int
    left_out: int
    shares: Sequence[Share]
    differences: Sequence[Difference]
    agreements: Sequence[Agreed]


def results(answers: Answers, settings: Bootstrap) -> Results:
    """Shares, differences and agreement of all answers."""
    if answers.key.protocol.by_source:
        whole, left_out = answers.complete()
        if whole:
            shares, differences = _systems(answers, whole, settings)
            return Results(len(whole), left_out, shares, differences, agreements(answers, settings))
        return Results(0, left_out, [], [], agreements(answers, settings))
    codes = [code for code in answers.key.codes(MAIN) if code in answers.given]
    shares = [share for rule in ("", *answers.key.of) if (share := _share(answers, rule, codes, settings)) is not None]
    judged, sent = ({answers.key.entries[code].unit for code in of} for of in (codes, answers.key.codes(MAIN)))
    return Results(len(judged), len(sent) - len(judged), shares, [], agreements(answers, settings))


def _systems(
    answers: Answers, whole: Mapping[str, Mapping[str, Sequence[str]]], settings: Bootstrap
) -> tuple[list[Share], list[Difference]]:
    """Accuracy (Wei et al., 2018): the share of summaries that pass all three checks, on the same records.

    Where several annotators judged a summary, the share is the mean over them.
    """
    records = sorted(whole)
    groups = [answers.key.entries[next(iter(whole[record].values()))[0]].group for record in records]
    outcomes = {
        name: [[answers.outcome(code) for code in whole[record][name]] for record in records] for name in answers.key.of
    }
    replicates = [
        Replicates(name, None, (), PERCENT * np.array([[judged.count(GOOD) / len(judged) for judged in column]]))
        for name, column in outcomes.items()
    ]
    design = Design(replicates, groups, None, settings.confidence)
    shares = [
        Share(name, dict(Counter(chain.from_iterable(column))), estimate(design, (name, None)).within(PERCENT))
        for name, column in outcomes.items()
    ]
    pairs = [
        Difference(first, second, difference(design, (first, None), (second, None)), None)
        for first, second in combinations(outcomes, 2)
    ]
    testable = [place for place, pair in enumerate(pairs) if pair.difference.p is not None]
    p_values = np.array([pairs[place].difference.p for place in testable], dtype=float)
    levels = deciding_levels(p_values, holm_steps(len(testable), 1 - settings.confidence)).tolist()
    for place, p, level in zip(testable, holm(p_values).tolist(), levels, strict=True):
        ends = pairs[place].difference.interval(level)
        within = ends and (max(-PERCENT, ends[0]), min(PERCENT, ends[1]))
        pairs[place] = replace(pairs[place], p=p, interval=within)
    return shares, [replace(pair, difference=pair.difference.within(PERCENT, -PERCENT)) for pair in pairs]


def _share(answers: Answers, rule: str, judged: Sequence[str], settings: Bootstrap) -> Share | None:
    """Share of judgements that found an issue in the contrasts of a rule, or of all ("").

    Contrasts judged by several annotators count with each judgement; those of one record are drawn together.
    """
    codes = [code for code in judged if rule in ("", answers.key.entries[code].of[0])]
    if not codes:
        return None
    outcomes = [answers.outcome(code) for code in codes]
    none = answers.key.protocol.outcomes[-1]
    issues = PERCENT * np.array([[outcome != none for outcome in outcomes]], dtype=float)
    groups = [answers.key.entries[code].group for code in codes]
    name = rule or ALL_RULES
    design = Design([Replicates(name, None, (), issues)], groups, None, settings.confidence)
    return Share(name, dict(Counter(outcomes)), estimate(design, (name, None)).within(PERCENT))


def agreements(answers: Answers, settings: Bootstrap) -> list[Agreed]:
    """Agreement of each annotator with themselves (pilot, judged twice), of every two, and of all, on shared texts."""
    annotators = sorted({entry.annotator for entry in answers.key.entries.values()})
    rows: list[Agreed] = []
    for annotator in annotators:
        twice = [answers.outcomes(when, annotator) for when in (PILOT, AGAIN)]
        rows += _agreed(answers, f"{annotator} twice, pilot", twice, settings)
    for when in (PILOT, MAIN):
        outcomes = {annotator: answers.outcomes(when, annotator) for annotator in annotators}
        for first, second in combinations(annotators, 2):
            rows += _agreed(answers, f"{first} and {second}, {when}", [outcomes[first], outcomes[second]], settings)
        rows += _agreed(answers, f"all annotators, {when}", list(outcomes.values()), settings)[-1:]
    return rows


def _agreed(
    answers: Answers, whose: str, by_rater: Sequence[Mapping[str, tuple[str, str]]], settings: Bootstrap
) -> list[Agreed]:
    """Kappa of two raters, and alpha, of outcomes by text (`Answers.outcomes`); empty where no text has two raters."""
    counts = Counter(unit for outcomes in by_rater for unit in outcomes)
    units = sorted(unit for unit, count in counts.items() if count > 1)
    if not units:
        return []
    codes = [next(outcomes[unit][0] for outcomes in by_rater if unit in outcomes) for unit in units]
    groups = [answers.key.entries[code].group for code in codes]
    judged = [{str(rater): of[unit][1] for rater, of in enumerate(by_rater) if unit in of} for unit in units]
    alpha = Agreed(whose, "Krippendorff's alpha", krippendorffs_alpha(judged, groups, settings))
    if len(by_rater) != 2:
        return [alpha]
    first, second = ([outcomes[unit][1] for unit in units] for outcomes in by_rater)
    return [Agreed(whose, "Cohen's kappa", cohens_kappa(first, second, groups, settings)), alpha]

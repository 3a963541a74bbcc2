"""What people's answers say: how far they agree, how good each system is, what contrasts are like.

Shares are in percent. Intervals and tests are those of the tables: groups of records are drawn together
(`statistics.design`); of coefficients of agreement the bootstrap's over groups (`statistics.agreement`). Differences
are paired over records; their p values are corrected over all pairs of systems (Holm, 1979), and so are the intervals.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

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
    """One system, or one rule: how often each outcome came, and what share is good, or has an issue, in percent."""

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
    """Agreement on the outcome: whose, and by which coefficient."""

    whose: str
    coefficient: str
    agreement: Agreement


@dataclass(frozen=True)
class Results:
    """All of it, over so many records (or contrasts); `left_out` counts those where an answer is missing."""

    records: int
    left_out: int
    shares: Sequence[Share]
    differences: Sequence[Difference]
    agreements: Sequence[Agreed]

    @property
    def of_all_rules(self) -> list[Share]:
        """Of contrasts, the share of all rules together."""
        return [share for share in self.shares if share.name == ALL_RULES]


def results(answers: Answers, settings: Bootstrap) -> Results:
    """Shares, differences and agreement of all that was answered."""
    if answers.key.protocol.by_source:
        whole, left_out = answers.complete()
        if whole:
            shares, differences = _systems(answers, whole, settings)
            return Results(len(whole), left_out, shares, differences, agreements(answers, settings))
        return Results(0, left_out, [], [], agreements(answers, settings))
    codes = [code for code in answers.key.codes(MAIN) if code in answers.given]
    by_rule = [_share(answers, rule, codes, settings) for rule in ("", *answers.key.of)]
    judged, asked = ({answers.key.entries[code].unit for code in of} for of in (codes, answers.key.codes(MAIN)))
    found = [share for share in by_rule if share is not None]
    return Results(len(judged), len(asked) - len(judged), found, [], agreements(answers, settings))


def _systems(
    answers: Answers, whole: Mapping[str, Mapping[str, str]], settings: Bootstrap
) -> tuple[list[Share], list[Difference]]:
    """Accuracy (Wei et al., 2018): the share of summaries that pass all three checks, on the same records."""
    records = sorted(whole)
    groups = [answers.key.entries[next(iter(whole[record].values()))].group for record in records]
    outcomes = {name: [answers.outcome(whole[record][name]) for record in records] for name in answers.key.of}
    replicates = [
        Replicates(name, None, (), PERCENT * np.array([[one == GOOD for one in found]], dtype=float))
        for name, found in outcomes.items()
    ]
    design = Design(replicates, groups, None, settings.confidence)
    shares = [
        Share(name, dict(Counter(found)), estimate(design, (name, None)).within(PERCENT))
        for name, found in outcomes.items()
    ]
    pairs = [(one, two, difference(design, (one, None), (two, None))) for one, two in combinations(outcomes, 2)]
    testable = [place for place, (_, _, found) in enumerate(pairs) if found.p is not None]
    p_values = np.array([pairs[place][2].p for place in testable], dtype=float)
    levels = deciding_levels(p_values, holm_steps(len(testable), 1 - settings.confidence)).tolist()
    differences = [Difference(*pair, None) for pair in pairs]
    for place, p, level in zip(testable, holm(p_values).tolist(), levels, strict=True):
        differences[place] = replace(differences[place], p=p, interval=differences[place].difference.interval(level))
    return shares, differences


def _share(answers: Answers, rule: str, judged: Sequence[str], settings: Bootstrap) -> Share | None:
    """What is wrong with the contrasts of a rule, or of all (""): the share of judgements that found an issue.

    What several annotators judged counts with each judgement; those of one record are drawn together.
    """
    codes = [code for code in judged if rule in ("", answers.key.entries[code].of[0])]
    if not codes:
        return None
    found = [answers.outcome(code) for code in codes]
    issues = PERCENT * np.array([[one != answers.key.protocol.outcomes[-1] for one in found]], dtype=float)
    groups = [answers.key.entries[code].group for code in codes]
    name = rule or ALL_RULES
    design = Design([Replicates(name, None, (), issues)], groups, None, settings.confidence)
    return Share(name, dict(Counter(found)), estimate(design, (name, None)).within(PERCENT))


def agreements(answers: Answers, settings: Bootstrap) -> list[Agreed]:
    """Of each annotator with themselves (pilot, judged twice), of every two, and of all, on texts that both judged."""
    annotators = sorted({entry.annotator for entry in answers.key.entries.values()})
    found = []
    for annotator in annotators:
        first, again = (answers.outcomes(when, annotator) for when in (PILOT, AGAIN))
        found += _pair(answers, f"{annotator} twice, pilot", first, again, settings)
    for when in (PILOT, MAIN):
        by = {annotator: answers.outcomes(when, annotator) for annotator in annotators}
        for one, two in combinations(annotators, 2):
            found += _pair(answers, f"{one} and {two}, {when}", by[one], by[two], settings)
        units = sorted({unit for judged in by.values() for unit in judged})
        together = [{who: judged[unit][1] for who, judged in by.items() if unit in judged} for unit in units]
        if len(annotators) > 1 and any(len(one) > 1 for one in together):
            codes = [next(judged[unit][0] for judged in by.values() if unit in judged) for unit in units]
            groups = [answers.key.entries[code].group for code in codes]
            alpha = krippendorffs_alpha(together, groups, settings)
            found.append(Agreed(f"all annotators, {when}", "Krippendorff's alpha", alpha))
    return found


def _pair(
    answers: Answers,
    whose: str,
    first: Mapping[str, tuple[str, str]],
    second: Mapping[str, tuple[str, str]],
    settings: Bootstrap,
) -> list[Agreed]:
    units = sorted(first.keys() & second.keys())
    if not units:
        return []
    groups = [answers.key.entries[first[unit][0]].group for unit in units]
    one, two = ([judged[unit][1] for unit in units] for judged in (first, second))
    coefficients: list[tuple[str, Callable[[], Agreement]]] = [
        ("Cohen's kappa", lambda: cohens_kappa(one, two, groups, settings)),
        (
            "Krippendorff's alpha",
            lambda: krippendorffs_alpha(
                [{"first": a, "second": b} for a, b in zip(one, two, strict=True)], groups, settings
            ),
        ),
    ]
    return [Agreed(whose, name, make()) for name, make in coefficients]

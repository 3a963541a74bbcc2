"""A judge's answers to many items, corrected by people's to some: systems and their paired differences."""

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from sumcurve.capabilities.people.protocols import PeopleError
from sumcurve.machine.counts import counted
from sumcurve.machine.numbers import finite
from sumcurve.machine.spelling import no_file
from sumcurve.statistics.correlation import correlation
from sumcurve.statistics.groups import Array, Groups
from sumcurve.statistics.intervals import Estimate
from sumcurve.statistics.prediction_powered import Corrected, corrected
from sumcurve.statistics.ungrouped import holm, holm_steps

NEEDED = ("item", "system", "judge", "people")
LEVEL = 0.05  # of the family of all pairs


@dataclass(frozen=True)
class Judged:
    """Answers ``[systems, items]``; people's are NaN where there are none."""

    systems: list[str]
    groups: list[str]
    judge: Array
    people: Array
    items: list[str]


def read(path: Path) -> Judged:
    """The answers of a CSV with the columns `item`, `system`, `judge` and `people`, and `group` where items have one.

    PeopleError by line for a value that is no number, and for an item that a system lacks or has twice.
    """
    if not path.is_file():
        raise PeopleError(no_file(path))
    judge: dict[str, dict[str, float]] = {}
    people: dict[str, dict[str, float]] = {}
    groups: dict[str, str] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream)
            if missing := [name for name in NEEDED if name not in (rows.fieldnames or ())]:
                raise PeopleError(f"{path}: no column {', '.join(missing)}; it needs {', '.join(NEEDED)}")
            for row in rows:
                where = f"{path}:{rows.line_num}"
                item, system = row["item"], row["system"]
                if not item or not system:
                    raise PeopleError(f"{where}: no item or no system; fill the cell")
                if item in judge.setdefault(system, {}):
                    raise PeopleError(f"{where}: {system} has item {item} twice; leave one out")
                if groups.setdefault(item, row.get("group") or item) != (row.get("group") or item):
                    raise PeopleError(f"{where}: item {item} is of group {groups[item]} above; correct one")
                judge[system][item] = _number(row["judge"], where, "judge")
                answer = (row["people"] or "").strip()
                people.setdefault(system, {})[item] = _number(answer, where, "people") if answer else math.nan
    except (UnicodeDecodeError, csv.Error) as error:
        raise PeopleError(f"{path}: no CSV in UTF-8 ({error}); save it as one") from None
    if not judge:
        raise PeopleError(f"{path}: no row; it needs {', '.join(NEEDED)}")
    for system, answers in judge.items():
        if lacking := next((item for item in groups if item not in answers), None):
            raise PeopleError(f"{path}: {system} lacks item {lacking}, which others have; add it or leave the item out")
    grades, given = (np.array([[of[system][item] for item in groups] for system in judge]) for of in (judge, people))
    return Judged([*judge], [*groups.values()], grades, given, [*groups])


def _number(text: str | None, where: str, column: str) -> float:
    number = finite(text)
    if number is None:
        raise PeopleError(f"{where}: {column} holds {text!r}, no number; write one")
    return number


def report(judged: Judged) -> Iterator[str]:
    """Sentences and rows for people."""
    sizes = (len(judged.systems), "system"), (judged.judge.shape[1], "item"), (len(set(judged.groups)), "group")
    systems, items, groups = (counted(*size) for size in sizes)
    yield (
        f"{systems}, {items} in {groups}. "
        "Corrected: people's mean, made surer by the judge (prediction-powered, weight λ); 95 % intervals."
    )
    yield "It takes that the items which people answered were drawn from all."
    width = max(map(len, judged.systems))
    yield f"{'':{width}}  {'judge':>8}  {'people':>26}  {'corrected':>26}  {'λ':>5}  answered"
    for system, judge, people in zip(judged.systems, judged.judge, judged.people, strict=True):
        means = _corrected(system, judge, people, judged.groups)
        yield (
            f"{system:{width}}  {means.judge:8.3f}  {_shown(means.people):>26}  {_shown(means.corrected):>26}  "
            f"{means.weight:5.2f}  {means.answered:,} of {means.items:,}"
        )
    yield "Agreement on the items that both answered: Spearman's ρ, 95 % interval over groups:"
    for system, judge, people in zip(judged.systems, judged.judge, judged.people, strict=True):
        yield f"{system:{width}}  {_agreement(judge, people, judged.groups)}"
    pairs = list(combinations(range(len(judged.systems)), 2))
    if not pairs:
        return
    differences = []
    for first, second in pairs:
        names = f"{judged.systems[first]} minus {judged.systems[second]}"
        judge, people = (table[first] - table[second] for table in (judged.judge, judged.people))
        differences.append((names, _corrected(names, judge, people, judged.groups)))
    tested = [means.corrected.p for _, means in differences]
    p_values = holm([1.0 if p is None else p for p in tested])
    levels = dict(zip(np.argsort(p_values, kind="stable"), holm_steps(len(pairs), LEVEL), strict=True))
    yield f"Differences on the same items; p and intervals corrected over {len(pairs)} (Holm):"
    for place, (names, means) in enumerate(differences):
        interval = means.corrected.interval(levels[place])
        ends = f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else f" ({means.corrected.why})"
        p = "no test" if tested[place] is None else f"p {p_values[place]:.2g}"
        yield f"{names}: {means.corrected.mean:.3f}{ends}, {p}; by people alone {_shown(means.people)}"


def _corrected(name: str, judge: Array, people: Array, groups: list[str]) -> Corrected:
    try:
        return corrected(judge, people, groups)
    except ValueError as error:
        raise PeopleError(f"{name}: {error}") from None


def _agreement(judge: Array, people: Array, groups: list[str]) -> str:
    both = np.isfinite(people)
    if not both.any():
        return "–"
    names = Groups.of([group for group, answered in zip(groups, both, strict=True) if answered])
    agreed = correlation(judge[both], people[both], names, "spearman")
    if agreed.value is None:
        return "– (one of both does not vary)"
    ends = "no interval" if agreed.low is None else f"[{agreed.low:.2f}, {agreed.high:.2f}]"
    return f"{agreed.value:.2f} {ends}"


def _shown(estimate: Estimate) -> str:
    if estimate.low is None:
        return f"{estimate.mean:.3f} ({estimate.why})"
    return f"{estimate.mean:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"

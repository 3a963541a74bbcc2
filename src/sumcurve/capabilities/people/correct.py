"""Answers of an automatic judge to many items, corrected by people's to some: systems and paired differences."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from sumcurve.capabilities.people.protocols import PeopleError
from sumcurve.files.errors import FileError
from sumcurve.files.layout import Layout
from sumcurve.files.sheet import read_sheet
from sumcurve.machine.counts import counted
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
    guesses: list[str] = field(default_factory=list)  # of the file, in sentences


def read(path: Path, layout: Layout | None = None) -> Judged:
    """The answers of a table with the columns `item`, `system`, `judge` and `people`, and `group` where items have one.

    FileError by line for a value that is no number, and for an item that is missing or repeated for a system.
    """
    judge: dict[str, dict[str, float]] = {}
    people: dict[str, dict[str, float]] = {}
    groups: dict[str, str] = {}
    sheet = read_sheet(path, layout)
    if missing := [name for name in NEEDED if name not in sheet.columns]:
        raise FileError(f"{path}: no column {', '.join(missing)}; it needs {', '.join(NEEDED)}")
    for line in sheet.lines:
        item, system = line.text("item"), line.text("system")
        if item in judge.setdefault(system, {}):
            raise FileError(f"{line.place}: {system} has item {item} twice; leave one out")
        group = line.cells.get("group") or item
        if groups.setdefault(item, group) != group:
            raise FileError(f"{line.place}: item {item} is of group {groups[item]} above; correct one")
        judge[system][item] = float(line.number("judge"))
        people.setdefault(system, {})[item] = float(line.number("people")) if line.cells["people"] else math.nan
    for system, answers in judge.items():
        if lacking := next((item for item in groups if item not in answers), None):
            raise FileError(f"{path}: {system} lacks item {lacking}, which others have; add it or leave the item out")
    grades, given = (np.array([[of[system][item] for item in groups] for system in judge]) for of in (judge, people))
    return Judged([*judge], [*groups.values()], grades, given, [*sheet.guesses])


@dataclass(frozen=True)
class Difference:
    """First minus second system on the same items; `p` and `interval` are corrected over all pairs (Holm)."""

    first: str
    second: str
    means: Corrected
    p: float | None
    interval: tuple[float, float] | None


def means(judged: Judged) -> dict[str, Corrected]:
    """Every system's means, by people alone and corrected."""
    return {
        system: _corrected(system, judge, people, judged.groups)
        for system, judge, people in zip(judged.systems, judged.judge, judged.people, strict=True)
    }


def differences(judged: Judged) -> list[Difference]:
    """Differences of all pairs of systems."""
    pairs = list(combinations(range(len(judged.systems)), 2))
    compared = []
    for first, second in pairs:
        names = f"{judged.systems[first]} minus {judged.systems[second]}"
        judge, people = (table[first] - table[second] for table in (judged.judge, judged.people))
        compared.append(_corrected(names, judge, people, judged.groups))
    tested = [of.corrected.p for of in compared]
    p_values = holm([1.0 if p is None else p for p in tested]) if pairs else np.empty(0)
    levels = dict(zip(np.argsort(p_values, kind="stable"), holm_steps(len(pairs), LEVEL), strict=True))
    return [
        Difference(
            judged.systems[first],
            judged.systems[second],
            of,
            None if tested[place] is None else float(p_values[place]),
            of.corrected.interval(levels[place]),
        )
        for place, ((first, second), of) in enumerate(zip(pairs, compared, strict=True))
    ]


def content(systems: Mapping[str, Corrected], pairs: Sequence[Difference]) -> dict[str, Any]:
    """Systems and differences as plain values."""
    return {
        "systems": [{"system": system} | asdict(of) for system, of in systems.items()],
        "differences": [asdict(pair) for pair in pairs],
    }


def report(judged: Judged, systems: Mapping[str, Corrected], pairs: Sequence[Difference]) -> Iterator[str]:
    """Sentences and rows for people."""
    sizes = (len(judged.systems), "system"), (judged.judge.shape[1], "item"), (len(set(judged.groups)), "group")
    count, items, groups = (counted(*size) for size in sizes)
    yield (
        f"{count}, {items} in {groups}. "
        "Corrected: people's mean, with less variance by the judge (prediction-powered, weight λ); 95 % intervals."
    )
    yield "It takes that the items which people answered were drawn from all."
    width = max(map(len, judged.systems))
    yield f"{'':{width}}  {'judge':>8}  {'people':>26}  {'corrected':>26}  {'λ':>5}  answered"
    for system, of in systems.items():
        yield (
            f"{system:{width}}  {of.judge:8.3f}  {_shown(of.people):>26}  {_shown(of.corrected):>26}  "
            f"{of.weight:5.2f}  {of.answered:,} of {of.items:,}"
        )
    yield "Agreement on the items that both answered: Spearman's ρ, 95 % interval over groups:"
    for system, judge, people in zip(judged.systems, judged.judge, judged.people, strict=True):
        yield f"{system:{width}}  {_agreement(judge, people, judged.groups)}"
    if pairs:
        yield f"Differences on the same items; p and intervals corrected over {len(pairs)} (Holm):"
    for pair in pairs:
        surer = pair.means.corrected
        ends = f" [{pair.interval[0]:.3f}, {pair.interval[1]:.3f}]" if pair.interval else f" ({surer.why})"
        p = "no test" if pair.p is None else f"p {pair.p:.2g}"
        names = f"{pair.first} minus {pair.second}"
        yield f"{names}: {surer.mean:.3f}{ends}, {p}; by people alone {_shown(pair.means.people)}"


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

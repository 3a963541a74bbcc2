"""Verdicts of a metric's rows, from its items and the thresholds alone, so that they can be recomputed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sumcurve.capabilities.exam.perturbations import PERTURBATIONS
from sumcurve.capabilities.exam.rows import Item
from sumcurve.capabilities.exam.table import OF_PEOPLE, Row, Verdict
from sumcurve.capabilities.exam.thresholds import Rule, thresholds
from sumcurve.scores.scorer import Claim
from sumcurve.statistics.design import Design, Replicates
from sumcurve.statistics.groups import Array, Groups
from sumcurve.statistics.intervals import estimate
from sumcurve.statistics.metric_agreement import Draws, Level, by_items, correlations, interval
from sumcurve.statistics.ungrouped import holm

LACKS = {
    "repeats": "no texts, or answers that are kept",
    "human": "not all records have a source and two references",
    "lead": "not all records have a source and two references",
    "dodges": "not all records have a source, or no broken texts",
    "dodges_by_source": "not all records have a source, or no broken texts",
    "copied": "no sources",
    "length": "no summaries by systems",
    "people": "no judgements by people",
    "people_systems": "no judgements by people",
    "people_given_length": "no judgements by people",
}
FEWEST = 4  # systems, without which there is no correlation over them: of three, a ninth of all draws has one alone


@dataclass(frozen=True)
class Grid:
    """Values of a row ``[systems, documents]``, and, where present, people's scores and numbers of words.

    `groups` name the group of every document. `left_out` counts the items, of `items`, of documents for which a system
    has no value.
    """

    values: Array
    people: Array | None
    lengths: Array | None
    groups: tuple[str, ...]
    left_out: int
    items: int

    def draws(self) -> Draws:
        """Bootstrap draws of systems and documents."""
        rules = thresholds()
        places = {name: place for place, name in enumerate(dict.fromkeys(self.groups))}
        groups = tuple(places[name] for name in self.groups)
        return Draws.crossed(*self.values.shape, rules.draws, rules.seed, groups)


def rows_of(items: Iterable[Item], claim: Claim) -> list[Row]:
    """All rows of a metric with this claim, in the order of the thresholds."""
    by_row: dict[str, dict[str, list[Item]]] = {}
    for item in items:
        by_row.setdefault(item.row, {}).setdefault(item.part, []).append(item)
    rows = [row for name, rule in thresholds().rows.items() for row in _rows(name, rule, by_row, claim)]
    tested = [place for place, row in enumerate(rows) if row.p is not None]
    adjusted = holm([float(rows[place].p or 0) for place in tested]).tolist() if tested else []
    for place, p in zip(tested, adjusted, strict=True):
        row = rows[place]
        if row.verdict == "undecided" and p < thresholds().level and row.value is not None:
            row = replace(row, verdict="passed" if row.value > row.threshold else "failed")
        rows[place] = replace(row, p=p)
    return rows


def _rows(name: str, rule: Rule, by_row: dict[str, dict[str, list[Item]]], claim: Claim) -> list[Row]:
    parts = by_row.get("people" if name == "length" or name in OF_PEOPLE else name, {})
    if name in OF_PEOPLE:
        parts = {part: items for part, items in parts.items() if part}
    elif name == "length":
        parts = dict(list(parts.items())[:1])
    if not parts:
        why = f"claims {claim}" if claim not in rule.claims else LACKS.get(name, "no texts to compare")
        return [Row(name, "", rule.threshold, "not applicable", why)]
    rows = []
    for part, items in parts.items():
        grid = grid_of(items)
        row = _row(name, "" if name == "length" else part, rule, grid, claim)
        if grid.left_out:
            says = f"{grid.left_out} of {grid.items} items left out: no value"
            row = replace(row, why="; ".join(filter(None, (row.why, says))))
        rows.append(row)
    return rows


def _row(name: str, part: str, rule: Rule, grid: Grid, claim: Claim) -> Row:
    systems, documents = grid.values.shape
    row = Row(name, part, rule.threshold, "undecided", systems=systems, documents=documents)
    if not documents:
        return replace(row, verdict="not applicable")
    if name == "repeats":
        most = float(grid.values.max())
        return replace(row, value=most, verdict="passed" if most <= rule.threshold else "failed")
    if (name == "length" or name in OF_PEOPLE) and systems < FEWEST:
        return replace(row, verdict="not applicable", why=f"{systems} systems: it takes {FEWEST}")
    by_document, used = _by_document(name, grid)
    if name in OF_PEOPLE:
        value, low, high, p = _drawn(name, grid, rule)
    else:
        value, low, high, p = _estimated(by_document, used, rule.threshold, 2 if name == "length" else 1)
    row = replace(row, value=value, low=low, high=high, documents=len(used))
    about = thresholds().people.get(part, ()) if name in OF_PEOPLE else rule.claims
    if claim not in rule.claims or claim not in about:
        return replace(row, verdict="not applicable", why=f"claims {claim}")
    if name in PERTURBATIONS and float(part) != thresholds().dose:
        return replace(row, verdict="shown", why="another dose has the verdict")
    if row.value is None:
        verdict, why = _undefined(name, grid)
        return replace(row, verdict=verdict, why=why)
    if few := _too_few(name, systems, used):
        return replace(row, why=few)
    if p is None:
        return replace(row, why="too few draws in which both vary")
    return replace(row, p=p)


Numbers = tuple[float | None, float | None, float | None, float | None]  # value, ends of its interval, p


def _by_document(name: str, grid: Grid) -> tuple[Array, list[str]]:
    """Values whose mean is a row's value, by document, of these systems, and the groups of these documents."""
    if name == "people_systems" or (name not in OF_PEOPLE and name != "length"):
        return grid.values.mean(axis=0), list(grid.groups)
    beside = grid.lengths if name == "length" else grid.people
    assert beside is not None
    values = by_items(grid.values, beside, "spearman" if name == "length" else "kendall")
    varies = ~np.isnan(values)
    values = values[varies]
    used = [group for group, here in zip(grid.groups, varies.tolist(), strict=True) if here]
    return (1 - np.sign(values.mean()) * values if name == "length" and used else values), used


def _estimated(by_document: Array, groups: list[str], threshold: float, most: float) -> Numbers:
    """The mean over documents, from 0 to `most` each: Student's t over groups of documents (`statistics.groups`)."""
    if not groups:
        return None, None, None, None
    above = Replicates("metric", None, (), by_document[None] - threshold)
    estimated = estimate(Design([above], groups, None), ("metric", None))
    value = threshold + estimated.mean
    if estimated.low is None or estimated.high is None:
        # All alike (of other reasons `_too_few` says more). Were the mean at the threshold, a group would have this
        # value or one beyond it with a chance of `share` at most (Markov's inequality).
        share = 1.0
        if abs(value - threshold) > 1e-9:
            share = threshold / value if value > threshold else (most - threshold) / (most - value)
        return value, value, value, min(1.0, 2 * share ** len({*groups}))
    return value, max(0.0, threshold + estimated.low), min(1.0, threshold + estimated.high), estimated.p


def _drawn(name: str, grid: Grid, rule: Rule) -> Numbers:
    """A correlation with people, over draws of systems and documents."""
    assert grid.people is not None
    level: Level = "system" if name == "people_systems" else "summary"
    given = grid.lengths if name == "people_given_length" else None
    values = correlations(grid.values, grid.people, level, grid.draws(), given, ("kendall",))["kendall"]
    low, high = interval(values)
    if np.isnan(low):
        return _number(values[0]), None, None, None
    drawn = values[1:][~np.isnan(values[1:])]
    tails = [int((drawn <= rule.threshold).sum()), int((drawn >= rule.threshold).sum())]
    return _number(values[0]), low, high, min(1.0, 2 * (min(tails) + 1) / (len(drawn) + 1))


def _too_few(name: str, systems: int, used: list[str]) -> str:
    """Explain why the documents of these groups are too few for a verdict; empty where they are enough."""
    groups = Groups.of(used)
    if name in OF_PEOPLE and systems < thresholds().fewest_systems:
        return f"{systems} systems: a verdict takes {thresholds().fewest_systems}"
    if groups.count < thresholds().fewest_documents:
        return f"{groups.count} documents or groups: a verdict takes {thresholds().fewest_documents}"
    return groups.why


def _undefined(name: str, grid: Grid) -> tuple[Verdict, str]:
    """Verdict and reason where the data have no statistic."""

    def constant(values: Array | None) -> bool:
        return values is not None and bool(np.ptp(values, axis=0).max() == 0)

    if name in OF_PEOPLE and constant(grid.people):
        return "undecided", "people's scores do not vary"
    if name == "length" and constant(grid.lengths):
        return "undecided", "the number of words does not vary"
    if constant(grid.values):
        return "failed", "the metric does not vary"
    if name == "people_given_length":
        return "failed", "the number of words explains it whole"
    return "undecided", "no document in which both vary"


def grid_of(items: Sequence[Item]) -> Grid:
    """Means of the items of every system and document; ValueError for a system and document without an item.

    Documents for which a system has no value are left out.
    """
    systems, documents = (
        list(dict.fromkeys(names)) for names in zip(*((i.system, i.document) for i in items), strict=True)
    )
    rows = {name: place for place, name in enumerate(systems)}
    columns = {name: place for place, name in enumerate(documents)}
    counts, every = np.zeros((2, len(systems), len(documents)))
    sums = {name: np.zeros_like(counts) for name in ("value", "people", "length")}
    for item in items:
        at = rows[item.system], columns[item.document]
        every[at] += 1
        if item.value is not None:
            counts[at] += 1
            for name, of in sums.items():
                of[at] += getattr(item, name) or 0
    if (every == 0).any():
        system, document = (int(axis[0]) for axis in np.nonzero(every == 0))
        raise ValueError(
            f"row {items[0].row}: no item of system {systems[system]!r} and document {documents[document]!r}"
        )
    whole = (counts > 0).all(axis=0)
    documents = [documents[place] for place in np.flatnonzero(whole).tolist()]
    grids = {name: of[:, whole] / counts[:, whole] for name, of in sums.items()}
    has = {name: getattr(items[0], name) is not None for name in sums}
    names = {item.document: item.group or f"document {item.document}" for item in items}
    people, lengths = (grids[name] if has[name] else None for name in ("people", "length"))
    left_out = len(items) - int(counts[:, whole].sum())
    groups = tuple(names[document] for document in documents)
    return Grid(grids["value"], people, lengths, groups, left_out, len(items))


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)

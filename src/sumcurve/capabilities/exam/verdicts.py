"""Verdicts of a metric's rows, from its items and the thresholds alone, so that anyone can compute them again."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sumcurve.capabilities.exam.correlations import Draws, Level, correlations, interval, means
from sumcurve.capabilities.exam.perturbations import PERTURBATIONS
from sumcurve.capabilities.exam.rows import Item
from sumcurve.capabilities.exam.table import OF_PEOPLE, Row, Verdict
from sumcurve.capabilities.exam.thresholds import Rule, thresholds
from sumcurve.scores.scorer import Claim
from sumcurve.statistics.groups import Array
from sumcurve.statistics.ungrouped import holm

LACKS = {
    "repeats": "no texts, or answers that are kept",
    "human": "no sources with two references",
    "lead": "no sources with two references",
    "dodges": "no sources with broken texts",
    "dodges_by_source": "no sources with broken texts",
    "copied": "no sources",
    "length": "no summaries by systems",
    "people": "no judgements by people",
    "people_systems": "no judgements by people",
    "people_given_length": "no judgements by people",
}
FEWEST = 4  # systems, without which there is no correlation over them: of three, a ninth of all draws has one alone


@dataclass(frozen=True)
class Grid:
    """Values of a row ``[systems, documents]``, and where it has them people's scores and numbers of words.

    `groups` say of every document which group it is of, counted from 0. `left_out` counts items of documents that lack
    a value of some system, of `items`.
    """

    values: Array
    people: Array | None
    lengths: Array | None
    groups: tuple[int, ...]
    left_out: int
    items: int

    def draws(self, fixed: bool = False) -> Draws:
        """Of documents, and of systems unless these are `fixed`."""
        rules = thresholds()
        count = rules.draws if fixed else rules.draws_crossed
        return Draws.crossed(*self.values.shape, count, rules.seed, self.groups, fixed)


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
    values = _statistic(name, grid, grid.draws(fixed=name not in OF_PEOPLE))
    low, high = interval(values)
    row = replace(row, value=_number(values[0]), low=_number(low), high=_number(high))
    about = thresholds().people.get(part, ()) if name in OF_PEOPLE else rule.claims
    if claim not in rule.claims or claim not in about:
        return replace(row, verdict="not applicable", why=f"claims {claim}")
    if name in PERTURBATIONS and float(part) != thresholds().dose:
        return replace(row, verdict="shown", why="another dose has the verdict")
    if row.value is None:
        verdict, why = _undefined(name, grid)
        return replace(row, verdict=verdict, why=why)
    if few := _too_few(name, grid):
        return replace(row, why=few)
    if row.low is None:
        return replace(row, why="too few draws in which both vary")
    drawn = values[1:][~np.isnan(values[1:])]
    tails = [int((drawn <= rule.threshold).sum()), int((drawn >= rule.threshold).sum())]
    return replace(row, p=min(1.0, 2 * (min(tails) + 1) / (len(drawn) + 1)))


def _statistic(name: str, grid: Grid, draws: Draws) -> Array:
    """In every draw; the first is the data."""
    if name == "length":
        assert grid.lengths is not None
        return np.asarray(1 - np.abs(correlations(grid.values, grid.lengths, "spearman", "summary", draws)))
    if name in OF_PEOPLE:
        assert grid.people is not None
        level: Level = "system" if name == "people_systems" else "summary"
        given = grid.lengths if name == "people_given_length" else None
        return correlations(grid.values, grid.people, "kendall", level, draws, given)
    return means(grid.values, draws)


def _too_few(name: str, grid: Grid) -> str:
    """Why draws decide nothing here; empty where they may."""
    systems, groups = grid.values.shape[0], len(set(grid.groups))
    if name in OF_PEOPLE and systems < thresholds().fewest_systems:
        return f"{systems} systems: a verdict takes {thresholds().fewest_systems}"
    if groups < thresholds().fewest_documents:
        return f"{groups} documents or groups: a verdict takes {thresholds().fewest_documents}"
    return ""


def _undefined(name: str, grid: Grid) -> tuple[Verdict, str]:
    """Verdict and reason where the data have no statistic."""

    def constant(values: Array | None) -> bool:
        return values is not None and bool(np.ptp(values, axis=0).max() == 0)

    if constant(grid.values):
        return "failed", "the metric does not vary"
    if name in OF_PEOPLE and constant(grid.people):
        return "undecided", "people's scores do not vary"
    if name == "length" and constant(grid.lengths):
        return "undecided", "the number of words does not vary"
    if name == "people_given_length":
        return "failed", "the number of words explains it whole"
    return "undecided", "no document in which both vary"


def grid_of(items: Sequence[Item]) -> Grid:
    """Means of the items of every system and document; ValueError where one of both lacks the other.

    Documents that lack a value of some system are left out.
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
    groups = {group: place for place, group in enumerate(dict.fromkeys(names[document] for document in documents))}
    people, lengths = (grids[name] if has[name] else None for name in ("people", "length"))
    left_out = len(items) - int(counts[:, whole].sum())
    of_documents = tuple(groups[names[document]] for document in documents)
    return Grid(grids["value"], people, lengths, of_documents, left_out, len(items))


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)

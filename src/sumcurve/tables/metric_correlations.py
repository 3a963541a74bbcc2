"""Appendix: the study's metrics beside each other, over systems and over summaries (Eyal et al. 2019, Table 2)."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sumcurve.scores.scorer import Metric
from sumcurve.statistics.coefficients import COEFFICIENTS, Coefficient, coefficients, ranks, varies
from sumcurve.tables.results import NOT_TO_BE_READ, Results, System
from sumcurve.tables.table import Column, Table

SYSTEM, SUMMARY = "system", "summary"
LEAST = 3  # systems: two are always on a line

Array = NDArray[np.float64]


def table(results: Results) -> Table:
    """A row for every two metrics of a corpus and each level; no row where fewer than `LEAST` systems have both.

    Seeds are averaged. Systems that see references are left out, and those that wrote what another wrote. At the level
    of systems mean scores are correlated; at that of summaries the scores of an item's summaries over systems, and the
    mean over items is shown, of those on which both metrics tell systems apart.
    """
    rows = [row for corpus in results.corpora for row in _rows(results, corpus)]
    columns = [
        *(Column(name, name) for name in ("corpus", "level", "first", "second")),
        *(Column(name, name, "count") for name in ("systems", "items")),
        *(Column(name, name, "number", 4) for name in COEFFICIENTS),
        Column("why", "why"),
    ]
    return Table("metric_correlations", results.title("Metrics beside each other"), columns, rows)


def _rows(results: Results, corpus: str) -> Iterator[dict[str, Any]]:
    written: set[tuple[str, ...]] = set()
    systems = []
    for system in results.of(corpus):
        if system.role != "bound" and system.summaries not in written:
            systems.append(system)
            written |= {system.summaries} - {()}
    scores = {one.name: _scores(results, systems, one) for one in results.compared}
    for first, second in combinations(scores, 2):
        both = [place for place in scores[first] if place in scores[second]]
        shared = [scores[name][place].keys() for name in (first, second) for place in both]
        items = [item for item in shared[0] if all(item in one for one in shared)] if both else []
        if len(both) < LEAST or not items:
            continue
        one, two = (
            np.array([[scores[name][place][item] for item in items] for place in both]) for name in (first, second)
        )
        unread = [name for name in (first, second) if results.unread(corpus, name)]
        told = {"corpus": corpus, "first": first, "second": second, "systems": len(both)}
        told["why"] = f"{', '.join(unread)}: {NOT_TO_BE_READ}" if unread else ""
        yield told | {"level": SYSTEM, "items": len(items)} | coefficients(one.mean(axis=1), two.mean(axis=1))
        telling = [place for place in range(len(items)) if varies(one[:, place]) and varies(two[:, place])]
        yield told | {"level": SUMMARY, "items": len(telling)} | over_systems(one[:, telling], two[:, telling])


def _scores(results: Results, systems: list[System], metric: Metric) -> dict[int, Mapping[str, float]]:
    """By place of the system the mean of every item, over seeds and an item's further keys."""
    found: dict[int, Mapping[str, float]] = {}
    for place, system in enumerate(systems):
        by_item: dict[str, list[float]] = {}
        for items in system.scored(results.scorer(metric.name)):
            row = [one.name for one in items.metrics].index(metric.name)
            for name, value in zip(items.ids, items.values[row].tolist(), strict=True):
                by_item.setdefault(name, []).append(value)
        if by_item:
            found[place] = {name: float(np.mean(several)) for name, several in by_item.items()}
    return found


def over_systems(first: Array, second: Array) -> dict[Coefficient, float | None]:
    """The mean over items of each coefficient over systems, of scores ``[systems, items]`` that vary for every item."""
    if not first.shape[1]:
        return dict.fromkeys(COEFFICIENTS)
    ranked = [np.apply_along_axis(ranks, 0, one) for one in (first, second)]
    upper = np.triu_indices(len(first), 1)
    signs = [np.sign(one[upper[0]] - one[upper[1]]) for one in ranked]  # [pairs of systems, items]
    return {
        "pearson": float(_cosines(*(one - one.mean(axis=0) for one in (first, second))).mean()),
        "spearman": float(_cosines(*(one - one.mean(axis=0) for one in ranked)).mean()),
        "kendall": float(_cosines(*signs).mean()),  # τ-b is the cosine of the signs
    }


def _cosines(first: Array, second: Array) -> Array:
    """Of the columns ``[items]``."""
    lengths = np.sqrt((first**2).sum(axis=0) * (second**2).sum(axis=0))
    return np.asarray(np.clip((first * second).sum(axis=0) / lengths, -1, 1))

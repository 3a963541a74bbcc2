"""Appendix: the study's metrics beside each other, over systems and over summaries (Eyal et al. 2019, Table 2)."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from sumcurve.scores.scorer import Metric
from sumcurve.statistics.coefficients import COEFFICIENTS, Coefficient
from sumcurve.statistics.metric_agreement import FEWEST, Agreement, agreements
from sumcurve.tables.columns import shared
from sumcurve.tables.results import NO_MEASURE, Results
from sumcurve.tables.systems import System
from sumcurve.tables.table import Column, Table

FEWEST_ITEMS = 20  # over which a mean of correlations is shown


def table(results: Results) -> Table:
    """A row for every two metrics of a corpus and each level; no row where fewer than `FEWEST` systems have both.

    Seeds are averaged. Systems that see references are left out, and systems whose output equals another's. At the
    level of systems mean scores are correlated, each over all items of its metric; at that of summaries the scores of
    an item's summaries over systems, and the mean over items is shown, of those on which both metrics tell systems
    apart: none where these are fewer than `FEWEST_ITEMS`.
    """
    rows = [row for corpus in results.corpora for row in _rows(results, corpus)]
    columns = [
        *shared("corpus"),
        Column("level", "level"),
        *shared("first", "second"),
        Column("systems", "systems", "count"),
        *shared("items"),
        *(Column(name, name, "number", 4) for name in COEFFICIENTS),
        *shared("why"),
    ]
    return Table("metric_correlations", results.title("Metrics beside each other"), columns, rows)


def _rows(results: Results, corpus: str) -> Iterator[dict[str, Any]]:
    written: set[tuple[str, ...]] = set()
    systems = []
    for system in results.of(corpus):
        if system.role != "bound" and system.summaries not in written:
            systems.append(system)
            written |= {system.summaries} - {()}
    scores = {metric.name: _scores(results, systems, metric) for metric in results.compared}
    for first, second in combinations(scores, 2):
        both = [place for place in scores[first] if place in scores[second]]
        shared = [scores[name][place].keys() for name in (first, second) for place in both]
        items = [item for item in shared[0] if all(item in values for values in shared)] if both else []
        if len(both) < FEWEST or not items:
            continue
        unread = [name for name in (first, second) if results.unread(corpus, name)]
        row = {"corpus": corpus, "first": first, "second": second, "systems": len(both)}
        why = [f"{', '.join(unread)}: {NO_MEASURE}"] if unread else []
        mean, other = (
            np.array([[np.mean([*scores[name][place].values()])] for place in both]) for name in (first, second)
        )
        yield row | {"level": "system", "why": "; ".join(why)} | _values(agreements(mean, other, "system", resamples=0))
        x, y = (np.array([[scores[name][place][item] for item in items] for place in both]) for name in (first, second))
        agreement = agreements(x, y, "summary", resamples=0)
        count = len(items) - agreement["pearson"].undefined
        row |= {"level": "summary", "items": count}
        if count < FEWEST_ITEMS:
            why.append(f"fewer than {FEWEST_ITEMS} items on which both metrics tell systems apart")
        yield row | {"why": "; ".join(why)} | (_values(agreement) if count >= FEWEST_ITEMS else {})


def _values(agreements_of: Mapping[Coefficient, Agreement]) -> dict[str, Any]:
    return {kind: agreement.value for kind, agreement in agreements_of.items()}


def _scores(results: Results, systems: list[System], metric: Metric) -> dict[int, Mapping[str, float]]:
    """Means of every item, over seeds and an item's further keys, by place of the system."""
    scores: dict[int, Mapping[str, float]] = {}
    for place, system in enumerate(systems):
        by_item: dict[str, list[float]] = {}
        for items in system.scored(results.scorer(metric.name)):
            for name, value in zip(items.ids, items.of(metric.name).tolist(), strict=True):
                by_item.setdefault(name, []).append(value)
        if by_item:
            scores[place] = {name: float(np.mean(several)) for name, several in by_item.items()}
    return scores

"""Do systems that dodge more score better? Correlations of dodged with other metrics, over systems and sizes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sumcurve.capabilities.contrasts.evidence import judged_of
from sumcurve.capabilities.contrasts.tables.preferences import POINTS, Preferred, preferred
from sumcurve.scores.scorer import Metric
from sumcurve.statistics.coefficients import Coefficient, coefficient
from sumcurve.tables.results import Results
from sumcurve.tables.systems import System
from sumcurve.tables.table import Column, Table, Value

KINDS: tuple[Coefficient, ...] = ("pearson", "spearman")
LEAST = 4  # systems over which there is a correlation

Array = NDArray[np.float64]


def table(results: Results) -> Table:
    """A row for every corpus and metric by which systems are compared, other than those of contrasts."""
    rows = [
        row
        for preferences in preferred(results)
        for metric in results.compared
        if (row := _row(results, preferences, metric))
    ]
    columns = [
        Column("corpus", "corpus"),
        Column("metric", "metric"),
        Column("systems", "systems", "count"),
        Column("pearson", "Pearson", "number", 2, interval=True),
        Column("spearman", "Spearman", "number", 2, interval=True),
    ]
    notes = [
        f"Of mean scores with dodged, over every method at every size, seeds averaged. In brackets: {results.share} "
        f"of {results.settings.resamples:,} resamples of the groups of test items, the same for both scores: they "
        "speak of these systems on other items, not of other systems.",
        *(
            f"{preferences.corpus}: {' and '.join(names)} have one set of weights, which is counted once, as "
            f"{names[0]}."
            for preferences in preferred(results)
            for names in preferences.evidence.twins
        ),
        "Sizes of one method are no independent systems: what grows with records correlates.",
        results.caveat,
        *results.unread_notes,
    ]
    return Table("contrast_links", results.title("What dodged goes with, over systems"), columns, rows, notes)


def _row(results: Results, preferences: Preferred, metric: Metric) -> dict[str, Any]:
    """Empty where too few systems have both."""
    if metric.name in ("dodged", "escaped"):
        return {}
    again = {name for names in preferences.evidence.twins for name in names[1:]}  # other searches of the same weights
    systems = [
        system
        for system in results.of(preferences.corpus, True, metric.name)
        if system.cell in preferences.systems
        and preferences.common.any()
        and system.method not in again
        and not judged_of(results).often_ties(preferences.corpus, system.cell)
    ]
    if len(systems) < LEAST:
        return {}
    by_system = [preferences.systems[system.cell].dodged() for system in systems]
    dodged = np.stack([POINTS * row[:, preferences.common].mean(axis=0) for row in by_system if row is not None])
    other, groups = _values(results, systems, metric)
    here = preferences.groups[preferences.common]
    names = sorted(set(here.tolist()) | set(groups))
    place = {name: number for number, name in enumerate(names)}
    sums = [
        _sums(values, np.array([place[name] for name in of]), len(names))
        for values, of in ((dodged, here.tolist()), (other, groups))
    ]
    row: dict[str, Any] = {
        "corpus": preferences.corpus,
        "metric": results.titled(preferences.corpus, metric),
        "systems": len(systems),
    }
    generator = np.random.default_rng([results.settings.seed, 15])
    times = generator.multinomial(len(names), np.full(len(names), 1 / len(names)), results.settings.resamples)
    drawn = [_means(totals, counts, times.astype(float)) for totals, counts in sums]  # [resamples, systems]
    whole = [_means(totals, counts, np.ones((1, len(names))))[0] for totals, counts in sums]
    usable = np.isfinite(drawn[0]).all(axis=1) & np.isfinite(drawn[1]).all(axis=1)
    tail = (1 - results.settings.confidence) / 2
    for name in KINDS:
        mean = coefficient(whole[0], whole[1], name)
        many = [coefficient(a, b, name) for a, b in zip(drawn[0][usable], drawn[1][usable], strict=True)]
        known = [value for value in many if value is not None]
        if mean is None or not known:
            row[name] = Value(mean, why="" if mean is not None else "a score is the same for all systems")
        else:
            low, high = np.quantile(known, [tail, 1 - tail]).tolist()
            row[name] = Value(mean, low, high)
    return row


def _values(results: Results, systems: list[System], metric: Metric) -> tuple[Array, list[str]]:
    """Scores averaged over seeds ``[systems, items]``, and the items' groups."""
    rows = [results.replicates(system, metric.name).items.mean(axis=0) for system in systems]
    return np.stack(rows), list(systems[0].outputs[0].scores[results.scorer(metric.name)].groups)


def _sums(values: Array, places: NDArray[np.int64], groups: int) -> tuple[Array, Array]:
    """Sums ``[groups, systems]`` over the items of each group, and how many these are ``[groups]``."""
    totals = np.zeros((groups, len(values)))
    np.add.at(totals, places, values.T)
    return totals, np.bincount(places, minlength=groups).astype(float)


def _means(totals: Array, counts: Array, times: Array) -> Array:
    """Means ``[resamples, systems]`` where groups are drawn `times` ``[resamples, groups]``; NaN of no items."""
    drawn = times @ counts
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((times @ totals) / drawn[:, None])

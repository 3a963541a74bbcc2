"""Appendix: all mean scores in long form, a row for every system and metric: the file to load with pandas.

Table scores has the same numbers with a column for every metric.
"""

from collections.abc import Iterator
from typing import Any

from sumcurve.scores.scorer import Metric
from sumcurve.statistics.design import Design
from sumcurve.statistics.intervals import Estimate, estimate
from sumcurve.tables.columns import shared
from sumcurve.tables.results import Results
from sumcurve.tables.scores import by_seed
from sumcurve.tables.systems import System, systems_of
from sumcurve.tables.table import Column, Name, Table

DESCRIBES, MEASURES_SOURCE = "the metric describes", "the metric measures source sensitivity"
OTHER_SEARCH = "under the common search alone systems of the study are ranked"
NOT_TRAINED, IGNORES_SOURCE = "not trained", "no significant source sensitivity"
OF_SYSTEMS = {OTHER_SEARCH, NOT_TRAINED, IGNORES_SOURCE}  # reasons in `why` that are no metric's


def table(results: Results) -> Table:
    """A row for every corpus, part, method, size, search and metric; numbers are in the metric's `unit`.

    `metric` is the metric's column in table scores. `least` and `most` are over seeds, where there are several. A
    system is `ranked` where the metric ranks it; where not, `why` has the reason. `validation` is the outcome of the
    metric's validation on the corpus.
    """
    rows = [
        _row(results, system, metric, name)
        for system in _systems(results)
        for name in [results.name(system) if _in_scores(system) else results.unasked(system.method)]
        for metric in results.metrics
        if results.scorer(metric.name) in system.scorers
    ]
    columns = [
        *shared("corpus", "part", "method", "role", "percent", "records", "seeds"),
        *shared("search", "metric", "title"),
        *(Column(name, name) for name in ("unit", "better")),
        Column("mean", "mean", "number", results.decimals),
        *(Column(name, name, "number", results.decimals) for name in ("low", "high", "least", "most")),
        *shared("interval_covers", "items", "groups"),
        Column("ranked", "ranked"),
        *shared("why"),
        Column("validation", "validation"),
    ]
    return Table("scores_long", results.title("Mean scores, a row for every system and metric"), columns, rows)


def _systems(results: Results) -> Iterator[System]:
    """Systems of table scores, those under the papers' searches, and those that last phases are compared with."""
    yield from results.systems
    yield from results.paper
    yield from systems_of(output for output in results.outputs if output.part != "study")


def _row(results: Results, system: System, metric: Metric, name: Name) -> dict[str, Any]:
    estimate = _estimate(results, system, metric.name)
    first, items = system.outputs[0], system.scorers[results.scorer(metric.name)]
    means = by_seed(results, system, metric.name)
    why = _unranked(results, system, metric, name)
    return {
        "corpus": system.corpus,
        "part": first.part,
        "method": name,
        "role": system.role,
        "percent": system.percent,
        "records": system.records,
        "seeds": len(system.seeds) or None,
        "search": first.search,
        "metric": metric.name,
        "title": metric.title,
        "unit": metric.unit,
        "better": {True: "higher", False: "lower", None: ""}[metric.higher_is_better],
        "mean": estimate.mean,
        "low": estimate.low,
        "high": estimate.high,
        **({"least": min(means), "most": max(means)} if len(means) > 1 else {}),
        "interval_covers": estimate.covers if estimate.low is not None else estimate.why,
        "items": len(set(items.ids)),
        "groups": len(set(items.groups)),
        "ranked": "no" if why else "yes",
        "why": why,
        "validation": results.validation(system.corpus, metric.name) if metric.ranks else "",
    }


def _in_scores(system: System) -> bool:
    return _place(system)[1] == "study" and _place(system)[2] != "paper"


def _place(system: System) -> tuple[str, str, str | None]:
    """Corpus, part and search of a system."""
    return system.corpus, system.outputs[0].part, system.outputs[0].search


def _estimate(results: Results, system: System, metric: str) -> Estimate:
    """Estimate as in table scores; other parts and searches have designs of their own."""
    if _in_scores(system):
        return results.estimate(system.corpus, metric, system.cell)

    def make() -> Design:
        scorer = results.scorer(metric)
        here = [member for member in _systems(results) if _place(member) == _place(system) and scorer in member.scorers]
        return results.design_of(here, metric)

    design = results.once(f"scores of {_place(system)} {metric}", make)
    return results.within(metric, estimate(design, system.cell))


def _unranked(results: Results, system: System, metric: Metric, name: Name) -> str:
    """Explain why a system has no rank by a metric; empty where it has one."""
    if not metric.ranks:
        return DESCRIBES if metric.describes else MEASURES_SOURCE
    if why := results.unread(system.corpus, metric.name):
        return why
    if not _in_scores(system):
        return OTHER_SEARCH
    if system.records is None:
        return NOT_TRAINED
    if name.facts["reads_source"] == "no":
        return IGNORES_SOURCE
    unranked = results.unranked(system.corpus, metric.name, system.cell)
    return unranked.why if unranked else ""

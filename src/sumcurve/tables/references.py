"""Every system, and people, against several references: mean, best, first and jackknife side by side."""

from typing import Any

from sumcurve.scores.references import NAME
from sumcurve.tables.columns import shared
from sumcurve.tables.results import Results, value
from sumcurve.tables.systems import System
from sumcurve.tables.table import Column, Name, Table

PEOPLE = "humans"  # the row of their mean


def table(results: Results) -> Table:
    """A row for every system and size that the scorer `references` scored, and the mean of a corpus's people."""
    metrics = [metric for metric in results.metrics if results.scorer(metric.name) == NAME]
    rows: list[dict[str, Any]] = []
    for corpus in results.corpora:
        here = [system for system in results.of(corpus) if NAME in system.scorers]
        for system in here:
            row = {"method": results.name(system), "role": system.role, "own_reference": system.own_reference}
            row |= {"percent": system.percent, "records": system.records}
            of_metrics = {metric.name: value(results.estimate(corpus, metric.name, system.cell)) for metric in metrics}
            rows.append({"corpus": corpus, **row, **of_metrics})
        if people := [system for system in here if system.own_reference is not None]:
            rows.append({"corpus": corpus, **_mean(results, people, [metric.name for metric in metrics])})
    columns = [
        *shared("corpus", "method"),
        *shared("role", shown=False),
        Column("own_reference", None, "count"),
        *shared("percent", "records"),
        *(Column(metric.name, metric.title, "number", interval=True, narrow=True) for metric in metrics),
    ]
    notes = [
        f"The CSV has {results.share} intervals.",
        results.notes.marks,
    ]
    return Table(NAME, results.title("Mean scores against several references"), columns, rows, notes)


def people_of(count: int) -> str:
    """Name shown in place of `PEOPLE`."""
    return f"human (mean of {count}), against the others"


def _mean(results: Results, people: list[System], metrics: list[str]) -> dict[str, Any]:
    """The row of the mean over people, with intervals over test items."""
    corpus, weights = people[0].corpus, {system.cell: 1 / len(people) for system in people}
    return {"method": Name(PEOPLE, people_of(len(people))), "role": "bound"} | {
        metric: value(results.contrast(corpus, metric, weights)) for metric in metrics
    }

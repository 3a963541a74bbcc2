"""Descriptive statistics of summaries, without a better or worse: copying, repetition, length."""

from typing import Any

from sumcurve.tables.columns import shared
from sumcurve.tables.results import UNREAD, Results, units, value
from sumcurve.tables.systems import System
from sumcurve.tables.table import Column, Table, Value

REFERENCES = "references"


def table(results: Results) -> Table:
    """A row for every system and size, and one for a corpus's references where they were measured, too.

    The columns are the metrics that rank no system (`Metric.describes`). A row without any of them is left out.
    """
    rows: list[dict[str, Any]] = []
    for corpus in results.corpora:
        here = results.of(corpus)
        written: dict[str, Any] = {}
        for scored in (items for system in here for output in system.outputs for items in output.scores.values()):
            written |= {name: Value(mean) for name, mean in scored.references.items()}
        if written:
            rows.append({"corpus": corpus, "method": REFERENCES, **written})
        rows += [row for system in here if (row := _row(results, system))]
    columns = [
        *shared("corpus", "method", "percent", "records"),
        *(
            Column(metric.name, metric.title, "number", metric.decimals, interval=True, narrow=True)
            for metric in results.describing
        ),
        *shared("interval_covers", shown=False),
    ]
    notes = [
        f"{units(results.describing)}. The CSV has {results.share} intervals.",
        results.notes.marks,
        *results.notes.frames,
        *results.notes.unread,
    ]
    return Table("descriptions", results.title("What the summaries are like"), columns, rows, notes)


def _row(results: Results, system: System) -> dict[str, Any]:
    """Row of a system; empty where no descriptive metric was computed for it."""
    row: dict[str, Any] = {}
    covers: dict[str, None] = {}
    for metric in results.describing:
        if results.scorer(metric.name) in system.scorers:
            estimate = results.estimate(system.corpus, metric.name, system.cell)
            row[metric.name] = value(estimate, mark=UNREAD if results.unread(system.corpus, metric.name) else "")
            if estimate.low is not None:
                covers[estimate.covers] = None
    if not row:
        return {}
    named = {"corpus": system.corpus, "method": results.name(system), "percent": system.percent}
    return {**named, "records": system.records, **row, "interval_covers": "; ".join(covers)}

"""Appendix: every scored output alone, seed by seed, with what its training cost. `sumcurve trace` reads it."""

from typing import Any

from sumcurve.tables.evidence import ScoredOutput
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Name, Table


def table(results: Results) -> Table:
    """A row for every output of every part; the last column names the folder behind it."""
    rows: list[dict[str, Any]] = []
    for one in results.outputs:
        row: dict[str, Any] = {
            "corpus": one.corpus,
            "method": _named(results, one),
            "percent": one.percent,
            "records": one.records,
            "seed": one.seed,
            "search": one.search,
            "part": one.part,
            "draw": one.draw,
            "search_signature": one.search_signature,
            "signature": "; ".join(items.signature for items in one.scores.values()),
            "run": one.run,
        }
        for items in one.scores.values():
            row |= {
                metric.name: float(values.mean()) for metric, values in zip(items.metrics, items.values, strict=True)
            }
        if one.training is not None:
            row |= {"selected_phase": one.training.selected[0], "selected_update": one.training.selected[1]}
        if one.timing is not None:
            phases = ";".join(f"{phase}={seconds:.4f}" for phase, seconds in one.timing.phases.items())
            row |= {
                "updates": one.timing.updates,
                "examples": one.timing.examples,
                "seconds": one.timing.seconds,
                "total_seconds": one.timing.total_seconds,
                "phase_seconds": phases,
                "device": one.timing.device,
                "lease": "exclusive" if one.timing.exclusive else "shared",
            }
        rows.append(row)
    texts = ("corpus", "method", "search", "part")
    counts = ("percent", "records", "seed")
    columns = [
        *(Column(name, name) for name in texts[:2]),
        *(Column(name, name, "count") for name in counts),
        *(Column(name, name) for name in texts[2:]),
        Column("draw", "draw", "count"),
        *(Column(one.name, one.title, "number", one.decimals) for one in results.metrics),
        Column("selected_phase", "phase"),
        Column("selected_update", "update", "count"),
        Column("updates", "updates", "count"),
        Column("examples", "examples", "count"),
        Column("seconds", "seconds", "number"),
        Column("total_seconds", "total", "number"),
        Column("phase_seconds", "of them in"),
        Column("device", "device"),
        Column("lease", "lease"),
        Column("search_signature", "search"),
        Column("signature", "signature"),
        Column("run", "run"),
    ]
    return Table("seeds", results.title("Every output, seed by seed"), columns, rows)


def _named(results: Results, one: ScoredOutput) -> Name:
    """With what is said of all seeds of its system together."""
    if one.part == "study" and one.search != "paper":
        return results.marked(one.corpus, (one.method, one.records))
    return results.unasked(one.method)

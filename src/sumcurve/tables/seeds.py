"""Appendix: every scored output alone, seed by seed, with its training cost. `sumcurve trace` reads it."""

from typing import Any

from sumcurve.tables.columns import shared
from sumcurve.tables.evidence import ScoredOutput
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Name, Table


def table(results: Results) -> Table:
    """A row for every output of every part; the last column names the folder behind it."""
    rows: list[dict[str, Any]] = []
    for output in results.outputs:
        row: dict[str, Any] = {
            "corpus": output.corpus,
            "method": _named(results, output),
            "percent": output.percent,
            "records": output.records,
            "seed": output.seed,
            "search": output.search,
            "part": output.part,
            "search_signature": output.search_signature,
            "signature": "; ".join(items.signature for items in output.scores.values()),
            "run": output.run,
        }
        for items in output.scores.values():
            row |= {
                metric.name: float(values.mean()) for metric, values in zip(items.metrics, items.values, strict=True)
            }
        if output.training is not None:
            row |= {"selected_phase": output.training.selected[0], "selected_update": output.training.selected[1]}
        if output.timing is not None:
            phases = ";".join(f"{phase}={seconds:.4f}" for phase, seconds in output.timing.phases.items())
            row |= {
                "updates": output.timing.updates,
                "examples": output.timing.examples,
                "seconds": output.timing.seconds,
                "total_seconds": output.timing.total_seconds,
                "phase_seconds": phases,
                "device": output.timing.device,
                "lease": "exclusive" if output.timing.exclusive else "shared",
            }
        rows.append(row)
    columns = [
        *shared("corpus", "method", "percent", "records", "seed", "search", "part"),
        Column("draw", "draw", "count"),  # empty: a seed draws its own records
        *(Column(metric.name, metric.title, "number", metric.decimals) for metric in results.metrics),
        Column("selected_phase", "phase"),
        Column("selected_update", "update", "count"),
        Column("updates", "updates", "count"),
        Column("examples", "examples", "count"),
        *shared("seconds", "total_seconds", "phase_seconds", "device"),
        Column("lease", "lease"),
        Column("search_signature", "search"),
        Column("signature", "signature"),
        Column("run", "run"),
    ]
    return Table("seeds", results.title("Every output, seed by seed"), columns, rows)


def _named(results: Results, output: ScoredOutput) -> Name:
    """Name of an output's method, with the facts of all seeds of its system together."""
    if output.part == "study" and output.search != "paper":
        return results.marked(output.corpus, (output.method, output.records))
    return results.unasked(output.method)

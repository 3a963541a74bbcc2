"""Methods at their largest size: parameters, cost of training, and how each phase ended."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from sumcurve.settings.study import present_words
from sumcurve.tables.columns import shared
from sumcurve.tables.efficiency import clock_refusal
from sumcurve.tables.results import Results
from sumcurve.tables.scores import selected
from sumcurve.tables.table import Column, Table


def table(results: Results) -> Table:
    """A row for every method of a corpus; updates, examples, epochs and seconds are means over seeds.

    They run up to the selected checkpoint, `total_seconds` until training ended. `phase_seconds` splits the seconds.
    """
    held = {of.corpus: part.records for of in results.study.statistics for part in of.parts if part.part == "valid"}
    rows: list[dict[str, Any]] = []
    for corpus in results.corpora:
        for method, system in results.largest(corpus).items():
            known = [output.training for output in system.outputs if output.training is not None]
            timed = [output.timing for output in system.outputs if output.timing is not None]
            row: dict[str, Any] = {
                "corpus": corpus,
                "method": results.name(system),
                "title": results.study.titles.get(method, method),
                "percent": system.percent,
                "records": system.records,
                "seeds": len(system.seeds),
                "selected": selected(system),
            }
            if known:
                size = known[0].parameters
                row |= {"parameters": size["total"], "vocabulary_parameters": size["vocabulary"]}
                row |= {
                    "other_parameters": size["other"],
                    "epochs": float(np.mean([training.epochs for training in known])),
                }
                row |= {"precision": known[0].precision, "threads": known[0].threads}
                row |= {"ended": _endings([training.ended for training in known])}
                if known[0].validated is not None:  # at most
                    row["validated"] = min(known[0].validated, held.get(corpus, known[0].validated))
            if timed:
                for name in ("updates", "examples", "seconds", "total_seconds"):
                    costs = [getattr(timing, name) for timing in timed]
                    row[name] = None if None in costs else float(np.mean(costs))
                phases = dict.fromkeys(phase for timing in timed for phase in timing.phases)
                spent = {phase: np.mean([timing.phases.get(phase, 0.0) for timing in timed]) for phase in phases}
                row["phase_seconds"] = ", ".join(f"{phase} {seconds:.1f}" for phase, seconds in spent.items())
                if any(timing.own_rule for timing in timed):
                    row["ended"] = "its own rule"
                row["device"] = "+".join(sorted({timing.device for timing in timed}))
            rows.append(row)
    columns = [
        *shared("corpus", "method", "title"),
        *shared("percent", shown=False),
        *shared("records", "seeds"),
        Column("parameters", "parameters", "count"),
        Column("vocabulary_parameters", "vocabulary", "count"),
        Column("other_parameters", None, "count"),
        Column("updates", "updates", "number", 0),
        Column("examples", "examples", "number", 0),
        Column("epochs", "epochs", "number", 1),
        *shared("seconds", "phase_seconds", "total_seconds", "selected"),
        Column("ended", "ended"),
        Column("validated", "chosen on", "count"),
        Column("precision", "precision"),
        Column("threads", "threads", "count"),
        *shared("device"),
    ]
    refusal = clock_refusal(results)
    notes = [
        f"{refusal}." if refusal else "",
        results.notes.cut_short,
        results.notes.marks,
        *results.notes.identical,
        results.notes.caveat,
    ]
    return Table("methods", results.title("What each method was at its largest size"), columns, rows, notes)


def _endings(seeds: Sequence[Sequence[tuple[str, str]]]) -> str:
    """`phase: reason` of every phase; where seeds disagree, `phase: reason (2), other (1)`."""
    reasons: dict[str, Counter[str]] = {}
    for ended in seeds:
        for phase, reason in ended:
            reasons.setdefault(phase, Counter())[present_words(reason)] += 1
    return "; ".join(
        f"{phase}: "
        + (", ".join(f"{reason} ({n})" for reason, n in counts.items()) if len(counts) > 1 else min(counts))
        for phase, counts in reasons.items()
    )

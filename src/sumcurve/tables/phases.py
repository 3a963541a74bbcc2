"""What a method's last phase buys: after it, minus before it, and minus a control that spends the same updates.

The control starts from the same checkpoint and goes on with the loss of the phase before. Everything is at the largest
size, paired over seeds and groups of test items.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sumcurve.scores.scorer import Metric
from sumcurve.statistics.design import Design, common_seeds
from sumcurve.statistics.family import deciding_levels
from sumcurve.statistics.intervals import Estimate, difference
from sumcurve.statistics.ungrouped import holm, holm_steps
from sumcurve.tables.evidence import ScoredOutput
from sumcurve.tables.results import DECIDING, LEVEL, NOT_TO_BE_READ, THESE_WEIGHTS, Results, System, value
from sumcurve.tables.table import Column, Table, Value

AFTER, BEFORE, CONTROL = "after", "before", "control"
NO_DIFFERENCE = "no difference shown"


def table(results: Results) -> Table:
    """A row for every method of several phases and every metric of which one direction is better."""
    rows: list[dict[str, Any]] = []
    asked: list[Asked] = []
    for corpus, method, parts in _methods(results):
        for metric in results.metrics:
            if metric.higher_is_better is None:
                continue
            found = _design(results, corpus, method, parts, metric)
            if found is not None:
                rows.append(_row(results, corpus, method, parts, metric, found, asked))
    _judge(asked)
    columns = [
        Column("corpus", "corpus"),
        Column("method", "method"),
        Column("phase", "phase"),
        Column("metric", "metric"),
        Column("seeds", "seeds", "count"),
        Column("before", "before", "number", results.decimals),
        Column("after", "after", "number", results.decimals),
        Column("after_minus_before", "after − before", "number", results.decimals, interval=True),
        Column("change_p", "p", "p"),
        Column("change", "says"),
        Column("after_minus_control", "after − control", "number", results.decimals, interval=True),
        Column("worth_p", "p", "p"),
        Column("worth", "says"),
        Column("interval_covers", "intervals cover"),
        Column("selected", "selected update"),
        Column("updates", "updates of the phase", "number", 0),
    ]
    notes = [
        "The last phase of each method at its largest size. Before: the checkpoint that it started from. Control: from "
        "there, the same budget of updates on the loss of the phase before, so that after − control is what the "
        "phase's own loss buys; of both the best validation is scored. A row for every metric of which one direction "
        "is better, paired over groups of test items and seeds. p: after Holm (1979), in a family of all methods of "
        f"one corpus, metric and question, those that wrote the same counted once. Says: p < {LEVEL:g}. Brackets: "
        f"{DECIDING} Of what is not tested they are pointwise. Selected update: of the phase, for each seed. One seed: "
        "of these weights.",
        results.caveat,
        results.marks_note,
        *results.identical,
        *results.unread_notes,
    ]
    return Table("phases", results.title("What the last phase of a method buys"), columns, rows, notes)


@dataclass(frozen=True)
class Asked:
    """One difference of one row: its `column` gets the interval that decides, `key` what it says, `key`_p its p."""

    row: dict[str, Any]
    column: str
    key: str
    metric: Metric
    found: Estimate
    family: tuple[str, str, str]
    written: tuple[Any, ...]  # what tells methods apart that wrote the same


def _judge(asked: Sequence[Asked]) -> None:
    """Say of every tested difference whether its family shows one; methods that wrote the same are one test."""
    families: dict[tuple[str, str, str], dict[tuple[Any, ...], list[Asked]]] = {}
    for one in asked:
        families.setdefault(one.family, {}).setdefault(one.written, []).append(one)
    for tests in families.values():
        p_values = np.array([ones[0].found.p for ones in tests.values()])
        levels = deciding_levels(p_values, holm_steps(len(p_values), LEVEL))
        for ones, p, level in zip(tests.values(), holm(p_values).tolist(), levels.tolist(), strict=True):
            for one in ones:
                better = (one.found.mean > 0) == one.metric.higher_is_better
                one.row[f"{one.key}_p"] = p
                one.row[one.key] = NO_DIFFERENCE if p >= LEVEL else "better" if better else "worse"
                low, high = one.found.interval(level) or (None, None)
                one.row[one.column] = Value(one.found.mean, low, high, decimals=one.metric.decimals)


def _methods(results: Results) -> list[tuple[str, str, dict[str, System]]]:
    """Corpus, method and its parts, of methods whose last phase has something to be compared with."""
    found: dict[tuple[str, str], dict[str, list[ScoredOutput]]] = {}
    others = {(one.corpus, one.method): one.records for one in results.outputs if one.part in (BEFORE, CONTROL)}
    for one in results.outputs:
        key = one.corpus, one.method
        here = one.search != "paper" and one.part != "variance" and one.records is not None
        if here and others.get(key) == one.records:
            part = AFTER if one.part == "study" else one.part
            found.setdefault(key, {}).setdefault(part, []).append(one)
    made = []
    for (corpus, method), by_part in found.items():
        parts = {
            part: System(corpus, part, outputs[0].percent, outputs[0].records, tuple(_by_seed(outputs)))
            for part, outputs in by_part.items()
        }
        if AFTER in parts:
            made.append((corpus, method, parts))
    return made


def _by_seed(outputs: list[ScoredOutput]) -> list[ScoredOutput]:
    return sorted(outputs, key=lambda one: one.seed or 0)


def _design(results: Results, corpus: str, method: str, parts: Mapping[str, System], metric: Metric) -> Design | None:
    """The parts of one method over the seeds that all of them have; None where they lack the metric or a seed."""
    seeds = set.intersection(*(set(part.seeds) for part in parts.values()))
    kept = {
        name: replace(part, outputs=tuple(one for one in part.outputs if one.seed in seeds))
        for name, part in parts.items()
    }
    if not seeds:
        return None
    first = kept[AFTER].outputs[0]
    scorer = results.scorer(metric.name)
    if scorer not in first.scores:
        return None
    groups = first.scores[scorer].groups
    having = {name: part for name, part in kept.items() if all(scorer in one.scores for one in part.outputs)}
    found = [results.replicates(part, metric.name) for part in having.values()]
    if {one.system for one in found} <= {AFTER}:
        return None
    cut, _ = common_seeds(found)
    return Design(cut, groups, results.full_records(corpus), results.settings.confidence)


def _row(
    results: Results,
    corpus: str,
    method: str,
    parts: Mapping[str, System],
    metric: Metric,
    design: Design,
    asked: list[Asked],
) -> dict[str, Any]:
    """A row; what is to be judged within a family is put into `asked`."""
    cells = {cell[0]: cell for cell in design.cells}
    trained = [one.training for one in parts[AFTER].outputs if one.training is not None]
    phase = trained[0].ended[-1][0] if trained else None
    updates = [_updates_of(one, phase) for one in parts[AFTER].outputs]
    row: dict[str, Any] = {
        "corpus": corpus,
        "method": results.marked(corpus, (method, parts[AFTER].records)),
        "phase": phase,
        "metric": results.titled(corpus, metric, metric.unit),
        "seeds": len(design.seeds) or 1,
        "after": Value(float(design.means[design.place(cells[AFTER])]), decimals=metric.decimals),
        "selected": ", ".join(f"{one.selected[0]} {one.selected[1]}" for one in trained),
        "updates": float(np.mean([one for one in updates if one is not None])) if any(updates) else None,
    }
    if BEFORE in cells:
        found = difference(design, cells[AFTER], cells[BEFORE])
        row["before"] = Value(float(design.means[design.place(cells[BEFORE])]), decimals=metric.decimals)
        row["after_minus_before"] = value(found, decimals=metric.decimals)
        row["interval_covers"] = found.covers if found.low is not None else row.get("interval_covers")
        _ask(results, asked, row, "after_minus_before", "change", metric, found, parts, BEFORE)
    if CONTROL in cells:
        found = difference(design, cells[AFTER], cells[CONTROL])
        row["after_minus_control"] = value(found, decimals=metric.decimals)
        row["interval_covers"] = found.covers if found.low is not None else row.get("interval_covers")
        _ask(results, asked, row, "after_minus_control", "worth", metric, found, parts, CONTROL)
    else:
        row["worth"] = "its own control: its loss is that of the phase before"
    return row


def _updates_of(output: ScoredOutput, phase: str | None) -> int | None:
    """Updates that the phase took in all, by its History."""
    found = [row.update for row in output.history if row.phase == phase]
    return max(found) if found else None


def _same(parts: Mapping[str, System], part: str) -> bool:
    written = parts[AFTER].summaries
    return bool(written) and written == parts[part].summaries


def _ask(
    results: Results,
    asked: list[Asked],
    row: dict[str, Any],
    column: str,
    key: str,
    metric: Metric,
    found: Estimate,
    parts: Mapping[str, System],
    part: str,
) -> None:
    """Put a difference into `asked`, or say at once why it cannot be tested."""
    if _same(parts, part):
        row[key] = "the control is itself" if part == CONTROL else "the same summaries, byte for byte"
    elif found.low is None or found.p is None:
        row[key] = found.why
    elif results.unread(row["corpus"], metric.name):
        row[key] = NOT_TO_BE_READ
    elif row["seeds"] < 2:
        row[key] = f"one seed: of {THESE_WEIGHTS}"
    else:
        written = (parts[AFTER].summaries or row["method"], parts[part].summaries or row["method"])
        asked.append(Asked(row, column, key, metric, found, (row["corpus"], row["metric"], key), written))

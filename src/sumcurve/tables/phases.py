"""Ablation of a method's final training stage: after it, minus before it, and minus a control of the same updates.

The control starts from the same checkpoint and goes on with the loss of the stage before. Everything is at the largest
size, paired over seeds and groups of test items.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sumcurve.scores.scorer import Metric
from sumcurve.statistics.design import Design
from sumcurve.statistics.family import deciding_levels
from sumcurve.statistics.intervals import Estimate, difference
from sumcurve.statistics.ungrouped import holm, holm_steps
from sumcurve.tables.columns import shared
from sumcurve.tables.evidence import ScoredOutput
from sumcurve.tables.pairs import LEVEL, SINGLE_RUN
from sumcurve.tables.results import NO_MEASURE, Results, value
from sumcurve.tables.systems import System
from sumcurve.tables.table import Column, Table, Value

AFTER, BEFORE, CONTROL = "after", "before", "control"
NO_DIFFERENCE = "no difference shown"


def table(results: Results) -> Table:
    """A row for every method of several phases and every metric of which one direction is better."""
    rows: list[dict[str, Any]] = []
    questions: list[Asked] = []
    for corpus, method, parts in _methods(results):
        for metric in results.metrics:
            if metric.higher_is_better is None:
                continue
            compared = _design(results, parts, metric)
            if compared is not None:
                rows.append(_row(results, corpus, method, parts, metric, compared, questions))
    _judge(questions)
    columns = [
        *shared("corpus", "method"),
        Column("phase", "stage"),
        *shared("metric", "seeds"),
        Column("before", "before", "number", results.decimals),
        Column("after", "after", "number", results.decimals),
        Column("after_minus_before", "after − before", "number", results.decimals, interval=True),
        Column("change_p", "p", "p"),
        Column("change", "says"),
        Column("after_minus_control", "after − control", "number", results.decimals, interval=True),
        Column("worth_p", "p", "p"),
        Column("worth", "says"),
        *shared("interval_covers", "selected"),
        Column("updates", "updates of the stage", "number", 0),
        Column("reward_at_start", "reward at its start", "number", 3),
        Column("reward_at_end", "reward at its end", "number", 3),
    ]
    rewarded = "Reward: mean ROUGE-L F1 of greedy validation summaries, 0 to 1, which reinforcement learning optimises."
    notes = [
        *([rewarded] if any(row["reward_at_start"] is not None for row in rows) else []),
        "In brackets: intervals of the family of tests; of what is not tested they are pointwise.",
        results.notes.caveat,
        results.notes.marks,
        *results.notes.identical,
        *results.notes.unread,
    ]
    caption = "What the final training stage of a method adds"
    return Table("phases", results.title(caption), columns, rows, notes)


@dataclass(frozen=True)
class Asked:
    """One difference of one row: its `column` gets the interval that decides, `key` its outcome, `key`_p its p."""

    row: dict[str, Any]
    column: str
    key: str
    metric: Metric
    difference: Estimate
    family: tuple[str, str, str]
    written: tuple[Any, ...]  # key that distinguishes methods with equal output


def _judge(questions: Sequence[Asked]) -> None:
    """Record for every tested difference whether its family shows one; methods with equal output are one test."""
    families: dict[tuple[str, str, str], dict[tuple[Any, ...], list[Asked]]] = {}
    for question in questions:
        families.setdefault(question.family, {}).setdefault(question.written, []).append(question)
    for tests in families.values():
        p_values = np.array([ones[0].difference.p for ones in tests.values()])
        levels = deciding_levels(p_values, holm_steps(len(p_values), LEVEL))
        for ones, p, level in zip(tests.values(), holm(p_values).tolist(), levels.tolist(), strict=True):
            for question in ones:
                better = (question.difference.mean > 0) == question.metric.higher_is_better
                question.row[f"{question.key}_p"] = p
                question.row[question.key] = NO_DIFFERENCE if p >= LEVEL else "better" if better else "worse"
                low, high = question.difference.interval(level) or (None, None)
                question.row[question.column] = Value(
                    question.difference.mean, low, high, decimals=question.metric.decimals
                )


def _methods(results: Results) -> list[tuple[str, str, dict[str, System]]]:
    """Corpus, method and its parts, of methods whose last phase has something to be compared with."""
    groups: dict[tuple[str, str], dict[str, list[ScoredOutput]]] = {}
    others = {
        (output.corpus, output.method): output.records for output in results.outputs if output.part in (BEFORE, CONTROL)
    }
    for output in results.outputs:
        key = output.corpus, output.method
        here = output.search != "paper" and output.records is not None
        if here and others.get(key) == output.records:
            part = AFTER if output.part == "study" else output.part
            groups.setdefault(key, {}).setdefault(part, []).append(output)
    made = []
    for (corpus, method), by_part in groups.items():
        parts = {
            part: System(corpus, part, outputs[0].percent, outputs[0].records, tuple(_by_seed(outputs)))
            for part, outputs in by_part.items()
        }
        if AFTER in parts:
            made.append((corpus, method, parts))
    return made


def _by_seed(outputs: list[ScoredOutput]) -> list[ScoredOutput]:
    return sorted(outputs, key=lambda output: output.seed or 0)


def _design(results: Results, parts: Mapping[str, System], metric: Metric) -> Design | None:
    """The parts of one method over the seeds that all of them have; None where they lack the metric or a seed."""
    seeds = set.intersection(*(set(part.seeds) for part in parts.values()))
    kept = {
        name: replace(part, outputs=tuple(output for output in part.outputs if output.seed in seeds))
        for name, part in parts.items()
    }
    if not seeds:
        return None
    scorer = results.scorer(metric.name)
    if scorer not in kept[AFTER].outputs[0].scores:
        return None
    having = [part for part in kept.values() if all(scorer in output.scores for output in part.outputs)]
    if {part.method for part in having} <= {AFTER}:
        return None
    return results.design_of(having, metric.name)


def _row(
    results: Results,
    corpus: str,
    method: str,
    parts: Mapping[str, System],
    metric: Metric,
    design: Design,
    questions: list[Asked],
) -> dict[str, Any]:
    """A row; differences to be tested within a family are added to `questions`."""
    cells = {cell[0]: cell for cell in design.cells}
    trained = [output.training for output in parts[AFTER].outputs if output.training is not None]
    phase = trained[0].ended[-1][0] if trained else None
    updates = [_updates_of(output, phase) for output in parts[AFTER].outputs]
    row: dict[str, Any] = {
        "corpus": corpus,
        "method": results.marked(corpus, (method, parts[AFTER].records)),
        "phase": phase,
        "metric": results.titled(corpus, metric, metric.unit),
        "seeds": len(design.seeds) or 1,
        "after": Value(float(design.means[design.place(cells[AFTER])]), decimals=metric.decimals),
        "selected": ", ".join(f"{training.selected[0]} {training.selected[1]}" for training in trained),
        "updates": float(np.mean([update for update in updates if update is not None])) if any(updates) else None,
        **_rewards(parts[AFTER].outputs, phase),
    }
    if BEFORE in cells:
        change = difference(design, cells[AFTER], cells[BEFORE])
        row["before"] = Value(float(design.means[design.place(cells[BEFORE])]), decimals=metric.decimals)
        row["after_minus_before"] = value(change, decimals=metric.decimals)
        row["interval_covers"] = change.covers if change.low is not None else row.get("interval_covers")
        _ask(results, questions, row, "after_minus_before", "change", metric, change, parts, BEFORE)
    if CONTROL in cells:
        change = difference(design, cells[AFTER], cells[CONTROL])
        row["after_minus_control"] = value(change, decimals=metric.decimals)
        row["interval_covers"] = change.covers if change.low is not None else row.get("interval_covers")
        _ask(results, questions, row, "after_minus_control", "worth", metric, change, parts, CONTROL)
    else:
        row["worth"] = "its own control: its loss is that of the stage before"
    return row


def _updates_of(output: ScoredOutput, phase: str | None) -> int | None:
    """Updates that the phase took in all, by its History."""
    updates = [row.update for row in output.history if row.phase == phase]
    return max(updates) if updates else None


def _rewards(outputs: Sequence[ScoredOutput], phase: str | None) -> dict[str, float | None]:
    """The reward that a phase optimises, in its first and its last validation: means over seeds."""
    histories = [[row.reward for row in output.history if row.phase == phase] for output in outputs]
    ends = np.array([(rewards[0], rewards[-1]) for rewards in histories if rewards and rewards[0] is not None])
    start, end = ends.mean(0).tolist() if len(ends) else (None, None)
    return {"reward_at_start": start, "reward_at_end": end}


def _same(parts: Mapping[str, System], part: str) -> bool:
    written = parts[AFTER].summaries
    return bool(written) and written == parts[part].summaries


def _ask(
    results: Results,
    questions: list[Asked],
    row: dict[str, Any],
    column: str,
    key: str,
    metric: Metric,
    change: Estimate,
    parts: Mapping[str, System],
    part: str,
) -> None:
    """Add a difference to `questions`, or record at once why it cannot be tested."""
    if _same(parts, part):
        row[key] = "the control is itself" if part == CONTROL else "the same summaries, byte for byte"
    elif change.low is None or change.p is None:
        row[key] = change.why
    elif results.unread(row["corpus"], metric.name):
        row[key] = NO_MEASURE
    elif row["seeds"] < 2:
        row[key] = SINGLE_RUN
    else:
        written = (parts[AFTER].summaries or row["method"], parts[part].summaries or row["method"])
        questions.append(Asked(row, column, key, metric, change, (row["corpus"], row["metric"], key), written))

"""Appendix: θ under several stopping rules, applied to the kept Histories; where they disagree, θ measured the rule."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sumcurve.curves import stopping
from sumcurve.curves.stopping import Undefined
from sumcurve.statistics.design import Cell, Design
from sumcurve.statistics.intervals import difference
from sumcurve.tables.efficiency import STEP_COLUMNS, UNITS, Step, clock_refusal, cost_design, geometric_mean, steps
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table, Value

RULES: tuple[stopping.Rule, ...] = ("common", "fixed updates", "fixed epochs", "within")
ByRule = Mapping[stopping.Rule, Mapping[float, list[stopping.Cost | Undefined]]]
Costs = dict[Cell, tuple[tuple[int, ...], tuple[float, ...]]]


def table(results: Results) -> Table:
    """A row for every interval and rule, θ in percent, in seconds, updates and examples; intervals are of seeds."""
    refusal = clock_refusal(results)
    by_corpus: dict[str, list[Step]] = {}
    for step in steps(results):
        by_corpus.setdefault(step.smaller.corpus, []).append(step)
    rows: list[dict[str, Any]] = []
    for corpus, here in by_corpus.items():
        rules_of = {method: _rules(results, corpus, method) for method in results.methods(corpus)}
        costs = {(rule, unit): _costs(rules_of, rule, unit) for rule in RULES for unit in UNITS}
        full, confidence = results.full_records(corpus), results.settings.confidence
        designs = {key: cost_design(of_rule, full, confidence) for key, of_rule in costs.items()}
        for step in here:
            name = results.name(step.smaller, step.larger)
            for rule in RULES:
                row: dict[str, Any] = {**step.named, "method": name, "rule": rule}
                for unit in UNITS:
                    if unit == "seconds" and refusal:
                        row[f"theta_{unit}_percent"] = Value(None, why=refusal)
                        continue
                    theta = _theta(step, costs[rule, unit], designs[rule, unit])
                    why = _why(rules_of[step.smaller.method].get(rule, {}), step, unit)
                    row[f"theta_{unit}_percent"] = theta or Value(None, why=why)
                rows.append(row)
    columns = [
        *STEP_COLUMNS,
        Column("rule", "rule"),
        *(Column(f"theta_{unit}_percent", f"θ {unit}", "number", 1, interval=True) for unit in UNITS),
    ]
    return Table("stopping", results.title("θ under several stopping rules, from the kept Histories"), columns, rows)


def _theta(step: Step, costs: Costs, design: Design | None) -> Value | None:
    cells = step.larger.cell, step.smaller.cell
    if not all(cell in costs for cell in cells):
        return None
    after, before = (geometric_mean(costs[cell][1]) for cell in cells)
    assert after is not None
    assert before is not None
    theta = 100 * (after / before - 1) / step.growth
    if design is None or not all(cell in design.cells for cell in cells):
        return Value(theta)
    change = difference(design, *cells)
    if change.low is None or change.high is None:
        return Value(theta)
    low, high = (100 * float(np.expm1(end)) / step.growth for end in (change.low, change.high))
    return Value(theta, low, high)


def _rules(results: Results, corpus: str, method: str) -> ByRule:
    """By rule and size what each seed's training costs; nothing where no History was kept."""
    histories: dict[float, list[Sequence[stopping.Validation]]] = {}
    for system in results.of(corpus, trained=True):
        if system.method == method:
            if not all(output.history for output in system.outputs):
                return {}
            histories[float(system.records or 0)] = [output.history for output in system.outputs]
    return stopping.costs(histories)


def _costs(rules: Mapping[str, ByRule], rule: stopping.Rule, unit: str) -> Costs:
    """Trainings whose cost is known for every seed and above 0."""
    known: Costs = {}
    for method, by_rule in rules.items():
        for size, costs in by_rule.get(rule, {}).items():
            values = [getattr(cost, unit) if isinstance(cost, stopping.Cost) else None for cost in costs]
            if all(value is not None and value > 0 for value in values):
                seeds = tuple(range(len(values)))
                known[method, int(size)] = seeds, tuple(float(value) for value in values if value is not None)
    return known


def _why(sizes: Mapping[float, list[stopping.Cost | Undefined]], step: Step, unit: str) -> str:
    for system in (step.smaller, step.larger):
        for cost in sizes.get(float(system.records or 0), []):
            if isinstance(cost, Undefined):
                return str(cost)
            if getattr(cost, unit) is None:
                return "seconds were not measured"
            if getattr(cost, unit) <= 0:
                return "a training costs 0 by this rule"
    return "no History was kept"

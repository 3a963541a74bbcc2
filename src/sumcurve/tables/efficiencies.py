"""Data efficiency of a study's methods as data frames: σ and its kin, θ and ε, θ under several stopping rules.

One row per observation, units in column names, empty if undefined. Scores are F1 in percent, called points. All seeds
of a training make one cell; its score is their mean, its cost their geometric mean.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from sumcurve.curves import stopping
from sumcurve.curves.efficiency import (
    Efficiency,
    Point,
    Spread,
    Trained,
    Undefined,
    interval_efficiency,
    marks,
    relative_cost_deficiency,
    relative_cost_growth,
    spread,
)
from sumcurve.curves.variance import Cell, Estimate, pooled_variance
from sumcurve.scores.rouge import METRICS
from sumcurve.settings import Bootstrap
from sumcurve.tables.cells import Variances, cell
from sumcurve.tables.evidence import TRIVIAL, Aligned, Timing, groups
from sumcurve.tables.frames import framed

SHORT = {"rouge1": "1", "rouge2": "2", "rougeLsum": "L"}
PAIR = ["corpus", "method", "interval", "marks", "from_percent", "to_percent", "from_records", "to_records", "seeds"]
UNITS = ("seconds", "updates", "examples")


def seeds(variances: Variances) -> pd.DataFrame:
    """What seeds vary by, in points, for each corpus and metric; rows of corpora with one seed are empty."""
    rows = []
    for (corpus, metric), found in variances.items():
        row: dict[str, Any] = {"corpus": corpus, "metric": metric}
        if found is not None:
            row |= {"sd": found.variance**0.5, "degrees": found.degrees, "cells": found.cells}
            row |= {"sd_of_models": found.of_models**0.5}
            for end in ("smallest", "largest"):
                method, size, deviation = getattr(found, end)
                row |= {f"{end}_method": method, f"{end}_records": int(size), f"{end}_sd": deviation}
            row |= {"equal_p": found.equal_p}
            row |= {"between_methods": found.between_methods, "between_sizes": found.between_sizes}
        rows.append(row)
    ends = [f"{end}_{what}" for end in ("smallest", "largest") for what in ("method", "records", "sd")]
    columns = ["corpus", "metric", "cells", "degrees", "sd", "sd_of_models", *ends]
    return framed(rows, [*columns, "equal_p", "between_methods", "between_sizes"])


@dataclass(frozen=True)
class _Step:
    """Two sizes of one curve."""

    smaller: list[Aligned]
    larger: list[Aligned]
    named: dict[str, Any]  # the columns of `PAIR`


def _steps(aligned: Sequence[Aligned]) -> Iterator[_Step]:
    """Neighbouring sizes of every curve, then its smallest and largest."""
    curves: dict[tuple[str, str], list[list[Aligned]]] = {}
    for group in groups(aligned):  # by rising percent
        if group[0].output.records is not None:
            curves.setdefault((group[0].output.corpus, group[0].output.method), []).append(group)
    for (corpus, method), curve in curves.items():
        count = len(curve) - 1
        ends = [
            *(("step", marks(number, count), *pair) for number, pair in enumerate(pairwise(curve), start=1)),
            *([("whole", (), curve[0], curve[-1])] if count > 1 else []),
        ]
        for kind, marked, smaller, larger in ends:
            first, second = smaller[0].output, larger[0].output
            yield _Step(
                smaller,
                larger,
                {
                    "corpus": corpus,
                    "method": method,
                    "interval": kind,
                    "marks": "+".join(marked),
                    "from_percent": first.percent,
                    "to_percent": second.percent,
                    "from_records": first.records,
                    "to_records": second.records,
                    "seeds": min(len(smaller), len(larger)),
                },
            )


def _costs(group: Sequence[Aligned], unit: str) -> tuple[float, ...] | None:
    """What each seed's training cost, or None where not all are known and above 0."""
    found = [getattr(one.output.timing, unit) if one.output.timing else 0 for one in group]
    return tuple(map(float, found)) if min(found) > 0 else None


@dataclass(frozen=True)
class Measured:
    """The quotients of one metric on one interval, with the columns that name it."""

    named: dict[str, Any]
    metric: str
    efficiency: Efficiency
    first: Trained
    second: Trained


def measure(
    aligned: Sequence[Aligned], optima: Mapping[str, Mapping[str, np.ndarray]], settings: Bootstrap
) -> list[Measured]:
    """All quotients on every interval, in seconds. `optima` holds by corpus and metric the per-item optimum in percent.

    Costs are left out for all where `clock_refusal` refuses to compare them.
    """
    refused = clock_refusal(one.output.timing for one in aligned if one.output.timing is not None)

    def trained(group: Sequence[Aligned], index: int) -> Trained:
        return Trained(cell(group, index), None if refused else _costs(group, "seconds"))

    found = []
    every = [group for group in groups(aligned) if group[0].output.method not in TRIVIAL]
    spreads: dict[tuple[str, int], Spread] = {
        (corpus, index): spread([trained(one, index) for one in every if one[0].output.corpus == corpus], settings)
        for corpus in dict.fromkeys(group[0].output.corpus for group in every)
        for index in range(len(METRICS))
    }
    for step in _steps(aligned):
        corpus = step.named["corpus"]
        for index, metric in enumerate(METRICS):
            first, second = trained(step.smaller, index), trained(step.larger, index)
            best = optima.get(corpus, {}).get(metric)
            optimum = None if best is None else Cell("optimum", 0.0, (), best[None])
            found.append(
                Measured(
                    step.named,
                    metric,
                    interval_efficiency(first, second, spreads[corpus, index], settings, optimum),
                    first,
                    second,
                )
            )
    return found


def sigma(measured: Iterable[Measured]) -> pd.DataFrame:
    """Σ, σ and the share of the gap to the extractive optimum closed, without measured time.

    `_low` and `_high` are of items and seeds together where seeds are known, else of items (`source` says which);
    `_items_` and `_seeds_` are the two parts.
    """
    rows = []
    for one in measured:
        found = one.efficiency
        reasons = [str(value) for value in (found.sigma, found.gap_closed) if isinstance(value, Undefined)]
        known = [value for value in (found.Sigma, found.sigma) if isinstance(value, Estimate)]
        rows.append(
            {
                **one.named,
                "metric": one.metric,
                **_ends("sigma_percent", found.sigma, 100),
                **_ends("Sigma_per_1000_records", found.Sigma, 1000),
                **_ends("gap_closed_percent", found.gap_closed, 100),
                "source": "items and seeds" if known and known[0].seeds_known else "items",
                "reason": "; ".join(dict.fromkeys(reasons)),
            }
        )
    names = ("sigma_percent", "Sigma_per_1000_records", "gap_closed_percent")
    return framed(rows, [*PAIR, "metric", *(column for name in names for column in _columns(name)), "source", "reason"])


def efficiencies(measured: Sequence[Measured], aligned: Sequence[Aligned]) -> pd.DataFrame:
    """Σ, Θ, E, σ, θ, ε with measured time; θ in updates and examples stands beside θ in seconds.

    `reason` says why a cell is empty. What depends on seconds is refused for the whole table when it would mix devices
    or shared leases.
    """
    refusal = clock_refusal(one.output.timing for one in aligned if one.output.timing is not None)
    counted = {
        (step.named["corpus"], step.named["method"], step.named["from_records"], step.named["to_records"]): step
        for step in _steps(aligned)
    }
    rows = []
    for one in measured:
        found, named = one.efficiency, one.named
        step = counted[named["corpus"], named["method"], named["from_records"], named["to_records"]]
        quotients = (found.sigma, *(() if refusal else (found.theta, found.epsilon)))
        reasons = [refusal] if refusal else []
        reasons += [str(value) for value in quotients if isinstance(value, Undefined)]
        rows.append(
            {
                **named,
                "metric": one.metric,
                "Sigma_per_1000_records": _value(found.Sigma, 1000),
                "Theta_seconds_per_1000_records": _value(found.Theta, 1000),
                "E_per_hour": _value(found.E, 3600),
                "sigma_percent": _value(found.sigma, 100),
                **_bounds("theta_percent", found.theta, 100),
                **_bounds("epsilon", found.epsilon, 1),
                **{f"theta_{unit}_percent": _theta(step, unit) for unit in UNITS[1:]},
                "reason": "; ".join(dict.fromkeys(reasons)),
            }
        )
    values = ["Sigma_per_1000_records", "Theta_seconds_per_1000_records", "E_per_hour", "sigma_percent"]
    values += [f"{name}{end}" for name in ("theta_percent", "epsilon") for end in ("", "_low", "_high")]
    values += [f"theta_{unit}_percent" for unit in UNITS[1:]]
    return framed(rows, [*PAIR, "metric", *values, "reason"])


def _theta(step: _Step, unit: str) -> float | None:
    ends = []
    for group in (step.smaller, step.larger):
        found = _costs(group, unit)
        if found is None:
            return None
        ends.append(Point(group[0].output.records or 0, 0.0, float(np.exp(np.log(found).mean()))))
    return 100 * relative_cost_deficiency(*ends)


def stopping_rules(aligned: Sequence[Aligned], settings: Bootstrap) -> pd.DataFrame:
    """θ in percent, in seconds, updates and examples, under several stopping rules applied to the kept Histories.

    The intervals come from seeds alone. `reason` says why a cell is empty.
    """
    rows: list[dict[str, Any]] = []
    refusal = clock_refusal(one.output.timing for one in aligned if one.output.timing is not None)
    steps = list(_steps(aligned))
    for corpus in dict.fromkeys(step.named["corpus"] for step in steps):
        here = [step for step in steps if step.named["corpus"] == corpus]
        found = {method: _rules(aligned, corpus, method) for method in {step.named["method"] for step in here}}
        for rule in ("common", "fixed updates", "fixed epochs", "within"):
            of_rule = {method: by_rule[rule] for method, by_rule in found.items() if by_rule}
            trainings = {unit: _trained(of_rule, unit) for unit in UNITS}
            pooled = {
                unit: pooled_variance([one.log_costs() for one in trainings[unit].values()], settings) for unit in UNITS
            }
            for step in here:
                named = step.named
                row, reasons = {**named, "rule": rule}, []
                for unit in UNITS:
                    first, second = (
                        trainings[unit].get((named["method"], named[end])) for end in ("from_records", "to_records")
                    )
                    if unit == "seconds" and refusal:
                        reasons.append(refusal)
                    elif first is None or second is None:
                        reasons.append(_why(of_rule.get(named["method"], {}), named, unit))
                    else:
                        growth = relative_cost_growth(first, second, pooled[unit], settings)
                        added = named["to_records"] / named["from_records"] - 1
                        row |= _bounds(f"theta_{unit}_percent", growth, 100 / added)
                rows.append(row | {"reason": "; ".join(dict.fromkeys(reasons))})
    values = [f"theta_{unit}_percent{end}" for unit in UNITS for end in ("", "_low", "_high")]
    rows.sort(key=lambda row: (row["corpus"], row["method"]))  # stable
    return framed(rows, [*PAIR, "rule", *values, "reason"])


def _rules(
    aligned: Sequence[Aligned], corpus: str, method: str
) -> Mapping[stopping.Rule, Mapping[float, list[stopping.Cost | Undefined]]]:
    """By rule and size what each seed's training costs; nothing where no History was kept."""
    histories: dict[float, list[Sequence[stopping.Validation]]] = {}
    for one in aligned:
        output = one.output
        if (output.corpus, output.method) == (corpus, method) and output.records is not None:
            if not output.history:
                return {}
            histories.setdefault(float(output.records), []).append(output.history)
    return stopping.costs(histories)


def _trained(
    of_rule: Mapping[str, Mapping[float, list[stopping.Cost | Undefined]]], unit: str
) -> dict[tuple[str, float], Trained]:
    """Trainings whose cost is known for every seed, by method and size; their scores play no part."""
    found = {}
    for method, sizes in of_rule.items():
        for size, seeds_costs in sizes.items():
            values = [getattr(cost, unit) if isinstance(cost, stopping.Cost) else None for cost in seeds_costs]
            if all(value is not None and value > 0 for value in values):
                names = tuple(range(len(values)))
                blank = Cell(method, size, names, np.zeros((len(values), 2)))
                found[method, size] = Trained(blank, tuple(float(value) for value in values if value is not None))
    return found


def _why(sizes: Mapping[float, list[stopping.Cost | Undefined]], named: Mapping[str, Any], unit: str) -> str:
    for end in ("from_records", "to_records"):
        for cost in sizes.get(float(named[end]), []):
            if isinstance(cost, Undefined):
                return str(cost)
            if getattr(cost, unit) is None:
                return "seconds were not measured"
            if getattr(cost, unit) <= 0:
                return "a training costs 0 by this rule"
    return "no History was kept"


def clock_refusal(timings: Iterable[Timing]) -> str:
    """Why seconds of these trainings must not stand in one table; empty where they may."""
    known = list(timings)
    devices = sorted({timing.device for timing in known})
    if len(devices) > 1:
        return f"Θ, E, θ, ε refused: seconds of different devices do not compare ({', '.join(devices)})"
    shared = sum(not timing.exclusive for timing in known)
    if shared:
        return f"Θ, E, θ, ε refused: {shared} of {len(known)} trainings shared their device with other work"
    return ""


def _value(found: Estimate | Undefined, factor: float) -> float | None:
    return found.value * factor if isinstance(found, Estimate) else None


def _bounds(name: str, found: Estimate | Undefined, factor: float) -> dict[str, float | None]:
    """A value and its interval of all known sources."""
    low, high = (found.bounds if isinstance(found, Estimate) else None) or (None, None)
    ends = {name: _value(found, factor)}
    return ends | {f"{name}_{end}": None if at is None else at * factor for end, at in (("low", low), ("high", high))}


def _ends(name: str, found: Estimate | Undefined, factor: float) -> dict[str, float | None]:
    """A value with its interval of all known sources, and the parts of items and seeds."""
    row = _bounds(name, found, factor)
    for part in ("items", "seeds"):
        low, high = (getattr(found, part) if isinstance(found, Estimate) else None) or (None, None)
        row[f"{name}_{part}_low"] = None if low is None else low * factor
        row[f"{name}_{part}_high"] = None if high is None else high * factor
    return row


def _columns(name: str) -> list[str]:
    return [name, *(f"{name}{part}_{end}" for part in ("", "_items", "_seeds") for end in ("low", "high"))]

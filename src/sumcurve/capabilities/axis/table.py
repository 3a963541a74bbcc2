"""Numbers of records from which on trained methods are ahead of prompts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sumcurve.capabilities.axis.crossing import BEYOND, Crossing, crossing
from sumcurve.capabilities.axis.evidence import (
    PROMPTED,
    Axis,
    axis_of,
    devices_of,
    metric_of,
    systems_at,
)
from sumcurve.scores.scorer import Metric
from sumcurve.settings.base import ZERO_SHOT
from sumcurve.tables.columns import shared
from sumcurve.tables.efficiency import mean_cost
from sumcurve.tables.results import Results, value
from sumcurve.tables.systems import System
from sumcurve.tables.table import Column, Table

if TYPE_CHECKING:
    from sumcurve.capabilities.chat.evidence import Prompted

THOUSAND = 1000  # items that a prompt's cost is given for


def table(results: Results) -> Table:
    """A row for every prompt, by its examples, and every method that is trained.

    `records` are those from which on the method's curve is not below the prompt's score; `ahead_from` is for people.
    `over_random` is the lead over the same model with random weights, where both were trained on the largest size.
    """
    axis = axis_of(results)
    rows = [row for corpus in results.corpora if axis for row in _rows(axis, results, corpus)]
    columns = [
        *shared("corpus", "metric"),
        Column("prompt", "prompt"),
        Column("examples", "examples", "count"),
        Column("prompt_score", "its score", "number", results.decimals, interval=True),
        *shared("method"),
        Column("kind", "kind"),
        Column("ahead_from", "ahead from records"),
        *(Column(name, None, "count") for name in ("records", "records_low", "records_high")),
        *(Column(name, None) for name in ("bound", "bound_low", "bound_high")),
        Column("reached", "within the data (%)", "number", 0),
        Column("largest", "largest size", "count"),
        Column("lead", "lead there", "number", results.decimals, interval=True),
        Column("over_random", "lead there over its random weights", "number", results.decimals, interval=True),
        Column("over_random_covers", None),
        *shared("seconds", "device"),
        Column("tokens_thousand", "tokens of 1,000 answers", "count"),
        Column("price_thousand", "price of 1,000 answers", "number", 4),
        *shared("interval_covers"),
    ]
    notes = [
        *(sentences(axis, results) if axis else ()),
        f"In brackets: {results.share} intervals over joint draws of seeds, records and test items.",
        *results.notes.without_interval,
        f"{results.notes.seeds} {results.notes.caveat}",
        results.notes.marks,
        *results.notes.unread,
    ]
    return Table(
        "data_axis", results.title("From how many records on training is ahead of a prompt"), columns, rows, notes
    )


def prompts_on(axis: Axis, results: Results, corpus: str) -> list[System]:
    """Prompted systems by model and rising examples."""
    placed = [(records, system) for records, kind, system in systems_at(axis, results, corpus) if kind == PROMPTED]
    return [system for _, system in sorted(placed, key=lambda pair: (axis.name(pair[1]), pair[0]))]


def curves_on(axis: Axis, results: Results, corpus: str) -> dict[str, list[System]]:
    """Systems of trained methods that count, by method and rising records."""
    curves: dict[str, list[System]] = {}
    for records, kind, system in systems_at(axis, results, corpus):
        if kind != PROMPTED and records and results.counts(system, axis.metric):
            curves.setdefault(system.method, []).append(system)
    return {name: sorted(systems, key=lambda system: system.records or 0) for name, systems in curves.items()}


def crossing_of(results: Results, metric: Metric, curve: list[System], prompt: System) -> Crossing:
    """Crossing of a method's curve with a prompt's score; joint draws of all of its cells and the prompt's."""
    design = results.design(prompt.corpus, metric.name)
    assert design is not None
    sign = results.sign(metric.name)
    places, place = [design.place(system.cell) for system in curve], design.place(prompt.cell)
    sizes = tuple(system.records or 0 for system in curve)
    drawn = None
    if not design.why:
        draws = sign * results.draws(prompt.corpus, metric.name)
        drawn = draws[:, places], draws[:, place]
    means = sign * np.asarray(design.means)
    return crossing(sizes, means[places], float(means[place]), drawn, results.settings.confidence)


def _rows(axis: Axis, results: Results, corpus: str) -> list[dict[str, Any]]:
    metric = metric_of(axis, results, corpus)
    if metric is None:
        return []
    rows, answers, sign = [], answers_of(results, corpus), results.sign(metric.name)
    systems = [system for _, _, system in systems_at(axis, results, corpus)]
    for prompt in prompts_on(axis, results, corpus):
        if not results.counts(prompt, metric.name):
            continue
        score = results.estimate(corpus, metric.name, prompt.cell)
        shared: dict[str, Any] = {
            "corpus": corpus,
            "metric": metric.title,
            "prompt": axis.title(results, prompt),
            "examples": prompt.records or 0,
            "prompt_score": value(score, decimals=metric.decimals),
        }
        if (answer := answers.get((axis.name(prompt), prompt.records or 0))) and (items := answer.usage["items"]):
            tokens = [own + lost for own, lost in zip(answer.tokens, answer.lost_tokens, strict=True)]
            shared["tokens_thousand"] = round(THOUSAND * sum(tokens) / items)
            money = answer.money(*tokens)
            shared["price_thousand"] = None if money is None else THOUSAND * money / items
        for curve in curves_on(axis, results, corpus).values():
            crossed, last = crossing_of(results, metric, curve, prompt), curve[-1]
            lead = results.contrast(corpus, metric.name, {last.cell: sign, prompt.cell: -sign})
            control = (axis.controls.get(last.method), last.records)
            row = shared | {
                "method": results.name(last),
                "kind": axis.kind(last),
                "ahead_from": str(crossed),
                "records": crossed.within(crossed.records),
                "records_low": crossed.within(crossed.low),
                "records_high": crossed.within(crossed.high),
                "bound": crossed.sign(crossed.records),
                "bound_low": crossed.sign(crossed.low),
                "bound_high": crossed.sign(crossed.high),
                "reached": None if crossed.reached is None else 100 * crossed.reached,
                "largest": last.records,
                "lead": value(lead, decimals=metric.decimals),
                "interval_covers": lead.covers if lead.low is not None else None,
            }
            for other in systems:
                if (other.method, other.records) == control:
                    over = results.contrast(corpus, metric.name, {last.cell: sign, other.cell: -sign})
                    row["over_random"] = value(over, decimals=metric.decimals)
                    row["over_random_covers"] = over.covers if over.low is not None else None
            if seconds := mean_cost(last, "seconds"):
                row |= {"seconds": seconds, "device": ", ".join(devices_of(last))}
            rows.append(row)
    return rows


def answers_of(results: Results, corpus: str) -> "dict[tuple[str, int], Prompted]":
    """Costs of answers, by system without `ZERO_SHOT` and number of examples; empty without prompted models."""
    evidence = results.study.evidence.get("chat")
    rows: Sequence[Prompted] = getattr(evidence, "rows", ())
    return {(row.method.removesuffix(ZERO_SHOT), row.examples): row for row in rows if row.corpus == corpus}


def sentences(axis: Axis, results: Results) -> list[str]:
    """Answer for every corpus, against the prompt with the best mean."""
    answers = []
    for corpus in results.corpora:
        metric = metric_of(axis, results, corpus)
        prompts = [prompt for prompt in prompts_on(axis, results, corpus) if results.counts(prompt, axis.metric)]
        curves = curves_on(axis, results, corpus)
        if metric is None or not prompts or not curves:
            continue
        sign = results.sign(metric.name)
        best = max(prompts, key=lambda prompt: sign * results.estimate(corpus, metric.name, prompt.cell).mean)
        parts = []
        for curve in curves.values():
            crossed = crossing_of(results, metric, curve, best)
            where = f"{crossed} records" if crossed.records == BEYOND else f"from {crossed} records on"
            parts.append(f"{results.name(curve[-1])} {where}")
        examples = best.records or 0
        answers.append(
            f"{corpus}, {metric.title}: ahead of {axis.title(results, best)} with {examples} "
            f"example{'s' * (examples != 1)}, its best prompt: {'; '.join(parts)} (table data_axis)."
        )
    return answers

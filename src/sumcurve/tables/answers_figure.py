"""The figure of table answers: score against training seconds, one line a method, and what no other method betters.

A point is a method at one size, its seconds the geometric mean over seeds. The Pareto front goes through the points
that no cheaper one reaches.
"""

import textwrap
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from sumcurve.scores.scorer import Metric
from sumcurve.tables.efficiency import clock_refusal, costs_of, geometric_mean
from sumcurve.tables.evidence import BLIND
from sumcurve.tables.figure import (
    BETWEEN_ROWS,
    FONT_SIZE,
    GREY,
    INK,
    WIDTH,
    Label,
    dashes_of,
    grid,
    looks_of,
    save,
    write_labels,
)
from sumcurve.tables.results import Results, System

HEIGHT, LINE = 3.3, 0.17  # inches of a corpus at least, and of a name beside its panels


def write_answers(results: Results, folder: Path) -> None:
    """Draw answers.svg; nothing where seconds are not known or not comparable."""
    if not clock_refusal(results) and any(_timed(results, corpus) for corpus in results.corpora):
        save(lambda: draw(results), folder, "answers")


def draw(results: Results) -> Figure:
    """A block of panels for each corpus with timed trainings, a panel for each metric that methods are ranked by."""
    corpora = [corpus for corpus in results.corpora if _timed(results, corpus)]
    looks = looks_of(sorted({one.method for corpus in corpora for one in _timed(results, corpus)}))
    parts = [
        "Score on the test set against training time up to the selected checkpoint, a point for each training "
        f"size; upright bars: {results.share} intervals. Grey steps: the Pareto front, the best score for the time. "
        "Dashed: not trained, without the reference.",
        results.seeds_note,
        results.marks_note,
        results.caveat,
        *results.corpora_notes,
    ]
    caption = [line for part in parts if part for line in textwrap.wrap(part, 165)]
    foot, head = 0.3 + 0.17 * len(caption), 0.35 if results.study.in_part else 0.0
    lines, columns = grid(results.ranking)
    named = {corpus: len(results.methods(corpus)) + len(_blind(results, corpus)) for corpus in corpora}
    talls = [max(HEIGHT - 1.2, LINE * named[corpus]) for corpus in corpora]
    heights = [1.2 + lines * tall + (lines - 1) * BETWEEN_ROWS for tall in talls]
    total = head + sum(heights) + foot
    figure = Figure(figsize=(WIDTH, total))
    if head:
        heading = results.study.in_part
        figure.text(0.5, 1 - 0.12 / total, heading, weight="bold", size=FONT_SIZE + 3, ha="center", va="top")
    top = total - head
    for corpus, tall, height in zip(corpora, talls, heights, strict=True):
        figure.text(0.012, (top - 0.14) / total, corpus, weight="bold", size=FONT_SIZE + 2, va="top")
        systems = _timed(results, corpus)
        names = [results.name(one).shown for one in (*_blind(results, corpus), *systems)]
        label = (0.2 + 0.066 * max(map(len, names))) / WIDTH
        step = 0.945 / columns
        for place, metric in enumerate(results.drawn([corpus])):
            row, column = divmod(place, columns)
            bottom = top - 0.6 - tall - row * (tall + BETWEEN_ROWS)
            axes = figure.add_axes((0.055 + column * step, bottom / total, step - label - 0.03, tall / total))
            axes.set_title(f"{metric.title} ({metric.unit})", loc="left", pad=5)
            _draw_panel(axes, results, corpus, metric, systems, looks, tall)
            axes.set_xlabel("training seconds, logarithmic")
        top -= height
    figure.text(0.012, (foot - 0.16) / total, "\n".join(caption), va="top", size=FONT_SIZE - 0.5, linespacing=1.35)
    return figure


def _timed(results: Results, corpus: str) -> list[System]:
    return [one for one in results.of(corpus, trained=True) if costs_of(one, "seconds")]


def _blind(results: Results, corpus: str, metric: str | None = None) -> list[System]:
    """What is not trained and does not see the reference."""
    return [one for one in results.of(corpus, False, metric) if one.role in BLIND]


def _draw_panel(
    axes: Axes,
    results: Results,
    corpus: str,
    metric: Metric,
    systems: Sequence[System],
    looks: dict[str, tuple[str, str]],
    inches: float,
) -> None:
    having = [one for one in systems if results.scorer(metric.name) in one.scorers]
    labels = []
    points: list[tuple[float, float]] = []
    for method in dict.fromkeys(one.method for one in having):
        curve = [one for one in having if one.method == method]
        seconds = [geometric_mean(costs_of(one, "seconds")) or np.nan for one in curve]
        found = [results.estimate(corpus, metric.name, one.cell) for one in curve]
        scores = [one.mean for one in found]
        colour, marker = looks[method]
        for x, one in zip(seconds, found, strict=True):
            if one.low is not None and one.high is not None:
                axes.vlines(x, one.low, one.high, color=colour, linewidth=0.8, alpha=0.6)
        axes.plot(seconds, scores, color=colour, marker=marker, markersize=4.5, linewidth=1.4)
        labels.append(Label(results.name(curve[-1]).shown, scores[-1], colour))
        for x, score, system in zip(seconds, scores, curve, strict=True):
            if results.counts(system, metric.name):
                points.append((x, score))
            else:
                axes.plot(x, score, color=colour, marker=marker, markersize=4.5, mfc="white", linestyle="none")
    front = pareto(points, results.sign(metric.name) > 0)
    if front:
        end = max(x for x, _ in points)
        costs, best = zip(*front, (end, front[-1][1]), strict=True)
        axes.step(costs, best, where="post", color=GREY, linewidth=4.0, alpha=0.25, zorder=0.5)
    dashes = dashes_of([one.method for one in _blind(results, corpus)])
    for system in _blind(results, corpus, metric.name):
        score = results.estimate(corpus, metric.name, system.cell).mean
        axes.axhline(score, color=GREY, linewidth=0.9, linestyle=dashes[system.method], zorder=0.6)
        labels.append(Label(system.method, score, GREY))
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda seconds, _: f"{seconds:,.10g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.margins(x=0.08)
    axes.yaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.7)
    axes.tick_params(colors=INK)
    axes.set_axisbelow(True)
    write_labels(axes, labels, inches)


def pareto(points: Sequence[tuple[float, float]], higher_is_better: bool = True) -> list[tuple[float, float]]:
    """The points (cost, score) that no point of equal or lower cost reaches, by rising cost."""
    sign = 1 if higher_is_better else -1
    front: list[tuple[float, float]] = []
    for cost, score in sorted(points, key=lambda point: (point[0], -sign * point[1])):
        if not front or sign * score > sign * front[-1][1]:
            front.append((cost, score))
    return front

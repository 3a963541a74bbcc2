"""The core's figures of a study, drawn from its results and the frame of table scores.

curves.svg has a panel for every corpus and
metric; seconds.svg has scores over training time, with the best for the time (the Pareto front).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from sumcurve.scores.scorer import Metric
from sumcurve.settings.base import ZERO_SHOT
from sumcurve.statistics.design import Cell
from sumcurve.tables import chart
from sumcurve.tables.chart import LINE, Panel
from sumcurve.tables.efficiency import clock_refusal, mean_cost
from sumcurve.tables.evidence import BLIND, is_beside
from sumcurve.tables.results import UNREAD, Results
from sumcurve.tables.table import number
from sumcurve.tables.verdicts import bands

FIGURES: Mapping[str, str] = {  # by name the title
    "answers": "Score against training records, a line for every method",
    "curves": "Scores against training records, with intervals",
    "seconds": "Scores against training seconds, with the best score for the time",
}
SMALL, DOTS = (215, 215), 190  # pixels: width and height of panels
COLUMNS = 3  # panels in a row
RECORDS, SECONDS = "training records, logarithmic", "training seconds, logarithmic"


def write_figures(results: Results, scores: pd.DataFrame, folder: Path) -> None:
    """Draw every figure for which the study has evidence; `scores` is the frame of table scores, with baselines."""
    looks = looks_of(results, scores)
    heading = results.study.in_part
    corpora = [
        corpus for corpus in results.corpora if scored(scores[scores.corpus == corpus], results.ranking_metrics())
    ]
    blocks = [block(results, scores, corpus, drawn(results, corpus), looks) for corpus in corpora]
    chart.write(chart.sheet(blocks, heading, notes(results, scores)), folder / "curves.svg")
    timed = [corpus for corpus in corpora if seconds_of(results, corpus)]
    if timed and not clock_refusal(results):
        blocks = [block(results, scores, corpus, drawn(results, corpus), looks, seconds=True) for corpus in timed]
        chart.write(chart.sheet(blocks, heading, notes(results, scores, seconds=True)), folder / "seconds.svg")


def drawn(results: Results, corpus: str) -> list[Metric]:
    """The ranking metrics for a figure of a corpus; the title of one that is not valid there is marked."""
    return [
        replace(metric, title=metric.title + UNREAD) if results.unread(corpus, metric.name) else metric
        for metric in results.ranking_metrics()
    ]


def scored(rows: pd.DataFrame, metrics: Sequence[Metric]) -> list[Metric]:
    """The metrics that something of these rows has."""
    return [metric for metric in metrics if rows[metric.name].notna().any()]


def looks_of(results: Results, scores: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Colour and shape of every trained method."""
    return chart.looks_of(set(scores.method[scores.role == "trained"]), results.kinds)


def block(
    results: Results,
    scores: pd.DataFrame,
    corpus: str,
    metrics: Sequence[Metric],
    looks: chart.Looks,
    seconds: bool = False,
) -> Any:
    """The panels of a corpus: curves over its sizes, or over seconds; dots where it has one size or none."""
    rows = scores[scores.corpus == corpus]
    panels = [study_panel(results, rows, corpus, metric, seconds) for metric in scored(rows, metrics)]
    remark = f"{number(int(rows['items'].iloc[0]))} test items"
    sizes = results.sizes(corpus)
    if seconds or len(sizes) > 1:
        (width, height), columns = SMALL, COLUMNS
        tallest = max(len(set(panel.points.method)) + len(panel.levels) for panel in panels)
        height = max(height, LINE * (tallest + 1))
        drawn = [chart.curves(panel, looks, width, height) for panel in panels]
    else:
        columns = COLUMNS + 1
        order = order_of(panels[0])
        drawn = [chart.dots(panel, looks, order, DOTS, place % columns == 0) for place, panel in enumerate(panels)]
        remark += f", trained on {number(sizes[0])} records" if sizes else ""
    return chart.block(drawn, columns, corpus, remark)


def order_of(panel: Panel) -> list[str]:
    """The systems of a corpus of one size, from the top: those that are not trained first, then by score."""
    return [*panel.levels.method, *panel.points.sort_values("score", ascending=False, kind="stable").system]


def study_panel(results: Results, rows: pd.DataFrame, corpus: str, metric: Metric, seconds: bool = False) -> Panel:
    """Panel of a metric of a study; `rows` are those of the corpus in the frame of table scores.

    Over seconds: with the Pareto front, and without the lines of systems that see the reference.
    """
    marks = {system.cell: results.name(system).shown for system in results.of(corpus, trained=True)}
    cells = zip(rows.method, rows.records.fillna(-1).astype(int), strict=True)
    rows = rows.assign(system=[marks.get((method, records or None), method) for method, records in cells])
    title = f"{metric.title} ({metric.unit})"
    if seconds:
        rows = rows[rows.records.notna() | rows.role.isin(BLIND)]
        panel = panel_of(rows, metric.name, title, seconds_of(results, corpus))
        return replace(panel, front=front_of(results, corpus, metric))
    beyond = bands(results)
    beyond = beyond[(beyond.corpus == corpus) & (beyond.metric == metric.name) & beyond.beyond]
    beyond = beyond.rename(columns={"records": "x", "middle": "score"})[["method", "x", "score", "low", "high"]]
    optimum = results.optimum(corpus, metric.name) if len(results.sizes(corpus)) > 1 else None
    panel = panel_of(rows, metric.name, title, fitted=beyond)
    return replace(panel, above=optimum.levels if optimum else ())


def panel_of(
    scores: pd.DataFrame,
    metric: str,
    title: str,
    seconds: Mapping[Cell, float] | None = None,
    fitted: pd.DataFrame | None = None,
) -> Panel:
    """Panel of a column of scores: over training records, or over the `seconds` of trainings, where known.

    `scores` are rows of one corpus in table scores, with a column `system`: the names that are drawn. `fitted` are
    curves beyond the data, as a panel has them.
    """
    ends = {metric: "score", f"{metric}_low": "low", f"{metric}_high": "high"}
    rows = scores.reindex(columns=["method", "system", "role", "records", "reads_source", *ends])
    rows = rows[rows[metric].notna()].astype(dict.fromkeys(["records", *ends], float)).rename(columns=ends)
    trained, fixed = rows[rows.records.notna()], rows[rows.records.isna()]
    sizes = sorted({*trained.records[trained.records > 0]})
    x, ticks, zero = trained.records, sizes, None
    if seconds is not None:
        cells = zip(trained.method, trained.records.astype(int), strict=True)
        x = pd.Series([seconds.get((name, size or None)) for name, size in cells], index=trained.index, dtype=float)
        ticks = [digit * 10.0**power for power in range(-3, 7) for digit in (1, 3)]
    else:
        if fitted is not None and len(fitted):  # every other size, so that names do not touch, and how far curves go
            ticks = [*sizes[::-1][::2], float(fitted.x.max())]
        if (x == 0).any() and sizes:
            zero = sizes[0] / max(1.5, (sizes[-1] / sizes[0]) ** 0.12)
            x, ticks = x.replace(0, zero), [zero, *ticks]
    points = pd.DataFrame(
        {
            "method": trained.method.str.removesuffix(ZERO_SHOT).where(trained.records == 0, trained.method),
            "system": trained.system,
            "step": range(len(trained)),
            "x": x,
            **{end: trained[end] for end in ends.values()},
            "reads": trained.reads_source != "no",
        }
    ).dropna(subset="x")
    levels = fixed[["system", *ends.values()]].rename(columns={"system": "method"}).assign(bound=fixed.role == "bound")
    panel = Panel(
        title,
        RECORDS if seconds is None else SECONDS,
        points.reset_index(drop=True),
        levels,
        sorted(ticks),
        zero=zero,
        costs=seconds is not None,
    )
    return panel if fitted is None else replace(panel, fitted=fitted)


def front_of(results: Results, corpus: str, metric: Metric) -> list[tuple[float, float]]:
    """The Pareto front of the systems that a metric ranks, drawn to the most costly of them; none where it may not."""
    if results.unread(corpus, metric.name):
        return []
    counted = {system.cell for system in results.of(corpus, True, metric.name) if results.counts(system, metric.name)}
    costs = seconds_of(results, corpus)
    points_of = [(costs[cell], results.estimate(corpus, metric.name, cell).mean) for cell in counted if cell in costs]
    front = pareto(points_of, results.sign(metric.name) > 0)
    return [*front, (max(cost for cost, _ in points_of), front[-1][1])] if front else []


def seconds_of(results: Results, corpus: str) -> dict[Any, float]:
    """Geometric means over seeds of the seconds to the selected checkpoint, by cell, where they are known."""
    means = {system.cell: mean_cost(system, "seconds") for system in results.of(corpus, trained=True)}
    return {cell: mean for cell, mean in means.items() if mean is not None}


def pareto(points: Sequence[tuple[float, float]], higher_is_better: bool = True) -> list[tuple[float, float]]:
    """The points (cost, score) that no point of equal or lower cost reaches, by rising cost."""
    sign = 1 if higher_is_better else -1
    front: list[tuple[float, float]] = []
    for cost, score in sorted(points, key=lambda point: (point[0], -sign * point[1])):
        if not front or sign * score > sign * front[-1][1]:
            front.append((cost, score))
    return front


def notes(results: Results, scores: pd.DataFrame, seconds: bool = False) -> list[str]:
    """Sentences at the foot of a figure of several panels: the meaning of marks, lines and names."""
    covers = " or ".join(dict.fromkeys(str(covered) for covered in scores.interval_covers.dropna() if covered))
    over = "time up to the selected checkpoint" if seconds else "records"
    lower = [metric.title for metric in results.ranking_metrics() if not metric.higher_is_better]
    kinds = {
        "without the reference": scores.role.isin(BLIND),
        "picked by the reference": (scores.role == "bound") & ~_beside(scores),
        "to compare with": _beside(scores),
        "without any source": scores.role == "words",
    }
    fixed = scores.records.isna()
    named = {kind: list(dict.fromkeys(scores.method[rows & fixed])) for kind, rows in kinds.items()}
    if seconds:
        named = dict(list(named.items())[:1])
    grey = "; ".join(f"{', '.join(names)}: {kind}" for kind, names in named.items() if names)
    there = {results.kinds.get(name) for name in scores.method}
    markers = {kind: shape for kind, shape in chart.shapes_of(results.kinds).items() if kind in there}
    sentences = [
        f"Mean scores on the test set over training {over}; bands and bars: {results.share} intervals"
        f"{f' over {covers}' if covers else ''}.",
        results.notes.seeds,
        f"Markers: {', '.join(f'{shape} {kind}' for kind, shape in markers.items())}." if markers else "",
        "Hollow: no significant source sensitivity." if (scores.reads_source == "no").any() else "",
        f"Lower is better: {', '.join(lower)}." if lower else "",
        f"Grey, not trained. {grey}." if grey else "",
        *([results.notes.caveat, results.notes.marks, *results.notes.corpora]),
    ]
    if seconds and any(results.ranking_metrics(corpus) for corpus in results.corpora):
        sentences.append("Grey steps: the Pareto front, the best score for the time.")
    if not seconds:
        if (scores.records == 0).any():
            sentences.append("At 0 records, left of the break: pretrained models before any training.")
        if bands(results).beyond.any():
            sentences.append(f"Dashed, beyond the data: forecasts, median and {results.share} band (table verdicts).")
        if any(
            results.optimum(corpus, metric.name) for corpus in results.corpora for metric in results.ranking_metrics()
        ):
            sentences.append(results.optimum_words.drawn)
    return [note for note in sentences if note]


def _beside(scores: pd.DataFrame) -> pd.Series:
    return pd.Series([is_beside(row.role, row.method) for row in scores.itertuples()], index=scores.index, dtype=bool)

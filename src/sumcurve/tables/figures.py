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
from sumcurve.tables import chart
from sumcurve.tables.chart import LINE, Panel
from sumcurve.tables.efficiency import clock_refusal, costs_of, geometric_mean
from sumcurve.tables.evidence import BLIND, is_beside
from sumcurve.tables.results import Results
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
    """Draw what the study has the evidence for; `scores` is the frame of table scores, with level lines."""
    looks = looks_of(scores)
    heading = results.study.in_part
    corpora = [corpus for corpus in results.corpora if known(scores[scores.corpus == corpus], results.ranking)]
    blocks = [block(results, scores, corpus, results.drawn([corpus]), looks) for corpus in corpora]
    chart.save(chart.sheet(blocks, heading, notes(results, scores)), folder, "curves")
    timed = [corpus for corpus in corpora if seconds_of(results, corpus)]
    if timed and not clock_refusal(results):
        blocks = [block(results, scores, corpus, results.drawn([corpus]), looks, seconds=True) for corpus in timed]
        chart.save(chart.sheet(blocks, heading, notes(results, scores, seconds=True)), folder, "seconds")


def known(rows: pd.DataFrame, metrics: Sequence[Metric]) -> list[Metric]:
    """The metrics that something of these rows has."""
    return [metric for metric in metrics if rows[metric.name].notna().any()]


def looks_of(scores: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Colour and shape of every trained method."""
    return chart.looks_of(set(scores.method[scores.role == "trained"]))


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
    panels = [panel_of(results, rows, corpus, metric, seconds=seconds) for metric in known(rows, metrics)]
    roles = BLIND if seconds else ()
    panels = [only(panel, rows, roles) for panel in panels] if roles else panels
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


def only(panel: Panel, rows: pd.DataFrame, roles: Sequence[str]) -> Panel:
    """A panel with the levels of these roles alone."""
    names = rows.method[rows.role.isin(roles)]
    return replace(panel, levels=panel.levels[panel.levels.method.isin(names)], above=())


def order_of(panel: Panel) -> list[str]:
    """The systems of a corpus of one size, from the top: those that are not trained first, then by score."""
    return [*panel.levels.method, *panel.points.sort_values("score", ascending=False, kind="stable").system]


def panel_of(
    results: Results,
    rows: pd.DataFrame,
    corpus: str,
    metric: Metric,
    fitted: bool = True,
    seconds: bool = False,
) -> Panel:
    """What is drawn of a metric; `rows` are those of the corpus in the frame of table scores."""
    scored = rows[rows[metric.name].notna()]
    ends = {"score": metric.name, "low": f"{metric.name}_low", "high": f"{metric.name}_high"}
    columns = scored[["method", "role", "records", "reads_source"]]
    scored = columns.assign(**{name: scored[column].astype(float) for name, column in ends.items()})
    trained = scored[scored.records.notna()]
    marks = {system.cell: results.name(system).shown for system in results.of(corpus)}
    sizes = trained.records.astype(int)
    cells = [(name, size or None) for name, size in zip(trained.method, sizes, strict=True)]
    zero = None
    x = sizes.astype(float)
    every = results.sizes(corpus)
    if seconds:
        costs = seconds_of(results, corpus)
        x = pd.Series([costs.get(cell) for cell in cells], index=trained.index, dtype=float)
    elif (sizes == 0).any() and every:
        zero = every[0] / max(1.5, (every[-1] / every[0]) ** 0.12)
        x = x.replace(0, zero)
    points = pd.DataFrame(
        {
            "method": trained.method.str.removesuffix(ZERO_SHOT).where(sizes == 0, trained.method),
            "system": [marks.get(cell, cell[0]) for cell in cells],
            "step": range(len(trained)),
            "x": x,
            **{name: trained[name] for name in ends},
            "reads": trained.reads_source != "no",
        }
    ).dropna(subset="x")
    others = scored[scored.records.isna()]
    bound = [role == "bound" for role in others.role]
    levels = others[["method", *ends]].assign(bound=pd.Series(bound, index=others.index, dtype=bool))
    optimum = results.optimum(corpus, metric.name) if len(every) > 1 else None
    beyond = bands(results)
    beyond = beyond[(beyond.corpus == corpus) & (beyond.metric == metric.name) & beyond.beyond & fitted & (not seconds)]
    beyond = beyond.rename(columns={"records": "x", "middle": "score"})[["method", "x", "score", "low", "high"]]
    ticks: list[float] = [*every]
    if seconds:
        ticks = [digit * 10.0**power for power in range(-3, 7) for digit in (1, 3)]
    elif len(beyond):  # every other size, so that names do not touch, and how far the curves go
        ticks = [*every[::-1][::2], float(beyond.x.max())]
    return Panel(
        f"{metric.title} ({metric.unit})",
        SECONDS if seconds else RECORDS,
        points.reset_index(drop=True),
        levels,
        [*([zero] if zero else []), *sorted(ticks)],
        beyond,
        optimum.levels if optimum else (),
        front_of(results, corpus, metric, points) if seconds else (),
        zero,
        seconds,
    )


def front_of(results: Results, corpus: str, metric: Metric, points: pd.DataFrame) -> list[tuple[float, float]]:
    """The Pareto front of the systems that take part in what a metric ranks, drawn to the most costly of them."""
    counted = {system.cell for system in results.of(corpus, True, metric.name) if results.counts(system, metric.name)}
    costs = seconds_of(results, corpus)
    points_of = [(costs[cell], results.estimate(corpus, metric.name, cell).mean) for cell in counted if cell in costs]
    front = pareto(points_of, results.sign(metric.name) > 0)
    return [*front, (max(cost for cost, _ in points_of), front[-1][1])] if front else []


def seconds_of(results: Results, corpus: str) -> dict[Any, float]:
    """By cell the geometric mean over seeds of the seconds to the selected checkpoint, where they are known."""
    means = {system.cell: geometric_mean(costs_of(system, "seconds")) for system in results.of(corpus, trained=True)}
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
    """Sentences at the foot of a figure of several panels: what marks, lines and names mean."""
    covers = " or ".join(dict.fromkeys(str(covered) for covered in scores.interval_covers.dropna() if covered))
    over = "time up to the selected checkpoint" if seconds else "records"
    lower = [metric.title for metric in results.ranking if not metric.higher_is_better]
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
    sentences = [
        f"Mean scores on the test set over training {over}; bands and bars: {results.share} intervals"
        f"{f' over {covers}' if covers else ''}.",
        results.seeds_note,
        "Hollow: not shown to read its source." if (scores.reads_source == "no").any() else "",
        f"Lower is better: {', '.join(lower)}." if lower else "",
        f"Grey, not trained. {grey}." if grey else "",
        *([results.caveat, results.marks_note, *results.corpora_notes]),
    ]
    if seconds:
        sentences.append("Grey steps: the Pareto front, the best score for the time.")
    else:
        if (scores.records == 0).any():
            sentences.append("At 0 records, left of the break: pretrained models before any training.")
        if bands(results).beyond.any():
            sentences.append(
                f"Dashed, beyond the data: median and {results.share} band of the fitted curves (table verdicts)."
            )
        if any(results.optimum(corpus, metric.name) for corpus in results.corpora for metric in results.ranking):
            sentences.append(results.optimum_words.drawn)
    return [note for note in sentences if note]


def _beside(scores: pd.DataFrame) -> pd.Series:
    return pd.Series([is_beside(row.role, row.method) for row in scores.itertuples()], index=scores.index, dtype=bool)

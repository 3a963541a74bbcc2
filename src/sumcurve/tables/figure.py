"""The figure of scores against training size, drawn from the frame of `frames.intervals`.

A corpus with several fractions is a row of curves, one with a single fraction a row of dots. No global state
of matplotlib is read or changed, and equal frames give equal bytes of SVG with one version of matplotlib.
"""

import io
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from sumcurve.records import write_bytes
from sumcurve.scores import METRICS
from sumcurve.settings import Bootstrap
from sumcurve.tables.evidence import BLIND, TRIVIAL

TITLES = {"rouge1": "ROUGE-1", "rouge2": "ROUGE-2", "rougeLsum": "ROUGE-Lsum"}
# Okabe and Ito's colours for all kinds of colour vision, the yellow left out: it is lost on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "D", "^", "v", "P", "X")
DASHES = {"lead": (0, (6, 2)), "random": (0, (1, 1.6)), "best-sentence": (0, (6, 2, 1, 2))}
GREY, INK = "#6b6b6b", "#222222"
WIDTH, CURVES_HEIGHT, DOT_HEIGHT, FONT_SIZE = 11.0, 3.4, 0.26, 8.5  # inches, inches, inches, points
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": FONT_SIZE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.titlesize": FONT_SIZE + 1,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "svg.hashsalt": "sumcurve",
    "svg.fonttype": "path",
}


@dataclass(frozen=True)
class Label:
    """The name beside the end of a line, at height `y` where there is room for it."""

    text: str
    y: float
    colour: str


def write_figure(
    intervals: pd.DataFrame, settings: Bootstrap, folder: Path, name: str, notes: Sequence[str] = ()
) -> list[Path]:
    """Draw `frames.intervals` and write name.svg and name.png into `folder`; returns their paths."""
    paths = []
    with style.context(["default", STYLE]):  # a user's matplotlibrc must not change the bytes
        figure = draw(intervals, settings, notes)
        for suffix, metadata in (("svg", {"Date": None, "Creator": None}), ("png", {"Software": None})):
            stream = io.BytesIO()
            figure.savefig(stream, format=suffix, dpi=160, metadata=metadata)
            paths.append(folder / f"{name}.{suffix}")
            write_bytes(paths[-1], stream.getvalue())
    return paths


def draw(intervals: pd.DataFrame, settings: Bootstrap, notes: Sequence[str] = ()) -> Figure:
    """One row of panels per corpus, one column per metric; the caption below says what is drawn."""
    names = sorted(set(intervals.method) - set(TRIVIAL))
    looks = dict(zip(names, cycle(zip(COLOURS, MARKERS, strict=True)), strict=False))
    rows = [rows for _, rows in intervals.groupby("corpus", sort=True)]
    curved = [row.percent.nunique() > 1 for row in rows]
    heights = [CURVES_HEIGHT if curve else 0.9 + DOT_HEIGHT * len(row) for row, curve in zip(rows, curved, strict=True)]
    caption = [line for part in [*_caption(intervals, settings, curved), *notes] for line in textwrap.wrap(part, 185)]
    foot = 0.3 + 0.17 * len(caption)
    total = sum(heights) + foot
    figure = Figure(figsize=(WIDTH, total))
    top = total
    for row, curve, height in zip(rows, curved, heights, strict=True):
        items = int(row["items"].iloc[0])
        figure.text(0.012, (top - 0.14) / total, str(row.corpus.iloc[0]), weight="bold", size=FONT_SIZE + 2, va="top")
        remark = f"{items:,} test items" + ("" if curve else _size(row))
        figure.text(0.988, (top - 0.14) / total, remark, ha="right", va="top", color=GREY)
        bottom, tall = top - height + (0.72 if curve else 0.3), height - (1.32 if curve else 0.88)
        left = 0.055 if curve else 0.03 + 0.0062 * max(len(name) for name in row.method)
        step = (1.0 - left) / len(METRICS)
        for column, metric in enumerate(METRICS):
            wide = step - (0.118 if curve else 0.035)
            axes = figure.add_axes((left + column * step, bottom / total, wide, tall / total))
            axes.set_title(TITLES[metric], loc="left", pad=5)
            if curve:
                _draw_curves(axes, row, metric, looks, tall)
            else:
                _draw_dots(axes, row, metric, looks, names_shown=column == 0)
            if column == 0 and curve:
                axes.set_ylabel("F1 (%)")
        top -= height
    figure.text(0.012, (foot - 0.16) / total, "\n".join(caption), va="top", size=FONT_SIZE - 0.5, linespacing=1.35)
    return figure


def _size(row: pd.DataFrame) -> str:
    trained = row[row.percent.notna()]
    return f", trained on {trained.records.iloc[0]:,} records ({trained.percent.iloc[0]} %)" if len(trained) else ""


def _caption(intervals: pd.DataFrame, settings: Bootstrap, curved: Sequence[bool]) -> list[str]:
    """Sentences, each of which starts a line."""
    trained = intervals[~intervals.method.isin(TRIVIAL)]
    share = f"{100 * settings.confidence:g} %"
    what = "Bands and bars" if len(set(curved)) > 1 else "Bands" if curved[0] else "Bars"
    parts = [
        f"F1 on the test set, in percent. {what}: {share} bootstrap interval over the test items "
        f"({settings.resamples:,} resamples)."
    ]
    if len(trained) and (trained.seeds == 1).any():
        parts.append("One seed for each training: seed spread unknown, and no part of these intervals.")
    elif len(trained):
        least, most = trained.seeds.min(), trained.seeds.max()
        number = f"{least}" if least == most else f"{least} to {most}"
        parts.append(f"Points: mean of {number} seeds; thin ticks: the lowest and the highest seed.")
    there = [name for name in TRIVIAL if name in set(intervals.method)]
    blind = [name for name in there if name in BLIND]
    grey = [f"{' and '.join(blind)}: without the reference"] if blind else []
    grey += ["best-sentence: the source's best sentence, picked by the reference"] if "best-sentence" in there else []
    return [*parts, f"Grey, not trained. {'; '.join(grey)}."] if grey else parts


def _draw_curves(axes: Axes, row: pd.DataFrame, metric: str, looks: dict[str, tuple[str, str]], inches: float) -> None:
    trained = row[~row.method.isin(TRIVIAL)]
    sizes = trained[["percent", "records"]].drop_duplicates().sort_values("records")
    labels = []
    for method, curve in trained.groupby("method", sort=True):
        colour, marker = looks[str(method)]
        x = curve.records.to_numpy(float)
        axes.fill_between(x, curve[f"{metric}_low"], curve[f"{metric}_high"], color=colour, alpha=0.13, linewidth=0)
        axes.plot(x, curve[metric], color=colour, marker=marker, markersize=4.5, linewidth=1.6)
        axes.vlines(x, curve[f"{metric}_least"], curve[f"{metric}_most"], color=colour, linewidth=0.9)
        axes.plot(x, curve[f"{metric}_least"], "_", x, curve[f"{metric}_most"], "_", color=colour, markersize=5)
        labels.append(Label(str(method), curve[metric].iloc[-1], colour))
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(sizes.records.to_numpy(float)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels(
        [f"{records:,}\n{percent} %" for percent, records in zip(sizes.percent, sizes.records, strict=True)]
    )
    first, last = float(sizes.records.min()), float(sizes.records.max())
    margin = (last / first) ** 0.06
    axes.set_xlim(first / margin, last * margin)

    trivial = row[row.method.isin(TRIVIAL)].set_index("method")
    near = row[row.method != "best-sentence"]
    least, most = near[f"{metric}_low"].min(), near[f"{metric}_high"].max()
    above = None
    for method in trivial.index:
        score = float(trivial.loc[method, metric])
        if method == "best-sentence" and score > most + 0.25 * (most - least):
            above = score  # drawn to scale it would press the curves flat
            continue
        axes.axhline(score, color=GREY, linewidth=1.1, linestyle=DASHES[method], zorder=1)
        least, most = min(least, score), max(most, score)
        labels.append(Label(method, score, GREY))
    room = 0.06 * (most - least) or 1.0
    axes.set_ylim(max(0.0, least - room), most + room * (2.6 if above is not None else 1.0))
    if above is not None:
        axes.text(
            0.99,
            0.985,
            f"↑ best-sentence {above:.1f}",
            transform=axes.transAxes,
            ha="right",
            va="top",
            color=GREY,
        )
    axes.set_xlabel("training records, logarithmic")
    axes.yaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.7)
    axes.set_axisbelow(True)
    _write_labels(axes, labels, inches)


def _write_labels(axes: Axes, labels: Sequence[Label], inches: float) -> None:
    """Names right of the panel, moved apart where lines end close together, with a leader to the line."""
    ordered = sorted(labels, key=lambda label: label.y)
    low, high = axes.get_ylim()
    gap = 1.25 * FONT_SIZE / 72 / inches * (high - low)
    places = spread([label.y for label in ordered], gap)
    for label, place in zip(ordered, places, strict=True):
        axes.annotate(
            label.text,
            xy=(1.0, label.y),
            xycoords=("axes fraction", "data"),
            xytext=(1.1, place),
            textcoords=("axes fraction", "data"),
            va="center",
            color=INK if label.colour != GREY else GREY,
            style="normal" if label.colour != GREY else "italic",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": label.colour,
                "linewidth": 0.9,
                "shrinkA": 1,
                "shrinkB": 0,
                "relpos": (0, 0.5),
            },
        )


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """The rising heights nearest to the rising ones given (least squares) that are at least `gap` apart."""
    blocks: list[list[float]] = []  # of heights less their due distance, each block to be averaged
    for index, height in enumerate(heights):
        blocks.append([height - index * gap])
        while len(blocks) > 1 and np.mean(blocks[-2]) > np.mean(blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    level = [float(np.mean(block)) for block in blocks for _ in block]
    return [height + index * gap for index, height in enumerate(level)]


def _draw_dots(
    axes: Axes, row: pd.DataFrame, metric: str, looks: dict[str, tuple[str, str]], names_shown: bool
) -> None:
    ordered = row.iloc[::-1].reset_index(drop=True)  # the first row stands on top
    for place, one in ordered.iterrows():
        colour, marker = looks.get(one.method, (GREY, "|"))
        axes.hlines(place, one[f"{metric}_low"], one[f"{metric}_high"], color=colour, linewidth=2.6, alpha=0.45)
        axes.plot(one[metric], place, marker=marker, color=colour, markersize=8 if marker == "|" else 5)
        if pd.notna(one[f"{metric}_least"]):
            ends = [one[f"{metric}_least"], one[f"{metric}_most"]]
            axes.plot(ends, [place, place], "|", color=colour, markersize=5)
    axes.set_ylim(-0.6, len(ordered) - 0.4)
    axes.set_yticks(range(len(ordered)))
    axes.set_yticklabels(list(ordered.method) if names_shown else [])
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(left=max(0.0, axes.get_xlim()[0]))
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.grid(axis="x", color="#e6e6e6", linewidth=0.7)
    axes.set_axisbelow(True)

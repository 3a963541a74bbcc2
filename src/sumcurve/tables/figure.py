"""The figure of scores against training size, drawn from the frame of table scores.

A corpus with several fractions is drawn as curves, one with a single fraction as dots. Up to `PANEL` methods share
a panel for each metric, three panels in a row. More are split into groups of related methods: a row for each metric,
a panel for each group, all other methods pale behind it. Curves that were fitted go on beyond the data, dashed, to four
times the largest size. No global state of matplotlib is read or changed, and equal frames give equal bytes of SVG with
one version of matplotlib.
"""

import io
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from sumcurve.scores.scorer import Metric
from sumcurve.settings.base import ZERO_SHOT
from sumcurve.store.records import write_bytes
from sumcurve.tables.evidence import is_beside

# Okabe and Ito's colours for all kinds of colour vision, without the yellow, which is lost on white, and the black;
# then two of Tol's.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#882255", "#999933")
MARKERS = ("o", "s", "D", "^", "v", "P", "X")
PANEL = 5  # methods that can be told apart in one panel
DASHES = ((6, 2), (1, 1.6), (6, 2, 1, 2), (3, 1.5), (6, 2, 1, 2, 1, 2), (9, 3))  # of what is not trained, by name
GREY, PALE, INK = "#6b6b6b", "#d4d4d4", "#222222"
WIDTH, CURVES_HEIGHT, GROUPS_HEIGHT, DOT_HEIGHT, FONT_SIZE = 11.0, 3.4, 2.2, 0.26, 8.5  # inches, and points
IN_A_ROW, BETWEEN_ROWS = 3, 0.85  # panels at most; inches, for the axis above and the title below
DOTS_IN_A_ROW, BETWEEN_DOTS = 4, 0.6  # the same of panels of dots
FAR: dict[str, Any] = {
    "color": GREY,
    "size": FONT_SIZE - 0.5,
    "ha": "right",
    "va": "center",
}  # of what is beyond an axis
STYLE: dict[Any, Any] = {
    "font.size": FONT_SIZE,
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],  # every piece of text in an SVG repeats the list
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.titlesize": FONT_SIZE + 1,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "svg.hashsalt": "sumcurve",
    "svg.fonttype": "none",  # text stays text: a third of the bytes, and it can be searched
    "font.family": ["DejaVu Sans", "sans-serif"],
}


@dataclass(frozen=True)
class Overlay:
    """What is drawn over the scores of a corpus: `verdicts.bands`, and by metric the bounds (name, score) above.

    The caption of a figure that has bounds says their `note`.
    """

    bands: pd.DataFrame
    bounds: Mapping[str, Sequence[tuple[str, float]]]
    note: str = ""


@dataclass(frozen=True)
class Label:
    """The name beside the end of a line, at height `y` where there is room for it."""

    text: str
    y: float
    colour: str


def write_figure(
    scores: pd.DataFrame,
    metrics: Sequence[Metric],
    share: str,
    folder: Path,
    name: str,
    notes: Sequence[str] = (),
    heading: str = "",
    overlays: Mapping[str, Overlay] | None = None,
) -> None:
    """Draw the frame of table scores, with an overlay for each corpus that has one; see `draw` and `save`."""
    save(lambda: draw(scores, metrics, share, notes, heading, overlays), folder, name)


def save(drawn: Callable[[], Figure], folder: Path, name: str) -> None:
    """Write what is drawn in the house's style as name.svg into `folder`."""
    with style.context(["default", STYLE]):  # a user's matplotlibrc must not change the bytes
        stream = io.BytesIO()
        drawn().savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
        write_bytes(folder / f"{name}.svg", shortened(stream.getvalue()))


def shortened(svg: bytes) -> bytes:
    """A drawing without indentation, its places in hundredths of a point: a sixth fewer bytes to keep in git."""
    unindented = re.sub(rb"\n +", rb"\n", svg)
    return re.sub(rb' (?:d|x|y)="[^"]*"', lambda places: re.sub(rb"(\.\d\d)\d+", rb"\1", places[0]), unindented)


def draw(
    scores: pd.DataFrame,
    metrics: Sequence[Metric],
    share: str,
    notes: Sequence[str] = (),
    heading: str = "",
    overlays: Mapping[str, Overlay] | None = None,
) -> Figure:
    """A block of panels for each corpus, below a heading; the caption at the foot says what is drawn.

    What is not shown to read its source is a hollow mark on its method's curve. A corpus has no panel for a metric that
    is known of nothing there.
    """
    scores = scores.assign(blind=scores.reads_source == "no")
    names = sorted(set(scores.method[scores.role == "trained"]))
    looks = looks_of(names)
    corpora = [rows for _, rows in scores.groupby("corpus", sort=True)]
    curved = [rows[rows.role == "trained"].records.nunique() > 1 for rows in corpora]
    known = [[metric for metric in metrics if rows[metric.name].notna().any()] for rows in corpora]
    heights = [_height(rows, curve, looks, of) for rows, curve, of in zip(corpora, curved, known, strict=True)]
    grouped = any(curve and len(_panels(rows, looks)) > 1 for rows, curve in zip(corpora, curved, strict=True))
    drawn = {str(rows.corpus.iloc[0]) for rows, curve in zip(corpora, curved, strict=True) if curve}
    overlays = {corpus: overlay for corpus, overlay in (overlays or {}).items() if corpus in drawn}
    parts = [*_caption(scores, metrics, share, curved)]
    parts += _beyond(overlays, share)
    parts += ["Every panel shows every method: those it names in colour, the others pale."] if grouped else []
    parts += notes
    caption = [line for part in parts for line in textwrap.wrap(part, 165)]
    foot, head = 0.3 + 0.17 * len(caption), 0.35 if heading else 0.0
    total = head + sum(heights) + foot
    figure = Figure(figsize=(WIDTH, total))
    if heading:
        figure.text(0.5, 1 - 0.12 / total, heading, weight="bold", size=FONT_SIZE + 3, ha="center", va="top")
    top = total - head
    for rows, curve, height, of in zip(corpora, curved, heights, known, strict=True):
        items = int(rows["items"].iloc[0])
        figure.text(0.012, (top - 0.14) / total, str(rows.corpus.iloc[0]), weight="bold", size=FONT_SIZE + 2, va="top")
        remark = f"{items:,} test items" + ("" if curve else _size(rows))
        figure.text(0.988, (top - 0.14) / total, remark, ha="right", va="top", color=GREY)
        if curve:
            _curves(figure, rows, of, looks, top - 0.6, total, overlays.get(str(rows.corpus.iloc[0])))
        else:
            _dots(figure, rows, of, looks, top - 0.6, total)
        top -= height
    figure.text(0.012, (foot - 0.16) / total, "\n".join(caption), va="top", size=FONT_SIZE - 0.5, linespacing=1.35)
    return figure


def looks_of(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """A colour and a marker for each method, by sorted name: no pair twice, neighbours differ in both."""
    return {
        name: (COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]) for place, name in enumerate(sorted(names))
    }


def dashes_of(names: Iterable[str]) -> dict[str, tuple[int, tuple[float, ...]]]:
    """A dash pattern for each system that is not trained."""
    return {name: (0, DASHES[place % len(DASHES)]) for place, name in enumerate(sorted(names))}


def panels_of(names: Sequence[str]) -> list[list[str]]:
    """Methods by name in panels of at most `PANEL`; relatives (`ent`, `ent_gold`) share one where they fit."""
    panels: list[list[str]] = [[]]
    for _, family in groupby(sorted(names), key=lambda name: name.split("_")[0]):
        members = list(family)
        if panels[-1] and len(panels[-1]) + len(members) > PANEL:
            panels.append([])
        for member in members:
            if len(panels[-1]) == PANEL:
                panels.append([])
            panels[-1].append(member)
    return panels


def grid(metrics: Sequence[Metric], in_a_row: int = IN_A_ROW) -> tuple[int, int]:
    """Rows and columns of a panel for each metric: so many at most in a row, and rows as equal as can be."""
    rows = -(-len(metrics) // in_a_row)
    return rows, -(-len(metrics) // rows)


def _height(rows: pd.DataFrame, curve: bool, looks: Iterable[str], metrics: Sequence[Metric]) -> float:
    """Inches of a corpus's block of panels, its heading included."""
    if not curve:
        down = grid(metrics, DOTS_IN_A_ROW)[0]
        return 0.9 + down * DOT_HEIGHT * rows.method.nunique() + (down - 1) * BETWEEN_DOTS
    if len(_panels(rows, looks)) > 1:
        return 1.15 + len(metrics) * GROUPS_HEIGHT
    return CURVES_HEIGHT + (grid(metrics)[0] - 1) * (CURVES_HEIGHT - 1.32 + BETWEEN_ROWS)


def _panels(rows: pd.DataFrame, looks: Iterable[str]) -> list[list[str]]:
    """The panels of a corpus: those of the whole figure, of whose methods it may lack some."""
    here = set(rows.method[rows.role == "trained"])
    if len(here) <= PANEL:
        return [sorted(here)]
    panels = [[name for name in panel if name in here] for panel in panels_of(list(looks))]
    return [panel for panel in panels if panel]


def _beyond(overlays: Mapping[str, Overlay], share: str) -> list[str]:
    """Sentences of the caption on what the overlays draw."""
    parts = []
    if any(len(overlay.bands) for overlay in overlays.values()):
        parts.append(f"Dashed, beyond the data: median and {share} band of the fitted curves (table verdicts).")
    return [*parts, *dict.fromkeys(overlay.note for overlay in overlays.values() if overlay.bounds and overlay.note)]


def _curves(
    figure: Figure,
    rows: pd.DataFrame,
    metrics: Sequence[Metric],
    looks: Mapping[str, tuple[str, str]],
    top: float,
    total: float,
    overlay: Overlay | None,
) -> None:
    """Panels from `top` inches down, in a figure `total` inches high."""
    panels = _panels(rows, looks)
    longest = max(len(name) for name in rows.method)
    label = (0.2 + 0.066 * longest) / WIDTH  # room for names right of a panel
    if len(panels) == 1:
        columns = grid(metrics)[1]
        step, tall = 0.945 / columns, CURVES_HEIGHT - 1.32
        for place, metric in enumerate(metrics):
            row, column = divmod(place, columns)
            bottom = top - tall - row * (tall + BETWEEN_ROWS)
            axes = figure.add_axes((0.055 + column * step, bottom / total, step - label - 0.03, tall / total))
            axes.set_title(f"{metric.title} ({metric.unit})", loc="left", pad=5)
            _draw_curves(axes, rows, metric.name, looks, panels[0], tall, overlay)
            axes.set_xlabel("training records, logarithmic")
        return
    step, tall = 0.945 / len(panels), GROUPS_HEIGHT - 0.16
    for place, metric in enumerate(metrics):
        bottom = top + 0.2 - place * GROUPS_HEIGHT - tall
        for column, panel in enumerate(panels):
            axes = figure.add_axes((0.055 + column * step, bottom / total, step - label, tall / total))
            _draw_curves(axes, rows, metric.name, looks, panel, tall, overlay)
            if column == 0:
                axes.set_ylabel(f"{metric.title} ({metric.unit})")
            else:
                axes.tick_params(labelleft=False)
            if place == len(metrics) - 1:
                axes.set_xlabel("training records")
            else:
                axes.tick_params(labelbottom=False)


def _dots(
    figure: Figure,
    rows: pd.DataFrame,
    metrics: Sequence[Metric],
    looks: Mapping[str, tuple[str, str]],
    top: float,
    total: float,
) -> None:
    tall = DOT_HEIGHT * len(rows) + 0.02
    left = 0.03 + 0.0062 * max(len(name) for name in rows.method)
    columns = grid(metrics, DOTS_IN_A_ROW)[1]
    step = (1.0 - left) / columns
    rising = not metrics[0].higher_is_better
    trained = rows[rows.role == "trained"].sort_values(metrics[0].name, ascending=rising, kind="stable")
    ordered = pd.concat([rows[rows.role != "trained"], trained])
    for place, metric in enumerate(metrics):
        row, column = divmod(place, columns)
        bottom = top - tall - row * (tall + BETWEEN_DOTS)
        axes = figure.add_axes((left + column * step, bottom / total, step - 0.035, tall / total))
        axes.set_title(f"{metric.title} ({metric.unit})", loc="left", pad=5)
        _draw_dots(axes, ordered, metric.name, looks, names_shown=column == 0)


def _size(row: pd.DataFrame) -> str:
    trained = row[row.role == "trained"]
    if not len(trained):
        return ""
    percent = "" if pd.isna(trained.percent.iloc[0]) else f" ({trained.percent.iloc[0]} %)"
    return f", trained on {trained.records.iloc[0]:,} records{percent}"


def _caption(scores: pd.DataFrame, metrics: Sequence[Metric], share: str, curved: Sequence[bool]) -> list[str]:
    """Sentences, each of which starts a line."""
    trained = scores[scores.role == "trained"]
    what = "bands and bars" if len(set(curved)) > 1 else "bands" if curved[0] else "bars"
    covers = " or ".join(dict.fromkeys(str(one) for one in trained.interval_covers if one))
    parts = [f"Mean scores on the test set; {what}: {share} intervals{f' over {covers}' if covers else ''}."]
    if len(trained) and (trained.seeds == 1).any():
        parts.append("One seed: these weights, not their method.")
    if any(not metric.higher_is_better for metric in metrics):
        lower = ", ".join(metric.title for metric in metrics if not metric.higher_is_better)
        parts.append(f"Lower is better: {lower}.")
    kinds = {
        "baseline": "without the reference",
        "outside": "from elsewhere",
        "bound": "picked by the reference",
        "words": "without any source",
    }
    fixed = scores[scores.records.fillna(-1) != 0]
    there = {what: list(dict.fromkeys(fixed.method[fixed.role == role])) for role, what in kinds.items()}
    there["to compare with"] = [name for name in there[kinds["bound"]] if is_beside("bound", name)]
    there[kinds["bound"]] = [name for name in there[kinds["bound"]] if not is_beside("bound", name)]
    grey = [f"{', '.join(names)}: {what}" for what, names in there.items() if names]
    parts += ["Hollow: not shown to read its source."] if scores.blind.any() else []
    if (scores.records == 0).any() and any(curved):
        parts.append("At 0 records, left of the break: pretrained models before any training.")
    parts += [f"Dark grey, not trained. {'; '.join(grey)}."] if grey else []
    return parts


def _draw_curves(
    axes: Axes,
    rows: pd.DataFrame,
    metric: str,
    looks: Mapping[str, tuple[str, str]],
    shown: Sequence[str],
    inches: float,
    overlay: Overlay | None,
) -> None:
    trained = rows[rows.role == "trained"]
    sizes = trained[["percent", "records"]].drop_duplicates().sort_values("records")
    labels = []
    for method, curve in trained.groupby("method", sort=True):
        x = curve.records.to_numpy(float)
        if method not in shown:
            axes.plot(x, curve[metric], color=PALE, linewidth=0.8, zorder=0.5)
            continue
        colour, marker = looks[str(method)]
        axes.fill_between(x, curve[f"{metric}_low"], curve[f"{metric}_high"], color=colour, alpha=0.15, linewidth=0)
        axes.plot(x, curve[metric], color=colour, marker=marker, markersize=4.5, linewidth=1.6)
        blind = curve.blind.to_numpy()
        if blind.any():
            hollow = curve[metric].to_numpy()[blind]
            axes.plot(x[blind], hollow, color=colour, marker=marker, markersize=4.5, mfc="white", linestyle="none")
        mark = "†" if curve.blind.iloc[-1] else ""
        if curve[metric].notna().iloc[-1]:
            labels.append(Label(f"{method}{mark}", curve[metric].iloc[-1], colour))
    axes.set_xscale("log")
    first, last = float(sizes.records.min()), float(sizes.records.max())
    bands = _bands(overlay, metric, shown)
    of_row = _bands(overlay, metric, list(looks))  # all panels of a row share one scale
    marked = [
        (float(size), f"{size:,}" if pd.isna(percent) else f"{size:,}\n{percent} %")
        for percent, size in zip(sizes.percent, sizes.records, strict=True)
    ]
    if len(of_row):  # every other size, so that names do not touch, and how far the curves go
        furthest = float(of_row.records.max())
        marked = [*marked[::-1][::2], (furthest, f"{furthest:,.0f}\n× {furthest / last:.0f}")]
    axes.xaxis.set_major_locator(FixedLocator([size for size, _ in marked]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([label for _, label in marked])
    for method, band in bands.groupby("method", sort=True):
        colour, _ = looks[str(method)]
        axes.fill_between(band.records, band.low, band.high, color=colour, alpha=0.08, linewidth=0)
        axes.plot(band.records, band.middle, color=colour, linewidth=1.1, linestyle=(0, (4, 2)))
    if len(of_row):
        axes.axvline(last, color="#cccccc", linewidth=0.8, zorder=0.4)
        last = float(of_row.records.max())
    margin = (last / first) ** 0.06
    axes.set_xlim(first / margin, last * margin)
    _draw_untrained(axes, rows, metric, looks, shown, first)

    fixed = rows[(rows.role != "trained") & (rows.records.fillna(-1) != 0)]
    levels = fixed[fixed[metric].notna()].set_index("method")
    dashes = dashes_of(set(fixed.method))
    near = rows[rows.role != "bound"]
    least = near[[metric, f"{metric}_low"]].min().min()
    most = near[[metric, f"{metric}_high"]].max().max()
    if len(of_row):  # a wide band must not press the curves flat
        reach = most - least
        least, most = max(least - reach, min(least, of_row.low.min())), min(most + reach, max(most, of_row.high.max()))
    above = []
    for method in levels.index:
        score = float(levels.loc[method, metric])
        if levels.loc[method, "role"] == "bound" and score > most + 0.25 * (most - least):
            above.append((method, score))  # drawn to scale it would press the curves flat
            continue
        axes.axhline(score, color=GREY, linewidth=0.9, linestyle=dashes[method], zorder=1)
        least, most = min(least, score), max(most, score)
        labels.append(Label(method, score, GREY))
    above += overlay.bounds.get(metric, ()) if overlay else ()
    room = 0.06 * (most - least) or 1.0
    axes.set_ylim(max(0.0, least - room) if least >= 0 else least - room, most + room * (1.0 + 1.6 * len(above)))
    if above:
        axes.text(
            0.99,
            0.985,
            "\n".join(f"↑ {name} {score:.1f}" for name, score in sorted(above, key=lambda one: -one[1])),
            linespacing=1.15,
            transform=axes.transAxes,
            ha="right",
            va="top",
            color=GREY,
        )
    axes.yaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.7)
    axes.set_axisbelow(True)
    write_labels(axes, labels, inches)


def _draw_untrained(
    axes: Axes,
    rows: pd.DataFrame,
    metric: str,
    looks: Mapping[str, tuple[str, str]],
    shown: Sequence[str],
    first: float,
) -> None:
    """Pretrained methods before any training: at 0 records, left of a break in the axis, whose scale has no 0."""
    untrained = rows[(rows.records == 0) & rows[metric].notna()]
    untrained = untrained[untrained.method.str.removesuffix(ZERO_SHOT).isin(shown)]
    if untrained.empty:
        return
    left, right = axes.get_xlim()
    step = (right / left) ** 0.1
    place = left / step
    for one in untrained.to_dict("records"):
        colour, marker = looks[one["method"].removesuffix(ZERO_SHOT)]
        axes.vlines(place, one[f"{metric}_low"], one[f"{metric}_high"], color=colour, linewidth=1.6, alpha=0.45)
        hollow = "white" if one["blind"] else colour
        axes.plot([place], [one[metric]], color=colour, marker=marker, markersize=4.5, mfc=hollow, linestyle="none")
    ticks = axes.xaxis.get_major_locator().tick_values(left, right)
    labels = [tick.get_text() for tick in axes.get_xticklabels()]
    axes.xaxis.set_major_locator(FixedLocator([place, *ticks]))
    axes.set_xticklabels(["0", *labels])
    axes.set_xlim(place / step**0.5, right)
    gap = (place * left) ** 0.5
    for shift in (0.92, 1.08):
        axes.plot(
            [gap * shift / step**0.08, gap * shift * step**0.08],
            [-0.02, 0.02],
            transform=axes.get_xaxis_transform(),
            color=INK,
            linewidth=0.8,
            clip_on=False,
        )


def _bands(overlay: Overlay | None, metric: str, shown: Sequence[str]) -> pd.DataFrame:
    """The bands beyond the data of these methods."""
    if overlay is None or not len(overlay.bands):
        return pd.DataFrame(columns=["method", "records", "low", "middle", "high"])
    bands = overlay.bands
    return bands[(bands.metric == metric) & bands.method.isin(shown) & bands.beyond]


def write_labels(axes: Axes, labels: Sequence[Label], inches: float) -> None:
    """Names right of the panel, moved apart where lines end close together, with a leader to the line."""
    ordered = sorted(labels, key=lambda label: label.y)
    low, high = axes.get_ylim()
    width = axes.get_position().width * WIDTH  # inches
    gap = 1.25 * FONT_SIZE / 72 / inches * (high - low)
    places = spread([label.y for label in ordered], gap)
    for label, place in zip(ordered, places, strict=True):
        axes.annotate(
            label.text,
            xy=(1.0, label.y),
            xycoords=("axes fraction", "data"),
            xytext=(1.0 + 0.14 / width, place),
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
    axes: Axes,
    rows: pd.DataFrame,
    metric: str,
    looks: Mapping[str, tuple[str, str]],
    names_shown: bool,
) -> None:
    ordered = rows.iloc[::-1].reset_index(drop=True)  # the first row stands on top
    others = rows[[not is_beside(one.role, one.method) for one in rows.itertuples()]]
    least, most = others[f"{metric}_low"].min(), others[f"{metric}_high"].max()
    for place, one in ordered.iterrows():
        if is_beside(one.role, one.method) and one[metric] > most + (
            most - least
        ):  # drawn to scale it would press all others flat
            axes.text(1.0, place, f"{one[metric]:.1f} →", transform=axes.get_yaxis_transform(), **FAR)
            continue
        colour, marker = looks.get(one.method, (GREY, "|"))
        axes.hlines(place, one[f"{metric}_low"], one[f"{metric}_high"], color=colour, linewidth=2.6, alpha=0.45)
        axes.plot(one[metric], place, marker=marker, color=colour, markersize=8 if marker == "|" else 5)
    axes.set_ylim(-0.6, len(ordered) - 0.4)
    axes.set_yticks(range(len(ordered)))
    marked = [f"{one.method}†" if one.blind else one.method for one in ordered.itertuples()]
    axes.set_yticklabels(marked if names_shown else [])
    axes.tick_params(axis="y", length=0)
    if rows[metric].min() >= 0:
        axes.set_xlim(left=max(0.0, axes.get_xlim()[0]))
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.grid(axis="x", color="#e6e6e6", linewidth=0.7)
    axes.set_axisbelow(True)

"""Drawing of all figures: layers of Vega-Lite by Altair, as SVG by vl-convert.

Equal data give equal bytes of SVG on every machine: text is measured in Liberation Sans, which vl-convert brings (its
widths are Arial's), and places are written in hundredths of a pixel. Channels are named by their classes: for
channels given as text or by `alt.value`, Altair hashes all of its schema each time.
"""

import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import vl_convert
from altair.vegalite.v6.schema import SCHEMA_URL

from sumcurve.machine.arguments import CommandError
from sumcurve.store.records import write_bytes, write_text

# Okabe and Ito's colours for all kinds of colour vision, without the yellow, which is lost on white, and the black;
# then two of Tol's.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#882255", "#999933")
SHAPES = (
    *("circle", "square", "diamond", "triangle-up", "triangle-down", "cross"),
    "M-1,-.6L-.6,-1L0,-.4L.6,-1L1,-.6L.4,0L1,.6L.6,1L0,.4L-.6,1L-1,.6L-.4,0Z",
)
ON_DARK = ("#5aa9ff", "#ff8f4d", "#35c99f", "#f0a3cb", "#a5dcff", "#ffc04d", "#c792ff", "#cfcf5e")  # as many, lighter
PICTURES = (".svg", ".png")
DASHES = ([6, 3], [2, 2], [6, 2, 1, 2], [3, 2], [6, 2, 1, 2, 1, 2], [9, 4])  # of untrained systems, by name
FITTED = [5, 3]
CROSS = "M-1,-1L1,1M-1,1L1,-1"
CURVE = ["method", "x", "score", "low", "high"]  # columns of curves beyond the data
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
GREY, INK = "#6b6b6b", "#222222"
TEXT, LINE, ROW = 11, 13, 22  # pixels of a letter, of a line of text, of a row of dots
FAR = 0.25  # of the range of other scores, above which a bound is written and not drawn
LETTER = 6.5  # pixels of a digit's width and of the space beside it
LETTERS = 170  # of a line of notes
Specification = dict[str, Any]  # of Vega-Lite
Looks = Mapping[str, tuple[str, str]]  # by method its colour and shape


@dataclass(frozen=True)
class Panel:
    """Data of one panel: one metric on one corpus.

    `points` (method, system, step, x, score, low, high, reads; x of a logarithmic axis): a row for each size of a
    method, by rising `step`; of `costs` at x lines may turn back, and intervals are bars.
    `levels` (method, score, low, high, bound): untrained systems, of which a `bound` may be out of sight. `fitted`
    (method, x, score, low, high): curves beyond the data, and `truth`, of the same columns, what was measured there.
    `above` (name, score): bounds to be written. `front` (x, score): the best for its cost. `zero` is the place of 0 on
    the axis, left of a break. `labels` are texts by method, behind the lines of `fitted` where there is one; without
    them names stand behind the last points.
    """

    title: str | Mapping[str, Any]
    x_title: str
    points: pd.DataFrame
    levels: pd.DataFrame
    ticks: Sequence[float] = ()
    fitted: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=CURVE))
    truth: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=CURVE))
    above: Sequence[tuple[str, float]] = ()
    front: Sequence[tuple[float, float]] = ()
    zero: float | None = None
    costs: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def near(self) -> tuple[float, float]:
        """Minimum and maximum of all scores except bounds."""
        shown = pd.concat([self.points, self.levels[~self.levels.bound]])[["score", "low", "high"]].astype(float)
        return float(shown.min().min()), float(shown.max().max())

    def ends(self) -> tuple[float, float, pd.DataFrame, list[tuple[str, float]]]:
        """The ends of the axis of scores, the levels between them, and the bounds written above, the highest first.

        Neither wide bands nor far bounds press the curves flat.
        """
        least, most = self.near
        reach = (most - least) or 1.0
        if len(self.fitted):
            least = max(least - reach, min(least, self.fitted.low.min()))
            most = min(most + reach, max(most, self.fitted.high.max()))
        far = self.levels.bound & (self.levels.score > most + FAR * reach)
        above = [*self.above, *self.levels[far][["method", "score"]].itertuples(index=False, name=None)]
        inside = self.levels[~far].sort_values("score", kind="stable")
        least, most = min([least, *inside.score]), max([most, *inside.score])
        room = 0.05 * (most - least) or 1.0
        low = max(0.0, least - room) if least >= 0 else least - room
        return low, most + room, inside, sorted(above, key=lambda bound: -bound[1])


def looks_of(names: Iterable[str], kinds: Mapping[str, str] = MappingProxyType({})) -> dict[str, tuple[str, str]]:
    """A colour and a shape for each method, by sorted name: no pair twice, neighbours differ in both.

    Where methods have `kinds`, by name, those of a kind share its shape.
    """
    shapes = shapes_of(kinds)
    return {
        name: (COLOURS[place % len(COLOURS)], shapes[kinds[name]] if name in kinds else SHAPES[place % len(SHAPES)])
        for place, name in enumerate(sorted(names))
    }


def shapes_of(kinds: Mapping[str, str]) -> dict[str, str]:
    """The shape of every kind of methods."""
    return dict(zip(sorted({*kinds.values()}), SHAPES, strict=False))


def curves(panel: Panel, looks: Looks, width: int, height: int) -> Specification:
    """Scores over sizes or costs with intervals, a name beside each line."""
    least, most, here, above = panel.ends()
    most = least + (most - least) / (1 - len(above) * LINE / height)
    methods = [name for name in looks if name in set(panel.points.method)]
    domain = [*methods, *here.method]
    coloured = [*(looks[name][0] for name in methods), *[GREY] * len(here)]
    colour = alt.Color("method:N", scale=alt.Scale(domain=domain, range=coloured), legend=None)
    shaped = alt.Scale(domain=domain, range=[*(looks[name][1] for name in methods), *["circle"] * len(here)])
    shape = alt.Shape("method:N", scale=shaped, legend=None)
    dashed = alt.Scale(domain=sorted(here.method), range=[DASHES[place % len(DASHES)] for place in range(len(here))])
    dash = alt.StrokeDash("method:N", scale=dashed, legend=None)
    x, y = _axes(panel, (least, most))
    low_end, high_end = alt.Y("low:Q"), alt.Y2("high:Q")
    levels, fitted = alt.Chart(here), alt.Chart(panel.fitted)
    joined = panel.points if panel.zero is None else panel.points[panel.points.x != panel.zero]
    lines = alt.Chart(joined)
    bands, plain = (lines.mark_rule(size=1.2), 0.5) if panel.costs else (lines.mark_area(clip=True), 0.14)
    layers = [
        bands.encode(x=x, y=low_end, y2=high_end, color=colour, opacity=alt.OpacityValue(plain)),
        levels.mark_rule(color=GREY).encode(y=y, strokeDash=dash),
    ]
    if panel.front:
        best = alt.Chart(pd.DataFrame(panel.front, columns=["x", "score"]))
        layers.append(best.mark_line(interpolate="step-after", color=GREY, size=5, opacity=0.3).encode(x=x, y=y))
    if len(panel.fitted):
        layers += [
            fitted.mark_area(clip=True).encode(
                x=x, y=low_end, y2=high_end, color=colour, opacity=alt.OpacityValue(0.07)
            ),
            fitted.mark_line(clip=True, strokeDash=FITTED, size=1.3).encode(
                x=x, y=y, color=colour, opacity=alt.OpacityValue(1)
            ),
        ]
    layers.append(
        lines.mark_line(size=1.8).encode(x=x, y=y, color=colour, order=alt.Order("step:Q"), opacity=alt.OpacityValue(1))
    )
    if len(panel.truth):
        truth = alt.Chart(panel.truth).encode(x=x, color=colour)
        layers += [
            truth.mark_rule(size=1.2).encode(y=low_end, y2=high_end, opacity=alt.OpacityValue(0.6)),
            truth.mark_point(shape=CROSS, size=70, strokeWidth=2, opacity=1).encode(y=y),
        ]
    if panel.zero is not None:
        lone = panel.points[panel.points.x == panel.zero]
        gap = {"x": [(panel.zero * joined.x.min()) ** 0.5]}
        layers += [
            alt.Chart(lone)
            .mark_rule()
            .encode(x=x, y=low_end, y2=high_end, color=colour, opacity=alt.OpacityValue(0.6)),
            alt.Chart(pd.DataFrame(gap)).mark_text(text="//", color=GREY).encode(x=x, y=alt.YValue(height)),
        ]
    for frame, fill in ((panel.points[panel.points.reads], None), (panel.points[~panel.points.reads], "white")):
        if len(frame):
            filling: dict[str, Any] = {"filled": fill is None} | ({"fill": fill} if fill else {})
            mark = alt.Chart(frame).mark_point(size=42, opacity=1, **filling)
            layers.append(mark.encode(x=x, y=y, color=colour, shape=shape, opacity=alt.OpacityValue(1)))
    if above:
        text = [f"↑ {name} {score:.1f}" for name, score in above]
        at: dict[str, Any] = {"align": "right", "baseline": "top", "lineHeight": LINE, "color": GREY}
        layers.append(alt.Chart(pd.DataFrame({"n": [0]})).mark_text(text=text, **at).encode(*_at(width - 2, 2)))
    layers += _names(panel, here, colour, width, height, (least, most))
    return together("layer", layers, width=width, height=height, title=panel.title)


def dots(panel: Panel, looks: Looks, order: Sequence[str], width: int, named: bool = True) -> Specification:
    """Scores of one size with intervals, a row for every system in this order; a far bound is written at the side."""
    least, most = panel.near
    rows = pd.concat([panel.points.assign(bound=False), panel.levels.assign(system=panel.levels.method, reads=True)])
    far = rows.bound & (rows.score > most + (most - least))
    methods = [name for name in looks if name in set(panel.points.method)]
    domain = [*methods, *panel.levels.method]
    ranges = zip(*(looks.get(name, (GREY, "circle")) for name in domain), strict=True)
    colours, shapes = (alt.Scale(domain=domain, range=[*values]) for values in ranges)
    colour = alt.Color("method:N", scale=colours, legend=None)
    shape = alt.Shape("method:N", scale=shapes, legend=None)
    axis = alt.Axis(ticks=False, domain=False, labels=named, grid=False)
    y = alt.Y("system:N", title=None, scale=alt.Scale(domain=[*order]), axis=axis)
    x = alt.X("score:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=5))
    drawn = alt.Chart(rows[~far])
    layers = [
        drawn.mark_rule(size=2.6, opacity=0.45).encode(y=y, x=alt.X("low:Q"), x2=alt.X2("high:Q"), color=colour),
        drawn.mark_point(filled=True, size=48, opacity=1).encode(y=y, x=x, color=colour, shape=shape),
    ]
    if far.any():
        written = rows[far].assign(text=[f"{score:.1f} →" for score in rows[far].score])
        mark = alt.Chart(written).mark_text(align="right", color=GREY)
        layers.append(mark.encode(y=y, x=alt.XValue(width), text=alt.Text("text:N")))
    return together("layer", layers, width=width, height=ROW * len(order), title=panel.title)


def trainings(
    runs: pd.DataFrame,
    sizes: Sequence[int],
    phases: Sequence[str],
    titles: tuple[str, str],
    most: float,
    width: int,
    height: int,
) -> Specification:
    """Validation scores over updates, a line for every phase of a run, a dot where its checkpoint is selected.

    `runs` (records, seed, phase, updates, score, selected): a row for each scored checkpoint. A phase starts from the
    best checkpoint of the one before, thus left of its end; the first of `phases` is solid, later ones are dashed.
    `titles` are the panel's and that of its scores. Both axes begin at 0; that of scores ends at `most`. Larger sizes
    are darker: colours stand for methods elsewhere.
    """
    scale = alt.Scale(domain=[*sizes], range=[*np.linspace(1, 0.3, len(sizes))[::-1]])
    legend = alt.Legend(title="records", titleColor=INK, labelExpr="format(datum.value, ',')", symbolStrokeColor=INK)
    shade = alt.Opacity("records:O", scale=scale, legend=legend)
    dashes = alt.Scale(domain=[*phases], range=[[1, 0], *DASHES[: len(phases) - 1]])
    named = alt.Legend(title="stage", titleColor=INK, symbolType="stroke", symbolSize=400) if len(phases) > 1 else None
    dash = alt.StrokeDash("phase:N", scale=dashes, legend=named)
    x = alt.X("updates:Q", title="updates", scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=4, grid=False))
    axis = alt.Axis(tickCount=5, domain=False, ticks=False)
    y = alt.Y("score:Q", title=titles[1], scale=alt.Scale(domain=[0, most]), axis=axis)
    lines = alt.Chart(runs).mark_line(size=1.4, color=INK)
    marks = alt.Chart(runs[runs.selected]).mark_point(filled=True, color=INK)
    lines = lines.encode(x=x, y=y, opacity=shade, strokeDash=dash, detail=alt.Detail("seed:N"))
    marks = marks.encode(x=x, y=y, opacity=shade)
    return together("layer", [lines, marks], width=width, height=height, title=titles[0])


def _axes(panel: Panel, ends: tuple[float, float]) -> tuple[alt.X, alt.Y]:
    every = pd.concat([panel.points.x, panel.fitted.x]).astype(float)
    margin = (every.max() / every.min()) ** 0.04 if every.max() > every.min() else 1.2
    label = "format(datum.value, ',~r')" if every.max() >= 1 else "datum.value"
    if panel.zero is not None:
        label = f"datum.value <= {panel.zero} ? '0' : {label}"
    axis = alt.Axis(values=[*panel.ticks], labelExpr=label, grid=False, labelOverlap="greedy", labelFlush=False)
    scale = alt.Scale(
        type="log", nice=False, domain=[every.min() / margin, every.max() * (1 if panel.labels else margin)]
    )
    heights = alt.Scale(domain=[*ends], nice=False, zero=False)
    y = alt.Y("score:Q", title=None, scale=heights, axis=alt.Axis(tickCount=6, domain=False, ticks=False))
    return alt.X("x:Q", title=panel.x_title, axis=axis, scale=scale), y


def spaced(ticks: Iterable[float], shown: Callable[[float], str], width: int) -> list[float]:
    """The places of a logarithmic axis whose labels do not touch, the last one first; its labels are as `shown`."""
    places = sorted({*ticks})
    scale = width / np.log(places[-1] / places[0]) if len(places) > 1 else 0.0
    kept: list[float] = []
    for place in reversed(places):
        letters = (len(shown(place)) + len(shown(kept[-1]))) / 2 + 1 if kept else 0
        if not kept or scale * np.log(kept[-1] / place) > LETTER * letters:
            kept.append(place)
    return kept[::-1]


def _names(
    panel: Panel,
    levels: pd.DataFrame,
    colour: alt.Color,
    width: int,
    height: int,
    ends: tuple[float, float],
) -> list[alt.Chart]:
    """Names right of the panel, moved apart where lines end close together, with a leader to each line."""
    last = panel.points.sort_values("x", kind="stable").groupby("method", sort=True).tail(1)
    if panel.labels:
        furthest = panel.fitted.sort_values("x", kind="stable").groupby("method", sort=True).tail(1)
        last = pd.concat([last[~last.method.isin(furthest.method)], furthest])
        last = last.assign(system=[panel.labels[name] for name in last.method])
    level = pd.DataFrame({"method": levels.method, "system": levels.method, "score": levels.score, "level": True})
    rows = pd.concat([last[["method", "system", "score"]].assign(level=False), level])
    if rows.empty:
        return []
    rows = rows.sort_values("score", kind="stable")
    rows = rows.assign(place=spread(rows.score.tolist(), LINE / height * (ends[1] - ends[0])))
    names = alt.Chart(rows)
    ink = alt.when(alt.datum.level).then(alt.value(GREY)).otherwise(alt.value(INK))
    text = names.mark_text(align="left", baseline="middle", dx=15)
    text = text.encode(x=alt.XValue("width"), y=alt.Y("place:Q"), text=alt.Text("system:N"), color=ink)
    leader: dict[str, Any] = {
        "x": alt.XValue(width),
        "x2": alt.X2Value(width + 12),
        "y": alt.Y("score:Q"),
        "y2": alt.Y2("place:Q"),
    }
    return [names.mark_rule().encode(color=colour, **leader), text]


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


def _at(x: float, y: float) -> tuple[alt.XValue, alt.YValue]:
    return alt.XValue(x), alt.YValue(y)


def together(how: str, parts: Sequence[Any], **properties: Any) -> Specification:
    """One specification of several, as `layer`, `concat` or `vconcat`; Altair's own ways copy all data many times.

    Parts of a chart were validated when they were made.
    """
    specifications = [part if isinstance(part, dict) else part.to_dict(validate=False) for part in parts]
    datasets: dict[str, Any] = {}
    for part in specifications:
        datasets |= part.pop("datasets", {})
        for key in ("$schema", "config", "name"):
            part.pop(key, None)
    return {how: specifications, "datasets": datasets, **properties}


APART = {"scale": {"color": "independent", "shape": "independent", "strokeDash": "independent"}}


def block(panels: Sequence[Specification], columns: int, name: str, remark: str) -> Specification:
    """The panels of a corpus under its name."""
    title = {"text": name, "subtitle": remark, "fontSize": 14, "fontWeight": "bold", "offset": 12, "anchor": "start"}
    return together("concat", panels, columns=columns, spacing={"row": 28, "column": 24}, title=title, resolve=APART)


def sheet(blocks: Sequence[Specification], heading: str = "", notes: Sequence[str] = ()) -> Specification:
    """Blocks one below the other: a heading on top, notes at the foot."""
    lines = [line for note in notes for line in textwrap.wrap(note, LETTERS)]
    foot = {"text": lines, "orient": "bottom", "offset": 16, "fontSize": TEXT, "lineHeight": LINE + 2}
    chart = together("vconcat", blocks, spacing=30, resolve=APART, **({"title": foot} if lines else {}))
    top = {"text": heading, "fontSize": 15, "fontWeight": "bold", "offset": 14}
    return together("vconcat", [chart], title=top) if heading else chart


def write(chart: Specification, path: Path) -> None:
    """Write a chart as its path's ending says, .svg or .png."""
    if path.suffix.lower() not in PICTURES:
        raise CommandError(f"{path}: a picture is written as {' or '.join(PICTURES)}: end its name so")
    if path.suffix.lower() == ".svg":
        write_text(path, svg(chart))
    else:
        write_bytes(path, vl_convert.vegalite_to_png(configured(chart), scale=2))


def svg(chart: Specification) -> str:
    """A chart in the house's style, on white."""
    return shortened(vl_convert.vegalite_to_svg(configured(chart)))


def configured(chart: Specification) -> Specification:
    """The specification of a chart in the house's style, on white."""
    title = {"fontWeight": "normal", "fontSize": TEXT + 1, "color": INK}
    return {
        "$schema": SCHEMA_URL,
        **chart,
        "background": "white",
        "padding": {"left": 5, "top": 5, "bottom": 5, "right": 30},  # where the font is not there, names are wider
        "config": {
            "font": FONT,
            "aria": False,
            "view": {"stroke": None},
            "title": {**title, "anchor": "start", "frame": "group", "subtitleColor": INK, "subtitleFontSize": TEXT},
            "axis": {
                **{f"{part}Color": INK for part in ("label", "title", "grid", "domain", "tick")},
                "gridOpacity": 0.12,
                "labelFontSize": TEXT,
                "titleFontSize": TEXT,
                "titleFontWeight": "normal",
            },
            "legend": {"labelColor": INK, "labelFontSize": TEXT + 1, "symbolSize": 70},
            "text": {"color": INK, "fontSize": TEXT},
            "rule": {"size": 1},
        },
    }


def for_both_schemes(drawing: str) -> str:
    """Add rules to an SVG by which its colours are lighter where the page that shows it is dark."""
    dark = [*zip(COLOURS, ON_DARK, strict=True), (INK, "#e6e9ec"), (GREY, "#a4adb6"), ("white", "#1d2126")]
    rules = "".join(f'[{part}="{old}"]{{{part}:{new}}}' for old, new in dark for part in ("fill", "stroke"))
    return drawing.replace(">", f"><style>@media (prefers-color-scheme:dark){{{rules}}}</style>", 1)


def shortened(svg: str) -> str:
    """A drawing with its places in hundredths of a pixel, and its font named once: half the bytes to keep in git."""

    def cut(attribute: re.Match[str]) -> str:
        return re.sub(r"-?\d*\.\d{3,}(?:e-?\d+)?", lambda place: f"{round(float(place[0]), 2) + 0.0:g}", attribute[0])

    svg = re.sub(r' (?:d|x|y|x1|x2|y1|y2|width|height|transform)="[^"]*"', cut, svg)
    svg = re.sub(r' (?:class|font-family|aria-hidden|role|pointer-events)="[^"]*"', "", svg)
    names = {name: f"c{place}" for place, name in enumerate(dict.fromkeys(re.findall(r'id="(\w+)"', svg)))}
    svg = re.sub(r'(id="|url\(#)(\w+)', lambda use: use[1] + names[use[2]], svg)  # counted over all that were drawn
    return svg.replace("<svg ", f'<svg font-family="{FONT}" ', 1)

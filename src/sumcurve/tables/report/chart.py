"""The main figure with values under the pointer: Vega-Lite specifications, by Altair, that a page draws itself."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import altair
import pandas as pd
import vl_convert

from sumcurve.scores.scorer import Metric
from sumcurve.tables.evidence import BLIND
from sumcurve.tables.figure import looks_of, spread
from sumcurve.tables.results import Results
from sumcurve.tables.table import number, span
from sumcurve.tables.verdicts import bands

SHAPES: Mapping[str, str] = {
    "o": "circle",
    "s": "square",
    "D": "diamond",
    "^": "triangle-up",
    "v": "triangle-down",
    "P": "cross",
    "X": "M-1,-.6L-.6,-1L0,-.4L.6,-1L1,-.6L.4,0L1,.6L.6,1L0,.4L-.6,1L-1,.6L-.4,0Z",
}  # of matplotlib's markers
DASH = [5, 3]
INK = "currentColor"  # follows the page into the dark
SIZES, DOTS, TEXT = 320, 26, 13  # pixels: of a chart of sizes, of a line of dots, of a name


@cache
def javascript() -> str:
    """Vega, Vega-Lite and Vega-Embed in one text that defines `vegaEmbed`; nothing is loaded."""
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")


def charts(results: Results, corpus: str) -> dict[str, dict[str, Any]]:
    """By metric that ranks, the specification of a chart; none for a corpus that no method is trained on."""
    if not results.sizes(corpus):
        return {}
    looks = looks_of(sorted({one.method for name in results.corpora for one in results.of(name, trained=True)}))
    return {
        metric.name: _chart(results, corpus, metric, looks)
        for metric in results.drawn([corpus])
        if results.design(corpus, metric.name) is not None
    }


def _chart(results: Results, corpus: str, metric: Metric, looks: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    points = _points(results, corpus, metric)
    methods = sorted(set(points[points.trained].method))
    scale = altair.Scale(domain=methods, range=[looks[name][0] for name in methods])
    shapes = altair.Scale(domain=methods, range=[SHAPES[looks[name][1]] for name in methods])
    legend = altair.Legend(orient="bottom", title=None, columns=3, symbolOpacity=1)
    picked = altair.selection_point(fields=["method"], bind="legend", name="picked")
    colour = altair.Color("method:N", scale=scale, legend=legend)
    shape = altair.Shape("method:N", scale=shapes, legend=legend)
    tooltip = ["system", "training records", metric.title, "seeds"]
    title = f"{metric.title} ({metric.unit})"
    if len(results.sizes(corpus)) > 1:
        layers = _curves(results, corpus, metric, points, title, colour, shape, picked, tooltip)
        height = SIZES
    else:
        layers = _dots(points, title, scale, shapes, tooltip)
        height = DOTS * len(points)
    return (
        altair.layer(*layers)
        .properties(width="container", height=height, background="transparent")
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=INK,
            titleColor=INK,
            gridColor=INK,
            gridOpacity=0.13,
            domainColor=INK,
            tickColor=INK,
            labelFontSize=12,
            titleFontSize=13,
            titleFontWeight="normal",
        )
        .configure_legend(labelColor=INK, labelFontSize=12, symbolSize=70)
        .configure_text(color=INK)
        .to_dict()
    )


def _points(results: Results, corpus: str, metric: Metric) -> pd.DataFrame:
    rows = []
    for system in results.of(corpus, metric=metric.name):
        if system.records is None and system.role not in BLIND:
            continue
        found = results.estimate(corpus, metric.name, system.cell)
        rows.append(
            {
                "method": system.method,
                "system": results.name(system).shown,
                "trained": system.records is not None,
                "reads": results.reads(system) is not False,
                "records": system.records,
                "score": found.mean,
                "low": found.low,
                "high": found.high,
                "training records": "not trained" if system.records is None else number(system.records),
                metric.title: span(found.mean, found.low, found.high, metric.decimals),
                "seeds": len(system.seeds) or None,
            }
        )
    return pd.DataFrame(rows).astype({"records": "Int64", "low": float, "high": float, "seeds": "Int64"})


def _curves(
    results: Results,
    corpus: str,
    metric: Metric,
    points: pd.DataFrame,
    title: str,
    colour: altair.Color,
    shape: altair.Shape,
    picked: altair.Parameter,
    tooltip: list[str],
) -> list[altair.Chart]:
    """Scores over records with bands, dashed where fitted curves go on, and what learns nothing as level lines."""
    sizes = results.sizes(corpus)
    trained, level = points[points.trained], points[~points.trained].sort_values("score")
    beyond = bands(results)
    beyond = beyond[(beyond.corpus == corpus) & (beyond.metric == metric.name) & beyond.beyond]
    expected = pd.DataFrame(
        {
            "method": beyond.method,
            "records": beyond.records,
            "score": beyond.middle,
            "low": beyond.low,
            "high": beyond.high,
            "system": beyond.method,
            "training records": [f"{number(int(one))} (fitted, not measured)" for one in beyond.records],
            metric.title: [
                span(*ends, metric.decimals) for ends in zip(beyond.middle, beyond.low, beyond.high, strict=True)
            ],
        }
    )
    drawn = pd.concat([points, expected])[["score", "low", "high"]]
    ends = [float(drawn.min().min()), float(drawn.max().max())]  # of the axis
    gap = TEXT / SIZES * (ends[1] - ends[0])
    level = level.assign(place=spread(level.score.tolist(), gap) if len(level) else [])  # names that stay apart
    last = [int(beyond.records.max())] if len(beyond) else []
    marks = [*(sizes[::-1][::2] if last else sizes), *last]
    axis = altair.Axis(values=sorted(marks), format=",", labelOverlap="greedy", grid=False)
    x = altair.X(
        "records:Q",
        title="training records, logarithmic",
        axis=axis,
        scale=altair.Scale(type="log", nice=False, domain=[sizes[0] / 1.08, (last or sizes)[-1] * 1.08]),
    )
    heights = altair.Scale(domain=ends, nice=False, zero=False)
    y = altair.Y("score:Q", title=title, scale=heights)
    pale = {"opacity": altair.when(picked).then(altair.value(1)).otherwise(altair.value(0.12))}
    faint = altair.when(picked).then(altair.value(0.08)).otherwise(altair.value(0))
    low, high = altair.Y("low:Q", title=title, scale=heights), altair.Y2("high:Q")
    place = altair.Y("place:Q", title=title, scale=heights)
    names = altair.Chart(level).encode(x=altair.value("width"), y=place, text="method:N")
    layers = [
        altair.Chart(trained)
        .mark_area()
        .encode(
            x=x,
            y=low,
            y2=high,
            color=colour,
            opacity=altair.when(picked).then(altair.value(0.16)).otherwise(altair.value(0.03)),
        ),
        altair.Chart(level).mark_rule(color=INK, strokeDash=DASH, opacity=0.65).encode(y=y, tooltip=tooltip),
        names.mark_text(align="left", baseline="middle", dx=4, color=INK, opacity=0.85),  # beside the panel
        altair.Chart(trained).mark_line().encode(x=x, y=y, color=colour, **pale),
        *(
            altair.Chart(these).mark_point(filled=filled, size=55).encode(x=x, y=y, color=colour, shape=shape, **pale)
            for filled, these in ((True, trained[trained.reads]), (False, trained[~trained.reads]))
            if len(these)
        ),
    ]
    if len(expected):
        told = [name for name in tooltip if name != "seeds"]
        layers += [
            altair.Chart(expected).mark_area(clip=True).encode(x=x, y=low, y2=high, color=colour, opacity=faint),
            altair.Chart(expected).mark_line(strokeDash=DASH, strokeWidth=1.3).encode(x=x, y=y, color=colour, **pale),
            altair.Chart(expected).mark_point(opacity=0, size=160).encode(x=x, y=y, tooltip=told),
        ]
    # a finger needs more room than a point
    layers.append(
        altair.Chart(trained).mark_circle(opacity=0, size=420).encode(x=x, y=y, tooltip=tooltip).add_params(picked)
    )
    return layers


def _dots(
    points: pd.DataFrame, title: str, scale: altair.Scale, shapes: altair.Scale, tooltip: list[str]
) -> list[altair.Chart]:
    """One size: a line for every system, best first, with its interval."""
    y = altair.Y("system:N", title=None, sort=altair.EncodingSortField("score", order="descending"))
    x = altair.X("score:Q", title=title, scale=altair.Scale(zero=False))
    untrained = [name for name in points.method if name not in scale.domain]
    scale = altair.Scale(domain=[*scale.domain, *untrained], range=[*scale.range, *[INK] * len(untrained)])
    shapes = altair.Scale(domain=scale.domain, range=[*shapes.range, *["circle"] * len(untrained)])
    colour = altair.Color("method:N", scale=scale, legend=None)
    return [
        altair.Chart(points).mark_rule(strokeWidth=2.5, opacity=0.5).encode(y=y, x="low:Q", x2="high:Q", color=colour),
        altair.Chart(points)
        .mark_point(filled=True, size=70)
        .encode(y=y, x=x, color=colour, shape=altair.Shape("method:N", scale=shapes, legend=None)),
        altair.Chart(points).mark_circle(opacity=0, size=420).encode(y=y, x=x, tooltip=tooltip),
    ]

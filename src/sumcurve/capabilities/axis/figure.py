"""The figure of the data axis: scores over records from 0 on, and beside them what training and answers cost."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from sumcurve.capabilities.axis.evidence import KINDS, PROMPTED, Axis, devices_of, metric_of, prompts_of, systems_at
from sumcurve.capabilities.axis.table import THOUSAND, sentences
from sumcurve.scores.scorer import Metric
from sumcurve.tables import chart
from sumcurve.tables.chart import FAR, GREY, INK, LINE, Specification
from sumcurve.tables.efficiency import costs_of, geometric_mean
from sumcurve.tables.results import Results
from sumcurve.tables.table import number, significant

WIDTH, SIDE, HEIGHT = 430, 200, 300  # pixels of the panel of scores, of those of costs, and of all
DASHES: dict[str, list[int]] = dict(zip(KINDS, ([2, 2], [1, 0], [7, 4], [7, 3, 2, 3]), strict=True))
FLOOR = "lead"
COLUMNS = ("method", "title", "kind", "records", "y", "low", "high", "reads")


@dataclass(frozen=True)
class Panel:
    """Points (`COLUMNS`) of methods by rising records over one axis of y, logarithmic of `costs`.

    `levels` (title, y) are systems without records; those far above are written. `held` methods keep their best y, as
    a prompt does that takes no more examples; `sign` is 1 where more is better.
    """

    title: str
    x_title: str
    points: pd.DataFrame
    levels: Sequence[tuple[str, float]] = ()
    held: frozenset[str] = field(default_factory=frozenset)
    costs: bool = False
    sign: int = 1

    def best(self, points: pd.DataFrame) -> pd.DataFrame:
        """The best point of every method that is held."""
        held = points[points.method.isin(self.held)]
        return held.loc[(self.sign * held.y).groupby(held.method, sort=True).idxmax()]

    @property
    def sizes(self) -> list[int]:
        return sorted(set(self.points.records) - {0})

    @property
    def zero(self) -> float | None:
        """The place of 0 on the logarithmic axis, left of a break; None where nothing stands there."""
        if not (self.points.records == 0).any():
            return None
        sizes = self.sizes or [1]
        return float(sizes[0] / max(1.5, (sizes[-1] / sizes[0]) ** 0.08))


def figure(axis: Axis, results: Results) -> Specification | None:
    """A block for every corpus; None where no system stands on an axis."""
    blocks, kinds = [], set[str]()
    for corpus in results.corpora:
        metric = metric_of(axis, results, corpus)
        panels = panels_of(axis, results, corpus, metric) if metric else []
        if panels:
            looks = chart.looks_of({method for panel in panels for method in panel.points.method})
            drawn = [draw(panel, looks, SIDE if panel.costs else WIDTH) for panel in panels]
            scorer = results.scorer(axis.metric)
            items = len(results.of(corpus, metric=axis.metric)[0].scored(scorer)[0].ids)
            blocks.append(chart.block(drawn, len(drawn), corpus, f"{number(items)} test items"))
            kinds |= set(panels[0].points.kind)
    notes = notes_of(axis, results, [kind for kind in KINDS if kind in kinds])
    return chart.sheet(blocks, results.study.in_part, notes) if blocks else None


def panels_of(axis: Axis, results: Results, corpus: str, metric: Metric) -> list[Panel]:
    """Scores; seconds of trainings; tokens of answers: each where it is known."""
    placed = systems_at(axis, results, corpus)
    if not placed:
        return []
    scores = points_of(
        (
            axis.name(system),
            axis.title(results, system).shown,
            kind,
            records,
            estimate.mean,
            estimate.low,
            estimate.high,
            results.reads(system) is not False,
        )
        for records, kind, system in placed
        for estimate in [results.estimate(corpus, metric.name, system.cell)]
    )
    levels = [
        (results.name(system).shown, results.estimate(corpus, metric.name, system.cell).mean)
        for system in results.of(corpus, trained=False, metric=metric.name)
        if system.method == FLOOR
    ]
    if (optimum := results.optimum(corpus, metric.name)) is not None:
        levels.append((results.optimum_words.name, float(np.mean(optimum.scores))))
    panels = [
        Panel(
            f"{metric.title} ({metric.unit})",
            "records, logarithmic",
            scores,
            levels,
            frozenset(scores.method[scores.kind == PROMPTED]),
            sign=results.sign(metric.name),
        )
    ]
    measured = [
        (records, kind, system, seconds)
        for records, kind, system in placed
        if kind != PROMPTED and records and (seconds := geometric_mean(costs_of(system, "seconds")))
    ]
    if measured:
        devices = sorted({device for _, _, system, _ in measured for device in devices_of(system)})
        several = len(devices) > 1
        seconds_of = points_of(
            (
                axis.name(system),
                axis.title(results, system).shown + (f", {' and '.join(devices_of(system))}" if several else ""),
                *(kind, records, seconds, None, None, True),
            )
            for records, kind, system, seconds in measured
        )
        title = "Seconds of a training, logarithmic" + ("" if several else f" ({devices[0]})")
        panels.append(Panel(title, "records", seconds_of, costs=True))
    if answers := prompts_of(results, corpus):
        titles = {axis.name(system): axis.title(results, system).shown for _, _, system in placed}
        answered = points_of(
            (method, titles[method] + _price(prompt), PROMPTED, examples, tokens, None, None, True)
            for (method, examples), prompt in sorted(answers.items())
            if method in titles
            and (tokens := THOUSAND * sum((*prompt.tokens, *prompt.lost_tokens)) / max(1, prompt.usage["items"]))
        )
        if len(answered):
            priced = any(prompt.price is not None for prompt in answers.values())
            title = f"Tokens{', and price,' * priced} of 1,000 answers, logarithmic"
            panels.append(Panel(title, "examples", answered, costs=True))
    return panels


def _price(prompt: Any) -> str:
    """What 1,000 answers with so many examples cost, where a price is stated."""
    money = prompt.money(*(own + lost for own, lost in zip(prompt.tokens, prompt.lost_tokens, strict=True)))
    items = prompt.usage["items"]
    return "" if money is None or not items else f", {significant(THOUSAND * money / items)} with {prompt.examples}"


def points_of(rows: Any) -> pd.DataFrame:
    frame = pd.DataFrame(list(rows), columns=[*COLUMNS])
    frame = frame.astype({"y": float, "low": float, "high": float})
    return frame.sort_values(["method", "records"], kind="stable").reset_index(drop=True)


def draw(panel: Panel, looks: chart.Looks, width: int) -> Specification:
    """Lines from the first records on, bars of intervals, what stands at 0 apart, and a name beside each line."""
    zero, sizes = panel.zero, panel.sizes
    points = panel.points.assign(
        x=[float(zero or 1) if not records else float(records) for records in panel.points.records]
    )
    least, most, levels, above = _ends(panel)
    if panel.costs:
        most *= 1.3
    else:
        most = least + (most - least) / (1 - len(above) * LINE / HEIGHT)
    methods = [name for name in looks if name in set(points.method)]
    colour = alt.Color(
        "method:N", scale=alt.Scale(domain=methods, range=[looks[name][0] for name in methods]), legend=None
    )
    shape = alt.Shape(
        "method:N", scale=alt.Scale(domain=methods, range=[looks[name][1] for name in methods]), legend=None
    )
    dash = alt.StrokeDash("kind:N", scale=alt.Scale(domain=[*DASHES], range=[*DASHES.values()]), legend=None)
    margin = max(1.2, (points.x.max() / points.x.min()) ** 0.04)
    label = "format(datum.value, ',~r')"
    if zero is not None:
        label = f"datum.value <= {zero} ? '0' : {label}"
    shown = sizes if len(sizes) < 7 else [size for size in sizes if 10 ** round(np.log10(size)) == size]
    scale = alt.Scale(type="log", nice=False, domain=[points.x.min() / margin, points.x.max() * margin])
    ticks = [*([zero] if zero else []), *shown]
    axis = alt.Axis(values=ticks, labelExpr=label, grid=False, labelOverlap="greedy", labelFlush=False)
    x = alt.X("x:Q", title=panel.x_title, axis=axis, scale=scale)
    of_y = alt.Scale(type="log" if panel.costs else "linear", domain=[least, most], nice=False, zero=False)
    y = alt.Y(
        "y:Q",
        title=None,
        scale=of_y,
        axis=alt.Axis(domain=False, ticks=False, **_ticks(panel, least, most)),
    )
    joined = points[points.records > 0]
    layers = [
        alt.Chart(levels).mark_rule(color=GREY, strokeDash=chart.DASHES[1]).encode(y=y),
        alt.Chart(points.dropna(subset=["low"]))
        .mark_rule(size=1.2)
        .encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), color=colour, opacity=alt.OpacityValue(0.55)),
        alt.Chart(joined).mark_line(size=1.8).encode(x=x, y=y, color=colour, strokeDash=dash),
    ]
    last = points.groupby("method", sort=True).tail(1)
    held = last.method.isin(panel.held)
    if held.any():
        last = pd.concat([last[~held], panel.best(points)])
        to = last[last.method.isin(panel.held)].assign(end=float(points.x.max() * margin))
        thin = alt.Chart(to).mark_rule(size=1, strokeDash=DASHES[PROMPTED])
        layers.append(thin.encode(x=x, x2=alt.X2("end:Q"), y=y, color=colour, opacity=alt.OpacityValue(0.6)))
    if zero is not None and sizes:
        gap = pd.DataFrame({"x": [(zero * sizes[0]) ** 0.5]})
        layers.append(alt.Chart(gap).mark_text(text="//", color=GREY).encode(x=x, y=alt.YValue(HEIGHT)))
    for frame, fill in ((points[points.reads], None), (points[~points.reads], "white")):
        if len(frame):
            filling: dict[str, Any] = {"filled": fill is None} | ({"fill": fill} if fill else {})
            mark = alt.Chart(frame).mark_point(size=42, opacity=1, **filling)
            layers.append(mark.encode(x=x, y=y, color=colour, shape=shape))
    if above:
        text = [f"↑ {name} {score:.1f}" for name, score in above]
        at: dict[str, Any] = {"align": "right", "baseline": "top", "lineHeight": LINE, "color": GREY}
        mark = alt.Chart(pd.DataFrame({"n": [0]})).mark_text(text=text, **at)
        layers.append(mark.encode(x=alt.XValue(width - 2), y=alt.YValue(2)))
    layers += _names(last, levels, colour, width, (least, most), panel.costs)
    return chart.together("layer", layers, width=width, height=HEIGHT, title=panel.title)


def _ticks(panel: Panel, least: float, most: float) -> dict[str, Any]:
    """Of costs 1, 2 and 5 of each power of ten, or the powers alone where there are many."""
    if not panel.costs:
        return {"tickCount": 6}
    powers = range(int(np.floor(np.log10(least))), int(np.ceil(np.log10(most))) + 1)
    digits = (1,) if len(powers) > 4 else (1, 2, 5)
    return {"values": [digit * 10.0**power for power in powers for digit in digits], "format": "~s"}


def _ends(panel: Panel) -> tuple[float, float, pd.DataFrame, list[tuple[str, float]]]:
    """The ends of y, the levels between them, and what lies far above."""
    values = panel.points[["y", "low", "high"]].to_numpy(float)
    least, most = float(np.nanmin(values)), float(np.nanmax(values))
    if panel.costs:
        return least / 1.3, most, pd.DataFrame(columns=["title", "y"]), []
    reach = (most - least) or 1.0
    above = [(title, score) for title, score in panel.levels if score > most + FAR * reach]
    inside = pd.DataFrame([level for level in panel.levels if level not in above], columns=["title", "y"])
    least, most = min([least, *inside.y]), max([most, *inside.y])
    room = 0.05 * (most - least) or 1.0
    return max(0.0, least - room) if least >= 0 else least - room, most + room, inside, above


def _names(
    last: pd.DataFrame, levels: pd.DataFrame, colour: alt.Color, width: int, ends: tuple[float, float], costs: bool
) -> list[alt.Chart]:
    """Names right of the panel, moved apart, with a leader from the height of each line's end."""
    rows = pd.concat([last[["method", "title", "y"]].assign(level=False), levels.assign(level=True)])
    rows = rows.assign(y=rows.y.astype(float)).sort_values("y", kind="stable")
    low, high = np.log(ends) if costs else ends
    heights = np.log(rows.y) if costs else rows.y
    places = chart.spread(heights.tolist(), LINE / HEIGHT * (high - low))
    rows = rows.assign(place=np.exp(places) if costs else places)
    ruled = {"x": alt.XValue(width), "x2": alt.X2Value(width + 12), "y": alt.Y("y:Q"), "y2": alt.Y2("place:Q")}
    ink = alt.when(alt.datum.level).then(alt.value(GREY)).otherwise(alt.value(INK))
    text = alt.Chart(rows).mark_text(align="left", baseline="middle", dx=15)
    return [
        alt.Chart(rows[~rows.level]).mark_rule().encode(color=colour, **ruled),
        alt.Chart(rows[rows.level]).mark_rule(color=GREY).encode(**ruled),
        text.encode(x=alt.XValue("width"), y=alt.Y("place:Q"), text=alt.Text("title:N"), color=ink),
    ]


def notes_of(axis: Axis, results: Results, kinds: Sequence[str]) -> list[str]:
    """Sentences at the foot: what lines mean, and the answers."""
    styles = dict(zip(KINDS, ("dotted", "solid", "dashed", "dashed and dotted"), strict=True))
    return [
        f"Lines: {', '.join(f'{kind} {styles[kind]}' for kind in kinds)}. Bars: {results.share} intervals. A prompt's "
        "records are its examples; its line goes on at its best score. At 0 records, left of the break: before "
        "any training, and without an example. Hollow: †. Grey: lead, the floor; above, the best extract, where it is "
        "proven.",
        *sentences(axis, results),
        "Scores are closeness to these references; a refused answer scores 0. Seconds up to the selected checkpoint, "
        "without pretraining; tokens, prompt and answer, for every 1,000 answers; price: at the user's own.",
        results.seeds_note,
        results.caveat,
        results.marks_note,
        *results.corpora_notes,
    ]

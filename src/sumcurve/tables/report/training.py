"""Training curves of every run from its History: validation score over updates."""

from collections.abc import Mapping

import altair as alt
import pandas as pd

from sumcurve.tables.chart import COLOURS, Specification, together
from sumcurve.tables.results import Results

POINTS = 100  # of a History's score of 1
WIDTH, HEIGHT, COLUMNS = 250, 150, 3  # pixels of a panel; panels in a row


def training_curves(results: Results, corpus: str, titles: Mapping[str, str]) -> Specification | None:
    """A panel for every method, a line for every run, a dot for every scored checkpoint; None without any History."""
    rows = [
        {
            "method": titles[system.method],
            "records": system.records,
            "seed": output.seed,
            "updates": row.updates,
            "score": POINTS * row.rouge,
            "selected": row in [marked for marked in output.history if marked.best][-1:],
        }
        for system in results.of(corpus, trained=True)
        for output in system.outputs
        for row in output.history
    ]
    if not rows:
        return None
    frame = pd.DataFrame(rows)
    domain = results.sizes(corpus)
    scale = alt.Scale(domain=domain, range=[COLOURS[place % len(COLOURS)] for place in range(len(domain))])
    legend = alt.Legend(title="records", labelExpr="format(datum.value, ',')")
    colour = alt.Color("records:O", scale=scale, legend=legend)
    axis = alt.Axis(tickCount=4, grid=False)
    x = alt.X("updates:Q", title="updates", scale=alt.Scale(zero=True), axis=axis)
    heights = alt.Scale(domain=[0, float(frame.score.max())])
    y = alt.Y("score:Q", title=None, scale=heights, axis=alt.Axis(tickCount=5, domain=False, ticks=False))
    panels = []
    for method, runs in frame.groupby("method", sort=False):
        lines = alt.Chart(runs).mark_line(size=1.4).encode(x=x, y=y, color=colour, detail=alt.Detail("seed:N"))
        dots = alt.Chart(runs[runs.selected]).mark_point(filled=True, opacity=1).encode(x=x, y=y, color=colour)
        panels.append(together("layer", [lines, dots], width=WIDTH, height=HEIGHT, title=method))
    return together("concat", panels, columns=COLUMNS, spacing=24)

"""The panels of the figure with values under the pointer, which a page draws itself."""

from functools import cache

import pandas as pd
import vl_convert

from sumcurve.tables.chart import Looks, Specification, configured, curves, dots
from sumcurve.tables.evidence import BLIND
from sumcurve.tables.figures import known, only, order_of, panel_of
from sumcurve.tables.results import Results

HEIGHT = 320  # pixels of a panel of curves


@cache
def javascript() -> str:
    """Vega, Vega-Lite and Vega-Embed in one text that defines `vegaEmbed`; nothing is loaded."""
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")


def charts(results: Results, scores: pd.DataFrame, corpus: str, looks: Looks) -> dict[str, Specification]:
    """By metric that ranks, the specification of a chart; none for a corpus that no method is trained on.

    `scores` is the frame of table scores.
    """
    rows = scores[scores.corpus == corpus]
    sizes = results.sizes(corpus)
    drawn = {}
    for metric in known(rows, results.drawn([corpus])) if sizes else ():
        panel = only(panel_of(results, rows, corpus, metric), rows, BLIND)
        several = curves(panel, looks, "container", HEIGHT) if len(sizes) > 1 else None
        chart = several or dots(panel, looks, order_of(panel), "container")
        drawn[metric.name] = configured(chart, "currentColor", "transparent")
    return drawn

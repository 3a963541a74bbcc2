"""What the page draws: of every corpus and metric the scores over records and costs, which its script makes charts of.

The script (chart.js) builds a Vega-Lite chart of it in the browser; without scripts the page has the study's figures.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import vl_convert

from sumcurve.settings.base import ZERO_SHOT
from sumcurve.tables.chart import Looks
from sumcurve.tables.efficiency import clock_refusal, costs_of, geometric_mean
from sumcurve.tables.evidence import BLIND
from sumcurve.tables.figures import known, only, panel_of
from sumcurve.tables.results import Results
from sumcurve.tables.systems import System

DIGITS = 6  # significant, of a place in a chart
Drawn = dict[str, Any]  # what becomes JSON


@cache
def javascript() -> str:
    """Vega, Vega-Lite and Vega-Embed in one text that defines `vegaEmbed`; nothing is loaded."""
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")


def charts(results: Results, scores: pd.DataFrame, looks: Looks, titles: Mapping[str, str]) -> dict[str, Drawn]:
    """By corpus that a method is trained on: its methods, the costs of every training, and a panel for every metric.

    `scores` is the frame of table scores. A panel has `points` [method, place of records, score, low, high, whether it
    uses its source, records], `levels` [title, score] of untrained baselines, the best first, and `fitted` [method,
    records, score, low, high] beyond the data.
    """
    return {
        corpus: {
            "methods": {
                name: [titles[name], *looks[name]]
                for name in dict.fromkeys(name.removesuffix(ZERO_SHOT) for name in results.methods(corpus))
            },
            "costs": {
                f"{system.method}|{system.records}": _costs(results, system) for system in results.of(corpus, True)
            },
            "panels": {
                metric.name: _panel(results, scores[scores.corpus == corpus], corpus, metric, titles)
                for metric in known(scores[scores.corpus == corpus], results.drawn([corpus]))
            },
        }
        for corpus in results.corpora
        if results.sizes(corpus)
    }


def _costs(results: Results, system: System) -> Drawn:
    """What a training took, the geometric mean over seeds, and how large its model is; without what is not known."""
    units = ["updates"] if clock_refusal(results) else ["updates", "seconds"]
    costs = {unit: _rounded(geometric_mean(costs_of(system, unit))) for unit in units}
    size = next((output.training.parameters["total"] for output in system.outputs if output.training), None)
    return {name: value for name, value in (costs | {"parameters": size}).items() if value}


def _panel(results: Results, rows: pd.DataFrame, corpus: str, metric: Any, titles: Mapping[str, str]) -> Drawn:
    panel = only(panel_of(results, rows, corpus, metric), rows, BLIND)
    better = results.sign(metric.name)
    levels = sorted(panel.levels[["method", "score"]].itertuples(index=False), key=lambda row: -better * row.score)
    points = panel.points.assign(records=panel.points.x.where(panel.points.x != panel.zero, 0))
    ends = ["method", "x", "score", "low", "high"]
    return {
        "title": metric.title,
        "unit": metric.unit,
        "decimals": metric.decimals,
        "ticks": [*panel.ticks],
        "zero": panel.zero,
        "points": _rows(points[[*ends, "reads", "records"]]),
        "levels": [[titles[row.method], _rounded(row.score)] for row in levels],
        "fitted": _rows(panel.fitted[ends]),
    }


def _rows(frame: pd.DataFrame) -> list[list[Any]]:
    return [[_rounded(cell) for cell in row] for row in frame.itertuples(index=False, name=None)]


def _rounded(cell: Any) -> Any:
    """A number in as many digits as a screen shows, None of what is none; whatever else as it is."""
    if isinstance(cell, float):
        return None if pd.isna(cell) else float(f"{cell:.{DIGITS}g}")
    return cell.item() if isinstance(cell, np.generic) else cell

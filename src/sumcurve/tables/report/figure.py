"""The figure of a study: score against training records in one panel, a named line for every method."""

from dataclasses import replace
from pathlib import Path

import pandas as pd

from sumcurve.tables import chart
from sumcurve.tables.chart import Specification
from sumcurve.tables.figures import panel_of
from sumcurve.tables.ranking import effect
from sumcurve.tables.report.facts import Corpus
from sumcurve.tables.report.findings import Titles
from sumcurve.tables.report.leaderboard import leaderboard

WIDTH, HEIGHT = 460, 300  # pixels of the panel


def write_figure(corpus: Corpus, titles: Titles, folder: Path, name: str, heading: str = "") -> bool:
    """Draw the first metric of a corpus into `folder` as name.svg; False where no method has two sizes."""
    drawn = figure(corpus, titles)
    if drawn is not None:
        chart.write(chart.sheet([drawn], heading) if heading else drawn, folder / f"{name}.svg")
    return drawn is not None


def figure(corpus: Corpus, titles: Titles) -> Specification | None:
    """The metric that is shown of a corpus against records; None where no method has two sizes."""
    trained = pd.DataFrame(corpus.trainings)
    if trained.empty:
        return None
    panel = panel_of(
        trained.assign(system=trained.method.map(lambda name: titles[name])),
        corpus.column,
        f"{corpus.shown} on the test set",
    )
    if not panel.points.method.duplicated().any():
        return None
    blind = [entry for entry in leaderboard(corpus, titles, baselines=1) if entry.role in ("baseline", "outside")]
    levels = [(entry.title, entry.score) for entry in blind if entry.score]
    if all(entry.method != "lead" for entry in blind):
        scores = (effect(row, corpus.column) for row in corpus.rows("scores", method="lead"))
        levels += [(titles["lead"], score) for score in scores if score is not None]
    frame = pd.DataFrame(
        [(title, score.value, score.low, score.high, False) for title, score in levels], columns=[*panel.levels]
    )
    looks = chart.looks_of(set(panel.points.method))
    return chart.curves(replace(panel, levels=frame, ticks=panel.ticks[-6:]), looks, WIDTH, HEIGHT)

"""The figure of a study: score against training records in one panel, a named line for every method, and forecasts."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from sumcurve.curves.verdict import short_chance
from sumcurve.tables import chart
from sumcurve.tables.chart import CURVE, Specification
from sumcurve.tables.figures import panel_of
from sumcurve.tables.ranking import effect
from sumcurve.tables.report.facts import Corpus, Record
from sumcurve.tables.report.findings import Titles
from sumcurve.tables.report.leaderboard import leaderboard
from sumcurve.tables.table import number

WIDTH, HEIGHT = 460, 300  # pixels of the panel


def write_figure(
    corpus: Corpus, titles: Titles, folder: Path, name: str, heading: str = "", truth: Corpus | None = None
) -> bool:
    """Draw the first metric of a corpus into `folder` as name.svg; False where no method has two sizes."""
    drawn = figure(corpus, titles, truth)
    if drawn is not None:
        chart.write(chart.sheet([drawn], heading) if heading else drawn, folder / f"{name}.svg")
    return drawn is not None


def figure(corpus: Corpus, titles: Titles, truth: Corpus | None = None) -> Specification | None:
    """The metric that is shown of a corpus against records, with its forecasts; None where no method has two sizes.

    `truth` is the same corpus in a study of more records, whose scores at its largest size are crosses.
    """
    trained = pd.DataFrame(corpus.trainings)
    if trained.empty:
        return None
    forecasts = corpus.rows("answers", metric=corpus.shown, basis="fit")
    panel = panel_of(
        trained.assign(system=trained.method.map(lambda name: titles[name])),
        corpus.column,
        f"{corpus.shown} on the test set",
        fitted=pd.DataFrame(_dashed(corpus, forecasts), columns=CURVE),
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
    panel = replace(panel, levels=frame, ticks=panel.ticks[-6:])
    notes = []  # a line each
    if forecasts:
        notes.append("Dashed: forecast.")
        furthest = max(row["records"] for row in forecasts)
        chances = {
            row["method"]: short_chance(row["leading"])
            for row in forecasts
            if row["records"] == furthest and row.get("leading") is not None
        }
        if chances:
            labels = {name: f"{titles[name]} (no forecast)" for name in panel.points.method}
            labels |= {name: f"{titles[name]} ({text})" for name, text in chances.items()}
            panel = replace(panel, labels=labels)
            notes[0] += f" In brackets: probability of being the best trained method at {number(furthest)} records."
    if truth is not None:
        rows = truth.rows("scores", records=truth.largest)
        panel = replace(panel, truth=pd.DataFrame([_point(row, corpus.column) for row in rows], columns=CURVE))
        notes.append("Crosses: measured, and not given to the fit.")
    if notes:
        panel = replace(panel, title={"text": f"{corpus.shown} on the test set", "subtitle": notes})
    looks = chart.looks_of(set(panel.points.method))
    return chart.curves(panel, looks, WIDTH, HEIGHT)


def _dashed(corpus: Corpus, forecasts: Sequence[Record]) -> list[tuple[str, float, float, float, float]]:
    """The forecasts of every method, behind the last score that was measured of it."""
    measured = corpus.rows("answers", metric=corpus.shown, basis="measured")
    last = {row["method"]: row for row in measured}  # by rising size
    methods = dict.fromkeys(row["method"] for row in forecasts)
    return [_point(row, "score") for row in [*(last[name] for name in methods), *forecasts]]


def _point(row: Record, column: str) -> tuple[str, float, float, float, float]:
    return row["method"], float(row["records"]), row[column], row[f"{column}_low"], row[f"{column}_high"]

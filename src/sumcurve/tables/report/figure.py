"""The figure of a study: score against training records in one panel, a named line for every method."""

from pathlib import Path

import pandas as pd

from sumcurve.tables import chart
from sumcurve.tables.chart import Panel, Specification
from sumcurve.tables.report.facts import Corpus, effect
from sumcurve.tables.report.findings import Titles
from sumcurve.tables.report.leaderboard import leaderboard

WIDTH, HEIGHT = 460, 300  # pixels of the panel
COLUMNS = ("method", "system", "step", "x", "score", "low", "high", "reads")


def write_figure(corpus: Corpus, titles: Titles, folder: Path, name: str, heading: str = "") -> bool:
    """Draw the first metric of a corpus into `folder` as name.svg; False where no method has two sizes."""
    drawn = figure(corpus, titles)
    if drawn is not None:
        chart.save(chart.sheet([drawn], heading) if heading else drawn, folder, name)
    return drawn is not None


def figure(corpus: Corpus, titles: Titles) -> Specification | None:
    """The metric that is shown of a corpus against records; None where no method has two sizes."""
    scores = corpus.rows("scores")
    rows = []
    for place, row in enumerate(corpus.trainings):
        score = effect(row, corpus.column)
        if score is None:
            continue
        system = titles[row["method"]]
        ends = (score.value, score.low, score.high)
        rows.append((row["method"], system, place, float(row["records"]), *ends, row.get("reads_source") != "no"))
    points = pd.DataFrame(rows, columns=[*COLUMNS]).astype({"low": float, "high": float})
    if points.groupby("method").size().max() < 2 if len(points) else True:
        return None
    blind = [entry for entry in leaderboard(corpus, titles, baselines=1) if entry.role in ("baseline", "outside")]
    lead = [row for row in scores if row["method"] == "lead" and all(entry.method != "lead" for entry in blind)]
    levels = [(entry.title, entry.score) for entry in blind if entry.score] + [
        (titles["lead"], score) for row in lead if (score := effect(row, corpus.column)) is not None
    ]
    frame = pd.DataFrame(
        [(title, score.value, score.low, score.high, False) for title, score in levels],
        columns=["method", "score", "low", "high", "bound"],
    )
    ticks = sorted(set(points.x))
    panel = Panel(
        f"{corpus.chosen or corpus.metric} on the test set",
        "training records (logarithmic)",
        points,
        frame,
        ticks[-6:],
    )
    looks = chart.looks_of(set(points.method))
    return chart.curves(panel, looks, WIDTH, HEIGHT)

"""Training curves of every run from its History: validation score over updates, phase by phase."""

from collections.abc import Mapping

import pandas as pd

from sumcurve.tables.chart import Specification, together, trainings
from sumcurve.tables.results import Results

POINTS = 100  # of a History's score of 1
TITLE = "ROUGE, geometric mean"  # of the three that validation has
WIDTH, HEIGHT, COLUMNS = 250, 150, 3  # pixels of a panel; panels in a row


def training_curves(results: Results, corpus: str, titles: Mapping[str, str]) -> Specification | None:
    """A panel a method, a line a phase of a run, a dot for every scored checkpoint; None without any History."""
    rows = [
        {
            "method": titles[system.method],
            "records": system.records,
            "seed": output.seed,
            "phase": row.phase,
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
    sizes = results.sizes(corpus)
    panels = [
        trainings(runs, sizes, [*frame.phase.unique()], (method, TITLE), float(frame.score.max()), WIDTH, HEIGHT)
        for method, runs in frame.groupby("method", sort=False)
    ]
    return together("concat", panels, columns=COLUMNS, spacing=24)

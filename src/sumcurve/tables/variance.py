"""How much of what scores vary by over seeds is the draw of the training records, and how much the training.

Elsewhere a seed decides both. Here every draw is trained with every seed, at one size below all records.
"""

from collections.abc import Mapping
from itertools import combinations
from math import sqrt
from typing import Any

from sumcurve.statistics.decomposition import Decomposition, decompose, layout
from sumcurve.tables.evidence import ScoredOutput
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table, Value

PART = "variance"


def table(results: Results) -> Table:
    """A row for every metric and method of the layout, and for the difference of every two of them."""
    rows: list[dict[str, Any]] = []
    for corpus, percent in dict.fromkeys((one.corpus, one.percent) for one in results.outputs if one.part == PART):
        here = [one for one in results.outputs if (one.corpus, one.percent) == (corpus, percent)]
        methods = dict.fromkeys(one.method for one in here if one.part == PART)
        for metric in results.ranking:
            means = {method: _means(here, method, results.scorer(metric.name), metric.name) for method in methods}
            named: dict[str, Mapping[tuple[int, int], float]] = dict(means)
            for one, other in combinations(methods, 2):
                both = means[one].keys() & means[other].keys()
                named[f"{one} − {other}"] = {place: means[one][place] - means[other][place] for place in both}
            for name, scores in named.items():
                row: dict[str, Any] = {"corpus": corpus, "percent": percent, "metric": metric.title, "scores_of": name}
                try:
                    row |= _told(decompose(layout(scores), results.settings.confidence))
                except ValueError as error:
                    row["says"] = str(error)
                rows.append(row)
    columns = [
        Column("corpus", "corpus"),
        Column("percent", "% of records", "count"),
        Column("metric", "metric"),
        Column("scores_of", "scores of"),
        Column("draws", "draws", "count"),
        Column("trainings", "trainings of each", "count"),
        Column("draw_sd", "sd of a draw", "number", 2, interval=True),
        Column("training_sd", "sd of a training", "number", 2, interval=True),
        Column("draw_percent", "% of the variance is the draw", "number", 0, interval=True),
        Column("p", "p of no draw", "p"),
        Column("says", "says"),
    ]
    notes = [
        "Each draw of the records is trained with each seed; one-way random effects of mean scores (Searle, 1971). A "
        "difference is paired: both methods with the same draw and seed. What the finite test set adds to one "
        f"training's score is in the training's part. Brackets: {results.share} intervals, wide with so few draws.",
        results.caveat,
    ]
    return Table("variance", results.title("Draw and training"), columns, rows, notes)


def _means(outputs: list[ScoredOutput], method: str, scorer: str, metric: str) -> dict[tuple[int, int], float]:
    """Mean score by draw and seed: of the layout's own trainings, and of the study's, whose seed draws as well."""
    mine = [one for one in outputs if one.method == method and one.search == "common" and scorer in one.scores]
    extra = {_at(one): one for one in mine if one.part == PART}
    draws, seeds = ({at[axis] for at in extra} for axis in (0, 1))
    own = {_at(one): one for one in mine if one.part == "study" and one.seed in draws & seeds}
    return {at: _mean(one, scorer, metric) for at, one in (own | extra).items()}


def _at(output: ScoredOutput) -> tuple[int, int]:
    seed = output.seed or 0
    return (seed if output.draw is None else output.draw), seed


def _mean(output: ScoredOutput, scorer: str, metric: str) -> float:
    items = output.scores[scorer]
    return float(items.values[[one.name for one in items.metrics].index(metric)].mean())


def _told(found: Decomposition) -> dict[str, Any]:
    def sd(variance: float, ends: tuple[float, float]) -> Value:
        return Value(sqrt(variance), sqrt(ends[0]), sqrt(ends[1]))

    low, high = found.share_interval
    return {
        "draws": found.draws,
        "trainings": found.trainings,
        "draw_sd": sd(found.draw, found.draw_interval),
        "training_sd": sd(found.training, found.training_interval),
        "draw_percent": Value(100 * found.share, 100 * low, 100 * high),
        "p": found.p,
    }

"""Appendix: how much of what seeds vary by is the draw of the records, and how much the training."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from sumcurve.scores.scorer import Metric
from sumcurve.statistics.decomposition import decompose, layout
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table, Value

Scores = Mapping[tuple[int, int], float]  # by draw and training seed


def table(results: Results) -> Table:
    """A row for every method, and every difference of two, that was trained on several draws with the same seeds.

    Variances are in squared units of the metric; `share_percent` is that of the draw.
    """
    rows: list[dict[str, Any]] = []
    places = {
        (output.corpus, output.percent) for output in results.outputs if output.part == "variance" and output.percent
    }
    for corpus, percent in sorted(places):
        for metric in results.metrics:
            by_method = _scores(results, corpus, percent, metric)
            title = results.titled(corpus, metric)
            compared = {(name, ""): scores for name, scores in by_method.items()}
            compared |= {
                (first, second): _difference(by_method[first], by_method[second])
                for first, second in combinations(by_method, 2)
            }
            named = {"corpus": corpus, "percent": percent, "metric": title}
            rows += [
                {**named, "method": name, "minus": minus, **_row(scores)} for (name, minus), scores in compared.items()
            ]
    columns = [
        Column("corpus", "corpus"),
        Column("percent", "%", "count"),
        Column("method", "method"),
        Column("minus", "minus"),
        Column("metric", "metric"),
        Column("draws", "draws", "count"),
        Column("trainings", "trainings", "count"),
        Column("draw", "variance of a draw", "number", 3, interval=True),
        Column("training", "of a training", "number", 3, interval=True),
        Column("share_percent", "share of the draw (%)", "number", 1, interval=True),
        Column("p", "p", "p"),
    ]
    return Table("variance", results.title("What draws and trainings vary by"), columns, rows)


def _scores(results: Results, corpus: str, percent: int, metric: Metric) -> dict[str, Scores]:
    """Mean scores by method of every draw and training seed, of those draws and seeds that are crossed."""
    scorer = results.scorer(metric.name)
    every: dict[str, dict[tuple[int, int], float]] = {}
    crossed: dict[str, set[tuple[int, int]]] = {}
    for output in results.outputs:
        usable = output.part in ("study", "variance") and output.search != "paper" and scorer in output.scores
        if (output.corpus, output.percent) != (corpus, percent) or not usable or output.seed is None:
            continue
        place = (output.seed if output.draw is None else output.draw, output.seed)
        items = output.scores[scorer]
        values = items.values[[other.name for other in items.metrics].index(metric.name)]
        every.setdefault(output.method, {})[place] = float(values.mean())
        if output.part == "variance":
            crossed.setdefault(output.method, set()).add(place)
    by_method = {}
    for method, places in crossed.items():
        draws, seeds = ({place[side] for place in places} for side in (0, 1))
        by_method[method] = {
            place: score for place, score in every[method].items() if place[0] in draws and place[1] in seeds
        }
    return {method: scores for method, scores in by_method.items() if _whole(scores)}


def _whole(scores: Scores) -> bool:
    """Whether every draw was trained with every seed; a study in part may lack some."""
    draws, seeds = ({place[side] for place in scores} for side in (0, 1))
    return len(scores) == len(draws) * len(seeds) and min(len(draws), len(seeds)) > 1


def _difference(first: Scores, second: Scores) -> Scores:
    return {place: first[place] - second[place] for place in first if place in second}


def _row(scores: Scores) -> dict[str, Any]:
    try:
        parts = decompose(layout(scores))
    except ValueError as error:  # such as equal trainings
        return {"draw": Value(None, why=str(error))}
    low, high = parts.share_interval
    return {
        "draws": parts.draws,
        "trainings": parts.trainings,
        "draw": Value(parts.draw, *parts.draw_interval),
        "training": Value(parts.training, *parts.training_interval),
        "share_percent": Value(100 * parts.share, 100 * low, 100 * high),
        "p": parts.p,
    }

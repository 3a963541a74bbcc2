"""Paired comparisons of a study's systems as data frames, scores averaged over seeds first.

Differences are first minus second system, in points of F1. Where a corpus has several seeds, intervals and tests hold
both test items and seeds (`curves.variance`); otherwise they speak of these trained models, not of their methods.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from sumcurve.curves.variance import SeededDifference, seeded_difference, seeded_differences
from sumcurve.scores.comparison import holm
from sumcurve.scores.rouge import METRICS
from sumcurve.settings import Bootstrap
from sumcurve.tables.cells import Variances, cell
from sumcurve.tables.evidence import BLIND, TRIVIAL, Aligned, groups
from sumcurve.tables.frames import framed, largest

LEVEL = 0.05  # of the tests that bold type reports
MEASURES = ["difference", "low", "high", "wins", "ties", "losses", "p", "p_holm"]

Place = tuple[str, int | None, str, str]
"""Corpus, percent, metric, method."""


def differences(aligned: Sequence[Aligned], variances: Variances, settings: Bootstrap) -> pd.DataFrame:
    """Each method at its largest fraction against the best blind trivial system and its smallest fraction.

    The best blind system is the one with the highest mean on this very test set, chosen for each metric. `p_holm`
    corrects over all rows.
    """
    found = groups(aligned)
    rows: list[dict[str, Any]] = []
    for corpus in dict.fromkeys(one.output.corpus for one in aligned):
        here = [group for group in found if group[0].output.corpus == corpus]
        blind = [group for group in here if group[0].output.method in BLIND]
        curves: dict[str, list[list[Aligned]]] = {}
        for group in here:
            if group[0].output.method not in TRIVIAL:
                curves.setdefault(group[0].output.method, []).append(group)
        for curve in curves.values():
            for index, metric in enumerate(METRICS):
                rivals = [max(blind, key=lambda group: cell(group, index).mean)] if blind else []
                rivals += [curve[0]] if len(curve) > 1 else []
                for rival in rivals:
                    output, other = curve[-1][0].output, rival[0].output
                    result = seeded_difference(
                        cell(curve[-1], index), cell(rival, index), variances[corpus, metric], settings
                    )
                    named = {
                        "corpus": corpus,
                        "method": output.method,
                        "percent": output.percent,
                        "against": other.method if other.percent is None else f"{other.method} {other.percent} %",
                        "metric": metric,
                        "seeds": len(curve[-1]),
                    }
                    rows.append(named | _told(result))
    _correct(rows)
    return framed(rows, ["corpus", "method", "percent", "against", "metric", "seeds", "items", *MEASURES])


def comparisons(aligned: Sequence[Aligned], variances: Variances, settings: Bootstrap) -> pd.DataFrame:
    """Every two methods of a corpus, each at its largest fraction, and the blind trivial systems.

    `p_holm` corrects over all pairs and metrics of a corpus.
    """
    rows: list[dict[str, Any]] = []
    for corpus in dict.fromkeys(one.output.corpus for one in aligned):
        here = [one for one in aligned if one.output.corpus == corpus]
        systems = [group for group in groups(here) if group[0].output.method in BLIND] + largest(here)
        percents = {group[0].output.method: group[0].output.percent for group in systems}
        of_corpus: list[dict[str, Any]] = []
        for index, metric in enumerate(METRICS):
            cells = [cell(group, index) for group in systems]
            for one in seeded_differences(cells, variances[corpus, metric], settings):
                named: dict[str, Any] = {"corpus": corpus, "metric": metric, "first": one.first, "second": one.second}
                named |= {"first_percent": percents[one.first], "second_percent": percents[one.second]}
                of_corpus.append(named | _told(one))
        _correct(of_corpus)
        rows += of_corpus
    columns = ["corpus", "metric", "first", "first_percent", "second", "second_percent", "items"]
    return framed(rows, [*columns, *MEASURES])


def ahead(aligned: Sequence[Aligned], variances: Variances, settings: Bootstrap) -> set[Place]:
    """Where a trained method is best of its corpus and percent, and significantly ahead of every other one there.

    Holm-corrected over all pairs of that place and metric, since the best was chosen by looking.
    """
    found: set[Place] = set()
    places: dict[tuple[str, int], list[list[Aligned]]] = {}
    for group in groups(aligned):
        if group[0].output.percent is not None:
            places.setdefault((group[0].output.corpus, group[0].output.percent), []).append(group)
    for (corpus, percent), systems in places.items():
        for index, metric in enumerate(METRICS):
            cells = [cell(group, index) for group in systems]
            if len(cells) > 1:
                results = seeded_differences(cells, variances[corpus, metric], settings)
                corrected = holm([result.p for result in results])
                best = max(cells, key=lambda one: one.mean).method
                rivals = [
                    p for result, p in zip(results, corrected, strict=True) if best in (result.first, result.second)
                ]
                if max(rivals) < LEVEL:
                    found.add((corpus, percent, metric, best))
    return found


def _told(result: SeededDifference) -> dict[str, Any]:
    low, high = result.mean.bounds or (None, None)
    return {
        "difference": result.mean.value,
        "low": low,
        "high": high,
        "wins": result.wins,
        "ties": result.ties,
        "losses": result.losses,
        "items": result.items,
        "p": result.p,
    }


def _correct(rows: list[dict[str, Any]]) -> None:
    for row, p in zip(rows, holm([row["p"] for row in rows]), strict=True):
        row["p_holm"] = p

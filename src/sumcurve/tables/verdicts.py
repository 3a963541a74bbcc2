"""Forecasts: who is ahead now and on up to four times the data, by fitted learning curves, with probabilities."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from sumcurve.curves.fit import FURTHEST, LEAST_SIZES, Curves, Extrapolation, Fits, NoCurve, fit_curves, measured
from sumcurve.curves.scale import CEILING, Scale
from sumcurve.curves.verdict import claims, digits, verdicts
from sumcurve.statistics.design import Cell, Design
from sumcurve.tables.columns import shared
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table, Value

ONE_SEED = "one seed; what another training would give is not known"


@dataclass(frozen=True)
class Learned:
    """The fits of every corpus and metric with enough sizes, on a scale; `refused` has the reasons of other corpora.

    A metric that not all methods have, such as judgements by people, has its reasons in `partly`, by corpus and metric.
    """

    fits: Mapping[tuple[str, str], Fits]
    scales: Mapping[tuple[str, str], Scale]
    refused: Mapping[str, str]
    partly: Mapping[tuple[str, str], str]


def learn(results: Results) -> Learned:
    """Fit the curves of every corpus and metric, of methods that use their source at the largest size."""
    learned: Learned = results.once("learned", lambda: _learn(results))
    return learned


def _learn(results: Results) -> Learned:
    extrapolation = Extrapolation(confidence=results.settings.confidence, seed=results.settings.seed, ceiling=CEILING)
    fits: dict[tuple[str, str], Fits] = {}
    scales: dict[tuple[str, str], Scale] = {}
    refused: dict[str, str] = {}
    partly: dict[tuple[str, str], str] = {}
    for corpus in results.corpora:
        methods = [name for name, system in results.largest(corpus).items() if results.counts(system)]
        if not methods:
            which = " with significant source sensitivity" if results.largest(corpus) else ""
            refused[corpus] = f"no trained method{which}"
            continue
        for metric in results.ranking_metrics():
            design = results.design(corpus, metric.name)
            if design is None or corpus in refused:  # for all metrics alike
                continue
            of_metric = results.of(corpus, True, metric.name)
            blind = {system.cell for system in of_metric if not results.counts(system, metric.name)}
            largest = results.largest(corpus)
            unranked = {name: results.unranked(corpus, metric.name, largest[name].cell) for name in methods}
            ranked = [name for name, left_out in unranked.items() if left_out is None]
            try:
                if not ranked:
                    raise NoCurve("; ".join(dict.fromkeys(reason.why for reason in unranked.values() if reason)))
                scale, curves = curves_of(design, ranked, results.sign(metric.name) > 0, results.settings.seed, blind)
                fits[corpus, metric.name] = fit_curves(curves, extrapolation)
                scales[corpus, metric.name] = scale
            except NoCurve as reason:
                if _known_of_all(results, corpus, metric.name) and len(ranked) == len(methods):
                    refused[corpus] = str(reason)
                else:
                    partly[corpus, metric.title] = str(reason)
    titles = {metric.name: metric.title for metric in results.ranking_metrics()}
    for (corpus, metric_name), fitted in fits.items():
        whole = _known_of_all(results, corpus, metric_name)
        here = {system.method for system in results.of(corpus, True, metric_name)}
        names = [
            name
            for name, system in results.largest(corpus).items()
            if results.counts(system, metric_name) and name in here
        ]
        missing = {name: ONE_SEED for name in names if name not in fitted.curves.methods}
        refusals = missing | dict(fitted.refused)
        reasons = {name: f"{reason}{_blind(results, corpus, name)}" for name, reason in refusals.items()}
        if reasons:
            sentence = "; ".join(f"{results.title_of(method)}: {reason}" for method, reason in reasons.items())
            if whole:
                refused[corpus] = sentence
            else:
                partly[corpus, titles[metric_name]] = sentence
    return Learned(fits, scales, refused, partly)


def _known_of_all(results: Results, corpus: str, metric: str) -> bool:
    """Tell whether a metric is known for every trained system of a corpus."""
    return len(results.of(corpus, True, metric)) == len(results.of(corpus, True))


def _blind(results: Results, corpus: str, method: str) -> str:
    """A note on the sizes that were left out of a method's curve."""
    blind = [system for system in results.of(corpus, True) if system.method == method and not results.counts(system)]
    return f" ({len(blind)} without significant source sensitivity left out)" if blind else ""


def curves_of(
    design: Design, methods: list[str], higher_is_better: bool, seed: int, without: Collection[Cell] = ()
) -> tuple[Scale, Curves]:
    """The mean scores of these methods on a scale, with the noise of seeds and of groups of test items.

    Cells `without` are left out: a curve cannot be fitted to scores of methods that ignore their source.
    """
    curves = measured(design, methods, seed, without)
    scale = Scale.of(curves.scores[np.isfinite(curves.scores)].tolist(), higher_is_better)
    scores = scale.offset + scale.factor * curves.scores
    return scale, Curves(curves.methods, curves.sizes, scores, scale.factor * curves.errors)


def bands(results: Results) -> pd.DataFrame:
    """Low, median and high of the drawn true scores of every fitted method; `beyond` is true from its largest size on.

    The sizes go from the smallest measured to four times the largest. Computed once.
    """
    frame: pd.DataFrame = results.once("bands", lambda: _bands(results))
    return frame


def _bands(results: Results) -> pd.DataFrame:
    rows = []
    for (corpus, metric), fits in learn(results).fits.items():
        scale = learn(results).scales[corpus, metric]
        for method, largest in zip(fits.methods, fits.largest, strict=True):
            for size, low, middle, high in zip(fits.sizes, *fits.band(method, fits.sizes), strict=True):
                if size <= FURTHEST * largest * (1 + 1e-9):
                    ends = sorted((scale.back(low), scale.back(high)))
                    rows.append(
                        {
                            "corpus": corpus,
                            "metric": metric,
                            "method": method,
                            "records": round(size),
                            "beyond": bool(size >= largest * (1 - 1e-9)),
                            "low": ends[0],
                            "middle": scale.back(middle),
                            "high": ends[1],
                        }
                    )
    return pd.DataFrame(rows, columns=["corpus", "metric", "method", "records", "beyond", "low", "middle", "high"])


def table(results: Results) -> Table:
    """A row for every two fitted methods and every metric; see `curves.verdict`."""
    learned = learn(results)
    metric_of = {metric.name: metric for metric in results.metrics}
    rows: list[dict[str, Any]] = []
    for (corpus, metric), fits in learned.fits.items():
        for verdict in verdicts(fits) if not results.unread(corpus, metric) else ():
            low, middle, high = (learned.scales[corpus, metric].difference(end) for end in verdict.difference)
            largest = results.largest(corpus)
            now, twice, four_times = (
                Value(ahead, decimals=digits(ahead, verdict.confidence)) for ahead in verdict.ahead
            )
            rows.append(
                {
                    "corpus": corpus,
                    "metric": metric_of[metric].title,
                    "first": results.name(largest[verdict.first]),
                    "second": results.name(largest[verdict.second]),
                    "verdict": verdict.kind,
                    "probability": verdict.probability,
                    "at_records": int(verdict.size),
                    "difference": Value(middle, low, high, decimals=metric_of[metric].decimals),
                    "ahead_now": now,
                    "ahead_twice": twice,
                    "ahead_four_times": four_times,
                    "up_to_records": int(verdict.furthest),
                    "sentence": replace(
                        verdict, first=results.title_of(verdict.first), second=results.title_of(verdict.second)
                    ).sentence,
                }
            )
    columns = [
        *shared("corpus", "metric", "first", "second"),
        Column("verdict", None),
        Column("probability", None, "number"),
        Column("at_records", "records", "count"),
        Column("difference", "difference now", "number", results.decimals, interval=True),
        Column("ahead_now", "P(ahead) at N", "number", 2),
        Column("ahead_twice", "at 2N", "number", 2),
        Column("ahead_four_times", "at 4N", "number", 2),
        Column("up_to_records", "up to", "count"),
        Column("sentence", "forecast"),
    ]
    notes = [
        "Difference now: of the fitted curves at the largest size, which use all sizes; positive where the first is "
        f"better; each end of its band at {results.share}, as the claims are. P(ahead): that the first is ahead, at "
        "the largest size N that both have and on more data; never beyond four times N. "
        f"A fit needs {LEAST_SIZES} sizes and two seeds. {claims(results.settings.confidence)}",
        *(f"{corpus}: {reason}." for corpus, reason in learned.refused.items()),
        *(f"{corpus}, {title}: {reason}." for (corpus, title), reason in learned.partly.items()),
        f"{results.notes.seeds} {results.notes.marks} {results.notes.caveat}",
        *results.notes.unread,
    ]
    caption = "Forecasts: which method is ahead, and which is expected to be with more data"
    return Table("verdicts", results.title(caption), columns, rows, notes)

"""Who is ahead, and who is expected ahead on up to four times the data: fitted learning curves, with probabilities."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sumcurve.curves.fit import (
    LEAST_SIZES,
    Curves,
    Extrapolation,
    Fits,
    Judgement,
    TooFewSizes,
    fit_curves,
    judge,
)
from sumcurve.curves.verdict import verdicts
from sumcurve.statistics.design import Design
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table, Value, number

ERRORS = 400  # draws of the noise that cells share by their test items


@dataclass(frozen=True)
class Learned:
    """The fits of every corpus and metric that has enough sizes; by corpus the reason of what has none."""

    fits: Mapping[tuple[str, str], Fits]
    refused: Mapping[str, str]


def learn(results: Results) -> Learned:
    """Fit the curves of every corpus and metric, of methods that read at their largest size; worked out once."""
    found: Learned = results.once("learned", lambda: _learn(results))
    return found


def _learn(results: Results) -> Learned:
    extrapolation = Extrapolation(confidence=results.settings.confidence, seed=results.settings.seed)
    found: dict[tuple[str, str], Curves] = {}
    judgement: Judgement | None = None
    refused: dict[str, str] = {}
    for corpus in results.corpora:
        methods = [name for name, system in results.largest(corpus).items() if results.counts(system)]
        if not methods:
            refused[corpus] = "no trained method that reads" if results.largest(corpus) else "no trained method"
            continue
        try:
            for metric in results.ranking:
                design = results.design(corpus, metric.name)
                if design is None:
                    continue
                curves = curves_of(design, methods, metric.higher_is_better, results.settings.seed)
                judged = judge(curves, extrapolation)
                judgement = judged if judgement is None else judgement + judged
                found[corpus, metric.name] = curves
        except TooFewSizes as reason:
            refused[corpus] = str(reason)
    fits = {place: fit_curves(curves, extrapolation, judgement) for place, curves in found.items()}
    for (corpus, _), one in fits.items():
        if one.refused:
            refused[corpus] = "; ".join(f"{method}: {reason}" for method, reason in one.refused.items())
    return Learned(fits, refused)


def curves_of(design: Design, methods: list[str], higher_is_better: bool, seed: int) -> Curves:
    """The mean scores of these methods with the noise of seeds and of groups of test items.

    Where lower is better, scores are taken negative, so that who is ahead is always above.
    """
    sign = 1.0 if higher_is_better else -1.0
    places = {cell: place for place, cell in enumerate(design.cells) if cell[0] in methods and cell[1] is not None}
    names = tuple(dict.fromkeys(cell[0] for cell in places))
    sizes = sorted({int(cell[1] or 0) for cell in places})
    shape = (len(names), len(sizes))
    generator = np.random.default_rng([seed, 4])
    count = design.groups.count
    times = generator.multinomial(count, np.full(count, 1 / count), ERRORS) - 1.0
    noise = times @ design.deviations.T  # [ERRORS, cells]
    scores, standard_errors = np.full(shape, np.nan), np.full(shape, np.nan)
    errors = np.full((ERRORS, *shape), np.nan)
    degrees = []
    for cell, place in places.items():
        row, column = names.index(cell[0]), sizes.index(int(cell[1] or 0))
        scores[row, column] = sign * design.means[place]
        errors[:, row, column] = noise[:, place]
        standard_errors[row, column] = np.sqrt(max(0.0, design.seeds_covariance[place, place]))
        if design.moderated is not None and place in design.replicated:
            unit = (design.replicated == place).astype(float)
            degrees.append(design.moderated.degrees(unit))
    if not degrees or len(degrees) < len(places):
        return Curves(names, np.array(sizes, float), scores, errors=errors)
    return Curves(names, np.array(sizes, float), scores, standard_errors, float(np.median(degrees)), errors)


def bands(results: Results) -> pd.DataFrame:
    """Low, median and high of the drawn true scores of every fitted method; `beyond` is true from its largest size on.

    The sizes go from the smallest measured to four times the largest.
    """
    rows = []
    for (corpus, metric), fits in learn(results).fits.items():
        sign = results.sign(metric)
        for method, largest in zip(fits.methods, fits.largest, strict=True):
            for size, low, middle, high in zip(fits.sizes, *fits.band(method, fits.sizes), strict=True):
                if size <= fits.settings.reach * largest * (1 + 1e-9):
                    ends = sorted((sign * low, sign * high))
                    rows.append(
                        {
                            "corpus": corpus,
                            "metric": metric,
                            "method": method,
                            "records": round(size),
                            "beyond": bool(size >= largest * (1 - 1e-9)),
                            "low": ends[0],
                            "middle": sign * middle,
                            "high": ends[1],
                        }
                    )
    return pd.DataFrame(rows, columns=["corpus", "metric", "method", "records", "beyond", "low", "middle", "high"])


def table(results: Results) -> Table:
    """A row for every two fitted methods and every metric; see `curves.verdict`."""
    learned = learn(results)
    title_of = {metric.name: metric.title for metric in results.metrics}
    rows: list[dict[str, Any]] = []
    for (corpus, metric), fits in learned.fits.items():
        for one in verdicts(fits):
            low, middle, high = one.difference
            rows.append(
                {
                    "corpus": corpus,
                    "metric": title_of[metric],
                    "first": one.first,
                    "second": one.second,
                    "verdict": one.kind,
                    "probability": one.probability,
                    "at_records": int(one.size),
                    "difference": Value(middle, low, high),
                    "from_records": None if one.from_size is None else round(one.from_size),
                    "from_low": one.low,
                    "from_high": one.high,
                    "up_to_records": int(one.furthest),
                    "sentence": one.sentence,
                }
            )
    columns = [
        Column("corpus", "corpus"),
        Column("metric", "metric"),
        Column("first", "first"),
        Column("second", "second"),
        Column("verdict", None),
        Column("probability", None, "number"),
        Column("at_records", "records", "count"),
        Column("difference", "difference now", "number", 2, interval=True),
        Column("from_records", None, "count"),
        Column("from_low", None, "number"),
        Column("from_high", None, "number"),
        Column("up_to_records", "up to", "count"),
        Column("sentence", "verdict"),
    ]
    notes = [
        "Difference now: of the fitted curves at the largest size, which use all sizes; positive where the first is "
        f"better. Never beyond four times the largest size; a fit needs {LEAST_SIZES} sizes. Probabilities are of "
        "single claims: of many at 0.975, one in forty may err.",
        *_families(learned),
        *(f"{corpus}: {reason}." for corpus, reason in learned.refused.items()),
        f"{results.seeds_note} {results.reading_note} {results.caveat}",
    ]
    caption = "Who is ahead, and who is expected ahead on more data"
    return Table("verdicts", results.title(caption), columns, rows, notes)


def _families(learned: Learned) -> list[str]:
    """How well each family predicted the largest size when it was held back."""
    fits = next(iter(learned.fits.values()), None)
    if fits is None:
        return []
    told = [
        f"{one.name} ({one.formula}): RMSE {number(one.rmse[0])}, coverage {number(one.coverage[0])}, "
        f"weight {number(one.weight)}"
        for one in (*fits.families, fits.average)
    ]
    return [f"Families of curves, on the largest size of every curve held back: {'; '.join(told)}."]

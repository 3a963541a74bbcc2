"""Learning curves of a study as data frames: families of curves, bands beyond the data, verdicts on pairs of methods.

Scores are F1 in percent, called points.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from sumcurve.curves.fit import Curves, Extrapolation, Fits, Judgement, TooFewSizes, fit_curves, judge, measured
from sumcurve.curves.verdict import verdicts as pair_verdicts
from sumcurve.scores.rouge import METRICS
from sumcurve.settings import Bootstrap
from sumcurve.tables.cells import Variances, cell
from sumcurve.tables.evidence import TRIVIAL, Aligned, groups
from sumcurve.tables.frames import framed


@dataclass(frozen=True)
class Learned:
    """The fits of every corpus and metric that has enough sizes; by corpus the reason of what has none."""

    fits: Mapping[tuple[str, str], Fits]
    refused: Mapping[str, str]


def learn(
    aligned: Sequence[Aligned],
    variances: Variances,
    settings: Bootstrap,
) -> Learned:
    """Fit the curves of every corpus and metric; families are judged on all of them together."""
    extrapolation = Extrapolation(confidence=settings.confidence, seed=settings.seed)
    found: dict[tuple[str, str], Curves] = {}
    judgement: Judgement | None = None
    refused = {}
    for corpus in dict.fromkeys(one.output.corpus for one in aligned):
        trained = [
            group
            for group in groups(aligned)
            if group[0].output.corpus == corpus and group[0].output.method not in TRIVIAL
        ]
        if not trained:
            refused[corpus] = "no trained method"
            continue
        try:
            for index, metric in enumerate(METRICS):
                curves = measured([cell(group, index) for group in trained], variances[corpus, metric], settings)
                judged = judge(curves, extrapolation)
                judgement = judged if judgement is None else judgement + judged
                found[corpus, metric] = curves
        except TooFewSizes as reason:
            refused[corpus] = str(reason)
    fits = {place: fit_curves(curves, extrapolation, judgement) for place, curves in found.items()}
    for (corpus, _), one in fits.items():
        if one.refused:
            refused[corpus] = "; ".join(f"{method}: {reason}" for method, reason in one.refused.items())
    return Learned(fits, refused)


def families(learned: Learned) -> pd.DataFrame:
    """How each family predicted the largest sizes, held back, of all curves; the best first, their average last."""
    rows = []
    fits = next(iter(learned.fits.values()), None)
    for one in (*fits.families, fits.average) if fits else ():
        row = {"family": one.name, "formula": one.formula, "weight": one.weight, "curves": one.curves}
        for held, ends in enumerate(zip(one.rmse, one.log_score, one.coverage, strict=True), start=1):
            row |= {f"{name}_{held}": end for name, end in zip(("rmse", "log_score", "coverage"), ends, strict=True)}
        rows.append(row)
    measures = [f"{name}_{held}" for held in (1, 2) for name in ("rmse", "log_score", "coverage")]
    return framed(rows, ["family", "formula", "weight", *measures, "curves"])


def bands(learned: Learned) -> pd.DataFrame:
    """Low, median and high of the drawn true scores of every fitted method; `beyond` is true from its largest size on.

    The sizes go from the smallest measured to four times the largest.
    """
    rows = []
    for (corpus, metric), fits in learned.fits.items():
        for method, largest in zip(fits.methods, fits.largest, strict=True):
            for size, low, middle, high in zip(fits.sizes, *fits.band(method, fits.sizes), strict=True):
                if size <= fits.settings.reach * largest * (1 + 1e-9):
                    rows.append(
                        {
                            "corpus": corpus,
                            "metric": metric,
                            "method": method,
                            "records": round(size),
                            "beyond": bool(size >= largest * (1 - 1e-9)),
                            "low": low,
                            "middle": middle,
                            "high": high,
                        }
                    )
    return framed(rows, ["corpus", "metric", "method", "records", "beyond", "low", "middle", "high"])


def verdicts(learned: Learned) -> pd.DataFrame:
    """What the curves of every two methods of a corpus say, beyond the data, too; see `curves.verdict`."""
    rows = []
    for (corpus, metric), fits in learned.fits.items():
        for one in pair_verdicts(fits):
            low, middle, high = one.difference
            rows.append(
                {
                    "corpus": corpus,
                    "metric": metric,
                    "first": one.first,
                    "second": one.second,
                    "verdict": one.kind,
                    "probability": one.probability,
                    "at_records": int(one.size),
                    "difference": middle,
                    "low": low,
                    "high": high,
                    "from_records": None if one.from_size is None else round(one.from_size),
                    "from_low": one.low,
                    "from_high": one.high,
                    "up_to_records": int(one.furthest),
                    "sentence": one.sentence,
                }
            )
    columns = [
        "corpus",
        "metric",
        "first",
        "second",
        "verdict",
        "probability",
        "at_records",
        "difference",
        "low",
        "high",
    ]
    return framed(rows, [*columns, "from_records", "from_low", "from_high", "up_to_records", "sentence"])

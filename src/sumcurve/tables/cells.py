"""A study's outputs as cells, all seeds of one training together, and what seeds vary by.

Scores are F1 in percent, called points.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from sumcurve.curves.variance import Cell, SeedVariance, seed_variance
from sumcurve.scores.rouge import METRICS
from sumcurve.settings import Bootstrap
from sumcurve.tables.evidence import TRIVIAL, Aligned, groups

Variances = Mapping[tuple[str, str], SeedVariance | None]
"""The variance between seeds by corpus and metric; None with one seed only."""


def cell(group: Sequence[Aligned], index: int) -> Cell:
    """All seeds of one training, or a trivial system, as per-item scores of one metric."""
    output = group[0].output
    seeds = () if output.seed is None else tuple(one.output.seed for one in group if one.output.seed is not None)
    return Cell(output.method, float(output.records or 0), seeds, np.stack([one.scores[index] for one in group]))


def seed_variances(aligned: Sequence[Aligned], settings: Bootstrap) -> Variances:
    """Pooled over the methods and sizes of each corpus, for each metric."""
    trained = [group for group in groups(aligned) if group[0].output.method not in TRIVIAL]
    return {
        (corpus, metric): seed_variance(
            [cell(group, index) for group in trained if group[0].output.corpus == corpus], settings
        )
        for corpus in dict.fromkeys(one.output.corpus for one in aligned)
        for index, metric in enumerate(METRICS)
    }

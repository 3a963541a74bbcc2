"""How much of the variance over seeds is the draw of the records, and how much the training.

One method at one size, trained from the same list of training seeds on each of several draws of its records. A draw
shifts all trainings on it, so that the means of draws vary by draw + training / n, trainings within a draw by training
alone: the one-way layout of random effects (Searle, 1971, chapter 9). What the finite test set makes of two models'
difference is in the trainings' part.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from sumcurve.statistics.groups import Array


@dataclass(frozen=True)
class Decomposition:
    """Variances of a draw and of a training, in squared points, of one method or of the difference of two.

    `draw` may be 0 (its unbiased estimate was negative). `draw_interval` is that of Williams and Tukey (1962),
    conservative; `training_interval` that of the chi-squared distribution. `share` is draw / (draw + training) with its
    exact interval (Searle, 1971, section 9.9), `p` of F that a draw does nothing. With three draws intervals are wide.
    """

    draw: float
    draw_interval: tuple[float, float]
    training: float
    training_interval: tuple[float, float]
    share: float
    share_interval: tuple[float, float]
    p: float
    draws: int
    trainings: int


def layout(scores: Mapping[tuple[int, int], float]) -> Array:
    """Mean scores by draw and training seed as ``[draws, trainings]``, both in rising order.

    ValueError names the trainings that the layout lacks.
    """
    draws, seeds = (sorted({place[axis] for place in scores}) for axis in (0, 1))
    missing = [f"draw {draw} with seed {seed}" for draw in draws for seed in seeds if (draw, seed) not in scores]
    if missing:
        raise ValueError(f"the layout of draws and trainings lacks {', '.join(missing)}")
    return np.array([[scores[draw, seed] for seed in seeds] for draw in draws], dtype=np.float64)


def decompose(scores: Array, confidence: float = 0.95) -> Decomposition:
    """The decomposition of mean scores ``[draws, trainings]`` in points.

    Of two methods' scores ``first - second`` it is that of their paired difference. ValueError where there are fewer
    than two draws or trainings, or where no training differs from another.
    """
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim != 2 or min(array.shape) < 2 or not np.isfinite(array).all():
        raise ValueError(f"scores of shape {array.shape}; give finite ones of two draws and two trainings or more")
    draws, trainings = array.shape
    own, within = draws - 1, draws * (trainings - 1)
    between = trainings * float(array.mean(axis=1).var(ddof=1))
    training = float(((array - array.mean(axis=1, keepdims=True)) ** 2).sum() / within)
    if training == 0:
        raise ValueError("the trainings of a draw all have the same score; there is nothing to decompose")
    tail = (1 - confidence) / 2
    ratio = between / training
    upper, lower = float(stats.f.isf(tail, own, within)), float(stats.f.ppf(tail, own, within))
    quotients = [max(0.0, (ratio / end - 1) / trainings) for end in (upper, lower)]  # of draw / training
    most, least = (float(stats.chi2.isf(share, own)) for share in (tail, 1 - tail))
    draw_low = max(0.0, own * (between - training * upper) / (trainings * most))
    draw_high = max(0.0, own * (between - training * lower) / (trainings * least))
    ends = [float(stats.chi2.isf(share, within)) for share in (tail, 1 - tail)]
    draw = max(0.0, (between - training) / trainings)
    return Decomposition(
        draw,
        (draw_low, draw_high),
        training,
        (within * training / ends[0], within * training / ends[1]),
        draw / (draw + training),
        (quotients[0] / (1 + quotients[0]), quotients[1] / (1 + quotients[1])),
        float(stats.f.sf(ratio, own, within)),
        draws,
        trainings,
    )

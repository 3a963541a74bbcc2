"""How much of the variance over seeds is the draw of the records, and how much the training."""

from dataclasses import dataclass

from sumcurve.statistics.design import Array


@dataclass(frozen=True)
class Decomposition:
    """Variances (squared points) of one method, or of the difference of two, at one size: `[estimate, low, high]`.

    `share` is that of the draw in draw + training, with its exact interval (Searle, 1971); `p` of no draw effect.
    """

    draw: float
    training: float
    share: float
    share_low: float
    share_high: float
    p: float
    draws: int
    trainings: int


def decompose(scores: Array, confidence: float = 0.95) -> Decomposition:
    """One-way random effects of mean scores ``[draws, trainings]`` in points. ValueError below two of either."""
    raise NotImplementedError

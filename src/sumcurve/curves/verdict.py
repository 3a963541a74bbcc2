"""Forecast: which of two methods is ahead now, and how likely it stays ahead on up to four times the data.

Čano and Bojar (2020), Figure 1, let the rightmost σ of two level methods say which will be ahead on more data. Here
the question is put to draws of both true curves (`fit.py`), so that an answer carries a probability, and "undecided" is
one. Nothing is said beyond four times the largest size.

For a pair, N is the largest size that both have, and P(ahead at n) the share of draws in which the one's true score at
n is above the other's, a tie counting half. A claim is made where its probability reaches the stated confidence, and
never against the paired comparison at N: where the interval of the measured difference lies on the other side of 0.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from sumcurve.curves.fit import FURTHEST, Fits

Kind = Literal["ahead throughout", "ahead now", "undecided"]
TIMES = (1.0, 2.0, FURTHEST)  # sizes as multiples of N
STEPS = 9  # sizes from N to the furthest, evenly in log d; holds TIMES


@dataclass(frozen=True)
class Verdict:
    """Forecast by the curves of two methods; `first` is the one more likely ahead at `size`.

    ================  =============================================================================
    kind              claim, held with `probability`
    ================  =============================================================================
    ahead throughout  `first` is ahead at every size from `size` to `furthest`
    ahead now         `first` is ahead at `size`; nothing is claimed of larger sizes
    undecided         none; `probability` is that of `first` being ahead at `size`
    ================  =============================================================================

    `ahead` are the probabilities that `first` is ahead at `size`, at twice and at four times as much. `difference` are
    low, median and high of `first` minus `second` at `size`, in points of score, each end at `confidence`: a claim has
    its low end above 0.
    """

    kind: Kind
    first: str
    second: str
    size: float
    furthest: float
    probability: float
    confidence: float
    difference: tuple[float, float, float]
    ahead: tuple[float, float, float]

    @property
    def sentence(self) -> str:
        """The forecast in English, ready to print."""
        first, second, size, furthest = self.first, self.second, f"{self.size:,.0f}", f"{self.furthest:,.0f}"
        now, twice, four_times = (_chance(chance, self.confidence) for chance in self.ahead)
        double = f"{TIMES[1] * self.size:,.0f}"
        if self.kind == "ahead throughout":
            probability = _chance(self.probability, self.confidence)
            return f"{first} is ahead of {second} from {size} up to {furthest} (probability {probability})."
        if self.kind == "ahead now":
            return (
                f"{first} is ahead of {second} at {size} (probability {now}); {twice} that it is at {double}, "
                f"{four_times} at {furthest}."
            )
        return (
            f"{first} or {second}: undecided. Probability that {first} is ahead: {now} at {size}, {twice} at {double}, "
            f"{four_times} at {furthest}."
        )


def verdicts(fits: Fits) -> list[Verdict]:
    """A forecast for every pair of fitted methods that share a size, in their order.

    Probabilities are of single claims; of many pairs at 0.95 one in twenty may err.
    """
    return [
        verdict(fits, first, second)
        for first, second in combinations(fits.methods, 2)
        if common_size(fits, first, second) is not None
    ]


def common_size(fits: Fits, first: str, second: str) -> float | None:
    """The largest size that both methods were measured at, None where there is none."""
    rows = [fits.curves.methods.index(method) for method in (first, second)]
    both = np.isfinite(fits.curves.scores[rows]).all(axis=0)
    return float(fits.curves.sizes[both][-1]) if both.any() else None


def verdict(fits: Fits, first: str, second: str) -> Verdict:
    """The forecast for one pair; see `Verdict`. Whichever is named first in it is not necessarily `first`."""
    first, second = sorted((first, second), key=fits.methods.index)
    size = common_size(fits, first, second)
    if size is None:
        raise ValueError(f"{first} and {second} have no size in common; a forecast needs one")
    confidence = fits.settings.confidence
    sizes = np.geomspace(size, FURTHEST * size, STEPS)
    lead = fits.predict(first, sizes) - fits.predict(second, sizes)  # [draws, sizes]
    at = [int(np.argmin(np.abs(sizes - times * size))) for times in TIMES]
    chances = ((lead[:, at] > 0) + 0.5 * (lead[:, at] == 0)).mean(axis=0)
    sign = 1 if chances[0] >= 0.5 else -1
    ahead = chances if sign > 0 else 1 - chances
    throughout = float((sign * lead > 0).all(axis=1).mean())
    low, middle, high = np.quantile(sign * lead[:, 0], [1 - confidence, 0.5, confidence], method="higher").tolist()
    kind: Kind = "undecided"
    probability = float(ahead[0])
    if not _contradicted(fits, first, second, size, sign):
        if throughout >= confidence:
            kind, probability = "ahead throughout", throughout
        elif ahead[0] >= confidence:
            kind = "ahead now"
    names = (first, second) if sign > 0 else (second, first)
    now, twice, four_times = ahead.tolist()
    return Verdict(
        kind,
        *names,
        size,
        FURTHEST * size,
        probability,
        confidence,
        (low, middle, high),
        (now, twice, four_times),
    )


def _contradicted(fits: Fits, first: str, second: str, size: float, sign: int) -> bool:
    """Tell whether the measured difference at `size` alone shows the other method ahead."""
    place = int(np.flatnonzero(fits.curves.sizes == size)[0])
    left, right = (fits.curves.methods.index(method) for method in (first, second))
    drawn = fits.curves.scores[left, place] - fits.curves.scores[right, place]
    drawn = drawn + fits.curves.errors[:, left, place] - fits.curves.errors[:, right, place]
    return bool(np.quantile(sign * drawn, (1 + fits.settings.confidence) / 2) < 0)


def digits(probability: float, claim: float) -> int:
    """Decimals to print: two, or as many as show that a probability does not reach that of a claim."""
    decimals = 2
    while probability < claim <= round(probability, decimals):
        decimals += 1
    return decimals


def _chance(probability: float, claim: float) -> str:
    """Two digits, or `digits`; never 0 or 1, which no number of draws can show."""
    if probability > 0.99:
        return "above 0.99"
    return "below 0.01" if probability < 0.01 else f"{probability:.{digits(probability, claim)}f}"

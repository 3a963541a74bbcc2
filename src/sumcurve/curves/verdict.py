"""Forecast: which of two methods is ahead now, and whether it stays ahead or is overtaken on up to four times the data.

Čano and Bojar (2020), Figure 1, let the rightmost σ of two level methods say which will be ahead on more data. Here
the question is put to draws of both true curves (`fit.py`), so that an answer carries a probability, and "undecided" is
one. Nothing is said beyond four times the largest size.

For a pair, N is the largest size that both have, and P(ahead at n) the share of draws in which the one's true score at
n is above the other's, a tie counting half. A claim is made where its probability reaches the stated confidence, and
never against the paired comparison at N: where the interval of the measured difference lies on the other side of 0.
An overtaking is claimed from a probability of 0.8 on: it cannot be measured yet, and is a reason to get more data.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from sumcurve.curves.fit import FURTHEST, Array, Fits

Kind = Literal["ahead throughout", "ahead now", "overtaken", "undecided"]
OVERTAKEN = 0.8
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
    overtaken         `second` is ahead at `furthest`; with `between`, `first` is ahead at the one
                      of these two sizes and `second` at the other (both together)
    undecided         none; `probability` is that of `first` being ahead at `size`
    ================  =============================================================================

    `ahead` are the probabilities that `first` is ahead at `size`, at twice and at four times as much, each size alone.
    `difference` are low, median and high of `first` minus `second` at `size`, in points of score, each end at
    `confidence`: a claim of a lead has its low end above 0.
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
    between: tuple[float, float] | None = None

    @property
    def sentence(self) -> str:
        """The forecast in English, ready to print, with sizes as whole numbers of records."""
        return self.said(lambda size: f"{size:,.0f}", " records")

    def said(self, shown: Callable[[float], str], unit: str) -> str:
        """The forecast in English, with sizes as they are `shown`, and their unit behind some."""
        first, second, size, furthest = self.first, self.second, shown(self.size), shown(self.furthest)
        now, twice, four_times = (chance(ahead, self.confidence) for ahead in self.ahead)
        double, claim = shown(TIMES[1] * self.size), chance(self.probability, self.claim)
        if self.kind == "ahead throughout":
            return (
                f"{first} is ahead of {second} from {size} up to {furthest} (probability {claim}, all sizes together)."
            )
        if self.kind == "ahead now":
            return (
                f"{first} is ahead of {second} at {size} (probability {now}); {twice} that it is at {double}, "
                f"{four_times} at {furthest}, each size alone."
            )
        if self.kind == "overtaken" and self.between:
            low, high = map(shown, self.between)
            return f"{second} is forecast to overtake {first} between {low} and {high}{unit} (probability {claim})."
        if self.kind == "overtaken":
            return (
                f"{second} is forecast to be ahead of {first} at {furthest}{unit} (probability {claim}); "
                f"{now} that {first} is ahead at {size}."
            )
        return (
            f"{first} or {second}: undecided. Probability that {first} is ahead: {now} at {size}, {twice} at {double}, "
            f"{four_times} at {furthest}, each size alone."
        )

    @property
    def claim(self) -> float:
        """The probability from which such a claim is made."""
        return min(OVERTAKEN, self.confidence) if self.kind == "overtaken" else self.confidence


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
    probability, between = float(ahead[0]), None
    if not _contradicted(fits, first, second, size, sign):
        if throughout >= confidence:
            kind, probability = "ahead throughout", throughout
        elif 1 - ahead[-1] >= (least := min(OVERTAKEN, confidence)):
            kind, probability = "overtaken", float(1 - ahead[-1])
            probability, between = _window(sign * lead[:, at], least, probability)
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
        between and (size * between[0], size * between[1]),
    )


def _window(lead: Array, least: float, later: float) -> tuple[float, tuple[float, float] | None]:
    """The narrowest two of `TIMES` between which a lead ``[draws, 3]`` turns with a probability of `least`, then the
    likeliest, and that probability; without any, that it is lost in the end, `later`.
    """
    turned = {
        (before, after): float(((lead[:, before] > 0) & (lead[:, after] < 0)).mean())
        for before, after in combinations(range(len(TIMES)), 2)
    }
    likely = [ends for ends in turned if turned[ends] >= least]
    if not likely:
        return later, None
    before, after = min(likely, key=lambda ends: (ends[1] - ends[0], -turned[ends]))
    return turned[before, after], (TIMES[before], TIMES[after])


def _contradicted(fits: Fits, first: str, second: str, size: float, sign: int) -> bool:
    """Tell whether the measured difference at `size` alone shows the other method ahead."""
    place = int(np.flatnonzero(fits.curves.sizes == size)[0])
    left, right = (fits.curves.methods.index(method) for method in (first, second))
    drawn = fits.curves.scores[left, place] - fits.curves.scores[right, place]
    drawn = drawn + fits.curves.errors[:, left, place] - fits.curves.errors[:, right, place]
    return bool(np.quantile(sign * drawn, (1 + fits.settings.confidence) / 2) < 0)


def claims(confidence: float) -> str:
    """A table's note on when a forecast makes a claim, and what its probabilities are of."""
    return (
        f"A forecast claims a lead where its probability reaches {confidence:g}, an overtaking by the second from "
        f"{min(OVERTAKEN, confidence):g} on; each claim and each probability holds singly, not all together."
    )


def digits(probability: float, claim: float) -> int:
    """Decimals to print: two, or as many as show that a probability does not reach that of a claim."""
    decimals = 2
    while probability < claim <= round(probability, decimals):
        decimals += 1
    return decimals


def chance(probability: float, claim: float) -> str:
    """Two digits, or `digits`; never 0 or 1, which no number of draws can show."""
    if probability > 0.99:
        return "above 0.99"
    return "below 0.01" if probability < 0.01 else f"{probability:.{digits(probability, claim)}f}"


def short_chance(probability: float) -> str:
    """Two digits, as `chance` has them, for a label: "> 0.99" in place of "above 0.99"."""
    return chance(probability, 1).replace("above", ">").replace("below", "<")

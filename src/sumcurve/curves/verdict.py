"""Which of two methods is ahead now, and from which size on the other is expected ahead.

Čano and Bojar (2020), Figure 1: of two methods level at the largest size, the one with the higher rightmost σ will be
ahead on more data. Here the question is put to draws of both true curves (`fit.py`), so that an answer carries a
probability, and "undecided" is one. Nothing is said beyond `reach` (at most four) times the largest size.

For a pair, d is the largest size that both have, D = reach · d, and Δ the first true curve minus the second.

- Level at d: the central interval of Δ(d) at the stated confidence holds 0. With a margin m, level means
  P(|Δ(d)| ≤ m) ≥ confidence. Level without a margin is no proof of equality, only of no difference shown.
- The crossing of a draw is the size from which the method ahead at D is ahead at every size up to D.
- A method is *expected ahead from* d* where P(ahead at every size from d* to D) reaches an upper bound of a central
  interval, 97.5 % at a confidence of 0.95. d* itself is the median crossing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sumcurve.curves.fit import Fits

Kind = Literal["ahead throughout", "ahead now", "overtaken", "level then ahead", "undecided"]
CROSSING_SIZES = 49  # from the largest size to the furthest, evenly in log d


@dataclass(frozen=True)
class Verdict:
    """What the curves of two methods say; `first` is the one that the sentence names first.

    ==================  ==============================================================================================
    kind                claim, held with `probability`
    ==================  ==============================================================================================
    ahead throughout    `first` is ahead at every size from `size` to `furthest`
    ahead now           `first` is ahead at `size`; nothing is claimed of larger sizes
    overtaken           `second` is ahead at `size`; `first` is ahead at `furthest`, from `from_size` on
    level then ahead    both are level at `size`; `first` is ahead at `furthest`, from `from_size` on
    undecided           none; `probability` is that of `first`, the likelier one, being ahead at `furthest`
    ==================  ==============================================================================================

    `from_size` is the median crossing, `low` and `high` its central interval at `confidence`, None where no crossing is
    claimed: from `high` on, `first` is ahead with the probability of the interval's upper bound. `difference` are low,
    median and high of `first` minus `second` at `size`, in points of score; `level` is what is concluded from them.
    """

    kind: Kind
    first: str
    second: str
    size: float
    furthest: float
    probability: float
    confidence: float
    difference: tuple[float, float, float]
    level: bool
    from_size: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def sentence(self) -> str:
        """The verdict in English, ready to print."""
        first, second, size, furthest = self.first, self.second, f"{self.size:,.0f}", f"{self.furthest:,.0f}"
        chance = f"probability {_chance(self.probability)}"
        apart = "are level" if self.level else "are neither apart nor level"
        if self.kind == "ahead throughout":
            return f"{first} is ahead of {second} from {size} up to {furthest} ({chance})."
        if self.kind == "ahead now":
            return f"{first} is ahead of {second} at {size} ({chance}); which is ahead at {furthest} is undecided."
        if self.from_size is None or self.low is None or self.high is None:
            return f"{first} and {second} {apart} at {size}; which is ahead up to {furthest} is undecided."
        apart = f"{first} and {second} {apart}" if self.kind == "level then ahead" else f"{second} is ahead of {first}"
        low, middle, high = (self._size(crossing) for crossing in (self.low, self.from_size, self.high))
        interval = f"{100 * self.confidence:g} % interval {low} to {high}"
        return f"{apart} at {size}; {first} is expected ahead from {middle} ({interval}), at {furthest} with {chance}."

    def _size(self, size: float) -> str:
        """Three significant digits, and no rounding out of the range that is spoken of."""
        unit = 10.0 ** max(int(np.floor(np.log10(size))) - 2, 0)
        return f"{min(max(round(size / unit) * unit, self.size), self.furthest):,.0f}"


def verdicts(fits: Fits, margin: float | None = None) -> list[Verdict]:
    """A verdict for every pair of fitted methods, in their order.

    `margin`, in points of score, makes "level" an equivalence: see the module. Probabilities are of single claims; of
    many pairs at 0.975 one in forty may err.
    """
    return [verdict(fits, first, second, margin) for first, second in combinations(fits.methods, 2)]


def verdict(fits: Fits, first: str, second: str, margin: float | None = None) -> Verdict:
    """The verdict on one pair; see `Verdict`. Whichever is named first in it is not necessarily `first`."""
    if margin is not None and margin < 0:
        raise ValueError(f"margin is {margin:g}; a difference counts as none up to a margin of at least 0")
    settings = fits.settings
    size = float(min(fits.largest[fits.methods.index(method)] for method in (first, second)))
    furthest = settings.reach * size
    sizes = np.geomspace(size, furthest, CROSSING_SIZES)
    lead = fits.predict(first, sizes) - fits.predict(second, sizes)  # [draws, sizes]
    upper = (1 + settings.confidence) / 2

    def made(kind: Kind, sign: int, probability: float, crossing: Sequence[float] = ()) -> Verdict:
        low, middle, high = np.quantile(sign * lead[:, 0], [1 - upper, 0.5, upper]).tolist()
        names = (first, second) if sign > 0 else (second, first)
        return Verdict(
            kind, *names, size, furthest, probability, settings.confidence, (low, middle, high), level, *crossing
        )

    now = 1 if np.median(lead[:, 0]) >= 0 else -1  # who leads at d
    then = 1 if np.median(lead[:, -1]) >= 0 else -1  # who leads at D
    apart = float((now * lead[:, 0] > 0).mean())
    level = apart < upper if margin is None else float((np.abs(lead[:, 0]) <= margin).mean()) >= settings.confidence
    ahead = float((then * lead[:, -1] > 0).mean())
    crossing = _crossings(then * lead, sizes)
    if now == then and not level:
        throughout = float((crossing <= size).mean())
        if throughout >= upper:
            return made("ahead throughout", now, throughout)
    if level or now != then:
        low, middle, high = np.quantile(crossing, [1 - upper, 0.5, upper], method="inverted_cdf").tolist()
        if high <= furthest:
            return made("level then ahead" if level else "overtaken", then, ahead, (middle, low, high))
    if level or apart < upper:
        return made("undecided", then, ahead)
    return made("ahead now", now, apart)


def _crossings(lead: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """The size ``[draws]`` from which each row of ``[draws, sizes]`` is above 0 up to the end; inf where it ends below.

    Between sizes by linear interpolation in their logarithm.
    """
    behind = lead <= 0
    last = lead.shape[1] - 1 - np.argmax(behind[:, ::-1], axis=1)  # the last size at which it is behind
    after = np.minimum(last + 1, lead.shape[1] - 1)
    rows, x = np.arange(len(lead)), np.log(sizes)
    before, beyond = lead[rows, last], lead[rows, after]
    share = np.divide(-before, beyond - before, out=np.zeros(len(lead)), where=beyond > before)
    crossing = np.exp(x[last] + share * (x[after] - x[last]))
    crossing[behind[:, -1]] = np.inf
    crossing[~behind.any(axis=1)] = sizes[0]
    return crossing


def _chance(probability: float) -> str:
    """Two digits; never 1, which no number of draws can show."""
    return "above 0.99" if probability > 0.99 else f"{probability:.2f}"

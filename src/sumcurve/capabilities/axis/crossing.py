"""Number of records from which on a curve reaches a score, and its interval, which may end beyond the data."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sumcurve.tables.table import number

Array = NDArray[np.float64]
BEYOND = np.inf  # the curve is below the score at the largest size


@dataclass(frozen=True)
class Crossing:
    """Records from which on a curve is not below a score, with the ends of an interval; None without intervals.

    `BEYOND` where it is below at the largest of `sizes`; the smallest size where it is below at none. `reached` is the
    share of draws in which it crosses within the data.
    """

    sizes: tuple[int, ...]
    records: float
    low: float | None = None
    high: float | None = None
    reached: float | None = None

    def sign(self, records: float | None) -> str:
        """Sign of a number: "≤" at the smallest size, ">" beyond the largest, which is then shown; else empty."""
        return "" if records is None else ">" if records == BEYOND else "≤" if records <= self.sizes[0] else ""

    def within(self, records: float | None) -> int | None:
        """A whole number of records, at most the largest size of the data."""
        return None if records is None else self.sizes[-1] if records == BEYOND else round(records)

    def shown(self, records: float) -> str:
        return " ".join(filter(None, (self.sign(records), number(self.within(records)))))

    def __str__(self) -> str:
        first = f"beyond {number(self.sizes[-1])}" if self.records == BEYOND else self.shown(self.records)
        if self.low is None or self.high is None:
            return first
        ends = list(dict.fromkeys((self.shown(self.low), self.shown(self.high))))
        return f"{first} [{', '.join(ends)}]"


def crossings(sizes: Array, curves: Array, scores: Array) -> Array:
    """Records from which on each curve ``[draws, sizes]`` reaches its score ``[draws]``, higher being better.

    Linear in log records between the last size below the score and the next; the smallest size where none is below,
    `BEYOND` where the largest is.
    """
    logs = np.log(sizes)
    below = curves < scores[:, None]
    last = len(sizes) - 1 - below[:, ::-1].argmax(axis=1)  # the last size below, of curves that have one
    after = np.minimum(last + 1, len(sizes) - 1)
    rows = np.arange(len(curves))
    rise = curves[rows, after] - curves[rows, last]
    share = np.divide(scores - curves[rows, last], rise, out=np.zeros_like(rise), where=rise > 0)
    crossed = np.exp(logs[last] + share * (logs[after] - logs[last]))
    return np.where(~below.any(axis=1), sizes[0], np.where(below[:, -1], BEYOND, crossed))


def crossing(
    sizes: tuple[int, ...], curve: Array, score: float, drawn: tuple[Array, Array] | None, confidence: float
) -> Crossing:
    """Compute where a curve of means ``[sizes]`` crosses a score.

    `drawn` are joint draws of both, ``[draws, sizes]`` and ``[draws]``, whose order statistics are the ends: a quantile
    between the data and beyond them is beyond.
    """
    records = float(crossings(np.array(sizes, float), curve[None], np.array([score]))[0])
    if drawn is None:
        return Crossing(sizes, records)
    every = crossings(np.array(sizes, float), *drawn)
    tail = (1 - confidence) / 2
    low = float(np.quantile(every, tail, method="lower"))
    high = float(np.quantile(every, 1 - tail, method="higher"))
    return Crossing(sizes, records, low, high, float(np.isfinite(every).mean()))

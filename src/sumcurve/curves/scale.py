"""The scale that curves are fitted on."""

from collections.abc import Sequence
from dataclasses import dataclass

CEILING = 100.0
TINY = 1e-6  # best scores below this are points of no known unit


@dataclass(frozen=True)
class Scale:
    """Scale of curves: offset + factor · score, within 0 to 100 and higher where the system is better."""

    offset: float
    factor: float

    @classmethod
    def of(cls, means: Sequence[float], higher_is_better: bool) -> "Scale":
        """The scores themselves where they will do, such as points; else their range is spread over 20 to 80."""
        least, most = min(means), max(means)
        if higher_is_better and 0 <= least <= most <= CEILING and not 0 < most < TINY:
            return cls(0.0, 1.0)
        factor = (1 if higher_is_better else -1) * 0.6 * CEILING / ((most - least) or 1.0)
        return cls(CEILING / 2 - factor * (most + least) / 2, factor)

    def back(self, fitted: float) -> float:
        return (fitted - self.offset) / self.factor

    def difference(self, fitted: float) -> float:
        """Difference of two fitted values in scores, positive where the first is better."""
        return fitted / abs(self.factor)

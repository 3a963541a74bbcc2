"""One family of tests per question, metric and corpus."""

from collections.abc import Sequence
from dataclasses import dataclass

from sumcurve.statistics.design import Cell, Design
from sumcurve.statistics.intervals import Estimate


@dataclass(frozen=True)
class Tested:
    """One difference of a family; `p_family` is corrected for all of them, None where no test can be made."""

    first: Cell
    second: Cell
    difference: Estimate
    p_family: float | None


@dataclass(frozen=True)
class Family:
    """All differences of a question. `level` is that of one test which keeps the whole family's at the design's.

    An interval of a difference with confidence 1 - `level` is simultaneous. `why` says why there is no test.
    """

    tests: tuple[Tested, ...]
    level: float | None
    why: str = ""


def family(design: Design, pairs: Sequence[tuple[Cell, Cell]], draws: int = 19_999, seed: int = 1) -> Family:
    """Every pair's difference with p values of max-|t| (Westfall and Young, 1993, step-down).

    Only pairs whose error is known for methods belong here: both replicated, or one replicated and one fixed.
    ValueError for a pair with a single-seed system.
    """
    raise NotImplementedError


def replicated_pairs(design: Design, records: int | None) -> list[tuple[Cell, Cell]]:
    """All pairs of replicated methods with this number of records, the earlier one first."""
    raise NotImplementedError

"""Differences between two systems, and the family of tests that decides who of them is ahead."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from scipy import stats

from sumcurve.scores.scorer import Metric
from sumcurve.settings.study import Bootstrap
from sumcurve.statistics.design import Cell, Design
from sumcurve.statistics.family import Family, family
from sumcurve.statistics.intervals import Estimate, difference
from sumcurve.tables.systems import System
from sumcurve.tables.table import Value

LEVEL = 0.05  # of a family of tests
POWER = 0.8  # with which the difference that is printed as seen would be seen
SINGLE_RUN = "single run"
DECIDING = (
    f"the {100 * (1 - LEVEL):g} % intervals of the family, simultaneous but for what only a later step of the test "
    "shows; 0 lies outside just where a difference is shown."
)


@dataclass(frozen=True)
class Pair:
    """First minus second system: the difference, and who is ahead.

    `p` is corrected for its family; None where no test is made. `ahead` names the system that is better beyond chance;
    "" where that is not shown, and None where nothing is claimed of the methods (`why` says why). The `difference` has
    its pointwise interval; the ends of `interval` are those of the test that decides (`Tested.interval`), which leaves
    0 out just where one is ahead, and the pointwise ones where no test is made.
    """

    first: Cell
    second: Cell
    difference: Estimate
    interval: tuple[float | None, float | None]
    p: float | None
    ahead: Cell | Literal[""] | None
    why: str = ""
    seen: float | None = None  # the true difference that would be seen with power 0.8; None where no test is made


def tested(
    design: Design,
    metric: Metric,
    pairs: Sequence[tuple[System, System]],
    settings: Bootstrap,
    unranked: Mapping[Cell, str],
) -> dict[tuple[Cell, Cell], Pair]:
    """Every pair's difference; those whose methods are known are one family of tests, without what is `unranked`."""
    untested = {}
    for left, right in pairs:
        cells = left.cell, right.cell
        if left.summaries and left.summaries == right.summaries:
            untested[cells] = "the same summaries, byte for byte"
        elif why := next((unranked[cell] for cell in cells if cell in unranked), ""):
            untested[cells] = why
    every = [(left.cell, right.cell) for left, right in pairs]
    return compared(design, every, metric.higher_is_better, settings.seed, untested)


def compared(
    design: Design,
    pairs: Sequence[tuple[Cell, Cell]],
    higher_is_better: bool | None,
    seed: int,
    untested: Mapping[tuple[Cell, Cell], str] = MappingProxyType({}),
) -> dict[tuple[Cell, Cell], Pair]:
    """Every pair's difference; one family of tests of all but the `untested`, each with the reason.

    A method is tested where it has several seeds; where no system has, the tests are of these very outputs.
    """
    testable = [pair for pair in pairs if pair not in untested and _testable(design, pair)]
    whole = family(design, testable, seed=seed, level=LEVEL) if testable else Family((), None)
    test_of = {(test.first, test.second): test for test in whole.tests}
    pairs_of = {}
    for first, second in pairs:
        test = test_of.get((first, second))
        result = difference(design, first, second)
        p = None if test is None else test.p_family
        interval = (test.interval if test is not None else None) or (result.low, result.high)
        ahead: Cell | Literal[""] | None = None
        why = untested.get((first, second)) or result.why
        if not why and test is None:
            kinds = {design.kinds[design.place(first)], design.kinds[design.place(second)]}
            why = SINGLE_RUN if "single" in kinds else "neither is trained"
        elif not why and p is not None:
            winner = first if (result.mean > 0) == higher_is_better else second
            ahead = winner if p < LEVEL else ""
        seen = None if p is None else _seen(result, whole.level)
        pairs_of[first, second] = Pair(first, second, result, interval, p, ahead, why, seen)
    return pairs_of


def _testable(design: Design, pair: tuple[Cell, Cell]) -> bool:
    kinds = {design.kinds[design.place(cell)] for cell in pair}
    return "single" not in kinds and ("replicated" in kinds or set(design.kinds) == {"fixed"})


def _seen(result: Estimate, level: float | None) -> float | None:
    """The true difference that a test at this level sees with probability `POWER`."""
    if result.error is None or result.df is None or level is None:
        return None
    return float((stats.t.isf(level / 2, result.df) + stats.t.ppf(POWER, result.df)) * result.error)


def turned(pair: Pair) -> Pair:
    difference = pair.difference
    low, high = _negative((difference.low, difference.high))
    turned = Estimate(
        -difference.mean, low, high, difference.error, difference.df, difference.p, difference.covers, difference.why
    )
    return replace(pair, first=pair.second, second=pair.first, difference=turned, interval=_negative(pair.interval))


def _negative(ends: tuple[float | None, float | None]) -> tuple[float | None, float | None]:
    low, high = ends
    return (None if high is None else -high), (None if low is None else -low)


def decided(pair: Pair, decimals: int | None = None) -> Value:
    """A difference as a cell, with the interval of the test that decides it."""
    return Value(pair.difference.mean, *pair.interval, decimals=decimals)

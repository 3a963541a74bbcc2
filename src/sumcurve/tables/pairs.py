"""Differences between two systems, and the family of tests that decides which is ahead."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from scipy import stats

from sumcurve.scores.scorer import Metric
from sumcurve.settings.study import Bootstrap
from sumcurve.statistics.design import Cell, Design
from sumcurve.statistics.family import FamilyOfTests, family
from sumcurve.statistics.groups import Array
from sumcurve.statistics.intervals import Estimate, difference
from sumcurve.tables.systems import System
from sumcurve.tables.table import Column, Value

LEVEL = 0.05  # of a family of tests
POWER = 0.8  # power of the minimum detectable effect
SINGLE_RUN = "single run"
DECIDING = (
    f"the {100 * (1 - LEVEL):g} % intervals of the family, simultaneous but for what only a later step of the test "
    "shows; 0 lies outside just where a difference is shown."
)


@dataclass(frozen=True)
class Pair:
    """First minus second system: the difference, and the better one.

    `p` is corrected for its family; None where no test is made. `ahead` names the system that is better beyond chance;
    "" where that is not shown, and None where nothing is claimed of the methods (`why` has the reason). The
    `difference` has its pointwise interval; the ends of `interval` are those of the test that decides
    (`Tested.interval`), which leaves 0 out just where one is ahead, and the pointwise ones where no test is made.
    """

    first: Cell
    second: Cell
    difference: Estimate
    interval: tuple[float | None, float | None]
    p: float | None
    ahead: Cell | Literal[""] | None
    why: str = ""
    seen: float | None = None  # minimum detectable effect, with power 0.8; None where no test is made


def tested(
    design: Design,
    metric: Metric,
    pairs: Sequence[tuple[System, System]],
    settings: Bootstrap,
    unranked: Mapping[Cell, str],
) -> dict[tuple[Cell, Cell], Pair]:
    """Every pair's difference; those whose methods are known are one family of tests, without `unranked` systems."""
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

    A method is tested where it has several seeds; where no system has, the tests compare these outputs alone.
    """
    testable = [pair for pair in pairs if pair not in untested and _testable(design, pair)]
    whole = family(design, testable, seed=seed, level=LEVEL) if testable else FamilyOfTests((), None)
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
    """Minimum detectable effect: the true difference that a test at this level finds with probability `POWER`."""
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


def difference_columns(decimals: int, title: str = "difference") -> list[Column]:
    """The columns of a difference and its test, whose cells are `numbers`."""
    return [
        Column("difference", title, "number", decimals, interval=True),
        *(Column(f"pointwise_{end}", None, "number", decimals) for end in ("low", "high")),
        Column("p", "p (family)", "p"),
    ]


def numbers(pair: Pair, decimals: int | None = None, unit: float = 1.0) -> dict[str, Any]:
    """The cells of these columns, and the coverage of the interval; `unit` is the value of 1 in the pair's numbers."""
    mean, low, high, pointwise_low, pointwise_high = (
        None if number is None else unit * number
        for number in (pair.difference.mean, *pair.interval, pair.difference.low, pair.difference.high)
    )
    return {
        "difference": Value(mean, low, high, decimals=decimals),
        "pointwise_low": pointwise_low,
        "pointwise_high": pointwise_high,
        "p": pair.p,
        "interval_covers": pair.difference.covers if pair.difference.low is not None else None,
    }


def outcomes(first: Array, second: Array, higher_is_better: bool | None) -> tuple[int, int, int]:
    """Numbers of items on which the first wins, ties, loses; scores ``[items]``, averaged over seeds."""
    better = np.sign(np.round(first - second, 9)) * (1 if higher_is_better else -1)
    return int((better > 0).sum()), int((better == 0).sum()), int((better < 0).sum())

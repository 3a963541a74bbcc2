"""Training curves of every run from its History, as lines that a page draws as they are."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sumcurve.curves.stopping import selected
from sumcurve.statistics.errors import Undefined
from sumcurve.tables.evidence import ScoredOutput
from sumcurve.tables.results import Results
from sumcurve.tables.table import number

WIDTH, HEIGHT = 320, 180  # units of a drawing
TICKS = 5  # steps of an axis, or fewer
POINTS = 100  # of a History's score of 1
Place = Callable[[float, float], tuple[float, float]]  # of updates and a score in a drawing


@dataclass(frozen=True)
class Line:
    """A run: its `points` "x,y x,y …" in a drawing, and the place of its selected checkpoint."""

    records: int
    seed: int | None
    points: str
    end: tuple[float, float] | None
    label: str


@dataclass(frozen=True)
class Drawing:
    """The runs of a method: validation score over updates. Ticks are places in the drawing with their label."""

    method: str
    lines: Sequence[Line]
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]


def drawings(results: Results, corpus: str, titles: Mapping[str, str]) -> list[Drawing]:
    """A drawing for every method of a corpus whose runs kept a History; all on one scale of scores."""
    runs: dict[str, list[ScoredOutput]] = {}
    for system in results.of(corpus, trained=True):
        kept = [output for output in system.outputs if output.history]
        runs.setdefault(system.method, []).extend(kept)
    scores = [POINTS * row.rouge for outputs in runs.values() for output in outputs for row in output.history]
    if not scores:
        return []
    heights = _ticks(max(scores))
    top = max(heights[-1], max(scores))
    made = []
    for method, outputs in runs.items():
        if not outputs:
            continue
        most = max(row.updates for output in outputs for row in output.history) or 1

        def place(updates: float, score: float, most: float = most) -> tuple[float, float]:
            return round(WIDTH * updates / most, 1), round(HEIGHT * (1 - score / top), 1)

        made.append(
            Drawing(
                titles[method],
                [_line(output, place) for output in outputs],
                [(place(tick, 0)[0], number(int(tick))) for tick in _ticks(most)],
                [(place(0, tick)[1], number(tick, 0 if top >= TICKS else 1)) for tick in heights],
            )
        )
    return made


def _line(output: ScoredOutput, place: Place) -> Line:
    assert output.records is not None
    points = " ".join("{:g},{:g}".format(*place(row.updates, POINTS * row.rouge)) for row in output.history)
    label = f"{number(output.records)} records, seed {output.seed}"
    try:
        chosen = selected(output.history)
    except Undefined:
        return Line(output.records, output.seed, points, None, label)
    label += (
        f": {number(POINTS * chosen.rouge)} after {number(chosen.updates)} updates, epoch {number(chosen.epoch, 1)}"
    )
    return Line(output.records, output.seed, points, place(chosen.updates, POINTS * chosen.rouge), label)


def _ticks(most: float) -> list[float]:
    """Round numbers from 0 to at most `most`: `TICKS` steps or fewer."""
    rough = most / TICKS or 1.0
    power = 10 ** math.floor(math.log10(rough))
    step = next(factor for factor in (1, 2, 5, 10) if factor * power >= rough) * power
    return [step * count for count in range(int(most / step) + 1)]

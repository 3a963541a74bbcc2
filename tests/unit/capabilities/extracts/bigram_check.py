"""The best F1 of ROUGE-2 by other programs than those of `bigrams`: the reference of its proofs.

Nothing is shared with that module but HiGHS and a greedy start. All sentences with words are candidates, and there is
no flow: y says that two sentences are neighbours whose ends make a bigram of the abstract, so that no sentence between
them is chosen.
"""

import math
import time
from collections.abc import Callable, Iterable

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from sumcurve.capabilities.extracts.article import Instance, OracleError, value
from sumcurve.capabilities.extracts.improve import f1_greedy
from sumcurve.capabilities.extracts.optimum import Optimum

MOST_ENTRIES = 10_000_000  # of a program's matrix
MARGIN = 0.1  # of HiGHS's bounds on an integer


def optimum(
    instance: Instance, seconds: float | None = None, clock: Callable[[], float] = time.perf_counter
) -> Optimum:
    """The best extract in document order, of an Instance of order 2; "bounded" where no proof was found in the seconds.

    OracleError for another order.
    """
    begin = clock()
    if instance.order != 2:
        raise OracleError(f"order {instance.order}: this checks optima of ROUGE-2; count the article with order 2")
    deadline = math.inf if seconds is None else begin + seconds
    program = _Program(instance)
    best = [*f1_greedy(instance).sentences]
    numerator, denominator = value(instance, best)
    proven, nodes = False, 0
    while not proven and program.entries <= MOST_ENTRIES and (left := deadline - clock()) > 0:
        extract, bound, used = program.maximise(numerator, max(denominator, 1), left)
        nodes += used
        proven = bound is not None and bound < 1
        if extract is None:
            break
        top, bottom = value(instance, extract)
        better = top * max(denominator, 1) > numerator * bottom
        if better:
            best, numerator, denominator = extract, top, bottom
        if not better:
            break
    proven = proven or 0 < numerator == denominator
    return Optimum(
        sentences=tuple(best),
        numerator=numerator,
        denominator=denominator,
        bound_numerator=numerator if proven else 1,
        bound_denominator=denominator if proven else 1,
        status="proven" if proven else "bounded",
        nodes=nodes,
        solver="milp",
        seconds=clock() - begin,
    )


class _Program:
    """Maximise 2 b h - a c; the columns are x (sentences), h (bigrams of the abstract) and y (pairs)."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.sentences = np.flatnonzero(instance.lengths).tolist()
        self.place = {sentence: place for place, sentence in enumerate(self.sentences)}
        behind: dict[int, list[int]] = {}
        for sentence in self.sentences:
            behind.setdefault(int(instance.first[sentence]), []).append(sentence)
        self.pairs = [
            (i, j, gram)
            for i in self.sentences
            for gram, key in self._from(i)
            for j in behind.get(key & 0xFFFFFFFF, [])
            if i < j
        ]
        self.low: list[float] = []
        self.high: list[float] = []
        self.cells: list[tuple[int, str, int, float]] = []  # row, kind of variable, its number, factor
        self.entries = sum(j - i for i, j, _ in self.pairs) + len(instance.types)
        if self.entries <= MOST_ENTRIES:
            self._write()

    def _from(self, sentence: int) -> list[tuple[int, int]]:
        """(number, key) of the abstract's bigrams that begin with the sentence's last word."""
        word = int(self.instance.last[sentence])
        low, high = np.searchsorted(self.instance.grams, [word << 32, (word + 1) << 32])
        return [(number, int(self.instance.grams[number])) for number in range(low, high)]

    def _constrain(self, least: float, most: float, cells: Iterable[tuple[str, int, float]]) -> None:
        self.cells += [(len(self.low), kind, number, factor) for kind, number, factor in cells]
        self.low.append(least)
        self.high.append(most)

    def _write(self) -> None:
        instance = self.instance
        supply: list[list[tuple[str, int, float]]] = [[] for _ in instance.reference]
        before: dict[int, list[tuple[str, int, float]]] = {}
        behind: dict[int, list[tuple[str, int, float]]] = {}
        inside: dict[int, list[tuple[str, int, float]]] = {sentence: [] for sentence in self.sentences}
        for sentence in self.sentences:
            for entry in range(instance.rows[sentence], instance.rows[sentence + 1]):
                gram = int(instance.types[entry])
                count = min(int(instance.counts[entry]), int(instance.reference[gram]))
                supply[gram].append(("x", self.place[sentence], -count))
        for number, (i, j, gram) in enumerate(self.pairs):
            cell = ("y", number, 1.0)
            supply[gram].append(("y", number, -1.0))
            before.setdefault(i, []).append(cell)
            behind.setdefault(j, []).append(cell)
            for k in range(i + 1, j):
                if k in inside:
                    inside[k].append(cell)
        for gram, cells in enumerate(supply):
            self._constrain(-np.inf, 0, [("h", gram, 1), *cells])
        for ends in (before, behind):
            for sentence, cells in ends.items():
                self._constrain(-np.inf, 0, [("x", self.place[sentence], -1), *cells])
        for sentence, cells in inside.items():
            if cells:
                self._constrain(-np.inf, 1, [("x", self.place[sentence], 1), *cells])

    def maximise(self, a: int, b: int, seconds: float) -> tuple[list[int] | None, int | None, int]:
        """(an extract, an upper bound on 2 b h - a c or None, nodes used)."""
        instance = self.instance
        sizes = {"x": len(self.sentences), "h": len(instance.reference), "y": len(self.pairs)}
        starts = dict(zip(sizes, np.cumsum([0, *sizes.values()]).tolist(), strict=False))
        size = sum(sizes.values())
        if not sizes["x"] or not sizes["h"]:
            return [], 0, 0
        # c is the words less one, and r.
        aims = np.zeros(size)
        aims[starts["h"] : starts["y"]] = -2 * b
        aims[: starts["h"]] = a * instance.lengths[self.sentences]
        constant = a * (instance.reference_total - 1)
        upper = np.ones(size)
        upper[starts["h"] : starts["y"]] = instance.reference
        rows, columns, factors = [], [], []
        for row, kind, number, factor in self.cells:
            rows.append(row)
            columns.append(starts[kind] + number)
            factors.append(factor)
        matrix = coo_array((np.array(factors, float), (rows, columns)), shape=(len(self.low), size)).tocsr()
        answer = milp(
            aims,
            integrality=np.ones(size),
            bounds=Bounds(np.zeros(size), upper),
            constraints=LinearConstraint(matrix, self.low, self.high),
            options={"mip_rel_gap": 0.0} | ({"time_limit": seconds} if math.isfinite(seconds) else {}),
        )
        extract = None
        if answer.x is not None:
            extract = [s for s, chosen in zip(self.sentences, answer.x[: starts["h"]], strict=True) if chosen > 0.5]
        bound = None
        if answer.mip_dual_bound is not None and math.isfinite(answer.mip_dual_bound):
            bound = math.floor(-answer.mip_dual_bound + MARGIN) - constant
        return extract, bound, int(answer.mip_node_count or 0)

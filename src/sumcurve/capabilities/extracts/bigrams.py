"""The best ROUGE-2 F1 of any extract in document order, with a proof by mixed-integer programs (HiGHS).

The F1 is 2 h / c, h matching bigrams and c bigrams of extract and abstract. Bigrams cross the ends of sentences,
as in every scorer here, so an extract is a chain of sentences and not just a set. Dinkelbach (1967): an extract with an
F1 above a / b exists if and only if the maximum of 2 b h - a c is positive. That is an integer, so that any bound below
1 is a proof.
"""

import math
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_array, coo_array, csr_array, eye_array

from sumcurve.capabilities.extracts.article import Instance, OracleError, value
from sumcurve.capabilities.extracts.improve import f1_greedy
from sumcurve.capabilities.extracts.optimum import Optimum, reach

NODES = 10_000  # of HiGHS
MOST_SENTENCES = 3_000  # of a program
MOST_PAIRS = 100_000  # of a program: sentences that can follow each other with a bigram of the abstract
MARGIN = 0.1  # of HiGHS's bounds on an integer
_WORD_BITS = 32
_MASK = (1 << _WORD_BITS) - 1


def optimum(
    instance: Instance,
    start: Sequence[int] | None = None,
    nodes: int = NODES,
    seconds: float | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Optimum:
    """The best extract in document order and a bound on every other, for an Instance of order 2.

    `start` is an extract to begin with, in document order; that of `f1_greedy` where none is given. The answer is
    never below it. Status is "proven" where the bound equals the value. HiGHS examines at most so many nodes, and takes
    about so many seconds; without `seconds` the answer depends on no clock. The empty extract is best, and proven,
    where nothing matches. OracleError for another order and for a start that is not ascending.
    """
    begin = clock()
    if instance.order != 2:
        raise OracleError(f"order {instance.order}: this is the optimum of ROUGE-2; count the article with order 2")
    search = _Search(instance, f1_greedy(instance).sentences if start is None else start)
    deadline = math.inf if seconds is None else begin + seconds
    if search.numerator:
        search.run(nodes, lambda: deadline - clock())
    return search.result(clock() - begin)


class _Search:
    """State of the search for one article: the best extract so far, and a bound on all."""

    def __init__(self, instance: Instance, start: Sequence[int]) -> None:
        if any(left >= right for left, right in pairwise(start)):
            raise OracleError(f"start {list(start)} is not in document order; sort it, each sentence once")
        self.instance = instance
        self.counts = np.minimum(instance.counts, instance.reference[instance.types]).astype(np.int64)
        self.begins, self.ends = instance.grams >> _WORD_BITS, instance.grams & _MASK
        self.sentences: tuple[int, ...] = ()
        self.numerator, self.denominator = value(instance, [])
        self.offer(start)
        if self.numerator == 0:
            for extract in self._matching():
                self.offer(extract)
        self.ceiling = Fraction(*reach(instance)) if self.numerator else Fraction(0)
        self.nodes = 0
        self.solver = "trivial"

    def offer(self, sentences: Sequence[int]) -> bool:
        """Tell whether these sentences are better than the best extract; if so, they replace it."""
        numerator, denominator = value(self.instance, sentences)
        if numerator * max(self.denominator, 1) <= self.numerator * denominator:
            return False
        self.sentences = tuple(int(index) for index in sentences)
        self.numerator, self.denominator = numerator, denominator
        return True

    def _matching(self) -> list[list[int]]:
        """Extracts of one or two sentences, at least one of which has a match if any extract has."""
        instance = self.instance
        alone = np.flatnonzero(np.diff(instance.rows))
        if len(alone):
            return [[index] for index in alone.tolist()]
        earliest: dict[int, int] = {}
        latest: dict[int, int] = {}
        for index in np.flatnonzero(instance.lengths).tolist():
            earliest.setdefault(int(instance.last[index]), index)
            latest[int(instance.first[index])] = index
        grams = zip(self.begins.tolist(), self.ends.tolist(), strict=True)
        pairs = [[earliest.get(begin, instance.size), latest.get(end, -1)] for begin, end in grams]
        return [pair for pair in pairs if pair[0] < pair[1]]

    def run(self, nodes: int, left: Callable[[], float]) -> None:
        """Dinkelbach's rounds, until the proof is complete or the budget is spent."""
        kept = self._screened(np.flatnonzero(self.instance.lengths))
        while self.nodes < nodes and left() > 0:
            if not len(kept):
                self.ceiling = self._value
                return
            if len(kept) > MOST_SENTENCES:
                return
            pairs = _pairs(self, kept)
            if len(pairs.type) > MOST_PAIRS:
                return
            program = _Program(self, kept, pairs)
            self.solver = "milp"
            chain, bound, used = program.solve(self.numerator, self.denominator, nodes - self.nodes, left())
            self.nodes += used
            if bound is not None:
                self._lower(bound)
                if bound < 1:
                    return
            if chain is None:
                return
            if not self.offer(chain.tolist()):
                return
            kept = self._screened(kept)

    @property
    def _value(self) -> Fraction:
        return Fraction(self.numerator, max(self.denominator, 1))

    def _lower(self, bound: int) -> None:
        """Apply a bound on 2 b h - a c, where a / b is the best value.

        An extract with a higher F1 has h matches among c ≥ h + r bigrams, so that its c is above 2 r / (2 - a / b).
        """
        least = 2 * self.instance.reference_total / (2 - self._value)
        highest = self._value + bound / (self.denominator * least) if bound >= 1 else self._value
        self.ceiling = min(self.ceiling, highest)

    def _screened(self, kept: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sentences that some best extract may need, if any has an F1 above the best value.

        Leaving a sentence out of an extract loses at most its own matches and the bigrams on its two sides, and saves
        its cost. Where that does not lower 2 b h - a c, some best extract does not contain the sentence.
        """
        instance = self.instance
        usable = np.isin(self.begins, instance.last[kept]) & np.isin(self.ends, instance.first[kept])
        begins, ends = self.begins[usable], self.ends[usable]
        sums = np.append(0, np.cumsum(self.counts))
        while True:
            before, behind = _sides(instance.first[kept], instance.last[kept], begins, ends)
            gains = sums[instance.rows[kept + 1]] - sums[instance.rows[kept]] + before + behind
            stays = 2 * self.denominator * gains > self.numerator * instance.lengths[kept].astype(np.int64)
            if stays.all():
                return kept
            kept = kept[stays]

    def result(self, seconds: float) -> Optimum:
        proven = self.ceiling <= self._value
        return Optimum(
            sentences=self.sentences,
            numerator=self.numerator,
            denominator=self.denominator,
            bound_numerator=self.numerator if proven else self.ceiling.numerator,
            bound_denominator=self.denominator if proven else self.ceiling.denominator,
            status="proven" if proven else "bounded",
            nodes=self.nodes,
            solver=self.solver,
            seconds=seconds,
        )


class _Pairs(NamedTuple):
    """Sentences that can follow each other with a bigram of the abstract; all arrays [pairs]."""

    before: NDArray[np.int64]  # places among the candidates
    behind: NDArray[np.int64]
    type: NDArray[np.int64]  # among the abstract's bigrams


class _Program:
    """Maximise 2 b h - a c over the chains of the candidates.

    One unit flows through the hubs 0..n: from hub s through sentence s to hub s + 1, past it from hub s to hub s + 1,
    or from sentence i to sentence j directly where the two are a pair; neighbours that are no pair add a bigram to c,
    and nothing to h. Columns: x (sentences), h (types), skips, pairs.
    """

    def __init__(self, search: _Search, kept: NDArray[np.int64], pairs: _Pairs) -> None:
        instance, n, types, many = search.instance, len(kept), len(search.instance.reference), len(pairs.type)
        self.kept = kept
        self.total = instance.reference_total - 1  # of n sentences, one is the last
        places, owners = _entries(instance.rows, kept)
        supply = _matrix(instance.types[places], owners, (types, n), search.counts[places])
        met = _matrix(pairs.type, np.arange(many), (types, many))
        enter = _matrix(pairs.behind, np.arange(many), (n, many))
        leave = _matrix(pairs.before, np.arange(many), (n, many))
        x, on = eye_array(n, format="csr"), eye_array(n, k=-1, format="csr")  # `on`: flow from sentence s - 1
        self.costs = instance.lengths[kept].astype(np.int64)

        self.sizes = n, types, n, many
        blocks = [
            [-supply, eye_array(types), None, -met],
            [-x, None, None, enter],
            [-x, None, None, leave],
            [on - x, None, on - x, enter - on @ leave],
        ]
        heights = types, n, n, n
        rows = [row for row, height in zip(blocks, heights, strict=True) if height]
        matrix = block_array([[cell for cell, size in zip(row, self.sizes, strict=True) if size] for row in rows])
        low, high = np.repeat([-np.inf, -np.inf, -np.inf, 0], heights), np.zeros(sum(heights))
        low[types + 2 * n] = high[types + 2 * n] = -1  # the flow from hub 0
        self.constraints = LinearConstraint(matrix.tocsr(), low, high)
        upper = np.ones(sum(self.sizes))
        upper[n : n + types] = instance.reference
        self.bounds = Bounds(np.zeros(len(upper)), upper)

    def solve(self, a: int, b: int, nodes: int, seconds: float) -> tuple[NDArray[np.int64] | None, int | None, int]:
        """(an extract, an upper bound on the integer 2 b h - a c or None, nodes used)."""
        n, types, skips, many = self.sizes
        aims = np.concatenate([a * self.costs, np.full(types, -2 * b), np.zeros(skips + many)]).astype(float)
        options: dict[str, float] = {"mip_rel_gap": 0.0, "node_limit": nodes}
        if math.isfinite(seconds):
            options["time_limit"] = seconds
        integers = np.ones(len(aims))
        answer = milp(aims, integrality=integers, bounds=self.bounds, constraints=self.constraints, options=options)
        chain = None if answer.x is None else self.kept[answer.x[:n] > 0.5]
        used = max(0, int(answer.mip_node_count or 0))
        if answer.mip_dual_bound is None or not math.isfinite(answer.mip_dual_bound):
            return chain, None, used
        return chain, math.floor(-answer.mip_dual_bound + MARGIN) - a * self.total, used


def _pairs(search: _Search, kept: NDArray[np.int64]) -> _Pairs:
    """Pairs that make a bigram of the abstract; at most a few more than a program may have."""
    instance = search.instance
    first, last = instance.first[kept], instance.last[kept]
    made: list[NDArray[np.int64]] = []
    size = 0
    for kind in np.flatnonzero(np.isin(search.begins, last) & np.isin(search.ends, first)).tolist():
        before, behind = np.flatnonzero(last == search.begins[kind]), np.flatnonzero(first == search.ends[kind])
        two = np.argwhere(before[:, None] < behind[None, :])
        made.append(np.stack([before[two[:, 0]], behind[two[:, 1]], np.full(len(two), kind)]))
        size += len(two)
        if size > MOST_PAIRS:
            break
    return _Pairs(*np.concatenate([np.zeros((3, 0), np.int64), *made], axis=1))


def _sides(
    first: NDArray[np.int32], last: NDArray[np.int32], begins: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell whether each sentence has a partner somewhere before it, and one after it."""
    size = int(max(first.max(initial=0), last.max(initial=0), begins.max(initial=0), ends.max(initial=0))) + 1
    n = len(first)
    earliest, latest = np.full(size, n), np.full(size, -1)
    np.minimum.at(earliest, last, np.arange(n))
    np.maximum.at(latest, first, np.arange(n))
    before, behind = np.full(size, n), np.full(size, -1)
    np.minimum.at(before, ends, earliest[begins])
    np.maximum.at(behind, begins, latest[ends])
    return before[first] < np.arange(n), behind[last] > np.arange(n)


def _entries(rows: NDArray[np.int64], kept: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of the entries of these rows, one row after the other, and for each the place of its row in `kept`."""
    lengths = rows[kept + 1] - rows[kept]
    shift = rows[kept] - np.append(0, np.cumsum(lengths))[:-1]
    return np.repeat(shift, lengths) + np.arange(lengths.sum()), np.repeat(np.arange(len(kept)), lengths)


def _matrix(
    rows: NDArray[np.integer],
    columns: NDArray[np.integer],
    shape: tuple[int, int],
    values: NDArray[np.integer] | None = None,
) -> csr_array:
    """Ones, or these values, at these places."""
    entries = np.ones(len(rows)) if values is None else values.astype(np.float64)
    return coo_array((entries, (rows, columns)), shape=shape).tocsr()

"""The best ROUGE-1 F1 of any set of an article's sentences, with a proof.

The F1 is 2 h / D with h matching words and D the words of extract and abstract. An extract may have any number of
sentences; their order does not matter to ROUGE-1. The proof is branch and bound
(`unigram_bounds`, `unigram_search`); where its budget ends first, HiGHS continues with the same integers.
"""

import math
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from sumcurve.capabilities.extracts.article import Instance, OracleError, value
from sumcurve.capabilities.extracts.optimum import Optimum
from sumcurve.capabilities.extracts.unigram_bounds import (
    FINE,
    FREE,
    IN,
    OUT,
    Best,
    Coverage,
    ceiling,
)
from sumcurve.capabilities.extracts.unigram_search import PRUNED, dominators, examine, explore, polish

NODES = 200_000
_MILP_NODES = 100
_BRANCH_SHARE = 2 / 3  # of the seconds, where HiGHS may take over
_ROOT_STEPS = 200
_AGAIN_STEPS = 100
_NODE_STEPS = 10
_ROWS = 64  # open subproblems that have room at first
_BATCH = 256  # nodes between two looks at the clock
_MARGIN = 1e-3  # of HiGHS's bounds on an integer objective


def source_words_bound(instance: Instance) -> tuple[int, int]:
    """(numerator, denominator) of the best ROUGE-1 F1 of a text of the source's words, each at most as often as there.

    The text has the matching words and no others. No extract of whole sentences is better.
    """
    _check_order(instance)
    hits = int(_coverable(instance).sum())
    return 2 * hits, hits + instance.reference_total


def optimum(
    instance: Instance,
    start: Sequence[int] | None = None,
    nodes: int = NODES,
    seconds: float | None = None,
    clock: Callable[[], float] = time.perf_counter,
    milp_nodes: int = _MILP_NODES,
) -> Optimum:
    """The best extract by ROUGE-1 F1: proven, or with a bound where the budget ended first.

    `start`: distinct sentences to begin with; the search improves on them and on its own. Branch and bound examines at
    most `nodes` subproblems (0: none, and the bound is that of `source_words_bound`). If the proof is not complete,
    HiGHS continues for at most `milp_nodes` nodes (0: not at all). `seconds` limits both together, by `clock`, which is
    read between batches of nodes; without it the answer depends on no clock. The empty extract is allowed, and is the
    answer where nothing matches. OracleError for another order, or a start that is no set of sentences.
    """
    began = clock()
    search = _Search(instance, start)
    limit = math.inf if seconds is None else began + seconds
    solver = "trivial"
    if not search.proven and nodes > 0 and clock() < limit:
        solver = "branch-and-bound"
        own = limit if milp_nodes == 0 or seconds is None else began + _BRANCH_SHARE * seconds
        search.branch(nodes, lambda: clock() >= own)
        if not search.proven and milp_nodes > 0 and clock() < limit:
            solver = "milp"
            search.solve_by_milp(milp_nodes, lambda: limit - clock())
    return search.result(solver, clock() - began)


def optimum_by_milp(
    instance: Instance,
    start: Sequence[int] | None = None,
    seconds: float | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Optimum:
    """The same optimum by HiGHS (through scipy) only, without any reduction of branch and bound: a check of it."""
    began = clock()
    search = _Search(instance, start)
    limit = math.inf if seconds is None else began + seconds
    solver = "trivial"
    if not search.proven and clock() < limit:
        solver = "milp"
        search.solve_by_milp(None, lambda: limit - clock())
    return search.result(solver, clock() - began)


def _check_order(instance: Instance) -> None:
    if instance.order != 1:
        raise OracleError(f"order {instance.order}: this is the optimum of ROUGE-1; count the article with order 1")


def _coverable(instance: Instance) -> NDArray[np.int64]:
    """[types] counts of the abstract's words in the whole source, clipped to the abstract's counts."""
    have = np.bincount(instance.types, instance.counts, len(instance.reference)).astype(np.int64)
    return np.minimum(have, instance.reference)


class _Fraction(NamedTuple):
    """hits / cost, half an F1, not in lowest terms."""

    hits: int
    cost: int

    def above(self, other: "_Fraction") -> bool:
        return self.hits * other.cost > other.hits * self.cost


class _Search:
    """State of the search for one article: the best set, an upper bound, and the settled sentences."""

    def __init__(self, instance: Instance, start: Sequence[int] | None) -> None:
        _check_order(instance)
        self.instance = instance
        self.nodes = 0
        self.state = np.full(instance.size, FREE, np.int8)  # of every sentence, for any better set
        self.coverage = _coverage(instance)
        chosen = np.full(instance.size, OUT, np.int8)
        beginning = [] if start is None else list(start)
        for index in beginning:
            if not 0 <= index < instance.size or chosen[index] == IN:
                raise OracleError(f"start {beginning}: not distinct sentences of an article of {instance.size}")
            chosen[index] = IN
        self.best = Best(np.array([0, 1, 0, max(1, instance.reference_total)], np.int64), np.full_like(chosen, OUT))
        numerator, denominator = source_words_bound(instance)
        self.limit = numerator // 2  # no set has more hits
        self.ceiling = _Fraction(numerator // 2, max(1, denominator))
        if self.limit:
            polish(self.coverage, self.state, chosen, self.best)
            polish(self.coverage, self.state, np.full_like(chosen, OUT), self.best)

    @property
    def value(self) -> _Fraction:
        return _Fraction(int(self.best.ratio[2]), int(self.best.ratio[3]))

    @property
    def proven(self) -> bool:
        return not self.ceiling.above(self.value)

    def lower(self, cost_of: Callable[[int], int]) -> None:
        """Apply a bound: `cost_of(h)` is the least cost that a better set with h hits may have."""
        highest = self.value
        for hits in range(1, self.limit + 1):
            fraction = _Fraction(hits, max(self.instance.reference_total + hits, cost_of(hits)))
            if fraction.above(highest):
                highest = fraction
        if self.ceiling.above(highest):
            self.ceiling = highest

    def branch(self, nodes: int, expired: Callable[[], bool]) -> None:
        """Branch and bound with at most so many nodes, the root among them."""
        # All bounds stay below 2**62: ratios' terms, and FINE, times scale times all words twice.
        words = int(self.coverage.counts.sum() + self.coverage.lengths.sum()) + self.coverage.total
        scale = max(1, min(1 << 20, (1 << 62) // (2 * max(words, FINE) * max(1, words))))
        multipliers = np.full(len(self.coverage.reference), scale // 2, np.int64)
        root, none = self.coverage, np.zeros((0, 2), np.int64)
        self.nodes += 1
        free = 2 * len(self.state)
        outcome, steps = 0, _ROOT_STEPS
        while outcome != PRUNED and (self.state == FREE).sum() < 0.9 * free and not expired():
            ratio, free = self.value, int((self.state == FREE).sum())
            outcome = examine(root, none, self.state, multipliers, self.best, scale, steps, 4, 50)
            if self.value.above(ratio):
                free = len(self.state) * 2  # another ratio settles other sentences
            steps = _AGAIN_STEPS
        if outcome == PRUNED:
            self.ceiling = self.value
            return
        # Continue with the sentences that are not settled, in an instance of their own.
        keep = np.flatnonzero(self.state != OUT)
        coverage = _part(root, keep)
        best = Best(self.best.ratio, np.full(len(keep), OUT, np.int8))
        before = self.value
        pairs = dominators(coverage, self.state[keep])
        states = np.empty((_ROWS, len(keep)), np.int8)
        weights = np.empty((_ROWS, len(coverage.reference)), np.int32)
        states[0], weights[0] = self.state[keep], multipliers
        outset = ceiling(coverage, states[0], multipliers, best, scale)
        waiting = 1
        while waiting and self.nodes < nodes and not expired():
            if waiting == len(states):
                states, weights = (np.concatenate([array, np.empty_like(array)]) for array in (states, weights))
            batch = min(_BATCH, nodes - self.nodes)
            waiting, used = explore(coverage, pairs, states, weights, best, scale, _NODE_STEPS, waiting, batch)
            self.nodes += used
        if self.value.above(before):
            self.best.chosen[:] = OUT
            self.best.chosen[keep[best.chosen == IN]] = IN
        if not waiting:
            self.ceiling = self.value
            return
        highest = max(
            ceiling(coverage, states[row], weights[row].astype(np.int64), best, scale) for row in range(waiting)
        )
        highest = min(highest, outset)
        self.lower(lambda hits: -(-hits * FINE // highest) if highest else hits)

    def solve_by_milp(self, nodes: int | None, left: Callable[[], float]) -> None:
        """Dinkelbach's rounds with HiGHS over the sentences that are not excluded."""
        model = _Model(self.coverage, self.state)
        while not self.proven and left() > 0:
            a, b = int(self.best.ratio[0]), int(self.best.ratio[1])
            extract, bound, used = model.solve(a, b, nodes, left())
            self.nodes += used
            before = self.value
            if extract is not None:
                chosen = np.full(len(self.state), OUT, np.int8)
                chosen[extract] = IN
                polish(self.coverage, self.state, chosen, self.best)
            if bound is not None and bound < 1:
                self.ceiling = self.value
                return
            if bound is not None and a > 0:
                most = bound
                self.lower(lambda hits, a=a, b=b, most=most: -((most - b * hits) // a))  # type: ignore[misc]
            if nodes is not None:
                nodes -= used
            if not self.value.above(before) or (nodes is not None and nodes <= 0):
                return

    def result(self, solver: str, seconds: float) -> Optimum:
        sentences = tuple(int(index) for index in np.flatnonzero(self.best.chosen == IN))
        numerator, denominator = value(self.instance, sentences)
        if (numerator, denominator) != (2 * self.value.hits, self.value.cost) and (numerator or self.value.hits):
            raise RuntimeError(
                f"the extract {list(sentences)} counts {numerator} / {denominator}, the proof says {self.value}: "
                "a bug in sumcurve, please report the article"
            )
        proven = self.proven
        return Optimum(
            sentences=sentences,
            numerator=numerator,
            denominator=denominator,
            bound_numerator=numerator if proven else 2 * self.ceiling.hits,
            bound_denominator=denominator if proven else self.ceiling.cost,
            status="proven" if proven else "bounded",
            nodes=self.nodes,
            solver=solver,
            seconds=seconds,
        )


def _coverage(instance: Instance) -> Coverage:
    return Coverage(
        rows=instance.rows,
        types=instance.types.astype(np.int64),
        counts=np.minimum(instance.counts, instance.reference[instance.types]).astype(np.int64),
        lengths=instance.lengths.astype(np.int64),
        reference=instance.reference.astype(np.int64),
        total=instance.reference_total,
    )


def _part(coverage: Coverage, keep: NDArray[np.int64]) -> Coverage:
    """The coverage of these sentences alone."""
    rows = np.zeros(len(keep) + 1, np.int64)
    np.cumsum(coverage.rows[keep + 1] - coverage.rows[keep], out=rows[1:])
    places = np.arange(rows[-1]) + np.repeat(coverage.rows[keep] - rows[:-1], np.diff(rows))
    return coverage._replace(
        rows=rows, types=coverage.types[places], counts=coverage.counts[places], lengths=coverage.lengths[keep]
    )


class _Model:
    """Variables: x of the sentences not excluded, y of the abstract's words (hits). y_w ≤ Σ_s c_ws x_s, y_w ≤ r_w.

    All are integers.
    """

    def __init__(self, coverage: Coverage, state: NDArray[np.int8]) -> None:
        self.keep = np.flatnonzero(state != OUT)
        self.coverage = part = _part(coverage, self.keep)
        self.sizes = size, width = len(self.keep), len(coverage.reference)
        owners = np.repeat(np.arange(size), np.diff(part.rows))
        places = np.concatenate([np.arange(width), part.types])
        columns = np.concatenate([size + np.arange(width), owners])
        values = np.concatenate([np.ones(width), -part.counts])
        matrix = csr_array((values, (places, columns)), shape=(width, size + width))
        self.rows = LinearConstraint(matrix, -np.inf, 0)
        self.bounds = Bounds(
            np.concatenate([state[self.keep] == IN, np.zeros(width)]).astype(float),
            np.concatenate([np.ones(size), part.reference]).astype(float),
        )

    def solve(
        self, a: int, b: int, nodes: int | None, seconds: float
    ) -> tuple[NDArray[np.int64] | None, int | None, int]:
        """(sentences found, an upper bound on the integer b h - a D or None, nodes used)."""
        size, width = self.sizes
        aims = np.concatenate([a * self.coverage.lengths, np.full(width, -b)]).astype(float)
        options: dict[str, float] = {"mip_rel_gap": 0.0}
        if nodes is not None:
            options["node_limit"] = nodes
        if math.isfinite(seconds):
            options["time_limit"] = seconds
        integers = np.ones(size + width)  # with y continuous, HiGHS may print to stdout
        answer = milp(aims, integrality=integers, bounds=self.bounds, constraints=self.rows, options=options)
        extract = None if answer.x is None else self.keep[answer.x[:size] > 0.5]
        bound = answer.mip_dual_bound
        if bound is None or not math.isfinite(bound):
            return extract, None, int(answer.mip_node_count or 0)
        most = math.floor(-bound - a * self.coverage.total + _MARGIN)
        return extract, most, int(answer.mip_node_count or 0)

"""The best F1 of ROUGE-2 that any extract in document order reaches, with a proof.

The F1 is 2 h / c, h matching bigrams and c bigrams of extract and abstract. Bigrams run over the ends of sentences,
as in every scorer here, so an extract is a chain of sentences and not just a set. Dinkelbach (1967): an extract with an
F1 above λ exists if and only if the maximum of 2 h - λ c is positive. With λ a fraction of integers that maximum is a
multiple of 1 / denominator, so that any bound below 1 / denominator is a proof.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from sumcurve.annotations.oracle import chains as search
from sumcurve.annotations.oracle.article import Instance, OracleError, value
from sumcurve.annotations.oracle.chains import Chains, Search, Work
from sumcurve.annotations.oracle.improve import f1_greedy
from sumcurve.annotations.oracle.optimum import Optimum

ROOT_STEPS = 400
NODE_STEPS = 8
SLICE = 10_000_000  # steps between two looks at the clock
MOST_NODES = 200_000  # of branch and bound, before HiGHS takes over
MOST_STARTS = 30
MOST_PAIRS = 100_000  # sentence pairs of a mixed-integer program
MOST_STORED = 50_000_000  # numbers that the search keeps for its open decisions
_WORD_BITS = 32
_MASK = (1 << _WORD_BITS) - 1


def optimum2(
    instance: Instance,
    start: Sequence[int] | None = None,
    nodes: int = MOST_NODES,
    seconds: float | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Optimum:
    """The best extract in document order and a bound on every other, for an Instance of order 2.

    `start` is an extract to begin with, in document order; that of `f1_greedy` where none is given. The answer is
    never below it. Status is "proven" where the bound meets the value. Branch and bound ends after so many nodes; where
    `seconds` are given and left, HiGHS then goes on. Without `seconds` the answer depends on no clock. The empty
    extract is best, and proven, where nothing matches. OracleError for another order and for a start that is not
    ascending.
    """
    begin = clock()
    deadline = math.inf if seconds is None else begin + seconds
    graph, best = _begin(instance, f1_greedy(instance).sentences if start is None and instance.order == 2 else start)
    if best.numerator == 0:
        return best.found("proven", 0.0, 0, "trivial", clock() - begin)
    multipliers = np.full(len(instance.reference), 0.5)
    kept = np.arange(instance.size)
    used, bound, proven = 0, 1.0, False
    solver = "branch-and-bound"
    while True:  # once per λ, and again where the root's bound leaves much fewer candidates
        kept = graph.screen(kept, best.numerator, best.denominator)
        state = _State(graph.chains(kept), kept, best, multipliers)
        if used >= nodes or clock() >= deadline:
            bound = state.ratio_bound()
            break
        used += 1
        bound = state.root(lambda: clock() >= deadline)
        multipliers = state.search.u
        if best.take(state):
            continue
        if bound == -math.inf:
            proven = True
            break
        out = state.search.status == search.OUT
        if out.sum() > 0.1 * len(kept):
            kept = kept[~out]
            continue
        bound = state.ratio_bound()
        break
    while not proven and used < nodes and clock() < deadline:
        done, ran = state.explore(nodes - used)
        used += ran
        proven = done
        if done or not ran:
            break
    best.take(state)
    if not proven:
        bound = min(bound, state.open_bound())
    if not proven and used > 0 and seconds is not None and clock() < deadline:
        solver = "milp"
        proven, outer, more = _mixed_integer(graph, state.kept, best, deadline, clock)
        used += more
        bound = min(bound, outer)
    return best.found("proven" if proven else "bounded", bound, used, solver, clock() - begin)


def optimum2_by_milp(
    instance: Instance, seconds: float | None = None, clock: Callable[[], float] = time.perf_counter
) -> Optimum:
    """The same by mixed-integer programming alone (HiGHS), without a start: an independent check of `optimum2`.

    The chain is a flow of one unit through the candidates. Scorer `set` pays for bigrams between chosen neighbours by
    constraints that are added where a solution breaks them.
    """
    begin = clock()
    graph, best = _begin(instance, None)
    if best.numerator == 0:
        return best.found("proven", 0.0, 0, "trivial", clock() - begin)
    deadline = math.inf if seconds is None else begin + seconds
    proven, bound, nodes = _mixed_integer(graph, np.arange(instance.size), best, deadline, clock)
    return best.found("proven" if proven else "bounded", bound, nodes, "milp", clock() - begin)


def _begin(instance: Instance, start: Sequence[int] | None) -> tuple["_Graph", "_Best"]:
    """The graph, and the best of a few extracts: its numerator is 0 only if no extract has a match."""
    if instance.order != 2:
        raise OracleError(f"an Instance of order {instance.order}; this search is for order 2")
    graph, best = _Graph(instance), _Best(instance, start)
    if best.numerator == 0:
        for extract in graph.anything():
            best.offer(extract)
    return graph, best


class _Best:
    """The best extract so far."""

    def __init__(self, instance: Instance, start: Sequence[int] | None) -> None:
        self.instance = instance
        self.sentences: tuple[int, ...] = ()
        self.numerator, self.denominator = value(instance, [])
        if start is not None:
            if any(left >= right for left, right in pairwise(start)):
                raise OracleError(f"start {list(start)} is not in document order; sort it, each sentence once")
            self.offer(start)

    def offer(self, sentences: Sequence[int]) -> bool:
        """Whether these sentences are better; they are the best then."""
        numerator, denominator = value(self.instance, sentences)
        if numerator * max(self.denominator, 1) <= self.numerator * denominator:
            return False
        self.sentences = tuple(int(index) for index in sentences)
        self.numerator, self.denominator = numerator, denominator
        return True

    def take(self, state: "_State") -> bool:
        numbers = state.search.numbers
        if not numbers[search.FOUND]:
            return False
        numbers[search.FOUND] = 0
        chain: list[int] = state.kept[state.search.best[: numbers[search.LENGTH]]].tolist()
        better = self.offer(chain)
        if (self.numerator, self.denominator) != (numbers[search.NUMERATOR], numbers[search.DENOMINATOR]) or not better:
            raise AssertionError(f"the search counts chain {chain} otherwise than `value` does")
        return True

    def found(self, status: str, bound: float, nodes: int, solver: str, seconds: float) -> Optimum:
        top = Fraction(self.numerator, max(self.denominator, 1))
        outer = Fraction(math.ceil(bound * 10**9) + 1, 10**9) if status == "bounded" else top
        outer = min(max(outer, top), Fraction(1))
        exact = outer == top
        return Optimum(
            sentences=self.sentences,
            numerator=self.numerator,
            denominator=self.denominator,
            bound_numerator=self.numerator if exact else outer.numerator,
            bound_denominator=self.denominator if exact else outer.denominator,
            status="proven" if exact else "bounded",
            nodes=nodes,
            solver=solver,
            seconds=seconds,
        )


class _Graph:
    """The article's sentences, and which of them can be neighbours to some use."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.unique = instance.scorer == "set"
        self.counts = np.minimum(instance.counts, instance.reference[instance.types]).astype(np.int64)
        self.begins = instance.grams >> _WORD_BITS
        self.ends = instance.grams & _MASK
        self.base = instance.reference_total - (0 if self.unique else 1)

    def anything(self) -> list[list[int]]:
        """A few extracts, at least one of which has a match if any extract has."""
        instance = self.instance
        gains = self._gains(np.arange(instance.size))
        order = np.argsort(-gains / np.maximum(instance.lengths, 1), kind="stable")
        order = order[gains[order] > 0]
        if len(order):
            return [sorted(order[:length].tolist()) for length in range(1, min(len(order), MOST_STARTS) + 1)]
        earliest: dict[int, int] = {}
        latest: dict[int, int] = {}
        for index in np.flatnonzero(instance.lengths).tolist():
            earliest.setdefault(int(instance.last[index]), index)
            latest[int(instance.first[index])] = index
        grams = zip(self.begins.tolist(), self.ends.tolist(), strict=True)
        pairs = [[earliest.get(begin, instance.size), latest.get(end, -1)] for begin, end in grams]
        return [pair for pair in pairs if pair[0] < pair[1]]

    def _gains(self, kept: NDArray[np.int64]) -> NDArray[np.int64]:
        """Matches that each sentence has by itself."""
        sums = np.append(0, np.cumsum(self.counts))
        return sums[self.instance.rows[kept + 1]] - sums[self.instance.rows[kept]]

    def screen(self, kept: NDArray[np.int64], numerator: int, denominator: int) -> NDArray[np.int64]:
        """The sentences that some best extract may need, if any has an F1 above the fraction.

        To leave a sentence out of an extract loses at most its own matches and the bigrams on its two sides, and saves
        its cost. Where that does not lower den · 2 h - num · c, some best extract does without the sentence.
        """
        instance = self.instance
        kept = kept[instance.lengths[kept] > 0]
        pairs = _pairs(self.begins, self.ends, instance.first[kept], instance.last[kept])
        while True:
            left, right = _sides(instance.first[kept], instance.last[kept], *pairs)
            gains = self._gains(kept) + left + right
            if self.unique:
                cost = self._own(kept) - 1  # its neighbours meet, which may bring a new bigram
                worth = 2 * denominator - numerator
            else:
                cost = instance.lengths[kept].astype(np.int64)
                worth = 2 * denominator
            stays = worth * gains > numerator * cost
            if stays.all():
                return kept
            kept = kept[stays]

    def _holders(self, kept: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many of the sentences hold each bigram that the abstract lacks."""
        instance = self.instance
        return np.bincount(
            instance.others[_gather(instance.other_rows, kept)], minlength=len(instance.other_grams)
        ).astype(np.int64)

    def _own(self, kept: NDArray[np.int64]) -> NDArray[np.int64]:
        """Bigrams that the abstract lacks and one sentence alone holds, however the others are joined."""
        instance = self.instance
        lonely = self._holders(kept) == 1
        lonely &= ~(
            np.isin(instance.other_grams >> _WORD_BITS, instance.last[kept])
            & np.isin(instance.other_grams & _MASK, instance.first[kept])
        )
        sums = np.append(0, np.cumsum(lonely[instance.others]))
        return sums[instance.other_rows[kept + 1]] - sums[instance.other_rows[kept]]

    def chains(self, kept: NDArray[np.int64]) -> Chains:
        """The compiled search's view of these sentences, all of which have words."""
        instance = self.instance
        n = len(kept)
        rows = _gather_rows(instance.rows, kept)
        places = _gather(instance.rows, kept)
        first, last = instance.first[kept].astype(np.int64), instance.last[kept].astype(np.int64)
        begins, ends = self.begins, self.ends
        types = np.arange(len(begins), dtype=np.int64)
        own = instance.lengths[kept].astype(np.int64)
        leave = np.zeros(n)
        shared_rows, shared, shared_size = np.zeros(n + 1, np.int64), np.zeros(0, np.int64), 0
        other_rows, others = np.zeros(n + 1, np.int64), np.zeros(0, np.int32)
        pair_other = np.full(len(types), -1, np.int64)
        if self.unique:
            holders = self._holders(kept)
            other_begins, other_ends = instance.other_grams >> _WORD_BITS, instance.other_grams & _MASK
            inside = np.flatnonzero((holders > 0) & np.isin(other_begins, last) & np.isin(other_ends, first))
            multiple = holders > 1
            multiple[inside] = True
            other_rows, other_places = _gather_rows(instance.other_rows, kept), _gather(instance.other_rows, kept)
            others = instance.others[other_places]
            several = multiple[others]
            number = np.cumsum(multiple) - 1
            shared, shared_size = number[others[several]].astype(np.int64), int(multiple.sum())
            shared_rows = np.append(0, np.cumsum(several))[other_rows].astype(np.int64)
            own = np.diff(other_rows) - np.diff(shared_rows)
            twice = _repeatable(first, last)
            if twice is None:  # too many: every pair gets the price of its last word's rarest
                twice = np.zeros(0, np.int64)
                _, which, frequency = np.unique(last, return_inverse=True, return_counts=True)
                leave = 1.0 / frequency[which]
            else:
                leave = np.ones(n)
            twice = twice[~np.isin(twice, instance.grams) & ~np.isin(twice, instance.other_grams[inside])]
            begins = np.concatenate([begins, other_begins[inside], twice >> _WORD_BITS])
            ends = np.concatenate([ends, other_ends[inside], twice & _MASK])
            pair_other = np.concatenate([pair_other, number[inside], np.full(len(twice), -1)]).astype(np.int64)
            types = np.concatenate([types, np.full(len(inside) + len(twice), -1, np.int64)])
        usable = np.isin(begins, last) & np.isin(ends, first)
        begins, ends, types, pair_other = begins[usable], ends[usable], types[usable], pair_other[usable]
        last_words, first_words = np.unique(begins), np.unique(ends)
        last_class, first_class = _classes(last, last_words), _classes(first, first_words)
        from_class, to_class = np.searchsorted(last_words, begins), np.searchsorted(first_words, ends)
        into, out = np.argsort(to_class, kind="stable"), np.argsort(from_class, kind="stable")
        return Chains(
            own=own.astype(np.int64),
            rows=rows,
            types=instance.types[places],
            counts=self.counts[places],
            reference=instance.reference.astype(np.int64),
            last=last_class,
            first=first_class,
            into_rows=np.searchsorted(to_class[into], np.arange(len(first_words) + 1)).astype(np.int64),
            into_last=from_class[into].astype(np.int64),
            into_type=types[into],
            into_pair=into.astype(np.int64),
            out_rows=np.searchsorted(from_class[out], np.arange(len(last_words) + 1)).astype(np.int64),
            out_first=to_class[out].astype(np.int64),
            out_type=types[out],
            out_pair=out.astype(np.int64),
            pair_last=from_class.astype(np.int64),
            pair_first=to_class.astype(np.int64),
            pair_shared=pair_other,
            leave=leave,
            shared_rows=shared_rows,
            shared=shared,
            shared_size=shared_size,
            base=self.base,
            unique=self.unique,
            other_rows=other_rows,
            others=others,
            other_grams=instance.other_grams,
            grams=instance.grams,
            first_word=first,
            last_word=last,
        )


class _State:
    """One search under way: the candidates' graph and all that the search changes."""

    def __init__(self, chains: Chains, kept: NDArray[np.int64], best: _Best, multipliers: NDArray[np.float64]) -> None:
        self.chains, self.kept = chains, kept
        n, types, shared = len(kept), len(chains.reference), len(chains.shared)
        depths = int(max(2, min(n + 1, MOST_STORED // max(types + shared, 1))))
        numbers = np.zeros(7, np.int64)
        numbers[search.NUMERATOR], numbers[search.DENOMINATOR] = best.numerator, best.denominator
        self.search = Search(
            numbers=numbers,
            best=np.zeros(n, np.int64),
            status=np.zeros(n, np.int64),
            u=multipliers.copy(),
            v=np.ones(shared),
            branch=np.zeros(depths, np.int64),
            second=np.zeros(depths, np.int64),
            choice=np.zeros(depths, np.int64),
            marks=np.zeros(depths, np.int64),
            bounds=np.zeros(depths),
            us=np.zeros((depths, types), np.float32),
            vs=np.zeros((depths, shared), np.float32),
            trail=np.zeros(n, np.int64),
        )
        self.work: Work = search.work_space(chains, shared)
        looked_up = int(np.diff(chains.into_rows)[chains.first[chains.first >= 0]].sum())
        self.size = len(chains.types) + shared + looked_up + n + 1  # steps of one longest chain

    def root(self, late: Callable[[], bool]) -> float:
        """A bound on 2 h - λ c before any decision, minus infinity if nothing is better; what it excludes is out."""
        steps = min(ROOT_STEPS, max(1, SLICE // self.size))
        bound = math.inf
        for done in range(0, ROOT_STEPS, steps):
            if done and (late() or self.search.numbers[search.FOUND]):
                break
            bound, _ = search.lower(self.chains, self.search, self.work, steps)
            if bound == -math.inf:
                return bound
        if not self.search.numbers[search.FOUND]:
            bound, _ = search.fix(self.chains, self.search, self.work)
        return float(bound)

    def explore(self, nodes: int) -> tuple[bool, int]:
        """Whether the search has ended, and how many nodes it took; none where it has no room for more decisions."""
        before = int(self.search.numbers[search.NODES])
        most = min(nodes, max(1, SLICE // (NODE_STEPS * self.size)))
        done = search.explore(self.chains, self.search, self.work, most, NODE_STEPS)
        return done == search.DONE, int(self.search.numbers[search.NODES]) - before

    def ratio_bound(self) -> float:
        """No extract has an F1 above this."""
        return float(search.ratio_bound(self.chains, self.search, self.work))

    def open_bound(self) -> float:
        """The same from what the search has left open."""
        numbers = self.search.numbers
        depth = int(numbers[search.DEPTH])
        ahead = [self.search.bounds[level] for level in range(depth) if not self.search.second[level]]
        if depth:
            ahead.append(self.search.bounds[depth - 1])  # the node that comes next
        else:
            return 1.0
        price = numbers[search.NUMERATOR] / numbers[search.DENOMINATOR]
        return price + max(0.0, *ahead) / _least_denominator(self.chains, price)


def _least_denominator(chains: Chains, price: float) -> float:
    """The denominator of any extract with an F1 above the price: its matches are no more than its bigrams."""
    total = chains.base if chains.unique else chains.base + 1
    return max(2.0 * total / (2.0 - price), 1.0)


def _gather_rows(rows: NDArray[np.int64], kept: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.append(0, np.cumsum(rows[kept + 1] - rows[kept])).astype(np.int64)


def _gather(rows: NDArray[np.int64], kept: NDArray[np.int64]) -> NDArray[np.int64]:
    """Places of the rows' entries, one row after the other."""
    lengths = rows[kept + 1] - rows[kept]
    shift = rows[kept] - np.append(0, np.cumsum(lengths))[:-1]
    return np.repeat(shift, lengths) + np.arange(lengths.sum())


def _classes(words: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.int64]:
    place = np.searchsorted(known, words)
    inside = place < len(known)
    inside[inside] = known[place[inside]] == words[inside]
    return np.where(inside, place, -1).astype(np.int64)


def _repeatable(first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Bigrams between neighbours that a chain may have twice; None if they are too many."""
    words, counts = np.unique(last, return_counts=True)
    begins = words[counts > 1]
    words, counts = np.unique(first, return_counts=True)
    ends = words[counts > 1]
    if len(begins) * len(ends) > MOST_PAIRS:
        return None
    return ((begins[:, None] << _WORD_BITS) | ends[None, :]).ravel()


def _pairs(
    begins: NDArray[np.int64], ends: NDArray[np.int64], first: NDArray[np.int32], last: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The abstract's bigrams that begin with a last word and end with a first word."""
    usable = np.isin(begins, last) & np.isin(ends, first)
    return begins[usable], ends[usable]


def _sides(
    first: NDArray[np.int32], last: NDArray[np.int32], begins: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether a sentence has a partner somewhere before it, and one behind it."""
    size = int(max(first.max(initial=0), last.max(initial=0), begins.max(initial=0), ends.max(initial=0))) + 1
    n = len(first)
    earliest, latest = np.full(size, n), np.full(size, -1)
    np.minimum.at(earliest, last, np.arange(n))
    np.maximum.at(latest, first, np.arange(n))
    before, behind = np.full(size, n), np.full(size, -1)
    np.minimum.at(before, ends, earliest[begins])
    np.maximum.at(behind, begins, latest[ends])
    return before[first] < np.arange(n), behind[last] > np.arange(n)


@dataclass
class _Cut:
    """Chosen neighbours i and j bring a bigram that no chosen sentence holds."""

    price: int  # which of the added variables pays
    i: int
    j: int


def _mixed_integer(
    graph: _Graph, kept: NDArray[np.int64], best: _Best, deadline: float, clock: Callable[[], float]
) -> tuple[bool, float, int]:
    """Whether the best extract is proven, a bound on every F1, and HiGHS's nodes; `best` may improve."""
    cuts: list[_Cut] = []
    prices: dict[int, int] = {}  # bigram -> added variable
    nodes = 0
    bound = 1.0
    kept = graph.screen(kept, best.numerator, best.denominator)
    while True:
        if not len(kept):
            return True, best.numerator / best.denominator, nodes
        left = deadline - clock()
        if left <= 0 or len(kept) > 3000:
            return False, bound, nodes
        chains = graph.chains(kept)
        program = _program(graph, chains, kept, best, cuts, prices)
        if program is None:
            return False, bound, nodes
        cost, constraints, bounds, integral, constant = program
        options = {"mip_rel_gap": 0.0} | ({"time_limit": left} if left < math.inf else {})
        result = milp(cost, constraints=constraints, bounds=bounds, integrality=integral, options=options)
        price = best.numerator / best.denominator
        nodes += int(result.mip_node_count or 0)
        if result.mip_dual_bound is not None and math.isfinite(result.mip_dual_bound):
            top = constant - result.mip_dual_bound
            if top < 0.9 / best.denominator:
                return True, price, nodes
            bound = min(bound, price + (top + 1e-6) / _least_denominator(chains, price))
        if result.x is None:
            return False, bound, nodes
        chosen = np.flatnonzero(result.x[: len(kept)] > 0.5)
        better = best.offer(kept[chosen].tolist())
        added = _broken(graph, chains, kept, chosen, cuts, prices) if graph.unique else 0
        if better:
            again = graph.screen(kept, best.numerator, best.denominator)
            if len(again) < len(kept):
                kept, cuts, prices = again, [], {}
        elif not added:
            return False, bound, nodes


def _program(
    graph: _Graph, chains: Chains, kept: NDArray[np.int64], best: _Best, cuts: list[_Cut], prices: dict[int, int]
) -> tuple[NDArray[np.float64], LinearConstraint, Bounds, NDArray[np.int64], float] | None:
    """Minimise -(2 h - λ c) + constant; None where the pairs are too many.

    Columns: x (sentences), h (types), skip (hub k to hub k + 1), pairs, shared and added prices. One unit flows through
    the hubs 0..n: from hub s into sentence s and out to hub s + 1, or from i to j directly where the two make a bigram
    of the abstract.
    """
    n, types = len(kept), len(chains.reference)
    partners: dict[int, list[int]] = {}
    for j in range(n):
        if chains.first[j] >= 0:
            partners.setdefault(int(chains.first[j]), []).append(j)
    pairs: list[tuple[int, int, int]] = []
    for i in range(n):
        if chains.last[i] < 0:
            continue
        for place in range(chains.out_rows[chains.last[i]], chains.out_rows[chains.last[i] + 1]):
            t = int(chains.out_type[place])
            if t >= 0:
                pairs += [(i, j, t) for j in partners.get(int(chains.out_first[place]), []) if j > i]
        if len(pairs) > MOST_PAIRS:
            return None
    price = best.numerator / best.denominator
    worth = 2.0 - price if chains.unique else 2.0
    h, skip, pair, shared = n, n + types, 2 * n + types, 2 * n + types + len(pairs)
    extra = shared + chains.shared_size
    size = extra + len(prices)
    cost = np.zeros(size)
    cost[:n] = price * chains.own
    cost[h:skip] = -worth
    cost[shared:] = price
    upper = np.ones(size)
    upper[h:skip] = chains.reference
    row: list[int] = []
    column: list[int] = []
    number: list[float] = []
    low: list[float] = []
    high: list[float] = []

    def constraint(entries: list[tuple[int, float]], least: float, most: float) -> None:
        for where, factor in entries:
            row.append(len(low))
            column.append(where)
            number.append(factor)
        low.append(least)
        high.append(most)

    supply: list[list[tuple[int, float]]] = [[] for _ in range(types)]
    for s in range(n):
        for nonzero in range(chains.rows[s], chains.rows[s + 1]):
            supply[chains.types[nonzero]].append((s, -float(chains.counts[nonzero])))
    enter: list[list[tuple[int, float]]] = [[] for _ in range(n)]
    leave: list[list[tuple[int, float]]] = [[] for _ in range(n)]
    for index, (i, j, t) in enumerate(pairs):
        supply[t].append((pair + index, -1.0))
        leave[i].append((pair + index, -1.0))
        enter[j].append((pair + index, -1.0))
    for t in range(types):
        if supply[t]:
            constraint([(h + t, 1.0), *supply[t]], -np.inf, 0.0)
        else:
            upper[h + t] = 0.0
    for s in range(n):
        constraint([(s, 1.0), *enter[s]], 0.0, np.inf)
        constraint([(s, 1.0), *leave[s]], 0.0, np.inf)
        # hub s: what comes from hub s - 1 and from sentence s - 1 goes on to hub s + 1 or into sentence s
        inflow = [(skip + s - 1, 1.0), (s - 1, 1.0), *leave[s - 1]] if s else []
        outflow = [(skip + s, -1.0), (s, -1.0), *((where, 1.0) for where, _ in enter[s])]
        constraint([*inflow, *outflow], 0.0 if s else -1.0, 0.0 if s else -1.0)
        for nonzero in range(chains.shared_rows[s], chains.shared_rows[s + 1]):
            constraint([(shared + int(chains.shared[nonzero]), 1.0), (s, -1.0)], 0.0, np.inf)
    holding = _holding(graph, kept, prices)
    for cut in cuts:
        between = [(k, 1.0) for k in range(cut.i + 1, cut.j)]
        entries = dict([*between, (cut.i, -1.0), (cut.j, -1.0)])
        for s in holding[cut.price]:
            entries[s] = 1.0 if s not in (cut.i, cut.j) else 0.0
        constraint([(extra + cut.price, 1.0), *entries.items()], -1.0, np.inf)
    matrix = coo_array((number, (row, column)), shape=(len(low), size)).tocsr()
    integral = np.zeros(size, np.int64)
    integral[:n] = 1
    return cost, LinearConstraint(matrix, low, high), Bounds(np.zeros(size), upper), integral, -price * chains.base


def _holding(graph: _Graph, kept: NDArray[np.int64], prices: dict[int, int]) -> list[list[int]]:
    """For each added price the candidates that hold its bigram."""
    instance = graph.instance
    holding: list[list[int]] = [[] for _ in prices]
    if prices:
        for place, s in enumerate(kept):
            for other in instance.others[instance.other_rows[s] : instance.other_rows[s + 1]]:
                price = prices.get(int(instance.other_grams[other]))
                if price is not None:
                    holding[price].append(place)
    return holding


def _broken(
    graph: _Graph,
    chains: Chains,
    kept: NDArray[np.int64],
    chosen: NDArray[np.int64],
    cuts: list[_Cut],
    prices: dict[int, int],
) -> int:
    """Add the constraints that this choice breaks; how many are new."""
    known = {(cut.i, cut.j) for cut in cuts}
    added = 0
    for i, j in zip(chosen[:-1].tolist(), chosen[1:].tolist(), strict=True):
        key = (int(chains.last_word[i]) << _WORD_BITS) | int(chains.first_word[j])
        if (i, j) in known or search.position(chains.grams, key) >= 0:
            continue
        cuts.append(_Cut(prices.setdefault(key, len(prices)), i, j))
        added += 1
    return added

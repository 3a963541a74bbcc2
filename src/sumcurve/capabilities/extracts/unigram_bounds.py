"""Compiled bounds on the best ratio of covered words to cost: the proof behind `optimum`.

A set x of sentences has hits h(x) = Σ_w min(r_w, Σ_s c_ws x_s) and a cost D(x) = R + overlap h(x) + Σ_s l_s x_s + n(x)
with n(x) the number of cost types that x touches; `overlap` and cost types serve scorer `set` alone. To beat the ratio
a / b of the best set so far is to make the integer b h - a D positive (Dinkelbach, 1967, "On nonlinear fractional
programming"), so any bound on it below 1 is a proof.

The bounds are Lagrangian. min(p, q) ≤ (1 - m) p + m q for 0 ≤ m ≤ 1 parts a word's hits over the sentences. max_s x_s ≥
Σ_s g_s x_s, for shares g with a sum of at most 1, parts the cost of a type. What is left is a sum over sentences. The
multipliers m and g are integers over `scale` and all bounds are int64: no bound is rounded, whatever the subgradient
steps (Camerini, Fratta & Maffioli, 1975, "On improving relaxation methods by modified gradient techniques") make of
them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sumcurve.machine.compiled import njit

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
States = NDArray[np.int8]

FREE, OUT, IN = -1, 0, 1  # what a subproblem says of a sentence
FINE = 1 << 20  # denominator of the bounds that `ceiling` returns

_MEMORY = 0.1  # of the running mean of relaxed choices, which picks the sentence to branch on
_DEFLECTION = 0.7  # share of the last direction in the next
_SHARE_PACE = 3.0  # how much faster shares move than words


class Coverage(NamedTuple):
    """Sentences and what they cover. S sentences, W words of the abstract, N types that only cost."""

    rows: Integers  # [S + 1] rows of `types` and `counts`
    types: Integers  # words of the abstract in each sentence, ascending in a row
    counts: Integers  # how often, at most as often as in the abstract
    lengths: Integers  # [S] what a sentence costs by itself
    other_rows: Integers  # [S + 1] rows of `others`
    others: Integers  # the cost types in each sentence, ascending in a row
    reference: Integers  # [W] how often the abstract has each word
    other_size: int  # N
    total: int  # R
    overlap: int  # 1: hits cost, too (scorer `set`); 0: lengths count them already


class Multipliers(NamedTuple):
    words: Integers  # [W] between 0 and scale
    shares: Integers  # [len(others)] not negative


class Free(NamedTuple):
    """The free sentences of a subproblem and what each adds to the demanded ones; arrays have room for all S."""

    ids: Integers
    costs: Integers  # what each costs by itself
    begins: Integers  # rows of `words` and `counts`
    words: Integers
    counts: Integers
    other_begins: Integers  # rows of `entries`
    entries: Integers  # places of `others` whose type is shared by two free sentences or more
    room: Integers  # [W] what the demanded sentences leave of the abstract
    use: Integers  # [N] free sentences with a cost type; -1: paid already


class Relaxed(NamedTuple):
    """The choice of every free sentence by itself, at some multipliers."""

    scores: Integers  # of the free sentences; one above 0 is chosen
    have: Integers  # [W] what the choice covers
    taken: Integers  # [N] how many chosen sentences have a shared cost type
    shared: Integers  # [N] sums of shares
    mean: Floats  # [S] running mean of the choice


class Direction(NamedTuple):
    words: Floats  # [W]
    shares: Floats  # [len(others)]


class Best(NamedTuple):
    """The best set so far; the kernels update it in place."""

    ratio: Integers  # [4] a, b, hits, cost: a / b is hits / cost in lowest terms
    chosen: States  # [S]


@njit(cache=True)
def demand(
    coverage: Coverage, state: States, room: Integers, use: Integers
) -> tuple[int, int]:  # pragma: no cover (compiled)
    """(hits, cost without `overlap`) of the demanded sentences; fills `room` and `use` as `Free` has them."""
    rows, types, other_rows, others = coverage.rows, coverage.types, coverage.other_rows, coverage.others
    room[:] = coverage.reference
    use[:] = 0
    cost = coverage.total
    for s in range(len(state)):
        if state[s] == IN:
            cost += coverage.lengths[s]
            for p in range(rows[s], rows[s + 1]):
                room[types[p]] = max(0, room[types[p]] - coverage.counts[p])
            for p in range(other_rows[s], other_rows[s + 1]):
                if use[others[p]] == 0:
                    use[others[p]] = -1
                    cost += 1
    for s in range(len(state)):
        if state[s] == FREE:
            for p in range(other_rows[s], other_rows[s + 1]):
                if use[others[p]] >= 0:
                    use[others[p]] += 1
    hits = 0
    for w in range(len(room)):
        hits += coverage.reference[w] - room[w]
    return hits, cost


@njit(cache=True)
def gather(coverage: Coverage, state: States, free: Free, a: int, b: int) -> int:  # pragma: no cover (compiled)
    """Fill `free` but for costs; how many sentences are free. One that cannot help is out, and its use forgotten."""
    rows, other_rows, others = coverage.rows, coverage.other_rows, coverage.others
    size, filled = 0, 0
    for s in range(len(state)):
        if state[s] != FREE:
            continue
        begin, gain, alone = filled, np.int64(0), coverage.lengths[s]
        for p in range(rows[s], rows[s + 1]):
            left = free.room[coverage.types[p]]
            if left > 0:
                free.words[filled] = coverage.types[p]
                free.counts[filled] = min(coverage.counts[p], left)
                gain += free.counts[filled]
                filled += 1
        for p in range(other_rows[s], other_rows[s + 1]):
            if free.use[others[p]] == 1:
                alone += 1
        if (b - coverage.overlap * a) * gain - a * alone <= 0:  # beside any other sentences it adds still less
            state[s] = OUT
            filled = begin
            for p in range(other_rows[s], other_rows[s + 1]):
                if free.use[others[p]] > 0:
                    free.use[others[p]] -= 1
            continue
        free.ids[size], free.begins[size] = s, begin
        size += 1
    free.begins[size] = filled
    return size


@njit(cache=True)
def price(coverage: Coverage, free: Free, size: int) -> int:  # pragma: no cover (compiled)
    """Fill the costs of `free`; how many entries have a type that free sentences share."""
    filled = 0
    for i in range(size):
        s = free.ids[i]
        free.costs[i], free.other_begins[i] = coverage.lengths[s], filled
        for p in range(coverage.other_rows[s], coverage.other_rows[s + 1]):
            t = coverage.others[p]
            if free.use[t] == 1:
                free.costs[i] += 1
            elif free.use[t] > 1:
                free.entries[filled] = p
                filled += 1
    free.other_begins[size] = filled
    return filled


@njit(cache=True)
def share_out(
    shares: Integers, entries: Integers, others: Integers, use: Integers, shared: Integers, scale: int
) -> int:  # pragma: no cover (compiled)
    """Scale the shares of every cost type to a sum of `scale`; by how much rounding leaves sums above it."""
    shared[:] = 0
    for p in entries:
        shared[others[p]] += shares[p]
    for p in entries:
        t = others[p]
        shares[p] = scale // use[t] if shared[t] <= 0 else np.int64(shares[p] * (scale / shared[t]))
    shared[:] = 0
    excess = 0
    for p in entries:
        t = others[p]
        before = max(shared[t], scale)
        shared[t] += shares[p]
        excess += max(shared[t], scale) - before
    return excess


@njit(cache=True)
def relax(
    coverage: Coverage,
    free: Free,
    size: int,
    multipliers: Multipliers,
    relaxed: Relaxed,
    base: tuple[int, int, int],
    ratio: tuple[int, int],
    scale: int,
) -> tuple[np.int64, int]:  # pragma: no cover (compiled)
    """(a bound on `scale` (b h - a D), the relaxed choice's cost without `overlap`); fills `relaxed`.

    `base`: hits and cost of the demanded sentences, and by how much shares exceed `scale`. Each free sentence is
    chosen by itself, by its score.
    """
    words, shares, others = multipliers.words, multipliers.shares, coverage.others
    ids, costs, begins, word, count = free.ids, free.costs, free.begins, free.words, free.counts
    other_begins, entries, room = free.other_begins, free.entries, free.room
    scores, have, taken, mean = relaxed.scores, relaxed.have, relaxed.taken, relaxed.mean
    (hits, cost, excess), (a, b) = base, ratio
    worth = b - coverage.overlap * a
    bound = np.int64(0)
    for w in range(len(room)):
        bound += room[w] * (scale - words[w])
        have[w] = 0
    bound = worth * bound + scale * (worth * hits - a * cost) + a * excess
    for e in range(other_begins[size]):
        taken[others[entries[e]]] = 0
    for i in range(size):
        score, paid = np.int64(0), np.int64(0)
        for p in range(begins[i], begins[i + 1]):
            score += words[word[p]] * count[p]
        for e in range(other_begins[i], other_begins[i + 1]):
            paid += shares[entries[e]]
        score = worth * score - a * (scale * costs[i] + paid)
        scores[i] = score
        s = ids[i]
        if score > 0:
            bound += score
            cost += costs[i]
            for p in range(begins[i], begins[i + 1]):
                have[word[p]] += count[p]
            for e in range(other_begins[i], other_begins[i + 1]):
                t = others[entries[e]]
                if taken[t] == 0:
                    cost += 1
                taken[t] += 1
            mean[s] += _MEMORY * (1 - mean[s])
        else:
            mean[s] -= _MEMORY * mean[s]
    return bound, cost


@njit(cache=True)
def settle(
    state: States, free: Free, size: int, scores: Integers, slack: np.int64
) -> int:  # pragma: no cover (compiled)
    """Settle the free sentences whose other choice would cost more than the bound has to spare; how many."""
    settled = 0
    for i in range(size):
        if (scores[i] > slack or -scores[i] > slack) and state[free.ids[i]] == FREE:
            state[free.ids[i]] = IN if scores[i] > 0 else OUT
            settled += 1
    return settled


@njit(cache=True)
def turn(
    coverage: Coverage,
    free: Free,
    size: int,
    multipliers: Multipliers,
    relaxed: Relaxed,
    direction: Direction,
    ratio: tuple[int, int],
    scale: int,
) -> float:  # pragma: no cover (compiled)
    """Deflect the direction to the subgradient, without what leaves the multipliers' range; its squared length."""
    words, shares, others = multipliers.words, multipliers.shares, coverage.others
    other_begins, entries, room, use = free.other_begins, free.entries, free.room, free.use
    scores, have, taken = relaxed.scores, relaxed.have, relaxed.taken
    word_step, share_step = direction.words, direction.shares
    a, b = ratio
    worth = b - coverage.overlap * a
    norm = 0.0
    for w in range(len(room)):
        for part in range(2):
            if part == 0:
                move = float(worth * (room[w] - have[w]))
            else:
                move += _DEFLECTION * word_step[w]
            if (words[w] <= 0 and move < 0) or (words[w] >= scale and move > 0):
                move = 0.0
        word_step[w] = move
        norm += move * move
    for i in range(size):
        choice = 1.0 if scores[i] > 0 else 0.0
        for e in range(other_begins[i], other_begins[i + 1]):
            p, t = entries[e], others[entries[e]]
            move = _SHARE_PACE * a * (choice - taken[t] / use[t]) + _DEFLECTION * share_step[p]
            if shares[p] <= 0 and move < 0:
                move = 0.0
            share_step[p] = move
            norm += move * move
    return norm


@njit(cache=True)
def move(
    multipliers: Multipliers, direction: Direction, entries: Integers, stride: float, scale: int
) -> None:  # pragma: no cover (compiled)
    """Step along the direction, within 0 and `scale`."""
    words, shares = multipliers.words, multipliers.shares
    for w in range(len(words)):
        words[w] = int(min(scale, max(0.0, words[w] + stride * direction.words[w])))
    for p in entries:
        shares[p] = int(min(scale, max(0.0, shares[p] + stride * direction.shares[p])))


@njit(cache=True)
def ceiling(
    coverage: Coverage, state: States, multipliers: Multipliers, best: Best, scale: int
) -> int:  # pragma: no cover (compiled)
    """An integer p, at most FINE, such that no set of the subproblem has hits / cost above p / FINE."""
    rows, types, other_rows, others = coverage.rows, coverage.types, coverage.other_rows, coverage.others
    overlap, size = coverage.overlap, len(state)
    room = np.empty_like(coverage.reference)
    use = np.empty(coverage.other_size, np.int64)
    shared = np.zeros(coverage.other_size, np.int64)
    base_hits, base_cost = demand(coverage, state, room, use)
    base_hits *= scale
    for w in range(len(room)):
        base_hits += room[w] * (scale - multipliers.words[w])
    base_cost *= scale
    gains = np.zeros(size, np.int64)
    costs = np.zeros(size, np.int64)
    for s in range(size):
        if state[s] == FREE:
            costs[s] = scale * coverage.lengths[s]
            for p in range(rows[s], rows[s + 1]):
                gains[s] += multipliers.words[types[p]] * min(room[types[p]], coverage.counts[p])
            for p in range(other_rows[s], other_rows[s + 1]):
                t = others[p]
                if use[t] == 1:
                    costs[s] += scale
                elif use[t] > 1:
                    share = min(multipliers.shares[p], scale - shared[t])
                    shared[t] += share
                    costs[s] += share
    ratio = best.ratio[0] / best.ratio[1]
    for _ in range(50):
        hits, cost = base_hits, base_cost
        for s in range(size):
            if (1 - overlap * ratio) * gains[s] > ratio * costs[s]:
                hits += gains[s]
                cost += costs[s]
        cost += overlap * hits
        if hits <= ratio * cost:
            break
        ratio = hits / cost
    p = int(ratio * FINE)
    while p < FINE:
        worth = FINE - overlap * p
        bound = worth * base_hits - p * base_cost
        for s in range(size):
            bound += max(0, worth * gains[s] - p * costs[s])
        if bound <= 0:
            break
        p += 1
    return p

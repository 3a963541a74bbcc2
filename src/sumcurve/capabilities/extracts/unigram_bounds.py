"""Compiled bounds on the best ratio of covered words to cost: the proof behind `optimum`.

A set x of sentences has hits h(x) = Σ_w min(r_w, Σ_s c_ws x_s) and a cost D(x) = R + Σ_s l_s x_s. To beat the ratio
a / b of the best set so far means to make the integer b h - a D positive (Dinkelbach, 1967, "On nonlinear fractional
programming"), so any bound on it below 1 is a proof.

The bounds are Lagrangian. min(p, q) ≤ (1 - m) p + m q for 0 ≤ m ≤ 1 divides a word's hits over the sentences, and the
rest is a sum over sentences. The multipliers m are integers over `scale` and all bounds are int64: no bound is rounded
after any subgradient steps (Camerini, Fratta & Maffioli, 1975, "On improving relaxation methods by modified gradient
techniques").
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sumcurve.numerics.compiled import njit

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
States = NDArray[np.int8]

FREE, OUT, IN = -1, 0, 1  # states of a sentence in a subproblem
FINE = 1 << 20  # denominator of the bounds that `ceiling` returns

_MEMORY = 0.1  # of the running mean of relaxed choices, which picks the sentence to branch on
_DEFLECTION = 0.7  # share of the last direction in the next


class Coverage(NamedTuple):
    """Sentences and the words that they cover. S sentences, W words of the abstract."""

    rows: Integers  # [S + 1] rows of `types` and `counts`
    types: Integers  # words of the abstract in each sentence, ascending in a row
    counts: Integers  # how often, at most as often as in the abstract
    lengths: Integers  # [S] cost of each sentence
    reference: Integers  # [W] the abstract's count of each word
    total: int  # R


class Free(NamedTuple):
    """The free sentences of a subproblem and their additions to the demanded ones; arrays have room for all S."""

    ids: Integers
    begins: Integers  # rows of `words` and `counts`
    words: Integers
    counts: Integers
    room: Integers  # [W] the abstract's counts not covered by the demanded sentences


class Relaxed(NamedTuple):
    """The choice of every free sentence by itself, at some multipliers."""

    scores: Integers  # of the free sentences; one above 0 is chosen
    have: Integers  # [W] words covered by the choice
    mean: Floats  # [S] running mean of the choice


class Best(NamedTuple):
    """The best set so far; the kernels update it in place."""

    ratio: Integers  # [4] a, b, hits, cost: a / b is hits / cost in lowest terms
    chosen: States  # [S]


@njit(cache=True)
def demand(coverage: Coverage, state: States, room: Integers) -> tuple[int, int]:  # pragma: no cover (compiled)
    """(hits, cost) of the demanded sentences; fills `room` as described in `Free`."""
    rows, types = coverage.rows, coverage.types
    room[:] = coverage.reference
    cost = coverage.total
    for s in range(len(state)):
        if state[s] == IN:
            cost += coverage.lengths[s]
            for p in range(rows[s], rows[s + 1]):
                room[types[p]] = max(0, room[types[p]] - coverage.counts[p])
    hits = 0
    for w in range(len(room)):
        hits += coverage.reference[w] - room[w]
    return hits, cost


@njit(cache=True)
def gather(coverage: Coverage, state: States, free: Free, a: int, b: int) -> int:  # pragma: no cover (compiled)
    """Fill `free`; returns the number of free sentences. A sentence that cannot help is excluded."""
    rows = coverage.rows
    size, filled = 0, 0
    for s in range(len(state)):
        if state[s] != FREE:
            continue
        begin, gain = filled, np.int64(0)
        for p in range(rows[s], rows[s + 1]):
            left = free.room[coverage.types[p]]
            if left > 0:
                free.words[filled] = coverage.types[p]
                free.counts[filled] = min(coverage.counts[p], left)
                gain += free.counts[filled]
                filled += 1
        if b * gain - a * coverage.lengths[s] <= 0:  # beside any other sentences it adds still less
            state[s] = OUT
            filled = begin
            continue
        free.ids[size], free.begins[size] = s, begin
        size += 1
    free.begins[size] = filled
    return size


@njit(cache=True)
def relax(
    coverage: Coverage,
    free: Free,
    size: int,
    multipliers: Integers,
    relaxed: Relaxed,
    base: tuple[int, int],
    ratio: tuple[int, int],
    scale: int,
) -> tuple[np.int64, int]:  # pragma: no cover (compiled)
    """(a bound on `scale` (b h - a D), the relaxed choice's cost); fills `relaxed`.

    `base`: hits and cost of the demanded sentences. Each free sentence is chosen by itself, by its score.
    """
    ids, begins, word, count, room = free.ids, free.begins, free.words, free.counts, free.room
    scores, have, mean, lengths = relaxed.scores, relaxed.have, relaxed.mean, coverage.lengths
    (hits, cost), (a, b) = base, ratio
    bound = np.int64(0)
    for w in range(len(room)):
        bound += room[w] * (scale - multipliers[w])
        have[w] = 0
    bound = b * bound + scale * (b * hits - a * cost)
    for i in range(size):
        score, s = np.int64(0), ids[i]
        for p in range(begins[i], begins[i + 1]):
            score += multipliers[word[p]] * count[p]
        score = b * score - a * (scale * lengths[s])
        scores[i] = score
        if score > 0:
            bound += score
            cost += lengths[s]
            for p in range(begins[i], begins[i + 1]):
                have[word[p]] += count[p]
            mean[s] += _MEMORY * (1 - mean[s])
        else:
            mean[s] -= _MEMORY * mean[s]
    return bound, cost


@njit(cache=True)
def settle(
    state: States, free: Free, size: int, scores: Integers, slack: np.int64
) -> int:  # pragma: no cover (compiled)
    """Settle the free sentences whose other choice would cost more than the bound's slack; returns their number."""
    settled = 0
    for i in range(size):
        if (scores[i] > slack or -scores[i] > slack) and state[free.ids[i]] == FREE:
            state[free.ids[i]] = IN if scores[i] > 0 else OUT
            settled += 1
    return settled


@njit(cache=True)
def turn(
    room: Integers, have: Integers, multipliers: Integers, direction: Floats, b: int, scale: int
) -> float:  # pragma: no cover (compiled)
    """Deflect the direction to the subgradient, within the multipliers' range; returns its squared length."""
    norm = 0.0
    for w in range(len(room)):
        for part in range(2):
            if part == 0:
                move = float(b * (room[w] - have[w]))
            else:
                move += _DEFLECTION * direction[w]
            if (multipliers[w] <= 0 and move < 0) or (multipliers[w] >= scale and move > 0):
                move = 0.0
        direction[w] = move
        norm += move * move
    return norm


@njit(cache=True)
def move(multipliers: Integers, direction: Floats, stride: float, scale: int) -> None:  # pragma: no cover (compiled)
    """Step along the direction, within 0 and `scale`."""
    for w in range(len(multipliers)):
        multipliers[w] = int(min(scale, max(0.0, multipliers[w] + stride * direction[w])))


@njit(cache=True)
def ceiling(
    coverage: Coverage, state: States, multipliers: Integers, best: Best, scale: int
) -> int:  # pragma: no cover (compiled)
    """An integer p, at most FINE, such that no set of the subproblem has hits / cost above p / FINE."""
    rows, types, size = coverage.rows, coverage.types, len(state)
    room = np.empty_like(coverage.reference)
    base_hits, base_cost = demand(coverage, state, room)
    base_hits *= scale
    for w in range(len(room)):
        base_hits += room[w] * (scale - multipliers[w])
    base_cost *= scale
    gains = np.zeros(size, np.int64)
    costs = np.zeros(size, np.int64)
    for s in range(size):
        if state[s] == FREE:
            costs[s] = scale * coverage.lengths[s]
            for p in range(rows[s], rows[s + 1]):
                gains[s] += multipliers[types[p]] * min(room[types[p]], coverage.counts[p])
    ratio = best.ratio[0] / best.ratio[1]
    for _ in range(50):
        hits, cost = base_hits, base_cost
        for s in range(size):
            if gains[s] > ratio * costs[s]:
                hits += gains[s]
                cost += costs[s]
        if hits <= ratio * cost:
            break
        ratio = hits / cost
    p = int(ratio * FINE)
    while p < FINE:
        bound = FINE * base_hits - p * base_cost
        for s in range(size):
            bound += max(0, FINE * gains[s] - p * costs[s])
        if bound <= 0:
            break
        p += 1
    return p

"""Compiled branch and bound for the best ratio of covered words to cost: subproblems in depth-first order.

`unigram_bounds` has the bounds; this module has the search for better sets and the settling of sentences.
"""

import numpy as np
from numpy.typing import NDArray

from sumcurve.capabilities.extracts.unigram_bounds import (
    FREE,
    IN,
    OUT,
    Best,
    Coverage,
    Floats,
    Free,
    Integers,
    Relaxed,
    States,
    demand,
    gather,
    move,
    relax,
    settle,
    turn,
)
from sumcurve.numerics.compiled import njit

PRUNED = -1
_AIM = 0.5  # the value that a step aims at: below 1, so that a subproblem that can be pruned is
_HUGE = 1 << 62


@njit(cache=True)
def _gcd(first: int, second: int) -> int:  # pragma: no cover (compiled)
    while second:
        first, second = second, first % second
    return first


@njit(cache=True)
def record(best: Best, chosen: States, hits: int, cost: int) -> bool:  # pragma: no cover (compiled)
    """Keep this set if it is better than the best; returns True if it is."""
    ratio = best.ratio
    if ratio[1] * hits - ratio[0] * cost <= 0:
        return False
    divisor = _gcd(hits, cost)
    ratio[0], ratio[1], ratio[2], ratio[3] = hits // divisor, cost // divisor, hits, cost
    best.chosen[:] = chosen
    return True


@njit(cache=True)
def measure(coverage: Coverage, chosen: States) -> tuple[int, int]:  # pragma: no cover (compiled)
    """(hits, cost) of a set, counted from scratch."""
    have = np.zeros(len(coverage.reference), np.int64)
    hits, cost = 0, coverage.total
    for s in range(len(coverage.lengths)):
        if chosen[s] == IN:
            cost += coverage.lengths[s]
            for p in range(coverage.rows[s], coverage.rows[s + 1]):
                have[coverage.types[p]] += coverage.counts[p]
    for w in range(len(have)):
        hits += min(have[w], coverage.reference[w])
    return hits, cost


@njit(cache=True)
def polish(coverage: Coverage, state: States, chosen: States, best: Best) -> None:  # pragma: no cover (compiled)
    """Add the sentence that raises b h - a D most, or else drop or swap, until no change helps; `chosen` is changed.

    Sentences excluded by `state` are not added, demanded ones are not dropped. `best` is updated.
    """
    rows, types, counts, lengths = coverage.rows, coverage.types, coverage.counts, coverage.lengths
    reference, size = coverage.reference, len(lengths)
    have = np.zeros(len(reference), np.int64)
    for s in range(size):
        if chosen[s] == IN:
            for p in range(rows[s], rows[s + 1]):
                have[types[p]] += counts[p]
    hits, cost = measure(coverage, chosen)
    record(best, chosen, hits, cost)
    while True:
        a, b = best.ratio[0], best.ratio[1]
        most, drop, add = np.int64(0), -1, -1
        for out in range(-1, size):
            base = np.int64(0)
            if out >= 0:
                if most > 0 and add >= 0 and drop < 0:
                    break  # swaps wait until nothing is left to add
                if chosen[out] != IN or state[out] == IN:
                    continue
                base = a * lengths[out]
                for p in range(rows[out], rows[out + 1]):
                    w = types[p]
                    before = min(have[w], reference[w])
                    have[w] -= counts[p]
                    base += b * (min(have[w], reference[w]) - before)
                if base > most:
                    most, drop, add = base, out, -1
            for s in range(size):
                if chosen[s] == IN or state[s] == OUT:
                    continue
                gain = base - a * lengths[s]
                for p in range(rows[s], rows[s + 1]):
                    room = reference[types[p]] - have[types[p]]
                    if room > 0:
                        gain += b * min(room, counts[p])
                if gain > most:
                    most, drop, add = gain, out, s
            if out >= 0:
                for p in range(rows[out], rows[out + 1]):
                    have[types[p]] += counts[p]
        if most <= 0:
            return
        for s, sign in ((drop, -1), (add, 1)):
            if s >= 0:
                chosen[s] = IN if sign > 0 else OUT
                for p in range(rows[s], rows[s + 1]):
                    have[types[p]] += sign * counts[p]
        hits, cost = measure(coverage, chosen)
        record(best, chosen, hits, cost)


@njit(cache=True)
def dominators(coverage: Coverage, state: States) -> Integers:  # pragma: no cover (compiled)
    """Pairs [., 2] (s, t) of free sentences: t covers all that s covers and costs no more, so s serves only beside t.

    Of two equal sentences, the first is t. Some best set respects all pairs: swap s for t where it does not.
    """
    rows, types, counts = coverage.rows, coverage.types, coverage.counts
    pairs = np.empty((256, 2), np.int64)
    size = 0
    for s in range(len(state)):
        for t in range(len(state)):
            if s == t or state[s] != FREE or state[t] != FREE or coverage.lengths[t] > coverage.lengths[s]:
                continue
            mine, theirs = rows[s + 1] - rows[s], rows[t + 1] - rows[t]
            if mine > theirs:
                continue
            equal = coverage.lengths[t] == coverage.lengths[s] and mine == theirs
            covered = True
            q = rows[t]
            for p in range(rows[s], rows[s + 1]):
                while q < rows[t + 1] and types[q] < types[p]:
                    q += 1
                if q == rows[t + 1] or types[q] != types[p] or counts[q] < counts[p]:
                    covered = False
                    break
                equal = equal and counts[q] == counts[p]
            if not covered or (equal and t > s):
                continue
            if size == len(pairs):
                more = np.empty((2 * size, 2), np.int64)
                more[:size] = pairs
                pairs = more
            pairs[size, 0], pairs[size, 1] = s, t
            size += 1
    return pairs[:size].copy()


@njit(cache=True)
def _follow_pairs(pairs: Integers, state: States) -> bool:  # pragma: no cover (compiled)
    """Settle sentences by the dominators' pairs: s needs t. False if a demanded sentence needs an excluded one."""
    changed = True
    while changed:
        changed = False
        for k in range(len(pairs)):
            s, t = pairs[k, 0], pairs[k, 1]
            if state[t] == OUT and state[s] != OUT:
                if state[s] == IN:
                    return False
                state[s] = OUT
                changed = True
            elif state[s] == IN and state[t] == FREE:
                state[t] = IN
                changed = True
    return True


@njit(cache=True)
def _descend(
    coverage: Coverage,
    state: States,
    free: Free,
    size: int,
    multipliers: Integers,
    relaxed: Relaxed,
    direction: Floats,
    base: tuple[int, int],
    best: Best,
    scale: int,
    steps: int,
    every: int,
) -> int:  # pragma: no cover (compiled)
    """Run subgradient steps from `multipliers`, which get the best; returns the sentences settled, or PRUNED."""
    room, have = free.room, relaxed.have
    trial = multipliers.copy()
    direction[:] = 0
    a, b = best.ratio[0], best.ratio[1]
    lowest, pace, stalled, settled = np.int64(_HUGE), 1.0, 0, 0
    for step in range(steps):
        bound, cost = relax(coverage, free, size, trial, relaxed, base, (a, b), scale)
        if bound < scale:
            return PRUNED
        hits = base[0]
        for w in range(len(room)):
            hits += min(room[w], have[w])
        better = b * hits - a * cost > 0
        if better or (every > 0 and step % every == every - 1):
            chosen = np.where(state == IN, np.int8(IN), np.int8(OUT))
            for i in range(size):
                if relaxed.scores[i] > 0:
                    chosen[free.ids[i]] = IN
            polish(coverage, state, chosen, best)
            if best.ratio[0] != a or best.ratio[1] != b:
                a, b = best.ratio[0], best.ratio[1]
                lowest = np.int64(_HUGE)
                continue
        settled += settle(state, free, size, relaxed.scores, bound - scale)
        if bound < lowest:
            lowest, stalled = bound, 0
            multipliers[:] = trial
        else:
            stalled += 1
            if stalled == 10:
                pace, stalled = 0.6 * pace, 0
                trial[:] = multipliers
                if pace < 0.02:
                    break
        norm = turn(room, have, trial, direction, b, scale)
        if norm == 0:
            break
        move(trial, direction, pace * (bound - _AIM * scale) / norm, scale)
    return settled


@njit(cache=True)
def _contested(coverage: Coverage, state: States, mean: Floats) -> int:  # pragma: no cover (compiled)
    """The free sentence on which relaxed choices disagree most, by its weight; PRUNED where none is free."""
    branch, most = PRUNED, -1.0
    for s in range(len(state)):
        if state[s] == FREE:
            contested = min(mean[s], 1 - mean[s]) * coverage.lengths[s]
            if contested > most:
                branch, most = s, contested
    return branch


@njit(cache=True)
def examine(
    coverage: Coverage,
    pairs: Integers,
    state: States,
    multipliers: Integers,
    best: Best,
    scale: int,
    steps: int,
    rounds: int,
    every: int,
) -> int:  # pragma: no cover (compiled)
    """Bound a subproblem. Returns the sentence to branch on, or PRUNED if no set in it beats `best`.

    `state` gets the sentences that are settled, `multipliers` better values, `best` any better set found. At
    most `rounds` times `steps` subgradient steps; every `every` steps (0: never) the relaxed choice is polished.
    """
    size, width, many = len(coverage.lengths), len(coverage.reference), len(coverage.types)
    free = Free(
        np.empty(size, np.int64),
        np.empty(size + 1, np.int64),
        np.empty(many, np.int64),
        np.empty(many, np.int64),
        np.empty(width, np.int64),
    )
    relaxed = Relaxed(np.empty(size, np.int64), np.empty(width, np.int64), np.zeros(size))
    direction = np.zeros(width)
    for _ in range(rounds):
        if not _follow_pairs(pairs, state):
            return PRUNED
        base = demand(coverage, state, free.room)
        demanded = np.where(state == IN, np.int8(IN), np.int8(OUT))
        record(best, demanded, base[0], base[1])
        count = gather(coverage, state, free, best.ratio[0], best.ratio[1])
        if count == 0:
            return PRUNED
        settled = _descend(
            coverage, state, free, count, multipliers, relaxed, direction, base, best, scale, steps, every
        )
        if settled == PRUNED:
            return PRUNED
        if settled * 8 < count:
            break
    return _contested(coverage, state, relaxed.mean)


@njit(cache=True)
def explore(
    coverage: Coverage,
    pairs: Integers,
    states: States,
    words: NDArray[np.int32],
    best: Best,
    scale: int,
    steps: int,
    waiting: int,
    nodes: int,
) -> tuple[int, int]:  # pragma: no cover (compiled)
    """Depth first through the open subproblems, rows [0, waiting) of `states` and `words`.

    Ends when none is open, after `nodes` subproblems, or when the rows are full. Returns (open subproblems, nodes
    used).
    """
    own = np.empty(words.shape[1], np.int64)  # multipliers
    used = 0
    while 0 < waiting < len(states) and used < nodes:
        used += 1
        row = waiting - 1
        own[:] = words[row]
        branch = examine(coverage, pairs, states[row], own, best, scale, steps, 3, 0)
        if branch == PRUNED:
            waiting -= 1
            continue
        words[row] = own
        words[waiting] = own
        states[waiting] = states[row]
        states[row, branch] = OUT
        states[waiting, branch] = IN
        waiting += 1
    return waiting, used

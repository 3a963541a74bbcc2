"""Compiled branch and bound for the best ratio of covered words to cost: subproblems in depth-first order.

`unigram_bounds` has the bounds. Here are the search for better sets and what settles sentences.
"""

import numpy as np
from numpy.typing import NDArray

from sumcurve.capabilities.extracts.unigram_bounds import (
    FREE,
    IN,
    OUT,
    Best,
    Coverage,
    Direction,
    Floats,
    Free,
    Integers,
    Multipliers,
    Relaxed,
    States,
    demand,
    gather,
    move,
    price,
    relax,
    settle,
    share_out,
    turn,
)
from sumcurve.machine.compiled import njit

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
    """Keep this set if it is better than the best; whether it is."""
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
    paid = np.zeros(coverage.other_size, np.int64)
    hits, cost = 0, coverage.total
    for s in range(len(coverage.lengths)):
        if chosen[s] == IN:
            cost += coverage.lengths[s]
            for p in range(coverage.rows[s], coverage.rows[s + 1]):
                have[coverage.types[p]] += coverage.counts[p]
            for p in range(coverage.other_rows[s], coverage.other_rows[s + 1]):
                paid[coverage.others[p]] = 1
    for w in range(len(have)):
        hits += min(have[w], coverage.reference[w])
    return hits, cost + paid.sum() + coverage.overlap * hits


@njit(cache=True)
def polish(coverage: Coverage, state: States, chosen: States, best: Best) -> None:  # pragma: no cover (compiled)
    """Add the sentence that raises b h - a D most, or else drop or swap, until nothing does; `chosen` is changed.

    Sentences that `state` excludes are not added, those that it demands are not dropped. `best` is kept up to date.
    """
    rows, types, counts, lengths = coverage.rows, coverage.types, coverage.counts, coverage.lengths
    other_rows, others, reference = coverage.other_rows, coverage.others, coverage.reference
    size = len(lengths)
    have = np.zeros(len(reference), np.int64)
    paid = np.zeros(coverage.other_size, np.int64)
    for s in range(size):
        if chosen[s] == IN:
            for p in range(rows[s], rows[s + 1]):
                have[types[p]] += counts[p]
            for p in range(other_rows[s], other_rows[s + 1]):
                paid[others[p]] += 1
    hits, cost = measure(coverage, chosen)
    record(best, chosen, hits, cost)
    while True:
        a, b = best.ratio[0], best.ratio[1]
        worth = b - coverage.overlap * a
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
                    base += worth * (min(have[w], reference[w]) - before)
                for p in range(other_rows[out], other_rows[out + 1]):
                    paid[others[p]] -= 1
                    if paid[others[p]] == 0:
                        base += a
                if base > most:
                    most, drop, add = base, out, -1
            for s in range(size):
                if chosen[s] == IN or state[s] == OUT:
                    continue
                gain = base - a * lengths[s]
                for p in range(rows[s], rows[s + 1]):
                    room = reference[types[p]] - have[types[p]]
                    if room > 0:
                        gain += worth * min(room, counts[p])
                if gain > most:
                    for p in range(other_rows[s], other_rows[s + 1]):
                        if paid[others[p]] == 0:
                            gain -= a
                    if gain > most:
                        most, drop, add = gain, out, s
            if out >= 0:
                for p in range(rows[out], rows[out + 1]):
                    have[types[p]] += counts[p]
                for p in range(other_rows[out], other_rows[out + 1]):
                    paid[others[p]] += 1
        if most <= 0:
            return
        for s, sign in ((drop, -1), (add, 1)):
            if s >= 0:
                chosen[s] = IN if sign > 0 else OUT
                for p in range(rows[s], rows[s + 1]):
                    have[types[p]] += sign * counts[p]
                for p in range(other_rows[s], other_rows[s + 1]):
                    paid[others[p]] += sign
        hits, cost = measure(coverage, chosen)
        record(best, chosen, hits, cost)


@njit(cache=True)
def dominators(coverage: Coverage, state: States) -> Integers:  # pragma: no cover (compiled)
    """Pairs [., 2] (s, t) of free sentences: t covers all that s covers and costs no more, so s serves only beside t.

    Of two equal sentences, the first is t. Some best set respects all pairs: swap s for t where it does not.
    """
    rows, types, counts = coverage.rows, coverage.types, coverage.counts
    other_rows, others = coverage.other_rows, coverage.others
    pairs = np.empty((256, 2), np.int64)
    size = 0
    for s in range(len(state)):
        for t in range(len(state)):
            if s == t or state[s] != FREE or state[t] != FREE or coverage.lengths[t] > coverage.lengths[s]:
                continue
            mine, theirs = rows[s + 1] - rows[s], rows[t + 1] - rows[t]
            mine_cost, theirs_cost = other_rows[s + 1] - other_rows[s], other_rows[t + 1] - other_rows[t]
            if mine > theirs or theirs_cost > mine_cost:
                continue
            equal = coverage.lengths[t] == coverage.lengths[s] and mine == theirs and mine_cost == theirs_cost
            covered = True
            q = rows[t]
            for p in range(rows[s], rows[s + 1]):
                while q < rows[t + 1] and types[q] < types[p]:
                    q += 1
                if q == rows[t + 1] or types[q] != types[p] or counts[q] < counts[p]:
                    covered = False
                    break
                equal = equal and counts[q] == counts[p]
            if not covered:
                continue
            q = other_rows[s]
            for p in range(other_rows[t], other_rows[t + 1]):
                while q < other_rows[s + 1] and others[q] < others[p]:
                    q += 1
                if q == other_rows[s + 1] or others[q] != others[p]:
                    covered = False
                    break
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
    """Settle what the dominators' pairs ask for: s needs t. False if a demanded sentence needs one that is out."""
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
    multipliers: Multipliers,
    relaxed: Relaxed,
    direction: Direction,
    base: tuple[int, int],
    best: Best,
    scale: int,
    steps: int,
    every: int,
) -> int:  # pragma: no cover (compiled)
    """Subgradient steps from `multipliers`, which get the best; how many sentences were settled, or PRUNED."""
    entries, others, overlap = free.entries[: free.other_begins[size]], coverage.others, coverage.overlap
    room, have = free.room, relaxed.have
    trial = Multipliers(multipliers.words.copy(), multipliers.shares.copy())
    excess = share_out(trial.shares, entries, others, free.use, relaxed.shared, scale)
    multipliers.shares[:] = trial.shares
    direction.words[:] = 0
    direction.shares[:] = 0
    a, b = best.ratio[0], best.ratio[1]
    lowest, pace, stalled, settled = np.int64(_HUGE), 1.0, 0, 0
    for step in range(steps):
        bound, cost = relax(coverage, free, size, trial, relaxed, (base[0], base[1], excess), (a, b), scale)
        if bound < scale:
            return PRUNED
        hits = base[0]
        for w in range(len(room)):
            hits += min(room[w], have[w])
        better = b * hits - a * (cost + overlap * hits) > 0
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
            multipliers.words[:] = trial.words
            multipliers.shares[:] = trial.shares
        else:
            stalled += 1
            if stalled == 10:
                pace, stalled = 0.6 * pace, 0
                trial.words[:] = multipliers.words
                trial.shares[:] = multipliers.shares
                if pace < 0.02:
                    break
        norm = turn(coverage, free, size, trial, relaxed, direction, (a, b), scale)
        if norm == 0:
            break
        move(trial, direction, entries, pace * (bound - _AIM * scale) / norm, scale)
        if len(entries):
            excess = share_out(trial.shares, entries, others, free.use, relaxed.shared, scale)
    return settled


@njit(cache=True)
def _contested(coverage: Coverage, state: States, mean: Floats) -> int:  # pragma: no cover (compiled)
    """The free sentence that relaxed choices disagree about most, by its weight; PRUNED where none is free."""
    rows, other_rows = coverage.rows, coverage.other_rows
    branch, most = PRUNED, -1.0
    for s in range(len(state)):
        if state[s] == FREE:
            types = rows[s + 1] - rows[s] + other_rows[s + 1] - other_rows[s]
            contested = min(mean[s], 1 - mean[s]) * (coverage.lengths[s] + coverage.overlap * types)
            if contested > most:
                branch, most = s, contested
    return branch


@njit(cache=True)
def examine(
    coverage: Coverage,
    pairs: Integers,
    state: States,
    multipliers: Multipliers,
    best: Best,
    scale: int,
    steps: int,
    rounds: int,
    every: int,
) -> int:  # pragma: no cover (compiled)
    """Bound a subproblem. The sentence to branch on, or PRUNED if no set in it beats `best`.

    `state` gets the sentences that are settled, `multipliers` better values, `best` whatever better set turns up. At
    most `rounds` times `steps` subgradient steps; every `every` steps (0: never) the relaxed choice is polished.
    """
    size, width, other_size = len(coverage.lengths), len(coverage.reference), coverage.other_size
    many, shared = len(coverage.types), len(coverage.others)
    free = Free(
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size + 1, np.int64),
        np.empty(many, np.int64),
        np.empty(many, np.int64),
        np.empty(size + 1, np.int64),
        np.empty(shared, np.int64),
        np.empty(width, np.int64),
        np.empty(other_size, np.int64),
    )
    relaxed = Relaxed(
        np.empty(size, np.int64),
        np.empty(width, np.int64),
        np.zeros(other_size, np.int64),
        np.zeros(other_size, np.int64),
        np.zeros(size),
    )
    direction = Direction(np.zeros(width), np.zeros(shared))
    for _ in range(rounds):
        if not _follow_pairs(pairs, state):
            return PRUNED
        base = demand(coverage, state, free.room, free.use)
        demanded = np.where(state == IN, np.int8(IN), np.int8(OUT))
        record(best, demanded, base[0], base[1] + coverage.overlap * base[0])
        count = gather(coverage, state, free, best.ratio[0], best.ratio[1])
        if count == 0:
            return PRUNED
        price(coverage, free, count)
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
    shares: NDArray[np.int32],
    best: Best,
    scale: int,
    steps: int,
    waiting: int,
    nodes: int,
) -> tuple[int, int]:  # pragma: no cover (compiled)
    """Depth first through the open subproblems, rows [0, waiting) of `states`, `words` and `shares`.

    Ends when none is open, after `nodes` subproblems, or when the rows are full. (open subproblems, nodes used).
    """
    own = Multipliers(np.empty(words.shape[1], np.int64), np.empty(shares.shape[1], np.int64))
    used = 0
    while 0 < waiting < len(states) and used < nodes:
        used += 1
        row = waiting - 1
        own.words[:] = words[row]
        own.shares[:] = shares[row]
        branch = examine(coverage, pairs, states[row], own, best, scale, steps, 3, 0)
        if branch == PRUNED:
            waiting -= 1
            continue
        words[row] = own.words
        shares[row] = own.shares
        words[waiting] = words[row]
        shares[waiting] = shares[row]
        states[waiting] = states[row]
        states[row, branch] = OUT
        states[waiting, branch] = IN
        waiting += 1
    return waiting, used

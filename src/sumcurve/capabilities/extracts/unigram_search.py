"""Compiled branch and bound for the best ratio of covered words to cost: the proof behind `optimum`.

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
PRUNED = -1

_MEMORY = 0.1  # of the running mean of relaxed choices, which picks the sentence to branch on
_DEFLECTION = 0.7  # share of the last direction in the next
_SHARE_PACE = 3.0  # how much faster shares move than words
_AIM = 0.5  # the value that a step aims at: below 1, so that a subproblem that can be pruned is
_HUGE = 1 << 62


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


class Best(NamedTuple):
    """The best set so far; the kernels update it in place."""

    ratio: Integers  # [4] a, b, hits, cost: a / b is hits / cost in lowest terms
    chosen: States  # [S]


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
    found = 0
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
            if found == len(pairs):
                more = np.empty((2 * found, 2), np.int64)
                more[:found] = pairs
                pairs = more
            pairs[found, 0], pairs[found, 1] = s, t
            found += 1
    return pairs[:found].copy()


@njit(cache=True)
def _share_out(
    shares: Integers, entry: Integers, others: Integers, use: Integers, shared: Integers, scale: int
) -> int:  # pragma: no cover (compiled)
    """Scale the shares of every cost type to a sum of `scale`; by how much rounding leaves sums above it."""
    shared[:] = 0
    for p in entry:
        shared[others[p]] += shares[p]
    for p in entry:
        t = others[p]
        shares[p] = scale // use[t] if shared[t] <= 0 else np.int64(shares[p] * (scale / shared[t]))
    shared[:] = 0
    excess = 0
    for p in entry:
        t = others[p]
        before = max(shared[t], scale)
        shared[t] += shares[p]
        excess += max(shared[t], scale) - before
    return excess


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
    rows, types, counts, lengths = coverage.rows, coverage.types, coverage.counts, coverage.lengths
    other_rows, others, reference = coverage.other_rows, coverage.others, coverage.reference
    overlap = coverage.overlap
    size, width, other_size = len(lengths), len(reference), coverage.other_size
    words, shares = multipliers.words.copy(), multipliers.shares.copy()

    room = np.empty(width, np.int64)  # what the demanded sentences leave of the abstract
    have = np.empty(width, np.int64)  # what the relaxed choice covers
    use = np.zeros(other_size, np.int64)  # free sentences with a cost type; -1: paid already
    taken = np.zeros(other_size, np.int64)  # of those, how many the relaxed choice has
    shared = np.zeros(other_size, np.int64)  # sum of shares
    word_step = np.zeros(width)
    share_step = np.zeros(len(others))
    mean = np.zeros(size)  # running mean of the relaxed choice
    # The free sentences alone: ids, costs, and what they add to the demanded ones.
    ids = np.empty(size, np.int64)
    costs = np.empty(size, np.int64)
    scores = np.empty(size, np.int64)
    begins = np.empty(size + 1, np.int64)
    word = np.empty(len(types), np.int64)
    count = np.empty(len(types), np.int64)
    other_begins = np.empty(size + 1, np.int64)
    entry = np.empty(len(others), np.int64)  # places of `others` whose type is shared by two free sentences or more
    chosen = np.empty(size, np.int8)

    for _ in range(rounds):
        changed = True
        while changed:  # s needs t
            changed = False
            for k in range(len(pairs)):
                s, t = pairs[k, 0], pairs[k, 1]
                if state[t] == OUT and state[s] != OUT:
                    if state[s] == IN:
                        return PRUNED
                    state[s] = OUT
                    changed = True
                elif state[s] == IN and state[t] == FREE:
                    state[t] = IN
                    changed = True

        room[:] = reference
        use[:] = 0
        base_cost = coverage.total
        for s in range(size):
            if state[s] == IN:
                base_cost += lengths[s]
                for p in range(rows[s], rows[s + 1]):
                    room[types[p]] = max(0, room[types[p]] - counts[p])
                for p in range(other_rows[s], other_rows[s + 1]):
                    if use[others[p]] == 0:
                        use[others[p]] = -1
                        base_cost += 1
        base_hits = 0
        for w in range(width):
            base_hits += reference[w] - room[w]
        for s in range(size):
            chosen[s] = IN if state[s] == IN else OUT
            if state[s] == FREE:
                for p in range(other_rows[s], other_rows[s + 1]):
                    if use[others[p]] >= 0:
                        use[others[p]] += 1
        record(best, chosen, base_hits, base_cost + overlap * base_hits)
        a, b = best.ratio[0], best.ratio[1]

        free, filled = 0, 0
        for s in range(size):
            if state[s] != FREE:
                continue
            begin, gain, alone = filled, np.int64(0), lengths[s]
            for p in range(rows[s], rows[s + 1]):
                left = room[types[p]]
                if left > 0:
                    word[filled] = types[p]
                    count[filled] = min(counts[p], left)
                    gain += count[filled]
                    filled += 1
            for p in range(other_rows[s], other_rows[s + 1]):
                if use[others[p]] == 1:
                    alone += 1
            if (b - overlap * a) * gain - a * alone <= 0:  # beside any other sentences it adds still less
                state[s] = OUT
                filled = begin
                for p in range(other_rows[s], other_rows[s + 1]):
                    if use[others[p]] > 0:
                        use[others[p]] -= 1
                continue
            ids[free], begins[free] = s, begin
            free += 1
        begins[free] = filled
        if free == 0:
            return PRUNED
        filled = 0
        for i in range(free):
            s = ids[i]
            costs[i], other_begins[i] = lengths[s], filled
            for p in range(other_rows[s], other_rows[s + 1]):
                t = others[p]
                if use[t] == 1:
                    costs[i] += 1
                elif use[t] > 1:
                    entry[filled] = p
                    filled += 1
        other_begins[free] = filled
        excess = _share_out(
            shares, entry[:filled], others, use, shared, scale
        )  # settled sentences leave theirs to others
        multipliers.shares[:] = shares

        lowest, pace, stalled, settled = np.int64(_HUGE), 1.0, 0, 0
        word_step[:] = 0
        share_step[:] = 0
        for step in range(steps):
            worth = b - overlap * a
            bound = np.int64(0)
            for w in range(width):
                bound += room[w] * (scale - words[w])
                have[w] = 0
            bound = worth * bound + scale * (worth * base_hits - a * base_cost) + a * excess
            for e in range(filled):
                taken[others[entry[e]]] = 0
            relaxed_cost = base_cost
            for i in range(free):
                score, paid = np.int64(0), np.int64(0)
                for p in range(begins[i], begins[i + 1]):
                    score += words[word[p]] * count[p]
                for e in range(other_begins[i], other_begins[i + 1]):
                    paid += shares[entry[e]]
                score = worth * score - a * (scale * costs[i] + paid)
                scores[i] = score
                s = ids[i]
                if score > 0:
                    bound += score
                    relaxed_cost += costs[i]
                    for p in range(begins[i], begins[i + 1]):
                        have[word[p]] += count[p]
                    for e in range(other_begins[i], other_begins[i + 1]):
                        t = others[entry[e]]
                        if taken[t] == 0:
                            relaxed_cost += 1
                        taken[t] += 1
                    mean[s] += _MEMORY * (1 - mean[s])
                else:
                    mean[s] -= _MEMORY * mean[s]
            if bound < scale:
                return PRUNED

            hits = base_hits
            for w in range(width):
                hits += min(room[w], have[w])
            better = b * hits - a * (relaxed_cost + overlap * hits) > 0
            if better or (every > 0 and step % every == every - 1):
                for s in range(size):
                    chosen[s] = IN if state[s] == IN else OUT
                for i in range(free):
                    if scores[i] > 0:
                        chosen[ids[i]] = IN
                polish(coverage, state, chosen, best)
                if best.ratio[0] != a or best.ratio[1] != b:
                    a, b = best.ratio[0], best.ratio[1]
                    lowest = np.int64(_HUGE)
                    continue

            slack = bound - scale
            for i in range(free):
                if (scores[i] > slack or -scores[i] > slack) and state[ids[i]] == FREE:
                    state[ids[i]] = IN if scores[i] > 0 else OUT
                    settled += 1
            if bound < lowest:
                lowest, stalled = bound, 0
                multipliers.words[:] = words
                multipliers.shares[:] = shares
            else:
                stalled += 1
                if stalled == 10:
                    pace, stalled = 0.6 * pace, 0
                    words[:] = multipliers.words
                    shares[:] = multipliers.shares
                    if pace < 0.02:
                        break

            norm = 0.0
            for w in range(width):
                for part in range(2):
                    if part == 0:
                        move = float(worth * (room[w] - have[w]))
                    else:
                        move += _DEFLECTION * word_step[w]
                    if (words[w] <= 0 and move < 0) or (words[w] >= scale and move > 0):
                        move = 0.0
                word_step[w] = move
                norm += move * move
            for i in range(free):
                relaxed = 1.0 if scores[i] > 0 else 0.0
                for e in range(other_begins[i], other_begins[i + 1]):
                    p, t = entry[e], others[entry[e]]
                    move = _SHARE_PACE * a * (relaxed - taken[t] / use[t]) + _DEFLECTION * share_step[p]
                    if shares[p] <= 0 and move < 0:
                        move = 0.0
                    share_step[p] = move
                    norm += move * move
            if norm == 0:
                break
            stride = pace * (bound - _AIM * scale) / norm
            for w in range(width):
                words[w] = int(min(scale, max(0.0, words[w] + stride * word_step[w])))
            if filled:
                for e in range(filled):
                    p = entry[e]
                    shares[p] = int(min(scale, max(0.0, shares[p] + stride * share_step[p])))
                excess = _share_out(shares, entry[:filled], others, use, shared, scale)
        if settled * 8 < free:
            break
        words[:] = multipliers.words
        shares[:] = multipliers.shares

    branch, most = PRUNED, -1.0
    for s in range(size):
        if state[s] == FREE:
            weight = lengths[s] + overlap * (rows[s + 1] - rows[s] + other_rows[s + 1] - other_rows[s])
            contested = min(mean[s], 1 - mean[s]) * weight
            if contested > most:
                branch, most = s, contested
    return branch


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


@njit(cache=True)
def ceiling(
    coverage: Coverage, state: States, multipliers: Multipliers, best: Best, scale: int
) -> int:  # pragma: no cover (compiled)
    """An integer p, at most FINE, such that no set of the subproblem has hits / cost above p / FINE."""
    rows, types, other_rows, others = coverage.rows, coverage.types, coverage.other_rows, coverage.others
    overlap, size = coverage.overlap, len(state)
    room = coverage.reference.copy()
    use = np.zeros(coverage.other_size, np.int64)
    shared = np.zeros(coverage.other_size, np.int64)
    base_cost = coverage.total
    for s in range(size):
        if state[s] == IN:
            base_cost += coverage.lengths[s]
            for p in range(rows[s], rows[s + 1]):
                room[types[p]] = max(0, room[types[p]] - coverage.counts[p])
            for p in range(other_rows[s], other_rows[s + 1]):
                if use[others[p]] == 0:
                    use[others[p]] = -1
                    base_cost += 1
    for s in range(size):
        if state[s] == FREE:
            for p in range(other_rows[s], other_rows[s + 1]):
                if use[others[p]] >= 0:
                    use[others[p]] += 1
    base_hits = 0
    for w in range(len(room)):
        base_hits += scale * (coverage.reference[w] - room[w]) + room[w] * (scale - multipliers.words[w])
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

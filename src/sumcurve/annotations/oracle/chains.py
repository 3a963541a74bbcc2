"""Branch and bound over chains of sentences: the compiled half of `optimum2`.

An extract in document order is a *chain*. With u_t in [0, G] for every bigram type t of the abstract (G is what one
match is worth), the matches h_t = min(r_t, supply_t) obey G h_t <= (G - u_t) r_t + u_t supply_t, and the supply is a
sum over the chain's sentences and over the bigrams between neighbours. So for any u

    L(u) = sum_t (G - u_t) r_t + longest chain of (sentence weights + neighbour weights)

is no less than the best G h - λ c (Lagrangian relaxation: Held and Karp, 1970). The longest chain in a directed acyclic
graph is found exactly by dynamic programming, which is why the order of the sentences costs nothing here. A subgradient
method with Polyak's step lowers L(u).

Scorer `set` pays λ for each distinct bigram that the abstract lacks. The price of one that several sentences hold is
shared among them by multipliers v that sum to 1.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sumcurve.compiled import njit

FREE, IN, OUT = 0, 1, -1

# Rows of `Search.numbers`, the search's state between two calls.
NUMERATOR, DENOMINATOR, LENGTH, DEPTH, TRAIL, NODES, FOUND = range(7)

# What `explore` returns.
DONE, STOPPED = 1, 0


class Chains(NamedTuple):
    """Candidate sentences in document order, as a graph; n of them. A class is one last or first word."""

    own: NDArray[np.int64]  # [n] bigrams of the extract that only this sentence can bring (not `set`: its words)
    rows: NDArray[np.int64]  # [n + 1] rows of `types` and `counts`
    types: NDArray[np.int32]
    counts: NDArray[np.int64]  # clipped to the abstract's
    reference: NDArray[np.int64]  # [types]
    last: NDArray[np.int64]  # [n] class of the last word, -1 where no pair begins with it
    first: NDArray[np.int64]  # [n] class of the first word, -1 where no pair ends with it
    into_rows: NDArray[np.int64]  # [first classes + 1] pairs that end with a class: rows of `into_last` and `into_type`
    into_last: NDArray[np.int64]
    into_type: NDArray[np.int64]  # type of the pair's bigram, -1 for one that the abstract lacks (`set`)
    into_pair: NDArray[np.int64]  # the pair's number
    out_rows: NDArray[np.int64]  # [last classes + 1] the same pairs by the class they begin with
    out_first: NDArray[np.int64]
    out_type: NDArray[np.int64]
    out_pair: NDArray[np.int64]
    pair_last: NDArray[np.int64]  # [pairs] classes of a pair; `set` lists all whose bigram may come up twice
    pair_first: NDArray[np.int64]
    pair_shared: NDArray[np.int64]  # [pairs] its number among the shared, -1 where no candidate holds it
    leave: NDArray[np.float64]  # [n] least cost of any other neighbour behind this sentence (not `set`: 0)
    shared_rows: NDArray[np.int64]  # [n + 1] rows of `shared`
    shared: NDArray[np.int64]  # bigrams that the abstract lacks and that may come up twice (`set`)
    shared_size: int
    base: int  # the denominator of an extract with no cost
    unique: bool  # scorer `set`
    # For the exact value under `set`:
    other_rows: NDArray[np.int64]  # [n + 1] rows of `others`
    others: NDArray[np.int32]
    other_grams: NDArray[np.int64]
    grams: NDArray[np.int64]
    first_word: NDArray[np.int64]  # [n]
    last_word: NDArray[np.int64]  # [n]


class Search(NamedTuple):
    """All that the search changes; it may be stopped and called again."""

    numbers: NDArray[np.int64]  # see NUMERATOR and so on
    best: NDArray[np.int64]  # [n] the best chain, LENGTH entries
    status: NDArray[np.int64]  # [n] FREE, IN or OUT
    u: NDArray[np.float64]  # [types] multipliers, as shares of G
    v: NDArray[np.float64]  # [shared nonzeros] shares of the price
    # By depth:
    branch: NDArray[np.int64]  # [depths] the candidate that is decided
    second: NDArray[np.int64]  # [depths] 1 once the second choice is made
    choice: NDArray[np.int64]  # [depths] the first choice
    marks: NDArray[np.int64]  # [depths] length of the trail before the decision
    bounds: NDArray[np.float64]  # [depths] bound on G h - λ c below the decision
    us: NDArray[np.float32]  # [depths, types]
    vs: NDArray[np.float32]  # [depths, shared nonzeros]
    trail: NDArray[np.int64]  # [n] candidates whose status was decided, in order


class Work(NamedTuple):
    """Scratch space of one node."""

    active: NDArray[np.int64]  # [n]
    weight: NDArray[np.float64]  # [n]
    ahead: NDArray[np.float64]  # [n] best chain that ends here
    behind: NDArray[np.float64]  # [n] best continuation
    previous: NDArray[np.int64]  # [n]
    path: NDArray[np.int64]  # [n]
    best_last: NDArray[np.float64]  # [last classes]
    best_last_at: NDArray[np.int64]
    best_last_epoch: NDArray[np.int64]
    best_first: NDArray[np.float64]  # [first classes]
    best_first_epoch: NDArray[np.int64]
    rest: NDArray[np.int64]  # [types] the abstract's counts that the decided sentences leave
    kept: NDArray[np.int64]  # [types] supply of the decided sentences
    supply: NDArray[np.int64]  # [types] supply of the path's free sentences and pairs
    covered: NDArray[np.int64]  # [shared] 1 where a decided sentence brings it
    holders: NDArray[np.int64]  # [shared] free sentences that hold it
    pair_cost: NDArray[np.float64]  # [pairs] least cost of a pair that the abstract lacks
    last_count: NDArray[np.int64]  # [last classes] sentences left
    first_count: NDArray[np.int64]  # [first classes]
    taken: NDArray[np.int64]  # [shared] sentences of the path that hold it
    sums: NDArray[np.float64]  # [shared]
    on: NDArray[np.float64]  # [n] 1 for the path's free sentences
    mean: NDArray[np.float64]  # [n] share of the steps that chose a candidate
    best_u: NDArray[np.float64]
    best_v: NDArray[np.float64]
    direction: NDArray[np.float64]  # [types]
    marks: NDArray[np.int64]  # [all others] exact value under `set`


@njit(cache=True)
def work_space(chains: Chains, shared_nonzeros: int) -> Work:  # pragma: no cover (compiled)
    n, types, shared = len(chains.own), len(chains.reference), chains.shared_size
    lasts, firsts = len(chains.out_rows), len(chains.into_rows)
    return Work(
        np.zeros(n, np.int64),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(lasts),
        np.zeros(lasts, np.int64),
        np.full(lasts, -1, np.int64),
        np.zeros(firsts),
        np.full(firsts, -1, np.int64),
        np.zeros(types, np.int64),
        np.zeros(types, np.int64),
        np.zeros(types, np.int64),
        np.zeros(shared, np.int64),
        np.zeros(shared, np.int64),
        np.zeros(len(chains.pair_last)),
        np.zeros(lasts, np.int64),
        np.zeros(firsts, np.int64),
        np.zeros(shared, np.int64),
        np.zeros(shared),
        np.zeros(n),
        np.zeros(n),
        np.zeros(types),
        np.zeros(shared_nonzeros),
        np.zeros(types),
        np.zeros(len(chains.other_grams), np.int64),
    )


@njit(cache=True)
def position(grams: NDArray[np.int64], key: int) -> int:  # pragma: no cover (compiled)
    low, high = 0, len(grams)
    while low < high:
        middle = (low + high) >> 1
        if grams[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(grams) and grams[low] == key else -1


@njit(cache=True)
def _pair(chains: Chains, i: int, j: int) -> int:  # pragma: no cover (compiled)
    """Where candidates i and j as neighbours stand in `into_type` and `into_pair`, or -1."""
    if chains.last[i] < 0 or chains.first[j] < 0:
        return -1
    begin, end = chains.into_rows[chains.first[j]], chains.into_rows[chains.first[j] + 1]
    for place in range(begin, end):
        if chains.into_last[place] == chains.last[i]:
            return place
    return -1


@njit(cache=True)
def _pair_type(chains: Chains, i: int, j: int) -> int:  # pragma: no cover (compiled)
    """The type of the bigram between candidates i and j as neighbours, -1 where the abstract lacks it."""
    place = _pair(chains, i, j)
    return chains.into_type[place] if place >= 0 else -1


@njit(cache=True)
def chain_value(chains: Chains, chain: NDArray[np.int64], work: Work) -> tuple[int, int]:  # pragma: no cover (compiled)
    """(numerator, denominator) of a chain in document order, exactly."""
    supply = work.supply
    supply[:] = 0
    cost = chains.base
    hits = 0
    for place in range(len(chain)):
        s = chain[place]
        cost += 0 if chains.unique else chains.own[s]
        for nonzero in range(chains.rows[s], chains.rows[s + 1]):
            supply[chains.types[nonzero]] += chains.counts[nonzero]
        if place > 0:
            t = _pair_type(chains, chain[place - 1], s)
            if t >= 0:
                supply[t] += 1
    for t in range(len(supply)):
        hits += min(supply[t], chains.reference[t])
    if not chains.unique:
        return 2 * hits, cost
    cost += hits
    for s in chain:
        for nonzero in range(chains.other_rows[s], chains.other_rows[s + 1]):
            if work.marks[chains.others[nonzero]] == 0:
                work.marks[chains.others[nonzero]] = 1
                cost += 1
    between = np.zeros(max(len(chain) - 1, 0), np.int64)
    count = 0
    for place in range(1, len(chain)):
        key = (chains.last_word[chain[place - 1]] << 32) | chains.first_word[chain[place]]
        if position(chains.grams, key) >= 0:
            continue
        inside = position(chains.other_grams, key)
        if inside >= 0 and work.marks[inside] == 1:
            continue
        new = True
        for earlier in range(count):
            if between[earlier] == key:
                new = False
                break
        if new:
            between[count] = key
            count += 1
            cost += 1
    for s in chain:
        for nonzero in range(chains.other_rows[s], chains.other_rows[s + 1]):
            work.marks[chains.others[nonzero]] = 0
    return 2 * hits, cost


@njit(cache=True)
def _longest_chain(
    chains: Chains, search: Search, price: float, worth: float, work: Work, active: int
) -> tuple[float, int]:  # pragma: no cover (compiled)
    """The longest chain through all decided sentences: its length, and how many sentences `work.path` holds."""
    status, u = search.status, search.u
    epoch = 0
    best_last_epoch = work.best_last_epoch
    best_last_epoch[:] = -1
    start = 0.0  # of a chain that begins here; minus infinity behind a decided sentence
    any_value, any_at = -np.inf, -1
    end_value, end_at = 0.0, -1
    for order in range(active):
        j = work.active[order]
        value, at = start, -1
        if any_value > value:
            value, at = any_value, any_at
        b = chains.first[j]
        if b >= 0:
            for place in range(chains.into_rows[b], chains.into_rows[b + 1]):
                a = chains.into_last[place]
                if best_last_epoch[a] == epoch:
                    t = chains.into_type[place]
                    gain = worth * u[t] if t >= 0 else -price * work.pair_cost[chains.into_pair[place]]
                    through = work.best_last[a] + gain
                    if through > value:
                        value, at = through, work.best_last_at[a]
        value += work.weight[j]
        work.ahead[j] = value
        work.previous[j] = at
        if status[j] == IN:
            epoch += 1
            start = any_value = end_value = -np.inf
        if value - price * chains.leave[j] > any_value:
            any_value, any_at = value - price * chains.leave[j], j
        if value > end_value:
            end_value, end_at = value, j
        a = chains.last[j]
        if a >= 0 and (best_last_epoch[a] != epoch or value > work.best_last[a]):
            best_last_epoch[a] = epoch
            work.best_last[a] = value
            work.best_last_at[a] = j
    length = 0
    at = end_at
    while at >= 0:
        work.path[length] = at
        length += 1
        at = work.previous[at]
    for place in range(length // 2):
        other = length - 1 - place
        work.path[place], work.path[other] = work.path[other], work.path[place]
    return end_value, length


@njit(cache=True)
def _continuations(
    chains: Chains, search: Search, price: float, worth: float, work: Work, active: int
) -> None:  # pragma: no cover (compiled)
    """`work.behind`: the best continuation behind each sentence, through all decided ones."""
    status, u = search.status, search.u
    epoch = 0
    best_first_epoch = work.best_first_epoch
    best_first_epoch[:] = -1
    end = 0.0
    any_value = -np.inf
    for order in range(active - 1, -1, -1):
        i = work.active[order]
        value = max(end, any_value - price * chains.leave[i])
        a = chains.last[i]
        if a >= 0:
            for place in range(chains.out_rows[a], chains.out_rows[a + 1]):
                b = chains.out_first[place]
                if best_first_epoch[b] == epoch:
                    t = chains.out_type[place]
                    gain = worth * u[t] if t >= 0 else -price * work.pair_cost[chains.out_pair[place]]
                    value = max(value, work.best_first[b] + gain)
        work.behind[i] = value
        value += work.weight[i]
        if status[i] == IN:
            epoch += 1
            end = any_value = -np.inf
        any_value = max(any_value, value)
        b = chains.first[i]
        if b >= 0 and (best_first_epoch[b] != epoch or value > work.best_first[b]):
            best_first_epoch[b] = epoch
            work.best_first[b] = value


@njit(cache=True)
def _prepare(chains: Chains, search: Search, work: Work) -> tuple[int, int, int, int]:  # pragma: no cover (compiled)
    """Candidates left, hits of the decided ones, their cost without `base`, and free ones; fills `work`."""
    status = search.status
    kept, rest = work.kept, work.rest
    kept[:] = 0
    active = free = cost = 0
    covered, holders = work.covered, work.holders
    covered[:] = 0
    holders[:] = 0
    for s in range(len(status)):
        if status[s] == OUT:
            continue
        work.active[active] = s
        active += 1
        if status[s] == FREE:
            free += 1
            for nonzero in range(chains.shared_rows[s], chains.shared_rows[s + 1]):
                holders[chains.shared[nonzero]] += 1
            continue
        cost += chains.own[s]
        for nonzero in range(chains.rows[s], chains.rows[s + 1]):
            kept[chains.types[nonzero]] += chains.counts[nonzero]
        for nonzero in range(chains.shared_rows[s], chains.shared_rows[s + 1]):
            if covered[chains.shared[nonzero]] == 0:
                covered[chains.shared[nonzero]] = 1
                cost += 1
    hits = 0
    for t in range(len(kept)):
        rest[t] = max(chains.reference[t] - kept[t], 0)
        hits += chains.reference[t] - rest[t]
    if chains.unique:
        _normalize(chains, search, work, active)
        # A chain has a pair at most as often as the rarer of its words ends or begins a sentence, and pays once.
        last_count, first_count = work.last_count, work.first_count
        last_count[:] = 0
        first_count[:] = 0
        for order in range(active):
            s = work.active[order]
            if chains.last[s] >= 0:
                last_count[chains.last[s]] += 1
            if chains.first[s] >= 0:
                first_count[chains.first[s]] += 1
        for pair in range(len(chains.pair_last)):
            q = chains.pair_shared[pair]
            if q >= 0 and (covered[q] == 1 or holders[q] > 0):
                work.pair_cost[pair] = 0.0
            else:
                most = min(last_count[chains.pair_last[pair]], first_count[chains.pair_first[pair]])
                work.pair_cost[pair] = 1.0 / max(most, 1)
    return active, hits, cost, free


@njit(cache=True)
def _normalize(chains: Chains, search: Search, work: Work, active: int) -> None:  # pragma: no cover (compiled)
    """Make the shares of each price that is still to be paid sum to 1 over the free sentences that hold it."""
    sums = work.sums
    sums[:] = 0.0
    for order in range(active):
        s = work.active[order]
        if search.status[s] == FREE:
            for nonzero in range(chains.shared_rows[s], chains.shared_rows[s + 1]):
                sums[chains.shared[nonzero]] += search.v[nonzero]
    for order in range(active):
        s = work.active[order]
        if search.status[s] == FREE:
            for nonzero in range(chains.shared_rows[s], chains.shared_rows[s + 1]):
                q = chains.shared[nonzero]
                search.v[nonzero] = search.v[nonzero] / sums[q] if sums[q] > 1e-9 else 1.0 / work.holders[q]


@njit(cache=True)
def _weigh(
    chains: Chains, search: Search, work: Work, active: int, price: float, worth: float
) -> None:  # pragma: no cover (compiled)
    """The weight of every sentence left, from the multipliers."""
    for order in range(active):
        s = work.active[order]
        if search.status[s] == IN:
            work.weight[s] = 0.0  # its matches and its cost are constants of the node
            continue
        gain = 0.0
        for nonzero in range(chains.rows[s], chains.rows[s + 1]):
            t = chains.types[nonzero]
            gain += search.u[t] * min(chains.counts[nonzero], work.rest[t])
        cost = float(chains.own[s])
        for nonzero in range(chains.shared_rows[s], chains.shared_rows[s + 1]):
            if work.covered[chains.shared[nonzero]] == 0:
                cost += search.v[nonzero]
        work.weight[s] = worth * gain - price * cost


@njit(cache=True)
def _constant(
    chains: Chains, search: Search, work: Work, hits: int, cost: int, price: float, worth: float
) -> float:  # pragma: no cover (compiled)
    slack = 0.0
    for t in range(len(work.rest)):
        slack += (1.0 - search.u[t]) * work.rest[t]
    return worth * (hits + slack) - price * (chains.base + cost)


@njit(cache=True)
def _offer(chains: Chains, search: Search, work: Work, length: int) -> bool:  # pragma: no cover (compiled)
    """Whether the path beats the best chain; it is the best one then."""
    numerator, denominator = chain_value(chains, work.path[:length], work)
    numbers = search.numbers
    if numerator * numbers[DENOMINATOR] <= numbers[NUMERATOR] * denominator:
        return False
    numbers[NUMERATOR], numbers[DENOMINATOR], numbers[LENGTH] = numerator, denominator, length
    search.best[:length] = work.path[:length]
    numbers[FOUND] += 1
    return True


@njit(cache=True)
def lower(chains: Chains, search: Search, work: Work, steps: int) -> tuple[float, int]:  # pragma: no cover (compiled)
    """The bound of this node after so many subgradient steps, and the number of free sentences.

    The bound is on G h - λ c with λ the best value so far, and minus infinity where nothing in this node beats that
    value. Better chains met on the way are kept. `search.u` and `search.v` are the best multipliers.
    """
    numbers = search.numbers
    u, v = search.u, search.v
    active, hits, cost, free = _prepare(chains, search, work)
    if free == 0:
        if active > 0:
            work.path[:active] = work.active[:active]
            _offer(chains, search, work, active)
        return -np.inf, 0
    best = np.inf
    mean, direction = work.mean, work.direction
    mean[:] = 0.0
    direction[:] = 0.0
    step = 1.0
    stale = 0
    taken_steps = 0
    for _ in range(steps):
        price = numbers[NUMERATOR] / numbers[DENOMINATOR]
        worth = 2.0 - price if chains.unique else 2.0
        target = 1.0 / numbers[DENOMINATOR]
        _weigh(chains, search, work, active, price, worth)
        length_value, length = _longest_chain(chains, search, price, worth, work, active)
        bound = _constant(chains, search, work, hits, cost, price, worth) + length_value
        if bound < 0.999 * target:  # G h - λ c is a multiple of the target
            return -np.inf, free
        # What the path really matches and costs.
        supply, taken = work.supply, work.taken
        supply[:] = 0
        taken[:] = 0
        work.on[:] = 0.0
        real_cost = float(chains.base + cost)
        for place in range(length):
            s = work.path[place]
            if place > 0:
                t = _pair_type(chains, work.path[place - 1], s)
                if t >= 0:
                    supply[t] += 1
            if search.status[s] == IN:
                continue
            mean[s] += 1.0
            work.on[s] = 1.0
            real_cost += chains.own[s]
            for nonzero in range(chains.rows[s], chains.rows[s + 1]):
                t = chains.types[nonzero]
                supply[t] += min(chains.counts[nonzero], work.rest[t])
            for nonzero in range(chains.shared_rows[s], chains.shared_rows[s + 1]):
                q = chains.shared[nonzero]
                if work.covered[q] == 0:
                    if taken[q] == 0:
                        real_cost += 1.0
                    taken[q] += 1
        taken_steps += 1
        matched = hits
        for t in range(len(supply)):
            matched += min(supply[t], work.rest[t])
        improved = False
        if worth * matched - price * real_cost > 0.999 * target:
            improved = _offer_keeping(chains, search, work, length)
        if bound < best:
            if bound < best - 1e-3 * (best - 0.0) or best == np.inf:
                stale = 0
            else:
                stale += 1
            best = bound
            work.best_u[:] = u
            work.best_v[:] = v
        else:
            stale += 1
        if stale >= 6:
            step *= 0.7
            stale = 0
        if improved:
            best = np.inf  # λ has risen: the bound is another one
            continue
        # The subgradient, without the parts that lead out of [0, 1]; smoothed against zigzags.
        norm = 0.0
        for t in range(len(supply)):
            if work.rest[t] == 0:
                direction[t] = 0.0
                continue
            slope = float(supply[t] - work.rest[t])
            if (u[t] >= 1.0 and slope < 0.0) or (u[t] <= 0.0 and slope > 0.0):
                slope = 0.0
            direction[t] = 0.75 * slope + 0.25 * direction[t]
            norm += worth * worth * slope * slope
        if chains.shared_size:
            for order in range(active):
                s = work.active[order]
                if search.status[s] != FREE:
                    continue
                for nonzero in range(chains.shared_rows[s], chains.shared_rows[s + 1]):
                    q = chains.shared[nonzero]
                    if work.covered[q] == 0 and taken[q] != 1:
                        slope = work.on[s] - taken[q] / work.holders[q]
                        norm += price * price * slope * slope
        if norm == 0.0:
            break
        size = step * (bound - 0.5 * target) / norm
        for t in range(len(supply)):
            if direction[t] != 0.0:
                u[t] = min(max(u[t] - size * worth * direction[t], 0.0), 1.0)
        if chains.shared_size:
            for order in range(active):
                s = work.active[order]
                if search.status[s] != FREE:
                    continue
                for nonzero in range(chains.shared_rows[s], chains.shared_rows[s + 1]):
                    q = chains.shared[nonzero]
                    if work.covered[q] == 0 and taken[q] > 0:
                        v[nonzero] = max(v[nonzero] + size * price * (work.on[s] - taken[q] / work.holders[q]), 0.0)
            _normalize(chains, search, work, active)
    if best < np.inf:
        u[:] = work.best_u
        v[:] = work.best_v
    if taken_steps:
        for s in range(len(mean)):
            mean[s] /= taken_steps
    return best, free


@njit(cache=True)
def _offer_keeping(chains: Chains, search: Search, work: Work, length: int) -> bool:  # pragma: no cover (compiled)
    """`_offer`, which leaves the path's supply as it was."""
    supply = work.supply.copy()
    found = _offer(chains, search, work, length)
    work.supply[:] = supply
    return found


@njit(cache=True)
def _set_status(search: Search, s: int, status: int) -> None:  # pragma: no cover (compiled)
    search.status[s] = status
    search.trail[search.numbers[TRAIL]] = s
    search.numbers[TRAIL] += 1


@njit(cache=True)
def fix(chains: Chains, search: Search, work: Work) -> tuple[float, int]:  # pragma: no cover (compiled)
    """Decide what the bound decides at these multipliers; the bound, and how many sentences were decided.

    A sentence whose best chain cannot beat the best value goes out; one without which no chain can goes in.
    """
    numbers = search.numbers
    price = numbers[NUMERATOR] / numbers[DENOMINATOR]
    worth = 2.0 - price if chains.unique else 2.0
    target = 0.999 / numbers[DENOMINATOR]
    active, hits, cost, _ = _prepare(chains, search, work)
    _weigh(chains, search, work, active, price, worth)
    longest, length = _longest_chain(chains, search, price, worth, work, active)
    constant = _constant(chains, search, work, hits, cost, price, worth)
    if constant + longest < target:
        return -np.inf, 0
    _continuations(chains, search, price, worth, work, active)
    path = work.path[:length].copy()
    fixed = 0
    kept = 0
    for order in range(active):
        s = work.active[order]
        if search.status[s] == FREE and constant + work.ahead[s] + work.behind[s] < target:
            _set_status(search, s, OUT)
            fixed += 1
        else:
            work.active[kept] = s
            kept += 1
    active = kept
    for s in path:
        if search.status[s] != FREE:
            continue
        shorter = 0
        at = -1
        for order in range(active):  # take s out of the list, and put it back
            if work.active[order] == s:
                at = order
            else:
                work.active[shorter] = work.active[order]
                shorter += 1
        without, _ = _longest_chain(chains, search, price, worth, work, shorter)
        for order in range(active - 1, at, -1):
            work.active[order] = work.active[order - 1]
        work.active[at] = s
        if constant + without < target:
            _set_status(search, s, IN)
            fixed += 1
    return constant + longest, fixed


@njit(cache=True)
def explore(chains: Chains, search: Search, work: Work, nodes: int, steps: int) -> int:  # pragma: no cover (compiled)
    """Go on with depth-first search for at most so many nodes: DONE when nothing is left, STOPPED otherwise."""
    numbers = search.numbers
    status = search.status
    depths = len(search.branch)
    until = numbers[NODES] + nodes
    while numbers[NODES] < until:
        numbers[NODES] += 1
        depth = numbers[DEPTH]
        bound, free = lower(chains, search, work, steps)
        open_node = bound > -np.inf and free > 0
        for _ in range(3):
            if not open_node:
                break
            bound, fixed = fix(chains, search, work)
            if bound == -np.inf:
                open_node = False
            elif fixed == 0:
                break
            else:
                bound, free = lower(chains, search, work, steps)
                open_node = bound > -np.inf and free > 0
        if open_node:
            if depth + 1 >= depths:
                numbers[NODES] -= 1
                return STOPPED
            chosen, closest = -1, np.inf
            for s in range(len(status)):
                if status[s] == FREE:
                    distance = abs(work.mean[s] - 0.5)
                    if distance < closest:
                        chosen, closest = s, distance
            search.branch[depth] = chosen
            search.second[depth] = 0
            search.choice[depth] = IN if work.mean[chosen] >= 0.5 else OUT
            search.marks[depth] = numbers[TRAIL]
            search.bounds[depth] = bound
            search.us[depth] = search.u.astype(np.float32)
            search.vs[depth] = search.v.astype(np.float32)
            _set_status(search, chosen, search.choice[depth])
            numbers[DEPTH] += 1
            continue
        # Back to the deepest decision whose second choice is open.
        depth -= 1
        while depth >= 0:
            while numbers[TRAIL] > search.marks[depth]:
                numbers[TRAIL] -= 1
                status[search.trail[numbers[TRAIL]]] = FREE
            if search.second[depth] == 0:
                break
            depth -= 1
        if depth < 0:
            numbers[DEPTH] = 0
            return DONE
        search.second[depth] = 1
        search.u[:] = search.us[depth]
        search.v[:] = search.vs[depth]
        _set_status(search, search.branch[depth], -search.choice[depth])
        numbers[DEPTH] = depth + 1
    return STOPPED


@njit(cache=True)
def ratio_bound(chains: Chains, search: Search, work: Work) -> float:  # pragma: no cover (compiled)
    """No chain has a value above this, which is never less than the best value so far.

    λ is raised until L(u) is no longer positive (Newton's method). Decisions are undone.
    """
    numbers = search.numbers
    search.status[:] = FREE
    numbers[TRAIL] = 0
    active, hits, cost, _ = _prepare(chains, search, work)
    price = numbers[NUMERATOR] / numbers[DENOMINATOR]
    for _ in range(60):
        worth = 2.0 - price if chains.unique else 2.0
        _weigh(chains, search, work, active, price, worth)
        longest, length = _longest_chain(chains, search, price, worth, work, active)
        bound = _constant(chains, search, work, hits, cost, price, worth) + longest
        if bound <= 0.0:
            break
        # What L(u) falls by where λ rises: the relaxed cost of this chain.
        fall = float(chains.base)
        if chains.unique:
            for t in range(len(work.rest)):
                fall += (1.0 - search.u[t]) * work.rest[t]
        for number in range(length):
            s = work.path[number]
            fall += chains.own[s]
            for nonzero in range(chains.shared_rows[s], chains.shared_rows[s + 1]):
                fall += search.v[nonzero]
            if chains.unique:
                for nonzero in range(chains.rows[s], chains.rows[s + 1]):
                    fall += search.u[chains.types[nonzero]] * chains.counts[nonzero]
                if number > 0:
                    place = _pair(chains, work.path[number - 1], s)
                    if place < 0:
                        fall += chains.leave[work.path[number - 1]]
                    elif chains.into_type[place] >= 0:
                        fall += search.u[chains.into_type[place]]
                    else:
                        fall += work.pair_cost[chains.into_pair[place]]
        step = bound / max(fall, 1.0)
        if step < 1e-13:
            price += 1e-12
        price += step
        if price >= 1.0:
            return 1.0
    worth = 2.0 - price if chains.unique else 2.0
    _weigh(chains, search, work, active, price, worth)
    longest, _ = _longest_chain(chains, search, price, worth, work, active)
    if _constant(chains, search, work, hits, cost, price, worth) + longest > 1e-9:
        return 1.0
    return price + 1e-11

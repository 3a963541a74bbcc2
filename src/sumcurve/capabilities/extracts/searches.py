"""The five searches of Akhmetov, Mladenović and Mussabayev (PeerJ Computer Science, 2022), compiled.

VNS (variable neighbourhood search: Mladenović and Hansen, 1997), Greedy, VNS_Greedy, Genetic and Genetic_Greedy look
for the extract with the best F1. Let a be the abstract's number of sentences. They follow the article's text, and
its plainest reading where it leaves a choice; tests/papers/test_akhmetov.py describes the differences in its authors'
notebooks, and their effects.

- VNS starts from a random sentences. It replaces k of them by random others, k = 1 at first; a better extract is kept
  and sets k to 1, a failure makes k one larger, up to 3. It ends after 5,000 iterations or 700 failures in a row.
- Greedy covers the abstract's words: it takes the sentence with most words that are not covered yet (ties: the first)
  until none has any, and keeps as many of these, from the first, as give the best F1 (ties: fewest). Words are the
  scorer's.
- VNS_Greedy is VNS from Greedy's extract.
- Genetic deals the sentences at random into candidates of a. In each of 6 generations every two candidates have a
  child, a random sentences of theirs, none twice. Parents die: the best children, half as many as candidates were
  dealt, are the next candidates, and the best child of the last generation is the result. Where fewer than two are
  left, no further generation is born.
- Genetic_Greedy has Greedy's extract among the first candidates, too.

Unlike the authors' code, no search depends on a clock (theirs stop after 60 s), and none leaves a document out (theirs
require a >= 5 and more than a sentences; here as many are drawn as there are).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sumcurve.capabilities.extracts import SEARCHES
from sumcurve.capabilities.extracts.article import Instance, OracleError
from sumcurve.capabilities.extracts.evaluate import (
    Counts,
    Found,
    add,
    closed,
    counts,
    evaluate,
    gathered,
    insert,
    remove,
    rescored,
)
from sumcurve.numerics.compiled import njit

LARGEST_SHAKE = 3  # k
MOST_DENSE = 10_000_000  # counts that a genetic search may write out


class Limits(NamedTuple):
    """Limits at which a search ends."""

    iterations: int = 5_000  # of a VNS
    failures: int = 700  # of a VNS, in a row
    generations: int = 6


LIMITS = Limits()


def search(
    instances: Sequence[Instance], algorithm: str, *, seed: int, order: int = 1, limits: Limits = LIMITS
) -> Found:
    """The extract that the search ends with, by the F1 of ROUGE-`order`; `algorithm` is a key of SEARCHES.

    `instances` are the article's for orders 1 and 2 (see `article.instances`). The same seed gives the same result on
    every machine; articles need not have different seeds. Sentences are in document order.

    OracleError for an unknown algorithm or order.
    """
    if algorithm not in SEARCHES:
        raise OracleError(f"unknown algorithm {algorithm!r}; take one of {', '.join(SEARCHES)}")
    if [instance.order for instance in instances] != [1, 2] or order not in (1, 2):
        raise OracleError("give the article's instances of order 1 and 2, and optimise order 1 or 2")
    aim = instances[order - 1]
    view = counts(aim)
    size = min(aim.abstract_sentences, aim.size)
    state = np.array([seed % 2**64], np.uint64)

    cover = _cover(counts(instances[0])) if "greedy" in algorithm else np.zeros(0, np.int64)
    greedy = _best_prefix(view, cover)
    if algorithm == "greedy":
        return rescored(aim, greedy, len(cover))
    if algorithm.startswith("vns"):
        drawn = np.sort(_sample(state, aim.size, size))  # by VNS_Greedy, too, so that both go on with the same numbers
        chosen, iterations = _vns(view, drawn if algorithm == "vns" else greedy, limits, state)
    else:
        chosen, iterations = _genetic(view, greedy, size, limits.generations, state)
    return rescored(aim, chosen, iterations)


@njit(cache=True)
def _below(state: NDArray[np.uint64], limit: int) -> int:  # pragma: no cover
    """A random integer of 0 .. limit - 1 (SplitMix64: Steele, Lea and Flood, 2014); limit < 2**31."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    mixed = state[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return int(((mixed >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@njit(cache=True)
def _draw(state: NDArray[np.uint64], items: NDArray[np.int64], size: int, count: int) -> None:  # pragma: no cover
    """Move `count` random ones of `items[:size]` to the front."""
    for place in range(count):
        other = place + _below(state, size - place)
        items[place], items[other] = items[other], items[place]


@njit(cache=True)
def _sample(state: NDArray[np.uint64], size: int, count: int) -> NDArray[np.int64]:  # pragma: no cover
    """`count` different integers of 0 .. size - 1 in random order."""
    items = np.arange(size)
    _draw(state, items, size, count)
    return items[:count].copy()


@njit(cache=True)
def _cover(words: Counts) -> NDArray[np.int64]:  # pragma: no cover
    """Sentences in the order of Greedy's choices, until they cover all of the abstract's words that they can."""
    rows, types = words.rows, words.types
    sentences, kinds = len(words.lengths), len(words.grams)
    # Which sentences have a word: `holders[starts[word] : starts[word + 1]]`
    starts = np.zeros(kinds + 2, np.int64)
    for kind in types:
        starts[kind + 2] += 1
    for kind in range(kinds):
        starts[kind + 2] += starts[kind + 1]
    holders = np.empty(len(types), np.int32)
    for sentence in range(sentences):
        for place in range(rows[sentence], rows[sentence + 1]):
            slot = starts[types[place] + 1]
            holders[slot] = sentence
            starts[types[place] + 1] = slot + 1
    gains = (rows[1:] - rows[:-1]).astype(np.int32)
    covered = np.zeros(kinds, np.bool_)
    taken = np.empty(sentences, np.int64)
    size = 0
    while size < sentences:
        best = 0
        for sentence in range(1, sentences):
            if gains[sentence] > gains[best]:
                best = sentence
        if gains[best] == 0:
            break
        taken[size] = best
        size += 1
        for place in range(rows[best], rows[best + 1]):
            kind = types[place]
            if not covered[kind]:
                covered[kind] = True
                for slot in range(starts[kind], starts[kind + 1]):
                    gains[holders[slot]] -= 1
    return taken[:size].copy()


@njit(cache=True)
def _best_prefix(view: Counts, cover: NDArray[np.int64]) -> NDArray[np.int64]:  # pragma: no cover
    """The first n of these sentences, n > 0, whose F1 in document order is best, in document order."""
    spare = view.reference.copy()
    ordered, single = np.empty(len(cover), np.int64), np.empty(1, np.int64)
    hits = words = 0
    best, best_numerator, best_denominator = min(1, len(cover)), 0, 1
    for number in range(len(cover)):
        single[0] = cover[number]
        more, longer = gathered(view, spare, single, 1)
        hits += more
        words += longer
        insert(ordered, number, cover[number])
        numerator, denominator = closed(view, spare, ordered, number + 1, hits, words)
        if numerator * best_denominator > best_numerator * denominator:
            best, best_numerator, best_denominator = number + 1, numerator, denominator
    return np.sort(cover[:best])


@njit(cache=True)
def _mark(flags: NDArray[np.bool_], items: NDArray[np.int64], size: int, flag: bool) -> None:  # pragma: no cover
    for place in range(size):
        flags[items[place]] = flag


@njit(cache=True)
def _vns(
    view: Counts, start: NDArray[np.int64], limits: Limits, state: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], int]:  # pragma: no cover
    """The last extract accepted and the iterations made; `start` and the result ascend.

    It is one function, because an iteration changes a dozen work arrays and numbers in place, and takes a microsecond.
    """
    sentences, size = len(view.lengths), len(start)
    rows, types, repeats, lengths = view.rows, view.types, view.counts, view.lengths
    current, candidate = start.copy(), np.empty(size, np.int64)
    used = np.zeros(sentences, np.bool_)  # in the candidate
    used[start] = True
    spare = view.reference.copy()
    hits, words = gathered(view, spare, start, size)
    numerator, denominator = closed(view, spare, current, size, hits, words)
    settled = spare.copy()  # the tally of the current extract, which a failure restores
    places = np.arange(size)  # shuffled a little in each iteration
    picked = np.zeros(size, np.bool_)
    left, entered = np.empty(LARGEST_SHAKE, np.int64), np.empty(LARGEST_SHAKE, np.int64)
    shake, failures, done = 1, 0, 0
    while done < limits.iterations and failures < limits.failures:
        count = min(shake, size, sentences - size)
        if count == 0:
            break
        done += 1
        _draw(state, places, size, count)
        for number in range(count):
            picked[places[number]] = True
            left[number] = current[places[number]]
        come = 0
        while come < count:
            sentence = _below(state, sentences)
            if not used[sentence]:
                used[sentence] = True
                entered[come] = sentence
                come += 1
        _mark(used, left, count, False)

        new_hits = hits - remove(rows, types, repeats, spare, left, count)
        new_hits += add(rows, types, repeats, spare, entered, count)
        new_words = words
        for number in range(count):
            new_words += lengths[entered[number]] - lengths[left[number]]
        top, bottom = 2 * new_hits, new_words + view.reference_total
        better = top * denominator > numerator * bottom
        if view.order == 2 or better:
            kept = 0
            for place in range(size):
                if not picked[place]:
                    candidate[kept] = current[place]
                    kept += 1
            for number in range(count):
                kept = insert(candidate, kept, entered[number])
        if view.order == 2:
            top, bottom = closed(view, spare, candidate, size, new_hits, new_words)
            better = top * denominator > numerator * bottom
        picked[:] = False
        if better:
            current, candidate = candidate, current
            hits, words, numerator, denominator = new_hits, new_words, top, bottom
            settled[:] = spare
            shake, failures = 1, 0
        else:
            spare[:] = settled
            _mark(used, entered, count, False)
            _mark(used, left, count, True)
            shake = min(shake + 1, LARGEST_SHAKE)
            failures += 1
    return current.copy(), done


@njit(cache=True)
def _genetic(
    view: Counts, greedy: NDArray[np.int64], size: int, generations: int, state: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], int]:  # pragma: no cover
    """The best child of the last generation, ascending, and the generations run; of none, the best candidate."""
    sentences = len(view.lengths)
    if size == 0:
        return greedy.copy(), 0
    width = max(size, len(greedy))
    dealt = (sentences + size - 1) // size
    alive = dealt + (len(greedy) > 0)
    survivors = alive // 2
    # A row has one place more than sentences: a mark after the last one for `_union`, and room for `_draw_ordered`.
    pool, sizes = np.full((alive, width + 1), sentences), np.empty(alive, np.int64)
    deck = _sample(state, sentences, sentences)
    for extract in range(dealt):
        hand = np.sort(deck[extract * size : (extract + 1) * size])
        sizes[extract] = len(hand)
        pool[extract, : len(hand)] = hand
    if len(greedy):
        sizes[dealt] = len(greedy)
        pool[dealt, : len(greedy)] = greedy
    spare, dense = view.reference.copy(), _dense(view, width)
    best = np.argsort(-_scores(view, dense, pool, sizes, spare), kind="mergesort")
    both = np.empty(2 * width, np.int64)
    born = 0
    while born < generations and alive >= 2:
        children = np.empty((alive * (alive - 1) // 2, width + 1), np.int64)
        child_sizes = np.empty(len(children), np.int64)
        number = 0
        for mother in range(alive):
            for father in range(mother + 1, alive):
                length = _union(pool[mother], sizes[mother], pool[father], sizes[father], both)
                child_sizes[number] = min(size, length)
                _draw_ordered(state, both, length, child_sizes[number], children[number])
                children[number, child_sizes[number]] = sentences
                number += 1
        best = np.argsort(-_scores(view, dense, children, child_sizes, spare), kind="mergesort")[:survivors]
        pool, sizes = children[best], child_sizes[best]
        born, alive, best = born + 1, len(best), np.arange(len(best))
    return pool[best[0], : sizes[best[0]]].copy(), born


@njit(cache=True)
def _dense(view: Counts, width: int) -> NDArray[np.int16]:  # pragma: no cover
    """The clipped counts of all sentences, [S, types]; no rows where they do not help, or sums could overflow."""
    sentences, kinds = len(view.lengths), len(view.reference)
    if view.order == 2 or sentences * kinds > MOST_DENSE:
        return np.zeros((0, 0), np.int16)
    if kinds == 0 or width * np.int64(view.reference.max()) > 32_767:
        return np.zeros((0, 0), np.int16)
    dense = np.zeros((sentences, kinds), np.int16)
    for sentence in range(sentences):
        for place in range(view.rows[sentence], view.rows[sentence + 1]):
            kind = view.types[place]
            dense[sentence, kind] = min(view.counts[place], view.reference[kind])
    return dense


@njit(cache=True)
def _scores(
    view: Counts,
    dense: NDArray[np.int16],
    pool: NDArray[np.int64],
    sizes: NDArray[np.int64],
    spare: NDArray[np.int32],
) -> NDArray[np.float64]:  # pragma: no cover
    """F1 of every extract of the pool. Equal fractions of such small integers are equal floats, so ties stay ties."""
    scores = np.zeros(len(pool), np.float64)
    lengths, limits = view.lengths, view.reference.astype(np.int16)
    have = np.empty(len(limits), np.int16)
    for extract in range(len(pool)):
        chosen, size = pool[extract], sizes[extract]
        if len(dense):
            have[:] = 0
            denominator = view.reference_total
            for place in range(size):
                denominator += lengths[chosen[place]]
                row = dense[chosen[place]]
                for kind in range(len(have)):
                    have[kind] += row[kind]
            hits = 0
            for kind in range(len(have)):
                hits += min(have[kind], limits[kind])
            numerator = 2 * hits
        else:
            numerator, denominator = evaluate(view, chosen[:size], spare)
        if numerator:
            scores[extract] = numerator / denominator
    return scores


@njit(cache=True)
def _union(
    mother: NDArray[np.int64], mother_size: int, father: NDArray[np.int64], father_size: int, out: NDArray[np.int64]
) -> int:  # pragma: no cover
    """Write the union of `mother[:mother_size]` and `father[:father_size]` to `out`, ascending; returns its size.

    Both ascend, and a greater value stands after their ends. The loop has no branches, which a processor would
    mispredict.
    """
    first = second = size = 0
    while first + second < mother_size + father_size:
        left, right = mother[first], father[second]
        out[size] = min(left, right)
        first += left <= right
        second += right <= left
        size += 1
    return size


@njit(cache=True)
def _draw_ordered(
    state: NDArray[np.uint64], items: NDArray[np.int64], size: int, count: int, out: NDArray[np.int64]
) -> None:  # pragma: no cover
    """Write `count` random ones of `items[:size]` to `out`, in their order (selection sampling: Knuth, volume 2).

    Later values in `out` are overwritten.
    """
    drawn = 0
    for place in range(size):
        out[drawn] = items[place]
        drawn += _below(state, size - place) < count - drawn

"""A greedy choice by F1 and a local search from it: the quick heuristic that starts a proof and labels sentences.

Both always take sentences in document order. They never choose a sentence twice, or one without words.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sumcurve.capabilities.extracts.article import Instance, OracleError, find
from sumcurve.capabilities.extracts.evaluate import (
    Counts,
    Found,
    closed,
    counts,
    gathered,
    key_across,
    remove,
    remove_others,
    rescored,
    tally,
)
from sumcurve.machine.compiled import njit


def f1_greedy(instance: Instance, swap: bool = True) -> Found:
    """Add the sentence that raises F1 most (ties: the first) until none does; with `swap`, then `improved`.

    For order 2 a sentence is tried with the bigrams that it makes and breaks at its place. Where no single sentence
    scores, nothing is chosen.
    """
    return improved(instance, []) if swap else _climbed(instance, [], False)


def improved(instance: Instance, sentences: Sequence[int]) -> Found:
    """A local optimum near these sentences: no single addition, removal or exchange of one of them raises its F1.

    It starts with all additions that help, and never scores less than `sentences` in document order, each taken once.
    OracleError for an index that the article lacks.
    """
    return _climbed(instance, sentences, True)


def _climbed(instance: Instance, sentences: Sequence[int], swap: bool) -> Found:
    for index in sentences:
        if not 0 <= index < instance.size:
            raise OracleError(f"sentence {index} of an article of {instance.size}; indices start with 0")
    start = np.array(sorted({int(index) for index in sentences if instance.lengths[index]}), np.int64)
    chosen, moves = _climb(counts(instance), start, swap)
    return rescored(instance, chosen, moves)


@njit(cache=True)
def _climb(view: Counts, start: NDArray[np.int64], swap: bool) -> tuple[NDArray[np.int64], int]:  # pragma: no cover
    """The extract, ascending, and how many moves led to it."""
    sentences = len(view.lengths)
    limits = tally(view)
    spare = limits.copy()
    starts, ends = _followers(view)
    chosen, rest = np.empty(sentences + 1, np.int64), np.empty(sentences + 1, np.int64)
    size, moves = len(start), 0
    chosen[:size] = start
    free = view.lengths > 0
    for sentence in start:
        free[sentence] = False
    hits, total = _settle(view, spare, chosen, size)
    numerator, denominator = _fraction(view, spare, chosen, size, hits, total)
    changed = True
    while changed:
        changed = False
        while True:
            spare[:] = limits
            hits, total = _settle(view, spare, chosen, size)
            best, top, bottom = _addition(
                view, spare, chosen, size, free, starts, ends, hits, total, numerator, denominator
            )
            if best < 0:
                break
            size = _insert(chosen, size, best)
            free[best] = False
            numerator, denominator = top, bottom
            moves += 1
        place = 0
        while swap and place < size:
            dropped = chosen[place]
            rest[:place] = chosen[:place]
            rest[place : size - 1] = chosen[place + 1 : size]
            spare[:] = limits
            hits, total = _settle(view, spare, rest, size - 1)
            less, fewer = _fraction(view, spare, rest, size - 1, hits, total)
            better = less * denominator > numerator * fewer
            if better:
                numerator, denominator = less, fewer
            best, top, bottom = _addition(
                view, spare, rest, size - 1, free, starts, ends, hits, total, numerator, denominator
            )
            if better or best >= 0:
                free[dropped] = True
                size -= 1
                chosen, rest = rest, chosen
                changed = True
                moves += 1
            if best >= 0:
                size = _insert(chosen, size, best)
                free[best] = False
                numerator, denominator = top, bottom
            if not better or best >= 0:
                place += 1
    return chosen[:size].copy(), moves


@njit(cache=True)
def _insert(ordered: NDArray[np.int64], size: int, sentence: int) -> int:  # pragma: no cover
    """Put the sentence in its place among `ordered[:size]`, which ascends; the new size."""
    place = size
    while place > 0 and ordered[place - 1] > sentence:
        ordered[place] = ordered[place - 1]
        place -= 1
    ordered[place] = sentence
    return size + 1


@njit(cache=True)
def _followers(view: Counts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # pragma: no cover
    """For each sentence, where the bigrams that begin with its last word start and end in `grams`."""
    sentences = len(view.lengths)
    starts, ends = np.zeros(sentences, np.int64), np.zeros(sentences, np.int64)
    if view.order == 2:
        for sentence in range(sentences):
            if view.lengths[sentence]:
                word = np.int64(view.last[sentence])
                starts[sentence] = np.searchsorted(view.grams, word << 32)
                ends[sentence] = np.searchsorted(view.grams, (word + 1) << 32)
    return starts, ends


@njit(cache=True)
def _settle(
    view: Counts, spare: NDArray[np.int32], chosen: NDArray[np.int64], size: int
) -> tuple[int, int]:  # pragma: no cover
    """Count `chosen[:size]`, for order 2 with the bigrams across sentences but for scorer `set`; hits and total."""
    hits, total = gathered(view, spare, chosen, size)
    if view.order == 2 and not view.unique:
        for number in range(1, size):
            kind = find(view.grams, key_across(view, chosen[number - 1], chosen[number]))
            if kind >= 0:
                hits += spare[kind] > 0
                spare[kind] -= 1
    return hits, total


@njit(cache=True)
def _fraction(
    view: Counts, spare: NDArray[np.int32], chosen: NDArray[np.int64], size: int, hits: int, total: int
) -> tuple[int, int]:  # pragma: no cover
    """(numerator, denominator) after `_settle`."""
    if view.order == 1 or view.unique:
        return closed(view, spare, chosen, size, hits, total)
    return 2 * hits, max(total - 1, 0) + view.reference_total


@njit(cache=True)
def _addition(
    view: Counts,
    spare: NDArray[np.int32],
    chosen: NDArray[np.int64],
    size: int,
    free: NDArray[np.bool_],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    hits: int,
    total: int,
    numerator: int,
    denominator: int,
) -> tuple[int, int, int]:  # pragma: no cover
    """The free sentence that scores best with `chosen[:size]`, if above the given F1 (else -1), and that score."""
    if view.order == 2 and view.unique:
        return _addition_to_set(view, spare, chosen, size, free, hits, total, numerator, denominator)
    rows, types, repeats, lengths = view.rows, view.types, view.counts, view.lengths
    other_rows, others, first, grams = view.other_rows, view.others, view.first, view.grams
    base = view.reference_total
    best = -1
    if view.order == 2:
        base -= 1  # of n words all but the last begin a bigram
    place = 0
    left, right = -1, chosen[0] if size else -1
    parted = -1  # the bigram across from left to right, which a sentence between them breaks
    for sentence in range(len(free)):
        if not free[sentence]:
            continue
        if view.order == 2 and place < size and chosen[place] < sentence:
            while place < size and chosen[place] < sentence:
                place += 1
            if parted >= 0:
                spare[parted] -= 1
                hits += spare[parted] >= 0
            left, right = chosen[place - 1], chosen[place] if place < size else -1
            parted = -1
            if right >= 0:
                parted = find(grams, key_across(view, left, right))
            if parted >= 0:
                hits -= spare[parted] >= 0
                spare[parted] += 1
        before = after = -1
        if view.order == 2:
            if left >= 0:
                before = _follower(grams, starts[left], ends[left], first[sentence])
            if right >= 0:
                after = _follower(grams, starts[sentence], ends[sentence], first[right])
        gain = 0
        if before < 0 and after < 0:
            for entry in range(rows[sentence], rows[sentence + 1]):
                gain += min(repeats[entry], max(spare[types[entry]], 0))
        else:
            for entry in range(rows[sentence], rows[sentence + 1]):
                gain += min(repeats[entry], max(spare[types[entry]], 0))
                spare[types[entry]] -= repeats[entry]
            if before >= 0:
                gain += spare[before] > 0
                spare[before] -= 1
            if after >= 0:
                gain += spare[after] > 0
            if before >= 0:
                spare[before] += 1
            for entry in range(rows[sentence], rows[sentence + 1]):
                spare[types[entry]] += repeats[entry]
        top = 2 * (hits + gain)
        if view.unique:
            bottom = total + gain + base
            for entry in range(other_rows[sentence], other_rows[sentence + 1]):
                bottom += spare[len(grams) + others[entry]] > 0
        else:
            bottom = total + lengths[sentence] + base
        if top * denominator > numerator * bottom:
            best, numerator, denominator = sentence, top, bottom
    if parted >= 0:
        spare[parted] -= 1
    return best, numerator, denominator


@njit(cache=True)
def _addition_to_set(
    view: Counts,
    spare: NDArray[np.int32],
    chosen: NDArray[np.int64],
    size: int,
    free: NDArray[np.bool_],
    hits: int,
    total: int,
    numerator: int,
    denominator: int,
) -> tuple[int, int, int]:  # pragma: no cover
    """As `_addition`, for sets of bigrams, each sentence counted and taken out again."""
    longer, single = np.empty(size + 1, np.int64), np.empty(1, np.int64)
    best = -1
    for sentence in range(len(free)):
        if free[sentence]:
            longer[:size] = chosen[:size]
            _insert(longer, size, sentence)
            single[0] = sentence
            more, fresh = gathered(view, spare, single, 1)
            top, bottom = closed(view, spare, longer, size + 1, hits + more, total + fresh)
            remove(view.rows, view.types, view.counts, spare, single, 1)
            remove_others(view.other_rows, view.others, len(view.grams), spare, single, 1)
            if top * denominator > numerator * bottom:
                best, numerator, denominator = sentence, top, bottom
    return best, numerator, denominator


@njit(cache=True)
def _follower(grams: NDArray[np.int64], start: int, end: int, word: int) -> int:  # pragma: no cover
    """The place in `grams[start:end]` of the bigram whose second word this is, or -1."""
    follower = -1
    for place in range(start, end):
        if grams[place] & 0xFFFFFFFF == word:
            follower = place
    return follower

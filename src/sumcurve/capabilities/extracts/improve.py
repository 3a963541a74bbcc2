"""A greedy choice by F1 and a local search from it: the fast heuristic that starts a proof and labels sentences.

Both keep sentences in document order. They never choose a sentence twice, or one without words.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sumcurve.capabilities.extracts.article import Instance, OracleError, find
from sumcurve.capabilities.extracts.evaluate import (
    Counts,
    Found,
    counts,
    gathered,
    insert,
    key_across,
    rescored,
)
from sumcurve.numerics.compiled import njit


class Work(NamedTuple):
    """Arrays that are updated in place while an extract changes."""

    article: Counts
    spare: NDArray[np.int32]  # the abstract's counts less those of the extract
    free: NDArray[np.bool_]  # [S] whether a sentence may come in
    starts: NDArray[np.int64]  # [S] where the bigrams that begin with a sentence's last word start in `grams`
    ends: NDArray[np.int64]  # [S] and where they end; both for order 2 alone


def f1_greedy(instance: Instance, swap: bool = True) -> Found:
    """Add the sentence that raises F1 most (ties: the first) until none does; with `swap`, then `improved`.

    For order 2 a sentence is tried with the bigrams that it adds and removes at its place. Where no single sentence
    has a match, nothing is chosen.
    """
    return improved(instance, []) if swap else _climbed(instance, [], False)


def improved(instance: Instance, sentences: Sequence[int]) -> Found:
    """A local optimum near these sentences: no single addition, removal or exchange of one of them raises its F1.

    It starts with all additions that raise F1, and never scores less than `sentences` in document order, each taken
    once. OracleError for an index out of the article's range.
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
    """The extract, ascending, and the number of moves to it."""
    sentences = len(view.lengths)
    starts, ends = _followers(view)
    free = view.lengths > 0
    work = Work(view, view.reference.copy(), free, starts, ends)
    chosen, rest = np.empty(sentences + 1, np.int64), np.empty(sentences + 1, np.int64)
    size, moves = len(start), 0
    chosen[:size] = start
    for sentence in start:
        free[sentence] = False
    score = _fraction(view, _settle(work, chosen, size))
    changed = True
    while changed:
        changed = False
        while True:
            best, higher = _addition(work, chosen, size, _settle(work, chosen, size), score)
            if best < 0:
                break
            size = insert(chosen, size, best)
            free[best] = False
            score = higher
            moves += 1
        place = 0
        while swap and place < size:
            dropped = chosen[place]
            rest[:place] = chosen[:place]
            rest[place : size - 1] = chosen[place + 1 : size]
            counted = _settle(work, rest, size - 1)
            less = _fraction(view, counted)
            better = less[0] * score[1] > score[0] * less[1]
            if better:
                score = less
            best, higher = _addition(work, rest, size - 1, counted, score)
            if better or best >= 0:
                free[dropped] = True
                size -= 1
                chosen, rest = rest, chosen
                changed = True
                moves += 1
            if best >= 0:
                size = insert(chosen, size, best)
                free[best] = False
                score = higher
            if not better or best >= 0:
                place += 1
    return chosen[:size].copy(), moves


@njit(cache=True)
def _followers(view: Counts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # pragma: no cover
    """Indices in `grams` at which the bigrams that begin with each sentence's last word start and end."""
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
def _settle(work: Work, chosen: NDArray[np.int64], size: int) -> tuple[int, int]:  # pragma: no cover
    """(hits, words) of `chosen[:size]`, counted anew, for order 2 with the bigrams across sentences."""
    view, spare = work.article, work.spare
    spare[:] = view.reference
    hits, words = gathered(view, spare, chosen, size)
    if view.order == 2:
        for number in range(1, size):
            kind = find(view.grams, key_across(view, chosen[number - 1], chosen[number]))
            if kind >= 0:
                hits += spare[kind] > 0
                spare[kind] -= 1
    return hits, words


@njit(cache=True)
def _fraction(view: Counts, counted: tuple[int, int]) -> tuple[int, int]:  # pragma: no cover
    """(numerator, denominator) from the counts of `_settle`."""
    hits, words = counted
    return 2 * hits, (words if view.order == 1 else max(words - 1, 0)) + view.reference_total


@njit(cache=True)
def _addition(
    work: Work, chosen: NDArray[np.int64], size: int, counted: tuple[int, int], score: tuple[int, int]
) -> tuple[int, tuple[int, int]]:  # pragma: no cover
    """The free sentence that scores best with `chosen[:size]`, if above the score given (else -1), and its score.

    `counted` is the result of `_settle` for these sentences.
    """
    view, spare, free, starts, ends = work
    (hits, total), (numerator, denominator) = counted, score
    rows, types, repeats, lengths = view.rows, view.types, view.counts, view.lengths
    first, grams = view.first, view.grams
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
        top, bottom = 2 * (hits + gain), total + lengths[sentence] + base
        if top * denominator > numerator * bottom:
            best, numerator, denominator = sentence, top, bottom
    if parted >= 0:
        spare[parted] -= 1
    return best, (numerator, denominator)


@njit(cache=True)
def _follower(grams: NDArray[np.int64], start: int, end: int, word: int) -> int:  # pragma: no cover
    """The place in `grams[start:end]` of the bigram whose second word this is, or -1."""
    follower = -1
    for place in range(start, end):
        if grams[place] & 0xFFFFFFFF == word:
            follower = place
    return follower

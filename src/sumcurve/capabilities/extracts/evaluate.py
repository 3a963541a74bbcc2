"""Compiled evaluation of extracts: counts of the abstract's n-grams, updated as sentences are added and removed.

A tally `spare` [types] holds the number of further matches of each n-gram: the abstract's count less that of the chosen
sentences. Bigrams that cross from one sentence to the next depend on the order of the sentences and are counted exactly
over the whole extract.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sumcurve.capabilities.extracts.article import Instance, find
from sumcurve.numerics.compiled import njit

# pragma: no cover marks compiled functions, whose lines coverage cannot see.


@dataclass(frozen=True)
class Found:
    """An extract and its F1 as a fraction of integers (see `value`)."""

    sentences: list[int]  # in the order in which they were scored; ascending unless a search states otherwise
    numerator: int
    denominator: int
    iterations: int  # of a VNS, generations of a genetic search, sentences that a greedy one looked at

    @property
    def f1(self) -> float:
        """F1 in 0..1, and 0 where there is no n-gram."""
        return self.numerator / self.denominator if self.denominator else 0.0


class Counts(NamedTuple):
    """Fields of an Instance that the kernels use, under the same names."""

    order: int
    lengths: NDArray[np.int32]
    rows: NDArray[np.int64]
    types: NDArray[np.int32]
    counts: NDArray[np.int32]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    grams: NDArray[np.int64]
    reference: NDArray[np.int32]
    reference_total: int


def counts(instance: Instance) -> Counts:
    """The kernels' view of an Instance; nothing is copied."""
    return Counts(
        instance.order,
        instance.lengths,
        instance.rows,
        instance.types,
        instance.counts,
        instance.first,
        instance.last,
        instance.grams,
        instance.reference,
        instance.reference_total,
    )


def rescored(instance: Instance, sentences: Sequence[int] | NDArray[np.int64], iterations: int) -> Found:
    """The extract of these sentences in this order, scored anew."""
    chosen = np.asarray(sentences, np.int64)
    view = counts(instance)
    numerator, denominator = evaluate(view, chosen, view.reference.copy())
    return Found([int(index) for index in chosen], int(numerator), int(denominator), int(iterations))


@njit(cache=True)
def add(
    rows: NDArray[np.int64],
    types: NDArray[np.int32],
    counts: NDArray[np.int32],
    spare: NDArray[np.int32],
    sentences: NDArray[np.int64],
    size: int,
) -> int:  # pragma: no cover
    """Count the n-grams inside `sentences[:size]`; returns the increase of the hits.

    The arrays are those of `Counts`, one by one: reading a field of a tuple costs compiled code more than the sum.
    """
    hits = 0
    for number in range(size):
        sentence = sentences[number]
        for place in range(rows[sentence], rows[sentence + 1]):
            kind = types[place]
            before = spare[kind]
            spare[kind] = before - counts[place]
            hits += min(counts[place], max(before, 0))
    return hits


@njit(cache=True)
def remove(
    rows: NDArray[np.int64],
    types: NDArray[np.int32],
    counts: NDArray[np.int32],
    spare: NDArray[np.int32],
    sentences: NDArray[np.int64],
    size: int,
) -> int:  # pragma: no cover
    """Undo `add`; returns the decrease of the hits."""
    hits = 0
    for number in range(size):
        sentence = sentences[number]
        for place in range(rows[sentence], rows[sentence + 1]):
            kind = types[place]
            after = spare[kind] + counts[place]
            spare[kind] = after
            hits += min(counts[place], max(after, 0))
    return hits


@njit(cache=True)
def gathered(
    view: Counts, spare: NDArray[np.int32], sentences: NDArray[np.int64], size: int
) -> tuple[int, int]:  # pragma: no cover
    """Count the n-grams inside `sentences[:size]`. Returns the increases of hits and *words*; `closed` makes an F1."""
    hits = add(view.rows, view.types, view.counts, spare, sentences, size)
    words, lengths = 0, view.lengths
    for number in range(size):
        words += lengths[sentences[number]]
    return hits, words


@njit(cache=True)
def key_across(view: Counts, left: int, right: int) -> int:  # pragma: no cover
    """The key (see `Instance.grams`) of the bigram that crosses from one sentence to another; both have words."""
    return int(view.last[left]) << 32 | int(view.first[right])


@njit(cache=True)
def closed(
    view: Counts, spare: NDArray[np.int32], chosen: NDArray[np.int64], size: int, hits: int, words: int
) -> tuple[int, int]:  # pragma: no cover
    """(numerator, denominator) of `chosen[:size]` in this order, given the results of `gathered`, summed over them.

    `spare` counts the n-grams inside these sentences, and is unchanged at the end.
    """
    if view.order == 1:
        return 2 * hits, words + view.reference_total
    crossed = np.empty(size, np.int64)  # places in `spare`
    crossings = 0
    left = -1
    for number in range(size):
        right = chosen[number]
        if view.lengths[right] == 0:
            continue
        if left >= 0:
            kind = find(view.grams, key_across(view, left, right))
            if kind >= 0:
                hits += spare[kind] > 0
                spare[kind] -= 1
                crossed[crossings] = kind
                crossings += 1
        left = right
    for crossing in range(crossings):
        spare[crossed[crossing]] += 1
    return 2 * hits, max(words - 1, 0) + view.reference_total  # of n words all but the last begin a bigram


@njit(cache=True)
def evaluate(view: Counts, chosen: NDArray[np.int64], spare: NDArray[np.int32]) -> tuple[int, int]:  # pragma: no cover
    """(numerator, denominator) of the extract in the order given; `spare` is the reference's count, and unchanged."""
    hits, words = gathered(view, spare, chosen, len(chosen))
    numerator, denominator = closed(view, spare, chosen, len(chosen), hits, words)
    remove(view.rows, view.types, view.counts, spare, chosen, len(chosen))
    return numerator, denominator


@njit(cache=True)
def insert(ordered: NDArray[np.int64], size: int, sentence: int) -> int:  # pragma: no cover
    """Insert the sentence into `ordered[:size]`, which ascends; returns the new size."""
    place = size
    while place > 0 and ordered[place - 1] > sentence:
        ordered[place] = ordered[place - 1]
        place -= 1
    ordered[place] = sentence
    return size + 1

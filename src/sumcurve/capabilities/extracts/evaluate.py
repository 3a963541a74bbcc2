"""Compiled evaluation of extracts: n-grams of the abstract are counted up and down as sentences come and go.

A tally `spare` [types + other types] holds how often each n-gram may still match: the abstract's count (1 for an n-gram
that it lacks) less that of the chosen sentences. Bigrams that cross from one sentence to the next depend on the order
of the sentences and are counted over the whole extract, exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sumcurve.capabilities.extracts.article import Instance, find
from sumcurve.machine.compiled import njit

# pragma: no cover marks compiled functions, whose lines coverage cannot see.


@dataclass(frozen=True)
class Found:
    """An extract and its F1 as a fraction of integers (see `value`)."""

    sentences: list[int]  # in the order in which they were scored; ascending unless a search says otherwise
    numerator: int
    denominator: int
    iterations: int  # of a VNS, generations of a genetic search, sentences that a greedy one looked at

    @property
    def f1(self) -> float:
        """0..1, and 0 where nothing can be compared."""
        return self.numerator / self.denominator if self.denominator else 0.0


class Counts(NamedTuple):
    """What the kernels need of an Instance, whose fields of the same names these are."""

    order: int
    unique: bool  # scorer `set`
    lengths: NDArray[np.int32]
    rows: NDArray[np.int64]
    types: NDArray[np.int32]
    counts: NDArray[np.int32]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    grams: NDArray[np.int64]
    reference: NDArray[np.int32]
    reference_total: int
    other_rows: NDArray[np.int64]
    others: NDArray[np.int32]
    other_grams: NDArray[np.int64]


def counts(instance: Instance) -> Counts:
    """The kernels' view of an Instance; nothing is copied."""
    return Counts(
        instance.order,
        instance.scorer == "set",
        instance.lengths,
        instance.rows,
        instance.types,
        instance.counts,
        instance.first,
        instance.last,
        instance.grams,
        instance.reference,
        instance.reference_total,
        instance.other_rows,
        instance.others,
        instance.other_grams,
    )


def rescored(instance: Instance, sentences: Sequence[int] | NDArray[np.int64], iterations: int) -> Found:
    """The extract of these sentences in this order, scored anew."""
    chosen = np.asarray(sentences, np.int64)
    view = counts(instance)
    numerator, denominator = evaluate(view, chosen, tally(view))
    return Found([int(index) for index in chosen], int(numerator), int(denominator), int(iterations))


@njit(cache=True)
def tally(view: Counts) -> NDArray[np.int32]:  # pragma: no cover
    """What may still match when nothing is chosen."""
    return np.concatenate((view.reference, np.ones(len(view.other_grams), np.int32)))


@njit(cache=True)
def add(
    rows: NDArray[np.int64],
    types: NDArray[np.int32],
    counts: NDArray[np.int32],
    spare: NDArray[np.int32],
    sentences: NDArray[np.int64],
    size: int,
) -> int:  # pragma: no cover
    """Count what is inside `sentences[:size]`; returns by how much the hits grow.

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
    """Undo `add`; returns by how much the hits shrink."""
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
def add_others(
    rows: NDArray[np.int64],
    others: NDArray[np.int32],
    offset: int,
    spare: NDArray[np.int32],
    sentences: NDArray[np.int64],
    size: int,
) -> int:  # pragma: no cover
    """As `add`, for the n-grams that the abstract lacks: how many distinct ones come."""
    fresh = 0
    for number in range(size):
        sentence = sentences[number]
        for place in range(rows[sentence], rows[sentence + 1]):
            kind = offset + others[place]
            fresh += spare[kind] == 1
            spare[kind] -= 1
    return fresh


@njit(cache=True)
def remove_others(
    rows: NDArray[np.int64],
    others: NDArray[np.int32],
    offset: int,
    spare: NDArray[np.int32],
    sentences: NDArray[np.int64],
    size: int,
) -> int:  # pragma: no cover
    """Undo `add_others`; how many distinct ones go."""
    gone = 0
    for number in range(size):
        sentence = sentences[number]
        for place in range(rows[sentence], rows[sentence + 1]):
            kind = offset + others[place]
            spare[kind] += 1
            gone += spare[kind] == 1
    return gone


@njit(cache=True)
def gathered(
    view: Counts, spare: NDArray[np.int32], sentences: NDArray[np.int64], size: int
) -> tuple[int, int]:  # pragma: no cover
    """Count what is inside `sentences[:size]`. Returns by how much the hits and the total grow.

    The total is that of distinct n-grams for scorer `set` and of *words* for the others; `closed` turns it into a
    denominator.
    """
    hits = add(view.rows, view.types, view.counts, spare, sentences, size)
    if view.unique:
        return hits, hits + add_others(view.other_rows, view.others, len(view.grams), spare, sentences, size)
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
    view: Counts, spare: NDArray[np.int32], chosen: NDArray[np.int64], size: int, hits: int, total: int
) -> tuple[int, int]:  # pragma: no cover
    """(numerator, denominator) of `chosen[:size]` in this order, given what `gathered` returned, summed over them.

    `spare` counts what is inside these sentences, and is left as it was.
    """
    if view.order == 1:
        return 2 * hits, total + view.reference_total
    crossed = np.empty(size, np.int64)  # places in `spare`
    foreign = np.empty(size, np.int64)  # bigrams without a place, each once; `set` only
    crossings = strangers = 0
    left = -1
    for number in range(size):
        right = chosen[number]
        if view.lengths[right] == 0:
            continue
        if left >= 0:
            key = key_across(view, left, right)
            kind = find(view.grams, key)
            if kind >= 0:
                hits += spare[kind] > 0
                if view.unique:
                    total += spare[kind] > 0
            elif view.unique:
                kind = find(view.other_grams, key)
                if kind >= 0:
                    kind += len(view.grams)
                    total += spare[kind] > 0
                else:
                    known = False
                    for other in range(strangers):
                        known |= foreign[other] == key
                    if not known:
                        foreign[strangers] = key
                        strangers += 1
            if kind >= 0:
                spare[kind] -= 1
                crossed[crossings] = kind
                crossings += 1
        left = right
    for crossing in range(crossings):
        spare[crossed[crossing]] += 1
    # Of n words all but the last begin a bigram.
    total = total + strangers if view.unique else max(total - 1, 0)
    return 2 * hits, total + view.reference_total


@njit(cache=True)
def evaluate(view: Counts, chosen: NDArray[np.int64], spare: NDArray[np.int32]) -> tuple[int, int]:  # pragma: no cover
    """(numerator, denominator) of the extract in the order given. `spare` is a fresh `tally`, and stays one."""
    hits, total = gathered(view, spare, chosen, len(chosen))
    numerator, denominator = closed(view, spare, chosen, len(chosen), hits, total)
    remove(view.rows, view.types, view.counts, spare, chosen, len(chosen))
    if view.unique:
        remove_others(view.other_rows, view.others, len(view.grams), spare, chosen, len(chosen))
    return numerator, denominator

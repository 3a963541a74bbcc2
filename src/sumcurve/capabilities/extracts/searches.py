"""The five searches of Akhmetov, Mladenović and Mussabayev (PeerJ Computer Science, 2022), compiled.

VNS (variable neighbourhood search: Mladenović and Hansen, 1997), Greedy, VNS_Greedy, Genetic and Genetic_Greedy look
for the extract with the best F1. Let a be the abstract's number of sentences and d the source's.

Variant ``paper`` is what the article's text describes, and where it leaves a choice the plainest reading:

- VNS starts from a random sentences. It replaces k of them by random others, k = 1 at first; a better extract is kept
  and sets k to 1, a failure makes k one larger, up to 3. It ends after 5,000 iterations or 700 failures in a row.
- Greedy covers the abstract's words: it takes the sentence with most words that are not covered yet (ties: the first)
  until none has any, and keeps as many of these, from the first, as give the best F1 (ties: fewest). Words are the
  scorer's.
- VNS_Greedy is VNS from Greedy's extract.
- Genetic deals the sentences at random into extracts of a. Half of these, the best, survive. For 6 generations, each
  two survivors have a child, a random sentences of theirs; parents and children compete for the survivors' places. So
  the best is never lost and no sentence comes twice.
- Genetic_Greedy has Greedy's extract among the first ones, too.

Variant ``code`` is what the authors' published notebooks do. Greedy's code is not published, so it has none.

- VNS: a step drops k sentences, and those beyond place a of the list, and refills with random ones to a + k, which may
  be sentences just dropped. Failures are counted in total, never reset; the cap is 10,000. Of equal ROUGE-1 the better
  ROUGE-2 wins. Extracts are scored in the list's order and the final one in the document's.
- VNS_Greedy: the same, but sentences beyond place a stay, lists of a + k or more only shrink, and ROUGE-1 alone
  decides. Its start names the first of equal sentences.
- Genetic and Genetic_Greedy: a child is drawn from its two parents' lists one after the other, so that a sentence of
  both may come twice. Parents die. The best child of the last generation is the result, in its random order.

Unlike the authors' code, no search looks at a clock (theirs stop after 60 s); none is cut short by an error (theirs
drop the document if fewer than k sentences are left, or fewer than six extracts are dealt; here fewer are drawn, and
the best child of the last generation that has any is the result); none leaves a document out (theirs ask for a >= 5
and d > a; here as many are drawn as there are); and the source is not shuffled in place.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sumcurve.capabilities.extracts.article import Instance, OracleError
from sumcurve.capabilities.extracts.evaluate import (
    Counts,
    Found,
    add,
    add_others,
    closed,
    counts,
    evaluate,
    gathered,
    remove,
    remove_others,
    rescored,
    tally,
)
from sumcurve.machine.compiled import njit

ALGORITHMS = ("VNS", "Greedy", "VNS_Greedy", "Genetic", "Genetic_Greedy")
Variant = Literal["paper", "code"]
LARGEST_SHAKE = 3  # k
MOST_DENSE = 10_000_000  # counts that a genetic search may write out


@dataclass(frozen=True)
class Limits:
    """When a search ends."""

    iterations: int  # of a VNS
    failures: int  # of a VNS: in a row (paper) or in total (code)
    generations: int


LIMITS = {"paper": Limits(5_000, 700, 6), "code": Limits(10_000, 700, 6)}


def search(
    instances: Sequence[Instance],
    algorithm: str,
    variant: Variant = "paper",
    *,
    seed: int,
    order: int = 1,
    limits: Limits | None = None,
) -> Found:
    """The best extract that the search meets, by the F1 of ROUGE-`order`.

    `instances` are the article's for orders 1 and 2 (see `article.instances`). The same seed gives the same result on
    every machine; articles need not have different seeds. Sentences are in document order, but for Genetic and
    Genetic_Greedy in variant `code`, where the order is part of the score and a sentence may come twice.

    OracleError for an unknown algorithm, variant or order.
    """
    if algorithm not in ALGORITHMS:
        raise OracleError(f"unknown algorithm {algorithm!r}; take one of {', '.join(ALGORITHMS)}")
    if variant not in LIMITS:
        raise OracleError(f"unknown variant {variant!r}; take paper or code")
    if algorithm == "Greedy" and variant == "code":
        raise OracleError("the authors' code of Greedy is not published; take variant paper")
    if [instance.order for instance in instances] != [1, 2] or order not in (1, 2):
        raise OracleError("give the article's instances of order 1 and 2, and optimise order 1 or 2")
    code = variant == "code"
    limits = limits or LIMITS[variant]
    aim, other = instances[order - 1], instances[2 - order]
    view = counts(aim)
    size = min(aim.abstract_sentences, aim.size)
    state = np.array([seed % 2**64], np.uint64)

    cover = np.zeros(0, np.int64)
    if algorithm != "VNS" and algorithm != "Genetic":
        cover = _cover(counts(instances[0]))
    greedy = _best_prefix(view, cover)
    if algorithm == "Greedy":
        return rescored(aim, greedy, len(cover))

    if algorithm.startswith("VNS"):
        start = _sample(state, aim.size, size)
        start = start if code else np.sort(start)
        if algorithm == "VNS_Greedy":
            start = aim.same[greedy].astype(np.int64) if code else greedy
        ties = code and algorithm == "VNS"
        keep_all = algorithm == "VNS_Greedy"
        chosen, iterations = _vns(
            view, counts(other), start, size, code, keep_all, ties, limits.iterations, limits.failures, state
        )
        return rescored(aim, np.sort(chosen), iterations)

    chosen, iterations = _genetic(view, greedy, size, code, limits.generations, state)
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
    """Bring `count` random ones of `items[:size]` to the front."""
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
    """Sentences in the order in which Greedy takes them, until they cover all of the abstract's words that they can."""
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
    spare = tally(view)
    rows, types, repeats, lengths = view.rows, view.types, view.counts, view.lengths
    ordered, single = np.empty(len(cover), np.int64), np.empty(1, np.int64)
    hits = total = 0
    best, best_numerator, best_denominator = min(1, len(cover)), 0, 1
    for number in range(len(cover)):
        single[0] = cover[number]
        if view.order == 1 and not view.unique:
            hits += add(rows, types, repeats, spare, single, 1)
            total += lengths[single[0]]
            numerator, denominator = 2 * hits, total + view.reference_total
        else:
            more, longer = gathered(view, spare, single, 1)
            hits += more
            total += longer
            _insert(ordered, number, cover[number])
            numerator, denominator = closed(view, spare, ordered, number + 1, hits, total)
        if numerator * best_denominator > best_numerator * denominator:
            best, best_numerator, best_denominator = number + 1, numerator, denominator
    return np.sort(cover[:best])


@njit(cache=True)
def _mark(flags: NDArray[np.bool_], items: NDArray[np.int64], size: int, flag: bool) -> None:  # pragma: no cover
    for place in range(size):
        flags[items[place]] = flag


@njit(cache=True)
def _insert(ordered: NDArray[np.int64], size: int, sentence: int) -> None:  # pragma: no cover
    """Put the sentence in its place among `ordered[:size]`, which ascends."""
    place = size
    while place > 0 and ordered[place - 1] > sentence:
        ordered[place] = ordered[place - 1]
        place -= 1
    ordered[place] = sentence


@njit(cache=True)
def _vns(
    view: Counts,
    second: Counts,
    start: NDArray[np.int64],
    target: int,
    code: bool,
    keep_all: bool,
    ties: bool,
    iterations: int,
    patience: int,
    state: NDArray[np.uint64],
) -> tuple[NDArray[np.int64], int]:  # pragma: no cover
    """The last extract accepted, in list order, and the iterations made. Variant `paper` needs an ascending start.

    In one function, because an iteration changes a dozen work arrays and numbers in place, and takes a microsecond.
    """
    sentences = len(view.lengths)
    room = max(len(start), min(target + LARGEST_SHAKE, sentences))
    current, candidate = np.empty(room, np.int64), np.empty(room, np.int64)
    size = len(start)
    current[:size] = start
    used = np.zeros(sentences, np.bool_)  # in the candidate
    used[start] = True
    spare = tally(view)
    scratch = tally(second)
    rows, types, repeats, lengths = view.rows, view.types, view.counts, view.lengths
    other_rows, others, kinds = view.other_rows, view.others, len(view.grams)
    order, unique, reference_total = view.order, view.unique, view.reference_total
    hits, total = gathered(view, spare, start, size)
    numerator, denominator = closed(view, spare, current, size, hits, total)
    settled = spare[:kinds].copy()  # the tally of the current extract, which a failure restores
    rank = -1, 1  # of the current extract by the second score; a negative numerator: not known yet
    places = np.arange(room)  # of the list, shuffled a little in each iteration
    picked = np.zeros(room, np.bool_)
    left, entered = np.empty(room, np.int64), np.empty(room, np.int64)
    shake, failures, done = 1, 0, 0
    while done < iterations and failures < patience:
        count = min(shake, size)
        if not code:
            count = min(count, sentences - size)
            if count == 0:
                break
        done += 1
        _draw(state, places, size, count)
        gone = come = 0
        for place in range(count):
            picked[places[place]] = True
            left[gone] = current[places[place]]
            gone += 1
        if code and not keep_all:
            for place in range(target, size):
                if not picked[place]:
                    picked[place] = True
                    left[gone] = current[place]
                    gone += 1
        fresh = gone
        if code:  # what was dropped may come back
            _mark(used, left, gone, False)
            fresh = max(min(target + shake, sentences) - (size - gone), 0)
        while come < fresh:
            sentence = _below(state, sentences)
            if not used[sentence]:
                used[sentence] = True
                entered[come] = sentence
                come += 1
        if not code:
            _mark(used, left, gone, False)

        lost = remove(rows, types, repeats, spare, left, gone)
        won = add(rows, types, repeats, spare, entered, come)
        new_hits, new_total = hits - lost + won, total
        if unique:
            new_total -= lost + remove_others(other_rows, others, kinds, spare, left, gone)
            new_total += won + add_others(other_rows, others, kinds, spare, entered, come)
        else:
            for place in range(gone):
                new_total -= lengths[left[place]]
            for place in range(come):
                new_total += lengths[entered[place]]
        better = equal = False
        top, bottom = 2 * new_hits, new_total + reference_total
        if order == 1:
            gain = top * denominator - numerator * bottom
            better, equal = gain > 0, gain == 0
        filled = size - gone + come
        if order == 2 or better or (ties and equal):
            kept = 0
            for place in range(size):
                if not picked[place]:
                    candidate[kept] = current[place]
                    kept += 1
            for place in range(come):
                if code:
                    candidate[kept + place] = entered[place]
                else:
                    _insert(candidate, kept + place, entered[place])
        if order == 2:
            top, bottom = closed(view, spare, candidate, filled, new_hits, new_total)
            gain = top * denominator - numerator * bottom
            better, equal = gain > 0, gain == 0
        if ties and equal:
            if rank[0] < 0:
                rank = evaluate(second, current[:size], scratch)
            rival = evaluate(second, candidate[:filled], scratch)
            better = rival[0] * rank[1] > rank[0] * rival[1]
        for place in range(size):
            picked[place] = False
        if better:
            current, candidate = candidate, current
            hits, total, numerator, denominator = new_hits, new_total, top, bottom
            settled[:] = spare[:kinds]
            rank = -1, 1
            if size != filled:
                size = filled
                for place in range(size):
                    places[place] = place
            shake = 1
            if not code:
                failures = 0
        else:
            for kind in range(kinds):
                spare[kind] = settled[kind]
            if unique:
                remove_others(other_rows, others, kinds, spare, entered, come)
                add_others(other_rows, others, kinds, spare, left, gone)
            _mark(used, entered, come, False)
            _mark(used, left, gone, True)
            shake = min(shake + 1, LARGEST_SHAKE)
            failures += 1
    return current[:size].copy(), done


@njit(cache=True)
def _genetic(
    view: Counts, greedy: NDArray[np.int64], size: int, code: bool, generations: int, state: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], int]:  # pragma: no cover
    """The result, in list order (`code`) or document order, and the generations born."""
    sentences = len(view.lengths)
    if size == 0:
        return np.sort(greedy), 0
    width = max(size, len(greedy))
    dealt = (sentences + size - 1) // size
    first = dealt + (len(greedy) > 0)
    survivors = first // 2
    children = survivors * (survivors - 1) // 2
    # A row has one place more than sentences: a mark behind the last one for `_union`, and room for `_draw_ordered`.
    pool = np.empty((max(first, survivors + children), width + 1), np.int64)
    sizes = np.zeros(len(pool), np.int64)
    deck = _sample(state, sentences, sentences)
    for extract in range(dealt):
        hand = deck[extract * size : (extract + 1) * size]
        sizes[extract] = len(hand)
        pool[extract, : len(hand)] = hand if code else np.sort(hand)
    if len(greedy):
        sizes[dealt] = len(greedy)
        pool[dealt, : len(greedy)] = greedy
    spare, dense = tally(view), _dense(view, width)
    scores = _scores(view, dense, pool, sizes, 0, first, spare)
    parents, parent_sizes = np.empty((survivors, width + 1), np.int64), np.empty(survivors, np.int64)
    both = np.empty(2 * width, np.int64)
    alive, born = first, 0
    while born < generations and survivors >= 2 and alive >= 2:
        best = np.argsort(-scores, kind="mergesort")[:survivors]
        for rank in range(len(best)):
            parents[rank] = pool[best[rank]]
            parent_sizes[rank] = sizes[best[rank]]
            parents[rank, parent_sizes[rank]] = sentences
        kept_scores = scores[best]
        number = 0
        if not code:  # parents stay
            pool[: len(best)] = parents[: len(best)]
            sizes[: len(best)] = parent_sizes[: len(best)]
            number = len(best)
        parents_alive = number
        for mother in range(len(best)):
            for father in range(mother + 1, len(best)):
                if code:
                    length = parent_sizes[mother] + parent_sizes[father]
                    both[: parent_sizes[mother]] = parents[mother, : parent_sizes[mother]]
                    both[parent_sizes[mother] : length] = parents[father, : parent_sizes[father]]
                    drawn = min(size, length)
                    _draw(state, both, length, drawn)
                    pool[number, :drawn] = both[:drawn]
                else:
                    length = _union(parents[mother], parent_sizes[mother], parents[father], parent_sizes[father], both)
                    drawn = min(size, length)
                    _draw_ordered(state, both, length, drawn, pool[number])
                sizes[number] = drawn
                number += 1
        born += 1
        alive = number
        fresh = _scores(view, dense, pool, sizes, parents_alive, number, spare)
        scores = fresh if code else np.concatenate((kept_scores, fresh))
    best_one = np.argmax(scores)
    return pool[best_one, : sizes[best_one]].copy(), born


@njit(cache=True)
def _dense(view: Counts, width: int) -> NDArray[np.int16]:  # pragma: no cover
    """The clipped counts of all sentences, [S, types]; no rows where they do not help, or sums could overflow."""
    sentences, kinds = len(view.lengths), len(view.reference)
    if view.order == 2 or view.unique or sentences * kinds > MOST_DENSE:
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
    begin: int,
    end: int,
    spare: NDArray[np.int32],
) -> NDArray[np.float64]:  # pragma: no cover
    """F1 of `pool[begin:end]`. Equal fractions of such small integers are equal floats, so ties stay ties."""
    scores = np.zeros(end - begin, np.float64)
    lengths, limits = view.lengths, view.reference.astype(np.int16)
    have = np.empty(len(limits), np.int16)
    for extract in range(begin, end):
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
            scores[extract - begin] = numerator / denominator
    return scores


@njit(cache=True)
def _union(
    mother: NDArray[np.int64], mother_size: int, father: NDArray[np.int64], father_size: int, out: NDArray[np.int64]
) -> int:  # pragma: no cover
    """Write what is in `mother[:mother_size]` or `father[:father_size]` to `out`, ascending; how many.

    Both ascend, and something greater stands behind their ends. Without branches, which a processor could not foresee.
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

    What is in `out` behind them is overwritten.
    """
    drawn = 0
    for place in range(size):
        out[drawn] = items[place]
        drawn += _below(state, size - place) < count - drawn

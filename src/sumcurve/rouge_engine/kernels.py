"""The compiled loops of the ROUGE engine: words to numbers, and counts of what a candidate and a reference share.

All is integer arithmetic; the fractions are made elsewhere. Kernels hold no Python lock and share nothing, so that
threads can run them side by side.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sumcurve.numerics.compiled import njit

Bits = NDArray[np.uint64]
Ids = NDArray[np.int64]

# Classes of symbols
GAP, BREAK, LETTER, MARK, SINGLE = range(5)

# Metrics by number: 1 to 9 are n-grams of that order.
L, LSUM, S4, SU4 = 10, 11, 12, 13
SKIP = 4  # tokens that a skip-bigram may skip

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_HIGH = np.uint64(1 << 63)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_WORD = 64
TILE = 4096  # tokens of either text whose table of common subsequences is held at once: 2 MB of bits


@njit(cache=True, nogil=True)
def tokenise(
    symbols: NDArray[Any], classes: NDArray[np.uint8], sentences: int
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Tokens as numbers in order of first appearance, the first token of each sentence (and the end), and where each
    word first stands (its first symbol, the symbol behind it).

    `symbols` are bytes below 128 or code points, `classes` their classes: a word begins with a LETTER and goes on over
    LETTER and MARK; a SINGLE is a word by itself, with the MARKs behind it; a GAP ends a word, a BREAK a sentence.
    """
    before = GAP
    most = 0  # tokens, or more
    for symbol in symbols:
        kind = classes[symbol]
        most += (kind == SINGLE) | ((kind == LETTER) & (before != LETTER))
        before = kind
    ids = np.empty(most, np.int32)
    firsts = np.empty(sentences + 1, np.int64)
    firsts[0] = 0
    begins = np.empty(most, np.int64)
    ends = np.empty(most, np.int64)
    state = np.zeros(4, np.int64)  # symbol, sentence, tokens, words
    size = 4096
    keys = np.zeros(size, np.uint64)  # 0 where a slot is free
    numbers = np.empty(size, np.int32)
    while True:
        _tokenise(symbols, classes, ids, firsts, begins, ends, keys, numbers, state)
        if state[0] == len(symbols):
            break
        size *= 4
        wider = np.zeros(size, np.uint64)
        renumbered = np.empty(size, np.int32)
        for old in range(len(keys)):
            if keys[old] != _ZERO:
                slot = _hash(keys[old], size)
                while wider[slot] != _ZERO:
                    slot = (slot + 1) & (size - 1)
                wider[slot], renumbered[slot] = keys[old], numbers[old]
        keys, numbers = wider, renumbered
    firsts[sentences] = state[2]
    return ids[: state[2]], firsts, begins[: state[3]].copy(), ends[: state[3]].copy()


@njit(cache=True, nogil=True)
def _tokenise(
    symbols: NDArray[Any],
    classes: NDArray[np.uint8],
    ids: NDArray[np.int32],
    firsts: NDArray[np.int64],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    keys: NDArray[np.uint64],
    numbers: NDArray[np.int32],
    state: NDArray[np.int64],
) -> None:
    """Go on from `state` to the end, or until the table of keys is half full."""
    exact = 8 // symbols.itemsize  # symbols of a word that its key holds one by one
    shift = np.uint64(64 // exact)
    length, size = len(symbols), len(keys)
    place, sentence, tokens, words = state
    while place < length:
        kind = classes[symbols[place]]
        if kind != LETTER and kind != SINGLE:
            place += 1
            if kind == BREAK:
                sentence += 1
                firsts[sentence] = tokens
            continue
        if 2 * words > size:
            break
        begin = place
        # The key of a short word is the word, that of a longer one a number with the highest bit set.
        key = mixed = _ZERO
        held = 0
        while True:
            if held == exact:
                mixed = (mixed ^ key) * _MIX
                mixed ^= mixed >> np.uint64(32)
                key = _ZERO
                held = 0
            key = key << shift | np.uint64(symbols[place])
            held += 1
            place += 1
            if place == length:
                break
            following = classes[symbols[place]]
            if following != MARK and (following != LETTER or kind == SINGLE):
                break
        if place - begin > exact:
            key = ((mixed ^ key) * _MIX) | _HIGH
        slot = _hash(key, size)
        while keys[slot] != _ZERO:
            if keys[slot] == key:
                if place - begin <= exact:
                    break
                word = numbers[slot]
                if ends[word] - begins[word] == place - begin:
                    offset = 0
                    while offset < place - begin and symbols[begins[word] + offset] == symbols[begin + offset]:
                        offset += 1
                    if offset == place - begin:
                        break
            slot = (slot + 1) & (size - 1)
        if keys[slot] == _ZERO:
            begins[words], ends[words] = begin, place
            keys[slot], numbers[slot] = key, words
            words += 1
        ids[tokens] = numbers[slot]
        tokens += 1
    state[0], state[1], state[2], state[3] = place, sentence, tokens, words


@njit(cache=True, nogil=True)
def _hash(key: np.uint64, size: int) -> int:
    return int((key * _MIX) >> np.uint64(32)) & (size - 1)


@njit(cache=True, nogil=True)
def count(
    ids: NDArray[np.int32],
    firsts: Ids,
    texts: Ids,
    candidates: Ids,
    references: Ids,
    metrics: Ids,
    vocabulary: int,
    tile: int = TILE,
) -> Ids:
    """Counts of each pair: [pairs, metrics, 3] hits, units of the candidate, units of the reference.

    `ids` are the tokens of all texts, `firsts` the first token of each sentence, `texts` the first sentence of each
    text (both with the end behind); `candidates` and `references` name a text of each pair. In one function, so that
    a pair's words are numbered, and work arrays made, once for all metrics. Memory grows with the longest text, not
    with the product of two: a longer table of common subsequences is made by tiles, of a multiple of 64 tokens each.
    """
    longest = order = units = broad = 0
    for text in range(len(texts) - 1):
        longest = max(longest, firsts[texts[text + 1]] - firsts[texts[text]])
    for sentence in range(len(firsts) - 1):
        broad = max(broad, firsts[sentence + 1] - firsts[sentence])
    for metric in metrics:
        if metric < L:
            order = max(order, metric)
        units = max(units, SKIP + 1 if metric >= S4 else 1)
        if metric == L:
            broad = longest
    side = min(broad, tile) if L in metrics or LSUM in metrics else 0
    width = (side + _WORD - 1) // _WORD
    label = np.full(vocabulary, -1, np.int64)  # a number for each word of the reference at hand
    ours = np.empty(longest, np.int64)
    theirs = np.empty(longest, np.int64)
    our_grams = np.empty(longest, np.int64)
    their_grams = np.empty(longest, np.int64)
    left = np.empty(longest * units + 1, np.int64)  # how often each n-gram is still to be matched
    other = np.empty(longest + 1, np.int64)
    size = 16
    while size < 2 * longest * units:
        size *= 2
    keys = np.empty(size, np.int64)
    values = np.empty(size, np.int64)
    stamps = np.zeros(size, np.int64)
    stamp = 0
    # Of each label a bit per position in a sentence; where that is too much, labels are numbered by tile.
    places = np.zeros((longest if longest * width <= tile * tile // _WORD else tile, width), np.uint64)
    numbers = np.full(longest if len(places) < longest else 0, -1, np.int64)
    renumbered = np.empty((2, len(numbers)), np.int64)
    rows = np.empty((side + 1, width), np.uint64)  # one more, for the row above a tile
    marked = np.zeros((broad + _WORD - 1) // _WORD, np.uint64)
    nothing = np.empty((0, 0), np.uint64)
    shared = np.zeros((len(candidates), len(metrics), 3), np.int64)
    for pair in range(len(candidates)):
        first, last = texts[candidates[pair]], texts[candidates[pair] + 1]
        origin = firsts[first]
        n = firsts[last] - origin
        their_first, their_last = texts[references[pair]], texts[references[pair] + 1]
        their_origin = firsts[their_first]
        m = firsts[their_last] - their_origin
        labels = 0
        for i in range(m):
            word = ids[their_origin + i]
            if label[word] < 0:
                label[word] = labels
                labels += 1
            theirs[i] = label[word]
        for i in range(n):
            ours[i] = label[ids[origin + i]]
        for i in range(m):
            label[ids[their_origin + i]] = -1

        for length in range(1, order + 1):
            hits = 0
            if length == 1:
                left[:labels] = 0
                for i in range(m):
                    their_grams[i] = theirs[i]
                    left[theirs[i]] += 1
                for i in range(n):
                    our_grams[i] = gram = ours[i]
                    if gram >= 0 and left[gram] > 0:
                        left[gram] -= 1
                        hits += 1
            else:
                stamp += 1
                room = _room(m, size)
                grams = 0
                for i in range(m - length + 1):
                    key = their_grams[i] * labels + theirs[i + length - 1]
                    slot = _slot(keys, stamps, stamp, room, key)
                    if stamps[slot] != stamp:
                        stamps[slot], keys[slot], values[slot] = stamp, key, grams
                        left[grams] = 0
                        grams += 1
                    gram = values[slot]
                    left[gram] += 1
                    their_grams[i] = gram
                for i in range(n - length + 1):
                    gram = -1
                    if our_grams[i] >= 0 and ours[i + length - 1] >= 0:
                        key = our_grams[i] * labels + ours[i + length - 1]
                        slot = _slot(keys, stamps, stamp, room, key)
                        if stamps[slot] == stamp:
                            gram = values[slot]
                            if left[gram] > 0:
                                left[gram] -= 1
                                hits += 1
                    our_grams[i] = gram
            for column in range(len(metrics)):
                if metrics[column] == length:
                    shared[pair, column] = (hits, max(n - length + 1, 0), max(m - length + 1, 0))

        for column in range(len(metrics)):
            metric = metrics[column]
            if metric == L:
                hits = 0
                if max(n, m) <= tile and not len(numbers):
                    if n > 0 and m > 0:
                        _place(places, theirs[:m])
                        _fill(rows, places, ours, 0, n, m)
                        for i in range(m):
                            if not rows[n - 1, i // _WORD] >> np.uint64(i % _WORD) & _ONE:
                                hits += 1
                        _clear(places, theirs[:m])
                else:
                    carries = np.zeros((1, n // _WORD + 1), np.uint64)
                    hits = _length(rows, places, numbers, renumbered, ours[:n], theirs[:m], tile, carries, nothing)
                shared[pair, column] = (hits, n, m)
            elif metric == LSUM:
                left[:labels] = 0
                other[:labels] = 0
                for i in range(m):
                    left[theirs[i]] += 1
                for i in range(n):
                    if ours[i] >= 0:
                        other[ours[i]] += 1
                hits = 0
                for their_sentence in range(their_first, their_last):
                    begin, end = firsts[their_sentence] - their_origin, firsts[their_sentence + 1] - their_origin
                    if begin == end:
                        continue
                    target = theirs[begin:end]
                    if len(target) <= tile:
                        source, known = ours[:n], target
                        if len(numbers):
                            source, known = _number(numbers, renumbered, source, target)
                        _place(places, known)
                        for sentence in range(first, last):
                            start, stop = firsts[sentence] - origin, firsts[sentence + 1] - origin
                            if stop - start <= tile and _fill(rows, places, source, start, stop, end - begin):
                                _mark(marked, rows, places, source, start, stop, end - begin)
                        _clear(places, known)
                    for sentence in range(first, last):
                        start, stop = firsts[sentence] - origin, firsts[sentence + 1] - origin
                        if max(stop - start, len(target)) > tile:
                            _mark_tiles(marked, rows, places, numbers, renumbered, ours[start:stop], target, tile)
                    for i in range(end - begin):
                        if marked[i // _WORD] >> np.uint64(i % _WORD) & _ONE:
                            word = target[i]
                            if other[word] > 0 and left[word] > 0:  # no word counts more often than both have it
                                other[word] -= 1
                                left[word] -= 1
                                hits += 1
                    marked[:] = _ZERO
                shared[pair, column] = (hits, n, m)
            elif metric >= S4:
                stamp += 1
                room = _room((SKIP + 1) * m, size)
                hits = grams = 0
                for i in range(m):
                    for j in range(i + 1, min(i + SKIP + 2, m)):
                        key = theirs[i] * labels + theirs[j]
                        slot = _slot(keys, stamps, stamp, room, key)
                        if stamps[slot] != stamp:
                            stamps[slot], keys[slot], values[slot] = stamp, key, 0
                        values[slot] += 1
                for i in range(n):
                    for j in range(i + 1, min(i + SKIP + 2, n)):
                        if ours[i] >= 0 and ours[j] >= 0:
                            slot = _slot(keys, stamps, stamp, room, ours[i] * labels + ours[j])
                            if stamps[slot] == stamp and values[slot] > 0:
                                values[slot] -= 1
                                hits += 1
                our_units, their_units = _skips(n), _skips(m)
                if metric == SU4:  # the last token of a text is no unigram, as in ROUGE-1.5.5
                    left[:labels] = 0
                    for i in range(m - 1):
                        left[theirs[i]] += 1
                    for i in range(n - 1):
                        if ours[i] >= 0 and left[ours[i]] > 0:
                            left[ours[i]] -= 1
                            hits += 1
                    our_units += max(n - 1, 0)
                    their_units += max(m - 1, 0)
                shared[pair, column] = (hits, our_units, their_units)
    return shared


@njit(cache=True, nogil=True)
def _room(entries: int, size: int) -> int:
    """A power of two, at least twice the entries: a small text stays in a small part of the table."""
    room = 16
    while room < 2 * entries and room < size:
        room *= 2
    return room


@njit(cache=True, nogil=True)
def _slot(keys: Ids, stamps: Ids, stamp: int, room: int, key: int) -> int:
    """Slot of `key` among the first `room` slots, or the free one for it."""
    slot = _hash(np.uint64(key), room)
    while stamps[slot] == stamp and keys[slot] != key:
        slot = (slot + 1) & (room - 1)
    return slot


@njit(cache=True, nogil=True)
def _skips(tokens: int) -> int:
    """Bigrams of `tokens` that skip up to SKIP tokens."""
    total = 0
    for gap in range(1, SKIP + 2):
        total += max(tokens - gap, 0)
    return total


@njit(cache=True, nogil=True)
def _place(places: Bits, target: Ids) -> None:
    for i in range(len(target)):
        places[target[i], i // _WORD] |= _ONE << np.uint64(i % _WORD)


@njit(cache=True, nogil=True)
def _clear(places: Bits, target: Ids) -> None:
    for i in range(len(target)):
        places[target[i], i // _WORD] = _ZERO


@njit(cache=True, nogil=True)
def _number(numbers: Ids, renumbered: Ids, source: Ids, target: Ids) -> tuple[Ids, Ids]:
    """Source and target by numbers for the words of this target alone, from 0 on; -1 where the target has none."""
    ours, theirs = renumbered[0, : len(source)], renumbered[1, : len(target)]
    count = 0
    for i in range(len(target)):
        if numbers[target[i]] < 0:
            numbers[target[i]] = count
            count += 1
        theirs[i] = numbers[target[i]]
    for j in range(len(source)):
        ours[j] = numbers[source[j]] if source[j] >= 0 else -1
    for i in range(len(target)):
        numbers[target[i]] = -1
    return ours, theirs


@njit(cache=True, nogil=True)
def _fill(rows: Bits, places: Bits, source: Ids, start: int, stop: int, length: int) -> bool:
    """The table of longest common subsequences, a row for each token of source[start:stop]; false where none is shared.

    Bit i of the row of source[j] is 0 where the subsequence of source[start : j + 1] and target[: i + 1] is longer than
    that of target[:i] (Hyyrö 2004, "Bit-parallel LCS-length computation revisited").
    """
    shared = False
    words = (length + _WORD - 1) // _WORD
    if words == 1:
        row = _ALL
        for j in range(start, stop):
            token = source[j]
            if token >= 0:
                here = places[token, 0]
                shared |= here != _ZERO
                matches = row & here
                row = (row + matches) | (row - matches)
            rows[j - start, 0] = row
        return shared
    for j in range(start, stop):
        carry = _ZERO
        for word in range(words):
            row = rows[j - start - 1, word] if j > start else _ALL
            here = places[source[j], word] if source[j] >= 0 else _ZERO
            matches = row & here
            shared |= here != _ZERO
            total = row + matches
            over = np.uint64(total < row)
            total += carry
            carry = over | np.uint64(total < carry)
            rows[j - start, word] = total | (row & ~here)
    return shared


@njit(cache=True, nogil=True)
def _fill_tile(
    rows: Bits, step: int, places: Bits, source: Ids, start: int, stop: int, words: int, carries: Bits, carried: Bits
) -> None:
    """`_fill` for a tile of a wider table, below rows[0], which is given; with `step` 0 all rows are written there.

    `carries` are what comes in from the tile on the left, a bit for each token of the source, `carried` what goes out.
    """
    for j in range(start, stop):
        above, below, place = (j - start) * step, (j - start + 1) * step, np.uint64(j % _WORD)
        carry = carries[j // _WORD] >> place & _ONE
        for word in range(words):
            row = rows[above, word]
            here = places[source[j], word] if source[j] >= 0 else _ZERO
            total = row + (row & here)
            over = np.uint64(total < row)
            total += carry
            carry = over | np.uint64(total < carry)
            rows[below, word] = total | (row & ~here)
        carried[j // _WORD] = carried[j // _WORD] & ~(_ONE << place) | carry << place


@njit(cache=True, nogil=True)
def _length(
    rows: Bits,
    places: Bits,
    numbers: Ids,
    renumbered: Ids,
    source: Ids,
    target: Ids,
    tile: int,
    carries: Bits,
    tops: Bits,
) -> int:
    """Length of the longest common subsequence, by one row of each tile.

    `carries` are [1, bits of the source], or [tiles of the target + 1, the same] to keep what comes into each tile from
    the left; `tops` keep the row above each tile where they are [tiles of the source, words of the target].
    """
    length = 0
    for first in range(0, len(target), tile):
        part = target[first : first + tile]
        block, words = first // tile % len(carries), (len(part) + _WORD - 1) // _WORD
        ours, theirs = _number(numbers, renumbered, source, part)
        _place(places, theirs)
        rows[0] = _ALL
        for start in range(0, len(source), tile):
            if len(tops):
                tops[start // tile, first // _WORD : first // _WORD + words] = rows[0, :words]
            stop = min(start + tile, len(source))
            _fill_tile(rows, 0, places, ours, start, stop, words, carries[block], carries[(block + 1) % len(carries)])
        for i in range(len(part)):
            if not rows[0, i // _WORD] >> np.uint64(i % _WORD) & _ONE:
                length += 1
        _clear(places, theirs)
    return length


@njit(cache=True, nogil=True)
def _mark_tiles(
    marked: Bits, rows: Bits, places: Bits, numbers: Ids, renumbered: Ids, source: Ids, target: Ids, tile: int
) -> None:
    """Mark as `_mark` does, of a table too large to be held: the tiles on the way back are made again."""
    blocks = (len(target) + tile - 1) // tile
    carries = np.zeros((blocks + 1, len(source) // _WORD + 1), np.uint64)
    tops = np.empty(((len(source) + tile - 1) // tile, (len(target) + _WORD - 1) // _WORD), np.uint64)
    _length(rows, places, numbers, renumbered, source, target, tile, carries, tops)
    stop = len(source)
    for block in range(blocks - 1, -1, -1):
        part, first = target[block * tile : (block + 1) * tile], block * tile // _WORD
        length, words = len(part), (len(part) + _WORD - 1) // _WORD
        ours, theirs = _number(numbers, renumbered, source, part)
        _place(places, theirs)
        while stop > 0 and length > 0:
            start = (stop - 1) // tile * tile
            rows[0, :words] = tops[start // tile, first : first + words]
            _fill_tile(rows, 1, places, ours, start, stop, words, carries[block], carries[block + 1])
            stop, length = _mark(marked[first : first + words], rows[1:], places, ours, start, stop, length)
        _clear(places, theirs)


@njit(cache=True, nogil=True)
def _mark(marked: Bits, rows: Bits, places: Bits, source: Ids, start: int, stop: int, length: int) -> tuple[int, int]:
    """Mark, a bit each, the positions of target[:length] in one longest common subsequence with source[start:stop].

    Of several, the one that ROUGE-1.5.5 takes: from the end, a match is taken, else the target is shortened where
    that costs nothing, else the source. So each token of the source, from the last, goes with the last position that
    it matches or that cannot be given up (a zero in its row). What is left of the source and of the target is
    returned: one of both ends at its beginning.
    """
    word = (length - 1) // _WORD
    below = _ALL >> np.uint64(word * _WORD + _WORD - length)  # positions left in this word of the bits
    for j in range(stop - 1, start - 1, -1):
        while True:
            here = places[source[j], word] if source[j] >= 0 else _ZERO
            ends = (here | ~rows[j - start, word]) & below
            if ends != _ZERO:
                break
            if word == 0:
                return j + 1, 0
            word -= 1
            below = _ALL
        ends |= ends >> np.uint64(1)
        ends |= ends >> np.uint64(2)
        ends |= ends >> np.uint64(4)
        ends |= ends >> np.uint64(8)
        ends |= ends >> np.uint64(16)
        ends |= ends >> np.uint64(32)
        last = ends ^ (ends >> np.uint64(1))
        marked[word] |= last & here
        below = ends ^ (last & here)
    left = word * _WORD
    while below != _ZERO:
        below >>= _ONE
        left += 1
    return start, left

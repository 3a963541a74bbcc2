"""Near-duplicates among texts: Jaccard similarity of their sets of three-token shingles."""

import hashlib
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sumcurve.compiled import njit

SHINGLE = 3  # tokens
HASHES = 24
BANDS = 8
_BAND = HASHES // BANDS * 8  # bytes


class NearDuplicates:
    """Finds the earlier text that a text nearly repeats.

    Candidates share one of 8 bands of 3 minimum hashes (Broder, 1997), and are verified: what is found has a
    Jaccard similarity of at least `threshold`. A pair of similarity s is a candidate with probability 1 - (1
    - s³)⁸: .66 at .5, .97 at .7, .9997 at .9.
    """

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold
        self.shingles: list[np.ndarray] = []  # of every text that was added: sorted 64-bit hashes
        self.buckets: list[dict[bytes, list[int]]] = [{} for _ in range(BANDS)]
        constants = hashlib.shake_128(b"sumcurve near-duplicates").digest(16 * HASHES)
        numbers = np.frombuffer(constants, dtype="<u8").astype(np.uint64)
        self.factors = numbers[:HASHES] | np.uint64(1)
        self.offsets = numbers[HASHES:]

    def find_or_add(self, text: str, counts: Callable[[int], bool] = lambda number: True) -> int | None:
        """The number of the first added text that `text`, blank-separated tokens, nearly repeats; or None, and `text`
        is added.

        Texts are numbered from 0 as they are added; those for which `counts` is false are passed over.
        """
        shingles = self.shingles_of(text)
        signature = _signature(shingles, self.factors, self.offsets)
        joined = signature.tobytes()
        keys = [joined[start : start + _BAND] for start in range(0, len(joined), _BAND)]
        candidates: set[int] = set()
        for bucket, key in zip(self.buckets, keys, strict=True):
            candidates.update(bucket.get(key, ()))
        for candidate in sorted(candidates):
            if counts(candidate) and jaccard(shingles, self.shingles[candidate]) >= self.threshold:
                return candidate
        number = len(self.shingles)
        self.shingles.append(shingles)
        for bucket, key in zip(self.buckets, keys, strict=True):
            bucket.setdefault(key, []).append(number)
        return None

    def shingles_of(self, text: str) -> np.ndarray:
        """Sorted distinct hashes of the shingles; of a text below three tokens, of the whole text."""
        data = text.encode()
        tokens = data.count(b" ") + 1 if data else 0
        return _distinct(np.sort(_shingles(np.frombuffer(data, np.uint8), tokens, _CRC32)))


# What zlib.crc32 adds for the last byte of a state
_CRC32 = np.array([zlib.crc32(bytes([byte])) ^ zlib.crc32(b"\0") for byte in range(256)], np.uint32)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True)
def _shingles(data: NDArray[Any], tokens: int, crc32: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """The hashes of three tokens in a row, of tokens divided by blanks."""
    numbers = np.zeros(max(tokens, 3), np.uint64)
    ones = np.uint32(0xFFFFFFFF)
    state, number = ones, 0
    for index in range(len(data) + 1):
        if index < len(data) and data[index] != 32:
            state = crc32[(state ^ data[index]) & np.uint32(255)] ^ (state >> np.uint32(8))
        elif number < tokens:
            numbers[number] = np.uint64(state ^ ones) + np.uint64(1)
            state = ones
            number += 1
    found = np.empty(len(numbers) - 2, np.uint64)
    for index in range(len(found)):
        mixed = numbers[index]
        for later in range(1, 3):
            mixed = mixed * _FACTOR + numbers[index + later]
            mixed ^= mixed >> np.uint64(31)
        found[index] = mixed * _FACTOR
    return found


@njit(cache=True, nogil=True)
def _distinct(found: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Of sorted numbers each once."""
    kept = 0
    for index in range(len(found)):
        if index == 0 or found[index] != found[kept - 1]:
            found[kept] = found[index]
            kept += 1
    return found[:kept].copy()


@njit(cache=True, nogil=True)
def _signature(
    shingles: NDArray[np.uint64], factors: NDArray[np.uint64], offsets: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """[shingles] -> [hashes]: the smallest value of every hash."""
    smallest = np.full(len(factors), np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64)
    for shingle in shingles:
        for index in range(len(factors)):
            value = shingle * factors[index] + offsets[index]
            if value < smallest[index]:
                smallest[index] = value
    return smallest


def jaccard(first: np.ndarray, second: np.ndarray) -> float:
    """Of two sets of numbers, each sorted: what they share of all that they have."""
    common = _common(first, second)
    return common / (len(first) + len(second) - common)


@njit(cache=True, nogil=True)
def _common(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> int:
    """How many numbers two sorted arrays share."""
    found = here = there = 0
    while here < len(first) and there < len(second):
        if first[here] < second[there]:
            here += 1
        elif first[here] > second[there]:
            there += 1
        else:
            found += 1
            here += 1
            there += 1
    return found

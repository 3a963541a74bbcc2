"""Near-duplicates among texts: Jaccard similarity of their sets of three-token shingles."""

import hashlib
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sumcurve.numerics.compiled import njit

HASHES = 24
BANDS = 8
WIDTH = HASHES // BANDS  # hashes of a band
_NUMBERS = np.frombuffer(hashlib.shake_128(b"sumcurve near-duplicates").digest(16 * HASHES), "<u8").astype(np.uint64)
FACTORS, OFFSETS = _NUMBERS[:HASHES] | np.uint64(1), _NUMBERS[HASHES:]


def shingles_of(text: str) -> np.ndarray:
    """Sorted distinct hashes of the shingles; of a text below three tokens, of the whole text."""
    data = text.encode()
    tokens = data.count(b" ") + 1 if data else 0
    return _distinct(np.sort(_shingles(np.frombuffer(data, np.uint8), tokens, _CRC32)))


def bands_of(shingles: np.ndarray) -> list[bytes]:
    """The minimum hashes of each band."""
    joined = _signature(shingles, FACTORS, OFFSETS).tobytes()
    return [joined[start : start + 8 * WIDTH] for start in range(0, len(joined), 8 * WIDTH)]


def keys_of(shingles: np.ndarray) -> list[int]:
    """A 64-bit number of each band, equal for equal bands, evenly spread; modulo BANDS it is the band's place."""
    numbers = (int.from_bytes(hashlib.blake2b(band, digest_size=8).digest()) for band in bands_of(shingles))
    return [number - number % BANDS + place for place, number in enumerate(numbers)]


def near_pairs(shingles: Sequence[np.ndarray], keys: np.ndarray, threshold: float, border: int = 0) -> np.ndarray:
    """[pairs, 2], rising: texts, by their places, that share a band of minimum hashes and are `similar`.

    `shingles` are those of the texts, `keys` one key of each (`keys_of`), sorted so that equal keys are adjacent. Only
    texts of one key are compared, and where two texts share several keys, only under the key of the first band, so that
    a pair is found once. The bands themselves are compared, too, since different bands may have the same key. With a
    border, each text before it is compared only with those from it on.
    """
    ends = np.cumsum([0, *map(len, shingles)])
    return _near_pairs(np.concatenate(shingles), ends, keys, border, threshold, FACTORS, OFFSETS)


# Terms that zlib.crc32 adds for the last byte of a state
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
    hashes = np.empty(len(numbers) - 2, np.uint64)
    for index in range(len(hashes)):
        mixed = numbers[index]
        for later in range(1, 3):
            mixed = mixed * _FACTOR + numbers[index + later]
            mixed ^= mixed >> np.uint64(31)
        hashes[index] = mixed * _FACTOR
    return hashes


@njit(cache=True, nogil=True)
def _distinct(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Distinct values of sorted numbers."""
    kept = 0
    for index in range(len(numbers)):
        if index == 0 or numbers[index] != numbers[kept - 1]:
            numbers[kept] = numbers[index]
            kept += 1
    return numbers[:kept].copy()


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


@njit(cache=True, nogil=True)
def similar(first: NDArray[np.uint64], second: NDArray[np.uint64], threshold: float) -> bool:
    """Tell whether the Jaccard similarity of two sorted sets of numbers is at least the threshold."""
    common = here = there = 0
    while here < len(first) and there < len(second):
        is_common, is_first = first[here] == second[there], first[here] < second[there]
        common += is_common
        here += is_common or is_first
        there += not is_first
    return common / (len(first) + len(second) - common) >= threshold


@njit(cache=True, nogil=True)
def _near_pairs(
    shingles: NDArray[np.uint64],
    ends: NDArray[np.int64],
    keys: NDArray[np.uint64],
    border: int,
    threshold: float,
    factors: NDArray[np.uint64],
    offsets: NDArray[np.uint64],
) -> NDArray[np.int64]:
    """`near_pairs` of concatenated shingles; those of text t end before ends[t + 1]."""
    signatures = np.empty((len(keys), HASHES), np.uint64)
    for text in range(len(keys)):
        signatures[text] = _signature(shingles[ends[text] : ends[text + 1]], factors, offsets)
    pairs = np.empty((1024, 2), np.int64)
    count = 0
    for first in range(border or len(keys)):
        for second in range(max(first + 1, border), len(keys)):
            if keys[second] != keys[first]:
                break
            if _first_band(signatures[first], signatures[second]) != keys[first] % np.uint64(BANDS):
                continue
            some, others = shingles[ends[first] : ends[first + 1]], shingles[ends[second] : ends[second + 1]]
            if similar(some, others, threshold):
                if count == len(pairs):
                    pairs = np.concatenate((pairs, np.empty_like(pairs)))
                pairs[count] = first, second
                count += 1
    return pairs[:count].copy()


@njit(cache=True, nogil=True)
def _first_band(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> int:
    """The place of the first band that two signatures share; BANDS where they share none."""
    for band in range(BANDS):
        for index in range(band * WIDTH, (band + 1) * WIDTH):
            if first[index] != second[index]:
                break
        else:
            return band
    return BANDS

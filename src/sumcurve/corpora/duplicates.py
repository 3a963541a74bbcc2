"""Near-duplicates among texts: Jaccard similarity of their sets of three-token shingles."""

import hashlib
import zlib
from collections.abc import Callable

import numpy as np

SHINGLE = 3  # tokens
HASHES = 24
BANDS = 8


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
        self.tokens: dict[str, int] = {}
        constants = hashlib.shake_128(b"sumcurve near-duplicates").digest(16 * HASHES)
        numbers = np.frombuffer(constants, dtype="<u8").astype(np.uint64)
        self.factors = numbers[:HASHES] | np.uint64(1)
        self.offsets = numbers[HASHES:]

    def find_or_add(self, tokens: list[str], counts: Callable[[int], bool] = lambda number: True) -> int | None:
        """The number of the first added text that `tokens` nearly repeats; or None, and `tokens` is added.

        Texts are numbered from 0 as they are added; those for which `counts` is false are passed over.
        """
        shingles = self.shingles_of(tokens)
        # [shingles, 1] * [HASHES] -> [HASHES]
        signature = (shingles[:, None] * self.factors + self.offsets).min(axis=0)
        keys = [band.tobytes() for band in signature.reshape(BANDS, -1)]
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

    def shingles_of(self, tokens: list[str]) -> np.ndarray:
        """Sorted distinct hashes of the shingles; of a text below three tokens, of the whole text."""
        numbers = np.zeros(max(len(tokens), SHINGLE), dtype=np.uint64)
        numbers[: len(tokens)] = [self.number_of(token) for token in tokens]
        factor = np.uint64(0x9E3779B97F4A7C15)
        mixed = numbers[:-2]
        for later in (numbers[1:-1], numbers[2:]):
            mixed = mixed * factor + later
            mixed ^= mixed >> np.uint64(31)
        return np.unique(mixed * factor)

    def number_of(self, token: str) -> int:
        number = self.tokens.get(token)
        if number is None:
            number = self.tokens[token] = zlib.crc32(token.encode()) + 1
        return number


def jaccard(first: np.ndarray, second: np.ndarray) -> float:
    common = len(np.intersect1d(first, second, assume_unique=True))
    return common / (len(first) + len(second) - common)

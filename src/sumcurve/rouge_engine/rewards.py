"""Exact ROUGE on words, fast enough for rewards and labels: equal to rouge-score without stemming.

A *word* is a token as that scorer makes it. ROUGE-L here is of one sequence against one (rouge-score's `rougeL`), not
the union over sentences that reports use (`rougeLsum`).
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

WORD = re.compile(r"[a-z0-9]+")


def words(sentence: str) -> list[str]:
    """The tokens that ROUGE compares (those of rouge-score without stemming)."""
    return WORD.findall(sentence.lower())


class Reference:
    """A sequence of words, prepared once for comparison with many candidates."""

    def __init__(self, reference: Sequence[str]) -> None:
        self._length = len(reference)
        self._places: dict[str, int] = {}  # a bit for every position of a word
        for position, word in enumerate(reference):
            self._places[word] = self._places.get(word, 0) | 1 << position

    def common(self, candidate: Iterable[str]) -> int:
        """Length of the longest common subsequence; Hyyrö's (2004) bit-parallel recurrence.

        A row of the textbook's table is one integer, in which a zero bit is a step of the row.
        """
        every = (1 << self._length) - 1
        row = every
        for places in map(self._places.get, candidate):
            if places:  # another word leaves the row as it is
                matches = row & places
                row = row + matches | row - matches  # carries above the last position never come back
        return self._length - (row & every).bit_count()

    def rouge_l(self, candidate: Sequence[str]) -> float:
        """ROUGE-L F1 in 0..1 (Lin 2004, section 3.1, beta = 1); 0 where either sequence is empty."""
        common = self.common(candidate)
        # 2PR / (P + R) with P = common / candidate, R = common / reference
        return 2 * common / (len(candidate) + self._length) if common else 0.0


def rouge_l_f1(candidate: Sequence[str], reference: Sequence[str]) -> float:
    """ROUGE-L F1 in 0..1 of one pair; for many candidates use `Reference`."""
    return Reference(reference).rouge_l(candidate)


def f1_of_ngrams(sentence: Sequence[str], target: Sequence[str], order: int) -> float:
    """ROUGE-N F1 in 0..1 (Lin, 2004)."""
    ours, theirs = ngrams(sentence, order), ngrams(target, order)
    matches = (ours & theirs).total()
    # 2PR / (P + R) with P = matches / ours, R = matches / theirs
    return 2 * matches / (ours.total() + theirs.total()) if matches else 0.0


def ngrams(tokens: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[start:] for start in range(order)), strict=False))


def repetition(summary: Sequence[str]) -> float:
    """The share, in 0..1, of a summary's trigrams that it has had before; 0 below three tokens.

    `summary` are sentences of blank-separated tokens. Trigrams run across sentences, so that repeated short sentences
    count.
    """
    counts = ngrams(" ".join(summary).split(), 3)
    return 1 - len(counts) / counts.total() if counts else 0.0

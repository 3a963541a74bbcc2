"""SumBasic: frequent words make a summary (Nenkova and Vanderwende 2005; Vanderwende et al. 2007, section 3).

Of the input's content words, p(w) is w's share. Again and again: of the sentences that hold the most probable word,
that whose words have the highest mean probability is taken; then p(w) becomes p(w)² for its words.
"""

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from sumcurve.store.kind import Version
from sumcurve.systems.extractive import DIGITS, Extractive


def sum_basic(sentences: Sequence[Sequence[str]], count: int) -> list[int]:
    """The positions of `count` sentences, given as words, in the order in which they are taken.

    Means are over a sentence's different words. Of equal sentences the earlier is taken; sentences without a word come
    last.
    """
    counts = Counter(word for sentence in sentences for word in sentence)
    total = counts.total()
    p = {word: number / total for word, number in counts.items()}
    left = {place: sorted(set(sentence)) for place, sentence in enumerate(sentences)}
    taken: list[int] = []

    def mean(place: int) -> float:
        return round(sum(p[word] for word in left[place]) / len(left[place]), DIGITS + 3)

    while len(taken) < count:
        top = max((p[word] for words in left.values() for word in words), default=None)
        holding = [place for place, words in left.items() if any(p[word] == top for word in words)]
        place = max(holding, key=lambda candidate: (mean(candidate), -candidate)) if holding else min(left)
        for word in left.pop(place):
            p[word] *= p[word]
        taken.append(place)
    return taken


class SumBasic(Extractive):
    version: ClassVar[Version] = "7d1f0e82ec1f38c0"
    title: ClassVar[str] = "SumBasic: frequent words (Vanderwende et al. 2007)"

    def choose(self, sentences: Sequence[list[str]], count: int) -> Sequence[int]:
        return sum_basic(sentences, count)

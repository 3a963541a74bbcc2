"""Language models of targets alone: a baseline that has no source.

Interpolated n-grams with Witten and Bell's (1991) discounts, as Chen and Goodman (1999, section 2.5) state them:

    p(w | h) = (c(h w) + t(h) p(w | h')) / (c(h) + t(h)),

t(h) the number of distinct words seen after h, h' the context without its first word. The recursion ends with the
uniform distribution over the vocabulary.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from sumcurve.capabilities.contrasts.judged import Judged
from sumcurve.capabilities.contrasts.sets import Contrasted

BEGIN, SEPARATOR, END, UNKNOWN = (
    "<s>",
    "<t>",
    "</s>",
    "<unk>",
)  # words of a corpus that are spelled so are read as these


class WordModel:
    """Counts of n-grams, 1 to `order` words, of targets (each with marks between its sentences and at its end)."""

    def __init__(self, order: int, words: frozenset[str]) -> None:
        self.order, self.words = order, words
        self.counts: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)  # by context
        self.totals: Counter[tuple[str, ...]] = Counter()

    @classmethod
    def of(cls, targets: Iterable[Sequence[str]], order: int, min_count: int) -> "WordModel":
        """A model of these targets, each a list of sentences; words with fewer occurrences are unknown."""
        rows = [tokens(target) for target in targets]
        counts = Counter(word for row in rows for word in row)
        known = frozenset(word for word, count in counts.items() if count >= min_count)
        model = cls(order, known | {SEPARATOR, END, UNKNOWN})
        for row in rows:
            model.add(row)
        return model

    def seen(self, row: Sequence[str]) -> list[str]:
        """The tokens with unknown words replaced."""
        return [word if word in self.words else UNKNOWN for word in row]

    def add(self, row: Sequence[str]) -> None:
        line = [BEGIN] * (self.order - 1) + self.seen(row)
        for place in range(self.order - 1, len(line)):
            for length in range(self.order):
                context = tuple(line[place - length : place])
                self.counts[context][line[place]] += 1
                self.totals[context] += 1

    def probability(self, word: str, context: tuple[str, ...]) -> float:
        """p(word | context), where both are in the model's vocabulary."""
        below = 1 / len(self.words) if not context else self.probability(word, context[1:])
        total = self.totals.get(context, 0)
        if not total:
            return below
        after = self.counts[context]
        return (after.get(word, 0) + len(after) * below) / (total + len(after))

    def logp(self, row: Sequence[str]) -> list[float]:
        """Log-probabilities, in nats, of a target's tokens in their order."""
        line = [BEGIN] * (self.order - 1) + self.seen(row)
        first = self.order - 1
        return [math.log(self.probability(line[at], tuple(line[at - first : at]))) for at in range(first, len(line))]


def tokens(target: Sequence[str]) -> list[str]:
    """A target's words, with a mark between two sentences and one at the end."""
    row: list[str] = []
    for sentence in filter(None, target):
        row += [SEPARATOR] * bool(row) + sentence.split(" ")
    return [*row, END]


def judge_words(model: WordModel, contrasted: Sequence[Contrasted]) -> Judged:
    """Log-probabilities of golds and contrasts by a language model; sums do not depend on the order of equal terms."""
    own, counts, visible, starts = [], [], [], [0]
    for gold in contrasted:
        rows = [tokens(target) for target in (gold.sentences, *(contrast.sentences for contrast in gold.contrasts))]
        first = model.seen(rows[0])
        for row in rows:
            own.append(math.fsum(model.logp(row)))
            counts.append(len(row))
            visible.append(model.seen(row) != first)
        starts.append(len(own))
    return Judged(
        np.array(own), np.array(counts, dtype=np.int32), np.array(visible, dtype=bool), np.array(starts, dtype=np.int32)
    )

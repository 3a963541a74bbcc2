"""LexRank: sentences that are similar to many others (Erkan and Radev 2004).

The similarity of two sentences is the cosine of their vectors tf·idf (equation 1). Sentences are ranked by
`degree`: how many are more similar than the threshold (section 3.1); `threshold`: the stationary distribution of a
random walk on that graph (LexRank, section 3.2); or `continuous`: of a walk whose steps are as probable as sentences
are similar (section 3.3). A walk jumps anywhere with probability `jump`, the paper's d in

    p(u) = d / N + (1 - d) Σ_v p(v) similarity(v, u) / Σ_z similarity(v, z)

The paper takes idf from a large collection. Here the collection is the source itself, so that no summary depends on
other records: idf(w) = log(1 + N / n_w), with n_w of the source's N sentences holding w; 1 is added for a word of all
sentences to count, or two equal sentences would not be similar.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from math import log
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from sumcurve.store.kind import Version
from sumcurve.systems.extractive import DIGITS, Extractive, ExtractiveSettings, by_score
from sumcurve.systems.system import SystemSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def idf(sentences: int, holding: int) -> float:
    """Inverse document frequency of a word that `holding` of the sentences hold."""
    return log(1 + sentences / holding)


def similarities(
    sentences: Sequence[Sequence[str]], weight: Callable[[int, int], float] = idf
) -> "NDArray[np.float64]":
    """Cosines ``[N, N]`` of N sentences, given as words; those of a sentence without weight are 0, its own too."""
    import numpy as np

    counts = [Counter(sentence) for sentence in sentences]
    holding = Counter(word for words in counts for word in words)
    column = {word: place for place, word in enumerate(sorted(holding))}
    vectors = np.zeros((len(sentences), len(column)))
    for row, words in enumerate(counts):
        for word, number in words.items():
            vectors[row, column[word]] = number * weight(len(sentences), holding[word])
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return np.asarray(np.round(vectors @ vectors.T, DIGITS))


def stationary(weights: "NDArray[np.float64]", jump: float) -> "NDArray[np.float64]":
    """The stationary distribution ``[N]`` of the walk with these weights ``[N, N]`` of its steps, a row for each start.

    A sentence without steps leads anywhere.
    """
    import numpy as np

    count = len(weights)
    sums = weights.sum(axis=1, keepdims=True)
    steps = np.divide(weights, sums, out=np.full_like(weights, 1 / count), where=sums > 0)
    walk = np.eye(count) - (1 - jump) * steps.T
    return np.asarray(np.linalg.solve(walk, np.full(count, jump / count)))


class LexRankSettings(ExtractiveSettings):
    variant: Literal["threshold", "continuous", "degree"] = "threshold"
    threshold: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.1  # of similarity, above which sentences are neighbours
    jump: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.15


class LexRank(Extractive):
    version: ClassVar[Version] = "7f5df827ac64d0f6"
    Settings: ClassVar[type[SystemSettings]] = LexRankSettings
    title: ClassVar[str] = "LexRank: sentences that resemble many (Erkan and Radev 2004)"

    def choose(self, sentences: Sequence[list[str]], count: int) -> Sequence[int]:
        if not sentences:
            return []
        weights = similarities(sentences)
        if self.settings["variant"] != "continuous":
            weights = (weights > self.settings["threshold"]).astype(float)
        if self.settings["variant"] == "degree":
            return by_score(weights.sum(axis=1).tolist())[:count]
        return by_score(stationary(weights, self.settings["jump"]).tolist())[:count]

"""LSA: sentences that are long in the space of the source's main topics (Steinberger and Ježek 2004).

With A = U Σ Vᵀ the counts of words (rows) in sentences (columns), sentence k has the length

    s_k = sqrt(Σ_i v_ki² σ_i²)

over the topics i whose singular value is at least half of the largest, the paper's choice.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from sumcurve.settings.base import Share
from sumcurve.store.kind import Version
from sumcurve.systems.extractive import DIGITS, Extractive, ExtractiveSettings, by_score
from sumcurve.systems.system import SystemSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def counts(sentences: Sequence[Sequence[str]]) -> "NDArray[np.float64]":
    """Counts of each word (rows, sorted) in each of N sentences, given as words: ``[words, N]``."""
    import numpy as np

    row = {word: place for place, word in enumerate(sorted({word for sentence in sentences for word in sentence}))}
    matrix = np.zeros((len(row), len(sentences)))
    for column, sentence in enumerate(sentences):
        for word in sentence:
            matrix[row[word], column] += 1
    return matrix


def lengths(matrix: "NDArray[np.float64]", share: float) -> "NDArray[np.float64]":
    """s_k ``[N]`` of the columns of ``[words, N]`` over topics of at least `share` of the largest singular value."""
    import numpy as np

    if not matrix.size:
        return np.zeros(matrix.shape[1])
    squares, topics = np.linalg.eigh(matrix.T @ matrix)  # σ², rising, and V: sentences are fewer than words
    kept = squares >= share**2 * squares[-1] * (1 - 10.0**-DIGITS)  # equal values stay together on every machine
    return np.asarray(np.sqrt((squares[kept].clip(0) * topics[:, kept] ** 2).sum(axis=1)))


class LsaSettings(ExtractiveSettings):
    share: Share = 0.5  # of the largest singular value that a topic's must have


class Lsa(Extractive):
    version: ClassVar[Version] = "2a572107accfc4f4"
    Settings: ClassVar[type[SystemSettings]] = LsaSettings
    title: ClassVar[str] = "LSA: sentences of the main topics (Steinberger and Ježek 2004)"

    def choose(self, sentences: Sequence[list[str]], count: int) -> Sequence[int]:
        return by_score(lengths(counts(sentences), self.settings["share"]).tolist())[:count]

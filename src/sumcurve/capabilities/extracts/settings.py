"""Settings of the optimal extracts of a corpus."""

from typing import Annotated, Literal

from pydantic import Field

from sumcurve.settings.base import Boolean, Once, Positive, Seed, Settings
from sumcurve.settings.study import Rouge


class Oracle(Settings):
    """The optimal extracts of items (Akhmetov et al. 2022), and the items for which they are computed."""

    min_source_sentences: Annotated[Positive, Field(alias="least_source_sentences")] = 1
    """Sentences of a source, at least, for its item to be asked (Akhmetov et al. 2022: 100)."""
    max_source_sentences: Annotated[Positive | None, Field(alias="most_source_sentences")] = None
    """Sentences of a source, at most (Akhmetov et al. 2022: 500)."""
    min_target_sentences: Annotated[Positive, Field(alias="least_target_sentences")] = 1
    """Sentences of a target, at least (Akhmetov et al. 2022: 10)."""
    max_target_sentences: Annotated[Positive | None, Field(alias="most_target_sentences")] = None
    """Sentences of a target, at most (Akhmetov et al. 2022: 20)."""
    nodes: Positive = 100_000
    """Nodes of one proof, at most: those of the search for ROUGE-1, and then HiGHS's, as for ROUGE-2; then a bound is
    recorded.
    """
    searches: Boolean = True
    """True where the five searches of Akhmetov et al. and the systems stand beside the optimal extract."""
    seed: Seed = 1
    """Seed of the searches."""
    parts: Annotated[
        tuple[Literal["train", "valid", "test"], ...],
        Field(min_length=1, exclude_if=lambda parts: parts == ("test",)),
        Once,
    ] = ("test",)
    """Whose items are asked, as those of Akhmetov et al. 2022, whose 17,038 papers are more than arXiv's test and
    validation parts together hold. What bounds a system's score is of the test part, whichever else is asked.
    """


class CorpusKeys(Settings):
    oracle: Oracle | None = Oracle()
    """Proofs of how far an extract can go; null: none, for a test part too large for them."""


def scorer_of(rouge: Rouge) -> str:
    """Scorer, as named by searches, with a study's words."""
    stemmed = {"rouge-score": "rouge-score-stem", "rouge-1.5.5": "rouge-1.5.5-m"}
    return stemmed[rouge.mode] if rouge.stemmer else rouge.mode


def oracle_of(corpus: Settings) -> Oracle | None:
    """Settings of the optimal extracts of a corpus."""
    return corpus.oracle if isinstance(corpus, CorpusKeys) else None

"""Settings of contrasts."""

from typing import Annotated, Literal

from pydantic import Field

from sumcurve.corpora.pipeline import Pipeline
from sumcurve.settings.base import Once, Positive, Seed, Settings
from sumcurve.settings.corpus import CorpusSettings, Judgements


class Contrasts(Settings):
    """Broken references, which a model should find less probable than the reference (capabilities.contrasts.rules)."""

    tagger: Pipeline | Annotated[list[Pipeline], Field(min_length=2), Once] = "textblob"
    """Tagger of words: TextBlob's tagger, or a spaCy pipeline with tagger and parser, by the name of an installed one
    or pinned. Several: contrasts by each of them.
    """
    golds: Positive | None = None
    """Number of test items that have contrasts, drawn by the seed; null: all."""
    each: Positive | None = 50
    """Contrasts a gold, at most, in fixed shares of the rules; null: all that there are."""
    source_tokens: Positive = 400
    """Number of first tokens that are read of a source. Never more than the corpus's `source_tokens`."""
    target_tokens: Positive = 100
    """Number of first tokens of a target that rules may break. Never more than the corpus's `target_tokens`."""
    seed: Seed = 1
    """Seed of the draws."""
    sizes: Annotated[Literal["all", "largest"], Field(exclude=True)] = "all"
    """Trainings that are asked: of all sizes, or of each method's largest alone."""
    people: Annotated[tuple[Judgements, ...], Field(exclude=True)] = ()
    """Judgements by people of contrasts that a system failed to dodge, one for each set of sheets; none: nobody has
    judged.
    """


class CorpusKeys(Settings):
    contrasts: Contrasts | None = None
    """Broken references for scorers that ask whether a system tells them from the whole ones; null: none."""


def contrasts_of(corpus: CorpusSettings) -> Contrasts | None:
    """Settings of contrasts of a corpus; None where it has none."""
    return corpus.contrasts if isinstance(corpus, CorpusKeys) else None

"""What a study may say of contrasts."""

from typing import Annotated, Literal

from pydantic import Field

from sumcurve.settings.base import Boolean, Positive, Seed, Settings
from sumcurve.settings.corpus import CorpusSettings, Judgements


class Contrasts(Settings):
    """Broken references, of which a model should prefer none to the reference itself (capabilities.contrasts.rules)."""

    tagger: str = "textblob"
    """What tags words: TextBlob's tagger, or the name or path of an installed spaCy pipeline with tagger and parser."""
    variant: Literal["paper", "code"] = "paper"
    """Whose sample: as Kumar and Cheung 2019 say, or as their code draws it (docs/contrasts.md)."""
    inflect: Boolean = False
    """Whether a word takes the form that its new place wants (lemminflect)."""
    golds: Positive | None = None
    """How many test items have contrasts, drawn by the seed; null: all."""
    each: Positive | None = 50
    """Contrasts a gold, at most, in fixed shares of the rules; null: all that there are."""
    source_tokens: Positive = 400
    """What is read of a source, at most: its first tokens. Never more than the corpus's `source_tokens`."""
    target_tokens: Positive = 100
    """What is broken of a target, at most: its first tokens. Never more than the corpus's `target_tokens`."""
    seed: Seed = 1
    """Of the draws."""
    people: Annotated[tuple[Judgements, ...], Field(exclude=True)] = ()
    """What people said of those that a system failed to dodge, one for each set of sheets; none: nobody has judged."""


class CorpusKeys(Settings):
    contrasts: Contrasts | None = None
    """Broken references for scorers that ask whether a system tells them from the whole ones; null: none."""


def contrasts_of(corpus: CorpusSettings) -> Contrasts | None:
    """What a corpus's settings say of contrasts; None where it has none."""
    return corpus.contrasts if isinstance(corpus, CorpusKeys) else None

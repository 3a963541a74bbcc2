"""What a study says of metrics that a model computes: its folder, and how it is asked."""

from typing import Annotated, Literal

from pydantic import Field

from sumcurve.settings.base import Boolean, Positive, Settings, Sha256


class PinnedModel(Settings):
    """A local folder of Hugging Face transformers (safetensors); nothing is downloaded, no code of it is run."""

    path: Annotated[str, Field(exclude=True)] = ""
    """The folder; where it lies is no part of any name."""
    sha256: Sha256
    """Of its files: of the lines that `sha256sum` prints of them, in the order of their names."""


class BertScoreSettings(PinnedModel):
    """An encoder (AutoModel)."""

    layer: Positive
    """Whose vectors are compared. As published: 17 of roberta-large, 10 of roberta-base, 9 of bert-base-uncased, 18 of
    bert-large-uncased, 8 of bert-base-chinese.
    """
    idf: Boolean = False
    """Whether a subword weighs by how few of the corpus's references have it."""
    baseline: tuple[float, float, float] | None = None
    """Precision, recall and F1 of unrelated texts, as published for model and layer: scores are rescaled so that these
    are 0. null: cosines as they are.
    """


class BartScoreSettings(PinnedModel):
    """A sequence-to-sequence model (AutoModelForSeq2SeqLM)."""


class EntailmentSettings(PinnedModel):
    """A classifier of premise and hypothesis (AutoModelForSequenceClassification)."""

    premise: Literal["sentences", "chunks"] = "sentences"
    """What of the source a summary's sentence is held against: each sentence (SummaC), or runs of sentences that fill
    the model's positions (MiniCheck).
    """
    label: str | None = None
    """The model's name for what follows from the premise; null: the one that begins with "entail"."""
    contradiction: str | None = None
    """The model's name for what contradicts it, whose probability is taken off; null: nothing is."""

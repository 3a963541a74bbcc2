"""Settings of Chen and Bansal's models."""

from typing import Annotated, Literal, Self

from pydantic import Field

from sumcurve.settings.base import Dropout, Positive
from sumcurve.settings.models import ModelSettings, RecurrentSettings
from sumcurve.settings.training import PhaseSettings, Training


class ExtractRewriteSettings(ModelSettings):
    """Chen and Bansal's extractor and abstractor (capabilities.extract_rewrite.model)."""

    losses = ("nll", "extraction", "actor-critic")  # of the abstractor; of the extractor on labels, and on rewards

    kind: Literal["extract-rewrite"]
    abstractor: RecurrentSettings
    """Model that rewrites an extracted sentence."""
    filters: Positive = 100
    """Number of filters of each convolution of the sentence encoder."""
    windows: tuple[Positive, ...] = (3, 4, 5)
    """Widths of the convolutions, in words."""
    hidden: Positive
    """Width of the sentence LSTM (each direction) and of the pointer LSTM."""
    hops: Positive = 1
    """Glimpses before pointing."""
    dropout: Dropout = 0.0
    """Share of the extractor's values that training sets to zero."""
    sentences: Positive
    """Extracted before the extractor has learned to stop."""
    max_sentences: Annotated[Positive, Field(alias="most_sentences")] = 60
    """Number of first sentences of a source that are read."""
    rewrite_tokens: Positive = 30
    """Number of tokens of one rewritten sentence, at most."""

    @property
    def copies(self) -> bool:
        return self.abstractor.copies

    @property
    def supports_coverage(self) -> bool:
        return self.abstractor.supports_coverage

    @property
    def coverage_enabled(self) -> bool:
        return self.abstractor.coverage

    def with_dropout(self, dropout: float) -> Self:
        return self.model_copy(update={"dropout": dropout, "abstractor": self.abstractor.with_dropout(dropout)})

    def phase_refusal(self, phase: PhaseSettings) -> str:
        rewarded = phase.loss == "actor-critic"
        if rewarded and phase.discount is None:
            return "loss 'actor-critic' needs discount"
        return super().phase_refusal(phase.model_copy(update={"discount": None}) if rewarded else phase)

    def training_refusal(self, training: Training) -> str:
        if training.accumulate > 1 and any(phase.loss == "actor-critic" for phase in training.phases):
            return "loss 'actor-critic' standardises returns over the whole batch: accumulate must be 1"
        return super().training_refusal(training)

    def multiply_adds(self, source: int, target: int, vocabulary: int) -> float:
        inner = self.abstractor.multiply_adds(source, target, vocabulary)
        return inner + source * len(self.windows) * self.filters * self.abstractor.embedding * 4

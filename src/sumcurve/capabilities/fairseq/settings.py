"""Settings of models that fairseq trains."""

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import model_validator

from sumcurve.settings.base import Dropout, Positive
from sumcurve.settings.models import ModelSettings, transformer_adds
from sumcurve.settings.search import Decoding
from sumcurve.settings.training import PhaseSettings, Training

FAIRSEQ = "fairseq-fixed 0.12.3.1"  # the release that `make fairseq-env` installs, and its version


def unsupported(search: Decoding) -> str:
    """What fairseq's search cannot do of what `search` asks; empty where it can all."""
    if search.length_penalty == "gnmt":
        return "fairseq's search has no length_penalty gnmt; say average or none"
    if search.coverage_penalty or search.entity_penalty:
        return "fairseq's search has no penalties of attention; set coverage_penalty and entity_penalty to 0"
    return ""


class FairseqSettings(ModelSettings):
    """A model of fairseq (Ott et al. 2019), which fairseq itself trains from new weights (`make fairseq-env`).

    Source and target share their embedding, which is the output layer, too. What is not said here is as the
    architecture has it in fairseq, but that a Transformer's layers are normalised first, as ours are.
    """

    kind: Literal["fairseq"]
    architecture: Literal["transformer", "transformer_pointer_generator", "lstm"]
    """fairseq's word for it. The pointer generator is the plug-in that comes with fairseq (Enarvi et al. 2020), which
    copies by the attention of one head of the last decoder layer.
    """
    width: Positive
    """Of a word, and of every layer of a Transformer."""
    heads: Positive | None = None
    """Of each attention of a Transformer."""
    feedforward: Positive | None = None
    """Width between the two layers behind each attention of a Transformer."""
    hidden: Positive | None = None
    """Width of the LSTM's encoder, each direction, and of its decoder."""
    encoder_layers: Positive = 1
    """Layers of the encoder."""
    decoder_layers: Positive = 1
    """Layers of the decoder."""
    dropout: Dropout = 0.1
    """Share of values that training sets to zero."""

    @model_validator(mode="after")
    def sizes_of_the_architecture(self) -> "FairseqSettings":
        wanted = ("hidden",) if self.architecture == "lstm" else ("heads", "feedforward")
        for key in ("heads", "feedforward", "hidden"):
            if (getattr(self, key) is not None) != (key in wanted):
                verb = "needs" if key in wanted else "has no"
                raise ValueError(f"architecture {self.architecture} {verb} {key}")
        if self.heads is not None and (self.width % self.heads or self.width % 2):
            raise ValueError(f"width {self.width} must be even and divisible by heads {self.heads}")
        return self

    @property
    def copies(self) -> bool:
        return self.architecture == "transformer_pointer_generator"

    def decides(self) -> dict[str, Any]:
        """What decides the outcome of a training, as plain values: the release of fairseq, too."""
        return self.model_dump(mode="json") | {"release": FAIRSEQ}

    @classmethod
    def of_specification(cls, block: Mapping[str, Any]) -> Self:
        return super().of_specification({key: value for key, value in block.items() if key != "release"})

    def phase_refusal(self, phase: PhaseSettings) -> str:
        if phase.loss != "nll" or phase.own_words or phase.coverage:
            return "a model of kind fairseq is trained on loss nll, without own_words and coverage"
        if phase.label_smoothing and self.copies:
            return (
                "label_smoothing is for models that do not copy (an extended vocabulary has no fixed uniform "
                "distribution); set it to 0"
            )
        if phase.optimizer.name != "adam" or phase.optimizer.schedule == "plateau":
            return "a model of kind fairseq is trained by adam, on schedule constant or noam"
        return ""

    def training_refusal(self, training: Training) -> str:
        if len(training.phases) > 1:
            return "a model of kind fairseq is trained in one phase"
        if training.accumulate > 1 or training.precision != "single":
            return "a model of kind fairseq is trained with accumulate 1 and precision single"
        return super().training_refusal(training)

    def search_refusal(self, search: Decoding) -> str:
        return unsupported(search)

    def multiply_adds(self, source: int, target: int, vocabulary: int) -> float:
        if self.hidden is None:
            layers = self.encoder_layers, self.decoder_layers
            return transformer_adds(self.width, self.feedforward or 0, layers, source, target, vocabulary)
        encode = source * 8 * self.hidden * (self.width + self.hidden)
        return encode + target * (4 * self.hidden * (self.width + 2 * self.hidden) + vocabulary * self.width)

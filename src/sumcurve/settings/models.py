"""Settings that every family of models shares, and the settings of the families that learn words.

A family's class of settings is named by its line of `MODELS` (`sumcurve.systems.families`), or by its capability.
"""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from sumcurve.settings.base import (
    MODEL_FILES,
    Boolean,
    Dropout,
    ModelName,
    PlanError,
    Positive,
    Settings,
    Sha256,
    revision_of,
)
from sumcurve.settings.search import Decoding
from sumcurve.settings.training import LOSSES, PhaseSettings, Training
from sumcurve.sources.pinned import File, fetched_model

NO_PLACE = "say by `path`, or by `hub` and `revision`, where the model comes from"


class PinnedModel(Settings):
    """A pretrained model of Hugging Face transformers: a folder (`path`), or of hub or package (`hub`).

    Its identity is the sha256 of the lines `sha256sum` prints of its files (those of `MODEL_FILES`), in the order of
    their names; where it comes from is no part of any name, and is not dumped.
    """

    sha256: Sha256 | None
    """sha256 of the model's files: its identity; null: not known yet, `sumcurve add --models` writes it here."""
    path: Annotated[str | None, Field(exclude=True)] = None
    """The folder of the model; or `hub`."""
    hub: Annotated[ModelName | None, Field(exclude=True)] = None
    """The model's name on the hub, `owner/name`, or of a package, `pypi:NAME==VERSION`; `revision` goes with it."""
    revision: Annotated[Annotated[str, StringConstraints(to_lower=True)] | None, Field(exclude=True)] = None
    """The commit on the hub, 40 hex digits: branches move; of a package the sha256 of its wheel. null: as `sha256`."""

    @model_validator(mode="after")
    def one_place(self) -> Self:
        if self.path is not None and self.hub is not None:
            raise ValueError("give either `path` or `hub`")
        if (self.hub is None) != (self.revision is None) and not (self.hub is not None and self.sha256 is None):
            raise ValueError("`hub` and `revision` go together: the hub's name of a model, and the commit")
        if self.sha256 is None and self.hub is None:
            raise ValueError("sha256 null is for a model of the `hub`; `sumcurve model FOLDER` prints that of a folder")
        if self.hub is not None and self.revision is not None:
            revision_of(self.hub, self.revision)
        return self

    def file(self, pinned: str = "") -> File | None:
        """The model's folder, whose sha256 the file `pinned` states; None where neither `path` nor `hub` is given."""
        if self.path is not None:
            return File(self.sha256, self.path, shards=MODEL_FILES, pinned=pinned)
        if self.hub is None:
            return None
        place, name = fetched_model(self.sha256), (self.hub, self.revision)
        return File(self.sha256, place, harvested=True, shards=MODEL_FILES, pinned=pinned, model=name)


class ModelSettings(Settings):
    """Base of the settings of every family: `kind` is the family's name, the block `model` of a method says the rest.

    The properties say what a model has that some losses and searches need.
    """

    kind: str

    losses: ClassVar[Sequence[str]] = LOSSES
    """The names of the losses that can train it."""

    @property
    def copies(self) -> bool:
        """Tell whether it can copy words of its source."""
        return False

    @property
    def supports_coverage(self) -> bool:
        """Tell whether its attention can see the sum of earlier attention."""
        return False

    @property
    def coverage_enabled(self) -> bool:
        """Tell whether coverage is on from the start."""
        return False

    @property
    def learns_entities(self) -> bool:
        """Tell whether it learns which tokens of a source are salient."""
        return False

    @property
    def dual(self) -> bool:
        """Tell whether it has a second output layer."""
        return False

    @property
    def is_pretrained(self) -> bool:
        """Tell whether its training begins with weights that were trained elsewhere."""
        return False

    def decides(self) -> dict[str, Any]:
        """Settings that decide a training, as plain values."""
        return self.model_dump(mode="json")

    def with_dropout(self, dropout: float) -> Self:
        """The same with another dropout everywhere."""
        return self.model_copy(update={"dropout": dropout})

    def phase_refusal(self, phase: PhaseSettings) -> str:
        """Explain why a phase cannot train such a model; empty where it can."""
        if phase.loss not in self.losses:
            return f"loss {phase.loss!r} is not one of a model of kind {self.kind}: {', '.join(self.losses)}"
        if phase.discount is not None:
            return f"loss {phase.loss!r} ignores discount; remove it"
        if phase.label_smoothing and self.copies:
            return (
                "label_smoothing is for models without copy_attention "
                "(an extended vocabulary has no fixed uniform distribution); set it to 0"
            )
        if (phase.coverage or phase.loss == "nll+coverage") and not self.supports_coverage:
            return "coverage needs a recurrent model with additive attention"
        if phase.loss == "nll+entity" and not self.learns_entities:
            return "loss nll+entity needs entity_attention"
        if phase.loss == "dual-train" and not self.dual:
            return "loss dual-train needs second_output"
        if phase.loss in ("self-train", "dual-train") and self.copies:
            return f"loss {phase.loss!r} is for models without copy_attention"
        return ""

    def training_refusal(self, training: Training) -> str:
        """Explain why such a model cannot be trained like this; empty where it can."""
        covered = self.coverage_enabled
        for phase in training.phases:
            covered |= phase.coverage
            reason = self.phase_refusal(phase)
            if not reason and phase.loss == "nll+coverage" and not covered:
                reason = "loss nll+coverage needs coverage in this phase or before: say `coverage: true`"
            if reason:
                return f"phase {phase.name!r}: {reason}"
        return ""

    def search_refusal(self, search: Decoding) -> str:
        """Explain why such a model cannot be decoded so; empty where it can."""
        if search.entity_penalty and search.entity_positions != "gold" and not self.learns_entities:
            return "entity_penalty needs entity_attention, or entity_positions gold"
        return ""

    def multiply_adds(self, source: int, target: int, vocabulary: int) -> float:
        """About how many a forward pass takes for one record. PlanError where nobody knows."""
        raise PlanError(f"model {self.kind}: no recorded study has measured what it takes")

    def stored(self, vocabulary: int) -> float:
        """About how many weights a training stores for each of its checkpoints."""
        return self.multiply_adds(1, 1, vocabulary)  # those that one word passes, and its vocabulary's

    @property
    def passes(self) -> float | None:
        """Forward passes that take as long as an update of a pretrained model; None where recorded ones tell that."""
        return None


def transformer_adds(
    width: int, feedforward: int, layers: tuple[int, int], source: float, target: float, vocabulary: int
) -> float:
    """Multiply-adds of a Transformer's forward pass, by tokens; `layers` are the encoder's and the decoder's."""
    layer = 4 * width**2 + 2 * width * feedforward
    return source * layers[0] * layer + target * (layers[1] * (layer + 4 * width**2) + vocabulary * width)


GateInput = Literal["context", "intra", "h", "c", "input", "embedding", "readout"]


class RecurrentSettings(ModelSettings):
    """One encoder-decoder with attention; most methods are settings of it (models.recurrent).

    H is `hidden`, D the decoder's width, E `embedding`; the encoder's states are 2H wide.
    """

    kind: Literal["recurrent"]
    embedding: Positive
    """E, width of a word."""
    hidden: Positive
    """H, width of each encoder direction."""
    decoder: Positive | None = None
    """D, width of the decoder; null: H."""
    encoder_layers: Positive = 1
    """Layers of the encoder."""
    decoder_layers: Positive = 1
    """Layers of the decoder."""
    convolutional_gate: Boolean = False
    """Lin et al. 2018: convolutions and self-attention gate the encoder's states."""
    learned_start: Boolean = False
    """The encoder's first state is learned, not zero."""
    bridge: Literal["relu", "tanh", "linear", "direction", "concat"] = "relu"
    """The decoder's first state from the encoder's last: one linear layer (relu, tanh, linear) of both directions,
    one with ReLU shared by the directions (direction), or both directions side by side (concat).
    """
    feed: Literal["nothing", "context", "merged", "readout"]
    """Input from the last step to the decoder LSTM."""
    query: Literal["h", "hc"] = "h"
    """Query of attention: the decoder's hidden state, or its cell state, too."""
    attention: Literal["additive", "bilinear", "gated", "projected"] = "additive"
    """Score of a query and a source position; gated: bilinear behind a two-layer SELU net; projected:
    bilinear on states projected to D, context D wide.
    """
    attention_width: Positive | None = None
    """Width of additive attention; null: 2H."""
    temporal: Boolean = False
    """Scores are normalised by their past at each source position (Paulus et al. 2018)."""
    intra_decoder: Literal["none", "additive", "bilinear"] = "none"
    """Attention to earlier decoder states."""
    readout: Literal["linear", "selu", "tanh", "none"] = "linear"
    """Vector that the output layer multiplies, from [h; context; intra]: linear: D wide; selu: two layers, D wide;
    tanh: two layers, E wide; none: as it is.
    """
    copy_attention: Boolean = False
    """True where source words can be copied."""
    gate: tuple[GateInput, ...] = ("context", "c", "h", "input")
    """Inputs of the copy gate."""
    output: Literal["untied", "tied", "tanh"] = "untied"
    """The output layer: tied to the embedding, through a projection unless the readout is E wide; tanh: rows
    tanh(W_embedding W).
    """
    output_bias: Boolean = True
    """True where the output layer has a bias."""
    second_output: Boolean = False
    """A second output layer for training (Wei et al. 2018)."""
    entity_attention: Boolean = False
    """Salience of each source token (Eyal et al. 2019)."""
    coverage: Boolean = False
    """Attention sees the sum of earlier attention from the start; a phase can switch it on, too."""
    dropout: Dropout = 0.0
    """Share of values that training sets to zero."""

    @property
    def width(self) -> int:
        """D, of the decoder."""
        return self.decoder or self.hidden

    @property
    def copies(self) -> bool:
        return self.copy_attention

    @property
    def supports_coverage(self) -> bool:
        return self.attention == "additive" and not self.temporal

    @property
    def coverage_enabled(self) -> bool:
        return self.coverage

    @property
    def learns_entities(self) -> bool:
        return self.entity_attention

    @property
    def dual(self) -> bool:
        return self.second_output

    def multiply_adds(self, source: int, target: int, vocabulary: int) -> float:
        e, h, d = self.embedding, self.hidden, self.width
        encode = source * self.encoder_layers * 8 * h * (e + h)
        attend = source * 2 * h * (4 if self.temporal or self.coverage else 2)
        step = self.decoder_layers * 4 * d * (e + d + (2 * h if self.feed != "nothing" else 0)) + attend
        out = vocabulary * (e if self.output == "tied" else d + 4 * h * (self.readout == "none"))
        return encode + target * (step + out) + (source * 2 * h * h * 9 if self.convolutional_gate else 0)

    @model_validator(mode="after")
    def parts_fit(self) -> "RecurrentSettings":
        if self.bridge in ("concat", "direction") and self.width != 2 * self.hidden:
            raise ValueError(f"bridge {self.bridge!r} needs decoder = 2 * hidden = {2 * self.hidden}")
        if self.bridge not in ("concat", "direction") and (self.encoder_layers, self.decoder_layers) != (1, 1):
            raise ValueError(f"bridge {self.bridge!r} is for one layer; use concat for several")
        if self.bridge in ("concat", "direction") and self.decoder_layers != self.encoder_layers:
            raise ValueError(f"bridge {self.bridge!r} needs as many decoder_layers as encoder_layers")
        if self.decoder_layers > 1 and self.feed != "nothing":
            raise ValueError("several decoder_layers are for feed nothing")
        if (self.coverage or self.attention_width) and self.attention != "additive":
            raise ValueError("coverage and attention_width need attention additive")
        if self.temporal and self.coverage:
            raise ValueError("temporal attention and coverage exclude each other")
        if self.feed in ("context", "merged") and self.attention == "projected":
            raise ValueError("attention projected feeds back nothing or the readout")
        if self.output == "tanh" and self.readout != "none":
            raise ValueError("output tanh multiplies the states themselves: use readout none")
        if "intra" in self.gate and self.copy_attention and self.intra_decoder == "none":
            raise ValueError("the gate cannot see `intra` where intra_decoder is none")
        return self


class NgramSettings(ModelSettings):
    """Rush et al.'s feed-forward language model with an attention-based encoder (models.ngram)."""

    kind: Literal["ngram"]
    embedding: Positive
    """D, of each of its embeddings."""
    hidden: Positive
    """H, of the hidden layer."""
    context: Positive = 5
    """C, words before the next one."""
    smoothing: Positive = 5
    """Width of the window that averages source embeddings; odd."""
    dropout: Dropout = 0.0
    """Share of values that training sets to zero."""

    @model_validator(mode="after")
    def check_odd_window(self) -> "NgramSettings":
        if self.smoothing % 2 == 0:
            raise ValueError(f"smoothing {self.smoothing} is even: a window has a word in its middle; use an odd width")
        return self

    def multiply_adds(self, source: int, target: int, vocabulary: int) -> float:
        return target * (self.hidden * self.embedding * self.context + self.hidden * vocabulary + source)


class TransformerSettings(ModelSettings):
    """Pre-norm encoder-decoder with sinusoidal positions (models.transformer)."""

    kind: Literal["transformer"]
    width: Positive
    """Width of a word and of every layer."""
    heads: Positive
    """Heads of each attention."""
    feedforward: Positive
    """Width between the two layers behind each attention."""
    encoder_layers: Positive
    """Layers of the encoder."""
    decoder_layers: Positive
    """Layers of the decoder."""
    copy_attention: Boolean = True
    """A separate single-head attention on the decoder's output, from which source words are copied."""
    output: Literal["untied", "tied"] = "untied"
    """The output layer: of its own, or the embedding's."""
    dropout: Dropout = 0.1
    """Share of values that training sets to zero."""

    @property
    def copies(self) -> bool:
        return self.copy_attention

    def multiply_adds(self, source: int, target: int, vocabulary: int) -> float:
        layers = self.encoder_layers, self.decoder_layers
        return transformer_adds(self.width, self.feedforward, layers, source, target, vocabulary)

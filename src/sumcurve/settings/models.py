"""Models, a class for each family."""

import re
from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    StringConstraints,
    model_validator,
)

from sumcurve.settings.base import Dropout, HubName, Positive, Settings, Sha256

GateInput = Literal["context", "intra", "h", "c", "input", "embedding", "readout"]


class RecurrentSettings(Settings):
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
    convolutional_gate: bool = False
    """Lin et al. 2018: convolutions and self-attention gate the encoder's states."""
    learned_start: bool = False
    """The encoder's first state is learned, not zero."""
    bridge: Literal["relu", "tanh", "linear", "direction", "concat"] = "relu"
    """The decoder's first state from the encoder's last: one linear layer (relu, tanh, linear) of both directions,
    one with ReLU shared by the directions (direction), or both directions side by side (concat).
    """
    feed: Literal["nothing", "context", "merged", "readout"]
    """What of the last step enters the decoder LSTM."""
    query: Literal["h", "hc"] = "h"
    """What attention is asked with: the decoder's hidden state, or its cell state, too."""
    attention: Literal["additive", "bilinear", "gated", "projected"] = "additive"
    """How a query and a source position are scored; gated: bilinear behind a two-layer SELU net; projected:
    bilinear on states projected to D, context D wide.
    """
    attention_width: Positive | None = None
    """Of additive attention; null: 2H."""
    temporal: bool = False
    """Scores are normalised by their past at each source position (Paulus et al. 2018)."""
    intra_decoder: Literal["none", "additive", "bilinear"] = "none"
    """Attention to earlier decoder states."""
    readout: Literal["linear", "selu", "tanh", "none"] = "linear"
    """What the vocabulary is multiplied with, from [h; context; intra]: linear: D wide; selu: two layers, D wide;
    tanh: two layers, E wide; none: as it is.
    """
    copy_attention: bool = False
    """Whether source words can be copied."""
    gate: tuple[GateInput, ...] = ("context", "c", "h", "input")
    """What the copy gate sees."""
    output: Literal["untied", "tied", "tanh"] = "untied"
    """The output layer: tied to the embedding, through a projection unless the readout is E wide; tanh: rows
    tanh(W_embedding W).
    """
    output_bias: bool = True
    """Whether the output layer has a bias."""
    second_output: bool = False
    """A second output layer for training (Wei et al. 2018)."""
    entity_attention: bool = False
    """Salience of each source token (Eyal et al. 2019)."""
    coverage: bool = False
    """Attention sees the sum of earlier attention from the start; a phase can switch it on, too."""
    dropout: Dropout = 0.0
    """Share of values that training sets to zero."""

    @property
    def width(self) -> int:
        """D, of the decoder."""
        return self.decoder or self.hidden

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


class NgramSettings(Settings):
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
    def window_has_a_middle(self) -> "NgramSettings":
        if self.smoothing % 2 == 0:
            raise ValueError(f"smoothing {self.smoothing} is even: a window has a word in its middle; use an odd width")
        return self


class TransformerSettings(Settings):
    """Pre-norm encoder-decoder with sinusoidal positions (models.transformer)."""

    kind: Literal["transformer"]
    width: Positive
    """Of a word and of every layer."""
    heads: Positive
    """Of each attention."""
    feedforward: Positive
    """Width between the two layers behind each attention."""
    encoder_layers: Positive
    """Layers of the encoder."""
    decoder_layers: Positive
    """Layers of the decoder."""
    copy_attention: bool = True
    """A separate single-head attention on the decoder's output, from which source words are copied."""
    output: Literal["untied", "tied"] = "untied"
    """The output layer: of its own, or the embedding's."""
    dropout: Dropout = 0.1
    """Share of values that training sets to zero."""


class ExtractRewriteSettings(Settings):
    """Chen and Bansal's extractor and abstractor (models.extract_rewrite)."""

    kind: Literal["extract-rewrite"]
    abstractor: RecurrentSettings
    """What rewrites an extracted sentence."""
    filters: Positive = 100
    """Of each convolution of the sentence encoder."""
    windows: tuple[Positive, ...] = (3, 4, 5)
    """Widths of the convolutions, in words."""
    hidden: Positive
    """Of the sentence LSTM (each direction) and of the pointer LSTM."""
    hops: Positive = 1
    """Glimpses before pointing."""
    dropout: Dropout = 0.0
    """Of the extractor: share of values that training sets to zero."""
    sentences: Positive
    """Extracted before the extractor has learned to stop."""
    max_sentences: Annotated[Positive, Field(alias="most_sentences")] = 60
    """Of a source; later ones are not read."""
    rewrite_tokens: Positive = 30
    """Of one rewritten sentence."""


class Lora(Settings):
    """Low-rank adaptation (Hu et al. 2022) by `peft`: small matrices are trained beside the model's, which stay."""

    rank: Positive = 8
    """Of the matrices."""
    alpha: Annotated[float, Field(gt=0.0)] = 16.0
    """What they add is scaled by alpha / rank."""
    dropout: Dropout = 0.0
    """Share of what enters them that training sets to zero."""
    modules: tuple[str, ...] | None = None
    """Endings of the names of the layers that get them; null: those that peft has for the architecture."""


class TransformersSettings(Settings):
    """A pretrained model of Hugging Face transformers (capabilities.pretrained.model), a local folder's or the hub's.

    It reads and writes text as people do, in subwords of its own. Its identity is the sha256 of the lines `sha256sum`
    prints of its files (those of `MODEL_FILES`), in the order of their names; where it lies is no part of any name.
    """

    kind: Literal["transformers"]
    sha256: Sha256
    """Of the model's files: its identity."""
    path: str | None = None
    """The folder of the model; or `hub`."""
    hub: HubName | None = None
    """The model's name on the hub, `owner/name`; `revision` goes with it."""
    revision: Annotated[str, StringConstraints(to_lower=True)] | None = None
    """The commit on the hub, 40 hex digits: branches and tags move."""
    architecture: Literal["encoder-decoder", "decoder"] = "encoder-decoder"
    """By which of transformers' auto classes it is read: AutoModelForSeq2SeqLM or AutoModelForCausalLM."""
    template: str = "{source}"
    """What the model reads: `{source}` is the source, and stands in it once."""
    lora: Lora | None = None
    """What is trained: low-rank matrices beside the weights; null: all weights."""
    zero_shot: bool = False
    """Whether the model's summaries before any training are a row of the tables, at 0 records."""
    tokens_a_word: Annotated[float, Field(ge=1.0)] = 2.0
    """Subwords that a search may write for each word of the corpus's longest summary, which is cut to that afterwards.
    """
    gradient_checkpointing: bool = False
    """Whether activations are computed again in the backward pass, which takes less memory and more time."""
    dropout: Dropout | None = None
    """Share of values that training sets to zero; null: the model's own."""

    @model_validator(mode="after")
    def one_place(self) -> "TransformersSettings":
        if self.path is not None and self.hub is not None:
            raise ValueError("give either `path` or `hub`")
        if (self.hub is None) != (self.revision is None):
            raise ValueError("`hub` and `revision` go together: the hub's name of a model, and the commit")
        if self.revision is not None and not re.fullmatch(r"[0-9a-f]{40}", self.revision):
            raise ValueError(
                f"revision {self.revision!r} is a branch or a tag, which moves, or a part of a commit's name; give all "
                "40 hex digits of the commit (the hub shows them under `Files and versions`, `History`)"
            )
        if self.template.count("{source}") != 1:
            raise ValueError(f"template {self.template!r} must hold {{source}} once")
        if self.architecture == "decoder" and self.template.endswith("{source}"):
            raise ValueError(
                "a model of architecture decoder goes on with what it reads: end the template with what asks for a "
                'summary, as "{source}\nSummary:"'
            )
        return self

    def decides(self) -> dict[str, Any]:
        """What decides the outcome of a training, as plain values: not where the model lies, nor what else is asked."""
        return self.model_dump(mode="json", exclude={"path", "hub", "revision", "zero_shot"})


class BartSettings(Settings):
    """BART (Lewis et al. 2020), made here: its architecture and subwords are those of the study's `pretraining`.

    It differs from others of its kind by what it has learned of the pretraining's packages, and by nothing else.
    """

    kind: Literal["bart"]
    outside: Literal["nothing", "bodies", "pairs"]
    """What it learns of the packages outside of the study's: nothing (weights are drawn from the seed alone); bodies
    (its weights are the pretraining's); pairs (weights as for nothing, and it is trained on their sources and targets,
    too, all of them among the fraction's).
    """
    dropout: Dropout = 0.1
    """Share of values that training sets to zero."""
    tokens_a_word: Annotated[float, Field(ge=1.0)] = 2.0
    """Subwords that a search may write for each word of the corpus's longest summary, which is cut to that afterwards.
    """


SubwordSettings = TransformersSettings | BartSettings  # of models that read and write text in subwords of their own
FAIRSEQ = "fairseq-fixed 0.12.3.1"  # the release that `make fairseq-env` installs, and its version


class FairseqSettings(Settings):
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


Model = Annotated[
    RecurrentSettings
    | TransformerSettings
    | NgramSettings
    | ExtractRewriteSettings
    | TransformersSettings
    | BartSettings
    | FairseqSettings,
    Field(discriminator="kind"),
]

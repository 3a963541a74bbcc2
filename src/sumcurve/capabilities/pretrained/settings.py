"""Settings of pretrained models, which read and write texts in subwords."""

import re
from collections.abc import Mapping
from functools import cache
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from sumcurve.settings.base import Boolean, Dropout, Positive, Settings
from sumcurve.settings.config import PlanError
from sumcurve.settings.models import ModelSettings, PinnedModel
from sumcurve.settings.search import Decoding
from sumcurve.settings.training import PhaseSettings
from sumcurve.sources.pinned import fetched_model

LOOKED_UP = re.compile("embed|shared|wte|wpe|relative_attention_bias")  # tables, which no product reads
WITH_LORA = ("q_proj", "v_proj", "q", "v", "query", "value", "c_attn", "query_key_value")  # by architecture, of peft


class Lora(Settings):
    """Low-rank adaptation (Hu et al. 2022) by `peft`: small added matrices are trained, the model's weights are not."""

    rank: Positive = 8
    """Rank of the matrices."""
    alpha: Annotated[float, Field(gt=0.0)] = 16.0
    """Scale of their product: it is multiplied by alpha / rank."""
    dropout: Dropout = 0.0
    """Share of what enters them that training sets to zero."""
    modules: tuple[str, ...] | None = None
    """Endings of the names of the layers that get them; null: those that peft has for the architecture."""


class TransformersSettings(PinnedModel, ModelSettings):
    """A pretrained model of Hugging Face transformers (capabilities.pretrained.model), a local folder's or the hub's.

    It reads and writes plain text, in subwords of its own.
    """

    kind: Literal["transformers"]
    architecture: Literal["encoder-decoder", "decoder"] = "encoder-decoder"
    """Class of transformers that opens it: AutoModelForSeq2SeqLM or AutoModelForCausalLM."""
    template: str = "{source}"
    """Input of the model: `{source}` is the source, and stands in it once."""
    chat: Annotated[Boolean, Field(exclude_if=lambda chat: not chat)] = False
    """True where the template is a user's message to a model of architecture decoder, in its tokenizer's chat template.
    """
    seen: tuple[str, ...] | None = ()
    """Data sets of summaries that its weights were trained on before, by the names of corpora here or of the hub's
    repositories: a corpus of such a name is refused. null: not published.
    """
    weights: Annotated[Literal["single", "bf16"], Field(exclude_if=lambda weights: weights == "single")] = "single"
    """Precision of the pretrained weights, which `lora` leaves as they are; bf16 takes half the memory."""
    random_weights: Annotated[Boolean, Field(exclude_if=lambda random: not random)] = False
    """True where training begins with random weights in place of the model's: a control for what pretraining is worth.
    """
    lora: Lora | None = None
    """Trained weights: low-rank matrices beside the weights; null: all weights."""
    zero_shot: Boolean = False
    """True where the model's summaries before any training are a row of the tables, at 0 records."""
    tokens_a_word: Annotated[float, Field(ge=1.0)] = 2.0
    """Subwords that a search may write for each word of the corpus's longest summary, which is cut to that afterwards.
    """
    gradient_checkpointing: Boolean = False
    """True where activations are computed again in the backward pass, which takes less memory and more time."""
    dropout: Dropout | None = None
    """Share of values that training sets to zero; null: the model's own."""

    @model_validator(mode="after")
    def prompt_suits_the_model(self) -> "TransformersSettings":
        if self.template.count("{source}") != 1:
            raise ValueError(f"template {self.template!r} must hold {{source}} once")
        if self.chat and self.architecture != "decoder":
            raise ValueError("`chat` is for a model of architecture decoder: set that, or leave `chat` out")
        if self.weights == "bf16" and self.lora is None:
            raise ValueError(
                "weights in bf16 are too coarse for the updates of fine-tuning, which would be lost: give `lora`, or "
                "take `training: {precision: bf16}`, which keeps them single"
            )
        if self.random_weights and (self.lora is not None or self.zero_shot):
            raise ValueError("`random_weights` are trained, all of them: leave `lora` and `zero_shot` out")
        if self.architecture == "decoder" and not self.chat and self.template.endswith("{source}"):
            raise ValueError(
                "a model of architecture decoder goes on with what it reads: end the template with what asks for a "
                'summary, as "{source}\nSummary:"'
            )
        return self

    @property
    def is_pretrained(self) -> bool:
        return not self.random_weights

    def phase_refusal(self, phase: PhaseSettings) -> str:
        if phase.loss != "nll" or phase.own_words or phase.coverage:
            return f"a model of kind {self.kind} is trained on loss nll, without own_words and coverage"
        return super().phase_refusal(phase)

    def search_refusal(self, search: Decoding) -> str:
        if search.coverage_penalty or search.entity_penalty:
            return f"a model of kind {self.kind} shows no attention; set its penalties to 0"
        return super().search_refusal(search)

    def decides(self) -> dict[str, Any]:
        """Settings that determine the outcome of a training, as plain values: without the model's path and other uses.

        Its name on the hub replaces its files where these are not known yet.
        """
        named = {} if self.sha256 else {"hub": self.hub}
        return self.model_dump(mode="json", exclude={"zero_shot", "seen"}) | named

    def multiply_adds(self, source: int, target: int, vocabulary: int) -> float:
        """Multiply-adds of a forward pass for one record of `source` and `target` words, by the shapes of the weights.

        A subword takes one of each weight of a matrix that it passes; products of queries with keys, which are few, are
        left out. The vocabulary is the model's own. PlanError where its folder is not here.
        """
        matrices = {name: prod(shape) for name, shape in self._shapes().items() if len(shape) == 2}
        tables = [size for name, size in matrices.items() if LOOKED_UP.search(name)]
        encoder = sum(size for name, size in matrices.items() if "encoder." in name and not LOOKED_UP.search(name))
        decoder = sum(matrices.values()) - sum(tables) - encoder
        if not any("head" in name for name in matrices):
            decoder += max(tables, default=0)  # the embedding is the output layer, too
        read = source + len(self.template.split()) - 1
        reading = decoder if self.architecture == "decoder" else encoder
        return self.tokens_a_word * (read * reading + target * decoder)

    def stored(self, vocabulary: int) -> float:
        """Number of weights in a checkpoint: all, or LoRA's matrices. PlanError where the model is not here."""
        if self.lora is None:
            return sum(map(prod, self._shapes().values()))
        endings = tuple(f".{name}.weight" for name in self.lora.modules or WITH_LORA)
        return sum(self.lora.rank * sum(shape) for name, shape in self._shapes().items() if name.endswith(endings))

    @property
    def passes(self) -> float:
        """Cost of an update, in forward passes: forward, backward to inputs and, without LoRA, to weights."""
        return 2.0 + (self.lora is None) + self.gradient_checkpointing

    def _shapes(self) -> Mapping[str, list[int]]:
        return _shapes(Path(self.path or fetched_model(self.sha256)).resolve())


@cache
def _shapes(folder: Path) -> Mapping[str, list[int]]:
    """Shapes of all weights in a model's folder, by name. PlanError where none are there."""
    from safetensors import safe_open

    shapes: dict[str, list[int]] = {}
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, framework="numpy") as weights:
            shapes |= {name: weights.get_slice(name).get_shape() for name in weights.keys()}  # noqa: SIM118
    if not shapes:
        raise PlanError(f"{folder} holds no *.safetensors: bring the model's folder")
    return shapes

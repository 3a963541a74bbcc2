"""Settings of models that read and write texts, in subwords: pretrained ones, and BART made here."""

import re
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from sumcurve.settings.base import Boolean, Dropout, HubName, Positive, Settings, Sha256
from sumcurve.settings.models import ModelSettings
from sumcurve.settings.search import Decoding
from sumcurve.settings.training import PhaseSettings


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


class SubwordSettings(ModelSettings):
    """What models share that read and write text in subwords of their own."""

    tokens_a_word: Annotated[float, Field(ge=1.0)] = 2.0
    """Subwords that a search may write for each word of the corpus's longest summary, which is cut to that afterwards.
    """

    def phase_refusal(self, phase: PhaseSettings) -> str:
        if phase.loss != "nll" or phase.own_words or phase.coverage:
            return f"a model of kind {self.kind} is trained on loss nll, without own_words and coverage"
        return super().phase_refusal(phase)

    def search_refusal(self, search: Decoding) -> str:
        if search.coverage_penalty or search.entity_penalty:
            return f"a model of kind {self.kind} shows no attention; set its penalties to 0"
        return super().search_refusal(search)


class TransformersSettings(SubwordSettings):
    """A pretrained model of Hugging Face transformers (capabilities.pretrained.model), a local folder's or the hub's.

    It reads and writes text as people do, in subwords of its own. Its identity is the sha256 of the lines `sha256sum`
    prints of its files (those of `MODEL_FILES`), in the order of their names; where it lies is no part of any name.
    """

    kind: Literal["transformers"]
    sha256: Sha256 | None
    """Of the model's files: its identity; null: not known yet, `sumcurve add --models` writes it here."""
    path: str | None = None
    """The folder of the model; or `hub`."""
    hub: HubName | None = None
    """The model's name on the hub, `owner/name`; `revision` goes with it."""
    revision: Annotated[str, StringConstraints(to_lower=True)] | None = None
    """The commit on the hub, 40 hex digits: branches and tags move. null: as `sha256`."""
    architecture: Literal["encoder-decoder", "decoder"] = "encoder-decoder"
    """By which of transformers' auto classes it is read: AutoModelForSeq2SeqLM or AutoModelForCausalLM."""
    template: str = "{source}"
    """What the model reads: `{source}` is the source, and stands in it once."""
    chat: Annotated[Boolean, Field(exclude_if=lambda chat: not chat)] = False
    """Whether the template is a user's message to a model of architecture decoder, in its tokenizer's chat template."""
    seen: tuple[str, ...] | None = ()
    """Data sets of summaries that its weights were trained on before, by the names of corpora here or of the hub's
    repositories: a corpus of such a name is refused. null: not published.
    """
    weights: Annotated[Literal["single", "bf16"], Field(exclude_if=lambda weights: weights == "single")] = "single"
    """How its own weights are kept, which `lora` leaves as they are; bf16 takes half the memory."""
    lora: Lora | None = None
    """What is trained: low-rank matrices beside the weights; null: all weights."""
    zero_shot: Boolean = False
    """Whether the model's summaries before any training are a row of the tables, at 0 records."""
    tokens_a_word: Annotated[float, Field(ge=1.0)] = 2.0
    """Subwords that a search may write for each word of the corpus's longest summary, which is cut to that afterwards.
    """
    gradient_checkpointing: Boolean = False
    """Whether activations are computed again in the backward pass, which takes less memory and more time."""
    dropout: Dropout | None = None
    """Share of values that training sets to zero; null: the model's own."""

    @model_validator(mode="after")
    def one_place(self) -> "TransformersSettings":
        if self.path is not None and self.hub is not None:
            raise ValueError("give either `path` or `hub`")
        if (self.hub is None) != (self.revision is None) and not (self.hub is not None and self.sha256 is None):
            raise ValueError("`hub` and `revision` go together: the hub's name of a model, and the commit")
        if self.sha256 is None and self.hub is None:
            raise ValueError("sha256 null is for a model of the `hub`; `sumcurve model FOLDER` prints that of a folder")
        if self.revision is not None and not re.fullmatch(r"[0-9a-f]{40}", self.revision):
            raise ValueError(
                f"revision {self.revision!r} is a branch or a tag, which moves, or a part of a commit's name; give all "
                "40 hex digits of the commit (the hub shows them under `Files and versions`, `History`)"
            )
        if self.template.count("{source}") != 1:
            raise ValueError(f"template {self.template!r} must hold {{source}} once")
        if self.chat and self.architecture != "decoder":
            raise ValueError("`chat` is for a model of architecture decoder: set that, or leave `chat` out")
        if self.weights == "bf16" and self.lora is None:
            raise ValueError(
                "weights in bf16 are too coarse for the updates of fine-tuning, which would be lost: give `lora`, or "
                "take `training: {precision: bf16}`, which keeps them single"
            )
        if self.architecture == "decoder" and not self.chat and self.template.endswith("{source}"):
            raise ValueError(
                "a model of architecture decoder goes on with what it reads: end the template with what asks for a "
                'summary, as "{source}\nSummary:"'
            )
        return self

    def decides(self) -> dict[str, Any]:
        """What decides the outcome of a training, as plain values: not where the model lies, nor what else is asked.

        Its name on the hub stands for its files where these are not known yet.
        """
        apart = {"path", "revision", "zero_shot", "seen"} | ({"hub"} if self.sha256 else set())
        return self.model_dump(mode="json", exclude=apart)


class BartSettings(SubwordSettings):
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
    lora: Annotated[Lora | None, Field(exclude_if=lambda lora: lora is None)] = None
    """What is trained: low-rank matrices beside the pretraining's weights; null: all weights."""
    tokens_a_word: Annotated[float, Field(ge=1.0)] = 2.0
    """Subwords that a search may write for each word of the corpus's longest summary, which is cut to that afterwards.
    """

    @model_validator(mode="after")
    def adapts_what_is_pretrained(self) -> "BartSettings":
        if self.lora is not None and self.outside != "bodies":
            raise ValueError(f"`lora` trains no weights, and those of outside {self.outside!r} are new: leave it out")
        return self

"""The configuration's schema: every key a study or a method file may hold, with its unit.

Unknown keys are errors. Imports nothing heavy, because the Snakefile reads it on every parse.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Percent = Annotated[int, Field(ge=1, le=100)]
Positive = Annotated[int, Field(ge=1)]
NonNegative = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Settings(BaseModel):
    """A frozen block of the configuration in which an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, allow_inf_nan=False)


# --- corpora


class Harvest(Settings):
    """Docstrings of pinned packages, parsed with `ast` on the user's machine."""

    packages: dict[str, str]  # distribution name -> public version


class Raw(Settings):
    """Where a corpus comes from; its identity is the sha256 of that content."""

    sha256: Sha256
    harvest: Harvest | None = None
    path: str | None = None  # JSON lines: plain, .gz or .zst

    @model_validator(mode="after")
    def one_source(self) -> "Raw":
        if (self.harvest is None) == (self.path is None):
            raise ValueError("give either `harvest` or `path`")
        return self


class Compose(Settings):
    """Several records of one group joined into one multi-sentence record (the `modules` corpus)."""

    least: Positive = 3  # records joined into one
    most: Positive = 6


class Split(Settings):
    """Sizes in records. A group (source module) is never shared between two parts."""

    valid: Positive
    test: Positive
    train: Positive | None = None  # None: all that is left
    key: str = "sumcurve"  # of the keyed hash that orders groups and records


class Prepare(Settings):
    """How raw records become a corpus. Lengths count tokens; a record outside them is dropped and counted."""

    tokenizer: Literal["words"] = "words"
    lower: bool = True
    least_source_tokens: NonNegative = 1
    most_source_tokens: Positive | None = None
    least_target_tokens: NonNegative = 1
    most_target_tokens: Positive | None = None
    least_alphabetic_share: Share = 0.0  # of the source's tokens
    duplicates: Literal["drop", "keep"] = "drop"  # exact duplicate source or target
    near_duplicates: Share | None = None  # Jaccard of source 3-shingles from which a record is dropped


class Search(Settings):
    """Decoding of one corpus. Lengths count tokens without the end mark."""

    beam: Positive = 4
    min_tokens: NonNegative = 1
    max_tokens: Positive
    length_penalty: Literal["average", "gnmt", "none"] = "average"
    alpha: float = 1.0  # score = logp / tokens**alpha (average)
    block_ngram: NonNegative = 3  # 0: off; n-grams that hold a sentence mark are exempt
    early_stopping: Literal["first", "heuristic", "never"] = "heuristic"  # transformers' True, False, "never"
    unknown: Literal["copy", "ban", "keep"] = "copy"  # copy: an unknown word becomes the most attended source word


class CorpusSettings(Settings):
    raw: Raw
    compose: Compose | None = None
    prepare: Prepare = Prepare()
    split: Split
    percents: list[Percent]
    source_tokens: Positive  # what a model reads of the source: its first tokens
    target_tokens: Positive  # what a model is trained to write
    search: Search
    lead_sentences: Positive = 1  # of the trivial systems lead and random
    title: str = ""  # one honest sentence, printed under the corpus's tables


# --- methods


class RecurrentSettings(Settings):
    """One bi-LSTM encoder, one LSTM decoder with attention; the methods are settings of it (models.recurrent)."""

    kind: Literal["recurrent"]
    embedding: Positive
    hidden: Positive  # per encoder direction and of the decoder
    feed: Literal["nothing", "context", "merged"]  # what of the last attention enters the decoder LSTM
    query: Literal["h", "hc"] = "h"
    attention: Literal["additive", "bilinear"] = "additive"
    coverage: bool = False  # attention sees the sum of earlier attention (switched on by a phase)
    copy_attention: bool = False
    output: Literal["untied", "tied"] = "untied"
    dropout: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0


class TransformerSettings(Settings):
    """Pre-norm encoder-decoder with sinusoidal positions (models.transformer)."""

    kind: Literal["transformer"]
    width: Positive
    heads: Positive
    feedforward: Positive
    encoder_layers: Positive
    decoder_layers: Positive
    copy_attention: bool = True  # a separate single-head attention on the decoder's output
    output: Literal["untied", "tied"] = "untied"
    dropout: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.1


class Optimizer(Settings):
    name: Literal["adam", "adagrad"] = "adam"
    rate: Annotated[float, Field(gt=0.0)]
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    accumulator: float = 0.1  # Adagrad's initial sum
    schedule: Literal["constant", "noam", "plateau"] = "constant"
    warmup_updates: NonNegative = 0  # linear for constant and plateau, Vaswani et al.'s for noam (rate = peak)
    clip_norm: Annotated[float, Field(gt=0.0)] | None = None

    @model_validator(mode="after")
    def noam_warms_up(self) -> "Optimizer":
        if self.schedule == "noam" and not self.warmup_updates:
            raise ValueError("schedule noam needs warmup_updates of at least 1")
        return self


class Stop(Settings):
    """Validate every max(every_updates, every_epochs of an epoch); stop after `patience` stale validations."""

    every_updates: Positive
    every_epochs: Annotated[float, Field(gt=0.0)]
    patience: Positive
    most_updates: Positive  # a safety net that History names when it is hit; never a wall clock


class PhaseSettings(Settings):
    name: str
    loss: Literal["nll", "nll+coverage"]
    coverage: bool = False  # switch the model's coverage on (weights 0) before this phase
    label_smoothing: Share = 0.0
    optimizer: Optimizer
    stop: Stop


class Training(Settings):
    batch: Positive
    vocabulary: Positive  # most frequent words of the fraction, beside the five marks
    least_count: Positive = 1  # occurrences a word needs to enter the vocabulary
    valid_records: Positive  # the fixed validation subset that is decoded greedily
    phases: Annotated[list[PhaseSettings], Field(min_length=1)]

    @model_validator(mode="after")
    def phases_have_names_of_their_own(self) -> "Training":
        names = [phase.name for phase in self.phases]
        if len(set(names)) < len(names):
            raise ValueError(f"two phases share a name in {names}; History could not tell them apart")
        return self


class Recipe(Settings):
    """One complete way to train a method: paper settings or small settings."""

    model: Annotated[RecurrentSettings | TransformerSettings, Field(discriminator="kind")]
    training: Training

    @model_validator(mode="after")
    def phases_suit_the_model(self) -> "Recipe":
        for phase in self.training.phases:
            if phase.label_smoothing and self.model.copy_attention:
                raise ValueError(
                    f"phase {phase.name!r}: label_smoothing is for models without copy_attention "
                    "(an extended vocabulary has no fixed uniform distribution); set it to 0"
                )
            covers = phase.coverage or phase.loss == "nll+coverage"
            if covers and not (self.model.kind == "recurrent" and self.model.attention == "additive"):
                raise ValueError(f"phase {phase.name!r}: coverage needs a recurrent model with additive attention")
        return self


class MethodSettings(Settings):
    title: str
    paper: str
    settings: dict[str, Recipe]  # "small", "paper", ...


# --- scores and studies


class Rouge(Settings):
    stemmer: bool = False  # off: equal to ROUGE-1.5.5 without -m up to its rounding


class Bootstrap(Settings):
    resamples: Positive = 2000
    confidence: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.95
    seed: NonNegative = 1


class StudySettings(Settings):
    title: str
    corpora: dict[str, CorpusSettings]
    methods: list[str]
    settings: str = "small"  # which recipe of each method file
    seeds: Annotated[list[NonNegative], Field(min_length=1)]
    threads: Positive = 1  # of one training; changes floating-point sums, hence part of its name
    rouge: Rouge = Rouge()
    bootstrap: Bootstrap = Bootstrap()

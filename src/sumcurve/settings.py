"""The configuration's schema: every key a study or a method file may hold, with its unit.

Unknown keys are errors. Imports nothing heavy, because the Snakefile reads it on every parse.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sumcurve.sums import Sums

Percent = Annotated[int, Field(ge=1, le=100)]
Positive = Annotated[int, Field(ge=1)]
NonNegative = Annotated[int, Field(ge=0)]
NonNegativeFloat = Annotated[float, Field(ge=0.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Dropout = Annotated[float, Field(ge=0.0, lt=1.0)]
LimitIfGiven = Annotated[Positive | None, Field(exclude_if=lambda limit: limit is None)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Settings(BaseModel):
    """A frozen block of the configuration in which an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, allow_inf_nan=False)


# --- corpora


class Harvest(Settings):
    """Docstrings of pinned packages, parsed with `ast` on the user's machine."""

    kind: Literal["docstrings", "outlines"] = "docstrings"  # outlines: a module's or class's over those below it
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
    """How raw records become a corpus. A record outside its limits is dropped and counted.

    A limit in sentences that is not given leaves the specification as it was before there were such limits.
    """

    tokenizer: Literal["words"] = "words"
    lower: bool = True
    least_source_tokens: NonNegative = 1
    most_source_tokens: Positive | None = None
    least_target_tokens: NonNegative = 1
    most_target_tokens: Positive | None = None
    least_source_sentences: LimitIfGiven = None
    most_source_sentences: LimitIfGiven = None
    least_target_sentences: LimitIfGiven = None
    most_target_sentences: LimitIfGiven = None
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
    exempt: tuple[str, ...] = ()  # words whose n-grams may repeat, too, where the vocabulary has them
    early_stopping: Literal["first", "heuristic", "never"] = "heuristic"  # transformers' True, False, "never"
    unknown: Literal["copy", "ban", "keep"] = "copy"  # copy: an unknown word becomes the most attended source word
    coverage_penalty: NonNegativeFloat = 0.0  # beta of Eyal et al. 2019: on attention beyond 1, at every step
    entity_penalty: NonNegativeFloat = 0.0  # gamma of Eyal et al. 2019: on salient entities left unattended, at the end
    entity_positions: Literal["model", "gold"] = "model"  # gold: positions by the reference; a bound, no competitor

    def signature(self) -> str:
        """All that decides an output beside the model, in one word: `beam4+min6+max20+average1.5+block3+unk-copy`.

        What is off, or is the default of `early_stopping`, is left out.
        """

        def exact(value: float) -> str:
            return repr(value).removesuffix(".0")

        norm = "none" if self.length_penalty == "none" else f"{self.length_penalty}{exact(self.alpha)}"
        parts = [f"beam{self.beam}", f"min{self.min_tokens}", f"max{self.max_tokens}", norm]
        but = "".join(f"-but-{word}" for word in self.exempt)
        parts += [f"block{self.block_ngram}{but}"] if self.block_ngram else []
        parts += [f"unk-{self.unknown}"]
        parts += [f"stop-{self.early_stopping}"] if self.early_stopping != "heuristic" else []
        parts += [f"coverage{exact(self.coverage_penalty)}"] if self.coverage_penalty else []
        if self.entity_penalty:
            gold = "-gold" if self.entity_positions == "gold" else ""
            parts += [f"entity{exact(self.entity_penalty)}{gold}"]
        return "+".join(parts)

    def greedy(self) -> "Search":
        """Greedy decoding under the same limits: what validation decodes with."""
        read = {"min_tokens", "max_tokens", "block_ngram", "exempt", "unknown"}
        return Search(beam=1, **self.model_dump(include=read))


class MethodSearch(Settings):
    """What a method's paper asks of decoding. Lengths are the corpus's, and nothing else is."""

    beam: Positive
    length_penalty: Literal["average", "gnmt", "none"]
    alpha: float = 1.0
    block_ngram: NonNegative
    exempt: tuple[str, ...] = ()
    early_stopping: Literal["first", "heuristic", "never"] = "heuristic"
    unknown: Literal["copy", "ban", "keep"] = "copy"
    coverage_penalty: NonNegativeFloat = 0.0
    entity_penalty: NonNegativeFloat = 0.0
    entity_positions: Literal["model", "gold"] = "model"

    def over(self, search: Search) -> Search:
        """This search under the corpus's lengths."""
        return search.model_copy(update=self.model_dump())


class Oracle(Settings):
    """How far an extract of a test item can go (annotations.oracle), and for which items it is asked."""

    # The filter of Akhmetov et al. (2022) is 100 to 500 source sentences and 10 to 20 in the abstract.
    least_source_sentences: Positive = 1
    most_source_sentences: Positive | None = None
    least_target_sentences: Positive = 1
    most_target_sentences: Positive | None = None
    nodes: Positive = 100_000  # of one proof; then HiGHS, or a bound
    searches: bool = True  # the five searches of Akhmetov et al. and the systems beside the proven optimum
    seed: NonNegative = 1  # of the searches


class CorpusSettings(Settings):
    raw: Raw
    compose: Compose | None = None
    prepare: Prepare = Prepare()
    split: Split
    percents: list[Percent]
    methods: list[str] | None = None  # of the study's, those that are trained on this corpus; None: all
    source_tokens: Positive  # what a model reads of the source: its first tokens
    target_tokens: Positive  # what a model is trained to write
    search: Search
    target: Literal["titles", "summaries"] = (
        "summaries"  # titles are one sentence: nothing to extract sentence by sentence
    )
    entities: str = "rules"  # what finds entities in references: our rules, or an installed spaCy pipeline's name
    lead_sentences: Positive = 1  # of the trivial systems lead and random
    oracle: Oracle | None = Oracle()  # None: no proofs, for a test part too large for them
    title: str = ""  # one honest sentence, printed under the corpus's tables


# --- methods


GateInput = Literal["context", "intra", "h", "c", "input", "embedding", "readout"]


class RecurrentSettings(Settings):
    """One encoder-decoder with attention; most methods are settings of it (models.recurrent).

    H is `hidden`, D the decoder's width, E `embedding`; the encoder's states are 2H wide.
    """

    kind: Literal["recurrent"]
    embedding: Positive
    hidden: Positive  # H, of each encoder direction
    decoder: Positive | None = None  # D; None: H
    encoder_layers: Positive = 1
    decoder_layers: Positive = 1
    convolutional_gate: bool = False  # Lin et al. 2018: convolutions and self-attention gate the encoder's states
    learned_start: bool = False  # the encoder's first state is learned, not zero
    # The decoder's first state from the encoder's last: one linear layer ("relu", "tanh", "linear") of both directions,
    # "direction": one with ReLU shared by the directions, "concat": both directions side by side.
    bridge: Literal["relu", "tanh", "linear", "direction", "concat"] = "relu"
    feed: Literal["nothing", "context", "merged", "readout"]  # what of the last step enters the decoder LSTM
    query: Literal["h", "hc"] = "h"
    # "gated": bilinear behind a two-layer SELU net; "projected": bilinear on states projected to D, context D wide
    attention: Literal["additive", "bilinear", "gated", "projected"] = "additive"
    attention_width: Positive | None = None  # of additive attention; None: 2H
    temporal: bool = False  # scores are normalised by their past at each source position (Paulus et al. 2018)
    intra_decoder: Literal["none", "additive", "bilinear"] = "none"  # attention to earlier decoder states
    # What the vocabulary is multiplied with, from [h; context; intra]: "linear" D wide, "selu" two layers D wide,
    # "tanh" two layers E wide, "none" as it is
    readout: Literal["linear", "selu", "tanh", "none"] = "linear"
    copy_attention: bool = False
    gate: tuple[GateInput, ...] = ("context", "c", "h", "input")  # what the copy gate sees
    # "tied": to the embedding, through a projection unless the readout is E wide; "tanh": rows tanh(W_embedding W)
    output: Literal["untied", "tied", "tanh"] = "untied"
    output_bias: bool = True
    second_output: bool = False  # a second output layer for training (Wei et al. 2018)
    entity_attention: bool = False  # salience of each source token (Eyal et al. 2019)
    coverage: bool = False  # attention sees the sum of earlier attention from the start; a phase can switch it on, too
    dropout: Dropout = 0.0

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
    embedding: Positive  # D, of each of its embeddings
    hidden: Positive  # H
    context: Positive = 5  # C, words before the next one
    smoothing: Positive = 5  # width of the window that averages source embeddings; odd
    dropout: Dropout = 0.0

    @model_validator(mode="after")
    def window_has_a_middle(self) -> "NgramSettings":
        if self.smoothing % 2 == 0:
            raise ValueError(f"smoothing {self.smoothing} is even: a window has a word in its middle; use an odd width")
        return self


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
    dropout: Dropout = 0.1


class ExtractRewriteSettings(Settings):
    """Chen and Bansal's extractor and abstractor (models.extract_rewrite)."""

    kind: Literal["extract-rewrite"]
    abstractor: RecurrentSettings
    filters: Positive = 100  # of each convolution of the sentence encoder
    windows: tuple[Positive, ...] = (3, 4, 5)  # widths of the convolutions, in words
    hidden: Positive  # of the sentence LSTM (each direction) and of the pointer LSTM
    hops: Positive = 1  # glimpses before pointing
    dropout: Dropout = 0.0
    sentences: Positive  # extracted before the extractor has learned to stop
    most_sentences: Positive = 60  # of a source; later ones are not read
    rewrite_tokens: Positive = 30  # of one rewritten sentence


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
    """Validate every max(every_updates, every_epochs of an epoch); stop after `patience` stale validations.

    A validation is stale where it might be selected and is no better. None counts during the optimiser's warm-up, nor
    before any greedy summary of validation has had a bigram right. A phase whose patience cannot run out before
    `most_updates` has a fixed budget.
    """

    every_updates: Positive
    every_epochs: Annotated[float, Field(gt=0.0)]
    patience: Positive
    least_updates: NonNegative = 0  # of this phase, in a checkpoint that may be selected
    most_updates: Positive  # a budget, or a safety net; History names it when it is hit; never a wall clock

    @model_validator(mode="after")
    def something_can_be_selected(self) -> "Stop":
        if self.least_updates > self.most_updates:
            raise ValueError(
                f"least_updates {self.least_updates} is above most_updates {self.most_updates}: "
                "no checkpoint could be selected"
            )
        return self


Loss = Literal[
    "nll",
    "nll+coverage",  # See et al. 2017
    "nll+entity",  # Eyal et al. 2019
    "self-train",  # Wei et al. 2018
    "dual-train",  # Wei et al. 2018
    "mixed",  # Paulus et al. 2018: self-critical and nll
    "extraction",  # Chen and Bansal 2018: the extractor on labels
    "actor-critic",  # Chen and Bansal 2018: the extractor on rewards
]


class PhaseSettings(Settings):
    """One phase: a loss, its weights, an optimiser and a stopping rule. A weight its loss ignores is an error."""

    name: str
    loss: Loss
    coverage: bool = False  # switch the model's coverage on (weights 0) before this phase
    label_smoothing: Share = 0.0  # nll
    own_words: Share = 0.0  # nll: decoder inputs replaced by the model's own predictions (Paulus et al. 2018)
    entity_weight: Share | None = None  # nll+entity: delta, on the salience loss; the rest is on the nll
    entity_alone: bool = False  # nll+entity: the salience loss trains its own layer, not the encoder
    soft_weight: NonNegativeFloat | None = None  # self-train, dual-train: lambda
    temperature: Annotated[float, Field(gt=0.0)] | None = None  # self-train, dual-train: tau
    detach_second: bool = False  # dual-train: the second output does not train what both share
    reward_weight: Share | None = None  # mixed: gamma, on the self-critical loss; the rest is on the nll
    discount: Share | None = None  # actor-critic: of a step's reward for the step before
    optimizer: Optimizer
    stop: Stop

    @model_validator(mode="after")
    def keys_suit_the_loss(self) -> "PhaseSettings":
        needs = {
            "entity_weight": ("nll+entity",),
            "soft_weight": ("self-train", "dual-train"),
            "temperature": ("self-train", "dual-train"),
            "reward_weight": ("mixed",),
            "discount": ("actor-critic",),
        }
        for key, losses in needs.items():
            if (getattr(self, key) is not None) != (self.loss in losses):
                verb = "needs" if self.loss in losses else "ignores"
                raise ValueError(f"phase {self.name!r}: loss {self.loss!r} {verb} {key}")
        only = {
            "label_smoothing": ("nll",),
            "own_words": ("nll",),
            "entity_alone": ("nll+entity",),
            "detach_second": ("dual-train",),
        }
        for key, losses in only.items():
            if getattr(self, key) and self.loss not in losses:
                raise ValueError(f"phase {self.name!r}: loss {self.loss!r} ignores {key}; remove it")
        return self


CONTROL = "control"  # the phase that a last phase is compared with


class Training(Settings):
    batch: Positive
    accumulate: Positive = 1  # parts a batch is computed in, one after another; the update is the same
    precision: Literal["single", "bf16"] = "single"  # bf16: autocast; attention scores, softmax and losses stay single
    vocabulary: Positive  # most frequent words of the fraction, beside the five marks
    least_count: Positive = 1  # occurrences a word needs to enter the vocabulary
    valid_records: Positive  # decoded greedily: the first of the validation part, or all where it holds fewer
    phases: Annotated[list[PhaseSettings], Field(min_length=1)]

    @model_validator(mode="after")
    def phases_have_names_of_their_own(self) -> "Training":
        names = [phase.name for phase in self.phases]
        if len(set(names)) < len(names):
            raise ValueError(f"two phases share a name in {names}; History could not tell them apart")
        if CONTROL in names[:-1]:
            raise ValueError(f"a phase is called {CONTROL!r}, as the control of a last phase is; give it another name")
        return self

    @model_validator(mode="after")
    def batch_divides(self) -> "Training":
        if self.accumulate > self.batch:
            raise ValueError(f"accumulate {self.accumulate} is above batch {self.batch}")
        if self.accumulate > 1 and any(phase.loss == "actor-critic" for phase in self.phases):
            raise ValueError("actor-critic standardises returns over the whole batch: accumulate must be 1")
        return self


Model = Annotated[
    RecurrentSettings | TransformerSettings | NgramSettings | ExtractRewriteSettings, Field(discriminator="kind")
]


class Recipe(Settings):
    """One complete way to train a method: paper settings or small settings."""

    model: Model
    training: Training
    search: MethodSearch | None = None  # what the method's paper asks of decoding, beside the corpus's search

    @model_validator(mode="after")
    def phases_suit_the_model(self) -> "Recipe":
        model = self.model
        inner = model.abstractor if model.kind == "extract-rewrite" else model
        copies = inner.kind != "ngram" and inner.copy_attention
        for phase in self.training.phases:
            where = f"phase {phase.name!r}"
            if phase.label_smoothing and copies:
                raise ValueError(
                    f"{where}: label_smoothing is for models without copy_attention "
                    "(an extended vocabulary has no fixed uniform distribution); set it to 0"
                )
            covers = phase.coverage or phase.loss == "nll+coverage"
            if covers and not (inner.kind == "recurrent" and inner.attention == "additive" and not inner.temporal):
                raise ValueError(f"{where}: coverage needs a recurrent model with additive attention")
            extracts = phase.loss in ("extraction", "actor-critic")
            if extracts and model.kind != "extract-rewrite":
                raise ValueError(f"{where}: loss {phase.loss!r} needs a model of kind extract-rewrite")
            if model.kind == "extract-rewrite" and not extracts and phase.loss != "nll":
                raise ValueError(f"{where}: a model of kind extract-rewrite has losses nll, extraction, actor-critic")
            if phase.loss == "nll+entity" and not (inner.kind == "recurrent" and inner.entity_attention):
                raise ValueError(f"{where}: loss nll+entity needs entity_attention")
            if phase.loss == "dual-train" and not (inner.kind == "recurrent" and inner.second_output):
                raise ValueError(f"{where}: loss dual-train needs second_output")
            if phase.loss in ("self-train", "dual-train") and copies:
                raise ValueError(f"{where}: loss {phase.loss!r} is for models without copy_attention")
        search = self.search
        marks = inner.kind == "recurrent" and inner.entity_attention
        if search and search.entity_penalty and search.entity_positions != "gold" and not marks:
            raise ValueError("search.entity_penalty needs entity_attention, or entity_positions gold")
        return self

    @classmethod
    def of_run(cls, specification: dict[str, Any]) -> "Recipe":
        """What a run's specification says of its training."""
        return cls.model_validate({"model": specification["model"], "training": specification["training"]})

    def _with(self, phases: list[PhaseSettings]) -> "Recipe":
        return self.model_copy(update={"training": self.training.model_copy(update={"phases": phases})})

    def before(self) -> "Recipe":
        """Without the last phase: how the checkpoint came about that the last phase starts from."""
        return self._with(self.training.phases[:-1])

    def control(self) -> "Recipe | None":
        """With a last phase that differs from the method's by its loss alone: it has that of the phase before.

        Optimiser and budget are the last phase's, and patience never ends it. None for a method of one phase, and
        where the last phase has the loss of the phase before: it is its own control.
        """
        *before, last = self.training.phases
        if not before:
            return None
        same = before[-1].model_copy(update={"name": last.name, "optimizer": last.optimizer, "stop": last.stop})
        if same == last:
            return None
        stop = last.stop.model_copy(update={"patience": last.stop.most_updates})
        return self._with([*before, same.model_copy(update={"name": CONTROL, "stop": stop})])


class MethodSettings(Settings):
    title: str
    paper: str
    # The method that this one differs from by its last phase (or by its search) alone. The phases before are trained
    # once, as that method's
    begins_as: str | None = None
    settings: dict[str, Recipe]  # "small", "paper", ...


# --- scores and studies


class Rouge(Settings):
    """How summaries are scored (scores.rouge)."""

    mode: Literal["rouge-score", "rouge-1.5.5", "unicode", "characters"] = "rouge-score"
    stemmer: bool = False  # off: rouge-score equals ROUGE-1.5.5 without -m up to its rounding
    # Of several references: the one with the best F1 (rouge-score) or recall (1.5.5 -f B), or counts pooled (-f A);
    # None: the mode's own, best for rouge-score, average for rouge-1.5.5
    multi: Literal["best", "average"] | None = None

    @model_validator(mode="after")
    def mode_has_the_option(self) -> "Rouge":
        if self.stemmer and self.mode in ("unicode", "characters"):
            raise ValueError(f"mode {self.mode!r} has no stemmer: the stemmers are for English; set stemmer to false")
        if self.multi == "average" and self.mode != "rouge-1.5.5":
            raise ValueError(f"mode {self.mode!r} takes the best reference; multi average is for rouge-1.5.5")
        return self

    @property
    def scorer(self) -> str:
        """What the oracle calls these words."""
        stemmed = {"rouge-score": "rouge-score-stem", "rouge-1.5.5": "rouge-1.5.5-m"}
        return stemmed[self.mode] if self.stemmer else self.mode


class Reading(Settings):
    """Whether a system's targets depend on its sources (scores.reading)."""

    others: Positive = 5  # records of other groups whose sources each target is scored with, too
    seed: NonNegative = 1  # of who they are


class Bootstrap(Settings):
    resamples: Positive = 2000
    confidence: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.95
    seed: NonNegative = 1


class PhasesTable(Settings):
    """What a last phase buys: methods of several phases are trained with these seeds at the largest percent, too."""

    seeds: Annotated[list[NonNegative], Field(min_length=1)]


class VarianceTable(Settings):
    """Every draw of the records trained with every seed: how much of the variance over seeds is which.

    `percent` of `corpus`, one of its percents below 100: at 100 % a draw draws nothing.
    """

    corpus: str
    percent: Annotated[int, Field(ge=1, lt=100)]
    methods: Annotated[list[str], Field(min_length=1)]
    draws: Annotated[list[NonNegative], Field(min_length=2)]
    seeds: Annotated[list[NonNegative], Field(min_length=2)]


class StudySettings(Settings):
    title: str
    corpora: dict[str, CorpusSettings]
    methods: list[str]
    settings: str = "small"  # which recipe of each method file
    seeds: Annotated[list[NonNegative], Field(min_length=1)]
    threads: Positive = 1  # of one training; changes floating-point sums, hence part of its name
    phases: PhasesTable | None = None  # None: the study's own seeds
    variance: VarianceTable | None = None
    sums: Sums = "portable"  # the same bytes on all CPUs with AVX2, or this CPU's fastest kernels (sumcurve.sums)
    scores: dict[str, dict[str, Any]] = {"rouge": {}}  # by scorer (`sumcurve.scores.SCORERS`) what it is told
    bootstrap: Bootstrap = Bootstrap()

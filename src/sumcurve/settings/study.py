"""A study, and its tables."""

import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    Field,
    StringConstraints,
    model_validator,
)

from sumcurve.machine.sums import Sums
from sumcurve.settings.base import Boolean, Dropout, Once, Positive, Seed, Settings
from sumcurve.settings.content import Raw
from sumcurve.settings.corpus import Compose, CorpusSettings, Preparation, Prepare
from sumcurve.settings.models import ExtractRewriteSettings
from sumcurve.settings.training import Optimizer, PhaseSettings, Stop, Training


class Rouge(Settings):
    """How summaries are scored (rouge.scorer)."""

    mode: Literal["rouge-score", "rouge-1.5.5", "unicode", "characters"] = "rouge-score"
    """Whose counting: rouge-score's, ROUGE-1.5.5's, its tokens for every script, or characters."""
    stemmer: Boolean = False
    """Porter's; off, rouge-score equals ROUGE-1.5.5 without -m up to its rounding."""
    multi: Literal["best", "average"] | None = None
    """Of several references: the one with the best F1 (rouge-score) or recall (1.5.5 -f B), or counts pooled
    (average, 1.5.5 -f A); null: best for rouge-score, average for rouge-1.5.5.
    """

    @model_validator(mode="after")
    def mode_has_the_option(self) -> "Rouge":
        if self.stemmer and self.mode in ("unicode", "characters"):
            raise ValueError(f"mode {self.mode!r} has no stemmer: the stemmers are for English; set stemmer to false")
        if self.multi == "average" and self.mode != "rouge-1.5.5":
            raise ValueError(f"mode {self.mode!r} takes the best reference; multi average is for rouge-1.5.5")
        return self


class Reading(Settings):
    """Whether a system's targets depend on its sources (scores.reading)."""

    others: Positive = 5
    """Records of other groups whose sources each target is scored with, too."""
    seed: Seed = 1
    """Of who they are."""


class Bootstrap(Settings):
    resamples: Annotated[int, Field(ge=20, strict=True)] = 2000
    """Drawn with replacement, over groups of items; fewer than 20 have no 95 % interval."""
    confidence: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.95
    """Of every interval."""
    seed: Seed = 1
    """Of the resamples."""


class PhasesTable(Settings):
    """What a last phase buys: methods of several phases are trained with these seeds at the largest percent, too."""

    seeds: Annotated[list[Seed], Field(min_length=1), Once]
    """Of these trainings."""


class VarianceTable(Settings):
    """Every draw of the records trained with every seed: how much of the variance over seeds is which.

    `percent` of `corpus`, one of its percents below 100: at 100 % a draw draws nothing.
    """

    corpus: str
    """One of the study's."""
    percent: Annotated[int, Field(ge=1, lt=100)]
    """One of the corpus's percents."""
    methods: Annotated[list[str], Field(min_length=1)]
    """Of those that are trained on the corpus."""
    draws: Annotated[list[Seed], Field(min_length=2)]
    """Seeds that draw the records."""
    seeds: Annotated[list[Seed], Field(min_length=2)]
    """Seeds that train."""


class Equivalence(Settings):
    """Methods that should come to the same, as twins of two libraries."""

    methods: Annotated[dict[str, str], Field(min_length=1)]
    """By method the one that it should equal; both of the study."""
    metric: str = "rouge1"
    """One of those that rank."""
    margin: Annotated[float, Field(gt=0.0)]
    """In the metric's points: a smaller difference is none."""


class Architecture(Settings):
    """Of a small BART: transformers' `BartConfig` in our words."""

    width: Positive
    """Of a subword and of every layer."""
    heads: Positive
    """Of each attention."""
    feedforward: Positive
    """Width between the two layers behind each attention."""
    encoder_layers: Positive
    """Layers of the encoder."""
    decoder_layers: Positive
    """Layers of the decoder."""
    positions: Annotated[int, Field(ge=8)] = 160
    """Subwords that it can read, and write, marks included; what is beyond is cut."""
    init_std: Annotated[float, Field(gt=0.0)] = 0.02
    """Standard deviation of new weights. BART's 0.02 is for its width of 768; at 96 attention starts so flat that a
    model from scratch learns no use of its source."""

    @model_validator(mode="after")
    def heads_divide(self) -> "Architecture":
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is no multiple of heads {self.heads}")
        return self


class Noise(Settings):
    """What a text loses before it is to be restored (Lewis et al. 2020, section 2.2)."""

    masked: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.3
    """Text infilling: share of a text's subwords that lie in spans, each of which one mask stands for."""
    span: Annotated[float, Field(gt=0.0)] = 3.0
    """Mean of the Poisson distribution of the spans' lengths in subwords; a span of none is a mask put in."""
    permute: Boolean = True
    """Sentence permutation: whether sentences come in random order."""


class Pretraining(Preparation):
    """BART pretrained by denoising, on records outside of the study's: a file of `config/pretraining/`, or a block.

    The records are prepared as a corpus's are. One that shares `overlap` tokens in a row with a source or target of a
    corpus's validation or test part, or is a near-duplicate of one, overlaps it. What is denoised are sources without
    the sentences that are a target's.
    """

    title: str = ""
    """What is denoised, in words, said with the tables."""
    raw: Raw
    """Where the records come from."""
    overlapping: Literal["removed", "counted"] = "removed"
    """What becomes of records that overlap a corpus: they are removed and counted, and each corpus has a pretraining of
    its own; or they are counted alone, where the text is from elsewhere, and one pretraining serves all studies.
    """
    overlap: Positive = 8
    """Tokens in a row shared with a text of the validation or test part: the record overlaps it."""
    near_duplicates: Annotated[float, Field(gt=0.0, le=1.0)] = 0.5
    """Jaccard similarity of 3-shingles with a text of these parts from which a record overlaps it."""
    subwords: Annotated[int, Field(ge=300)]
    """Of the byte-level BPE, which is trained on the texts that are denoised; marks and bytes included."""
    tokens: Positive
    """What is denoised of a text: its first subwords."""
    model: Architecture
    """Of every method of kind bart."""
    dropout: Dropout = 0.1
    """Share of values that pretraining sets to zero."""
    noise: Noise = Noise()
    """What a text loses."""
    batch: Positive
    """Texts of one update."""
    valid_records: Positive
    """Texts that a validation restores greedily: the first of the validation part."""
    optimizer: Optimizer
    stop: Stop
    """When it is validated and when it ends; selection and patience are those of every training."""
    seed: Seed = 1
    """Of the first weights, the order, the noise and the dropout."""

    def training(self) -> Training:
        """What `fit` is told."""
        phase = PhaseSettings(name="denoise", loss="nll", optimizer=self.optimizer, stop=self.stop)
        return Training(batch=self.batch, vocabulary=self.subwords, valid_records=self.valid_records, phases=[phase])


class Question(Settings):
    """What a study asks before its test items are decoded; the tables answer it, or say that it is not known."""

    question: Annotated[str, StringConstraints(pattern=r"[?？؟]\s*$")]
    """In words, ended by a question mark; the answers follow it."""
    asks: Literal["method", "doubling", "pretraining"]
    """Which method is ahead of every other (method), whether twice the records add `worth` to a method's score
    (doubling), or with how many records a pretrained BART has from scratch's score (pretraining).
    """
    metric: str = "rouge1"
    """One that systems are ranked by."""
    corpus: str | None = None
    """One of the study's; null: all."""
    sizes: list[Positive] | None = None
    """Numbers of training records that are asked for, for doubling before it; null: all that there are."""
    methods: list[str] | None = None
    """For doubling: of these; null: of all."""
    worth: Annotated[float, Field(gt=0.0)] | None = None
    """For doubling: what more score makes twice the records worth it, in the metric's unit."""

    @model_validator(mode="after")
    def says_what_is_worth_it(self) -> "Question":
        if (self.worth is not None) != (self.asks == "doubling"):
            raise ValueError("`worth` belongs to a question that asks for doubling, and to no other")
        if self.methods is not None and self.asks != "doubling":
            raise ValueError("`methods` belong to a question that asks for doubling")
        return self


Systems = dict[str, dict[str, Any] | None]
REFERENCE_SYSTEMS = ("lead", "random", "best-sentence", "sumbasic", "lexrank", "lsa")


def _with_references(given: Systems) -> Systems:
    """Every study has the reference systems, each as it tells them; null leaves one out."""
    references: Systems = {name: {} for name in REFERENCE_SYSTEMS}
    whole = references | given
    return {name: settings for name, settings in whole.items() if settings is not None}


class StudySettings(Settings):
    title: str
    """The study in a sentence, printed over its tables."""
    corpora: dict[str, CorpusSettings]
    """By name: small letters, digits and underscores."""
    methods: Annotated[list[str], Once]
    """Files of config/methods without their ending."""
    form: str = "small"
    """Which form of each method is trained: a file of config/forms without its ending."""
    seeds: Annotated[list[Seed], Field(min_length=1), Once]
    """Every training is repeated with each; a seed draws its own records."""
    threads: Positive = 1
    """Of one training; they change floating-point sums, and are part of its name."""
    phases: PhasesTable | None = None
    """Seeds of the table of last phases; null: the study's own."""
    variance: VarianceTable | None = None
    """The table of draws and seeds; null: none."""
    pretraining: Pretraining | None = None
    """Of the methods of kind bart: a file of config/pretraining without its ending, or what such a file says; null:
    there are none.
    """
    equivalence: Equivalence | None = None
    """The table of methods that should come to the same; null: none."""
    sums: Sums = "portable"
    """The same bytes on all CPUs with AVX2 (portable; compiled: faster), or this CPU's own kernels (native)."""
    systems: Annotated[Systems, AfterValidator(_with_references), Field(validate_default=True)] = {}
    """By name what is no method of ours: its kind and what that is told. Every study has lead, random, best-sentence,
    sumbasic, lexrank and lsa; null leaves one out."""
    scores: dict[str, dict[str, Any]] = {"rouge": {}}
    """By scorer, what it is told."""
    rank_by: str | None = None
    """The metric that leaderboards, findings and figures have first, by name, such as chrf; null: the first of
    `scores`. Checkpoints are chosen by ROUGE on validation whatever it is.
    """
    bootstrap: Bootstrap = Bootstrap()
    """How intervals are made."""
    questions: list[Question] = []
    """What is asked before the test items are decoded; table `questions` answers it."""
    shown_items: Annotated[int, Field(ge=0, le=40)] = 0
    """Test items of every corpus, drawn by `bootstrap.seed`, of which the tables' README has what every method wrote.

    Sources and references stay out of it: they are other people's text.
    """
    packed_percent: Annotated[int, Field(ge=0, le=100)] = 0
    """Share of the trainings, at most, that may be recorded without their weights, taken up from packs."""


# What a key is called now, by its former word: for errors.
FORMER = {
    str(field.alias): f"`{name}`"
    for model in (Compose, Prepare, ExtractRewriteSettings, Stop, Training)
    for name, field in model.model_fields.items()
    if field.alias
} | {
    "settings": "`form` in a study, `forms` in a method",
    "form": "`format` in `raw`, `forms` in a method",
    "command": "`summarize` in a system of kind command",
}


def present_words(text: str) -> str:
    """A recorded sentence with keys as they are called now; records keep the words of their time."""
    return re.sub(r"\b(?:least|most)_\w+", lambda word: FORMER.get(word[0], word[0]).strip("`"), text)

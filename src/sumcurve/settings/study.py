"""A study, and its tables."""

import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    model_validator,
)

from sumcurve.numerics.sums import Sums
from sumcurve.settings.base import Boolean, Once, Positive, Seed, Settings
from sumcurve.settings.corpus import Compose, CorpusSettings, Prepare
from sumcurve.settings.training import Stop, Training


class Rouge(Settings):
    """Settings of ROUGE (rouge_engine.scorer)."""

    mode: Literal["rouge-score", "rouge-1.5.5", "unicode", "characters"] = "rouge-score"
    """Whose counting: rouge-score's, ROUGE-1.5.5's, its tokens for every script, or characters."""
    stemmer: Boolean = False
    """Porter's; off, rouge-score equals ROUGE-1.5.5 without -m up to its rounding."""
    multi: Literal["best", "average"] | None = None
    """Rule for several references: the one with the best F1 (rouge-score) or recall (1.5.5 -f B), or counts pooled
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
    """Settings of source sensitivity (scores.reading)."""

    others: Positive = 5
    """Records of other groups whose sources each target is scored with, too."""
    seed: Seed = 1
    """Seed of the draw of others."""


class Bootstrap(Settings):
    resamples: Annotated[int, Field(ge=20, le=1_000_000, strict=True)] = 2000
    """Drawn with replacement, over groups of items; fewer than 20 have no 95 % interval, and a million fit memory."""
    confidence: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.95
    """Confidence of every interval."""
    seed: Seed = 1
    """Seed of the resamples."""


class PhasesTable(Settings):
    """Effect of a final training stage, at the largest size of methods of several."""

    seeds: Annotated[list[Seed], Once] = []
    """Seeds beside the study's own that these methods are trained with."""
    controls: Boolean = True
    """True where each has a control: as many updates of the final stage with the loss of the stage before."""


Systems = dict[str, dict[str, Any] | None]
REFERENCE_SYSTEMS = ("lead", "random", "best-sentence", "sumbasic", "lexrank", "lsa")


def _with_references(given: Systems) -> Systems:
    """Every study has the reference systems, each as it tells them; null leaves one out."""
    references: Systems = {name: {} for name in REFERENCE_SYSTEMS}
    whole = references | given
    return {name: settings for name, settings in whole.items() if settings is not None}


def _without_null(scores: Any) -> Any:
    if not isinstance(scores, dict):
        return scores
    return {name: settings for name, settings in scores.items() if settings is not None}


class StudySettings(Settings):
    title: str
    """The study in a sentence, printed over its tables."""
    corpora: dict[str, CorpusSettings]
    """Corpora by name: small letters, digits and underscores."""
    methods: Annotated[list[str], Once]
    """Files of config/methods without their ending."""
    form: str = "small"
    """Form of each method that is trained: a file of config/forms without its ending."""
    seeds: Annotated[list[Seed], Field(min_length=1), Once]
    """Every training is repeated with each; a seed draws its own records."""
    threads: Positive = 1
    """Threads of one training; they change floating-point sums, and are part of its name."""
    phases: PhasesTable = PhasesTable()
    """Trainings of table `phases`, on final training stages."""
    sums: Sums = "portable"
    """The same bytes on all CPUs with AVX2 (portable; compiled: faster), or this CPU's own kernels (native)."""
    systems: Annotated[Systems, AfterValidator(_with_references), Field(validate_default=True)] = {}
    """Systems by name that no method file defines: their kind and its settings. Every study has lead, random,
    best-sentence, sumbasic, lexrank and lsa; null leaves one out.
    """
    scores: Annotated[dict[str, dict[str, Any]], BeforeValidator(_without_null)] = {"rouge": {}}
    """Settings of each scorer, by its name; null leaves one out."""
    rank_by: str | None = None
    """The metric that leaderboards, findings and figures have first, by name, such as chrf; null: the first of
    `scores`. Checkpoints are chosen by ROUGE on validation whatever it is.
    """
    bootstrap: Bootstrap = Bootstrap()
    """Settings of intervals."""
    packed_percent: Annotated[int, Field(ge=0, le=100)] = 0
    """Share of the trainings, at most, that may be recorded without their weights, restored from committed results."""


# What a key is called now, by its former word: for errors.
FORMER = {
    str(field.alias): f"`{name}`"
    for model in (Compose, Prepare, Stop, Training)
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

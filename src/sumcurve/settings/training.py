"""Settings of training: optimiser, stopping rule, phases."""

from math import ceil
from typing import Annotated, Literal

from pydantic import (
    Field,
    model_validator,
)

from sumcurve.settings.base import Boolean, NonNegative, NonNegativeFloat, Positive, Settings, Share


class Optimizer(Settings):
    """Settings of the optimiser of a phase."""

    name: Literal["adam", "adagrad", "sgd"] = "adam"
    """The algorithm."""
    rate: Annotated[float, Field(gt=0.0)]
    """The learning rate; for schedule noam its peak."""
    betas: tuple[float, float] = (0.9, 0.999)
    """Adam's."""
    epsilon: float = 1e-8
    """Adam's."""
    accumulator: float = 0.1
    """Adagrad's initial sum."""
    schedule: Literal["constant", "noam", "plateau", "linear"] = "constant"
    """Schedule of the rate after the warm-up; linear: it falls to 0 at the end of the phase's budget."""
    warmup_updates: NonNegative = 0
    """Updates in which the rate rises: linear for constant, plateau and linear, Vaswani et al.'s for noam."""
    warmup_share: Annotated[Share, Field(lt=1.0, exclude_if=lambda share: not share)] = 0.0
    """linear: the same as a share of the phase's budget; or `warmup_updates`."""
    clip_norm: Annotated[float, Field(gt=0.0)] | None = None
    """Norm that a gradient is cut to; null: none."""

    @model_validator(mode="after")
    def noam_warms_up(self) -> "Optimizer":
        if self.schedule == "noam" and not self.warmup_updates:
            raise ValueError("schedule noam needs warmup_updates of at least 1")
        return self

    @model_validator(mode="after")
    def one_warmup(self) -> "Optimizer":
        if self.warmup_share and self.schedule != "linear":
            raise ValueError(f"schedule {self.schedule} ignores warmup_share; give warmup_updates")
        if self.warmup_share and self.warmup_updates:
            raise ValueError("give either warmup_updates or warmup_share")
        return self


class Stop(Settings):
    """Validate every max(every_updates, every_epochs of an epoch); stop after `patience` stale validations.

    A validation is stale where it might be selected, its score is not above and its NLL not below all of the phase
    before; reinforcement counts its score alone. None counts during the optimiser's warm-up, nor before any greedy
    summary of validation has had a bigram right. A phase whose patience cannot run out before `max_updates` has a fixed
    budget.
    """

    every_updates: Positive
    """Updates between two validations, at least."""
    every_epochs: Annotated[float, Field(gt=0.0)]
    """Epochs between two validations, at least."""
    patience: Positive
    """Stale validations that end the phase."""
    min_updates: Annotated[NonNegative, Field(alias="least_updates")] = 0
    """Least updates of this phase in a checkpoint that may be selected."""
    max_updates: Annotated[Positive, Field(alias="most_updates")]
    """A budget, or a safety net; History names it when it is hit. Never a wall clock."""
    max_epochs: Annotated[Annotated[float, Field(gt=0.0)] | None, Field(exclude_if=lambda epochs: epochs is None)] = (
        None
    )
    """The same in epochs, where that is fewer; null: `max_updates` alone."""

    def budget(self, epoch: int) -> int:
        """The updates after which a phase ends at the latest; `epoch` are those of an epoch."""
        if self.max_epochs is None:
            return self.max_updates
        return min(self.max_updates, ceil(self.max_epochs * epoch))

    @model_validator(mode="after")
    def check_min_updates(self) -> "Stop":
        if self.min_updates > self.max_updates:
            raise ValueError(
                f"min_updates {self.min_updates} is above max_updates {self.max_updates}: "
                "no checkpoint could be selected"
            )
        return self


LOSSES = (  # of the core's models; those of other families are in `ModelSettings.losses`
    "nll",
    "nll+coverage",  # See et al. 2017
    "nll+entity",  # Eyal et al. 2019
    "self-train",  # Wei et al. 2018
    "dual-train",  # Wei et al. 2018
    "mixed",  # Paulus et al. 2018: self-critical and nll
)


class PhaseSettings(Settings):
    """One phase: a loss, its weights, an optimiser and a stopping rule. A weight its loss ignores is an error."""

    name: str
    """Name in History and tables."""
    loss: str
    """Loss that is minimised: nll, nll+coverage, nll+entity, self-train, dual-train, mixed, or a loss of the model's
    family.
    """
    coverage: Boolean = False
    """Switch the model's coverage on (weights 0) before this phase."""
    label_smoothing: Share = 0.0
    """nll: share of the target that all words have."""
    own_words: Share = 0.0
    """nll: decoder inputs replaced by the model's own predictions (Paulus et al. 2018)."""
    entity_weight: Share | None = None
    """nll+entity: delta, on the salience loss; the rest is on the nll."""
    entity_alone: Boolean = False
    """nll+entity: the salience loss trains its own layer, not the encoder."""
    soft_weight: NonNegativeFloat | None = None
    """self-train, dual-train: lambda, on the soft targets."""
    temperature: Annotated[float, Field(gt=0.0)] | None = None
    """self-train, dual-train: tau, of the soft targets."""
    detach_second: Boolean = False
    """dual-train: the second output does not train what both share."""
    reward_weight: Share | None = None
    """mixed: gamma, on the self-critical loss; the rest is on the nll."""
    samples: Annotated[Annotated[int, Field(ge=2)] | None, Field(exclude_if=lambda samples: samples is None)] = None
    """mixed: sampled outputs of a record; each has the others' mean reward as its baseline (Luo 2020). By default one,
    whose baseline is the greedy output's reward (Paulus et al. 2018).
    """
    discount: Share | None = None
    """Reinforcement over steps (actor-critic): of a step's reward for the step before."""
    optimizer: Optimizer
    stop: Stop
    """When the phase is validated and when it ends."""

    @model_validator(mode="after")
    def keys_suit_the_loss(self) -> "PhaseSettings":
        needs = {
            "entity_weight": ("nll+entity",),
            "soft_weight": ("self-train", "dual-train"),
            "temperature": ("self-train", "dual-train"),
            "reward_weight": ("mixed",),
        }
        for key, losses in needs.items():
            if (getattr(self, key) is not None) != (self.loss in losses):
                what = f"needs {key}" if self.loss in losses else f"ignores {key}, a key of {' and '.join(losses)}"
                raise ValueError(f"phase {self.name!r}: loss {self.loss!r} {what}")
        only = {
            "label_smoothing": ("nll",),
            "own_words": ("nll",),
            "entity_alone": ("nll+entity",),
            "detach_second": ("dual-train",),
            "samples": ("mixed",),
        }
        for key, losses in only.items():
            if getattr(self, key) and self.loss not in losses:
                raise ValueError(f"phase {self.name!r}: loss {self.loss!r} ignores {key}; remove it")
        return self


CONTROL = "control"  # the phase that a last phase is compared with


class Training(Settings):
    batch: Positive
    """Records of one update."""
    accumulate: Positive = 1
    """Parts a batch is computed in, one after another; the update is the same."""
    precision: Literal["single", "tf32", "bf16"] = "single"
    """tf32: a GPU multiplies with mantissas of ten bits, a CPU as in single. bf16: autocast; attention scores, softmax
    and losses stay single."""
    vocabulary: Positive
    """Most frequent words of the fraction, beside the five marks."""
    min_count: Annotated[Positive, Field(alias="least_count")] = 1
    """Occurrences a word needs to enter the vocabulary."""
    valid_records: Positive
    """Decoded greedily by a validation: the first of the validation part, or all where it holds fewer."""
    valid_share: Annotated[float, Field(ge=0.0, le=0.2, exclude_if=lambda share: not share)] = 0.0
    """Share of the drawn records that validation decodes in place of the validation part, at most `valid_records` of
    them; they count as records and are not trained on. 0: the validation part, which counts nowhere.
    """
    phases: Annotated[list[PhaseSettings], Field(min_length=1)]
    """Phases of the training, in their order."""

    @model_validator(mode="after")
    def check_unique_names(self) -> "Training":
        names = [phase.name for phase in self.phases]
        if len(set(names)) < len(names):
            raise ValueError(f"two phases share a name in {names}; History could not tell them apart")
        if CONTROL in names[:-1]:
            raise ValueError(
                f"a phase is called {CONTROL!r}, as the control of a final training stage is; give it another name"
            )
        return self

    @model_validator(mode="after")
    def check_linear(self) -> "Training":
        if len(self.phases) > 1 and any(phase.optimizer.schedule == "linear" for phase in self.phases):
            raise ValueError(
                "schedule linear ends at the phase's budget, which a control of the final stage lacks: give it "
                "to trainings of one stage, or take constant"
            )
        return self

    @model_validator(mode="after")
    def batch_divides(self) -> "Training":
        if self.accumulate > self.batch:
            raise ValueError(f"accumulate {self.accumulate} is above batch {self.batch}")
        return self

"""What `fit` trains, phase by phase: a model with its data, its losses and its validation."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from sumcurve.models.summarizer import parameter_counts
from sumcurve.settings.training import PhaseSettings


class TrainingBatch(Protocol):
    def to(self, device: torch.device | str) -> Any: ...


class Learner(ABC):
    """A model in training. An *item* is what an epoch goes through once: an example, a document.

    `model` holds all weights of the method, in the end those of the finished system; it lies on the training's device.
    """

    model: nn.Module

    def switch(self, phase: PhaseSettings) -> None:  # noqa: B027
        """Change the model's structure for a phase (new parameters); done for every phase up to the present one."""

    @abstractmethod
    def prepare(self, phase: PhaseSettings) -> Sequence[Any]:
        """The phase's training items, made with the weights that the phase starts from.

        In a resumed training the model holds later weights of the same phase: use only parts that the phase does not
        train. Draws no random number.
        """

    def parameters(self, phase: PhaseSettings) -> list[nn.Parameter]:
        """What the phase trains."""
        return [parameter for parameter in self.model.parameters() if parameter.requires_grad]

    def weights(self) -> Mapping[str, Tensor]:
        """What training changes, as it is: what a checkpoint holds."""
        return self.model.state_dict()

    def load(self, weights: dict[str, Tensor]) -> None:
        """Take over what `weights` gave, after the same switches."""
        self.model.load_state_dict(weights)

    def parameter_counts(self) -> dict[str, int]:
        """See `models.summarizer.parameter_counts`."""
        return parameter_counts(self.model)

    @abstractmethod
    def length(self, item: Any, phase: PhaseSettings) -> tuple[int, ...]:
        """What batches are bucketed by."""

    @abstractmethod
    def collate(self, items: Sequence[Any], phase: PhaseSettings) -> TrainingBatch: ...

    @abstractmethod
    def loss(self, batch: Any, phase: PhaseSettings) -> Tensor:
        """The phase's loss, a scalar: a mean over the batch's items, so that a batch may be computed in parts."""

    @abstractmethod
    def validate(self, phase: PhaseSettings) -> dict[str, float]:
        """`nll` (nats), greedy `rouge1`, `rouge2`, `rougeLsum` in [0, 1], `repetition` in [0, 1] and `tokens`.

        A phase of reinforcement has `reward` in [0, 1] as well, one of entities `auc` (see `history.Row`).
        Draws no random number and leaves the model in evaluation mode.
        """

    @abstractmethod
    def identity(self) -> dict[str, str]:
        """Digests of the data: what a resumed training must agree on."""

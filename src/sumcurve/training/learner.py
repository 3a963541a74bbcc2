"""Learners for `fit`, phase by phase: a model with its data, its losses and its validation."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from sumcurve.models.summarizer import parameter_counts
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.settings.training import PhaseSettings


class TrainingBatch(Protocol):
    def to(self, device: torch.device | str) -> Any: ...


class Learner(ABC):
    """A model in training. An *item* is a unit that an epoch goes through once: an example, a document.

    `model` holds all weights of the method, in the end those of the finished system; it lies on the training's device.
    """

    model: nn.Module
    vocabulary: Vocabulary | None = None  # of words, which the run's folder keeps

    @property
    def words(self) -> int:
        """The size of the vocabulary, of words or subwords."""
        assert self.vocabulary is not None
        return len(self.vocabulary)

    @property
    def facts(self) -> Mapping[str, Any]:
        """Counts of the data that was read, for the run's manifest."""
        return {}

    def switch(self, phase: PhaseSettings) -> None:  # noqa: B027
        """Change the model's structure for a phase (new parameters); done for every phase up to the present one."""

    @abstractmethod
    def prepare(self, phase: PhaseSettings) -> Sequence[Any]:
        """The phase's training items, made with the weights that the phase starts from.

        In a resumed training the model holds later weights of the same phase: use only parts that the phase does not
        train. Draws no random number.
        """

    def parameters(self, phase: PhaseSettings) -> list[nn.Parameter]:
        """Parameters that the phase trains."""
        return [parameter for parameter in self.model.parameters() if parameter.requires_grad]

    def weights(self) -> Mapping[str, Tensor]:
        """Weights that training changes, uncopied: the content of a checkpoint."""
        return self.model.state_dict()

    def load(self, weights: dict[str, Tensor]) -> None:
        """Load the weights of `weights`, after the same switches."""
        self.model.load_state_dict(weights)

    def parameter_counts(self) -> dict[str, int]:
        """See `models.summarizer.parameter_counts`."""
        return parameter_counts(self.model)

    @abstractmethod
    def length(self, item: Any, phase: PhaseSettings) -> tuple[int, ...]:
        """Key by which batches are bucketed."""

    @abstractmethod
    def collate(self, items: Sequence[Any], phase: PhaseSettings) -> TrainingBatch: ...

    @abstractmethod
    def loss(self, batch: Any, phase: PhaseSettings) -> Tensor:
        """The phase's loss, a scalar: a mean over the batch's items, so that a batch may be computed in parts."""

    def needs_full_batch(self, phase: PhaseSettings) -> bool:
        """True for a loss that is no mean over items, so that processes cannot share a batch."""
        return False

    @abstractmethod
    def validate(self, phase: PhaseSettings) -> dict[str, float]:
        """`nll` (nats), greedy `rouge1`, `rouge2`, `rougeLsum` in [0, 1], `repetition` in [0, 1] and `tokens`.

        A phase of reinforcement has `reward` in [0, 1] as well, one of entities `auc` (see `history.Row`).
        Draws no random number and leaves the model in evaluation mode.
        """

    @abstractmethod
    def identity(self) -> dict[str, str]:
        """Digests of the data, which a resumed training must agree on."""

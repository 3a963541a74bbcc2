"""The learner of every method that is one summarizer: examples in, likelihood and greedy ROUGE out."""

import hashlib
from array import array
from collections.abc import Sequence

import torch
from torch import Tensor

from sumcurve.models.batch import Batch, Example, collate
from sumcurve.models.examples import Examples
from sumcurve.models.summarizer import Summarizer
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.settings.search import Search
from sumcurve.settings.training import PhaseSettings
from sumcurve.training import losses
from sumcurve.training.learner import Learner
from sumcurve.training.validation import Validation


class SummarizerLearner(Learner):
    """Trains `model` on `train`; `references` belong to `valid`, each a list of summaries, each a list of sentences.

    A training item is an example's position in `train`, which is encoded when its batch is made. `target_tokens`
    limits rollouts, `search` is the search of validation. Raises ValueError for missing examples.
    """

    model: Summarizer
    vocabulary: Vocabulary

    def __init__(
        self,
        model: Summarizer,
        train: Examples,
        valid: Sequence[Example],
        references: Sequence[list[list[str]]],
        vocabulary: Vocabulary,
        target_tokens: int,
        search: Search,
        device: torch.device,
    ) -> None:
        if not train:
            raise ValueError("there are no training examples; check the corpus and its percent")
        if not valid or len(references) != len(valid):
            raise ValueError(
                f"{len(valid)} validation examples and {len(references)} references; give every example its references"
            )
        self.model = model.to(device)
        self.train, self.valid = train, valid
        self.vocabulary, self.target_tokens, self.search = vocabulary, target_tokens, search
        self.validation = Validation(valid, references, vocabulary, search, device)

    def switch(self, phase: PhaseSettings) -> None:
        if phase.coverage:
            self.model.enable_coverage()

    def prepare(self, phase: PhaseSettings) -> Sequence[int]:
        return range(len(self.train))

    def length(self, item: int, phase: PhaseSettings) -> tuple[int, ...]:
        return self.train.lengths(item)

    def collate(self, items: Sequence[int], phase: PhaseSettings) -> Batch:
        return collate([self.train[item] for item in items])

    def loss(self, batch: Batch, phase: PhaseSettings) -> Tensor:
        return losses.loss(self.model, batch, phase, self.vocabulary, self.target_tokens)

    def validate(self, phase: PhaseSettings) -> dict[str, float]:
        return self.validation(self.model, phase)

    def identity(self) -> dict[str, str]:
        return {
            "training examples": self.train.digest,
            "validation examples": digest_of(self.valid),
            "target_tokens": str(self.target_tokens),
            "validation search": self.search.signature(),
        }


def digest_of(examples: Sequence[Example]) -> str:
    """The sha256 (hex) of the parts of examples that a model reads."""
    whole = hashlib.sha256()
    for example in examples:
        whole.update(f"{example.id}\n{len(example.source)} {len(example.target)}\n".encode())
        for ids in (example.source, example.source_ext, example.input, example.target, example.salient or []):
            whole.update(array("q", ids).tobytes())
    return whole.hexdigest()

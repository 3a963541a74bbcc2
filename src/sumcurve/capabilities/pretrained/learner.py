"""The learner of pretrained models: text in; likelihood of subwords and greedy ROUGE of words out."""

import hashlib
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from sumcurve.capabilities.pretrained.decoding import BATCH, in_subwords, in_words, told_of, truncated, write
from sumcurve.capabilities.pretrained.model import Pretrained
from sumcurve.capabilities.pretrained.settings import TransformersSettings
from sumcurve.capabilities.pretrained.subwords import TextExample, lengths
from sumcurve.corpora.store import Part, take
from sumcurve.models.batch import Batch
from sumcurve.settings.search import Search
from sumcurve.settings.training import PhaseSettings
from sumcurve.store.records import Record, Text
from sumcurve.training.learner import Learner
from sumcurve.training.validation import measured


class PretrainedLearner(Learner):
    """Trains `model` on `train`; `references` belong to `valid`, each a list of summaries, each a list of sentences.

    Validation decodes with `search`, greedy; its limits are in words. ValueError for missing examples.
    """

    model: Pretrained

    def __init__(
        self,
        model: Pretrained,
        settings: TransformersSettings,
        train: Sequence[TextExample],
        valid: Sequence[TextExample],
        references: Sequence[list[list[str]]],
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
        self.train, self.valid, self.references = train, valid, references
        self.search, self.device = search, device
        self.decoding = in_subwords(search, settings, model)
        ordered = sorted(valid, key=lambda example: len(example.source))
        parts = (ordered[first : first + BATCH] for first in range(0, len(ordered), BATCH))
        self.batches = [model.collate(part).to(device) for part in parts]

    @property
    def words(self) -> int:
        return len(self.model.subwords)

    @property
    def facts(self) -> Mapping[str, Any]:
        return {"truncated_sources": sum(example.truncated for example in self.train)}

    def prepare(self, phase: PhaseSettings) -> Sequence[TextExample]:
        return self.train

    def length(self, item: TextExample, phase: PhaseSettings) -> tuple[int, ...]:
        return lengths(item)

    def collate(self, items: Sequence[TextExample], phase: PhaseSettings) -> Batch:
        return self.model.collate(items)

    def loss(self, batch: Batch, phase: PhaseSettings) -> Tensor:
        return self._nll(batch, phase.label_smoothing).mean()

    def _nll(self, batch: Batch, label_smoothing: float = 0.0) -> Tensor:
        """The mean [B] over each example's own subwords: an example counts once, as in `training.losses`."""
        logp, _ = self.model.gold(batch, None, label_smoothing)
        return -logp.sum(1) / (batch.tgt != self.model.marks.pad).sum(1)

    @torch.no_grad()
    def validate(self, phase: PhaseSettings) -> dict[str, float]:
        self.model.eval()
        losses = [loss for batch in self.batches for loss in self._nll(batch).tolist()]
        texts = write(self.model, self.valid, self.decoding, self.device)
        lower, words = self.model.subwords.lower, self.model.subwords.words
        summaries = [in_words(text, lower, self.search.max_tokens, words) for text in texts]
        return measured(losses, summaries, self.references)

    def weights(self) -> dict[str, Tensor]:
        return self.model.weights()

    def load(self, weights: dict[str, Tensor]) -> None:
        self.model.load(weights)

    def parameter_counts(self) -> dict[str, int]:
        return self.model.counts()

    def identity(self) -> dict[str, str]:
        return {
            "training examples": _digest(self.train),
            "validation examples": _digest(self.valid),
            "validation search": self.decoding.signature(),
        }


def _digest(examples: Sequence[TextExample]) -> str:
    whole = hashlib.sha256()
    for example in examples:
        whole.update(f"{example.record.id}\n{len(example.source)} {len(example.target)}\n".encode())
        for ids in (example.source, example.target):
            whole.update(array("q", ids).tobytes())
    return whole.hexdigest()


def with_texts(part: Part, drawn: Sequence[int]) -> list[tuple[Record, Text]]:
    """The records of a part at these positions, each with its text."""
    return list(zip(part[drawn], take(part.text, drawn), strict=True))


def pretrained_learner(
    specification: dict[str, Any],
    settings: TransformersSettings,
    model: Pretrained,
    train: Sequence[tuple[Record, Text]],
    valid: Sequence[tuple[Record, Text]],
    device: torch.device,
    search: Search,
    note: Callable[[str], None],
) -> PretrainedLearner:
    """Learner of a model that reads and writes text, with its training data. Raises PretrainedError."""
    most = specification["source_tokens"], specification["target_tokens"]
    room = in_subwords(search, settings, model).max_tokens
    trained_on, validated = (
        [model.subwords.example(record, text, *most, room) for record, text in part] for part in (train, valid)
    )
    if notice := told_of(truncated(trained_on), len(trained_on), model):
        note(notice)
    references = [[record.target] for record, _ in valid]  # as `NewRun.valid`
    return PretrainedLearner(model, settings, trained_on, validated, references, search, device)

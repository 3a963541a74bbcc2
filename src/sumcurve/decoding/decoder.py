"""Summaries by a trained model, and its log-probabilities of targets, a batch at a time."""

from typing import Protocol

import torch
from torch import Tensor

from sumcurve.decoding.search import generate, greedy
from sumcurve.models.batch import Batch
from sumcurve.models.summarizer import Summarizer, score
from sumcurve.models.vocabulary import SEP, Vocabulary
from sumcurve.settings.search import Search


class Decoder(Protocol):
    vocabulary: Vocabulary

    def summarize(self, batch: Batch) -> list[list[list[str]]]:
        """A summary of each example: sentences of words."""

    def logp(self, batch: Batch) -> Tensor:
        """Log-probability [B] of each example's target, as far as the batch holds it."""


class SummarizerDecoder:
    """A trained model, its vocabulary and a search; it puts the model into evaluation mode."""

    def __init__(self, model: Summarizer, vocabulary: Vocabulary, search: Search) -> None:
        if model.vocabulary_size != len(vocabulary):
            raise ValueError(
                f"the model was built for {model.vocabulary_size} words and the vocabulary has "
                f"{len(vocabulary)}; load the vocabulary the model was trained with"
            )
        self.model, self.vocabulary, self.search = model.eval(), vocabulary, search
        self.exempt = (SEP, *vocabulary.known(search.exempt))

    def summarize(self, batch: Batch) -> list[list[list[str]]]:
        decode = greedy if self.search.beam == 1 else generate
        hypotheses = decode(self.model, batch, self.search, exempt=self.exempt)
        copies = self.search.unknown == "copy"
        tokens = hypotheses.without_unknown(batch.src_ext) if copies else hypotheses.tokens
        return [
            self.vocabulary.sentences(best, unknowns)
            for best, unknowns in zip(tokens[:, 0].tolist(), batch.unknowns, strict=True)
        ]

    def logp(self, batch: Batch) -> Tensor:
        with torch.no_grad():
            return score(self.model, batch).sum(1)

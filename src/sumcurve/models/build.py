"""A summarizer of every kind, from its settings."""

import torch

from sumcurve.models.ngram import NgramSummarizer
from sumcurve.models.recurrent import RecurrentSummarizer
from sumcurve.models.summarizer import Summarizer
from sumcurve.models.transformer import TransformerSummarizer
from sumcurve.settings.models import NgramSettings, RecurrentSettings, TransformerSettings


def build(
    settings: RecurrentSettings | TransformerSettings | NgramSettings, vocabulary_size: int, seed: int
) -> Summarizer:
    """A new summarizer on the CPU whose weights depend on the settings and `seed` alone.

    Matrices are Xavier uniform (Glorot & Bengio 2010), embeddings normal with variance 1 / width, biases 0
    but for the LSTM's forget gate (1), normalisation weights 1. ValueError for settings of another kind.
    """
    model: RecurrentSummarizer | TransformerSummarizer | NgramSummarizer
    match settings:
        case RecurrentSettings():
            model = RecurrentSummarizer(settings, vocabulary_size)
        case TransformerSettings():
            model = TransformerSummarizer(settings, vocabulary_size)
        case NgramSettings():
            model = NgramSummarizer(settings, vocabulary_size)
        case _:
            raise ValueError(f"there is no summarizer of kind {settings.kind!r}; FASTRL's is models.extract_rewrite's")
    model.initialize(torch.Generator().manual_seed(seed))
    return model

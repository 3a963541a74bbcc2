"""A new model, whose weights depend on settings and seed alone."""

from typing import Any, Protocol, TypeVar

import torch


class Initialized(Protocol):
    """A model that draws its weights itself."""

    def initialize(self, generator: torch.Generator) -> None: ...


M = TypeVar("M", bound=Initialized)


def build(model: type[M], settings: Any, vocabulary_size: int, seed: int) -> M:
    """A new model of this class on the CPU.

    Matrices are Xavier uniform (Glorot & Bengio 2010), embeddings normal with variance 1 / width, biases 0
    except for the LSTM's forget gate (1), normalisation weights 1.
    """
    new = model(settings, vocabulary_size)  # type: ignore[call-arg]
    new.initialize(torch.Generator().manual_seed(seed))
    return new

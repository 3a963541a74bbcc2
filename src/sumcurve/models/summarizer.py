"""Interface of every trained summarizer: a decoder step for search, teacher forcing for training and scoring.

The query axis Q of `step` is the beam width in search and 1 in greedy decoding; `forced` treats the target's
positions as queries. Memory is never repeated along Q.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from sumcurve.models.batch import Batch
from sumcurve.models.emission import Emission, copied, generated, mixture
from sumcurve.models.vocabulary import BOS, EOS, PAD, UNK
from sumcurve.numerics.operations import word_logp
from sumcurve.numerics.precision import IMPOSSIBLE, in_single

State = dict[str, Tensor]
"""State of a decoder; every tensor is [B, Q, ...], so that search reorders it along axis 1."""


@dataclass
class Memory:
    """An encoded source: `states` [B, S, D], `mask` [B, S] (True: a token), the model's `cache` [B, ...].

    `output_rows` [V, R] are the output layer's, where the model computes them for every batch.
    """

    states: Tensor
    mask: Tensor
    cache: dict[str, Tensor]
    output_rows: Tensor | None = None

    def select(self, rows: Tensor) -> "Memory":
        """The memory of the given examples only."""
        cache = {name: value[rows] for name, value in self.cache.items()}
        return Memory(self.states[rows], self.mask[rows], cache, self.output_rows)


@dataclass(frozen=True)
class Marks:
    """The ids that a search treats apart; `never` are not written, and there is at least one of them."""

    pad: int = PAD
    end: int = EOS
    unknown: int | None = UNK
    never: tuple[int, ...] = (PAD, BOS)


class Summarizer(nn.Module, ABC):
    """A conditional language model over extended ids. Q queries share the memory of their example."""

    vocabulary_size: int
    marks: Marks = Marks()

    def initialize(self, generator: torch.Generator) -> None:
        """Draw new weights: see `models.build`."""
        raise NotImplementedError

    def enable_coverage(self) -> None:
        """Let attention see the sum of earlier attention, with weight 0. ValueError for models that cannot."""
        raise ValueError("only recurrent models have coverage")

    @abstractmethod
    def encode(self, batch: Batch) -> Memory: ...

    @abstractmethod
    def start(self, memory: Memory, q: int) -> State:
        """The state of q queries before the first token."""

    @abstractmethod
    def step(self, tok: Tensor, memory: Memory, state: State) -> tuple[Emission, Tensor, State]:
        """Read the vocabulary ids `tok` [B, Q]; emission, attention [B, Q, S], next state.

        The given state is used up: a model may write into its tensors.
        """

    def forced(self, batch: Batch, memory: Memory) -> tuple[Emission, Tensor]:
        """Emission at each target position given the true words before it, and attention [B, T, S]."""
        state = self.start(memory, 1)
        emissions, attentions = [], []
        for t in range(batch.inp.shape[1]):
            emission, attention, state = self.step(batch.inp[:, t : t + 1], memory, state)
            emissions.append(emission)
            attentions.append(attention)
        copies = [e.copy_logp for e in emissions if e.copy_logp is not None]
        gates = [e.gate for e in emissions if e.gate is not None]
        emission = Emission(
            torch.cat([e.logits for e in emissions], 1),
            torch.cat(copies, 1) if copies else None,
            torch.cat(gates, 1) if gates else None,
        )
        return emission, torch.cat(attentions, 1)

    def gold(self, batch: Batch, memory: Memory, label_smoothing: float = 0.0) -> tuple[Tensor, Tensor | None]:
        """Log-probability [B, T] of the target's words, PAD 0, and the attention [B, T, S] if it came free.

        Training minimises its negative mean and scoring sums it. With `label_smoothing` s each entry is
        (1 - s) log p(word) + s * mean over the vocabulary of log p (Szegedy et al. 2016); a model that copies
        raises ValueError then, because its extended vocabulary has no fixed uniform distribution.
        """
        emission, attention = self.forced(batch, memory)
        logp = emission.gold(batch.tgt, batch.src_ext)
        if label_smoothing:
            if emission.copy_logp is not None:
                raise ValueError("label smoothing is for models that do not copy; set label_smoothing to 0")
            uniform = emission.logits.log_softmax(2).mean(2).masked_fill(batch.tgt == PAD, 0.0)
            logp = (1 - label_smoothing) * logp + label_smoothing * uniform
        return logp, attention


def score(model: Summarizer, batch: Batch) -> Tensor:
    """Log-probability [B, T] of each target word, 0 at PAD; differentiable unless under `no_grad`."""
    return model.gold(batch, model.encode(batch))[0]


@dataclass
class Readout:
    """A decoder's view of every target position before the vocabulary: `states` [B, T, D] and, if it copies,
    `copy_logp` [B, T, S] and `gate` [B, T]; `attention` [B, T, S] where it is known."""

    states: Tensor
    copy_logp: Tensor | None = None
    gate: Tensor | None = None
    attention: Tensor | None = None


class ReadoutSummarizer(Summarizer):
    """A summarizer whose teacher forcing yields all readouts first.

    The vocabulary is then multiplied once, in training only with the readouts of real words.
    """

    @abstractmethod
    def readout(self, batch: Batch, memory: Memory, attention: bool) -> Readout:
        """Readouts of the target's positions; with `attention`, the attention as well, whatever it costs."""

    @abstractmethod
    def advance(self, tok: Tensor, memory: Memory, state: State) -> tuple[Readout, State]:
        """Step before the vocabulary: readouts with attention."""

    @abstractmethod
    def before_words(self, states: Tensor, memory: Memory) -> tuple[Tensor, Tensor, Tensor | None]:
        """Factors of the vocabulary's product: [..., D] as [..., R], its rows [V, R] and biases [V] or None."""

    def logits(self, states: Tensor, memory: Memory) -> Tensor:
        """[..., D] -> [..., V]."""
        return functional.linear(*self.before_words(states, memory))

    def step(self, tok: Tensor, memory: Memory, state: State) -> tuple[Emission, Tensor, State]:
        readout, state = self.advance(tok, memory, state)
        assert readout.attention is not None
        logits = self.logits(readout.states, memory)
        return Emission(logits, readout.copy_logp, readout.gate), readout.attention, state

    def forced(self, batch: Batch, memory: Memory) -> tuple[Emission, Tensor]:
        readout = self.readout(batch, memory, attention=True)
        assert readout.attention is not None
        return Emission(self.logits(readout.states, memory), readout.copy_logp, readout.gate), readout.attention

    def gold(self, batch: Batch, memory: Memory, label_smoothing: float = 0.0) -> tuple[Tensor, Tensor | None]:
        readout = self.readout(batch, memory, attention=False)
        copies = readout.copy_logp is not None
        if label_smoothing and copies:
            raise ValueError("label smoothing is for models that do not copy; set label_smoothing to 0")
        tgt = batch.tgt
        words = (tgt != PAD).flatten().nonzero().squeeze(1)  # [N] positions that hold a word
        states, rows, biases = self.before_words(readout.states.flatten(0, 1)[words], memory)
        ids, known = generated(tgt, len(rows), copies)
        packed = word_logp(states, rows, biases, ids.flatten()[words], label_smoothing)
        logp = packed.new_zeros(tgt.numel()).index_copy(0, words, packed).view_as(tgt)
        if readout.copy_logp is not None and readout.gate is not None:
            copy = copied(tgt, batch.src_ext, in_single(readout.copy_logp))
            logp = mixture(logp.masked_fill(~known, IMPOSSIBLE), copy, in_single(readout.gate))
            logp = logp.masked_fill(tgt == PAD, 0.0)
        return logp, readout.attention


VOCABULARY = ("embedding", "source_embedding", "context_embedding", "output")
"""Modules that have a row or an entry per word."""


def parameter_counts(model: nn.Module) -> dict[str, int]:
    """Numbers of parameters over distinct storages: `total`, of it `vocabulary` and `other`.

    A second output layer, which only training uses, is left out of them and counted as `training_only`.
    """
    counts = {"total": 0, "vocabulary": 0, "other": 0, "training_only": 0}
    for name, parameter in model.named_parameters():  # names a shared parameter once
        path = name.split(".")
        if "second_output" in path:
            counts["training_only"] += parameter.numel()
            continue
        counts["vocabulary" if any(part in VOCABULARY for part in path) else "other"] += parameter.numel()
        counts["total"] += parameter.numel()
    return counts

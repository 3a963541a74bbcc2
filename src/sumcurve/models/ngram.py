"""Rush, Chopra & Weston (2015): a feed-forward language model of the last C words with an attention-based encoder.

    p(y_{t+1} | x, y_c) ∝ exp(V h + W enc)                  equation 4, y_c = y_{t-C+1} ... y_t
    h   = tanh(U [E y_{t-C+1}; ...; E y_t])                 equations 5 and 6
    p   ∝ exp(F x_i · P [G y_{t-C+1}; ...; G y_t])          section 3.2, attention over the source's positions i
    enc = sum_i p_i x̄_i,  x̄_i the mean of F x around i

[V W] is one matrix, as in the released code (NAMAS): the vocabulary sees h beside enc. U, P and [V W] have biases there
and here. That code also puts a linear layer between enc and W, which the equations do not have and W can express, and
its window adds zeros beyond the source; here a window averages the words it holds.
"""

from functools import reduce

import torch
from torch import Tensor, nn
from torch.nn import functional

from sumcurve.models.batch import Batch
from sumcurve.models.layers import masked
from sumcurve.models.summarizer import Memory, Readout, ReadoutSummarizer, State
from sumcurve.models.vocabulary import BOS
from sumcurve.numerics.precision import in_single
from sumcurve.settings.models import NgramSettings


def window_means(states: Tensor, mask: Tensor, width: int) -> Tensor:
    """Means of `states` [B, S, D], 0 on padding, over the tokens within `width` // 2 of each position.

    `mask` [B, S] is True on tokens; a window without one has mean 0.
    """

    def sums(x: Tensor) -> Tensor:
        padded = functional.pad(x, (0, 0, width // 2, width // 2))  # [B, S + width - 1, D]
        return reduce(torch.add, (padded[:, first : first + x.shape[1]] for first in range(width)))

    return sums(states) / sums(mask.unsqueeze(2).to(states.dtype)).clamp(min=1)


class NgramSummarizer(ReadoutSummarizer):
    """D embedding, H hidden, C context words. It has no recurrence: any target position needs its last C words only.

    Before the target stand BOS marks, so that the first words have C words before them, too.
    """

    def __init__(self, settings: NgramSettings, vocabulary_size: int) -> None:
        super().__init__()
        if settings.smoothing % 2 == 0:
            raise ValueError(f"smoothing {settings.smoothing} is even: its window has no middle; choose an odd width")
        self.settings, self.vocabulary_size = settings, vocabulary_size
        d, h = settings.embedding, settings.hidden
        self.embedding = nn.Embedding(vocabulary_size, d)  # E
        self.source_embedding = nn.Embedding(vocabulary_size, d)  # F
        self.context_embedding = nn.Embedding(vocabulary_size, d)  # G
        self.hidden = nn.Linear(settings.context * d, h)  # U
        self.query = nn.Linear(settings.context * d, d)  # P
        self.output = nn.Linear(h + d, vocabulary_size)  # [V W]
        self.dropout = nn.Dropout(settings.dropout)

    def initialize(self, generator: torch.Generator) -> None:
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                if name.endswith("embedding.weight"):
                    parameter.normal_(0.0, self.settings.embedding**-0.5, generator=generator)
                elif parameter.dim() == 2:
                    nn.init.xavier_uniform_(parameter, generator=generator)
                else:
                    parameter.zero_()

    def encode(self, batch: Batch) -> Memory:
        """`states` [B, S, D] are F x, the cache's `means` their x̄."""
        mask = torch.arange(batch.src.shape[1], device=batch.src.device) < batch.src_len.unsqueeze(1)
        states = self.dropout(self.source_embedding(batch.src)).masked_fill(~mask.unsqueeze(2), 0.0)
        return Memory(states, mask, {"means": window_means(states, mask, self.settings.smoothing)})

    def start(self, memory: Memory, q: int) -> State:
        shape = (len(memory.states), q, self.settings.context)
        return {"words": torch.full(shape, BOS, device=memory.states.device)}

    def _readout(self, words: Tensor, memory: Memory) -> Readout:
        """States [B, Q, H + D] and attention [B, Q, S] from the last C words [B, Q, C]."""
        h = self.hidden(self.dropout(self.embedding(words)).flatten(2)).tanh()
        query = self.query(self.dropout(self.context_embedding(words)).flatten(2))
        scores = in_single(query @ memory.states.transpose(1, 2))  # [B, Q, D] @ [B, D, S] -> [B, Q, S]
        attention = masked(scores, memory.mask).softmax(2)
        means = memory.cache["means"]
        encoded = attention.to(means.dtype) @ means  # [B, Q, S] @ [B, S, D] -> [B, Q, D]
        return Readout(self.dropout(torch.cat((h, encoded), 2)), attention=attention)

    def readout(self, batch: Batch, memory: Memory, attention: bool = True) -> Readout:
        c = self.settings.context
        words = functional.pad(batch.inp, (c - 1, 0), value=BOS).unfold(1, c, 1)  # [B, T, C]
        return self._readout(words, memory)

    def before_words(self, states: Tensor, memory: Memory) -> tuple[Tensor, Tensor, Tensor | None]:
        return states, self.output.weight, self.output.bias

    def advance(self, tok: Tensor, memory: Memory, state: State) -> tuple[Readout, State]:
        words = torch.cat((state["words"][:, :, 1:], tok.unsqueeze(2)), 2)  # [B, Q, C]
        return self._readout(words, memory), {"words": words}

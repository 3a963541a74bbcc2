"""The transformer summarizer: pre-norm encoder-decoder with sinusoidal positions and a copy attention.

Vaswani et al. (2017), layer normalisation before each block as in OpenNMT-py's summarization recipe, whose
copy attention is one more single-head attention on the decoder's output. Dropout falls where Vaswani et
al.'s does (section 5.4): on embeddings with positions and on the output of each block, before it is added.
"""

import math
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from sumcurve.models.batch import Batch
from sumcurve.models.layers import masked
from sumcurve.models.summarizer import Memory, Readout, ReadoutSummarizer, State
from sumcurve.numerics.operations import Dropout, attention
from sumcurve.numerics.precision import in_single
from sumcurve.settings.models import TransformerSettings

CACHE_BLOCK = 16
"""Target positions by which the decoder's key and value cache grows."""


def sinusoids(positions: Tensor, width: int) -> Tensor:
    """Position vectors [..., width] of Vaswani et al. (2017, section 3.5), the sines before the cosines."""
    rates = torch.exp(torch.arange(0, width, 2, device=positions.device) * (-math.log(10000.0) / width))
    angles = positions.unsqueeze(-1) * rates
    return torch.cat((angles.sin(), angles.cos()), -1)


class _Attention(nn.Module):
    """Multi-head attention whose projections and heads are apart, so that keys and values can be kept."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def split(self, x: Tensor) -> Tensor:
        """[B, T, D] -> [B, heads, T, D / heads]."""
        return x.unflatten(2, (self.heads, -1)).transpose(1, 2)

    def keys_values(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.split(self.key(x)), self.split(self.value(x))

    def attend(
        self, query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None, causal: bool = False
    ) -> Tensor:
        """[B, heads, Q, d], twice [B, heads, S, d] -> [B, Q, D]; mask is True on the keys that a row begins with."""
        return self.out(attention(query, keys, values, mask, causal))


class _FeedForward(nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(functional.relu(self.up(x)))


class _EncoderLayer(nn.Module):
    def __init__(self, settings: TransformerSettings) -> None:
        super().__init__()
        width = settings.width
        self.attention = _Attention(width, settings.heads)
        self.feedforward = _FeedForward(width, settings.feedforward)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.dropout = Dropout(settings.dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        y = self.norm1(x)
        attention = self.attention
        x = x + self.dropout(attention.attend(attention.split(attention.query(y)), *attention.keys_values(y), mask))
        return x + self.dropout(self.feedforward(self.norm2(x)))


class _DecoderLayer(nn.Module):
    def __init__(self, settings: TransformerSettings) -> None:
        super().__init__()
        width = settings.width
        self.attention = _Attention(width, settings.heads)
        self.cross = _Attention(width, settings.heads)
        self.feedforward = _FeedForward(width, settings.feedforward)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
        self.dropout = Dropout(settings.dropout)

    def rest(self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """All that follows self-attention, and the queries of cross-attention [B, heads, Q, d]."""
        query = self.cross.split(self.cross.query(self.norm2(x)))
        x = x + self.dropout(self.cross.attend(query, keys, values, mask))
        return x + self.dropout(self.feedforward(self.norm3(x))), query


class TransformerSummarizer(ReadoutSummarizer):
    """Source and target share their embedding; the output matrix is its own, or the embedding's if tied."""

    def __init__(self, settings: TransformerSettings, vocabulary_size: int) -> None:
        super().__init__()
        if settings.width % settings.heads or settings.width % 2:
            raise ValueError(f"width {settings.width} must be even and divisible by heads {settings.heads}")
        self.settings, self.vocabulary_size = settings, vocabulary_size
        width = settings.width
        self.embedding = nn.Embedding(vocabulary_size, width)
        self.encoder = nn.ModuleList(_EncoderLayer(settings) for _ in range(settings.encoder_layers))
        self.encoder_norm = nn.LayerNorm(width)
        self.decoder = nn.ModuleList(_DecoderLayer(settings) for _ in range(settings.decoder_layers))
        self.decoder_norm = nn.LayerNorm(width)
        self.copy_query = nn.Linear(width, width, bias=False) if settings.copy_attention else None
        self.gate = nn.Linear(width, 1) if settings.copy_attention else None
        self.output = nn.Linear(width, vocabulary_size)
        if settings.output == "tied":
            self.output.weight = self.embedding.weight
        self.dropout = Dropout(settings.dropout)

    def _decoder_layers(self) -> list[_DecoderLayer]:
        return cast("list[_DecoderLayer]", list(self.decoder))

    def initialize(self, generator: torch.Generator) -> None:
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                if name == "embedding.weight":
                    parameter.normal_(0.0, self.settings.width**-0.5, generator=generator)
                elif parameter.dim() == 2:
                    nn.init.xavier_uniform_(parameter, generator=generator)
                else:
                    parameter.fill_(1.0 if "norm" in name and name.endswith("weight") else 0.0)

    def _embed(self, tok: Tensor, positions: Tensor) -> Tensor:
        x = self.embedding(tok) * self.settings.width**0.5
        return self.dropout(x + sinusoids(positions, self.settings.width).to(x.dtype))

    def encode(self, batch: Batch) -> Memory:
        positions = torch.arange(batch.src.shape[1], device=batch.src.device)
        mask = positions < batch.src_len.unsqueeze(1)
        x = self._embed(batch.src, positions)
        for layer in self.encoder:
            x = layer(x, mask[:, None, None, :])
        states = self.encoder_norm(x)
        cache = {}
        for number, layer in enumerate(self._decoder_layers()):
            cache[f"keys{number}"], cache[f"values{number}"] = layer.cross.keys_values(states)
        return Memory(states, mask, cache)

    def start(self, memory: Memory, q: int) -> State:
        batch, _, width = memory.states.shape
        state = {"position": torch.zeros(batch, q, dtype=torch.long, device=memory.states.device)}
        for number in range(len(self.decoder)):
            for name in ("keys", "values"):
                state[f"{name}{number}"] = memory.states.new_zeros(batch, q, CACHE_BLOCK, width)
        return state

    def _readout(self, x: Tensor, query: Tensor, memory: Memory, attention: bool) -> Readout:
        """x [B, Q, D] from the last layer, `query` of its cross-attention."""
        states = self.decoder_norm(x)
        if self.copy_query is not None and self.gate is not None:
            scores = in_single(self.copy_query(states) @ memory.states.transpose(1, 2))  # [B, Q, S]
            logp = masked(scores, memory.mask).log_softmax(2)
            return Readout(states, logp, self.gate(states).squeeze(2), logp.exp())
        if not attention:
            return Readout(states)
        keys = memory.cache[f"keys{len(self.decoder) - 1}"]
        scores = in_single(query @ keys.transpose(2, 3)) * query.shape[3] ** -0.5  # [B, heads, Q, S]
        weights = scores.masked_fill(~memory.mask[:, None, None, :], -torch.inf).softmax(3).mean(1)
        return Readout(states, attention=weights)

    def before_words(self, states: Tensor, memory: Memory) -> tuple[Tensor, Tensor, Tensor | None]:
        return states, self.output.weight, self.output.bias

    def readout(self, batch: Batch, memory: Memory, attention: bool = True) -> Readout:
        x = self._embed(batch.inp, torch.arange(batch.inp.shape[1], device=batch.inp.device))
        mask = memory.mask[:, None, None, :]
        query = x
        for number, layer in enumerate(self._decoder_layers()):
            y = layer.norm1(x)
            # Padding stands at the end of a target, where no word can see it.
            mixed = layer.attention.attend(
                layer.attention.split(layer.attention.query(y)), *layer.attention.keys_values(y), causal=True
            )
            x, query = layer.rest(
                x + layer.dropout(mixed), memory.cache[f"keys{number}"], memory.cache[f"values{number}"], mask
            )
        return self._readout(x, query, memory, attention)

    def advance(self, tok: Tensor, memory: Memory, state: State) -> tuple[Readout, State]:
        batch, q = tok.shape
        position = int(state["position"][0, 0])  # all queries are equally far
        x = self._embed(tok, state["position"])
        mask = memory.mask[:, None, None, :]
        new = {"position": state["position"] + 1}
        query = x
        for number, layer in enumerate(self._decoder_layers()):
            y = layer.norm1(x)
            past = []
            for name, linear in (("keys", layer.attention.key), ("values", layer.attention.value)):
                kept = state[f"{name}{number}"]
                if position == kept.shape[2]:
                    kept = functional.pad(kept, (0, 0, 0, CACHE_BLOCK))
                kept[:, :, position] = linear(y)
                new[f"{name}{number}"] = kept
                past.append(layer.attention.split(kept[:, :, : position + 1].flatten(0, 1)))
            own = layer.attention.split(layer.attention.query(y).view(batch * q, 1, -1))
            mixed = layer.attention.attend(own, past[0], past[1]).view(batch, q, -1)  # each query sees its own past
            x, query = layer.rest(
                x + layer.dropout(mixed), memory.cache[f"keys{number}"], memory.cache[f"values{number}"], mask
            )
        return self._readout(x, query, memory, True), new

"""Operations of the models that have kernels of this package: the only entry to them.

Under `sums: compiled` they are compiled loops (`fused`) in single precision on a CPU, else those of torch or the plain
forms of `attention`; values differ by the order of sums alone.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from sumcurve.numerics import sums
from sumcurve.numerics.attention import AdditiveScores, AttentiveRecurrence
from sumcurve.numerics.precision import in_single
from sumcurve.numerics.sums import LANES

_SATURATED = 1e4


def _fused() -> Any:
    """The compiled loops, whose import takes seconds that other sums do not need."""
    from sumcurve.numerics import fused

    return fused


def load() -> None:
    """Load this process's kernels, or compile them, before a clock runs."""
    if sums.compiled():
        _fused()


class BiLSTM(nn.LSTM):
    """A bidirectional LSTM over right-padded sequences, equal to packing them.

    An input column beside the features is 1 on padding and closes the input gate and opens the forget gate
    there, so that a cell passes padding unchanged: shapes stay static and one call serves both directions.
    With `learned_start` the first states are parameters [2, H]; as an output of padding would then differ from
    them, each direction runs by itself, the backward one over the reversed sequence.
    """

    held: Tensor
    start_h: nn.Parameter | None
    start_c: nn.Parameter | None

    def __init__(self, inputs: int, hidden: int, learned_start: bool = False) -> None:
        super().__init__(inputs, hidden, batch_first=True, bidirectional=True)
        held = torch.zeros(4 * hidden, 1)  # gates i, f, g, o
        held[:hidden], held[hidden : 2 * hidden] = -_SATURATED, _SATURATED
        self.register_buffer("held", held, persistent=False)
        self.register_parameter("start_h", nn.Parameter(torch.zeros(2, hidden)) if learned_start else None)
        self.register_parameter("start_c", nn.Parameter(torch.zeros(2, hidden)) if learned_start else None)

    def forward(  # type: ignore[override]
        self, inputs: Tensor, lengths: Tensor
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """[B, S, E] and [B] -> states [B, S, 2H], arbitrary on padding, and the last h and c [B, 2H]."""
        if sums.compiled_for(inputs):
            return self._by_loops(inputs, lengths)
        if self.start_h is not None and self.start_c is not None:
            return self._directions_apart(inputs, lengths, self.start_h, self.start_c)
        batch, steps, _ = inputs.shape
        padding = torch.arange(steps, device=inputs.device) >= lengths.unsqueeze(1)
        weights: list[Tensor] = []
        for of_input, *others in self.all_weights:  # of each direction
            weights += [torch.cat((of_input, self.held.to(of_input.dtype)), 1), *others]
        zero = inputs.new_zeros(2, batch, self.hidden_size)
        inputs = torch.cat((inputs, padding.unsqueeze(2).to(inputs.dtype)), 2)
        states, h, c = torch.lstm(inputs, (zero, zero), weights, True, 1, 0.0, self.training, True, True)
        last = (lengths - 1).view(-1, 1, 1).expand(-1, 1, self.hidden_size)
        forward = states[:, :, : self.hidden_size].gather(1, last).squeeze(1)
        return states, (torch.cat((forward, h[1]), 1), torch.cat((c[0], c[1]), 1))

    def _by_loops(self, inputs: Tensor, lengths: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        first = [
            inputs.new_zeros(2, self.hidden_size) if start is None else start for start in (self.start_h, self.start_c)
        ]
        directions = []
        for direction, weights in enumerate(self.all_weights):
            start = (tensor[direction].expand(len(inputs), -1) for tensor in first)
            directions.append(_fused().LSTM.apply(inputs, *weights, *start, lengths, bool(direction)))
        states, h, c = (torch.cat(pair, -1) for pair in zip(*directions, strict=True))
        return states, (h, c)

    def _directions_apart(
        self, inputs: Tensor, lengths: Tensor, start_h: Tensor, start_c: Tensor
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        batch, steps, _ = inputs.shape
        positions = torch.arange(steps, device=inputs.device)
        padding = positions >= lengths.unsqueeze(1)
        backwards = (lengths.unsqueeze(1) - 1 - positions).clamp(min=0).unsqueeze(2)  # [B, S, 1]
        inputs = torch.cat((inputs, padding.unsqueeze(2).to(inputs.dtype)), 2)
        last = (lengths - 1).view(-1, 1, 1).expand(-1, 1, self.hidden_size)
        states, hs, cs = [], [], []
        for direction, (of_input, *others) in enumerate(self.all_weights):
            weights = [torch.cat((of_input, self.held.to(of_input.dtype)), 1), *others]
            first = (start_h[direction].expand(1, batch, -1), start_c[direction].expand(1, batch, -1))
            read = inputs.gather(1, backwards.expand_as(inputs)) if direction else inputs
            if direction:  # input after an example's first word, read backwards, is padding
                read = torch.cat((read[:, :, :-1], padding.unsqueeze(2).to(read.dtype)), 2)
            outputs, _, c = torch.lstm(
                read, tuple(tensor.contiguous() for tensor in first), weights, True, 1, 0.0, self.training, False, True
            )
            hs.append(outputs.gather(1, last).squeeze(1))
            cs.append(c[0])
            states.append(outputs.gather(1, backwards.expand_as(outputs)) if direction else outputs)
        return torch.cat(states, 2), (torch.cat(hs, 1), torch.cat(cs, 1))


class Dropout(nn.Dropout):
    """Dropout of PyTorch, or in a tenth of its time by compiled loops."""

    def forward(self, values: Tensor) -> Tensor:
        if not self.training or not self.p or not sums.compiled_for(values):
            return super().forward(values)
        return _fused().Dropout.apply(values, self.p)


def lstm_states(lstm: nn.LSTM, inputs: Tensor, h: Tensor, c: Tensor) -> Tensor:
    """The last layer's states [B, T, H] of an LSTM from its inputs [B, T, E] and first states [layers, B, H]."""
    if not sums.compiled_for(inputs):
        states: Tensor = lstm(inputs, (h, c))[0]
        return states
    lengths = torch.full((len(inputs),), inputs.shape[1])
    for layer, weights in enumerate(lstm.all_weights):
        if layer:
            inputs = functional.dropout(inputs, lstm.dropout, lstm.training)
        inputs, _, _ = _fused().LSTM.apply(inputs, *weights, h[layer], c[layer], lengths, False)
    return inputs


def scores_of_words(
    keys: Tensor, query: Tensor, v: Tensor, coverage: Tensor | None, w: Tensor | None, mask: Tensor
) -> Tensor:
    """`AdditiveScores`, arbitrary where the mask [B, S] is False, which it is behind every row's words."""
    if sums.compiled_for(keys) and not len(v) % LANES:
        return _fused().AdditiveScores.apply(keys, query, v, coverage, w, mask.sum(1))
    return AdditiveScores.apply(keys, query, v, coverage, w)


def attentive_recurrence(
    gates: Tensor,
    weight: Tensor,
    h: Tensor,
    c: Tensor,
    states: Tensor,
    mask: Tensor,
    keys: Tensor | None,
    v: Tensor | None,
    *others: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`AttentiveRecurrence`, by compiled loops where there are some: words stand at the beginning of a row."""
    given = (gates, weight, h, c, states, mask, keys, v, *others)
    if v is not None and sums.compiled_for(gates) and not len(v) % LANES:
        return _fused().AttentiveRecurrence.apply(*given)
    return AttentiveRecurrence.apply(*given)


def attention(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, causal: bool) -> Tensor:
    """Scaled dot-product attention: query [B, heads, Q, d], keys and values [B, heads, S, d] -> [B, Q, D].

    The mask [B, 1, 1, S] is True on the keys that a row begins with; None: on all.
    """
    if sums.compiled_for(query):
        lengths = torch.full((len(keys),), keys.shape[2]) if mask is None else mask.sum(3).flatten()
        joined = (each.transpose(1, 2).flatten(2) for each in (query, keys, values))
        return _fused().Attention.apply(*joined, lengths, causal, query.shape[1])
    mixed = functional.scaled_dot_product_attention(query, keys, values, attn_mask=mask, is_causal=causal)
    return mixed.transpose(1, 2).flatten(2)


def word_logp(
    states: Tensor, rows: Tensor, biases: Tensor | None, words: Tensor, label_smoothing: float = 0.0
) -> Tensor:
    """Log-probability [N] of a word after each of the states [N, R], by an output layer's rows [V, R] and biases."""
    if not label_smoothing and sums.compiled_for(states):
        return _fused().WordLogp.apply(states, rows, biases, words)
    logits = in_single(functional.linear(states, rows, biases))  # [N, V]
    return -functional.cross_entropy(logits, words, reduction="none", label_smoothing=label_smoothing)

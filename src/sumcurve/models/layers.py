"""Layers that the summarizers share; padding never changes what they say of real tokens."""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from sumcurve.machine import sums
from sumcurve.machine.sums import LANES
from sumcurve.models.emission import IMPOSSIBLE, in_single

_SATURATED = 1e4
T = TypeVar("T")

BLOCK_ELEMENTS = {"cpu": 1 << 17, "cuda": 1 << 25}
"""Of additive attention's hidden layer, at once: half a megabyte in single precision stays in a CPU's cache, 128 on a
GPU keep it busy; a few such blocks are alive together."""


def single_precision(method: Callable[..., T]) -> Callable[..., T]:
    """A module's method without autocast: recurrences and their attention stay in single precision."""

    @wraps(method)
    def run(self: nn.Module, *given: Any, **named: Any) -> T:
        with torch.autocast(next(self.parameters()).device.type, enabled=False):
            return method(self, *given, **named)

    return run


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
        from sumcurve.models import fused

        first = [
            inputs.new_zeros(2, self.hidden_size) if start is None else start for start in (self.start_h, self.start_c)
        ]
        directions = []
        for direction, weights in enumerate(self.all_weights):
            start = (tensor[direction].expand(len(inputs), -1) for tensor in first)
            directions.append(fused.LSTM.apply(inputs, *weights, *start, lengths, bool(direction)))
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
            if direction:  # what lies behind an example's first word is padding
                read = torch.cat((read[:, :, :-1], padding.unsqueeze(2).to(read.dtype)), 2)
            outputs, _, c = torch.lstm(
                read, tuple(tensor.contiguous() for tensor in first), weights, True, 1, 0.0, self.training, False, True
            )
            hs.append(outputs.gather(1, last).squeeze(1))
            cs.append(c[0])
            states.append(outputs.gather(1, backwards.expand_as(outputs)) if direction else outputs)
        return torch.cat(states, 2), (torch.cat(hs, 1), torch.cat(cs, 1))


class Dropout(nn.Dropout):
    """PyTorch's, or a tenth of its time by compiled loops."""

    def forward(self, values: Tensor) -> Tensor:
        if not self.training or not self.p or not sums.compiled_for(values):
            return super().forward(values)
        from sumcurve.models import fused

        return fused.Dropout.apply(values, self.p)


def run_ahead(lstm: nn.LSTM, inputs: Tensor, h: Tensor, c: Tensor) -> Tensor:
    """The last layer's states [B, T, H] of an LSTM from its inputs [B, T, E] and first states [layers, B, H]."""
    if not sums.compiled_for(inputs):
        states: Tensor = lstm(inputs, (h, c))[0]
        return states
    from sumcurve.models import fused

    lengths = torch.full((len(inputs),), inputs.shape[1])
    for layer, weights in enumerate(lstm.all_weights):
        if layer:
            inputs = functional.dropout(inputs, lstm.dropout, lstm.training)
        inputs, _, _ = fused.LSTM.apply(inputs, *weights, h[layer], c[layer], lengths, False)
    return inputs


def selu_net(inputs: int, width: int, dropout: float) -> nn.Sequential:
    """Two linear layers, each with SELU, as Lin et al. (2018) put before and behind their attention."""
    return nn.Sequential(nn.Linear(inputs, width), nn.SELU(), nn.Dropout(dropout), nn.Linear(width, width), nn.SELU())


class ConvolutionalGate(nn.Module):
    """Global encoding (Lin et al. 2018, section 3.2): how much of each encoder state to let through.

    Three branches of convolutions see 1, 3 and 5 words, a self-attention all. Where the released code has batch
    normalisation this has layer normalisation, and padding is masked before every convolution and attention: a score
    must not depend on the batch it is computed in.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(
            nn.ModuleList(nn.Conv1d(width, width, size, padding=size // 2) for size in sizes)
            for sizes in ((1,), (1, 3), (1, 3, 3))
        )
        self.norms = nn.ModuleList(nn.ModuleList(nn.LayerNorm(width) for _ in range(depth)) for depth in (1, 2, 3))
        self.join = nn.Linear(3 * width, width)
        self.query = selu_net(width, width, 0.0)
        self.combine = selu_net(2 * width, width, 0.0)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """[B, S, W], mask [B, S] -> gates [B, S, W] in 0..1."""
        real = mask.unsqueeze(2).to(states.dtype)
        branches = []
        for convolutions, norms in zip(self.convolutions, self.norms, strict=True):
            x = states
            for convolution, norm in zip(convolutions, norms, strict=True):  # type: ignore[call-overload]
                x = norm(convolution((x * real).transpose(1, 2)).relu().transpose(1, 2))
            branches.append(x)
        x = self.join(torch.cat(branches, 2))
        key = self.query(x)
        scores = in_single(key @ key.transpose(1, 2)) * key.shape[2] ** -0.5  # [B, S, S]
        context = masked(scores, mask).softmax(2).to(key.dtype) @ key
        return (self.combine(torch.cat((key, context), 2)) + x).sigmoid()


def lstm_cell(gates: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """Next h and c from the summed gates [..., 4H] in PyTorch's order i, f, g, o."""
    i, f, g, o = gates.chunk(4, -1)
    c = torch.addcmul(f.sigmoid() * c, i.sigmoid(), g.tanh())
    return o.sigmoid() * c.tanh(), c


def masked(scores: Tensor, mask: Tensor) -> Tensor:
    """Attention scores [B, Q, S], in single precision, with padding (mask [B, S] False) set to IMPOSSIBLE."""
    return scores.masked_fill(~mask.unsqueeze(1), IMPOSSIBLE)


class AdditiveScores(torch.autograd.Function):
    """v . tanh(keys + query + coverage * w) (Bahdanau et al. 2015; coverage: See et al. 2017, equation 11).

    keys [B, S, A], query [B, Q, A], v [A], coverage [B, Q, S] or None, w [A] or None -> [B, Q, S].

    The [B, Q, S, A] layer is made block by block and made again in the backward pass: it is larger than all
    else in a recurrent summarizer (1.3 GB for 16 summaries of 100 words over 400, 512 wide), and on a CPU a block
    that stays in cache costs less than memory. tanh x
    is computed as 2 sigmoid(2 x) - 1, on CPUs several times faster.
    """

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx,
        keys: Tensor,
        query: Tensor,
        v: Tensor,
        coverage: Tensor | None,
        w: Tensor | None,
    ) -> Tensor:
        ctx.save_for_backward(keys, query, v, coverage, w)  # type: ignore[arg-type]
        return additive_scores(keys, query, v, coverage, w)

    @staticmethod
    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        keys, query, v, coverage, w = ctx.saved_tensors
        gradient = AdditiveGradient(keys, v, w)
        grad_query, grad_coverage = gradient.add(grad, query, coverage)
        grad_keys, grad_v, grad_w = gradient.total()
        return grad_keys, grad_query, grad_v, grad_coverage, grad_w


def scores_of_words(
    keys: Tensor, query: Tensor, v: Tensor, coverage: Tensor | None, w: Tensor | None, mask: Tensor
) -> Tensor:
    """`AdditiveScores`, arbitrary where the mask [B, S] is False, which it is behind every row's words."""
    if sums.compiled_for(keys) and not len(v) % LANES:
        from sumcurve.models import fused

        return fused.AdditiveScores.apply(keys, query, v, coverage, w, mask.sum(1))
    return AdditiveScores.apply(keys, query, v, coverage, w)


def additive_scores(keys: Tensor, query: Tensor, v: Tensor, coverage: Tensor | None, w: Tensor | None) -> Tensor:
    """The value of `AdditiveScores`, [B, Q, S]."""
    scores = keys.new_empty(query.shape[0], query.shape[1], keys.shape[1])
    for part, sigmoid in _sigmoids(keys, query, coverage, w):
        scores[part] = sigmoid @ v
    return scores.mul_(2).sub_(v.sum())


class AdditiveGradient:
    """The gradients of additive scores, summed over calls with the same keys."""

    def __init__(self, keys: Tensor, v: Tensor, w: Tensor | None) -> None:
        self.inputs, self.v, self.w = keys, v, w
        self.slope = 4 * v  # d score / d (keys + query + coverage * w) = 4 v sigmoid (1 - sigmoid)
        self.keys, self.sum_v = torch.zeros_like(keys), torch.zeros_like(v)
        self.sum_w: Tensor | None = None if w is None else torch.zeros_like(w)

    def add(self, grad: Tensor, query: Tensor, coverage: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Gradients of `query` and `coverage` from that of the scores, `grad` [B, Q, S]."""
        grad_query = torch.empty_like(query)
        grad_coverage = None if coverage is None else torch.empty_like(coverage)
        self.sum_v -= grad.sum()
        for part, sigmoid in _sigmoids(self.inputs, query, coverage, self.w):
            g = grad[part]  # [b, q, S]
            self.sum_v.add_(g.flatten() @ sigmoid.flatten(0, 2), alpha=2)
            curve = torch.addcmul(sigmoid, sigmoid, sigmoid, value=-1)  # [b, q, S, A]
            grad_query[part] = (g.unsqueeze(2) @ curve).squeeze(2)
            if coverage is not None and grad_coverage is not None and self.w is not None and self.sum_w is not None:
                torch.mul(g, curve @ (self.slope * self.w), out=grad_coverage[part])
                self.sum_w += (coverage[part] * g).flatten() @ curve.flatten(0, 2)
            if curve.shape[1] == 1:
                self.keys[part[0]].addcmul_(curve[:, 0], g.transpose(1, 2))
            else:
                self.keys[part[0]] += curve.mul_(g.unsqueeze(3)).sum(1)
        return grad_query.mul_(self.slope), grad_coverage

    def total(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """Gradients of keys, v and w."""
        return self.keys.mul_(self.slope), self.sum_v, None if self.sum_w is None else self.sum_w * self.slope


def _sigmoids(
    keys: Tensor, query: Tensor, coverage: Tensor | None, w: Tensor | None
) -> Iterator[tuple[tuple[slice, slice], Tensor]]:
    """Blocks [b, q, S, A] of sigmoid(2 (keys + query + coverage * w)) and where they lie in [B, Q]."""
    batch, queries, size = query.shape[0], query.shape[1], keys[0].numel()
    block = BLOCK_ELEMENTS[keys.device.type]
    q = min(queries, max(1, block // size))
    b = min(batch, max(1, block // (q * size)))
    double = 2 * query.unsqueeze(2)
    for first in range(0, batch, b):
        for start in range(0, queries, q):
            part = slice(first, first + b), slice(start, start + q)
            hidden = torch.add(double[part], keys[part[0]].unsqueeze(1), alpha=2)
            if coverage is not None and w is not None:
                hidden.addcmul_(coverage[part].unsqueeze(3), w, value=2)
            yield part, hidden.sigmoid_()

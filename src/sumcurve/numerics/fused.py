"""The compiled loops of `loops` as functions of torch, each with its gradient: single precision, on a CPU.

`sums.compiled_for` decides where they replace their plain forms, which they name.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from sumcurve.numerics import loops
from sumcurve.numerics.arithmetic import LANES
from sumcurve.numerics.precision import IMPOSSIBLE


def _array(tensor: Tensor) -> Any:
    return tensor.detach().contiguous().numpy()


def _parts(tensor: Tensor, size: int = LANES) -> Any:
    """The last axis as [K, size]."""
    return _array(tensor).reshape(*tensor.shape[:-1], tensor.shape[-1] // size, size)


def _new(like: Tensor) -> Tensor:
    """New contiguous tensor, unlike `torch.empty_like` of a transposed matrix: writes to it must not go to a copy."""
    return torch.empty_like(like, memory_format=torch.contiguous_format)


def _zeros(like: Tensor) -> Tensor:
    return torch.zeros_like(like, memory_format=torch.contiguous_format)


def _copy(tensor: Tensor) -> Tensor:
    return tensor.clone(memory_format=torch.contiguous_format)


def _of(array: Any) -> Tensor:
    """An array that ends in [K, LANES] or [4, H] as a tensor that ends in one axis."""
    return torch.from_numpy(array.reshape(*array.shape[:-2], array.shape[-2] * array.shape[-1]))


class LSTM(torch.autograd.Function):
    """`torch.lstm` in one direction over right-padded rows: states 0 on padding, the last h and c of each row's own.

    inputs [B, S, E], weights [4H, E] and [4H, H], biases [4H], h and c [B, H], lengths [B]. Backwards, a row begins at
    its last word. Returns states [B, S, H], h, c.
    """

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx,
        inputs: Tensor,
        of_input: Tensor,
        weight: Tensor,
        bias: Tensor,
        more_bias: Tensor,
        h: Tensor,
        c: Tensor,
        lengths: Tensor,
        backward: bool,
    ) -> tuple[Tensor, Tensor, Tensor]:
        batch, steps, _ = inputs.shape
        hidden = h.shape[1]
        gates = (inputs.flatten(0, 1) @ of_input.t()).view(batch, steps, 4, hidden)
        states, before, cells = (inputs.new_empty(batch, steps, hidden) for _ in range(3))
        h, c = _copy(h), _copy(c)
        given = (gates, weight, (bias + more_bias).view(4, hidden), lengths)
        loops.lstm(*map(_array, given), backward, *map(_array, (states, before, cells, h, c)))
        ctx.save_for_backward(inputs, of_input, weight, gates, before, cells, lengths)
        ctx.backwards = backward  # type: ignore[attr-defined]
        return states, h, c

    @staticmethod
    def backward(ctx, grad, dh, dc):  # type: ignore[no-untyped-def]
        inputs, of_input, weight, gates, before, cells, lengths = ctx.saved_tensors
        dh, dc = _copy(dh), _copy(dc)
        dgates, dweight = _new(gates), _new(weight)
        given = (grad, dh, dc, gates, weight, lengths)
        loops.lstm_gradient(*map(_array, given), ctx.backwards, *map(_array, (before, cells, dgates, dweight)))
        flat = dgates.view(-1, dweight.shape[0])
        dbias = flat.sum(0)
        dinputs = (flat @ of_input).view_as(inputs) if ctx.needs_input_grad[0] else None
        return dinputs, flat.t() @ inputs.flatten(0, 1), dweight, dbias, dbias, dh, dc, None, None


class AdditiveScores(torch.autograd.Function):
    """`attention.AdditiveScores`, with the number of each row's keys, `lengths` [B]: scores of others are 0.

    The width A is a multiple of LANES.
    """

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx,
        keys: Tensor,
        query: Tensor,
        v: Tensor,
        coverage: Tensor | None,
        w: Tensor | None,
        lengths: Tensor,
    ) -> Tensor:
        ctx.covers = coverage is not None  # type: ignore[attr-defined]
        scores = keys.new_empty(len(keys), query.shape[1], keys.shape[1])
        if coverage is None or w is None:
            coverage, w = _zeros(scores), _zeros(v)
        given = _parts(keys), _parts(query), _parts(v), _array(coverage), _parts(w), _array(lengths)
        loops.scores(*given, _array(scores))
        ctx.save_for_backward(keys, query, v, coverage, w, lengths)
        return scores

    @staticmethod
    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        keys, query, v, coverage, w, lengths = ctx.saved_tensors
        given = _parts(keys), _parts(query), _parts(v), _array(coverage), _parts(w)
        made = [np.zeros_like(array) for array in given]
        loops.scores_gradient(_array(grad), *given, _array(lengths), *made)
        dkeys, dquery, dv, dcoverage, dw = made
        covered = (torch.from_numpy(dcoverage), _of(dw)) if ctx.covers else (None, None)
        return _of(dkeys), _of(dquery), _of(dv), *covered, None


class AttentiveRecurrence(torch.autograd.Function):
    """`attention.AttentiveRecurrence` with additive attention; its width A is a multiple of LANES."""

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx,
        gates: Tensor,
        weight: Tensor,
        h: Tensor,
        c: Tensor,
        states: Tensor,
        mask: Tensor,
        keys: Tensor,
        v: Tensor,
        w: Tensor | None,
        query_weight: Tensor,
        query_bias: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        (steps, batch, _), (_, length, width), hidden = gates.shape, states.shape, h.shape[1]
        new = gates.new_empty
        active = _copy(gates).view(steps, batch, 4, hidden)
        fed, inputs = new(steps, batch, weight.shape[0]), new(steps, batch, query_weight.shape[1])
        cells, hs, cs = (new(steps, batch, hidden) for _ in range(3))
        queries, contexts = new(steps, batch, query_weight.shape[0]), new(steps, batch, width)
        logps, attention = new(steps, batch, length), new(steps, batch, length)
        covered, lengths = gates.new_zeros(steps + 1, batch, length), mask.sum(1)
        ctx.covers, w = w is not None, _zeros(v) if w is None else w  # type: ignore[attr-defined]
        decoder = weight, states, lengths, keys, v, w, query_weight, query_bias
        made = active, fed, cells, inputs, queries, attention, covered
        out = loops.Outputs(*map(_array, (hs, cs, contexts, logps)))
        loops.recurrence(_decoder(*decoder), _array(_copy(h)), _array(_copy(c)), _steps(*made), out)
        ctx.save_for_backward(*decoder, *made)
        return hs, cs, contexts, logps

    @staticmethod
    def backward(ctx, *grads):  # type: ignore[no-untyped-def]
        decoder, made = ctx.saved_tensors[:8], ctx.saved_tensors[8:]
        weight, states, _, keys, v, w, query_weight, _ = decoder
        active, _, cells, _, queries, _, _ = made
        dgates, dweight, dquery_weight = _zeros(active), _new(weight), _new(query_weight)
        dh, dc, dstates = _zeros(cells[0]), _zeros(cells[0]), _zeros(states)
        dkeys, dv, dw, dqueries = (np.zeros_like(_parts(tensor)) for tensor in (keys, v, w, queries))
        to = loops.Gradients(
            *map(_array, (dgates, dweight, dh, dc, dstates)), dkeys, dv, dw, _array(dquery_weight), dqueries
        )
        loops.recurrence_gradient(loops.Outputs(*map(_array, grads)), _decoder(*decoder), _steps(*made), to)
        of_attention = _of(dkeys), _of(dv), _of(dw) if ctx.covers else None
        of_query = dquery_weight, _of(dqueries).sum((0, 1))
        return dgates.flatten(2), dweight, dh, dc, dstates, None, *of_attention, *of_query


def _decoder(
    weight: Tensor,
    states: Tensor,
    lengths: Tensor,
    keys: Tensor,
    v: Tensor,
    w: Tensor,
    query_weight: Tensor,
    query_bias: Tensor,
) -> loops.Decoder:
    return loops.Decoder(
        weight=_array(weight),
        states=_array(states),
        lengths=_array(lengths),
        keys=_parts(keys),
        v=_parts(v),
        w=_parts(w),
        query_weight=_array(query_weight),
        query_bias=_array(query_bias),
    )


def _steps(
    gates: Tensor, fed: Tensor, cells: Tensor, inputs: Tensor, queries: Tensor, attention: Tensor, covered: Tensor
) -> loops.Steps:
    return loops.Steps(
        gates=_array(gates),
        fed=_array(fed),
        cells=_array(cells),
        inputs=_array(inputs),
        queries=_parts(queries),
        attention=_array(attention),
        covered=_array(covered),
    )


class Attention(torch.autograd.Function):
    """`functional.scaled_dot_product_attention` of heads that lie beside one another, over right-padded keys.

    query [B, Q, D], keys and values [B, S, D], lengths [B] -> [B, Q, D].
    """

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx,
        query: Tensor,
        keys: Tensor,
        values: Tensor,
        lengths: Tensor,
        causal: bool,
        heads: int,
    ) -> Tensor:
        weights = query.new_empty(len(query), heads, query.shape[1], keys.shape[1])
        out = _new(query)
        loops.attention(*map(_array, (query, keys, values, lengths)), causal, *map(_array, (weights, out)))
        ctx.save_for_backward(query, keys, values, lengths, weights)
        return out

    @staticmethod
    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        made = [_zeros(tensor) for tensor in ctx.saved_tensors[:3]]
        loops.attention_gradient(*map(_array, (grad, *ctx.saved_tensors, *made)))
        return *made, None, None, None


class Dropout(torch.autograd.Function):
    """Inverted dropout. It draws two numbers from torch's generator, whatever the size; all others follow from them."""

    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, values: Tensor, share: float) -> Tensor:
        seeds = torch.randint(1 << 32, (2,)).tolist()
        ctx.drawn = (*seeds, round(share * (1 << 32)), 1 / (1 - share))  # type: ignore[attr-defined]
        return Dropout._drop(values, ctx.drawn)  # type: ignore[attr-defined]

    @staticmethod
    def _drop(values: Tensor, drawn: tuple[int, int, int, float]) -> Tensor:
        out = _new(values)
        loops.dropout(_array(values).reshape(-1), *drawn, _array(out).reshape(-1))
        return out

    @staticmethod
    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        return Dropout._drop(grad, ctx.drawn), None


class WordLogp(torch.autograd.Function):
    """`operations.word_logp` without label smoothing. Its gradient can be computed once."""

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx, states: Tensor, weight: Tensor, bias: Tensor | None, words: Tensor
    ) -> Tensor:
        size = len(weight)
        padded = weight.new_full((-(-size // loops.PARTS) * loops.PARTS,), IMPOSSIBLE)
        padded[:size] = 0.0 if bias is None else bias
        shares = states.new_empty(len(states), len(padded))
        sums, logp = states.new_empty(len(states)), states.new_empty(len(states))
        given = _array(states), _array(weight), _parts(padded, loops.PARTS), _array(words)
        loops.word_logp(*given, _parts(shares, loops.PARTS), _array(sums), _array(logp))
        ctx.save_for_backward(states, weight, words, shares, sums)
        ctx.biased, ctx.used = bias is not None, False  # type: ignore[attr-defined]
        return logp

    @staticmethod
    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        if ctx.used:
            raise RuntimeError("the gradient of WordLogp was asked for before, and has used up what it is made of")
        ctx.used = True
        states, weight, words, shares, sums = ctx.saved_tensors
        dstates, dweight, dbias = _new(states), _new(weight), shares.new_zeros(shares.shape[1])
        given = (grad, states, weight, words)
        loops.word_logp_gradient(
            *map(_array, given),
            _parts(shares, loops.PARTS),
            *map(_array, (sums, dstates, dweight)),
            _parts(dbias, loops.PARTS),
        )
        return dstates, dweight, dbias[: len(weight)] if ctx.biased else None, None

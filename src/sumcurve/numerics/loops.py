"""Compiled loops of the models, forward and backward, in single precision on a CPU.

The plain forms of the loops in torch are `operations.BiLSTM`, `operations.word_logp`, `operations.attention`,
`attention.AdditiveScores`, `attention.AttentiveRecurrence`; `fused` gives them to torch. Padding is skipped: values
there are 0. An axis that ends in LANES is cut into parts of that many, so that a sum along it has an order that vectors
can take. Functions that are `noalias` must never get one array twice.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from sumcurve.numerics.arithmetic import (
    LANES,
    ONE,
    ZERO,
    exp,
    fma,
    log,
    njit,
    product,
    product_of_turned,
    product_with_turned,
    product_with_vector,
    sigmoid,
    tanh,
    total,
)
from sumcurve.numerics.precision import IMPOSSIBLE

Array = NDArray[np.float32]
Lengths = NDArray[np.int64]

_LENGTHS = types.Array(types.int64, 1, "C")


def _types(*arguments: Any) -> list[Any]:
    """Types of contiguous arrays of single precision with so many axes each, or the types that are given."""
    return [types.Array(types.float32, each, "C") if isinstance(each, int) else each for each in arguments]


def _takes(*arguments: Any) -> Any:
    """The signature of a loop, which is compiled on import, so that no training's time has it in it."""
    return types.void(*_types(*arguments))


PARTS = 4 * LANES  # of sums over the vocabulary: with so few operations a number, LLVM would not vectorise fewer
ROWS = 64  # of logits at once, which stay in a CPU's cache until they are used
_IMPOSSIBLE = np.float32(IMPOSSIBLE)


@njit(cache=True, error_model="numpy", noalias=True)
def _activated(gates: Array, more: Array, bias: Array) -> None:
    """Write the sum of all three, activated, into the first: gates [4, H] in order i, f, g, o."""
    for k in range(4):
        if k == 2:
            for j in range(gates.shape[1]):
                gates[k, j] = tanh(gates[k, j] + more[k, j] + bias[k, j])
        else:
            for j in range(gates.shape[1]):
                gates[k, j] = sigmoid(gates[k, j] + more[k, j] + bias[k, j])


@njit(cache=True, error_model="numpy", noalias=True)
def _cell(gates: Array, h: Array, c: Array, before: Array, cell: Array, state: Array) -> None:
    """The next h and c [H] from activated gates [4, H]; the old ones go to `before` and `cell`."""
    for j in range(len(c)):
        before[j], cell[j] = h[j], c[j]
    for j in range(len(c)):
        c[j] = fma(gates[1, j], cell[j], gates[0, j] * gates[2, j])
    for j in range(len(c)):
        h[j] = gates[3, j] * tanh(c[j])
        state[j] = h[j]


@njit(cache=True, error_model="numpy", noalias=True)
def _cell_gradient(gates: Array, cell: Array, dh: Array, dc: Array, dgates: Array) -> None:
    """Gradients of gates before activation [4, H], and of the c before in place of `dc`, from those of h and c [H]."""
    for j in range(len(dc)):
        i, f, g = gates[0, j], gates[1, j], gates[2, j]
        o = gates[3, j]
        c = tanh(fma(f, cell[j], i * g))
        dgates[3, j] = dh[j] * c * (o - o * o)
        d = fma(dh[j] * o, ONE - c * c, dc[j])
        dgates[0, j] = d * g * (i - i * i)
        dgates[1, j] = d * cell[j] * (f - f * f)
        dgates[2, j] = d * i * (ONE - g * g)
        dc[j] = d * f


@njit(cache=True, error_model="numpy", noalias=True)
def _add(values: Array, to: Array) -> None:
    for j in range(len(to)):
        to[j] += values[j]


@njit(cache=True, error_model="numpy", noalias=True)
def _copy(values: Array, to: Array) -> None:
    for j in range(len(to)):
        to[j] = values[j]


@njit(_takes(4, 2, 2, _LENGTHS, types.boolean, 3, 3, 3, 2, 2), cache=True, nogil=True)
def lstm(
    gates: Array,
    weight: Array,
    bias: Array,
    lengths: Lengths,
    backward: bool,
    states: Array,
    before: Array,
    cells: Array,
    h: Array,
    c: Array,
) -> None:
    """An LSTM in one direction over right-padded rows; backwards, a row begins at its last word.

    gates [B, S, 4, H]: the inputs' part, which becomes the activated gates; weight [4H, H]; bias [4, H]; h, c [B, H]:
    the first states, which become the last. Written: states [B, S, H], and h and c before each step, `before` and
    `cells` [B, S, H].
    """
    batch, steps, _, hidden = gates.shape
    more = np.empty((batch, 4, hidden), np.float32)
    flat = more.reshape(batch, 4 * hidden)
    for t in range(steps):
        product_with_turned(h, weight, flat, ZERO)
        for b in range(batch):
            if t < lengths[b]:
                s = lengths[b] - 1 - t if backward else t
                _activated(gates[b, s], more[b], bias)
                _cell(gates[b, s], h[b], c[b], before[b, s], cells[b, s], states[b, s])
            else:
                states[b, t] = ZERO
                before[b, t] = ZERO


@njit(_takes(3, 2, 2, 4, 2, _LENGTHS, types.boolean, 3, 3, 4, 2), cache=True, nogil=True)
def lstm_gradient(
    grad: Array,
    dh: Array,
    dc: Array,
    gates: Array,
    weight: Array,
    lengths: Lengths,
    backward: bool,
    before: Array,
    cells: Array,
    dgates: Array,
    dweight: Array,
) -> None:
    """Gradients of `lstm` from those of its states, `grad` [B, S, H], and of its last h and c, `dh` and `dc` [B, H],
    which become those of the first. Written: dgates [B, S, 4, H] and dweight [4H, H]."""
    batch, steps, _, hidden = gates.shape
    now = np.zeros((batch, 4, hidden), np.float32)
    back = np.empty((batch, hidden), np.float32)
    for t in range(steps - 1, -1, -1):
        for b in range(batch):
            if t < lengths[b]:
                s = lengths[b] - 1 - t if backward else t
                _add(grad[b, s], dh[b])
                _cell_gradient(gates[b, s], cells[b, s], dh[b], dc[b], now[b])
                _copy(now[b].reshape(4 * hidden), dgates[b, s].reshape(4 * hidden))
            else:
                dgates[b, t] = ZERO
        product(now.reshape(batch, 4 * hidden), weight, back, ZERO)
        for b in range(batch):
            if t < lengths[b]:
                _copy(back[b], dh[b])
    rows = batch * steps
    product_of_turned(dgates.reshape(rows, 4 * hidden), before.reshape(rows, hidden), dweight, ZERO)


@njit(cache=True, error_model="numpy", noalias=True)
def _scores(
    keys: Array, query: Array, v: Array, covered: Array, w: Array, lanes: Array, words: int, out: Array
) -> None:
    """v . tanh(keys + query + covered * w) of a query's words; keys [S, K, LANES], query, v, w [K, LANES]."""
    for s in range(words):
        seen = covered[s]
        for i in range(LANES):
            lanes[i] = ZERO
        for k in range(len(v)):
            for i in range(LANES):
                hidden = tanh(fma(seen, w[k, i], keys[s, k, i] + query[k, i]))
                lanes[i] = fma(v[k, i], hidden, lanes[i])
        out[s] = total(lanes)


@njit(cache=True, error_model="numpy", noalias=True)
def _scores_gradient(
    grad: Array,
    keys: Array,
    query: Array,
    v: Array,
    covered: Array,
    w: Array,
    lanes: Array,
    words: int,
    dkeys: Array,
    dquery: Array,
    dv: Array,
    dcovered: Array,
    dw: Array,
) -> None:
    """Add the gradients of `_scores`."""
    for s in range(words):
        seen, g = covered[s], grad[s]
        for i in range(LANES):
            lanes[i] = ZERO
        for k in range(len(v)):
            for i in range(LANES):
                hidden = tanh(fma(seen, w[k, i], keys[s, k, i] + query[k, i]))
                through = v[k, i] * fma(-hidden, hidden, ONE)
                lanes[i] = fma(through, w[k, i], lanes[i])
                through *= g
                dkeys[s, k, i] += through
                dquery[k, i] += through
                dv[k, i] = fma(g, hidden, dv[k, i])
                dw[k, i] = fma(seen, through, dw[k, i])
        dcovered[s] = fma(g, total(lanes), dcovered[s])


@njit(_takes(4, 4, 2, 3, 2, _LENGTHS, 3), cache=True, nogil=True)
def scores(keys: Array, query: Array, v: Array, covered: Array, w: Array, lengths: Lengths, out: Array) -> None:
    """Additive scores: keys [B, S, K, LANES], query [B, Q, K, LANES], v and w [K, LANES], covered and out [B, Q, S]."""
    lanes = np.empty(LANES, np.float32)
    for b in range(len(keys)):
        for q in range(query.shape[1]):
            _scores(keys[b], query[b, q], v, covered[b, q], w, lanes, lengths[b], out[b, q])
            out[b, q, lengths[b] :] = ZERO


@njit(_takes(3, 4, 4, 2, 3, 2, _LENGTHS, 4, 4, 2, 3, 2), cache=True, nogil=True)
def scores_gradient(
    grad: Array,
    keys: Array,
    query: Array,
    v: Array,
    covered: Array,
    w: Array,
    lengths: Lengths,
    dkeys: Array,
    dquery: Array,
    dv: Array,
    dcovered: Array,
    dw: Array,
) -> None:
    """Add the gradients of `scores` from that of its values, `grad` [B, Q, S]."""
    lanes = np.empty(LANES, np.float32)
    dv_here, dw_here = np.empty_like(v), np.empty_like(v)  # sums of few terms lose less to rounding
    for b in range(len(keys)):
        for q in range(query.shape[1]):
            dv_here[:] = ZERO
            dw_here[:] = ZERO
            given = keys[b], query[b, q], v, covered[b, q], w, lanes, lengths[b]
            _scores_gradient(grad[b, q], *given, dkeys[b], dquery[b, q], dv_here, dcovered[b, q], dw_here)
            _add(dv_here.reshape(v.size), dv.reshape(v.size))
            _add(dw_here.reshape(v.size), dw.reshape(v.size))


@njit(cache=True, error_model="numpy", noalias=True)
def _attend(
    scores: Array,
    states: Array,
    words: int,
    covered: Array,
    logp: Array,
    attention: Array,
    after: Array,
    context: Array,
) -> None:
    """Log-softmax and softmax of scores over a query's words, the sum of attention after it, and its context [C]."""
    top = scores[0]
    for s in range(1, words):
        top = scores[s] if scores[s] > top else top
    for s in range(words):
        attention[s] = exp(scores[s] - top)
    whole = ZERO
    for s in range(words):
        whole += attention[s]
    less = top + log(whole)
    for s in range(words):
        logp[s] = scores[s] - less
        attention[s] /= whole
        after[s] = covered[s] + attention[s]
    for s in range(words, len(scores)):
        logp[s], attention[s], after[s] = _IMPOSSIBLE, ZERO, ZERO
    for j in range(len(context)):
        context[j] = ZERO
    for s in range(words):
        for j in range(len(context)):
            context[j] = fma(attention[s], states[s, j], context[j])


@njit(cache=True, error_model="numpy", noalias=True)
def _attend_gradient(
    dlogp: Array, dcontext: Array, dafter: Array, words: int, attention: Array, dstates: Array, dscores: Array
) -> None:
    """Gradient of the scores of `_attend`, in place of its attention's by the context; that of states is added."""
    whole = ZERO
    for s in range(words):
        weight = attention[s]
        for j in range(len(dcontext)):
            dstates[s, j] = fma(weight, dcontext[j], dstates[s, j])
        dscores[s] = fma(dscores[s] + dafter[s], weight, dlogp[s])
        whole += dscores[s]
    for s in range(words):
        dscores[s] = fma(-attention[s], whole, dscores[s])


class Decoder(NamedTuple):
    """Inputs of every step of `recurrence`, by the names of `attention.AttentiveRecurrence`; A is K times LANES."""

    weight: Array  # [F, 4H]
    states: Array  # [B, S, C]
    lengths: Lengths  # [B]
    keys: Array  # [B, S, K, LANES]
    v: Array  # [K, LANES]
    w: Array  # [K, LANES]; 0 without coverage
    query_weight: Array  # [A, H or 2H]
    query_bias: Array  # [A]


class Steps(NamedTuple):
    """Values of all steps that the gradient needs."""

    gates: Array  # [T, B, 4, H]: the inputs' part, which becomes the activated gates
    fed: Array  # [T, B, F]
    cells: Array  # [T, B, H]: c before each step
    inputs: Array  # [T, B, H or 2H]
    queries: Array  # [T, B, K, LANES]
    attention: Array  # [T, B, S]
    covered: Array  # [T + 1, B, S], the first row 0


class Outputs(NamedTuple):
    """Values of all steps that `recurrence` returns, or their gradients."""

    h: Array  # [T, B, H]
    c: Array  # [T, B, H]
    contexts: Array  # [T, B, C]
    logps: Array  # [T, B, S]


class Gradients(NamedTuple):
    """Gradients of the inputs of `recurrence`; `dgates` are those before activation."""

    dgates: Array
    dweight: Array
    dh: Array
    dc: Array
    dstates: Array
    dkeys: Array
    dv: Array
    dw: Array
    dquery_weight: Array
    dqueries: Array


_DECODER = types.NamedTuple(_types(2, 3, _LENGTHS, 4, 2, 2, 2, 1), Decoder)
_STEPS = types.NamedTuple(_types(4, 3, 3, 3, 4, 3, 3), Steps)
_OUTPUTS = types.NamedUniTuple(_types(3)[0], 4, Outputs)
_GRADIENTS = types.NamedTuple(_types(4, 2, 2, 2, 3, 4, 2, 2, 2, 4), Gradients)


@njit(_takes(_DECODER, 2, 2, _STEPS, _OUTPUTS), cache=True, nogil=True)
def recurrence(decoder: Decoder, h: Array, c: Array, made: Steps, out: Outputs) -> None:
    """`attention.AttentiveRecurrence` with additive attention; h and c [B, H] are used up.

    Written: `out`, and of `made` all but the first row of `covered`.
    """
    weight, states, lengths, keys, v, w, query_weight, query_bias = decoder
    gates, fed, cells, inputs, queries, attention, covered = made
    hs, cs, contexts, logps = out
    steps, batch, _, hidden = gates.shape
    length, width, wide = states.shape[1], fed.shape[2] - hidden, inputs.shape[2]
    more = np.empty((batch, 4, hidden), np.float32)
    flat = more.reshape(batch, 4 * hidden)
    none, before = np.zeros((4, hidden), np.float32), np.empty(hidden, np.float32)
    lanes, row = np.empty(LANES, np.float32), np.empty(length, np.float32)
    for t in range(steps):
        for b in range(batch):
            if width and t:
                _copy(contexts[t - 1, b], fed[t, b, :width])
            elif width:
                fed[t, b, :width] = ZERO
            _copy(h[b], fed[t, b, width:])
        product(fed[t], weight, flat, ZERO)
        for b in range(batch):
            _activated(gates[t, b], more[b], none)
            _cell(gates[t, b], h[b], c[b], before, cells[t, b], hs[t, b])
            _copy(c[b], cs[t, b])
            _copy(h[b], inputs[t, b, :hidden])
            if wide > hidden:
                _copy(c[b], inputs[t, b, hidden:])
        product_with_turned(inputs[t], query_weight, queries[t].reshape(batch, v.size), ZERO)
        for b in range(batch):
            _add(query_bias, queries[t, b].reshape(v.size))
            _scores(keys[b], queries[t, b], v, covered[t, b], w, lanes, lengths[b], row)
            written = logps[t, b], attention[t, b], covered[t + 1, b], contexts[t, b]
            _attend(row, states[b], lengths[b], covered[t, b], *written)


@njit(_takes(_OUTPUTS, _DECODER, _STEPS, _GRADIENTS), cache=True, nogil=True)
def recurrence_gradient(grad: Outputs, decoder: Decoder, made: Steps, to: Gradients) -> None:
    """Gradients of `recurrence` from those of its outputs; all of `to` is 0 beforehand."""
    grad_h, grad_c, grad_context, grad_logp = grad
    weight, states, lengths, keys, v, w, query_weight, _ = decoder
    gates, fed, cells, inputs, queries, attention, covered = made
    dgates, dweight, dh, dc, dstates, dkeys, dv, dw, dquery_weight, dqueries = to
    steps, batch, _, hidden = gates.shape
    width, wide = fed.shape[2] - hidden, inputs.shape[2]
    lanes, row = np.empty(LANES, np.float32), np.empty(states.shape[1], np.float32)
    dcontext, dcovered = np.zeros_like(states[:, 0]), np.zeros_like(attention[0])
    dv_here, dw_here = np.empty_like(v), np.empty_like(v)
    into, back = np.empty((batch, wide), np.float32), np.empty((batch, fed.shape[2]), np.float32)
    for t in range(steps - 1, -1, -1):
        dv_here[:] = ZERO
        dw_here[:] = ZERO
        for b in range(batch):
            _add(grad_context[t, b], dcontext[b])
            product_with_vector(states[b, : lengths[b]], dcontext[b], row)
            _attend_gradient(grad_logp[t, b], dcontext[b], dcovered[b], lengths[b], attention[t, b], dstates[b], row)
            of_scores = keys[b], queries[t, b], v, covered[t, b], w, lanes, lengths[b]
            _scores_gradient(row, *of_scores, dkeys[b], dqueries[t, b], dv_here, dcovered[b], dw_here)
        _add(dv_here.reshape(v.size), dv.reshape(v.size))
        _add(dw_here.reshape(v.size), dw.reshape(v.size))
        product(dqueries[t].reshape(batch, v.size), query_weight, into, ZERO)
        for b in range(batch):
            _add(grad_h[t, b], dh[b])
            _add(into[b, :hidden], dh[b])
            _add(grad_c[t, b], dc[b])
            if wide > hidden:
                _add(into[b, hidden:], dc[b])
            _cell_gradient(gates[t, b], cells[t, b], dh[b], dc[b], dgates[t, b])
        product_with_turned(dgates[t].reshape(batch, 4 * hidden), weight, back, ZERO)
        for b in range(batch):
            _copy(back[b, width:], dh[b])
            if width:
                _copy(back[b, :width], dcontext[b])
            else:
                dcontext[b] = ZERO
    rows = steps * batch
    flat = dgates.reshape(rows, 4 * hidden)
    product_of_turned(fed.reshape(rows, fed.shape[2]), flat, dweight, ZERO)
    product_of_turned(dqueries.reshape(rows, v.size), inputs.reshape(rows, wide), dquery_weight, ZERO)


@njit(cache=True, error_model="numpy", noalias=True)
def _softmax(row: Array, words: int, scale: np.float32) -> None:
    """Softmax of the first scores of a row times `scale`, in place; the others become 0."""
    top = row[0]
    for s in range(1, words):
        top = row[s] if row[s] > top else top
    for s in range(words):
        row[s] = exp((row[s] - top) * scale)
    whole = ZERO
    for s in range(words):
        whole += row[s]
    for s in range(words):
        row[s] /= whole
    for s in range(words, len(row)):
        row[s] = ZERO


@njit(cache=True, error_model="numpy", noalias=True)
def _softmax_gradient(row: Array, words: int, scale: np.float32, grad: Array) -> None:
    """Gradient of the scores of `_softmax` from that of its values, in place."""
    whole = ZERO
    for s in range(words):
        whole = fma(row[s], grad[s], whole)
    for s in range(words):
        grad[s] = row[s] * (grad[s] - whole) * scale


@njit(_takes(3, 3, 3, _LENGTHS, types.boolean, 4, 3), cache=True, nogil=True)
def attention(
    query: Array, keys: Array, values: Array, lengths: Lengths, causal: bool, weights: Array, out: Array
) -> None:
    """Attention of several heads, which lie beside one another in queries [B, Q, D], keys and values [B, S, D].

    If causal, a query sees the keys up to its own place. Written: weights [B, heads, Q, S] and out [B, Q, D].
    """
    batch, heads, queries, _ = weights.shape
    size = query.shape[2] // heads
    scale = ONE / np.sqrt(np.float32(size))
    for b in range(batch):
        words = lengths[b]
        for n in range(heads):
            first, last, row = n * size, (n + 1) * size, weights[b, n]
            product_with_turned(query[b, :, first:last], keys[b, :words, first:last], row, ZERO)
            for q in range(queries):
                _softmax(row[q], min(q + 1, words) if causal else words, scale)
            product(row, values[b, :words, first:last], out[b, :, first:last], ZERO)


@njit(_takes(3, 3, 3, 3, _LENGTHS, 4, 3, 3, 3), cache=True, nogil=True)
def attention_gradient(
    grad: Array,
    query: Array,
    keys: Array,
    values: Array,
    lengths: Lengths,
    weights: Array,
    dquery: Array,
    dkeys: Array,
    dvalues: Array,
) -> None:
    """Gradients of `attention` from that of its values, `grad` [B, Q, D]; all 0 beforehand."""
    batch, heads, queries, length = weights.shape
    size = query.shape[2] // heads
    scale = ONE / np.sqrt(np.float32(size))
    back = np.empty((queries, length), np.float32)
    for b in range(batch):
        words = lengths[b]
        for n in range(heads):
            first, last, row, g = n * size, (n + 1) * size, weights[b, n], grad[b, :, n * size : (n + 1) * size]
            product_of_turned(row, g, dvalues[b, :words, first:last], ZERO)
            product_with_turned(g, values[b, :words, first:last], back, ZERO)
            for q in range(queries):
                _softmax_gradient(row[q], words, scale, back[q])
            product(back, keys[b, :words, first:last], dquery[b, :, first:last], ZERO)
            product_of_turned(back, query[b, :, first:last], dkeys[b, :words, first:last], ZERO)


@njit(cache=True, error_model="numpy", noalias=True)
def _exponentials(row: Array, bias: Array, parts: Array) -> tuple[np.float32, np.float32]:
    """e to each number of a row [K, PARTS] with its bias less their largest, in place; the largest, and the sum."""
    for i in range(PARTS):
        parts[i] = _IMPOSSIBLE
    for k in range(len(row)):
        for i in range(PARTS):
            x = row[k, i] + bias[k, i]
            row[k, i] = x
            parts[i] = x if x > parts[i] else parts[i]
    top = parts[0]
    for i in range(1, PARTS):
        top = parts[i] if parts[i] > top else top
    for i in range(PARTS):
        parts[i] = ZERO
    for k in range(len(row)):
        for i in range(PARTS):
            x = exp(row[k, i] - top)
            row[k, i] = x
            parts[i] += x
    for i in range(LANES):
        parts[i] = (parts[i] + parts[i + 2 * LANES]) + (parts[i + LANES] + parts[i + 3 * LANES])
    return top, total(parts)


@njit(cache=True, error_model="numpy", noalias=True)
def _scale(row: Array, by: np.float32, sums: Array) -> None:
    for j in range(len(row)):
        x = row[j] * by
        row[j] = x
        sums[j] += x


@njit(_takes(2, 2, 2, _LENGTHS, 3, 1, 1), cache=True, nogil=True)
def word_logp(
    states: Array, weight: Array, bias: Array, words: Lengths, shares: Array, sums: Array, out: Array
) -> None:
    """Log-probability of one word for each of N states [N, R], by rows [V, R] and biases [K, PARTS] of an output layer.

    Written: each word's probability times its row's sum, `shares` [N, K, PARTS]. K PARTS is V, or more: biases without
    a word are _IMPOSSIBLE.
    """
    size, parts = len(weight), np.empty(PARTS, np.float32)
    flat = shares.reshape(len(shares), bias.size)
    for first in range(0, len(states), ROWS):
        last = min(first + ROWS, len(states))
        product_with_turned(states[first:last], weight, flat[first:last], ZERO)
        for n in range(first, last):
            flat[n, size:] = ZERO
            score = flat[n, words[n]] + bias[words[n] // PARTS, words[n] % PARTS]
            top, sums[n] = _exponentials(shares[n], bias, parts)
            out[n] = score - top - log(sums[n])


@njit(_takes(1, 2, 2, _LENGTHS, 3, 1, 2, 2, 2), cache=True, nogil=True)
def word_logp_gradient(
    grad: Array,
    states: Array,
    weight: Array,
    words: Lengths,
    shares: Array,
    sums: Array,
    dstates: Array,
    dweight: Array,
    dbias: Array,
) -> None:
    """Gradients of `word_logp`; `shares` is used up, and dbias is 0 beforehand."""
    flat = shares.reshape(len(shares), dbias.size)
    for n in range(len(states)):
        _scale(flat[n], -grad[n] / sums[n], dbias.reshape(dbias.size))
        flat[n, words[n]] += grad[n]
        dbias[words[n] // PARTS, words[n] % PARTS] += grad[n]
    product(flat, weight, dstates, ZERO)
    product_of_turned(flat, states, dweight, ZERO)


@njit(cache=True)
def _mixed(number: np.uint32) -> np.uint32:
    """A hash of 32 bits (Wellons' lowbias32)."""
    number = np.uint32(number ^ (number >> np.uint32(16)))
    number = np.uint32(number * np.uint32(0x7FEB352D))
    number = np.uint32(number ^ (number >> np.uint32(15)))
    number = np.uint32(number * np.uint32(0x846CA68B))
    return np.uint32(number ^ (number >> np.uint32(16)))


@njit(
    _takes(1, types.uint32, types.uint32, types.uint32, types.float32, 1), cache=True, nogil=True, error_model="numpy"
)
def dropout(values: Array, seed: np.uint32, more: np.uint32, dropped: np.uint32, scale: np.float32, out: Array) -> None:
    """Values times `scale`, or 0 where the number that two seeds and the place draw is less than `dropped`."""
    for j in range(len(values)):
        drawn = _mixed(np.uint32(_mixed(np.uint32(np.uint32(j) ^ seed)) + more))
        out[j] = values[j] * scale if drawn >= dropped else ZERO

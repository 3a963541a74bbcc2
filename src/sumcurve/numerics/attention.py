"""Additive attention, and a decoder's recurrence with attention, with their gradients written out.

The recurrence is over a known target. Only what step t needs of step t - 1 is in the loop; in the backward pass, too,
every weight's gradient is one matrix product over all steps. `RecurrentSummarizer.step` states the same computation
plainly, one step at a time.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from sumcurve.numerics.precision import IMPOSSIBLE

BLOCK_ELEMENTS = {"cpu": 1 << 17, "cuda": 1 << 25}
"""Elements of additive attention's hidden layer that are computed at once, by type of device.

Half a megabyte in single precision stays in a CPU's cache, 128 on a GPU keep it busy; a few such blocks are alive
together.
"""


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


class AttentiveRecurrence(torch.autograd.Function):
    """An LSTM whose step reads its last context, and attention with the new state as query.

    gates [T, B, 4H]: the inputs' part, biases included, order i, f, g, o; weight [F, 4H] of [context; h], or
    of h alone (F = H) if no context is fed back; h, c [B, H]; states [B, S, D], mask [B, S]; keys [B, S, A],
    v [A] for additive attention, else None: bilinear, A = D; coverage weight w [A] or None; query weight [A,
    H], or [A, 2H] of [h; c], and bias [A] or None. Returns h, c [T, B, H], context [T, B, D], log-attention
    [T, B, S].
    """

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx,
        gates: Tensor,
        weight: Tensor,
        h: Tensor,
        c: Tensor,
        states: Tensor,
        mask: Tensor,
        keys: Tensor | None,
        v: Tensor | None,
        w: Tensor | None,
        query_weight: Tensor,
        query_bias: Tensor | None,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        (steps, batch, _), (_, length, width), hidden = gates.shape, states.shape, h.shape[1]
        feeds, sees_c = weight.shape[0] > hidden, query_weight.shape[1] > hidden
        fed = gates.new_empty(steps, batch, weight.shape[0])
        active = torch.empty_like(gates)
        hs, cs = gates.new_empty(steps, batch, hidden), gates.new_empty(steps + 1, batch, hidden)
        inputs = gates.new_empty(steps, batch, query_weight.shape[1])
        queries = gates.new_empty(steps, batch, query_weight.shape[0])
        contexts = gates.new_zeros(steps + 1, batch, width)
        logps = gates.new_empty(steps, batch, length)
        covered = None if w is None else gates.new_zeros(steps + 1, batch, length)
        padding = ~mask
        cs[0] = c
        for t in range(steps):
            if feeds:
                torch.cat((contexts[t], h), 1, out=fed[t])
            else:
                fed[t] = h
            torch.addmm(gates[t], fed[t], weight, out=active[t])
            i, f, g, o = active[t].view(batch, 4, hidden).unbind(1)
            for gate in (active[t, :, : 2 * hidden], o):
                gate.sigmoid_()
            g.tanh_()
            torch.addcmul(f * cs[t], i, g, out=cs[t + 1])
            h = torch.mul(o, cs[t + 1].tanh(), out=hs[t])
            inputs[t, :, :hidden] = h
            if sees_c:
                inputs[t, :, hidden:] = cs[t + 1]
            torch.mm(inputs[t], query_weight.t(), out=queries[t])
            if query_bias is not None:
                queries[t] += query_bias
            query = queries[t].unsqueeze(1)
            if keys is not None and v is not None:
                seen = None if covered is None else covered[t].unsqueeze(1)
                scores = additive_scores(keys, query, v, seen, w)
            else:
                scores = query @ states.transpose(1, 2)
            logps[t] = scores.masked_fill(padding.unsqueeze(1), IMPOSSIBLE).squeeze(1).log_softmax(1)
            attention = logps[t].exp()
            torch.bmm(attention.unsqueeze(1), states, out=contexts[t + 1].unsqueeze(1))
            if covered is not None:
                torch.add(covered[t], attention, out=covered[t + 1])
        given = (weight, states, keys, v, w, query_weight, query_bias)
        made = (fed, active, cs, inputs, queries, logps, covered)
        ctx.save_for_backward(*given, *made)  # type: ignore[arg-type]
        return hs, cs[1:].clone(), contexts[1:].clone(), logps

    @staticmethod
    def backward(ctx, grad_h, grad_c, grad_context, grad_logp):  # type: ignore[no-untyped-def]
        weight, states, keys, v, w, query_weight, query_bias, *made = ctx.saved_tensors
        fed, active, cs, inputs, queries, logps, covered = made
        steps, batch, hidden = grad_h.shape
        width = fed.shape[2] - hidden
        attention = logps.exp()
        grad_gates, grad_queries = torch.empty_like(active), torch.empty_like(queries)
        grad_contexts, grad_scores = torch.empty_like(grad_context), torch.empty_like(logps)
        additive = None if keys is None else AdditiveGradient(keys, v, w)
        dh, dc = torch.zeros_like(grad_h[0]), torch.zeros_like(grad_h[0])
        back = None  # from the next step to this step's context
        grad_covered = None if covered is None else torch.zeros_like(covered[0])
        for t in reversed(range(steps)):
            d = grad_contexts[t]
            d.copy_(grad_context[t])
            if back is not None:
                d += back
            by_attention = torch.bmm(states, d.unsqueeze(2)).squeeze(2)  # [B, S]
            if grad_covered is not None:
                by_attention += grad_covered
            g = torch.addcmul(grad_logp[t], by_attention, attention[t])
            ds = torch.addcmul(g, attention[t], g.sum(1, keepdim=True), value=-1, out=grad_scores[t])
            if additive is not None:
                seen = None if covered is None else covered[t].unsqueeze(1)
                dq, through = additive.add(ds.unsqueeze(1), queries[t].unsqueeze(1), seen)
                grad_queries[t] = dq.squeeze(1)
                if grad_covered is not None:
                    grad_covered += through.squeeze(1)
            else:
                torch.bmm(ds.unsqueeze(1), states, out=grad_queries[t].unsqueeze(1))
            into = grad_queries[t] @ query_weight  # [B, H] or [B, 2H]
            dh = dh + grad_h[t] + into[:, :hidden]
            dc = dc + grad_c[t]
            if into.shape[1] > hidden:
                dc += into[:, hidden:]
            i, f, g, o = active[t].view(batch, 4, hidden).unbind(1)
            squashed = cs[t + 1].tanh()
            dc += dh * o * (1 - squashed * squashed)
            di, df, dg, do = grad_gates[t].view(batch, 4, hidden).unbind(1)
            torch.mul(dc * g, i - i * i, out=di)
            torch.mul(dc * cs[t], f - f * f, out=df)
            torch.mul(dc * i, 1 - g * g, out=dg)
            torch.mul(dh * squashed, o - o * o, out=do)
            dc = dc * f
            before = grad_gates[t] @ weight.t()  # [B, F]
            dh = before[:, width:]
            back = before[:, :width] if width else None
        flat = grad_gates.flatten(0, 1)
        grad_weight = fed.flatten(0, 1).t() @ flat
        grad_query_weight = grad_queries.flatten(0, 1).t() @ inputs.flatten(0, 1)
        grad_query_bias = None if query_bias is None else grad_queries.sum((0, 1))
        # [B, S, T] @ [B, T, D] -> [B, S, D]
        grad_states = attention.permute(1, 2, 0) @ grad_contexts.transpose(0, 1)
        grad_keys = grad_v = grad_w = None
        if additive is not None:
            grad_keys, grad_v, grad_w = additive.total()
        else:
            grad_states += grad_scores.permute(1, 2, 0) @ queries.transpose(0, 1)
        of_attention = grad_keys, grad_v, grad_w, grad_query_weight, grad_query_bias
        return grad_gates, grad_weight, dh, dc, grad_states, None, *of_attention

"""The attentive decoder's recurrence over a known target, with its gradient written out.

Only what step t needs of step t - 1 is in the loop; in the backward pass, too, every weight's gradient is
one matrix product over all steps. `RecurrentSummarizer.step` states the same computation plainly, one step
at a time.
"""

import torch
from torch import Tensor

from sumcurve.machine import sums
from sumcurve.machine.sums import LANES
from sumcurve.models.layers import AdditiveGradient, additive_scores, masked


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
            logps[t] = masked(scores, ~padding).squeeze(1).log_softmax(1)
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
    """`AttentiveRecurrence`, by compiled loops where there are some: words are what a row begins with."""
    given = (gates, weight, h, c, states, mask, keys, v, *others)
    if v is not None and sums.compiled_for(gates) and not len(v) % LANES:
        from sumcurve.models import fused

        return fused.AttentiveRecurrence.apply(*given)
    return AttentiveRecurrence.apply(*given)

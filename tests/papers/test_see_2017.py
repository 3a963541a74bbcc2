"""See, Liu and Manning 2017, "Get To The Point": PCOV against the paper's equations, word by word.

Equations 1 to 5 (attention, context, vocabulary), 8 and 9 (p_gen and the extended vocabulary), 10 to 12 (coverage and
its loss), 6, 7 and 13 (the losses), in values and gradients. As in the released graph, s_t is the LSTM's [h; c] where
attention and p_gen see it, x_t the word's embedding merged with the last context, and the first decoder state a ReLU
layer of the encoder's last.
"""

import pytest
import torch

from equations import (
    VOCABULARY,
    batch_of,
    both_ways,
    examples,
    lstm,
    model_of,
    phase,
    row,
    same,
    same_gradients,
    says,
    softmax,
    weighted,
)
from sumcurve.training.losses import loss


def see(m, source, inputs):
    """Of every step P(w) of all words, and the attention."""
    h, last = both_ways(m.encoder[0], [m.embedding.weight[row(word)] for word in source])
    hidden, cell = (torch.relu(layer.weight @ one + layer.bias) for layer, one in zip(m.bridge, last, strict=True))
    context = torch.zeros_like(h[0])  # h*_0
    c = [torch.zeros((), dtype=torch.double) for _ in source]
    w_c = torch.zeros_like(m.v) if m.w_coverage is None else m.w_coverage
    size = len(hidden)
    w_h, w_cell, w_s, w_x = m.gate.weight[0].split([len(context), size, size, m.settings.embedding])
    steps = []
    for word in inputs:
        x = m.merge.weight @ torch.cat((m.embedding.weight[row(word)], context)) + m.merge.bias
        ((hidden, cell),) = lstm(m.decoder.all_weights[0], [x], hidden, cell)
        s = torch.cat((hidden, cell))
        e = [  # equation 11, and 1 without coverage
            m.v @ torch.tanh(m.keys.weight @ h_i + m.query.weight @ s + w_c * c_i + m.query.bias)
            for h_i, c_i in zip(h, c, strict=True)
        ]
        a = softmax(e)  # 2
        context = weighted(a, h)  # 3
        inner = m.combine.weight @ torch.cat((hidden, context)) + m.combine.bias
        p_vocab = softmax(m.output.weight @ inner + m.output.bias)  # 4
        p_gen = torch.sigmoid(w_h @ context + w_cell @ cell + w_s @ hidden + w_x @ x + m.gate.bias[0])  # 8
        p = {known: p_gen * share for known, share in zip(VOCABULARY.words, p_vocab, strict=True)}
        for word_i, a_i in zip(source, a, strict=True):  # 9
            p[word_i] = p.get(word_i, 0) + (1 - p_gen) * a_i
        steps.append((p, a, c))
        c = [c_i + a_i for c_i, a_i in zip(c, a, strict=True)]  # 10
    return steps


def expected_loss(m, weight):
    """Equation 7 of every example, its steps by equation 13, and their mean."""
    losses = []
    for source, inputs, target in examples():
        own = []
        for word, (p, a, c) in zip(target, see(m, source, inputs), strict=True):
            word = word if word in p else "<unk>"
            covloss = sum(torch.minimum(a_i, c_i) for a_i, c_i in zip(a, c, strict=True))  # 12
            own.append(-torch.log(p[word]) + weight * covloss)
        losses.append(sum(own) / len(own))
    return sum(losses) / len(losses)


def tiny(coverage):
    return model_of("pcov", embedding=5, hidden=4, coverage=coverage)


@pytest.mark.parametrize("coverage", [False, True])
def test_the_extended_distribution_and_attention(coverage):
    says(tiny(coverage), see)


@pytest.mark.parametrize(("name", "weight"), [("nll", 0.0), ("coverage", 1.0)])
def test_the_losses_and_their_gradients(name, weight):
    model = tiny(coverage=name == "coverage")
    found = loss(model, batch_of(), phase("pcov", name), VOCABULARY, 9)
    expected = expected_loss(model, weight)
    same(found, expected)
    same_gradients(found, expected, model)

"""Wei, Ren, Sun, Zhang, Cai and Su 2018, "Regularizing Output Distribution of Abstractive Chinese Social Media Text
Summarization for Improved Semantic Consistency": REG's self-train and dual-train.

Section 3: J is `wei_2018.loss`, which `sumcurve check` has on three logits, of the same output (self-train) or of a
second one on the same state (dual-train), whose own loss is -log of its label alone. The soft target is a constant.
Gradients are compared as autograd has them, and at the output layers' biases with `wei_2018.gradient`.
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
from sumcurve.capabilities.papers import wei_2018
from sumcurve.training.losses import loss


def states(m, source, inputs):
    """Of every step what the output layers see, and the attention."""
    h, last = both_ways(m.encoder[0], [m.embedding.weight[row(word)] for word in source])
    first = (torch.relu(layer.weight @ one + layer.bias) for layer, one in zip(m.bridge, last, strict=True))
    seen = []
    for s, _ in lstm(m.decoder.all_weights[0], [m.embedding.weight[row(word)] for word in inputs], *first):
        a = softmax([s @ m.query.weight.T @ h_i for h_i in h])
        seen.append((m.combine.weight @ torch.cat((s, weighted(a, h))) + m.combine.bias, a))
    return seen


def wei(m, source, inputs):
    """Of every step p(y_t) and the attention."""
    return [
        (dict(zip(VOCABULARY.words, softmax(m.output.weight @ one + m.output.bias), strict=True)), a)
        for one, a in states(m, source, inputs)
    ]


def regularised(m, dual):
    """J, and its gradients at the biases of the first output and of the second."""
    second = m.second_output if dual else m.output
    losses, biases = [], ([], [])
    for source, inputs, target in examples():
        own, gradients = [], ([], [])
        for (one, _), word in zip(states(m, source, inputs), target, strict=True):
            label = row(word)
            z = softmax(m.output.weight @ one + m.output.bias)
            logits = second.weight @ one + second.bias
            s = softmax(logits.detach() / wei_2018.TAU)
            own.append(wei_2018.loss(torch.log(z), label, s))
            y = torch.zeros_like(z)
            y[label] = 1
            gradients[0].append(wei_2018.gradient(z, y, s))
            if dual:
                own[-1] = own[-1] - torch.log(softmax(logits)[label])
                gradients[1].append(softmax(logits) - y)
        losses.append(sum(own) / len(own))
        for mean, rows in zip(biases, gradients, strict=True):
            mean.append(sum(rows) / len(rows) if rows else 0)
    return [sum(rows) / len(rows) for rows in (losses, *biases)]


def tiny(method):
    return model_of(method, embedding=5, hidden=4)


def test_the_distribution_and_attention():
    says(tiny("reg_self"), wei)


@pytest.mark.parametrize("method", ["reg_self", "reg_dual"])
def test_the_loss_and_its_gradient(method):
    weights = {"soft_weight": wei_2018.LAMBDA, "temperature": wei_2018.TAU}
    model, soft = tiny(method), phase(method, "soft").model_copy(update=weights)
    dual = method == "reg_dual"
    found = loss(model, batch_of(), soft, VOCABULARY, 9)
    expected, of_first, of_second = regularised(model, dual)
    same(found, expected)
    gradients = same_gradients(found, expected, model)
    for name, by_hand in (("output.bias", of_first), ("second_output.bias", of_second)):
        if name in gradients:
            torch.testing.assert_close(gradients[name], by_hand.detach(), rtol=1e-10, atol=1e-13)

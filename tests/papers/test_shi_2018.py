"""Shi, Keneshloo, Ramakrishnan and Reddy 2018, "Neural Abstractive Text Summarization with Sequence-to-Sequence
Models": NATS, as in their toolkit LeafNATS.

Alignment by concatenation with coverage, intra-decoder attention by concatenation, attentional vector, which the next
step is fed, pointer, and output tied to the embedding. Coverage and its loss are See et al.'s (2017, equations 10 to
13): the toolkit divides that loss by the source's length and sums padding.
"""

import pytest
import torch

from equations import (
    VOCABULARY,
    batch_of,
    both_ways,
    examples,
    lstm,
    mean_nll,
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


def shi(m, source, inputs):
    """Of every step p(y_t), the attention, and the coverage before it."""
    h, last = both_ways(m.encoder[0], [m.embedding.weight[row(word)] for word in source])
    hidden, cell = (torch.tanh(layer.weight @ one + layer.bias) for layer, one in zip(m.bridge, last, strict=True))
    fed = torch.zeros(m.decoder.input_size - m.settings.embedding, dtype=torch.double)
    coverage, past, steps = torch.zeros(len(source), dtype=torch.double), [], []
    w_c = torch.zeros_like(m.v) if m.w_coverage is None else m.w_coverage
    for word in inputs:
        embedded = m.embedding.weight[row(word)]
        ((hidden, cell),) = lstm(m.decoder.all_weights[0], [torch.cat((embedded, fed))], hidden, cell)
        align = [
            m.v @ torch.tanh(m.keys.weight @ h_j + m.query.weight @ hidden + m.query.bias + w_c * seen)
            for h_j, seen in zip(h, coverage, strict=True)
        ]
        a = softmax(align)
        z_e = weighted(a, h)
        z_d = torch.zeros_like(hidden)  # nothing to look back at in the first step
        if past:
            inner = [
                m.intra_v @ torch.tanh(m.intra_keys.weight @ one + m.intra_query.weight @ hidden + m.intra_query.bias)
                for one in past
            ]
            z_d = weighted(softmax(inner), past)
        fed = m.combine.weight @ torch.cat((hidden, z_e, z_d)) + m.combine.bias
        p_vocab = softmax(m.embedding.weight @ (m.project.weight @ fed) + m.output.bias)
        seen_by_gate = torch.cat((embedded, hidden, z_e, z_d))
        p_gen = torch.sigmoid(m.gate.weight[0] @ seen_by_gate + m.gate.bias[0])
        p = {known: p_gen * share for known, share in zip(VOCABULARY.words, p_vocab, strict=True)}
        for word_j, share in zip(source, a, strict=True):
            p[word_j] = p.get(word_j, 0) + (1 - p_gen) * share
        steps.append((p, a, coverage))
        coverage, past = coverage + a, [*past, hidden]
    return steps


def tiny(coverage):
    return model_of("nats", embedding=5, hidden=4, attention_width=4, coverage=coverage)


@pytest.mark.parametrize("coverage", [False, True])
def test_the_distribution_and_attention(coverage):
    says(tiny(coverage), shi)


@pytest.mark.parametrize("name", ["nll", "coverage"])
def test_the_losses_and_their_gradients(name):
    model = tiny(coverage=name == "coverage")
    found = loss(model, batch_of(), phase("nats", name), VOCABULARY, 9)
    expected = mean_nll(model, shi, examples())
    if name == "coverage":
        overlaps = []
        for source, inputs, _ in examples():
            steps = shi(model, source, inputs)
            overlaps.append(sum(torch.minimum(a, seen).sum() for _, a, seen in steps) / len(steps))
        expected = expected + sum(overlaps) / len(overlaps)
    same(found, expected)
    same_gradients(found, expected, model)

"""Lin, Sun, Ma and Su 2018, "Global Encoding for Abstractive Summarization": GLOBEN.

Section 3.2: n-gram convolutions (equation 2) in three branches of width 1, 3 and 5, self-attention over them (3) scaled
by the square root of its width, and the sigmoid gate on the encoder's states; with the two-layer SELU nets and residual
sum of the released code. Attention of the decoder is bilinear behind such a net, and so is the readout. Layer
normalisation follows every ReLU, where the released code normalises batches.
"""

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


def net(layers, x):
    """Two linear layers, each with SELU (Klambauer et al. 2017)."""
    for layer in (layers[0], layers[3]):
        x = layer.weight @ x + layer.bias
        x = 1.0507009873554805 * torch.where(x > 0, x, 1.6732632423543772 * (torch.exp(x) - 1))
    return x


def normalised(layer, x):
    """Ba et al. 2016."""
    apart = x - x.mean()
    return layer.weight * apart / torch.sqrt((apart * apart).mean() + 1e-5) + layer.bias


def ngrams(convolution, xs):
    """Equation 2 at every place; zeros stand around the text."""
    width = convolution.weight.shape[2]
    around = [torch.zeros_like(xs[0])] * (width // 2)
    padded = [*around, *xs, *around]
    made = []
    for place in range(len(xs)):
        window = [convolution.weight[:, :, k] @ padded[place + k] for k in range(width)]
        made.append(torch.relu(sum(window) + convolution.bias))
    return made


def gated(gate, h):
    """The encoder's states, each times its gate."""
    branches = []
    for convolutions, norms in zip(gate.convolutions, gate.norms, strict=True):
        xs = h
        for convolution, norm in zip(convolutions, norms, strict=True):
            xs = [normalised(norm, x) for x in ngrams(convolution, xs)]
        branches.append(xs)
    joined = [gate.join.weight @ torch.cat(parts) + gate.join.bias for parts in zip(*branches, strict=True)]
    keys = [net(gate.query, x) for x in joined]
    out = []
    for h_i, key, x in zip(h, keys, joined, strict=True):
        attended = weighted(softmax([key @ other / len(key) ** 0.5 for other in keys]), keys)  # 3
        g = net(gate.combine, torch.cat((key, attended))) + x
        out.append(h_i * torch.sigmoid(g))
    return out


def lin(m, source, inputs):
    """Of every step p(y_t) and the attention."""
    h, starts = [m.embedding.weight[row(word)] for word in source], []
    for layer in m.encoder:
        h, last = both_ways(layer, h)
        starts.append(last)
    h = gated(m.convolutional_gate, h)
    states = [m.embedding.weight[row(word)] for word in inputs]
    for weights, first in zip(m.decoder.all_weights, starts, strict=True):
        states = [hidden for hidden, _ in lstm(weights, states, *first)]
    steps = []
    for s in states:
        query = net(m.query, s)
        a = softmax([query @ h_i for h_i in h])
        read = net(m.combine, torch.cat((s, weighted(a, h))))
        words = softmax(m.output.weight @ read + m.output.bias)
        steps.append((dict(zip(VOCABULARY.words, words, strict=True)), a))
    return steps


def tiny():
    return model_of("globen", embedding=5, hidden=3, decoder=6)


def test_the_distribution_and_attention():
    says(tiny(), lin)


def test_the_loss_and_its_gradient():
    model = tiny()
    found = loss(model, batch_of(), phase("globen", "nll"), VOCABULARY, 9)
    expected = mean_nll(model, lin, examples())
    same(found, expected)
    same_gradients(found, expected, model)

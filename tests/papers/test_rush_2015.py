"""Rush, Chopra and Weston 2015, "A Neural Attention Model for Abstractive Sentence Summarization": ABS-NNLM.

Equations 4 to 6 (the feed-forward language model) and section 3.2 (the attention-based encoder). Biases are those of
the released code. The paper divides the sum of a window by a constant; the project divides it by the words that the
window holds, and so does the reference.
"""

import pytest
import torch

from equations import (
    VOCABULARY,
    batch_of,
    examples,
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

# Words of context, and of a window on each side: the paper's, one word alone, and more than any example has.
REACHES = [(5, 2), (1, 0), (3, 1), (12, 4)]


@pytest.fixture(params=REACHES, ids=str)
def model(request):
    context, side = request.param
    return model_of("abs_nnlm", embedding=5, hidden=6, context=context, smoothing=2 * side + 1)


def rush(m, source, inputs):
    """Of every step p(y_i+1), and the attention; inputs begin with the start mark, and such marks stand before them."""
    c, q = m.settings.context, m.settings.smoothing // 2
    e, f, g = m.embedding.weight, m.source_embedding.weight, m.context_embedding.weight
    size = m.settings.hidden
    v, w = m.output.weight[:, :size], m.output.weight[:, size:]
    x = [f[row(word)] for word in source]
    means = []
    for i in range(len(x)):  # x̄_i, section 3.2
        window = [x[j] for j in range(i - q, i + q + 1) if 0 <= j < len(x)]
        means.append(sum(window) / len(window))
    steps = []
    for i in range(len(inputs)):
        y_c = (["<bos>"] * c + inputs[: i + 1])[-c:]
        embedded = torch.cat([e[row(word)] for word in y_c])  # equation 5
        h = torch.tanh(m.hidden.weight @ embedded + m.hidden.bias)  # 6
        y_att = torch.cat([g[row(word)] for word in y_c])  # section 3.2
        p = softmax([x_i @ (m.query.weight @ y_att + m.query.bias) for x_i in x])
        enc = weighted(p, means)
        words = softmax(v @ h + w @ enc + m.output.bias)  # 4
        steps.append((dict(zip(VOCABULARY.words, words, strict=True)), p))
    return steps


def test_the_language_model_and_its_attention(model):
    says(model, rush)


def test_the_loss_and_its_gradient(model):
    found = loss(model, batch_of(), phase("abs_nnlm", "nll"), VOCABULARY, 9)
    expected = mean_nll(model, rush, examples())
    same(found, expected)
    same_gradients(found, expected, model)

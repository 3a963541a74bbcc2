"""Paulus, Xiong and Socher 2018, "A Deep Reinforced Model for Abstractive Summarization": PGRL against its equations.

Equations 2 to 5 (intra-temporal attention, with exponentials as printed), 6 to 8 (intra-decoder attention), 9 to 13
(vocabulary with rows tied through tanh, pointer, switch), 14 to 16 (maximum likelihood, self-critical and mixed loss).
The paper sums log p over a summary's words. The project divides the sum of a sample by a constant, the most words of an
output, and averages that of a reference (14); so do the references.
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
from sumcurve.decoding.rollout import rollout
from sumcurve.training.losses import loss

MOST, SEED = 5, 7  # words of an output; seed of the samples


def paulus(m, source, inputs):
    """Of every step p(y_t) of all words, and the attention on the source."""
    h, (hidden, cell) = both_ways(m.encoder[0], [m.embedding.weight[row(word)] for word in source])
    decoder = [
        one for one, _ in lstm(m.decoder.all_weights[0], [m.embedding.weight[row(w)] for w in inputs], hidden, cell)
    ]
    w_out = torch.stack([torch.tanh(m.project.weight @ embedding) for embedding in m.embedding.weight])  # 13
    w_u, b_u = -m.gate.weight[0], -m.gate.bias[0]  # of copying; the project's gate says "generate"
    e = [[h_t @ m.query.weight.T @ h_i for h_i in h] for h_t in decoder]  # 2
    steps = []
    for t, h_t in enumerate(decoder):
        temporal = [  # 3
            torch.exp(e[t][i]) / sum(torch.exp(e[j][i]) for j in range(t)) if t else torch.exp(e[t][i])
            for i in range(len(h))
        ]
        a = torch.stack(temporal) / sum(temporal)  # 4
        c_e = weighted(a, h)  # 5
        c_d = torch.zeros_like(h_t)
        if t:
            e_d = [h_t @ m.intra_query.weight.T @ h_past for h_past in decoder[:t]]  # 6
            c_d = weighted(softmax(e_d), decoder[:t])  # 7, 8
        seen = torch.cat((h_t, c_e, c_d))
        generated = softmax(w_out @ seen + m.output.bias)  # 9
        u = torch.sigmoid(w_u @ seen + b_u)  # 11
        p = {known: (1 - u) * share for known, share in zip(VOCABULARY.words, generated, strict=True)}
        for word, share in zip(source, a, strict=True):  # 10, 12
            p[word] = p.get(word, 0) + u * share
        steps.append((p, a))
    return steps


def rouge_l(words, reference):
    """F1 by the longest common subsequence, of words without marks."""
    longest = [[0] * (len(reference) + 1) for _ in range(len(words) + 1)]
    for i, one in enumerate(words):
        for j, other in enumerate(reference):
            longest[i + 1][j + 1] = longest[i][j] + 1 if one == other else max(longest[i][j + 1], longest[i + 1][j])
    return 2 * longest[-1][-1] / (len(words) + len(reference)) if words else 0.0


def written(ids, source):
    """An output's words; its end is one, its padding is none."""
    words = [*VOCABULARY.words, *(word for word in dict.fromkeys(source) if word not in VOCABULARY.words)]
    return [words[one] for one in ids if words[one] != "<pad>"]


def reward(words, target):
    """Of an output against the reference's words."""
    marks = ("<sep>", "<eos>")
    return rouge_l([word.strip("<>") for word in words if word not in marks], [w for w in target if w not in marks])


@pytest.fixture(scope="module")
def model():
    return model_of("pgrl", embedding=5, hidden=3, decoder=6)


def test_the_distribution_and_temporal_attention(model):
    says(model, paulus)


def test_maximum_likelihood_and_its_gradient(model):
    learned = phase("pgrl", "nll").model_copy(update={"own_words": 0.0})
    found = loss(model, batch_of(), learned, VOCABULARY, MOST)
    expected = mean_nll(model, paulus, examples())  # 14
    same(found, expected)
    same_gradients(found, expected, model)


@pytest.mark.usefixtures("double_precision")
def test_the_mixed_loss_and_its_gradient(model):
    """Outputs are the project's own, of one seed; that the first of each pair is greedy, the reference says."""
    batch, mixed = batch_of(), phase("pgrl", "mixed").model_copy(update={"reward_weight": 0.75})
    torch.manual_seed(SEED)
    found = loss(model, batch, mixed, VOCABULARY, MOST)
    torch.manual_seed(SEED)
    outputs = rollout(model, batch, MOST).tolist()
    losses, differ, lengths = [], 0, set()
    for (source, inputs, target), pair in zip(examples(), outputs, strict=True):
        greedy, sample = (written(ids, source) for ids in pair)
        with torch.no_grad():
            steps = paulus(model, source, ["<bos>", *greedy[:-1]])
        for t, (p, _) in enumerate(steps):
            barred = {"<pad>", "<bos>"} | ({"<eos>"} if t == 0 else set())
            assert greedy[t] == max(p.keys() - barred, key=p.__getitem__)
        advantage = reward(greedy, target) - reward(sample, target)
        differ += advantage != 0
        nll = len(sample) * mean_nll(model, paulus, [(source, ["<bos>", *sample[:-1]], sample)])
        lengths.add(len(sample))
        reinforced = -advantage * nll / MOST  # 15
        losses.append(0.75 * reinforced + 0.25 * mean_nll(model, paulus, [(source, inputs, target)]))  # 16
    assert differ >= 3  # or nothing is reinforced
    assert len(lengths) > 1  # or a sample's own length would be as good a divisor
    expected = sum(losses) / len(losses)
    same(found, expected)
    same_gradients(found, expected, model)

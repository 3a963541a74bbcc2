"""Chen and Bansal 2018, "Fast Abstractive Summarization with Reinforce-Selected Sentence Rewriting": FASTRL.

Section 2.1: sentences by temporal convolutions and a bi-LSTM, extraction by a pointer network with a glimpse (equations
1 to 5), which takes no sentence twice. Section 2.2: the abstractor, an attentional encoder-decoder that copies, with
the output layer of the released code. Section 3.2: rewards, returns, the stop, and advantage actor-critic (equations 7
to 9), the advantage a constant. As the released code has it: returns are standardised over the batch, windows of words
may run off a sentence's end into zeros, and the critic is a pointer network that reads what it attends to. Losses are
sums over steps, as in equation 9, divided by the documents and a constant.
"""

from collections import Counter

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
    settings,
    softmax,
    weighted,
)
from sumcurve.capabilities.extract_rewrite.learner import (
    Labelled,
    Rewarded,
    actor_critic,
    collate_labelled,
    collate_rewarded,
    label_means,
    look_up,
    rewards_of,
)
from sumcurve.capabilities.extract_rewrite.model import collate, read_document
from sumcurve.store.records import Record
from sumcurve.training.losses import loss

GAMMA = 0.9
DOCUMENTS = (
    ("a b c d e f", "g", "b a zebra yak h c d", "a a"),
    ("c d", "e f g h a b c d"),
    ("h g f e d c", "b b", "a yak b"),
)
# What the abstractor would make of these sentences, and the references; sentences to extract, in order.
REWRITES = (("a b c", "g", "b a d", "a"), ("c", "e f g"), ("h g", "b", "a b"))
REFERENCES = (("a b d", "g h"), ("e f g h", "c d", "a"), ("h b",))
CHOSEN = ([2, 0, 1], [1, 0], [0])


@pytest.fixture(scope="module", params=[1, 2], ids=["one hop", "two hops"])
def model(request):
    small = settings("fastrl").abstractor.model_copy(update={"embedding": 5, "hidden": 4})
    return model_of("fastrl", abstractor=small, filters=3, hidden=4, hops=request.param)


def slots_of(model):
    records = [Record(str(n), list(text), list(REFERENCES[n])) for n, text in enumerate(DOCUMENTS)]
    documents = [read_document(record, VOCABULARY, 99, 60) for record in records]
    return documents, model.extractor.encode(collate(documents))


# --- the abstractor


def rewriting(m, source, inputs):
    """Of every step p(word) and the attention."""
    h, last = both_ways(m.encoder[0], [m.embedding.weight[row(word)] for word in source])
    hidden, cell = (layer.weight @ one for layer, one in zip(m.bridge, last, strict=True))
    values = [m.keys.weight @ h_i for h_i in h]

    def read(state, context):
        inner = torch.tanh(m.combine[0].weight @ torch.cat((state, context)) + m.combine[0].bias)
        return m.combine[2].weight @ inner

    out, steps = read(hidden, sum(values) / len(values)), []
    for word in inputs:
        x = torch.cat((m.embedding.weight[row(word)], out))
        ((hidden, cell),) = lstm(m.decoder.all_weights[0], [x], hidden, cell)
        a = softmax([value @ (m.query.weight @ hidden) for value in values])
        context = weighted(a, values)
        out = read(hidden, context)
        copying = 1 - torch.sigmoid(m.gate.weight[0] @ torch.cat((context, hidden, x)) + m.gate.bias[0])
        p_vocab = softmax(m.embedding.weight @ out)
        p = {known: (1 - copying) * share for known, share in zip(VOCABULARY.words, p_vocab, strict=True)}
        for word_i, share in zip(source, a, strict=True):
            p[word_i] = p.get(word_i, 0) + copying * share
        steps.append((p, a))
    return steps


def test_the_abstractor_its_loss_and_gradient(model):
    says(model.abstractor, rewriting)
    found = loss(model.abstractor, batch_of(), phase("fastrl", "nll"), VOCABULARY, 9)
    expected = mean_nll(model.abstractor, rewriting, examples())
    same(found, expected)
    same_gradients(found, expected, model.abstractor)


# --- the extractor


def sentence_states(m, document):
    """h_j of every sentence."""
    r = []
    for sentence in document:
        vectors = [m.embedding.weight[row(word)] for word in sentence.split()]
        features = []
        for convolution in m.convolutions:
            width = convolution.weight.shape[2]
            padded = [*vectors, *[torch.zeros_like(vectors[0])] * width]
            responses = [
                torch.relu(sum(convolution.weight[:, :, k] @ padded[at + k] for k in range(width)) + convolution.bias)
                for at in range(len(vectors))
            ]
            features.append(torch.stack(responses).amax(0))
        r.append(torch.cat(features))
    return both_ways(m.encoder, r)[0]


def pointing(p, z, h):
    """Scores u of the sentences h, asked by z; equations 1, 4 and 5 without the mask, 4 and 5 as often as hops say."""

    def additive(layer, query):
        return [layer.v @ torch.tanh(layer.keys.weight @ h_j + layer.query.weight @ query) for h_j in h]

    for _ in range(p.hops):
        z = weighted(softmax(additive(p.glimpse, z)), [p.glimpse.keys.weight @ h_j for h_j in h])
    return additive(p.attention, z)


def extracting(m, h, choices, stop=None):
    """log P of every slot that can be chosen, at each step after these choices, and at the step behind them."""
    p, steps = m.extractor.pointer, []
    state, x = (p.start_h[0], p.start_c[0]), p.start_input
    for t in range(len(choices) + 1):
        (state,) = lstm(p.lstm.all_weights[0], [x], *state)
        u = pointing(p, state[0], h)
        # No slot twice (equation 1); and the first choice is a sentence, of which the paper does not speak.
        free = [j for j in range(len(h)) if j not in choices[:t] and (t or j != stop)]
        every = sum(u[j].exp() for j in free)
        steps.append({j: torch.log(u[j].exp() / every) for j in free})
        x = h[choices[t]] if t < len(choices) else x
    return steps


def test_the_likelihood_of_labels_and_its_gradient(model):
    documents, slots = slots_of(model)
    batch = collate_labelled([Labelled(*pair) for pair in zip(documents, CHOSEN, strict=True)])
    expected = []
    for document, labels in zip(DOCUMENTS, CHOSEN, strict=True):
        steps = extracting(model, sentence_states(model.extractor, document), labels)
        expected.append(-sum(steps[t][label] for t, label in enumerate(labels)) / len(labels))
    found = label_means(model, slots, batch.labels)
    same(found, torch.stack(expected))
    same_gradients(found.sum(), sum(expected), model)


@torch.no_grad()
def test_extraction_goes_on_until_the_stop_is_best(model):
    _, slots = slots_of(model)
    found = []
    for document in DOCUMENTS:
        h, taken = [*sentence_states(model.extractor, document), model.stop], []
        stop = len(document)
        while True:
            now = extracting(model, h, taken, stop)[-1]
            best = max(now, key=now.__getitem__)
            if best == stop:
                break
            taken.append(best)
        found.append(taken)
    assert model.extract(model.with_stop(slots)) == found
    assert any(len(taken) < len(document) for taken, document in zip(found, DOCUMENTS, strict=True))


# --- reinforcement


def f1(matches, one, other):
    return 2 * matches / (len(one) + len(other))


def rouge_l(one, other):
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, left in enumerate(one):
        for j, right in enumerate(other):
            table[i + 1][j + 1] = table[i][j] + 1 if left == right else max(table[i][j + 1], table[i + 1][j])
    return f1(table[-1][-1], one, other)


def returns_of(number):
    """Rewards of a document's steps and its stop (section 3.2), and what follows each, discounted."""
    rewrites, references = ([text.split() for text in texts[number]] for texts in (REWRITES, REFERENCES))
    written, whole = (
        [word for j in CHOSEN[number] for word in rewrites[j]],
        [word for one in references for word in one],
    )
    earned = [rouge_l(rewrites[j], references[t]) if t < len(references) else 0.0 for t, j in enumerate(CHOSEN[number])]
    earned.append(f1((Counter(written) & Counter(whole)).total(), written, whole))
    return [sum(GAMMA**k * r for k, r in enumerate(earned[t:])) for t in range(len(earned))]


def criticism(critic, h, steps):
    """b_t of every step."""
    p, values = critic.pointer, []
    state, x = (p.start_h[0], p.start_c[0]), p.start_input
    for _ in range(steps):
        (state,) = lstm(p.lstm.all_weights[0], [x], *state)
        x = weighted(softmax(pointing(p, state[0], h)), h)
        values.append(critic.value.weight[0] @ x + critic.value.bias[0])
    return values


@pytest.mark.usefixtures("double_precision")
def test_the_actor_critic_losses_and_their_gradients(model):
    documents, slots = slots_of(model)
    tables = [rewards_of(*texts) for texts in zip(REWRITES, REFERENCES, strict=True)]
    batch = collate_rewarded([Rewarded(*pair) for pair in zip(documents, tables, strict=True)])
    stop = max(map(len, DOCUMENTS))
    choices = torch.tensor([row + [stop] * (1 + max(map(len, CHOSEN)) - len(row)) for row in CHOSEN])
    found = actor_critic(model, slots, choices, look_up(batch, choices), GAMMA)

    returns = [returns_of(number) for number in range(len(DOCUMENTS))]
    every = torch.tensor([one for own in returns for one in own])
    policy, value = [], []
    for document, chosen, own in zip(DOCUMENTS, CHOSEN, returns, strict=True):
        h = sentence_states(model.extractor, document)
        steps = extracting(model, [*h, model.stop], chosen, len(document))
        values = criticism(model.critic, h, len(own))
        for t, (r, b) in enumerate(zip(own, values, strict=True)):
            r = (r - every.mean()) / every.std(correction=0)
            policy.append(-steps[t][[*chosen, len(document)][t]] * (r - b).detach())  # 7 to 9
            value.append((b - r) ** 2)
    divisor = len(DOCUMENTS) * (model.settings.sentences + 1)
    for one, terms in zip(found, (policy, value), strict=True):
        same(one, sum(terms) / divisor)
    same_gradients(sum(found), sum(policy + value) / divisor, model)

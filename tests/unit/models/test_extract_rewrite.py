"""Extractor, policy and critic against plain loops in double precision."""

import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.models.extract_rewrite import collate, read_document
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.settings.models import ExtractRewriteSettings, RecurrentSettings
from sumcurve.store.records import Record
from sumcurve.systems.families import build

SIZES = [3, 1, 4, 2]  # sentences of the documents below


def settings(**keys):
    abstractor = RecurrentSettings(
        kind="recurrent", embedding=6, hidden=5, feed="merged", copy_attention=True, output="tied"
    )
    given = {"kind": "extract-rewrite", "abstractor": abstractor, "filters": 4, "hidden": 5, "sentences": 2}
    return ExtractRewriteSettings(**given | keys)


@pytest.fixture
def documents(vocabulary):
    rng = random.Random(3)

    def sentence():
        return " ".join(f"w{rng.randrange(40)}" for _ in range(rng.choice([1, 2, 7])))

    records = [Record("r", [sentence() for _ in range(size)], ["w1"]) for size in SIZES]
    return [read_document(record, vocabulary, 100, 60) for record in records]


@pytest.fixture(params=[1, 2], ids=["one hop", "two hops"])
def model(request, vocabulary):
    """In double precision; no parameter is zero."""
    model = build(settings(hops=request.param), len(vocabulary), 1)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.4)
    return model.double().eval()


def slots_of(model, documents):
    return model.extractor.encode(collate(documents))


def rollouts(sizes):
    """A random subset of each document's sentences in random order, then the stop."""
    rng, stop = random.Random(9), max(sizes)
    rows = [rng.sample(range(size), rng.randint(1, size)) for size in sizes]
    longest = max(len(row) for row in rows) + 1
    return torch.tensor([row + [stop] * (longest - len(row)) for row in rows])


# --- what is read


@given(
    st.lists(st.lists(st.sampled_from("abc"), max_size=4).map(" ".join), min_size=1, max_size=6).filter(any),
    st.integers(1, 9),
    st.integers(1, 4),
)
def test_a_document_is_the_beginning_of_the_source(source, tokens, sentences):
    document = read_document(Record("r", source, ["a"]), Vocabulary("abc"), tokens, sentences)
    filled = [sentence for sentence in source if sentence]
    *whole, last = document.sentences
    assert whole == filled[: len(whole)]
    assert filled[len(whole)].split(" ")[: len(last.split(" "))] == last.split(" ")
    read = " ".join(document.sentences).split(" ")
    assert len(document.sentences) == sentences or len(read) == min(tokens, len(" ".join(filled).split(" ")))
    assert len(document.sentences) <= sentences
    assert len(read) <= tokens
    assert [len(ids) for ids in document.ids] == [len(sentence.split(" ")) for sentence in document.sentences]


# --- parameters


def test_weights_depend_on_the_seed_alone(vocabulary):
    torch.manual_seed(1)
    first, other = build(settings(), len(vocabulary), 5), build(settings(), len(vocabulary), 6)
    torch.manual_seed(2)
    second = build(settings(), len(vocabulary), 5)
    for name, parameter in first.named_parameters():
        assert torch.equal(parameter, second.get_parameter(name)), name
        constant = parameter.dim() == 1 and "bias" in name
        assert torch.equal(parameter, other.get_parameter(name)) == constant, name


# --- sentences


def test_sentence_features_are_maxima_over_windows_that_begin_on_a_word(model, documents):
    extractor = model.extractor
    batch = collate(documents)
    assert batch.lengths.min() == 1
    found = extractor.sentences(batch.words, batch.lengths)
    sentences = [ids for document in documents for ids in document.ids]
    for ids, features in zip(sentences, found, strict=True):
        expected = []
        for convolution in extractor.convolutions:
            window = convolution.weight.shape[2]
            vectors = [extractor.embedding.weight[word] for word in ids]
            vectors += [torch.zeros_like(vectors[0])] * window
            responses = [
                torch.einsum("fek,ke->f", convolution.weight, torch.stack(vectors[start : start + window]))
                + convolution.bias
                for start in range(len(ids))
            ]
            expected.append(torch.stack(responses).amax(0).clamp(min=0))
        torch.testing.assert_close(features, torch.cat(expected), rtol=0, atol=1e-12)


def test_padding_and_batch_mates_change_nothing(model, documents):
    together = slots_of(model, documents)
    for row, document in enumerate(documents):
        size = len(document.ids)
        assert together.mask[row].tolist() == [True] * size + [False] * (together.mask.shape[1] - size)
        alone = slots_of(model, [document]).states[0]
        torch.testing.assert_close(together.states[row, :size], alone, rtol=0, atol=1e-12)


# --- the policy


def glimpse_and_scores(pointer, h, states):
    """Scores [n] of one state [H] over the slots of one document [n, D], by loops."""

    def additive(attention, query):
        return torch.stack(
            [
                attention.v @ torch.tanh(attention.keys.weight @ state + attention.query.weight @ query)
                for state in states
            ]
        )

    query = h
    for _ in range(pointer.hops):
        weights = additive(pointer.glimpse, query).softmax(0)
        query = sum(w * (pointer.glimpse.keys.weight @ state) for w, state in zip(weights, states, strict=True))
    return additive(pointer.attention, query)


def cell(pointer):
    lstm = pointer.lstm
    cell = torch.nn.LSTMCell(lstm.input_size, lstm.hidden_size).double()
    cell.load_state_dict({name.removesuffix("_l0"): value for name, value in lstm.state_dict().items()})
    return cell


def test_the_policy_is_the_published_one_with_masks(model, documents):
    slots = model.with_stop(slots_of(model, documents))
    choices = rollouts(SIZES)
    found = model.logp(slots, choices)
    pointer = model.extractor.pointer
    lstm, stop = cell(pointer), slots.mask.shape[1] - 1
    for row, size in enumerate(SIZES):
        states = torch.cat((slots.states[row, :size], model.stop.unsqueeze(0)))
        inputs, state = pointer.start_input, (pointer.start_h[0], pointer.start_c[0])
        taken = []
        for step, choice in enumerate(choices[row].tolist()):
            state = lstm(inputs, state)
            scores = glimpse_and_scores(pointer, state[0], states)
            banned = [*taken, *([size] if not taken else [])]
            scores = scores.masked_fill(torch.tensor([slot in banned for slot in range(size + 1)]), -torch.inf)
            own = size if choice == stop else choice
            torch.testing.assert_close(found[row, step], scores.log_softmax(0)[own], rtol=0, atol=1e-10)
            if choice == stop:
                break
            taken.append(choice)
            inputs = states[choice]


def test_the_critic_reads_what_it_attends_to(model, documents):
    slots = slots_of(model, documents)
    found = model.critic(slots, 4)
    pointer, lstm = model.critic.pointer, cell(model.critic.pointer)
    for row, size in enumerate(SIZES):
        states = slots.states[row, :size]
        inputs, state = pointer.start_input, (pointer.start_h[0], pointer.start_c[0])
        for step in range(4):
            state = lstm(inputs, state)
            inputs = glimpse_and_scores(pointer, state[0], states).softmax(0) @ states
            value = model.critic.value.weight[0] @ inputs + model.critic.value.bias[0]
            torch.testing.assert_close(found[row, step], value, rtol=0, atol=1e-10)


def test_what_is_sampled_from_is_what_is_scored(model, documents, monkeypatch):
    """The log-probabilities that the rollout drew with, step by step, are those of all steps at once."""
    multinomial, drawn = torch.multinomial, []

    def draw(probabilities, count):
        choice = multinomial(probabilities, count)
        drawn.append(probabilities.gather(1, choice).log())
        return choice

    monkeypatch.setattr(torch, "multinomial", draw)
    torch.manual_seed(11)
    slots = model.with_stop(slots_of(model, documents))
    choices = model.sample(slots)
    stopped = choices == slots.mask.shape[1] - 1
    real = stopped.cumsum(1) - stopped.long() == 0
    assert real.sum(1).unique().numel() > 1
    torch.testing.assert_close(torch.cat(drawn, 1)[real], model.logp(slots, choices)[real], rtol=0, atol=1e-10)


@pytest.mark.parametrize("stops", [False, True])
def test_extraction_takes_the_best_choice_at_every_step(stops, model, documents):
    with torch.no_grad():
        model.stop.mul_(-4)  # some documents stop early
    found = model.extract(
        model.with_stop(slots_of(model, documents)) if stops else slots_of(model, documents), None if stops else 3
    )
    lengths = []
    for document, extracted in zip(documents, found, strict=True):
        slots = slots_of(model, [document])
        slots = model.with_stop(slots) if stops else slots
        size = len(document.ids)
        expected = []
        while len(expected) < (size if stops else min(3, size)):
            options = [slot for slot in range(size + stops) if slot not in expected and (expected or slot < size)]
            logps = [model.logp(slots, torch.tensor([[*expected, slot]]))[0, -1] for slot in options]
            best = options[max(range(len(options)), key=logps.__getitem__)]
            if best == size:
                break
            expected.append(best)
        assert extracted == expected
        lengths.append(len(extracted))
    assert any(length < size for length, size in zip(lengths, SIZES, strict=True))

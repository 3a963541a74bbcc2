import itertools

import pytest
import torch

from sumcurve.models.summarizer import parameter_counts, score
from sumcurve.settings.models import RecurrentSettings
from sumcurve.systems.families import build

KEYS = ("feed", "query", "copy_attention", "attention", "coverage", "output")
COMBINATIONS = [
    dict(zip(KEYS, (*first, *second), strict=True))
    for first, second in itertools.product(
        itertools.product(("nothing", "context", "merged"), ("h", "hc"), (False, True)),
        (("additive", False, "untied"), ("additive", True, "tied"), ("bilinear", False, "tied")),
    )
]


def settings(**keys):
    return RecurrentSettings(**{"kind": "recurrent", "embedding": 6, "hidden": 5, "feed": "nothing"} | keys)


def rough(combination, vocabulary):
    """A double-precision model none of whose parameters is zero."""
    model = build(settings(**combination), len(vocabulary), 1)
    torch.manual_seed(2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return model.double().eval()


@pytest.mark.parametrize("combination", COMBINATIONS, ids=str)
def test_teacher_forcing_equals_the_steps_in_value_and_gradient(combination, vocabulary, make_batch, forced_as_stepped):
    model = rough(combination, vocabulary)
    assert forced_as_stepped(model, make_batch(5)) == dict(model.named_parameters()).keys()


@pytest.mark.parametrize("output", ["untied", "tied"])
def test_parameters_are_those_of_see_et_al(output):
    """At V 50,000, E 128, H 256: 21,499,600, of the pointer 1,153, of coverage 512."""
    width, hidden, words = 128, 256, 50_000
    graph = {"embedding": width, "hidden": hidden, "feed": "merged", "query": "hc", "output": output}
    model = build(settings(**graph), words, 0)
    second_biases = 3 * 4 * hidden  # PyTorch gives each of the three LSTMs two
    published = 21_499_600
    if output == "tied":  # through a projection without bias to the embedding's width
        published += hidden * width - words * hidden
    counts = parameter_counts(model)
    assert counts["total"] == published + second_biases
    assert counts["total"] == counts["vocabulary"] + counts["other"]
    assert counts["vocabulary"] == words * (width + 1 + (hidden if output == "untied" else 0))
    pointer = parameter_counts(build(settings(**graph, copy_attention=True), words, 0))
    assert pointer["total"] - counts["total"] == 1_153
    model.enable_coverage()
    assert parameter_counts(model)["total"] - counts["total"] == 512


def test_coverage_switched_on_changes_nothing_at_first(vocabulary, make_batch):
    model = rough({"feed": "merged", "query": "hc", "copy_attention": True}, vocabulary)
    batch = make_batch(5)
    before = score(model, batch)
    model.enable_coverage()
    torch.testing.assert_close(score(model, batch), before, rtol=0, atol=1e-12)
    score(model, batch).sum().backward()
    assert model.w_coverage.grad.abs().max() > 0  # it can learn from there
    with torch.no_grad():
        model.w_coverage.fill_(1.0)
    assert (score(model, batch) - before).abs().max() > 1e-6
    kept = model.w_coverage
    model.enable_coverage()
    assert model.w_coverage is kept


@pytest.mark.parametrize("parallel", [True, False])
def test_temporal_attention_is_that_of_a_naive_loop(parallel, vocabulary, make_batch):
    """Paulus et al. (2018), equations 2 to 4, in exponentials."""
    keys = {"feed": "nothing" if parallel else "context", "attention": "bilinear", "temporal": True}
    model, batch = rough(keys, vocabulary), make_batch(4)
    with torch.no_grad():
        memory = model.encode(batch)
        _, attention = model.forced(batch, memory)
        state = model.start(memory, 1)
        past = torch.zeros_like(memory.mask, dtype=torch.double)
        for t in range(batch.inp.shape[1]):
            before = state
            _, _, state = model.step(batch.inp[:, t : t + 1], memory, before)
            scores = (model.query(state["h0"]) @ memory.states.transpose(1, 2)).squeeze(1)
            weights = scores.exp() / past if t else scores.exp()
            weights = weights * memory.mask
            expected = weights / weights.sum(1, keepdim=True)
            torch.testing.assert_close(attention[:, t], expected, rtol=0, atol=1e-10)
            past = past + scores.exp()


@pytest.mark.parametrize("intra", ["additive", "bilinear"])
def test_intra_decoder_attention_is_that_of_a_naive_loop(intra, vocabulary, make_batch):
    keys = {"feed": "nothing", "attention": "bilinear", "intra_decoder": intra, "readout": "none"}
    model, batch = rough(keys, vocabulary), make_batch(3)
    with torch.no_grad():
        memory = model.encode(batch)
        found = model.readout(batch, memory).states[:, :, -model.settings.width :]  # [h; context; intra]
        state = model.start(memory, 1)
        states = []
        for t in range(batch.inp.shape[1]):
            _, _, state = model.step(batch.inp[:, t : t + 1], memory, state)
            h = state["h0"].squeeze(1)
            for row in range(3):
                query, scores = model.intra_query(h[row]), []
                for past in states:
                    if intra == "bilinear":
                        scores.append((query @ past[row]).exp())
                    else:
                        scores.append((model.intra_v @ (query + model.intra_keys(past[row])).tanh()).exp())
                shares = [one / sum(scores) * past[row] for one, past in zip(scores, states, strict=True)]
                expected = sum(shares, torch.zeros_like(h[0]))
                torch.testing.assert_close(found[row, t], expected, rtol=0, atol=1e-10)
            states.append(h)


def test_salience_is_the_equation_of_eyal_et_al(vocabulary, make_batch):
    model, batch = rough({"feed": "readout", "entity_attention": True}, vocabulary), make_batch(3)
    with torch.no_grad():
        memory = model.encode(batch)
    for row in range(3):
        for position in range(batch.src.shape[1]):
            state = memory.states[row, position]
            hidden = (model.entity_keys.weight @ state + model.entity_keys.bias).tanh()
            expected = 1 / (1 + (-(model.entity_v @ hidden)).exp()) if memory.mask[row, position] else torch.zeros(())
            torch.testing.assert_close(memory.cache["salience"][row, position], expected.double())


def test_output_rows_are_the_tanh_of_projected_embeddings(vocabulary, make_batch):
    """Paulus et al. (2018), equation 13, word by word."""
    model = rough({"feed": "nothing", "readout": "none", "output": "tanh"}, vocabulary)
    batch = make_batch(3)
    with torch.no_grad():
        memory = model.encode(batch)
        states = model.readout(batch, memory).states
        found = model.logits(states, memory)
        for word in range(len(vocabulary)):
            row = (model.project.weight @ model.embedding.weight[word]).tanh()
            expected = states @ row + model.output.bias[word]
            torch.testing.assert_close(found[:, :, word], expected, rtol=0, atol=1e-10)

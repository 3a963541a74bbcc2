import itertools

import pytest
import torch

from invented import build
from sumcurve.models.summarizer import parameter_counts, score
from sumcurve.settings.models import RecurrentSettings
from sumcurve.settings.training import PhaseSettings
from sumcurve.training import losses

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


def test_parameters_with_tied_output_are_those_of_see_et_al_but_for_its_rows():
    """At V 50,000, E 128, H 256: 21,499,600 untied; a projection without bias stands for the rows of the output."""
    width, hidden, words = 128, 256, 50_000
    graph = {"embedding": width, "hidden": hidden, "feed": "merged", "query": "hc", "output": "tied"}
    model = build(settings(**graph), words, 0)
    second_biases = 3 * 4 * hidden  # PyTorch gives each of the three LSTMs two
    counts = parameter_counts(model)
    assert counts["total"] == 21_499_600 + hidden * width - words * hidden + second_biases
    assert counts["total"] == counts["vocabulary"] + counts["other"]
    assert counts["vocabulary"] == words * (width + 1)
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


def test_temporal_attention_whose_context_is_fed_is_that_of_a_naive_loop(vocabulary, make_batch):
    """Paulus et al. (2018), equations 2 to 4, in exponentials."""
    model = rough({"feed": "context", "attention": "bilinear", "temporal": True}, vocabulary)
    batch = make_batch(4)
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


def test_additive_intra_decoder_attention_is_that_of_a_naive_loop(vocabulary, make_batch):
    """The bilinear one is in tests/papers/test_paulus_2018.py."""
    keys = {"feed": "nothing", "attention": "bilinear", "intra_decoder": "additive", "readout": "none"}
    model, batch = rough(keys, vocabulary), make_batch(3)
    with torch.no_grad():
        memory = model.encode(batch)
        found = model.readout(batch, memory).states[:, :, -model.settings.width :]  # [h; context; intra]
        state, past = model.start(memory, 1), []
        for t in range(batch.inp.shape[1]):
            _, _, state = model.step(batch.inp[:, t : t + 1], memory, state)
            h = state["h0"].squeeze(1)
            scores = [(model.intra_query(h) + model.intra_keys(one)).tanh() @ model.intra_v for one in past]
            shares = torch.stack(scores).softmax(0) if past else []
            expected = sum((share.unsqueeze(1) * one for share, one in zip(shares, past, strict=True)), 0 * h)
            torch.testing.assert_close(found[:, t], expected, rtol=0, atol=1e-10)
            past.append(h)


@pytest.mark.usefixtures("compiled_sums")
@pytest.mark.parametrize("feed", ["nothing", "merged", "context", "readout"])
@pytest.mark.parametrize("copies", [True, False])
def test_compiled_kernels_give_the_loss_and_all_its_gradients(feed, copies, vocabulary, make_batch):
    settings = {"kind": "recurrent", "embedding": 6, "hidden": 8, "feed": feed, "query": "hc", "output": "tied"}
    settings |= {"copy_attention": copies, "coverage": feed != "nothing"}
    phase = PhaseSettings(
        name="phase",
        loss="nll+coverage" if feed != "nothing" else "nll",
        optimizer={"rate": 0.1},
        stop={"every_updates": 1, "every_epochs": 1, "patience": 1, "max_updates": 1},
    )
    model, batch = build(RecurrentSettings(**settings), len(vocabulary), 1), make_batch(5)
    torch.manual_seed(2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    found = []
    for precision in (torch.float32, torch.float64):
        model.to(precision).zero_grad(set_to_none=True)
        value = losses.loss(model, batch, phase, vocabulary, 9)
        value.backward()
        found.append({"loss": value.detach(), **{name: p.grad for name, p in model.named_parameters()}})
    for name, wanted in found[1].items():
        atol = 3e-6 * max(1.0, float(wanted.abs().max()))
        torch.testing.assert_close(
            found[0][name].double(), wanted, rtol=1e-5, atol=atol, msg=lambda m, n=name: f"{n}: {m}"
        )

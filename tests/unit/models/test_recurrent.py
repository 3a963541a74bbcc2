import itertools
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from sumcurve.models.batch import Batch
from sumcurve.models.layers import BiLSTM
from sumcurve.models.recurrent import RecurrentSummarizer
from sumcurve.models.summarizer import Summarizer, parameter_counts, score
from sumcurve.models.vocabulary import PAD, Vocabulary
from sumcurve.settings.models import RecurrentSettings
from sumcurve.systems.families import build

COMBINATIONS = [
    {
        "feed": feed,
        "query": query,
        "copy_attention": copy,
        "attention": attention,
        "coverage": coverage,
        "output": output,
    }
    for (feed, query, copy), (attention, coverage, output) in itertools.product(
        itertools.product(("nothing", "context", "merged"), ("h", "hc"), (False, True)),
        (("additive", False, "untied"), ("additive", True, "tied"), ("bilinear", False, "tied")),
    )
]


def settings(**keys: object) -> RecurrentSettings:
    return RecurrentSettings(**{"kind": "recurrent", "embedding": 6, "hidden": 5, "feed": "nothing"} | keys)


def rough(combination: dict[str, object], vocabulary: Vocabulary) -> RecurrentSummarizer:
    """A double-precision model none of whose parameters is zero."""
    model = build(settings(**combination), len(vocabulary), 1)
    assert isinstance(model, RecurrentSummarizer)
    torch.manual_seed(2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return model.double().eval()


@pytest.mark.parametrize("combination", COMBINATIONS, ids=str)
def test_teacher_forcing_equals_the_steps_in_value_and_gradient(
    combination: dict[str, object], vocabulary: Vocabulary, make_batch: Callable[..., Batch]
) -> None:
    model, batch = rough(combination, vocabulary), make_batch(5)
    real = batch.tgt != PAD

    def run(forced: Callable[..., tuple]) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        model.zero_grad()
        emission, attention = forced(batch, model.encode(batch))
        earlier = attention.cumsum(1) - attention
        gold = emission.gold(batch.tgt, batch.src_ext)
        (gold.sum() + torch.minimum(attention, earlier)[real].sum()).backward()
        gradients = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
        return gold, attention, gradients

    gold, attention, gradients = run(model.forced)
    expected_gold, expected_attention, expected = run(lambda *given: Summarizer.forced(model, *given))
    torch.testing.assert_close(gold, expected_gold, rtol=0, atol=1e-10)
    torch.testing.assert_close(attention[real], expected_attention[real], rtol=0, atol=1e-10)
    assert gradients.keys() == expected.keys() == dict(model.named_parameters()).keys()
    for name, gradient in gradients.items():
        torch.testing.assert_close(gradient, expected[name], rtol=1e-8, atol=1e-9, msg=lambda m, n=name: f"{n}: {m}")


@pytest.mark.parametrize("output", ["untied", "tied"])
def test_parameters_are_those_of_see_et_al(output: str) -> None:
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
    assert isinstance(model, RecurrentSummarizer)
    model.enable_coverage()
    assert parameter_counts(model)["total"] - counts["total"] == 512


def test_coverage_switched_on_changes_nothing_at_first(
    vocabulary: Vocabulary, make_batch: Callable[..., Batch]
) -> None:
    model = rough({"feed": "merged", "query": "hc", "copy_attention": True}, vocabulary)
    batch = make_batch(5)
    before = score(model, batch)
    model.enable_coverage()
    torch.testing.assert_close(score(model, batch), before, rtol=0, atol=1e-12)
    assert model.w_coverage is not None
    score(model, batch).sum().backward()
    assert model.w_coverage.grad is not None
    assert model.w_coverage.grad.abs().max() > 0  # it can learn from there
    with torch.no_grad():
        model.w_coverage.fill_(1.0)
    assert (score(model, batch) - before).abs().max() > 1e-6
    kept = model.w_coverage
    model.enable_coverage()
    assert model.w_coverage is kept


def test_a_model_with_coverage_is_saved_and_loaded(vocabulary: Vocabulary, make_batch: Callable[..., Batch]) -> None:
    model = rough({"feed": "merged", "coverage": True}, vocabulary)
    other = build(settings(feed="merged"), len(vocabulary), 9).double().eval()
    assert isinstance(other, RecurrentSummarizer)
    other.enable_coverage()
    other.load_state_dict(model.state_dict())
    assert torch.equal(score(other, make_batch(3)), score(model, make_batch(3)))


def test_coverage_needs_additive_attention(vocabulary: Vocabulary) -> None:
    with pytest.raises(ValueError, match="additive"):
        build(settings(attention="bilinear", coverage=True), len(vocabulary), 0)


@pytest.mark.parametrize("parallel", [True, False])
def test_temporal_attention_is_that_of_a_naive_loop(
    parallel: bool, vocabulary: Vocabulary, make_batch: Callable[..., Batch]
) -> None:
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
def test_intra_decoder_attention_is_that_of_a_naive_loop(
    intra: str, vocabulary: Vocabulary, make_batch: Callable[..., Batch]
) -> None:
    keys = {"feed": "nothing", "attention": "bilinear", "intra_decoder": intra, "readout": "none"}
    model, batch = rough(keys, vocabulary), make_batch(3)
    with torch.no_grad():
        memory = model.encode(batch)
        found = model.readout(batch, memory).states[:, :, -model.settings.width :]  # [h; context; intra]
        state = model.start(memory, 1)
        states: list[Tensor] = []
        for t in range(batch.inp.shape[1]):
            _, _, state = model.step(batch.inp[:, t : t + 1], memory, state)
            h = state["h0"].squeeze(1)
            for row in range(3):
                expected = torch.zeros_like(h[0])
                if states:
                    scores = []
                    for past in states:
                        query = model.intra_query(h[row])
                        if intra == "bilinear":
                            scores.append((query @ past[row]).exp())
                        else:
                            hidden = (query + model.intra_keys(past[row])).tanh()
                            scores.append((model.intra_v @ hidden).exp())
                    for score_, past in zip(scores, states, strict=True):
                        expected = expected + score_ / sum(scores) * past[row]
                torch.testing.assert_close(found[row, t], expected, rtol=0, atol=1e-10)
            states.append(h)


def test_salience_is_the_equation_of_eyal_et_al(vocabulary: Vocabulary, make_batch: Callable[..., Batch]) -> None:
    model, batch = rough({"feed": "readout", "entity_attention": True}, vocabulary), make_batch(3)
    with torch.no_grad():
        memory = model.encode(batch)
    for row in range(3):
        for position in range(batch.src.shape[1]):
            state = memory.states[row, position]
            hidden = (model.entity_keys.weight @ state + model.entity_keys.bias).tanh()
            expected = 1 / (1 + (-(model.entity_v @ hidden)).exp()) if memory.mask[row, position] else torch.zeros(())
            torch.testing.assert_close(memory.cache["salience"][row, position], expected.double())


def test_output_rows_are_the_tanh_of_projected_embeddings(
    vocabulary: Vocabulary, make_batch: Callable[..., Batch]
) -> None:
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


def test_an_lstm_that_learns_its_start_equals_a_packed_one(vocabulary: Vocabulary) -> None:
    torch.manual_seed(0)
    ours = BiLSTM(4, 3, learned_start=True).double()
    with torch.no_grad():
        ours.start_h.normal_()
        ours.start_c.normal_()
    torchs = torch.nn.LSTM(4, 3, batch_first=True, bidirectional=True).double()
    own = {name: value for name, value in ours.state_dict().items() if not name.startswith("start")}
    torchs.load_state_dict(own)
    inputs, lengths = torch.randn(5, 7, 4).double(), torch.tensor([7, 1, 3, 5, 2])
    packed = torch.nn.utils.rnn.pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
    first = tuple(start.detach().unsqueeze(1).expand(2, 5, 3).contiguous() for start in (ours.start_h, ours.start_c))
    expected, (h, c) = torchs(packed, first)
    expected, _ = torch.nn.utils.rnn.pad_packed_sequence(expected, batch_first=True)
    states, (own_h, own_c) = ours(inputs, lengths)
    real = torch.arange(7) < lengths.unsqueeze(1)
    torch.testing.assert_close(states[real], expected[real], rtol=0, atol=1e-12)
    torch.testing.assert_close(own_h, torch.cat((h[0], h[1]), 1), rtol=0, atol=1e-12)
    torch.testing.assert_close(own_c, torch.cat((c[0], c[1]), 1), rtol=0, atol=1e-12)

import itertools
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from sumcurve.models.batch import Batch
from sumcurve.models.recurrent import RecurrentSummarizer
from sumcurve.models.summarizer import Summarizer, build, parameter_counts, score
from sumcurve.models.vocabulary import PAD, Vocabulary
from sumcurve.settings import RecurrentSettings

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


@pytest.mark.parametrize("combination", COMBINATIONS[::5], ids=str)
def test_queries_are_independent(
    combination: dict[str, object], vocabulary: Vocabulary, make_batch: Callable[..., Batch]
) -> None:
    """Three queries on one memory give what each gives alone, over two steps."""
    model, batch = rough(combination, vocabulary), make_batch(4)
    tokens = torch.randint(5, len(vocabulary), (2, 4, 3), generator=torch.Generator().manual_seed(5))
    with torch.no_grad():
        memory = model.encode(batch)
        state = model.start(memory, 3)
        joint = []
        for tok in tokens:
            emission, attention, state = model.step(tok, memory, state)
            joint.append((emission.dist(batch.src_ext, batch.n_ext), attention))
        for query in range(3):
            state = model.start(memory, 1)
            for t, tok in enumerate(tokens):
                emission, attention, state = model.step(tok[:, query : query + 1], memory, state)
                dist = emission.dist(batch.src_ext, batch.n_ext)
                torch.testing.assert_close(joint[t][0][:, query : query + 1], dist, rtol=0, atol=1e-12)
                torch.testing.assert_close(joint[t][1][:, query : query + 1], attention, rtol=0, atol=1e-12)


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

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from invented import CONFIG, METHODS
from sumcurve.models.batch import Batch, Example, collate
from sumcurve.models.emission import Emission
from sumcurve.models.summarizer import Summarizer, score
from sumcurve.models.transformer import TransformerSummarizer
from sumcurve.models.vocabulary import PAD, Vocabulary
from sumcurve.settings.models import ExtractRewriteSettings, NgramSettings, RecurrentSettings, TransformerSettings
from sumcurve.study.methods import read_method
from sumcurve.systems.families import build

Summarizing = RecurrentSettings | TransformerSettings | NgramSettings


def smallest(method: Path) -> Summarizing:
    """The model of a method's smallest settings, without dropout; of FASTRL the part that rewrites."""
    model = read_method(method).forms["smoke"].model
    return model.abstractor if isinstance(model, ExtractRewriteSettings) else model


RECURRENT = {"kind": "recurrent", "embedding": 8, "hidden": 8}
SETTINGS: dict[str, Summarizing] = {
    **{name: smallest(CONFIG / f"{name}.yaml") for name in METHODS},
    "fed context": RecurrentSettings(**RECURRENT, feed="context", attention="bilinear"),
    "coverage": RecurrentSettings(**RECURRENT, feed="merged", query="hc", copy_attention=True, coverage=True),
    "coverage and intra": RecurrentSettings(
        **RECURRENT, feed="readout", intra_decoder="additive", copy_attention=True, coverage=True
    ),
    "temporal, step by step": RecurrentSettings(
        **RECURRENT, feed="merged", attention="bilinear", temporal=True, copy_attention=True
    ),
}


CANCELLED = ("key.bias",)
"""Softmax cancels what all positions of a source share."""


@pytest.fixture(params=list(SETTINGS))
def model(request: pytest.FixtureRequest, vocabulary: Vocabulary) -> Summarizer:
    """A model far from its initialisation, so that attention is sharp."""
    model = build(SETTINGS[request.param], len(vocabulary), 4)
    torch.manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return model.eval()


def padded(batch: Batch, more: int) -> Batch:
    """The batch with `more` columns of padding at its source and its target."""
    wider = {name: functional.pad(getattr(batch, name), (0, more), value=PAD) for name in ("src", "src_ext")}
    wider |= {name: functional.pad(getattr(batch, name), (0, more), value=PAD) for name in ("inp", "tgt")}
    return replace(batch, **wider)


def test_padding_changes_nothing(model: Summarizer, make_batch: Callable[..., Batch]) -> None:
    batch = make_batch(6)
    length = batch.tgt.shape[1]
    with torch.no_grad():
        before, after = score(model, batch), score(model, padded(batch, batch.src.shape[1]))
    torch.testing.assert_close(after[:, :length], before, rtol=0, atol=1e-5)
    assert (after[:, length:] == 0).all()


def test_order_and_company_change_nothing(model: Summarizer, make_examples: Callable[..., list[Example]]) -> None:
    examples = make_examples(6, seed=1)
    longer = make_examples(6, seed=2, source_tokens=30, target_tokens=20)
    with torch.no_grad():
        together = score(model, collate(examples)).sum(1)
        permuted = score(model, collate(examples[::-1])).sum(1).flip(0)
        joined = score(model, collate([*longer, *examples])).sum(1)[6:]
        alone = torch.cat([score(model, collate([example])).sum(1) for example in examples])
    for other in (permuted, joined, alone):
        torch.testing.assert_close(other, together, rtol=1e-5, atol=1e-5)


def test_teacher_forcing_equals_the_steps(model: Summarizer, make_batch: Callable[..., Batch]) -> None:
    """In values and gradients, whatever runs in parallel or is taken out of the loop.

    The transformer's step writes into its cache and has no gradient; its teacher forcing is compared with PyTorch's.
    """
    model, batch = model.double(), make_batch(5)
    if isinstance(model, TransformerSummarizer):
        with torch.no_grad():
            memory = model.encode(batch)
            for ours, stepped in zip(model.forced(batch, memory), Summarizer.forced(model, batch, memory), strict=True):
                if isinstance(ours, Emission):
                    ours, stepped = ours.gold(batch.tgt, batch.src_ext), stepped.gold(batch.tgt, batch.src_ext)
                torch.testing.assert_close(ours, stepped, rtol=0, atol=1e-10)
        return
    real = batch.tgt != PAD

    def run(forced: Callable[..., tuple[Emission, Tensor]]) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
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
    assert gradients.keys() == expected.keys()
    for name, gradient in gradients.items():
        torch.testing.assert_close(gradient, expected[name], rtol=1e-8, atol=1e-9, msg=lambda m, n=name: f"{n}: {m}")


def test_queries_are_independent(model: Summarizer, vocabulary: Vocabulary, make_batch: Callable[..., Batch]) -> None:
    """Three queries on one memory give what each gives alone, over four steps."""
    model, batch = model.double(), make_batch(4)
    tokens = torch.randint(5, len(vocabulary), (4, 4, 3), generator=torch.Generator().manual_seed(5))
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


def test_score_is_the_gold_entry_of_the_distribution(model: Summarizer, make_batch: Callable[..., Batch]) -> None:
    batch = make_batch(6)
    with torch.no_grad():
        memory = model.encode(batch)
        emission, attention = model.forced(batch, memory)
        dist = emission.dist(batch.src_ext, batch.n_ext)
        scores = score(model, batch)
    real = batch.tgt != PAD
    if emission.copy_logp is not None:
        expected = dist.gather(2, batch.tgt.unsqueeze(2)).squeeze(2)
        torch.testing.assert_close(scores[real], expected[real], rtol=0, atol=1e-4)
    torch.testing.assert_close(scores, emission.gold(batch.tgt, batch.src_ext), rtol=0, atol=1e-5)
    assert (scores[~real] == 0).all()
    torch.testing.assert_close(attention.sum(2), torch.ones(attention.shape[:2]), rtol=0, atol=1e-5)
    outside = (batch.src == PAD).unsqueeze(1).expand_as(attention)
    assert (attention[outside] == 0).all()


def test_every_parameter_learns(model: Summarizer, make_batch: Callable[..., Batch]) -> None:
    score(model, make_batch(6)).sum().backward()
    for name, parameter in model.named_parameters():
        if name.startswith(("second_output", "entity_")):
            continue  # these learn from losses of their own
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name
        assert parameter.grad.abs().max() > 0 or name.endswith(CANCELLED), name


def test_label_smoothing_is_the_smoothed_cross_entropy(model: Summarizer, make_batch: Callable[..., Batch]) -> None:
    batch = make_batch(6)
    memory = model.encode(batch)
    emission, _ = model.forced(batch, memory)
    if emission.copy_logp is not None:
        for gold in (model.gold, lambda *given: Summarizer.gold(model, *given)):
            with pytest.raises(ValueError, match="do not copy"):
                gold(batch, memory, 0.1)
        return
    logp = emission.logits.log_softmax(2)
    real = batch.tgt != PAD
    target = batch.tgt.where(batch.tgt < logp.shape[2], 1)
    expected = 0.9 * logp.gather(2, target.unsqueeze(2)).squeeze(2) + 0.1 * logp.mean(2)
    for gold in (model.gold, lambda *given: Summarizer.gold(model, *given)):
        smoothed, _ = gold(batch, memory, 0.1)
        torch.testing.assert_close(smoothed[real], expected[real], rtol=0, atol=1e-5)
        assert (smoothed[~real] == 0).all()


@pytest.mark.parametrize("name", list(SETTINGS))
def test_the_seed_decides_the_weights(name: str, vocabulary: Vocabulary) -> None:
    torch.manual_seed(1)
    first = build(SETTINGS[name], len(vocabulary), 7).state_dict()
    torch.manual_seed(2)
    again = build(SETTINGS[name], len(vocabulary), 7).state_dict()
    other = build(SETTINGS[name], len(vocabulary), 8).state_dict()
    assert all(torch.equal(again[key], value) for key, value in first.items())
    assert any(not torch.equal(other[key], value) for key, value in first.items())


@pytest.mark.parametrize("name", ["pcov", "trans"])
def test_a_copying_model_learns_to_copy_unknown_words(
    name: str, vocabulary: Vocabulary, make_examples: Callable[..., list[Example]]
) -> None:
    """A few updates raise the likelihood of a source's first unknown word far above a guess among words."""
    torch.manual_seed(0)
    examples = [example for example in make_examples(60, seed=3) if example.unknowns][:32]
    size = len(vocabulary)
    batch = collate([replace(example, input=[2, 1], target=[size, 3]) for example in examples])
    model = build(SETTINGS[name], size, 1)
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    for _ in range(60):
        optimizer.zero_grad()
        loss = -score(model, batch).sum(1).mean()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        assert score(model, batch)[:, 0].exp().mean() > 0.6

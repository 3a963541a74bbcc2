import pytest
import torch

from invented import CONFIG, METHODS, build
from sumcurve.capabilities.extract_rewrite.settings import ExtractRewriteSettings
from sumcurve.models.batch import collate
from sumcurve.models.summarizer import Summarizer, score
from sumcurve.models.transformer import TransformerSummarizer
from sumcurve.models.vocabulary import PAD
from sumcurve.settings.models import NgramSettings, RecurrentSettings, TransformerSettings
from sumcurve.study.methods import read_method


def smallest(method):
    """The model of a method's smallest settings, without dropout; of FASTRL the part that rewrites."""
    model = read_method(method).forms["smoke"].model
    return model.abstractor if isinstance(model, ExtractRewriteSettings) else model


RECURRENT = {"kind": "recurrent", "embedding": 8, "hidden": 8}
SETTINGS = {
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


@pytest.fixture(params=[*SETTINGS, *(f"{name}, compiled" for name in ("abs", "coverage", "fastrl", "trans"))])
def model(request, vocabulary):
    """A model far from its initialisation, so that attention is sharp."""
    name = request.param.removesuffix(", compiled")
    if name != request.param:
        request.getfixturevalue("compiled_sums")
    model = build(SETTINGS[name], len(vocabulary), 4)
    torch.manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return model.eval()


def test_order_and_company_change_nothing(model, make_examples):
    examples = make_examples(6, seed=1)
    longer = make_examples(6, seed=2, source_tokens=30, target_tokens=20)
    with torch.no_grad():
        together = score(model, collate(examples)).sum(1)
        permuted = score(model, collate(examples[::-1])).sum(1).flip(0)
        joined = score(model, collate([*longer, *examples])).sum(1)[6:]
        alone = torch.cat([score(model, collate([example])).sum(1) for example in examples])
    for other in (permuted, joined, alone):
        torch.testing.assert_close(other, together, rtol=1e-5, atol=1e-5)


def test_teacher_forcing_equals_the_steps(model, make_batch, forced_as_stepped):
    """In values and gradients, whatever runs in parallel or is taken out of the loop.

    The transformer's step writes into its cache and has no gradient; its teacher forcing is compared with PyTorch's.
    """
    model, batch = model.double(), make_batch(5)
    if not isinstance(model, TransformerSummarizer):
        forced_as_stepped(model, batch)
        return
    with torch.no_grad():
        memory = model.encode(batch)
        (emission, attention), (stepped, seen) = model.forced(batch, memory), Summarizer.forced(model, batch, memory)
    gold, expected = (one.gold(batch.tgt, batch.src_ext) for one in (emission, stepped))
    torch.testing.assert_close((gold, attention), (expected, seen), rtol=0, atol=1e-10)


def test_queries_are_independent(model, vocabulary, make_batch):
    """Three queries on one memory give what each gives alone, over four steps."""
    model, batch = model.double(), make_batch(4)
    tokens = torch.randint(5, len(vocabulary), (4, 4, 3), generator=torch.Generator().manual_seed(5))

    def run(tokens):
        state, found = model.start(memory, tokens.shape[2]), []
        for tok in tokens:
            emission, attention, state = model.step(tok, memory, state)
            found.append((emission.dist(batch.src_ext, batch.n_ext), attention))
        return [torch.stack(parts) for parts in zip(*found, strict=True)]

    with torch.no_grad():
        memory = model.encode(batch)
        alone = [run(tokens[:, :, query : query + 1]) for query in range(3)]
        torch.testing.assert_close(
            run(tokens), [torch.cat(parts, 2) for parts in zip(*alone, strict=True)], rtol=0, atol=1e-12
        )


def test_score_is_the_gold_entry_of_the_distribution(model, make_batch):
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


def test_every_parameter_learns(model, make_batch):
    score(model, make_batch(6)).sum().backward()
    for name, parameter in model.named_parameters():
        if name.startswith(("second_output", "entity_")):
            continue  # these learn from losses of their own
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name
        assert parameter.grad.abs().max() > 0 or name.endswith(CANCELLED), name


def test_label_smoothing_is_the_smoothed_cross_entropy(model, make_batch):
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
def test_the_seed_decides_the_weights(name, vocabulary):
    torch.manual_seed(1)
    first = build(SETTINGS[name], len(vocabulary), 7).state_dict()
    torch.manual_seed(2)
    again = build(SETTINGS[name], len(vocabulary), 7).state_dict()
    other = build(SETTINGS[name], len(vocabulary), 8).state_dict()
    assert all(torch.equal(again[key], value) for key, value in first.items())
    assert any(not torch.equal(other[key], value) for key, value in first.items())


@pytest.mark.parametrize(
    ("settings", "keys", "message"),
    [
        (TransformerSettings, {"kind": "transformer", "width": 10, "heads": 3}, "divisible"),
        (TransformerSettings, {"kind": "transformer", "width": 9, "heads": 3}, "divisible"),
        (NgramSettings, {"kind": "ngram", "embedding": 6, "hidden": 7, "smoothing": 2}, "smoothing 2 is even"),
        (RecurrentSettings, RECURRENT | {"feed": "nothing", "attention": "bilinear", "coverage": True}, "additive"),
    ],
)
def test_settings_that_no_model_can_have_are_refused(settings, keys, message):
    more = {"feedforward": 12, "encoder_layers": 2, "decoder_layers": 3} if settings is TransformerSettings else {}
    with pytest.raises(ValueError, match=message):
        build(settings(**keys, **more), 9, 0)

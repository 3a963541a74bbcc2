import itertools
from dataclasses import replace

import pytest
import torch
from rouge_score.rouge_scorer import RougeScorer
from torch.nn import functional

from invented import build
from sumcurve.decoding.rollout import as_target, rollout
from sumcurve.models.batch import collate, encode
from sumcurve.models.summarizer import score
from sumcurve.models.vocabulary import BOS, EOS, PAD, UNK, Vocabulary
from sumcurve.settings.models import RecurrentSettings
from sumcurve.settings.training import Optimizer, PhaseSettings, Stop
from sumcurve.store.records import Record
from sumcurve.training.losses import (
    coverage,
    loss,
    rewards,
    salience,
    self_critical,
    with_own_words,
    without_dropout,
)


@pytest.mark.parametrize("seed", range(5))
def test_coverage_agrees_with_a_loop_and_is_at_most_one(seed):
    attention = torch.rand(3, 7, 5, generator=torch.Generator().manual_seed(seed)).double().pow(4)
    attention = attention / attention.sum(2, keepdim=True)
    found = coverage(attention)
    seen = torch.zeros(3, 5, dtype=torch.float64)
    for step in range(7):
        expected = torch.stack([attention[:, step], seen]).amin(0).sum(1)
        torch.testing.assert_close(found[:, step], expected, rtol=0, atol=1e-12)
        seen += attention[:, step]
    assert float(found.max()) <= 1 + 1e-12


def test_the_loss_is_that_of_the_full_distribution(corpus, lstm, phase):
    model = build(lstm, len(corpus.vocabulary), 1).eval()
    batch = collate(corpus.train[:12])
    emission, attention = model.forced(batch, model.encode(batch))
    logp = emission.dist(batch.src_ext, batch.n_ext).gather(2, batch.tgt.unsqueeze(2)).squeeze(2)
    costs, overlaps = [], []
    for row in range(12):
        real = int((batch.tgt[row] != PAD).sum())
        costs.append(-logp[row, :real].mean())
        overlaps.append(coverage(attention[row : row + 1, :real]).mean())
    torch.testing.assert_close(loss(model, batch, phase(), corpus.vocabulary, 5), torch.stack(costs).mean())
    both = torch.stack(costs).mean() + torch.stack(overlaps).mean()
    torch.testing.assert_close(loss(model, batch, phase(loss="nll+coverage"), corpus.vocabulary, 5), both)
    assert torch.stack(overlaps).mean().item() > 0.1


def test_label_smoothing_is_that_of_torch(corpus, lstm_without_copy, phase):
    model = build(lstm_without_copy, len(corpus.vocabulary), 1).eval()
    torch.nn.init.normal_(
        model.output.weight, std=3.0, generator=torch.Generator().manual_seed(3)
    )  # far from uniform, so that smoothing shows
    example = corpus.train[0]
    batch = collate([example])
    emission, _ = model.forced(batch, model.encode(batch))
    size = emission.logits.shape[2]
    tgt = batch.tgt[0].where(batch.tgt[0] < size, 1)  # a word that it cannot write is UNK
    expected = functional.cross_entropy(emission.logits[0], tgt, label_smoothing=0.1)
    found = loss(model, batch, phase(smoothing=0.1), corpus.vocabulary, 5)
    torch.testing.assert_close(found, expected)
    assert abs((found - loss(model, batch, phase(), corpus.vocabulary, 5)).item()) > 1e-2


@pytest.fixture(scope="module")
def reg():
    return RecurrentSettings(
        kind="recurrent", embedding=6, hidden=5, feed="nothing", attention="bilinear", second_output=True
    )


def _regularising(kind, **keys):
    return PhaseSettings(
        name="soft",
        loss=kind,
        optimizer=Optimizer(rate=0.1),
        stop=Stop(every_updates=1, every_epochs=1, patience=1, max_updates=1),
        **({"soft_weight": 0.7, "temperature": 2.0} | keys),
    )


def test_dual_trains_second_output_learns_from_the_hard_target_alone(corpus, reg):
    batch = collate(corpus.train[:6])

    def gradients(**keys):
        model = build(reg, len(corpus.vocabulary), 1).double().eval()
        loss(model, batch, _regularising("dual-train", **keys), corpus.vocabulary, 5).backward()
        return {name: parameter.grad for name, parameter in model.named_parameters()}

    soft, hard = gradients(), gradients(soft_weight=0.0)
    assert torch.equal(soft["second_output.weight"], hard["second_output.weight"])
    assert (soft["output.weight"] - hard["output.weight"]).abs().max() > 1e-4
    shared, detached = gradients(soft_weight=0.0), gradients(soft_weight=0.0, detach_second=True)
    assert (shared["combine.weight"] - detached["combine.weight"]).abs().max() > 1e-4
    assert torch.equal(shared["second_output.weight"], detached["second_output.weight"])


def test_salience_is_torchs_binary_cross_entropy_over_real_tokens():
    torch.manual_seed(0)
    logits, marks = torch.randn(3, 5), (torch.rand(3, 5) < 0.5).float()
    lengths = torch.tensor([5, 1, 3])
    mask = torch.arange(5) < lengths.unsqueeze(1)
    found = salience(logits.masked_fill(~mask, -1e30), marks, mask)
    for row, length in enumerate(lengths.tolist()):
        expected = functional.binary_cross_entropy_with_logits(logits[row, :length], marks[row, :length])
        torch.testing.assert_close(found[row], expected)


@pytest.mark.parametrize("alone", [False, True])
def test_the_salience_loss_trains_the_encoder_unless_alone(corpus, phase, alone):
    settings = RecurrentSettings(kind="recurrent", embedding=6, hidden=5, feed="readout", entity_attention=True)
    model = build(settings, len(corpus.vocabulary), 1)
    examples = [replace(example, salient=[1] + [0] * (len(example.source) - 1)) for example in corpus.train[:6]]
    batch = collate(examples)
    entity = phase().model_copy(update={"loss": "nll+entity", "entity_weight": 1.0, "entity_alone": alone})
    loss(model, batch, entity, corpus.vocabulary, 5).backward()
    assert model.entity_v.grad.abs().max() > 0
    moved = model.encoder[0].weight_ih_l0.grad.abs().max() > 0
    assert moved != alone
    with pytest.raises(ValueError, match="no marks"):
        loss(model, collate(corpus.train[:6]), entity, corpus.vocabulary, 5)


def test_own_words_replace_the_share_asked_for(corpus, lstm):
    model = build(lstm, len(corpus.vocabulary), 1).eval()
    batch = collate(corpus.train * 20)
    torch.manual_seed(0)
    every = with_own_words(model, batch, 1.0)
    mixed = with_own_words(model, batch, 0.25)
    real = batch.inp != PAD
    real[:, 0] = False
    assert torch.equal(every.inp[~real], batch.inp[~real])
    assert torch.equal(every.tgt, batch.tgt)
    assert every.inp.max() < len(corpus.vocabulary)
    assert ((every.inp[real] == PAD) | (every.inp[real] == BOS)).sum() == 0
    differ = (every.inp != batch.inp)[real].float().mean()  # a drawn word may be the true one
    share = (mixed.inp != batch.inp)[real].float().mean() / differ
    assert share == pytest.approx(0.25, abs=0.03)


def test_own_words_are_drawn_from_the_models_distribution(corpus, lstm_without_copy):
    model = build(lstm_without_copy, len(corpus.vocabulary), 1).eval()
    with torch.no_grad():
        model.output.bias[:8] = torch.tensor([0.0, 2.0, 0.0, 3.0, 1.0, 4.0, 3.5, 2.5])
    example = next(example for example in corpus.train if len(example.target) > 3)
    batch = collate([example] * 4000)
    with torch.no_grad():
        emission, _ = model.forced(collate([example]), model.encode(collate([example])))
    expected = emission.logits[0, 0].softmax(0)
    expected[[PAD, BOS]] = 0
    torch.manual_seed(1)
    drawn = with_own_words(model, batch, 1.0).inp[:, 1]
    found = torch.bincount(drawn, minlength=len(expected)) / 4000
    assert (found - expected / expected.sum()).abs().sum() / 2 < 0.05


@pytest.fixture
def pair():
    """A model of seven words whose marks but EOS it hardly writes, an example and its vocabulary."""
    vocabulary = Vocabulary(["a", "b"])
    settings = RecurrentSettings(
        kind="recurrent", embedding=5, hidden=4, feed="nothing", attention="bilinear", dropout=0.5
    )
    model = build(settings, len(vocabulary), 3).double()
    with torch.no_grad():
        model.output.bias[[PAD, 1, BOS, 4]] = -40.0
    return model, encode(Record("r", ["a b b a"], ["a b"]), vocabulary, 9, 9), vocabulary


@pytest.mark.parametrize("samples", [1, 4])
def test_the_self_critical_gradient_is_that_of_enumeration(pair, samples):
    """Mean over many samples against the sum over all outputs of at most three words, which differ in length.

    The baseline is the greedy output's reward, or, of several samples, in the mean the reward of a sample.
    """
    model, example, vocabulary = pair
    torch.manual_seed(0)
    most = 3
    self_critical(model, collate([example] * (6000 // samples)), vocabulary, most, samples).mean().backward()
    found = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
    model.zero_grad()

    one = collate([example])
    with without_dropout(model), torch.no_grad():
        baseline = rewards(one, rollout(model, one, most), vocabulary)[0, 0]
    made = []
    a, b = 5, 6
    total = 0.0
    outputs = [(first, EOS) for first in (a, b)]  # the first word is no EOS
    outputs += itertools.product((a, b), (a, b), (a, b, EOS))
    for output in outputs:
        sample = as_target(one, torch.tensor([output]), len(vocabulary))
        with without_dropout(model):
            emission, _ = model.forced(sample, model.encode(sample))
            logp = emission.gold(sample.tgt, sample.src_ext)[0]
        start = emission.logits[0, 0].detach().softmax(0)
        weight = (logp.detach().sum().exp() / (start[a] + start[b])).item()
        total += weight
        reward = rewards(one, torch.tensor([[output]]), vocabulary)[0, 0]
        parameters = list(model.parameters())
        gradients = torch.autograd.grad(logp.sum() / most, parameters, allow_unused=True)
        made.append((weight, reward, torch.cat([g.flatten() for g in gradients if g is not None])))
    if samples > 1:
        baseline = sum(weight * reward for weight, reward, _ in made)
    expected = sum(weight * (baseline - reward) * flat for weight, reward, flat in made)
    assert total == pytest.approx(1.0, abs=1e-6)
    assert (found - expected).norm() < 0.1 * expected.norm()


def test_samples_raise_each_other_only_as_far_as_they_differ(pair):
    """The weights of a record's samples sum to 0: where all are equally good, none is raised or lowered."""
    model, example, vocabulary = pair
    with torch.no_grad():
        model.output.bias[[5, 6]] = torch.tensor([0.2, 0.0]).double()  # greedy writes a, nothing but a
    torch.manual_seed(0)
    with without_dropout(model):
        tokens = rollout(model, collate([example] * 500), 3, 4)
    assert tokens.shape == (500, 5, 3)
    torch.testing.assert_close(tokens[:, 0], tokens[:1, 0].expand(500, 3))
    assert len({tuple(output) for output in tokens[:, 1:].flatten(0, 1).tolist()}) > 4
    torch.manual_seed(0)
    found = self_critical(model, collate([example] * 500), vocabulary, 3, 4)
    earned = rewards(collate([example] * 500), tokens, vocabulary)[:, 1:]
    with without_dropout(model):
        targets = [as_target(collate([example] * 500), tokens[:, k], len(vocabulary)) for k in range(1, 5)]
        logs = torch.stack([score(model, target).sum(1) for target in targets], 1)
    baselines = torch.stack([earned[:, [other for other in range(4) if other != k]].mean(1) for k in range(4)], 1)
    torch.testing.assert_close((baselines - earned).sum(1), torch.zeros(500), atol=1e-6, rtol=0)
    torch.testing.assert_close(found, ((baselines - earned) * logs / 3).mean(1), check_dtype=False)


def test_rewards_are_rouge_l_of_the_whole_target_with_copied_words(corpus):
    scorer = RougeScorer(["rougeL"])
    batch = collate(corpus.train)
    other = batch.tgt.roll(1, 0)
    other = other.where(other < len(corpus.vocabulary) + batch.n_ext.unsqueeze(1), UNK)
    found = rewards(batch, torch.stack((batch.tgt, other), 1), corpus.vocabulary)
    assert (found[:, 0] > 0.5).all()
    for row, example in enumerate(corpus.train):
        written = corpus.vocabulary.sentences(other[row].tolist(), example.unknowns)
        text = " ".join(word for sentence in written for word in sentence)
        expected = scorer.score(" ".join(example.record.target), text)["rougeL"].fmeasure
        assert found[row, 1].item() == pytest.approx(expected, abs=1e-6)
    nothing = torch.full_like(batch.tgt, PAD).unsqueeze(1)
    assert (rewards(batch, nothing, corpus.vocabulary) == 0).all()


def test_no_dropout_inside_and_as_before_outside(lstm, corpus):
    model = build(lstm, len(corpus.vocabulary), 1)
    model.train()
    model.dropout.eval()
    with without_dropout(model):
        assert model.training
        assert not model.dropout.training
    assert not model.dropout.training
    model.dropout.train()
    with without_dropout(model):
        assert not model.dropout.training
    assert model.dropout.training


@pytest.mark.parametrize("name", ["lstm", "lstm_without_copy", "transformer"])
def test_bfloat16_is_for_matrix_products_and_hardly_moves_the_loss(corpus, phase, request, name):
    model = build(request.getfixturevalue(name), len(corpus.vocabulary), 1).eval()
    batch = collate(corpus.train)
    single = loss(model, batch, phase(), corpus.vocabulary, 5)
    with torch.autocast("cpu", torch.bfloat16):
        memory = model.encode(batch)
        readout = model.readout(batch, memory, attention=True)
        half = loss(model, batch, phase(), corpus.vocabulary, 5)
    assert readout.attention.dtype == torch.float32
    products = memory.cache["keys0"] if name == "transformer" else readout.states
    assert products.dtype == (torch.bfloat16 if name == "transformer" else torch.float32)
    assert half.dtype == torch.float32
    assert half.item() == pytest.approx(single.item(), rel=0.01)
    assert half.item() != single.item()
    half.backward()
    assert all(p.grad.dtype == torch.float32 for p in model.parameters() if p.grad is not None)
    assert all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None)

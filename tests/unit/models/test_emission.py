import pytest
import torch

from sumcurve.models.emission import Emission
from sumcurve.models.vocabulary import PAD, UNK
from sumcurve.numerics.precision import IMPOSSIBLE

V, S, B, Q = 9, 7, 3, 4


def example(seed=0):
    """Logits, attention scores, gate, src_ext, n_ext, tgt; float64.

    Row 0 has two source positions of padding, row 1 a word three times.
    """
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(B, Q, V, generator=generator, dtype=torch.float64, requires_grad=True)
    scores = torch.randn(B, Q, S, generator=generator, dtype=torch.float64, requires_grad=True)
    gate = torch.randn(B, Q, generator=generator, dtype=torch.float64, requires_grad=True)
    src_ext = torch.tensor([[5, 9, 10, 6, 9, PAD, PAD], [7, 7, 7, 9, 5, 6, 8], [9, 10, 11, 5, 6, 7, 8]])
    tgt = torch.tensor([[9, 5, 8, PAD], [7, 9, UNK, 3], [11, 10, 5, 3]])
    return logits, scores, gate, src_ext, torch.tensor([2, 1, 3]), tgt


def attention(scores, src_ext):
    return scores.masked_fill((src_ext == PAD).unsqueeze(1), IMPOSSIBLE).log_softmax(2)


def scattered(logits, scores, gate, src_ext, slots):
    """The published form: probabilities of V + O words, attention scattered onto extended ids."""
    generate = gate.sigmoid().unsqueeze(2)
    words = torch.cat((logits.softmax(2) * generate, logits.new_zeros(B, Q, slots)), 2)
    where = src_ext.unsqueeze(1).expand(-1, Q, -1)
    return words.scatter_add(2, where, attention(scores, src_ext).exp() * (1 - generate))


@pytest.mark.parametrize("seed", range(5))
def test_gold_equals_the_scattered_mixture_in_value_and_gradient(seed):
    logits, scores, gate, src_ext, _, tgt = example(seed)
    weights = torch.randn(B, Q, generator=torch.Generator().manual_seed(seed + 99), dtype=torch.float64)
    weights = weights * (tgt != PAD)
    gold = Emission(logits, attention(scores, src_ext), gate).gold(tgt, src_ext)
    reference = scattered(logits, scores, gate, src_ext, 3).gather(2, tgt.unsqueeze(2)).squeeze(2).log()
    real = tgt != PAD
    torch.testing.assert_close(gold[real], reference[real], rtol=0, atol=1e-12)
    assert (gold[~real] == 0).all()
    ours = torch.autograd.grad((gold * weights).sum(), (logits, scores, gate))
    theirs = torch.autograd.grad((reference * weights).sum(), (logits, scores, gate))
    for own, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(own, other, rtol=0, atol=1e-12)


def test_dist_is_the_scattered_mixture():
    logits, scores, gate, src_ext, n_ext, tgt = example()
    emission = Emission(logits, attention(scores, src_ext), gate)
    dist = emission.dist(src_ext, n_ext)
    torch.testing.assert_close(dist.exp(), scattered(logits, scores, gate, src_ext, 3), rtol=0, atol=1e-12)
    torch.testing.assert_close(dist.exp().sum(2), torch.ones(B, Q, dtype=torch.float64), rtol=0, atol=1e-12)
    real = tgt != PAD
    gold = emission.gold(tgt, src_ext)
    torch.testing.assert_close(dist.gather(2, tgt.unsqueeze(2)).squeeze(2)[real], gold[real], rtol=0, atol=1e-12)


def test_foreign_slots_are_impossible():
    logits, scores, gate, src_ext, n_ext, _ = example()
    dist = Emission(logits, attention(scores, src_ext), gate).dist(src_ext, n_ext)
    for row, own in enumerate(n_ext.tolist()):
        assert (dist[row, :, V + own :] == -torch.inf).all()
        assert (dist[row, :, V : V + own] > -torch.inf).all()


def test_a_saturated_gate_stays_finite():
    logits = torch.zeros(1, 1, 6, requires_grad=True)
    scores = torch.zeros(1, 1, 2, requires_grad=True)
    gate = torch.full((1, 1), 200.0, requires_grad=True)
    src_ext = torch.tensor([[6, 5]])
    gold = Emission(logits, scores.log_softmax(2), gate).gold(torch.tensor([[6]]), src_ext)  # only copying helps
    gold.sum().backward()
    assert gold.item() == pytest.approx(-200.0 - torch.tensor(2.0).log().item(), abs=1e-4)
    for tensor in (logits, scores, gate):
        assert tensor.grad is not None
        assert torch.isfinite(tensor.grad).all()
    assert gate.grad is not None
    assert gate.grad.item() == pytest.approx(-1.0)


def test_without_copying_a_source_word_is_unknown():
    logits, _, _, src_ext, n_ext, _ = example()
    emission = Emission(logits)
    gold = emission.gold(torch.full((B, Q), 10), src_ext)
    torch.testing.assert_close(gold, logits.log_softmax(2)[:, :, UNK], rtol=0, atol=1e-12)
    assert emission.dist(src_ext, n_ext).shape == (B, Q, V)


def test_half_precision_is_widened():
    logits, scores, gate, src_ext, _, tgt = (tensor.detach() for tensor in example())
    emission = Emission(logits.bfloat16(), scores.bfloat16(), gate.bfloat16())
    assert emission.gold(tgt, src_ext).dtype == torch.float32

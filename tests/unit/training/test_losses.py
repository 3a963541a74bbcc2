import pytest
import torch
from torch.nn import functional

from sumcurve.models.batch import batches, collate
from sumcurve.models.summarizer import build
from sumcurve.models.vocabulary import PAD
from sumcurve.training.losses import coverage, example_means, loss


def test_coverage_of_a_hand_computed_example():
    attention = torch.tensor([[[0.5, 0.3, 0.2], [0.1, 0.6, 0.3]]])
    # Step 1 has nothing before it; step 2: min(.1, .5) + min(.6, .3) + min(.3, .2) = .1 + .3 + .2.
    torch.testing.assert_close(coverage(attention), torch.tensor([[0.0, 0.6]]))


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


def test_repeating_ones_attention_costs_one_per_step_and_moving_on_costs_nothing():
    eye = torch.eye(4)
    assert coverage(eye.unsqueeze(0)).tolist() == [[0.0, 0.0, 0.0, 0.0]]
    assert coverage(eye[:1].expand(4, 4).unsqueeze(0)).tolist() == [[0.0, 1.0, 1.0, 1.0]]


def test_example_means_leave_padding_out():
    tgt = torch.tensor([[7, 8, PAD], [9, PAD, PAD]])
    assert example_means(torch.tensor([[1.0, 3.0, 50.0], [5.0, 50.0, 50.0]]), tgt).tolist() == [2.0, 5.0]


@pytest.mark.parametrize("name", ["nll", "nll+coverage"])
def test_every_example_counts_once_whatever_its_length(corpus, lstm, phase, name):
    model = build(lstm, len(corpus.vocabulary), 1).eval()
    settings = phase(loss=name)
    alone = [loss(model, collate([example]), settings) for example in corpus.train]
    assert len({len(example.target) for example in corpus.train}) > 2
    torch.testing.assert_close(loss(model, collate(corpus.train), settings), torch.stack(alone).mean())


def test_the_loss_is_that_of_the_full_distribution(corpus, lstm, phase):
    model = build(lstm, len(corpus.vocabulary), 1).eval()
    batch = collate(corpus.train[:5])
    emission, attention = model.forced(batch, model.encode(batch))
    logp = emission.dist(batch.src_ext, batch.n_ext).gather(2, batch.tgt.unsqueeze(2)).squeeze(2)
    costs, overlaps = [], []
    for row in range(5):
        real = int((batch.tgt[row] != PAD).sum())
        costs.append(-logp[row, :real].mean())
        overlaps.append(coverage(attention[row : row + 1, :real]).mean())
    torch.testing.assert_close(loss(model, batch, phase()), torch.stack(costs).mean())
    both = torch.stack(costs).mean() + torch.stack(overlaps).mean()
    torch.testing.assert_close(loss(model, batch, phase(loss="nll+coverage")), both)
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
    found = loss(model, batch, phase(smoothing=0.1))
    torch.testing.assert_close(found, expected)
    assert abs((found - loss(model, batch, phase())).item()) > 1e-2


def test_label_smoothing_with_copying_is_refused(corpus, lstm, phase):
    model = build(lstm, len(corpus.vocabulary), 1)
    with pytest.raises(ValueError, match="label_smoothing"):
        loss(model, collate(corpus.train[:2]), phase(smoothing=0.1))


def test_switching_coverage_on_leaves_the_loss_as_it_was(corpus, lstm, phase):
    model = build(lstm, len(corpus.vocabulary), 1).eval()
    batch = next(batches(corpus.train, 8, None))
    before = loss(model, batch, phase())
    model.enable_coverage()
    torch.testing.assert_close(loss(model, batch, phase()), before, rtol=0, atol=1e-6)

from collections import Counter
from dataclasses import replace

import pytest
import torch
from scipy import stats

from sumcurve.decoding.rollout import as_target, rollout
from sumcurve.decoding.search import greedy
from sumcurve.models.batch import collate, encode
from sumcurve.models.summarizer import score
from sumcurve.models.vocabulary import BOS, EOS, PAD, SEP, UNK, Vocabulary
from sumcurve.settings.search import Search
from sumcurve.store.records import Record


def written(tokens):
    return [token for token in tokens.tolist() if token != PAD]


@torch.no_grad()
def distribution(model, batch, prefix):
    """Log-probabilities [W] of the word after `prefix` for a batch of one example, step by step from the start."""
    memory = model.encode(batch)
    state = model.start(memory, 1)
    for last in (BOS, *prefix):
        tok = torch.tensor([[last if last < model.vocabulary_size else UNK]])
        emission, _, state = model.step(tok, memory, state)
    return emission.dist(batch.src_ext, batch.n_ext)[0, 0]


def test_the_first_half_is_greedy(name, make_model, make_batch):
    """Whatever is sampled beside it, and wherever either of the two ends first."""
    lengths = Counter()
    for seed in range(4):
        model, batch = make_model(name, seed, end=4.0), make_batch(12, seed)
        search = Search(beam=1, min_tokens=1, max_tokens=8, block_ngram=0, unknown="keep")
        torch.manual_seed(seed)
        tokens = rollout(model, batch, 8)
        assert tokens.shape == (12, 2, 8)
        assert torch.equal(tokens[:, :1], greedy(model, batch, search, exempt=()).tokens)
        first, second = (tokens != PAD).sum(2).unbind(1)
        lengths.update((first - second).sign().tolist())
    assert min(lengths[-1], lengths[1]) >= 4, f"one half nearly always ends first: {lengths}"


@pytest.mark.parametrize("name", ["pcov", "trans"])
def test_samples_have_the_models_distribution(name, make_model):
    """Chi-square over all outputs of at most 3 words; those less frequent than 5 in theory are one cell."""
    vocabulary, copies, longest = Vocabulary(["a"]), 6000, 3
    records = [Record("1", ["a x a"], ["a"]), Record("2", ["x y a x y"], ["a"])]
    examples = [encode(record, vocabulary, 9, 9) for record in records]
    model = make_model(name, seed=1, spread=0.4, end=2.5, unknown=0.0, vocabulary_size=len(vocabulary))
    torch.manual_seed(5)
    tokens = rollout(model, collate(examples * copies), longest)
    for row, example in enumerate(examples):
        alone = collate([example])
        words = [UNK, SEP, 5, *range(6, 6 + len(example.unknowns))]
        exact = {}
        prefixes = [((), 0.0)]
        for t in range(longest):
            longer = []
            for prefix, logp in prefixes:
                allowed = [*words, EOS] if t else words
                following = distribution(model, alone, list(prefix))[allowed].log_softmax(0)
                for word, more in zip(allowed, following.tolist(), strict=True):
                    if word == EOS or t + 1 == longest:
                        exact[(*prefix, word)] = logp + more
                    else:
                        longer.append(((*prefix, word), logp + more))
            prefixes = longer
        counts = Counter(tuple(written(output)) for output in tokens[row::2, 1])
        assert set(counts) <= set(exact)
        outputs = list(exact)
        expected = copies * torch.tensor([exact[output] for output in outputs], dtype=torch.float64).exp()
        observed = torch.tensor([counts[output] for output in outputs], dtype=torch.float64)
        rare = expected < 5
        cells = [torch.cat((sizes[~rare], sizes[rare].sum(0, True))) for sizes in (observed, expected)]
        assert len(cells[0]) > 15
        assert stats.chisquare(cells[0], cells[1] * copies / cells[1].sum()).pvalue > 1e-3


def test_as_a_target_an_output_is_scored_word_by_word(name, make_model, make_examples):
    model, examples = make_model(name, spread=0.4), make_examples(8, seed=3)
    batch = collate(examples)
    torch.manual_seed(0)
    outputs = rollout(model, batch, 7)
    before = outputs.clone()
    for half in (0, 1):
        target = as_target(batch, outputs[:, half], model.vocabulary_size)
        found = score(model, target).sum(1)
        assert found.requires_grad
        for row, example in enumerate(examples):
            words, alone = written(outputs[row, half]), collate([example])
            steps = [float(distribution(model, alone, words[:t])[word]) for t, word in enumerate(words)]
            assert float(found[row].detach()) == pytest.approx(sum(steps), rel=1e-4, abs=1e-4)
    assert torch.equal(outputs, before)


def test_as_target_restores_the_target_of_a_batch(make_batch, vocabulary):
    """Targets with and without EOS, with words that only the source knows, with more padding than needed."""
    batch = make_batch(20)
    assert (batch.tgt >= len(vocabulary)).any()
    assert (batch.tgt == PAD).any()
    padded = torch.nn.functional.pad(batch.tgt, (0, 5), value=PAD)
    cut = [written(target)[:2] for target in batch.tgt]
    restored = as_target(replace(batch, inp=batch.inp[:, :1], tgt=batch.tgt[:, :1]), padded, len(vocabulary))
    assert torch.equal(restored.tgt, batch.tgt)
    assert torch.equal(restored.inp, batch.inp)
    assert restored.records == batch.records
    short = as_target(batch, padded[:, :2], len(vocabulary))
    assert [written(target) for target in short.tgt] == cut
    assert torch.equal(short.inp, batch.inp[:, :2].where(short.tgt != PAD, PAD))


def test_rollouts_repeat_under_one_seed_and_keep_the_mode(make_model, make_batch):
    model, batch = make_model("pcov", spread=0.3), make_batch(10)
    samples = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        samples.append(rollout(model, batch, 6)[:, 1])
    assert torch.equal(samples[0], samples[1])
    assert not torch.equal(samples[0], samples[2])
    for mode in (True, False):
        model.train(mode)
        rollout(model, batch, 2)
        assert all(module.training == mode for module in model.modules())

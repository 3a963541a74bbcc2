from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from sumcurve.decoding.search import generate, greedy
from sumcurve.models.batch import Batch, Example, collate
from sumcurve.models.ngram import NgramSummarizer
from sumcurve.models.summarizer import Summarizer, parameter_counts, score
from sumcurve.models.vocabulary import BOS, EOS, PAD, UNK, Vocabulary
from sumcurve.settings.models import NgramSettings
from sumcurve.settings.search import Search


def settings(**keys: object) -> NgramSettings:
    return NgramSettings(**{"kind": "ngram", "embedding": 6, "hidden": 7, "context": 3, "smoothing": 5} | keys)


def rough(vocabulary: Vocabulary, seed: int = 1, **keys: object) -> NgramSummarizer:
    """A double-precision model with sharp attention, none of whose parameters is zero."""
    model = NgramSummarizer(settings(**keys), len(vocabulary))
    model.initialize(torch.Generator().manual_seed(seed))
    torch.manual_seed(seed + 1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.4)
    return model.double().eval()


def from_the_equations(model: NgramSummarizer, batch: Batch) -> tuple[dict[tuple[int, int], Tensor], list]:
    """Log-probabilities [V] and attention over the source's words, by (example, position), word by word."""
    c, reach, d, h = (
        model.settings.context,
        model.settings.smoothing // 2,
        model.settings.embedding,
        model.settings.hidden,
    )
    e, f, g = model.embedding.weight, model.source_embedding.weight, model.context_embedding.weight
    v, w = model.output.weight[:, :h], model.output.weight[:, h:]
    logps, attentions = {}, []
    for b in range(len(batch)):
        x = [f[word] for word in batch.src[b, : batch.src_len[b]].tolist()]
        smoothed = []
        for i in range(len(x)):
            near = [x[j] for j in range(len(x)) if abs(i - j) <= reach]
            smoothed.append(sum(near) / len(near))
        inputs = batch.inp[b].tolist()
        for t in range(int((batch.tgt[b] != PAD).sum())):
            context = [inputs[t - back] if t >= back else BOS for back in range(c - 1, -1, -1)]
            hidden, query = model.hidden.bias, model.query.bias
            for k, word in enumerate(context):
                hidden = hidden + model.hidden.weight[:, k * d : (k + 1) * d] @ e[word]
                query = query + model.query.weight[:, k * d : (k + 1) * d] @ g[word]
            weights = [torch.dot(one, query).exp() for one in x]
            p = [weight / sum(weights) for weight in weights]
            enc = sum(share * mean for share, mean in zip(p, smoothed, strict=True))
            logits = v @ hidden.tanh() + w @ enc + model.output.bias
            logps[b, t] = logits - logits.exp().sum().log()
            attentions.append(((b, t), p))
    return logps, attentions


@pytest.mark.parametrize(
    "keys",
    [{}, {"context": 1, "smoothing": 1}, {"context": 5, "smoothing": 3}, {"context": 12, "smoothing": 9}],
    ids=str,
)
def test_teacher_forcing_is_the_equations_in_value_and_gradient(
    keys: dict[str, object], vocabulary: Vocabulary, make_batch: Callable[..., Batch]
) -> None:
    """Sources and targets are shorter and longer than windows and contexts."""
    model, batch = rough(vocabulary, **keys), make_batch(5, seed=5)
    assert min(batch.src_len) < 3
    assert max(batch.src_len) > 9
    assert batch.tgt.shape[1] > 5
    expected, attentions = from_the_equations(model, batch)
    loss = torch.stack([logp.gather(0, _word(batch, place, len(logp))).sum() for place, logp in expected.items()]).sum()
    wanted = torch.autograd.grad(loss, list(model.parameters()))

    emission, attention = model.forced(batch, model.encode(batch))
    logp = emission.dist(batch.src_ext, batch.n_ext)
    for place, one in expected.items():
        torch.testing.assert_close(logp[place], one, rtol=0, atol=1e-12)
    for (b, t), p in attentions:
        torch.testing.assert_close(attention[b, t, : len(p)], torch.stack(p), rtol=0, atol=1e-12)
        assert (attention[b, t, len(p) :] == 0).all()
    ours = torch.autograd.grad(score(model, batch).sum(), list(model.parameters()))
    for (name, _), one, other in zip(model.named_parameters(), ours, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12, msg=name)
        assert one.abs().max() > 0, name


def _word(batch: Batch, place: tuple[int, int], size: int) -> Tensor:
    word = int(batch.tgt[place])
    return torch.tensor([word if word < size else UNK])


def test_steps_equal_teacher_forcing(vocabulary: Vocabulary, make_batch: Callable[..., Batch]) -> None:
    model, batch = rough(vocabulary, context=4), make_batch(6)
    with torch.no_grad():
        memory = model.encode(batch)
        emission, attention = model.forced(batch, memory)
        stepped, seen = Summarizer.forced(model, batch, memory)
    torch.testing.assert_close(stepped.logits, emission.logits, rtol=0, atol=1e-12)
    torch.testing.assert_close(seen, attention, rtol=0, atol=1e-12)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_window_wider_than_the_source_averages_all_of_it(length: int, vocabulary: Vocabulary) -> None:
    """The encoder then says the same whatever attention does, and padding beyond is not part of the mean."""
    model = rough(vocabulary, smoothing=5)
    src = torch.tensor([[7, 9, 30][:length] + [PAD] * (6 - length), [8] * 6])
    inp = torch.tensor([[BOS, 20, 21, 22], [BOS, 23, 24, 25]])
    batch = Batch(src, src, torch.tensor([length, 6]), inp, inp, torch.zeros(2, dtype=torch.long), [[], []], [])
    with torch.no_grad():
        states = model.readout(batch, model.encode(batch)).states
        tables = model.source_embedding.weight
        for b, mean in enumerate((tables[src[0, :length]].mean(0), tables[8])):
            torch.testing.assert_close(states[b, :, model.settings.hidden :], mean.expand(4, -1), rtol=0, atol=1e-12)


def test_padding_is_never_read(vocabulary: Vocabulary, make_batch: Callable[..., Batch]) -> None:
    model, batch = rough(vocabulary), make_batch(6)
    length = batch.tgt.shape[1]
    wider = {
        name: functional.pad(getattr(batch, name), (0, getattr(batch, name).shape[1]), value=PAD)
        for name in ("src", "src_ext", "inp", "tgt")
    }
    with torch.no_grad():
        before = score(model, batch)
        torch.testing.assert_close(score(model, replace(batch, **wider))[:, :length], before, rtol=0, atol=1e-12)
        for table in (model.embedding, model.source_embedding, model.context_embedding):
            table.weight[PAD] = torch.nan
        torch.testing.assert_close(score(model, batch), before, rtol=0, atol=1e-12)


def test_company_changes_nothing(vocabulary: Vocabulary, make_examples: Callable[..., list[Example]]) -> None:
    model, examples = rough(vocabulary), make_examples(5, seed=1)
    longer = make_examples(5, seed=2, source_tokens=40, target_tokens=20)
    with torch.no_grad():
        joined = score(model, collate([*longer, *examples])).sum(1)[5:]
        alone = torch.cat([score(model, collate([example])).sum(1) for example in examples])
    torch.testing.assert_close(joined, alone, rtol=0, atol=1e-11)


@pytest.mark.parametrize("context", [1, 4])
def test_a_word_is_seen_for_as_many_steps_as_the_context_is_long(context: int, vocabulary: Vocabulary) -> None:
    model = rough(vocabulary, context=context)
    inp = torch.tensor([[BOS, *range(10, 19)]])
    src = torch.tensor([[5, 6, 7, 8]])
    batch = Batch(src, src, torch.tensor([4]), inp, inp, torch.zeros(1, dtype=torch.long), [[]], [])
    changed = inp.clone()
    changed[0, 3] = 30
    with torch.no_grad():
        memory = model.encode(batch)
        before = model.readout(batch, memory).states[0]
        after = model.readout(replace(batch, inp=changed), memory).states[0]
    h = model.settings.hidden
    for part in (slice(0, h), slice(h, None)):  # the language model and the encoder
        differs = (before[:, part] - after[:, part]).abs().amax(1) > 1e-9
        assert differs.nonzero().flatten().tolist() == list(range(3, 3 + context))


@pytest.mark.parametrize(("words", "millions"), [(49_000, 37.9), (98_000, 75.6)])
def test_parameters_of_the_stated_widths(words: int, millions: float) -> None:
    """Three tables, the output's H + D + 1 per word, U with bias, P with bias."""
    c, d, h = 5, 128, 256
    with torch.device("meta"):
        counts = parameter_counts(NgramSummarizer(settings(embedding=d, hidden=h, context=c), words))
    assert counts["vocabulary"] == words * (3 * d + h + d + 1)
    assert counts["other"] == (c * d * h + h) + (c * d * d + d) == 246_144
    assert counts["total"] == counts["vocabulary"] + counts["other"]
    assert abs(counts["total"] / 1e6 - millions) < 0.05


@pytest.mark.parametrize("smoothing", [2, 4])
def test_a_window_without_a_middle_is_refused(smoothing: int, vocabulary: Vocabulary) -> None:
    with pytest.raises(ValueError, match=f"smoothing {smoothing} is even"):
        NgramSummarizer(settings(smoothing=smoothing), len(vocabulary))


@pytest.mark.parametrize("search", [{"beam": 1}, {"beam": 5}, {"beam": 5, "block_ngram": 2, "min_tokens": 3}], ids=str)
def test_what_search_reports_is_the_score_of_what_it_wrote(
    search: dict[str, object], vocabulary: Vocabulary, make_batch: Callable[..., Batch]
) -> None:
    model, batch = rough(vocabulary, context=4).float(), make_batch(8)
    with torch.no_grad():
        model.output.bias[EOS] += 1.5
    how = Search(**{"max_tokens": 9, "block_ngram": 0, "unknown": "keep"} | search)
    found = generate(model, batch, how, exempt=(), n=how.beam)
    ended = (found.tokens == EOS).any(2)
    assert ended.any()
    assert not ended.all()
    for rank in range(how.beam):
        tokens = found.tokens[:, rank]
        inp = functional.pad(tokens[:, :-1], (1, 0), value=BOS)
        with torch.no_grad():
            rescored = score(model, replace(batch, inp=inp, tgt=tokens)).sum(1)
        torch.testing.assert_close(found.logp[:, rank], rescored, rtol=1e-5, atol=1e-5)
    if how.beam == 1:
        assert torch.equal(found.tokens, greedy(model, batch, how, exempt=()).tokens)


def test_random_pairs_are_learned(vocabulary: Vocabulary, make_examples: Callable[..., list[Example]]) -> None:
    batch = collate(make_examples(32, seed=8))  # none repeats a word so often that the last five do not tell the next
    model = NgramSummarizer(settings(embedding=32, hidden=64, context=5), len(vocabulary))
    model.initialize(torch.Generator().manual_seed(0))
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    words = (batch.tgt != PAD).sum()
    for _ in range(150):
        optimizer.zero_grad()
        loss = -score(model, batch).sum() / words
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        assert -score(model, batch).sum() / words < 0.05
        written = greedy(model.eval(), batch, Search(max_tokens=10, block_ngram=0, unknown="keep"), exempt=()).tokens[
            :, 0
        ]
    target = batch.tgt.where(batch.tgt < len(vocabulary), UNK)
    ended = (target == EOS).any(1)
    assert torch.equal(written[ended][:, : target.shape[1]], target[ended])

import pytest
import torch

from sumcurve.models.ngram import NgramSummarizer
from sumcurve.models.summarizer import score
from sumcurve.models.vocabulary import BOS, PAD, UNK
from sumcurve.settings.models import NgramSettings


def settings(**keys):
    return NgramSettings(**{"kind": "ngram", "embedding": 6, "hidden": 7, "context": 3, "smoothing": 5} | keys)


def rough(vocabulary, seed=1, **keys):
    """A double-precision model with sharp attention, none of whose parameters is zero."""
    model = NgramSummarizer(settings(**keys), len(vocabulary))
    model.initialize(torch.Generator().manual_seed(seed))
    torch.manual_seed(seed + 1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.4)
    return model.double().eval()


def from_the_equations(model, batch):
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
def test_teacher_forcing_is_the_equations_in_value_and_gradient(keys, vocabulary, make_batch):
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


def _word(batch, place, size):
    word = int(batch.tgt[place])
    return torch.tensor([word if word < size else UNK])

"""Outputs for self-critical training (Paulus et al. 2018): sampled outputs, and a greedy one to beat."""

from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional

from sumcurve.decoding.search import restrict
from sumcurve.models.batch import Batch
from sumcurve.models.summarizer import Summarizer
from sumcurve.models.vocabulary import BOS, EOS, PAD, UNK
from sumcurve.settings.search import Search


@torch.no_grad()
def rollout(model: Summarizer, batch: Batch, max_tokens: int, samples: int = 1) -> Tensor:
    """Outputs of each example, as extended ids [B, 1 + samples, max_tokens]: EOS where it was written, then PAD.

    The first is greedy: `greedy` with `min_tokens` 1, no blocked n-grams and UNK kept. Each other is sampled word by
    word, with torch's global generator, from the model's distribution over the extended vocabulary. None writes
    PAD, BOS or an EOS before a word; samples come from what is left, renormalised, so their probability differs from
    `score`'s by what the model gives to those three.

    The model stays in its mode: put it into evaluation mode first, or dropout makes another policy of every step.
    """
    search = Search(beam=1, min_tokens=1, max_tokens=max_tokens, block_ngram=0, unknown="keep")
    device, size = batch.src.device, len(batch)
    memory = model.encode(batch)
    state = model.start(memory, 1 + samples)
    src_ext, n_ext = batch.src_ext, batch.n_ext
    rows = torch.arange(size, device=device)  # the examples still written
    tokens = torch.full((size, 1 + samples, max_tokens), PAD, device=device)
    last = torch.full((size, 1 + samples), BOS, device=device)
    done = torch.zeros(size, 1 + samples, dtype=torch.bool, device=device)
    for t in range(max_tokens):
        emission, _, state = model.step(last, memory, state)
        logp = restrict(emission.dist(src_ext, n_ext), tokens[rows, :, :t], search, (), model.marks)
        sampled = drawn(logp[:, 1:].flatten(0, 1)).view(len(rows), samples)
        word = torch.cat((logp[:, :1].argmax(2), sampled), 1)  # [B, 1 + samples]
        tokens[rows, :, t] = word.masked_fill(done, PAD)
        done = done | (word == EOS)
        over = done.all(1)
        if bool(over.all()):
            break
        last = word.where(word < emission.logits.shape[2], UNK)
        if int(over.sum()) * 2 >= len(over):
            kept = (~over).nonzero().squeeze(1)
            rows, memory, src_ext, n_ext = rows[kept], memory.select(kept), src_ext[kept], n_ext[kept]
            state, last, done = {name: value[kept] for name, value in state.items()}, last[kept], done[kept]
    return tokens


def drawn(logp: Tensor) -> Tensor:
    """A word of each of N distributions, [N, 1], by one random number each; log-probabilities [N, W] of any sum."""
    below = logp.softmax(1).cumsum(1)
    point = torch.rand(len(logp), 1, device=logp.device, dtype=logp.dtype) * below[:, -1:]
    # The first word whose cumulated probability is above the point: one of probability 0 never is. Rounding may
    # put the point on the last sum itself.
    last = (logp > -torch.inf).long().mul(torch.arange(logp.shape[1], device=logp.device)).amax(1, keepdim=True)
    return torch.searchsorted(below, point, right=True).minimum(last)


def as_target(batch: Batch, tokens: Tensor, vocabulary_size: int) -> Batch:
    """`batch` with one output of each example as its target: extended ids `tokens` [B, L], EOS included, then PAD.

    A row without EOS stays without: its likelihood is that of its first tokens. Columns that hold PAD alone are
    dropped. ValueError for tokens of another shape.
    """
    if tokens.dim() != 2 or len(tokens) != len(batch):
        raise ValueError(
            f"tokens of shape {list(tokens.shape)} are no target of {len(batch)} examples; "
            "give one output of each, [B, L], such as rollout(...)[:, 1]"
        )
    longest = max(1, int((tokens != PAD).sum(1).max()))
    tgt = tokens[:, :longest]
    words = tgt.where(tgt < vocabulary_size, UNK)
    inp = functional.pad(words[:, :-1], (1, 0), value=BOS).masked_fill(tgt == PAD, PAD)
    return replace(batch, inp=inp, tgt=tgt)

"""Losses of training.

One convention for every method, that of See et al. (2017, eq. 6-7 and 12-13): a loss is averaged over an
example's own target tokens and then over the examples, so that an example counts once whatever its length, as
in mean ROUGE.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain

import torch
from torch import Tensor, nn
from torch.nn import functional

from sumcurve.decoding.rollout import as_target, drawn, rollout
from sumcurve.models.batch import Batch
from sumcurve.models.emission import Emission
from sumcurve.models.recurrent import RecurrentSummarizer
from sumcurve.models.summarizer import ReadoutSummarizer, Summarizer
from sumcurve.models.vocabulary import BOS, PAD, UNK, Vocabulary
from sumcurve.numerics.precision import in_single
from sumcurve.rouge_engine.rewards import rouge_l_f1, words
from sumcurve.settings.training import PhaseSettings


def example_means(values: Tensor, tgt: Tensor) -> Tensor:
    """The mean [B] of `values` [B, T] over each example's target tokens, padding left out."""
    real = tgt != PAD
    return (values * real).sum(1) / real.sum(1)


def coverage(attention: Tensor) -> Tensor:
    """The coverage loss [B, T] of attention weights [B, T, S].

    It sums min(attention, sum of earlier attention) over the source (See et al. 2017, eq. 13). It is 0 at the
    first step and at most 1 at any, because attention sums to 1.
    """
    earlier = functional.pad(attention[:, :-1].cumsum(1), (0, 0, 1, 0))  # [B, T, S], the steps before each step
    return torch.minimum(attention, earlier).sum(2)


def salience(logits: Tensor, marks: Tensor, mask: Tensor) -> Tensor:
    """Binary cross-entropy [B] of salience logits [B, S] against 0/1 `marks`, averaged over real source tokens.

    Eyal et al. (2019, equation 6); their released code sums over tokens and padding.
    """
    entropy = functional.binary_cross_entropy_with_logits(logits, marks, reduction="none").masked_fill(~mask, 0.0)
    return entropy.sum(1) / mask.sum(1)


def soft_cross_entropy(logits: Tensor, target_logits: Tensor, temperature: float) -> Tensor:
    """Cross-entropy [N] of softmax(logits) against softmax(target_logits / temperature), which is a constant.

    Both [N, V]. Wei et al. (2018, section 3.1): without the stop at the target it would be an entropy term with
    another gradient.
    """
    target = (target_logits.detach() / temperature).softmax(1)
    return logits.logsumexp(1) - (target * logits).sum(1)


def with_own_words(model: Summarizer, batch: Batch, share: float) -> Batch:
    """`batch` with about `share` of its decoder inputs replaced by the model's own predictions.

    Paulus et al. (2018, section 6.1). The model's words are drawn from its distributions after the true words before
    them, in one teacher-forced pass, so that training stays parallel; a free run would draw them after its own.
    """
    assert isinstance(model, ReadoutSummarizer)
    replaced = torch.rand(batch.inp.shape, device=batch.inp.device) < share
    replaced[:, 0] = False  # BOS stays
    rows, places = (replaced & (batch.inp != PAD)).nonzero(as_tuple=True)  # [N] each
    if not len(rows):
        return batch
    with torch.no_grad():
        memory = model.encode(batch)
        readout = model.readout(batch, memory, attention=False)
        states, copy_logp, gate = (
            None if part is None else part[rows, places - 1].unsqueeze(1)
            for part in (readout.states, readout.copy_logp, readout.gate)
        )
        assert states is not None
        emission = Emission(model.logits(states, memory), copy_logp, gate)
        logp = emission.dist(batch.src_ext[rows], batch.n_ext[rows]).squeeze(1)  # [N, V + O]
        logp[:, [PAD, BOS]] = -torch.inf
        words_ = drawn(logp).squeeze(1)
    mixed = batch.inp.clone()
    mixed[rows, places] = words_.where(words_ < model.vocabulary_size, UNK)
    return replace(batch, inp=mixed)


@contextmanager
def without_dropout(model: nn.Module) -> Iterator[None]:
    """Disable dropout in training mode, because cuDNN has no gradient of an LSTM in evaluation mode."""
    switched = [module for module in model.modules() if isinstance(module, nn.Dropout) and module.training]
    layered = [(module, module.dropout) for module in model.modules() if isinstance(module, nn.LSTM)]
    for module in switched:
        module.eval()
    for lstm, _ in layered:
        lstm.dropout = 0.0
    try:
        yield
    finally:
        for module in switched:
            module.train()
        for lstm, share in layered:
            lstm.dropout = share


def self_critical(model: Summarizer, batch: Batch, vocabulary: Vocabulary, max_tokens: int, samples: int = 1) -> Tensor:
    """-(r(sample) - baseline) * log p(sample) / `max_tokens`, [B] (Paulus et al. 2018, equation 15): mean over samples.

    The baseline of one sample is r(greedy), as in the paper; of one among several it is the mean r of the others (Kool,
    van Hoof and Welling 2019; Luo 2020). Samples of weak models are nearly all worse than the greedy output, so that
    the first lowers whatever was drawn; with the second as many are raised.

    log p is the sum over the sample's tokens, its end included, as in the paper. The divisor is the same for every
    sample and so a rate; a sample's own length would weight the end of a short one more than that of a long one, and
    push lengths up wherever samples are worse than the baseline. r is the ROUGE-L F1 of all words against the
    record's whole target, copied words restored. No dropout: the scored policy is the one that was sampled from.
    """
    with without_dropout(model):
        tokens = rollout(model, batch, max_tokens, samples)  # [B, 1 + samples, L]
        greedy, reward = rewards(batch, tokens, vocabulary).split((1, samples), 1)
        baseline = greedy if samples == 1 else (reward.sum(1, keepdim=True) - reward) / (samples - 1)
        memory = model.encode(batch)
        logs = []
        for place in range(1, samples + 1):
            logp, _ = model.gold(as_target(batch, tokens[:, place], len(vocabulary)), memory)  # 0 on padding
            logs.append(logp.sum(1))
    return ((baseline - reward) * torch.stack(logs, 1)).mean(1) / max_tokens


def rewards(batch: Batch, tokens: Tensor, vocabulary: Vocabulary) -> Tensor:
    """ROUGE-L F1 [B, Q] of extended ids [B, Q, L] against the records' targets; an empty text earns 0."""
    earned = []
    for record, unknowns, texts in zip(batch.records, batch.unknowns, tokens.tolist(), strict=True):
        reference = [word for sentence in record.target for word in words(sentence)]
        for text in texts:
            written = chain.from_iterable(vocabulary.sentences(text, unknowns))
            earned.append(rouge_l_f1(words(" ".join(written)), reference))
    return torch.tensor(earned, device=tokens.device).view(tokens.shape[:2])


def loss(model: Summarizer, batch: Batch, phase: PhaseSettings, vocabulary: Vocabulary, max_tokens: int) -> Tensor:
    """The phase's loss, a scalar: the mean over the batch's examples.

    Raises ValueError for label smoothing of a copying model, whose extended vocabulary has no fixed uniform
    distribution, for the coverage loss of a model that returns no attention, and for the salience loss of a batch
    without marks.
    """
    if phase.loss in ("self-train", "dual-train"):
        return _regularised(model, batch, phase).mean()
    if phase.own_words:
        batch = with_own_words(model, batch, phase.own_words)
    memory = model.encode(batch)
    logp, attention = model.gold(batch, memory, phase.label_smoothing)
    nll = -example_means(logp, batch.tgt)
    if phase.loss == "nll+coverage":
        if attention is None:
            raise ValueError(f"phase {phase.name!r}: the model shows no attention for loss 'nll+coverage'; use 'nll'")
        nll = nll + example_means(coverage(attention), batch.tgt)
    elif phase.loss == "nll+entity":
        if batch.salient is None or phase.entity_weight is None:
            raise ValueError(
                f"phase {phase.name!r}: the batch has no marks of salient tokens; encode records with them"
            )
        logits = memory.cache["salience_logits"]
        if phase.entity_alone:
            assert isinstance(model, RecurrentSummarizer)
            logits = model.salience_logits(memory.states.detach(), memory.mask)
        weight = phase.entity_weight
        nll = weight * salience(logits, batch.salient, memory.mask) + (1 - weight) * nll
    elif phase.loss == "mixed":
        assert phase.reward_weight is not None
        weight = phase.reward_weight
        critical = self_critical(model, batch, vocabulary, max_tokens, phase.samples or 1)
        nll = weight * critical + (1 - weight) * nll
    return nll.mean()


def _regularised(model: Summarizer, batch: Batch, phase: PhaseSettings) -> Tensor:
    """Self-train or dual-train [B] (Wei et al. 2018, equations 4 to 8)."""
    assert isinstance(model, ReadoutSummarizer)
    assert phase.soft_weight is not None
    assert phase.temperature is not None
    memory = model.encode(batch)
    states = model.readout(batch, memory, attention=False).states
    tgt = batch.tgt
    places = (tgt != PAD).flatten().nonzero().squeeze(1)  # [N] positions that hold a word
    states = states.flatten(0, 1)[places]
    words_ = tgt.where(tgt < model.vocabulary_size, UNK).flatten()[places]
    logits = in_single(model.logits(states, memory))  # [N, V]
    entropy = functional.cross_entropy(logits, words_, reduction="none")
    target = logits
    if phase.loss == "dual-train":
        assert isinstance(model, RecurrentSummarizer)
        assert model.second_output is not None
        target = in_single(model.second_output(states.detach() if phase.detach_second else states))
        entropy = entropy + functional.cross_entropy(target, words_, reduction="none")
    if phase.soft_weight:
        entropy = entropy + phase.soft_weight * soft_cross_entropy(logits, target, phase.temperature)
    whole = entropy.new_zeros(tgt.numel()).index_copy(0, places, entropy).view_as(tgt)
    return example_means(whole, tgt)

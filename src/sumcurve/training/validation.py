"""Validation for stopping and selection: likelihood and greedy ROUGE of a fixed subset, and a phase's own aim."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import fmean

import numpy as np
import torch

from sumcurve.decoding.decoder import SummarizerDecoder
from sumcurve.decoding.rollout import as_target, rollout
from sumcurve.models.batch import DECODED_TOGETHER, Batch, Example, batches
from sumcurve.models.summarizer import Summarizer, score
from sumcurve.models.vocabulary import PAD, Vocabulary
from sumcurve.rouge_engine.rewards import repetition, rouge_l_f1, words
from sumcurve.rouge_engine.scorer import score_items
from sumcurve.rouge_engine.scripts import fitting_mode
from sumcurve.settings.search import Search
from sumcurve.settings.study import Rouge
from sumcurve.settings.training import PhaseSettings
from sumcurve.store.records import Record
from sumcurve.training.history import METRICS
from sumcurve.training.losses import example_means

SAMPLING_SEED = 1  # of samples at every validation, so that rows differ by their weights alone


@contextmanager
def same_draws(device: torch.device) -> Iterator[None]:
    """The same random numbers whenever it is entered; the generators are as before afterwards."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(SAMPLING_SEED)
        yield


class Validation:
    """The subset, padded and on its device once and for all, in order of source length.

    It is decoded with `search`, the greedy form of the corpus's own, so that a checkpoint is selected under the limits
    under which it is tested.
    """

    def __init__(
        self,
        examples: Sequence[Example],
        references: Sequence[list[list[str]]],
        vocabulary: Vocabulary,
        search: Search,
        device: torch.device,
    ) -> None:
        order = sorted(range(len(examples)), key=lambda index: len(examples[index].source))
        self._batches = [batch.to(device) for batch in batches([examples[index] for index in order], DECODED_TOGETHER)]
        self._references = [references[index] for index in order]
        self._vocabulary = vocabulary
        self._search = search

    @torch.no_grad()
    def __call__(self, model: Summarizer, phase: PhaseSettings) -> dict[str, float]:
        """`nll`, `repetition`, `tokens`, the mean F1 in [0, 1] of each of `history.METRICS`, and the phase's own aim.

        `nll` is in nats: the mean over examples of the mean over their tokens. `repetition` is the mean share of a
        summary's trigrams that it has had before, `tokens` its mean length. `reward`, in phases with loss mixed, is the
        mean ROUGE-L F1 that training rewards, and `sample_reward`, `sample_tokens` and `entropy` are of samples, which
        training draws (see `history.Row`); `auc`, in phases with loss nll+entity, is of salience, over all source
        tokens, and left out where these are all of one kind.
        Leaves the model in evaluation mode, and torch's generators as they were.
        """
        system = SummarizerDecoder(model, self._vocabulary, self._search)
        losses: list[float] = []
        summaries: list[list[str]] = []
        for batch in self._batches:
            losses += (-example_means(score(model, batch), batch.tgt)).tolist()
            summaries += [[" ".join(sentence) for sentence in summary] for summary in system.summarize(batch)]
        scores = measured(losses, summaries, self._references)
        if phase.loss == "mixed":
            records = [record for batch in self._batches for record in batch.records]
            scores["reward"] = fmean(map(_reward, summaries, records))
            scores |= self._samples(model)
        if phase.loss == "nll+entity" and (auc := self._salience(model)) is not None:
            scores["auc"] = auc
        return scores

    def _samples(self, model: Summarizer) -> dict[str, float]:
        """Measures of a sample of each source: what the policy gradient raises is the mean reward of these."""
        earned: list[float] = []
        written = chosen = 0
        surprise = 0.0
        with same_draws(self._batches[0].src.device):
            outputs = [rollout(model, batch, self._search.max_tokens)[:, 1] for batch in self._batches]
        for batch, tokens in zip(self._batches, outputs, strict=True):
            surprise -= float(score(model, as_target(batch, tokens, len(self._vocabulary))).double().sum())
            chosen += int((tokens != PAD).sum())
            for record, unknowns, ids in zip(batch.records, batch.unknowns, tokens.tolist(), strict=True):
                sentences = self._vocabulary.sentences(ids, unknowns)
                written += sum(map(len, sentences))
                earned.append(_reward([" ".join(sentence) for sentence in sentences], record))
        return {
            "sample_reward": fmean(earned),
            "sample_tokens": written / len(earned),
            "entropy": surprise / chosen,
        }

    def _salience(self, model: Summarizer) -> float | None:
        pairs = [_of_tokens(model, batch) for batch in self._batches]
        return area_under_curve(*(np.concatenate(column) for column in zip(*pairs, strict=True)))


def measured(
    losses: Sequence[float], summaries: Sequence[list[str]], references: Sequence[list[list[str]]]
) -> dict[str, float]:
    """Measures of greedy summaries (sentences of blank-separated tokens) by every validation: see `Validation`."""
    items = score_items(summaries, references, counting(references))
    return {
        "nll": fmean(losses),
        "repetition": fmean(repetition(summary) for summary in summaries),
        "tokens": fmean(sum(len(sentence.split(" ")) for sentence in summary) for summary in summaries),
    } | {metric: fmean(item[metric] for item in items) for metric in METRICS}


def counting(references: Sequence[list[list[str]]]) -> Rouge:
    """Scorer of validation: rouge-score's words, or the mode that reads the references' script."""
    sentences = (sentence for of_record in references for reference in of_record for sentence in reference)
    return Rouge(mode=fitting_mode(sentences))


def _reward(summary: Sequence[str], record: Record) -> float:
    """Reward of a summary by `losses.rewards`."""
    return rouge_l_f1(words(" ".join(summary)), [word for sentence in record.target for word in words(sentence)])


def _of_tokens(model: Summarizer, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    """Salience logits and 0/1 marks of a batch's real source tokens."""
    assert batch.salient is not None
    memory = model.encode(batch)
    logits = memory.cache["salience_logits"][memory.mask].float()
    return logits.cpu().numpy(), batch.salient[memory.mask].bool().cpu().numpy()


def area_under_curve(values: np.ndarray, marks: np.ndarray) -> float | None:
    """The probability that a marked value is above an unmarked one, a tie counting half; None without one of each.

    The area under the receiver operating characteristic, by the Mann-Whitney statistic (Hanley & McNeil 1982).
    """
    marked = int(marks.sum())
    others = len(marks) - marked
    if not marked or not others:
        return None
    from scipy.stats import rankdata  # a second to import, for one kind of method

    return float((rankdata(values)[marks].sum() - marked * (marked + 1) / 2) / (marked * others))

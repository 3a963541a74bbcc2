"""What stopping and selection see: likelihood and greedy ROUGE of a fixed validation subset."""

from collections.abc import Sequence
from statistics import fmean

import torch

from sumcurve.decoding.system import SummarizerSystem
from sumcurve.models.batch import Example, batches
from sumcurve.models.summarizer import Summarizer, score
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.scores.rewards import repetition
from sumcurve.scores.rouge import METRICS, score_items
from sumcurve.settings import Rouge, Search
from sumcurve.training.losses import example_means

BATCH = 50  # examples decoded together; results do not depend on it


class Validation:
    """The subset, padded and on its device once and for all, in order of source length.

    Greedy decoding writes at most `target_tokens` tokens, may repeat itself (that is what coverage should
    mend), and puts the most attended source word for an unknown one, as the study's search does by default.
    """

    def __init__(
        self,
        examples: Sequence[Example],
        references: Sequence[list[list[str]]],
        vocabulary: Vocabulary,
        target_tokens: int,
        device: torch.device,
    ) -> None:
        order = sorted(range(len(examples)), key=lambda index: len(examples[index].source))
        self._batches = [batch.to(device) for batch in batches([examples[index] for index in order], BATCH)]
        self._references = [references[index] for index in order]
        self._vocabulary = vocabulary
        self._search = Search(beam=1, max_tokens=target_tokens, block_ngram=0)

    @torch.no_grad()
    def __call__(self, model: Summarizer) -> dict[str, float]:
        """`nll`, `repetition`, `tokens` and, by name, the mean F1 in [0, 1] of each metric of `scores.rouge`.

        `nll` is in nats: the mean over examples of the mean over their tokens. `repetition` is the mean share of a
        summary's trigrams that it has had before, `tokens` its mean length.
        Leaves the model in evaluation mode; draws no random number.
        """
        system = SummarizerSystem(model, self._vocabulary, self._search)
        losses: list[float] = []
        summaries: list[list[str]] = []
        for batch in self._batches:
            losses += (-example_means(score(model, batch), batch.tgt)).tolist()
            summaries += [[" ".join(words) for words in summary] for summary in system.summarize(batch)]
        items = score_items(summaries, self._references, Rouge())
        return {
            "nll": fmean(losses),
            "repetition": fmean(repetition(summary) for summary in summaries),
            "tokens": fmean(sum(len(sentence.split(" ")) for sentence in summary) for summary in summaries),
        } | {metric: fmean(item[metric] for item in items) for metric in METRICS}

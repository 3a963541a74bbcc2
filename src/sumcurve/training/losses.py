"""What training minimises.

One convention for every method, that of See et al. (2017, eq. 6-7 and 12-13): a loss is averaged over an
example's own target tokens and then over the examples, so that an example counts once whatever its length, as
in mean ROUGE.
"""

import torch
from torch import Tensor
from torch.nn import functional

from sumcurve.models.batch import Batch
from sumcurve.models.summarizer import Summarizer
from sumcurve.models.vocabulary import PAD
from sumcurve.settings import PhaseSettings


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


def loss(model: Summarizer, batch: Batch, phase: PhaseSettings) -> Tensor:
    """The phase's loss, a scalar.

    Mean over examples of the mean over tokens of -log p, plus the coverage loss, averaged likewise, with
    weight 1. With label smoothing s the target distribution is (1 - s) on the word and s spread evenly over
    the vocabulary. Raises ValueError for label smoothing of a copying model, whose extended vocabulary has no
    fixed uniform distribution, and for the coverage loss of a model that shows no attention.
    """
    logp, attention = model.gold(batch, model.encode(batch), phase.label_smoothing)
    total = -example_means(logp, batch.tgt).mean()
    if phase.loss == "nll+coverage":
        if attention is None:
            raise ValueError(f"phase {phase.name!r}: the model shows no attention for loss 'nll+coverage'; use 'nll'")
        total = total + example_means(coverage(attention), batch.tgt).mean()
    return total

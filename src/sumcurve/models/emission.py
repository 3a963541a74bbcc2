"""Scores of the next word by a model, and the probabilities that follow from them.

A copying model mixes two distributions (See et al. 2017, equation 9): with gate probability g it writes a
vocabulary word, else it copies the word at an attended source position. Everything here stays in log space,
so that a saturated gate gives a finite loss and a finite gradient.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from sumcurve.models.vocabulary import PAD, UNK
from sumcurve.numerics.precision import IMPOSSIBLE, in_single


def generated(tgt: Tensor, vocabulary_size: int, copies: bool) -> tuple[Tensor, Tensor]:
    """The vocabulary ids for the generator, and whether it can write the words; shaped like `tgt`.

    A model that cannot copy writes UNK for a word that only the source has.
    """
    known = tgt < vocabulary_size
    return tgt.where(known, UNK), known if copies else torch.ones_like(known)


def copied(tgt: Tensor, src_ext: Tensor, copy_logp: Tensor) -> Tensor:
    """Log of the attention [B, Q] on all source positions that hold the target word."""
    same = src_ext.unsqueeze(1) == tgt.unsqueeze(2)  # [B, Q, S]
    return copy_logp.masked_fill(~same, IMPOSSIBLE).logsumexp(2)


def mixture(generate_logp: Tensor, copy_logp: Tensor, gate: Tensor) -> Tensor:
    """log(sigmoid(gate) * exp(generate_logp) + (1 - sigmoid(gate)) * exp(copy_logp))."""
    return torch.logaddexp(functional.logsigmoid(gate) + generate_logp, functional.logsigmoid(-gate) + copy_logp)


@dataclass
class Emission:
    """Next-word scores for B examples and Q queries, in single precision or better.

    `logits` [B, Q, V]; a copying model adds `copy_logp` [B, Q, S], the log-attention (IMPOSSIBLE or -inf on
    padding), and `gate` [B, Q], the logit of "generate". V is the vocabulary with its marks, O the largest
    number of extended slots in the batch.
    """

    logits: Tensor
    copy_logp: Tensor | None = None
    gate: Tensor | None = None

    def __post_init__(self) -> None:
        if (self.copy_logp is None) != (self.gate is None):
            raise ValueError("an emission that copies needs both copy_logp and gate")
        self.logits = in_single(self.logits)
        if self.copy_logp is not None and self.gate is not None:
            self.copy_logp, self.gate = in_single(self.copy_logp), in_single(self.gate)

    def gold(self, tgt: Tensor, src_ext: Tensor) -> Tensor:
        """Log-probability [B, Q] of the extended ids `tgt` [B, Q]; 0 where `tgt` is PAD."""
        size = self.logits.shape[2]
        ids, known = generated(tgt, size, self.copy_logp is not None)
        logp = -functional.cross_entropy(self.logits.flatten(0, 1), ids.flatten(), reduction="none").view_as(tgt)
        if self.copy_logp is not None and self.gate is not None:
            logp = logp.masked_fill(~known, IMPOSSIBLE)
            logp = mixture(logp, copied(tgt, src_ext, self.copy_logp), self.gate)
        return logp.masked_fill(tgt == PAD, 0.0)

    def dist(self, src_ext: Tensor, n_ext: Tensor) -> Tensor:
        """Log-probabilities [B, Q, V + O] of all words; [B, Q, V] if the model cannot copy.

        A slot beyond an example's own unknown words is -inf, because no source position points to it.
        """
        logp = self.logits.log_softmax(2)
        if self.copy_logp is None or self.gate is None:
            return logp
        batch, queries, _ = logp.shape
        slots = int(n_ext.max())
        logp = functional.pad(logp + functional.logsigmoid(self.gate).unsqueeze(2), (0, slots), value=-torch.inf)
        # Only words of the source gain mass: [B, Q, S] entries instead of V + O.
        where = src_ext.unsqueeze(1).expand(batch, queries, -1)
        mass = torch.zeros_like(logp).scatter_add_(2, where, self.copy_logp.exp()).gather(2, where).log()
        joint = torch.logaddexp(logp.gather(2, where), mass + functional.logsigmoid(-self.gate).unsqueeze(2))
        return logp.scatter(2, where, joint)

"""Optimisers and learning rates."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import nn

from sumcurve.settings.training import Optimizer


def build(settings: Optimizer, parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """A fresh optimiser over those parameters that need a gradient.

    The fused implementations do the same arithmetic in one pass over memory, and are deterministic.
    """
    parameters = [parameter for parameter in parameters if parameter.requires_grad]
    if settings.name == "adam":
        return torch.optim.Adam(parameters, lr=settings.rate, betas=settings.betas, eps=settings.epsilon, fused=True)
    if settings.name == "sgd":
        return torch.optim.SGD(parameters, lr=settings.rate, fused=True)
    return torch.optim.Adagrad(
        parameters,
        lr=settings.rate,
        initial_accumulator_value=settings.accumulator,
        eps=settings.epsilon,
        fused=parameters[0].device.type == "cpu",
    )


def warmup(settings: Optimizer, budget: int) -> int:
    """The updates of a phase's warm-up; `budget` are all of the phase."""
    return round(settings.warmup_share * budget) or settings.warmup_updates


@dataclass
class Schedule:
    """The learning rate of every update.

    constant: linear warm-up, then the peak. plateau: the same, halved after two stale validations in a row (see
    `settings.training.Stop`). noam (Vaswani et al. 2017, eq. 3, scaled so that its peak is `rate`): peak * min(u / w,
    sqrt(w / u)). linear: warm-up as for constant, then down in a line that would be 0 one update after the
    phase's last, `budget` (transformers' `get_linear_schedule_with_warmup`, with one step more: no update has rate 0).
    """

    settings: Optimizer
    budget: int  # updates of the phase
    stale: int = 0  # validations in a row, since the last halving
    halvings: int = 0

    def rate(self, update: int) -> float:
        """The rate of the update with this number, counted from 1."""
        peak, rising = self.settings.rate, warmup(self.settings, self.budget)
        if self.settings.schedule == "noam":
            return peak * min(update / rising, (rising / update) ** 0.5)
        ramp = min(1.0, update / rising) if rising else 1.0
        if self.settings.schedule == "linear":
            return peak * min(ramp, (self.budget + 1 - update) / (self.budget + 1 - rising))
        return peak * ramp * 0.5**self.halvings

    def observe(self, better: bool) -> None:
        """Record a validation."""
        self.stale = 0 if better else self.stale + 1
        if self.settings.schedule == "plateau" and self.stale == 2:
            self.stale = 0
            self.halvings += 1

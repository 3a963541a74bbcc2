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


@dataclass
class Schedule:
    """The learning rate of every update.

    constant: linear warm-up, then the peak. plateau: the same, halved after two validations in a row without
    a better one. noam (Vaswani et al. 2017, eq. 3, scaled so that its peak is `rate`): peak * min(u / w,
    sqrt(w / u)).
    """

    settings: Optimizer
    stale: int = 0  # validations without a better one since the last halving or better one
    halvings: int = 0

    def rate(self, update: int) -> float:
        """The rate of the update with this number, counted from 1."""
        peak, warmup = self.settings.rate, self.settings.warmup_updates
        if self.settings.schedule == "noam":
            return peak * min(update / warmup, (warmup / update) ** 0.5)
        ramp = min(1.0, update / warmup) if warmup else 1.0
        return peak * ramp * 0.5**self.halvings

    def observe(self, better: bool) -> None:
        """Take note of a validation."""
        self.stale = 0 if better else self.stale + 1
        if self.settings.schedule == "plateau" and self.stale == 2:
            self.stale = 0
            self.halvings += 1

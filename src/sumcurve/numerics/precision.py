"""Values that stay in single precision, and the log-probability that stands for zero."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

IMPOSSIBLE = -1e30
"""A log-probability that stands for zero yet has a defined gradient, which -inf has not."""
T = TypeVar("T")


def in_single(tensor: Tensor) -> Tensor:
    """`tensor` in at least single precision: half-precision logits lose the tail of a large vocabulary."""
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def single_precision(method: Callable[..., T]) -> Callable[..., T]:
    """A module's method without autocast: recurrences and their attention stay in single precision."""

    @wraps(method)
    def run(self: nn.Module, *given: Any, **named: Any) -> T:
        with torch.autocast(next(self.parameters()).device.type, enabled=False):
            return method(self, *given, **named)

    return run

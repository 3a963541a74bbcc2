"""Data-parallel training: processes that hold equal weights and share every batch.

A batch is cut into parts; each process computes some, gradients are summed, and every process makes the same update.
Started by `torchrun`; without it there is one process.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from sumcurve.torchrun import place

Item = TypeVar("Item")


@dataclass(frozen=True)
class Group:
    """The processes that train together; `rank` counts from 0."""

    rank: int = 0
    size: int = 1

    def own(self, items: Sequence[Item], parts: int) -> list[list[Item]]:
        """The parts of a batch that this process computes, at most `parts`: every n-th item each, so that their
        lengths are alike where `items` are sorted by length. Empty parts are left out."""
        every = self.size * parts
        shares = (list(items[number::every]) for number in range(self.rank * parts, (self.rank + 1) * parts))
        return [share for share in shares if share]

    def sum_gradients(self, parameters: Sequence[nn.Parameter], loss: Tensor) -> Tensor:
        """Replace all gradients by their sums over the processes; returns the summed loss. A parameter without a
        gradient counts as 0 if another process has one, and all processes then agree to have one."""
        if self.size == 1:
            return loss
        has = torch.tensor([parameter.grad is not None for parameter in parameters], device=loss.device).int()
        torch.distributed.all_reduce(has)
        used = [parameter for parameter, number in zip(parameters, has.tolist(), strict=True) if number]
        for parameter in used:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        gradients = [parameter.grad for parameter in used if parameter.grad is not None]
        whole = torch.cat([loss.reshape(1).float(), *(gradient.flatten().float() for gradient in gradients)])
        torch.distributed.all_reduce(whole)
        total, *shares = whole.split([1, *(gradient.numel() for gradient in gradients)])
        for gradient, share in zip(gradients, shares, strict=True):
            gradient.copy_(share.view_as(gradient))
        return total[0]

    def gather(self, value: Any) -> list[Any]:
        """The values of all processes, by rank."""
        if self.size == 1:
            return [value]
        values: list[Any] = [None] * self.size
        torch.distributed.all_gather_object(values, value)
        return values


def own_card(environment: Mapping[str, str], cards: int) -> int:
    """The number of a process's GPU among the `cards` that it sees: 0 where its lease shows it one, else LOCAL_RANK."""
    rank = place(environment).local_rank
    if cards > 1 and rank >= cards:
        raise ValueError(f"LOCAL_RANK is {rank} and this process sees {cards} GPUs: start one process for each")
    return rank if cards > 1 else 0


def join(device: torch.device) -> Group:
    """The group that `torchrun` started this process in; a group of one otherwise.

    A process that sees several GPUs (its lease shows it one; see `devices`) computes on that of its LOCAL_RANK, which
    becomes the one that "cuda" means. Raises ValueError where there is none of that number, TorchrunError.
    """
    if place(os.environ).size == 1:
        return Group()
    own = None
    if device.type == "cuda":
        own = torch.device("cuda", own_card(os.environ, torch.cuda.device_count()))
        torch.cuda.set_device(own)
    if not torch.distributed.is_initialized():
        backend = "nccl" if own is not None else "gloo"
        torch.distributed.init_process_group(backend, timeout=timedelta(hours=2), device_id=own)
    return Group(torch.distributed.get_rank(), torch.distributed.get_world_size())

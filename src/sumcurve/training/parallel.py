"""Data-parallel training: processes that hold equal weights and share every batch.

A batch is cut into parts; each process computes some, gradients are summed, and every process makes the same update.
The first process validates, and its measures decide for all. Started by `sumcurve.machine.launch` or `torchrun`;
without them there is one process. Experimental: tested on CPUs (gloo), not yet on GPUs (NCCL).
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn

from sumcurve.machine.torchrun import place

MOST_SUMMED = 25_000_000
"""Numbers that are summed over the processes at once, in a copy, beside those of one larger parameter."""
Item = TypeVar("Item")
Value = TypeVar("Value")


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

    def sum_gradients(self, parameters: Sequence[nn.Parameter], loss: Tensor, flag: bool) -> tuple[Tensor, bool]:
        """Replace all gradients by their sums over the processes; returns the summed loss, and whether the flag of
        any process is set. A parameter without a gradient counts as 0 if another process has one, and all processes
        then agree to have one."""
        if self.size == 1:
            return loss, flag
        has = [*(parameter.grad is not None for parameter in parameters), flag]
        counts = torch.tensor(has, device=loss.device).int()
        torch.distributed.all_reduce(counts)
        *having, flags = counts.tolist()
        used = [parameter for parameter, number in zip(parameters, having, strict=True) if number]
        for parameter in used:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        gradients = [parameter.grad for parameter in used if parameter.grad is not None]
        total = loss.reshape(1).float().clone()
        for summands in _buckets([total, *gradients]):
            whole = torch.cat([summand.flatten().float() for summand in summands])
            torch.distributed.all_reduce(whole)
            for summand, share in zip(summands, whole.split([part.numel() for part in summands]), strict=True):
                summand.copy_(share.view_as(summand))
        return total[0], flags > 0

    def gather(self, value: Any) -> list[Any]:
        """The values of all processes, by rank."""
        if self.size == 1:
            return [value]
        values: list[Any] = [None] * self.size
        torch.distributed.all_gather_object(values, value)
        return values

    def of_first(self, compute: Callable[[], Value]) -> Value:
        """Value computed by the first process, for all of them; the others wait for it."""
        if self.size == 1:
            return compute()
        values = [None if self.rank else compute()]
        torch.distributed.broadcast_object_list(values, src=0)
        return cast(Value, values[0])


def _buckets(summands: Sequence[Tensor]) -> Iterator[list[Tensor]]:
    """The tensors in their order, as many together as have at most `MOST_SUMMED` numbers, else one."""
    bucket: list[Tensor] = []
    for summand in summands:
        if bucket and sum(part.numel() for part in bucket) + summand.numel() > MOST_SUMMED:
            yield bucket
            bucket = []
        bucket.append(summand)
    if bucket:
        yield bucket


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


def leave(failed: bool) -> None:
    """Destroy the group of `join`, if there is one; every process does so at its end.

    NCCL's is destroyed once all have entered their last collective. A process that `failed` cannot wait for that: it
    aborts the current collective and ends, and `torchrun` ends the others.
    """
    if not torch.distributed.is_initialized():
        return
    if failed and torch.distributed.get_backend() == "nccl":
        assert torch.distributed.group.WORLD is not None
        torch.distributed.group.WORLD.abort()
    torch.distributed.destroy_process_group()

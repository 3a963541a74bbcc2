"""Rank of a process among those that `torchrun`, or `sumcurve.machine.launch` by the same variables, started.

Clusters and shells export RANK or WORLD_SIZE for purposes of their own, so that these alone mean nothing.
TORCHELASTIC_RUN_ID is torchrun's own, by which torch itself knows it (`torch.distributed.is_torchelastic_launched`),
and the others come with it: https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables.
"""

from collections.abc import Mapping
from dataclasses import dataclass

RUN = "TORCHELASTIC_RUN_ID"
EXPERIMENTAL = "training in several processes (torchrun) is experimental: tested on CPUs, not yet on GPUs"


class TorchrunError(RuntimeError):
    """An environment that says half of what torchrun says."""


@dataclass(frozen=True)
class Place:
    """Rank of a process among those that train together, from 0, and among those of its machine."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    local_size: int = 1


def place(environment: Mapping[str, str]) -> Place:
    """The place that torchrun gave this process; without torchrun it is one process, whatever else is set.

    Raises TorchrunError where torchrun is named and what it sets is not all there or cannot be.
    """
    if not environment.get(RUN):
        return Place()
    numbers = {name: environment.get(name, "") for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")}
    wrong = [name for name, value in numbers.items() if not (value.isascii() and value.isdecimal())]
    wrong += [name for name in ("MASTER_ADDR", "MASTER_PORT") if not environment.get(name)]
    if not wrong:
        place = Place(*map(int, numbers.values()))
        wrong += ["RANK"] if place.rank >= place.size else []
        wrong += ["LOCAL_RANK"] if place.local_rank >= place.local_size else []
    if wrong:
        problems = ", ".join(f"{name} is {environment.get(name)!r}" for name in wrong)
        raise TorchrunError(
            f"{RUN} says that torchrun started this process, but {problems}: start it with torchrun, or unset {RUN} "
            "for one process"
        )
    return place

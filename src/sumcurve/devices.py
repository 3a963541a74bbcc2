"""Lend one GPU to one process on a box without a scheduler.

The lease is an exclusive `flock` on one file per device: the kernel frees it when the process ends, killed or not.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO


class DeviceError(RuntimeError):
    """A device that was granted and cannot be used."""


@dataclass(frozen=True)
class Lease:
    """What a process may compute on: `cpu` or one CUDA device, and whether nobody else uses it meanwhile."""

    device: str  # "cpu" or "cuda"
    exclusive: bool


def _try_lock(path: Path) -> IO[str] | None:
    # Opened for reading: the file may be another user's, who made it in a folder that all share.
    with suppress(FileExistsError):
        path.touch(0o644, exist_ok=False)
    stream = path.open()
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        stream.close()
        return None
    return stream


@contextmanager
def lease(pool: list[str], locks: Path, wait_seconds: float = 1.0, kind: str = "gpu") -> Iterator[str | None]:
    """Yield one thing of `pool`, waiting until one is free; None for no pool. A GPU is named as CUDA names it."""
    if not pool:
        yield None
        return
    locks.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        while True:
            for device in pool:
                stream = _try_lock(locks / f"sumcurve-{kind}-{device}.lock")
                if stream is not None:
                    stack.enter_context(stream)
                    yield device
                    return
            time.sleep(wait_seconds)


def pool(environment: dict[str, str]) -> list[str]:
    """The devices that may be lent: CUDA_VISIBLE_DEVICES where it is set, else every NVIDIA device file.

    SUMCURVE_DEVICE=cpu asks for none.
    """
    if environment.get("SUMCURVE_DEVICE") == "cpu":
        return []
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [device for device in visible.split(",") if device]
    return sorted(path.name.removeprefix("nvidia") for path in Path("/dev").glob("nvidia[0-9]*"))


@contextmanager
def device(environment: dict[str, str], locks: Path) -> Iterator[Lease]:
    """Yield what this process may compute on. Enter before torch is imported: the lease decides what torch sees.

    Inside a Slurm job the scheduler has lent the devices already. A granted GPU that torch cannot use is an error,
    never a quiet fall-back to the CPU.
    """
    devices = pool(environment)
    if "SLURM_JOB_ID" in environment:
        if devices:
            _require_cuda(devices[0])
        yield Lease("cuda" if devices else "cpu", exclusive=True)
        return
    with lease(devices, locks) as lent:
        if lent is None:
            yield Lease("cpu", exclusive=True)
            return
        os.environ["CUDA_VISIBLE_DEVICES"] = lent
        _require_cuda(lent)
        yield Lease("cuda", exclusive=True)


def _require_cuda(lent: str) -> None:
    import torch  # after CUDA_VISIBLE_DEVICES is set

    if not torch.cuda.is_available():
        raise DeviceError(
            f"GPU {lent} was granted, but torch {torch.__version__} cannot use it: install a CUDA build of torch "
            "or set SUMCURVE_DEVICE=cpu"
        )

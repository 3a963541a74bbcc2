"""Lend GPUs to processes of a box or of a scheduler's allocation: one, or several at once.

A card is known by its UUID, whatever a container, a scheduler or `CUDA_VISIBLE_DEVICES` calls it. The lease is an
exclusive `flock` on one file per card: the kernel frees it when the process ends, killed or not. Who waits does so in
turn: a second file per card says who is the next that may have it, so that nobody holds one card while it waits for
another, and nobody who wants several is overtaken for ever.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sumcurve.machine.locks import file_system, take
from sumcurve.machine.torchrun import place

NONE = {"", "-1", "nodevfiles", "void", "none"}
"""Names in CUDA_VISIBLE_DEVICES that hide GPUs: CUDA ignores all names from the first of these on."""

# The driver is asked in a process of its own: CUDA reads the environment once, and a lease changes it later. Names
# are those that CUDA_VISIBLE_DEVICES understands. No driver (the library is missing, or a stub: 34) or no device (100)
# is an empty list.
_ASK = """
import ctypes, sys, uuid
try:
    cuda = ctypes.CDLL("libcuda.so.1")
except OSError:
    sys.exit(0)
def ask(function, *given):
    status = function(*given)
    if status in (34, 100):
        sys.exit(0)
    if status:
        sys.exit(f"{function.__name__} returned {status}")
number = ctypes.c_int()
ask(cuda.cuInit, 0)
ask(cuda.cuDeviceGetCount, ctypes.byref(number))
for index in range(number.value):
    device, raw, name = ctypes.c_int(), (ctypes.c_ubyte * 16)(), ctypes.create_string_buffer(256)
    ask(cuda.cuDeviceGet, ctypes.byref(device), index)
    ask(getattr(cuda, "cuDeviceGetUuid_v2", None) or cuda.cuDeviceGetUuid, raw, device)
    ask(cuda.cuDeviceGetName, name, 256, device)
    print(("MIG-" if b" MIG " in name.value else "GPU-") + str(uuid.UUID(bytes=bytes(raw))))
"""
PER_RUN = "SUMCURVE_GPUS_PER_RUN"
LEASED = "SUMCURVE_LEASED"
"""The card of a process whose parent holds the lease (`sumcurve.machine.launch`)."""
ANSWER_SECONDS = 120.0  # drivers take seconds to wake many cards


class DeviceError(RuntimeError):
    """A device that was granted and cannot be used, or a lease that cannot be taken."""


@dataclass(frozen=True)
class Lease:
    """Device of a process: `cpu` or one CUDA device, and whether it is exclusive."""

    device: str  # "cpu" or "cuda"
    exclusive: bool


@dataclass(frozen=True)
class Cards:
    """Cards that are leased together, by UUID, and the open files that hold their locks.

    A process that inherits the files holds the lease, too: it ends when the last of them has ended.
    """

    names: tuple[str, ...]
    files: tuple[int, ...]


def _silent(text: str) -> None:
    """Say nothing."""


def _try_lock(path: Path, shared: bool = False, wait: bool = False) -> int | None:
    """An open file that holds the lock, None where another process holds it, or holds it unshared.

    With `wait` it is never None. Raises DeviceError where the file cannot be opened or its file system has no locks.
    """
    try:
        _make(path)
        try:
            opened = os.open(path, os.O_RDWR | os.O_CLOEXEC)  # NFS locks only what is open for writing
        except PermissionError:
            opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise DeviceError(
            f"{path}: the lock file of a lease cannot be opened ({error.strerror}); every user of this machine must "
            "be able to read it: ask its owner to remove it"
        ) from error
    try:
        mine = take(opened, shared=shared, wait=wait)
    except OSError as error:
        os.close(opened)
        raise DeviceError(
            f"{path}: its file system ({file_system(path)}) takes no lock: {error.strerror}; leases need a folder "
            "on a local file system"
        ) from error
    if not mine:
        os.close(opened)
    return opened if mine else None


def _make(path: Path) -> None:
    """The file, readable and writable by every user whatever the umask: at no time is there another one by its name."""
    if path.exists():
        return
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-") as made:
        os.fchmod(made.fileno(), 0o666)
        with suppress(FileExistsError):
            os.link(made.name, path)


def _lock_path(locks: Path, kind: str, name: str) -> Path:
    return locks / f"sumcurve-{kind}-{name.replace('/', '_')}.lock"  # MIG devices were once called MIG-GPU-…/1/0


@contextmanager
def lease(
    pool: Sequence[str],
    locks: Path,
    wait_seconds: float = 1.0,
    say: Callable[[str], None] = _silent,
    shares: int = 1,
    in_turn: bool = True,
) -> Iterator[str | None]:
    """Yield one card of `pool`, waiting until one is free; None for no pool.

    With `shares` as many processes that all say so may have one card; one that wants it alone waits for all of them.
    `say` hears once, before the wait begins, what is waited for. Without `in_turn` it passes those who wait. Raises
    DeviceError where no lock can be taken at all.
    """
    if not pool:
        yield None
        return
    with leases(pool, 1, locks, wait_seconds, say, shares, in_turn) as cards:
        yield cards.names[0]


@contextmanager
def leases(
    pool: Sequence[str],
    number: int,
    locks: Path,
    wait_seconds: float = 1.0,
    say: Callable[[str], None] = _silent,
    shares: int = 1,
    in_turn: bool = True,
) -> Iterator[Cards]:
    """Yield `number` cards of `pool`, which has as many, taken at once when as many are free; else as `lease`."""
    locks.mkdir(parents=True, exist_ok=True)
    announced = False

    def announce() -> None:
        nonlocal announced
        if not announced:
            what = "a GPU" if number == 1 else f"{number} GPUs"
            say(f"waiting for {what}: {', '.join(pool)} in use by other processes (locks in {locks})")
        announced = True

    with ExitStack() as held:
        with ExitStack() as turn:
            for card in sorted(pool) if in_turn else ():  # in one order: pools that overlap wait in no circle
                path = _lock_path(locks, "turn", card)
                if (opened := _try_lock(path)) is None:
                    announce()
                    opened = _try_lock(path, wait=True)
                assert opened is not None
                turn.callback(os.close, opened)
            while (cards := _try_cards(pool, number, locks, shares)) is None:
                announce()
                time.sleep(wait_seconds)
            for file in cards.files:
                held.callback(os.close, file)
        yield cards


def _try_cards(pool: Sequence[str], number: int, locks: Path, shares: int) -> Cards | None:
    """The first `number` cards that are free, None where there are fewer, of which none is held then."""
    names: list[str] = []
    files: list[int] = []
    with ExitStack() as held:
        for card in pool:
            if (opened := _try_card(card, locks, shares)) is None:
                continue
            for file in opened:
                held.callback(os.close, file)
            names.append(card)
            files += opened
            if len(names) == number:
                held.pop_all()
                return Cards(tuple(names), tuple(files))
    return None


def _try_card(card: str, locks: Path, shares: int) -> list[int] | None:
    """The open files that hold the card, None where it is taken."""
    with ExitStack() as held:
        opened = _try_lock(_lock_path(locks, "gpu", card), shared=shares > 1)
        if opened is None:
            return None
        held.callback(os.close, opened)
        if shares == 1:
            held.pop_all()
            return [opened]
        for number in range(shares):
            share = _try_lock(_lock_path(locks, "gpu", f"{card}-share{number}"))
            if share is not None:
                held.pop_all()
                return [opened, share]
    return None


@contextmanager
def bar_line(locks: Path, most: int = 100) -> Iterator[int]:
    """Yield the number of a line of the terminal on which no other training of this home draws its progress bar.

    Nothing depends on it: where all are taken, or no lock can be had, it is 0, at once.
    """
    with ExitStack() as stack:
        line = 0
        with suppress(OSError, DeviceError):
            locks.mkdir(parents=True, exist_ok=True)
            for number in range(most):
                opened = _try_lock(_lock_path(locks, "bar", str(number)))
                if opened is not None:
                    stack.callback(os.close, opened)
                    line = number
                    break
        yield line


def pool(environment: dict[str, str]) -> list[str]:
    """The cards that may be lent, by the UUIDs that CUDA_VISIBLE_DEVICES understands.

    They are those that the NVIDIA driver shows under this environment, where CUDA_VISIBLE_DEVICES may hide or order
    some. SUMCURVE_DEVICE=cpu asks for none. Of MIG devices a process sees one only, so each is asked for by itself.

    Raises DeviceError where a card is asked for and none is there, and where the driver does not answer.
    """
    if environment.get("SUMCURVE_DEVICE") == "cpu":
        return []
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return _seen(environment)
    granted: list[str] = []
    for name in (name.strip() for name in visible.split(",")):
        if name.lower() in NONE:
            break
        granted.append(name)
    if not granted:
        return []
    together = [granted] if not any(name.startswith("MIG-") for name in granted) else [[name] for name in granted]
    shown = (_seen(environment | {"CUDA_VISIBLE_DEVICES": ",".join(names)}) for names in together)
    cards = list(dict.fromkeys(card for cards in shown for card in cards))
    if not cards:
        raise DeviceError(
            f"GPU {visible} was granted (CUDA_VISIBLE_DEVICES), but the NVIDIA driver shows no such card, so this "
            "process cannot use it: correct CUDA_VISIBLE_DEVICES or set SUMCURVE_DEVICE=cpu"
        )
    return cards


def _seen(environment: dict[str, str]) -> list[str]:
    """The cards that CUDA sees under this environment, by UUID."""
    try:
        answer = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _ASK],
            env=environment,
            capture_output=True,
            text=True,
            timeout=ANSWER_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise DeviceError(
            f"the NVIDIA driver did not say within {ANSWER_SECONDS:g} s which GPUs there are; "
            "set SUMCURVE_DEVICE=cpu to go without"
        ) from error
    if answer.returncode:
        raise DeviceError(
            f"the NVIDIA driver cannot say which GPUs there are ({answer.stderr.strip() or answer.returncode}); "
            "mend it or set SUMCURVE_DEVICE=cpu"
        )
    return answer.stdout.split()


def per_run(environment: Mapping[str, str]) -> tuple[int, int]:
    """Value of SUMCURVE_GPUS_PER_RUN: how many cards a training has, and how many processes may share one card.

    (2, 1) for 2, (1, 2) for 0.5, (1, 1) without it. DeviceError for what is no such number.
    """
    text = environment.get(PER_RUN, "1")
    if text.isascii() and text.isdecimal() and int(text):
        return int(text), 1
    try:
        number = round(1 / float(text))
    except (ValueError, ZeroDivisionError, OverflowError):
        number = 0
    if number < 1 or abs(number * float(text) - 1) > 0.02:
        raise DeviceError(
            f"{PER_RUN} is {text!r}: give how many GPUs each training takes, as 1 or 2, or which share of one each "
            "process takes, as 0.5, 0.33 or 0.25"
        )
    return 1, number


@contextmanager
def several(environment: dict[str, str], locks: Path, say: Callable[[str], None] = _silent) -> Iterator[Cards]:
    """Yield the cards of one training, as many as SUMCURVE_GPUS_PER_RUN says, leased at once.

    Raises DeviceError where there are fewer, as on a CPU: waiting would never end.
    """
    number, _ = per_run(environment)
    cards = pool(environment)
    if len(cards) < number:
        visible = f"GPUs {', '.join(cards)}" if cards else "no GPU"
        raise DeviceError(
            f"{PER_RUN} is {number} and this process may use {visible}: set it to {max(1, len(cards))} or unset it, "
            "or let CUDA_VISIBLE_DEVICES or the scheduler grant more; on CPUs "
            f"`torchrun --nproc-per-node {number} -m sumcurve make` trains in several processes"
        )
    with leases(cards, number, locks, say=say) as leased:
        yield leased


def _of_rank(cards: list[str], environment: dict[str, str]) -> list[str]:
    """Card of this process among those that `torchrun` started here (LOCAL_RANK); else all.

    Raises DeviceError for fewer cards than processes: the others would wait for the last one for hours. TorchrunError.
    """
    own = place(environment)
    if not cards or own.size == 1:
        return cards
    if own.local_size > len(cards):
        raise DeviceError(
            f"{own.local_size} processes train together on this machine (LOCAL_WORLD_SIZE) and there are {len(cards)} "
            "GPUs: start as many as there are GPUs, or set SUMCURVE_DEVICE=cpu"
        )
    return [cards[own.local_rank % len(cards)]]


@contextmanager
def device(environment: dict[str, str], locks: Path, say: Callable[[str], None] = _silent) -> Iterator[Lease]:
    """Yield what this process may compute on. Enter before torch is imported: the lease decides what torch sees.

    Inside a scheduler's allocation, too: its processes share its cards. A process that `sumcurve.machine.launch`
    started has the card that its parent leased for it. Those of a `torchrun` by hand take the cards of their ranks; two
    such groups that want the same cards must not start at once, for each would hold what the other waits for. Where
    SUMCURVE_GPUS_PER_RUN lets several share a card, no lease is exclusive, and tables refuse what rests on measured
    time. A granted GPU that torch cannot use is an error, never a quiet fall-back to the CPU. On it single precision is
    single precision: cuDNN's TF32, which torch allows in recurrences and convolutions, is off but for trainings whose
    settings ask for it.
    """
    _, together = per_run(environment)
    with ExitStack() as held:
        lent = environment.get(LEASED)
        if lent is None:
            alone = place(environment).size == 1  # the ranks of one job skip the queue
            cards = _of_rank(pool(environment), environment)
            lent = held.enter_context(lease(cards, locks, say=say, shares=together, in_turn=alone))
        if lent is None:
            yield Lease("cpu", exclusive=True)
            return
        os.environ["CUDA_VISIBLE_DEVICES"] = lent
        _require_cuda(lent)
        allow_tf32(False)
        yield Lease("cuda", exclusive=together == 1)


def _require_cuda(lent: str) -> None:
    import torch  # after CUDA_VISIBLE_DEVICES is set

    if not torch.cuda.is_available():
        raise DeviceError(
            f"GPU {lent} was granted, but torch {torch.__version__} cannot use it: install a CUDA build of torch "
            "or set SUMCURVE_DEVICE=cpu"
        )


def allow_tf32(allowed: bool) -> None:
    """Allow or forbid GPUs to multiply single precision with mantissas of ten bits; no effect on a CPU."""
    import torch

    torch.backends.cudnn.allow_tf32 = allowed
    torch.backends.cuda.matmul.allow_tf32 = allowed

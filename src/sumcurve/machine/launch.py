"""One training in several processes of this machine, each with one card of a lease that their parent took.

They get what `torchrun` says to its processes (`sumcurve.machine.torchrun`). `torchrun` itself cannot start them: the
lease must last as long as any of them, which its processes do not inherit; a signal that it is sent twice (by Slurm and
by the parent) ends it before them; and it kills after 30 s who still writes its state.
"""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import IO

from sumcurve.machine.devices import LEASED, Cards
from sumcurve.machine.torchrun import RUN

HANDED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGURG)
PR_SET_PDEATHSIG = 1  # in Linux's prctl.h
LOOK_SECONDS = 0.1
GRACE_SECONDS = 30.0
"""Seconds in which processes may end by themselves once one of them failed."""


def environment_of(rank: int, cards: Sequence[str], environment: Mapping[str, str], port: int) -> dict[str, str]:
    """Environment of the process of this rank: its card alone, and that it is one of so many."""
    size = str(len(cards))
    return {
        **environment,
        RUN: "sumcurve",
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": size,
        "LOCAL_WORLD_SIZE": size,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        LEASED: cards[rank],
        "CUDA_VISIBLE_DEVICES": cards[rank],
    }


def run(words: Sequence[str], cards: Cards, environment: Mapping[str, str], stderr: IO[str]) -> int:
    """Run `python words` once for each card until all have ended; the exit status of the first that failed, else 0.

    A signal's is 128 more than its number, as shells say it. Signals that end or warn a process are handed on to all.
    Once one has failed the others are asked to end, and killed after `GRACE_SECONDS`. They hold the lease as well, and
    the kernel kills them where this process dies.
    """
    held = _bound()
    processes: list[subprocess.Popen[bytes]] = []

    def hand_on(number: int, _: FrameType | None) -> None:
        for process in processes:
            process.send_signal(number)

    heard = [number for number in HANDED_ON if signal.getsignal(number) != signal.SIG_IGN]  # `nohup` ignores SIGHUP
    before = {number: signal.signal(number, hand_on) for number in heard}
    stderr.flush()
    try:
        for rank in range(len(cards.names)):
            processes.append(
                subprocess.Popen(
                    [sys.executable, *words],
                    env=environment_of(rank, cards.names, environment, held.getsockname()[1]),
                    stderr=stderr,
                    pass_fds=cards.files,
                    process_group=0,  # a terminal's Ctrl-C reaches them once, handed on
                    preexec_fn=_dies_with(os.getpid()),
                )
            )
        return _status(processes)
    finally:
        for process in processes:
            process.kill()
            process.wait()
        for number, handler in before.items():
            signal.signal(number, handler)
        held.close()


def _status(processes: Sequence[subprocess.Popen[bytes]]) -> int:
    """Wait for all; what the first that failed ended with."""
    failed, until = 0, float("inf")
    while None in (codes := [process.poll() for process in processes]):
        if not failed and (failed := next((code for code in codes if code), 0)):
            until = time.monotonic() + GRACE_SECONDS
            for process in processes:
                process.terminate()
        if time.monotonic() > until:
            for process in processes:
                process.kill()
        time.sleep(LOOK_SECONDS)
    failed = failed or next((code for code in codes if code), 0)
    return 128 - failed if failed < 0 else failed


def _dies_with(parent: int) -> Callable[[], None]:
    """Have this child process killed when its parent, the process `parent`, dies; called before its program begins."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)

    def tie() -> None:
        if prctl is not None:
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:  # it died before
                os._exit(1)

    return tie


def _bound() -> socket.socket:
    """A socket whose port no other launch gets while it is open; torch, which reuses addresses, may listen at it."""
    opened = socket.socket()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    opened.bind(("127.0.0.1", 0))
    return opened

"""Signals by which a scheduler announces a training's end: its state is written between two validations."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from sumcurve.training.parallel import Group

AT_LIMIT = "SUMCURVE_AT_LIMIT"  # the environment variable with a shell command that requests another allocation
WARN, TERM = signal.SIGURG, signal.SIGTERM  # the first does nothing to processes that do not listen
ONE_END_SECONDS = 5.0
"""SIGTERMs that come within this time are one: Slurm sends it to every process of a job, `srun` hands its own on."""


class Notice:
    """Notice of signals that arrive while its block runs.

    SIGURG announces that the time of this allocation is nearly up: the state is written, then the command in the
    environment variable SUMCURVE_AT_LIMIT runs, if there is one, and training goes on until it is ended. SIGTERM, of
    a cancelled or preempted job, ends the process once the state is written; one that comes later ends it at once.
    A signal to one process of a group holds for all; the first runs the command and reports it.
    """

    def __init__(self, note: Callable[[str], None], group: Group = Group()) -> None:  # noqa: B008
        """`note` receives the reports."""
        self._note, self._group, self._command = note, group, os.environ.get(AT_LIMIT)
        self._listens = threading.current_thread() is threading.main_thread()
        self._soon = self._now = False
        self._first_sigterm_at = 0.0
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Notice":
        if self._listens:
            self._before = {number: signal.signal(number, self._on_signal) for number in (WARN, TERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        if number == WARN:
            self._soon = True
        elif not self._now:
            self._now, self._first_sigterm_at = True, time.monotonic()
        elif time.monotonic() - self._first_sigterm_at > ONE_END_SECONDS:
            signal.signal(TERM, self._before[TERM])
            os.kill(os.getpid(), TERM)

    def wanted(self) -> bool:
        """Tell whether a signal to this process requires the state to be written without waiting for a validation."""
        return self._soon or self._now

    def state_written(self) -> None:
        """React to signals to any process of the group, after the state is written; SystemExit where it is to end.

        All processes call it together.
        """
        soon, now = (any(heard) for heard in zip(*self._group.gather((self._soon, self._now)), strict=True))
        first = not self._group.rank
        if soon:
            self._soon = False
        if soon and first:
            self._note("the time of this allocation is nearly up: the state is written")
            if self._command:
                # A shell, since the profile's line names variables of the allocation; nothing of the data is in it.
                done = subprocess.run(self._command, shell=True, capture_output=True, text=True)
                output = (done.stdout + done.stderr).strip()
                self._note(f"`{self._command}` ended with {done.returncode}" + (f": {output}" if output else ""))
        if now:
            self._before[TERM] = signal.SIG_IGN  # it ends: one that comes late must not end it otherwise
            if first:
                self._note("asked to end (SIGTERM): the state is written, and the next process goes on from it")
            raise SystemExit(128 + TERM)

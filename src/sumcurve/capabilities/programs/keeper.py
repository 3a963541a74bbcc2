"""Runs a shell line for `process` and ends all processes that it started: at its end, on request, or if orphaned.

It is a separate process, started by this file's name: on Linux all processes that the line starts, daemons too, become
its children when their parents end (prctl(2), PR_SET_CHILD_SUBREAPER), so that each is tracked and waited for. It ends
with the shell's status. Elsewhere processes that have left the shell's process group are not tracked.
"""

import ctypes
import os
import resource
import signal
import sys
import time
from contextlib import suppress

DEATH_SIGNAL, SUBREAPER = 1, 36  # of prctl(2)
ASKED = {signal.SIGTERM, signal.SIGCHLD}
PATIENCE = 10.0  # seconds for killed processes to be gone; of another user's there may be some that cannot be killed
TICK = 0.01  # seconds


def adopting(parent: int) -> bool:
    """Become the parent of orphans, and receive a signal when `parent` ends; False where the system cannot."""
    if sys.platform != "linux":
        return False
    prctl = ctypes.CDLL(None).prctl
    if prctl(SUBREAPER, 1, 0, 0, 0) or prctl(DEATH_SIGNAL, int(signal.SIGTERM), 0, 0, 0):
        return False
    if os.getppid() != parent:  # it ended before it could be watched
        sys.exit(1)
    return True


def shell(command: str) -> int:
    """Start the line in a session of its own; returns its process id."""
    if pid := os.fork():
        return pid
    try:
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python, and its children would inherit that
            signal.signal(ignored, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ASKED)
        os.setsid()
        os.execv("/bin/sh", ["sh", "-c", command])
    finally:
        os._exit(127)


def reaped() -> dict[int, int] | None:
    """The statuses of children that have ended, by process id; None where there are no children."""
    statuses = {}
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            statuses[ended[0]] = ended[1]
        return statuses
    return statuses or None


def children() -> list[int]:
    """Process ids of our children, including those that have ended."""
    pids = []
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as stream:
                if int(stream.read().rpartition(b")")[2].split()[1]) == os.getpid():
                    pids.append(int(name))
    return pids


def end(pid: int, adopts: bool) -> dict[int, int]:
    """Kill the shell's session and all our children; new ones appear as long as parents are killed."""
    gone: dict[int, int] = {}
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        for child in children() if adopts else ():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        ended = reaped()
        if ended is None:
            break
        gone |= ended
        time.sleep(TICK)
    return gone


def main(parent: int, command: str) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, ASKED)
    adopts = adopting(parent)
    pid = shell(command)
    status: int | None = None
    while status is None and signal.sigwait(ASKED) != signal.SIGTERM:
        status = (reaped() or {}).get(pid)
    gone = end(pid, adopts)
    status = gone.get(pid, signal.SIGKILL) if status is None else status
    if os.WIFSIGNALED(status):  # as the shell, without a dump of our memory
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError):  # SIGKILL has no handler
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {os.WTERMSIG(status)})
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])

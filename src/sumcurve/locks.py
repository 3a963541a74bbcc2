"""Locks on files among processes: the kernel frees them when a process ends, killed or not."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def take(file: int | IO[bytes] | IO[str], *, shared: bool = False, wait: bool = False) -> bool:
    """Whether this process holds the open file's lock now; False only where another does and `wait` is not asked for.

    OSError where the file system has no locks.
    """
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


@contextmanager
def locked(path: Path, occupied: Callable[[], None] = lambda: None) -> Iterator[IO[bytes]]:
    """The file, made where it is missing and open for reading and appending, for this process alone.

    Where another holds it, `occupied` is called, which may raise; then this process waits.
    """
    with path.open("a+b") as stream:
        if not take(stream):
            occupied()
            take(stream, wait=True)
        yield stream

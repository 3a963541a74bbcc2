"""Locks on files among processes: the kernel frees them when a process ends, killed or not."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


class LockError(RuntimeError):
    """A file system without locks; the message names file, file system and remedy."""


def take(file: int | IO[bytes] | IO[str], *, shared: bool = False, wait: bool = False) -> bool:
    """Take the open file's lock; True where this process holds it, False where another does and `wait` is False.

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

    Where another holds it, `occupied` is called, which may raise; then this process waits. LockError where the file
    system has no locks.
    """
    with path.open("a+b") as stream:
        try:
            if not take(stream):
                occupied()
                take(stream, wait=True)
        except OSError as error:
            raise LockError(
                f"{path}: its file system ({file_system(path)}) takes no lock: {error.strerror}; keep scratch/ on one "
                "that does (mount NFS or Lustre with locks, or put the study's home elsewhere)"
            ) from error
        yield stream


def file_system(path: Path) -> str:
    """The type of the file system that holds the path, "unknown" where the system does not tell."""
    system_type, deepest = "unknown", -1
    with suppress(OSError):
        for line in Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines():
            _, mount, kind, *_ = line.split(" ")
            mount = mount.replace("\\040", " ")
            if path.resolve().is_relative_to(mount) and len(mount) >= deepest:
                system_type, deepest = kind, len(mount)
    return system_type

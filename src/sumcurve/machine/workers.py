"""Processes that share work, and end with the one that began them, even a killed one."""

import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

WATCH_SECONDS = 1.0


def worker_pool(count: int, begin: Callable[[], None] | None = None) -> ProcessPoolExecutor:
    """A pool of `count` processes, each of which calls `begin` first (a function of a module, or a partial of one).

    They are spawned, not forked: the caller may have started threads (torch, BLAS, HiGHS), which a fork would not
    survive. Each ends within `WATCH_SECONDS` of its parent.
    """
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(count, context, initializer=_begin, initargs=(os.getpid(), begin))


def _begin(parent: int, begin: Callable[[], None] | None) -> None:
    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    if begin is not None:
        begin()

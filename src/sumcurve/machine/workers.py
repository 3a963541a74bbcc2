"""Processes that share work, and end with the one that began them, even a killed one."""

import multiprocessing
import os
import threading
import time
from concurrent.futures import ProcessPoolExecutor

WATCH_SECONDS = 1.0


def worker_pool(count: int) -> ProcessPoolExecutor:
    """A pool of `count` processes.

    They are spawned, not forked: the caller may have started threads (torch, BLAS, HiGHS), which a fork would not
    survive. Each ends within `WATCH_SECONDS` of its parent.
    """
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(count, context, initializer=_begin, initargs=(os.getpid(),))


def _begin(parent: int) -> None:
    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()

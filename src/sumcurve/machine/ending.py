"""Handling of signals that ask this process to end, and the status of one that is not worth another attempt."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REFUSED = 78  # EX_CONFIG of sysexits.h: settings, content or machine are at fault, and would be the next time


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """SIGTERM becomes SystemExit here, so that what is under way is stopped or kept first; of the main thread alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def end_children_first() -> None:
    """Have SIGINT interrupt this process once its children, which Linux lists, have ended; the next ends it at once.

    Snakemake closes what its threads still use while jobs beside it are at work, and says so in tracebacks.
    """

    def end(number: int, _: object) -> None:
        signal.signal(number, lambda *_: os._exit(128 + number))
        while any(path.read_text() for path in Path("/proc/self/task").glob("*/children")):
            time.sleep(0.1)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, end)

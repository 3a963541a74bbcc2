"""An interrupted process ends after those that it started."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import pytest

PARENT = """
import subprocess, sys, threading
from sumcurve.machine import ending
ending.end_children_first()
child = threading.Thread(target=subprocess.run, args=[[sys.executable, "-c", sys.argv[1]]])
child.start()
try:
    threading.Event().wait(60)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
CHILD = "import sys; print('begun', flush=True); sys.stdin.readline(); print('ended', flush=True)"
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere nothing lists children")


@contextmanager
def begun():
    """A process with a child that waits for a line; both are gone afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT, CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout.readline() == "begun\n"
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_an_interrupt_waits_for_what_is_at_work():
    with begun() as process:
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert process.poll() is None
        assert process.communicate("\n", timeout=30)[0] == "ended\ninterrupted\n"


def test_a_second_interrupt_ends_a_process_that_waits():
    with begun() as process:
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 128 + signal.SIGINT

"""A study killed again and again ends in the same bytes as one that was left alone."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from sumcurve.steps import STEPS

pytestmark = pytest.mark.slow  # whole studies, again and again

COMPARED = ("corpora.csv", "scores.csv", "comparisons.csv")
PATIENCE_SECONDS = 900  # of a busy machine, until the last step begins


def stages(checkout, steps):
    """The folders being made for `steps`, each with its step and what tells it from an earlier one of its name."""
    found = set()
    for step in steps:
        for path in (checkout.path / "results" / ".partial" / step).glob("*"):
            with contextlib.suppress(FileNotFoundError):  # it was finished meanwhile
                found.add((step, path.name, path.stat().st_ino))
    return found


def kill_at_work(checkout, steps, delay):
    """Start the study, wait until a folder of one of `steps` is in the making, then `delay` seconds, kill its group.

    Returns the step, or None when the study ended unharmed.
    """
    old = stages(checkout, steps)  # what earlier kills left
    process = subprocess.Popen(
        ["make", f"VENV={sys.prefix}", "run"],
        cwd=checkout.path,
        env=checkout.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    began = time.monotonic()
    new: set[tuple[str, str, int]] = set()
    while not new and process.poll() is None and time.monotonic() - began < PATIENCE_SECONDS:
        time.sleep(0.002)
        new = stages(checkout, steps) - old
    time.sleep(delay)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return min(new)[0] if new else None


def test_kills_in_every_step_change_nothing(checkout_of_tree, brief):
    checkout = checkout_of_tree("killed")
    checkout.brief_study()
    clock = random.Random(20)
    unharmed = set(STEPS)
    while unharmed:
        step = kill_at_work(checkout, unharmed, delay=clock.uniform(0.0, 0.2))
        assert step is not None, f"the study ended without a folder of {unharmed} in the making"
        unharmed.remove(step)
    checkout.make("run")
    for name in COMPARED:
        left_alone = brief.path / "results" / "tables" / "smoke" / name
        killed = checkout.path / "results" / "tables" / "smoke" / name
        assert killed.read_bytes() == left_alone.read_bytes(), name
    again = checkout.make("run")
    assert "Nothing to be done" in again.stdout

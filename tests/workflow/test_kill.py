"""A study killed again and again ends in the same bytes as one that was left alone."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from sumcurve.plan import STEPS

pytestmark = pytest.mark.xdist_group("workflow")

COMPARED = ("corpora.csv", "scores.csv", "sigma.csv")
PATIENCE_SECONDS = 240


def stages(folder):
    """The folders being made below `folder`, each with the moment it was begun."""
    found = set()
    for path in folder.glob("*"):
        with contextlib.suppress(FileNotFoundError):  # it was finished meanwhile
            found.add((path.name, path.stat().st_ino))
    return found


def kill_while(checkout, step, delay):
    """Start the study, wait until a folder of `step` is being made, wait `delay` seconds, kill the process group.

    Returns whether the step was at work when the signal came.
    """
    stage = checkout.path / "results" / ".partial" / step
    old = stages(stage)  # what earlier kills left
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
    while time.monotonic() - began < PATIENCE_SECONDS and process.poll() is None:
        if stages(stage) - old:
            break
        time.sleep(0.002)
    time.sleep(delay)
    at_work = process.poll() is None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return at_work


def test_kills_in_every_step_change_nothing(checkout_of_tree, finished):
    checkout = checkout_of_tree("killed")
    checkout.study("smoke")
    clock = random.Random(20)
    for step in STEPS:
        assert kill_while(checkout, step, delay=clock.uniform(0.0, 0.2)), f"no folder of {step} was in the making"
    checkout.make("run")
    for name in COMPARED:
        left_alone = finished.path / "results" / "tables" / "smoke" / name
        killed = checkout.path / "results" / "tables" / "smoke" / name
        assert killed.read_bytes() == left_alone.read_bytes(), name
    again = checkout.make("run")
    assert "Nothing to be done" in again.stdout

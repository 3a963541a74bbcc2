"""Faults that are made on purpose: processes killed at random moments, files harmed, disks that are full."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sumcurve.store import resume
from sumcurve.store.manifest import MANIFEST
from sumcurve.study.kinds import STEPS

SEED = int(os.environ.get("SUMCURVE_FAULT_SEED", "20"))
PATIENCE_SECONDS = 900  # of a busy machine, until a job begins

Stage = tuple[str, str, int]  # step, folder, and what tells it from an earlier one of its name


def stages(results: Path, steps: Iterable[str]) -> set[Stage]:
    """The folders being made for `steps`."""
    found = set()
    for step in steps:
        for path in (results / ".partial" / step).glob("*"):
            with contextlib.suppress(FileNotFoundError):  # it was finished meanwhile
                found.add((step, path.name, path.stat().st_ino))
    return found


def descendants(process: int) -> Iterator[tuple[int, str]]:
    """The processes below one, each with its command line; a child may be any thread's."""
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, children.read_text().split()):
                with contextlib.suppress(OSError):
                    yield child, Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode()
                yield from descendants(child)


@dataclass
class Driver:
    """A study started in a checkout, whose processes can be ended; what it said is in `said`."""

    checkout: Any  # of tests/workflow/conftest.py
    command: tuple[str, ...] = ("make", f"VENV={sys.prefix}", "study")
    old: set[Stage] = field(init=False)
    process: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.old = stages(self.results, STEPS)  # what earlier kills left
        self._log = (self.checkout.path.parent / f"said-{time.monotonic_ns()}.txt").open("wb+")
        self.process = subprocess.Popen(
            self.command,
            cwd=self.checkout.path,
            env=self.checkout.environment,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    @property
    def results(self) -> Path:
        return self.checkout.path / "results"

    @property
    def said(self) -> str:
        return Path(self._log.name).read_text()

    def until(self, count: int, steps: Iterable[str]) -> Stage | None:
        """The `count`-th folder of one of `steps` that is in the making since the last call; None: the study ended."""
        began, seen = time.monotonic(), set[Stage]()
        while self.process.poll() is None and time.monotonic() - began < PATIENCE_SECONDS:
            for stage in stages(self.results, steps) - self.old:
                self.old.add(stage)
                seen.add(stage)
                if len(seen) == count:
                    return stage
            time.sleep(0.005)
        return None

    def kill_driver(self) -> None:
        """SIGKILL to Snakemake alone: its jobs go on."""
        for number, line in descendants(self.process.pid):
            if "snakemake" in line and "sumcurve make" not in line:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
        self.process.wait()

    def kill_job(self, name: str) -> bool:
        """SIGKILL to the process that makes the folder of this name; whether there still was one."""
        for number, line in descendants(self.process.pid):
            if "-m sumcurve " in line and name in line and " -c " not in line:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
                    return True
        return False

    def kill_training(self, name: str) -> bool:
        """SIGKILL to the training of this name once it has left a resume state; whether it was still at work."""
        state, folder = resume.state(self.results.parent, name), self.results / "runs" / name
        while self.process.poll() is None and not (folder / MANIFEST).exists():
            if state.exists():
                return self.kill_job(name)
            time.sleep(0.005)
        return False

    def kill_all_after(self, seconds: float) -> None:
        """SIGKILL to all at once, as when a machine loses its power."""
        time.sleep(seconds)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def flip(path: Path, draw: random.Random) -> None:
    """Change one bit, and neither size nor time."""
    before, content = path.stat(), bytearray(path.read_bytes())
    content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def truncate(path: Path, draw: random.Random) -> None:
    os.truncate(path, draw.randrange(path.stat().st_size))


def lose(path: Path, draw: random.Random) -> None:
    path.unlink()


HARMS = (flip, truncate, lose)


@contextmanager
def small_disk(place: Path, kilobytes: int) -> Iterator[Path]:
    """A file system of so many kilobytes at `place`; needs root."""
    place.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nobody can write below the folder, root neither; needs root."""
    subprocess.run(["mount", "--bind", str(folder), str(folder)], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)

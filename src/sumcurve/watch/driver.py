"""Start of Snakemake's main process, before its first job: clear up after killed ones, and verify the study."""

import os
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from sumcurve.machine import locks
from sumcurve.store import resume
from sumcurve.store.manifest import MANIFEST
from sumcurve.study.languages import require_fitting
from sumcurve.study.plan import Plan, PlanError
from sumcurve.watch import verify

WAIT_SECONDS = 5.0
DRIVERS = "drivers.lock"  # in Snakemake's own folder: those that take part hold it


class DriverError(RuntimeError):
    """A run that must not start; the message has the reason."""


def say(text: str) -> None:
    """Print a line about the study, which the panel shows, too."""
    print(f"sumcurve: {text}", file=sys.stderr, flush=True)


def join(state: Path) -> tuple[TextIO, bool]:
    """Take part in the use of `state`, Snakemake's own folder, until the file returned is closed or the process ends.

    The second value is true where no other process took part when this one came.

    Where no other process takes part, remains of killed ones are removed: their locks, their copies of manifests, from
    which Snakemake would restore the manifest of a deleted folder, and their marks of files under way. A file with
    such a mark would be made again, though every file that a rule declares appears whole or not at all. Locks of living
    processes stay, and Snakemake refuses the run by them.
    """
    state.mkdir(parents=True, exist_ok=True)
    stream = (state / DRIVERS).open("a")
    try:
        alone = locks.take(stream)
    except OSError:  # without file locks, dead processes cannot be detected
        alone = False
    if alone:
        for leftover in ("locks", "backups", "incomplete"):
            shutil.rmtree(state / leftover, ignore_errors=True)
            (state / leftover).mkdir()
    try:
        joined = locks.take(stream, shared=True)
    except OSError as error:
        stream.close()
        raise DriverError(f"{state / DRIVERS}: its file system takes no lock ({error}); work elsewhere") from None
    if not joined:
        stream.close()
        raise DriverError(f"{state / DRIVERS}: another run is just starting here; run again")
    return stream, alone


def occupied(plan: Plan, results: Path) -> list[str]:
    """The names of unfinished folders of the study that some process is making now, by the locks that it holds."""
    names = []
    for key, folder in plan.folders.items():
        path = results.parent / "scratch" / "locks" / folder.name
        if not path.is_file() or (results / key / MANIFEST).is_file():
            continue
        try:
            with path.open("r+b") as stream:
                if not locks.take(stream):
                    names.append(folder.name)
        except OSError:  # the process that makes the folder reports it
            continue
    return names


def wait_for_orphans(plan: Plan, results: Path, seconds: float = WAIT_SECONDS) -> None:
    """Wait until no process makes a folder of the study: in the driver, where it costs no job's allocation.

    Jobs on a cluster outlive a driver that was killed; another job for the same folder would wait beside its GPU.
    """
    names = occupied(plan, results)
    if not names:
        return
    say(
        f"jobs of an earlier run are still making {', '.join(names)}: waiting for them before anything starts (their "
        f"locks are in {results.parent / 'scratch' / 'locks'}). Cancel them to go on at once: trainings resume"
    )
    while occupied(plan, results):
        time.sleep(seconds)


def mend_clocks(plan: Plan, results: Path, now: float) -> list[Path]:
    """Set files from a clock ahead of this one to the present time; returns these files.

    Their content was hashed, and their times have no meaning. But Snakemake does not count a job as done whose input is
    newer than its output: nothing could be made until that time has come.
    """
    home, mended = results.parent, []
    paths = {results / key / MANIFEST for key in plan.folders}
    paths |= {file.at(home) for folder in plan.folders.values() for file in folder.files}
    for path in sorted(paths):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime > now + 1:
                os.utime(path, (now, now))
                mended.append(path)
    return mended


def begin(plan: Plan, results: Path, state: Path) -> TextIO:
    """Join, and verify all folders of the study; ManifestError names the damaged ones.

    A driver that is alone waits for the jobs of dead ones first.
    """
    joined, alone = join(state)
    if alone:
        wait_for_orphans(plan, results)
    checked = verify.study(plan, results)
    checked.require()
    try:
        for warning in require_fitting(plan, results):
            say(warning)
    except PlanError as error:
        raise DriverError(str(error)) from None
    say(str(checked))
    for folder in plan.named("runs"):
        if folder.key in checked.manifests:  # no job will see the remains of one that was killed when this was finished
            with suppress(PermissionError):  # it belongs to another user
                resume.forget(results.parent, folder.name)
    try:
        ahead = mend_clocks(plan, results, time.time())
    except PermissionError as error:
        raise DriverError(f"{error.filename} is of a later time than now, and is not yours to touch") from None
    if ahead:
        say(f"{len(ahead)} files were of a later time than now, {ahead[0]} first: now they are of now")
    # Another driver that ended meanwhile has removed the folder in which Snakemake is about to lock what it makes.
    (state / "locks").mkdir(exist_ok=True)
    return joined

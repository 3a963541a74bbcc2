"""What Snakemake's main process does before its first job: clear up after killed ones, and verify the study."""

import os
import shutil
import socket
import subprocess
import sys
import time
from base64 import urlsafe_b64decode
from collections.abc import Callable, Container, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TextIO

from sumcurve.machine import locks
from sumcurve.store import resume
from sumcurve.store.manifest import MANIFEST
from sumcurve.study.plan import Plan
from sumcurve.watch import verify

WAIT_SECONDS = 5.0
DRIVERS = "drivers.lock"  # in Snakemake's own folder: those that take part hold it, and have their lines in it
ACCOUNTING_SECONDS = 60.0  # in which Slurm's accounting answers


class DriverError(RuntimeError):
    """A run that must not start; the message says why."""


def join(state: Path) -> tuple[TextIO, bool]:
    """Take part in the use of `state`, Snakemake's own folder, until the file returned is closed or the process ends.

    The second value says whether no other process took part when this one came.

    Where no other process takes part, what killed ones left is removed: their locks, and their copies of manifests,
    from which Snakemake would restore the manifest of a folder that is gone. Locks of the living are left alone, and
    Snakemake says what it thinks of them.
    """
    state.mkdir(parents=True, exist_ok=True)
    stream = (state / DRIVERS).open("a")
    try:
        alone = locks.take(stream)
    except OSError:  # the file system has no locks, so that nobody can be known to be dead
        alone = False
    if alone:
        for leftover in ("locks", "backups"):
            shutil.rmtree(state / leftover, ignore_errors=True)
        (state / "locks").mkdir()
        stream.truncate(0)
    try:
        joined = locks.take(stream, shared=True)
    except OSError as error:
        stream.close()
        raise DriverError(f"{state / DRIVERS}: its file system takes no lock ({error}); work elsewhere") from None
    if not joined:
        stream.close()
        raise DriverError(f"{state / DRIVERS}: another run is just starting here, or a pull is at work; run again")
    stream.write(f"{os.getpid()} {socket.gethostname()}\n")
    stream.flush()
    return stream, alone


def others(state: Path) -> list[str]:
    """The other processes that take part in the use of `state`, as far as this machine knows that they live."""
    names = []
    for line in (state / DRIVERS).read_text().splitlines():
        process, _, host = line.partition(" ")
        if host != socket.gethostname():
            names.append(f"process {process} on {host}")
        elif int(process) != os.getpid() and Path("/proc", process).exists():
            names.append(f"process {process}")
    return names


@cache
def say_who_locks(persistence: Any) -> None:
    """Let Snakemake's `persistence` name the run that keeps this one out, where it would advise to remove its lock."""
    from snakemake.exceptions import LockException, WorkflowError

    proper, state = persistence.lock, Path(persistence.path)

    @contextmanager
    def lock() -> Iterator[None]:
        with ExitStack() as held:
            try:
                held.enter_context(proper())
            except LockException:
                names = ", ".join(others(state)) or "a process that ended while this one began"
                raise WorkflowError(
                    f"another run makes the same files in {state.parent}: {names}. Let it end, or stop it (Ctrl-C), "
                    "then run again, which goes on where it was. Nothing was changed here"
                ) from None
            yield

    persistence.lock = lock


@cache
def require_accounting() -> None:
    """DriverError where `sacct` knows no jobs: Snakemake's executor would ask it for ever, though all are finished."""
    command = ["sacct", "--noheader", "--allocations"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=ACCOUNTING_SECONDS)
        problem = "" if answer.returncode == 0 else answer.stderr.strip() or f"it ended with status {answer.returncode}"
    except (OSError, subprocess.TimeoutExpired) as error:
        problem = str(error)
    if problem:
        raise DriverError(
            f"the profile asks Slurm's accounting how jobs stand, and `{' '.join(command)}` does not know ({problem}): "
            "set `slurm-status-command: squeue` in the profile, which needs no accounting"
        )


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
        except OSError:  # whoever makes it will be told
            continue
    return names


def wait_for_orphans(plan: Plan, results: Path, say: Callable[[str], None], seconds: float = WAIT_SECONDS) -> None:
    """Wait until nobody makes a folder of the study: here, where it costs nothing, and not in a job's allocation.

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
    """Give what a clock ahead of this one wrote the present time; which files these were.

    What they hold was hashed, and their times mean nothing. But Snakemake refuses to call a job done whose input is
    newer than its output: nothing could be made until that time has come.
    """
    home, mended = results.parent, []
    paths = {results / key / MANIFEST for key in plan.folders}
    paths |= {file.at(home) for folder in plan.folders.values() for file in folder.files}
    paths |= {*(home / "scratch" / "shards").glob("*/*.json"), *(home / "data" / "raw" / "archives").glob("*.csv")}
    for path in sorted({*paths, *(plan.config / "harvest").glob("*.csv")}):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime > now + 1:
                os.utime(path, (now, now))
                mended.append(path)
    return mended


def unmark(made: Container[str], state: Path) -> list[str]:
    """Remove Snakemake's marks of jobs under way from what is made and verified; which files these were.

    A mark stays where a driver was killed, and on a cluster until the job's own Snakemake has ended, seconds after the
    folder is finished. A job would be started to make the folder again, and one for all that is made from it, only to
    find that nothing is to be done. Marks of other files are left: these may be cut short.
    """
    unmarked, marks = [], state / "incomplete"
    for path in sorted(path for path in marks.rglob("*") if path.is_file()):
        # Named after the file in base64; a long name is cut, and its first parts are folders that begin with "@".
        name = "".join(part.removeprefix("@") for part in path.relative_to(marks).parts)
        with suppress(ValueError):
            marked = urlsafe_b64decode(name).decode()
            if marked in made:
                path.unlink(missing_ok=True)
                unmarked.append(marked)
    return unmarked


@cache
def begin(plan: Plan, results: Path, state: Path) -> TextIO:
    """Join, and verify all that the study asks for; ManifestError names what is damaged. Once in a process.

    A driver that is alone waits for the jobs of dead ones first.
    """
    joined, alone = join(state)
    if alone:
        wait_for_orphans(plan, results, lambda text: print(f"sumcurve: {text}", file=sys.stderr, flush=True))
    checked = verify.study(plan, results)
    checked.require()
    print(f"sumcurve: {checked}", file=sys.stderr)
    unmark({f"{results / key / MANIFEST}" for key in checked.manifests}, state)
    for folder in plan.named("runs"):
        if folder.key in checked.manifests:  # no job will see what one left that was killed when this was finished
            with suppress(PermissionError):  # it is somebody else's to delete
                resume.forget(results.parent, folder.name)
    try:
        ahead = mend_clocks(plan, results, time.time())
    except PermissionError as error:
        raise DriverError(f"{error.filename} is of a later time than now, and is not yours to touch") from None
    if ahead:
        print(
            f"sumcurve: {len(ahead)} files were of a later time than now, {ahead[0]} first: now they are of now",
            file=sys.stderr,
        )
    return joined

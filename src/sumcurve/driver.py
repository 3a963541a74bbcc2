"""What Snakemake's main process does before its first job: clear up after killed ones, and verify the study."""

import fcntl
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import TextIO

from sumcurve import verify
from sumcurve.plan import Plan


class DriverError(RuntimeError):
    """A run that must not start; the message says why."""


def join(state: Path) -> TextIO:
    """Take part in the use of `state`, Snakemake's own folder, until the file returned is closed or the process ends.

    Where no other process takes part, what killed ones left is removed: their locks, and their copies of manifests,
    from which Snakemake would restore the manifest of a folder that is gone. Locks of the living are left alone, and
    Snakemake says what it thinks of them.
    """
    state.mkdir(parents=True, exist_ok=True)
    stream = (state / "drivers.lock").open("a")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # others are at work, or the file system has no locks: then nobody can be known to be dead
        pass
    else:
        for leftover in ("locks", "backups"):
            shutil.rmtree(state / leftover, ignore_errors=True)
        (state / "locks").mkdir()
    try:
        fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        stream.close()
        raise DriverError(f"{state / 'drivers.lock'}: another run is just starting here; run again ({error})") from None
    return stream


@cache
def begin(plan: Plan, results: Path, state: Path) -> TextIO:
    """Join, and verify all that the study asks for; ManifestError names what is damaged. Once in a process."""
    joined = join(state)
    found = verify.study(plan, results)
    found.require()
    print(found, file=sys.stderr)
    return joined

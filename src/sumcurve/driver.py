"""What Snakemake's main process does before its first job: clear up after killed ones, and verify the study."""

import shutil
import sys
from functools import cache
from pathlib import Path
from typing import TextIO

from sumcurve import locks, verify
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
        alone = locks.take(stream)
    except OSError:  # the file system has no locks, so that nobody can be known to be dead
        alone = False
    if alone:
        for leftover in ("locks", "backups"):
            shutil.rmtree(state / leftover, ignore_errors=True)
        (state / "locks").mkdir()
    try:
        joined = locks.take(stream, shared=True)
    except OSError as error:
        stream.close()
        raise DriverError(
            f"{state / 'drivers.lock'}: its file system takes no lock ({error}); work elsewhere"
        ) from None
    if not joined:
        stream.close()
        raise DriverError(f"{state / 'drivers.lock'}: another run is just starting here; run again")
    return stream


@cache
def begin(plan: Plan, results: Path, state: Path) -> TextIO:
    """Join, and verify all that the study asks for; ManifestError names what is damaged. Once in a process."""
    joined = join(state)
    checked = verify.study(plan, results)
    checked.require()
    print(checked, file=sys.stderr)
    return joined

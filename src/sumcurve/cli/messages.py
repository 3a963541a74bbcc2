"""Messages of verbs: lines on stderr, and errors of which only the message is printed."""

import errno
import sys

from sumcurve.machine.arguments import CommandError
from sumcurve.machine.devices import DeviceError
from sumcurve.machine.locks import LockError
from sumcurve.machine.torchrun import TorchrunError
from sumcurve.numerics.sums import SumsError
from sumcurve.share.committed import CommitError
from sumcurve.store.errors import CorpusError
from sumcurve.store.manifest import ManifestError
from sumcurve.store.records import RecordError
from sumcurve.store.stage import BuildError
from sumcurve.study.plan import PlanError

# Of these the same command ends in the same way, however often it is tried.
LASTING = (PlanError, RecordError, CorpusError, DeviceError, TorchrunError, LockError, SumsError)
# Any other error is a bug, and shows where it happened.
ERRORS = (*LASTING, ManifestError, BuildError, CommandError, CommitError)
NO_ROOM = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "your quota of the disk is used up"}


def note(text: str) -> None:
    """Write one line for the user or the log."""
    print(text, file=sys.stderr, flush=True)


def refused(error: OSError) -> str:
    """Message of an error of the operating system: the failed operation, the file, and the reason."""
    if error.errno in NO_ROOM:
        return (
            f"{NO_ROOM[error.errno]} ({error.filename or 'while writing'}): free some space and run again; nothing "
            "unfinished was kept as finished"
        )
    places = " -> ".join(str(name) for name in (error.filename, error.filename2) if name is not None)
    if not error.strerror:  # of a library, in words of its own
        return str(error) or type(error).__name__
    return f"{places or 'while reading or writing'}: {error.strerror}"

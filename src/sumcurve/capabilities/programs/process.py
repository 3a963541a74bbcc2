"""Outside programs: a shell line, run to its end under limits of time and size; its messages are kept."""

import os
import selectors
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import IO, Any

from sumcurve.capabilities.programs.keeper import PATIENCE
from sumcurve.machine.ending import ended_by_sigterm
from sumcurve.numerics.sums import DECIDING
from sumcurve.store.records import RecordError
from sumcurve.systems.outside import sha256_of

MODEL = "model"  # the folder, in a run, of a program's model; and its key among a system's inputs
SAID = 2000  # last characters of a failed program's messages that are shown
LOG = 16 << 20  # bytes of a log; later messages are dropped
TICK = 0.2  # seconds
KEEPER = Path(__file__).with_name("keeper.py")
LOOK = 2.0  # seconds between two looks at how large a folder has become

# The variables of this machine for every program: paths of programs, libraries and temporary files, its language, its
# GPU, and those that determine threads and floating-point sums. A study names others, tokens among them.
MACHINE = frozenset(
    {
        *("PATH", "LD_LIBRARY_PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE"),
        *("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"),
    }
)
FAMILIES = ("LC_", *DECIDING)


@dataclass(frozen=True)
class Limits:
    """Limits of one program: seconds, bytes of standard output, and bytes of the folder that it writes to, if any."""

    seconds: int
    output: int = LOG
    folder: Path | None = None
    folder_bytes: int = 0
    raised_by: str = "timeout"  # the setting that gives more time


def environment_of(settings: Mapping[str, Any]) -> dict[str, str]:
    """The variables for a program: this machine's variables in `MACHINE`, `FAMILIES` and its own list, and settings.

    RecordError where its list names one that is not set here.
    """
    named = settings.get("environment", [])
    if missing := [name for name in named if name not in os.environ]:
        command = settings.get("command", settings.get("train"))
        raise RecordError(
            f"environment: the variable {missing[0]} of `{command}` is not set where the study is run: set it, or take "
            "it from the list"
        )
    machine = {
        name: value
        for name, value in os.environ.items()
        if name in MACHINE or name in named or name.startswith(FAMILIES)
    }
    return machine | {name: str(value) for name, value in settings.get("settings", {}).items()}


def files_of(command: str) -> dict[str, str]:
    """The sha256 of every file that a shell line names by its path, as a word or after a word's first `=`.

    RecordError for an invalid shell line.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise RecordError(f"`{command}` is no shell line ({error}); close its quotes") from None
    named = {part for word in words for part in (word, word.partition("=")[2]) if part}
    return {name: sha256_of(Path(name), f"`{command}` names it") for name in sorted(named) if _is_file(name)}


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # a word too long for a path, or with a NUL
        return False


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder."""
    size = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # a program renames and deletes while we look
            size += path.lstat().st_size
    return size


def run(
    command: str,
    log: Path,
    limits: Limits,
    environment: Mapping[str, str],
    source: Path | None = None,
    target: Path | None = None,
) -> None:
    """Run a shell line to its end, with `source` as its standard input and `target` as its standard output.

    `log` receives its standard error, and its standard output where there is no `target`; its only variables are those
    of `environment`. Raises RecordError, which names the command and the remedy, where it fails, is killed, takes
    longer or writes more than the limits allow. However it or this process ends, the processes that it started are
    stopped (`capabilities.programs.keeper`): on Linux all its descendants; elsewhere, unless this process is killed,
    those that did not leave its process group.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        sink = _Log(held.enter_context(log.open("wb")))
        written = _Written(held.enter_context(target.open("wb")), command, limits.output) if target else sink
        given = held.enter_context(source.open("rb")) if source else subprocess.DEVNULL
        # A shell, since the line is as the study's author would type it, with pipes; nothing of the data is in it.
        held.enter_context(ended_by_sigterm())
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(KEEPER), str(os.getpid()), command],
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=dict(environment),
        )
        try:
            status = _follow(process, command, {"stdout": written, "stderr": sink}, limits)
        finally:
            _stop(process)
    if status:
        ended = f"was killed by signal {-status}" if status < 0 else f"ended with exit status {status}"
        last = sink.last.decode(errors="replace").strip()[-SAID:]
        raise RecordError(
            f"`{command}` {ended}" + (f"; it said:\n{last}" if last else " and said nothing") + f"\n(its log: {log})"
        )


class _Log:
    """Messages of a program: the first bytes in a file, the last ones in memory."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream, self.room, self.last = stream, LOG, b""

    def __call__(self, data: bytes) -> None:
        self.last = (self.last + data)[-4 * SAID :]
        if self.room > 0:
            self.stream.write(data[: self.room])
            self.stream.flush()  # people watch it
            self.room -= len(data)
            if self.room <= 0:
                self.stream.write(f"\n... (a log ends after {LOG >> 20} MiB)\n".encode())


class _Written:
    """Output of a program, up to a limit."""

    def __init__(self, stream: IO[bytes], command: str, most: int) -> None:
        self.stream, self.command, self.most, self.count = stream, command, most, 0

    def __call__(self, data: bytes) -> None:
        self.count += len(data)
        if self.count > self.most:
            raise RecordError(
                f"`{self.command}` wrote more than {self.most:,} bytes to its standard output and was stopped: a line "
                "for each line that it gets is all that is read; what else it has to say belongs on standard error"
            )
        self.stream.write(data)


def _follow(
    process: subprocess.Popen[bytes], command: str, sinks: Mapping[str, Callable[[bytes], None]], limits: Limits
) -> int:
    """The exit status of a process, after it has ended and all its output is read."""
    end, next_look = monotonic() + limits.seconds, monotonic() + LOOK
    with selectors.DefaultSelector() as pipes:
        for name, sink in sinks.items():
            pipes.register(getattr(process, name), selectors.EVENT_READ, sink)
        while True:
            ended = process.poll() is not None  # polled first: then all its output is in the pipes
            if not ended and not pipes.get_map():
                with suppress(subprocess.TimeoutExpired):
                    process.wait(TICK)
            ready = pipes.select(0 if ended else TICK) if pipes.get_map() else []
            for key, _ in ready:
                if data := os.read(key.fd, 1 << 16):
                    key.data(data)
                else:
                    pipes.unregister(key.fileobj)
            if ended and not ready:
                return process.returncode
            if monotonic() > end:
                raise RecordError(
                    f"`{command}` has run for {limits.seconds} seconds and was stopped; make it faster, or raise its "
                    f"`{limits.raised_by}`"
                )
            if limits.folder is not None and monotonic() > next_look:
                check_size(command, limits)
                next_look = monotonic() + LOOK


def check_size(command: str, limits: Limits) -> None:
    """Raise RecordError where the folder that a program writes to exceeds its limit."""
    if limits.folder is not None and (size := size_of(limits.folder)) > limits.folder_bytes:
        raise RecordError(
            f"`{command}` has written {size:,} bytes to $SUMCURVE_MODEL, more than the {limits.folder_bytes:,} that "
            "its `max_gigabytes` allows, and was stopped; keep there what summaries need, or raise the limit"
        )


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Let the keeper end all processes started; wait for its own end."""
    process.terminate()
    try:
        process.wait(2 * PATIENCE)
    except subprocess.TimeoutExpired:  # the program has stopped it
        process.kill()
        process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()

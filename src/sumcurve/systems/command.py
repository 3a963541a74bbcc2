"""An outside program: test items on its standard input, their summaries on its standard output."""

import json
import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, ClassVar

from sumcurve.records import RecordError
from sumcurve.settings import CorpusSettings, Positive
from sumcurve.systems.outside import OutsideSettings, read_summaries, sha256_of, tokenized, tokenizing
from sumcurve.systems.system import Item, Role, SystemSettings

SAID = 2000  # characters of what a failed program said last that are shown


class CommandSettings(OutsideSettings):
    command: str  # a shell line, run where the study is run
    timeout: Positive = 3600  # seconds for all test items


class Command:
    """Gets a JSON object a line, `id` and `source` (the sentences as people wrote them), and never a reference.

    It writes a summary a line in that order, or JSON lines {id, summary} in any (`outside.read_summaries`). Its command
    line and the content of the files that this names decide the output's name; a program that is found by PATH, and
    what programs read without being told, are not known.
    """

    Settings: ClassVar[type[SystemSettings]] = CommandSettings
    title: ClassVar[str] = "an outside program"
    role: ClassVar[Role] = "outside"
    needs: ClassVar[Mapping[str, str]] = {}
    recipe: ClassVar[bool] = False

    def __init__(self, told: Mapping[str, Any], inputs: Mapping[str, Path]) -> None:
        self.told = told

    @classmethod
    def specify(cls, settings: CommandSettings, corpus: CorpusSettings) -> dict[str, Any]:
        return {
            "command": settings.command,
            "files": files_of(settings.command),
            "timeout": settings.timeout,
            **tokenizing(settings, corpus),
        }

    @classmethod
    def files(cls, settings: CommandSettings) -> Mapping[str, str]:
        return {sha256: name for name, sha256 in files_of(settings.command).items()}

    def summarize(self, items: Sequence[Item]) -> Iterator[list[str]]:
        command = self.told["command"]
        with tempfile.TemporaryDirectory() as folder:
            given, written = Path(folder) / "items.jsonl", Path(folder) / "summaries"
            with given.open("w") as stream:
                for item in items:
                    row = {"id": item.record.id, "source": item.text.source}
                    stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            with given.open("rb") as source, written.open("wb") as target:
                _run(command, source, target, self.told["timeout"], Path(folder) / "errors")
            found = read_summaries(written, [item.record.id for item in items], f"the output of `{command}`")
        for summary in found:
            yield tokenized(summary, self.told["lower"], self.told["split"], self.told["max_tokens"])


def files_of(command: str) -> dict[str, str]:
    """The sha256 of every file that a shell line names by its path, as a word or behind a word's first `=`.

    RecordError for a line that is no shell line.
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


def _run(command: str, source: IO[bytes], target: IO[bytes], timeout: int, errors: Path) -> None:
    """Run a shell line to its end; RecordError where it fails, is killed, or takes longer than `timeout` seconds."""
    with errors.open("w+b") as said:
        # A shell, since the line is what the study's author would type, pipes and all; nothing of the data is in it.
        # A session of its own: what the shell has started is stopped with it, whatever ends us.
        process = subprocess.Popen(
            command, shell=True, stdin=source, stdout=target, stderr=said, start_new_session=True
        )
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise RecordError(
                f"`{command}` has run for {timeout} seconds and was stopped; make it faster, or raise its `timeout`"
            ) from None
        finally:
            _stop(process)
        if status:
            ended = f"was killed by signal {-status}" if status < 0 else f"ended with exit status {status}"
            said.seek(0)
            last = said.read().decode(errors="replace").strip()[-SAID:]
            raise RecordError(f"`{command}` {ended}" + (f"; it said:\n{last}" if last else " and said nothing"))


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of a process's session; its own end is waited for."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()

"""What a scheduler announces reaches the training, in a process of its own with real signals."""

import contextlib
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from sumcurve.training import notice
from sumcurve.training.notice import Notice


def train(note: Callable[[str], None]) -> None:
    """Write a state when it is asked for, and nothing else."""
    with Notice(note) as heard:
        note("training")
        while True:
            time.sleep(0.01)
            if heard.wanted():
                note("state")
                heard.state_written()


def train_blindly(note: Callable[[str], None]) -> None:
    """Be at something long, and do not look."""
    notice.ONE_END_SECONDS = 0.2
    with Notice(note):
        note("training")
        while True:
            time.sleep(1)


def started(
    program: Callable[[Callable[[str], None]], None] = train, at_limit: str | None = None
) -> tuple[BaseProcess, Connection]:
    """A fork of this process, which has imported torch, and what it says."""
    ours, its = multiprocessing.Pipe(duplex=False)

    def run() -> None:
        ours.close()
        if at_limit:
            os.environ[notice.AT_LIMIT] = at_limit
        program(its.send)

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    its.close()
    assert ours.recv() == "training"
    return process, ours


def rest(said: Connection) -> list[str]:
    """What a process says until it ends."""
    lines = []
    with contextlib.suppress(EOFError):
        while True:
            lines.append(said.recv())
    return lines


def ended(process: BaseProcess) -> int | None:
    process.join(30)
    return process.exitcode


def test_when_time_is_nearly_up_the_state_is_written_the_command_runs_and_training_goes_on(tmp_path):
    process, said = started(at_limit=f"echo again >> {tmp_path}/asked; echo $$HOME queued")
    for times in (1, 2):
        os.kill(process.pid, signal.SIGURG)
        assert said.recv() == "state"
        assert "nearly up" in said.recv()
        assert "ended with 0: " in said.recv()
        assert (tmp_path / "asked").read_text() == "again\n" * times
    process.terminate()
    left = rest(said)
    assert left[:-1] in ([], ["state"])  # none where it comes before anything else was done
    assert "SIGTERM" in left[-1]
    assert ended(process) == 143


def test_a_command_that_fails_is_told_and_training_goes_on():
    process, said = started(at_limit="echo not allowed >&2; exit 3")
    os.kill(process.pid, signal.SIGURG)
    assert [said.recv() for _ in range(3)][2].endswith("ended with 3: not allowed")
    assert process.is_alive()
    process.kill()
    assert ended(process) == -signal.SIGKILL


def test_signals_that_come_together_are_one_and_the_state_is_written():
    """Slurm sends SIGTERM to every process of a job, and `srun` hands its own on: a training gets two at once."""
    for _ in range(3):
        process, said = started()
        process.terminate()
        process.terminate()
        time.sleep(0.001)
        process.terminate()
        assert said.recv() == "state"
        assert ended(process) == 143


def test_a_later_wish_to_end_is_obeyed_at_once():
    process, _said = started(train_blindly)
    process.terminate()
    time.sleep(0.5)
    assert process.is_alive()
    process.terminate()
    assert ended(process) == -signal.SIGTERM


def test_handlers_are_given_back():
    before = [signal.getsignal(number) for number in (signal.SIGURG, signal.SIGTERM)]
    with Notice(print):
        assert signal.getsignal(signal.SIGTERM) != before[1]
    assert [signal.getsignal(number) for number in (signal.SIGURG, signal.SIGTERM)] == before

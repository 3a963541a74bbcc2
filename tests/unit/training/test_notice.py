"""What a scheduler announces reaches the training, in a process of its own with real signals."""

import os
import signal
import subprocess
import sys
import time

# A training that writes its state when it is asked to, and nothing else.
TRAINING = """
import sys, time
from sumcurve.training.notice import Notice
with Notice(lambda text: print(text, flush=True)) as notice:
    print("training", flush=True)
    while True:
        time.sleep(0.01)
        if notice.wanted():
            print("state", flush=True)
            notice.written()
"""


def started(at_limit=None):
    environment = dict(os.environ) | ({"SUMCURVE_AT_LIMIT": at_limit} if at_limit else {})
    process = subprocess.Popen([sys.executable, "-c", TRAINING], stdout=subprocess.PIPE, text=True, env=environment)
    assert said(process) == "training"
    return process


def said(process):
    assert process.stdout is not None
    return process.stdout.readline().rstrip()


def test_when_time_is_nearly_up_the_state_is_written_the_command_runs_and_training_goes_on(tmp_path):
    process = started(f"echo again >> {tmp_path}/asked; echo $$HOME queued")
    for times in (1, 2):
        process.send_signal(signal.SIGURG)
        assert said(process) == "state"
        assert "nearly up" in said(process)
        assert "ended with 0: " in said(process)
        assert (tmp_path / "asked").read_text() == "again\n" * times
    process.terminate()
    assert process.stdout is not None
    left = process.stdout.read().splitlines()
    assert left[:-1] in ([], ["state"])  # none where it comes before anything else was done
    assert "SIGTERM" in left[-1]
    assert process.wait(30) == 143


def test_a_command_that_fails_is_told_and_training_goes_on():
    process = started("echo not allowed >&2; exit 3")
    process.send_signal(signal.SIGURG)
    assert [said(process) for _ in range(3)][2].endswith("ended with 3: not allowed")
    assert process.poll() is None
    process.kill()
    process.wait()


def test_signals_that_come_together_are_one_and_the_state_is_written():
    """Slurm sends SIGTERM to every process of a job, and `srun` hands its own on: a training gets two at once."""
    for _ in range(3):
        process = started()
        process.terminate()
        process.terminate()
        time.sleep(0.001)
        process.terminate()
        assert said(process) == "state"
        assert process.wait(30) == 143


def test_a_later_wish_to_end_is_obeyed_at_once():
    """Of a process that is at something long, and does not look."""
    program = (
        "import time\nfrom sumcurve.training import notice\nnotice.ONE_END_SECONDS = 0.2\n"
        "with notice.Notice(print):\n    print('training', flush=True)\n    while True: time.sleep(1)"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert said(process) == "training"
    process.terminate()
    time.sleep(0.5)
    assert process.poll() is None
    process.terminate()
    assert process.wait(30) == -signal.SIGTERM


def test_handlers_are_given_back():
    from sumcurve.training.notice import Notice

    before = [signal.getsignal(number) for number in (signal.SIGURG, signal.SIGTERM)]
    with Notice(print):
        assert signal.getsignal(signal.SIGTERM) != before[1]
    assert [signal.getsignal(number) for number in (signal.SIGURG, signal.SIGTERM)] == before

"""What Slurm's queue says of a study, by invented answers of `squeue`."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sumcurve.watch import slurm
from sumcurve.watch.driver import DriverError

WATCHES = """
import signal, sys, time
from pathlib import Path
from sumcurve.watch.slurm import watch_queue
signal.signal(signal.SIGINT, signal.default_int_handler)  # where this test runs with nohup, too
watch_queue(Path(sys.argv[1]), seconds=0.05)
for _ in range(1000):  # as a driver looks at its jobs
    time.sleep(0.05)
"""
# Of Slurm's list of reasons (https://slurm.schedmd.com/job_reason_codes.html).
LASTING = [
    *("PartitionTimeLimit", "BadConstraints", "MaxMemPerLimit", "AccountNotAllowed", "InvalidQOS"),
    *("AssocMaxWallDurationPerJobLimit", "AssocMaxCpuPerJobLimit", "AssocMaxMemPerNode", "AssocMaxGRESMinutesPerJob"),
    *("QOSMaxCpuPerJobLimit", "QOSMaxWallDurationPerJobLimit", "QOSMinGRES", "QOSMinCpuNotSatisfied"),
]
PASSING = [
    *("Resources", "Priority", "None", "BeginTime", "Dependency", "Licenses", "JobHeldUser", "PartitionNodeLimit"),
    *("PartitionConfig", "PartitionDown", "PartitionInactive"),
    *("ReqNodeNotAvail, UnavailableNodes:n[1-3]", "AssocMaxJobsLimit", "AssocGrpCpuLimit", "AssocGrpCPUMinutesLimit"),
    *("QOSMaxJobsPerUserLimit", "QOSMaxCpuPerUserLimit", "QOSMaxGRESPerUser", "QOSGrpGRES", "MaxGRESPerAccount"),
]


@pytest.fixture
def queue(tmp_path: Path, monkeypatch):
    """A function that has `squeue` answer with these lines, in a study's folder whose jobs Slurm gets."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    state = tmp_path / ".snakemake"
    (state / "slurm_logs").mkdir(parents=True)

    def answer(*lines: str, folder: Path = tmp_path) -> Path:
        rows = "".join(f"{line}|{folder}\n" for line in lines)
        (tmp_path / "rows").write_text(rows)
        (tmp_path / "squeue").write_text(f"#!/bin/sh\nexec /bin/cat {tmp_path}/rows\n")
        (tmp_path / "squeue").chmod(0o755)
        return state

    return answer


def test_a_job_is_known_by_its_folder_or_by_the_run_of_its_group(queue) -> None:
    state = queue(
        "PENDING|Priority|rule_train_wildcards_tales-ent_loss-100-s1-abc1",
        "RUNNING|None|rule_tales-pcov-050-s1-abc2_decode_train",
        "PENDING|ReqNodeNotAvail, UnavailableNodes:n1|rule_score_corpus_wildcards_tales-lead-rouge-abc3",
        "RUNNING|None|(null)",
    )
    assert slurm.queued(state) == {
        "tales-ent_loss-100-s1-abc1": "Priority",
        "tales-pcov-050-s1-abc2": "",
        "tales-lead-rouge-abc3": "ReqNodeNotAvail, UnavailableNodes:n1",
    }


def test_slurm_is_asked_where_jobs_were_submitted_and_for_no_other_checkout(queue, tmp_path: Path) -> None:
    line = "PENDING|Priority|rule_train_wildcards_tales-abs-abc1"
    assert slurm.queued(queue(line, folder=tmp_path / "another")) == {}
    assert slurm.queued(tmp_path / "no state") == {}
    assert list(slurm.queued(queue(line))) == ["tales-abs-abc1"]
    (tmp_path / "squeue").write_text("#!/bin/sh\necho 'no controller' >&2\nexit 1\n")
    assert slurm.queued(tmp_path / ".snakemake") == {}


@pytest.mark.parametrize(("reason", "lasts"), [*((one, True) for one in LASTING), *((one, False) for one in PASSING)])
def test_reasons_of_the_request_last_and_those_of_the_moment_pass(reason: str, lasts: bool) -> None:
    assert (slurm.NEVER.fullmatch(reason) is not None) == lasts


def watching(state: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", WATCHES, str(state)], stderr=subprocess.PIPE, text=True)


def test_a_job_that_can_never_start_interrupts_the_driver_with_one_sentence(queue) -> None:
    state = queue(
        "PENDING|PartitionTimeLimit|rule_corpus_wildcards_tales-abc1",
        "PENDING|Priority|rule_train_wildcards_tales-abs-abc2",
    )
    process = watching(state)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == -signal.SIGINT  # of a Python that nobody's handler keeps
    assert "sumcurve: jobs wait; Slurm's reason: PartitionTimeLimit; Priority\n" in said
    (sentence,) = (line for line in said.splitlines() if "never" in line)
    assert "Slurm can never start the job of tales-abc1 (PartitionTimeLimit): name a partition" in sentence
    assert "--set-resources" in sentence


def test_a_job_that_waits_for_its_turn_interrupts_nothing_and_is_told_of_once(queue) -> None:
    process = watching(queue("PENDING|Priority|rule_corpus_wildcards_tales-abc1"))
    assert process.stderr is not None
    assert process.stderr.readline() == "sumcurve: jobs wait; Slurm's reason: Priority\n"
    time.sleep(0.5)  # several looks
    assert process.poll() is None
    process.kill()
    assert process.communicate()[1] == ""


def test_what_slurm_twice_began_no_job_of_is_not_tried_again(tmp_path: Path, capsys) -> None:
    """It may have been cancelled in the queue, once."""
    with pytest.raises(DriverError, match=r"^tales-abs-1: Slurm began neither of two jobs"):
        slurm.require_retriable([], tmp_path / "tales-abs-1.log", 3)
    assert capsys.readouterr().err.startswith("sumcurve: tales-abs-1: Slurm")  # the panel shows such lines


def test_what_refused_is_not_tried_again_and_what_was_ended_is(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text("sumcurve: GPU 0 was granted, but the NVIDIA driver shows no such card\n")
    first, second = tmp_path / "1.log", tmp_path / "2.log"
    first.write_text("slurmstepd: error: *** STEP 1.0 ON n CANCELLED DUE TO TIME LIMIT ***\n")
    slurm.require_retriable([], log, 2)
    slurm.require_retriable([first], log, 3)
    second.write_text("Command 'python -m sumcurve make x' returned non-zero exit status 78.\n")
    os.utime(first, (slurm.BEGAN + 1, slurm.BEGAN + 1))
    with pytest.raises(DriverError, match=r"^GPU 0 was granted, .* \(.*run\.log\)\. It is not tried again"):
        slurm.require_retriable([first, second], log, 2)
    os.utime(second, (1, 1))  # of an earlier run, since when the cause was mended
    slurm.require_retriable([first, second], log, 2)


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("exit 0", None),
        ('echo "Slurm accounting storage is disabled" >&2; exit 1', "Slurm accounting storage is disabled"),
        ("exit 3", "non-zero exit status 3"),
        ("exec /bin/sleep 60", "timed out"),
        (None, "No such file or directory"),
    ],
)
def test_accounting_that_does_not_answer_is_an_error_at_the_start(program, says, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))  # whatever of Slurm this machine has
    if program is not None:
        (tmp_path / "sacct").write_text(f"#!/bin/sh\n{program}\n")
        (tmp_path / "sacct").chmod(0o755)
    monkeypatch.setattr(slurm, "ANSWER_SECONDS", 60.0 if says != "timed out" else 0.2)
    if says is None:
        slurm.require_accounting()
    else:
        with pytest.raises(DriverError, match=rf"(?s){says}.*set `slurm-status-command: squeue`"):
            slurm.require_accounting()

"""Studies through a real Slurm (KIND=slurm). Each test names what clusters do to jobs, to drivers and to code."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from cluster import Cluster, NoCluster, cluster, processes
from sumcurve.store import manifest
from sumcurve.study.needs import LIGHT, memory_mb
from sumcurve.study.plan import Folder, Plan

pytestmark = pytest.mark.slurm

PATIENCE_SECONDS = 1800.0  # of a busy machine
PROFILE = ("--workflow-profile", "workflow/profiles/slurm")
STOP = "{every_updates: 10, every_epochs: 0.5, patience: 2, max_updates: 400}"


@pytest.fixture(scope="module")
def slurm() -> Iterator[Cluster]:
    """A cluster; afterwards neither a process nor a file of it is left."""
    try:
        with cluster() as made:
            yield made
    except NoCluster as error:
        pytest.exit(str(error), returncode=1)
    assert not made.home.exists()
    assert processes(made.home) == []


@pytest.fixture(autouse=True)
def _no_job_is_left(slurm) -> Iterator[None]:
    """What a test that failed left at work would keep the next from its beginning."""
    yield
    slurm.ask("scancel", "--quiet", "--user=root", check=False)
    until("no job", lambda: not slurm.ask("squeue", "--noheader").strip())


@pytest.fixture(scope="module")
def study(checkout_of_tree, slurm):
    """A checkout with trainings of 300 updates and one validation, whose corpora are ready, and these trainings."""
    checkout = replace(checkout_of_tree("slurm"), cluster=slurm)
    checkout.brief_study()
    checkout.edit("config/studies/smoke.yaml", "methods: [abs, pcov]", "methods: [abs]")
    checkout.edit("config/studies/smoke.yaml", "seeds: [1]", "seeds: [1, 2]")
    checkout.edit("config/forms/smoke.yaml", STOP, STOP.replace("10, every", "300, every").replace("400", "300"))
    checkout.run("snakemake", "corpora")
    return checkout, Plan.read(checkout.path / "config", "smoke").named("runs", "train")


def until(what: str, true: Callable[[], object], process: subprocess.Popen | None = None):
    """What `true` answers first that is not false."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not (found := true()):
        assert time.monotonic() < end, f"waited in vain: {what}"
        assert process is None or process.poll() is None, f"the driver ended before: {what}"
        time.sleep(0.2)
    return found


@contextmanager
def driver(checkout, *arguments: str) -> Iterator[subprocess.Popen]:
    """Snakemake at work on the cluster, in a session of its own; what it says is in driver.log. It ends by SIGKILL."""
    with (checkout.path / "driver.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "snakemake", *PROFILE, *arguments],
            cwd=checkout.path,
            env=checkout.environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def target(folder: Folder) -> str:
    return f"results/{folder.key}/manifest.json"


def jobs_of(slurm: Cluster, folder: Folder) -> list[dict[str, str]]:
    """Those of a folder, in the order of their submission."""
    found = [job for job in slurm.jobs().values() if folder.name in job.get("StdOut", "")]
    return sorted(found, key=lambda job: int(job["JobId"]))


def log_of(checkout, folder: Folder) -> str:
    """What a folder's job has written so far."""
    log = checkout.path / "logs" / f"{folder.key}.log"
    return log.read_text() if log.is_file() else ""


def signals(process: int, kind: str) -> set[int]:
    """Those that a process catches (SigCgt) or is to get (ShdPnd); none of a process that is gone."""
    with suppress(OSError):
        (told,) = re.findall(rf"^{kind}:\s(\w+)$", Path(f"/proc/{process}/status").read_text(), flags=re.M)
        return {number for number in range(1, 32) if int(told, 16) >> number - 1 & 1}
    return set()


def trainer(checkout, folder: Folder) -> int | None:
    """The process that trains the folder of this checkout, once it hears the signals that announce its end."""
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            arguments = (entry / "cmdline").read_bytes().split(b"\0")
            here = (entry / "cwd").readlink() == checkout.path  # and not of another test beside this one
            if here and arguments[1:4] == [b"-m", b"sumcurve", b"make"] and target(folder).encode() in arguments:
                return int(entry.name) if signal.SIGURG in signals(int(entry.name), "SigCgt") else None
    return None


def held(checkout, folder: Folder, driving: subprocess.Popen, says: str) -> int:
    """The process of a training that has begun, as its log says. It is stopped there, however fast the machine is."""
    process = until("a training at work", lambda: trainer(checkout, folder), driving)
    os.kill(process, signal.SIGSTOP)
    assert says in log_of(checkout, folder)
    return process


def go_on(process: int, number: int) -> None:
    """Continue a stopped training once the signal waits for it. Slurm itself does so before SIGTERM."""
    until(f"signal {number}", lambda: number in signals(process, "ShdPnd") or not signals(process, "SigCgt"))
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGCONT)


def done(process: subprocess.Popen, checkout, status: int = 0) -> str:
    """What the driver said, once it ended as it should."""
    found = process.wait(PATIENCE_SECONDS)
    said = (checkout.path / "driver.log").read_text()
    assert found == status, said[-6000:]
    return said


def test_a_training_goes_on_however_often_and_however_its_job_is_ended(study, slurm):
    """Its time is up, it is preempted, requeued, cancelled. It ends in the bytes of one that nobody ended."""
    checkout, (folder, *_) = study
    state = checkout.path / "scratch" / "resume" / f"{folder.name}.pt"
    with driver(checkout, target(folder)) as driving:
        process = held(checkout, folder, driving, " parameters, ")
        (job,) = jobs_of(slurm, folder)
        number = job["JobId"]
        asked = f"{memory_mb(Plan.read(checkout.path / 'config', 'smoke'), folder)}M"
        assert (job["Partition"], job["Restarts"], job["MinMemoryNode"]) == ("gpu", "0", asked)
        assert "gres:gpu:1" in job["TresPerJob"]

        slurm.ask("scontrol", "update", f"JobId={number}", "TimeLimit=4")  # less than the five minutes before
        go_on(process, signal.SIGURG)
        written = [0]
        urgent = ("sbatch", "--partition=urgent", "--exclusive", "--mem=100", "--output=/dev/null", "--wrap=true")
        for times, command in enumerate((urgent, ("scontrol", "requeue", number), ("scancel", number)), start=1):
            until(
                f"job {number} in the queue for the time {times}, where Slurm would have it wait for two minutes",
                lambda times=str(times): (
                    [slurm.jobs()[number][key] for key in ("JobState", "Restarts")] == ["PENDING", times]
                ),
                driving,
            )
            slurm.ask("scontrol", "update", f"JobId={number}", "TimeLimit=240", "StartTime=now")
            process = held(checkout, folder, driving, "resuming from")
            written.append(state.stat().st_mtime_ns)  # no validation before the end: it was written because of a signal
            slurm.ask(*command)
            go_on(process, signal.SIGTERM)
        process = held(checkout, folder, driving, "resuming from")
        written.append(state.stat().st_mtime_ns)
        os.kill(process, signal.SIGCONT)
        done(driving, checkout)
    assert written == sorted(set(written))
    first, second = jobs_of(slurm, folder)
    assert (first["JobState"], second["JobState"]) == ("CANCELLED", "COMPLETED")
    assert first["MinMemoryNode"] == second["MinMemoryNode"]
    assert not state.exists()

    local = checkout.path / "scratch" / "local"
    checkout.run("snakemake", "--config", "home=scratch/local", "--", f"scratch/local/{target(folder)}")
    sealed = [manifest.verify(home / "results" / folder.key) for home in (checkout.path, local)]
    assert manifest.content(sealed[0]) == manifest.content(sealed[1])


def test_a_driver_that_died_is_started_again_and_nothing_is_made_twice(study, slurm):
    """Its job goes on; the next driver waits for it, aloud and outside of any allocation. What is finished stays."""
    checkout, (finished, folder, *_) = study
    made = (checkout.path / "results" / finished.key / "weights.safetensors").stat().st_mtime_ns
    submitted = len(jobs_of(slurm, finished))
    with driver(checkout, target(folder)) as driving:
        process = held(checkout, folder, driving, " parameters, ")
    with driver(checkout, target(folder), target(finished)) as driving:
        waiting = f"jobs of an earlier run are still making {folder.name}"
        until("a driver that waits", lambda: waiting in (checkout.path / "driver.log").read_text(), driving)
        os.kill(process, signal.SIGCONT)
        done(driving, checkout)
    (job,) = jobs_of(slurm, folder)  # no other, not even one that finds nothing to do
    until("its end", lambda: slurm.jobs()[job["JobId"]]["JobState"] == "COMPLETED")
    assert len(jobs_of(slurm, finished)) == submitted
    assert (checkout.path / "results" / finished.key / "weights.safetensors").stat().st_mtime_ns == made


@contextmanager
def edited(checkout, file: str, old: str, new: str) -> Iterator[None]:
    before = (checkout.path / file).read_text()
    checkout.edit(file, old, new)
    try:
        yield
    finally:
        (checkout.path / file).write_text(before)


def test_a_job_killed_for_memory_asks_for_twice_as_much(study, slurm):
    checkout, folder = study[0], study[1][2]
    kinds = "src/sumcurve/systems/folders.py"
    (row,) = re.findall(r'    "train": Kind\((?:.|\n)*?mem_mb=3000', (checkout.path / kinds).read_text())
    with (
        edited(checkout, kinds, row, row.replace("3000", "350")),
        driver(checkout, target(folder)) as process,
    ):
        done(process, checkout)
    asked = [int(job["MinMemoryNode"].rstrip("M")) for job in jobs_of(slurm, folder)]
    assert len(asked) > 1
    assert all(later == 2 * earlier for earlier, later in pairwise(asked))


def test_a_job_that_can_never_start_stops_the_study_and_says_why(study, slurm):
    """The job is cancelled, and nothing of the study waits in the queue."""
    checkout, folder = study[0], study[1][3]
    slurm.ask("scontrol", "update", "PartitionName=gpu", "MaxTime=5")
    try:
        with driver(checkout, target(folder)) as process:
            said = done(process, checkout, 1)
    finally:
        slurm.ask("scontrol", "update", "PartitionName=gpu", "MaxTime=1-0")
    (job,) = jobs_of(slurm, folder)
    assert job["JobState"] == "CANCELLED"
    assert f"Slurm can never start the job of {folder.name} (PartitionTimeLimit): " in said
    assert "Traceback" not in said


def test_what_no_node_has_is_asked_for_twice_and_no_more(study, slurm):
    checkout, folder = study[0], study[1][3]
    with driver(checkout, "--set-resources", "train:mem_mb=99999999", "--", target(folder)) as process:
        said = done(process, checkout, 1)
    assert said.count("Trying to restart job") == 2  # the second restart is refused
    assert f"sumcurve: {folder.name}: Slurm began neither of two jobs" in said


def test_a_card_that_is_not_there_is_asked_for_once(study, slurm):
    """Slurm grants one, and no driver shows it."""
    checkout, folder = study[0], study[1][3]
    submitted = len(jobs_of(slurm, folder))
    with (
        edited(checkout, "src/sumcurve/machine/devices.py", '.get("SUMCURVE_DEVICE") == "cpu"', '.get("NOT") == "cpu"'),
        driver(checkout, target(folder)) as process,
    ):
        said = done(process, checkout, 1)
    assert len(jobs_of(slurm, folder)) == submitted + 1
    assert re.search(r"^sumcurve: GPU \S+ was granted .* It is not tried again", said, flags=re.M)


def test_one_interrupt_ends_the_driver_and_its_jobs_and_shows_no_traceback(study, slurm):
    checkout, folder = study[0], study[1][3]
    with driver(checkout, target(folder)) as process:
        training = held(checkout, folder, process, " parameters, ")
        process.send_signal(signal.SIGINT)
        go_on(training, signal.SIGTERM)
        said = done(process, checkout, 1)
    assert "Traceback" not in said
    assert jobs_of(slurm, folder)[-1]["JobState"] == "CANCELLED"
    assert (checkout.path / "scratch" / "resume" / f"{folder.name}.pt").is_file()  # the next one goes on from there


def test_the_smoke_study_goes_through_slurm_and_gives_the_local_bytes(checkout_of_tree, slurm, brief):
    """With one of its corpora and two methods: a job takes nine seconds of a core to start, whatever it does."""
    checkout = replace(checkout_of_tree("slurm-study"), cluster=slurm)
    checkout.brief_study()
    checkout.run("make", f"VENV={sys.prefix}", "PROFILE=slurm", "study")
    plan = Plan.read(checkout.path / "config", "smoke")
    for folder in plan.folders.values():
        sealed = [manifest.read(one.path / "results" / folder.key) for one in (checkout, brief)]
        assert manifest.content(sealed[0]) == manifest.content(sealed[1]), folder.key
        jobs = jobs_of(slurm, folder)
        if folder.kind == "train":
            assert [job["Partition"] for job in jobs] == ["gpu"]
        elif folder.kind in (*LIGHT, "decode"):
            assert jobs == []  # seconds: decodings have their training's job, the others none
    for name in ("corpora.csv", "scores.csv", "comparisons.csv"):
        ours, local = (one.path / "results" / "tables" / "smoke" / name for one in (checkout, brief))
        assert ours.read_bytes() == local.read_bytes(), name
    again = checkout.run("make", f"VENV={sys.prefix}", "PROFILE=slurm", "study")
    assert "Nothing to be done" in again.stdout

"""Studies through a real Slurm, with accounting off: `make slurm-test`. Each test names what clusters do to jobs."""

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

import pytest

from cluster import Cluster, NoCluster, cluster
from sumcurve import manifest
from sumcurve.plan import Folder, Plan

pytestmark = pytest.mark.slurm

PATIENCE_SECONDS = 1800.0  # of a busy machine
ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY"}
PROFILE = ("--workflow-profile", "workflow/profiles/slurm")


@pytest.fixture(scope="module")
def slurm() -> Iterator[Cluster]:
    try:
        with cluster() as made:
            yield made
    except NoCluster as error:
        pytest.exit(str(error), returncode=1)


def until(what: str, true: Callable[[], object], process: subprocess.Popen | None = None):
    """What `true` answers first that is not false."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not (found := true()):
        assert time.monotonic() < end, f"waited in vain: {what}"
        assert process is None or process.poll() is None, f"the driver ended before: {what}"
        time.sleep(0.5)
    return found


@pytest.fixture
def study(checkout_of_tree, slurm):
    """A checkout with a training of many updates and few validations, and that training's folder."""
    checkout = replace(checkout_of_tree("slurm"), cluster=slurm)
    checkout.brief_study()
    checkout.edit("config/studies/smoke.yaml", "methods: [abs, pcov]", "methods: [abs]")
    stop = "{every_updates: 10, every_epochs: 0.5, patience: 2, max_updates: 400}"
    checkout.edit("config/forms/smoke.yaml", stop, stop.replace("10, every", "1000, every").replace("400", "10000"))
    plan = Plan.read(checkout.path / "config", "smoke")
    return checkout, plan.named("runs")[0]


@contextmanager
def driver(checkout, *targets: str) -> Iterator[subprocess.Popen]:
    """Snakemake at work on the cluster, in a session of its own; what it says is in driver.log."""
    with (checkout.path / "driver.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "snakemake", *PROFILE, *targets],
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


def training(checkout, slurm: Cluster, folder: Folder, process: subprocess.Popen) -> dict[str, str]:
    """The job of a training that has begun."""
    log = checkout.path / "logs" / f"{folder.key}.log"
    until("a training at work", lambda: log.is_file() and " parameters, " in log.read_text(), process)
    (job,) = [job for job in jobs_of(slurm, folder) if job["JobState"] == "RUNNING"]
    return job


def same_as_local(checkout, folder: Folder) -> bool:
    """Whether the folder says what the same training says where no cluster is."""
    local = checkout.path / "scratch" / "local"
    checkout.run("snakemake", "--config", "home=scratch/local", "--", f"scratch/local/{target(folder)}")
    sealed = [manifest.verify(home / "results" / folder.key) for home in (checkout.path, local)]
    return manifest.content(sealed[0]) == manifest.content(sealed[1])


def done(process: subprocess.Popen, checkout) -> str:
    """What the driver said, once it ended well."""
    status = process.wait(PATIENCE_SECONDS)
    said = (checkout.path / "driver.log").read_text()
    assert status == 0, said[-6000:]
    return said


def test_a_training_over_its_time_writes_its_state_waits_anew_and_goes_on(study, slurm):
    """Its job is told before, puts itself back under its number, and its driver sees nothing but a waiting job."""
    checkout, folder = study
    with driver(checkout, target(folder)) as process:
        job = training(checkout, slurm, folder, process)
        slurm.ask("scontrol", "update", f"JobId={job['JobId']}", "TimeLimit=4")  # less than the five minutes before
        state = checkout.path / "scratch" / "resume" / f"{folder.name}.pt"
        until("a state between two validations", state.is_file, process)
        until("a job that waits anew", lambda: jobs_of(slurm, folder)[0]["JobState"] == "PENDING", process)
        slurm.ask("scontrol", "update", f"JobId={job['JobId']}", "TimeLimit=60")
        done(process, checkout)
    (job,) = jobs_of(slurm, folder)
    assert (job["JobState"], job["Restarts"], job["Partition"]) == ("COMPLETED", "1", "gpu")
    assert "gres:gpu:1" in job["TresPerJob"]
    assert "resuming from" in (checkout.path / "logs" / f"{folder.key}.log").read_text()
    assert same_as_local(checkout, folder)


def test_a_cancelled_training_goes_on_with_the_same_memory(study, slurm):
    checkout, folder = study
    with driver(checkout, target(folder)) as process:
        job = training(checkout, slurm, folder, process)
        slurm.ask("scancel", job["JobId"])
        done(process, checkout)
    first, second = jobs_of(slurm, folder)
    assert (first["JobState"], second["JobState"]) == ("CANCELLED", "COMPLETED")
    assert first["MinMemoryNode"] == second["MinMemoryNode"]
    assert "resuming from" in (checkout.path / "logs" / f"{folder.key}.log").read_text()


def test_a_job_killed_for_memory_asks_for_twice_as_much(study, slurm):
    checkout, folder = study
    steps = checkout.path / "src" / "sumcurve" / "steps.py"
    text, count = re.subn(r'("train": Kind\((?:.|\n)*?mem_mb=)3000', r"\g<1>200", steps.read_text(), count=1)
    assert count == 1
    steps.write_text(text)
    with driver(checkout, target(folder)) as process:
        done(process, checkout)
    asked = [int(job["MinMemoryNode"].rstrip("M")) for job in jobs_of(slurm, folder)]
    assert len(asked) > 1
    assert all(later == 2 * earlier for earlier, later in pairwise(asked))


def test_a_job_whose_code_was_edited_while_it_waited_refuses_naming_both(study, slurm):
    checkout, folder = study
    slurm.ask("scontrol", "update", "PartitionName=gpu", "State=DOWN")
    try:
        with driver(checkout, "--retries", "0", target(folder)) as process:
            until("a waiting job", lambda: jobs_of(slurm, folder), process)
            checkout.edit(
                "src/sumcurve/training/run.py", "torch.set_num_threads(", "edited = 1\n    torch.set_num_threads("
            )
            slurm.ask("scontrol", "update", "PartitionName=gpu", "State=UP")
            assert process.wait(PATIENCE_SECONDS) == 1
    finally:
        slurm.ask("scontrol", "update", "PartitionName=gpu", "State=UP")
    said = (checkout.path / "logs" / f"{folder.key}.log").read_text()
    assert re.search(r"has fingerprint [0-9a-f]{16}, and had [0-9a-f]{16} when this job was planned", said)
    assert said in (checkout.path / "driver.log").read_text()  # a failing job's log is shown


def test_a_driver_that_died_is_started_again_and_nothing_is_made_twice(study, slurm):
    """Its job goes on; the next driver waits for it, aloud and outside of any allocation."""
    checkout, folder = study
    with driver(checkout, target(folder)) as process:
        training(checkout, slurm, folder, process)
    with driver(checkout, target(folder)) as process:
        said = done(process, checkout)
    assert f"jobs of an earlier run are still making {folder.name}" in said
    (job,) = jobs_of(slurm, folder)
    assert job["JobState"] == "COMPLETED"


def test_the_smoke_study_goes_through_slurm_and_gives_the_local_bytes(checkout_of_tree, slurm, brief):
    checkout = replace(checkout_of_tree("slurm-study"), cluster=slurm)
    checkout.brief_study()
    checkout.run("make", f"VENV={sys.prefix}", "PROFILE=slurm", "run")
    for name in ("corpora.csv", "scores.csv", "comparisons.csv"):
        ours, local = (one.path / "results" / "tables" / "smoke" / name for one in (checkout, brief))
        assert ours.read_bytes() == local.read_bytes(), name
    plan = Plan.read(checkout.path / "config", "smoke")
    for folder in plan.folders.values():
        jobs = jobs_of(slurm, folder)
        if folder.kind in ("train", "decode"):
            assert [job["Partition"] for job in jobs] == ["gpu"]
        elif folder.kind in ("fraction", "score", "baseline", "annotate"):
            assert jobs == []  # seconds: not worth a job
    again = checkout.run("make", f"VENV={sys.prefix}", "PROFILE=slurm", "run")
    assert "Nothing to be done" in again.stdout

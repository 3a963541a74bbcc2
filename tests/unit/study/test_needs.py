"""What jobs ask of a cluster comes from the plan."""

from pathlib import Path

import pytest

from sumcurve.capabilities.programs.command import Command
from sumcurve.study import needs
from sumcurve.study.kinds import KINDS
from sumcurve.study.plan import Plan

CONFIG = Path(__file__).parents[3] / "config"


@pytest.fixture(scope="module")
def plans() -> dict[str, Plan]:
    return {study: Plan.read(CONFIG, study) for study in ("smoke", "docstrings", "cnndm")}


def test_paper_settings_ask_for_more_than_small_ones_and_all_for_what_their_kind_does(plans: dict[str, Plan]) -> None:
    asked = {}
    for study, plan in plans.items():
        for folder in plan.folders.values():
            memory = needs.memory_mb(plan, folder)
            assert memory >= KINDS[folder.kind].mem_mb
            assert needs.minutes(folder) == KINDS[folder.kind].minutes  # without an estimate
            asked.setdefault((study, folder.kind), set()).add(memory)
    for kind in ("train", "decode"):
        small, paper = asked["docstrings", kind], asked["cnndm", kind]
        assert max(small) < min(paper)
    assert asked["docstrings", "score"] == asked["cnndm", "score"]


def test_an_output_asks_for_what_its_training_does(plans: dict[str, Plan]) -> None:
    plan = plans["cnndm"]
    outputs = plan.named("outputs", "decode")
    assert outputs
    for output in outputs:
        assert needs.memory_mb(plan, output) == needs.memory_mb(plan, plan.folder(output.specification["run"]))


def test_somebody_s_program_is_no_step_of_seconds(plans: dict[str, Plan]) -> None:
    assert needs.light(plans["smoke"]) == set(needs.LIGHT)
    plan = Plan.read(CONFIG, "smoke")
    plan.systems["theirs"] = Command, Command.Settings(summarize="cat")
    assert set(needs.LIGHT) - needs.light(plan) == {"system"}


def test_the_time_of_an_estimate_is_rounded_up_and_never_below_the_least(plans: dict[str, Plan]) -> None:
    plan = plans["smoke"]
    (training, *_), (score, *_) = plan.named("runs"), plan.named("scores")
    for seconds, expected in ((1.0, needs.LEAST_MINUTES), (3600.0, 60), (3601.0, 61)):
        assert needs.minutes(training, 2, seconds) == expected
        assert needs.minutes(score, 2, seconds) == 2 * expected


def test_what_cannot_resume_gets_more_time_at_each_attempt(plans: dict[str, Plan]) -> None:
    plan = plans["smoke"]
    for folder in plan.folders.values():
        first, third = needs.minutes(folder, 1), needs.minutes(folder, 3)
        assert third == (first if folder.kind == "train" else 3 * first)


# As Slurm writes them: with cgroups (two releases), with jobacct_gather's OverMemoryKill, and the state of a job.
FOR_MEMORY = [
    "slurmstepd: error: Detected 1 oom_kill event in StepId=12.0. Some of the step tasks have been OOM Killed.",
    "slurmstepd: error: Detected 1 oom-kill event(s) in step 12.batch cgroup. Some of your processes may have been",
    "slurmstepd: error: StepId=12.0 exceeded memory limit (3221225472 > 1073741824), being killed",
    "slurmstepd: error: Job 12 exceeded memory limit (1100 > 1000), being killed",
]
FOR_ELSE = [
    "slurmstepd: error: *** JOB 12 ON node CANCELLED AT 2026-11-22T14:00:00 ***",
    "slurmstepd: error: *** STEP 12.0 ON node CANCELLED AT 2026-11-22T14:00:00 DUE TO TIME LIMIT ***",
    "slurmstepd: error: *** JOB 12 ON node CANCELLED AT 2026-11-22T14:00:00 DUE TO PREEMPTION ***",
    "    resources: mem_mb=3000, mem=3 GB, mem_mib=2862, tmpdir=<TBD>",
]


@pytest.mark.parametrize(("said", "killed"), [*((one, 1) for one in FOR_MEMORY), *((one, 0) for one in FOR_ELSE)])
def test_memory_rises_after_a_kill_for_memory_and_after_nothing_else(said: str, killed: int, tmp_path: Path) -> None:
    assert needs.doubled(3000, ()) == 3000
    (tmp_path / "12.log").write_text(f"Building DAG of jobs...\n{said}\n")
    assert needs.doubled(3000, tmp_path.glob("*.log")) == 3000 * 2**killed
    (tmp_path / "13.log").write_bytes(b"\xff\xfe " + said.encode() + b"\n" + said.encode())
    assert needs.doubled(3000, tmp_path.glob("*.log")) == 3000 * 4**killed


def test_memory_does_not_rise_without_bound(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"{number}.log").write_text(FOR_MEMORY[0])
    assert needs.doubled(3000, tmp_path.glob("*.log")) == 3000 * 2**needs.MOST_DOUBLINGS

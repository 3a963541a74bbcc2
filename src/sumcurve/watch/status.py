"""Where a study stands while it runs: what is finished, at work, in a queue, failed, and the hours that are left."""

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sumcurve.store import manifest
from sumcurve.study.collect import timing
from sumcurve.study.plan import Plan
from sumcurve.watch import driver
from sumcurve.watch.costs import Costs, amount
from sumcurve.watch.estimate import Counts, estimate, not_estimated, training_of

STATES = ("finished", "packed", "running", "waiting", "failed", "stopped", "damaged", "missing")
"""waiting: in Slurm's queue. failed: its log ends with an error. stopped: it has a log and nobody works on it."""
TAIL_BYTES = 4096
QUEUE_SECONDS = 30.0
ENOUGH = 3  # trainings of this machine that estimates are held against


@dataclass(frozen=True)
class Standing:
    """The state of every folder by its key, and the last words of those that failed."""

    states: Mapping[str, str]
    reasons: Mapping[str, str]


def queued(state: Path) -> dict[str, str]:
    """The states of this user's Slurm jobs by the names of what they make; none where Snakemake submitted none.

    `state` is Snakemake's own folder, where its executor for Slurm keeps logs.
    """
    if not (state / "slurm_logs").is_dir() or shutil.which("squeue") is None:
        return {}
    command = ["squeue", "--noheader", f"--user={os.getuid()}", "--format=%T|%k"]
    try:
        queue = subprocess.run(command, capture_output=True, text=True, timeout=QUEUE_SECONDS).stdout
    except subprocess.TimeoutExpired:
        return {}
    rows = (line.partition("|") for line in queue.splitlines())
    return {comment.rpartition("_wildcards_")[2]: job for job, _, comment in rows}


def standing(plan: Plan, results: Path, jobs: Mapping[str, str]) -> Standing:
    """By what is there, by the locks of processes at work, by the queue's `jobs`, and by logs; nothing is hashed."""
    at_work = set(driver.occupied(plan, results))
    states, reasons = {}, {}
    for key, folder in plan.folders.items():
        state: str = manifest.state(results / key)
        job = jobs.get(folder.name)
        if state == "missing":
            log = results.parent / "logs" / f"{key}.log"
            if folder.name in at_work or job in ("RUNNING", "COMPLETING"):
                state = "running"
            elif job is not None:
                state = "waiting"
            elif (error := last_words(log)) is not None:
                state, reasons[key] = "failed", f"{error} ({log})"
            elif log.is_file():
                state = "stopped"
        states[key] = state
    return Standing(states, reasons)


def last_words(log: Path) -> str | None:
    """The error that a log ends with; None where it ends with none or is not there."""
    if not log.is_file():
        return None
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - TAIL_BYTES))
        lines = [line for line in stream.read().decode(errors="replace").splitlines() if line.strip()]
    if not lines:
        return None
    started = max((number for number, line in enumerate(lines) if line.startswith("sumcurve: ")), default=None)
    if started is not None:
        return " ".join(lines[started:]).removeprefix("sumcurve: ")
    return lines[-1] if any(line.startswith("Traceback (most recent call last)") for line in lines) else None


def pace(plan: Plan, results: Path, costs: Costs, records: Counts) -> tuple[int, float]:
    """How many trainings of the study are finished with known costs, and how many times their estimate they took."""
    took, expected, count = 0.0, 0.0, 0
    for folder in plan.named("runs", "train"):
        if manifest.state(results / folder.key) == "finished":
            took += timing(results / folder.key).total_seconds
            expected += float(costs.seconds(training_of(plan, folder, records))[1])
            count += 1
    return count, took / expected if expected else 1.0


def lines(plan: Plan, study: Standing) -> list[str]:
    """A row for each kind of folder, then what is at work and what failed."""
    shown = [state for state in STATES if state in set(study.states.values()) or state in ("finished", "missing")]
    counts: dict[str, Counter[str]] = {}
    for key, folder in plan.folders.items():
        counts.setdefault(folder.kind, Counter())[study.states[key]] += 1
    rows = [f"{'study ' + plan.study:24}{'folders':>9}" + "".join(f"{state:>10}" for state in shown)]
    for kind, row in [*counts.items(), ("all", sum(counts.values(), Counter[str]()))]:
        rows.append(f"{kind:24}{row.total():9}" + "".join(f"{row[state] or '':>10}" for state in shown))
    rows += [f"at work: {key}" for key in _of(study, "running")]
    rows += [f"damaged: {key}: `sumcurve verify` says what" for key in _of(study, "damaged")]
    return rows + [f"failed: {key}: {study.reasons[key]}" for key in _of(study, "failed")]


def _of(study: Standing, state: str) -> Sequence[str]:
    return [key for key, of_folder in study.states.items() if of_folder == state]


def time_left(plan: Plan, results: Path, study: Standing, costs: Costs, recorded: Mapping[str, int]) -> str:
    """What is left to do, in core-hours, by the trainings of the recorded studies and of this one."""
    whole = estimate(plan, results, costs, recorded=recorded)
    count, factor = pace(plan, results, costs, whole.records)
    hours, least = (factor if count >= ENOUGH else 1.0) * whole.total, bool(whole.unpriced)
    left = f"core-hours left to do: {amount(hours, least)}, jobs at work counted whole"
    if count >= ENOUGH:
        left += f"; the {count} finished trainings took {factor:.2f} times what recorded ones predict, and so it counts"
    if at_work := len(_of(study, "running")):
        left += f"; hours with {at_work} at work as now: {amount(hours / at_work, least)}"
    return "\n".join([*not_estimated(whole), left])

"""State of each folder of a study, by its files, by locks of processes at work, by Slurm's queue, and by logs."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sumcurve.store import manifest
from sumcurve.study.plan import Plan
from sumcurve.watch import driver

TAIL_BYTES = 4096
QUEUE_SECONDS = 30.0


@dataclass(frozen=True)
class Standing:
    """The state of every folder by its key, and the last words of those that failed.

    A state is that of `manifest.state`, or of a missing folder: running; waiting, in Slurm's queue; failed, its log
    ends with an error; stopped, it has a log and no process makes it.
    """

    states: Mapping[str, str]
    reasons: Mapping[str, str]

    def of(self, state: str) -> list[str]:
        """The keys of the folders in a state."""
        return [key for key, of_folder in self.states.items() if of_folder == state]

    def rows(self) -> list[tuple[str, str]]:
        """Heads and texts for the screen: waiting, unfinished and damaged folders, with reasons."""
        counts = {
            "in the queue": (len(self.of("waiting")), "wait for Slurm"),
            "interrupted": (len(self.of("stopped")), "have a log, are not finished, and no process makes them"),
            "committed": (len(self.of("committed")), "were restored from committed results, without weights"),
        }
        return [
            *((head, f"{count} {what}") for head, (count, what) in counts.items() if count),
            *(("failed", f"{key}: {self.reasons[key]}") for key in self.of("failed")),
            *(("damaged", f"{key}: `sumcurve verify` says what") for key in self.of("damaged")),
        ]


def queued(state: Path) -> dict[str, str]:
    """The states of this user's Slurm jobs by the names of their folders; none where Snakemake submitted none.

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
    """State of every folder by its files, locks of processes at work, the queue's `jobs` and logs, without hashing."""
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

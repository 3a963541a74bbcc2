"""State of each folder of a study, by its files, by locks of processes at work, by Slurm's queue, and by logs."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sumcurve.store import manifest
from sumcurve.study.plan import Plan
from sumcurve.watch import driver

TAIL_BYTES = 4096


@dataclass(frozen=True)
class Standing:
    """The state of every folder by its key; the last words of those that failed, Slurm's reasons of those that wait.

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
        waits = Counter(self.reasons[key] for key in self.of("waiting"))
        counts = {
            "interrupted": (len(self.of("stopped")), "have a log, are not finished, and no process makes them"),
            "committed": (len(self.of("committed")), "were restored from committed results, without weights"),
        }
        return [
            *(("in the queue", f"{count} wait for Slurm ({reason})") for reason, count in waits.most_common()),
            *((head, f"{count} {what}") for head, (count, what) in counts.items() if count),
            *(("failed", f"{key}: {self.reasons[key]}") for key in self.of("failed")),
            *(("damaged", f"{key}: `sumcurve verify` says what") for key in self.of("damaged")),
        ]


def standing(plan: Plan, results: Path, jobs: Mapping[str, str]) -> Standing:
    """State of every folder by its files, processes' locks, logs, and reasons of `jobs` that wait, without hashing."""
    at_work = set(driver.occupied(plan, results))
    states, reasons = {}, {}
    for key, folder in plan.folders.items():
        state: str = manifest.state(results / key)
        job = jobs.get(folder.name)
        if state == "missing":
            log = results.parent / "logs" / f"{key}.log"
            if folder.name in at_work or job == "":
                state = "running"
            elif job is not None:
                state, reasons[key] = "waiting", job
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
    started = max((number for number, line in enumerate(lines) if line.startswith("sumcurve: ")), default=None)
    if started is not None:
        return " ".join(lines[started:]).removeprefix("sumcurve: ")
    return lines[-1] if any(line.startswith("Traceback (most recent call last)") for line in lines) else None

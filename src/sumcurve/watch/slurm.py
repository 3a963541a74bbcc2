"""Slurm's queue and its accounting, where Snakemake's executor for Slurm submits the jobs of a study."""

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from sumcurve.machine.ending import REFUSED
from sumcurve.watch.driver import DriverError, say
from sumcurve.watch.status import last_words

LOOK_SECONDS = 30.0  # between two looks at the queue
ANSWER_SECONDS = 60.0  # in which Slurm's queue and accounting answer
# A job's comment: its rule and folder, or the run of a group and its rules. A folder's name ends in a digest.
NAME = re.compile(r"rule_(?:[a-z_]+_wildcards_)?(.+-[0-9a-f]+)(?:_[a-z_]+)?")
BEGAN = time.time()  # this process
# Reasons of a request that no later time meets (https://slurm.schedmd.com/job_reason_codes.html). Limits of a user, an
# account or a group are not among them: they are of all jobs together, some of which end.
NEVER = re.compile(
    r"PartitionTimeLimit|BadConstraints|AccountNotAllowed|InvalidAccount|InvalidQOS|QOSNotAllowed"
    r"|MaxMemPerLimit|ReservationDeleted|JobHoldMaxRequeue|QOSMin\w+|(?:Assoc|QOS)Max\w+Per(?:Job|Node)(?:Limit)?"
)


def queued(state: Path) -> dict[str, str]:
    """Slurm's reasons why this user's jobs of a study wait, by the names of their folders; "" for a job at work.

    None where Snakemake submitted none: `state` is its own folder, where its executor for Slurm keeps logs, and jobs
    begin in the folder above it. A job of several folders has the name of the training.
    """
    if not (state / "slurm_logs").is_dir():
        return {}
    command = ["squeue", "--noheader", f"--user={os.getuid()}", "--format=%T|%r|%k|%Z"]
    try:
        queue = subprocess.run(command, capture_output=True, text=True, timeout=ANSWER_SECONDS).stdout
    except (OSError, subprocess.TimeoutExpired):
        return {}
    jobs = {}
    for line in queue.splitlines():
        status, reason, comment, folder = line.split("|", 3)
        if folder == str(state.resolve().parent) and (name := NAME.fullmatch(comment)):
            jobs[name[1]] = "" if status in ("RUNNING", "COMPLETING") else reason
    return jobs


def watch_queue(state: Path, seconds: float = LOOK_SECONDS) -> None:
    """Say why jobs wait, when Slurm has new reasons, and end this process as Ctrl-C does where one can never start."""

    def look() -> None:
        said = {"", "None"}  # at work, or not considered yet
        while True:
            time.sleep(seconds)
            jobs = queued(state)
            if new := sorted(set(jobs.values()) - said):
                said.update(new)
                say(f"jobs wait; Slurm's reason: {'; '.join(new)}")
            for name, reason in jobs.items():
                if NEVER.fullmatch(reason):
                    say(
                        f"Slurm can never start the job of {name} ({reason}): name a partition, account or QOS in your "
                        "profile that allows what it asks for (`resources` above), or lower that with --set-resources, "
                        "and run the same command again"
                    )
                    os.kill(os.getpid(), signal.SIGINT)
                    return

    threading.Thread(target=look, daemon=True).start()


def require_retriable(logs: Sequence[Path], log: Path, attempt: int) -> None:
    """Raise DriverError, and say so, where a job's next attempt would end as the last one did, by its exit status, or
    where Slurm began neither of the two before.

    `logs` are the executor's of the failed attempts, of which those of this process count; Snakemake names the status
    there. `log` is the job's.
    """
    attempts = sorted((path.stat().st_mtime, path) for path in logs if path.stat().st_mtime > BEGAN)
    if attempts and f"non-zero exit status {REFUSED}." in attempts[-1][1].read_text(errors="replace"):
        problem = f"{last_words(log) or 'a job refused'} ({log}). It is not tried again: mend it first"
    elif not attempts and attempt > 2:
        problem = (
            f"{log.stem}: Slurm began neither of two jobs, as where no node has what they ask for: compare their "
            "`resources` above with `sinfo -o '%P %l %c %m %G'`, and lower them with --set-resources"
        )
    else:
        return
    say(problem)
    raise DriverError(problem)


def require_accounting() -> None:
    """Raise DriverError where `sacct` has no jobs: Snakemake's executor would poll it for ever, after all ended."""
    command = ["sacct", "--noheader", "--allocations"]
    try:
        subprocess.run(command, capture_output=True, check=True, text=True, timeout=ANSWER_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        problem = str(getattr(error, "stderr", None) or error).strip()
        raise DriverError(
            f"the profile asks Slurm's accounting how jobs stand, and `{' '.join(command)}` does not know ({problem}): "
            "set `slurm-status-command: squeue` in the profile, which needs no accounting"
        ) from None

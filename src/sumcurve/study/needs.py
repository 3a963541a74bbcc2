"""Resources of a job that makes a folder: memory by the plan, and time by its estimate.

Estimates on the safe side of measured values, for a scheduler that ends jobs which take more. Memory that was too
little is doubled the next time; a training that runs out of time resumes.

Imports nothing heavy: the Snakefile reads it on every parse.
"""

import json
import math
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from sumcurve.study.doors import MODELS
from sumcurve.study.kinds import KINDS
from sumcurve.study.methods import form_of_run
from sumcurve.study.plan import Folder, Plan

LEAST_MINUTES = 10  # of a job: an interpreter starts from a network's disk, and kernels are compiled
LIGHT = tuple(name for name, kind in KINDS.items() if kind.light)
"""Kinds that take seconds, where a job of a cluster takes nine to start; see `light`."""
# Slurm's messages in a job's log: with cgroups, with jobacct_gather's OverMemoryKill, and the kernel by itself.
KILLED = re.compile(rb"oom[-_ ]?kill|exceeded (?:job |step )?memory limit|out[ _]of[ _]memory", re.IGNORECASE)
MOST_DOUBLINGS = 4


def memory_mb(plan: Plan, folder: Folder) -> int:
    """Megabytes of main memory that a job which makes this folder requests at first."""
    return KINDS[folder.kind].mem_mb + _of_model(plan, folder)


def minutes(folder: Folder, attempt: int = 1, seconds: float | None = None) -> int:
    """Minutes that such a job is given at an attempt. A training always gets the same, for it resumes.

    `seconds` is the upper bound of what the job takes by the plan's estimate; without one its kind decides.
    """
    kind = KINDS[folder.kind]
    first = kind.minutes if seconds is None else max(LEAST_MINUTES, math.ceil(seconds / 60))
    return first * (1 if kind.together else attempt)


def light(plan: Plan) -> set[str]:
    """The kinds whose jobs take seconds in this study: systems do, except outside programs."""
    return set(LIGHT) - (set() if all(settings.light for _, settings in plan.systems.values()) else {"system"})


def _of_model(plan: Plan, folder: Folder) -> int:
    """Memory of a model beyond that of its kind."""
    if folder.kind == "decode":
        folder = plan.folder(folder.specification["run"])
    if folder.kind != "train":
        return KINDS[folder.kind].model_mb
    specification = folder.specification
    lengths = specification["source_tokens"], specification["target_tokens"]
    return _of_form(json.dumps({key: specification[key] for key in ("model", "training")}), *lengths)


@lru_cache(maxsize=1024)
def _of_form(model_and_training: str, source_tokens: int, target_tokens: int) -> int:
    """Memory as in `_of_model`, by model and training of a run's specification: equal for all seeds and most sizes."""
    form = form_of_run(json.loads(model_and_training))
    return MODELS[form.model.kind].memory_mb(form, source_tokens, target_tokens)


def doubled(mem_mb: int, logs: Iterable[Path]) -> int:
    """`mem_mb`, twofold for each of a job's logs by a scheduler that reports an end for want of memory."""
    killed = sum(KILLED.search(log.read_bytes()) is not None for log in logs)
    return mem_mb * 2 ** min(MOST_DOUBLINGS, killed)

"""`sumcurve make`: a folder of the plan, made by the builder of its kind.

A folder that is finished and verified is left as it is; another is written beside its place by its kind's builder
(`sumcurve.study.kinds`). Heavy packages are imported where they are needed, after that check.
"""

import argparse
import os
import sys
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from sumcurve.cli.jobs import add_job, logged, named
from sumcurve.cli.messages import ERRORS, note
from sumcurve.cli.places import PLACE, home_of, key_of, lock
from sumcurve.machine import devices, launch, memory, torchrun
from sumcurve.machine.arguments import Verbs
from sumcurve.machine.devices import Lease
from sumcurve.numerics import sums
from sumcurve.sources.pinned import File
from sumcurve.store import manifest, resume
from sumcurve.store.errors import CorpusError
from sumcurve.store.manifest import ManifestError
from sumcurve.store.provenance import facts
from sumcurve.store.stage import Stage
from sumcurve.study import written
from sumcurve.study.kinds import KINDS
from sumcurve.study.languages import require_fitting_part
from sumcurve.study.plan import Folder, PlanError
from sumcurve.study.written import WrittenPlan


def add_parsers(verbs: Verbs) -> None:
    command = add_job(
        verbs,
        "make",
        "a folder of corpora, annotations, runs, outputs or scores, from the folders that it is made from",
        made,
        example="results/runs/docstrings-pcov-100-s1-1c72ccea",
        epilog=torchrun.EXPERIMENTAL,
    )
    command.add_argument(
        "--plan",
        type=Path,
        help="that asks for it, as `snakemake` or `sumcurve plan --write` wrote it [the newest]",
    )
    command.add_argument("further", nargs="*", type=Path, help="more of them, made after it in this process")
    command.add_argument(
        "--together",
        action="store_true",
        help="before it what its study makes with it in one process: scores of a method, decodings of a run",
    )


class Process:
    """State shared by folders that one process makes in turn: contents of inputs, hashed once, and one device lease."""

    def __init__(self) -> None:
        self.contents: dict[str, str] = {}  # by key, of folders whose files were hashed
        self._held = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._held.close()

    @cached_property
    def lease(self) -> Lease:
        """Device lease, taken when a folder first needs it, before torch is imported, held until the process ends."""
        return self._held.enter_context(devices.device(dict(os.environ), Path("/tmp"), note))


class Task:
    """One folder to make: its path, its entry in the plan, and its inputs."""

    def __init__(self, path: Path, plan: WrittenPlan, process: Process) -> None:
        self.path = path
        self.home = home_of(path, PLACE)
        self.results = path.parents[1]
        self.plan = plan
        self.folder: Folder = plan.folder(key_of(path))
        self.process = process

    @cached_property
    def contents(self) -> dict[str, str]:
        """Contents of the folder's inputs by key, after all their files were hashed."""
        known = self.process.contents
        for key in self.folder.inputs:
            if key in known:
                continue
            sealed = manifest.verify(self.results / key, self.plan.folder(key).specification)
            if sealed is None:
                raise ManifestError(
                    f"{self.results / key} is not finished; make it first (`snakemake` does so in the right order)"
                )
            known[key] = manifest.content(sealed)
        return {key: known[key] for key in self.folder.inputs}

    @property
    def inputs(self) -> dict[str, Path]:
        """Paths of all inputs, folders by key and files by sha256; nothing unverified is read."""
        folders = {key: self.results / key for key in self.contents}
        return folders | {str(file.sha256): self._verified(file) for file in self.folder.files}

    def _verified(self, file: File) -> Path:
        if file.sha256 is None or file.observed(self.home) != file.sha256:
            raise CorpusError(f"{self.folder.stem}: {file.problem(self.home, self.plan.study)}")
        return file.at(self.home)

    def build(self, folder: Path, observed: dict[str, Any]) -> None:
        """Let the builder of its kind write into `folder`; `observed` gets the manifest's entries beside the files."""
        kind = KINDS[self.folder.kind]
        stage = Stage(folder, self.path.name, self.home, note, facts=observed)
        if kind.gpu:
            memory.keep_freed()
            if "sums" in self.folder.specification:  # not of outside programs
                observed["sums"] = sums.apply(self.folder.specification["sums"])  # before torch is imported
            stage = replace(stage, lease=self.process.lease)
            observed["device"] = stage.lease.device
        with ExitStack() as held:
            if torchrun.place(os.environ).size > 1:
                held.push(leave_group)
            try:
                kind.builder(self.folder.specification, self.inputs, stage)
                if self.folder.kind == "corpus":
                    require_fitting_part(self.plan, self.folder.key, folder)
            except (OSError, *ERRORS) as error:
                self._require_whole(str(error))
                raise

    def _require_whole(self, message: str) -> None:
        """Raise ManifestError where an error names a file that an input, restored from committed results, lacks."""
        for key in self.folder.inputs:
            path = self.results / key
            absent = manifest.lacking(path)
            if any(str(path / name) in message for name in absent):
                raise ManifestError(manifest.without(path, absent))


def made(arguments: argparse.Namespace) -> None:
    """Make the folders that are named, by the plan of the given file, or the newest one that has the first."""
    path = arguments.path
    plan = written.read(arguments.plan) if arguments.plan else written.holding(home_of(path, PLACE), key_of(path))
    if arguments.together:
        make_together(path, plan, arguments.log)
    else:
        make(path, *map(named, arguments.further), plan=plan)


def make(*paths: Path, plan: WrittenPlan) -> None:
    """Make folders of a plan, one after another, but those that are finished and verified."""
    for path in paths[1:]:
        folder = plan.folder(key_of(path))
        if KINDS[folder.kind].gpu and "sums" in folder.specification:
            sums.set_variables(folder.specification["sums"])  # before numpy is loaded for a folder that is made earlier
            break
    for path in paths:
        with Process() as process:
            make_one(path, plan, process)


def make_together(path: Path, plan: WrittenPlan, log: Path | None) -> None:
    """Make a folder of a plan, and before it all others that one process makes with it (`Plan.together`).

    Each has a log of its own, beside `log`. One that cannot be made prevents only the last from being made.
    """
    others = [key for keys in plan.together if key_of(path) in keys for key in keys if key != key_of(path)]
    failed: list[Exception] = []
    with Process() as process:
        for key in others:
            folder = path.parents[1] / key
            try:
                with logged(log.with_name(f"{folder.name}.log") if log else None):
                    make_one(folder, plan, process)
            except ERRORS as error:
                failed.append(error)
        if failed:
            raise failed[0]
        make_one(path, plan, process)


def make_one(path: Path, plan: WrittenPlan, process: Process) -> None:
    """Make one folder of the plan, unless it is finished and verified."""
    task = Task(path, plan, process)
    if torchrun.place(os.environ).rank:
        follow(task)
        return
    if spread(task):
        return
    with lock(task.home, task.path.name):
        if (sealed := manifest.verify(path, task.folder.specification)) is not None:
            manifest.require(manifest.changed_inputs(path, sealed["inputs"], task.contents))
            manifest.touch(path)
            resume.forget(task.home, path.name)
            note(f"{path} is finished and verified: nothing to do")
            return
        if (processes := torchrun.place(os.environ).size) > 1:
            note(f"{path}: {processes} processes; {torchrun.EXPERIMENTAL}")
        observed = facts()
        with manifest.building(path, task.folder.specification, observed, task.contents) as stage:
            task.build(stage, observed)
        resume.forget(task.home, path.name)
        note(f"{path} is finished")


def leave_group(_: object, error: BaseException | None, __: object) -> None:
    """Leave the processes of `torchrun` that trained together; called where a block ends, with its exception."""
    from sumcurve.training.parallel import leave

    leave(failed=error is not None)


def spread(task: Task) -> bool:
    """Run a training that needs several GPUs in child processes; returns whether they made the folder.

    The GPUs are leased together, before any process starts. SystemExit with the status of a process that failed.
    """
    number, _ = devices.per_run(os.environ)
    if number == 1 or not KINDS[task.folder.kind].together or torchrun.place(os.environ).size > 1:
        return False
    if manifest.verify(task.path, task.folder.specification) is not None:
        return False
    plan = task.plan.write(task.home)
    words = ["-m", "sumcurve", "make", str(task.path), "--plan", str(plan)]
    with devices.several(dict(os.environ), Path("/tmp"), note) as cards:
        status = launch.run(words, cards, os.environ, sys.stderr)
    if status:
        raise SystemExit(status)
    return True


def follow(task: Task) -> None:
    """Take part in a training led by another process of `torchrun`, which alone locks and writes the folder."""
    if not KINDS[task.folder.kind].together:
        together = ", ".join(f"`{name}`" for name, kind in KINDS.items() if kind.together)
        raise PlanError(f"torchrun is for folders of kind {together}; make {task.path} in one process")
    if manifest.verify(task.path, task.folder.specification) is None:
        task.build(task.path, {})

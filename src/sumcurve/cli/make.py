"""`sumcurve make` and `shard`: a folder of the plan, made by the builder of its kind.

A folder that is finished and verified is left as it is; another is written beside its place by its kind's builder
(`sumcurve.study.kinds`). Heavy packages are imported by what needs them, after that look.
"""

import os
import shutil
import sys
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from re import fullmatch
from typing import Any, Self, cast

from sumcurve.cli.jobs import add_job, logged, named
from sumcurve.cli.messages import ERRORS, note
from sumcurve.cli.places import CONFIG, PLACE, home_of, key_of, lock, plan_of
from sumcurve.corpora.folders import CorpusSpecification
from sumcurve.machine import devices, launch, memory, sums, torchrun
from sumcurve.machine.arguments import Verbs
from sumcurve.machine.devices import Lease
from sumcurve.share import packs
from sumcurve.sources.pinned import File
from sumcurve.store import manifest, resume
from sumcurve.store.errors import CorpusError
from sumcurve.store.manifest import ManifestError
from sumcurve.store.provenance import facts
from sumcurve.store.stage import Stage
from sumcurve.study import planned
from sumcurve.study.kinds import KINDS
from sumcurve.study.plan import Folder, Plan, PlanError, plan_holding


def add_parsers(verbs: Verbs) -> None:
    command = add_job(
        verbs,
        "make",
        "a folder of corpora, annotations, runs, outputs or scores, from the folders that it is made from",
        lambda arguments: (
            make_together(arguments.path, arguments.study, arguments.log)
            if arguments.together
            else make(arguments.path, *map(named, arguments.further), study=arguments.study)
        ),
        example="results/runs/docstrings-pcov-100-s1-1c72ccea --study docstrings",
        epilog=torchrun.EXPERIMENTAL,
    )
    command.add_argument("--study", help="that asks for it [the first that does]")
    command.add_argument("further", nargs="*", type=Path, help="more of them, made after it in this process")
    command.add_argument(
        "--together",
        action="store_true",
        help="before it what its study makes with it in one process: scores of a method, decodings of a run",
    )
    command = add_job(
        verbs,
        "shard",
        "one step of a corpus's preparation by shards",
        lambda arguments: shard(arguments.path, arguments.study),
        example="scratch/shards/xsum-01234567-of-16/plan.json --study xsum",
    )
    command.add_argument("--study", help="that asks for it [the first that does]")


class Process:
    """What folders share that one process makes in turn: contents of inputs, hashed once, and a device, leased once."""

    def __init__(self) -> None:
        self.contents: dict[str, str] = {}  # by key, of folders whose files were hashed
        self._held = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._held.close()

    @cached_property
    def lease(self) -> Lease:
        """Taken when a folder first asks for it, before torch is imported, and held until the process is done."""
        return self._held.enter_context(devices.device(dict(os.environ), Path("/tmp"), note))


class Task:
    """One folder to make: where it lies, what the plan says of it, what it is made from."""

    def __init__(self, path: Path, plan: Plan, process: Process) -> None:
        self.path = path
        self.home = home_of(path, PLACE)
        self.results = path.parents[1]
        self.plan = plan
        self.folder: Folder = plan.folder(key_of(path))
        self.process = process

    @property
    def specification(self) -> dict[str, Any]:
        return self.folder.specification

    @cached_property
    def contents(self) -> dict[str, str]:
        """What each folder says that it is made from, by key, once all their files were hashed."""
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
        """Where all lies that it is made from, folders by key and files by sha256; nothing unverified is read."""
        folders = {key: self.results / key for key in self.contents}
        return folders | {str(file.sha256): self._verified(file) for file in self.folder.files}

    def _verified(self, file: File) -> Path:
        if file.sha256 is None or file.observed(self.home) != file.sha256:
            raise CorpusError(f"{self.folder.stem}: {file.problem(self.home, self.plan.study)}")
        return file.at(self.home)

    def build(self, folder: Path, observed: dict[str, Any]) -> None:
        """Let the builder of its kind write into `folder`; `observed` gets what the manifest says beside the files."""
        kind = KINDS[self.folder.kind]
        stage = Stage(folder, self.path.name, self.home, note, facts=observed)
        if kind.gpu:
            memory.keep_freed()
            if "sums" in self.specification:  # not of outside programs
                observed["sums"] = sums.apply(self.specification["sums"])  # before torch is imported
            stage = replace(stage, lease=self.process.lease)
            observed["device"] = stage.lease.device
        with ExitStack() as held:
            if torchrun.place(os.environ).size > 1:
                held.push(leave_group)
            try:
                kind.builder(self.specification, self.inputs, stage)
            except (OSError, *ERRORS) as error:
                self._require_whole(str(error))
                raise

    def _require_whole(self, message: str) -> None:
        """ManifestError where what failed speaks of a file that stayed behind when an input was packed."""
        for key in self.folder.inputs:
            path = self.results / key
            absent = manifest.lacking(path)
            if any(str(path / name) in message for name in absent):
                raise ManifestError(packs.without(path, absent))


def make(*paths: Path, study: str | None = None) -> None:
    """Make folders of a study, one after another, but those that are finished and verified.

    Where no study is named it is the first that asks for a folder.
    """
    plans = [plan_of(paths[0], study)]
    for path in paths[1:]:
        plans.append(plan_of(path, None) if study is None and key_of(path) not in plans[-1].folders else plans[-1])
    for path, plan in zip(paths[1:], plans[1:], strict=True):
        folder = plan.folder(key_of(path))
        if KINDS[folder.kind].gpu and "sums" in folder.specification:
            sums.set_variables(folder.specification["sums"])  # before numpy is loaded for a folder that is made earlier
            break
    for path, plan in zip(paths, plans, strict=True):
        with Process() as process:
            make_one(path, plan, process)


def make_together(path: Path, study: str | None, log: Path | None) -> None:
    """Make a folder of a study, and before it all others that one process makes with it (`Plan.together`).

    Each has a log of its own, beside `log`. One that cannot be made keeps none but the last from being made.
    """
    plan = plan_of(path, study)
    others = [key for keys in plan.together.values() if key_of(path) in keys for key in keys if key != key_of(path)]
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


def make_one(path: Path, plan: Plan, process: Process) -> None:
    """Make one folder of the plan, unless it is finished and verified."""
    task = Task(path, plan, process)
    if torchrun.place(os.environ).rank:
        follow(task)
        return
    if spread(task):
        return
    with lock(task.home, task.path.name):
        if (sealed := manifest.verify(path, task.specification)) is not None:
            manifest.require(manifest.changed_inputs(path, sealed["inputs"], task.contents))
            manifest.touch(path)
            resume.forget(task.home, path.name)
            note(f"{path} is finished and verified: nothing to do")
            return
        if (processes := torchrun.place(os.environ).size) > 1:
            note(f"{path}: {processes} processes; {torchrun.EXPERIMENTAL}")
        planned.require(task.folder)
        observed = facts(*task.folder.code)
        with manifest.building(path, task.specification, observed, task.contents) as stage:
            task.build(stage, observed)
        resume.forget(task.home, path.name)
        for pieces in (task.home / "scratch" / "shards").glob(f"{path.name}-of-*/*"):
            if pieces.is_dir():  # the small files beside them stay: for Snakemake what is missing is not made
                shutil.rmtree(pieces)
        note(f"{path} is finished")


def shard(path: Path, study: str | None = None) -> None:
    """Make one step of a preparation by shards: a JSON file in scratch/shards/<corpus>-of-<shards>/, and its folder.

    Where no study is named it is the first that asks for the corpus.
    """
    from sumcurve.corpora.folders import preparation
    from sumcurve.corpora.shards.cutting import cut
    from sumcurve.corpora.shards.mapping import map_shard
    from sumcurve.corpora.shards.nearness import near_shard
    from sumcurve.corpora.shards.work import Work

    parts = fullmatch(r"(.+)-of-(\d+)/(plan|map|near)(?:-(\d{5}))?\.json", f"{path.parent.name}/{path.name}")
    if parts is None:
        raise PlanError(f"{path} is no step of a preparation by shards: scratch/shards/<corpus>-of-<shards>/plan.json")
    name, count, step, number = parts.groups()
    home, key = home_of(path, "scratch/shards/CORPUS-of-SHARDS/STEP.json"), f"corpora/{name}"
    plan = Plan.read(CONFIG, study) if study else plan_holding(CONFIG, key, home)
    folder = plan.folder(key)
    (file,) = folder.files
    content, settings = preparation(cast(CorpusSpecification, folder.specification), file.at(home))
    work = Work(path.parent, int(count))
    with lock(home, f"{path.parent.name}-{path.stem}"):
        if step == "plan":
            if not file.at(home).exists() or cut(content, settings, work) != file.sha256:
                work.plan.unlink(missing_ok=True)
                raise CorpusError(f"{folder.stem}: {file.problem(home, plan.study)}")
        else:
            {"map": map_shard, "near": near_shard}[step](content, settings, work, int(number))
        path.touch()  # whoever compares times counts the step as done
    note(f"{path} is finished")


def leave_group(_: object, error: BaseException | None, __: object) -> None:
    """Leave the processes of `torchrun` that trained together; called where a block ends, with what it raised."""
    from sumcurve.training.parallel import leave

    leave(failed=error is not None)


def spread(task: Task) -> bool:
    """Whether processes of this one's made the folder, a training that is to have several cards.

    They are leased here, at once, before any process starts. SystemExit with the status of a process that failed.
    """
    number, _ = devices.per_run(os.environ)
    if number == 1 or not KINDS[task.folder.kind].together or torchrun.place(os.environ).size > 1:
        return False
    if manifest.verify(task.path, task.specification) is not None:
        return False
    planned.require(task.folder)
    words = ["-m", "sumcurve", "make", str(task.path), "--study", task.plan.study]
    with devices.several(dict(os.environ), Path("/tmp"), note) as cards:
        status = launch.run(words, cards, os.environ, sys.stderr)
    if status:
        raise SystemExit(status)
    return True


def follow(task: Task) -> None:
    """Take part in what another process of `torchrun` leads; it alone locks and writes the folder."""
    if not KINDS[task.folder.kind].together:
        together = ", ".join(f"`{name}`" for name, kind in KINDS.items() if kind.together)
        raise PlanError(f"torchrun is for folders of kind {together}; make {task.path} in one process")
    if manifest.verify(task.path, task.specification) is None:
        task.build(task.path, {})

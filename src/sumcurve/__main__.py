"""`python -m sumcurve make <folder>`, what makes raw files and tables, and tools for people.

`make` looks the folder up in the plan, does nothing when it is finished and verified, and otherwise lets the builder of
its kind (`sumcurve.study.kinds`) write it beside its place. Heavy packages are imported by what needs them, after that
look.
"""

import argparse
import errno
import json
import os
import shutil
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from re import fullmatch
from typing import TYPE_CHECKING, Any, Self, cast

from sumcurve.cli import efficiency as efficiency_command
from sumcurve.cli import rouge as rouge_command
from sumcurve.corpora.folders import CorpusSpecification
from sumcurve.corpora.store import PARTS, Corpus
from sumcurve.curves.errors import ResultsError
from sumcurve.machine import devices, sums, torchrun
from sumcurve.machine.arguments import CommandError, natural, positive
from sumcurve.machine.devices import DeviceError, Lease
from sumcurve.machine.locks import LockError, locked
from sumcurve.machine.sums import SumsError
from sumcurve.machine.torchrun import TorchrunError
from sumcurve.settings.base import on_the_hub
from sumcurve.settings.config import HUB_LOCK, PlanError
from sumcurve.settings.content import Raw
from sumcurve.share import packs
from sumcurve.share.packs import PackError
from sumcurve.sources.pinned import File, fetched_model
from sumcurve.sources.raw import FIELDS
from sumcurve.store import manifest, resume
from sumcurve.store.errors import CorpusError
from sumcurve.store.manifest import ManifestError
from sumcurve.store.provenance import facts
from sumcurve.store.records import RecordError, write_json
from sumcurve.store.stage import BuildError, Stage
from sumcurve.study import planned
from sumcurve.study.doors import CAPABILITIES
from sumcurve.study.kinds import KINDS, STEPS, TABLES_MODULES
from sumcurve.study.plan import Plan, plan_holding, studies
from sumcurve.study.planning.folder import HUB, LISTS, Folder, place_of_hub, place_of_lists, raw_file

if TYPE_CHECKING:
    from sumcurve.watch.costs import Costs

CONFIG = Path("config")
PLACE = "results/STEP/FOLDER"  # of a folder, below a study's home
NO_ROOM = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "your quota of the disk is used up"}
TEMPLATE = "{source}\nSummary:"  # a prompt to begin with, of a language model


# Their messages say all there is to say; anything else is a bug and shows where it happened.
ERRORS = (
    PlanError,
    ManifestError,
    RecordError,
    CorpusError,
    DeviceError,
    TorchrunError,
    LockError,
    SumsError,
    BuildError,
    CommandError,
    ResultsError,
    PackError,
)


def note(text: str) -> None:
    """One line for the person or the log that listens."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def lock(home: Path, name: str) -> Iterator[None]:
    """Hold the folder's lock, so that what an interrupted scheduler left running is waited for, not doubled."""
    path = home / "scratch" / "locks" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path, lambda: note(f"{name}: waiting for another process that makes this folder (it holds {path})")):
        yield


def key_of(path: Path) -> str:
    """The key of the folder that lies there."""
    return f"{path.parent.name}/{path.name}"


def home_of(path: Path, form: str) -> Path:
    """The home above `path`, which has the parts of `form` below it; PlanError where it has fewer."""
    above = list(path.parents)
    if len(above) <= form.count("/"):
        raise PlanError(f"{path} does not say where it lies: give it from the study's home on, as {form}")
    return above[form.count("/")]


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

    def build(self, folder: Path, found: dict[str, Any]) -> None:
        """Let the builder of its kind write into `folder`; `found` gets what the manifest says beside the files."""
        kind = KINDS[self.folder.kind]
        stage = Stage(folder, self.path.name, self.home, note, facts=found)
        if kind.gpu:
            if "sums" in self.specification:  # not of outside programs
                found["sums"] = sums.apply(self.specification["sums"])  # before torch is imported
            stage = replace(stage, lease=self.process.lease)
            found["device"] = stage.lease.device
        with ExitStack() as held:
            if torchrun.place(os.environ).size > 1:
                held.push(leave_group)
            try:
                kind.builder(self.specification, self.inputs, stage)
            except (OSError, *ERRORS) as error:
                self._require_whole(str(error))
                raise

    def _require_whole(self, said: str) -> None:
        """ManifestError where what failed speaks of a file that stayed behind when an input was packed."""
        for key in self.folder.inputs:
            path = self.results / key
            absent = manifest.lacking(path)
            if any(str(path / name) in said for name in absent):
                raise ManifestError(packs.without(path, absent))


def plan_of(path: Path, study: str | None) -> Plan:
    """The plan of a study; without a name of the first that asks for the folder, as a person may want it."""
    return Plan.read(CONFIG, study) if study else plan_holding(CONFIG, key_of(path), home_of(path, PLACE))


def make(*paths: Path, study: str | None = None) -> None:
    """Make folders of a study, one after another, but those that are finished and verified.

    Where no study is named it is the first that asks for a folder.
    """
    plan = plan_of(paths[0], study)
    for path in paths:
        if study is None and key_of(path) not in plan.folders:
            plan = plan_of(path, None)
        with Process() as process:
            make_one(path, plan, process)


def make_together(path: Path, study: str | None, log: Path | None) -> None:
    """Make a folder of a study, and before it all others that one process makes with it (`Plan.together`).

    Each has a log of its own, beside `log`. One that cannot be made keeps none but the last from being made.
    """
    plan = plan_of(path, study)
    others = [one for keys in plan.together.values() if key_of(path) in keys for one in keys if one != key_of(path)]
    failed: list[Exception] = []
    with Process() as process:
        for one in others:
            folder = path.parents[1] / one
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
        found = facts(*task.folder.code)
        with manifest.building(path, task.specification, found, task.contents) as stage:
            task.build(stage, found)
        resume.forget(task.home, path.name)
        for pieces in (task.home / "scratch" / "shards").glob(f"{path.name}-of-*/*"):
            if pieces.is_dir():  # the small files beside them stay: for Snakemake what is missing is not made
                shutil.rmtree(pieces)
        note(f"{path} is finished")


def shard(path: Path, study: str | None = None) -> None:
    """Make one step of a preparation by shards: a JSON file in scratch/shards/<corpus>-of-<shards>/, and its folder.

    Where no study is named it is the first that asks for the corpus.
    """
    from sumcurve.corpora import shards
    from sumcurve.corpora.folders import preparation

    told = fullmatch(
        r"(.+)-of-(\d+)/(plan|map|near|reduce|finish)(?:-(\d{5}))?\.json", f"{path.parent.name}/{path.name}"
    )
    if told is None:
        raise PlanError(f"{path} is no step of a preparation by shards: scratch/shards/<corpus>-of-<shards>/plan.json")
    name, count, step, number = told.groups()
    home, key = home_of(path, "scratch/shards/CORPUS-of-SHARDS/STEP.json"), f"corpora/{name}"
    plan = Plan.read(CONFIG, study) if study else plan_holding(CONFIG, key, home)
    folder = plan.folder(key)
    (file,) = folder.files
    content, settings = preparation(cast(CorpusSpecification, folder.specification), file.at(home))
    work = shards.Work(path.parent, int(count))
    with lock(home, f"{path.parent.name}-{path.stem}"):
        if step == "plan":
            if not file.at(home).exists() or shards.cut(content, settings, work) != file.sha256:
                work.plan.unlink(missing_ok=True)
                raise CorpusError(f"{folder.stem}: {file.problem(home, plan.study)}")
        elif step == "reduce":
            shards.reduce(content, settings, work)
        else:
            steps = {"map": shards.map_shard, "near": shards.near_shard, "finish": shards.finish_shard}
            steps[step](content, settings, work, int(number))
        path.touch()  # whoever compares times counts the step as done
    note(f"{path} is finished")


def leave_group(_: object, error: BaseException | None, __: object) -> None:
    """Leave the processes of `torchrun` that trained together; called where a block ends, with what it raised."""
    from sumcurve.training.parallel import leave

    leave(failed=error is not None)


def follow(task: Task) -> None:
    """Take part in what another process of `torchrun` leads; it alone locks and writes the folder."""
    if not KINDS[task.folder.kind].together:
        together = ", ".join(f"`{name}`" for name, kind in KINDS.items() if kind.together)
        raise PlanError(f"torchrun is for folders of kind {together}; make {task.path} in one process")
    if manifest.verify(task.path, task.specification) is None:
        task.build(task.path, {})


def harvest(path: Path) -> None:
    """Make the raw file of an embedded corpus from packages or archives; its name holds its content's hash."""
    from sumcurve.harvest.archives import chosen, read_archives
    from sumcurve.harvest.harvest import harvest, harvest_archives

    wanted = {
        raw.sha256: (study, raw.harvest)
        for study in studies(CONFIG)
        for raw in Plan.read(CONFIG, study).raws
        if raw.harvest and raw.sha256 and raw.sha256.startswith(path.stem.removeprefix("harvest-"))
    }
    if len(wanted) != 1:
        raise PlanError(f"no study in {CONFIG / 'studies'} harvests a corpus named {path.stem}")
    ((expected, (study, pinned)),) = wanted.items()
    with lock(home_of(path, "data/raw/FILE"), path.stem):
        if path.is_file() and manifest.sha256_file(path) == expected:
            path.touch()
            note(f"{path} is there and verified: nothing to do")
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".new")
        if pinned.archives is None:
            counts = harvest(pinned.packages or {}, partial, kind=pinned.kind)
            listed = ", ".join(f"{name} {version}" for name, version in (pinned.packages or {}).items())
        else:
            path_of_list = list_of_archives(pinned.archives)
            archives = chosen(read_archives(path_of_list), pinned.without, pinned.only)
            counts = harvest_archives(archives, path.parent / "archives", partial, kind=pinned.kind)
            listed = str(path_of_list)
        observed = manifest.sha256_file(partial)
        if observed != expected:
            raise CorpusError(
                f"harvesting {pinned.kind} of {listed} gave sha256 {observed}, but "
                f"{CONFIG / 'studies' / study}.yaml pins {expected}: the versions agree, so a package's files differ "
                "from its release (reinstall it) or the harvest's code has changed (change the line `sha256:`). "
                f"The new content is kept for comparison in {partial}"
            )
        write_json(path.with_suffix(".counts.json"), counts)
        os.replace(partial, path)
        note(f"{path}: {counts}")


def fetch_model(path: Path) -> None:
    """Fetch the pretrained model of the hub that belongs into this folder, and check it by its pinned sha256."""
    from sumcurve.harvest import fetch

    wanted = {
        model.sha256: (name, model.hub, model.revision)
        for study in studies(CONFIG)
        for name, form in Plan.read(CONFIG, study).methods.items()
        if (model := form.model).kind == "transformers"
        and model.hub
        and Path(fetched_model(model.sha256)).name == path.name
    }
    if len(wanted) != 1:
        raise PlanError(f"no method of a study in {CONFIG / 'studies'} names a model of the hub for {path}")
    ((expected, (method, hub, revision)),) = wanted.items()
    with lock(home_of(path, "data/raw/FOLDER"), path.name):
        if path.is_dir() and fetch.sha256_of_model(path) == expected:
            note(f"{path} is there and verified: nothing to do")
            return
        partial = path.with_name(path.name + ".fetched")
        observed = fetch.fetch_model(str(hub), str(revision), partial)
        if observed != expected:
            raise CorpusError(
                f"{hub} at {revision} has sha256 {observed}, but {CONFIG / 'methods' / method}.yaml pins {expected}: "
                f"correct its line `sha256:` if the commit is the one you mean. What was fetched is kept in {partial}"
            )
        shutil.rmtree(path, ignore_errors=True)
        os.replace(partial, path)
        note(f"{path}: {hub} at {revision}")


def pin(study: str | None) -> None:
    """Write down what the hub states of a study's files whose sha256 is null: names of folders rest on it."""
    for raw in Plan.read(CONFIG, study).raws:
        if raw.hub and None in (raw.files or {}).values():
            pin_files(raw, Path())


def pin_files(raw: Raw, home: Path) -> None:
    from sumcurve.harvest.fetch import pin

    with lock(home, HUB_LOCK):
        pinned = pin(raw, CONFIG / HUB_LOCK)
    if pinned:
        note(
            f"{raw.hub} at {raw.revision}: the hub states the sha256 of {len(pinned)} files, which are in "
            f"{CONFIG / HUB_LOCK} now: keep it with the study, in git"
        )


def of_the_hub(path: Path) -> tuple[File, str, Raw]:
    """What belongs into this folder, a study that asks for it, and where it comes from."""
    for study in studies(CONFIG):
        for raw, settings in Plan.read(CONFIG, study).contents:
            if raw.hub and Path(place_of_hub(raw)).name == path.name:
                return raw_file(raw, settings.split), study, raw
    raise PlanError(f"no corpus of a study in {CONFIG / 'studies'} names files of the hub for {path}")


def fetch_content(path: Path) -> None:
    """Fetch the files of the hub that a corpus is made of into this folder, and check them by what is pinned.

    What is not pinned is, by what the hub states, before anything is fetched.
    """
    from sumcurve.harvest.fetch import fetch

    file, study, raw = of_the_hub(path)
    home = home_of(path, "data/raw/FOLDER")
    with lock(home, path.name):
        if file.sha256 is not None and file.observed(home) == file.sha256:
            note(f"{path} is there and verified: nothing to do")
            return
        pin_files(raw, home)
        unknown = file.sha256 is None
        file, study, raw = of_the_hub(path)
        partial = path.with_name(path.name + ".fetched")
        if not partial.is_dir():
            fetch(str(raw.hub), str(raw.revision), raw.files or {}, partial, "dataset", note)
        found = replace(file, path=f"{file.path}.fetched")
        if file.sha256 is not None and found.observed(home) != file.sha256:
            raise CorpusError(found.problem(home, study))
        shutil.rmtree(path, ignore_errors=True)
        os.replace(partial, path)
        note(f"{path}: {raw.hub} at {raw.revision}")
        if file.sha256 is None:
            note(file.problem(home, study))
        elif unknown:
            note("folders of this corpus have other names, now that its content is known: run again")


def fetch_lists(path: Path) -> None:
    """Let apt fetch the lists of packages that belong into this folder, and check them by their pinned sha256.

    Other lists are kept under their own name: a study that names them finds them there.
    """
    from sumcurve.harvest.lists import fetch

    wanted = {
        raw_file(raw, settings.split): (study, raw.apt)
        for study in studies(CONFIG)
        for raw, settings in Plan.read(CONFIG, study).contents
        if raw.apt and Path(place_of_lists(str(raw.sha256))).name == path.name
    }
    if len(wanted) != 1:
        raise PlanError(f"no corpus of a study in {CONFIG / 'studies'} names lists of packages for {path}")
    ((file, (study, apt)),) = wanted.items()
    home = home_of(path, "data/raw/FOLDER")
    with lock(home, path.name):
        if file.observed(home) == file.sha256:
            note(f"{path} is there and verified: nothing to do")
            return
        partial = path.with_name(path.name + ".fetched")
        shutil.rmtree(partial, ignore_errors=True)
        release = fetch(apt.codename, apt.language, partial)
        observed = replace(file, path=f"{file.path}.fetched").observed(home)
        own = home / place_of_lists(str(observed))
        shutil.rmtree(own, ignore_errors=True)
        os.replace(partial, own)
        if observed != file.sha256:
            raise CorpusError(
                f"this machine's lists ({apt.codename}, {apt.language}: {release}) have sha256 {observed}, but study "
                f"{study} pins {file.sha256}: Debian has changed them since. Take the folder {path.name} from where it "
                f"was made, or name these, which are another corpus, by `sha256: {observed}` in "
                f"{CONFIG / 'studies' / study}.yaml; they are kept in {own}"
            )
        note(f"{path}: {release}")


def show_model(model: str, revision: str | None) -> None:
    """Print what a method's file says of a pretrained model: a folder, or a name of the hub, which is fetched."""
    import yaml

    from sumcurve.harvest import fetch

    if revision is None:
        folder = Path(model)
        told = {"path": model, "sha256": fetch.sha256_of_model(folder)}
    else:
        revision = revision.lower()
        if not fullmatch(r"[0-9a-f]{40}", revision):
            raise PlanError(f"revision {revision!r} is no commit: give its 40 hex digits, since branches and tags move")
        try:
            on_the_hub(model)
        except ValueError as error:
            raise PlanError(str(error)) from None
        place = Path("data/raw/model-new")
        found = fetch.fetch_model(model, revision, place)
        folder = Path(fetched_model(found))
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(place, folder)
        told = {"hub": model, "revision": revision, "sha256": found}
    if fetch.architecture_of(folder) == "decoder":
        told |= {"architecture": "decoder", "template": TEMPLATE}
    print(yaml.safe_dump({"model": {"kind": "transformers", **told}}, sort_keys=False, allow_unicode=True), end="")


def fetch(path: Path) -> None:
    """Fetch what lies at `path` below data/raw of a study's home."""
    if path.suffix == ".csv":
        fetch_archives(path)
    elif path.name.startswith(HUB):
        fetch_content(path)
    elif path.name.startswith(LISTS):
        fetch_lists(path)
    else:
        fetch_model(path)


def list_of_archives(name: str) -> Path:
    """Where the archives of a harvest are listed."""
    return CONFIG / "harvest" / f"{name}.csv"


def fetch_archives(path: Path) -> None:
    """Fetch the archives of a list into the folder of `path`, which becomes a copy of the list when all are there."""
    from sumcurve.harvest.archives import fetch, read_archives

    home = home_of(path, "data/raw/FOLDER/LIST.csv")
    source = list_of_archives(path.stem)
    archives = read_archives(source)
    with lock(home, f"fetch-{path.stem}"):
        size = fetch(archives, path.parent, note)
        shutil.copyfile(source, path)
    note(f"{path}: {len(archives)} archives are there and verified, {size:,} bytes were fetched")


def packages(folders: Sequence[Path]) -> None:
    """Print as CSV what each package gave to harvested corpora."""
    from sumcurve.harvest.packages import yields, yields_csv

    rows: list[dict[str, Any]] = []
    for place, folder in enumerate(folders):
        if folder.resolve() in [earlier.resolve() for earlier in folders[:place]]:
            raise PlanError(f"{folder} is named twice; name it once")
        corpus = plan_of(folder, None).folder(key_of(folder))
        if corpus.step != "corpora":
            raise PlanError(f"{folder} is no folder of a corpus: name one of {folder.parents[1] / 'corpora'}")
        if corpus.kind != "corpus":
            what = "a fraction" if corpus.kind == "fraction" else "a part"
            whole = folder.parents[1] / corpus.specification["corpus"]
            raise PlanError(f"{folder} is {what} of a corpus: name the whole corpus, {whole}")
        (raw,) = corpus.files
        rows += [{"corpus": corpus.stem} | row for row in yields(Corpus(folder), raw.at(home_of(folder, PLACE)))]
    print(yields_csv(rows), end="")


def tables_in(form: str, path: Path) -> None:
    """Write a study's tables in another form, beside its other temporary files; what is recorded stays as it is."""
    from sumcurve.study.collect import collect
    from sumcurve.study.doors import TABLES
    from sumcurve.study.tables import made
    from sumcurve.tables.results import Results
    from sumcurve.tables.table import write_table
    from sumcurve.watch import verify

    home = home_of(path, "results/tables/STUDY")
    plan = Plan.read(CONFIG, path.name)
    results = path.parents[1]
    verify.folders(plan, results).require()
    found = Results(collect(plan, results), plan.settings.bootstrap)
    folder = home / "scratch" / "tables" / path.name
    folder.mkdir(parents=True, exist_ok=True)
    for name in TABLES:
        write_table(made(name, found), folder, forms=(form,))
    note(f"{folder}: tables as {form}")


def tables(path: Path, partial: bool = False) -> None:
    """Make a study's tables and figures anew, into a folder of the study's name.

    They are cheap, and must never differ from what they are made of: every folder that the study asks for is verified
    first. With `partial` they are made of what is finished, say so, and have a manifest that no one takes for that of
    the whole study.
    """
    from sumcurve.study.collect import collect
    from sumcurve.study.tables import write_study
    from sumcurve.tables.evidence import EvidenceError
    from sumcurve.watch import verify

    home = home_of(path, "results/tables/STUDY")
    plan = Plan.read(CONFIG, path.name)
    results = path.parents[1]
    stage = results / ".partial" / "tables" / path.name
    with lock(home, f"tables-{path.name}"):
        verified = verify.folders(plan, results)
        verified.require()
        note(str(verified))
        shutil.rmtree(stage, ignore_errors=True)
        stage.mkdir(parents=True)
        try:
            study = collect(plan, results, partial)
            write_study(stage, study, plan.settings.bootstrap)
        except EvidenceError as error:
            raise PlanError(f"study {plan.study}: {error}") from error
        pages = stage / verify.PAGES
        manifest.write_sealed(pages / manifest.MANIFEST, {"files": manifest.hashes(pages)})
        manifest.write_sealed(
            stage / f"manifest-{'partial' if study.missing else plan.tables}.json",
            {
                "study": plan.study,
                "inputs": verified.contents,
                "files": {
                    name: found
                    for name, found in manifest.hashes(stage).items()
                    if not name.startswith(f"{verify.PAGES}/")
                },
                "facts": {key: value for key, value in facts(*TABLES_MODULES).items() if key != "commit"}
                | ({verify.WITHOUT_WEIGHTS: sorted(verified.packed)} if verified.packed else {}),
            },
        )
        for old in path.glob("manifest-*.json"):
            old.unlink()  # first: a kill while the others go leaves no tables, not damaged ones
        shutil.rmtree(path, ignore_errors=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        os.replace(stage, path)
    note(f"{path} is finished" + (f" in part: {len(study.missing)} outputs are missing" if study.missing else ""))


def status(results: Path, study: str | None, folders: bool) -> None:
    """Print what of a study is finished, at work, in a queue, failed, and the hours left; or each folder's state."""
    from sumcurve.watch import status as standing

    plan = Plan.read(CONFIG, study)
    found = standing.standing(plan, results, standing.queued(Path(".snakemake")))
    if folders:
        for key, state in found.states.items():
            print(f"{state:8}  {results / key}")
    for line in standing.lines(plan, found):
        print(line)
    if any(state not in ("finished", "packed") for state in found.states.values()):
        try:
            known, recorded, _ = measured_costs()
            print(standing.time_left(plan, results, found, known, recorded))
        except PlanError as error:
            print(f"hours left: not known ({error})")
    done = sum(state in ("finished", "packed") for state in found.states.values())
    packed = sum(state == "packed" for state in found.states.values())
    without = f", {packed} of them packed, without weights" if packed else ""
    print(f"{done} of {len(plan.folders)} folders are finished{without} (`verify` also hashes their files)")


def measured_costs() -> "tuple[Costs, dict[str, int], str]":
    """What trainings cost, from the recorded studies, and their sizes; "a GPU" or "a CPU", on which."""
    from sumcurve.watch.costs import Costs, measured
    from sumcurve.watch.estimate import recorded_sizes

    tables = Path("results") / "tables"
    here = "a GPU" if devices.pool(dict(os.environ)) else "a CPU"
    runs = measured(CONFIG, tables)
    basis = [run for run in runs if run.device != "cpu"] if here == "a GPU" else []
    if here == "a GPU" and not basis:
        print("note: this machine has a GPU, but no training was measured on one: these hours are of a CPU")
    costs = Costs(basis or [run for run in runs if run.device == "cpu"])
    return costs, recorded_sizes(tables), "a GPU" if basis else "a CPU"


def show_plan(results: Path, study: str | None, records: int | None) -> None:
    """Print what of a study is to be done, and what it would cost; nothing is made."""
    from sumcurve.watch.estimate import estimate, lines, records_of

    plan = Plan.read(CONFIG, study)
    costs, recorded, kind = measured_costs()
    if records is not None and None not in records_of(plan, results, None, recorded).values():
        raise PlanError(
            f"--records {records} changes nothing: how many records each corpus of study {plan.study} has is known; "
            "leave it out"
        )
    whole = estimate(plan, results, costs, records, recorded)
    for line in lines(plan, whole, costs, os.cpu_count() or 1, kind):
        print(line)


def pack(runs: list[Path], study: str | None, to: Path, results: Path) -> None:
    """Write the packs of these runs, or of all finished trainings of a study."""
    if not runs:
        plan = Plan.read(CONFIG, study)
        keys = [folder.key for folder in plan.folders.values() if folder.kind in packs.FIRST]
        trained = [key for key in keys if manifest.state(results / key) != "missing"]
        named = [(plan, key) for key in trained if not packs.unfinished(plan, results, key)]
        if waiting := len(trained) - len(named):
            print(f"{waiting} trained, but not decoded and asked yet: not packed")
        if not named:
            raise PackError(f"{results}: nothing of study {plan.study} is finished that could be packed")
    else:
        keys = [f"runs/{path.resolve().name}" for path in runs]
        named = [(Plan.read(CONFIG, study) if study else plan_holding(CONFIG, key), key) for key in keys]
    total = 0
    for plan, key in named:
        path, missing = packs.pack(plan, results, key, to)
        total += (size := path.stat().st_size)
        print(f"{path}: {size / 1000:.0f} kB" + (f"; not finished yet: {', '.join(missing)}" if missing else ""))
    print(f"{len(named)} packs, {total / 1000:.0f} kB; take them up elsewhere with `make merge FROM={to}`")


def merge(source: Path, study: str | None, results: Path) -> None:
    """Take up the packs of a folder, for a study or for all of them."""
    plans = [Plan.read(CONFIG, name) for name in ([study] if study else studies(CONFIG))]
    merged = packs.merge(plans, results, source, lambda name: lock(results.parent, name))
    for key in merged.taken:
        print(f"{results / key}")
    print(
        f"{len(merged.taken)} folders were taken up, {len(merged.here)} were here already. Weights stayed behind: "
        "`sumcurve status` calls these folders packed"
    )


def prune(results: Path, yes: bool) -> None:
    """List what no study needs, and delete it where that is said, beforehand or when asked for at a terminal."""
    from sumcurve.watch.prune import delete, needless

    found = needless(CONFIG, results)
    for one in found:
        print(f"{one.bytes / 1e6:10,.1f} MB  {one.path}  ({one.why})")
    total = f"{len(found)} in all, {sum(one.bytes for one in found) / 1e6:,.1f} MB"
    if not found:
        print(f"every folder of {results} is needed by a study or by tables that were made of it")
    elif yes or (sys.stdin.isatty() and input(f"{total}. Delete them? [y/N] ").strip().lower() in ("y", "yes")):
        print(f"{delete(found, results.parent / 'scratch' / 'locks', note)} of {total}, were deleted")
    else:
        print(f"{total}. Nothing was deleted" + ("" if sys.stdin.isatty() else "; say --yes to delete them"))


def verify_study(results: Path, study: str | None, record: bool) -> None:
    """Hash all that the study asks for; ManifestError names all that is damaged, with `record` all that hinders it.

    Trainings whose last phase moved nothing are named, too.
    """
    from sumcurve.watch import verify

    plan = Plan.read(CONFIG, study)
    found = verify.study(plan, results)
    print(found)
    found.require()
    manifest.require(verify.last_phases(plan, results, found))
    if record:
        verify.require_recordable(plan, results, found)


def reproduced(rebuilt: Path, study: str | None) -> None:
    """Print that a study rebuilt elsewhere is the recorded one; Difference names what is not."""
    from sumcurve.watch.reproduce import compare, require_lock

    plan = Plan.read(CONFIG, study)
    results = Path("results")
    if plan.study == Plan.read(CONFIG).study:  # the one that dvc.yaml records
        require_lock(results / "tables" / plan.study)
    print(compare(plan, results, rebuilt))


def configuration(study: str | None, schema: bool) -> None:
    """Print a study resolved, or write what editors and people read of the settings' schema."""
    if schema and study is not None:
        raise PlanError(f"{study!r} changes nothing: --schema writes what every study may hold; leave one of them out")
    if schema:
        from sumcurve.study.schema import write

        if not (CONFIG / "studies").is_dir():
            raise PlanError(f"{CONFIG / 'studies'} is not here: schemas are written beside it, in a checkout")

        write(CONFIG)
    else:
        from sumcurve.study.resolved import resolved

        print(resolved(CONFIG, study), end="")


def recipes(write: bool) -> None:
    """Print each row of recipes.yaml, its version and whether the code that is here is known to write it.

    With `write` that code is listed where it is not.
    """
    from sumcurve.store.fingerprint import fingerprint
    from sumcurve.study.kinds import OWNERS, RECIPES
    from sumcurve.study.recipes import list_code, read_recipes

    path = Path("recipes.yaml")
    known = read_recipes(path, RECIPES)
    here = {name: fingerprint(*modules) for name, modules in RECIPES.items()}
    if write:
        list_code(path, known, here, OWNERS)
        known = read_recipes(path, RECIPES)
    for name, recipe in known.items():
        state = "known" if here[name] in recipe.code else "NOT KNOWN"
        print(f"{name}: version {recipe.version}, code {here[name]} {state}")


def summarize(path: Path) -> None:
    """Print summaries of the lines of standard input by a run, or by what `export` made of one."""
    from sumcurve.share import use

    run = use.read(path, CONFIG)
    lines = ((f"standard input:{number}", line) for number, line in enumerate(sys.stdin.buffer, start=1))
    with device_of(run.specification) as lent:
        for row in use.summarize(run, lines, lent, note):
            print(json.dumps(row, ensure_ascii=False), flush=True)


def records(path: Path, part: str, percent: int | None, seed: int | None, many: int | None = None) -> None:
    """Print the records of a corpus's part: of the training part a fraction, of the test part sources alone."""
    from sumcurve.corpora.fraction import draw
    from sumcurve.corpora.sizes import draw_records
    from sumcurve.corpora.store import rows_of

    told = {"--percent": percent, "--records": many, "--seed": seed}
    given = [name for name, value in told.items() if value is not None]
    if part != "train" and given:
        raise CorpusError(f"{given[0]} {told[given[0]]}: only the training part is drawn from; leave it out of {part}")
    if percent is not None and many is not None:
        raise CorpusError(f"--percent {percent} and --records {many}: name one of them")
    found = Corpus(path).part(part)
    if not found.path.is_file():
        raise CorpusError(f"{path} is no folder of a corpus (results/corpora/…): {found.path} is missing")
    if manifest.verify(path) is None:
        raise CorpusError(f"{path} is no finished corpus: its manifest.json is missing; delete it and make it again")
    ids = found.ids
    drawn: Sequence[int] = range(len(ids))
    if part == "train":
        drawn = (
            draw(ids, percent or 100, 1 if seed is None else seed)
            if many is None
            else draw_records(ids, many, 1 if seed is None else seed, found.path)
        )
    for row in rows_of(found, drawn):
        shown = row if part != "test" else {"id": row["id"], "source": row["source"]}
        print(json.dumps(shown, ensure_ascii=False))


def export(path: Path, folder: Path) -> None:
    """Write a run into a folder of its own."""
    from sumcurve.share import use

    run = use.read(path, CONFIG)
    if run.program is None:
        sums.apply(run.specification["sums"])
    from sumcurve.share.export import export as write  # loads numpy, after the sums were chosen

    write(run, folder)
    note(f"{folder} is written")


@contextmanager
def device_of(specification: Mapping[str, Any]) -> Iterator[str]:
    """What a run's system computes on, with the run's sums, before torch is imported."""
    if "sums" in specification:
        sums.apply(specification["sums"])
    with devices.device(dict(os.environ), Path("/tmp"), note) as lease:
        yield lease.device


@contextmanager
def logged(path: Path | None) -> Iterator[None]:
    """Send what is written to stderr to a log file as well; a terminal keeps what only a terminal should see."""
    if path is None:
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    terminal = sys.stderr
    with path.open("w") as stream:
        sys.stderr = stream
        try:
            yield
        except ERRORS as error:
            print(f"sumcurve: {error}", file=stream)
            raise
        except SystemExit:  # whoever ends it has said why
            raise
        except BaseException:
            traceback.print_exc(file=stream)
            raise
        finally:
            sys.stderr = terminal


def named(path: Path) -> Path:
    """A folder, which may be named by its manifest."""
    return path.parent if path.name.startswith("manifest") else path


def percent(text: str) -> int:
    """A whole number from 1 to 100."""
    if not (text.isdecimal() and 1 <= int(text) <= 100):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 to 100")
    return int(text)


def results_of(text: str) -> Path:
    """A results folder, which a fresh study lacks; neither one of the folders in it nor a name of anything else."""
    path = Path(text)
    inside = path.name in STEPS or (path.parent.name in STEPS and path.name != "results")
    if inside or (path / "manifest.json").is_file() or (not path.is_dir() and path.name != "results"):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no results folder: name the one that holds all steps, as results"
        )
    return path


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(prog="sumcurve", description=__doc__)
    verbs = arguments.add_subparsers(dest="verb", required=True, metavar="verb")
    helps = {
        "harvest": "docstrings of pinned packages -> one raw file",
        "fetch": "a pretrained model, a corpus of the hub at its commit, Debian's lists, or config/harvest's archives",
        "make": "a folder of corpora, annotations, runs, outputs or scores, from the folders that it is made from",
        "shard": "one step of a corpus's preparation by shards",
        "tables": "a study's scores -> tables and figures",
    }
    for verb, text in helps.items():
        command = verbs.add_parser(verb, help=text, epilog=torchrun.EXPERIMENTAL if verb == "make" else None)
        command.add_argument(
            "path", type=Path, help="the folder to make, or its manifest; harvest, fetch: what is to be made"
        )
        if verb in ("make", "shard"):
            command.add_argument("--study", help="that asks for it [the first that does]")
        if verb == "make":
            command.add_argument("further", nargs="*", type=Path, help="more of them, made after it in this process")
            command.add_argument(
                "--together",
                action="store_true",
                help="before it what its study makes with it in one process: scores of a method, decodings of a run",
            )
        command.add_argument("--log", type=Path, help="a file for what would go to stderr")
        if verb == "tables":
            command.add_argument("--partial", action="store_true", help="of what is finished, and say so")
            command.add_argument("--form", choices=("tex", "html"), help="in this form, into scratch/tables/<study>/")
    command = verbs.add_parser("pin", help="the sha256 that the hub states of a study's files -> config/hub.lock.yaml")
    command.add_argument("--study", help="a file of config/studies without its ending [config.yaml's]")
    command = verbs.add_parser(
        "status", help="what of a study is finished, at work, waiting, failed, and the hours left"
    )
    command.add_argument("path", nargs="?", type=results_of, default=Path("results"))
    command.add_argument("--study", help="a file of config/studies without its ending [config.yaml's]")
    command.add_argument("--folders", action="store_true", help="and the state of every folder")
    command = verbs.add_parser("verify", help="hash all that a study asks for and name what is damaged")
    command.add_argument("path", nargs="?", type=results_of, default=Path("results"))
    command.add_argument("--study", help="a file of config/studies without its ending [config.yaml's]")
    command.add_argument("--record", action="store_true", help="and refuse what is missing or made by uncommitted code")
    command = verbs.add_parser("plan", help="what a study would cost before it starts: jobs, records, hours, disk")
    command.add_argument("path", nargs="?", type=results_of, default=Path("results"))
    command.add_argument("--study", help="a file of config/studies without its ending [config.yaml's]")
    command.add_argument("--records", type=positive, help="of a training part, where nothing says how many it has")
    command = verbs.add_parser("pack", help="what tables need of trainings, without weights, in small archives")
    command.add_argument("runs", nargs="*", type=Path, metavar="RUN", help="results/runs/… [all of the study]")
    command.add_argument("--study", help="a file of config/studies without its ending [config.yaml's]")
    command.add_argument("--to", type=Path, required=True, help="the folder that gets an archive of each training")
    command.add_argument("--results", type=Path, default=Path("results"))
    command = verbs.add_parser("merge", help="take up packs that were made elsewhere")
    command.add_argument("path", type=Path, help="the folder of the packs")
    command.add_argument("--study", help="that asks for them [any]")
    command.add_argument("--results", type=Path, default=Path("results"))
    command = verbs.add_parser("prune", help="list results that no study needs, and delete them when told to")
    command.add_argument("path", nargs="?", type=results_of, default=Path("results"))
    command.add_argument("--yes", action="store_true", help="delete them without a question")
    command = verbs.add_parser("reproduce", help="compare a study that was rebuilt elsewhere with the recorded one")
    command.add_argument("path", type=Path, help="the results folder of the rebuilt study")
    command.add_argument("--study", help="a file of config/studies without its ending [config.yaml's]")
    command = verbs.add_parser(
        "trace", help="walk a cell of a table back to the raw corpus, recomputing it and every hash"
    )
    command.add_argument("cell", nargs="?", help="TABLE:ROW:COLUMN, as scores:method=pcov,percent=100:rouge1")
    command.add_argument("--study", help="a file of config/studies without its ending [config.yaml's]")
    command.add_argument("--results", type=Path, default=Path("results"))
    command = verbs.add_parser("metrics", help="what `dvc metrics diff` compares of a study, beside its tables")
    command.add_argument("path", nargs="?", type=results_of, default=Path("results"))
    command.add_argument("--study", help="a file of config/studies without its ending [config.yaml's]")
    command = verbs.add_parser("config", help="a study resolved: all that decides it, and where each value stands")
    command.add_argument("study", nargs="?", help="a file of config/studies without its ending [config.yaml's]")
    command.add_argument("--schema", action="store_true", help="write config/schema and config/README.md anew instead")
    command = verbs.add_parser("add", help="a study of a corpus of your own, written from its data")
    command.add_argument("corpus", type=Path, help="a file of raw records, or a folder of such files")
    command.add_argument("--name", required=True, help="of the corpus and of its study")
    command.add_argument("--format", help="of the files [by their endings]")
    for name in FIELDS:
        command.add_argument(f"--{name}", metavar="FIELD", help=f"the records' field that is the {name} [by its name]")
    for part in PARTS:
        command.add_argument(f"--{part}", metavar="PATTERN", help=f"the folder's files of {part} [by their names]")
    command.add_argument("--form", default="small", help="in which methods are trained [small]")
    command = verbs.add_parser("model", help="what a method's file says of a pretrained model")
    command.add_argument("model", help="a folder, or a name of the hub, which is fetched")
    command.add_argument("--revision", help="of the hub's: the commit, 40 hex digits")
    command = verbs.add_parser("summarize", help="any text, by a run of a study or what was exported of one")
    command.add_argument("--run", dest="path", type=Path, required=True, help="results/runs/…, or an exported folder")
    command = verbs.add_parser("export", help="a run as safetensors with a card, and for transformers where it can be")
    command.add_argument("path", metavar="RUN", type=Path, help="results/runs/…")
    command.add_argument("--to", type=Path, required=True, help="the folder to write, which must not be there")
    command = verbs.add_parser("records", help="of a corpus, for a program elsewhere: a fraction, or test items")
    command.add_argument("path", type=Path, help="the folder of the corpus, below results/corpora")
    command.add_argument("--part", choices=PARTS, default="train", help="train; valid; test (without references)")
    command.add_argument("--percent", type=percent, help="of the training part [100]")
    command.add_argument("--records", type=positive, help="of the training part, where the study's sizes are records")
    command.add_argument("--seed", type=natural, help="that draws them [1]")
    command = verbs.add_parser("packages", help="what each package gave to harvested corpora, as CSV")
    command.add_argument("paths", type=Path, nargs="+", help="the folders of the corpora, below results/corpora")
    listed = verbs.add_parser(
        "recipes", help="versions of what code writes, and whether the code here is known to write it"
    )
    listed.add_argument("--write", action="store_true", help="list the code here; its bytes must be the golden ones")
    command = verbs.add_parser("trials", help="the trials of a file that the table beside it lacks")
    command.add_argument("methods", nargs="*", help="methods [all of the study that the file names]")
    command.add_argument(
        "--settings", type=Path, default=CONFIG / "trials.yaml", help="the file; its table ends in .csv [%(default)s]"
    )
    command.add_argument("--home", type=Path, default=Path(), help="where results/ lies")
    command.add_argument("--jobs", type=int, default=2, help="trainings at a time")
    command.add_argument("--write", action="store_true", help="put what the trials chose into the methods' files")
    rouge_command.add_parser(verbs)  # tools for anybody's files
    efficiency_command.add_parser(verbs)
    for capability in CAPABILITIES.values():
        capability.add_parsers(verbs)
    return arguments


def refused(error: OSError) -> str:
    """What the system refused, of which file, and why."""
    if error.errno in NO_ROOM:
        return (
            f"{NO_ROOM[error.errno]} ({error.filename or 'while writing'}): free some space and run again; nothing "
            "unfinished was kept as finished"
        )
    places = " -> ".join(str(one) for one in (error.filename, error.filename2) if one is not None)
    if not error.strerror:  # of a library, in words of its own
        return str(error) or type(error).__name__
    return f"{places or 'while reading or writing'}: {error.strerror}"


def main() -> None:
    arguments = parser().parse_args()
    try:
        if callable(run := getattr(arguments, "run", None)):
            run(arguments)
        elif arguments.verb == "recipes":
            recipes(arguments.write)
        elif arguments.verb == "config":
            configuration(arguments.study, arguments.schema)
        elif arguments.verb == "model":
            show_model(arguments.model, arguments.revision)
        elif arguments.verb == "summarize":
            summarize(arguments.path)
        elif arguments.verb == "records":
            records(arguments.path, arguments.part, arguments.percent, arguments.seed, arguments.records)
        elif arguments.verb == "export":
            export(arguments.path, arguments.to)
        elif arguments.verb == "packages":
            packages(arguments.paths)
        elif arguments.verb == "add":
            from sumcurve.study.add import add

            add(arguments, CONFIG)
        elif arguments.verb == "pin":
            pin(arguments.study)
        elif arguments.verb == "status":
            status(arguments.path, arguments.study, arguments.folders)
        elif arguments.verb == "verify":
            verify_study(arguments.path, arguments.study, arguments.record)
        elif arguments.verb == "metrics":
            from sumcurve.study.metrics import write

            note(str(write(Plan.read(CONFIG, arguments.study), arguments.path / "tables")))
        elif arguments.verb == "plan":
            show_plan(arguments.path, arguments.study, arguments.records)
        elif arguments.verb == "pack":
            pack(arguments.runs, arguments.study, arguments.to, arguments.results)
        elif arguments.verb == "merge":
            merge(arguments.path, arguments.study, arguments.results)
        elif arguments.verb == "prune":
            prune(arguments.path, arguments.yes)
        elif arguments.verb == "reproduce":
            reproduced(arguments.path, arguments.study)
        elif arguments.verb == "trials":
            from sumcurve.study.trials import run_trials

            run_trials(CONFIG, arguments.home, arguments.jobs, arguments.methods, arguments.write, arguments.settings)
        elif arguments.verb == "trace":
            from sumcurve.watch.trace import trace

            trace(Plan.read(CONFIG, arguments.study), arguments.results, arguments.cell)
        else:
            if checkout := os.environ.get("SUMCURVE_CHECKOUT"):
                os.chdir(checkout)  # Snakemake runs in another folder, and gives whole paths
            with logged(arguments.log):
                arguments.path = named(arguments.path)
                if arguments.verb == "make" and arguments.together:
                    make_together(arguments.path, arguments.study, arguments.log)
                elif arguments.verb == "make":
                    make(arguments.path, *map(named, arguments.further), study=arguments.study)
                elif arguments.verb == "shard":
                    shard(arguments.path, arguments.study)
                elif arguments.verb == "harvest":
                    harvest(arguments.path)
                elif arguments.verb == "fetch":
                    fetch(arguments.path)
                elif arguments.form:
                    tables_in(arguments.form, arguments.path)
                else:
                    tables(arguments.path, arguments.partial)
    except ERRORS as error:
        raise SystemExit(f"sumcurve: {error}") from None
    except ModuleNotFoundError as error:
        if not error.name or error.name.startswith("sumcurve"):
            raise
        raise SystemExit(
            f"sumcurve: `{arguments.verb}` needs the Python package {error.name}, which is not installed here: use a "
            "study's environment (`make study` makes it), or pip install 'sumcurve[train,study,entities,pretrained]'"
        ) from error
    except BrokenPipeError:  # of `sumcurve … | head`; what is left must not fail again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except OSError as error:
        raise SystemExit(f"sumcurve: {refused(error)}") from None


if __name__ == "__main__":
    main()

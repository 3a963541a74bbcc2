"""`python -m sumcurve <verb> <folder>`: one verb per rule of the workflow, and tools for people.

Every verb that makes a folder looks the folder up in the plan, does nothing when it is finished and verified, and
otherwise builds it beside its place. Heavy packages are imported by the verbs that need them, after that look.
"""

import argparse
import errno
import fcntl
import json
import os
import shutil
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from sumcurve import manifest, sums
from sumcurve.annotations.oracle import command as oracle_command
from sumcurve.corpora.errors import CorpusError
from sumcurve.corpora.store import Corpus
from sumcurve.curves import command as efficiency_command
from sumcurve.curves.errors import ResultsError
from sumcurve.devices import DeviceError
from sumcurve.manifest import ManifestError
from sumcurve.plan import Folder, Plan, PlanError, studies
from sumcurve.provenance import facts
from sumcurve.records import RecordError, write_json, write_jsonl
from sumcurve.scores import command as rouge_command
from sumcurve.scores.command import CommandError
from sumcurve.settings import Oracle, Reading, Recipe, Rouge, Search
from sumcurve.sums import SumsError

CONFIG = Path("config")


class TrainError(RuntimeError):
    """A training that cannot start, resume or go on; the message is the training package's."""


# Their messages say all there is to say; anything else is a bug and shows where it happened.
ERRORS = (
    PlanError,
    ManifestError,
    RecordError,
    CorpusError,
    DeviceError,
    SumsError,
    TrainError,
    CommandError,
    ResultsError,
)


def note(text: str) -> None:
    """One line for the person or the log that listens."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def lock(home: Path, name: str) -> Iterator[None]:
    """Hold the folder's lock, so that what an interrupted scheduler left running is waited for, not doubled."""
    path = home / "scratch" / "locks" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note(f"{name}: waiting for another process that makes this folder (it holds {path})")
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


class Task:
    """One verb at work on one folder: where it lies, what the plan says of it, what it is made from."""

    def __init__(self, folder: Path) -> None:
        self.path = folder
        self.results = folder.parents[1]
        self.home = folder.parents[2]
        key = f"{folder.parent.name}/{folder.name}"
        self.plan = Plan.holding(CONFIG, key)
        self.folder: Folder = self.plan.folder(key)

    @property
    def specification(self) -> dict[str, Any]:
        return self.folder.specification

    @cached_property
    def inputs(self) -> dict[str, dict[str, Any]]:
        """The manifests of the folders that it is made from, by key, once all their files were hashed."""
        found = {}
        for key in self.folder.inputs:
            sealed = manifest.verify(self.results / key, self.plan.folder(key).specification)
            if sealed is None:
                raise ManifestError(
                    f"{self.results / key} is not finished; make it first (`snakemake` does so in the right order)"
                )
            found[key] = sealed
        return found

    @property
    def contents(self) -> dict[str, str]:
        """What each folder says that it is made from, by key."""
        return {key: manifest.content(sealed) for key, sealed in self.inputs.items()}

    def at(self, key: str) -> Path:
        """Where a folder that it is made from lies; nothing unverified is read."""
        if key not in self.inputs:
            raise PlanError(f"{self.path} is not made from {key}")
        return self.results / key


def corpus(task: Task, stage: Path, found: dict[str, Any]) -> None:
    """Write a prepared corpus, once the raw content has the pinned sha256; CorpusError where it has another."""
    from sumcurve.corpora.prepare import prepare

    raw = task.plan.raw_file(task.path.name, task.home)
    if not raw.is_file():
        raise CorpusError(f"{raw} is missing: {task.plan.study} reads a corpus from it")
    expected = task.specification["raw"]
    observed = manifest.sha256_file(raw)
    if observed != expected:
        raise CorpusError(
            f"{raw} has sha256 {observed}, but study {task.plan.study} pins {expected}: restore the file, or name its "
            f"new content by `sha256: {observed}` in {CONFIG / 'studies' / task.plan.study}.yaml"
        )
    statistics = prepare(raw, task.plan.corpus(task.folder.key), stage)
    counts = raw.with_suffix(".counts.json")
    if counts.is_file():
        write_json(stage / "harvest.json", json.loads(counts.read_text()))
    dropped = sum(statistics["dropped"].values())
    note(f"read {statistics['read']} records, kept {statistics['kept']}, dropped {dropped}: {statistics['dropped']}")


def fraction(task: Task, stage: Path, found: dict[str, Any]) -> None:
    """Write word counts and statistics of a corpus's first percent."""
    from sumcurve.corpora.fraction import write_fraction

    train = Corpus(task.at(task.specification["corpus"])).part("train")
    write_fraction(train, task.specification["percent"], task.specification.get("seed", 1), stage)


def annotate(task: Task, stage: Path, found: dict[str, Any]) -> None:
    """Write the best single source sentence of every test record of a corpus."""
    from sumcurve.annotations.extraction import annotate

    annotate(task.at(task.specification["corpus"]), stage)


def entities(task: Task, stage: Path, found: dict[str, Any]) -> None:
    """Write the entities of every part of a corpus: what its references name, and where its sources name it."""
    from sumcurve.annotations.entities import EntityError, annotate

    try:
        annotate(task.at(task.specification["corpus"]), stage, task.specification["pipeline"])
    except EntityError as error:
        raise CorpusError(f"{task.path.name}: {error}") from error


def prove(task: Task, stage: Path, found: dict[str, Any]) -> None:
    """Write how far an extract of every test item can go, with certificates, and how far searches and systems get."""
    from sumcurve.annotations.oracle.corpus import write_oracle

    told = task.specification
    settings, rouge = Oracle.model_validate(told["oracle"]), Rouge.model_validate(told["rouge"])
    write_oracle(Corpus(task.at(told["corpus"])).part("test"), settings, rouge, stage)


def trivial(task: Task, stage: Path, found: dict[str, Any]) -> None:
    """Write what lead, random or the best single sentence says of the test set."""
    from sumcurve.annotations.extraction import read_best
    from sumcurve.decoding import trivial as systems

    specification = task.specification
    records = Corpus(task.at(specification["corpus"])).part("test")
    most = specification["max_tokens"]
    if specification["system"] == "best-sentence":
        best = read_best(task.at(specification["annotation"]))
        summaries = (
            (record.id, systems.best_sentence(record, index, most)) for record, index in zip(records, best, strict=True)
        )
    else:
        system = systems.lead if specification["system"] == "lead" else systems.random
        summaries = ((record.id, system(record, specification["sentences"], most)) for record in records)
    write_jsonl(stage / "summaries.jsonl", ({"id": name, "summary": summary} for name, summary in summaries))


def train(task: Task, stage: Path, found: dict[str, Any]) -> None:
    """Write the weights and History of one run, resuming where an interrupted training left its state."""
    from sumcurve import devices

    found["sums"] = sums.apply(task.specification["sums"])
    with (
        devices.device(dict(os.environ), Path("/tmp"), note) as lease,
        devices.bar_line(task.home / "scratch" / "locks") as line,
    ):
        from sumcurve.training.fit import ResumeError, TrainingError
        from sumcurve.training.run import train_run

        parent, begins = task.specification.get("parent"), task.specification.get("begins")
        found["device"] = lease.device
        found["exclusive"] = lease.exclusive
        try:
            train_run(
                specification=task.specification,
                settings=Recipe.of_run(task.specification),
                fraction=task.at(task.specification["fraction"]),
                corpus=task.at(task.folder.inputs[0]),
                entities=task.at(task.specification["entities"]) if "entities" in task.specification else None,
                parent=task.at(parent) if parent is not None else None,
                begins=task.at(begins) if begins is not None else None,
                stage=stage,
                state=task.home / "scratch" / "resume" / f"{task.path.name}.pt",
                events=task.home / "logs" / "tensorboard" / task.path.name,
                name=task.path.name,
                lease=lease,
                note=note,
                terminal=sys.__stderr__ or sys.stderr,
                position=line,
                found=found,
            )
        except (TrainingError, ResumeError) as error:
            raise TrainError(f"{task.path.name}: {error}") from error


def decode(task: Task, stage: Path, found: dict[str, Any]) -> None:
    """Write a run's summaries of the test set; `found` gets the sha256 of the weights that were decoded."""
    from sumcurve import devices

    found["sums"] = sums.apply(task.specification["sums"])
    with devices.device(dict(os.environ), Path("/tmp"), note) as lease:
        from sumcurve.decoding.run import WEIGHTS, decode_run

        found["device"] = lease.device
        run = task.plan.folder(task.specification["run"])
        checkpoint = task.specification.get("checkpoint", "selected")
        found["weights"] = task.inputs[run.key]["files"][WEIGHTS[checkpoint]]["sha256"]
        decode_run(
            settings=Recipe.of_run(run.specification),
            search=Search.model_validate(task.specification["search"]),
            run=task.at(run.key),
            specification=run.specification,
            corpus=task.at(task.specification["corpus"]),
            entities=task.at(task.specification["entities"]) if "entities" in task.specification else None,
            reading=Reading.model_validate(task.specification["reading"]) if "reading" in task.specification else None,
            stage=stage,
            device=lease.device,
            checkpoint=checkpoint,
        )


def score(task: Task, stage: Path, found: dict[str, Any]) -> None:
    """Write the per-item values of one output under one scorer."""
    from sumcurve.scores import SCORERS
    from sumcurve.scores.run import write_scores

    told = task.specification
    scorer = SCORERS[told["scorer"]]
    write_scores(
        told["scorer"],
        scorer(scorer.Settings.model_validate(told["settings"])),
        task.at(told["output"]),
        Corpus(task.at(told["corpus"])).part("test"),
        {task.at(key): what for key, what in told["inputs"].items()},
        stage,
    )


BUILDERS = {
    "corpus": corpus,
    "fraction": fraction,
    "annotate": annotate,
    "entities": entities,
    "prove": prove,
    "trivial": trivial,
    "train": train,
    "decode": decode,
    "score": score,
}


def build(verb: str, path: Path) -> None:
    """Make one folder of the plan, unless it is finished and verified."""
    task = Task(path)
    if task.folder.verb != verb:
        raise PlanError(f"{path} is made by `{task.folder.verb}`, not by `{verb}`")
    if int(os.environ.get("RANK", "0")):
        follow(verb, task)
        return
    with lock(task.home, task.path.name):
        if (sealed := manifest.verify(path, task.specification)) is not None:
            manifest.require(manifest.changed_inputs(path, sealed["inputs"], task.contents))
            manifest.touch(path)
            note(f"{path} is finished and verified: nothing to do")
            return
        found = facts(*task.folder.code)
        with manifest.building(path, task.specification, found, task.contents) as stage:
            BUILDERS[verb](task, stage, found)
        note(f"{path} is finished")


def follow(verb: str, task: Task) -> None:
    """Take part in a training that another process of `torchrun` leads; it alone locks and writes the folder."""
    if verb != "train":
        raise PlanError(f"torchrun is for `train`; run `{verb}` in one process")
    if manifest.verify(task.path, task.specification) is None:
        train(task, task.path, {})


def harvest(path: Path) -> None:
    """Make the raw file of an embedded corpus from the installed packages; its name holds its content's hash."""
    from sumcurve.corpora.harvest import harvest

    wanted = {
        corpus.raw.sha256: (study, corpus.raw.harvest)
        for study in studies(CONFIG)
        for corpus in Plan.read(CONFIG, study).settings.corpora.values()
        if corpus.raw.harvest and corpus.raw.sha256.startswith(path.stem.removeprefix("harvest-"))
    }
    if len(wanted) != 1:
        raise PlanError(f"no study in {CONFIG / 'studies'} harvests a corpus named {path.stem}")
    ((expected, (study, pinned)),) = wanted.items()
    with lock(path.parents[2], path.stem):
        if path.is_file() and manifest.sha256_file(path) == expected:
            path.touch()
            note(f"{path} is there and verified: nothing to do")
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".new")
        counts = harvest(pinned.packages, partial, kind=pinned.kind)
        observed = manifest.sha256_file(partial)
        if observed != expected:
            listed = ", ".join(f"{name} {version}" for name, version in pinned.packages.items())
            raise CorpusError(
                f"harvesting {pinned.kind} of {listed} gave sha256 {observed}, but "
                f"{CONFIG / 'studies' / study}.yaml pins {expected}: the versions agree, so a package's files differ "
                "from its release (reinstall it) or the harvest's code has changed (change the line `sha256:`). "
                f"The new content is kept for comparison in {partial}"
            )
        write_json(path.with_suffix(".counts.json"), counts)
        os.replace(partial, path)
        note(f"{path}: {counts}")


def tables(path: Path, partial: bool = False) -> None:
    """Make a study's tables and figures anew, into a folder of the study's name.

    They are cheap, and must never differ from what they are made of: every folder that the study asks for is verified
    first. With `partial` they are made of what is finished, say so, and have a manifest that no one takes for that of
    the whole study.
    """
    from sumcurve import verify
    from sumcurve.tables.collect import collect
    from sumcurve.tables.evidence import EvidenceError
    from sumcurve.tables.study import write_study

    plan = Plan.read(CONFIG, path.name)
    results = path.parents[1]
    stage = results / ".partial" / "tables" / path.name
    with lock(path.parents[2], f"tables-{path.name}"):
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
                "facts": {key: value for key, value in facts("tables").items() if key != "commit"},
            },
        )
        for old in path.glob("manifest-*.json"):
            old.unlink()  # first: a kill while the others go leaves no tables, not damaged ones
        shutil.rmtree(path, ignore_errors=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        os.replace(stage, path)
    note(f"{path} is finished" + (f" in part: {len(study.missing)} outputs are missing" if study.missing else ""))


def status(results: Path, study: str | None) -> None:
    """Print every folder that the study asks for and whether it is finished, by names and sizes of its files."""
    plan = Plan.read(CONFIG, study)
    done = 0
    for folder in plan.folders.values():
        state = manifest.state(results / folder.key)
        done += state == "finished"
        print(f"{state:8}  {results / folder.key}")
    print(f"{done} of {len(plan.folders)} folders are finished (`verify` also hashes their files)")


def verify_study(results: Path, study: str | None, record: bool) -> None:
    """Hash all that the study asks for; ManifestError names all that is damaged, with `record` all that hinders it."""
    from sumcurve import verify

    plan = Plan.read(CONFIG, study)
    found = verify.study(plan, results)
    print(found)
    found.require()
    if record:
        verify.require_recordable(plan, results, found)


def reproduced(rebuilt: Path, study: str | None) -> None:
    """Print that a study rebuilt elsewhere is the recorded one; Difference names what is not."""
    from sumcurve.reproduce import compare, require_lock

    plan = Plan.read(CONFIG, study)
    results = Path("results")
    if plan.study == Plan.read(CONFIG).study:  # the one that dvc.yaml records
        require_lock(results / "tables" / plan.study)
    print(compare(plan, results, rebuilt))


def recipes() -> None:
    """Print the code fingerprint of each step that has recipe numbers, and whether it is accepted."""
    from sumcurve.fingerprint import fingerprint
    from sumcurve.plan import accepted, read_recipes

    path = Path("recipes.yaml")
    for step, number in read_recipes(path).items():
        state = "accepted" if fingerprint(step) in accepted(path, step) else "NOT ACCEPTED"
        print(f"{step}: recipe {number}, fingerprint {fingerprint(step)} {state}")


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
        except BaseException:
            traceback.print_exc(file=stream)
            raise
        finally:
            sys.stderr = terminal


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(prog="sumcurve", description=__doc__)
    verbs = arguments.add_subparsers(dest="verb", required=True, metavar="verb")
    helps = {
        "harvest": "docstrings of pinned packages -> one raw file",
        "corpus": "raw records -> cleaned, tokenised, split, ordered",
        "fraction": "a corpus and a seed -> a share of its training records: word counts and statistics",
        "annotate": "a corpus -> the best single source sentences of its test records",
        "entities": "a corpus -> entities of references and where sources name them",
        "prove": "a corpus -> the best extracts of its test items, proven, and how far searches get",
        "train": "a fraction -> weights and History",
        "decode": "a run -> summaries of the test set",
        "trivial": "lead, random, best single sentence of the test set",
        "score": "an output and a scorer -> per-item values",
        "tables": "a study's scores -> tables and figures",
    }
    for verb, text in helps.items():
        command = verbs.add_parser(verb, help=text)
        command.add_argument("path", type=Path, help="the folder to make, or its manifest; harvest: the file")
        command.add_argument("--log", type=Path, help="a file for what would go to stderr")
        if verb == "tables":
            command.add_argument("--partial", action="store_true", help="of what is finished, and say so")
    command = verbs.add_parser("status", help="what a study asks for and what of it is finished")
    command.add_argument("path", nargs="?", type=Path, default=Path("results"))
    command.add_argument("--study", help="a file of config/studies without its ending [config.yaml's]")
    command = verbs.add_parser("verify", help="hash all that a study asks for and name what is damaged")
    command.add_argument("path", nargs="?", type=Path, default=Path("results"))
    command.add_argument("--study", help="a file of config/studies without its ending [config.yaml's]")
    command.add_argument("--record", action="store_true", help="and refuse what is missing or made by uncommitted code")
    command = verbs.add_parser("reproduce", help="compare a study that was rebuilt elsewhere with the recorded one")
    command.add_argument("path", type=Path, help="the results folder of the rebuilt study")
    command.add_argument("--study", help="a file of config/studies without its ending [config.yaml's]")
    command = verbs.add_parser("trace", help="walk a number of a table back to the raw corpus, recomputing every hash")
    command.add_argument("run", nargs="?", help="the last column of seeds.csv [the first row that has one]")
    command.add_argument("--study")
    command.add_argument("--results", type=Path, default=Path("results"))
    verbs.add_parser("recipes", help="code fingerprints of the steps with recipe numbers")
    command = verbs.add_parser("trials", help="the trials of config/trials.yaml that config/trials.csv lacks")
    command.add_argument("methods", nargs="*", help="methods [all of the study that trials.yaml names]")
    command.add_argument("--home", type=Path, default=Path(), help="where results/ lies")
    command.add_argument("--jobs", type=int, default=2, help="trainings at a time")
    command.add_argument("--write", action="store_true", help="put what the trials chose into the methods' files")
    rouge_command.add_parser(verbs)  # tools for anybody's files
    efficiency_command.add_parser(verbs)
    oracle_command.add_parser(verbs)
    return arguments


def main() -> None:
    arguments = parser().parse_args()
    try:
        if callable(run := getattr(arguments, "run", None)):
            run(arguments)
        elif arguments.verb == "recipes":
            recipes()
        elif arguments.verb == "status":
            status(arguments.path, arguments.study)
        elif arguments.verb == "verify":
            verify_study(arguments.path, arguments.study, arguments.record)
        elif arguments.verb == "reproduce":
            reproduced(arguments.path, arguments.study)
        elif arguments.verb == "trials":
            from sumcurve.training.trials import run_trials

            run_trials(CONFIG, arguments.home, arguments.jobs, arguments.methods, arguments.write)
        elif arguments.verb == "trace":
            from sumcurve.trace import trace

            trace(Plan.read(CONFIG, arguments.study), arguments.results, arguments.run)
        else:
            with logged(arguments.log):
                if arguments.path.name.startswith("manifest"):  # a folder may be named by its manifest
                    arguments.path = arguments.path.parent
                if arguments.verb in BUILDERS:
                    build(arguments.verb, arguments.path)
                elif arguments.verb == "harvest":
                    harvest(arguments.path)
                else:
                    tables(arguments.path, arguments.partial)
    except ERRORS as error:
        raise SystemExit(f"sumcurve: {error}") from None
    except BrokenPipeError:  # of `sumcurve … | head`; what is left must not fail again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise SystemExit(
            f"sumcurve: the disk is full ({error.filename or 'while writing'}): free some space and run again; "
            "nothing unfinished was kept as finished"
        ) from None


if __name__ == "__main__":
    main()

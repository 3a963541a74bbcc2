"""Verbs of a whole study: its cost, its progress, its verification, its committed results."""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumcurve.cli.messages import note
from sumcurve.cli.places import CONFIG, RECORDS, STUDY, add_verb, check_clone, lock
from sumcurve.corpora.store import PARTS
from sumcurve.files.layout import Layout
from sumcurve.machine import devices
from sumcurve.machine.arguments import INTERNALS, Verbs, listed, natural, positive
from sumcurve.machine.counts import counted
from sumcurve.machine.parameters import add_option
from sumcurve.share import committed
from sumcurve.sources.raw import FIELDS
from sumcurve.store import manifest
from sumcurve.study.plan import Plan, PlanError
from sumcurve.study.written import WrittenPlan

if TYPE_CHECKING:
    from sumcurve.watch.costs import Measured
    from sumcurve.watch.panel import Progress

MINE = "articles.csv --name mine --source text --target summary"


def add_parsers(verbs: Verbs) -> None:
    _add_settings_verbs(verbs)
    _add_results_verbs(verbs)


def _add_results_verbs(verbs: Verbs) -> None:
    command = add_verb(
        verbs,
        "status",
        "what of a study is finished, at work, waiting, failed, and the hours left",
        lambda arguments: status(arguments.path, arguments.study, arguments.folders),
        results=True,
        study=STUDY,
        example="--study demo",
    )
    command.add_argument("--folders", action="store_true", help="and the state of every folder")
    command = add_verb(
        verbs,
        "verify",
        "hash all that a study asks for and name what is damaged",
        verified,
        results=True,
        study=STUDY,
        example="--study docstrings --record",
    )
    command.add_argument("--recorded", action="store_true", help="a line for each recorded study instead, unhashed")
    command.add_argument("--record", action="store_true", help="and refuse what is missing or made by uncommitted code")
    command.add_argument(
        "--against", type=Path, metavar="RESULTS", help="compare the recorded study with its rebuild in this folder"
    )
    command = add_verb(
        verbs,
        "plan",
        "what a study would cost before it starts: jobs, records, hours, disk",
        planned,
        results=True,
        study=STUDY,
        example='--study docstrings --set "seeds=[1,2]" form=small',
    )
    command.add_argument("--records", type=positive, help="of a training part, where nothing says how many it has")
    command.add_argument("--card", metavar="NAME", help="trainings on this GPU, as NVIDIA H200 [the machine's]")
    command.add_argument("--set", nargs="+", metavar="KEY=VALUE", help="of the study with these keys; no file is left")
    command.add_argument("--write", action="store_true", help="write it for `sumcurve make`, and print where")
    command = add_verb(
        verbs,
        "commit",
        "write what tables need of finished trainings, without weights, into studies/STUDY, for git",
        lambda arguments: commit(arguments.study, arguments.results),
        study=STUDY,
        example="--study docstrings",
    )
    command.add_argument("--results", type=Path, default=Path("results"))
    command = add_verb(
        verbs,
        "restore",
        "take up the committed trainings of a study, and go on from there",
        lambda arguments: restore(arguments.study, arguments.results),
        study=STUDY,
        example="--study docstrings",
    )
    command.add_argument("--results", type=Path, default=Path("results"))
    command = add_verb(
        verbs,
        "prune",
        "list results that no study needs, and delete them when told to",
        lambda arguments: prune(arguments.path, arguments.yes),
        results=True,
        example="results",
    )
    command.add_argument("--yes", action="store_true", help="delete them without a question")
    command = add_verb(
        verbs,
        "reproduce",
        "the spelling of `verify --against` until version 0.3",
        lambda arguments: reproduced(arguments.path, arguments.study),
        study=STUDY,
        group=INTERNALS,
        example="scratch/reproduce/results",
    )
    command.add_argument("path", type=Path, help="the results folder of the rebuilt study")
    text = "walk a cell of a table back to the raw corpus, recomputing it and every hash"
    command = add_verb(verbs, "trace", text, traced, study=STUDY, example="scores:method=pcov,percent=100:rouge1")
    command.add_argument("cell", nargs="?", help="TABLE:ROW:COLUMN, as scores:method=pcov,percent=100:rouge1")
    command.add_argument("--results", type=Path, default=Path("results"))
    text = "a command that makes a study, with its text in logs/ and a panel of how far the study is"
    example = "--study demo -- snakemake --config study=demo"
    command = add_verb(verbs, "watch", text, watched, study=STUDY, group=INTERNALS, example=example)
    command.add_argument("command", nargs="+", metavar="COMMAND", help="behind --: snakemake and its arguments")
    command.add_argument("--results", type=Path, default=Path("results"))
    text = "the names of all that a study is made of, into studies/STUDY/names.txt"
    add_verb(verbs, "names", text, named, results=True, study=STUDY, group=INTERNALS, example="--study docstrings")
    text = "the finished folders of a study, into the archives of studies/STUDY/store"
    example = "--study demo -- make study STUDY=demo"
    command = add_verb(verbs, "store", text, stored, study=STUDY, group=INTERNALS, example=example)
    command.add_argument("command", nargs="*", metavar="COMMAND", help="behind --: is run first, and its end is ours")
    command.add_argument("--results", type=Path, default=Path("results"))
    text = "the folders of a study that results/ lacks, out of the archives of studies/STUDY/store"
    add_verb(verbs, "unstore", text, taken_back, results=True, study=STUDY, group=INTERNALS, example="--study demo")
    text = "what `dvc metrics diff` compares of a study, beside its tables"
    add_verb(verbs, "metrics", text, metrics, results=True, study=STUDY, group=INTERNALS, example="--study docstrings")


def _add_settings_verbs(verbs: Verbs) -> None:
    command = add_verb(
        verbs,
        "config",
        "a study resolved: all that decides it, and where each value stands",
        lambda arguments: configuration(arguments.study, arguments.schema),
        example="docstrings",
    )
    command.add_argument("study", nargs="?", help="a file of config/studies without its ending [config.yaml's]")
    command.add_argument("--schema", action="store_true", help="write config/schema and config/README.md anew instead")
    command = add_verb(verbs, "add", "a study of a corpus of your own, written from its data", added, example=MINE)
    command.add_argument("corpus", help="a file of raw records, a folder of such files, or hf://owner/name of the hub")
    command.add_argument("--name", help="of the corpus and of its study [the file's, or the hub's]")
    command.add_argument(
        "--models", type=listed, metavar="NAME,…", help="methods, models of the hub or of packages [abs,pcov,trans]"
    )
    command.add_argument("--sizes", type=sizes, metavar="N,…", help="numbers of training records [percents]")
    text = "numbers of examples in prompts of the chat models among --models, as 0,4 [no prompts]"
    command.add_argument("--prompts", type=partial(sizes, least=0), metavar="K,…", help=text)
    command.add_argument("--below", metavar="FOLDER", help="of the hub's data set, where it has several")
    command.add_argument("--format", help="of the files [by their content]")
    for name in ("delimiter", "quoting", "no_heads", "rows"):
        add_option(command, Layout, name)
    for name in FIELDS:
        command.add_argument(f"--{name}", metavar="FIELD", help=f"the records' field that is the {name} [by its name]")
    command.add_argument("--chat", metavar="FIELD", help="of messages, in place of source and target [by its values]")
    command.add_argument(
        "--target-list", choices=("sentences", "alternatives"), help="what a list of the target is [by what it holds]"
    )
    text = "what rows share that are one record with several references [the source, where most targets differ]"
    command.add_argument("--gather", choices=("source", "id", "none"), help=text)
    for part in PARTS:
        command.add_argument(f"--{part}", metavar="PATTERN", help=f"the folder's files of {part} [by their names]")
    command.add_argument("--form", help="in which methods are trained [small; of --models finetune]")
    text = "a study that is another but for a few keys: its file is written, its name printed"
    example = '"seeds=[1,2]" form=small --study docstrings'
    command = add_verb(verbs, "override", text, overridden, study=STUDY, group=INTERNALS, example=example)
    command.add_argument("set", nargs="+", metavar="KEY=VALUE", help="corpora.NAME.percents=[50] for inner keys")


def overridden(arguments: "argparse.Namespace") -> None:
    """Write the study with keys set as a new study, and print its name."""
    from sumcurve.study.overrides import derived

    name, path = derived(CONFIG, arguments.study, arguments.set)
    note(f"study {name}: {path}; go on with it by STUDY={name}")
    print(name)


def status(results: Path, study: str | None, folders: bool) -> None:
    """Print a study's progress, waiting, failed and damaged folders, and hours left; or each folder's state, too."""
    from sumcurve.watch.slurm import queued
    from sumcurve.watch.status import standing

    plan = Plan.read(CONFIG, study)
    progress = progress_of(plan, results)
    progress.standing = standing(plan, results, queued(Path(".snakemake")))
    progress.at_work = progress.standing.of("running")
    if folders:
        for key, state in progress.standing.states.items():
            print(f"{state:8}  {results / key}")
    print(progress.text(time.time()))


def watched(arguments: "argparse.Namespace") -> None:
    """Run Snakemake on a study, show its progress, and end with its status."""
    from sumcurve.watch.panel import watch

    plan = Plan.read(CONFIG, arguments.study)
    if status := watch(arguments.command, progress_of(plan, arguments.results)):
        raise SystemExit(status if status > 0 else 128 - status)  # as shells say which signal ended it


def progress_of(plan: Plan, results: Path) -> "Progress":
    """Progress of a study; hours are those of recorded studies, where there are any."""
    from sumcurve.watch.panel import Progress, last_run, snakemakes

    basis, recorded, _ = measured_costs()
    progress = Progress.of(plan, results, basis, recorded)
    progress.run = last_run(snakemakes(results.parent, plan.study))
    return progress


def planned(arguments: "argparse.Namespace") -> None:
    """Print the remaining work of a study, or of one with keys set, and its cost; or write its plan for jobs."""
    from sumcurve.study.languages import require_fitting
    from sumcurve.study.overrides import plan_with
    from sumcurve.watch.estimate import Gpus, estimate, lines, missing_files
    from sumcurve.watch.sizes import records_of

    study, keys, results, records = arguments.study, arguments.set, arguments.path, arguments.records
    if arguments.write:
        if keys:
            raise PlanError("--write takes no --set: `sumcurve override` writes a study with these keys, name that one")
        print(WrittenPlan.of(Plan.read(CONFIG, study)).write(results.parent))
        return
    with plan_with(CONFIG, study, keys) if keys else nullcontext(Plan.read(CONFIG, study)) as plan:
        basis, recorded, kind = measured_costs(arguments.card)
        if records is not None and None not in records_of(plan, results, None, recorded).values():
            raise PlanError(
                f"--records {records} changes nothing: how many records each corpus of study {plan.study} has is "
                "known; leave it out"
            )
        absent = [*require_fitting(plan, results), *missing_files(plan, results)]
        estimated = estimate(plan, results, basis, records, recorded)
        gpus = Gpus(len(devices.pool(dict(os.environ))), *devices.per_run(os.environ))
        print(*absent, *lines(plan, estimated, basis, os.cpu_count() or 1, kind, gpus), sep="\n")


def measured_costs(card: str | None = None) -> "tuple[Sequence[Measured], dict[str, int], str]":
    """The trainings of recorded studies, the sizes of their corpora, and their device: "a GPU", "a CPU" or a card.

    `card` is the one to price for; without, this machine's, where trainings were recorded on none and it was measured.
    """
    from sumcurve.watch.costs import MeasuredForCard, measured
    from sumcurve.watch.sizes import recorded_sizes

    tables = Path("results") / "tables"
    left_out: list[str] = []
    runs = measured(CONFIG, tables, left_out=left_out.append)
    if left_out:
        print(f"note: what trainings cost rests on fewer of them: {', '.join(left_out)} cannot be read here")
    on_cpu, recorded = [run for run in runs if run.device == "cpu"], recorded_sizes(tables)
    has_gpu = bool(devices.pool(dict(os.environ)))
    if has_gpu and card is None and len(on_cpu) < len(runs):
        return [run for run in runs if run.device != "cpu"], recorded, "a GPU"
    cards = measured_cards()
    if card is None and has_gpu:
        files = sorted(Path("/proc/driver/nvidia/gpus").glob("*/information"))
        models = re.findall(r"^Model:\s*(.*\S)", "\n".join(path.read_text() for path in files), re.MULTILINE)
        card = next(filter(cards.__contains__, models), None)
    elif card is not None and card not in cards:
        remedy = "`python benchmarks/gpu.py --json benchmarks/gpu-NAME.json` measures a machine's"
        raise PlanError(f"--card {card!r} was not measured, but {', '.join(cards) or 'none'}; {remedy}")
    if card is not None:
        of_card = {"device": card, "card": cards[card], "config": CONFIG}
        return [MeasuredForCard(**vars(run) | of_card) for run in on_cpu], recorded, f"one measurement of {card}"
    if has_gpu:
        print("note: this machine has a GPU, but no training was measured on one: these hours are of a CPU")
    return on_cpu, recorded, "a CPU"


def verified(arguments: "argparse.Namespace") -> None:
    """Hash a study, compare it with its rebuild, or print a line for each recorded one.

    ManifestError names all damages, last phases that changed almost nothing, with `record` all that hinders recording.
    """
    from sumcurve.watch import verify

    if arguments.recorded:
        from sumcurve.share.recorded import recorded

        for line in recorded(CONFIG, arguments.path):
            print(line)
    elif arguments.against:
        reproduced(arguments.against, arguments.study)
    else:
        plan = Plan.read(CONFIG, arguments.study)
        found = verify.study(plan, arguments.path)
        print(found)
        found.require()
        manifest.require(verify.last_phases(plan, arguments.path, found))
        if arguments.record:
            verify.require_recordable(plan, arguments.path, found)


def commit(study: str | None, results: Path) -> None:
    """Write the finished trainings of a study below its folder in studies/, without weights."""
    plan = Plan.read(CONFIG, study)
    if not committed.trainings(plan):
        print(f"study {plan.study} trains nothing: there is nothing to commit")
        return
    place = RECORDS / plan.study
    before = committed.keys(place)
    paths, missing = committed.commit(plan, results, place)
    for path in paths:
        print(f"{path}: {path.stat().st_size / 1000:,.0f} kB")
    if dropped := sorted(before - committed.keys(place)):
        left = counted(len(dropped), "folder")
        print(f"{left} left out that study {plan.study} does not ask for now, {dropped[0]} first")
    if missing:
        print(f"{counted(len(missing), 'folder')} of other trainings are not finished yet, {missing[0]} first")
    print("add these to git; elsewhere `sumcurve restore` takes them up")


def restore(study: str | None, results: Path) -> None:
    """Take up the committed results of a study."""
    plan = Plan.read(CONFIG, study)
    restored = committed.restore(plan, results, RECORDS / plan.study, lambda name: lock(results.parent, name))
    if restored.not_planned:
        print(
            f"{counted(len(restored.not_planned), 'folder')} left: study {plan.study} does not ask for them now, "
            f"{restored.not_planned[0]} first"
        )
    print(
        f"{len(restored.taken)} folders were restored, {len(restored.here)} were here already. Weights stayed behind: "
        "`sumcurve status` calls these folders committed"
    )


def prune(results: Path, yes: bool) -> None:
    """List folders that no study needs, and delete them on confirmation, by option or at a terminal."""
    from sumcurve.watch.prune import delete, needless

    folders = needless(CONFIG, results)
    for folder in folders:
        print(f"{folder.bytes / 1e6:10,.1f} MB  {folder.path}  ({folder.why})")
    total = f"{len(folders)} in all, {sum(folder.bytes for folder in folders) / 1e6:,.1f} MB"
    if not folders:
        print(f"every folder of {results} is needed by a study or by tables that were made of it")
    elif yes or (sys.stdin.isatty() and input(f"{total}. Delete them? [y/N] ").strip().lower() in ("y", "yes")):
        print(f"{delete(folders, results.parent / 'scratch' / 'locks', note)} of {total}, were deleted")
    else:
        print(f"{total}. Nothing was deleted" + ("" if sys.stdin.isatty() else "; say --yes to delete them"))


def reproduced(rebuilt: Path, study: str | None) -> None:
    """Print that a study rebuilt elsewhere is the recorded one; Difference names all that differ."""
    from sumcurve.watch.reproduce import compare

    print(compare(Plan.read(CONFIG, study), Path("results"), rebuilt))


def traced(arguments: "argparse.Namespace") -> None:
    """Print the origin of a cell of a study's tables."""
    from sumcurve.watch.trace import trace

    trace(Plan.read(CONFIG, arguments.study), arguments.results, arguments.cell)


def named(arguments: "argparse.Namespace") -> None:
    """Write the names of all that a study is made of."""
    from sumcurve.study import names

    note(str(names.write(Plan.read(CONFIG, arguments.study), arguments.path.parent)))


def stored(arguments: "argparse.Namespace") -> None:
    """Run the command, if there is one, store what is finished however that ended, and end with its status."""
    from sumcurve.watch.archives import store

    status = 0
    if arguments.command:
        with subprocess.Popen(arguments.command) as command:
            before = {
                signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None),  # Ctrl-C reaches the command, too
                signal.SIGTERM: signal.signal(signal.SIGTERM, lambda *_: command.terminate()),
            }
            try:
                status = command.wait()
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)
    plan = Plan.read(CONFIG, arguments.study)
    print(f"store of {plan.study}: {store(plan, arguments.results, note)}")
    if status:
        raise SystemExit(status if status > 0 else 128 - status)


def taken_back(arguments: "argparse.Namespace") -> None:
    """Take back the folders that only the store has, and print how many."""
    from sumcurve.watch.archives import place, take_back

    plan = Plan.read(CONFIG, arguments.study)
    if taken := take_back(plan, arguments.path, note):
        print(f"{counted(len(taken), 'folder')} taken back from {place(plan.study, arguments.path.parent)}")


def metrics(arguments: "argparse.Namespace") -> None:
    """Write the metrics of a study for `dvc metrics diff`."""
    from sumcurve.study.metrics import write

    note(str(write(Plan.read(CONFIG, arguments.study), arguments.path / "tables")))


def configuration(study: str | None, schema: bool) -> None:
    """Print a study resolved, or write the settings' schema for editors and people."""
    if schema and study is not None:
        raise PlanError(f"{study!r} changes nothing: --schema writes what every study may hold; leave one of them out")
    if schema:
        from sumcurve.study.schema import write

        check_clone()
        write(CONFIG)
    else:
        from sumcurve.study.resolved import resolved

        print(resolved(CONFIG, study), end="")


def added(arguments: "argparse.Namespace") -> None:
    """Write a study of a user's corpus."""
    from sumcurve.study.add import add

    check_clone()
    add(arguments, CONFIG, costs=cost_lines)


def sizes(text: str, least: int = 1) -> list[int]:
    """Rising numbers of records, with commas between them."""
    numbers = [natural(number, least) for number in listed(text)]
    if not numbers or numbers != sorted(set(numbers)):
        raise argparse.ArgumentTypeError(f"{text!r}: give rising numbers of records, as 100,1000,10000")
    return numbers


def cost_lines(plan: Plan) -> list[str]:
    """Lines on the cost of a study by recorded studies, and on each measured card: work without an estimate first."""
    from sumcurve.watch.estimate import estimate, not_estimated

    lines: dict[str, None] = {}
    for card in (None, *measured_cards()):
        basis, recorded, device = measured_costs(card)
        estimated = estimate(plan, Path("results"), basis, None, recorded)
        notes = (f"note: {note}" for note in estimated.notes)
        hours = f"core-hours to do, on {device}: {estimated.amount()}"
        lines |= dict.fromkeys((*not_estimated(estimated), hours, *notes))
    return [*lines]


def measured_cards() -> dict[str, dict[str, Any]]:
    """Measurements by `benchmarks/gpu.py` (its JSON), by the name of the card."""
    files = sorted(Path("benchmarks").glob("gpu*.json"))
    return {(one := json.loads(path.read_text(encoding="utf-8")))["machine"]["device"]: one for path in files}

"""Verbs of a whole study: what it would cost, what of it is finished, whether it is whole, how it is shared."""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sumcurve.cli.messages import note
from sumcurve.cli.places import CONFIG, STUDY, add_verb, lock
from sumcurve.corpora.store import PARTS
from sumcurve.machine import devices
from sumcurve.machine.arguments import INTERNALS, Verbs, positive
from sumcurve.machine.counts import counted
from sumcurve.share import packs
from sumcurve.share.packs import PackError
from sumcurve.sources.raw import FIELDS
from sumcurve.store import manifest
from sumcurve.study.plan import Plan, PlanError, plan_holding, studies

if TYPE_CHECKING:
    from sumcurve.watch.costs import Costs
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
        lambda arguments: verify_study(arguments.path, arguments.study, arguments.record),
        results=True,
        study=STUDY,
        example="--study docstrings --record",
    )
    command.add_argument("--record", action="store_true", help="and refuse what is missing or made by uncommitted code")
    command = add_verb(
        verbs,
        "plan",
        "what a study would cost before it starts: jobs, records, hours, disk",
        lambda arguments: show_plan(arguments.path, arguments.study, arguments.set, arguments.records),
        results=True,
        study=STUDY,
        example='--study docstrings --set "seeds=[1,2]" form=small',
    )
    command.add_argument("--records", type=positive, help="of a training part, where nothing says how many it has")
    command.add_argument("--set", nargs="+", metavar="KEY=VALUE", help="of the study with these keys; no file is left")
    command = add_verb(
        verbs,
        "pack",
        "what tables need of trainings, without weights, in small archives",
        lambda arguments: pack(
            arguments.runs, arguments.study, arguments.to, arguments.results, not arguments.without_summaries
        ),
        study=STUDY,
        example="--study docstrings --to packs",
    )
    command.add_argument("runs", nargs="*", type=Path, metavar="RUN", help="results/runs/… [all of the study]")
    command.add_argument("--to", type=Path, required=True, help="the folder that gets an archive of each training")
    command.add_argument("--without-summaries", action="store_true", help="of a corpus whose text may not be passed on")
    command.add_argument("--results", type=Path, default=Path("results"))
    command = add_verb(
        verbs,
        "merge",
        "take up packs that were made elsewhere",
        lambda arguments: merge(arguments.path, arguments.study, arguments.results),
        study="that asks for them [any]",
        example="packs --study docstrings",
    )
    command.add_argument("path", type=Path, help="the folder of the packs")
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
        "compare a study that was rebuilt elsewhere with the recorded one",
        lambda arguments: reproduced(arguments.path, arguments.study),
        study=STUDY,
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
    command.add_argument("--name", help="of the corpus and of its study [the hub's]")
    command.add_argument(
        "--models", type=listed, metavar="NAME,…", help="methods, or models of the hub [abs,pcov,trans]"
    )
    command.add_argument("--sizes", type=sizes, metavar="N,…", help="numbers of training records [percents]")
    command.add_argument("--below", metavar="FOLDER", help="of the hub's data set, where it has several")
    command.add_argument("--format", help="of the files [by their endings]")
    for name in FIELDS:
        command.add_argument(f"--{name}", metavar="FIELD", help=f"the records' field that is the {name} [by its name]")
    for part in PARTS:
        command.add_argument(f"--{part}", metavar="PATTERN", help=f"the folder's files of {part} [by their names]")
    command.add_argument("--form", help="in which methods are trained [small; of --models finetune]")
    text = "a study that is another but for a few keys: its file is written, its name printed"
    command = add_verb(
        verbs, "override", text, overridden, study=STUDY, example='"seeds=[1,2]" form=small --study docstrings'
    )
    command.add_argument("set", nargs="+", metavar="KEY=VALUE", help="corpora.NAME.percents=[50] for inner keys")
    command = add_verb(
        verbs,
        "recipes",
        "versions of what code writes, and whether the code here is known to write it",
        lambda arguments: recipes(arguments.write),
        group=INTERNALS,
        example="--write",
    )
    command.add_argument("--write", action="store_true", help="list the code here; its bytes must be the golden ones")


def overridden(arguments: "argparse.Namespace") -> None:
    """Write the study with keys set, which is one of its own, and print its name."""
    from sumcurve.study.overrides import derived

    name, path = derived(CONFIG, arguments.study, arguments.set)
    note(f"study {name}: {path}; go on with it by STUDY={name}")
    print(name)


def status(results: Path, study: str | None, folders: bool) -> None:
    """Print what of a study is finished, at work, in a queue, failed, and the hours left; or each folder's state."""
    from sumcurve.watch import status as standing

    plan = Plan.read(CONFIG, study)
    print(progress_of(plan, results).text(time.time()), end="\n\n")
    progress = standing.standing(plan, results, standing.queued(Path(".snakemake")))
    if folders:
        for key, state in progress.states.items():
            print(f"{state:8}  {results / key}")
    for line in standing.lines(plan, progress):
        print(line)
    if any(state not in ("finished", "packed") for state in progress.states.values()):
        try:
            known, recorded, _ = measured_costs()
            print(standing.time_left(plan, results, progress, known, recorded))
        except PlanError as error:
            print(f"hours left: not known ({error})")
    done = sum(state in ("finished", "packed") for state in progress.states.values())
    packed = sum(state == "packed" for state in progress.states.values())
    without = f", {packed} of them packed, without weights" if packed else ""
    print(f"{done} of {len(plan.folders)} folders are finished{without} (`verify` also hashes their files)")


def watched(arguments: "argparse.Namespace") -> None:
    """Run Snakemake on a study, show how far it is, and end with its status."""
    from sumcurve.watch.panel import watch

    plan = Plan.read(CONFIG, arguments.study)
    if status := watch(arguments.command, progress_of(plan, arguments.results)):
        raise SystemExit(status if status > 0 else 128 - status)  # as shells say which signal ended it


def progress_of(plan: Plan, results: Path) -> "Progress":
    """How far a study is; hours are those of recorded studies, where there are any."""
    from sumcurve.watch.panel import Progress, last_run, snakemakes

    try:
        costs, recorded, _ = measured_costs()
    except PlanError:
        costs, recorded = None, {}
    progress = Progress.of(plan, results, costs, recorded)
    progress.run = last_run(snakemakes(results.parent, plan.study))
    return progress


def show_plan(results: Path, study: str | None, keys: list[str] | None, records: int | None) -> None:
    """Print what of a study, or of one with these keys set, is to be done, and what it would cost; nothing is made."""
    from sumcurve.study.overrides import plan_with

    if not keys:
        _show_plan(Plan.read(CONFIG, study), results, records)
        return
    with plan_with(CONFIG, study, keys) as plan:
        _show_plan(plan, results, records)


def _show_plan(plan: Plan, results: Path, records: int | None) -> None:
    from sumcurve.watch.estimate import Gpus, estimate, lines, missing_files, records_of

    costs, recorded, kind = measured_costs()
    if records is not None and None not in records_of(plan, results, None, recorded).values():
        raise PlanError(
            f"--records {records} changes nothing: how many records each corpus of study {plan.study} has is known; "
            "leave it out"
        )
    absent = list(missing_files(plan, results))
    whole = estimate(plan, results, costs, records, recorded)
    for line in absent:
        print(line)
    gpus = Gpus(len(devices.pool(dict(os.environ))), *devices.per_run(os.environ))
    for line in lines(plan, whole, costs, os.cpu_count() or 1, kind, gpus):
        print(line)


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


def verify_study(results: Path, study: str | None, record: bool) -> None:
    """Hash all that the study asks for; ManifestError names all that is damaged, with `record` all that hinders it.

    Trainings whose last phase moved nothing are named, too.
    """
    from sumcurve.watch import verify

    plan = Plan.read(CONFIG, study)
    verified = verify.study(plan, results)
    print(verified)
    verified.require()
    manifest.require(verify.last_phases(plan, results, verified))
    if record:
        verify.require_recordable(plan, results, verified)


def pack(runs: list[Path], study: str | None, to: Path, results: Path, summaries: bool) -> None:
    """Write the packs of these runs, or of all finished trainings of a study, with what they wrote or without."""
    if not runs:
        plan = Plan.read(CONFIG, study)
        keys = [folder.key for folder in plan.folders.values() if folder.kind in packs.FIRST]
        trained = [key for key in keys if manifest.state(results / key) != "missing"]
        named = [(plan, key) for key in trained if not packs.unfinished(plan, results, key, summaries)]
        if waiting := len(trained) - len(named):
            print(f"{waiting} trained, but not decoded and {'asked' if summaries else 'scored'} yet: not packed")
        if not named:
            raise PackError(f"{results}: nothing of study {plan.study} is finished that could be packed")
    else:
        keys = [f"runs/{path.resolve().name}" for path in runs]
        named = [(Plan.read(CONFIG, study) if study else plan_holding(CONFIG, key), key) for key in keys]
    total = 0
    for plan, key in named:
        path, missing = packs.pack(plan, results, key, to, summaries)
        total += (size := path.stat().st_size)
        print(f"{path}: {size / 1000:.0f} kB" + (f"; not finished yet: {', '.join(missing)}" if missing else ""))
    print(f"{counted(len(named), 'pack')}, {total / 1000:.0f} kB; take them up elsewhere with `make merge FROM={to}`")


def merge(source: Path, study: str | None, results: Path) -> None:
    """Take up the packs of a folder, for a study or for all of them."""
    plans = [Plan.read(CONFIG, name) for name in ([study] if study else studies(CONFIG))]
    merged = packs.merge(plans, results, source, lambda name: lock(results.parent, name))
    for key in merged.taken:
        print(f"{results / key}")
    if merged.left:
        print(
            f"{counted(len(merged.left), 'score')} left: of a study with other systems beside; `make study` makes them"
        )
    print(
        f"{len(merged.taken)} folders were taken up, {len(merged.here)} were here already. Weights stayed behind: "
        "`sumcurve status` calls these folders packed"
    )


def prune(results: Path, yes: bool) -> None:
    """List what no study needs, and delete it where that is said, beforehand or when asked for at a terminal."""
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
    """Print that a study rebuilt elsewhere is the recorded one; Difference names what is not."""
    from sumcurve.watch.reproduce import compare, require_lock

    plan = Plan.read(CONFIG, study)
    results = Path("results")
    if plan.study == Plan.read(CONFIG).study:  # the one that dvc.yaml records
        require_lock(results / "tables" / plan.study)
    print(compare(plan, results, rebuilt))


def traced(arguments: "argparse.Namespace") -> None:
    """Print how a cell of a study's tables came about."""
    from sumcurve.watch.trace import trace

    trace(Plan.read(CONFIG, arguments.study), arguments.results, arguments.cell)


def metrics(arguments: "argparse.Namespace") -> None:
    """Write what `dvc metrics diff` compares of a study."""
    from sumcurve.study.metrics import write

    note(str(write(Plan.read(CONFIG, arguments.study), arguments.path / "tables")))


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


def added(arguments: "argparse.Namespace") -> None:
    """Write a study of a corpus of one's own."""
    from sumcurve.study.add import add

    add(arguments, CONFIG, costs=cost_lines)


def listed(text: str) -> list[str]:
    """Names with commas between them."""
    return [name for name in text.split(",") if name]


def sizes(text: str) -> list[int]:
    """Rising numbers with commas between them."""
    numbers = [positive(number) for number in listed(text)]
    if not numbers or numbers != sorted(set(numbers)):
        raise argparse.ArgumentTypeError(f"{text!r}: give rising numbers of records, as 100,1000,10000")
    return numbers


def cost_lines(plan: Plan) -> list[str]:
    """What a study would cost, as far as recorded studies tell: what has no price first."""
    from sumcurve.watch.costs import amount
    from sumcurve.watch.estimate import estimate, not_estimated

    try:
        costs, recorded, device = measured_costs()
    except PlanError as error:
        return [f"NOT ESTIMATED: {error}"]
    whole = estimate(plan, Path("results"), costs, None, recorded)
    return [*not_estimated(whole), f"core-hours to do, on {device}: {amount(whole.total, bool(whole.unpriced))}"]


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

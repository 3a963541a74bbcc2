"""The verb `trials`: adds finished trainings to the table and prints the settings that they choose."""

import argparse
from collections import Counter
from pathlib import Path

from sumcurve.capabilities.trials.grid import Trials, settings_of
from sumcurve.capabilities.trials.table import in_words, row_of, table_of, write_rows
from sumcurve.machine.arguments import INTERNALS, Verbs
from sumcurve.machine.spelling import there_are
from sumcurve.settings.config import PlanError


def add_parser(verbs: Verbs) -> None:
    """Add the command. `arguments.run(arguments)` runs it; it raises PlanError, ManifestError."""
    command = verbs.add_parser(
        "trials",
        group=INTERNALS,
        help="what a study's finished trials choose",
        example="pcov --study trials",
    )
    command.add_argument("methods", nargs="*", help="methods, and outside programs with `trials` [all]")
    command.add_argument("--study", default="trials", help="which has a `grid`; its table is config/STUDY.csv [trials]")
    command.add_argument("--home", type=Path, default=Path(), help="where results/ lies")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    choose(Path("config"), arguments.home, arguments.study, arguments.methods)


def choose(config: Path, home: Path, study: str, names: list[str]) -> None:
    """Add finished trainings, and print the chosen settings, or the number of missing trials, by method or program."""
    from sumcurve.study.methods import read_method

    trials = _taken_up(config, home, study)
    tried = (*trials.methods, *trials.programs)
    names = [trials.grid.tuned_with.get(name, name) for name in names]
    if strange := sorted(set(names) - set(tried)):
        raise PlanError(
            f"{strange[0]} is no method of study {study} and no program with `trials`; {there_are(strange[0], tried)}"
        )
    for name in dict.fromkeys(names or tried):
        choice = trials.chosen(name)
        if choice is None:
            counts = Counter(training.row["stage"] for training in trials.missing([name]))
            waiting = ", ".join(f"{count} of stage {stage}" for stage, count in counts.items())
            print(f"{name}: trials to go: {waiting} (`snakemake runs outputs --cores 2 --config study={study}`)")
        elif name in trials.programs:
            path, present = config / "studies" / f"{study}.yaml", in_words(trials.programs[name].settings)
            _say(path, f"systems.{name}", present, in_words(choice))
        else:
            for method in (name, *(twin for twin, base in trials.grid.tuned_with.items() if base == name)):
                path, called = config / "methods" / f"{method}.yaml", trials.plan.settings.form
                _say(path, called, in_words(settings_of(read_method(path).forms[called])), in_words(choice))


def _taken_up(config: Path, home: Path, study: str) -> Trials:
    """The trials of a study, once its table has all finished trainings, for later stages also those made before."""
    from sumcurve.study.plan import Plan

    plan = Plan.read(config, study)
    while True:
        trials = Trials(plan)
        rows = [row_of(training, home / "results") for training in trials.missing()]
        if not any(rows):
            return trials
        write_rows(table_of(plan), filter(None, rows))
        print(f"{table_of(plan)}: {len(rows) - rows.count(None)} trials more")


def _say(path: Path, what: str, present: str, choice: str) -> None:
    if present == choice:
        print(f"{path}: {what} has what the trials chose: {choice}")
    else:
        print(f"{path}: put {choice} into {what}, in place of {present}")

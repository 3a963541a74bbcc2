"""The verb `trials`: finished trainings become rows of the table, and what they choose is said, or written."""

import argparse
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sumcurve.capabilities.trials.files import places_of, replace
from sumcurve.capabilities.trials.grid import Trials, settings_of
from sumcurve.capabilities.trials.table import in_words, row_of, table_of, write_rows
from sumcurve.machine.arguments import STUDIES, Verbs
from sumcurve.machine.spelling import there_are
from sumcurve.settings.config import PlanError


def add_parser(verbs: Verbs) -> None:
    """Add the command. `arguments.run(arguments)` runs it; it raises PlanError, ManifestError."""
    command = verbs.add_parser(
        "trials",
        group=STUDIES,
        help="what a study's finished trials choose; `make trials` trains them",
        example="pcov --study trials",
    )
    command.add_argument("methods", nargs="*", help="methods, and outside programs with `trials` [all]")
    command.add_argument("--study", default="trials", help="which has a `grid`; its table is config/STUDY.csv [trials]")
    command.add_argument("--home", type=Path, default=Path(), help="where results/ lies")
    command.add_argument("--write", action="store_true", help="put what the trials chose into the files")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    choose(Path("config"), arguments.home, arguments.study, arguments.methods, arguments.write)


def choose(config: Path, home: Path, study: str, names: list[str], write: bool) -> None:
    """Take up finished trainings, and print of each method or program what its trials choose, or how many are to go.

    With `write`, put choices into the methods' files and those of their twins, and into the study that says a
    program's settings.
    """
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
            print(f"{name}: trials to go: {waiting} (`make trials TRIALS={study}`)")
        elif name in trials.programs:
            path, present = config / "studies" / f"{study}.yaml", in_words(trials.programs[name].settings)
            settings = {("systems", name, "settings", key): value for key, value in choice.items()}
            _say(path, f"systems.{name}", present, in_words(choice), settings, write)
        else:
            for method in (name, *(twin for twin, base in trials.grid.tuned_with.items() if base == name)):
                path, called = config / "methods" / f"{method}.yaml", trials.plan.settings.form
                form = read_method(path).forms[called]
                values = places_of(form, called, choice)
                _say(path, called, in_words(settings_of(form)), in_words(choice), values, write)


def _taken_up(config: Path, home: Path, study: str) -> Trials:
    """The trials of a study, when its table has all that is finished, of later stages what was made before, too."""
    from sumcurve.study.plan import Plan

    plan = Plan.read(config, study)
    while True:
        trials = Trials(plan)
        rows = [row_of(training, home / "results") for training in trials.missing()]
        if not any(rows):
            return trials
        write_rows(table_of(plan), filter(None, rows))
        print(f"{table_of(plan)}: {len(rows) - rows.count(None)} trials more")


def _say(path: Path, what: str, present: str, choice: str, values: Mapping[Any, Any], write: bool) -> None:
    if present == choice:
        print(f"{path}: {what} has what the trials chose: {choice}")
    elif write:
        replace(path, values)
        print(f"{path}: {what} now has {choice}, no longer {present}")
    else:
        print(f"{path}: put {choice} into {what}, in place of {present} (or run with --write)")

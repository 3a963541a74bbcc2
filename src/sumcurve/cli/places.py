"""Where verbs find settings and folders, and the arguments that name them."""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sumcurve.cli.messages import note
from sumcurve.machine.arguments import STUDIES, Verbs
from sumcurve.machine.locks import locked
from sumcurve.study.kinds import STEPS
from sumcurve.study.plan import Plan, PlanError, plan_holding

CONFIG = Path("config")
STUDY = "a file of config/studies without its ending [config.yaml's]"  # what the option --study takes
PLACE = "results/STEP/FOLDER"  # of a folder, below a study's home


def key_of(path: Path) -> str:
    """The key of the folder that lies there."""
    return f"{path.parent.name}/{path.name}"


def home_of(path: Path, form: str) -> Path:
    """The home above `path`, which has the parts of `form` below it; PlanError where it has fewer."""
    above = list(path.parents)
    if len(above) <= form.count("/"):
        raise PlanError(f"{path} does not say where it lies: give it from the study's home on, as {form}")
    return above[form.count("/")]


def plan_of(path: Path, study: str | None) -> Plan:
    """The plan of a study; without a name of the first that asks for the folder, as a person may want it."""
    return Plan.read(CONFIG, study) if study else plan_holding(CONFIG, key_of(path), home_of(path, PLACE))


@contextmanager
def lock(home: Path, name: str) -> Iterator[None]:
    """Hold the folder's lock, so that what an interrupted scheduler left running is waited for, not doubled."""
    path = home / "scratch" / "locks" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path, lambda: note(f"{name}: waiting for another process that makes this folder (it holds {path})")):
        yield


def results_of(text: str) -> Path:
    """A results folder, which a fresh study lacks; neither one of the folders in it nor a name of anything else."""
    path = Path(text)
    inside = path.name in STEPS or (path.parent.name in STEPS and path.name != "results")
    if inside or (path / "manifest.json").is_file() or (not path.is_dir() and path.name != "results"):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no results folder: name the one that holds all steps, as results"
        )
    return path


def add_verb(
    verbs: Verbs,
    verb: str,
    text: str,
    run: Callable[[argparse.Namespace], None],
    *,
    results: bool = False,
    study: str = "",
    group: str = STUDIES,
    example: str = "",
) -> argparse.ArgumentParser:
    """Add a verb; with `results` it has the argument `path`, a results folder, and the option `--study` by its help."""
    command = verbs.add_parser(verb, help=text, group=group, example=example)
    if results:
        command.add_argument("path", nargs="?", type=results_of, default=Path("results"))
    if study:
        command.add_argument("--study", help=study)
    command.set_defaults(run=run)
    return command

"""Places of settings and folders for verbs, and the arguments that name them."""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sumcurve.cli.messages import note
from sumcurve.machine.arguments import STUDIES, Verbs
from sumcurve.machine.locks import locked
from sumcurve.study.kinds import STEPS
from sumcurve.study.plan import PlanError

CONFIG = Path("config")
RECORDS = Path("studies")  # of each study what is kept of it in git
STUDY = "a file of config/studies without its ending [config.yaml's]"  # help of the option --study
PLACE = "results/STEP/FOLDER"  # of a folder, below a study's home


def key_of(path: Path) -> str:
    """The key of the folder that lies there."""
    return f"{path.parent.name}/{path.name}"


def check_clone() -> None:
    """Raise PlanError outside of a clone, where there are no settings to write to."""
    if not (CONFIG / "studies").is_dir():
        raise PlanError(f"{CONFIG.absolute() / 'studies'} is missing: run this in a clone of sumcurve, which has it")


def home_of(path: Path, form: str) -> Path:
    """The home above `path`, which has the parts of `form` below it; PlanError where it has fewer."""
    above = list(path.parents)
    if len(above) <= form.count("/"):
        raise PlanError(f"{path} does not say where it lies: give it from the study's home on, as {form}")
    return above[form.count("/")]


@contextmanager
def lock(home: Path, name: str) -> Iterator[None]:
    """Hold the folder's lock, so that a job of an interrupted scheduler is waited for, not doubled."""
    path = home / "scratch" / "locks" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path, lambda: note(f"{name}: waiting for another process that makes this folder (it holds {path})")):
        yield


def results_of(text: str) -> Path:
    """A results folder, which a fresh study lacks; an error for one of the folders in it and for other names."""
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

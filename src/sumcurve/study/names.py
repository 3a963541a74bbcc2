"""Names of all that a study is made of, as a file in git: what a change of settings or code makes anew is its diff."""

from pathlib import Path

from sumcurve.store.records import write_text
from sumcurve.study.kinds import STEPS
from sumcurve.study.plan import Plan


def names(plan: Plan) -> list[str]:
    """Paths below the results folder: of the study's folders, by step and name, and of its tables' manifest."""
    keys = sorted(plan.folders, key=lambda key: (STEPS.index(key.split("/")[0]), key))
    return [*keys, f"tables/{plan.study}/manifest-{plan.tables}.json"]


def place(study: str, home: Path = Path()) -> Path:
    """Path of the file of a study's names, a line each."""
    return home / "studies" / study / "names.txt"


def are_current(plan: Plan, home: Path = Path()) -> bool:
    """Tell whether the file has the names that the plan gives; False where there is none."""
    path = place(plan.study, home)
    return path.is_file() and path.read_bytes().decode() == _text(plan)


def write(plan: Plan, home: Path = Path()) -> Path:
    """Write the file where it says something else, or is missing; its path."""
    path = place(plan.study, home)
    if not are_current(plan, home):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, _text(plan))
    return path


def _text(plan: Plan) -> str:
    return "".join(f"{name}\n" for name in names(plan))

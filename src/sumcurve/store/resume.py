"""Place of a training's resume state until its folder is finished; it is deleted then."""

import shutil
from pathlib import Path

RESUME = Path("scratch", "resume")  # below a study's home
PROGRAMS = Path("scratch", "programs")  # what outside programs keep of their trainings


def state(home: Path, name: str) -> Path:
    """The resume state of the run of this name."""
    return home / RESUME / f"{name}.pt"


def scratch(home: Path, name: str) -> Path:
    """The folder in which an outside program keeps what outlives a kill of the run's training."""
    return home / PROGRAMS / name


def name(path: Path) -> str:
    """The run to which something in either folder belongs."""
    return path.name.removesuffix(".partial").removesuffix(".pt")


def forget(home: Path, name: str) -> None:
    """Delete what the training of a finished run left, killed while it wrote or not."""
    file = state(home, name)
    for path in (file, file.with_name(f"{file.name}.partial")):
        if path.is_file():
            path.unlink(missing_ok=True)  # another process may forget it, too
    shutil.rmtree(scratch(home, name), ignore_errors=True)

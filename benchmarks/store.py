"""What DVC takes of a study of a thousand folders: the folders as they are, or in the archives of its store.

The folders are those that the default study with more seeds would have, with invented files of about the sizes that its
own have. Processor seconds, objects and megabytes of a remote that is a folder; disk is what a checkout and its cache
take, at most while a command ran.
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from sumcurve.store import manifest
from sumcurve.study.kinds import STEPS
from sumcurve.study.overrides import plan_with
from sumcurve.study.plan import Plan
from sumcurve.watch.archives import store, take_back

SEEDS = "seeds=[1,2,3,4,5]"
FILES = {  # bytes of the files of a folder, by its step
    "corpora": {"train.jsonl.zst": 800_000, "vocabulary.json": 60_000, "statistics.csv": 500},
    "annotations": {"items.jsonl.zst": 300_000},
    "runs": {"weights.safetensors": 2_400_000, "vocabulary.json": 60_000, "history.csv": 8_000, "training.json": 2_000},
    "outputs": {"summaries.jsonl": 80_000, "logp.npz": 40_000},
    "scores": {"items.csv": 30_000, "scores.json": 1_000},
}
DRAW = random.Random(1)


def invent(plan: Plan, results: Path) -> None:
    """Write every folder of a plan, finished."""
    for folder in plan.folders.values():
        with manifest.building(results / folder.key, folder.specification, {"clean": True}) as stage:
            for name, size in FILES[folder.step].items():
                (stage / name).write_bytes(DRAW.randbytes(size))


def run(root: Path, *command: str) -> None:
    subprocess.run(command, cwd=root, check=True, stdout=subprocess.DEVNULL)


def disk(root: Path) -> float:
    """Megabytes that a folder takes; a file of several links counts once."""
    return int(subprocess.run(["du", "-sk", root], capture_output=True, text=True).stdout.split()[0]) / 1000


def timed(root: Path, work: Callable[[], object]) -> tuple[float, float]:
    """Processor seconds of some work, and the most megabytes that `root` took meanwhile."""
    watching = subprocess.Popen(
        ["sh", "-c", f"while du -sk '{root}' 2> /dev/null; do sleep 0.2; done"], stdout=subprocess.PIPE, text=True
    )
    before = os.times()
    work()
    seconds = sum(os.times()[:4]) - sum(before[:4])  # of this process and its children that have ended
    watching.kill()
    sizes = [int(line.split()[0]) / 1000 for line in watching.communicate()[0].splitlines()]
    return seconds, max(*sizes, disk(root))


def repository(root: Path, outs: list[str], links: str) -> None:
    """A repository whose one stage has these outputs, and a remote beside it."""
    root.mkdir(parents=True)
    run(root, "git", "init", "--quiet")
    run(root, "dvc", "init", "--quiet")
    run(root, "dvc", "config", "cache.type", links)
    run(root, "dvc", "remote", "add", "--quiet", "--default", "remote", str(root.parent / "remote"))
    stage = {"cmd": "true", "outs": [{out: {"persist": True}} for out in outs]}
    (root / "dvc.yaml").write_text(f"stages: {{study: {stage}}}\n".replace("True", "true"))


def measure(plan: Plan, home: Path, archived: bool) -> None:
    """Commit, push and pull one layout, and print what each takes."""
    root, clone = home / "first", home / "second"
    outs = [f"studies/{plan.study}/store"] if archived else [f"results/{step}" for step in STEPS[:-1]]
    repository(root, outs, "hardlink,copy" if archived else "reflink,copy")
    shutil.move(home / "results", root / "results")
    steps: list[tuple[str, Path, Callable[[], object]]] = [
        ("commit", root, lambda: run(root, "dvc", "commit", "--force", "--quiet")),
        ("push", root, lambda: run(root, "dvc", "push", "--quiet")),
        ("pull", clone, lambda: run(clone, "dvc", "pull", "--quiet")),
    ]
    if archived:
        steps.insert(0, ("store", root, lambda: store(plan, root / "results", print)))
        steps.append(("take back", clone, lambda: take_back(plan, clone / "results", print)))
        steps.append(("repeat", clone, lambda: run(clone, "dvc", "repro", "--force", "--quiet")))
    for name, folder, work in steps:
        if folder == clone and not clone.exists():
            run(root, "git", "add", "dvc.yaml", "dvc.lock", ".dvc")
            run(root, "git", "-c", "user.name=b", "-c", "user.email=b@localhost", "commit", "--quiet", "-m", "study")
            run(home, "git", "clone", "--quiet", str(root), str(clone))
        seconds, most = timed(folder, work)
        figures = f"{seconds:7.1f} CPU s  {most:8.0f} MB of disk at most, {disk(folder):.0f} then"
        print(f"{'archives' if archived else 'folders':9} {name:10} {figures}")
    objects = [path for path in (home / "remote").rglob("*") if path.is_file()]
    megabytes = sum(path.stat().st_size for path in objects) / 1e6
    print(f"{'archives' if archived else 'folders':9} {len(objects):,} objects, {megabytes:,.0f} MB in the remote")


def main() -> None:
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with plan_with(Path("config"), "docstrings", [SEEDS]) as plan, tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        invent(plan, home / "folders" / "results")
        shutil.copytree(home / "folders", home / "archives")
        files = [path for path in (home / "folders").rglob("*") if path.is_file()]
        print(f"{len(plan.folders)} folders, {len(files)} files, {disk(home / 'folders'):.0f} MB of disk")
        for layout in ("folders", "archives"):
            measure(plan, home / layout, layout == "archives")


if __name__ == "__main__":
    main()

"""What share of a study's processor time goes into starting processes.

    python benchmarks/starts.py STUDY [--home FOLDER --seconds S] [--csv FILE]

The study is made anew below scratch/starts/, by Snakemake, whose processor time with that of all its jobs is the total;
or it is finished in `--home`, and `time` told `--seconds` (user and system) of making it. Then one folder of each kind,
scorer and system is made once more, by a process that tells its processor time up to the builder's first line
(interpreter, imports, plan) and what the builder spends on imports. That, times the folders of the sort, is what
starting takes; scores that one process makes are started once, as the dearest of them. Nothing is made of a kind with a
GPU: what its builder imports is imported.
"""

import argparse
import csv
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
HOMES = Path("scratch") / "starts"
PROBE = """
import builtins, importlib, sys, time

depth, spent, plain = 0, 0.0, builtins.__import__

def timed(*given, **named):
    global depth, spent
    began, depth = time.process_time(), depth + 1
    try:
        return plain(*given, **named)
    finally:
        depth -= 1
        if not depth:
            spent += time.process_time() - began

builtins.__import__ = timed
from dataclasses import replace
from pathlib import Path
from sumcurve.cli import make as program
from sumcurve.study.kinds import KINDS

def told(kind):
    def builder(specification, inputs, stage):
        global spent
        before, spent = time.process_time(), 0.0
        if kind.gpu:
            for module in kind.code(specification):
                importlib.import_module(module)
            print(time.process_time())
            raise SystemExit
        kind.builder(specification, inputs, stage)
        print(before + spent)

    return replace(kind, builder=builder)

KINDS.update({name: told(kind) for name, kind in KINDS.items()})
program.make(Path(sys.argv[1]))
"""


def environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPATH": str(ROOT / "src")}


def total_seconds(study: str, home: Path) -> float:
    """The processor time of Snakemake and all its jobs that make the study in `home`."""
    command = ["snakemake", "--quiet", "all", "--config", f"study={study}", f"home={home}"]
    process = subprocess.Popen(command, cwd=ROOT, env=environment())
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"the study could not be made: see {home / 'logs'}")
    return used.ru_utime + used.ru_stime


def start_seconds(folder: Path) -> float:
    """The processor time of starting the process that makes a finished folder, which stays as it is."""
    aside = folder.with_name(f"aside-{folder.name}")
    folder.rename(aside)
    try:
        command = [sys.executable, "-c", PROBE, str(folder)]
        done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        aside.rename(folder)
    if done.returncode:
        raise SystemExit(f"{folder} could not be made again:\n{done.stderr}")
    return float(done.stdout.split()[-1])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("study")
    arguments.add_argument("--home", type=Path, help="where the study is finished")
    arguments.add_argument("--seconds", type=float, help="of processor time that making it took there")
    arguments.add_argument("--csv", type=Path, help="a file that the result is added to")
    told = arguments.parse_args()
    sys.path.insert(0, str(ROOT / "src"))
    from sumcurve.study.plan import Folder, Plan

    os.chdir(ROOT)
    if (told.home is None) != (told.seconds is None):
        arguments.error("--home and --seconds belong together")
    if told.home is None:
        home = HOMES / told.study
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        total = total_seconds(told.study, home)
    else:
        home, total = told.home, told.seconds
    sorts: dict[tuple[str, tuple[str, ...]], list[Folder]] = defaultdict(list)
    plan = Plan.read(Path("config"), told.study)
    for folder in plan.folders.values():
        sorts[folder.kind, folder.code].append(folder)
    took: dict[tuple[str, tuple[str, ...]], float] = {}
    for (kind, code), folders in sorts.items():
        took[kind, code] = start_seconds((home / "results" / folders[0].key).absolute())
        print(f"{kind:9} {code[-1]:40} {len(folders):5} folders, {took[kind, code]:.2f} s a start")
    folders_by_start = [*plan.together.values()]
    of_sets = {key for keys in folders_by_start for key in keys}
    folders_by_start += [[key] for key in plan.folders if key not in of_sets]
    starting = sum(max(took[one.kind, one.code] for one in map(plan.folder, started)) for started in folders_by_start)
    row = {
        "study": told.study,
        "folders": len(plan.folders),
        "starts": len(folders_by_start),
        "seconds": f"{total:.0f}",
        "starting_seconds": f"{starting:.0f}",
        "starting_percent": f"{100 * starting / total:.1f}",
    }
    print(", ".join(f"{key} {value}" for key, value in row.items()))
    if told.csv:
        new = not told.csv.exists()
        with told.csv.open("a", newline="") as stream:
            writer = csv.DictWriter(stream, row, lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow(row)


if __name__ == "__main__":
    main()

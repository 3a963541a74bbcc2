"""What planning costs: user seconds of `snakemake -n` on a generated study of 600 trainings beside those of
`snakemake --version`, before anything is made and when all of it is finished.

The study is the default one with ten methods, six sizes and ten seeds. Its folders stand in a temporary directory; the
finished ones are empty manifests, which a dry run takes as they are, since it verifies nothing. Exit status 1 where
planning takes more than 3 s above starting.

python benchmarks/planning.py [--repetitions 5]
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from sumcurve.plan import Plan

ROOT = Path(__file__).parents[1]
MOST_SECONDS = 3.0
STUDY = """
title: A generated study
extends: docstrings
corpora:
  docstrings:
    percents: [5, 10, 20, 40, 80, 100]
methods: [abs, pcov, trans, nats, ent, trans_nocopy, pgrl, ent_base, reg_base, globen]
seeds: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
"""


def seconds(*command: str) -> float:
    """User seconds of a command and all its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def generate(home: Path) -> Plan:
    """The study in a directory where nothing of it is made."""
    shutil.copytree(ROOT / "config", home / "config")
    shutil.copyfile(ROOT / "recipes.yaml", home / "recipes.yaml")
    (home / "config" / "studies" / "generated.yaml").write_text(STUDY)
    (home / "config" / "config.yaml").write_text("study: generated\n")
    return Plan.read(home / "config")


def finish(home: Path, plan: Plan) -> None:
    """As if all of it were made, inputs before what is made of them."""
    made: dict[str, int] = {}

    def touch(path: Path, moment: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.utime(path, (moment, moment))

    def level(key: str) -> int:
        if key not in made:
            made[key] = 1 + max((level(one) for one in plan.folder(key).inputs), default=0)
        return made[key]

    for key, folder in plan.folders.items():
        touch(home / "results" / key / "manifest.json", level(key))
        for file in folder.files:
            touch(file.at(home), 0)
    tables = home / "results" / "tables" / plan.study
    touch(tables / f"manifest-{plan.tables}.json", 1 + max(made.values()))
    for name in ("pages", "figures"):
        (tables / name).mkdir()
        os.utime(tables / name, (1 + max(made.values()),) * 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    snakemake = (sys.executable, "-m", "snakemake")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        plan = generate(home)
        planning = (*snakemake, "-n", "--quiet", "all", "-s", str(ROOT / "Snakefile"), "-d", folder)

        def median(*command: str) -> float:
            return statistics.median(seconds(*command) for _ in range(options.repetitions))

        start = median(*snakemake, "--version")
        before = median(*planning)
        finish(home, plan)
        asked = [one for one in planning if one not in ("--quiet", "all")]
        said = subprocess.run(asked, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        if "Nothing to be done" not in said:
            raise SystemExit(f"what was finished is to be made again:\n{said[-2000:]}")
        after = median(*planning)
    trainings = sum(folder.kind == "train" for folder in plan.folders.values())
    print(f"user seconds; a study of {trainings} trainings and {len(plan.folders)} folders")
    print(f"snakemake --version: {start:.2f}")
    print(f"snakemake -n: {before - start:.2f} more with all to do, {after - start:.2f} more with all finished")
    if max(before, after) - start > MOST_SECONDS:
        raise SystemExit(f"above {MOST_SECONDS:g} s")


if __name__ == "__main__":
    main()

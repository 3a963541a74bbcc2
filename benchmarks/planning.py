"""What planning costs, and what a driver takes: processor seconds (user and system) of Snakemake.

    python benchmarks/planning.py [--repetitions 5]
    python benchmarks/planning.py driver STUDY [--results results]

The first asks `snakemake -n` of a generated study of 640 trainings, above `snakemake --version`, before anything is
made and when all of it is finished; and the same of a bare Snakefile with as many jobs and the same files between them,
whose inputs are looked up in a table and which asks for no resources: what Snakemake takes by itself. The study is the
default one with ten methods, six sizes and ten seeds. Its folders stand in a temporary directory; the finished ones are
empty manifests, which a dry run takes as they are, since it verifies nothing. Exit status 1 where planning takes more
than 3 s above starting.

The second lets Snakemake run all jobs of a study whose results are there; each job only touches what it is to make.
What this process has taken then, the driver's and its imports, is divided by the processor seconds that the study's
trainings recorded. The study's other jobs only make that share smaller. What is left out: a driver that starts again
hashes the folders that are finished.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from snakemake.cli import main as snakemake_main

from sumcurve.study.collect import timing
from sumcurve.study.kinds import KINDS
from sumcurve.study.plan import Plan

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


BARE = """
import json

JOBS = json.load(open("jobs.json"))


rule all:
    input:
        JOBS["all"]["all"],


for kind in JOBS.keys() - {"all"}:

    rule:
        name:
            kind
        input:
            lambda wildcards, kind=kind: JOBS[kind][wildcards.name],
        output:
            f"{kind}/{{name}}",
        shell:
            "true {output}"
"""
# Stands before the interpreter in the search path: a job's last words are what it makes, and its log.
TOUCH = """#!/bin/sh
for told in "$@"; do
    case "$told" in
        */model-* | */hub-* | */lists-*) mkdir -p "$told" ;;
        *.json | *.jsonl | *.csv) mkdir -p "${told%/*}" && : > "$told" ;;
    esac
    case "$told" in
        */tables/*.json) mkdir "${told%/*}/pages" "${told%/*}/figures" ;;
    esac
done
"""


def used(who: int) -> float:
    """Processor seconds until now, of this process or of the children that it waited for."""
    spent = resource.getrusage(who)
    return spent.ru_utime + spent.ru_stime


def seconds(*command: str) -> float:
    """Processor seconds of a command and all its children."""
    before = used(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return used(resource.RUSAGE_CHILDREN) - before


def copy_checkout(home: Path) -> None:
    """What Snakemake reads of this checkout, in a directory where nothing is made."""
    shutil.copytree(ROOT / "config", home / "config")
    shutil.copyfile(ROOT / "Snakefile", home / "Snakefile")
    for name in ("src", "workflow"):
        (home / name).symlink_to(ROOT / name)
    (home / "profiles").symlink_to(Path("workflow") / "profiles")


def generate(home: Path) -> Plan:
    """The study in a directory where nothing of it is made."""
    copy_checkout(home)
    (home / "config" / "studies" / "generated.yaml").write_text(STUDY)
    (home / "config" / "config.yaml").write_text("study: generated\n")
    return Plan.read(home / "config")


def finish(home: Path, plan: Plan) -> None:
    """As if all of it were made, inputs before what is made of them, and scores, which one process makes, at once."""
    made: dict[str, int] = {}
    last = 1 + len(KINDS)  # later than any chain of folders is long

    def touch(path: Path, moment: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.utime(path, (moment, moment))

    def level(key: str) -> int:
        if key not in made:
            inputs = (level(one) for one in plan.folder(key).inputs)
            made[key] = last if plan.folder(key).step == "scores" else 1 + max(inputs, default=0)
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


def bare(home: Path, plan: Plan) -> None:
    """A Snakefile in a directory of its own with as many jobs as the plan has, and the same files between them."""

    def file(key: str) -> str:
        folder = plan.folder(key)
        return f"{folder.kind}/{folder.name}"

    jobs: dict[str, dict[str, list[str]]] = {}
    sets = {keys[-1]: keys for keys in plan.together.values()}
    standing = {key: last for last, keys in sets.items() for key in keys}
    for key, folder in plan.folders.items():
        if standing.get(key, key) == key:
            read = (one for made in sets.get(key, [key]) for one in plan.folder(made).inputs)
            inputs = dict.fromkeys(standing.get(one, one) for one in read)
            jobs.setdefault(folder.kind, {})[folder.name] = [file(one) for one in inputs]
    made = [f"{kind}/{name}" for kind, names in jobs.items() for name in names]
    jobs |= {"tables": {"study": made}, "all": {"all": [*made, "tables/study"]}}
    home.mkdir()
    (home / "jobs.json").write_text(json.dumps(jobs))
    (home / "Snakefile").write_text(BARE)


def planning(repetitions: int) -> None:
    """Print what planning costs; SystemExit where it is more than is allowed."""
    snakemake = (sys.executable, "-m", "snakemake")
    with tempfile.TemporaryDirectory() as folder:
        home, other = Path(folder) / "study", Path(folder) / "bare"
        home.mkdir()
        plan = generate(home)
        bare(other, plan)

        def median(*command: str) -> float:
            return statistics.median(seconds(*command) for _ in range(repetitions))

        def planned(where: Path) -> float:
            return median(
                *snakemake, "-n", "--quiet", "all", "--cores", "2", "-d", str(where), "-s", f"{where}/Snakefile"
            )

        start, floor, before = median(*snakemake, "--version"), planned(other), planned(home)
        finish(home, plan)
        asked = (*snakemake, "-n", "-d", str(home), "-s", f"{home}/Snakefile")
        said = subprocess.run(asked, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        if "Nothing to be done" not in said:
            raise SystemExit(f"what was finished is to be made again:\n{said[-2000:]}")
        after = planned(home)
    trainings = sum(folder.kind == "train" for folder in plan.folders.values())
    print(f"processor seconds; a study of {trainings} trainings and {len(plan.folders)} folders")
    print(f"snakemake --version: {start:.2f}")
    print(f"snakemake -n: {before - start:.2f} more with all to do, {after - start:.2f} more with all finished")
    print(f"snakemake -n of a bare Snakefile with as many jobs, all to do: {floor - start:.2f} more")
    if max(before, after) - start > MOST_SECONDS:
        raise SystemExit(f"above {MOST_SECONDS:g} s")


def driver(study: str, results: Path) -> None:
    """Print what the driver of a study takes of its processor time."""
    plan = Plan.read(ROOT / "config", study)
    runs = [results / one.key for one in plan.named("runs", "train")]
    trained = sum(timing(run).total_seconds for run in runs)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        copy_checkout(home)
        (home / "bin").mkdir()
        (home / "bin" / "python").write_text(TOUCH)
        (home / "bin" / "python").chmod(0o755)
        os.environ["PATH"] = f"{home / 'bin'}:{os.environ['PATH']}"
        os.chdir(home)
        with Path(os.devnull).open("w") as nothing, redirect_stdout(nothing), redirect_stderr(nothing):
            try:
                snakemake_main(["--quiet", "all", "--cores", "2", "--config", f"study={study}"])
            except SystemExit as end:
                if end.code:
                    raise SystemExit(f"the jobs of {study} did not end") from None
        own = used(resource.RUSAGE_SELF)
        jobs = len(list((home / ".snakemake" / "metadata").iterdir()))
    print(f"{study}: {len(runs)} trainings, {trained:.0f} processor seconds; {jobs} files of jobs")
    print(f"its driver: {own:.1f} processor seconds, at most {100 * own / trained:.2f} %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--results", type=Path, default=ROOT / "results", help="where the study's trainings are")
    parser.add_argument("of", nargs="*", metavar="driver STUDY")
    options = parser.parse_args()
    if not options.of:
        planning(options.repetitions)
    elif len(options.of) == 2 and options.of[0] == "driver":
        driver(options.of[1], options.results)
    else:
        parser.error("nothing, or `driver STUDY`")


if __name__ == "__main__":
    main()

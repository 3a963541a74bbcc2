"""A workplace with the configuration of this one, in which folders of a study are made one after another."""

import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sumcurve.cli import make as program
from sumcurve.cli.places import PLACE, home_of, key_of
from sumcurve.corpora.store import Corpus
from sumcurve.store import manifest
from sumcurve.store.stage import Stage
from sumcurve.study.kinds import KINDS
from sumcurve.study.plan import Plan, plan_holding
from sumcurve.study.written import WrittenPlan

ROOT = Path(__file__).parents[1]


def configured(home: Path, *studies: str) -> Path:
    """`home` with the studies of this project, or with these alone: a folder of no named study is sought in all."""
    shutil.copytree(ROOT / "config", home / "config")
    for path in (home / "config" / "studies").glob("*.yaml"):
        if studies and path.stem not in studies:
            path.unlink()
    return home


def make(path: Path) -> None:
    """Make a folder that a study of the working directory asks for."""
    plan = plan_holding(Path("config"), key_of(path), home_of(path, PLACE))
    program.make(path, plan=WrittenPlan.of(plan))


def make_all(home: Path, plan: Plan, wanted: Iterable[str]) -> None:
    """Make these folders, and before them what they are made from."""
    for key in wanted:
        if not (home / "results" / key / "manifest.json").is_file():
            make_all(home, plan, plan.folder(key).inputs)
            program.make(home / "results" / key, plan=WrittenPlan.of(plan))


def build(plan: Plan, key: str, home: Path, note: Callable[[str], None] = print, **facts: Any) -> Path:
    """Make a folder, whose inputs are there, by its builder alone: in this process, with the sums that it has."""
    folder, results = plan.folder(key), home / "results"
    inputs = {one: results / one for one in folder.inputs} | {file.sha256: file.at(home) for file in folder.files}
    facts |= {"threads": 1}
    with manifest.building(results / key, folder.specification, facts) as written:
        lease = SimpleNamespace(device="cpu", exclusive=False)
        stage = Stage(written, folder.name, home, note=note, facts=facts, lease=lease)
        facts |= {"device": "cpu"} if KINDS[folder.kind].gpu else {}
        KINDS[folder.kind].builder(folder.specification, inputs, stage)
    return results / key


def sumcurve(home: Path, *arguments: str) -> str:
    """What the command says, in a process of its own, which pins its sums before anything is imported."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)])}
    environment["SUMCURVE_DEVICE"] = "cpu"
    command = [sys.executable, "-m", "sumcurve", *arguments]
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


def tables_of(home: Path, plan: Plan) -> dict[str, list[dict[str, str]]]:
    """All folders of a study and its tables, made as the workflow makes them; the rows of each table by its name."""
    ordered: dict[str, None] = {}

    def after(keys: Iterable[str]) -> None:
        for key in keys:
            after(plan.folder(key).inputs)
            ordered[key] = None

    after(plan.folders)
    learned: set[str] = set()  # what needs pinned sums, which a process has from its start, and what follows it
    for key in ordered:
        if KINDS[plan.folder(key).kind].gpu or learned & {*plan.folder(key).inputs}:
            learned.add(key)
    WrittenPlan.of(plan).write(home)
    for some in ([key for key in ordered if key not in learned], [key for key in ordered if key in learned]):
        if some:
            sumcurve(home, "make", *(f"results/{key}" for key in some))
    sumcurve(home, "tables", f"results/tables/{plan.study}")
    found = {}
    for path in (home / "results" / "tables" / plan.study).glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as stream:
            found[path.stem] = list(csv.DictReader(stream))
    return found


def check_study(home: Path, plan: Plan) -> None:
    """Make a study of one trained method to its tables, and look whether these say what there is to say of a corpus."""
    tables = tables_of(home, plan)
    (corpus,) = plan.corpora.values()
    parts = {(row["part"], row["percent"]): int(row["records"]) for row in tables["corpora"]}
    dropped = [count for (part, _), count in parts.items() if part.startswith("dropped: ")]
    assert parts["read", ""] == parts["kept", ""] + sum(dropped)
    assert parts["kept", ""] == sum(parts[part, ""] for part in ("valid", "test")) + parts["train", "100"]
    scores = {(row["method"], row["percent"]): row for row in tables["scores"]}
    described = {(row["method"], row["percent"]): row for row in tables["descriptions"]}
    trained = [("pcov", str(percent)) for percent in corpus.percents]
    for system in [*trained, ("lead", ""), ("random", ""), ("sumbasic", ""), ("lexrank", ""), ("lsa", "")]:
        assert 0 <= float(scores[system]["rouge1"]) <= 100
        assert int(scores[system]["items"]) == parts["test", ""]
        for measure in ("coverage", "density", "compression", "novel2"):
            assert described[system][measure] != ""
    runs = [
        one
        for one in plan.named("runs", "train")
        if "parent" not in one.specification and "begins" not in one.specification
    ]
    assert len(runs) == len(corpus.percents)
    for run in runs:
        assert (home / "results" / run.key / "weights.safetensors").stat().st_size > 0
    assert float(described["references", ""]["compression"]) > 0
    exact = [row for row in tables.get("extracts", []) if row["algorithm"] == "exact"]
    assert bool(exact) == (corpus.oracle is not None)
    assert all(int(row["articles"]) for row in exact)


def corpus_of(home: Path, plan: Plan) -> Corpus:
    """The only corpus of a study, made."""
    (folder,) = plan.named("corpora", "corpus")
    make_all(home, plan, [folder.key])
    return Corpus(home / "results" / folder.key)

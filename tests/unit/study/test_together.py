"""Scores that one process makes: each with its lock, its log and its folder, whatever becomes of the others."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from sumcurve.cli import make as program
from sumcurve.store import manifest, resume
from sumcurve.store.records import RecordError
from sumcurve.study.kinds import KINDS
from sumcurve.study.plan import Plan
from sumcurve.study.written import WrittenPlan
from sumcurve.watch import driver, verify

ROOT = Path(__file__).parents[3]


@pytest.fixture
def plan(monkeypatch) -> Plan:
    """That of the smoke study, in whose folder this process is."""
    monkeypatch.chdir(ROOT)
    return Plan.read(Path("config"), "smoke")


def sealed(plan: Plan, results: Path, *keys: str) -> None:
    """Folders of results with a file that says their names."""
    for key in keys:
        with manifest.building(results / key, plan.folder(key).specification, {}, {}) as stage:
            (stage / "said.txt").write_text(key)


def test_what_cannot_be_made_keeps_only_the_last_from_being_made(tmp_path: Path, plan, monkeypatch) -> None:
    """The last one stands for all: it is there only where all others are."""
    keys = plan.together["tales", "method", "lead"]
    results, logs = tmp_path / "results", tmp_path / "logs" / "scores"
    inputs = {one for key in keys for one in plan.folder(key).inputs}
    sealed(plan, results, *inputs)
    first, second, *others, last = keys
    hashed, refused = [], {plan.folder(second).specification["scorer"]}

    def build(specification, folders, stage) -> None:
        if specification["scorer"] in refused:
            raise RecordError("nothing to score")
        assert set(folders) <= inputs
        (stage.folder / "said.txt").write_text(specification["scorer"])

    def verify(folder: Path, specification):
        hashed.append(folder)
        return proper(folder, specification)

    proper = manifest.verify
    monkeypatch.setitem(KINDS, "score", replace(KINDS["score"], builder=build))
    monkeypatch.setattr(manifest, "verify", verify)
    log = logs / f"{plan.folder(last).name}.log"

    with pytest.raises(RecordError, match="nothing to score"):
        program.make_together(results / last, WrittenPlan.of(plan), log)
    there = {key for key in keys if (results / key / manifest.MANIFEST).is_file()}
    assert there == {first, *others}
    assert "sumcurve: nothing to score" in (logs / f"{plan.folder(second).name}.log").read_text()
    assert all(hashed.count(results / key) == 1 for key in inputs)  # once for all of them

    refused.clear()
    program.make_together(results / last, WrittenPlan.of(plan), log)
    said = {key: (logs / f"{plan.folder(key).name}.log").read_text() for key in keys if key != last}
    assert said[second].endswith(f"{plan.folder(second).name} is finished\n")
    assert all("finished and verified" in said[key] for key in (first, *others))
    times = [(results / key / manifest.MANIFEST).stat().st_mtime_ns for key in keys]
    assert times == sorted(times)  # whoever compares times sees the last as new as any


@pytest.mark.slow
def test_decodings_of_one_process_are_the_bytes_of_each_alone(tmp_path: Path, plan, monkeypatch) -> None:
    """Of a run with two phases; a process of its own pins its sums."""
    monkeypatch.setenv("SUMCURVE_DEVICE", "cpu")
    run = next(one.key for one in plan.named("runs", "train") if one.stem == "tales-pcov-100-s1")
    keys = plan.together["tales", "run", run]
    assert len(keys) > 1

    written = WrittenPlan.of(plan).write(tmp_path)

    def sumcurve(home: str, *arguments: str) -> None:
        places = [str(tmp_path / home / "results" / one) if "/" in one else one for one in arguments]
        subprocess.run([sys.executable, "-m", "sumcurve", "make", "--plan", str(written), *places], check=True)

    sumcurve("alone", *plan.folder(run).inputs)
    sumcurve("alone", run)
    shutil.copytree(tmp_path / "alone", tmp_path / "together")
    for key in keys:
        sumcurve("alone", key)
    sumcurve("together", "--together", keys[0])
    for key in keys:
        alone, together = (manifest.verify(tmp_path / home / "results" / key) for home in ("alone", "together"))
        assert alone is not None
        assert together is not None
        assert manifest.content(alone) == manifest.content(together)
        assert alone["inputs"] == together["inputs"]


def test_a_score_that_is_damaged_is_named_and_not_made_over(tmp_path: Path, plan) -> None:
    results = tmp_path / "results"
    first, *_, last = plan.together["tales", "method", "lead"]
    sealed(plan, results, first)
    (results / first / "said.txt").write_text("something else")
    with pytest.raises(manifest.ManifestError, match="said"):
        program.make_together(results / last, WrittenPlan.of(plan), None)
    assert (results / first / "said.txt").read_text() == "something else"


def test_a_folder_that_names_fewer_inputs_than_the_plan_does_stays_as_it_is(tmp_path: Path, plan) -> None:
    """It is older than a later look at what its kind reads."""
    results, folder = tmp_path / "results", plan.named("corpora", "fraction")[0]
    sealed(plan, results, *folder.inputs, folder.key)
    before = (results / folder.key / manifest.MANIFEST).read_bytes()
    program.make(results / folder.key, plan=WrittenPlan.of(plan))
    assert (results / folder.key / manifest.MANIFEST).read_bytes() == before
    assert verify.folders(plan, results).damages == []


def test_a_state_goes_when_its_folder_is_finished_and_not_before(tmp_path: Path, plan, monkeypatch) -> None:
    """What is killed while a folder is sealed has trained for days."""

    class KilledError(Exception):
        pass

    def killed(*given) -> None:
        raise KilledError

    def build(specification, folders, stage) -> None:
        (stage.folder / "said.txt").write_text("something\n")

    folder = plan.named("runs", "train")[0]
    path = tmp_path / "results" / folder.key
    monkeypatch.setattr(program.Task, "contents", {})
    monkeypatch.setitem(KINDS, "train", replace(KINDS["train"], builder=build))
    monkeypatch.setenv("SUMCURVE_DEVICE", "cpu")
    monkeypatch.setattr(program.sums, "apply", lambda sums: {})
    file = resume.state(tmp_path, folder.name)
    left = [file, file.with_name(f"{file.name}.partial"), resume.scratch(tmp_path, folder.name) / "mine"]
    others = resume.state(tmp_path, "other-0123abcd")

    def leave() -> None:
        for one in (*left, others):
            one.parent.mkdir(parents=True, exist_ok=True)
            one.write_text("a state")

    leave()
    with monkeypatch.context() as patched:
        patched.setattr(manifest, "write_sealed", killed)
        with pytest.raises(KilledError):
            program.make(path, plan=WrittenPlan.of(plan))
    assert all(one.exists() for one in left)
    for _ in ("made", "finished and verified"):
        leave()
        program.make(path, plan=WrittenPlan.of(plan))
        assert manifest.read(path) is not None
        assert not any(one.exists() for one in left)
    assert [one.name for one in file.parent.iterdir()] == [others.name]
    assert list((tmp_path / resume.PROGRAMS).iterdir()) == []

    leave()  # killed between the folder's last move and this: no job is started for a finished folder
    monkeypatch.setattr(verify, "study", lambda plan, results: SimpleNamespace(require=tuple, manifests={folder.key}))
    driver.begin(plan, tmp_path / "results", tmp_path / "state").close()
    assert not any(one.exists() for one in left)
    assert others.exists()

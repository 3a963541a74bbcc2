"""What the command says of places and of files that no file system gives: a sentence, never a traceback."""

import errno
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sumcurve.__main__ import main
from sumcurve.cli.make import Process, Task
from sumcurve.cli.messages import refused
from sumcurve.machine.ending import REFUSED
from sumcurve.numerics import sums
from sumcurve.store import manifest
from sumcurve.store.stage import BuildError
from sumcurve.study.kinds import KINDS
from sumcurve.study.plan import Plan, PlanError
from sumcurve.study.written import WrittenPlan
from sumcurve.watch import sizes
from sumcurve.watch.costs import measured
from workplace import configured

ROOT = Path(__file__).parents[3]


def said(monkeypatch, *arguments: object) -> str:
    """What the command ends with in this process."""
    monkeypatch.setattr(sys, "argv", ["sumcurve", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return str(ended.value)


@pytest.mark.parametrize(
    ("arguments", "form"),
    [
        ("make x", "results/STEP/FOLDER"),
        ("make results/x", "results/STEP/FOLDER"),
        ("tables smoke", "results/tables/STUDY"),
        ("tables smoke --form tex", "results/tables/STUDY"),
    ],
)
def test_a_path_without_the_folders_above_it_is_refused_with_its_form(monkeypatch, arguments, form):
    monkeypatch.chdir(ROOT)
    assert said(monkeypatch, *arguments.split()).endswith(f"give it from the study's home on, as {form}")


def test_what_would_fail_again_has_a_status_of_its_own(monkeypatch, capsys):
    """A cluster's driver reads it, and tries once (`sumcurve.watch.slurm`); what a machine lacks may be there later."""
    monkeypatch.chdir(ROOT)
    for error, status in ((PlanError("no such key"), REFUSED), (BuildError("it crashed"), "sumcurve: it crashed")):

        def refuse(*_, error=error):
            raise error

        monkeypatch.setattr("sumcurve.__main__.silenced", refuse)
        monkeypatch.setattr(sys, "argv", ["sumcurve", "plan"])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == status
    assert capsys.readouterr().err == "sumcurve: no such key\n"  # the other one Python prints, at its end


def test_a_plan_looks_at_the_raw_files_that_are_here(tmp_path, monkeypatch, capsys):
    configured(tmp_path, "smoke")
    monkeypatch.chdir(tmp_path)
    known = measured(ROOT / "config", ROOT / "results" / "tables")
    monkeypatch.setattr("sumcurve.cli.studies.measured_costs", lambda card: (known, {}, "a CPU"))
    words = ["sumcurve", "plan", "--study", "smoke"]
    monkeypatch.setattr(sys, "argv", words)
    main()
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert re.match(r"MISSING: .*smoke.yaml:\d+: corpora.tales.raw.path: tests/data/tales.jsonl is not here", first)
    path = tmp_path / "tests" / "data" / "tales.jsonl"
    path.parent.mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "data" / "tales.jsonl", path)
    main()
    assert capsys.readouterr().out.startswith(second)
    path.write_text("{}")
    assert re.search(r"yaml:\d+: corpora.tales.raw.sha256: .*tales.jsonl has sha", said(monkeypatch, *words[1:]))


@pytest.fixture
def finished(tmp_path, monkeypatch):
    """A home with one training of the smoke study; the study's folders are made by nobody here."""
    monkeypatch.chdir(configured(tmp_path, "smoke", "demo", "docstrings"))
    run = Plan.read(Path("config"), "smoke").named("runs", "train")[0]
    with manifest.building(Path("results") / run.key, run.specification, {}, {}) as stage:
        (stage / "training.json").write_text("{}")
    WrittenPlan.of(Plan.read(Path("config"), "smoke")).write(Path())
    return run


def test_what_the_system_refuses_is_said_with_its_path_and_reason(finished, monkeypatch):
    (Path("scratch/locks") / finished.name).mkdir(parents=True)
    assert said(monkeypatch, "make", f"results/{finished.key}") == (
        f"sumcurve: scratch/locks/{finished.name}: Is a directory"
    )
    (Path("scratch/locks") / finished.name).rmdir()
    shutil.rmtree("results")
    Path("results").mkdir()
    (Path("results") / ".partial").write_text("")
    corpus = next(folder for folder in Plan.read(Path("config"), "smoke").named("corpora") if not folder.inputs)
    assert re.fullmatch(
        r"sumcurve: results/\.partial/.*: (Not a directory|File exists)",
        said(monkeypatch, "make", f"results/{corpus.key}"),
    )


@pytest.mark.parametrize("arguments", [[], ["--together"], ["--plan"]])
def test_a_job_reads_the_plan_that_was_written_and_no_configuration(finished, monkeypatch, arguments):
    """Where none is named it is the newest that asks for the folder."""
    (plan,) = Path("scratch").glob("plan-smoke-*.json")
    shutil.rmtree("config")
    (Path("scratch/locks") / finished.name).mkdir(parents=True)  # so that nothing is made
    named = [*arguments, str(plan)] if arguments == ["--plan"] else arguments
    assert "Is a directory" in said(monkeypatch, "make", *named, f"results/{finished.key}")
    none = said(monkeypatch, "make", "--plan", str(plan), "results/runs/none-0123abcd")
    assert "asks for no folder runs/none-0123abcd" in none
    plan.unlink()
    message = said(monkeypatch, "make", *named, f"results/{finished.key}")
    assert "`sumcurve plan HOME/results --study STUDY --write` writes the plan of a study" in message


def test_an_error_of_two_files_names_both_and_one_of_none_says_its_words() -> None:
    assert refused(OSError(errno.EXDEV, "Invalid cross-device link", "a", None, "b")) == (
        "a -> b: Invalid cross-device link"
    )
    assert refused(OSError(errno.EIO, "Input/output error")) == "while reading or writing: Input/output error"
    assert refused(ConnectionError("the hub hung up")) == "the hub hung up"


def test_a_seed_that_no_generator_takes_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["sumcurve", "records", "x", "--seed", str(2**63)])
    with pytest.raises(SystemExit):
        main()
    assert f"'{2**63}' is above {2**63 - 1}, the largest seed" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["verify", "status", "plan", "prune", "metrics"])
@pytest.mark.parametrize("path", ["nowhere", "results/runs", "results/{key}"])
def test_a_folder_that_holds_no_steps_is_refused_as_results(finished, monkeypatch, capsys, verb, path):
    path = path.format(key=finished.key)
    monkeypatch.setattr(sys, "argv", ["sumcurve", verb, path])
    with pytest.raises(SystemExit):
        main()
    assert f"{path!r} is no results folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--part test --percent 50", "--percent 50: only the training part is drawn from"),
        ("--part valid --seed 2", "--seed 2: only the training part is drawn from"),
        ("--percent 50 --records 5", "--percent 50 and --records 5: name one of them"),
        ("", "train.jsonl is not w"),
        ("--part test", "train.jsonl is not w"),
    ],
)
def test_records_come_from_verified_folders_and_all_that_is_asked_for_counts(tmp_path, monkeypatch, words, message):
    folder = tmp_path / "results" / "corpora" / "tales-1"
    with manifest.building(folder, {"corpus": "tales"}, {}, {}) as stage:
        for part in ("train", "valid", "test"):
            (stage / f"{part}.jsonl").write_text("")
    (folder / "train.jsonl").write_text("{}\n")
    assert message in said(monkeypatch, "records", folder, *words.split())


def test_a_damaged_manifest_of_recorded_tables_is_named_where_costs_are_asked(finished):
    path = Path("results/tables/other/manifest-00000000.json")
    path.parent.mkdir(parents=True)
    (path.parent / "corpora.csv").write_text("corpus,part,percent,records\n")
    path.write_text("[")
    with pytest.raises(manifest.ManifestError, match=rf"{path} is not JSON"):
        sizes.recorded_sizes(Path("results/tables"))


@pytest.mark.parametrize("fails", [False, True])
def test_processes_of_torchrun_leave_their_group_at_the_end(finished, monkeypatch, tmp_path, fails):
    """Also where the training raises: a group that stays holds the processes at their exit."""
    from torch import distributed

    def build(specification, inputs, stage):
        distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/group", rank=0, world_size=1)
        if fails:
            raise ValueError("of the training")

    monkeypatch.setitem(KINDS, finished.kind, replace(KINDS[finished.kind], builder=build))
    monkeypatch.setattr(Task, "inputs", {})
    monkeypatch.setattr(sums, "apply", lambda told: told)
    monkeypatch.setenv("SUMCURVE_DEVICE", "cpu")
    started = {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "localhost"}
    for name, value in (started | {"MASTER_PORT": "29400", "TORCHELASTIC_RUN_ID": "none"}).items():
        monkeypatch.setenv(name, value)
    try:
        with Process() as process:
            Task(Path("results") / finished.key, Plan.read(Path("config"), "smoke"), process).build(tmp_path, {})
        assert not fails
    except ValueError:
        assert fails
    assert not distributed.is_initialized()


def test_files_are_utf8_whatever_the_locale_says():
    """As in a locale of Latin-1, which old clusters have; plain C would be taken for UTF-8."""
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", "sumcurve", "plan", "--study", "smoke"]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | locale, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert "study smoke: " in done.stdout

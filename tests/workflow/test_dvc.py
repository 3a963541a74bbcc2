"""Collaborators: studies recorded on two branches and merged, pulled by a third, repeated, edited, stopped."""

import os
import shutil
import signal
import subprocess
import time

import pytest
import yaml

from sumcurve.study.plan import Plan

pytestmark = pytest.mark.long

# Both have one corpus, and its baseline; the other has a method, and a seed more.
ONE = {
    "title": "One",
    "corpora": {
        "tales": {
            "raw": {
                "path": "tests/data/tales.jsonl",
                "sha256": "a18037ee96357eab133e57ba15772473140d38d453120b6d354a51af71b81e5d",
            },
            "split": {"valid": 12, "test": 20},
            "percents": [100],
            "target": "titles",
            "source_tokens": 60,
            "target_tokens": 20,
            "search": {"beam": 2, "min_tokens": 2, "max_tokens": 20},
            "oracle": None,
        }
    },
    "methods": ["abs"],
    "form": "smoke",
    "seeds": [1],
    "systems": dict.fromkeys(("random", "best-sentence", "sumbasic", "lexrank", "lsa")),
    "scores": {"rouge": {}},
    "bootstrap": {"resamples": 200},
}
TWO = ONE | {"title": "Two", "methods": ["trans"], "seeds": [1, 2]}
STAGES = "studies/two/dvc.yaml"
PATIENCE_SECONDS = 600.0  # of a busy machine


def write(checkout, name, study):
    (checkout.path / "config" / "studies" / f"{name}.yaml").write_text(yaml.safe_dump(study, sort_keys=False))


def archives(checkout, name):
    root = checkout.path / "studies" / name / "store"
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.glob("*/*")}


def assert_idle(checkout):
    """The names are written again, and nothing that is in git changes; the study is not run."""
    before = checkout.run("git", "status", "--porcelain").stdout
    said = checkout.run("dvc", "repro", STAGES).stdout
    assert f"Running stage '{STAGES}:names'" in said
    assert f"Stage '{STAGES}:study' didn't change, skipping" in said
    assert checkout.run("git", "status", "--porcelain").stdout == before


@pytest.fixture(scope="module")
def merged(checkout_of_tree, tmp_path_factory):
    """A repository of two studies, recorded by two people on two branches; its remote is a folder."""
    origin = checkout_of_tree("origin")
    for name, study in (("one", ONE), ("two", TWO)):
        write(origin, name, study)
    origin.run("dvc", "remote", "add", "--default", "store", str(tmp_path_factory.mktemp("remote")))
    origin.commit("two studies, and where results are stored")
    for name in ("one", "two"):
        person = origin.clone(tmp_path_factory.mktemp(name) / "sumcurve")
        person.run("git", "checkout", "--quiet", "-b", name)
        person.make("record", f"STUDY={name}")
        person.commit(f"study {name} is recorded")
        person.run("dvc", "push", "--quiet")
        person.run("git", "push", "--quiet", "origin", name)
    for name in ("one", "two"):
        origin.run("git", "-c", "user.name=test", "-c", "user.email=test@localhost", "merge", "--no-edit", name)
    return origin


@pytest.fixture(scope="module")
def pulled(merged, tmp_path_factory):
    """A clone on a system that would change ends of lines, which has pulled the second study."""
    path = tmp_path_factory.mktemp("third") / "sumcurve"
    command = ["git", "clone", "--quiet", "--config", "core.autocrlf=true", str(merged.path), str(path)]
    subprocess.run(command, check=True)
    clone = type(merged)(path)
    clone.share_kernels()
    assert "study:\n\tchanged outs:\n\t\tnot in cache:       studies/two/store" in clone.run("dvc", "status").stdout
    assert "taken back from studies/two/store" in clone.make("pull", "STUDY=two").stdout
    return clone


def test_a_third_clone_repeats_what_it_pulled_with_nothing_to_do(pulled):
    assert f"{STAGES}:study" not in pulled.run("dvc", "status", STAGES).stdout
    assert_idle(pulled)
    total = len(Plan.read(pulled.path / "config", "two").folders)
    said = pulled.verb("verify", "--recorded").stdout.splitlines()
    assert [line.split(": ")[0] for line in said] == ["one", "two"]
    places = f"folders: {total} in results, 0 more in the store, 0 more committed without weights, 0 missing"
    assert f"two: tables of this version; {places}" in said
    pulled.run("snakemake", "--cores", "2", "--config", "study=two")  # which makes the pages, that are not in git
    assert "Nothing to be done" in pulled.run("snakemake", "--cores", "2", "--config", "study=two").stdout
    pulled.make("study", "STUDY=two")
    assert not pulled.made()
    assert pulled.run("git", "status", "--porcelain").stdout == ""
    assert "rouge1.trans" in pulled.run("dvc", "metrics", "show").stdout
    assert "studies/two/dvc.yaml:study" in pulled.run("dvc", "dag").stdout
    pulled.run("dvc", "plots", "show")
    assert pulled.run("git", "status", "--porcelain").stdout == ""


def test_equal_folders_of_two_studies_are_stored_once(pulled):
    pulled.make("pull", "STUDY=one")
    one, two = archives(pulled, "one"), archives(pulled, "two")
    shared = {name for name in one if two.get(name) == one[name]}
    assert {name.split("/")[0] for name in shared} >= {"corpora", "outputs"}
    objects = [path for path in (pulled.path / ".dvc" / "cache" / "files").rglob("*") if path.is_file()]
    assert len(objects) <= len(one) + len(two) - len(shared) + 2  # and a list for each store


def test_what_decides_nothing_of_a_study_runs_nothing(pulled):
    pulled.edit("src/sumcurve/training/run.py", "import ", "# A comment.\nimport ")
    write(pulled, "one", ONE | {"seeds": [7]})
    corpus = ONE["corpora"]["tales"]
    write(pulled, "three", ONE | {"corpora": {"other": corpus | {"percents": [50]}}})
    try:
        assert_idle(pulled)
    finally:
        (pulled.path / "config" / "studies" / "three.yaml").unlink()
        pulled.run("git", "checkout", "--quiet", "--", "config", "src")


def test_an_edit_runs_what_the_names_say_and_a_stopped_run_keeps_and_stores_what_is_finished(pulled):
    root = pulled.path
    before = archives(pulled, "two")
    pulled.forget_logs()
    write(pulled, "two", TWO | {"seeds": [1]})
    pulled.run("dvc", "repro", STAGES)
    assert pulled.trainings() == set()
    names = (root / "studies" / "two" / "names.txt").read_text().splitlines()
    runs = {name for name in names if name.startswith("runs/")}
    after = archives(pulled, "two")
    assert {name for name in after if name.startswith("runs/")} == {f"{run}.tar" for run in runs}
    assert all(before[f"{run}.tar"] == after[f"{run}.tar"] for run in runs)
    assert_idle(pulled)

    pulled.edit("config/forms/smoke.yaml", "rate: 0.005", "rate: 0.006")
    # Stopped when the one training is finished, before its output is.
    new = {f"runs/{folder.name}" for folder in Plan.read(root / "config", "two").named("runs")}
    assert not new & runs
    run = subprocess.Popen(
        ["dvc", "repro", STAGES],
        cwd=root,
        env=pulled.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    end = time.monotonic() + PATIENCE_SECONDS
    while not all((root / "results" / key / "manifest.json").exists() for key in new) and time.monotonic() < end:
        time.sleep(0.05)
    os.killpg(run.pid, signal.SIGINT)
    said, _ = run.communicate(timeout=PATIENCE_SECONDS)
    assert run.returncode, said
    assert {f"{key}.tar" for key in new} <= set(archives(pulled, "two")), said
    pulled.forget_logs()
    pulled.run("dvc", "repro", STAGES)
    assert pulled.trainings() == set()  # it went on
    changed = pulled.run("git", "diff", "--", "studies/two/names.txt").stdout
    assert all(f"+{key}\n" in changed for key in new)
    assert_idle(pulled)


def test_a_pull_that_cannot_be_is_said(merged, tmp_path):
    clone = merged.clone(tmp_path / "clone")
    clone.run("dvc", "remote", "default", "--unset")
    done = clone.make("pull", "STUDY=two", check=False)
    assert done.returncode
    assert "no remote is named here" in done.stdout

    clone.run("git", "checkout", "--quiet", "--", ".dvc/config")
    remote = next(path for path in clone.run("dvc", "remote", "list").stdout.split() if "/" in path)
    lock = yaml.safe_load((clone.path / "studies" / "two" / "dvc.lock").read_text())
    (written,) = lock["stages"]["study"]["outs"]
    listed = shutil.copytree(remote, tmp_path / "half")
    (listed / "files" / "md5" / written["md5"][:2] / written["md5"][2:]).unlink()  # as where a push was stopped
    clone.run("dvc", "remote", "modify", "--local", "store", "url", str(listed))
    done = clone.make("pull", "STUDY=two", check=False)
    assert done.returncode
    assert "not all of study two was pulled" in done.stdout

    clone.run("dvc", "remote", "modify", "--local", "store", "url", remote)
    clone.run("dvc", "cache", "dir", "--local", "/proc/no-cache")
    done = clone.make("pull", "STUDY=two", check=False)
    assert done.returncode
    assert "not all of study two was pulled" in done.stdout
    clone.run("dvc", "cache", "dir", "--local", "--unset")
    assert not (clone.path / "results" / "runs").exists()
    clone.make("pull", "STUDY=two")
    assert (clone.path / "results" / "runs").is_dir()

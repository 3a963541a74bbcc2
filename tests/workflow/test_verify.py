"""One byte changed in a finished study: whoever starts it next is told, until the folder is made anew."""

import os
import shutil
import sys

import pytest

from sumcurve.study.doors import MEASURED
from sumcurve.study.kinds import STEPS
from sumcurve.study.plan import Plan

pytestmark = pytest.mark.slow  # whole studies, again and again

COMMANDS = (["make", f"VENV={sys.prefix}", "study"], ["snakemake", "--cores", "2"])


@pytest.fixture(scope="module")
def checkout(recorded, tmp_path_factory):
    """A clone of the recorded study, with results that this module may spoil."""
    clone = recorded.clone(tmp_path_factory.mktemp("spoiled") / "sumcurve")
    clone.make("pull")
    clone.make("study")
    return clone


def plan_of(checkout):
    return Plan.read(checkout.path / "config", "smoke")


def a_file_of_each_step(checkout):
    """The largest file of the first folder of every step: what a step is there for."""
    plan = plan_of(checkout)
    results = checkout.path / "results"
    folders = {step: results / plan.named(step)[0].key for step in STEPS if step != "tables"}
    found = {
        step: max(
            (file for file in path.iterdir() if file.name != "manifest.json"), key=lambda file: file.stat().st_size
        )
        for step, path in folders.items()
    }
    tables = results / "tables" / "smoke"
    return found | {"pages": tables / "pages" / "report.html", "tables": tables / "scores.csv"}


def change_a_byte(path, keep_time):
    before = path.stat()
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    with path.open("r+b") as stream:
        stream.write(content)
    if keep_time:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size


def record(checkout):
    """What is recorded of the study: its lock, and what git holds of its tables."""
    tables = sorted((checkout.path / "results" / "tables" / "smoke").glob("*.*"))
    return {path.name: path.read_bytes() for path in [checkout.path / "dvc.lock", *tables] if path.suffix != ".html"}


def folders(results):
    """All folders of results; not `.partial`, where folders are in the making and which a clone lacks."""
    return {path.relative_to(results) for path in results.glob("[!.]*/*")}


@pytest.mark.parametrize("keep_time", [True, False])
def test_each_command_names_the_damage_each_time_and_records_nothing(checkout, keep_time):
    spoiled = a_file_of_each_step(checkout)
    originals = {path: (path.read_bytes(), path.stat()) for path in spoiled.values()}
    try:
        for path in spoiled.values():
            change_a_byte(path, keep_time)
        before = record(checkout)
        for command in [*COMMANDS, *COMMANDS]:
            done = checkout.run(*command, check=False)
            assert done.returncode != 0, command
            for step, path in spoiled.items():
                name = path.relative_to(checkout.path)
                assert f"{name} is not what its manifest records" in done.stdout, (command, step)
            assert record(checkout) == before, command
    finally:
        for path, (content, stat) in originals.items():
            path.write_bytes(content)
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def test_tables_are_made_of_nothing_damaged_whoever_asks(checkout):
    path = a_file_of_each_step(checkout)["scores"]
    original = path.read_bytes()
    tables = checkout.path / "results" / "tables" / "smoke"
    before = {file.name: file.read_bytes() for file in tables.glob("*.*")}
    try:
        change_a_byte(path, keep_time=False)
        done = checkout.run("python", "-m", "sumcurve", "tables", "results/tables/smoke", check=False)
        assert done.returncode == 1
        assert f"{path.relative_to(checkout.path)} is not what its manifest records" in done.stdout
        assert {file.name: file.read_bytes() for file in tables.glob("*.*")} == before
    finally:
        path.write_bytes(original)


def test_what_is_not_committed_is_not_recorded(checkout):
    before = record(checkout)
    for file in ("README.md", "src/sumcurve/watch/verify.py"):
        original = (checkout.path / file).read_text()
        try:
            (checkout.path / file).write_text(original + "\n")
            done = checkout.run("make", f"VENV={sys.prefix}", "record", check=False)
            assert done.returncode != 0
            assert f"commit these first, then record:\n M {file}" in done.stdout
            assert record(checkout) == before
        finally:
            (checkout.path / file).write_text(original)


def test_a_folder_that_was_deleted_is_made_again_and_all_keep_their_names(checkout):
    results = checkout.path / "results"
    before, names = record(checkout), folders(results)
    spoiled = a_file_of_each_step(checkout)
    for path in spoiled.values():
        change_a_byte(path, keep_time=True)
        shutil.rmtree(path.parent)
    shutil.rmtree(checkout.path / "studies" / "smoke" / "store")  # which has them
    checkout.make("study")
    assert folders(results) == names
    after = record(checkout)
    assert set(after) == set(before)
    for name in set(before) - {"dvc.lock"}:
        if name.split(".")[0] not in MEASURED and not name.startswith("manifest"):
            assert after[name] == before[name], name
    assert "Nothing to be done" in checkout.run("snakemake", "--cores", "2").stdout
    rebuilt = checkout.path / "scratch" / "reproduce" / "results"
    shutil.copytree(results, rebuilt)
    checkout.run("git", "checkout", "--quiet", "--", "results/tables", "dvc.lock")
    said = checkout.run("python", "-m", "sumcurve", "reproduce", "scratch/reproduce/results").stdout
    assert f"{len(plan_of(checkout).folders)} folders and" in said
    assert "are the recorded bytes" in said

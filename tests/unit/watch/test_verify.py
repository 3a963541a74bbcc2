"""Every change of a file is found and named, whatever the file's time, and a study's folders must fit together."""

import errno
import fcntl
import json
import os
import shutil
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest

from sumcurve.machine.locks import locked
from sumcurve.store import manifest
from sumcurve.store.manifest import ManifestError
from sumcurve.study.kinds import STEPS
from sumcurve.study.plan import Plan
from sumcurve.watch import driver, verify
from sumcurve.watch.reproduce import Difference, compare

ROOT = Path(__file__).parents[3]
FACTS = {"clean": True}


@pytest.fixture(scope="module")
def plan():
    return Plan.read(ROOT / "config", "smoke")


def build(results, folder, contents, text="1 2 3\n"):
    inputs = {key: contents[key] for key in folder.inputs}
    with manifest.building(results / folder.key, folder.specification, dict(FACTS), inputs) as stage:
        (stage / "numbers.txt").write_text(f"{folder.key} {text}")
        (stage / "timings.csv").write_text("seconds\n1.5\n")
    contents[folder.key] = manifest.content(manifest.read(results / folder.key))


def make(plan, results, clean=True):
    """A study's folders with something in each, and tables of them."""
    contents: dict[str, str] = {}
    for folder in sorted(plan.folders.values(), key=lambda folder: STEPS.index(folder.step)):
        build(results, folder, contents)
    tables = results / "tables" / plan.study
    tables.mkdir(parents=True)
    (tables / "scores.csv").write_text("rouge1\n82.6\n")
    (tables / "seeds.csv").write_text("seconds\n1.5\n")
    told = {"study": plan.study, "inputs": contents, "files": manifest.hashes(tables), "facts": {"clean": clean}}
    manifest.write_sealed(tables / f"manifest-{plan.tables}.json", told)
    pages = tables / "pages"  # which a clone lacks
    pages.mkdir()
    (pages / "2-scores.html").write_text("<p>82.6")
    manifest.write_sealed(pages / "manifest.json", {"files": manifest.hashes(pages)})
    for path in (pages / ".snakemake_timestamp", tables / "report.html"):
        path.write_text("")  # made later, by Snakemake
    return results


@pytest.fixture
def results(plan, tmp_path):
    return make(plan, tmp_path / "results")


def change(path, place=0):
    """Another byte, with the file's size and time kept."""
    before = path.stat()
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    ("selected", "weak"),
    [
        (lambda phases: {"phase": phases[-1]["name"], "update": 10**6}, False),
        (lambda phases: {"phase": phases[-1]["name"], "update": 0}, True),
        (lambda phases: {"phase": phases[0]["name"], "update": 10**6}, True),
    ],
)
def test_a_training_whose_last_phase_moved_nothing_is_named(plan, tmp_path, selected, weak):
    runs = plan.named("runs", "train")
    found = SimpleNamespace(manifests={folder.key for folder in runs})
    for folder in runs:
        (tmp_path / folder.key).mkdir(parents=True)
        told = {"selected": selected(folder.specification["training"]["phases"])}
        (tmp_path / folder.key / "training.json").write_text(json.dumps(told))
    several = [folder.key for folder in runs if len(folder.specification["training"]["phases"]) > 1]
    assert several
    named = [
        damage.path.parent.relative_to(tmp_path).as_posix() for damage in verify.last_phases(plan, tmp_path, found)
    ]
    assert named == (several if weak else [])


@pytest.mark.parametrize("step", STEPS)
def test_one_byte_in_any_file_of_any_step_is_named_with_both_hashes_and_the_remedy(plan, results, step):
    folder = results / "tables" / plan.study if step == "tables" else results / plan.named(step)[0].key
    later = (".snakemake_timestamp", "report.html")
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in later):
        original = path.read_bytes()
        change(path, len(original) // 2)
        (damage,) = verify.study(plan, results).damages
        assert damage.path == path
        assert f"delete {path.parent}, then run again" in str(damage)
        if not path.name.startswith("manifest"):
            assert manifest.sha256_file(path) in str(damage)
            path.write_bytes(original)
            assert f"expected {manifest.sha256_file(path)}" in str(damage)
        path.write_bytes(original)
    assert verify.study(plan, results).damages == []


def test_pages_are_those_of_their_manifest_or_none(plan, results):
    pages = results / "tables" / plan.study / "pages"

    def said():
        return [str(damage) for damage in verify.study(plan, results).damages]

    (pages / "3-more.html").touch()
    assert said() == [f"{pages / '3-more.html'} is not in its manifest; delete {pages}, then run again"]
    (pages / "3-more.html").unlink()
    (pages / "2-scores.html").unlink()
    assert said() == [f"{pages / '2-scores.html'} is missing; delete {pages}, then run again"]
    (pages / "manifest.json").unlink()
    assert said() == [f"{pages} has no manifest; delete {pages}, then run again"]
    shutil.rmtree(pages)
    assert said() == []


def test_every_byte_of_a_manifest_counts(plan, results):
    folder = plan.named("scores")[0]
    path = results / folder.key / "manifest.json"
    original = path.read_bytes()
    for place in range(len(original)):
        change(path, place)
        assert manifest.damages(path.parent, folder.specification)[1], place
        path.write_bytes(original)


@pytest.mark.parametrize("lost", ["numbers.txt", "[!m]*"])
def test_a_manifest_without_its_files_is_damage_and_nothing_at_all_is_not(plan, results, lost):
    folder = results / plan.named("outputs")[0].key
    for path in folder.glob(lost):
        path.unlink()
    assert manifest.state(folder) == "damaged"
    assert f"{folder / 'numbers.txt'} is missing" in "\n".join(map(str, verify.study(plan, results).damages))
    shutil.rmtree(folder)
    assert manifest.state(folder) == "missing"
    found = verify.study(plan, results)
    assert (found.damages, found.missing) == ([], [folder])
    with pytest.raises(ManifestError, match="is not finished"):
        verify.require_recordable(plan, results, found)


@pytest.mark.parametrize("harmed", ["", "manifest.json", "committed.json"])
@pytest.mark.parametrize("deep", [True, False])
def test_what_is_no_manifest_at_all_is_damage_with_a_remedy(plan, results, harmed, deep):
    """A file of endless brackets, or a folder in the place of a file; a file in the place of a folder."""
    folder = results / plan.named("outputs")[0].key
    path = folder / harmed
    if path == folder:
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    if deep or path == folder:
        path.write_text("[" * 100_000)
    else:
        path.mkdir()
    (damage,) = verify.study(plan, results).damages
    assert str(damage.path).startswith(str(folder))
    assert damage.remedy == f"restore it or delete {folder}, then run again"
    assert manifest.state(folder) == "damaged"
    tables = results / "tables" / plan.study
    shutil.rmtree(tables)
    tables.write_text("")
    assert tables in [damage.path for damage in verify.study(plan, results).damages]


def test_what_was_made_from_another_folder_than_is_here_is_named(plan, results):
    output = plan.named("outputs")[0]
    followers = {results / folder.key for folder in plan.folders.values() if output.key in folder.inputs}
    shutil.rmtree(results / output.key)
    build(results, output, verify.study(plan, results).contents, text="other words\n")
    found = verify.study(plan, results)
    assert {damage.path for damage in found.damages} == followers | {results / "tables" / plan.study}


def test_measured_time_may_differ_between_two_makings(plan, results):
    output = plan.named("outputs")[0]
    path = results / output.key
    sealed = manifest.read(path)
    shutil.rmtree(path)
    with manifest.building(path, output.specification, dict(FACTS), sealed["inputs"]) as stage:
        (stage / "numbers.txt").write_text(f"{output.key} 1 2 3\n")
        (stage / "timings.csv").write_text("seconds\n2.5\n")
    assert verify.study(plan, results).damages == []


def test_tables_of_uncommitted_code_are_not_recorded(plan, tmp_path):
    results = make(plan, tmp_path / "results", clean=False)
    with pytest.raises(ManifestError, match=r"tables/smoke was made by code that was not committed"):
        verify.require_recordable(plan, results, verify.study(plan, results))


def test_tables_without_a_manifest_are_named(plan, results):
    """As where their new manifest was not committed with them: nobody could say whether they are what was made."""
    (path,) = (results / "tables" / plan.study).glob("manifest-*.json")
    (path.parent / "scores.csv").write_text("method,rouge1\n")
    path.unlink()
    (damage,) = verify.tables(plan, results, {})
    assert damage.path == path.parent
    assert "has no manifest, but tables" in damage.what


def test_a_rebuilt_study_is_compared_folder_by_folder_in_the_order_of_the_steps(plan, results, tmp_path):
    rebuilt = make(plan, tmp_path / "again")
    tables = rebuilt / "tables" / plan.study
    assert "are the recorded bytes; 1 files of tables with measured time" in compare(plan, results, rebuilt)
    assert f"{len(plan.folders)} folders" in compare(plan, results, rebuilt)
    run, other = plan.named("runs")[-1], tmp_path / "other"
    contents: dict[str, str] = {}
    for folder in sorted(plan.folders.values(), key=lambda folder: STEPS.index(folder.step)):
        follows = folder.key == run.key or run.key in folder.inputs
        build(other, folder, contents, "4 5 6\n" if follows else "1 2 3\n")
    shutil.copytree(tables, other / "tables" / plan.study)
    path = other / "tables" / plan.study / f"manifest-{plan.tables}.json"
    told = json.loads(path.read_text())
    del told["seal"]
    manifest.write_sealed(path, told | {"inputs": contents})
    with pytest.raises(Difference) as raised:
        compare(plan, results, other)
    assert f"The first is {other / run.key} (numbers.txt)" in str(raised.value)


def test_a_driver_clears_up_after_the_killed_and_not_after_the_living(tmp_path):
    names = ("locks/0.output.lock", "backups/results/x/manifest.json", "incomplete/cmVzdWx0cy94")
    left = [tmp_path / name for name in names]

    def leave():
        for path in left:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    leave()
    living, alone = driver.join(tmp_path)
    assert alone
    assert not any(path.exists() for path in left)
    leave()
    second, alone = driver.join(tmp_path)
    assert not alone
    second.close()
    assert all(path.exists() for path in left)
    living.close()
    driver.join(tmp_path)[0].close()
    assert not left[0].exists()


def test_a_driver_whose_file_system_takes_no_lock_says_so_and_clears_nothing(tmp_path, monkeypatch):
    """Nobody could be known to be dead."""

    def refuse(opened, how):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    left = tmp_path / "locks" / "0.output.lock"
    left.parent.mkdir()
    left.touch()
    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(driver.DriverError, match=r"drivers.lock: its file system takes no lock .*; work elsewhere"):
        driver.join(tmp_path)
    assert left.exists()


def test_a_driver_waits_aloud_for_jobs_of_a_dead_one_and_for_nothing_else(tmp_path, monkeypatch):
    """A job is known by the lock that it holds. One that nobody holds, and that of a finished folder, are nothing."""
    plan = Plan.read(ROOT / "config", "smoke")
    first, second, third = plan.named("runs")[:3]
    places = [tmp_path / "scratch" / "locks" / folder.name for folder in (first, second, third)]
    places[0].parent.mkdir(parents=True)
    places[1].touch()
    finished = tmp_path / "results" / third.key
    finished.mkdir(parents=True)
    (finished / manifest.MANIFEST).touch()
    results, said, slept = tmp_path / "results", [], []
    assert driver.occupied(plan, results) == []
    with ExitStack() as jobs:
        for place in (places[0], places[2]):
            jobs.enter_context(locked(place))
        assert driver.occupied(plan, results) == [first.name]

        def sleep(seconds):
            slept.append(seconds)
            if len(slept) == 3:
                jobs.close()

        monkeypatch.setattr(driver.time, "sleep", sleep)
        monkeypatch.setattr(driver, "say", said.append)
        driver.wait_for_orphans(plan, results, 7)
    assert slept == [7, 7, 7]
    (line,) = said
    assert first.name in line
    assert third.name not in line
    driver.wait_for_orphans(plan, results)
    assert len(said) == 1


@pytest.mark.parametrize("hours", [24, 24 * 365])
def test_what_a_clock_ahead_wrote_gets_the_present_time_and_what_is_older_keeps_its_own(hours, tmp_path):
    """Else Snakemake refuses every job that reads it, until that time has come."""
    plan = Plan.read(ROOT / "config", "smoke")
    first, second, third = plan.named("runs")[:3]
    now = 1_900_000_000.0
    before = now - 3600 * hours
    for folder, moment in ((first, now + 3600 * hours), (second, before)):  # the third is not made yet
        path = tmp_path / "results" / folder.key / manifest.MANIFEST
        path.parent.mkdir(parents=True)
        path.touch()
        os.utime(path, (moment, moment))
    ahead = tmp_path / "results" / first.key / manifest.MANIFEST
    found = driver.mend_clocks(plan, tmp_path / "results", now)
    assert {path for path in found if path.is_relative_to(tmp_path)} == {ahead}
    assert ahead.stat().st_mtime == now
    assert (tmp_path / "results" / second.key / manifest.MANIFEST).stat().st_mtime == before
    assert driver.mend_clocks(plan, tmp_path / "results", now) == []
    assert not (tmp_path / "results" / third.key).exists()

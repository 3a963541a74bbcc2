"""The store of a study: equal archives of equal folders, whole folders or none out of them, nothing written over."""

import fcntl
import hashlib
import os
import re
import shutil
import tarfile
from pathlib import Path

import pytest

from sumcurve.store import manifest
from sumcurve.store.manifest import ManifestError
from sumcurve.store.members import ArchiveError
from sumcurve.study.kinds import STEPS
from sumcurve.study.plan import Plan
from sumcurve.watch import archives
from sumcurve.watch.archives import place, store, take_back

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def plan():
    return Plan.read(ROOT / "config", "smoke")


def build(plan, results, keys):
    """Finished folders, each of a file of its name and one in a folder."""
    contents = {key: manifest.content(manifest.read(results / key)) for key in plan.folders if (results / key).exists()}
    for key in keys:
        folder = plan.folders[key]
        inputs = {key: contents[key] for key in folder.inputs if key in contents}
        with manifest.building(results / key, folder.specification, {"clean": True}, inputs) as stage:
            (stage / "numbers.txt").write_text(key)
            (stage / "more").mkdir()
            (stage / "more" / "weights").write_bytes(key.encode() * 1000)
        contents[key] = manifest.content(manifest.read(results / key))


def say(text):
    raise AssertionError(text)


@pytest.fixture(scope="module")
def finished(plan, tmp_path_factory):
    """The results of a finished study that is stored."""
    home = tmp_path_factory.mktemp("finished")
    build(plan, home / "results", plan.folders)
    store(plan, home / "results", say)
    return home / "results"


@pytest.fixture
def results(finished, tmp_path):
    """A copy of them, and of the store."""
    shutil.copytree(finished.parent, tmp_path / "home")
    return tmp_path / "home" / "results"


def lose(plan, results, *keys):
    for key in keys:
        shutil.rmtree(results / key)


def bytes_of(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def other_home(results, home):
    """The results of a home that has nothing but the store."""
    shutil.copytree(results.parent / "studies", home / "studies")
    return home / "results"


def test_a_plan_has_inputs_before_what_is_made_of_them_and_each_folder_in_one_archive(plan):
    keys = list(plan.folders)
    assert all(keys.index(before) < keys.index(key) for key in keys for before in plan.folders[key].inputs)
    grouped = archives.archives(plan)
    stored = [folder.key for folders in grouped.values() for folder in folders]
    assert sorted(stored) == sorted(keys)
    assert [name.split("/")[0] for name in grouped] == sorted((name.split("/")[0] for name in grouped), key=STEPS.index)
    for run in plan.named("runs"):
        assert grouped[run.key] == [run]  # weights move without their scores
        outputs = {folder.key for folder in plan.named("outputs") if run.key in folder.inputs}
        behind = {folder.key for folder in grouped[f"outputs/{run.name}"]}
        assert behind == outputs | {
            folder.key for folder in plan.named("scores") if folder.specification["output"] in outputs
        }


def test_equal_folders_are_equal_archives_and_what_is_stored_comes_back_with_times_in_order(plan, finished, tmp_path):
    root = place("smoke", finished.parent)
    assert archives.stored(root) == set(plan.folders)
    again = tmp_path / "again" / "results"
    shutil.copytree(finished, again)
    for path in again.rglob("*"):
        path.chmod(0o700)
        os.utime(path, (1, 1))
    outcome = store(plan, again, say)
    assert (outcome.folders, outcome.files) == (len(plan.folders), len(archives.archives(plan)))
    assert bytes_of(place("smoke", again.parent)) == bytes_of(root)
    assert store(plan, again, say).written == []

    back = other_home(finished, tmp_path / "back")
    assert sorted(take_back(plan, back, say)) == sorted(plan.folders)
    assert all(bytes_of(back / key) == bytes_of(finished / key) for key in plan.folders)
    times = {key: (back / key / "manifest.json").stat().st_mtime_ns for key in plan.folders}
    assert all(times[before] <= times[key] for key in plan.folders for before in plan.folders[key].inputs)
    assert take_back(plan, back, say) == []
    assert not (back / ".partial" / "store").exists()


def test_what_is_finished_is_stored_and_what_only_the_store_has_stays(plan, results, tmp_path):
    lacking = {plan.named("runs")[0].key, *(folder.key for folder in plan.named("scores")[::2])}
    lose(plan, results, *lacking)
    root = place("smoke", results.parent)
    shutil.rmtree(root)
    assert store(plan, results, say).folders == len(plan.folders) - len(lacking)
    assert archives.stored(root) == set(plan.folders) - lacking

    back = other_home(results, tmp_path / "back")
    assert store(plan, back, say).written == []  # nothing is lost where nothing lies
    assert {key for key in plan.folders if (back / key).exists()} == set(plan.folders) - lacking


def test_an_archive_is_replaced_and_one_that_no_plan_names_is_deleted(plan, results):
    root, score = place("smoke", results.parent), plan.named("scores")[0]
    old = root / "runs" / "tales-abs-100-s9-0123abcd.tar"
    shutil.copy(next((root / "runs").iterdir()), old)
    (name,) = (name for name, folders in archives.archives(plan).items() if score in folders)
    path, cached = root / f"{name}.tar", root.parent / "cached"
    os.link(path, cached)
    path.chmod(0o444)
    before = cached.read_bytes()
    lose(plan, results, score.key)
    with manifest.building(results / score.key, score.specification, {"clean": True}) as stage:
        (stage / "numbers.txt").write_text("other words")
    outcome = store(plan, results, say)
    assert (outcome.written, outcome.deleted) == ([path], [old])
    assert cached.read_bytes() == before != path.read_bytes()


def test_a_damaged_folder_is_named_after_all_others_were_stored_and_its_archive_stays(plan, results):
    root = place("smoke", results.parent)
    run, corpus = plan.named("runs")[0], plan.named("corpora")[0]
    before = (root / f"{run.key}.tar").read_bytes()
    (results / run.key / "numbers.txt").write_text("damaged")
    (root / f"{corpus.key}.tar").unlink()
    with pytest.raises(ManifestError, match=f"{run.name}/numbers.txt is not what its manifest records"):
        store(plan, results, say)
    assert (root / f"{run.key}.tar").read_bytes() == before
    assert (root / f"{corpus.key}.tar").is_file()


def rewrite(path, change):
    """The archive with `change` of each member's name and content."""
    with tarfile.open(path, "r:") as tar:
        members = [(member, tar.extractfile(member).read()) for member in tar]
    with tarfile.open(path, "w:") as tar:
        for member, data in members:
            member.name, data = change(member.name, data)
            member.size = len(data)
            (copy := path.with_suffix(".member")).write_bytes(data)
            with copy.open("rb") as stream:
                tar.addfile(member, stream)
            copy.unlink()


def cut(size):
    return lambda path, run, other: os.truncate(path, size)


def renamed(old, new):
    return lambda path, run, other: rewrite(path, lambda name, data: (name.replace(old, new), data))


def rewritten(path, run, other):
    rewrite(path, lambda name, data: (name, data.replace(b"-s1", b"-s2")))


def replaced(path, run, other):
    shutil.copy(path.parent / f"{other.name}.tar", path)


def called_as(path, run, other):
    replaced(path, run, other)
    rewrite(path, lambda name, data: (name.replace(other.name, run.name), data))


@pytest.mark.parametrize(
    ("harm", "complaint"),
    [
        (cut(15000), "is truncated, or no archive"),
        (cut(0), "is truncated, or no archive"),
        (lambda path, run, other: path.write_bytes(b"<html>" * 9999 + bytes(1024)), "is truncated or damaged"),
        (replaced, "is no file of its folders"),
        (renamed("runs/", "../runs/"), "outside of its folder"),
        (renamed("/numbers", "/more/more"), "is not in its manifest"),
        (rewritten, "holds no whole"),
        (called_as, "was written under another specification"),
    ],
)
def test_a_truncated_archive_and_one_of_something_else_are_named_and_nothing_of_them_is_taken(
    plan, results, harm, complaint
):
    run, other = plan.named("runs")[:2]
    path = place("smoke", results.parent) / f"{run.key}.tar"
    lose(plan, results, run.key)
    harm(path, run, other)
    with pytest.raises(ArchiveError, match=complaint) as caught:
        take_back(plan, results, say)
    assert str(path) in str(caught.value)
    assert "delete it" in str(caught.value)
    assert not (results / run.key).exists()
    assert not (results / ".partial" / "store").exists()


def test_what_a_process_makes_now_is_left_to_it_and_what_is_finished_is_not_written_over(plan, results):
    run = plan.named("runs")[0]
    (results / run.key / "numbers.txt").write_text("damaged, and not replaced in silence")
    assert take_back(plan, results, say) == []
    lose(plan, results, run.key)
    lock = results.parent / "scratch" / "locks" / run.name
    lock.parent.mkdir(parents=True, exist_ok=True)
    said = []
    with lock.open("a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        assert take_back(plan, results, said.append) == []
    assert run.name in said[0]
    (results / run.key).mkdir()  # as a scheduler makes it
    assert take_back(plan, results, say) == [run.key]


def test_a_folder_without_all_files_is_not_stored_and_the_store_s_takes_its_place_where_it_is_the_same(
    plan, results, monkeypatch
):
    """As one that was restored from what is in git, without weights."""

    def lacking(folder):
        return ["more/weights"] if folder.name == run.name and not (folder / "more" / "weights").exists() else []

    monkeypatch.setattr(manifest, "lacking", lacking)
    run, root = plan.named("runs")[0], place("smoke", results.parent)
    weights = results / run.key / "more" / "weights"
    weights.unlink()
    assert take_back(plan, results, say) == [run.key]
    assert weights.is_file()

    path, other = root / f"{run.key}.tar", results / run.key
    lose(plan, results, run.key)
    with manifest.building(other, run.specification, {"clean": True}) as stage:
        (stage / "numbers.txt").write_text("of another making")
    said = []
    assert take_back(plan, results, said.append) == []
    assert "is another than that of" in said[0]
    before = path.read_bytes()
    with pytest.raises(ManifestError, match="was made from another"):
        store(plan, results, said.append)
    assert path.read_bytes() == before
    path.unlink()
    with pytest.raises(ManifestError, match="was made from another"):
        store(plan, results, say)
    assert not path.exists()


def test_a_harvested_file_is_stored_and_comes_back_where_it_is_the_one_that_the_study_names(tmp_path):
    config = tmp_path / "config"
    shutil.copytree(ROOT / "config", config)
    text = b'{"id": "1", "source": "a b", "target": "c"}\n'
    smoke = config / "studies" / "smoke.yaml"
    (old,) = re.findall(r'sha256: "(\w+)"\n +harvest', smoke.read_text())
    smoke.write_text(smoke.read_text().replace(old, hashlib.sha256(text).hexdigest()))
    plan, home = Plan.read(config, "smoke"), tmp_path / "home"
    (file,) = {file.path for folder in plan.folders.values() for file in folder.files if file.harvested}
    (home / file).parent.mkdir(parents=True)
    (home / file).write_bytes(text + b"more")
    store(plan, home / "results", say)
    copy = place("smoke", home) / "raw" / Path(file).name
    assert not copy.exists()
    (home / file).write_bytes(text)
    store(plan, home / "results", say)
    (home / file).unlink()
    take_back(plan, home / "results", say)
    assert (home / file).read_bytes() == copy.read_bytes() == text
    copy.write_bytes(b"")
    (home / file).unlink()
    with pytest.raises(ArchiveError, match="has another sha256 than the study states"):
        take_back(plan, home / "results", say)

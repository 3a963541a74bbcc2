"""Whatever is killed, harmed or full: what was finished stays, what was not is said and made, and bytes are the same.

Two moments are in `make test KIND=long`; `make test KIND=fault` (marker `fault`) takes ten of each kind.
"""

import contextlib
import os
import random
import re
import shutil
import subprocess
import sys

import pytest
import yaml

from faults import HARMS, SEED, Driver, read_only, small_disk, stages
from sumcurve.store import manifest, resume
from sumcurve.study.kinds import STEPS
from sumcurve.study.plan import Plan
from sumcurve.study.written import WrittenPlan
from sumcurve.watch import verify

TEN = 10
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="mounts file systems: needs root")
UNTRAINED = ("random", "best-sentence", "sumbasic", "lexrank", "lsa")
COMPARED = ("corpora.csv", "scores.csv", "comparisons.csv")


def plan_of(checkout):
    return Plan.read(checkout.path / "config", "smoke")


def contents(checkout, plan=None):
    """What each folder of a finished study says, every file hashed."""
    plan = plan or plan_of(checkout)
    found = verify.folders(plan, checkout.path / "results")
    found.require()
    assert found.missing == []
    return found.contents


def assert_same(checkout, other):
    """The study of `checkout` is finished, whole and clean, and all that it has is what `other` has."""
    plan = plan_of(checkout)
    assert contents(checkout) == contents(other, plan)
    assert list((checkout.path / "scratch" / "resume").glob("*.pt")) == []
    assert not [path for path in (checkout.path / "results" / ".partial").glob("*/*") if path.exists()]


def run_from(folder, checkout, *told):
    """Run the checkout's Snakefile from another folder."""
    done = subprocess.run(
        ["snakemake", "-s", str(checkout.path / "Snakefile"), *told],
        cwd=folder,
        env=checkout.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def one_training(checkout):
    """Make the smoke study one training, its summaries and their ROUGE: all of it in the whole study, too."""
    path = checkout.path / "config" / "studies" / "smoke.yaml"
    study = yaml.safe_load(path.read_text())
    del study["corpora"]["modules"], study["corpora"]["tales"]["contrasts"]
    study["corpora"]["tales"] |= {"percents": [100], "methods": None}
    study |= {"methods": ["pcov"], "systems": dict.fromkeys(UNTRAINED), "scores": {"rouge": {}}}
    path.write_text(yaml.safe_dump(study))
    checkout.study("smoke")


def kept(checkout):
    """Which files finished folders hold: of each its number on the disk and its time, which another making changes.

    A manifest's time is that of its last verification.
    """
    found = {}
    for sealed in (checkout.path / "results").glob(f"*/*/{manifest.MANIFEST}"):
        if sealed.parts[-3] in STEPS[:-1]:
            for path in (path for path in sealed.parent.rglob("*") if path.is_file()):
                told = path.stat()
                found[path] = told.st_ino, told.st_mtime_ns if path != sealed else None
    return found


def assert_kept(checkout, before):
    """What was finished is what it was, and was not made again to the same bytes."""
    now = kept(checkout)
    assert [path for path, told in before.items() if now.get(path) != told] == []


def kill_jobs(checkout, count, draw):
    """Kill so many jobs at random moments; a study that ends before is begun anew.

    What was finished before a kill is not made again after it.
    """
    killed, before = 0, {}
    while killed < count:
        driver, earlier = Driver(checkout), killed
        while killed < count and (stage := driver.until(draw.randint(1, 4), STEPS[:-1])):
            killed += driver.kill_job(stage[1])  # some are finished too soon
            before |= kept(checkout)
        driver.process.wait()
        assert driver.process.returncode or killed == earlier, driver.said
        assert_kept(checkout, before)
        if killed < count and not driver.process.returncode:
            shutil.rmtree(checkout.path / "results")
            before = {}
    return before


@pytest.mark.long
def test_a_driver_and_a_job_that_are_killed_change_nothing(checkout_of_tree, finished):
    """And a second driver, which comes while the first one runs, changes nothing either; nor does the path."""
    checkout = checkout_of_tree("a b ü")
    one_training(checkout)
    draw = random.Random(SEED)
    driver = Driver(checkout)
    assert driver.until(draw.randint(1, 2), STEPS), driver.said
    second = checkout.run("snakemake", "--cores", "1", check=False)
    # The first one's Snakemake may have ended before the second one asked for the lock.
    said = ("locked", "run again") if second.returncode else ("Nothing to be done",)
    assert any(line in second.stdout for line in said), second.stdout
    driver.kill_driver()

    before = kill_jobs(checkout, 1, draw)
    checkout.make("study")
    assert_kept(checkout, before)
    assert_same(checkout, finished)
    assert "Nothing to be done" in checkout.run("snakemake", "-n").stdout


def files(folder):
    """Every file but compiled code, with its time."""
    found = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path: path.stat().st_mtime_ns for path in found}


@pytest.mark.long
def test_from_another_folder_nothing_is_written_into_the_checkout(checkout_of_tree, finished, tmp_path):
    checkout = checkout_of_tree("elsewhere")
    one_training(checkout)
    before = files(checkout.path)
    (fraction,) = (folder.key for folder in plan_of(checkout).named("corpora", "fraction"))
    target = str(tmp_path / "h ö" / "results" / fraction / manifest.MANIFEST)
    run_from(tmp_path, checkout, "--cores", "1", "--config", "home=h ö", "--", target)
    made = manifest.verify(tmp_path / "h ö" / "results" / fraction)
    assert manifest.content(made) == manifest.content(manifest.verify(finished.path / "results" / fraction))
    assert files(checkout.path) == before


@pytest.mark.long
def test_conda_is_refused_with_what_to_do(finished):
    done = finished.run("snakemake", "-n", "--software-deployment-method", "conda", check=False)
    assert done.returncode != 0
    assert "--sdm conda makes nothing here" in done.stdout
    assert "envs/conda.yaml" in done.stdout


@pytest.fixture
def spoiled(brief, tmp_path):
    """A copy of the finished brief study, to be harmed."""
    path = tmp_path / "sumcurve"
    shutil.copytree(brief.path, path, symlinks=True)
    copy = type(brief)(path)
    copy.share_kernels()
    copy.forget_logs()
    return copy


@pytest.mark.fault
def test_kills_in_every_step_change_nothing(checkout_of_tree, brief):
    checkout = checkout_of_tree("powerless")
    checkout.brief_study()
    draw, unharmed = random.Random(SEED), set(STEPS)
    while unharmed:
        driver = Driver(checkout)
        stage = driver.until(1, unharmed)
        assert stage, f"the study ended without a folder of {unharmed} in the making: {driver.said}"
        driver.kill_all_after(draw.uniform(0.0, 0.2))
        unharmed.remove(stage[0])
    checkout.make("study")
    assert_same(checkout, brief)
    for name in COMPARED:
        left_alone, killed = (one.path / "results" / "tables" / "smoke" / name for one in (brief, checkout))
        assert killed.read_bytes() == left_alone.read_bytes(), name
    assert "Nothing to be done" in checkout.make("study").stdout


@pytest.mark.fault
def test_ten_drivers_killed_at_random_moments(checkout_of_tree, brief):
    """Their jobs go on; whoever comes next waits for them, and makes nothing twice."""
    checkout, draw = checkout_of_tree("drivers"), random.Random(SEED)
    checkout.brief_study()
    share = len(plan_of(checkout).folders) // (TEN + 1)
    before, orphans = {}, set()
    for _ in range(TEN):
        driver = Driver(checkout)
        assert driver.until(draw.randint(1, share), STEPS), driver.said
        driver.kill_driver()
        orphans |= stages(driver.results, STEPS[:-1])
        before |= kept(checkout)
    checkout.make("study")
    assert_kept(checkout, before)
    assert orphans, "no driver had a job"
    moved = {(step, name, (checkout.path / "results" / step / name).stat().st_ino) for step, name, _ in orphans}
    assert moved == orphans  # the folder that each of them was writing is the finished one
    assert_same(checkout, brief)
    assert "Nothing to be done" in checkout.make("study").stdout


@pytest.mark.fault
def test_ten_jobs_killed_at_random_moments(checkout_of_tree, brief):
    """The others go on, and the next run makes what is missing and nothing else."""
    checkout = checkout_of_tree("jobs")
    checkout.brief_study()
    before = kill_jobs(checkout, TEN, random.Random(SEED))
    checkout.make("study")
    assert_kept(checkout, before)
    assert_same(checkout, brief)


@pytest.mark.fault
def test_jobs_of_trainings_that_are_killed_go_on_from_their_states(checkout_of_tree, brief):
    checkout = checkout_of_tree("trainings")
    checkout.brief_study()
    driver, killed = Driver(checkout), set()
    while len(killed) < 2 and (stage := driver.until(1, ["runs"])):
        if driver.kill_training(stage[1]):
            killed.add(stage[1])
    driver.process.wait()
    going_on = {name for name in killed if resume.state(checkout.path, name).exists()}
    assert going_on, "no training was killed between its first state and its end"
    before = kept(checkout)
    checkout.make("study")
    assert_kept(checkout, before)
    for name in going_on:
        assert f"{name}: resuming from" in (checkout.path / "logs" / "runs" / f"{name}.log").read_text(), name
    assert_same(checkout, brief)


@pytest.mark.fault
def test_ten_files_flipped_truncated_or_lost_are_found_named_and_rebuilt(spoiled, brief):
    draw = random.Random(SEED)
    folders = [spoiled.path / "results" / key for key in plan_of(spoiled).folders]
    for number in range(TEN):
        folder = draw.choice(folders)
        path = draw.choice(sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size))
        HARMS[number % len(HARMS)](path, draw)
        if path.name == manifest.MANIFEST and not path.exists():
            path = folder  # without it nothing says that the folder was finished: it is made again
        else:
            for command in (["python", "-m", "sumcurve", "verify"], ["snakemake", "--cores", "2"]):
                done = spoiled.run(*command, check=False)
                assert done.returncode != 0, (command, path)
                assert str(path.relative_to(spoiled.path)) in done.stdout, (command, path)
                assert f"delete {folder.relative_to(spoiled.path)}" in done.stdout
            shutil.rmtree(folder)
        spoiled.run("snakemake", "--cores", "2")
        assert contents(spoiled) == contents(brief), path


@pytest.mark.fault
@pytest.mark.parametrize("years", [-1, 1])
def test_a_clock_that_is_wrong_by_a_year_trains_nothing(spoiled, brief, years):
    """What one machine wrote is a year older or newer than what another did, and one score is to be made."""
    draw, plan = random.Random(SEED), plan_of(spoiled)
    for key in plan.folders:
        path = spoiled.path / "results" / key / manifest.MANIFEST
        if draw.random() < 0.5:
            moment = path.stat().st_mtime + years * 365 * 86400
            os.utime(path, (moment, moment))
    lost = spoiled.path / "results" / draw.choice(plan.named("scores")).key
    shutil.rmtree(lost)
    spoiled.run("snakemake", "--cores", "2")
    assert spoiled.trainings() == set()
    assert contents(spoiled) == contents(brief)
    assert "Nothing to be done" in spoiled.run("snakemake", "--cores", "2").stdout


@pytest.mark.fault
def test_bare_snakemake_in_a_pulled_clone_trains_nothing_and_changes_no_record(recorded, tmp_path):
    clone = recorded.clone(tmp_path / "clone")
    clone.make("pull")
    clone.scramble_clocks(SEED)
    clone.run("snakemake", "--cores", "2")
    assert clone.trainings() == set()
    assert clone.run("git", "status", "--porcelain", "--", "results", "dvc.lock").stdout == ""
    assert clone.run("dvc", "status", "study").stdout.strip().endswith("up to date.")


@pytest.mark.fault
def test_two_drivers_that_start_at_once_make_the_study_once(checkout_of_tree, brief):
    """One is refused, or ends by an error of Snakemake's own before its first job, and what is made is made once.

    Snakemake removes the folder of all its locks when it ends. Another that is about to read or write a lock there says
    that there is no such file. That is no refusal, but it is Snakemake's, is told by its words, and harms nothing.
    """
    checkout, before, began = checkout_of_tree("two"), {}, []
    checkout.brief_study()
    for _ in range(TEN):
        drivers = [Driver(checkout), Driver(checkout, ("snakemake", "--cores", "1"))]
        for driver in drivers:
            driver.process.wait()
            began.append(re.search(r"^(local)?rule \w+:$", driver.said, re.M) is not None)
            if driver.process.returncode:
                refused = re.search("cannot be locked|another run is just starting here", driver.said)
                crashed = re.search(r"No such file or directory: '.*\.snakemake/locks/", driver.said)
                assert refused or crashed, driver.said
                assert not began[-1], driver.said
        assert_kept(checkout, before)
        before = kept(checkout)
        if not any(driver.process.returncode for driver in drivers):
            break
    assert any(began), "no driver began a job"
    checkout.make("study")
    assert_kept(checkout, before)
    assert_same(checkout, brief)


@pytest.fixture
def prepared(brief, tmp_path):
    """A function that gives a home with all that one training of the brief study reads, and its folder there."""
    plan = plan_of(brief)
    run = plan.named("runs", "train")[0]

    def prepare(home):
        for key in run.inputs:
            shutil.copytree(brief.path / "results" / key, home / "results" / key)
        WrittenPlan.of(plan).write(home)
        return home / "results" / run.key

    return prepare


def train(checkout, folder, *before):
    return checkout.run(*before, sys.executable, "-m", "sumcurve", "make", str(folder), check=False)


@pytest.mark.fault
@ROOT_ONLY
def test_a_disk_that_is_full_at_ten_moments_keeps_nothing_half_written(prepared, brief, tmp_path):
    """From no room at all to nearly enough: resume states, weights and manifests are what does not fit."""
    draw = random.Random(SEED)
    folder = prepared(tmp_path / "whole")
    assert train(brief, folder).returncode == 0
    expected = manifest.content(manifest.verify(folder))
    weights = sum(path.stat().st_size for path in folder.iterdir()) // 1024
    refused = 0
    for number in range(TEN):
        with small_disk(tmp_path / f"disk-{number}", 64 * 1024) as disk:
            folder = prepared(disk)
            ballast, free = disk / "ballast", draw.randint(4, 4 * weights)
            filesystem = os.statvfs(disk)
            with ballast.open("wb") as stream:
                stream.write(bytes(filesystem.f_bavail * filesystem.f_frsize - free * 1024))
            done = train(brief, folder)
            if done.returncode:
                refused += 1
                assert "the disk is full" in done.stdout, done.stdout
                assert "Traceback" not in done.stdout
                assert not (folder / manifest.MANIFEST).exists()
                ballast.unlink()
                assert train(brief, folder).returncode == 0
            assert manifest.content(manifest.verify(folder)) == expected
    assert refused


@pytest.mark.fault
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace, which makes the kernel say so, is not here")
@pytest.mark.parametrize(("error", "said"), [("EDQUOT", "quota"), ("ENOSPC", "the disk is full")])
@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_quota_that_ends_while_weights_are_written(prepared, brief, tmp_path, call, error, said):
    folder = prepared(tmp_path / "home")
    stage = tmp_path / "home" / "results" / ".partial" / "runs" / folder.name
    inject = ["-e", f"trace={call}", "-e", f"inject={call}:error={error}", "-P", f"{stage}/weights.safetensors.partial"]
    done = train(brief, folder, "strace", "-f", "-qq", "-o", str(tmp_path / "calls.txt"), *inject)
    assert error in (tmp_path / "calls.txt").read_text()
    assert done.returncode == 1
    assert said in done.stdout
    assert "Traceback" not in done.stdout
    assert not (folder / manifest.MANIFEST).exists()
    assert train(brief, folder).returncode == 0
    assert manifest.verify(folder) is not None


@pytest.mark.fault
def test_ten_spoiled_resume_states_are_said_and_training_begins_anew_or_is_the_same(prepared, brief, tmp_path):
    draw, home = random.Random(SEED), tmp_path / "home"
    folder = prepared(home)
    assert train(brief, folder).returncode == 0
    expected, said = manifest.content(manifest.verify(folder)), 0
    for number in range(TEN):
        shutil.rmtree(folder)
        running = subprocess.Popen(
            [sys.executable, "-m", "sumcurve", "make", str(folder)],
            cwd=brief.path,
            env=brief.environment,
            stderr=subprocess.DEVNULL,
        )
        state = home / "scratch" / "resume" / f"{folder.name}.pt"
        while running.poll() is None and not state.exists():
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(0.002)
        running.kill()
        running.wait()
        assert state.exists(), "the training ended before its state could be spoiled"
        HARMS[number % 2](state, draw)  # without any it begins anew, as ever
        done = train(brief, folder)
        assert done.returncode == 0, done.stdout
        said += "training begins anew" in done.stdout
        assert manifest.content(manifest.verify(folder)) == expected
    assert said >= TEN // 2  # those that were cut off; a bit may be one that decides nothing


@pytest.mark.fault
def test_a_training_killed_while_its_folder_is_sealed_is_not_trained_again(prepared, brief, tmp_path):
    folder = prepared(tmp_path / "home")
    state = resume.state(tmp_path / "home", folder.name)
    ends = (
        "import os, sys, pathlib; from sumcurve.cli.make import make; from sumcurve.study import written; "
        "from sumcurve.store import manifest; "
        "end = lambda *given: os._exit(137); "
    )
    plan = "plan = written.holding(path.parents[2], '/'.join(path.parts[-2:]))"
    makes = f"; path = pathlib.Path(sys.argv[1]); {plan}; make(path, plan=plan)"
    sealing = [sys.executable, "-c", f"{ends}manifest.write_sealed = end{makes}", str(folder)]
    assert brief.run(*sealing, check=False).returncode == 137
    assert state.exists()
    # Sums are pinned before torch is loaded, so that whoever writes a state is caught where it opens the file.
    writing = (
        f"{ends}from sumcurve.store import records; write = records.write_bytes; "
        "records.write_bytes = lambda path, data: end() if path.suffix == '.pt' else write(path, data)"
    )
    done = brief.run(sys.executable, "-c", f"{writing}{makes}", str(folder))
    assert f"{folder.name}: resuming from {state}" in done.stdout
    assert manifest.content(manifest.verify(folder)) == manifest.content(
        manifest.verify(brief.path / "results" / "runs" / folder.name)
    )
    assert not state.exists()


@pytest.mark.fault
@ROOT_ONLY
def test_a_checkout_that_nobody_can_write(checkout_of_tree, brief, tmp_path):
    checkout = checkout_of_tree("sealed")
    checkout.brief_study()
    with read_only(checkout.path):
        with pytest.raises(OSError, match="Read-only"):
            (checkout.path / "x").touch()
        run_from(tmp_path, checkout, "--cores", "2")
    made = verify.study(plan_of(checkout), tmp_path / "results")
    made.require()
    assert made.missing == []
    assert made.contents == contents(brief)

"""Results over a real ssh remote (KIND=remote): collaborators, remotes that go away, pulls that keep off."""

import os
import random
import subprocess
import time

import pytest

from sshd import NoServer, require
from sumcurve.study.plan import Plan

SEED = int(os.environ.get("SUMCURVE_FAULT_SEED", "20"))
PATIENCE_SECONDS = 600.0  # of a busy machine

pytestmark = pytest.mark.remote


@pytest.fixture(scope="module", autouse=True)
def possible():
    try:
        require()
    except NoServer as error:
        pytest.exit(str(error), returncode=1)


def objects(checkout):
    """How many files the study's results are in DVC's cache."""
    return sum(path.is_file() for path in (checkout.path / ".dvc" / "cache" / "files").rglob("*"))


def recorded_files(server):
    """Whole files that have arrived; those under way have a name of their own."""
    return {path for path in (server.store / "files").rglob("*") if path.is_file() and path.suffix != ".tmp"}


def test_a_remote_that_goes_away_in_the_middle_of_a_push_is_said_and_the_next_push_sends_the_rest(served, ssh_server):
    wanted, seed = objects(served), SEED
    print(f"the remote goes away by seed {seed}")
    draw = random.Random(seed)
    for least in sorted(draw.sample(range(1, wanted // 2), 2)):
        push = subprocess.Popen(
            ["dvc", "push"],
            cwd=served.path,
            env=served.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        end = time.monotonic() + PATIENCE_SECONDS
        while ssh_server.files < least and push.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        ssh_server.go_away()
        said, _ = push.communicate(timeout=PATIENCE_SECONDS)
        assert push.returncode, said
        assert least - 16 <= len(recorded_files(ssh_server)) < wanted  # several files are under way at a time
        assert served.run("git", "status", "--porcelain").stdout == ""
        ssh_server.start()
    served.run("dvc", "push")
    assert len(recorded_files(ssh_server)) >= wanted
    assert "in sync" in served.run("dvc", "status", "--cloud").stdout
    served.verb("verify")


def test_a_remote_that_is_not_there_is_said_by_push_and_pull(served, ssh_server, tmp_path):
    served.run("dvc", "push")
    clone = served.clone(tmp_path / "clone")
    ssh_server.go_away()
    try:
        pulled = clone.make("pull", check=False)
    finally:
        ssh_server.start()
    assert pulled.returncode
    assert "not all of study smoke was pulled" in pulled.stdout
    assert not (clone.path / "results" / "runs").exists()
    clone.make("pull")
    assert "folders are finished" in clone.make("status").stdout


def test_a_collaborator_needs_three_commands(served, tmp_path):
    """Clone, pull, repro: nothing to do, nothing modified, everything there and as it was recorded."""
    served.run("dvc", "push")
    clone = served.clone(tmp_path / "clone")
    clone.make("pull")
    said = clone.run("dvc", "repro").stdout
    assert "Stage 'study' didn't change, skipping" in said
    assert "Running stage 'study'" not in said
    finished = clone.make("status").stdout.splitlines()[-1]
    assert finished.split(" folders")[0].split(" of ")[0] == finished.split(" folders")[0].split(" of ")[1]
    assert "are not made yet" not in clone.verb("verify").stdout
    assert clone.planned() == (set(), False)
    assert clone.run("git", "status", "--porcelain").stdout == ""

    last = Plan.read(clone.path / "config").together["tales", "method", "lead"][-1]
    (clone.path / "results" / last / "manifest.json").touch()
    assert clone.planned() == (set(), False)  # its bytes are the same
    pages = clone.path / "results" / "tables" / "smoke" / "pages"
    assert not pages.exists()  # not in git
    clone.make("study")  # which makes the tables anew for them, and changes nothing
    assert pages.is_dir()
    assert clone.run("git", "status", "--porcelain").stdout == ""
    assert "study:" not in clone.run("dvc", "status").stdout
    assert clone.run("dvc", "metrics", "diff").stdout.strip() == ""


def test_a_pull_writes_over_nothing_that_lies_in_results(served, tmp_path):
    served.run("dvc", "push")
    clone = served.clone(tmp_path / "clone")
    clone.make("pull")
    (scores,) = (clone.path / "results" / "scores").glob("tales-lead-rouge-*")
    items, mine = scores / "items.csv", clone.path / "results" / "runs" / "tales-mine-100-s9-12345678" / "weights"
    mine.parent.mkdir()
    mine.write_text("hours of work")
    items.write_bytes(items.read_bytes() + b"edited\n")
    edited = items.read_bytes()
    clone.scramble_clocks(SEED)
    times = {path: path.stat().st_mtime for path in (clone.path / "results").rglob("*") if path.is_file()}
    clone.make("pull")
    assert (mine.read_text(), items.read_bytes()) == ("hours of work", edited)
    assert {path: path.stat().st_mtime for path in times} == times
    assert "is not what its manifest records" in clone.verb("verify", check=False).stdout

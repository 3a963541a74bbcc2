"""Nothing stale, nothing repeated: what each edit of a study makes anew, and that it makes nothing else.

Three edits are planned in `make test KIND=long`, over a finished study. `make test KIND=fault` makes all of them, each
in a clone that has pulled, over ssh where this machine can have a server, with times of files in no order.
"""

import os

import pytest

from edits import EDITS, STUDY
from sshd import NoServer
from sumcurve.study.plan import Plan

SEED = int(os.environ.get("SUMCURVE_FAULT_SEED", "20"))
EDITED = ("config", "src", "tests")


def stems(checkout):
    return {f"{one.step}/{one.stem}" for one in Plan.read(checkout.path / "config", "smoke").folders.values()}


def restore(checkout):
    checkout.run("git", "checkout", "--quiet", "--", *EDITED)


@pytest.mark.long
def test_an_edit_plans_the_jobs_that_it_must_and_its_undoing_plans_none(finished):
    for edit in (EDITS[name] for name in ("metric", "learning rate", "new fraction")):
        try:
            edit.apply(finished.path)
            expected = edit.expected(stems(finished))
            assert expected
            assert finished.planned() == (expected, edit.tables)  # and nothing that an undone edit asks for
        finally:
            restore(finished)
    assert finished.planned() == (set(), False)


@pytest.fixture
def pulled(request, tmp_path):
    """A clone that has pulled: over ssh where this machine can have a server, else from a folder, which is said."""
    try:
        served = request.getfixturevalue("served")
        served.run("dvc", "push")
    except NoServer as error:
        print(f"results come from a folder and not over ssh: {error}")
        served = request.getfixturevalue("recorded")
    clone = served.clone(tmp_path / "clone")
    clone.make("pull")
    return clone


@pytest.mark.fault
@pytest.mark.parametrize("name", EDITS)
def test_an_edit_makes_anew_what_it_must_and_nothing_else(pulled, name):
    """By Snakemake's plan after the pull, and by what was made where times are in no order."""
    edit, seed = EDITS[name], SEED + list(EDITS).index(name)
    print(f"times of files are in no order by seed {seed}")
    tables = pulled.path / "results" / "tables" / "smoke"
    before = {path.name: path.read_bytes() for path in tables.glob("*.csv")}
    edit.apply(pulled.path)
    expected = edit.expected(stems(pulled))
    assert bool(expected) == edit.tables
    assert pulled.planned() == (expected, edit.tables)

    pulled.scramble_clocks(seed)
    pulled.forget_logs()
    pulled.run("dvc", "repro")
    assert pulled.made() == expected
    said = pulled.run("dvc", "status").stdout
    assert "study:" not in said, said
    pulled.verb("verify")

    pulled.scramble_clocks(seed + 100)
    pulled.forget_logs()
    restore(pulled)
    pulled.run("dvc", "repro")
    assert pulled.made() == set()  # back again: what there was is found
    assert {path.name: path.read_bytes() for path in tables.glob("*.csv")} == before
    assert pulled.run("git", "status", "--porcelain", "--", "results", STUDY).stdout == ""

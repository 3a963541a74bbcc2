"""What a manifest says of the code: whether a commit holds what ran."""

import subprocess

import pytest

from installed import needs
from sumcurve.store import provenance

pytestmark = needs("git")


def git(folder, *arguments):
    who = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True)


@pytest.fixture
def code(tmp_path, monkeypatch):
    path = tmp_path / "code" / "package" / "step.py"
    path.parent.mkdir(parents=True)
    path.write_text("answer = 1\n")
    monkeypatch.setattr(provenance, "PACKAGE", path.parent)
    return path


def test_code_is_clean_where_the_commit_holds_it_whatever_else_changed(code):
    git(code.parents[1], "init", "--quiet")
    assert provenance.facts()["clean"] is False  # not in git yet
    git(code.parents[1], "add", "package")
    git(code.parents[1], "commit", "--quiet", "-m", "a step")
    (code.parents[1] / "README.md").write_text("other things\n")
    facts = provenance.facts()
    assert facts["clean"] is True
    assert len(facts["commit"]) == 40
    code.write_text("answer = 2\n")
    assert provenance.facts()["clean"] is False


def test_outside_of_git_it_is_not_known(code, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(code.parents[2]))
    facts = provenance.facts()
    assert (facts["clean"], facts["commit"]) == (None, None)

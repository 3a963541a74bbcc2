"""What a manifest says of the code: whether a commit holds what ran."""

import subprocess

import pytest

from sumcurve.store import provenance


def git(folder, *arguments):
    who = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True)


@pytest.fixture
def code(tmp_path, monkeypatch):
    path = tmp_path / "code" / "step.py"
    path.parent.mkdir()
    path.write_text("answer = 1\n")
    monkeypatch.setattr(provenance, "files", lambda *modules: [path])
    return path


def test_code_is_clean_where_the_commit_holds_it_whatever_else_changed(code):
    git(code.parent, "init", "--quiet")
    assert provenance.facts("sumcurve.scores.run")["clean"] is False  # not in git yet
    git(code.parent, "add", "step.py")
    git(code.parent, "commit", "--quiet", "-m", "a step")
    (code.parent / "README.md").write_text("other things\n")
    facts = provenance.facts("sumcurve.scores.run")
    assert facts["clean"] is True
    assert len(facts["commit"]) == 40
    code.write_text("answer = 2\n")
    assert provenance.facts("sumcurve.scores.run")["clean"] is False


def test_outside_of_git_it_is_not_known(code, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(code.parents[1]))
    facts = provenance.facts("sumcurve.scores.run")
    assert (facts["clean"], facts["commit"]) == (None, None)

"""What prune lists and deletes: nothing that a study or tables need, nothing that is not ours, nothing unasked."""

import fcntl
import io
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sumcurve.cli.studies import prune
from sumcurve.store import manifest
from sumcurve.store.manifest import ManifestError
from sumcurve.study.plan import Plan, PlanError
from sumcurve.study.written import WrittenPlan
from sumcurve.watch.prune import needless
from workplace import configured

STUDIES, EXTENDED = ("demo", "smoke"), ("docstrings",)


@pytest.fixture(scope="module")
def asked():
    """Keys of folders, one of each study."""
    config = Path(__file__).parents[3] / "config"
    return [next(iter(Plan.read(config, name).folders)) for name in STUDIES]


def folder(home, key, text="x" * 1000):
    path = home / "results" / key
    path.mkdir(parents=True)
    (path / "content").write_text(text)
    manifest.write_sealed(path / "manifest.json", {"specification": {}, "inputs": {}, "files": {}, "facts": {}})
    return path


@pytest.fixture
def home(tmp_path, monkeypatch, asked):
    """A place with two studies, a folder of each and one that nobody asks for."""
    for path in (configured(tmp_path) / "config" / "studies").glob("*.yaml"):
        if path.stem not in STUDIES and path.stem not in EXTENDED:
            path.unlink()
    monkeypatch.chdir(tmp_path)
    for key in asked:
        if not (tmp_path / "results" / key).exists():
            folder(tmp_path, key)
    folder(tmp_path, "runs/old-pcov-100-s1-0123abcd")
    return tmp_path


def listed(home):
    return {one.path.relative_to(home).as_posix() for one in needless(home / "config", home / "results")}


def test_a_plan_of_other_settings_is_listed_and_that_of_a_study_is_not(home):
    plan = WrittenPlan.of(Plan.read(home / "config", "smoke"))
    plan.write(home)
    other = replace(plan, together=()).write(home)
    assert listed(home) == {"results/runs/old-pcov-100-s1-0123abcd", other.relative_to(home).as_posix()}


def test_what_no_study_asks_for_is_listed_and_stays_until_somebody_says_so(home, asked, monkeypatch, capsys):
    assert listed(home) == {"results/runs/old-pcov-100-s1-0123abcd"}
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))  # of no terminal
    prune(Path("results"), yes=False)
    assert "Nothing was deleted; say --yes" in capsys.readouterr().out
    assert listed(home)
    prune(Path("results"), yes=True)
    assert "1 of 1 in all, 0.0 MB, were deleted" in capsys.readouterr().out
    assert listed(home) == set()
    assert all((home / "results" / key / "manifest.json").is_file() for key in asked)
    prune(Path("results"), yes=True)
    assert "is needed" in capsys.readouterr().out


@pytest.mark.parametrize(("answer", "goes"), [("y", True), ("yes", True), ("", False), ("n", False), ("what", False)])
def test_at_a_terminal_it_asks_and_anything_but_yes_is_no(home, monkeypatch, answer, goes):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdin", Terminal(f"{answer}\n"))
    prune(Path("results"), yes=False)
    assert (home / "results" / "runs" / "old-pcov-100-s1-0123abcd").exists() != goes


def test_what_tables_were_made_from_stays_whatever_the_configuration_asks_for_now(home):
    tables = home / "results" / "tables" / "gone"
    tables.mkdir(parents=True)
    told = {"study": "gone", "inputs": {"runs/old-pcov-100-s1-0123abcd": "0"}, "files": {}, "facts": {}}
    manifest.write_sealed(tables / "manifest-00000000.json", told)
    assert listed(home) == set()
    path = tables / "manifest-00000000.json"
    path.write_text(path.read_text().replace("gone", "lost"))
    with pytest.raises(ManifestError, match="seal"):
        listed(home)


def test_where_no_study_is_or_one_cannot_be_read_nothing_is_known_to_be_needless(home, tmp_path_factory, monkeypatch):
    (home / "config" / "studies" / "half.yaml").write_text("title: [")
    with pytest.raises(PlanError, match=r"half\.yaml"):
        prune(Path("results"), yes=True)
    monkeypatch.chdir(tmp_path_factory.mktemp("empty"))
    with pytest.raises(PlanError, match=r"config/studies holds no study"):
        prune(home / "results", yes=True)
    assert (home / "results" / "runs" / "old-pcov-100-s1-0123abcd").is_dir()


def test_results_of_another_checkout_are_not_pruned_by_this_ones_studies(home, tmp_path_factory, monkeypatch):
    other = configured(tmp_path_factory.mktemp("other"))
    monkeypatch.chdir(other)
    (other / "results").symlink_to(home / "results")
    for path in (home / "results", other / "results"):
        with pytest.raises(PlanError, match=f"go to {home}"):
            prune(path, yes=True)
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "results"  # as `home=` names: no configuration lies beside it
    (home / "results").rename(elsewhere)
    monkeypatch.chdir(home)
    prune(elsewhere, yes=True)
    assert not (elsewhere / "runs" / "old-pcov-100-s1-0123abcd").exists()


def test_what_is_not_ours_is_never_listed(home, tmp_path_factory):
    runs, elsewhere = home / "results" / "runs", tmp_path_factory.mktemp("elsewhere")
    (runs / "my notes").mkdir()
    (runs / "backup-of-runs").mkdir()
    (runs / "a-file-0123abcd").write_text("x")
    (runs / "a-link-0123abcd").symlink_to(elsewhere)
    (home / "results" / "mine" / "old-0123abcd").mkdir(parents=True)
    assert listed(home) == {"results/runs/old-pcov-100-s1-0123abcd"}


def test_what_some_process_makes_stays_and_is_said(home, capsys):
    locks = home / "scratch" / "locks"
    locks.mkdir(parents=True)
    with (locks / "old-pcov-100-s1-0123abcd").open("a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        prune(Path("results"), yes=True)
    assert "some process is making old-pcov-100-s1-0123abcd now; it stays" in capsys.readouterr().err
    assert listed(home)


def test_states_and_stages_that_nobody_goes_on_with_are_listed_and_others_are_not(home, asked):
    plan = Plan.read(home / "config", "smoke")
    going_on, done = (one.name for one in plan.named("runs")[:2])
    folder(home, f"runs/{done}")
    resume, partial = home / "scratch" / "resume", home / "results" / ".partial" / "runs"
    resume.mkdir(parents=True)
    for name in (going_on, done, "old-0123abcd"):
        (resume / f"{name}.pt").write_text("state")
        (resume / f"{name}.pt.partial").write_text("half a state")
        (home / "scratch" / "programs" / name).mkdir(parents=True)
        (partial / name).mkdir(parents=True)
    assert listed(home) == {
        "results/runs/old-pcov-100-s1-0123abcd",
        *(f"{place}/{name}" for place in ("results/.partial/runs",) for name in (done, "old-0123abcd")),
        *(f"scratch/resume/{name}{end}" for name in (done, "old-0123abcd") for end in (".pt", ".pt.partial")),
        *(f"scratch/programs/{name}" for name in (done, "old-0123abcd")),
    }


def test_of_a_link_the_link_goes_and_what_it_names_stays(home, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "manifest.json").write_text("{}")
    partial = home / "results" / ".partial" / "runs"
    links = [partial / "a-link-0123abcd", partial / "no-target-0123abcd"]
    for link, target in zip(links, (elsewhere, home / "nowhere"), strict=True):
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)
    old = home / "results" / "runs" / "old-pcov-100-s1-0123abcd"
    (old / "manifest.json").unlink()
    (old / "manifest.json").mkdir()
    prune(Path("results"), yes=True)
    assert listed(home) == set()
    assert [path.name for path in elsewhere.iterdir()] == ["manifest.json"]

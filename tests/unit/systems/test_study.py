"""Systems in a study: names, errors with lines, and a whole study of systems through the real plan and builders."""

import shutil
from pathlib import Path

import pytest
import yaml

from sumcurve.cli.make import make
from sumcurve.settings.study import REFERENCE_SYSTEMS
from sumcurve.store.stage import BuildError
from sumcurve.study.plan import Plan, PlanError

ROOT = Path(__file__).parents[3]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A place with this repository's configuration, and a function that writes its study `mine` with these systems."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    shutil.copy(ROOT / "recipes.yaml", tmp_path)
    shutil.copytree(ROOT / "tests" / "data", tmp_path / "tests" / "data")
    monkeypatch.chdir(tmp_path)
    smoke = yaml.safe_load((ROOT / "config" / "studies" / "smoke.yaml").read_text())

    def study(systems, **more):
        content = smoke | {
            "corpora": {"tales": smoke["corpora"]["tales"] | {"methods": None}},
            "methods": [],
            "scores": {"rouge": {}},
        }
        (tmp_path / "config" / "config.yaml").write_text("study: mine\n")
        path = tmp_path / "config" / "studies" / "mine.yaml"
        path.write_text(yaml.safe_dump(content | {"systems": systems} | more, sort_keys=False))
        return Plan.read(tmp_path / "config", "mine")

    return study


def outputs(plan):
    return {row.method: row.output for row in plan.rows}


def test_every_study_has_the_reference_systems_and_null_leaves_one_out(home):
    plain, more = home({}), home({"random": None, "ours": {"kind": "command", "summarize": "head -c 0"}})
    assert set(outputs(plain)) == set(REFERENCE_SYSTEMS)
    assert set(outputs(more)) == {*REFERENCE_SYSTEMS, "ours"} - {"random"}
    assert outputs(plain) == {"random": outputs(plain)["random"]} | {
        name: output for name, output in outputs(more).items() if name != "ours"
    }
    lower = home({"lexrank": {"threshold": 0.05}})
    assert {name for name in REFERENCE_SYSTEMS if outputs(plain)[name] != outputs(lower)[name]} == {"lexrank"}
    twice = home({"centres": {"kind": "lexrank", "variant": "degree", "title": "Sentences with most neighbours"}})
    assert twice.folder(outputs(twice)["centres"]).specification["told"]["variant"] == "degree"
    assert twice.system_titles["centres"] == "Sentences with most neighbours"


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        ({"pcov": {"kind": "lsa"}}, r"mine.yaml:\d+: systems.pcov: a method of this study has that name"),
        ({"ours": {"command": "true"}}, r"mine.yaml:\d+: systems.ours: no kind 'ours'; .*there are: lead, .*command"),
        ({"ours": {"kind": "file"}}, r"mine.yaml:\d+: systems.ours.path: Field required"),
        ({"lsa": {"shares": 1}}, r"mine.yaml:\d+: systems.lsa.shares: unknown key"),
        ({"ours": {"kind": "lsa", "corpora": ["x"]}}, r"mine.yaml:\d+: systems.ours: corpora: no corpus 'x'; .*tales"),
        ({"Ours": {"kind": "lsa"}}, r"mine.yaml:\d+: systems.Ours: a system's name holds small letters"),
        ({"ours": {"kind": "file", "path": "gone.txt"}}, r"systems.ours: gone.txt cannot be read"),
        ({"ours": {"kind": "command", "summarize": "echo '"}}, r"systems.ours: `echo '` is no shell line"),
    ],
)
def test_a_system_that_cannot_be_used_is_named_with_its_line(home, systems, message):
    with pytest.raises(PlanError, match=message):
        home(systems, methods=["pcov"])


def test_a_wrong_id_or_a_kill_leaves_nothing_finished(home):
    Path("s.jsonl").write_text('{"id": "nobody", "summary": "x"}\n')
    killed = {"kind": "command", "summarize": "head -n 3; kill -KILL $$"}
    plan = home({"ours": {"kind": "file", "path": "s.jsonl"}, "killed": killed})
    results = Path("results").absolute()
    make(results / plan.folder(outputs(plan)["lead"]).inputs[0])
    for name, message in (("ours", r"s.jsonl:1: id 'nobody' is of no test item"), ("killed", "was killed by signal 9")):
        with pytest.raises(BuildError, match=message):
            make(results / outputs(plan)[name])
        assert not (results / outputs(plan)[name]).exists()

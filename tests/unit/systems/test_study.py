"""Systems in a study: names, errors with lines, and a whole study of systems through the real plan and builders."""

import csv
import shutil
import sys
from pathlib import Path

import pytest
import yaml

from sumcurve.cli.make import make
from sumcurve.cli.tables import tables
from sumcurve.settings.study import REFERENCE_SYSTEMS
from sumcurve.store.stage import BuildError
from sumcurve.study.plan import Plan, PlanError

ROOT = Path(__file__).parents[3]
FIRST = "import json, sys\nfor line in sys.stdin: print(json.loads(line)['source'][0])\n"


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


def made(plan):
    """Make all folders of the plan in its order; gives where they lie."""
    results = Path("results").absolute()
    for folder in plan.folders.values():
        make(results / folder.key)
    return results


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
        ({"ours": {"command": "true"}}, r"mine.yaml:\d+: systems.ours: no kind 'ours'; there are: lead, .*command"),
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


def test_a_command_that_prints_the_first_sentence_is_lead_in_every_table(home):
    Path("first.py").write_text(FIRST)
    systems = {"first": {"kind": "command", "summarize": f"{sys.executable} first.py", "title": "The first sentence"}}
    plan = home(systems)
    results = made(plan)
    lead, first = (results / outputs(plan)[name] / "summaries.jsonl" for name in ("lead", "first"))
    assert first.read_bytes() == lead.read_bytes()
    tables(results / "tables" / "mine")
    with (results / "tables" / "mine" / "scores.csv").open(newline="") as stream:
        rows = {row["method"]: row for row in csv.DictReader(stream)}
    assert set(rows) == {*REFERENCE_SYSTEMS, "first"}
    assert rows["first"] | {"method": "lead", "role": "baseline"} == rows["lead"]
    assert {name: row["role"] for name, row in rows.items() if row["role"] != "baseline"} == {
        "first": "outside",
        "best-sentence": "bound",
    }
    assert all(row["records"] == "" for row in rows.values())
    assert "first: The first sentence" in (results / "tables" / "mine" / "scores.md").read_text()

    # A file of what it wrote is that system again; another program is another folder.
    shutil.copy(first, "first.jsonl")
    other = home(systems | {"copied": {"kind": "file", "path": "first.jsonl"}})
    made(other)
    assert (results / outputs(other)["copied"] / "summaries.jsonl").read_bytes() == lead.read_bytes()
    Path("first.py").write_text(FIRST + "# changed\n")
    assert outputs(home(systems))["first"] != outputs(plan)["first"]


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

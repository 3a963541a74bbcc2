"""A study whose systems people judged: names, errors, and the whole way from its outputs to its tables."""

import hashlib
import json
from pathlib import Path

import pandas as pd
import pytest
import yaml

from annotators import read_sheet, write_filled
from sumcurve.__main__ import parser
from sumcurve.capabilities.people.protocols import PeopleError
from sumcurve.capabilities.people.scorer import People
from sumcurve.capabilities.people.settings import PeopleSettings
from sumcurve.cli.tables import tables
from sumcurve.store import manifest
from sumcurve.store.manifest import sha256_file
from sumcurve.store.records import RecordError
from sumcurve.study.plan import Plan, PlanError
from workplace import ROOT, configured, corpus_of, make, make_all

SHEETS = Path("people") / "sheets"
JUDGED = ("lead", "random")


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A function that writes study `mine`, of systems that are not trained, with these scorers; gives its plan."""
    home = configured(tmp_path)
    data = home / "tests" / "data"
    data.parent.mkdir()
    data.symlink_to(ROOT / "tests" / "data")
    monkeypatch.chdir(home)
    smoke = yaml.safe_load((ROOT / "config" / "studies" / "smoke.yaml").read_text())

    def write(**scores):
        content = smoke | {"corpora": {"tales": smoke["corpora"]["tales"] | {"methods": None}}, "methods": []}
        content |= {"scores": {"rouge": {}, **scores}}
        (home / "config" / "config.yaml").write_text("study: mine\n")
        (home / "config" / "studies" / "mine.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
        return Plan.read(home / "config", "mine")

    return write


def people(*arguments):
    told = parser().parse_args(["people", *map(str, arguments)])
    told.run(told)


def outcome(text):
    """Some judgement, which is the text's own."""
    return ("no", "yes", "yes")[hashlib.sha256(text.encode()).digest()[0] % 3]


def judge(sheet):
    rows = read_sheet(sheet)
    for row in rows:
        row["fluent"] = outcome(row["summary"])
        row["related"] = "yes" if row["fluent"] == "yes" else ""
        row["faithful"] = outcome(row["source"] + row["summary"]) if row["fluent"] == "yes" else ""
    return write_filled(sheet.with_name(f"filled-{sheet.name}"), rows)


@pytest.mark.long
def test_from_outputs_over_sheets_to_tables(study, capsys):
    home = Path.cwd()
    plan = study()
    outputs = {row.method: row.output for row in plan.rows}
    make_all(home, plan, [outputs[name] for name in JUDGED])
    Path("people").mkdir()
    asked = [Path("results") / outputs[name] for name in JUDGED]
    people("sheet", *asked, "--to", SHEETS, "--items", 12, "--annotators", "a,b")
    filled = [judge(SHEETS / f"{name}-2.csv") for name in "ab"]
    capsys.readouterr()
    key = SHEETS.with_name("sheets.key.json")
    people("read", *filled, "--key", key, "--write", "people/answers.csv", "--json", "people/out.json")
    said = capsys.readouterr().out
    block = yaml.safe_load(said[said.index("scores:") :])["scores"]["people"]
    (sheet,) = block["sheets"]
    assert sheet["answers_sha256"] == sha256_file(Path("people/answers.csv"))

    judged = study(people=block)
    assert set(plan.folders) < set(judged.folders), "no folder has another name"
    more = {key: judged.folder(key) for key in set(judged.folders) - set(plan.folders)}
    assert {one.stem for one in more.values()} == {f"tales-{name}-people" for name in JUDGED}
    assert all({file.path for file in one.files} == {sheet["key"], sheet["answers"]} for one in more.values())

    make_all(home, judged, judged.folders)
    told = {one["name"]: one for one in json.loads(Path("people/out.json").read_text())["shares"]}
    for key, folder in more.items():
        scores = json.loads((home / "results" / key / "scores.json").read_text())
        name = folder.specification["output"].split("/")[1]
        assert scores["means"]["people_good"] == pytest.approx(told[name]["share"]["mean"])
        assert scores["items"] == 12
        assert scores["counts"]["references_good"] == pytest.approx(told["reference"]["share"]["mean"], abs=1e-3)
    tables(home / "results" / "tables" / "mine")
    made = home / "results" / "tables" / "mine"
    scored = pd.read_csv(made / "scores.csv").set_index("method")
    assert set(scored.index[scored.people_good.notna()]) == set(JUDGED)
    assert "references" in set(pd.read_csv(made / "descriptions.csv").method)

    # Other answers are other scores, by name; the same ones under another path are not.
    Path("people/again.csv").write_bytes(Path("people/answers.csv").read_bytes())
    moved = study(people={"sheets": [sheet | {"answers": "people/again.csv"}]})
    assert set(moved.folders) == set(judged.folders)
    other = study(people={"sheets": [sheet | {"answers_sha256": "ab" * 32}]})
    assert {one.split("/")[0] for one in set(other.folders) - set(judged.folders)} == {"scores"}
    with pytest.raises(Exception, match=r"people/answers\.csv has sha256"):
        make(home / "results" / next(iter(set(other.folders) - set(judged.folders))))

    # Summaries that people did not see are not scored by what they said.
    scorer = People(PeopleSettings(sheets=(sheet,)))
    records = list(corpus_of(home, judged).part("test"))
    changed = home / "elsewhere" / asked[0].name
    changed.mkdir(parents=True)
    rows = [{"id": record.id, "summary": ["something else"]} for record in records]
    (changed / "summaries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    inputs = {Path(sheet["key"]): "key", Path(sheet["answers"]): "answers"}
    with pytest.raises(RecordError, match="not the one that people judged"):
        scorer.score(changed, records, inputs)
    with pytest.raises(RecordError, match="does not have"):
        scorer.score(home / "elsewhere", records, inputs)


def test_a_sheet_of_outputs_that_the_study_does_not_have_is_named(study):
    outputs = {row.method: row.output.split("/")[1] for row in study().rows}
    sheet = {"key": "k.json", "key_sha256": "ab" * 32, "answers": "a.csv", "answers_sha256": "cd" * 32}
    with pytest.raises(PlanError, match=r"people judged tales-lead-00000000, which this study does not have"):
        study(people={"sheets": [sheet | {"outputs": ["tales-lead-00000000"]}]})
    with pytest.raises(PlanError, match="two of `sheets`"):
        study(people={"sheets": [sheet | {"outputs": [outputs["lead"]]}] * 2})
    with pytest.raises(PlanError, match="answers_sha256"):
        study(people={"sheets": [sheet | {"outputs": [outputs["lead"]], "answers_sha256": "short"}]})
    with pytest.raises(PlanError, match=r"mine.yaml:\d+: scores.people: nothing of this study is scored by people"):
        study(people={})


def test_outputs_of_two_corpora_make_no_sheet(study, tmp_path):
    folders = []
    for name in ("one", "two"):
        folder = tmp_path / "results" / "outputs" / f"{name}-x-00000000"
        with manifest.building(folder, {"corpus": f"corpora/{name}"}, {}) as stage:
            (stage / "summaries.jsonl").write_text("")
        folders.append(folder)
    with pytest.raises(PeopleError, match="several corpora"):
        people("sheet", *folders, "--to", tmp_path / "sheets", "--items", 2)

"""A whole study, tiny: what it leaves behind, and what it says when something is wrong."""

import csv
import json
import random
import re

import pytest

from sumcurve.store import manifest
from sumcurve.study.plan import Plan
from sumcurve.study.written import WrittenPlan
from traced import trace_drawn_cells

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def plan(finished):
    return Plan.read(finished.path / "config", "smoke")


@pytest.fixture(scope="module")
def tables(finished):
    return finished.path / "results" / "tables" / "smoke"


def rows(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_every_output_is_a_row_and_systems_that_are_not_trained_have_no_percent(tables, plan):
    found = rows(tables / "seeds.csv")
    assert sorted(row["run"] for row in found) == sorted(row.table_name for row in plan.rows)
    fixed = {row.method for row in plan.rows if row.role != "trained"}
    assert fixed >= {"lead", "random", "best-sentence", "sumbasic", "lexrank", "lsa"}
    for row in found:
        assert (row["percent"] == "") == (row["method"] in fixed)
        assert 0 <= float(row["rouge2"]) <= float(row["rouge1"]) <= 100


def by_budget(ended):
    """Phase and update of an end by the budget, whether NLL still fell there or not."""
    assert ended["reason"] in ("most_updates", "most_updates with nll still falling")
    return ended["phase"], ended["update"]


def test_every_last_of_several_phases_spent_its_budget_and_is_what_was_selected(finished, plan):
    for folder in plan.named("runs"):
        training = json.loads((finished.path / "results" / folder.key / "training.json").read_text())
        phases = folder.specification["training"]["phases"]
        if len(phases) == 1:
            continue
        stop = phases[-1]["stop"]
        assert training["selected"]["phase"] == phases[-1]["name"] == training["ended"][-1]["phase"]
        left = phases[-1]["loss"] in ("mixed", "actor-critic") and not training["selected"]["update"]
        assert left or training["selected"]["update"] >= stop["least_updates"]
        assert by_budget(training["ended"][-1]) == (phases[-1]["name"], stop["most_updates"])
        assert training["updates"] == training["before"]["updates"] + training["selected"]["update"]


def test_a_control_starts_where_the_last_phase_did_and_differs_by_it(finished, plan):
    results = finished.path / "results"
    controls = [row for row in plan.rows if row.part == "control"]
    methods = {(row.corpus, row.method) for row in plan.rows if row.percent is not None}
    assert {(row.corpus, row.method) for row in controls} == methods
    for row in controls:
        parent = results / plan.folder(row.run).specification["parent"]
        told, own = (json.loads((run / "training.json").read_text()) for run in (parent, results / row.run))
        assert own["before"] == told["before"]
        assert (results / row.run / "before.safetensors").read_bytes() == (parent / "before.safetensors").read_bytes()
        (ended,) = own["ended"]
        assert by_budget(ended) == ("control", told["ended"][-1]["update"])
        weights = {(run / "weights.safetensors").read_bytes() for run in (parent, results / row.run)}
        assert len(weights) == 2
        if row.method == "fastrl":
            continue  # its last phase alone learns when to stop, so that its validation reads other summaries
        start, after = (
            [one for one in rows(run / "history.csv") if one["update"] == "0"] for run in (results / row.run, parent)
        )
        assert (start[-1]["nll"], start[-1]["rouge1"]) == (after[-1]["nll"], after[-1]["rouge1"])


def test_a_run_trained_on_the_first_records_with_words_of_these_alone(finished, plan):
    for folder in plan.named("runs"):
        results = finished.path / "results"
        fraction, corpus = folder.specification["fraction"], folder.inputs[0]
        size = json.loads((results / folder.key / "training.json").read_text())["records"]
        lines = (results / corpus / "train.jsonl").read_text().splitlines()[:size]
        seen = {
            word
            for line in lines
            for part in ("source", "target")
            for s in json.loads(line)[part]
            for word in s.split()
        }
        assert size == json.loads((results / fraction / "statistics.json").read_text())["records"]
        assert set(json.loads((results / folder.key / "vocabulary.json").read_text())["words"]) <= seen


def test_the_report_is_one_page_that_asks_nothing_of_the_network(tables):
    page = (tables / "report.html").read_text()
    loaded = re.findall(r"""<(?:script|link|img)[^>]*(?:src|href)=["'](https?://[^"']*)""", page)
    assert loaded == []
    for name in ("answers", "comparisons", "extracts", "curves"):
        assert name in page


def test_no_secret_is_in_anything_that_a_study_writes(finished):
    """Neither tokens of the environment nor those in the address of a git remote."""
    secret = finished.environment["HF_TOKEN"]
    assert secret in (finished.path / ".git" / "config").read_text()
    places = [finished.path / name for name in ("results", "logs", "scratch", ".snakemake")]
    files = [path for place in places for path in place.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} >= {".json", ".log", ".html", ".csv"}
    assert [path for path in files if secret.encode() in path.read_bytes()] == []


def test_a_study_leaves_resume_states_behind_for_no_finished_run(finished):
    assert list((finished.path / "scratch" / "resume").glob("*.pt")) == []


def test_trace_walks_a_number_back_and_sees_a_changed_file(finished, plan, tables):
    row = next(row for row in rows(tables / "seeds.csv") if row["method"] == "pcov" and row["part"] == "study")
    cell = f"seeds:run={row['run']}:rouge1"
    said = finished.verb("trace", cell, "--study", "smoke").stdout
    assert said.count(": yes") >= 10
    assert plan.folder(f"runs/{row['run']}").specification["fraction"] in said
    weights = finished.path / "results" / "runs" / row["run"] / "weights.safetensors"
    original = weights.read_bytes()
    try:
        weights.write_bytes(original[:-1] + bytes([original[-1] ^ 1]))
        done = finished.verb("trace", cell, "--study", "smoke", check=False)
        assert done.returncode != 0
        assert "weights.safetensors is not what its manifest records" in done.stdout
    finally:
        weights.write_bytes(original)


def test_trace_sees_a_changed_table_even_where_its_manifest_was_changed_with_it(finished, plan, tables):
    """What the folders give decides: a manifest that was sealed anew is believed as little as the table."""
    path, seal = tables / "scores.csv", tables / f"manifest-{plan.tables}.json"
    original, sealed = path.read_text(), seal.read_text()
    rows_of = rows(path)
    number = next(place for place, row in enumerate(rows_of, start=1) if row["method"] == "pcov")
    asked = ("python", "-m", "sumcurve", "trace", f"scores:{number}:rouge1", "--study", "smoke")
    told = rows_of[number - 1]["rouge1"]
    try:
        path.write_text(original.replace(told, f"{float(told) + 1:.4f}"))
        done = finished.run(*asked, check=False)
        assert done.returncode != 0
        assert "scores.csv is not what its manifest records" in done.stdout
        content = {key: value for key, value in json.loads(sealed).items() if key != "seal"}
        content["files"]["scores.csv"] = manifest.sha256_file(path)
        manifest.write_sealed(seal, content)
        done = finished.run(*asked, check=False)
        assert done.returncode != 0
        assert f"but what is here gives {told}" in done.stdout
    finally:
        path.write_text(original)
        seal.write_text(sealed)


def test_a_drawn_cell_of_every_table_leads_to_the_folders_of_its_row_and_to_the_raw_corpus(
    finished, plan, tables, monkeypatch, capsys
):
    monkeypatch.chdir(finished.path)
    names = trace_drawn_cells(plan, tables, random.Random(16), capsys)
    assert {"answers", "comparisons", "efficiency", "extracts", "phases", "scores", "seeds"} <= names


@pytest.mark.parametrize(
    ("content", "message"), [(None, "is missing"), (b'{"id": "1", "source": "a b", "target": "a"}\n' * 3, "sha256")]
)
def test_a_users_corpus_that_cannot_be_used_stops_with_its_name(finished, plan, content, message):
    """On the command line, as the workflow calls it: one line, no traceback, nothing taken for finished."""
    raw = finished.path / "tests" / "data" / "tales.jsonl"
    original = raw.read_bytes()
    (folder,) = (f for f in plan.named("corpora", "corpus") if f.name.startswith("tales-"))
    place = finished.path / "elsewhere" / "results" / folder.key
    WrittenPlan.of(plan).write(finished.path / "elsewhere")
    try:
        if content is None:
            raw.unlink()
        else:
            raw.write_bytes(content)
        done = finished.run("python", "-m", "sumcurve", "make", str(place.relative_to(finished.path)), check=False)
        assert done.returncode != 0
        assert "tales.jsonl" in done.stdout
        assert message in done.stdout
        assert "Traceback" not in done.stdout
        assert not (place / "manifest.json").exists()
    finally:
        raw.write_bytes(original)

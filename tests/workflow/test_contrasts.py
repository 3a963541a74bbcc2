"""A study with contrasts through Snakemake: every kind of system that it trains."""

import csv
import json

import pytest
import yaml

import programs
from sumcurve.capabilities.contrasts.judged import digest, margins, read_judged
from sumcurve.capabilities.contrasts.sets import read
from sumcurve.study.plan import Plan

pytestmark = pytest.mark.slow

METHODS = ["pcov", "fastrl", "ent", "ent_loss"]


def write_study(checkout):
    """The smoke study's corpora, small, with contrasts of both; and a program that gives log-probabilities."""
    study = yaml.safe_load((checkout.path / "config" / "studies" / "smoke.yaml").read_text())
    for corpus in study["corpora"].values():
        corpus |= {"contrasts": {"golds": 6, "each": 10}, "oracle": None, "percents": [100]}
    study["corpora"]["tales"]["methods"] = [method for method in METHODS if method != "fastrl"]  # they are titles
    none = dict.fromkeys(("random", "best-sentence", "sumbasic", "lexrank", "lsa"))
    nearest = {"nearest": programs.systems()["nearest"] | {"corpora": ["tales"]}}
    scores = {"rouge": {}, "reading": {}, "reading_rouge": {}, "dodged": {}, "escaped": {}}
    study |= {"methods": METHODS, "systems": nearest | none, "scores": scores, "labels": {"methods": ["pcov"]}}
    path = checkout.path / "config" / "studies" / "contrasts.yaml"
    path.write_text(yaml.safe_dump(study))


@pytest.fixture(scope="module")
def run(checkout_of_tree):
    checkout = checkout_of_tree("contrasts")
    programs.write(checkout.path)
    write_study(checkout)
    checkout.study("contrasts")
    checkout.commit("a study of contrasts")
    checkout.run("snakemake", "--cores", "1", "--quiet", "rules")
    return checkout


def rows(checkout, name):
    with (checkout.path / "results" / "tables" / "contrasts" / f"{name}.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_every_trained_system_has_both_figures(run):
    plan = Plan.read(run.path / "config", "contrasts")
    asked = {(row.corpus, row.method) for row in plan.rows if row.part == "study" and row.run}
    assert {method for _, method in asked} == {*METHODS, "nearest"}
    found = {(row["corpus"], row["method"]): row for row in rows(run, "contrasts") if row["records"]}
    assert set(found) == asked
    for row in found.values():
        assert 0 <= float(row["escaped"]) <= float(row["dodged"]) <= 100
    same = [found["tales", method] for method in ("ent", "ent_loss")]
    assert same[0]["dodged"] == same[1]["dodged"]
    assert {row["method"] for row in rows(run, "labels")} == {"pcov"}


def test_scores_and_tables_are_those_of_what_was_judged(run, monkeypatch):
    monkeypatch.chdir(run.path)  # where the program's files are
    plan, results = Plan.read(run.path / "config", "contrasts"), run.path / "results"
    for corpus in ("tales", "modules"):
        judges = [
            one for one in plan.named("outputs", "judge") if plan.corpus_name(one.specification["corpus"]) == corpus
        ]
        (annotation,) = {one.specification["contrasts"] for one in judges}
        of = digest(list(read(results / annotation)))
        judged = {
            key: read_judged(results / one.key / f"{key.split('/')[1]}.safetensors", of)
            for one in judges
            for key in one.specification["runs"]
        }
        common = [all(told) for told in zip(*(one.visible[one.contrast] for one in judged.values()), strict=True)]
        table = {row["method"]: row for row in rows(run, "contrasts") if row["corpus"] == corpus}
        for row in plan.rows:
            if row.corpus == corpus and row.judged and row.search in ("common", "own"):
                found = margins(judged[row.run].own, judged[row.run]) > 0
                dodged = 100 * float(found[common].mean())
                assert float(table[row.method]["dodged"]) == pytest.approx(dodged, abs=1e-3)
                scored = json.loads((results / row.scores["dodged"] / "scores.json").read_text())
                assert str(sum(common)) in scored["signature"]

"""The study `salience`, tiny, through Snakemake: Eyal et al.'s systems, whose salient entities are answers."""

import csv

import pytest
import yaml

from sumcurve.study.plan import Plan

pytestmark = pytest.mark.slow

METHODS = ("ent_base", "ent_loss", "ent_penalty", "ent", "ent_gold")
READER = {
    "kind": "attentive",
    "embedding": 16,
    "hidden": 16,
    "stop": {"every_updates": 20, "every_epochs": 0.1, "patience": 1, "max_updates": 40},
}


def tiny(checkout):
    """The study in smoke form on the smoke study's composed corpus, with what `salience` says of its own."""
    config = checkout / "config" / "studies"
    smoke = yaml.safe_load((config / "smoke.yaml").read_text())["corpora"]["modules"]
    own = yaml.safe_load((config / "salience.yaml").read_text())
    told = {key: own["corpora"]["modules"][key] for key in ("percents", "cloze", "salient")}
    few = {"split": {"valid": 40, "test": 40}, "oracle": None}
    return {
        "extends": "salience",
        "title": "Salience, tiny",
        "form": "smoke",
        "seeds": [1],
        "phases": None,
        "corpora": {"modules": None, "networks": {**smoke, **told, **few}},
        "systems": {
            **{name: {"corpora": ["networks"]} for name in own["systems"]},
            **dict.fromkeys(("random", "best-sentence", "sumbasic", "lexrank", "lsa", "extractive-optimum")),
        },
        "scores": {
            **dict.fromkeys(("chrf", "extractiveness", "frames", "reading", "reading_rouge", "dodged", "escaped")),
            "apes": {"seeds": [1, 2], "reader": READER},
        },
        "bootstrap": {"resamples": 200},
    }


def rows_of(tables, name):
    with (tables / f"{name}.csv").open() as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def run(checkout_of_tree):
    checkout = checkout_of_tree("salience")
    (checkout.path / "config" / "studies" / "tiny.yaml").write_text(yaml.safe_dump(tiny(checkout.path)))
    checkout.study("tiny")
    checkout.commit("a tiny study of salience")
    checkout.run("snakemake", "--cores", "1", "--quiet", "rules")
    return checkout


def test_salience_is_that_of_the_questions(run):
    plan = Plan.read(run.path / "config", "tiny")
    (questions,) = (one.key for one in plan.named("annotations", "questions"))
    for one in plan.named("runs", "train"):
        assert one.specification.get("entities") in (None, questions)
    learned = {one.specification["method"] for one in plan.named("runs", "train") if "entities" in one.specification}
    assert learned == {"ent_loss", "ent_penalty"}  # ENT's weights are those of ENT-loss


def test_every_system_of_the_paper_has_its_row_and_the_last_is_called_a_bound(run):
    tables = run.path / "results" / "tables" / "tiny"
    apes = {row["method"] for row in rows_of(tables, "apes")}
    assert {*METHODS, "lead", "source", "gold", "shuffled-gold"} <= apes
    (bound,) = (row["method"] for row in rows_of(tables, "apes") if "bound" in row["method"])
    assert bound == "ent_gold, paper's search (a bound)"
    paper = [row["method"] for row in rows_of(tables, "apes") if "paper's search" in row["method"]]
    assert paper[-1] == bound
    assert {name.split(",")[0] for name in paper} == set(METHODS)


def test_where_attention_looks_adds_up(run):
    rows = rows_of(run.path / "results" / "tables" / "tiny", "entity_attention")
    by_method = {}
    for row in rows:
        by_method.setdefault(row["method"], []).append(row)
    assert set(by_method) == {"ent_loss", "ent_penalty", "ent"}
    for fifths in by_method.values():
        assert len(fifths) == 5
        for kind in ("attention", "salient"):
            assert sum(float(row[kind]) for row in fifths) == pytest.approx(100, abs=0.01)

"""A study with questions, a trained reader and APES through Snakemake: names, one process, tables."""

import csv
import hashlib
import json
import random
import re

import pytest
import yaml

from sumcurve.study.plan import Plan
from towns import write_raw
from traced import trace_drawn_cells

pytestmark = pytest.mark.slow

READER = {
    "kind": "attentive",
    "embedding": 16,
    "hidden": 16,
    "optimizer": {"name": "adam", "rate": 0.005, "clip_norm": 10.0},
    "stop": {"every_updates": 20, "every_epochs": 0.1, "patience": 1, "max_updates": 40},
}


def study(sha256):
    towns = {
        "raw": {"path": "towns.jsonl", "sha256": sha256},
        "split": {"valid": 12, "test": 40},
        "percents": [100],
        "source_tokens": 60,
        "target_tokens": 40,
        "search": {"beam": 2, "max_tokens": 40},
        "lead_sentences": 3,
        "cloze": {},
    }
    return {
        "title": "Who did what in a town",
        "corpora": {"towns": towns},
        "methods": [],
        "seeds": [1],
        "systems": {
            **{name: {} for name in ("source", "gold", "shuffled-gold", "extractive-optimum")},
            **dict.fromkeys(("random", "best-sentence", "sumbasic", "lexrank", "lsa")),
        },
        "scores": {"rouge": {}, "apes": {"seeds": [1, 2], "reader": READER}},
        "bootstrap": {"resamples": 200},
    }


@pytest.fixture(scope="module")
def run(checkout_of_tree):
    checkout = checkout_of_tree("apes")
    write_raw(checkout.path / "towns.jsonl", 120)
    sha256 = hashlib.sha256((checkout.path / "towns.jsonl").read_bytes()).hexdigest()
    (checkout.path / "config" / "studies" / "towns.yaml").write_text(yaml.safe_dump(study(sha256)))
    checkout.study("towns")
    checkout.commit("a study of towns")
    done = checkout.run("snakemake", "--cores", "1", "--quiet", "rules")
    return checkout, done.stdout


def test_one_process_scores_all_outputs_and_names_one_set_of_readers(run):
    checkout, said = run
    plan = Plan.read(checkout.path / "config", "towns")
    folders = [one for one in plan.named("scores") if one.specification["scorer"] == "apes"]
    assert plan.together["towns", "scorer", "apes"] == [one.key for one in folders]
    assert len(folders) == 5
    assert len({json.dumps(one.specification["inputs"], sort_keys=True) for one in folders}) == 1
    readers = {one.key for one in plan.named("runs", "reader")}
    assert len(readers) == 2
    assert readers <= set(folders[0].specification["inputs"])
    for one in plan.named("scores"):
        log = (checkout.path / "logs" / "scores" / f"{one.name}.log").read_text()
        assert log.endswith(f"{one.name} is finished\n")  # and nothing of any other
        assert log.count(" is finished") == 1
    jobs = dict(re.findall(r"^(score\w*) +(\d+)$", said, flags=re.M))
    assert jobs == {"score_corpus": "1", "score": str(len(plan.together) - 1)}


def test_tables_have_apes(run):
    checkout, _ = run
    tables = checkout.path / "results" / "tables" / "towns"
    with (tables / "apes.csv").open() as stream:
        rows = {row["method"]: row for row in csv.DictReader(stream)}
    assert set(rows) == {"lead", "source", "gold", "shuffled-gold", "extractive-optimum"}
    assert rows["gold"]["entities"] == rows["shuffled-gold"]["entities"] == rows["gold"]["salient"]
    assert float(rows["gold"]["rouge1"]) == float(rows["shuffled-gold"]["rouge1"]) == 100
    with (tables / "scores.csv").open() as stream:
        (gold,) = (row for row in csv.DictReader(stream) if row["method"] == "gold")
    assert float(gold["apes"]) == pytest.approx(float(rows["gold"]["apes"]), abs=1e-3)
    by_reader = [float(rows["gold"][f"reader_{seed}"]) for seed in (1, 2)]
    assert sum(by_reader) / 2 == pytest.approx(float(rows["gold"]["apes"]), abs=1e-3)
    with (tables / "readers.csv").open() as stream:
        known = {(row["part"], row["seed"]) for row in csv.DictReader(stream)}
    assert known == {("train", ""), ("valid", ""), ("test", ""), ("", "1"), ("", "2")}


def test_cells_of_its_tables_have_their_way_back(run, monkeypatch, capsys):
    checkout, _ = run
    monkeypatch.chdir(checkout.path)
    plan = Plan.read(checkout.path / "config", "towns")
    names = trace_drawn_cells(plan, checkout.path / "results" / "tables" / "towns", random.Random(16), capsys)
    assert {"apes", "readers"} <= names

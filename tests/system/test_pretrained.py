"""A pretrained model through every step of a study, to its tables: fine-tuned at two sizes, and before any training."""

import json
from pathlib import Path

import pytest
import yaml

from pretrained import make_folder
from sumcurve.corpora.tokens import tokenize
from sumcurve.fetch.hub import sha256_of_model
from sumcurve.settings.study import Bootstrap
from sumcurve.store import manifest
from sumcurve.study.collect import collect
from sumcurve.study.plan import Plan
from sumcurve.tables import scores as scores_table
from sumcurve.tables.results import Results
from workplace import build, configured

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
RAW = ROOT / "tests" / "data" / "tales.jsonl"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, Path, list[str]]:
    """The plan of a study of one method and one corpus, its results, and what was said."""
    home = tmp_path_factory.mktemp("study")
    config, said = configured(home) / "config", list[str]()
    rows = [json.loads(line) for line in RAW.read_text().splitlines()]
    texts = [sentence for row in rows[:200] for sentence in (*row["source"], *row["target"])]
    model = make_folder(home / "models" / "mine", "bart", texts)
    told = {"kind": "transformers", "path": str(model), "sha256": sha256_of_model(model), "zero_shot": True}
    phase = {"loss": "nll", "stop": {"every_updates": 20, "max_updates": 40}}
    method = {"title": "BART", "paper": "Random.", "model": told, "phases": {"nll": phase}, "forms": {"smoke": None}}
    (config / "methods" / "mine.yaml").write_text(yaml.safe_dump(method))
    study = yaml.safe_load((config / "studies" / "smoke.yaml").read_text())
    tales = study["corpora"]["tales"] | {"search": {"beam": 2, "min_tokens": 2, "max_tokens": 8}, "methods": None}
    tales["raw"]["path"] = str(RAW)
    study |= {
        "corpora": {"tales": tales},
        "methods": ["mine"],
        "systems": dict.fromkeys(("lsa", "lexrank", "sumbasic")),
    }
    study |= {"scores": {"rouge": {}, "reading": {}, "reading_rouge": {}}}
    (config / "studies" / "tiny.yaml").write_text(yaml.safe_dump(study))
    plan = Plan.read(config, "tiny")
    for key in plan.folders:  # inputs come first
        build(plan, key, home, said.append)
    return plan, home / "results", said


def test_what_is_written_is_kept_as_text_and_scored_in_the_corpus_s_words(finished) -> None:
    plan, results, _ = finished
    outputs = [folder for folder in plan.folders.values() if folder.kind in ("decode", "untrained")]
    assert len(outputs) == 3
    for folder in outputs:
        texts, summaries = (
            [json.loads(line) for line in (results / folder.key / name).read_text().splitlines()]
            for name in ("summaries.text.jsonl", "summaries.jsonl")
        )
        assert [row["id"] for row in texts] == [row["id"] for row in summaries]
        for text, summary in zip(texts, summaries, strict=True):
            words = " ".join(summary["summary"]).split()
            assert words == tokenize(text["summary"], lower=True)[: len(words)]
            assert len(words) <= 8
    assert len({(results / folder.key / "summaries.jsonl").read_text() for folder in outputs}) > 1


def test_a_run_holds_what_training_changed_and_says_what_the_model_could_not_read(finished) -> None:
    plan, results, said = finished
    runs = [folder for folder in plan.folders.values() if folder.kind == "train"]
    assert len(runs) == 2
    for folder in runs:
        run = results / folder.key
        assert {"weights.safetensors", "history.csv", "training.json"} <= {path.name for path in run.iterdir()}
        facts = manifest.read(run)["facts"]
        assert facts["truncated_sources"] > 0
    assert any("sources are longer than the model's 64 positions" in line for line in said)


def test_tables_have_the_method_at_every_size_and_at_0_records(finished) -> None:
    plan, results, _ = finished
    found = Results(collect(plan, results), Bootstrap(resamples=50))
    rows = {(row["method"], row["records"]): row for row in scores_table.table(found).rows}
    sizes = found.sizes("tales")
    assert len(sizes) == 2
    assert {records for method, records in rows if method == "mine"} == set(sizes)
    assert rows["mine-zero-shot", 0]["percent"] == 0
    assert rows["mine-zero-shot", 0]["role"] == "outside"
    for size in sizes:
        assert "gap" in rows["mine", size]
    assert "gap" not in rows["mine-zero-shot", 0]
    assert "BART before any training" in " ".join(scores_table.table(found).notes)

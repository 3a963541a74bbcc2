"""Scorers of further metrics: words against what can be counted by hand, and a study that names a model's folder."""

import json
from pathlib import Path

import pytest
import yaml

import pretrained
from sumcurve.capabilities.metrics.translation_metrics import TranslationMetrics
from sumcurve.cli.make import make
from sumcurve.store.errors import CorpusError
from sumcurve.store.manifest import sha256_files
from sumcurve.store.records import Record
from sumcurve.study.plan import Plan, PlanError
from workplace import ROOT, configured, make_all


def written(folder: Path, rows: dict[str, list[str]]) -> Path:
    (folder / "summaries.jsonl").write_text(
        "".join(json.dumps({"id": key, "summary": row}) + "\n" for key, row in rows.items())
    )
    return folder


def test_bleu_ter_and_meteor_of_texts_that_can_be_counted(tmp_path) -> None:
    records = [
        Record("same", ["x"], ["The otter swims in a pond"]),
        Record("other", ["x"], ["the otter swims"], [["herons wait"]]),
        Record("stems", ["x"], ["otters swim"]),
        Record("none", ["x"], ["the otter"]),
    ]
    output = written(
        tmp_path,
        {
            "same": ["the otter swims in", "a pond"],
            "other": ["herons wait there"],
            "stems": ["otter swims"],
            "none": [],
        },
    )
    scores = TranslationMetrics(TranslationMetrics.Settings()).score(output, records, {})
    assert scores.values["bleu"] == pytest.approx([100, scores.values["bleu"][1], scores.values["bleu"][2], 0])
    assert scores.values["bleu"][1] > scores.values["bleu"][2]
    # One edit; over the mean length of both references, as sacreBLEU has it. Two of two words; all of two words.
    assert scores.values["ter"] == pytest.approx([0, 100 * 1 / 2.5, 100, 100])
    # All words match by stems in one chunk: 1 - 0.5 (1 / words)^3.
    assert scores.values["meteor"] == pytest.approx(
        [100 * (1 - 0.5 / 6**3), scores.values["meteor"][1], 100 * (1 - 0.5 / 2**3), 0]
    )
    # Precision 2/3, recall 2/2: F = 10 P R / (R + 9 P), as published, less the penalty of one chunk of two words.
    precision, recall = 2 / 3, 1.0
    mean = precision * recall / (0.9 * precision + 0.1 * recall)
    assert scores.values["meteor"][1] == pytest.approx(100 * mean * (1 - 0.5 * (1 / 2) ** 3))
    assert scores.counts == {"empty": 1}


@pytest.mark.long
def test_a_study_that_names_a_folder_has_its_hash_in_name_and_signature(tmp_path, monkeypatch) -> None:
    home = configured(tmp_path)
    (home / "tests").mkdir()
    (home / "tests" / "data").symlink_to(ROOT / "tests" / "data")
    monkeypatch.chdir(home)
    folder = pretrained.make_folder(home / "scorer", "bart", ["the otter swims in a pond"], spread=0.5)
    sha256 = sha256_files(folder, sorted(path.name for path in folder.iterdir()))
    smoke = yaml.safe_load((ROOT / "config" / "studies" / "smoke.yaml").read_text())

    def plan(**changes: str) -> Plan:
        model = {"path": "scorer", "sha256": sha256} | changes
        content = smoke | {"corpora": {"tales": smoke["corpora"]["tales"] | {"methods": None}}, "methods": []}
        content |= {"scores": {"rouge": {}, "bartscore": model, "translation": {}}}
        (home / "config" / "studies" / "mine.yaml").write_text(yaml.safe_dump(content))
        return Plan.read(home / "config", "mine")

    lead = next(row for row in plan().rows if row.method == "lead")
    moved = next(row for row in plan(path="elsewhere").rows if row.method == "lead")
    other = next(row for row in plan(sha256="ab" * 32).rows if row.method == "lead")
    assert lead.scores == moved.scores
    assert lead.scores["bartscore"] != other.scores["bartscore"]
    make_all(home, plan(), [lead.output])
    for key in lead.scores.values():
        make(home / "results" / key)
    said = json.loads((home / "results" / lead.scores["bartscore"] / "scores.json").read_text())
    assert f"|model:{sha256[:12]}|" in said["signature"]
    assert said["means"]["bartscore_source"] < 0
    plan(sha256="ab" * 32)
    with pytest.raises(CorpusError, match=r"scorer has sha256 [0-9a-f]{64}, but study mine pins"):
        make(home / "results" / other.scores["bartscore"])
    with pytest.raises(PlanError, match="say where the model's folder"):
        plan(path="")

"""A study that names the folder of BERTScore's model."""

import json
import shutil
from statistics import mean

import pytest
import yaml

from sumcurve.capabilities.metrics.bert_score import BertScore
from sumcurve.store.errors import CorpusError
from sumcurve.store.manifest import sha256_files
from sumcurve.store.records import read_jsonl
from sumcurve.study.plan import Plan
from workplace import ROOT, configured, make, make_all


@pytest.mark.long
def test_a_study_that_names_a_folder_has_its_hash_in_name_and_signature(encoder, tmp_path, monkeypatch) -> None:
    home = configured(tmp_path)
    (home / "tests").mkdir()
    (home / "tests" / "data").symlink_to(ROOT / "tests" / "data")
    monkeypatch.chdir(home)
    folder = shutil.copytree(encoder, home / "scorer")
    sha256 = sha256_files(folder, sorted(path.name for path in folder.iterdir()))
    smoke = yaml.safe_load((ROOT / "config" / "studies" / "smoke.yaml").read_text())

    def plan(**changes: str) -> Plan:
        model = {"path": "scorer", "sha256": sha256, "layer": 1} | changes
        content = smoke | {"corpora": {"tales": smoke["corpora"]["tales"] | {"methods": None}}, "methods": []}
        content |= {"scores": {"rouge": {}, "bertscore": model}}
        (home / "config" / "studies" / "mine.yaml").write_text(yaml.safe_dump(content))
        return Plan.read(home / "config", "mine")

    lead = next(row for row in plan().rows if row.method == "lead")
    moved = next(row for row in plan(path="elsewhere").rows if row.method == "lead")
    other = next(row for row in plan(sha256="ab" * 32).rows if row.method == "lead")
    assert lead.scores == moved.scores
    assert lead.scores["bertscore"] != other.scores["bertscore"]
    make_all(home, plan(), [lead.output])
    for key in lead.scores.values():
        make(home / "results" / key)
    said = json.loads((home / "results" / lead.scores["bertscore"] / "scores.json").read_text())
    assert f"|model:{sha256[:12]}|" in said["signature"]
    summaries = read_jsonl(home / "results" / lead.output / "summaries.jsonl")
    texts = {row["id"]: " ".join(row["summary"]) for row in summaries}
    (corpus,) = home.glob("results/corpora/*/test.jsonl")
    records = {row["id"]: row for row in read_jsonl(corpus)}
    references = [[" ".join(records[name]["target"])] for name in texts]
    expected = BertScore(encoder, 1).scores([*texts.values()], references)
    assert said["means"]["bertscore"] == pytest.approx(100 * mean(f1 for _, _, f1 in expected), abs=1e-3)
    assert said["means"]["bertscore_recall"] == pytest.approx(100 * mean(recall for _, recall, _ in expected), abs=1e-3)
    plan(sha256="ab" * 32)
    with pytest.raises(CorpusError, match=r"scorer has sha256 [0-9a-f]{64}, but study mine pins"):
        make(home / "results" / other.scores["bertscore"])

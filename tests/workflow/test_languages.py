"""Corpora in other scripts, from `sumcurve add` to the report."""

import re
import sys
from pathlib import Path

import pytest
import yaml

from languages import write, write_lcsts
from sumcurve.__main__ import main
from sumcurve.corpora.store import Corpus
from sumcurve.study.plan import Plan
from workplace import configured, tables_of

pytestmark = pytest.mark.slow


def report(home, monkeypatch, corpus, *flags):
    """The study that `add` writes, of one method and two seeds, made to its tables: plan, tables, and the report."""
    configured(home, "smoke")
    monkeypatch.chdir(home)
    monkeypatch.setattr(
        sys, "argv", ["sumcurve", "add", corpus.name, "--name", "added", "--form", "smoke", "--models", "trans", *flags]
    )
    main()
    path = Path("config/studies/added.yaml")
    study = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump({**study, "seeds": [1, 2]}, allow_unicode=True, sort_keys=False))
    plan = Plan.read(Path("config"), "added")
    tables = tables_of(home, plan)
    (folder,) = plan.named("corpora", "corpus")
    text = (home / "results/tables/added/pages/README.md").read_text()
    return plan, Corpus(home / "results" / folder.key), tables, text


@pytest.mark.parametrize(
    ("code", "mode", "token"),
    [("hi", "unicode", r"[^\W\d]\S+"), ("zh", "characters", r"\S"), ("lcsts", "characters", r"\S")],
)
def test_a_corpus_in_another_script_runs_from_add_to_the_report(tmp_path, monkeypatch, code, mode, token):
    if code == "lcsts":
        corpus = write_lcsts(tmp_path / "LCSTS", {"PART_I": 160, "PART_II": 20, "PART_III": 40})
        flags = ["--format", "lcsts", "--source", "short_text", "--target", "summary"]
    else:
        corpus, flags = write(tmp_path / f"{code}.jsonl", code, 240), []
    plan, prepared, tables, text = report(tmp_path, monkeypatch, corpus, *flags)
    assert plan.settings.scores["rouge"] == {"mode": mode}
    assert "frames" not in plan.settings.scores
    for record in prepared.part("test"):
        assert len(record.source) == 4
        words = [word for word in record.source_tokens if word not in "।。"]
        assert all(re.fullmatch(token, word) for word in words)
    scores = {(row["method"], row["percent"]): row for row in tables["scores"]}
    assert float(scores["lead", ""]["rouge1"]) > 70  # the summary is the first sentence and a word
    assert float(scores["lead", ""]["rouge1"]) >= float(scores["random", ""]["rouge1"]) + 20
    assert float(scores["best-sentence", ""]["rouge1"]) >= float(scores["lead", ""]["rouge1"]) - 1e-9
    assert all(row["empty"] in ("", "0") for row in tables["scores"])
    assert "counts no word" not in text

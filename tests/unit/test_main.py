"""What the command says of places and of files that no file system gives: a sentence, never a traceback."""

import sys
from pathlib import Path

import pytest

from sumcurve.__main__ import main
from sumcurve.plan import Plan

ROOT = Path(__file__).parents[2]


def said(monkeypatch, *arguments: object) -> str:
    """What the command ends with in this process; a status that is no text is no sentence."""
    monkeypatch.setattr(sys, "argv", ["sumcurve", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert isinstance(ended.value.code, str)  # which Python prints, and ends with status 1
    return ended.value.code


@pytest.mark.parametrize(
    ("arguments", "form"),
    [
        ("make x", "results/STEP/FOLDER"),
        ("make results/x", "results/STEP/FOLDER"),
        ("packages x", "results/STEP/FOLDER"),
        ("tables smoke", "results/tables/STUDY"),
        ("tables smoke --form html", "results/tables/STUDY"),
        ("fetch x.csv", "data/raw/FOLDER/LIST.csv"),
        ("shard a-of-2/plan.json", "scratch/shards/CORPUS-of-SHARDS/STEP.json"),
    ],
)
def test_a_path_without_the_folders_above_it_is_refused_with_its_form(monkeypatch, arguments, form):
    monkeypatch.chdir(ROOT)
    assert said(monkeypatch, *arguments.split()).endswith(f"give it from the study's home on, as {form}")


def test_packages_are_those_of_a_corpus(monkeypatch):
    monkeypatch.chdir(ROOT)
    run = Plan.read(ROOT / "config", "smoke").named("runs")[0]
    assert "is no folder of a corpus" in said(monkeypatch, "packages", f"results/{run.key}")

"""A study's tables as data frames: of the recorded ones, and of an invented folder."""

import json
from pathlib import Path

import pandas as pd
import pytest

import sumcurve as sc
from sumcurve.machine.arguments import CommandError
from sumcurve.store import manifest

RECORDED = Path(__file__).parents[3] / "results" / "tables" / "docstrings"


def test_tables_findings_and_figures_of_a_study() -> None:
    study = sc.load(RECORDED)
    assert study.comparisons.equals(pd.read_csv(RECORDED / "comparisons.csv"))
    assert study.table("verdicts").equals(study.verdicts)
    first = study.findings.to_pandas().iloc[0]
    assert {first["table"]} <= {*study.names}
    drawn = json.dumps(study.plot("rouge2").to_dict())
    values = study.scores.query("metric == 'rouge2' and method == 'pcov' and search == 'common' and part == 'study'")[
        "mean"
    ].tolist()
    assert all(f"{value:g}" in drawn for value in values)
    assert "ROUGE-2" in drawn


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (lambda study: study.table("comparison"), "did you mean comparisons"),
        (lambda study: study.plot("rogue1"), "no metric 'rogue1'"),
        (lambda study: study.plot(corpus="x"), "no corpus 'x'"),
        (lambda study: sc.load("no-study"), "no folder with a study's tables"),
    ],
)
def test_what_a_study_lacks_is_named(wanted, message) -> None:
    with pytest.raises(CommandError, match=message):
        wanted(sc.load(RECORDED))
    with pytest.raises(AttributeError, match="did you mean comparisons"):
        sc.load(RECORDED).comparison  # noqa: B018


def test_summaries_are_read_from_verified_folders_of_the_study(tmp_path) -> None:
    tables = tmp_path / "results" / "tables" / "mine"
    tables.mkdir(parents=True)
    (tables / "scores.csv").write_text("corpus,method\n")
    rows = [
        *[f"c,m,10,{seed},{search},study,c-m-010-s{seed}{part}-0{seed}" for seed, search, part in _RUNS],
        "c,m,10,1,common,before,c-m-010-s1-before-09",
        "c,lead,,,,study,c-lead-0a",
    ]
    (tables / "seeds.csv").write_text("corpus,method,records,seed,search,part,run\n" + "\n".join(rows) + "\n")
    names = ["c-m-010-s1-aa", "c-m-010-s2-bb", "c-m-010-s1-paper-cc", "c-m-010-s1-before-dd", "c-lead-0a"]
    inputs = {f"outputs/{name}": "" for name in names}
    sealed = {"study": "mine", "inputs": inputs, "files": manifest.hashes(tables), "facts": {}}
    manifest.write_sealed(tables / "manifest-00000000.json", sealed)
    study = sc.load(tables)
    with pytest.raises(CommandError, match=r"none of the 5 output folders of mine: .*make study STUDY=mine"):
        study.summaries()
    for name in names:
        folder = tmp_path / "results" / "outputs" / name
        folder.mkdir(parents=True)
        (folder / "summaries.jsonl").write_text(json.dumps({"id": "i", "summary": [name, "b"]}) + "\n")
        size = (folder / "summaries.jsonl").stat().st_size
        files = {name: {"bytes": size, "sha256": sha256} for name, sha256 in manifest.hashes(folder).items()}
        sealed = {"specification": {}, "inputs": {}, "facts": {}, "files": files}
        manifest.write_sealed(folder / manifest.MANIFEST, sealed)
    every = study.summaries()
    assert set(zip(every.method, every.seed.fillna(0), every.search.fillna(""), every.summary, strict=True)) == {
        ("m", 1, "common", "c-m-010-s1-aa\nb"),
        ("m", 2, "common", "c-m-010-s2-bb\nb"),
        ("m", 1, "paper", "c-m-010-s1-paper-cc\nb"),
        ("lead", 0, "", "c-lead-0a\nb"),
    }
    assert study.summaries("m", 10, 2).summary.tolist() == ["c-m-010-s2-bb\nb"]
    with pytest.raises(CommandError, match="no method 'n'"):
        study.summaries("n")
    (tmp_path / "results" / "outputs" / "c-lead-0a" / "summaries.jsonl").write_text("{}\n")
    with pytest.raises(manifest.ManifestError):
        study.summaries("lead")


_RUNS = ((1, "common", ""), (2, "common", ""), (1, "paper", "-paper"))

import csv
import dataclasses
import random

import pytest

from sumcurve.plan import Refused
from sumcurve.tables import study as tables
from sumcurve.tables.evidence import EvidenceError, Missing
from sumcurve.tables.study import write_study

TABLES = (
    *("corpora", "dropped", "scores", "intervals", "sigma", "timings", "methods", "efficiency", "differences"),
    "searches",
)
SENTENCE = "Rankings at this size are no findings about the methods."


def write(folder, study, settings) -> dict[str, bytes]:
    paths = write_study(folder, study, settings)
    assert sorted(paths) == sorted(folder.iterdir())
    return {path.name: path.read_bytes() for path in paths}


@pytest.fixture
def undrawn(monkeypatch):
    """For tests of tables alone: drawing is slow."""
    monkeypatch.setattr(tables, "write_figure", lambda *_: [])


def test_all_tables_in_all_forms_and_the_figure(tmp_path, study, settings) -> None:
    files = write(tmp_path / "t", study, settings)
    forms = {f"{table}.{suffix}" for table in TABLES for suffix in ("csv", "md", "tex", "html")}
    assert set(files) == forms | {"curves.svg", "curves.png"}
    header = files["scores.csv"].decode().splitlines()[0]
    assert header == ("corpus,method,percent,records,seed,search,rouge1,rouge2,rougeLsum,items,reason,signature,run")
    for name in ("scores", "sigma", "differences"):
        assert b"seed spread unknown" in files[f"{name}.md"]
    assert not any(b"IN PART" in files[f"{table}.md"] for table in TABLES)
    assert "Composed: three notes each." in files["corpora.md"].decode()


def test_order_of_the_evidence_leaves_every_byte(tmp_path, study, settings) -> None:
    first = write(tmp_path / "a", study, settings)
    outputs = list(study.outputs)
    random.Random(5).shuffle(outputs)
    other = dataclasses.replace(study, outputs=outputs, statistics=study.statistics[::-1])
    assert write(tmp_path / "b", other, settings) == first


@pytest.mark.usefixtures("undrawn")
def test_measured_time_stays_in_its_own_tables(tmp_path, study, settings) -> None:
    slower = [
        dataclasses.replace(one, timing=dataclasses.replace(one.timing, seconds=one.timing.seconds * 1.7))
        if one.timing
        else one
        for one in study.outputs
    ]
    first = write(tmp_path / "a", study, settings)
    second = write(tmp_path / "b", dataclasses.replace(study, outputs=slower), settings)
    changed = {name.split(".")[0] for name in first if first[name] != second[name]}
    assert changed == {"timings", "efficiency", "methods"}


@pytest.mark.usefixtures("undrawn")
def test_the_search_of_a_paper_touches_scores_and_searches_alone(tmp_path, study, evidence, settings) -> None:
    first = write(tmp_path / "a", study, settings)
    second = write(tmp_path / "b", dataclasses.replace(study, outputs=evidence()), settings)
    assert {name.split(".")[0] for name in first if first[name] != second[name]} == {"scores", "searches"}


def test_a_refused_method_is_told_in_scores_and_figure_and_nowhere_else(tmp_path, study, settings) -> None:
    first = write(tmp_path / "a", study, settings)
    told = dataclasses.replace(study, refused=[Refused("notes", "fastrl", "no sentences to extract")])
    second = write(tmp_path / "b", told, settings)
    assert {name.split(".")[0] for name in first if first[name] != second[name]} == {"scores", "curves"}
    assert second["scores.md"].decode().count("no sentences to extract") == 1
    assert b"notes without fastrl: no sentences to extract." in second["curves.svg"]
    (row,) = (row for row in csv.DictReader(second["scores.csv"].decode().splitlines()) if row["method"] == "fastrl")
    assert {name: cell for name, cell in row.items() if cell} == {
        "corpus": "notes",
        "method": "fastrl",
        "reason": "no sentences to extract",
    }


@pytest.mark.parametrize(("setting", "expected"), [("small", True), ("paper", False)])
def test_small_settings_are_no_findings(tmp_path, study, settings, setting, expected) -> None:
    files = write(tmp_path, dataclasses.replace(study, settings=setting), settings)
    for table in ("scores", "intervals", "sigma", "efficiency", "differences", "searches", "methods"):
        for form in ("md", "html", "tex"):
            assert (SENTENCE in files[f"{table}.{form}"].decode()) == expected, (table, form)
    assert (SENTENCE.encode() in files["curves.svg"]) == expected


def test_a_study_in_part_says_so_everywhere(tmp_path, study, settings) -> None:
    lost = next(one for one in study.outputs if one.method == "abs" and one.percent == 50)
    kept = [one for one in study.outputs if one is not lost]
    waiting = Missing(lost.corpus, lost.method, lost.percent, lost.seed, lost.search, "runs/notes-abs-050-s1-12345678")
    part = dataclasses.replace(study, outputs=kept, missing=[waiting])
    files = write(tmp_path, part, settings)
    assert {name.split(".")[0] for name in files} == {*TABLES, "missing", "curves"}
    remark = f"IN PART: {study.trained - 1} of {study.trained} trained outputs"
    for name, content in files.items():
        if name.endswith((".md", ".html", ".tex", ".svg")):
            assert remark.encode() in content, name
    (row,) = csv.DictReader(files["missing.csv"].decode().splitlines())
    assert row == {
        "corpus": "notes",
        "method": "abs",
        "percent": "50",
        "seed": "1",
        "search": "common",
        "folder": "runs/notes-abs-050-s1-12345678",
    }


@pytest.mark.usefixtures("undrawn")
def test_each_signature_is_said_once(tmp_path, study, settings) -> None:
    text = write(tmp_path, study, settings)["scores.md"].decode()
    assert text.count("Signature (albums, notes): rouge:1+2+Lsum|stem:no|sumcurve:0.1.0") == 1
    assert text.count("Common search (albums, notes): beam4+") == 1
    assert "beam9" not in text


@pytest.mark.usefixtures("undrawn")
def test_a_search_that_reads_the_reference_is_called_a_bound(tmp_path, study, settings) -> None:
    assert b"a bound, no competitor" not in write(tmp_path / "a", study, settings)["searches.md"]
    outputs = [
        dataclasses.replace(one, signature=f"{one.signature}+entity0.5-gold") if one.search == "paper" else one
        for one in study.outputs
    ]
    text = write(tmp_path / "b", dataclasses.replace(study, outputs=outputs), settings)["searches.md"]
    assert b"a bound, no competitor" in text


@pytest.mark.usefixtures("undrawn")
def test_a_refusal_is_printed_once_below_the_table(tmp_path, study, settings) -> None:
    outputs = list(study.outputs)
    outputs[0] = dataclasses.replace(outputs[0], timing=dataclasses.replace(outputs[0].timing, device="NVIDIA X1"))
    text = write(tmp_path / "t", dataclasses.replace(study, outputs=outputs), settings)["efficiency.md"].decode()
    assert text.count("seconds of different devices do not compare (NVIDIA X1, cpu)") == 1
    assert "– [1]" in text


@pytest.mark.usefixtures("undrawn")
def test_printed_sigma_agrees_with_printed_scores(tmp_path, study, settings) -> None:
    write(tmp_path / "t", study, settings)
    scores, sigma = (list(csv.DictReader((tmp_path / "t" / f"{name}.csv").open())) for name in ("scores", "sigma"))
    means = {(row["corpus"], row["method"], row["percent"]): row for row in scores if row["search"] == "common"}
    for row in sigma:
        first, second = (means[row["corpus"], row["method"], row[f"{end}_percent"]] for end in ("from", "to"))
        s1, s2, d1, d2 = (
            float(value) for value in (first["rouge1"], second["rouge1"], first["records"], second["records"])
        )
        assert float(row["sigma1_percent"]) == pytest.approx(100 * (s2 - s1) / s1 / ((d2 - d1) / d1), abs=0.01)


def test_a_corpus_without_statistics_is_refused(tmp_path, study, settings) -> None:
    with pytest.raises(EvidenceError, match="albums"):
        write_study(tmp_path, dataclasses.replace(study, statistics=study.statistics[:1]), settings)

"""Printed results: what is refused, and that they stand apart from the study's own, as printed."""

import csv
import dataclasses
import io
import re
from types import SimpleNamespace

import pytest
import yaml

from sumcurve.capabilities.published.capability import CAPABILITY
from sumcurve.capabilities.published.settings import CorpusKeys, PublishedResult
from sumcurve.capabilities.published.table import REFERENCES, RULES, Published, leaderboard_rows, table
from sumcurve.settings.config import PlanError, read_mapping
from sumcurve.study.doors import APPENDIX, TABLES
from sumcurve.study.tables import contents_of, made
from sumcurve.tables.report.facts import Corpus, rows_of
from sumcurve.tables.report.findings import Titles
from sumcurve.tables.report.leaderboard import APART
from sumcurve.tables.report.page import page
from sumcurve.tables.report.readme import page as readme
from sumcurve.tables.results import Results

ROW = {
    "system": "Parrot-large",
    "source": "Ara et al. 2019, Table 3",
    "url": "https://papers.example/ara",
    "scores": {"rouge1": "99.30", "rouge2": "7.0"},
    "rouge": "ROUGE-1.5.5, stemmed",
    "references": "mean",
    "seen": True,
    "parameters": 406_000_000,
    "records": 12_000,
    "comparable": "The test items are the same; the scorer stems, ours does not.",
}
SECOND = ROW | {"system": "Lead-3", "scores": {"rouge1": "0.5"}, "rouge": None, "references": None, "seen": False}
SECOND |= {"parameters": None, "records": None}
WITHOUT_ROUGE1 = ROW | {"system": "Other", "scores": {"rougeL": "12.34"}}


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        ({"scores": {"rouge1": 47.3}}, 7, "put the number into quotes, as printed, so that 47.30 keeps its decimals"),
        ({"scores": {"rouge1": 47}}, 7, "put the number into quotes"),
        ({"scores": {"rouge1": "100.01"}}, 7, "no score from 0 to 100"),
        ({"scores": {"rouge1": "-1"}}, 7, "no score from 0 to 100"),
        ({"scores": {"rouge1": "47,28"}}, 7, "no score from 0 to 100; write it as printed, as '47.28'"),
        ({"scores": {"rouge1": "nan"}}, 7, "no score from 0 to 100"),
        ({"scores": {"bleu": "47.28"}}, 7, "'rouge1', 'rouge2', 'rougeL' or 'rougeLsum'"),
        ({"scores": {}}, 6, "at least 1 item"),
        ({"url": "papers.example"}, 5, "no address; it begins with https:// or http:// and has no blanks"),
        ({"system": "**bold**"}, 3, "no text for a cell: a line without | * < >"),
        ({"system": " "}, 3, "no text for a cell"),
        ({"references": "all"}, 10, "'mean', 'best' or 'first'"),
        ({"seen": "yes"}, 11, "valid boolean"),
        ({"parameters": 0}, 12, "greater than or equal to 1"),
        ({"bold": True}, 15, "unknown key"),
        ({"sytem": "Parrot"}, 15, "unknown key; did you mean system?"),
    ],
)
def test_refusals_name_file_and_line(tmp_path, change, line, message):
    path = tmp_path / "corpus.yaml"
    row = {**ROW, **change}
    text = yaml.safe_dump({"published_results": [row]}, sort_keys=False)
    path.write_text(f"# a corpus\n{text}")
    with pytest.raises(PlanError) as refused:
        read_mapping(path).validated(CorpusKeys)
    assert message in str(refused.value)
    assert f"{path}:{line}: published_results" in str(refused.value)


@pytest.mark.parametrize("key", ["system", "source", "url", "scores", "rouge", "references", "seen", "comparable"])
def test_what_a_row_must_say_is_asked_for(tmp_path, key):
    path = tmp_path / "corpus.yaml"
    path.write_text(yaml.safe_dump({"published_results": [{name: ROW[name] for name in ROW if name != key}]}))
    with pytest.raises(PlanError, match=rf"published_results\.0\.{key}: Field required"):
        read_mapping(path).validated(CorpusKeys)


def test_a_result_stands_once():
    with pytest.raises(ValueError, match="published_results has 'Parrot-large' twice from one source"):
        CorpusKeys(published_results=[ROW, ROW | {"scores": {"rouge1": "1"}}])
    other_size = ROW | {"records": 100}
    assert len(CorpusKeys(published_results=[ROW, other_size]).published_results) == 2


@pytest.fixture(scope="module")
def printed(study, settings):
    """Results of a study without printed rows, and with some of one corpus, best last."""
    rows = [PublishedResult(**row) for row in (SECOND, ROW, WITHOUT_ROUGE1)]
    evidence = {**study.evidence, "published": Published({"notes": rows})}
    return Results(study, settings), Results(dataclasses.replace(study, evidence=evidence), settings)


@pytest.fixture(scope="module")
def pages(printed):
    """The page and README of both, and all tables."""
    built = []
    for results in printed:
        tables = {name: made(name, results) for name in (*TABLES, *APPENDIX)}
        contents = contents_of("small", "Small", rows_of(tables), Titles(results.titles))
        shown = {name: tables[name] for name in TABLES}
        html = page(results, shown, contents, {})
        lines = readme(contents, {})
        built.append((html, lines, tables))
    return built


def test_the_csv_has_scores_as_printed_and_in_the_order_of_the_file(printed):
    rows = list(csv.DictReader(io.StringIO(table(printed[1]).csv())))
    assert [row["system"] for row in rows] == ["Lead-3", "Parrot-large", "Other"]
    assert [(row["rouge1"], row["rouge2"], row["rougeL"]) for row in rows] == [
        ("0.5", "", ""),
        ("99.30", "7.0", ""),
        ("", "", "12.34"),
    ]
    assert [row["seen"] for row in rows] == ["no", "yes", "yes"]
    assert {row["url"] for row in rows} == {ROW["url"]}
    assert rows[0]["comparable"] == ROW["comparable"]


def test_our_best_stands_in_columns_that_say_so_and_where_the_metric_is_printed(printed, pages):
    rows = list(csv.DictReader(io.StringIO(table(printed[1]).csv())))
    scores = list(csv.DictReader(io.StringIO(pages[1][2]["scores"].csv())))
    trained = [row for row in scores if row["corpus"] == "notes" and row["records"]]
    largest = max(int(row["records"]) for row in trained)
    best = max((row for row in trained if int(row["records"]) == largest), key=lambda row: float(row["rouge1"]))
    for row in rows[:2]:
        assert (row["ours"], row["ours_records"], row["ours_rouge1"]) == (best["method"], str(largest), best["rouge1"])
    assert rows[2]["ours"] == ""


@pytest.mark.parametrize(
    ("printed_by", "rule"), [("mean", "mean"), ("best", "best"), ("first", "first"), (None, "first")]
)
def test_of_several_references_ours_is_by_the_rule_that_is_printed(printed, monkeypatch, printed_by, rule):
    """A study whose scorers have every rule; by each of them another value stands there."""
    results = Results(printed[1].study, printed[1].settings)
    by_rule = {name: dataclasses.replace(results.metrics[0], name=f"rouge1_{name}") for name in RULES.values()}
    values = {metric.name: float(place) for place, metric in enumerate(by_rule.values())}
    every = [*results.metrics, *by_rule.values()]
    monkeypatch.setattr(Results, "metrics", property(lambda self: every))
    monkeypatch.setattr(Results, "scorer", lambda self, metric: "rouge")
    monkeypatch.setattr(Results, "counts", lambda self, system, metric: True)
    monkeypatch.setattr(Results, "estimate", lambda self, corpus, metric, cell: SimpleNamespace(mean=values[metric]))
    row = PublishedResult(**ROW | {"references": printed_by})
    study = dataclasses.replace(results.study, evidence={"published": Published({"notes": [row]})})
    (shown,) = rows_of({"published": table(Results(study, results.settings))})["published"]
    assert shown["ours_rouge1"] == values[f"rouge1_{rule}"]
    assert shown["ours_references"] == REFERENCES[rule]
    (row,) = leaderboard_rows(Corpus("notes", {"published": [shown]}, "rouge1"))
    score = f"{values[f'rouge1_{rule}']:.1f} at most"
    assert any(score in note for note in row.notes) == (rule != "best")


def test_the_table_says_what_was_not_read_and_what_cannot_be_compared(printed):
    text = table(printed[1]).markdown()
    assert "| Lead-3 ‖ |" in text
    assert "| Parrot-large |" in text
    assert "‖ quoted at second hand; check before citing." in text
    assert f"Lead-3, Parrot-large, Other. {ROW['comparable']}" in text
    assert "**" not in text
    assert "‖" not in table(Results(_read(printed[1].study), printed[1].settings)).markdown()


def _read(study):
    return dataclasses.replace(study, evidence={"published": Published({"notes": [PublishedResult(**ROW)]})})


def test_leaderboards_show_them_apart_and_change_nothing_else(pages):
    """Below ours, in a folded table of its own, not bold; rows without the metric, and other corpora, have none."""
    (html_before, lines_before, _), (html, lines, _) = pages
    boards = re.findall(r'<details class="board" data-corpus="(\w+)".*?</details>', html, re.S)
    assert boards.count("notes") == 1
    (board,) = re.findall(r'<details class="board" data-corpus="notes".*?</details>', html, re.S)
    ours, _, theirs = board.partition(f"<details><summary>{APART}</summary>")
    rows = re.findall(r'<tr><td>(.*?) <small>(.*?)</small></td><td class="number">(.*?)</td>', theirs)
    assert rows == [
        ("Lead-3 ‖", ROW["source"], "0.5"),
        ("Parrot-large", f"{ROW['source']}; ROUGE-1.5.5, stemmed, mean over references", "99.30"),
    ]
    assert "<b>" not in theirs
    assert 'class="bar"' not in theirs
    assert f"Lead-3 ‖, Parrot-large: {ROW['comparable']} ‖ quoted at second hand" in theirs
    assert ours in html_before
    assert APART not in html_before
    start = next(place for place, line in enumerate(lines) if APART in line)
    assert "| *Lead-3 ‖* |" in lines[start + 2]
    assert "| *Parrot-large* | 406 M | 12,000 | 99.30 |" in lines[start + 3]
    assert lines[: start - 1] == lines_before[: start - 1]
    assert not any("Parrot-large" in line and "**" in line for line in lines)


def test_a_study_without_them_has_no_table_and_no_digest(printed):
    assert not table(printed[0]).rows
    plan = SimpleNamespace(settings=SimpleNamespace(corpora={"notes": CorpusKeys()}))
    assert CAPABILITY.digest(plan) == {}
    plan.settings.corpora["albums"] = CorpusKeys(published_results=[ROW])
    assert CAPABILITY.digest(plan)["published"]["albums"][0]["scores"] == ROW["scores"]

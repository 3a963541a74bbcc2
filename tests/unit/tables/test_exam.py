"""Metric validation of a study: metrics that are not validated rank no system, and pages say so."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from sumcurve.capabilities.exam.evidence import NOT_TESTED, Exams
from sumcurve.capabilities.exam.findings import findings
from sumcurve.capabilities.exam.table import Sitting, read_exam
from sumcurve.capabilities.exam.thresholds import thresholds
from sumcurve.settings.config import PlanError
from sumcurve.study.doors import TABLES
from sumcurve.study.plan import Plan
from sumcurve.study.tables import findings_of, made
from sumcurve.tables.report.facts import Corpus, rows_of
from sumcurve.tables.report.findings import Titles
from sumcurve.tables.results import Results

ROOT = Path(__file__).parents[3]
HEAD = "corpus,scorer,settings,metric,claim,row,part,threshold,verdict,why,value,low,high,p,systems,documents\n"


def table(path, *rows, corpus="tales", settings="{}"):
    """A validation's table with these rows, of a scorer with these settings (a cell); others are not applicable."""
    rows = [row.replace(",", f",{settings},", 1) for row in rows]
    numbers = {"passed": "0.7,0.6,0.8,0.01", "failed": "0.3,0.2,0.4,0.01"}
    lines = [
        f"{corpus},{row},,{'0,,,' if ',repeats,' in row else numbers[row.rsplit(',', 1)[1]]},5,100\n" for row in rows
    ]
    for metric in dict.fromkeys(row.rsplit(",", 4)[0] for row in rows):
        known = {row.rsplit(",", 4)[1] for row in rows if row.startswith(f"{metric},")}
        lines += [
            f"{corpus},{metric},{name},,{rule.threshold:g},not applicable,no sources,,,,,0,0\n"
            for name, rule in thresholds().rows.items()
            if name not in known
        ]
    path.write_text(HEAD + "".join(lines))
    return path


def made_of(study, long_curves, settings, outcomes):
    outputs = long_curves({"pcov": (30, 3), "abs": (22, 3)}, (1, 2, 3), (25, 50, 100), 0.5)
    corpus = outputs[0].corpus
    exams = {"exam": Exams({corpus: Sitting(corpus, {}, outcomes)})}
    results = Results(replace(study, outputs=outputs, statistics=study.statistics[:1], evidence=exams), settings)
    tables = rows_of({name: made(name, results) for name in [*TABLES, "scores_long"]})
    return Corpus(corpus, tables), tables, results


def test_a_metric_that_failed_ranks_nobody_and_the_others_do(study, long_curves, settings):
    outcomes = {("rouge", "rouge1"): "failed: repeated", ("rouge", "rouge2"): "passed"}
    corpus, tables, results = made_of(study, long_curves, settings, outcomes)
    assert corpus.metrics == ["ROUGE-2"]
    assert results.unread(corpus.name, "rougeLsum") == NOT_TESTED
    (finding,) = findings(corpus, Titles({}))
    assert finding.head == "Metrics not validated on this corpus (‡)"
    assert "ROUGE-1 (failed: repeated)" in finding.text
    assert "ROUGE-Lsum (not tested)" in finding.text
    assert " ROUGE-2" in findings_of(tables, Titles({}))[0].text
    assert any("ROUGE-1 ranks no system" in note for note in results.notes.unread)


def test_where_no_metric_passed_the_study_is_not_ranked_and_says_so_first(study, long_curves, settings):
    outcomes = {("rouge", name): "undecided: human" for name in ("rouge1", "rouge2", "rougeLsum")}
    corpus, tables, _ = made_of(study, long_curves, settings, outcomes)
    assert not corpus.rows("answers")
    first = findings_of(tables, Titles({}))[0]
    assert first.head == "Not ranked"
    assert "no metric is validated on this corpus: ROUGE-1, ROUGE-2 and ROUGE-Lsum (undecided: human)." in first.text


def test_outcomes_are_computed_from_the_rows(tmp_path):
    path = table(
        tmp_path / "exam.csv",
        "rouge,rouge1,closeness,human,,0.5,passed",
        "rouge,rouge1,closeness,repeated,0.5,0.6,failed",
        "chrf,chrf,closeness,human,,0.5,passed",
        "extractiveness,coverage,description,repeats,,0.0001,passed",
    )
    assert read_exam(path).outcomes == {
        ("rouge", "rouge1"): "failed: repeated 0.5",
        ("chrf", "chrf"): "passed",
        ("extractiveness", "coverage"): "describes: it does not rank",
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "is missing; write it with `sumcurve validate-metric`"),
        ("scorer,metric\nrouge,rouge1\n", ":1: no column 'claim'"),
        (HEAD, "has only a header: .*; write it with"),
        (HEAD + "x,rouge,{},rouge1,closeness,human,,0.5,passed,,0.7,0.6,0.8,0.01,5,9\n", "rouge1 has no row 'repeats'"),
        (HEAD + "x,rouge,{},rouge1,closeness,humann,,0.5,passed,,,,,,,\n", ":2: 'humann' is none of repeats, guessing"),
        (HEAD + "x,rouge,{},rouge1,closeness,human,,half,passed,,,,,,,\n", ":2: '.*' is no number"),
        (HEAD + "x,rouge,{},rouge1,closeness,human,,0.5,perhaps,,,,,,,\n", ":2: 'perhaps' is none of passed, failed"),
    ],
)
def test_a_table_that_cannot_be_read_is_named(tmp_path, content, message):
    path = tmp_path / "exam.csv"
    if content is not None:
        path.write_text(content)
    with pytest.raises(PlanError, match=message):
        read_exam(path)


@pytest.mark.parametrize(
    ("was", "instead", "message"),
    [
        (",failed,,0.3,", ",passed,,0.3,", r":3: rouge1, row repeated 0.5: passed with value 0.3 at threshold 0.6"),
        ("0.3,0.2,0.4,0.01", "0.3,0.2,0.4,0.9", r":3: rouge1, row repeated 0.5: failed with p 0.9: it takes one below"),
        ("0.3,0.2,0.4,0.01", "0.3,0.2,0.4,nan", r":3: 'nan' is no number"),
        ("0.3,0.2,0.4,0.01", "abc,0.2,0.4,0.01", r":3: 'abc' is no number"),
        (
            ",0.6,failed,",
            ",0.1,failed,",
            r":3: rouge1, row repeated 0.5: threshold 0.1, not 0.6, which thresholds.yaml",
        ),
        (
            "failed,,0.3,0.2,0.4,0.01",
            "not applicable,,0.3,0.2,0.4,",
            r"row repeated 0.5: not applicable, though it has",
        ),
        ("failed,,0.3,0.2,0.4,0.01", "undecided,,0.3,0.2,0.4,0.01", r"undecided with p 0.01: it is passed or failed"),
        (
            "repeated,0.5,0.6,failed,,0.3,0.2,0.4,0.01",
            "repeated,0.25,0.6,shown,,0.3,0.2,0.4,",
            r"rouge1 has no row repeated 0.5: the table is cut",
        ),
        ("closeness,repeated", "coverage,repeated", r":3: rouge1 claims closeness above, here coverage"),
        ("repeated,0.5,0.6,failed", "human,,0.5,failed", r":3: rouge1 has row human above, too"),
    ],
)
def test_a_table_that_no_exam_can_have_written_is_refused(tmp_path, was, instead, message):
    path = table(
        tmp_path / "exam.csv",
        "rouge,rouge1,closeness,human,,0.5,passed",
        "rouge,rouge1,closeness,repeated,0.5,0.6,failed",
    )
    text = path.read_text()
    assert text.count(was) == 1
    path.write_text(text.replace(was, instead))
    with pytest.raises(PlanError, match=message):
        read_exam(path)


def test_the_outcomes_decide_the_tables_of_a_study(tmp_path):
    config = Path(shutil.copytree(ROOT / "config", tmp_path / "checkout" / "config"))
    study = config / "studies" / "smoke.yaml"
    plain = Plan.read(config, "smoke").tables
    text = study.read_text()
    tables = {plain}
    for verdict in ("passed", "failed"):
        path = table(tmp_path / f"{verdict}.csv", f"rouge,rouge1,closeness,human,,0.5,{verdict}")
        study.write_text(text.replace("  tales:\n", f"  tales:\n    exam: {path}\n", 1))
        tables.add(Plan.read(config, "smoke").tables)
    assert len(tables) == 3


@pytest.mark.parametrize("corpus", ["tales-0a1b2c3d", "talesofmine", "realsumm"])
def test_an_exam_is_of_the_corpus_that_names_it(tmp_path, corpus):
    config = Path(shutil.copytree(ROOT / "config", tmp_path / "checkout" / "config"))
    path = table(tmp_path / "exam.csv", "rouge,rouge1,closeness,human,,0.5,passed", corpus=corpus)
    study = config / "studies" / "smoke.yaml"
    study.write_text(study.read_text().replace("  tales:\n", f"  tales:\n    exam: {path}\n", 1))
    if corpus.startswith("tales-"):
        assert Plan.read(config, "smoke").tables
        return
    with pytest.raises(PlanError, match=rf"smoke.yaml:\d+.* on {corpus}, not on tales, .*--study smoke --of tales"):
        assert Plan.read(config, "smoke").tables


@pytest.mark.parametrize(("name", "message"), [("", "is a folder"), ("bytes.csv", "cannot be read")])
def test_what_is_no_table_is_named(tmp_path, name, message):
    (tmp_path / "bytes.csv").write_bytes(b"\xfd7zXZ\0")
    with pytest.raises(PlanError, match=message):
        read_exam(tmp_path / name)


@pytest.mark.parametrize(("sat", "refused"), [("true", False), ("false", True)])
def test_an_exam_is_of_a_scorer_with_its_settings(tmp_path, sat, refused):
    config = Path(shutil.copytree(ROOT / "config", tmp_path / "checkout" / "config"))
    rouge = Plan.read(config, "smoke").scorers["rouge"].settings.model_dump(mode="json") | {"stemmer": sat == "true"}
    cell = '"' + json.dumps(rouge).replace('"', '""') + '"'
    path = table(tmp_path / "exam.csv", "rouge,rouge1,closeness,human,,0.5,passed", settings=cell)
    study = config / "studies" / "smoke.yaml"
    text = study.read_text().replace("  tales:\n", f"  tales:\n    exam: {path}\n", 1)
    study.write_text(text.replace("rouge: {}", "rouge: {stemmer: true}", 1))
    if refused:
        with pytest.raises(PlanError, match=r"smoke.yaml:\d+.*validates rouge with stemmer: False, not True"):
            assert Plan.read(config, "smoke").tables
    else:
        assert Plan.read(config, "smoke").tables

"""Metric validation of a study: metrics that failed rank no system, others rank without it, and pages say so."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from sumcurve.capabilities.exam.capability import CAPABILITY
from sumcurve.capabilities.exam.evidence import NONE, Exams
from sumcurve.capabilities.exam.findings import findings
from sumcurve.capabilities.exam.table import Sitting, read_exam
from sumcurve.capabilities.exam.thresholds import thresholds
from sumcurve.settings.config import PlanError
from sumcurve.study.doors import TABLES
from sumcurve.study.plan import Plan
from sumcurve.study.tables import contents_of, findings_of, made
from sumcurve.tables.figures import drawn, notes, study_panel
from sumcurve.tables.report import readme
from sumcurve.tables.report.facts import Corpus, rows_of
from sumcurve.tables.report.findings import Titles
from sumcurve.tables.report.page import page
from sumcurve.tables.results import Results
from sumcurve.tables.verdicts import bands

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


def made_of(study, long_curves, settings, outcomes, sizes=(25, 50, 100), trained=None):
    """A corpus with these outcomes of its validation (None: without one), its tables and results."""
    outputs = long_curves({"pcov": (30, 3), "abs": (22, 3)}, (1, 2, 3), sizes, 0.5)
    corpus = outputs[0].corpus
    exams = {"exam": Exams({} if outcomes is None else {corpus: Sitting(corpus, {}, outcomes, trained or {})})}
    results = Results(replace(study, outputs=outputs, statistics=study.statistics[:1], evidence=exams), settings)
    tables = rows_of({name: made(name, results) for name in [*TABLES, "scores_long"]})
    return Corpus(corpus, tables), tables, results


def by_rouge(*outcomes):
    return {
        ("rouge", name): outcome for name, outcome in zip(("rouge1", "rouge2", "rougeLsum"), outcomes, strict=False)
    }


def test_a_metric_that_failed_or_was_not_tested_ranks_nobody_and_the_others_do(study, long_curves, settings):
    outcomes = by_rouge("failed: repeated", "passed")
    corpus, tables, results = made_of(study, long_curves, settings, outcomes)
    assert corpus.metrics == ["ROUGE-2"]
    assert results.unread(corpus.name, "rougeLsum") == "not validated on this corpus: not tested"
    (finding,) = findings(corpus, Titles({}))
    assert "ROUGE-1 and ROUGE-Lsum" in finding.head
    assert "‡" in finding.head
    assert "ROUGE-1 (failed: repeated)" in finding.text
    assert "ROUGE-Lsum (not tested)" in finding.text
    repeated = "share of summaries that score above themselves with the first half repeated (0.6 needed)"
    assert f" Check repeated: {repeated}. " in finding.text
    assert " ROUGE-2" in findings_of(tables, Titles({}))[0].sentence
    assert any("ROUGE-1 not validated" in note and "no system is ranked" in note for note in results.notes.unread)


def test_scores_are_forecast_by_a_metric_that_failed_and_no_leader_is(study, long_curves, settings):
    outcomes = by_rouge("failed: repeated", "passed", "passed")
    _, tables, results = made_of(study, long_curves, settings, outcomes, (10, 20, 40, 70, 100))
    assert {row["metric"] for row in tables["verdicts"]} == {"ROUGE-2", "ROUGE-Lsum"}
    forecast = bands(results)
    beyond = forecast[(forecast.metric == "rouge1") & forecast.beyond]
    assert {*beyond.method} == {"abs", "pcov"}
    assert beyond.records.max() == 4 * max(results.sizes("notes"))
    assert any(row["rouge1"] is not None for row in tables["scores"])


def test_where_all_metrics_failed_the_study_is_not_ranked_and_says_so_first(study, long_curves, settings):
    corpus, tables, _ = made_of(study, long_curves, settings, by_rouge(*["failed: human"] * 3))
    assert not corpus.rows("answers")
    first = findings_of(tables, Titles({}))[0]
    assert first.head == "No method is ranked, since no metric is validated on this corpus."
    assert "ROUGE-1, ROUGE-2 and ROUGE-Lsum (failed: human)." in first.text


def test_where_all_metrics_failed_pages_show_scores_in_the_order_of_names(study, long_curves, settings):
    """The scores of pcov are higher."""
    texts, orders = {}, {}
    for outcome in ("failed: human", "passed"):
        corpus, rows, results = made_of(study, long_curves, settings, by_rouge(*[outcome] * 3))
        contents = contents_of("small", "Small", rows, Titles(results.titles, results.about))
        shown = {name: made(name, results) for name in TABLES}
        texts[outcome] = ["\n".join(readme.page(contents, {})), page(results, shown, contents, {})]
        orders[outcome] = [entry.method for entry in contents.board(corpus).entries if entry.role == "trained"]
    assert orders == {"failed: human": ["abs", "pcov"], "passed": ["pcov", "abs"]}
    for text, head in zip(
        texts["failed: human"], ("| ROUGE-1‡ [95 % interval] |", "<th>ROUGE-1‡ <small>"), strict=True
    ):
        assert head in text
        assert "‡ not validated on this corpus: failed: human. Not ranked: rows are in the order of names." in text
        assert "How do scores of 2 methods grow from 500 to 2,000 training records?" in text
        assert "summarizes best" not in text
    for text, head in zip(texts["passed"], ("| ROUGE-1 [95 % interval] |", "<th>ROUGE-1 <small>"), strict=True):
        assert head in text
        assert "Which of 2 methods summarizes best" in text
        assert "Not ranked" not in text


def test_a_metric_that_failed_has_no_front(study, long_curves, settings):
    outcomes = by_rouge("failed: human", "passed", "failed: human")
    for some, expected in ((outcomes, [False, True, False]), (dict.fromkeys(outcomes, "failed: human"), [False] * 3)):
        corpus, _, results = made_of(study, long_curves, settings, some)
        frame = made("scores", results).frame()
        panels = [
            study_panel(results, frame, corpus.name, metric, seconds=True) for metric in drawn(results, corpus.name)
        ]
        assert [bool(panel.front) for panel in panels] == expected
        assert all(len(panel.points) for panel in panels)
        assert ("Pareto front" in " ".join(notes(results, frame, seconds=True))) == any(expected)


@pytest.mark.parametrize(("outcomes", "why"), [(by_rouge(*["undecided: human"] * 3), "undecided: human"), (None, NONE)])
def test_metrics_rank_without_a_validation_and_pages_say_so(study, long_curves, settings, outcomes, why):
    corpus, _, results = made_of(study, long_curves, settings, outcomes)
    assert corpus.metrics == ["ROUGE-1", "ROUGE-2", "ROUGE-Lsum"]
    (finding,) = findings(corpus, Titles({}))
    assert finding.head == "Treat rankings by ROUGE-1, ROUGE-2 and ROUGE-Lsum with care."
    named = "No metric was validated" if outcomes is None else f"ROUGE-1, ROUGE-2 and ROUGE-Lsum ({why})."
    assert named in finding.text
    assert any(why in note and "ranked all the same" in note for note in results.notes.unread)


def test_outcomes_by_trained_methods_stand_beside_and_decide_nothing(study, long_curves, settings):
    """Those that decide and those that do not, exchanged."""
    outcomes, trained = by_rouge("failed: lost", "passed", "passed"), by_rouge("passed", "failed: lost")
    corpus, tables, results = made_of(study, long_curves, settings, outcomes, trained=trained)
    assert corpus.metrics == ["ROUGE-2", "ROUGE-Lsum"]
    (finding,) = findings(corpus, Titles({}))
    assert ": ROUGE-1 (failed: lost; by outputs of trained methods: passed). Check lost: share of " in finding.text
    shown = {row["metric"]: row["validation"] for row in tables["scores_long"] if row["validation"]}
    assert shown == {"rouge1": "failed: lost; by outputs of trained methods: passed", "rougeLsum": "passed",
                     "rouge2": "passed; by outputs of trained methods: failed: lost"}  # fmt: skip
    said = [note for note in results.notes.unread if "trained methods" in note]
    assert len(said) == 2
    assert any("ROUGE-1 not validated on" in note and note.endswith(": no system is ranked by them.") for note in said)
    assert any("ROUGE-2 validated on" in note and "ranked" not in note for note in said)


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
        (
            ",failed,,0.3,",
            ",passed,,0.3,",
            r":3: rouge1, row repeated 0.5: passed, but value 0.3, p 0.01 at threshold 0.6 give failed",
        ),
        (
            "0.3,0.2,0.4,0.01",
            "0.3,0.2,0.4,0.9",
            r":3: rouge1, row repeated 0.5: failed, but .* p 0.9 .* give undecided",
        ),
        ("0.3,0.2,0.4,0.01", "0.3,0.2,0.4,nan", r":3: 'nan' is no number"),
        ("0.3,0.2,0.4,0.01", "abc,0.2,0.4,0.01", r":3: 'abc' is no number"),
        ("0.3,0.2,0.4,0.01", "0.3,0.2,0.4,-3", r":3: rouge1, row repeated 0.5: p -3 is not in \[0, 1\]"),
        ("{},rouge1,closeness,repeated", "[],rouge1,closeness,repeated", r":3: settings \[\] are no JSON object"),
        ("{},rouge1,closeness,repeated", "[" * 10**5 + ",rouge1,closeness,repeated", r":3: maximum recursion depth"),
        (
            ",0.6,failed,",
            ",0.1,failed,",
            r":3: rouge1, row repeated 0.5: threshold 0.1, not 0.6, which thresholds.yaml",
        ),
        (
            "failed,,0.3,0.2,0.4,0.01",
            "not applicable,,0.3,0.2,0.4,",
            r"row repeated 0.5: not applicable, but value 0.3",
        ),
        ("failed,,0.3,0.2,0.4,0.01", "undecided,,0.3,0.2,0.4,0.01", r"undecided, but .* p 0.01 .* give failed"),
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


def validated_smoke(place, verdict="passed", **keys):
    """The configuration with a validation of ROUGE-1 on the corpus of the study smoke."""
    config = Path(shutil.copytree(ROOT / "config", place / "checkout" / "config"))
    table(config / "validation" / "tales.csv", f"rouge,rouge1,closeness,human,,0.5,{verdict}", **keys)
    return config


def test_the_outcomes_decide_the_tables_of_a_study_without_a_key(tmp_path):
    tables = {Plan.read(ROOT / "config", "smoke").tables}
    tables |= {Plan.read(validated_smoke(tmp_path / one, one), "smoke").tables for one in ("passed", "failed")}
    assert len(tables) == 3


def test_a_validation_by_trained_methods_is_read_beside_the_one_that_decides(tmp_path):
    config = validated_smoke(tmp_path, "failed")
    alone = Plan.read(config, "smoke")
    (config / "validation" / "trained").mkdir()
    table(config / "validation" / "trained" / "tales.csv", "rouge,rouge1,closeness,human,,0.5,passed")
    both = Plan.read(config, "smoke")
    assert both.tables != alone.tables
    digest = CAPABILITY.digest(both)
    assert digest["exam"] == CAPABILITY.digest(alone)["exam"] == {"tales": [["rouge", "rouge1", "failed: human"]]}
    assert digest["exam_trained"] == {"tales": [["rouge", "rouge1", "passed"]]}
    (config / "validation" / "tales.csv").unlink()
    with pytest.raises(PlanError, match=r"trained/tales.csv: it decides nothing, and .*validation/tales.csv, which"):
        CAPABILITY.digest(Plan.read(config, "smoke"))


def test_a_validation_that_is_a_link_to_nothing_is_named(tmp_path):
    config = validated_smoke(tmp_path)
    (config / "validation" / "tales.csv").unlink()
    (config / "validation" / "tales.csv").symlink_to(tmp_path / "absent.csv")
    with pytest.raises(PlanError, match=r"validation/tales.csv is missing"):
        assert Plan.read(config, "smoke").tables


def test_an_exam_of_a_folder_of_the_corpus_is_one_of_the_corpus(tmp_path):
    folder = next(key for key in Plan.read(ROOT / "config", "smoke").prepared if "/tales-" in key)
    assert Plan.read(validated_smoke(tmp_path, corpus=folder.removeprefix("corpora/")), "smoke").tables


@pytest.mark.parametrize("corpus", ["tales-0a1b2c3d", "talesofmine", "realsumm"])
def test_an_exam_is_of_the_corpus_whose_name_it_has(tmp_path, corpus):
    config = validated_smoke(tmp_path, corpus=corpus)
    with pytest.raises(PlanError, match=rf"validation/tales.csv: .* on {corpus}, not on tales, .*--of tales"):
        assert Plan.read(config, "smoke").tables


@pytest.mark.parametrize(("name", "message"), [("", "is a folder"), ("bytes.csv", "truncated or damaged")])
def test_what_is_no_table_is_named(tmp_path, name, message):
    (tmp_path / "bytes.csv").write_bytes(b"\xfd7zXZ\0")
    with pytest.raises(PlanError, match=message):
        read_exam(tmp_path / name)


@pytest.mark.parametrize("agrees", [True, False])
def test_an_exam_is_of_a_scorer_with_its_settings(tmp_path, agrees):
    rouge = Plan.read(ROOT / "config", "smoke").scorers["rouge"].settings.model_dump(mode="json")
    cell = '"' + json.dumps(rouge | {"stemmer": agrees}).replace('"', '""') + '"'
    config = validated_smoke(tmp_path, settings=cell)
    study = config / "studies" / "smoke.yaml"
    study.write_text(study.read_text().replace("rouge: {}", "rouge: {stemmer: true}", 1))
    outcomes = CAPABILITY.digest(Plan.read(config, "smoke"))["exam"]["tales"]
    assert outcomes == ([["rouge", "rouge1", "passed"]] if agrees else [])


@pytest.mark.parametrize("agrees", [True, False])
def test_an_exam_of_a_metric_by_a_model_is_of_that_model_wherever_it_lies(tmp_path, agrees):
    """BERTScore has settings without a default."""
    cell = json.dumps({"sha256": ("ab" if agrees else "cd") * 32, "layer": 5, "idf": False, "baseline": None})
    path = tmp_path / "row.csv"
    config = validated_smoke(tmp_path)
    table(path, "bertscore,bertscore,closeness,human,,0.5,passed", settings='"' + cell.replace('"', '""') + '"')
    with (config / "validation" / "tales.csv").open("a") as stream:
        stream.write(path.read_text().removeprefix(HEAD))
    study = config / "studies" / "smoke.yaml"
    bertscore = f"rouge: {{}}, bertscore: {{path: models/mine, sha256: {'ab' * 32}, layer: 5}}"
    study.write_text(study.read_text().replace("rouge: {}", bertscore, 1))
    outcomes = CAPABILITY.digest(Plan.read(config, "smoke"))["exam"]["tales"]
    assert (["bertscore", "bertscore", "passed"] in outcomes) == agrees


def test_a_validation_of_a_scorer_that_a_study_does_not_have_moves_none_of_its_tables(tmp_path):
    config = validated_smoke(tmp_path)
    before = Plan.read(config, "smoke").tables
    path = table(tmp_path / "row.csv", "references,rouge1_mean,closeness,human,,0.5,passed")
    with (config / "validation" / "tales.csv").open("a") as stream:
        stream.write(path.read_text().removeprefix(HEAD))
    assert Plan.read(config, "smoke").tables == before


def test_a_misspelt_setting_of_a_validated_scorer_is_named(tmp_path):
    """It agrees with no study, so that the scorer's outcomes would be dropped."""
    config = validated_smoke(tmp_path, settings='"{""stemer"": true}"')
    with pytest.raises(PlanError, match=r"tales.csv: settings of rouge have 'stemer', .*did you mean stemmer"):
        assert Plan.read(config, "smoke").tables

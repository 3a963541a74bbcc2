"""What the table says of a pretraining, against curves whose distance is known."""

import csv
import dataclasses
import io

import numpy as np
import pytest

from sumcurve.capabilities.pretrained.evidence import Pretraining, Pretrainings, Shared
from sumcurve.capabilities.pretrained.findings import findings
from sumcurve.capabilities.pretrained.tables.pretraining import sentences
from sumcurve.settings.study import Bootstrap, Question
from sumcurve.study.tables import made
from sumcurve.tables.questions import NOT_KNOWN, UNASKED
from sumcurve.tables.report.facts import Corpus
from sumcurve.tables.report.findings import Titles
from sumcurve.tables.results import Results

SIZES = (200, 800, 2000)  # of 2,000 records
GAIN = 5.0  # points for a doubling, of every method
AHEAD = {"tuned": 4.0, "far": 40.0, "paired": 0.0, "worse": -30.0}  # points before from scratch
MADE = Pretraining(
    corpus="notes",
    scratch="scratch",
    methods={"tuned": True, "far": True, "paired": False, "worse": True},
    seconds=1234.0,
    updates=500,
    texts=9000,
    nll=3.5,
    read=10_000,
    removed={"an overlap": 7},
    sentences=40_000,
    sentences_removed=50,
)


@pytest.fixture(scope="module")
def results(long_curves, study) -> Results:
    levels = {"scratch": (30.0, GAIN), **{name: (30.0 + ahead, GAIN) for name, ahead in AHEAD.items()}}
    outputs = long_curves(levels, (1, 2, 3), (10, 40, 100))
    return Results(
        dataclasses.replace(study, outputs=outputs, evidence={"pretrained": Pretrainings([MADE])}),
        Bootstrap(resamples=50),
    )


@pytest.fixture(scope="module")
def rows(results) -> dict:
    frame = made("pretraining", results).frame()
    found = {(row.method, row.records): row for row in frame[frame.metric == "ROUGE-1"].itertuples()}
    assert set(found) == {(method, size) for method in AHEAD for size in SIZES}
    return found


def test_scores_and_differences_are_those_of_the_outputs(results, rows) -> None:
    for (method, size), row in rows.items():
        score, scratch = (results.estimate("notes", "rouge1", (one, size)).mean for one in (method, "scratch"))
        assert row.score == pytest.approx(score)
        assert row.scratch == pytest.approx(scratch)
        assert row.difference == pytest.approx(score - scratch)
        assert row.says == {"tuned": "better", "far": "better", "worse": "worse"}.get(method, row.says)


def test_records_are_where_the_method_s_curve_has_the_score_from_scratch(results, rows) -> None:
    sizes = np.array(SIZES)
    for size in SIZES:
        curve = [results.estimate("notes", "rouge1", ("tuned", one)).mean for one in SIZES]
        wanted = results.estimate("notes", "rouge1", ("scratch", size)).mean
        row = rows["tuned", size]
        expected = np.exp(np.interp(wanted, curve, np.log(sizes)))
        assert row.records_needed == pytest.approx(expected, abs=1)
        if size > SIZES[0]:
            assert row.ratio == pytest.approx(expected / size)
            assert row.ratio == pytest.approx(2 ** (-AHEAD["tuned"] / GAIN), rel=0.2)
            assert row.ratio_low < row.ratio < row.ratio_high


def test_the_csv_has_the_signs_that_people_see(results, rows) -> None:
    assert {row.bound for (method, _), row in rows.items() if method == "far"} == {"<"}
    assert {row.bound for (method, _), row in rows.items() if method == "worse"} == {">"}
    table = made("pretraining", results)
    shown, _ = table.shown()
    told = csv.DictReader(io.StringIO(table.csv()))
    for row, cell in zip(told, shown["reaches it with"], strict=True):
        assert cell.rpartition(" ")[0] == row["bound"]
    assert "bound" not in shown.columns


def test_a_small_share_of_the_records_is_never_shown_as_none(results) -> None:
    table = made("pretraining", results)
    shown, _ = table.shown()
    for cell, ratio in zip(shown["of the records"], table.frame().ratio, strict=True):
        number = float(cell.lstrip("<> ").partition(" ")[0])
        assert number == pytest.approx(ratio, rel=0.1)


@pytest.mark.parametrize(("reads", "twin"), [("no", "from scratch (†) with"), ("yes", "from scratch with")])
def test_a_finding_says_where_the_model_from_scratch_ignores_its_source(results, reads, twin) -> None:
    rows = list(csv.DictReader(io.StringIO(made("pretraining", results).csv())))
    assert {row["scratch_method"] for row in rows} == {"scratch"}
    told = [row | {"scratch_method_reads_source": reads} for row in rows]
    tables = {"pretraining": told, "scores_long": [{"corpus": "notes", "metric": "rouge1", "items": "9"}]}
    tables["answers"] = [{"corpus": "notes", "metric": "ROUGE-1"}]
    texts = [finding.text for finding in findings(Corpus("notes", tables), Titles({}))]
    assert len(texts) == len(AHEAD)
    assert all(twin in text for text in texts)


def test_seconds_and_their_growth_are_those_of_efficiency_and_the_pretraining_is_paid_once(results, rows) -> None:
    steps = made("efficiency", results).frame()
    for (method, size), row in rows.items():
        if MADE.methods[method]:
            assert row.once_seconds == MADE.seconds
        else:
            assert np.isnan(row.once_seconds)
        for name, theta in ((method, row.theta_percent), ("scratch", row.scratch_theta_percent)):
            here = steps[(steps.method == name) & (steps["to_records"] == size) & (steps.interval == "step")]
            if size == SIZES[0]:
                assert np.isnan(theta)
            else:
                assert theta == pytest.approx(here[here.metric == "ROUGE-1"].theta_percent.item())


def test_a_question_about_pretraining_is_answered_by_the_table_and_by_not_known(results, rows) -> None:
    asked = Question(question="What is it worth?", asks="pretraining", sizes=[800, 2000])
    study = dataclasses.replace(results.study, questions=[asked])
    found = Results(study, results.settings)
    answers = {(row.method, row.records): row for row in made("questions", found).frame().itertuples()}
    assert set(answers) == {(method, size) for method in AHEAD for size in asked.sizes}
    for (method, size), row in answers.items():
        told = rows[method, size]
        if method == "paired":
            assert (row.answer, row.why) == (NOT_KNOWN, told.says)
            continue
        assert row.answer.startswith(f"{told.says}: {method}")
        bound = "" if isinstance(told.bound, float) else told.bound
        assert f"{bound} {told.records_needed:,.0f} records".strip() in row.answer
        assert row.value == pytest.approx(told.ratio, nan_ok=True)
    assert made("answers", found).notes[0].startswith(asked.question)


def test_where_there_is_no_pretraining_there_is_no_table_and_a_question_is_not_known(results) -> None:
    asked = Question(question="What is it worth?", asks="pretraining")
    found = Results(dataclasses.replace(results.study, questions=[asked], evidence={}), results.settings)
    assert not made("pretraining", found).rows
    assert sentences(found) == []
    (row,) = made("questions", found).frame().itertuples()
    assert (row.answer, row.why) == (NOT_KNOWN, UNASKED)
    assert made("answers", found).notes[0] == f"{asked.question} {NOT_KNOWN} ({UNASKED})."


def test_of_a_shared_pretraining_the_table_says_what_it_has_read_and_what_overlaps(results, rows) -> None:
    shared = Shared("runs/made-once", "Invented texts.", 4000, 50_000, 2.5, 8, 1.25, 1.75)
    made_once = dataclasses.replace(MADE, shared=shared)
    study = dataclasses.replace(results.study, evidence={"pretrained": Pretrainings([made_once])})
    table = made("pretraining", Results(study, results.settings))
    assert table.csv() == made("pretraining", results).csv()
    (note,) = (note for note in table.notes if "runs/made-once" in note)
    for value in ("on: Invented texts. 9,000 texts of 50,000 subwords, of a vocabulary of 4,000", "in 1,234 seconds"):
        assert value in note
    for value in (
        "500 updates (2.5 passes, 125,000 subwords)",
        "of 10,000 records",
        "7 for an overlap",
        "1.25",
        "1.75",
    ):
        assert value in note
    assert "Nothing was removed for this corpus" in note

"""Studies that cannot say what tables ask: each says so in a sentence, and prints no number that it cannot defend."""

import math
import warnings
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest

from sumcurve.study.doors import APPENDIX, TABLES
from sumcurve.study.tables import made, write_study
from sumcurve.tables.ranking import ALONE
from sumcurve.tables.results import Results
from sumcurve.tables.table import Value

METHODS = {"pcov": (30, 5), "abs": (22, 7)}
PERCENTS = (10, 20, 40, 60, 100)
CONSTANT = "the score is the same on every item"


def with_items(one, **changes):
    return replace(one, scores={"rouge": replace(one.scores["rouge"], **changes)})


def flat(one, level):
    return with_items(one, values=np.full_like(one.scores["rouge"].values, level))


@pytest.fixture(scope="module")
def cases(long_curves, invented):
    """Outputs of the corpus notes by what is wrong with them."""
    whole = long_curves(METHODS, (1, 2, 3), PERCENTS)
    alike = invented("notes", "abs", 100, 1, 30.0).scores

    def kept(condition):
        return [one for one in whole if condition(one)]

    def of_abs(change):
        return [change(one) if one.method == "abs" else one for one in whole]

    def grouped(*groups):
        return [with_items(one, groups=groups) for one in whole]

    return {
        "one seed": long_curves(METHODS, (1,), PERCENTS),
        "one seed of one method": kept(lambda one: one.method != "abs" or one.seed == 1),
        "one size": long_curves(METHODS, (1, 2, 3), (100,)),
        "one size, one seed": long_curves(METHODS, (1,), (100,)),
        "sizes differ": kept(lambda one: one.method != "abs" or one.percent <= 40),
        "no size in common": kept(lambda one: not one.percent or (one.percent in (20, 60)) == (one.method == "abs")),
        "one group": grouped(*["solo"] * 40),
        "two groups": grouped(*"ab" * 20),
        "a group of most items": grouped(*["solo"] * 25, *(f"module{place}" for place in range(15))),
        "nothing right": [flat(one, 0.0) for one in whole],
        "every item alike": [flat(one, 12.5) for one in whole],
        "one method has nothing right": of_abs(lambda one: flat(one, 0.0)),
        "the same scores at every size": of_abs(lambda one: replace(one, scores=alike)),
        "one method": kept(lambda one: one.method == "pcov"),
        "no trained method": kept(lambda one: one.percent is None),
    }


@pytest.fixture(scope="module")
def results_of(cases, study, settings):
    return cache(lambda name: Results(replace(study, outputs=cases[name], statistics=study.statistics[:1]), settings))


def said(results, name) -> str:
    return " ".join(made(name, results).notes)


def test_every_number_is_finite_and_every_interval_has_a_width(results_of, cases):
    for case, name in product(cases, (*TABLES, *APPENDIX)):
        for row in made(name, results_of(case)).rows:
            for column, cell in row.items():
                numbers = [cell.number, cell.low, cell.high] if isinstance(cell, Value) else [cell]
                for one in numbers:
                    assert not isinstance(one, float) or math.isfinite(one), (case, name, column)
                if isinstance(cell, Value) and cell.low is not None:
                    assert cell.low < cell.high, (case, name, column)


@pytest.mark.parametrize("name", ["nothing right", "one size, one seed", "no trained method"])
def test_tables_and_figures_are_written_without_a_warning(cases, study, settings, tmp_path, name):
    part = replace(study, outputs=cases[name], statistics=study.statistics[:1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tmp_path / "scores.csv" in write_study(tmp_path, part, settings)


@pytest.mark.parametrize("name", ["one seed", "one size, one seed", "one seed of one method"])
def test_one_seed_makes_no_test_and_no_curve(results_of, name):
    results = results_of(name)
    frame = made("comparisons", results).frame()
    alone = frame[frame.ahead == "single run"]
    assert len(alone) >= 3
    assert alone[["p", "seen"]].isna().all(axis=None)
    assert "(single run" in said(results, "answers")
    assert "what another training would give is not known" in said(results, "answers")
    assert made("verdicts", results).rows == []
    if name != "one seed of one method":
        assert not any(row["rouge1"].bold for row in made("scores", results).rows)
        assert set(made("answers", results).frame().place) == {"best", "single run"}


def test_one_size_says_nothing_of_more_data(results_of):
    results = results_of("one size")
    assert made("efficiency", results).rows == made("verdicts", results).rows == []
    assert set(made("comparisons", results).frame().question) == {"which method"}
    answers = made("answers", results).frame()
    assert answers[["per_doubling", "records_needed", "ratio"]].isna().all(axis=None)
    for name in ("answers", "comparisons"):
        assert "notes: one size, 2,000 records; what more data buys takes two." in said(results, name)
    assert "1 size; a learning curve needs 4" in said(results, "answers")


def test_sizes_that_differ_are_compared_where_they_are_the_same(results_of):
    results = results_of("sizes differ")
    answers = made("answers", results).frame()
    places = answers[answers.metric == "ROUGE-1"].groupby("records").place.agg(set)
    assert places[800] == {"best", "behind"}
    assert all(places[size] == {ALONE} for size in (1200, 2000, 4000, 8000))
    assert "2,000 records: only PCOV is ranked." in said(results, "answers")
    frame = made("comparisons", results).frame()
    assert not ((frame.question == "which method") & (frame["first"] == "abs")).any()
    for name in ("answers", "comparisons"):
        assert "notes: not with every number of records: ABS (only 200, 400, 800)" in said(results, name)
    apart = made("answers", results_of("no size in common"))
    assert set(apart.frame().place) == {ALONE}
    assert not any(row["score"].bold for row in apart.rows)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("one group", "no interval: all 40 test items are of one group, 'solo'"),
        ("two groups", "no interval: the test items come from 2 groups"),
        ("a group of most items", "no interval: group 'solo' holds 62 % of the test items"),
    ],
)
def test_groups_that_hold_too_much_leave_means_alone(results_of, name, why):
    results = results_of(name)
    for table in ("answers", "scores", "comparisons", "efficiency"):
        assert why in said(results, table)
    frame = made("comparisons", results).frame()
    assert frame.ahead.str.startswith(why).all()
    assert frame[["p", "seen", "difference_low"]].isna().all(axis=None)
    assert made("efficiency", results).frame()[["sigma_percent_low", "epsilon"]].isna().all(axis=None)
    scores = made("scores", results)
    assert not any(row["rouge1"].bold for row in scores.rows)
    assert scores.frame().interval_covers.eq("").all()
    assert results.reads(results.of("notes", trained=True)[0]) is None
    assert made("verdicts", results).rows == []
    assert f"not tested against ABS ({why}" in said(results, "answers")


def test_one_group_leaves_what_a_phase_and_a_search_buy_without_an_interval(study, evidence, papers, phased, settings):
    outputs = [*evidence((1, 2, 3)), *papers((1, 2, 3)), *phased(study=(1, 2, 3))]
    outputs = [with_items(one, groups=("solo",) * 40) for one in outputs]
    results = Results(replace(study, outputs=outputs), settings)
    phases, decoding = made("phases", results).frame(), made("decoding", results).frame()
    assert phases.change.eq("no interval: all 40 test items are of one group, 'solo'").all()
    for frame, columns in ((phases, ["after_minus_before", "after_minus_control"]), (decoding, ["difference"])):
        assert len(frame) > 0
        assert frame[columns].notna().all(axis=None)
        assert frame[[f"{column}_low" for column in columns]].isna().all(axis=None)
        assert frame.interval_covers.isna().all()


@pytest.mark.parametrize("name", ["nothing right", "every item alike", "one method has nothing right"])
def test_a_score_that_never_moves_has_no_interval_and_no_curve(results_of, name):
    results = results_of(name)
    assert f"notes, ROUGE-1: no interval: {CONSTANT}: " in said(results, "scores")
    frame = made("scores", results).frame()
    still = frame[frame.method == "abs"]
    assert len(still) == len(PERCENTS)
    assert still[["rouge1_low", "rouge1_high"]].isna().all(axis=None)
    assert "what never moves has no learning curve" in said(results, "answers")
    assert made("verdicts", results).rows == []
    efficiency = made("efficiency", results).frame()
    assert efficiency[efficiency.method == "abs"].epsilon.isna().all()
    assert efficiency[efficiency.method == "abs"].reason.ne("").all()
    if name != "one method has nothing right":
        assert made("comparisons", results).frame().p.isna().all()
        assert not any(row["rouge1"].bold for row in made("scores", results).rows)


def test_a_curve_that_never_moves_is_no_growth(results_of):
    results = results_of("the same scores at every size")
    frame = made("comparisons", results).frame()
    growth = frame[(frame.question == "more data") & (frame["first"] == "abs")]
    assert growth.ahead.eq("no interval: the difference is the same on every item").all()
    assert "what never moves has no learning curve" in said(results, "answers")


def test_a_last_phase_that_was_cut_off_is_named_where_it_is_scored(cases, study, settings):
    def results(phase, update) -> Results:
        outputs = []
        for one in cases["one size"]:
            if one.training:
                selected = (phase, update) if one.method == "pcov" else ("coverage", 250)
                one = replace(one, training=replace(one.training, selected=selected))
            outputs.append(one)
        return Results(replace(study, outputs=outputs, statistics=study.statistics[:1]), settings)

    tables = ("answers", "scores", "methods")
    whole = results("coverage", 100)
    assert not any("updates of the final training stage" in said(whole, name) for name in tables)
    short, none, start = results("coverage", 99), results("nll", 900), results("coverage", 0)
    for name in tables:
        assert "notes, PCOV: 99 of coverage, which ended by collapse (at 2,000 records)." in said(short, name)
        assert "notes, PCOV: none of coverage, weights of stage nll, which ended by collapse (at 2,000" in said(
            none, name
        )
        assert "PCOV: none of coverage, no checkpoint of which is better than its start, which ended" in said(
            start, name
        )

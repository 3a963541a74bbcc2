"""Methods that are each decoded by their papers' searches are compared as those under the common search are."""

import dataclasses

import pytest

from sumcurve.study.tables import findings_of, made
from sumcurve.tables.report.facts import rows_of
from sumcurve.tables.report.findings import Titles
from sumcurve.tables.results import Results

LEVELS = {"abs": 30, "pcov": 40, "trans": 39.7}


def results_of(study, settings, outputs) -> Results:
    return Results(dataclasses.replace(study, outputs=outputs, statistics=study.statistics[:1]), settings)


def by_papers(invented, levels=LEVELS, seeds=(1, 2, 3)) -> list:
    return [
        invented("notes", method, 100, seed, level, search="paper")
        for method, level in levels.items()
        for seed in seeds
    ]


def alike(invented, seeds=(1, 2, 3)) -> list:
    return [invented("notes", method, 100, seed, 40) for method in LEVELS for seed in seeds]


def test_rows_are_those_of_comparisons_for_the_same_summaries(study, invented, settings) -> None:
    papers = by_papers(invented)
    here = made("own_searches", results_of(study, settings, [*alike(invented), *papers])).frame()
    common = [dataclasses.replace(one, search="common") for one in papers]
    there = made("comparisons", results_of(study, settings, common)).frame()
    columns = ["metric", "first", "second", "difference", "difference_low", "difference_high", "p", "ahead"]
    assert len(here) == 3 * there["metric"].nunique() == len(there)
    assert here[columns].equals(there[columns])
    assert set(here["search"]) == {"paper"}
    rouge1 = here[here["metric"] == "ROUGE-1"].set_index(["first", "second"])["ahead"]
    assert rouge1["abs", "pcov"] == "pcov"
    assert rouge1["pcov", "trans"] == "not shown"


@pytest.mark.parametrize(
    ("levels", "text"),
    [
        (LEVELS, "2 of 3 pairs differ significantly."),
        (dict.fromkeys(LEVELS, 40), "no two methods differ significantly."),
    ],
)
def test_the_finding_says_how_many_pairs_differ(study, invented, settings, levels, text) -> None:
    results = results_of(study, settings, [*alike(invented), *by_papers(invented, levels)])
    tables = {name: made(name, results) for name in ("scores", "answers", "comparisons", "own_searches")}
    (finding,) = (one for one in findings_of(rows_of(tables), Titles({})) if one.table == "own_searches")
    assert finding.head.endswith(text)
    assert finding.text.startswith("The largest difference is ")


def test_single_runs_are_not_tested_and_say_nothing(study, invented, settings) -> None:
    results = results_of(study, settings, [*alike(invented, (1,)), *by_papers(invented, seeds=(1,))])
    assert made("own_searches", results).frame()["p"].isna().all()
    tables = {name: made(name, results) for name in ("scores", "answers", "comparisons", "own_searches")}
    assert not [one for one in findings_of(rows_of(tables), Titles({})) if one.table == "own_searches"]

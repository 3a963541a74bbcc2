"""Where trained methods stand against what learns nothing: by the pairs of comparisons, and shares of the optimum."""

import dataclasses
import re

import pytest

from sumcurve.capabilities.extracts.evidence import Oracles
from sumcurve.settings.study import Bootstrap, Question
from sumcurve.study.tables import made
from sumcurve.tables.lines import NEVER, NOT_TESTED, sentences
from sumcurve.tables.results import Results

SIZES = (400, 800, 1600)
WHICH = Question(question="Which method with N?", asks="method")
CURVES = {"above": (45.0, 6.0), "crosses": (5.0, 14.0), "below": (10.0, 1.0)}  # at 10 %, and for a doubling; lead: 35


@pytest.fixture(scope="module")
def asked(long_curves, extracts, study):
    outputs = long_curves(CURVES, (1, 2, 3), (20, 40, 80))
    return dataclasses.replace(
        study, outputs=outputs, evidence={"extracts": Oracles(extracts(outputs))}, questions=[WHICH], statistics=()
    )


@pytest.fixture(scope="module")
def results(asked) -> Results:
    return Results(asked, Bootstrap(resamples=100))


@pytest.fixture(scope="module")
def rows(results) -> list:
    frame = made("lines", results).frame()
    return [row for row in frame.astype(object).where(frame.notna(), None).itertuples() if row.metric == "ROUGE-1"]


def test_every_system_has_its_share_of_the_optimum_at_every_size(results, rows, asked) -> None:
    trained = {(row.method, row.records) for row in rows if row.method != "lead"}
    assert trained == {(method, size) for method in CURVES for size in SIZES}
    (ceiling,) = (
        one
        for one in asked.evidence["extracts"].ceilings(asked.outputs)
        if (one.corpus, one.metric) == ("notes", "rouge1")
    )
    best = sum(ceiling.optimum) / len(ceiling.optimum)
    for row in rows:
        assert row.optimum_percent == pytest.approx(row.score / best)
        assert row.optimum_percent_low < row.optimum_percent < row.optimum_percent_high
    at_most = max(row.optimum_percent for row in rows)
    assert at_most < 100  # the fixture's optimum is above every output of every item


def test_who_is_ahead_is_who_is_in_the_tests_of_the_size(results, rows) -> None:
    for row in rows:
        if row.method == "lead":
            assert (row.ahead_of, row.not_shown, row.behind) == (None, None, None)
            continue
        pair = results.pair("notes", "rouge1", row.records, (row.method, row.records), ("lead", None))
        column = {row.method: "ahead_of", "lead": "behind", "": "not_shown"}[pair.ahead[0] if pair.ahead else ""]
        found = {name: getattr(row, name) for name in ("ahead_of", "not_shown", "behind")}
        assert found == dict.fromkeys(found) | {column: "lead"}


def methods_of(sentence: str, size: str) -> list[str]:
    """Those that stand in brackets behind a size, of the first lines."""
    (named,) = re.findall(
        rf"[:,] {re.escape(size)} \(([^)]*)\)", sentence.partition("untrained systems. ")[2].split(";")[0]
    )
    return re.split(", | and ", named)


def test_from_how_many_records_is_the_smallest_size_that_no_larger_one_contradicts(results, rows) -> None:
    (sentence,) = (one for one in sentences(results, "notes") if one.startswith("notes, ROUGE-1:"))
    places = {(row.method, row.records): row.ahead_of for row in rows}
    for method in CURVES:
        ahead = [size for size in SIZES if all(places[method, other] == "lead" for other in SIZES if other >= size)]
        assert method in methods_of(sentence, f"{min(ahead):,}" if ahead else NEVER)
    assert "above" in methods_of(sentence, f"{SIZES[0]}")
    assert "below" in methods_of(sentence, NEVER)
    assert "crosses" not in methods_of(sentence, f"{SIZES[0]}")
    assert sentence in made("answers", results).notes


def test_one_seed_tests_nothing_and_who_asks_nothing_has_no_lines(asked, long_curves) -> None:
    single = dataclasses.replace(asked, outputs=long_curves(CURVES, (1,), (20, 40)), evidence={"extracts": Oracles()})
    found = sentences(Results(single, Bootstrap(resamples=50)), "notes")
    assert found
    assert all("above" in methods_of(one, NOT_TESTED) for one in found)
    silent = Results(dataclasses.replace(single, questions=()), Bootstrap(resamples=50))
    assert sentences(silent, "notes") == []
    assert made("lines", silent).rows == []


def test_nobody_is_ahead_or_behind_by_what_is_not_to_be_read(asked, monkeypatch) -> None:
    monkeypatch.setattr(Results, "unread", lambda self, corpus, metric: metric == "rouge1")
    results = Results(asked, Bootstrap(resamples=100))
    rows = made("lines", results).rows
    of = {title: [row for row in rows if f"{row['metric']}" == title] for title in ("ROUGE-1‡", "ROUGE-2")}
    assert all(of.values())
    assert not any(row.get(column) for row in of["ROUGE-1‡"] for column in ("ahead_of", "not_shown", "behind"))
    assert all(row["score"].mark == "‡" for row in of["ROUGE-1‡"])
    assert any(row.get("ahead_of") for row in of["ROUGE-2"])

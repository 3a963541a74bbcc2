"""A study's questions are answered as far as curves whose distance is known allow, and "not known" beyond."""

import dataclasses
import re

import pytest
from pydantic import ValidationError

from sumcurve.settings.study import Bootstrap, Question
from sumcurve.study.tables import made
from sumcurve.tables.questions import NO, NOT_KNOWN, YES, sentences
from sumcurve.tables.results import Results

SIZES = (400, 800, 1600)
CURVES = {"steep": (40.0, 12.0), "flat": (20.0, 0.0), "twin": (20.0, 0.0)}  # level and points for a doubling
WHICH = Question(question="Which method with N?", asks="method")
DOUBLING = Question(question="Is 2 N worth it?", asks="doubling", worth=4.0)


@pytest.fixture(scope="module")
def results(long_curves, study) -> Results:
    outputs = long_curves(CURVES, (1, 2, 3), (20, 40, 80))
    by_records = [dataclasses.replace(one, percent=None) if one.records else one for one in outputs]
    questions = [WHICH, DOUBLING]
    return Results(dataclasses.replace(study, outputs=by_records, questions=questions), Bootstrap(resamples=50))


@pytest.fixture(scope="module")
def rows(results) -> list:
    return list(made("questions", results).frame().itertuples())


def test_sizes_in_records_are_sizes(results) -> None:
    assert results.sizes("notes") == list(SIZES)
    assert {one.seeds for one in results.of("notes", True)} == {(1, 2, 3)}


def test_the_method_that_is_ahead_of_all_others_is_the_answer_and_no_other(results, rows) -> None:
    found = {row.records: row.answer for row in rows if row.question == WHICH.question}
    assert set(found) == set(SIZES)
    for size, answer in found.items():
        ahead = results.ahead("notes", "rouge1", size)
        assert answer == (ahead[0] if ahead else NOT_KNOWN)
    assert found[1600] == "steep"


def test_sizes_of_which_the_same_is_said_share_an_answer_and_all_are_said(results, rows) -> None:
    which, doubling = sentences(results, "notes")
    assert which.startswith(WHICH.question)
    for told, question in ((which, WHICH), (doubling, DOUBLING)):
        said = [re.match(r"([\d,]+(?:(?:, | and )[\d,]+)*)( \w+)?: ", one) for one in told.split("? ")[-1].split("; ")]
        assert all(said)
        found = [(int(size.replace(",", "")), one[2]) for one in said for size in re.split(", | and ", one[1])]
        of = [row for row in rows if row.question == question.question]
        assert len(found) == len(set(found)) == len(of)
        assert {size for size, _ in found} == {row.records for row in of}
    answers = {row.records: row.answer for row in rows if row.question == WHICH.question}
    same = [f"{size:,}" for size, answer in answers.items() if answer == "steep"]
    assert f"{' and '.join(filter(None, [', '.join(same[:-1]), same[-1]]))}: steep" in which


def test_twice_the_records_are_worth_it_where_the_whole_interval_says_so(results, rows) -> None:
    found = [row for row in rows if row.question == DOUBLING.question]
    assert {(row.method, row.records) for row in found} == {(name, size) for name in CURVES for size in SIZES[:2]}
    for row in found:
        means = [
            results.estimate("notes", "rouge1", (row.method, size)).mean for size in (row.records, 2 * row.records)
        ]
        assert row.value == pytest.approx(means[1] - means[0])
        one = results.contrast("notes", "rouge1", {(row.method, 2 * row.records): 1, (row.method, row.records): -1})
        assert row.value_low < one.low < one.high < row.value_high  # of all answers together, so wider than alone
        expected = YES if row.value_low >= 4 else NO if row.value_high < 4 else NOT_KNOWN
        assert row.answer == expected
    assert {row.answer for row in found if row.method == "steep"} <= {YES, NOT_KNOWN}
    assert {row.answer for row in found if row.method != "steep"} <= {NO, NOT_KNOWN}


def test_answers_say_the_questions_first_and_one_seed_is_not_known(results, long_curves, study) -> None:
    notes = made("answers", results).notes
    assert notes[0].startswith(WHICH.question)
    assert notes[1].startswith(DOUBLING.question)
    outputs = long_curves(CURVES, (1,), (20, 40))
    single = Results(dataclasses.replace(study, outputs=outputs, questions=[DOUBLING, WHICH]), Bootstrap(resamples=50))
    assert set(made("questions", single).frame().answer) == {NOT_KNOWN}


def test_a_question_says_what_is_worth_it_where_it_asks_for_that_and_nowhere_else() -> None:
    for told in ({"asks": "doubling"}, {"asks": "method", "worth": 1.0}, {"asks": "pretraining", "methods": ["abs"]}):
        with pytest.raises(ValidationError, match=r"doubling"):
            Question.model_validate({"question": "?", **told})

"""What the table says of the questions about references."""

import dataclasses

import pytest

from sumcurve.capabilities.apes.evidence import AskedOfPart, Questions
from sumcurve.settings.study import Bootstrap
from sumcurve.study.tables import made
from sumcurve.tables.results import Results

GUESSES = {"chance": 0.2, "majority": 0.25, "frequency": 0.5}
LEFT_OUT = {"no entity": 90, "one entity": 60, "no question": 0}
TEST = AskedOfPart("notes", "test", 200, 50, LEFT_OUT, 125, 150, 120, GUESSES)
TRAIN = dataclasses.replace(TEST, part="train", references=400, not_asked=TEST.not_asked | {"no entity": 290})
NOBODY = AskedOfPart(
    "notes", "valid", 20, 0, dict.fromkeys(LEFT_OUT, 0) | {"no entity": 20}, 0, 0, 0, dict.fromkeys(GUESSES)
)


@pytest.fixture(scope="module")
def table(study):
    asked = {"apes": Questions([TEST, NOBODY, TRAIN])}
    return made("cloze", Results(dataclasses.replace(study, evidence=asked), Bootstrap(resamples=50)))


def test_shares_are_of_references_and_of_questions_and_guesses_of_answerable_ones(table) -> None:
    row = next(row for row in table.rows if row["part"] == "test")
    assert row["asked_percent"] * row["references"] == pytest.approx(100 * row["asked"])
    assert row["answerable_percent"] * row["questions"] == pytest.approx(100 * row["answerable"])
    assert row["entities"] * row["asked"] == pytest.approx(TEST.entities)
    assert row["questions_each"] * row["asked"] == pytest.approx(TEST.questions)
    assert {guess: row[guess] for guess in GUESSES} == {guess: 100 * share for guess, share in GUESSES.items()}


def test_every_reference_is_in_a_row_and_where_nothing_is_asked_a_cell_is_empty(table) -> None:
    frame = table.frame()
    assert list(frame.part) == ["train", "valid", "test"]
    assert list(frame[["asked", *LEFT_OUT]].sum(axis=1)) == list(frame.references)
    row = next(row for row in table.rows if row["part"] == "valid")
    assert [row[key] for key in ("entities", "answerable_percent", *GUESSES)] == [None] * 5

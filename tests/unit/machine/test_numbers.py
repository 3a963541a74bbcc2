"""Numbers in files: decimal notation and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.machine.numbers import finite


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_finite_number_is_read_as_it_is_written(number: float) -> None:
    assert finite(repr(number)) == number


@pytest.mark.parametrize("text", ["1", " 1.5\n", "+.5", "-2.", "1e-3", "1E3"])
def test_forms_that_people_write(text: str) -> None:
    assert finite(text) == float(text)


@pytest.mark.parametrize(
    "text", [None, "", " ", "nan", "inf", "-Infinity", "1e999", "1_0", "1,5", "1 2", "٣", "0x1", "1e"]
)
def test_other_texts_are_no_numbers(text: str | None) -> None:
    assert finite(text) is None

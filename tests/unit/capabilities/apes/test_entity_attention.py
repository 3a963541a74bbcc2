"""Where attention looks: shares of fifths."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sumcurve.capabilities.apes.entity_attention import LooksAt, fifths


def test_a_fifth_has_what_stands_in_it() -> None:
    assert fifths(np.array([0, 0, 0, 1, 0, 0, 0, 0, 0, 3.0])) == pytest.approx([0, 25, 0, 0, 75])
    assert fifths(np.array([2.0])) == pytest.approx([20] * 5)  # one token is every fifth
    assert fifths(np.array([1.0, 0, 0])) == pytest.approx([60, 40, 0, 0, 0])


@given(arrays(float, st.integers(1, 30), elements=st.floats(0.01, 1)))
def test_fifths_are_shares_and_turn_with_the_text(values: np.ndarray) -> None:
    found = fifths(values)
    assert sum(found) == pytest.approx(100)
    assert fifths(values[::-1]) == pytest.approx(found[::-1])


def test_only_outputs_of_models_with_the_layer_are_scored() -> None:
    run = {"model": {"entity_attention": True}, "entities": "annotations/e-1"}
    plain = {"model": {"entity_attention": False}}
    specifications = {
        "runs/a": run,
        "runs/b": plain,
        "outputs/a": {"run": "runs/a"},
        "outputs/b": {"run": "runs/b"},
        "outputs/before": {"run": "runs/a", "checkpoint": "before"},
        "outputs/lead": {"system": "lead"},
    }
    found = {key: LooksAt(None).inputs(key, [], specifications) for key in specifications if key.startswith("outputs")}
    assert found.pop("outputs/a") == {"runs/a": "run", "annotations/e-1": "entities"}
    assert set(found.values()) == {None}

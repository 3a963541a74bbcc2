import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sumcurve.curves.fit import Curves, Extrapolation, NoCurve

SPEC = importlib.util.spec_from_file_location("held_back", Path(__file__).parents[3] / "benchmarks" / "held_back.py")
assert SPEC is not None
assert SPEC.loader is not None
benchmark = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = benchmark  # dataclasses look their module up
SPEC.loader.exec_module(benchmark)
held_back, summary = benchmark.held_back, benchmark.summary

SIZES = np.array([100.0, 200.0, 360.0, 640.0, 1120.0, 2000.0])
QUICK = Extrapolation(draws=1000)


def curves(noise: float = 0.2, seed: int = 0) -> Curves:
    """Two curves that never meet, and a third that rises through them at the last size alone."""
    x = np.log(SIZES / 2000)
    truth = np.stack([25 + 2 * x, 22 + 2 * x, 18 + 1.5 * x])
    generator = np.random.default_rng(seed)
    scores = truth + noise * generator.standard_normal(truth.shape)
    return Curves(("a", "b", "c"), SIZES, scores, noise * generator.standard_normal((500, *truth.shape)))


def test_the_largest_size_has_no_say_in_what_is_told_of_it() -> None:
    made = curves()
    changed = made.scores.copy()
    changed[:, -1] += [3.0, -2.0, 5.0]
    (found, pairs), (again, others) = held_back(made, QUICK), held_back(replace(made, scores=changed), QUICK)
    assert [one.told for one in found] == [one.told for one in again]
    assert [one.ahead for one in pairs] == [one.ahead for one in others]
    assert [one.measured for one in again] == changed[:, -1].tolist()
    assert {one.fitted_to for one in found} == {640.0}


def test_steady_curves_are_told_right_and_a_jump_is_counted_against() -> None:
    made = curves()
    told = summary(*held_back(made, QUICK))
    assert told["bands that hold the measured score"] == 1
    assert told["stated verdicts with the first ahead at the largest size"] == 1
    assert told["Brier score"] < 0.05
    jumped = made.scores.copy()
    jumped[2, -1] = 60.0
    worse = summary(*held_back(replace(made, scores=jumped), QUICK))
    assert worse["bands that hold the measured score"] == pytest.approx(2 / 3)
    assert worse["stated verdicts clearly wrong"] == pytest.approx(2 / 3)
    assert worse["Brier score"] > 0.5


def test_the_band_is_of_a_measurement() -> None:
    made = curves()
    noisier = made.errors.copy()
    noisier[:, :, -1] *= 10
    narrow, wide = (held_back(replace(made, errors=errors), QUICK)[0][0] for errors in (made.errors, noisier))
    assert wide.told[2] - wide.told[0] > narrow.told[2] - narrow.told[0]


def test_what_cannot_be_checked_is_refused_with_the_reason() -> None:
    made = curves()
    with pytest.raises(NoCurve, match="3 sizes; a learning curve needs"):
        held_back(Curves(made.methods, SIZES[1:], made.scores[:, 1:], made.errors[..., 1:]), QUICK)
    far = np.append(SIZES[:-1], 9000.0)
    with pytest.raises(NoCurve, match=r"up to 1,120, then 9,000: more than 4 times"):
        held_back(replace(made, sizes=far), QUICK)
    lacking = made.scores.copy()
    lacking[0, -1] = np.nan
    found, pairs = held_back(replace(made, scores=lacking), QUICK)
    assert ([one.method for one in found], len(pairs)) == (["b", "c"], 1)

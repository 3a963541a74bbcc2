"""Curves of recorded studies, fitted to their smaller sizes, are right about the largest."""

import importlib.util
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "benchmarks"


@pytest.mark.parametrize("seed", [None, 1])
def test_the_largest_size_is_as_the_smaller_ones_say(monkeypatch, seed) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location("recorded_curves", FOLDER / "recorded_curves.py")
    assert spec is not None
    assert spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    sys.modules["recorded_curves"] = benchmark
    spec.loader.exec_module(benchmark)
    figures = benchmark.figures(seed)
    assert figures["studies"] >= 2
    assert figures["bands that hold the measured score"] > 0.9
    assert figures["stated verdicts clearly wrong"] < 0.05
    assert figures["Brier score"] < figures["Brier score of staying ahead"]

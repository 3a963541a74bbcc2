"""Curves of anybody's trainings: the fits of the table verdicts, and what refuses."""

import json

import numpy as np
import pandas as pd
import pytest

import sumcurve as sc
from sumcurve.curves.runs import curves_of_runs
from sumcurve.machine.arguments import CommandError

SIZES = (100, 200, 400, 800, 1600)


def trainings(seeds: tuple[int, ...] = (1, 2, 3), noise: float = 0.2, sizes: tuple[int, ...] = SIZES) -> pd.DataFrame:
    """Two methods that rise by 3 and 2 points a doubling, the first ahead at all sizes."""
    generator = np.random.default_rng(4)
    rows = [
        (method, size, seed, level + gain * np.log2(size / 1600) + generator.normal(0, noise))
        for method, level, gain in (("steep", 40, 3), ("flat", 33, 2))
        for size in sizes
        for seed in seeds
    ]
    return pd.DataFrame(rows, columns=["method", "records", "seed", "score"])


def test_what_a_curve_says_of_its_own_continuation() -> None:
    found = sc.curve(trainings(), reach=[40.5, 60])
    (verdict,) = found.to_pandas("verdicts").to_dict("records")
    assert (verdict["verdict"], verdict["first"], verdict["second"]) == ("ahead throughout", "steep", "flat")
    expected = found.to_pandas("expected").set_index(["method", "size"])
    at = expected.loc[("steep", 3200)]
    assert at.expected_low < 43 < at.expected_high
    assert np.isnan(at.measured)
    assert expected.index.get_level_values("size").max() == 4 * SIZES[-1]
    needed = found.to_pandas("needed").set_index(["method", "score"])
    near, far = needed.loc[("steep", 40.5)], needed.loc[("steep", 60.0)]
    assert 1600 < near.records_low < near.records < near.records_high
    assert near.reached > far.reached
    assert pd.isna(far.records)
    assert "> 6,400" in far.shown
    assert found.bands["size"].max() == pytest.approx(4 * SIZES[-1])
    assert json.dumps(found.to_dict())
    assert found.plot().to_dict()["layer"]


def test_the_unit_and_the_direction_change_no_verdict() -> None:
    frame = trainings()
    plain = sc.curve(frame)
    shares = sc.curve(frame.assign(score=frame.score / 100))
    losses = sc.curve(frame.assign(score=100 - frame.score), lower_is_better=True)
    own, of_shares, of_losses = (found.to_pandas("verdicts").iloc[0] for found in (plain, shares, losses))
    assert of_shares.difference == pytest.approx(own.difference / 100)
    assert of_shares.ahead_four_times == pytest.approx(own.ahead_four_times)
    assert (of_losses["first"], of_losses.verdict) == (own["first"], own.verdict)
    assert of_losses.difference == pytest.approx(own.difference, rel=0.2)
    low = losses.to_pandas("expected")
    assert (low.expected_low <= low.expected).all()


def test_noise_is_of_seeds_where_there_are_and_of_roughness_else() -> None:
    generator = np.random.default_rng(5)
    spread = {}
    for name, seeds in (("paired", 20), ("single", 1)):
        runs = {
            (f"m{method}", float(size)): {str(seed): float(generator.normal(10, 2)) for seed in range(seeds)}
            for method in range(40)
            for size in SIZES
        }
        curves, how = curves_of_runs(runs)
        spread[name] = float(np.median(curves.errors.std(axis=0))) * seeds**0.5
        assert ("Single runs" in how) == (seeds == 1)
        assert spread[name] == pytest.approx(2, rel=0.25)
    uneven = {
        ("m", float(size)): dict(zip("abc"[: 1 + size % 300 // 100], (1.0, 2.0, 3.0), strict=False)) for size in SIZES
    }
    assert "pooled" in curves_of_runs(uneven)[1]


def test_what_is_read_and_what_is_left_out_is_said_first() -> None:
    few = trainings(sizes=SIZES[:3]).replace({"method": {"steep": "few"}}).query("method == 'few'")
    first, _, second, *_ = repr(sc.curve(pd.concat([trainings(), few]).assign(host="x"))).splitlines()
    assert first == "Columns: method (method); records (size); seed (seed); score (score); not used: host."
    assert second == "Left out: few: 3 sizes; a learning curve needs 4."


def test_a_repeated_run_makes_no_band_much_wider_than_none() -> None:
    """Of one pair of runs alone the noise has one degree of freedom, with which a band is several times as wide."""
    frame = trainings(noise=0.6)
    single = frame[frame.seed == 1]
    repeated = frame[(frame.seed == 1) | ((frame.seed == 2) & (frame.method == "flat") & (frame.records == 1600))]
    widths = {}
    for name, runs in (("single", single.drop(columns="seed")), ("repeated", repeated)):
        expected = sc.curve(runs).to_pandas("expected")
        widths[name] = (expected.expected_high - expected.expected_low).mean()
    assert widths["repeated"] < 1.5 * widths["single"]


REFUSED = {
    "three sizes": (lambda frame: frame[frame.records < 800], {}, "3 sizes; a learning curve needs 4.*add sizes"),
    "twice": (lambda frame: frame.drop(columns="seed"), {}, "row 2: steep has a score at 100 already"),
    "size": (lambda frame: frame.assign(records=0), {}, "row 1: column records holds '0'"),
    "score": (lambda frame: frame.assign(score="x"), {"score": "score"}, "row 1: column score holds 'x'"),
    "score of one row": (
        lambda frame: frame.assign(score=[*frame.score[:-1].astype(str), "NaN"]),
        {},
        r"row 30: column score holds 'NaN': .*write one.*--score",
    ),
    "two scores": (
        lambda frame: frame.assign(rougeL=1.0, bleu=2.0).drop(columns="score"),
        {},
        r"scores may be rougeL, bleu .*sumcurve curve FILE --size records --score rougeL",
    ),
    "a seed written twice": (
        lambda frame: pd.concat([frame, frame.assign(seed="0" + frame.seed.astype(str))]),
        {},
        r"row 31: steep has a score at 100 already \(row 1\)",
    ),
    "no score to reach": (
        lambda frame: frame,
        {"reach": [40, float("nan")]},
        r"reach\[1\] is nan; give a finite number",
    ),
    "endless best": (lambda frame: frame, {"best": float("inf")}, "best is inf; give a finite number"),
    "best": (lambda frame: frame, {"best": 20}, "--best 20, and scores"),
}


@pytest.mark.parametrize("harmed", REFUSED)
def test_what_has_no_curve_is_refused(harmed) -> None:
    change, options, message = REFUSED[harmed]
    with pytest.raises(CommandError, match=message):
        sc.curve(change(trainings()), **options)

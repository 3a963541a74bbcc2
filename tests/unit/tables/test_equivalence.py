"""Twins against curves whose distance is known: equal, far apart, and too noisy to say."""

import dataclasses

import pytest

from sumcurve.settings.study import Bootstrap, Equivalence
from sumcurve.statistics.intervals import Estimate
from sumcurve.study.tables import made
from sumcurve.tables.equivalence import DIFFERENT, EQUIVALENT, OPEN, judged
from sumcurve.tables.evidence import EvidenceError
from sumcurve.tables.results import Results

SIZES = (200, 800, 2000)


@pytest.fixture(scope="module")
def curves(long_curves):
    levels = {"ours": (30.0, 5.0), "same": (30.0, 5.0), "far": (12.0, 5.0)}
    return long_curves(levels, (1, 2, 3), (10, 40, 100))


def results(study, curves, margin: float, metric: str = "rouge1") -> Results:
    told = Equivalence(methods={"same": "ours", "far": "ours"}, margin=margin, metric=metric)
    return Results(dataclasses.replace(study, outputs=curves, equivalence=told), Bootstrap(resamples=50))


def test_every_size_has_a_row_whose_difference_is_that_of_comparisons(study, curves) -> None:
    found = results(study, curves, 9.0)
    frame = made("equivalence", found).frame()
    assert {(row.method, row.records) for row in frame.itertuples()} == {(m, s) for m in ("same", "far") for s in SIZES}
    for row in frame.itertuples():
        pair = found.pair("notes", "rouge1", row.records, (row.method, row.records), (row.other, row.records))
        assert (row.difference, row.difference_low, row.difference_high) == pytest.approx(
            (pair.difference.mean, pair.difference.low, pair.difference.high)
        )
        assert row.score - row.other_score == pytest.approx(row.difference)
        inside = max(abs(row.difference_low), abs(row.difference_high)) < 9
        beyond = row.difference_high < -9
        assert row.says == (EQUIVALENT if inside else DIFFERENT if beyond else OPEN)
    says = {row.method: row.says for row in frame.itertuples() if row.records == 2000}
    assert says == {"same": EQUIVALENT, "far": DIFFERENT}
    frame = made("equivalence", results(study, curves, 1e-6)).frame()
    assert set(frame[frame.method == "same"].says) == {OPEN}


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [
        (-1.4, 1.4, EQUIVALENT),
        (0.2, 1.4, EQUIVALENT),  # a difference, and too small to matter
        (-1.5, 1.0, OPEN),
        (1.5, 3.0, OPEN),
        (1.6, 3.0, DIFFERENT),
        (-3.0, -1.6, DIFFERENT),
        (-3.0, 3.0, OPEN),
    ],
)
def test_what_an_interval_says_of_a_margin(low, high, says) -> None:
    assert judged(Estimate((low + high) / 2, low, high, None, None, None, "items"), 1.5) == says


def test_a_metric_that_does_not_rank_is_named_with_those_that_do(study, curves) -> None:
    with pytest.raises(EvidenceError, match=r"no metric 'length' that ranks in this study; there are: rouge1, "):
        made("equivalence", results(study, curves, 1.0, "length"))

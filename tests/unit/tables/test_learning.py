import dataclasses
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from sumcurve.curves.fit import (
    FURTHEST,
    LEAST_SIZES,
    Curves,
    Extrapolation,
    FamilyScore,
    Fits,
    fit_curves,
    judge,
    measured,
)
from sumcurve.curves.verdict import verdict
from sumcurve.scores.rouge import METRICS
from sumcurve.tables import layout, learning
from sumcurve.tables.cells import seed_variances
from sumcurve.tables.evidence import TRIVIAL, align, groups
from sumcurve.tables.learning import Learned, learn


@pytest.fixture(scope="module")
def outputs(evidence, long_curves):
    """Six sizes of the corpus notes, the last of which abs lacks, for two seeds; one size of albums."""
    methods = {"abs": (0.2, 0.05), "pcov": (0.3, 0.03), "trans": (0.1, 0.0)}
    percents = (10, 20, 30, 40, 60, 80, 100)
    made = long_curves(methods, (1, 2), percents)
    kept = [one for one in made if (one.method, one.percent) != ("abs", 100)]
    return [*kept, *(one for one in evidence((1, 2)) if one.corpus == "albums")]


@pytest.fixture(scope="module")
def learned(outputs, settings) -> Learned:
    aligned = align(outputs)
    return learn(aligned, seed_variances(aligned, settings), settings)


def trained(outputs, corpus):
    return [g for g in groups(align(outputs)) if g[0].output.corpus == corpus and g[0].output.method not in TRIVIAL]


def made_of(**draws) -> Learned:
    """Fits that are these draws of each method's curve ``[draws, sizes]``, from its largest size of 2,000 on."""
    sizes = np.geomspace(2000, 8000, 25)
    score = FamilyScore("any", "", 1.0, (0.0, 0.0), (0.0, 0.0), (1.0, 1.0), 1)
    scores = np.stack([line(np.log(sizes / 2000)) for line in draws.values()], axis=1)
    names, largest = tuple(draws), np.full(len(draws), 2000.0)
    fits = Fits(names, largest, sizes, scores, (), score, (), {}, Extrapolation(), True)
    return Learned({("notes", "rouge1"): fits}, {})


def test_a_corpus_with_few_sizes_is_refused_and_the_others_go_on(learned) -> None:
    assert set(learned.refused) == {"albums"}
    assert f"needs {LEAST_SIZES}" in learned.refused["albums"]
    assert set(learned.fits) == {("notes", metric) for metric in METRICS}
    for table in (learning.bands, learning.verdicts):
        assert set(table(learned).corpus) == {"notes"}


def test_five_sizes_are_too_few_and_the_tables_keep_their_columns(long_curves, learned, settings) -> None:
    aligned = align(long_curves({"abs": (0.2, 0.05)}, (1,), (10, 20, 40, 60, 100)))
    found = learn(aligned, seed_variances(aligned, settings), settings)
    assert (set(found.fits), set(found.refused)) == (set(), {"notes"})
    assert "abs: 5 sizes" in found.refused["notes"]
    for table, shown in ((learning.families, layout.families), (learning.verdicts, layout.verdicts)):
        assert (len(table(found)), list(table(found).columns)) == (0, list(table(learned).columns))
        assert list(shown(table(found)).columns) == list(shown(table(learned)).columns)
    assert len(learning.bands(found)) == 0


def test_a_method_with_few_sizes_is_refused_and_the_others_go_on(long_curves, settings) -> None:
    outputs = long_curves({"abs": (0.2, 0.05), "pcov": (0.3, 0.03)}, (1,))
    aligned = align([one for one in outputs if (one.method, one.percent) != ("abs", 10)])
    found = learn(aligned, seed_variances(aligned, settings), settings)
    assert f"abs: 5 sizes; a learning curve needs {LEAST_SIZES}" in found.refused["notes"]
    assert "pcov" not in found.refused["notes"]
    assert set(learning.bands(found).method) == {"pcov"}
    assert len(learning.verdicts(found)) == 0


def test_a_corpus_without_a_trained_method_is_refused(evidence, settings) -> None:
    """Of a study in part, the trivial systems may be all that is finished."""
    aligned = align([one for one in evidence() if one.corpus == "notes" or one.method in TRIVIAL])
    found = learn(aligned, seed_variances(aligned, settings), settings)
    assert set(found.refused) == {"notes", "albums"}
    assert found.fits == {}


def test_bands_go_from_the_smallest_size_to_four_times_the_largest(learned, outputs) -> None:
    frame = learning.bands(learned)
    sizes = {(one.method, one.records) for one in outputs if one.corpus == "notes" and one.percent is not None}
    for (method, metric), rows in frame.groupby(["method", "metric"]):
        own = [records for name, records in sizes if name == method]
        assert list(rows.records) == sorted(rows.records)
        assert (rows.records.min(), rows.records.max()) == (200, FURTHEST * max(own))
        assert set(own) <= set(rows.records)
        beyond = rows[rows.beyond]
        assert (beyond.records.min(), beyond.records.max()) == (max(own), FURTHEST * max(own))
        assert (rows[~rows.beyond].records < max(own)).all()
        assert ((rows.low <= rows.middle) & (rows.middle <= rows.high)).all()
        low, middle, high = learned.fits["notes", metric].band(method, max(own) * np.array([1.0, FURTHEST]))
        ends = rows[rows.records.isin([max(own), FURTHEST * max(own)])]
        assert np.allclose(ends[["low", "middle", "high"]], np.stack([low, middle, high], axis=1))
        assert high[1] - low[1] > high[0] - low[0]
    assert {(method, max(r for name, r in sizes if name == method)) for method in ("abs", "pcov")} == {
        ("abs", 1600),
        ("pcov", 2000),
    }


def test_bands_hold_the_measured_scores(learned, outputs) -> None:
    """Of 95 % bands about the true curve at the sizes measured, most hold the means found there."""
    frame = learning.bands(learned).set_index(["method", "metric", "records"])
    inside = []
    for group in trained(outputs, "notes"):
        for index, metric in enumerate(METRICS):
            band = frame.loc[(group[0].output.method, metric, group[0].output.records)]
            inside.append(bool(band.low <= np.mean([one.scores[index] for one in group]) <= band.high))
    assert np.mean(inside) > 0.9


def test_verdicts_are_those_of_the_curves_for_every_pair(learned) -> None:
    frame = learning.verdicts(learned)
    assert len(frame) == len(METRICS) * 3
    for metric in METRICS:
        rows = frame[frame.metric == metric]
        fits = learned.fits["notes", metric]
        for (first, second), row in zip(combinations(fits.methods, 2), rows.itertuples(), strict=True):
            one = verdict(fits, first, second)
            assert {row.first, row.second} == {first, second}
            assert (row.first, row.second, row.verdict, row.sentence) == (one.first, one.second, one.kind, one.sentence)
            assert (row.low, row.difference, row.high) == pytest.approx(one.difference)
            assert (row.at_records, row.up_to_records) == (one.size, one.furthest)
            assert row.at_records == (1600 if "abs" in (first, second) else 2000)
            assert row.up_to_records == FURTHEST * row.at_records
            assert row.probability == one.probability


def test_a_crossing_is_told_with_its_interval() -> None:
    """b starts 1 above a; a rises by 2 to 3 for each factor of e, and so crosses at 2,000·e^(1/2 to 1/3)."""
    slopes = np.linspace(2, 3, 1001)
    found = made_of(a=lambda x: slopes[:, None] * x, b=lambda x: np.ones((1001, 1)) + 0 * x)
    (row,) = learning.verdicts(found).to_dict("records")
    assert (row["verdict"], row["first"], row["second"]) == ("overtaken", "a", "b")
    assert row["difference"] == pytest.approx(-1)
    assert row["from_records"] == pytest.approx(2000 * np.exp(1 / 2.5), rel=0.01)
    assert row["from_low"] == pytest.approx(2000 * np.exp(1 / 3), rel=0.01)
    assert row["from_high"] == pytest.approx(2000 * np.exp(1 / 2), rel=0.01)
    assert row["from_low"] < row["from_records"] < row["from_high"] < row["up_to_records"]
    assert row["sentence"] in list(layout.verdicts(learning.verdicts(found)).verdict)


def test_no_crossing_is_told_where_none_is_claimed() -> None:
    found = made_of(a=lambda x: np.ones((101, 1)) + 0 * x, b=lambda x: np.zeros((101, 1)) + 0 * x)
    (row,) = learning.verdicts(found).to_dict("records")
    assert (row["verdict"], row["first"]) == ("ahead throughout", "a")
    assert all(pd.isna(row[name]) for name in ("from_records", "from_low", "from_high"))


def test_families_are_weighed_on_all_curves_of_the_study(learned) -> None:
    frame = learning.families(learned)
    *ranked, average = frame.to_dict("records")
    assert (average["family"], average["weight"]) == ("average", 1.0)
    assert sum(row["weight"] for row in ranked) == pytest.approx(1)
    assert [row["weight"] for row in ranked] == sorted((row["weight"] for row in ranked), reverse=True)
    assert set(frame.curves) == {3 * len(METRICS)}  # methods and metrics of notes; albums has no curve
    assert frame[[f"coverage_{held}" for held in (1, 2)]].apply(lambda column: column.between(0, 1)).all(axis=None)
    fits = list(learned.fits.values())
    assert all(one.families == fits[0].families for one in fits)


@pytest.fixture(scope="module")
def curves(outputs, settings, cell_of, pooled) -> list[Curves]:
    """Of each metric, from the scores looked up by hand."""
    places = sorted({(one.method, one.percent) for one in outputs if one.corpus == "notes" and one.percent})
    return [
        measured(
            [cell_of(outputs, "notes", *place, metric) for place in places],
            pooled(outputs, "notes", metric),
            settings,
        )
        for metric in METRICS
    ]


def test_fits_are_of_all_seeds_and_items_and_the_judgement_of_all_metrics(learned, curves, settings) -> None:
    extrapolation = Extrapolation(confidence=settings.confidence, seed=settings.seed)
    judged = [judge(one, extrapolation) for one in curves]
    together = fit_curves(curves[2], extrapolation, judged[0] + judged[1] + judged[2])
    assert np.allclose(learned.fits["notes", METRICS[2]].draws, together.draws)
    alone = fit_curves(curves[2], extrapolation, judged[2])
    assert not np.allclose(learned.fits["notes", METRICS[2]].draws, alone.draws)


def test_errors_of_items_are_shared_by_all_methods(learned, outputs, settings) -> None:
    """What an easier test set would give one method, it would give another, unless each had items of its own."""
    aligned = align(
        [
            dataclasses.replace(one, ids=[*one.ids[7:], *one.ids[:7]])
            if (one.corpus, one.method) == ("notes", "abs")
            else one
            for one in outputs
        ]
    )
    apart = learn(aligned, seed_variances(aligned, settings), settings)
    shared, own = (
        np.corrcoef(*(found.fits["notes", "rouge1"].predict(method, 1200)[:, 0] for method in ("abs", "pcov")))[0, 1]
        for found in (learned, apart)
    )
    assert own < 0.3 < 0.6 < shared

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from sumcurve.curves import efficiency
from sumcurve.curves.efficiency import Point
from sumcurve.curves.variance import Cell, linear, quotient
from sumcurve.scores.comparison import bca_interval
from sumcurve.scores.rouge import METRICS
from sumcurve.tables.cells import seed_variances
from sumcurve.tables.efficiencies import efficiencies, measure, seeds, sigma, stopping_rules
from sumcurve.tables.evidence import align

FROM_SECONDS = ["Theta_seconds_per_1000_records", "E_per_hour", "theta_percent", "epsilon"]
WITHOUT_SECONDS = ["Sigma_per_1000_records", "sigma_percent", "theta_updates_percent", "theta_examples_percent"]
RULES = ("common", "fixed updates", "fixed epochs", "within")


def sigmas(outputs, settings, ceilings=()):
    optima = {}
    for one in ceilings:
        optima.setdefault(one.corpus, {})[one.metric] = one.percents()
    return sigma(measure(align(outputs), optima, settings))


def thetas(outputs, settings):
    aligned = align(outputs)
    return efficiencies(measure(aligned, {}, settings), aligned)


def ends(outputs, row, cell_of):
    """The cells of the two trainings of a row."""
    return [
        cell_of(outputs, row.corpus, row.method, percent, row.metric) for percent in (row.from_percent, row.to_percent)
    ]


def mean_cost(outputs, row, unit, percent):
    """The geometric mean over seeds."""
    found = [
        getattr(one.timing, unit)
        for one in outputs
        if (one.corpus, one.method, one.percent) == (row.corpus, row.method, percent)
    ]
    return float(np.prod(found) ** (1 / len(found)))


def changed(outputs, method, percent, metric, value):
    """The outputs with one score of all items of one training replaced."""
    return [
        dataclasses.replace(one, items=[{**item, metric: value} for item in one.items])
        if (one.method, one.percent) == (method, percent)
        else one
        for one in outputs
    ]


# --- which intervals there are


def test_every_curve_has_its_steps_and_the_whole(evidence, settings) -> None:
    frame = sigmas(evidence((1, 2)), settings)
    assert set(frame.corpus) == {"notes"}  # albums has one size
    for _, rows in frame.groupby(["method", "metric"]):
        assert list(rows.interval) == ["step", "step", "whole"]
        assert list(rows.marks) == ["leftmost", "rightmost", ""]
        assert list(zip(rows.from_percent, rows.to_percent, strict=True)) == [(25, 50), (50, 100), (25, 100)]
        assert list(zip(rows["from_records"], rows["to_records"], strict=True)) == [
            (500, 1000),
            (1000, 2000),
            (500, 2000),
        ]
    assert len(frame) == 2 * 3 * len(METRICS)
    assert set(frame.seeds) == {2}


@pytest.mark.parametrize(
    ("percents", "expected"),
    [
        ((25, 100), ["leftmost+rightmost"]),
        ((10, 25, 50, 100), ["leftmost", "middle", "rightmost", ""]),
        ((10, 25, 40, 50, 100), ["leftmost", "middle", "", "rightmost", ""]),
    ],
)
def test_marks_follow_the_papers_scheme(long_curves, settings, percents, expected) -> None:
    frame = sigmas(long_curves({"abs": (0.3, 0.02)}, (1,), percents), settings)
    assert list(frame[frame.metric == "rouge1"].marks) == expected
    assert (frame.interval == "whole").sum() == (len(METRICS) if len(percents) > 2 else 0)


def test_seeds_are_counted_at_the_end_that_has_fewer(evidence, settings) -> None:
    outputs = [one for one in evidence((1, 2, 3)) if (one.percent, one.seed) != (50, 3)]
    frame = sigmas(outputs, settings)
    assert ((frame.interval == "step") == (frame.seeds == 2)).all()
    assert set(frame.seeds) == {2, 3}


# --- sigma and its kin


def test_sigma_follows_from_the_scores(evidence, settings, cell_of) -> None:
    outputs = evidence((1, 2))
    for row in sigmas(outputs, settings).itertuples():
        first, second = (cell.scores.mean() for cell in ends(outputs, row, cell_of))
        growth = row.to_records / row.from_records - 1
        assert row.sigma_percent == pytest.approx(100 * (second / first - 1) / growth)
        slope = 1000 * (second - first) / (row.to_records - row.from_records)
        assert row.Sigma_per_1000_records == pytest.approx(slope)
        for name in ("sigma_percent", "Sigma_per_1000_records"):
            low, value, high = (getattr(row, f"{name}{end}") for end in ("_low", "", "_high"))
            assert low < value < high


def test_one_seed_has_intervals_of_items_and_says_so(evidence, settings, cell_of) -> None:
    outputs = evidence()
    frame = sigmas(outputs, settings)
    assert set(frame.source) == {"items"}
    parts = [f"{name}_seeds_{end}" for name in ("sigma_percent", "Sigma_per_1000_records") for end in ("low", "high")]
    assert frame[parts].isna().all(axis=None)
    for row in frame.itertuples():
        columns = np.stack([cell.scores[0] for cell in ends(outputs, row, cell_of)])
        growth = row.to_records / row.from_records - 1
        expected = bca_interval(columns, lambda means: 100 * (means[1] / means[0] - 1) / growth, settings)  # noqa: B023
        assert (row.sigma_percent_low, row.sigma_percent_high) == pytest.approx((expected.low, expected.high))
        assert (row.sigma_percent_items_low, row.sigma_percent_items_high) == pytest.approx(
            (row.sigma_percent_low, row.sigma_percent_high)
        )


def test_several_seeds_have_intervals_of_items_and_seeds(evidence, settings, cell_of, pooled) -> None:
    outputs = evidence((1, 2, 3))
    frame = sigmas(outputs, settings)
    assert set(frame.source) == {"items and seeds"}
    for row in frame.itertuples():
        cells, variance = ends(outputs, row, cell_of), pooled(outputs, row.corpus, row.metric)
        growth, added = row.to_records / row.from_records - 1, row.to_records - row.from_records
        expected = {
            "sigma_percent": quotient(cells, [-1, 1], [1, 0], variance, settings).scaled(100 / growth),
            "Sigma_per_1000_records": linear(cells, [-1, 1], variance, settings).scaled(1000 / added),
        }
        for name, estimate in expected.items():
            for part, bounds in (("", estimate.total), ("_items", estimate.items), ("_seeds", estimate.seeds)):
                found = getattr(row, f"{name}{part}_low"), getattr(row, f"{name}{part}_high")
                assert found == pytest.approx(bounds)
            total, items = (getattr(row, f"{name}{p}_high") - getattr(row, f"{name}{p}_low") for p in ("", "_items"))
            assert total >= items


def test_a_score_of_zero_leaves_sigma_empty_with_the_reason(evidence, settings) -> None:
    frame = sigmas(changed(evidence(), "pcov", 25, "rouge2", 0.0), settings)
    hit = (frame.method == "pcov") & (frame.from_percent == 25) & (frame.metric == "rouge2")
    assert frame[hit][["sigma_percent", "sigma_percent_low"]].isna().all(axis=None)
    assert (frame[hit].Sigma_per_1000_records > 0).all()
    assert frame[hit].reason.str.contains("the smaller training scores 0").all()
    assert frame[~hit].sigma_percent.notna().all()
    assert not frame[~hit].reason.str.contains("scores 0").any()


def test_a_start_that_cannot_be_told_from_zero_leaves_sigma_empty(evidence, settings) -> None:
    """One item of forty has a word in common: a mean above 0, but not significantly."""
    outputs = evidence()
    items = [{**item, "rouge2": 0.1 if number == 0 else 0.0} for number, item in enumerate(outputs[0].items)]
    assert (outputs[0].method, outputs[0].percent) == ("pcov", 25)
    frame = sigmas([dataclasses.replace(outputs[0], items=items), *outputs[1:]], settings)
    hit = frame[(frame.method == "pcov") & (frame.from_percent == 25) & (frame.metric == "rouge2")]
    assert hit.sigma_percent.isna().all()
    assert hit.reason.str.contains("not significantly above 0").all()


@pytest.mark.parametrize("given", [(1,), (1, 2, 3)])
def test_the_gap_closed_reads_the_optimum_of_each_item(evidence, ceilings, settings, cell_of, pooled, given) -> None:
    outputs = evidence(given)
    bounds = ceilings(outputs)
    assert all(list(one.ids) != sorted(one.ids) for one in bounds)
    known = {(one.corpus, one.metric): dict(zip(one.ids, one.optimum, strict=True)) for one in bounds}
    frame = sigmas(outputs, settings, bounds)
    misplaced = sigmas(
        outputs, settings, [dataclasses.replace(one, ids=sorted(one.ids), optimum=one.optimum) for one in bounds]
    )
    for row, wrong in zip(frame.itertuples(), misplaced.itertuples(), strict=True):
        by_id = known[row.corpus, row.metric]
        best = Cell("optimum", 0.0, (), np.array([[100 * by_id[name] for name in sorted(by_id)]]))
        cells, variance = ends(outputs, row, cell_of), pooled(outputs, row.corpus, row.metric)
        s1, s2 = (cell.scores.mean() for cell in cells)
        assert row.gap_closed_percent == pytest.approx(100 * (s2 - s1) / (best.scores.mean() - s1))
        expected = quotient([*cells, best], [-1, 1, 0], [-1, 0, 1], variance, settings).scaled(100)
        assert (row.gap_closed_percent_low, row.gap_closed_percent_high) == pytest.approx(expected.bounds)
        assert (row.gap_closed_percent_items_low, row.gap_closed_percent_items_high) == pytest.approx(expected.items)
        assert wrong.gap_closed_percent_items_low != pytest.approx(row.gap_closed_percent_items_low, rel=1e-6)
        assert row.reason == ""


def test_no_optimum_leaves_the_gap_empty_and_nothing_else(evidence, ceilings, settings) -> None:
    outputs = evidence()
    known = [one for one in ceilings(outputs) if one.metric == "rouge1"]
    frame = sigmas(outputs, settings, known)
    gap = [column for column in frame.columns if column.startswith("gap_closed")]
    hit = frame.metric != "rouge1"
    assert frame[hit][gap].isna().all(axis=None)
    assert (frame[hit].reason == "no extractive optimum is known").all()
    assert frame[~hit].gap_closed_percent.notna().all()
    pd.testing.assert_frame_equal(
        frame.drop(columns=[*gap, "reason"]), sigmas(outputs, settings).drop(columns=[*gap, "reason"])
    )


def test_a_training_at_the_optimum_has_no_gap_to_close(evidence, ceilings, settings) -> None:
    outputs = evidence()
    bounds = [dataclasses.replace(one, optimum=[0.2] * len(one.ids)) for one in ceilings(outputs)]
    frame = sigmas(outputs, settings, bounds)
    hit = frame[(frame.method == "pcov") & (frame.metric == "rouge1")]
    assert hit.gap_closed_percent.isna().all()
    assert hit.reason.str.contains("not below the extractive optimum").all()


# --- theta, epsilon and their kin


@pytest.mark.parametrize("given", [(1,), (1, 2, 3)])
def test_efficiency_follows_from_scores_and_timings(evidence, settings, cell_of, retimed, given) -> None:
    outputs = retimed(evidence(given), 0, updates=60, examples=2000)  # unlike the other seeds
    frame = thetas(outputs, settings)
    assert len(frame) == 2 * 3 * 3
    assert (frame.reason == "").all()
    for row in frame.itertuples():
        cells = ends(outputs, row, cell_of)

        def points(unit, row=row, cells=cells):
            return [
                Point(records, cell.scores.mean(), mean_cost(outputs, row, unit, percent))
                for records, percent, cell in zip(
                    (row.from_records, row.to_records), (row.from_percent, row.to_percent), cells, strict=True
                )
            ]

        seconds = points("seconds")
        assert row.theta_percent == pytest.approx(100 * efficiency.relative_cost_deficiency(*seconds))
        assert row.Theta_seconds_per_1000_records == pytest.approx(1000 * efficiency.cost_deficiency(*seconds))
        assert row.sigma_percent == pytest.approx(100 * efficiency.relative_score_efficiency(*seconds))
        assert row.epsilon == pytest.approx(row.sigma_percent / row.theta_percent)
        assert row.E_per_hour == pytest.approx(3600 * row.Sigma_per_1000_records / row.Theta_seconds_per_1000_records)
        for unit in ("updates", "examples"):
            expected = 100 * efficiency.relative_cost_deficiency(*points(unit))
            assert getattr(row, f"theta_{unit}_percent") == pytest.approx(expected)


def test_theta_has_an_interval_from_seeds_alone(evidence, settings, pooled_costs) -> None:
    assert thetas(evidence(), settings)[["theta_percent_low", "theta_percent_high"]].isna().all(axis=None)
    outputs = evidence((1, 2, 3))
    variance = pooled_costs(outputs, "notes")
    assert variance.degrees == 2 * 3 * 2
    reach = t.ppf(0.975, variance.degrees) * (variance.variance * 2 / 3) ** 0.5
    for row in thetas(outputs, settings).itertuples():
        costs = [mean_cost(outputs, row, "seconds", percent) for percent in (row.from_percent, row.to_percent)]
        growth = row.to_records / row.from_records - 1
        found = (row.theta_percent_low, row.theta_percent_high)
        expected = [100 * (costs[1] / costs[0] * factor - 1) / growth for factor in (np.exp(-reach), np.exp(reach))]
        assert found == pytest.approx(tuple(expected))


def test_epsilon_holds_its_value_and_one_seed_gives_it_an_interval_of_items(evidence, settings) -> None:
    for given in ((1,), (1, 2, 3)):
        frame = thetas(evidence(given), settings)
        assert ((frame.epsilon_low < frame.epsilon) & (frame.epsilon < frame.epsilon_high)).all()


def test_epsilon_is_empty_where_theta_is_not_significant(evidence, settings) -> None:
    """Seeds whose seconds differ tenfold cannot tell whether four times the data cost more."""
    outputs = [
        dataclasses.replace(one, timing=dataclasses.replace(one.timing, seconds=one.timing.seconds * 10**one.seed))
        if one.timing
        else one
        for one in evidence((1, 2, 3))
    ]
    frame = thetas(outputs, settings)
    assert ((frame.theta_percent_low < 0) & (frame.theta_percent > 0)).all()
    assert frame[["epsilon", "epsilon_low", "epsilon_high", "E_per_hour"]].isna().all(axis=None)
    assert (frame.reason == "the larger training is not significantly more costly than the smaller one").all()
    assert frame[["theta_percent", "Theta_seconds_per_1000_records", *WITHOUT_SECONDS]].notna().all(axis=None)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"device": "NVIDIA X1"}, ["devices", "NVIDIA X1", "cpu"]),
        ({"exclusive": False}, ["1 of 8", "shared"]),
    ],
)
def test_mixed_devices_and_shared_leases_refuse_all_seconds_and_nothing_else(
    evidence, settings, retimed, changes, words
) -> None:
    outputs = evidence()
    assert outputs[9].corpus == "albums"  # the refusal is for the table, not for the corpus
    frame, plain = thetas(retimed(outputs, 9, **changes), settings), thetas(outputs, settings)
    seconds = [name for name in frame.columns if name.startswith(("Theta", "E_", "theta_percent", "epsilon"))]
    assert {*FROM_SECONDS} < {*seconds}
    assert frame[seconds].isna().all(axis=None)
    pd.testing.assert_frame_equal(frame.drop(columns=[*seconds, "reason"]), plain.drop(columns=[*seconds, "reason"]))
    assert frame[WITHOUT_SECONDS].notna().all(axis=None)
    assert all(word in reason for word in ["θ, ε refused", *words] for reason in frame.reason)


def test_without_timing_only_the_intervals_it_touches_are_empty(evidence, settings) -> None:
    outputs = evidence()
    frame = thetas([dataclasses.replace(outputs[0], timing=None), *outputs[1:]], settings)
    touched = (frame.method == "pcov") & (frame.from_percent == 25)
    assert frame[touched][[*FROM_SECONDS, *WITHOUT_SECONDS[2:]]].isna().all(axis=None)
    assert (frame.reason[touched] == "no training cost is known").all()
    assert frame[~touched][[*FROM_SECONDS, *WITHOUT_SECONDS]].notna().all(axis=None)
    assert (frame.reason[~touched] == "").all()


def test_a_larger_training_that_costs_less_has_theta_but_no_epsilon(evidence, settings, retimed) -> None:
    outputs = evidence()
    assert (outputs[2].method, outputs[2].percent) == ("pcov", 100)
    frame = thetas(retimed(outputs, 2, seconds=50.0), settings)
    hit = (frame.method == "pcov") & (frame.to_percent == 100)
    assert (frame[hit].theta_percent < 0).all()
    assert frame[hit][["E_per_hour", "epsilon"]].isna().all(axis=None)
    assert (frame[hit].reason == "the larger training costs no more").all()
    assert frame[~hit].epsilon.notna().all()


def test_tables_without_rows_keep_their_columns(evidence, settings) -> None:
    single = [one for one in evidence() if one.corpus == "albums"]
    for table in (sigmas, thetas):
        empty, full = table(single, settings), table(evidence(), settings)
        assert (len(empty), list(empty.columns)) == (0, list(full.columns))
    empty, full = (stopping_rules(align(outputs), settings) for outputs in (single, evidence()))
    assert (len(empty), list(empty.columns)) == (0, list(full.columns))


# --- theta under other stopping rules


def by_rule(frame):
    return {rule: frame[frame.rule == rule] for rule in RULES}


@pytest.mark.parametrize("given", [(1,), (1, 2, 3)])
def test_every_interval_has_theta_by_every_rule(evidence, settings, given) -> None:
    aligned = align(evidence(given))
    frame = stopping_rules(aligned, settings)
    assert len(frame) == 2 * 3 * len(RULES)
    assert (frame.reason == "").all()
    rules = by_rule(frame)
    table = efficiencies(measure(aligned, {}, settings), aligned)
    table = table[table.metric == "rouge1"]
    assert list(rules["common"].theta_seconds_percent) == pytest.approx(list(table.theta_percent))
    assert list(rules["common"].theta_updates_percent) == pytest.approx(list(table.theta_updates_percent))
    assert list(rules["common"].theta_examples_percent) == pytest.approx(list(table.theta_examples_percent))
    assert list(rules["fixed updates"].theta_updates_percent) == pytest.approx([0.0] * 6)
    # the invented trainings see 16 items at every update, so passes over the items cost what the items are
    assert list(rules["fixed epochs"].theta_examples_percent) == pytest.approx([100.0] * 6)
    assert list(rules["fixed epochs"].theta_updates_percent) == pytest.approx([100.0] * 6)
    bounded = frame[["theta_seconds_percent_low", "theta_seconds_percent_high"]]
    assert bounded.notna().all(axis=None) if len(given) > 1 else bounded.isna().all(axis=None)


def test_the_common_rules_theta_has_the_interval_of_the_efficiency_table(evidence, settings) -> None:
    aligned = align(evidence((1, 2, 3)))
    rows = by_rule(stopping_rules(aligned, settings))["common"]
    table = efficiencies(measure(aligned, {}, settings), aligned)
    table = table[table.metric == "rouge1"]
    for end in ("low", "high"):
        assert list(rows[f"theta_seconds_percent_{end}"]) == pytest.approx(list(table[f"theta_percent_{end}"]))


def test_within_stops_at_the_first_validation_that_is_near_enough(evidence, settings) -> None:
    """The invented Histories are near enough at the fourth validation, but for pcov's at 100 %: at the first."""
    outputs = evidence()
    early = [dataclasses.replace(row, rouge=0.299) for row in outputs[2].history[:1]]
    assert (outputs[2].method, outputs[2].percent) == ("pcov", 100)
    outputs[2] = dataclasses.replace(outputs[2], history=(*early, *outputs[2].history[1:]))
    rows = by_rule(stopping_rules(align(outputs), settings))["within"].set_index(
        ["method", "from_percent", "to_percent"]
    )
    first, last = (0.8 * (50 + 3 * percent) for percent in (25, 100))
    assert rows.loc[("abs", 25, 100)].theta_updates_percent == pytest.approx(100 * (last / first - 1) / 3)
    assert rows.loc[("pcov", 25, 100)].theta_updates_percent == pytest.approx(100 * (last / 4 / first - 1) / 3)
    costs = [row.seconds for row in (outputs[0].history[3], outputs[2].history[0])]
    assert rows.loc[("pcov", 25, 100)].theta_seconds_percent == pytest.approx(100 * (costs[1] / costs[0] - 1) / 3)


def test_a_method_without_a_history_says_so_and_leaves_the_others(evidence, settings) -> None:
    outputs = evidence((1, 2))
    lost = next(place for place, one in enumerate(outputs) if (one.method, one.percent, one.seed) == ("pcov", 50, 2))
    outputs[lost] = dataclasses.replace(outputs[lost], history=())
    frame = stopping_rules(align(outputs), settings)
    values = [name for name in frame.columns if name.startswith("theta_")]
    hit = frame.method == "pcov"
    assert frame[hit][values].isna().all(axis=None)
    assert (frame[hit].reason == "no History was kept").all()
    assert frame[~hit][values].notna().all(axis=None)
    assert (frame[~hit].reason == "").all()


def test_histories_without_seconds_still_count_updates(evidence, settings) -> None:
    outputs = [
        dataclasses.replace(one, history=tuple(dataclasses.replace(row, seconds=None) for row in one.history))
        for one in evidence()
    ]
    frame = stopping_rules(align(outputs), settings)
    assert frame.theta_seconds_percent.isna().all()
    assert frame[["theta_updates_percent", "theta_examples_percent"]].notna().all(axis=None)
    assert (frame.reason == "seconds were not measured").all()


def test_mixed_devices_refuse_the_seconds_of_every_rule_and_nothing_else(evidence, settings, retimed) -> None:
    outputs = evidence((1, 2))
    frame = stopping_rules(align(retimed(outputs, 0, device="NVIDIA X1")), settings)
    plain = stopping_rules(align(outputs), settings)
    seconds = [name for name in frame.columns if name.startswith("theta_seconds")]
    assert frame[seconds].isna().all(axis=None)
    assert frame.reason.str.contains("seconds of different devices do not compare").all()
    pd.testing.assert_frame_equal(frame.drop(columns=[*seconds, "reason"]), plain.drop(columns=[*seconds, "reason"]))


def test_a_rule_that_no_validation_was_chosen_by_says_why(evidence, settings) -> None:
    outputs = evidence()
    unmarked = tuple(dataclasses.replace(row, best=False) for row in outputs[0].history)
    outputs[0] = dataclasses.replace(outputs[0], history=unmarked)
    frame = stopping_rules(align(outputs), settings)
    hit = (frame.method == "pcov") & (frame.from_percent == 25) & frame.rule.isin(["common", "within"])
    assert frame[hit].theta_updates_percent.isna().all()
    assert (frame[hit].reason == "no validation was marked as best").all()
    assert frame[~hit].theta_updates_percent.notna().all()


# --- seeds


def test_the_spread_of_seeds_is_told_for_every_corpus_and_metric(evidence, settings, cell_of, pooled) -> None:
    outputs = [one for one in evidence((1, 2, 3)) if one.corpus == "notes" or one.seed in (None, 1)]
    frame = seeds(seed_variances(align(outputs), settings)).set_index(["corpus", "metric"])
    assert len(frame) == 2 * len(METRICS)
    assert frame.loc["albums"].isna().all(axis=None)
    places = {(m, p): cell_of(outputs, "notes", m, p, "rouge1") for m in ("pcov", "abs") for p in (25, 50, 100)}
    deviations = {place: cell.scores.mean(axis=1).std(ddof=1) for place, cell in places.items()}
    row = frame.loc[("notes", "rouge1")]
    assert row.sd == pytest.approx(np.sqrt(np.mean(np.square(list(deviations.values())))))
    assert (row.cells, row.degrees) == (6, 12)
    assert row.sd_of_models == pytest.approx(np.sqrt(pooled(outputs, "notes", "rouge1").of_models))
    assert 0 < row.sd_of_models < row.sd
    for end, pick in (("smallest", min), ("largest", max)):
        method, percent = pick(deviations, key=deviations.__getitem__)
        assert (row[f"{end}_method"], row[f"{end}_records"]) == (method, 20 * percent)
        assert row[f"{end}_sd"] == pytest.approx(deviations[method, percent])
    assert 0 < row.equal_p <= 1

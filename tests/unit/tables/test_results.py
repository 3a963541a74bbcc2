"""What results say, against the statistics that they are made of and against the scores themselves."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from sumcurve.curves.efficiency import Point, relative_cost_deficiency, relative_score_efficiency
from sumcurve.curves.scale import Scale
from sumcurve.statistics.design import Design, Replicates
from sumcurve.statistics.family import family
from sumcurve.study.doors import APPENDIX, TABLES
from sumcurve.study.tables import findings_of, made
from sumcurve.tables import phases
from sumcurve.tables.answers import doubling
from sumcurve.tables.pairs import LEVEL
from sumcurve.tables.reach import records_for
from sumcurve.tables.report.facts import rows_of
from sumcurve.tables.report.findings import Titles
from sumcurve.tables.results import Results
from sumcurve.tables.verdicts import learn


@pytest.fixture(scope="module")
def results(study, evidence, settings):
    return Results(replace(study, outputs=evidence((1, 2, 3))), settings)


def by_hand(results, corpus, metric) -> Design:
    """The design of a corpus and metric, put together from the outputs themselves."""
    found = {}
    for one in results.outputs:
        if one.corpus == corpus:
            found.setdefault((one.method, one.records), []).append(one)
    replicates = []
    for (method, records), outputs in found.items():
        items = [one.scores["rouge"] for one in outputs]
        place = [one.name for one in items[0].metrics].index(metric)
        seeds = tuple(one.seed for one in outputs if one.seed is not None)
        replicates.append(Replicates(method, records, seeds, np.stack([one.values[place] for one in items])))
    return Design(replicates, items[0].groups, 2000)


def test_the_family_of_a_size_is_all_its_methods_and_the_blind_baselines(results) -> None:
    design = by_hand(results, "notes", "rouge2")
    for records in (500, 1000, 2000):
        cells = [("abs", records), ("pcov", records)]
        pairs = [*combinations(cells, 2), *((cell, (name, None)) for cell in cells for name in ("lead", "random"))]
        expected = {frozenset((one.first, one.second)): one for one in family(design, pairs).tests}
        found = results.pairs("notes", "rouge2", records)
        untested = frozenset([("lead", None), ("random", None)])
        assert {frozenset(pair) for pair in found} == {*expected, untested}
        for pair, one in found.items():
            if frozenset(pair) not in expected:
                assert one.ahead is one.p is None
                continue
            same = expected[frozenset(pair)]
            sign = 1 if same.first == one.first else -1
            assert one.difference.mean == pytest.approx(sign * same.difference.mean)
            assert one.difference.error == pytest.approx(same.difference.error)
            assert one.p == pytest.approx(same.p_family, abs=0.005)  # simulated, in another order of pairs
            assert (one.ahead in pair) == (one.p < LEVEL)


def test_a_pair_turned_round_says_the_same(results) -> None:
    for (first, second), pair in results.pairs("notes", "rouge1", 2000).items():
        turned = results.pair("notes", "rouge1", 2000, second, first)
        assert turned.difference.mean == -pair.difference.mean
        assert (turned.difference.low, turned.difference.high) == (-pair.difference.high, -pair.difference.low)
        assert (turned.p, turned.ahead, turned.seen) == (pair.p, pair.ahead, pair.seen)


def test_where_lower_is_better_the_lower_one_is_ahead(study, evidence, more_metric, settings) -> None:
    results = Results(replace(study, outputs=more_metric(evidence((1, 2, 3)))), settings)
    rankings = [results.ranking("notes", metric, 500) for metric in ("excess", "rouge1")]
    assert [ranking.winner for ranking in rankings] == ["pcov"] * 2
    pair = results.pair("notes", "excess", 500, ("pcov", 500), ("abs", 500))
    assert pair.ahead == ("pcov", 500)
    assert pair.difference.mean < 0
    rows = [row for row in made("answers", results).rows if (row["metric"], row["method"]) == ("Excess words", "abs")]
    assert rows[0]["behind_best"].number > 0


def test_sigma_theta_and_elasticity_are_their_formulas_and_epsilon_their_quotient(results) -> None:
    frame = made("efficiency", results).frame()
    means = {cell: results.estimate("notes", "rouge1", cell).mean for cell in by_hand(results, "notes", "rouge1").cells}
    seconds = {
        system.cell: np.exp(np.mean([np.log(one.timing.seconds) for one in system.outputs]))
        for system in results.of("notes", trained=True)
    }
    rows = frame[(frame.corpus == "notes") & (frame.metric == "ROUGE-1")]
    assert len(rows) == 2 * 3
    for row in rows.itertuples():
        cells = (row.method, row.from_records), (row.method, row.to_records)
        first, second = (Point(cell[1], means[cell], seconds[cell]) for cell in cells)
        sigma, theta = relative_score_efficiency(first, second), relative_cost_deficiency(first, second)
        assert row.sigma_percent == pytest.approx(100 * sigma)
        assert row.theta_percent == pytest.approx(100 * theta)
        assert row.elasticity == pytest.approx(
            np.log(second.score / first.score) / np.log(second.samples / first.samples)
        )
        assert row.sigma_percent_low < row.sigma_percent < row.sigma_percent_high
        assert row.elasticity_low < row.elasticity < row.elasticity_high
        assert row.theta_percent_low < row.theta_percent < row.theta_percent_high
        assert row.epsilon == pytest.approx(sigma / theta)
        assert row.epsilon_low < row.epsilon < row.epsilon_high


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"device": "cuda:H200"}, r"seconds of different devices do not compare \(cpu, cuda:H200\)"),
        ({"exclusive": False}, r"1 of \d+ trainings shared their device with other work"),
    ],
)
def test_seconds_of_one_training_that_do_not_compare_leave_sigma_alone(
    study, evidence, settings, changes, reason
) -> None:
    first, *others = evidence((1, 2))
    first = replace(first, timing=replace(first.timing, **changes))
    results = Results(replace(study, outputs=[first, *others]), settings)
    frame = made("efficiency", results).frame()
    assert frame[["theta_percent", "epsilon"]].isna().all(axis=None)
    assert frame.reason.str.contains(reason).all()
    assert frame.sigma_percent.notna().all()
    assert made("answers", results).frame().seconds.isna().all()


def test_a_program_stops_by_its_own_rule_and_has_no_theta_and_no_epsilon(study, evidence, settings, results) -> None:
    """Its score grows as any; what is said of others is what is said without it."""
    outputs = [
        replace(one, timing=replace(one.timing, updates=None, examples=None), training=None, history=())
        if one.method == "abs" and one.timing
        else one
        for one in evidence((1, 2, 3))
    ]
    without = Results(replace(study, outputs=[one for one in outputs if one.method != "abs"]), settings)
    found = Results(replace(study, outputs=outputs), settings)
    frame, alone = made("efficiency", found).frame(), made("efficiency", without).frame()
    theirs, ours = frame[frame.method == "abs"], frame[frame.method == "pcov"]
    assert theirs.sigma_percent.notna().all()
    assert theirs[[name for name in frame if "theta" in name.lower() or "epsilon" in name]].isna().all(axis=None)
    assert (theirs.reason == "an outside program stops by its own rule").all()
    assert ours.theta_percent.notna().all()
    for name in ("theta_percent", "theta_percent_low", "theta_percent_high"):
        assert ours[name].tolist() == pytest.approx(alone[name].tolist(), nan_ok=True)
    assert {row["method"]: row.get("ended") for row in made("methods", found).rows}["abs"] == "its own rule"


def test_a_training_that_its_budget_ended_while_its_nll_fell_is_named(study, evidence, settings) -> None:
    ended = [("nll", "most_updates with nll still falling"), ("coverage", "most_updates")]
    outputs = [
        replace(one, training=replace(one.training, ended=ended)) if one.method == "pcov" and one.training else one
        for one in evidence((1, 2, 3))
    ]
    rows = made("methods", Results(replace(study, outputs=outputs), settings)).rows
    said = {row["method"]: row["ended"] for row in rows}
    assert said["pcov"] == "nll: max_updates with nll still falling; coverage: max_updates"
    assert said["abs"] == "nll: patience; coverage: collapse"


def test_points_for_a_doubling_are_the_slope_over_log_sizes(results) -> None:
    metric = results.metrics[0]
    for method in ("abs", "pcov"):
        cells = [(method, size) for size in (500, 1000, 2000)]
        means = [results.estimate("notes", "rouge1", cell).mean for cell in cells]
        found = doubling(results, "notes", metric, method, 2000)
        assert found.number == pytest.approx(np.polyfit(np.log2([500, 1000, 2000]), means, 1)[0])
        assert found.low < found.number < found.high
        pair = doubling(results, "notes", metric, method, 1000)
        assert pair.number == pytest.approx(means[1] - means[0])


def test_records_for_a_score_are_read_off_the_curve() -> None:
    sizes = np.array([100, 200, 400])
    curve = np.array([[10.0, 20.0, 30.0]])
    for score, records in ((5, 100), (10, 100), (20, 200), (30, 400), (15, 100 * 2**0.5), (25, 200 * 2**0.5)):
        assert records_for(sizes, curve, np.array([score]))[0] == pytest.approx(records)
    assert records_for(sizes, curve, np.array([31.0]))[0] == pytest.approx(400)  # never: no more can be said
    dented = np.array([[10.0, 5.0, 30.0]])
    assert records_for(sizes, dented, np.array([8.0]))[0] == 100
    assert 200 < records_for(sizes, dented, np.array([20.0]))[0] < 400


@pytest.fixture(scope="module")
def long_results(study, long_curves, settings) -> Results:
    outputs = long_curves({"pcov": (30, 5), "abs": (22, 5)}, (1, 2, 3))
    return Results(replace(study, outputs=outputs, statistics=study.statistics[:1]), settings)


def test_what_the_best_needs_lies_within_its_interval_and_below_the_size(long_results) -> None:
    table = made("answers", long_results)
    bounds = table.frame().bound.fillna("")
    assert set(bounds) == {"", "≤"}
    for row, bound in zip(table.rows, bounds, strict=True):
        assert bound == getattr(row.get("records_needed"), "sign", "")
    rows = [row for row in table.rows if row["basis"] == "measured" and row["records"] > 200]
    for row in rows:
        if row["place"] == "best":
            assert "records_needed" not in row
            continue
        ratio = row["ratio"]
        if ratio.low is None:  # in every draw the smallest size is enough
            assert (ratio.sign, row["records_needed"].number) == ("≤", 200)
            continue
        assert 0 < ratio.low <= ratio.high <= 1
        assert ratio.low - 1e-9 <= ratio.number <= ratio.high + 0.2
        assert row["records_needed"].number == pytest.approx(ratio.number * row["records"], abs=0.51)
    # 8 points apart at 5 a doubling: the better one needs 2^-1.6 of the records.
    (last,) = (row for row in rows if row["records"] == 2000 and row["metric"] == "ROUGE-1" and row["method"] == "abs")
    assert last["ratio"].low < 2**-1.6 < last["ratio"].high


def test_fits_alone_speak_of_two_and_four_times_the_data(long_results) -> None:
    frame = made("answers", long_results).frame()
    fitted = frame[frame.basis == "fit"]
    assert set(fitted.records) == {4000, 8000}
    assert (frame[frame.basis == "measured"].records <= 2000).all()
    fits = learn(long_results).fits["notes", "rouge1"]
    row = fitted[(fitted.records == 4000) & (fitted.metric == "ROUGE-1") & (fitted.method == "abs")].iloc[0]
    assert (row.score_low, row.score, row.score_high) == pytest.approx(
        tuple(end[0] for end in fits.band("abs", [4000]))
    )
    both = fitted[(fitted.records == 4000) & (fitted.metric == "ROUGE-1")].set_index("method").leading
    ahead = fits.predict("abs", [4000]) > fits.predict("pcov", [4000])
    assert both.to_dict() == pytest.approx({"abs": ahead.mean(), "pcov": 1 - ahead.mean()})
    assert frame[frame.basis == "measured"].leading.isna().all()


def test_a_scale_takes_scores_back_and_keeps_points_as_they_are() -> None:
    assert Scale.of([12.0, 40.0], higher_is_better=True) == Scale(0.0, 1.0)
    for means, higher in (([-4.0, -1.5], True), ([3.0, 9.0], False), ([500.0, 900.0], True), ([2.0, 2.0], False)):
        scale = Scale.of(means, higher)
        fitted = [scale.offset + scale.factor * mean for mean in means]
        assert all(0 <= value <= 100 for value in fitted)
        assert [scale.back(value) for value in fitted] == pytest.approx(means)
        assert (fitted[1] > fitted[0]) == (higher and means[1] > means[0])


def test_phases_are_after_minus_before_and_minus_the_control(study, evidence, phased, more_metric, settings) -> None:
    outputs = [*evidence((1,)), *phased((1, 2, 3))]
    for told in (
        {"scorer": "style", "name": "repeated", "title": "repeated trigrams", "higher_is_better": False},
        {"scorer": "lengths", "name": "length", "title": "length", "higher_is_better": None},
    ):
        outputs = more_metric(outputs, ranks=False, **told)
    table = made("phases", Results(replace(study, outputs=outputs), settings))
    assert not any(row["metric"].startswith("length") for row in table.rows)  # neither more nor less is better
    assert {row["method"] for row in table.rows} == {"pcov"}
    assert {row["seeds"] for row in table.rows} == {3}

    def mean(part: str) -> float:
        found = [one for one in outputs if (one.corpus, one.method, one.percent) == ("notes", "pcov", 100)]
        parts = {"after": ("study", "after")}.get(part, (part,))
        return float(np.mean([one.scores["rouge"].values[0] for one in found if one.part in parts]))

    row = next(row for row in table.rows if row["metric"].startswith("ROUGE-1"))
    assert row["after_minus_before"].number == pytest.approx(mean("after") - mean("before"))
    assert row["after_minus_control"].number == pytest.approx(mean("after") - mean("control"))
    assert (row["change"], row["worth"]) == ("better", "better")
    repeated = next(row for row in table.rows if row["metric"].startswith("repeated"))
    assert (repeated["change"], repeated["after_minus_before"].number < 0) == ("better", True)
    # No other table knows them.
    frame = made("scores", Results(replace(study, outputs=outputs), settings)).frame()
    own = [one for one in outputs if one.part == "study"]
    plain = made("scores", Results(replace(study, outputs=own), settings)).frame()
    assert frame.equals(plain)


@pytest.mark.parametrize(("ends", "said"), [((0.3, 0.34), True), ((0.35, 0.34), False), ((0.32, 0.3398), False)])
def test_a_lowered_reward_is_the_first_finding(study, evidence, phased, settings, ends, said) -> None:
    """The stage begins at 0.33 with both seeds; a third has no history of its own."""
    outputs = [*evidence((1, 2, 3)), *phased((1, 2, 3), study=(1, 2, 3))]
    made_of = []
    for one in outputs:
        if one.method == "pcov" and one.seed in (1, 2) and one.training is not None:
            phase = one.training.ended[-1][0]
            rewards = zip((0, 50, 100), (0.33, 0.5, ends[one.seed - 1]), strict=True)
            rows = [replace(one.history[0], phase=phase, update=at, reward=reward) for at, reward in rewards]
            one = replace(one, history=[*one.history, *rows])
        made_of.append(one)
    results = Results(replace(study, outputs=made_of), settings)
    (row, *_) = made("phases", results).rows
    assert (row["reward_at_start"], row["reward_at_end"]) == pytest.approx((0.33, sum(ends) / 2))
    tables = rows_of({name: made(name, results) for name in (*TABLES, *APPENDIX)})
    first = findings_of(tables, Titles({}))[0]
    assert first.head.startswith("Reinforcement learning reduced the reward") == said
    assert (f" fell for pcov from 0.330 to {sum(ends) / 2:.3f}." in first.text) == said


def test_a_phase_that_did_nothing_is_said_to_do_nothing(study, evidence, phased, settings) -> None:
    outputs = [*evidence((1, 2, 3)), *phased(study=(1, 2, 3), gain=0)]
    cell = ("study", "notes", "pcov", 100)
    own = {one.seed: one for one in outputs if (one.part, one.corpus, one.method, one.percent) == cell}
    controls = [replace(own[one.seed], part="control") for one in outputs if one.part == "control"]
    same = [*(one for one in outputs if one.part != "control"), *controls]
    table = made("phases", Results(replace(study, outputs=same), settings))
    rouge = [row for row in table.rows if row["metric"].startswith("ROUGE")]
    assert {row["worth"] for row in rouge} == {"the control is itself"}
    assert "no difference shown" in {row["change"] for row in rouge}


def test_phases_of_several_methods_are_one_family_and_of_twins_one_test(study, evidence, phased, settings) -> None:
    """The same difference has a larger p beside another method's, and not beside itself under another name."""
    outputs = [*evidence((1, 2, 3)), *phased(study=(1, 2, 3))]
    parts = [one for one in outputs if (one.corpus, one.method, one.records) == ("notes", "pcov", 2000)]
    twins = [replace(one, method="twin", summaries=one.summaries or f"{one.part}{one.seed}") for one in parts]
    parts = [replace(one, summaries=twin.summaries) for one, twin in zip(parts, twins, strict=True)]
    others = [replace(one, method="other", summaries=f"other {one.summaries}") for one in parts]

    def p_of(*added):
        of = [one for one in outputs if one not in parts and (one.corpus, one.method) != ("notes", "pcov")]
        rows = phases.table(Results(replace(study, outputs=[*of, *parts, *added]), settings)).rows
        return next(r["worth_p"] for r in rows if (r["method"], r["metric"]) == ("pcov", "ROUGE-1 (points)"))

    alone = p_of()
    assert p_of(*twins) == pytest.approx(alone)
    assert p_of(*others) == pytest.approx(min(1, 2 * alone))

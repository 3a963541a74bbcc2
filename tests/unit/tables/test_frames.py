import dataclasses

import numpy as np
import pandas as pd
import pytest

from sumcurve.curves import efficiency
from sumcurve.curves.efficiency import Point
from sumcurve.plan import Refused
from sumcurve.scores import METRICS
from sumcurve.scores.comparison import bootstrap_interval, paired_difference
from sumcurve.tables import frames
from sumcurve.tables.evidence import Missing, align

from_seconds = ["Theta_seconds_per_1000_records", "E_per_hour", "theta_percent", "epsilon"]
without_seconds = [
    "Sigma_per_1000_records",
    "sigma_percent",
    "theta_updates_percent",
    "theta_examples_percent",
]


def retimed(outputs, index, **changes):
    """The outputs with one timing changed."""
    timing = dataclasses.replace(outputs[index].timing, **changes)
    return [*outputs[:index], dataclasses.replace(outputs[index], timing=timing), *outputs[index + 1 :]]


def test_a_score_is_the_mean_of_its_items(evidence) -> None:
    outputs = evidence()
    frame = frames.scores(align(outputs)).set_index(["corpus", "method", "percent"])
    for output in outputs:
        row = frame.loc[(output.corpus, output.method, pd.NA if output.percent is None else output.percent)]
        for metric in METRICS:
            assert float(row[metric].iloc[0] if hasattr(row[metric], "iloc") else row[metric]) == pytest.approx(
                100 * np.mean([item[metric] for item in output.items])
            )


def test_trivial_systems_have_no_percent_and_come_first(evidence) -> None:
    frame = frames.scores(align(evidence()))
    for _, corpus in frame.groupby("corpus"):
        assert list(corpus.method[:3]) == ["lead", "random", "best-sentence"]
        assert corpus.percent[:3].isna().all()
        assert corpus.percent[3:].notna().all()


def test_sigma_follows_from_the_scores(evidence, settings) -> None:
    aligned = align(evidence((1, 2)))
    scores = frames.scores(aligned).set_index(["corpus", "method", "seed", "percent"]).sort_index()
    sigma = frames.sigma(aligned, settings)
    assert len(sigma) == 2 * 2 * 3  # methods, seeds, intervals; the corpus with one fraction has none
    assert list(sigma.interval[:3]) == ["step", "step", "whole"]
    for row in sigma.itertuples():
        first, second = (scores.loc[(row.corpus, row.method, row.seed, p)] for p in (row.from_percent, row.to_percent))
        growth = row.to_records / row.from_records - 1
        for metric, short in frames.SHORT.items():
            value = 100 * (second[metric] / first[metric] - 1) / growth
            assert getattr(row, f"sigma{short}_percent") == pytest.approx(value)
            assert getattr(row, f"sigma{short}_low") < value < getattr(row, f"sigma{short}_high")
            slope = 1000 * (second[metric] - first[metric]) / (row.to_records - row.from_records)
            assert getattr(row, f"Sigma{short}_per_1000_records") == pytest.approx(slope)


def test_intervals_are_the_bootstraps_of_the_seeds_mean(evidence, settings) -> None:
    aligned = align(evidence((1, 2)))
    frame = frames.intervals(aligned, settings)
    scores = frames.scores(aligned)
    row = frame[(frame.corpus == "notes") & (frame.method == "abs") & (frame.percent == 50)].iloc[0]
    pair = [
        one.scores
        for one in aligned
        if (one.output.corpus, one.output.method, one.output.percent) == ("notes", "abs", 50)
    ]
    alone = scores[(scores.corpus == "notes") & (scores.method == "abs") & (scores.percent == 50)]
    for index, metric in enumerate(METRICS):
        interval = bootstrap_interval((pair[0][index] + pair[1][index]) / 2, settings)
        assert (row[metric], row[f"{metric}_low"], row[f"{metric}_high"]) == pytest.approx(
            (interval.mean, interval.low, interval.high)
        )
        assert (row[f"{metric}_least"], row[f"{metric}_most"]) == (alone[metric].min(), alone[metric].max())
    assert row.seeds == 2
    assert frame[frame.method == "lead"].rouge1_least.isna().all()


def test_one_seed_has_no_spread(evidence, settings) -> None:
    frame = frames.intervals(align(evidence()), settings)
    assert frame[[f"{metric}_{end}" for metric in METRICS for end in ("least", "most")]].isna().all(axis=None)


def test_empty_summaries_are_counted(evidence, settings) -> None:
    outputs = evidence()
    items = [{**item, "empty": number < 3} for number, item in enumerate(outputs[0].items)]
    frame = frames.intervals(align([dataclasses.replace(outputs[0], items=items), *outputs[1:]]), settings)
    assert sorted(frame["empty"])[-2:] == [0, 3]


def test_efficiency_follows_from_scores_and_timings(evidence) -> None:
    aligned = align(evidence())
    scores = frames.scores(aligned).set_index(["corpus", "method", "percent"])
    timings = frames.timings(aligned).set_index(["corpus", "method", "percent"])
    frame = frames.efficiencies(aligned)
    assert len(frame) == 2 * 3 * 3
    assert (frame.reason == "").all()
    for row in frame.itertuples():
        keys = [(row.corpus, row.method, percent) for percent in (row.from_percent, row.to_percent)]

        def points(cost, keys=keys, row=row):
            return [Point(scores.loc[key].records, scores.loc[key][row.metric], timings.loc[key][cost]) for key in keys]

        assert row.theta_percent == pytest.approx(100 * efficiency.relative_cost_deficiency(*points("seconds")))
        assert row.epsilon == pytest.approx(row.sigma_percent / row.theta_percent)
        assert row.E_per_hour == pytest.approx(3600 * row.Sigma_per_1000_records / row.Theta_seconds_per_1000_records)
        for unit in ("updates", "examples"):
            expected = 100 * efficiency.relative_cost_deficiency(*points(unit))
            assert getattr(row, f"theta_{unit}_percent") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"device": "NVIDIA X1"}, ["devices", "NVIDIA X1", "cpu"]),
        ({"exclusive": False}, ["1 of 8", "shared"]),
    ],
)
def test_mixed_devices_and_shared_leases_refuse_all_seconds_and_say_why(evidence, changes, words) -> None:
    frame = frames.efficiencies(align(retimed(evidence(), 9, **changes)))
    assert frame[from_seconds].isna().all(axis=None)
    assert frame[without_seconds].notna().all(axis=None)
    assert all(word in reason for word in ["θ, ε refused", *words] for reason in frame.reason)


def test_without_timing_only_the_intervals_it_touches_are_empty(evidence) -> None:
    outputs = evidence()
    frame = frames.efficiencies(align([dataclasses.replace(outputs[0], timing=None), *outputs[1:]]))
    touched = (frame.method == "pcov") & (frame.from_percent == 25)
    assert frame[touched][[*from_seconds, *without_seconds[2:]]].isna().all(axis=None)
    assert (frame.reason[touched] == "no training cost is known").all()
    assert frame[~touched][[*from_seconds, *without_seconds]].notna().all(axis=None)


def test_a_larger_training_that_costs_less_has_theta_but_no_epsilon(evidence) -> None:
    outputs = evidence()
    assert (outputs[2].method, outputs[2].percent) == ("pcov", 100)
    frame = frames.efficiencies(align(retimed(outputs, 2, seconds=50.0)))
    rows = frame[(frame.method == "pcov") & (frame.to_percent == 100)]
    assert (rows.theta_percent < 0).all()
    assert rows[["E_per_hour", "epsilon"]].isna().all(axis=None)
    assert (rows.reason == "the larger training costs no more").all()


def test_a_score_of_zero_leaves_sigma_empty(evidence, settings) -> None:
    outputs = evidence()
    items = [{**item, "rouge2": 0.0} for item in outputs[0].items]
    row = frames.sigma(align([dataclasses.replace(outputs[0], items=items), *outputs[1:]]), settings)
    row = row[(row.method == "pcov") & (row.from_percent == 25)].iloc[0]
    assert pd.isna(row.sigma2_percent)
    assert pd.isna(row.sigma2_low)
    assert row.Sigma2_per_1000_records > 0
    assert row.sigma1_percent > 0
    assert "scores 0" in row.reason


def test_differences_are_paired_and_corrected(evidence, settings) -> None:
    aligned = align(evidence())
    frame = frames.differences(aligned, settings)
    scores = frames.scores(aligned)
    assert set(frame.against) == {"lead", "abs 25 %", "pcov 25 %"}
    assert not (frame.against[frame.corpus == "albums"] != "lead").any()
    by_name = {(one.output.corpus, one.output.method, one.output.percent): one.scores for one in aligned}
    for row in frame.itertuples():
        rival = (row.corpus, "lead", None) if row.against == "lead" else (row.corpus, row.method, 25)
        index = METRICS.index(row.metric)
        expected = paired_difference(by_name[row.corpus, row.method, 100][index], by_name[rival][index], settings)
        assert (row.difference, row.low, row.high, row.p) == (
            expected.mean,
            expected.low,
            expected.high,
            expected.p,
        )
        assert row.wins + row.ties + row.losses == row.items
    means = scores.set_index(["corpus", "method"]).rouge1
    lead = frame[(frame.metric == "rouge1") & (frame.against == "lead") & (frame.corpus == "albums")]
    for row in lead.itertuples():
        assert row.difference == pytest.approx(means["albums", row.method] - means["albums", "lead"])
    assert (frame.p_holm >= frame.p).all()
    assert frame.p_holm.min() == pytest.approx(min(1, frame.p.min() * len(frame)))


def test_the_best_blind_system_is_chosen_and_best_sentence_never(evidence, settings) -> None:
    renamed = {"lead": "random", "random": "lead"}
    outputs = [dataclasses.replace(one, method=renamed.get(one.method, one.method)) for one in evidence()]
    assert "random" in set(frames.differences(align(outputs), settings).against)
    assert "lead" not in set(frames.differences(align(outputs), settings).against)


def test_corpora_and_dropped_hold_what_was_counted(statistics) -> None:
    corpora, dropped = frames.corpora(statistics), frames.dropped(statistics)
    assert list(corpora.corpus.unique()) == ["albums", "notes"]
    assert list(corpora[corpora.corpus == "notes"].percent.fillna(0)) == [25, 50, 100, 0]
    for _, rows in dropped.groupby("corpus"):
        records = rows.set_index("outcome").records
        assert records["read"] == records["kept"] + records.filter(like="dropped").sum()


def test_tables_without_rows_keep_their_columns(evidence, settings) -> None:
    single = align([one for one in evidence() if one.corpus == "albums"])
    assert len(frames.sigma(single, settings)) == 0
    full = align(evidence())
    assert list(frames.sigma(single, settings).columns) == list(frames.sigma(full, settings).columns)
    assert list(frames.efficiencies(single).columns) == list(frames.efficiencies(full).columns)


def test_a_refused_method_stands_in_the_scores_of_its_corpus_with_nothing_but_the_reason(evidence) -> None:
    aligned = align(evidence())
    plain = frames.scores(aligned)
    refused = [Refused("notes", "fastrl", "no sentences"), Refused("albums", "zeal", "no words")]
    frame = frames.scores(aligned, refused)
    assert len(frame) == len(plain) + 2
    for one in refused:
        (row,) = (row for row in frame.to_dict("records") if row["method"] == one.method)
        told = {name: value for name, value in row.items() if not pd.isna(value)}
        assert told == {"corpus": one.corpus, "method": one.method, "reason": one.reason}
    assert list(dict.fromkeys(frame.corpus)) == list(dict.fromkeys(plain.corpus))
    assert frame.corpus.is_monotonic_increasing
    rest = frame[~frame.method.isin(["fastrl", "zeal"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(rest, plain, check_dtype=False)


def test_searches_pair_the_same_items_and_seeds(evidence, papers, settings) -> None:
    aligned = align([*evidence((1, 2, 3)), *papers((1, 3))])  # seed 2 of the paper's search is missing
    frame = frames.searches(aligned, settings)
    means = frames.scores(aligned)
    assert len(frame) == 4  # both methods on both corpora
    for row in frame[frame.method == "pcov"].itertuples():
        assert row.seeds == 2
        for index, metric in enumerate(METRICS):
            first, second = (
                np.mean(
                    [
                        one.scores[index]
                        for one in aligned
                        if (one.output.corpus, one.output.method, one.output.percent) == (row.corpus, "pcov", 100)
                        and one.output.search == search
                        and one.output.seed in (1, 3)
                    ],
                    axis=0,
                )
                for search in ("paper", "common")
            )
            expected = paired_difference(first, second, settings)
            for end in ("difference", "low", "high"):
                value = expected.mean if end == "difference" else getattr(expected, end)
                assert getattr(row, f"{metric}_{end}") == pytest.approx(value)
            rows = means[(means.corpus == row.corpus) & (means.method == "pcov") & (means.percent == 100)]
            of_paper = rows[rows.search == "paper"][metric].mean()
            assert getattr(row, f"{metric}_paper") == pytest.approx(of_paper)
            assert getattr(row, f"{metric}_difference") == pytest.approx(of_paper - getattr(row, f"{metric}_common"))
        assert (row.paper_search, row.common_search) == ("beam9+min1+max20+none+unk-copy", row.common_search)
        assert row.common_search.startswith("beam4")


def test_a_method_without_a_second_search_says_why(evidence, papers, settings) -> None:
    aligned = align([*evidence(), *papers()[:1]])
    waiting = [Missing("albums", "pcov", 100, 1, "paper", "outputs/x"), Missing("albums", "abs", 100, 1, "common", "y")]
    frame = frames.searches(aligned, settings, waiting).set_index(["corpus", "method"])
    assert frame.loc[("notes", "pcov")].reason == ""
    assert frame.loc[("albums", "pcov")].reason == "the paper's search is not finished"
    for corpus in ("notes", "albums"):
        assert "asks for no other" in frame.loc[(corpus, "abs")].reason
        assert pd.isna(frame.loc[(corpus, "abs")].rouge1_paper)
        assert frame.loc[(corpus, "abs")].rouge1_common > 0


def test_methods_hold_the_largest_fraction_and_means_over_seeds(evidence) -> None:
    outputs = evidence((1, 2))
    index = next(place for place, one in enumerate(outputs) if (one.method, one.percent, one.seed) == ("abs", 100, 2))
    ended = [("nll", "patience"), ("coverage", "patience")]
    other = dataclasses.replace(outputs[index].training, epochs=9.5, ended=ended)
    outputs = [*outputs[:index], dataclasses.replace(outputs[index], training=other), *outputs[index + 1 :]]
    outputs = retimed(outputs, index, updates=outputs[index].timing.updates + 10)
    frame = frames.methods(align(outputs), {"abs": "ABS"}).set_index(["corpus", "method"])
    assert len(frame) == 4
    assert set(frame.percent) == {100}
    row = frame.loc[("notes", "abs")]
    assert (row.title, row.parameters, row.vocabulary_parameters, row.other_parameters) == ("ABS", 1500, 1200, 300)
    assert (row.epochs, row.mean_updates, row.mean_examples) == (8.5, 355.0, 5600.0)
    assert row.ended == "nll: patience; coverage: collapse (1), patience (1)"
    assert frame.loc[("albums", "abs")].ended == "nll: patience; coverage: collapse"
    assert frame.loc[("albums", "pcov")].title == "pcov"


def test_phases_of_any_name_add_up_to_the_seconds(evidence) -> None:
    phases = {"nll": 40.5, "actor-critic": 2.25, "soft": 0.125}
    outputs = retimed(evidence(), 0, phases=phases, seconds=sum(phases.values()))
    frame = frames.timings(align(outputs))
    assert len(frame.columns) == 12  # however many names there are
    for row in frame.itertuples():
        parts = dict(part.split("=") for part in row.phase_seconds.split(";"))
        assert sum(map(float, parts.values())) == pytest.approx(row.seconds)
    assert any(row.startswith("nll=40.5") and "soft=0.125" in row for row in frame.phase_seconds)

import dataclasses

import numpy as np
import pandas as pd
import pytest

from sumcurve.curves.variance import mean_score
from sumcurve.plan import Refused
from sumcurve.scores.comparison import bootstrap_interval, paired_difference
from sumcurve.scores.rouge import METRICS
from sumcurve.tables import frames
from sumcurve.tables.cells import seed_variances
from sumcurve.tables.evidence import Missing, align


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


def intervals(outputs, settings):
    aligned = align(outputs)
    return frames.intervals(aligned, seed_variances(aligned, settings), settings)


def test_one_seed_has_the_items_interval_and_says_so(evidence, settings, cell_of) -> None:
    outputs = evidence()
    frame = intervals(outputs, settings)
    assert set(frame.source) == {"items"}
    for row in frame.itertuples():
        for metric in METRICS:
            percent = None if pd.isna(row.percent) else row.percent
            scores = cell_of(outputs, row.corpus, row.method, percent, metric).scores[0]
            expected = bootstrap_interval(scores, settings)
            for part in ("", "_items"):
                found = (getattr(row, f"{metric}{end}") for end in ("", f"{part}_low", f"{part}_high"))
                assert tuple(found) == pytest.approx((expected.mean, expected.low, expected.high))
    assert frame[[f"{metric}_{end}" for metric in METRICS for end in ("least", "most")]].isna().all(axis=None)


def test_several_seeds_have_an_interval_of_items_and_seeds(evidence, settings, cell_of, pooled) -> None:
    outputs = evidence((1, 2, 3))
    frame = intervals(outputs, settings)
    assert ((frame.source == "items and seeds") == frame.percent.notna()).all()
    for row in frame[frame.percent.notna()].itertuples():
        for metric in METRICS:
            cell = cell_of(outputs, row.corpus, row.method, row.percent, metric)
            items = bootstrap_interval(cell.scores.mean(axis=0), settings)
            assert (getattr(row, f"{metric}_items_low"), getattr(row, f"{metric}_items_high")) == pytest.approx(
                (items.low, items.high)
            )
            total = mean_score(cell, pooled(outputs, row.corpus, metric), settings).total
            low, high = getattr(row, f"{metric}_low"), getattr(row, f"{metric}_high")
            assert (low, high) == pytest.approx(total)
            assert high - low >= 2 * 1.96 * cell.scores.mean(axis=0).std(ddof=1) / len(cell.scores[0]) ** 0.5
            by_seed = cell.scores.mean(axis=1)
            assert getattr(row, metric) == pytest.approx(by_seed.mean())
            assert (getattr(row, f"{metric}_least"), getattr(row, f"{metric}_most")) == pytest.approx(
                (by_seed.min(), by_seed.max())
            )
        assert row.seeds == 3
    assert frame[frame.method == "lead"].rouge1_least.isna().all()


def test_a_corpus_with_one_seed_does_not_borrow_anothers_seeds(evidence, settings) -> None:
    outputs = [one for one in evidence((1, 2)) if one.corpus == "notes" or one.seed in (None, 1)]
    frame = intervals(outputs, settings)
    trained = frame[frame.percent.notna()]
    assert ((trained.source == "items and seeds") == (trained.corpus == "notes")).all()


def test_a_single_seed_among_several_is_taken_to_vary_likewise(evidence, settings) -> None:
    outputs = [one for one in evidence((1, 2, 3)) if (one.method, one.percent) != ("abs", 50) or one.seed == 1]
    frame = intervals(outputs, settings)
    row = frame[(frame.method == "abs") & (frame.percent == 50)].iloc[0]
    assert (row.seeds, row.source) == (1, "items and seeds")
    assert row.rouge1_high - row.rouge1_low > row.rouge1_items_high - row.rouge1_items_low
    assert pd.isna(row.rouge1_least)


def test_empty_summaries_are_counted_over_all_seeds(evidence, settings) -> None:
    outputs = evidence((1, 2))
    for place in (0, 1):  # both seeds of one training
        items = [{**item, "empty": number < 3 + place} for number, item in enumerate(outputs[place].items)]
        outputs[place] = dataclasses.replace(outputs[place], items=items)
    assert sorted(intervals(outputs, settings)["empty"])[-2:] == [0, 7]


def test_corpora_and_dropped_hold_what_was_counted(statistics) -> None:
    corpora, dropped = frames.corpora(statistics), frames.dropped(statistics)
    assert list(corpora.corpus.unique()) == ["albums", "notes"]
    assert list(corpora[corpora.corpus == "notes"].percent.fillna(0)) == [25, 50, 100, 0]
    for _, rows in dropped.groupby("corpus"):
        records = rows.set_index("outcome").records
        assert records["read"] == records["kept"] + records.filter(like="dropped").sum()


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


def test_methods_hold_the_largest_fraction_and_means_over_seeds(evidence, retimed) -> None:
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


def test_phases_of_any_name_add_up_to_the_seconds(evidence, retimed) -> None:
    phases = {"nll": 40.5, "actor-critic": 2.25, "soft": 0.125}
    outputs = retimed(evidence(), 0, phases=phases, seconds=sum(phases.values()))
    frame = frames.timings(align(outputs))
    assert len(frame.columns) == 12  # however many names there are
    for row in frame.itertuples():
        parts = dict(part.split("=") for part in row.phase_seconds.split(";"))
        assert sum(map(float, parts.values())) == pytest.approx(row.seconds)
    assert any(row.startswith("nll=40.5") and "soft=0.125" in row for row in frame.phase_seconds)

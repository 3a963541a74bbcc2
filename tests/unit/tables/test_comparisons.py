import dataclasses
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from sumcurve.curves.variance import linear, seeded_difference
from sumcurve.scores.comparison import paired_difference
from sumcurve.scores.rouge import METRICS
from sumcurve.tables import frames, layout
from sumcurve.tables.cells import seed_variances
from sumcurve.tables.comparisons import ahead, comparisons, differences
from sumcurve.tables.evidence import BLIND, align


def made(table, outputs, settings):
    aligned = align(outputs)
    return table(aligned, seed_variances(aligned, settings), settings)


def stepped_down(p_values) -> list[float]:
    """Holm's correction by its definition: the smallest p times their number, the next times one less, and so on."""
    corrected: dict[int, float] = {}
    floor = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        floor = max(floor, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = floor
    return [corrected[index] for index in range(len(p_values))]


def test_differences_are_paired_and_corrected_over_all_rows(evidence, settings, cell_of) -> None:
    outputs = evidence()
    frame = made(differences, outputs, settings)
    assert set(frame.against) == {"lead", "abs 25 %", "pcov 25 %"}
    assert not (frame.against[frame.corpus == "albums"] != "lead").any()
    for row in frame.itertuples():
        rival = ("lead", None) if row.against == "lead" else (row.method, 25)
        first, second = (cell_of(outputs, row.corpus, *place, row.metric).items for place in ((row.method, 100), rival))
        expected = paired_difference(first, second, settings)
        assert (row.difference, row.low, row.high, row.p) == pytest.approx(
            (expected.mean, expected.low, expected.high, expected.p)
        )
        assert (row.wins, row.ties, row.losses) == (expected.wins, expected.ties, expected.losses)
        assert row.wins + row.ties + row.losses == row.items
    assert list(frame.p_holm) == pytest.approx(stepped_down(list(frame.p)))


def test_differences_of_several_seeds_hold_items_and_seeds(evidence, settings, cell_of, pooled) -> None:
    outputs = evidence((1, 2, 3))
    frame = made(differences, outputs, settings)
    assert set(frame.seeds) == {3}
    for row in frame.itertuples():
        rival = ("lead", None) if row.against == "lead" else (row.method, 25)
        cells = [cell_of(outputs, row.corpus, *place, row.metric) for place in ((row.method, 100), rival)]
        variance = pooled(outputs, row.corpus, row.metric)
        expected = seeded_difference(*cells, variance, settings)
        assert (row.low, row.high) == pytest.approx(linear(cells, [1, -1], variance, settings).total)
        assert (row.difference, row.p) == pytest.approx((expected.mean.value, expected.p))
    assert list(frame.p_holm) == pytest.approx(stepped_down(list(frame.p)))


def test_the_best_blind_system_is_chosen_for_each_metric_and_best_sentence_never(evidence, settings) -> None:
    rival = {"lead": "random", "random": "lead"}

    def swapped(one):
        """Lead and random change places in ROUGE-2."""
        other = next(two for two in outputs if (two.corpus, two.method) == (one.corpus, rival[one.method]))
        pairs = zip(one.items, other.items, strict=True)
        return dataclasses.replace(one, items=[{**mine, "rouge2": its["rouge2"]} for mine, its in pairs])

    outputs = evidence()
    assert set(made(differences, outputs, settings).against) == {"lead", "abs 25 %", "pcov 25 %"}
    mixed = [swapped(one) if one.method in BLIND else one for one in outputs]
    frame = made(differences, mixed, settings)
    blind = frame[frame.against.isin(BLIND)]
    assert len(blind) == 2 * 2 * len(METRICS)
    assert ((blind.against == "random") == (blind.metric == "rouge2")).all()


def test_every_pair_of_a_corpus_is_compared_once_by_metric_at_the_largest_fraction(evidence, settings, cell_of) -> None:
    outputs = evidence()
    frame = made(comparisons, outputs, settings)
    for (_, _), rows in frame.groupby(["corpus", "metric"]):
        found = [frozenset(pair) for pair in zip(rows["first"], rows["second"], strict=True)]
        assert set(found) == set(map(frozenset, combinations(("lead", "random", "abs", "pcov"), 2)))
        assert len(found) == len(set(found))
    assert len(frame) == 2 * len(METRICS) * 6
    for row in frame.itertuples():
        cells = []
        for name, percent in ((row.first, row.first_percent), (row.second, row.second_percent)):
            assert percent is pd.NA if name in BLIND else percent == 100
            cells.append(cell_of(outputs, row.corpus, name, None if name in BLIND else 100, row.metric))
        expected = paired_difference(cells[0].items, cells[1].items, settings)
        assert (row.difference, row.low, row.high, row.p) == pytest.approx(
            (expected.mean, expected.low, expected.high, expected.p)
        )
        assert row.low <= row.difference <= row.high


def test_comparisons_are_corrected_over_the_pairs_and_metrics_of_their_corpus(evidence, settings) -> None:
    outputs = evidence((1, 2))
    frame = made(comparisons, outputs, settings)
    assert (frame.p_holm >= frame.p).all()
    for corpus, rows in frame.groupby("corpus"):
        assert list(rows.p_holm) == pytest.approx(stepped_down(list(rows.p)))
        alone = made(comparisons, [one for one in outputs if one.corpus == corpus], settings)
        assert alone.to_dict("records") == rows.reset_index(drop=True).to_dict("records")


def test_the_matrix_is_antisymmetric_and_bold_where_a_difference_is_significant(evidence, settings) -> None:
    frame = made(comparisons, evidence(), settings)
    shown = layout.comparisons(frame)
    names = ["lead", "random", "abs", "pcov"]
    significant = {
        (row.corpus, layout.TITLES[row.metric], frozenset((row.first, row.second))): row.p_holm < 0.05
        for row in frame.itertuples()
    }
    assert set(significant.values()) == {True, False}
    assert len(shown) == 2 * len(METRICS) * len(names)
    for (corpus, metric), rows in shown.groupby(["corpus", "metric"]):
        matrix = rows.set_index("system")
        assert (sorted(matrix.index), sorted(matrix.columns[2:])) == (sorted(names), sorted(names))
        for one, other in combinations(names, 2):
            cells = matrix.loc[one, other], matrix.loc[other, one]
            heavy = {cell.startswith("**") for cell in cells}
            assert heavy == {significant[corpus, metric, frozenset((one, other))]}
            values = [float(cell.strip("*").replace("−", "-")) for cell in cells]
            assert values[0] == -values[1]
        assert all(matrix.loc[name, name] == "" for name in names)


def test_the_sign_of_the_matrix_is_row_minus_column(evidence, settings) -> None:
    outputs = evidence()
    means = frames.scores(align(outputs)).set_index(["corpus", "method"]).rouge1
    shown = layout.comparisons(made(comparisons, outputs, settings))
    row = shown[(shown.corpus == "albums") & (shown.metric == "ROUGE-1") & (shown.system == "lead")].iloc[0]
    expected = means["albums", "lead"] - means["albums", "random"]
    assert expected > 1
    assert float(row.random.strip("*")) == pytest.approx(expected, abs=0.006)


def test_the_best_is_ahead_where_it_beats_everyone(evidence, settings) -> None:
    """pcov leads by far at 25 and 50 %; at 100 % both have the same scores but for noise, and in albums, too."""
    outputs = evidence()
    twin = {one.corpus: one for one in outputs if (one.method, one.percent) == ("pcov", 100)}
    generator = np.random.default_rng(3)

    def level(one):
        if (one.method, one.percent) != ("abs", 100):
            return one
        items = [
            {**item, **{metric: item[metric] + generator.normal(0, 0.01) for metric in METRICS}}
            for item in twin[one.corpus].items
        ]
        return dataclasses.replace(one, items=items)

    found = made(ahead, [level(one) for one in outputs], settings)
    assert found == {("notes", percent, metric, "pcov") for percent in (25, 50) for metric in METRICS}


def test_who_beats_the_third_but_not_the_second_is_not_ahead(long_curves, settings) -> None:
    shape = {"seeds": (1,), "percents": (50, 100), "spread": 0.0}
    near = long_curves({"abs": (0.3, 0.0), "pcov": (0.3, 0.0), "trans": (0.1, 0.0)}, **shape)
    frame = made(comparisons, near, settings)
    assert (frame[frame.second == "trans"].p_holm < 0.05).all()
    assert made(ahead, near, settings) == set()
    far = long_curves({"abs": (0.3, 0.0), "pcov": (0.4, 0.0), "trans": (0.1, 0.0)}, **shape)
    assert made(ahead, far, settings) == {("notes", p, metric, "pcov") for p in (50, 100) for metric in METRICS}


@pytest.mark.parametrize(("seeds", "spread"), [((1,), 0.02), ((1, 2, 3), 0.008)])
def test_ahead_agrees_with_holms_correction_of_every_place(
    long_curves, settings, cell_of, pooled, seeds, spread
) -> None:
    """Methods that lie close, so that some places are clear, some not, and some would be without the correction."""
    methods = {"abs": (0.31, 0.0), "nats": (0.29, 0.0), "pcov": (0.32, 0.0), "trans": (0.30, 0.0)}
    percents = tuple(range(10, 101, 5))
    outputs = long_curves(methods, seeds, percents, spread)
    expected, uncorrected = set(), set()
    for metric in METRICS:
        variance = pooled(outputs, "notes", metric)
        for percent in percents:
            cells = {name: cell_of(outputs, "notes", name, percent, metric) for name in methods}
            pairs = list(combinations(methods, 2))
            p = [seeded_difference(cells[one], cells[other], variance, settings).p for one, other in pairs]
            best = max(cells.values(), key=lambda one: one.mean).method
            for values, places in ((stepped_down(p), expected), (p, uncorrected)):
                if all(value < 0.05 for pair, value in zip(pairs, values, strict=True) if best in pair):
                    places.add(("notes", percent, metric, best))
    assert 0 < len(expected) < len(uncorrected) < len(percents) * len(METRICS)
    assert made(ahead, outputs, settings) == expected


def test_a_method_alone_at_its_size_is_not_ahead(long_curves, settings) -> None:
    assert made(ahead, long_curves({"abs": (0.3, 0.01)}, seeds=(1,)), settings) == set()


def test_bold_cells_are_those_ahead(long_curves, settings) -> None:
    outputs = long_curves({"abs": (0.35, -0.01), "pcov": (0.30, 0.01)}, seeds=(1, 2))
    aligned = align(outputs)
    variances = seed_variances(aligned, settings)
    best = ahead(aligned, variances, settings)
    frame = frames.intervals(aligned, variances, settings)
    shown = layout.intervals(frame, best)
    heavy = {
        (row.corpus, row.percent, metric, row.method)
        for row, cells in zip(frame.itertuples(), shown.to_dict("records"), strict=True)
        for metric in METRICS
        if cells[layout.TITLES[metric]].startswith("**")
    }
    assert heavy == best
    assert {method for *_, method in best} == {"abs", "pcov"}
    for _, rows in frame.groupby("percent"):
        assert all(
            rows.set_index("method")[metric].idxmax() == method
            for (_, percent, metric, method) in best
            if percent == rows.percent.iloc[0]
        )


def test_a_corpus_with_one_system_has_no_pair(long_curves, settings) -> None:
    outputs = [one for one in long_curves({"abs": (0.3, 0.01)}, seeds=(1,)) if one.method == "abs"]
    frame = made(comparisons, outputs, settings)
    assert len(frame) == 0
    assert len(layout.comparisons(frame)) == 0


def test_few_seeds_make_a_difference_less_sure_than_items_alone(evidence, settings) -> None:
    """Every seed of a method is lucky or not for all items at once, which items alone cannot know."""
    outputs = evidence((1, 2, 3))
    aligned = align(outputs)
    with_seeds = comparisons(aligned, seed_variances(aligned, settings), settings)
    without = comparisons(aligned, dict.fromkeys(seed_variances(aligned, settings)), settings)
    assert list(with_seeds.difference) == list(without.difference)
    wider = (with_seeds.high - with_seeds.low) >= (without.high - without.low)
    trained = with_seeds["first_percent"].notna() | with_seeds["second_percent"].notna()
    assert wider[trained].mean() > 0.9
    assert (with_seeds.p[~trained] == without.p[~trained]).all()

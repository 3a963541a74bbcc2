from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.scores.rouge_f1 import RougeF1
from sumcurve.tables import scores as scores_table
from sumcurve.tables.figure import (
    COLOURS,
    MARKERS,
    PALE,
    PANEL,
    Overlay,
    draw,
    looks_of,
    panels_of,
    shortened,
    spread,
    write_figure,
)
from sumcurve.tables.results import Results

METRICS = tuple(metric.name for metric in RougeF1.metrics)
METHODS = (
    *("abs", "abs_nnlm", "ent", "ent_base", "ent_gold", "ent_loss", "ent_penalty", "fastrl", "globen", "nats"),
    *("pcov", "pgrl", "reg_base", "reg_dual", "reg_self", "trans", "trans_nocopy"),
)


def of(outputs, study, settings):
    results = Results(replace(study, outputs=outputs), settings)
    return scores_table.table(results).frame()


def drawn(frame, *notes, **told):
    return draw(frame, RougeF1.metrics, "95 %", *notes, **told)


@pytest.fixture
def intervals(evidence, study, settings):
    return lambda seeds: of(evidence(seeds), study, settings)


@pytest.fixture
def overlays():
    """Bands of both methods of notes, which has 500 to 2,000 records, up to 8,000; the bounds of two metrics."""
    rows = [
        {
            "metric": metric,
            "method": method,
            "records": records,
            "beyond": records >= 2000,
            "low": middle - 2,
            "middle": middle,
            "high": middle + 2,
        }
        for metric in METRICS
        for method, top in (("pcov", 40.0), ("abs", 36.0))
        for records in (500, 1000, 2000, 4000, 8000)
        for middle in (top + np.log2(records / 2000),)
    ]
    bounds = {"rouge1": [("optimum", 71.0), ("source words", 83.5)], "rouge2": [("optimum", 44.0)]}
    return {"notes": Overlay(pd.DataFrame(rows), bounds, "Optimum: no ceiling.")}


def words(figure) -> str:
    return " ".join(text.get_text() for text in figure.texts)


def dashed(axes):
    """The lines that are neither curves nor levels of what is not trained."""
    return [line for line in axes.lines if line.get_linestyle() != "-" and len(set(line.get_xdata())) > 2]


def test_one_row_of_panels_for_each_corpus(intervals) -> None:
    figure = drawn(intervals((1,)))
    assert [axes.get_title(loc="left") for axes in figure.axes] == 2 * [
        "ROUGE-1 (points)",
        "ROUGE-2 (points)",
        "ROUGE-Lsum (points)",
    ]
    assert [axes.get_xscale() for axes in figure.axes] == 3 * ["linear"] + 3 * ["log"]  # albums, notes


def test_a_corpus_has_no_panel_for_a_metric_that_is_known_of_nothing_there(intervals) -> None:
    frame = intervals((1,))
    gone = METRICS[-1]
    corpus = sorted(set(frame.corpus))[0]
    frame.loc[frame.corpus == corpus, [gone, f"{gone}_low", f"{gone}_high"]] = np.nan
    panels = len(set(frame.corpus)) * len(METRICS) - 1
    assert len(drawn(frame).axes) == panels
    one = frame.method[frame.role == "trained"].iloc[0]
    frame.loc[frame.method == one, [gone, f"{gone}_low", f"{gone}_high"]] = np.nan
    assert len(drawn(frame).axes) == panels


def test_curves_and_bands_hold_the_frames_numbers(intervals) -> None:
    frame = intervals((1,))
    figure = drawn(frame)
    for metric, axes in zip(METRICS, figure.axes[3:], strict=True):
        lines = [line.get_ydata() for line in axes.lines if len(line.get_ydata()) == 3 and line.get_linestyle() == "-"]
        for method in ("abs", "pcov"):
            rows = frame[(frame.corpus == "notes") & (frame.method == method)]
            assert any(np.allclose(line, rows[metric]) for line in lines)
            bands = [band.get_paths()[0].vertices[:, 1] for band in axes.collections if len(band.get_paths()) == 1]
            ends = (rows[f"{metric}_low"].min(), rows[f"{metric}_high"].max())
            assert any(np.allclose((band.min(), band.max()), ends) for band in bands if len(band))
        names = {text.get_text() for text in axes.texts}
        assert {"abs", "pcov", "lead", "random"} <= names
        assert any("best-sentence" in name for name in names)


def test_the_caption_says_what_intervals_cover(intervals) -> None:
    assert "these weights, not their method" in words(drawn(intervals((1,))))
    several = words(drawn(intervals((1, 2, 3))))
    assert "these weights" not in several
    assert "items, training and draw" in several


def test_fitted_curves_go_on_dashed_from_the_largest_size_to_four_times_it(intervals, overlays) -> None:
    figure = drawn(intervals((1,)), overlays=overlays)
    for metric, axes in zip(METRICS, figure.axes[3:], strict=True):
        bands = overlays["notes"].bands
        assert len(dashed(axes)) == 2
        for method in ("abs", "pcov"):
            rows = bands[(bands.metric == metric) & (bands.method == method) & bands.beyond]
            line = next(one for one in dashed(axes) if np.allclose(one.get_ydata(), rows.middle))
            assert (min(line.get_xdata()), max(line.get_xdata())) == (2000, 8000)
        low, high = axes.get_xlim()
        assert low < 500
        assert 8000 < high < 1.2 * 8000
    assert "Dashed, beyond the data" in words(figure)
    assert all(not dashed(axes) for axes in figure.axes[:3])  # albums


def test_without_a_fit_nothing_is_dashed_and_the_axis_ends_with_the_data(intervals, overlays) -> None:
    empty = {"notes": Overlay(overlays["notes"].bands[:0], {})}
    for figure in (drawn(intervals((1,))), drawn(intervals((1,)), overlays=empty)):
        for axes in figure.axes[3:]:
            assert not dashed(axes)
            assert 2000 < axes.get_xlim()[1] < 1.2 * 2000
        assert "Dashed, beyond" not in words(figure)
        assert "Optimum" not in words(figure)


def test_a_wide_band_does_not_press_the_curves_flat(intervals, overlays) -> None:
    wide = overlays["notes"].bands.assign(low=-500.0, high=500.0)
    frame = intervals((1,))
    for axes in drawn(frame, overlays={"notes": Overlay(wide, {})}).axes[3:]:
        low, high = axes.get_ylim()
        curves = [line.get_ydata() for line in axes.lines if len(line.get_ydata()) == 3]
        assert np.ptp(np.concatenate(curves)) > 0.2 * (high - low)


def test_bounds_are_written_above_the_curves_of_their_metric(intervals, overlays) -> None:
    figure = drawn(intervals((1,)), overlays=overlays)
    texts = [" ".join(text.get_text() for text in axes.texts) for axes in figure.axes]
    assert "↑ optimum 71.0" in texts[3]
    assert "↑ source words 83.5" in texts[3]
    assert "↑ optimum 44.0" in texts[4]
    assert "source words" not in texts[4] + texts[5]
    assert not any("optimum" in text for text in [*texts[:3], texts[5]])
    assert "Optimum: no ceiling." in words(figure)
    (box,) = (text for text in figure.axes[3].texts if "optimum" in text.get_text())
    assert box.get_text().index("source words") < box.get_text().index("optimum")  # the higher one first


@pytest.fixture
def many(evidence):
    """The outputs of one corpus with three fractions, as those of seventeen methods."""
    rows = [one for one in evidence() if one.corpus == "notes"]
    return [
        *(one for one in rows if one.role != "trained"),
        *(replace(one, method=method) for method in METHODS for one in rows if one.method == "abs"),
    ]


def test_many_methods_are_each_named_in_one_panel_of_a_metric_and_pale_in_the_others(many, study, settings) -> None:
    figure = drawn(of(many, study, settings), heading="IN PART")
    panels = len(panels_of(METHODS))
    assert len(figure.axes) == panels * len(METRICS)
    assert "IN PART" in words(figure)
    for row in range(len(METRICS)):
        row_axes = figure.axes[row * panels : (row + 1) * panels]
        named = [text.get_text() for axes in row_axes for text in axes.texts]
        assert sorted(name for name in named if name in METHODS) == sorted(METHODS)
        assert len({axes.get_ylim() for axes in row_axes}) == 1  # they share the tick labels of the first
        for axes in row_axes:
            here = [text.get_text() for text in axes.texts if text.get_text() in METHODS]
            curves = [line for line in axes.lines if len(line.get_ydata()) == 3]
            assert len(curves) == len(METHODS)
            assert sum(line.get_color() == PALE for line in curves) == len(METHODS) - len(here)


def test_of_many_methods_each_goes_on_in_the_panel_that_names_it(many, study, settings, overlays) -> None:
    bands = overlays["notes"].bands
    every = pd.concat([bands[bands.method == "abs"].assign(method=method) for method in METHODS])
    wide = every.method.isin(["pgrl", "ent_gold"])  # a panel of wide bands must not have a scale of its own
    every = every.assign(low=every.low - 9 * wide, high=every.high + 9 * wide)
    figure = drawn(of(many, study, settings), overlays={"notes": Overlay(every, {})})
    for axes in figure.axes:
        assert len(dashed(axes)) == sum(text.get_text() in METHODS for text in axes.texts)
    panels = len(panels_of(METHODS))
    for row in range(len(METRICS)):
        axes_of_row = figure.axes[row * panels : (row + 1) * panels]
        assert len({axes.get_ylim() for axes in axes_of_row}) == 1
        assert len({axes.get_xlim() for axes in axes_of_row}) == 1


def test_a_corpus_of_one_size_has_no_bounds_and_its_caption_speaks_of_none(intervals, overlays) -> None:
    frame = intervals((1,))
    figure = drawn(frame[frame.corpus == "albums"], overlays={"albums": overlays["notes"]})
    assert "optimum" not in words(figure).lower()
    assert "Dashed, beyond" not in words(figure)


def test_relatives_share_a_panel_and_no_panel_is_crowded() -> None:
    panels = panels_of(METHODS)
    assert [name for panel in panels for name in panel] == sorted(METHODS)
    assert max(map(len, panels)) <= PANEL
    for family in ("abs", "ent", "reg", "trans"):
        assert sum(any(name.split("_")[0] == family for name in panel) for panel in panels) == 1
    assert panels_of(["b", "a"]) == [["a", "b"]]
    assert [len(panel) for panel in panels_of([f"x_{number}" for number in range(7)])] == [PANEL, 2]


def test_looks_are_told_apart_by_colour_in_a_panel_and_by_colour_and_marker_in_all() -> None:
    looks = looks_of(METHODS)
    assert len(set(looks.values())) == len(METHODS)
    for panel in panels_of(METHODS):
        assert len({looks[name][0] for name in panel}) == len({looks[name][1] for name in panel}) == len(panel)
    assert len(set(looks_of([f"x{n:02}" for n in range(56)]).values())) == 56 == len(COLOURS) * len(MARKERS)


def test_dots_stand_in_the_order_of_their_scores_below_what_is_not_trained(many, study, settings) -> None:
    single = [one for one in many if one.percent in (None, 100)]
    single = [
        replace(one, scores={"rouge": replace(one.scores["rouge"], values=one.scores["rouge"].values * 0.9**place)})
        for place, one in enumerate(single)
    ]
    frame = of(single, study, settings)
    names = [label.get_text() for label in drawn(frame).axes[0].get_yticklabels()][::-1]
    assert names[:3] == ["lead", "random", "best-sentence"]
    assert names[3:] == list(frame[frame.percent.notna()].sort_values("rouge1", ascending=False).method)


def test_a_bound_far_beyond_all_others_is_written_and_does_not_press_dots_flat(intervals) -> None:
    frame = intervals((1,))
    frame = frame[frame.records.isna() | (frame.records == frame.records.max())]
    axes = drawn(frame).axes[0]
    limits = axes.get_xlim()
    bound = frame[frame.method == "lead"].assign(
        method="gold", role="bound", rouge1=1000.0, rouge1_low=np.nan, rouge1_high=np.nan
    )
    far = drawn(pd.concat([frame, bound])).axes[0]
    assert far.get_xlim() == limits
    assert [text.get_text() for text in far.texts] == ["1000.0 →"]
    assert "gold" in [label.get_text() for label in far.get_yticklabels()]
    near = drawn(pd.concat([frame, bound.assign(rouge1=frame.rouge1.max())])).axes[0]
    assert not near.texts


def test_panels_of_dots_do_not_run_into_each_other(intervals) -> None:
    """However many metrics there are: titles and axes have their own room."""
    frame = intervals((1,))
    frame = frame[frame.records.isna() | (frame.records == frame.records.max())]
    metrics = [*RougeF1.metrics, *RougeF1.metrics, *RougeF1.metrics[:1]]
    figure = draw(frame, metrics, "95 %")
    figure.canvas.draw()
    boxes = [axes.get_tightbbox() for axes in figure.axes]
    assert len(boxes) >= len(metrics)
    for first, second in combinations(boxes, 2):
        assert not first.overlaps(second)


def test_the_words_can_be_found_in_the_svg_and_bytes_repeat(intervals, overlays, tmp_path) -> None:
    frame = intervals((1,))
    for name, over in (("a", overlays), ("b", overlays), ("c", None)):
        write_figure(frame, RougeF1.metrics, "95 %", tmp_path, name, overlays=over)
    svg, again, plain = ((tmp_path / f"{name}.svg").read_text() for name in "abc")
    assert "these weights, not their method" in svg
    assert svg == again != plain
    assert "<dc:date>" not in svg


@given(st.lists(st.floats(0, 10), min_size=1, max_size=9).map(sorted))
def test_labels_keep_apart_in_order_and_stay_where_there_is_room(heights) -> None:
    places = spread(heights, 1.0)
    assert all(second - first > 1 - 1e-9 for first, second in pairwise(places))
    assert np.mean(places) == pytest.approx(np.mean(heights))
    if all(second - first >= 1 for first, second in pairwise(heights)):
        assert places == pytest.approx(heights)


def test_what_does_not_read_is_hollow_on_its_methods_own_curve(intervals):
    scores = intervals((1, 2))
    trained = scores[(scores.role == "trained") & (scores.corpus == "notes")]  # of several sizes
    marked = scores.copy()
    smallest = trained.groupby(["corpus", "method"]).records.idxmin().iloc[0]
    marked.loc[smallest, "reads_source"] = "no"
    before, after = ([line for axes in drawn(one).axes for line in axes.lines] for one in (scores, marked))
    added = [line for line in after if line.get_markerfacecolor() == "white"]
    assert added
    assert len(after) == len(before) + len(added)
    assert all(len(line.get_xdata()) == 1 for line in added)


def zero_shot(evidence, invented, method="pcov"):
    """The study's outputs, and a pretrained method's before any training."""
    found = [replace(one, role="outside") for one in [invented("notes", f"{method}-zero-shot", None, None, 21.0)]]
    return [*evidence((1, 2)), *found]


def test_a_zero_shot_row_stands_at_0_records_left_of_a_break(evidence, invented, study, settings) -> None:
    frame = of(zero_shot(evidence, invented), study, settings)
    row = frame[frame.method == "pcov-zero-shot"].iloc[0]
    assert (row.percent, row.records) == (0, 0)
    figure = drawn(frame)
    axes = next(one for one in figure.axes if any(text.get_text() == "0" for text in one.get_xticklabels()))
    (mark,) = [line for line in axes.lines if line.get_linestyle() == "None" and line.get_ydata()[0] == row.rouge1]
    first = frame[(frame.corpus == "notes") & (frame.role == "trained")].records.min()
    assert axes.get_xlim()[0] < mark.get_xdata()[0] < first
    assert mark.get_color() == looks_of(sorted(set(frame.method[frame.role == "trained"])))["pcov"][0]
    assert "At 0 records" in words(figure)
    assert "pcov-zero-shot" not in words(figure)
    without = drawn(of(evidence((1, 2)), study, settings))
    assert "At 0 records" not in words(without)


def test_a_zero_shot_row_enters_no_fit(evidence, invented, study, settings) -> None:
    """Neither efficiency nor verdicts nor answers' sizes know of it."""
    from sumcurve.tables import efficiency, verdicts

    plain = Results(replace(study, outputs=evidence((1, 2))), settings)
    more = Results(replace(study, outputs=zero_shot(evidence, invented)), settings)
    assert efficiency.table(more).rows == efficiency.table(plain).rows
    assert verdicts.table(more).rows == verdicts.table(plain).rows
    assert more.sizes("notes") == plain.sizes("notes")
    assert more.methods("notes") == plain.methods("notes")


def test_a_shorter_drawing_has_the_same_words_and_its_places_to_a_hundredth() -> None:
    svg = b'<g>\n  <path d="M 1.239999 -20.5 \nL 3 4.000001"/>\n  <text x="7.123456">0.123456</text>\n</g>\n'
    assert shortened(svg) == b'<g>\n<path d="M 1.23 -20.5 \nL 3 4.00"/>\n<text x="7.12">0.123456</text>\n</g>\n'

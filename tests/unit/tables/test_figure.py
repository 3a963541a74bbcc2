from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.scores import METRICS
from sumcurve.tables import frames
from sumcurve.tables.evidence import TRIVIAL, align
from sumcurve.tables.figure import COLOURS, MARKERS, PALE, PANEL, draw, looks_of, panels_of, spread, write_figure

METHODS = (
    *("abs", "abs_nnlm", "ent", "ent_base", "ent_gold", "ent_loss", "ent_penalty", "fastrl", "globen", "nats"),
    *("pcov", "pgrl", "reg_base", "reg_dual", "reg_self", "trans", "trans_nocopy"),
)


@pytest.fixture
def intervals(evidence, settings):
    return lambda seeds: frames.intervals(align(evidence(seeds)), settings)


def words(figure) -> str:
    return " ".join(text.get_text() for text in figure.texts)


def test_one_row_of_panels_for_each_corpus(intervals, settings) -> None:
    figure = draw(intervals((1,)), settings)
    assert [axes.get_title(loc="left") for axes in figure.axes] == 2 * ["ROUGE-1", "ROUGE-2", "ROUGE-Lsum"]
    assert [axes.get_xscale() for axes in figure.axes] == 3 * ["linear"] + 3 * ["log"]  # albums, notes


def test_curves_and_bands_hold_the_frames_numbers(intervals, settings) -> None:
    frame = intervals((1,))
    figure = draw(frame, settings)
    for metric, axes in zip(METRICS, figure.axes[3:], strict=True):
        drawn = [line.get_ydata() for line in axes.lines if len(line.get_ydata()) == 3 and line.get_linestyle() == "-"]
        for method in ("abs", "pcov"):
            rows = frame[(frame.corpus == "notes") & (frame.method == method)]
            assert any(np.allclose(line, rows[metric]) for line in drawn)
            bands = [band.get_paths()[0].vertices[:, 1] for band in axes.collections if len(band.get_paths()) == 1]
            ends = (rows[f"{metric}_low"].min(), rows[f"{metric}_high"].max())
            assert any(np.allclose((band.min(), band.max()), ends) for band in bands if len(band))
        names = {text.get_text() for text in axes.texts}
        assert {"abs", "pcov", "lead", "random"} <= names
        assert any("best-sentence" in name for name in names)


def test_one_seed_says_so_and_several_show_their_spread(intervals, settings) -> None:
    assert "seed spread unknown" in words(draw(intervals((1,)), settings))
    frame = intervals((1, 2, 3))
    several = draw(frame, settings)
    assert "unknown" not in words(several)
    assert "mean of 3 seeds" in words(several)
    bands = [
        band.get_paths()[0].vertices[:, 1]
        for axes in several.axes[3:]
        for band in axes.collections
        if len(band.get_paths()) == 1
    ]
    for metric in METRICS:
        for method in ("abs", "pcov"):
            rows = frame[(frame.corpus == "notes") & (frame.method == method)]
            ends = (rows[f"{metric}_least"].min(), rows[f"{metric}_most"].max())
            assert any(np.allclose((band.min(), band.max()), ends) for band in bands if len(band))


@pytest.fixture
def many(evidence):
    """The outputs of one corpus with three fractions, as those of seventeen methods."""
    rows = [one for one in evidence() if one.corpus == "notes"]
    return [
        *(one for one in rows if one.method in TRIVIAL),
        *(replace(one, method=method) for method in METHODS for one in rows if one.method == "abs"),
    ]


def test_many_methods_are_each_named_in_one_panel_of_a_metric_and_pale_in_the_others(many, settings) -> None:
    figure = draw(frames.intervals(align(many), settings), settings, heading="IN PART")
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
    assert len(set(looks_of([f"x{n:02}" for n in range(42)]).values())) == 42 == len(COLOURS) * len(MARKERS)


def test_dots_stand_in_the_order_of_their_scores_below_what_is_not_trained(many, settings) -> None:
    single = [one for one in many if one.percent in (None, 100)]
    single = [
        replace(one, items=[{**item, "rouge1": item["rouge1"] * 0.9**place} for item in one.items])
        for place, one in enumerate(single)
    ]
    frame = frames.intervals(align(single), settings)
    names = [label.get_text() for label in draw(frame, settings).axes[0].get_yticklabels()][::-1]
    assert names[:3] == list(TRIVIAL)
    assert names[3:] == list(frame[frame.percent.notna()].sort_values("rouge1", ascending=False).method)


def test_the_words_can_be_found_in_the_svg_and_bytes_repeat(intervals, settings, tmp_path) -> None:
    frame = intervals((1,))
    svg, png = write_figure(frame, settings, tmp_path, "a")
    again, _ = write_figure(frame, settings, tmp_path, "b")
    assert b"seed spread unknown" in svg.read_bytes()
    assert svg.read_bytes() == again.read_bytes()
    assert b"<dc:date>" not in svg.read_bytes()
    assert png.read_bytes().startswith(b"\x89PNG")


@given(st.lists(st.floats(0, 10), min_size=1, max_size=9).map(sorted))
def test_labels_keep_apart_in_order_and_stay_where_there_is_room(heights) -> None:
    places = spread(heights, 1.0)
    assert all(second - first > 1 - 1e-9 for first, second in pairwise(places))
    assert np.mean(places) == pytest.approx(np.mean(heights))
    if all(second - first >= 1 for first, second in pairwise(heights)):
        assert places == pytest.approx(heights)

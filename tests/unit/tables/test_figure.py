from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.scores import METRICS
from sumcurve.tables import frames
from sumcurve.tables.evidence import align
from sumcurve.tables.figure import draw, spread, write_figure


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
    several = words(draw(intervals((1, 2, 3)), settings))
    assert "unknown" not in several
    assert "mean of 3 seeds" in several


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

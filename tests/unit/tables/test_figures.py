"""Figures: what is drawn is what the table of scores has, names stay apart, and equal data give equal bytes."""

import html
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.curves.verdict import chance
from sumcurve.scores.rouge_f1 import RougeF1
from sumcurve.study.tables import made
from sumcurve.tables import scores as scores_table
from sumcurve.tables.chart import COLOURS, CROSS, SHAPES, configured, curves, looks_of, shortened, spread
from sumcurve.tables.figures import SMALL, block, pareto, study_panel, write_figures
from sumcurve.tables.report.facts import corpora_of, rows_of
from sumcurve.tables.report.figure import figure
from sumcurve.tables.report.findings import Titles
from sumcurve.tables.results import Results

METRICS = tuple(RougeF1.metrics)
LOOKS = looks_of(["abs", "pcov"])


@pytest.fixture
def framed(study, settings):
    """A study's results and the frame of its scores."""

    def build(outputs):
        results = Results(replace(study, outputs=outputs), settings)
        return results, scores_table.table(results).frame()

    return build


def marks(specification, name, datasets=None):
    """The rows of every layer with this mark, in order, each with its mark's properties."""
    datasets = datasets or specification.get("datasets", {})
    for kind in ("layer", "concat", "vconcat"):
        for part in specification.get(kind, ()):
            yield from marks(part, name, {**datasets, **specification.get("datasets", {})})
    mark = specification.get("mark", {})
    if mark.get("type") == name:
        yield datasets.get(specification["data"].get("name"), []), mark


def written(specification):
    return [row for rows, mark in marks(specification, "text") for row in rows if "text" not in mark]


def test_curves_bands_and_names_hold_the_numbers_of_the_table(framed, evidence) -> None:
    results, frame = framed(evidence((1, 2)))
    rows = frame[frame.corpus == "notes"]
    trained = rows[rows.role == "trained"]
    for metric in METRICS:
        chart = curves(study_panel(results, rows, "notes", metric), looks_of(set(trained.method)), *SMALL)
        ((line, _),) = marks(chart, "line")
        ((band, _),) = marks(chart, "area")
        own = {(row["method"], row["x"]): row for row in line}
        for row in trained.to_dict("records"):
            here = own[row["method"], row["records"]]
            ends = [row[metric.name], row[f"{metric.name}_low"], row[f"{metric.name}_high"]]
            assert [here[name] for name in ("score", "low", "high")] == pytest.approx(ends)
        assert band == line
        names = {results.study.titles.get(name, name) for name in rows.method[rows.role != "bound"]}
        assert {row["system"] for row in written(chart)} == names


def test_bytes_repeat_and_what_nothing_knows_has_no_panel(framed, evidence, tmp_path) -> None:
    results, frame = framed(evidence((1,)))
    frame.loc[frame.corpus == "albums", METRICS[-1].name] = np.nan
    for corpus, gone in (("albums", 1), ("notes", 0)):
        assert len(block(results, frame, corpus, METRICS, LOOKS)["concat"]) == len(METRICS) - gone
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        folder.mkdir()
        write_figures(results, frame, folder)
    svgs, again = ({path.stem: path.read_text() for path in folder.iterdir()} for folder in folders)
    assert svgs == again
    texts = {
        name: [html.unescape(text) for text in re.findall(r">([^<>]+)</t(?:ext|span)>", svg)]
        for name, svg in svgs.items()
    }
    assert set(texts) == {"curves", "seconds"}
    assert {"albums", "ROUGE-2 (points)", "ABS", "PCOV", "best-sentence"} <= {*texts["curves"]}
    assert "single run" in " ".join(texts["curves"])


def test_what_does_not_read_is_in_no_front_and_hollow(framed, evidence, more_metric, dimmed) -> None:
    """One size of a method, the cheapest of all, whose other sizes read."""
    gated = more_metric(evidence((1, 2, 3)), higher_is_better=True, threshold=0.5)
    blind = dimmed(gated, lambda output: (output.corpus, output.method, output.percent) == ("notes", "pcov", 25))
    fronts = []
    for outputs in (gated, blind):
        results, frame = framed(outputs)
        panel = study_panel(results, frame[frame.corpus == "notes"], "notes", METRICS[0], seconds=True)
        score, *_ = panel.points.score[panel.points.method == "pcov"]
        fronts.append(score in [height for _, height in panel.front])
    assert fronts == [True, False]
    filled, hollow = marks(curves(panel, LOOKS, *SMALL), "point")
    assert [row["system"] for row in hollow[0]] == ["PCOV†"]
    assert (hollow[1]["fill"], len(filled[0])) == ("white", 5)


def test_a_studys_figure_has_forecasts_from_the_last_score_on_and_what_was_measured_later(framed, long_curves) -> None:
    results, _ = framed(long_curves({"pcov": (20.0, 6.0), "abs": (10.0, 5.0)}))
    tables = rows_of({name: made(name, results) for name in ("scores", "scores_long", "answers")})
    (corpus,) = (one for one in corpora_of(tables) if one.name == "notes")
    later = [row | {"records": 2 * row["records"]} for row in tables["scores"] if row["records"]]
    chart = figure(corpus, Titles({}), replace(corpus, tables={"scores": later}))
    (dashed,) = (rows for rows, mark in marks(chart, "line") if "strokeDash" in mark)
    answers = {(row["method"], row["records"]): row for row in corpus.rows("answers", metric="ROUGE-1")}
    largest = max(row["records"] for row in answers.values() if row["basis"] == "measured")
    assert {(row["method"], row["x"]) for row in dashed} == {key for key in answers if key[1] >= largest}
    for row in dashed:
        told = answers[row["method"], row["x"]]
        assert [row["score"], row["low"], row["high"]] == [told["score"], told["score_low"], told["score_high"]]
    (crosses,) = (rows for rows, mark in marks(chart, "point") if mark.get("shape") == CROSS)
    last = [row for row in later if row["corpus"] == "notes" and row["records"] == 2 * largest]
    assert {(row["method"], row["x"], row["score"]) for row in crosses} == {
        (row["method"], row["records"], row["rouge1"]) for row in last
    }
    names = {row["system"] for row in written(chart)}
    assert {f"pcov ({chance(answers['pcov', 4 * largest]['leading'], 1).replace('above', '>')})"} <= names


def test_fitted_curves_are_dashed(framed, long_curves) -> None:
    results, frame = framed(long_curves({"pcov": (20.0, 6.0), "abs": (10.0, 5.0)}))
    panel = study_panel(results, frame, "notes", METRICS[0])
    (dashed,) = (rows for rows, mark in marks(curves(panel, LOOKS, *SMALL), "line") if "strokeDash" in mark)
    assert dashed == panel.fitted.to_dict("records") != []


def test_a_zero_shot_row_stands_at_0_left_of_the_first_size_and_is_not_joined(framed, evidence, invented) -> None:
    zero = replace(invented("notes", "pcov-zero-shot", None, None, 21.0), role="outside")
    results, frame = framed([*evidence((1, 2)), zero])
    rows = frame[frame.corpus == "notes"]
    panel = study_panel(results, rows, "notes", METRICS[0])
    (lone,) = panel.points[panel.points.x == panel.zero].to_dict("records")
    assert (lone["method"], lone["system"]) == ("pcov", "pcov-zero-shot")
    assert panel.zero < rows.records[rows.records > 0].min()
    ((line, _),) = marks(curves(panel, LOOKS, *SMALL), "line")
    assert panel.zero not in {row["x"] for row in line}


def test_looks_are_told_apart() -> None:
    looks = looks_of([f"x{number:02}" for number in range(56)])
    assert len(set(looks.values())) == 56 == len(COLOURS) * len(SHAPES)
    assert all(set(one) & set(two) == set() for one, two in pairwise(looks.values()))


@given(st.lists(st.floats(0, 10), min_size=1, max_size=9).map(sorted))
def test_labels_keep_apart_in_order_and_stay_where_there_is_room(heights) -> None:
    places = spread(heights, 1.0)
    assert all(second - first > 1 - 1e-9 for first, second in pairwise(places))
    assert np.mean(places) == pytest.approx(np.mean(heights))
    if all(second - first >= 1 for first, second in pairwise(heights)):
        assert places == pytest.approx(heights)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=12), st.booleans())
def test_no_point_of_the_front_is_bettered_and_every_other_is(points, higher) -> None:
    sign = 1 if higher else -1
    front = pareto(points, higher)

    def bettered(point):
        return any(
            cost <= point[0] and sign * score >= sign * point[1] and (cost, score) != point for cost, score in points
        )

    assert {point for point in points if not bettered(point)} == set(front)


def test_a_drawing_is_the_same_to_a_hundredth_of_a_pixel(framed, evidence) -> None:
    results, frame = framed(evidence())
    panel = study_panel(results, frame[frame.corpus == "notes"], "notes", METRICS[0])
    full = vl_convert.vegalite_to_svg(configured(curves(panel, LOOKS, *SMALL)))
    short = shortened(full)
    numbers = [
        [float(number) for path in re.findall(r' d="([^"]*)"', svg) for number in re.findall(r"-?[\d.]+", path)]
        for svg in (full, short)
    ]
    assert numbers[0] == pytest.approx(numbers[1], abs=0.006)
    assert len(short) < 0.8 * len(full)

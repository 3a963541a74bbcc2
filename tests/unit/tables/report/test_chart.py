"""Charts of the report: marks that can be told apart, names that do not lie on one another."""

import dataclasses
from itertools import pairwise

from sumcurve.tables.figure import MARKERS
from sumcurve.tables.report.chart import SHAPES, SIZES, TEXT, charts
from sumcurve.tables.results import Results


def test_every_marker_of_the_figure_has_a_shape_of_its_own_with_an_area():
    shapes = [SHAPES[marker] for marker in MARKERS]
    assert len(set(shapes)) == len(MARKERS)
    assert "stroke" not in shapes, "a line, which no fill shows"


def test_names_of_level_lines_stay_apart_on_an_axis_that_fitted_curves_make_longer(study, long_curves, settings):
    curves = {"pcov": (20.0, 6.0), "abs": (10.0, 5.0)}
    outputs = long_curves(curves)
    lead = next(one for one in outputs if one.method == "lead")
    others = [dataclasses.replace(lead, method=name) for name in ("lexrank", "random")]
    evidence = dataclasses.replace(study, outputs=[*outputs, *others], statistics=study.statistics[:1])
    chart = charts(Results(evidence, settings), "notes")["rouge1"]
    rows = [row for rows in chart["datasets"].values() for row in rows]
    heights = [row[key] for row in rows for key in ("score", "low", "high") if row[key] is not None]
    assert any("fitted" in row["training records"] for row in rows)
    places = sorted({row["place"] for row in rows if "place" in row})
    assert len(places) == 3
    pixels = SIZES / (max(heights) - min(heights))
    assert all((second - first) * pixels > TEXT - 1e-6 for first, second in pairwise(places))

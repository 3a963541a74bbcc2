import matplotlib
import numpy as np
import pandas as pd
import pytest

from sumcurve.capabilities.extracts.boxes import draw, write_boxes
from sumcurve.tables.figure import GREY

METRICS = ("rouge1", "rouge2")
CHOSEN = [
    *((name, "", metric) for name in ("exact", "F1-greedy") for metric in METRICS),
    *(("VNS", variant, metric) for variant in ("paper", "code") for metric in METRICS),
    ("Lead", "", ""),
]
LABELS = ["optimum", "F1-greedy", "VNS (paper)", "VNS (code)", "Lead"]


def distributions(corpus: str, chosen=CHOSEN) -> pd.DataFrame:
    """What the figure reads of oracle_scores: no two numbers of a panel are the same."""
    rows = []
    for place, (algorithm, variant, optimised) in enumerate(chosen):
        for column, metric in enumerate(METRICS):
            names = ["p05", "q1", "median", "q3", "p95", "mean"]
            start = 20 - 10 * column + 0.7 * place
            numbers = dict(zip(names, (start, start + 5, start + 8, start + 11, start + 17, start + 9), strict=True))
            named = {"corpus": corpus, "metric": metric, "algorithm": algorithm}
            rows.append(named | {"variant": variant, "optimised": optimised} | numbers)
    return pd.DataFrame(rows)


def lengths(corpus: str, proven: int = 40, articles: int = 40) -> pd.DataFrame:
    row = {"corpus": corpus, "articles": articles, "source_words_rouge1": 61.25}
    for metric, optimum in zip(METRICS, (31.5, 22.0), strict=True):
        row |= {f"optimum_{metric}": optimum, f"proven_{metric}": proven}
    return pd.DataFrame([row])


@pytest.fixture
def both() -> tuple[pd.DataFrame, pd.DataFrame]:
    names = ("albums", "notes")
    return pd.concat([distributions(name) for name in names]), pd.concat([lengths(name) for name in names])


def words(figure) -> str:
    return " ".join(text.get_text() for text in figure.texts)


def labels(axes) -> list[str]:
    """From the top."""
    return [label.get_text() for label in axes.get_yticklabels()][::-1]


def box_of(axes, place: int) -> tuple[float, float]:
    """The ends of the box of the row `place` from the top."""
    across = axes.patches[len(axes.patches) - 1 - place].get_path().vertices[:, 0]
    return float(across.min()), float(across.max())


def test_a_block_of_two_panels_for_each_corpus(both) -> None:
    figure = draw(*both)
    assert [axes.get_title(loc="left") for axes in figure.axes] == 2 * ["ROUGE-1", "ROUGE-2"]
    assert [labels(axes) for axes in figure.axes[::2]] == [LABELS, LABELS]
    assert all(axes.get_xlim()[0] == 0 for axes in figure.axes)
    assert "40 articles" in words(figure)
    tops = [axes.get_position().y1 for axes in figure.axes]
    assert tops[0] == tops[1] > tops[2] == tops[3]


def test_boxes_whiskers_and_means_are_the_frames_of_those_that_optimise_the_metric(both) -> None:
    scores, _ = both
    for axes, metric in zip(draw(*both).axes, 2 * METRICS, strict=True):
        here = scores[(scores.corpus == "notes") & (scores.metric == metric) & scores.optimised.isin(["", metric])]
        drawn = [line.get_xdata() for line in axes.lines]
        assert len(axes.patches) == len(here) == len(LABELS)
        for place, row in enumerate(here.itertuples(index=False)):
            assert box_of(axes, place) == pytest.approx((row.q1, row.q3))
            level = len(LABELS) - 1 - place
            whiskers = [sorted(line) for line in drawn if len(line) == 2]
            assert any(np.allclose(line, (row.p05, row.q1)) for line in whiskers)
            assert any(np.allclose(line, (row.q3, row.p95)) for line in whiskers)
            means = [line for line in axes.lines if line.get_marker() == "D" and line.get_ydata()[0] == level]
            assert [line.get_xdata()[0] for line in means] == [row.mean]


def test_rouge_2_read_off_extracts_for_rouge_1_stands_under_its_box(both) -> None:
    scores, _ = both
    first, second = draw(*both).axes[:2]
    assert not first.collections
    ends = [tuple(lines.get_segments()[0][:, 0]) for lines in second.collections]
    here = scores[(scores.corpus == "albums") & (scores.metric == "rouge2") & (scores.optimised == "rouge1")]
    assert np.allclose(sorted(ends), sorted(zip(here.q1, here.q3, strict=True)))
    means = [line.get_xdata()[0] for line in second.lines if line.get_marker() == "|"]
    assert sorted(means) == pytest.approx(sorted(here["mean"]))
    assert "optimise ROUGE-1, as the paper read it" in words(draw(*both))


def test_variants_and_systems_are_told_apart(both) -> None:
    axes = draw(*both).axes[0]
    optimum, _, paper, code, lead = axes.patches[::-1]
    white = (1.0, 1.0, 1.0)
    assert code.get_facecolor()[:3] == white != paper.get_facecolor()[:3]
    assert code.get_edgecolor() == paper.get_edgecolor() != optimum.get_edgecolor()
    assert lead.get_edgecolor() == matplotlib.colors.to_rgba(GREY)


def upright(axes) -> dict[str, float]:
    """Upright lines through the whole panel, by the way they are drawn."""
    return {str(line.get_linestyle()): line.get_xdata()[0] for line in axes.lines if list(line.get_ydata()) == [0, 1]}


def test_the_optimum_and_the_source_words_are_marked_and_are_no_ceiling(both) -> None:
    figure = draw(*both)
    for first, second in zip(figure.axes[::2], figure.axes[1::2], strict=True):
        assert upright(first) == {"-": 31.5, "--": 61.25}
        assert upright(second) == {"-": 22.0}
        assert [text.get_text() for text in first.texts] == ["proven optimum: 31.5", "source words: 61.2"]
        assert [text.get_text() for text in second.texts] == ["proven optimum: 22.0"]
        assert first.get_xlim()[1] > 61.25
    assert "no ceiling for methods that write words of their own" in words(figure).replace("\n", " ")


def test_what_is_not_proven_is_not_called_so() -> None:
    figure = draw(distributions("notes"), lengths("notes", proven=39))
    assert labels(figure.axes[0])[0] == "best found"
    for axes in figure.axes:
        assert "39 of 40 proven" in axes.texts[0].get_text()
        assert not any("proven optimum" in text.get_text() for text in axes.texts)


def test_proofs_alone_and_nothing_at_all(tmp_path) -> None:
    exact = [chosen for chosen in CHOSEN if chosen[0] == "exact"]
    alone = draw(distributions("notes", exact), lengths("notes"))
    assert [labels(axes) for axes in alone.axes[:1]] == [["optimum"]]
    nothing = (distributions("notes")[:0], lengths("notes")[:0])
    assert "No corpus of this study" in words(draw(*nothing))
    write_boxes(*nothing, tmp_path, "nothing")
    assert (tmp_path / "nothing.svg").stat().st_size > 0
    without = draw(distributions("notes"), pd.concat([lengths("notes"), lengths("tales", 0, 0)]))
    assert "tales: no article." in words(without)
    assert len(without.axes) == 2


@pytest.mark.filterwarnings("error")
def test_scores_of_0_are_drawn() -> None:
    flat = distributions("notes").assign(p05=0.0, q1=0.0, median=0.0, q3=0.0, p95=0.0, mean=0.0)
    zero = lengths("notes").assign(optimum_rouge1=0.0, optimum_rouge2=0.0, source_words_rouge1=0.0)
    for axes in draw(flat, zero).axes:
        assert axes.get_xlim()[1] > 0


def test_notes_and_heading_stand_in_the_figure_and_bytes_repeat(both, tmp_path) -> None:
    write_boxes(*both, tmp_path, "a", ["Invented notes."], "IN PART")
    with matplotlib.rc_context({"lines.linewidth": 9, "font.size": 30, "boxplot.meanline": True}):
        before = matplotlib.rcParams.copy()
        write_boxes(*both, tmp_path, "b", ["Invented notes."], "IN PART")
        assert matplotlib.rcParams == before
    text = (tmp_path / "a.svg").read_text()
    assert text == (tmp_path / "b.svg").read_text()
    assert "<dc:date>" not in text
    assert "IN PART" in text
    assert "Invented notes." in text

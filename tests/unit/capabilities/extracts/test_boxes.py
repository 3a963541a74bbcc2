"""The oracle's figure draws the frames' numbers, and calls proven what is."""

import html

import pandas as pd
import pytest

from sumcurve.capabilities.extracts.boxes import bounds_of, draw, labelled, write_boxes
from sumcurve.tables.chart import GREY, INK

METRICS = ("rouge1", "rouge2")
CHOSEN = [
    *((name, "", metric) for name in ("exact", "F1-greedy") for metric in METRICS),
    *(("VNS", variant, metric) for variant in ("paper", "code") for metric in METRICS),
    ("Lead", "", ""),
]
LABELS = ["optimum", "F1-greedy", "VNS (paper)", "VNS (code)", "Lead"]
PLACES = ["p05", "q1", "median", "q3", "p95", "mean"]


def distributions(corpus: str) -> pd.DataFrame:
    """What the figure reads of oracle_scores: no two numbers of a panel are the same."""
    rows = []
    for place, (algorithm, variant, optimised) in enumerate(CHOSEN):
        for column, metric in enumerate(METRICS):
            start = 20 - 10 * column + 0.7 * place
            numbers = dict(zip(PLACES, (start, start + 5, start + 8, start + 11, start + 17, start + 9), strict=True))
            chosen = {"algorithm": algorithm, "variant": variant, "optimised": optimised}
            rows.append({"corpus": corpus, "metric": metric, **chosen, **numbers})
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


def test_a_panel_has_the_boxes_of_who_optimised_its_metric_and_rouge_2_of_others_under_them(both) -> None:
    scores, _ = both
    sheet = draw(*both)
    blocks = sheet["vconcat"]
    assert [block["title"]["text"] for block in blocks] == ["albums", "notes"]
    for block, corpus in zip(blocks, ("albums", "notes"), strict=True):
        for panel, metric in zip(block["concat"], METRICS, strict=True):
            here = scores[(scores.corpus == corpus) & (scores.metric == metric)]
            drawn = [sheet["datasets"][layer["data"]["name"]] for layer in panel["layer"]]
            layers = dict(zip([layer["mark"]["type"] for layer in panel["layer"]], drawn, strict=True))
            own = here[here.optimised.isin(["", metric])]
            boxes = pd.DataFrame(layers["bar"])
            assert list(boxes.label) == LABELS
            assert boxes[PLACES].to_numpy() == pytest.approx(own[PLACES].to_numpy())
            under = [pd.DataFrame(rows) for rows in drawn if "label" in rows[0] and rows[0]["optimised"] == "rouge1"]
            others = here[here.optimised == "rouge1"]["mean"].tolist()
            assert (under[-1]["mean"].tolist() == others) == (metric == "rouge2")


def test_what_is_not_proven_is_not_called_so_and_variants_and_systems_are_told_apart() -> None:
    rows = distributions("notes")
    for proven, label, name in ((40, "optimum", "proven optimum: 31.5"), (39, "best found", "39 of 40 proven")):
        (lengths_of,) = (row for _, row in lengths("notes", proven).iterrows())
        marked = labelled(rows, lengths_of).drop_duplicates("label").set_index("label")
        assert list(marked.index) == [label, *LABELS[1:]]
        assert list(marked.filled) == [True, True, True, False, True]
        assert marked.colour["VNS (paper)"] == marked.colour["VNS (code)"] not in (GREY, INK)
        assert (marked.colour["Lead"], marked.colour[label]) == (GREY, INK)
        first, second = (bounds_of(metric, lengths_of) for metric in METRICS)
        assert name in first.text[0]
        assert list(first.score) == [31.5, 61.25]
        assert list(second.score) == [22.0]


def test_notes_and_what_is_missing_stand_in_the_figure_scores_of_0_are_drawn_and_bytes_repeat(both, tmp_path) -> None:
    scores, corpora = both
    for name in "ab":
        write_boxes(scores, pd.concat([corpora, lengths("tales", 0, 0)]), tmp_path, name, ["Noted."], "IN PART")
    text = html.unescape((tmp_path / "a.svg").read_text())
    assert text == html.unescape((tmp_path / "b.svg").read_text())
    assert all(part in text for part in ("IN PART", "Noted.", "tales: no article.", "40 articles", "source words: 61"))
    write_boxes(scores[:0], corpora[:0], tmp_path, "nothing")
    assert "No corpus of this study" in (tmp_path / "nothing.svg").read_text()
    zero = corpora.assign(optimum_rouge1=0.0, optimum_rouge2=0.0, source_words_rouge1=0.0)
    write_boxes(scores.assign(**dict.fromkeys(PLACES, 0.0)), zero, tmp_path, "flat")
    assert "NaN" not in (tmp_path / "flat.svg").read_text()

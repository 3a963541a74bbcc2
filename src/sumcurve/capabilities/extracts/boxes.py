"""The oracle's figure: box plots of ROUGE by who chose the sentences, as Figure 3 of Akhmetov et al. (2022).

Drawn from the frames of `capabilities.extracts.tables.extracts` alone.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from sumcurve.capabilities.extracts import METRICS
from sumcurve.capabilities.extracts.tables.extracts import ALGORITHMS, EXACT, TITLES
from sumcurve.tables.chart import COLOURS, GREY, INK, LINE, ROW, Specification, block, save, sheet, together
from sumcurve.tables.table import number

WIDTH, BOX, UNDER = 400, 11, 9  # pixels: of a panel, of a box's height, from its middle to the line under it
NOTHING_DRAWN = "No corpus of this study has an article whose extracts were searched."
CAPTION = (
    "Boxes: quartiles and median over the articles; whiskers: 5 % and 95 % of the articles; diamonds: means. Extracts "
    "optimise the metric of their panel.",
    "Filled: the search as the paper describes it, or what has no variant; empty: as its authors' code behaves. Grey: "
    "systems, which see no reference.",
    "Line under a box: quartiles and mean of the ROUGE-2 of extracts that optimise ROUGE-1, as the paper read it.",
    "Optimum: the best extract of every article, or the bound where it is not proven; upright line: mean. It is no "
    "ceiling for methods that write words of their own.",
    "Source words, dashed: the best that can be said with the source's words in any order.",
)


def write_boxes(
    scores: pd.DataFrame,
    corpora: pd.DataFrame,
    folder: Path,
    name: str,
    notes: Sequence[str] = (),
    heading: str = "",
) -> None:
    """Draw the first two of `extracts.frames` as name.svg in `folder`."""
    save(draw(scores, corpora, notes, heading), folder, name)


def draw(scores: pd.DataFrame, corpora: pd.DataFrame, notes: Sequence[str] = (), heading: str = "") -> Specification:
    """A block for each corpus, a panel for ROUGE-1 and ROUGE-2 each, a row for each that chose sentences."""
    here = sorted(set(scores.corpus))
    empty = sorted(set(corpora.corpus) - {*here})
    caption = [*(CAPTION if here else [NOTHING_DRAWN]), *(f"{name}: no article." for name in empty), *notes]
    of_corpus = {row.corpus: row for _, row in corpora.iterrows()}
    blocks = []
    for corpus in here:
        rows, lengths = labelled(scores[scores.corpus == corpus], of_corpus[corpus]), of_corpus[corpus]
        panels = [_panel(rows[rows.metric == metric], metric, lengths, metric == METRICS[0]) for metric in METRICS]
        blocks.append(block(panels, len(METRICS), corpus, f"{number(lengths.articles)} articles"))
    return sheet(blocks, heading, caption)


def labelled(rows: pd.DataFrame, lengths: Any) -> pd.DataFrame:
    """The rows with the label and colour of who chose the sentences, and whether a box is filled."""
    proven = all(lengths[f"proven_{metric}"] == lengths.articles for metric in METRICS)
    best = "optimum" if proven else "best found"
    known = [name for name in ALGORITHMS if name != EXACT]
    colours = {EXACT: INK} | dict(zip(known, COLOURS, strict=False))
    labels = [
        best if name == EXACT else f"{name} ({variant})" if variant else name
        for name, variant in zip(rows.algorithm, rows.variant, strict=True)
    ]
    colour = [colours.get(name, GREY) for name in rows.algorithm]
    return rows.assign(label=labels, colour=colour, filled=rows.variant != "code")


def bounds_of(metric: str, lengths: Any) -> pd.DataFrame:
    """Upright lines (text, score, dashed)."""
    proven, articles = lengths[f"proven_{metric}"], lengths.articles
    known = f"{number(proven)} of {number(articles)} proven"
    name = "proven optimum" if proven == articles else f"optimum, or bound ({known})"
    lines = [(name, float(lengths[f"optimum_{metric}"]), False)]
    if metric == "rouge1":
        lines.append(("source words", float(lengths.source_words_rouge1), True))
    rows = [(f"{name}: {score:.1f}", score, dashed) for name, score, dashed in lines]
    return pd.DataFrame(rows, columns=["text", "score", "dashed"])


def _panel(rows: pd.DataFrame, metric: str, lengths: Any, named: bool) -> Specification:
    own = rows[rows.optimised.isin(["", metric])]
    bounds = bounds_of(metric, lengths)
    furthest = max(float(own.p95.max()), float(bounds.score.max()))
    end = min(100.0, 1.04 * furthest) or 1.0
    bounds = bounds.assign(align=["left" if score < end / 2 else "right" for score in bounds.score])
    order = list(dict.fromkeys(own.label))
    axis = alt.Axis(title=None, ticks=False, labels=named, domain=False, grid=False)
    y = alt.Y("label:N", scale=alt.Scale(domain=order), axis=axis)
    scale = alt.Scale(domain=[0, end], nice=False)

    def x(name: str) -> alt.X:
        return alt.X(f"{name}:Q", title="F1 (%)", scale=scale)

    colour = alt.Color("colour:N", scale=None)
    boxes, upright = alt.Chart(own), alt.Chart(bounds)
    filled = alt.when(alt.datum.filled).then(alt.value(0.35)).otherwise(alt.value(0))
    dash = alt.when(alt.datum.dashed).then(alt.value([5, 3])).otherwise(alt.value([1, 0]))
    box = {"y": y, "x": x("q1"), "x2": alt.X2("q3:Q")}
    layers = [
        upright.mark_rule(color=INK).encode(x=x("score"), strokeDash=dash),
        boxes.mark_rule().encode(y=y, x=x("p05"), x2=alt.X2("p95:Q"), color=colour),
        boxes.mark_bar(size=BOX, color="white").encode(**box),
        boxes.mark_bar(size=BOX, strokeWidth=1).encode(**box, color=colour, stroke=colour, fillOpacity=filled),
        boxes.mark_tick(thickness=2, size=BOX).encode(y=y, x=x("median"), color=colour),
        boxes.mark_point(shape="diamond", size=36, fill="white", stroke=INK, strokeWidth=1, opacity=1).encode(
            y=y, x=x("mean")
        ),
    ]
    read_off = rows[rows.optimised == "rouge1"] if metric == "rouge2" else rows[:0]
    if len(read_off):
        under = alt.Chart(read_off)
        layers += [
            under.mark_rule(yOffset=UNDER).encode(y=y, x=x("q1"), x2=alt.X2("q3:Q"), color=colour),
            under.mark_tick(yOffset=UNDER, size=5).encode(y=y, x=x("mean"), color=colour),
        ]
    title = {"text": TITLES[metric], "offset": 6 + 2 * LINE}
    for place, (_, bound) in enumerate(bounds.iterrows()):
        text = alt.Chart(bounds[place : place + 1]).mark_text(align=bound["align"], baseline="bottom")
        layers.append(text.encode(x=x("score"), y=alt.YValue(-3 - LINE * place), text=alt.Text("text:N")))
    return together("layer", layers, width=WIDTH, height=ROW * len(order), title=title)

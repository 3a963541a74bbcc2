"""The oracle's figure: box plots of ROUGE by who chose the sentences, as Figure 3 of Akhmetov et al. (2022).

Drawn from the frames of `capabilities.extracts.tables.extracts` alone. No global state of matplotlib is read or
changed; equal frames give equal bytes of SVG with one version of matplotlib.
"""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from sumcurve.capabilities.extracts import METRICS
from sumcurve.capabilities.extracts.tables.extracts import ALGORITHMS, EXACT, TITLES
from sumcurve.tables.figure import COLOURS, FONT_SIZE, GREY, INK, WIDTH, save
from sumcurve.tables.table import number

ROW, ABOVE, BELOW = 0.235, 0.86, 0.42  # inches of a row, and of a block above and below its rows
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
    save(lambda: draw(scores, corpora, notes, heading), folder, name)


def draw(scores: pd.DataFrame, corpora: pd.DataFrame, notes: Sequence[str] = (), heading: str = "") -> Figure:
    """A block for each corpus, a panel for ROUGE-1 and ROUGE-2 each, a row for each that chose sentences."""
    blocks = [(corpus, rows) for corpus, rows in scores.groupby("corpus", sort=True)]
    empty = sorted(set(corpora.corpus) - {corpus for corpus, _ in blocks})
    parts = [*(CAPTION if blocks else [NOTHING_DRAWN]), *(f"{name}: no article." for name in empty), *notes]
    caption = [line for part in parts for line in textwrap.wrap(part, 165)]
    of_corpus = {row.corpus: row for _, row in corpora.iterrows()}
    orders = [_rows(rows, of_corpus[corpus]) for corpus, rows in blocks]
    heights = [ABOVE + BELOW + ROW * len(order) for order in orders]
    foot, head = 0.3 + 0.17 * len(caption), 0.35 if heading else 0.0
    total = head + sum(heights) + foot
    figure = Figure(figsize=(WIDTH, total))
    if heading:
        figure.text(0.5, 1 - 0.12 / total, heading, weight="bold", size=FONT_SIZE + 3, ha="center", va="top")
    top = total - head
    for (corpus, rows), order, height in zip(blocks, orders, heights, strict=True):
        lengths = of_corpus[corpus]
        figure.text(0.012, (top - 0.14) / total, str(corpus), weight="bold", size=FONT_SIZE + 2, va="top")
        remark = f"{number(lengths.articles)} articles"
        figure.text(0.988, (top - 0.14) / total, remark, ha="right", va="top", color=GREY)
        left = (0.25 + 0.066 * max(len(label) for label in order.label)) / WIDTH
        step = (1.0 - left) / len(METRICS)
        tall = height - ABOVE - BELOW
        for column, metric in enumerate(METRICS):
            place = (left + column * step, (top - ABOVE - tall) / total, step - 0.03, tall / total)
            axes = figure.add_axes(place)
            _draw_boxes(axes, rows[rows.metric == metric], order, metric, lengths, names_shown=column == 0)
        top -= height
    figure.text(0.012, (foot - 0.16) / total, "\n".join(caption), va="top", size=FONT_SIZE - 0.5, linespacing=1.35)
    return figure


def _rows(rows: pd.DataFrame, lengths: Any) -> pd.DataFrame:
    """Algorithm, variant, label and colour of every row of a block, the first on top."""
    order = rows[["algorithm", "variant"]].drop_duplicates().reset_index(drop=True)
    known = [name for name in ALGORITHMS if name != EXACT]
    colours = {EXACT: INK} | dict(zip(known, COLOURS, strict=False))
    order["label"] = [f"{name} ({variant})" if variant else name for name, variant in order.itertuples(index=False)]
    proven = all(lengths[f"proven_{metric}"] == lengths.articles for metric in METRICS)
    order.loc[order.algorithm == EXACT, "label"] = "optimum" if proven else "best found"
    order["colour"] = [colours.get(name, GREY) for name in order.algorithm]
    return order


def _draw_boxes(
    axes: Axes, rows: pd.DataFrame, order: pd.DataFrame, metric: str, lengths: Any, names_shown: bool
) -> None:
    furthest = 0.0
    for place, one in order.iloc[::-1].reset_index(drop=True).iterrows():  # the first row stands on top
        mine = rows[(rows.algorithm == one.algorithm) & (rows.variant == one.variant)]
        own = mine[mine.optimised.isin(["", metric])].iloc[0]
        furthest = max(furthest, float(own.p95))
        face = "white" if one.variant == "code" else one.colour
        axes.bxp(
            [_box(own)],
            positions=[place],
            widths=0.52,
            orientation="horizontal",
            showfliers=False,
            showmeans=True,
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": to_rgba(face, 0.35), "edgecolor": one.colour},
            whiskerprops={"color": one.colour},
            capprops={"color": one.colour},
            medianprops={"color": one.colour, "linewidth": 2.0},
            meanprops={"marker": "D", "markersize": 3.6, "markerfacecolor": "white", "markeredgecolor": INK},
        )
        read_off = mine[mine.optimised == "rouge1"]
        if metric == "rouge2" and len(read_off):
            other = read_off.iloc[0]
            axes.hlines(place - 0.4, other.q1, other.q3, color=one.colour, linewidth=1.2)
            axes.plot(other["mean"], place - 0.4, marker="|", color=one.colour, markersize=5, markeredgewidth=1.4)
    bounds = _bounds(metric, lengths)
    furthest = max(furthest, *(score for _, score, _ in bounds))
    for line, (name, score, dashes) in enumerate(bounds):
        axes.axvline(score, color=INK, linewidth=0.9, linestyle=dashes, zorder=0.5)
        axes.annotate(
            f"{name}: {score:.1f}",
            xy=(score, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3 + 1.4 * FONT_SIZE * line),
            textcoords="offset points",
            ha="left" if score < furthest / 2 else "right",
        )
    axes.set_title(TITLES[metric], loc="left", pad=3 + 1.4 * FONT_SIZE)
    axes.set_xlabel("F1 (%)", labelpad=1)
    axes.set_ylim(-0.7, len(order) - 0.4)
    axes.set_xlim(0.0, min(100.0, 1.04 * furthest) or 1.0)
    axes.set_yticks(range(len(order)))
    axes.set_yticklabels(list(order.label.iloc[::-1]) if names_shown else [])
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
    axes.grid(axis="x", color="#e6e6e6", linewidth=0.7)
    axes.set_axisbelow(True)


def _box(row: Any) -> dict[str, float]:
    """What a box is drawn from, under matplotlib's names."""
    ends = {"whislo": row.p05, "q1": row.q1, "med": row["median"], "q3": row.q3, "whishi": row.p95}
    return {name: float(value) for name, value in ends.items()} | {"mean": float(row["mean"])}


def _bounds(metric: str, lengths: Any) -> list[tuple[str, float, Any]]:
    """Upright lines: a name, a score, and dashes."""
    proven, articles = lengths[f"proven_{metric}"], lengths.articles
    known = f"{number(proven)} of {number(articles)} proven"
    name = "proven optimum" if proven == articles else f"optimum, or bound ({known})"
    found: list[tuple[str, float, Any]] = [(name, float(lengths[f"optimum_{metric}"]), "-")]
    if metric == "rouge1":
        found.append(("source words", float(lengths.source_words_rouge1), (0, (4, 2))))
    return found

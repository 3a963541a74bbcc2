"""One table in four forms: CSV for programs; Markdown, LaTeX and an HTML page for people.

The CSV holds the frame with a fixed number of decimals, so equal numbers give equal bytes. The other forms
hold what `shown` says, a frame of ready cells with headings for people.
"""

import csv
import html
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sumcurve.records import write_text

NOTHING = "–"
DECIMALS = 4  # of a float in a CSV
LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "Σ": r"$\Sigma$",
    "Θ": r"$\Theta$",
    "σ": r"$\sigma$",
    "θ": r"$\theta$",
    "ε": r"$\varepsilon$",
    "Δ": r"$\Delta$",
    "−": r"$-$",
    "→": r"$\to$",
    "≥": r"$\ge$",
    "≤": r"$\le$",
    "–": "--",
    "[": "{[}",  # after \\ a bare bracket would be read as the row's extra space
    "]": "{]}",
}
NUMBER = re.compile(r"[−+<]?[\d.,]+( \[.*\])?|–( \[\d+\])?|")
BOLD = re.compile(r"\*\*(.*)\*\*")
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 1.5rem; }
figure { margin: 0; overflow-x: auto; }
figcaption { max-width: 60rem; margin-bottom: .8rem; }
table { border-collapse: collapse; border-top: 2px solid #1a1a1a; border-bottom: 2px solid #1a1a1a; }
th, td { padding: .25rem .7rem; text-align: left; white-space: nowrap; }
th { border-bottom: 1px solid #1a1a1a; vertical-align: bottom; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
tr.rule td { border-top: 1px solid #bbb; }
.note { max-width: 60rem; color: #444; font-size: .9em; margin: .5rem 0 0; overflow-wrap: anywhere; }
"""


def number(value: Any, decimals: int = 2) -> str:
    """A cell for people: thousands apart, a true minus sign, none before zero, a dash for nothing."""
    if pd.isna(value):
        return NOTHING
    text = f"{value:,}" if isinstance(value, int | np.integer) else f"{value:,.{decimals}f}"
    if text.startswith("-"):
        text = "−" + text[1:] if text.strip("-0.,") else text[1:]
    return text


def bold(cell: str) -> str:
    """A cell that every form for people prints in bold type."""
    return f"**{cell}**"


def span(value: Any, low: Any, high: Any, decimals: int = 2) -> str:
    """A cell that holds a value with its interval."""
    if pd.isna(value):
        return NOTHING
    if pd.isna(low):
        return number(value, decimals)
    return f"{number(value, decimals)} [{number(low, decimals)}, {number(high, decimals)}]"


def write_table(
    frame: pd.DataFrame,
    folder: Path,
    name: str,
    caption: str,
    shown: pd.DataFrame,
    notes: Sequence[str] = (),
    decimals: Mapping[str, int] | None = None,
) -> list[Path]:
    """Write name.csv, .md, .tex and .html into `folder` and return their paths.

    `shown` holds strings; rows are parted by a rule where its first column changes. `decimals` overrides
    `DECIMALS` for columns of the CSV.
    """
    forms = {
        "csv": _csv(frame, decimals or {}),
        "md": _markdown(shown, caption, notes),
        "tex": _latex(shown, name, caption, notes),
        "html": _html(shown, caption, notes),
    }
    paths = []
    for suffix, text in forms.items():
        paths.append(folder / f"{name}.{suffix}")
        write_text(paths[-1], text)
    return paths


def _csv(frame: pd.DataFrame, decimals: Mapping[str, int]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(frame.columns)
    places = [decimals.get(column, DECIMALS) for column in frame.columns]
    for row in frame.itertuples(index=False, name=None):
        writer.writerow([_plain(value, digits) for value, digits in zip(row, places, strict=True)])
    return stream.getvalue()


def _plain(value: Any, decimals: int) -> str:
    if pd.isna(value):
        return ""
    if isinstance(value, float):
        text = f"{value:.{decimals}f}"
        return text.lstrip("-") if not text.strip("-0.") else text
    return str(value)


def _right(shown: pd.DataFrame) -> list[bool]:
    """Which columns hold numbers only, and are set flush right."""
    return [all(NUMBER.fullmatch(_parts(cell)[0]) for cell in shown[column]) for column in shown.columns]


def _parts(cell: str) -> tuple[str, bool]:
    """A cell's text and whether it is bold."""
    found = BOLD.fullmatch(cell)
    return (found[1], True) if found else (cell, False)


def _rules(shown: pd.DataFrame) -> list[bool]:
    """Before which rows the first column changes."""
    first = list(shown.iloc[:, 0])
    return [index > 0 and cell != first[index - 1] for index, cell in enumerate(first)]


def _markdown(shown: pd.DataFrame, caption: str, notes: Sequence[str]) -> str:
    def row(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("\\", "\\\\").replace("|", "\\|") for cell in cells) + " |"

    lines = [caption, "", row(list(shown.columns))]
    lines.append("| " + " | ".join("---:" if right else "---" for right in _right(shown)) + " |")
    lines += [row(cells) for cells in shown.itertuples(index=False, name=None)]
    for note in notes:
        lines += ["", note]
    return "\n".join(lines) + "\n"


def _latex(shown: pd.DataFrame, name: str, caption: str, notes: Sequence[str]) -> str:
    def row(cells: Sequence[str]) -> str:
        return " & ".join(latex(cell) for cell in cells) + r" \\"

    def latex(cell: str) -> str:
        text, heavy = _parts(cell)
        return rf"\textbf{{{escape_latex(text)}}}" if heavy else escape_latex(text)

    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{table}[htbp]",
        r"\centering\small",
        rf"\caption{{{escape_latex(caption)}}}",
        rf"\label{{tab:{name}}}",
        rf"\begin{{tabular}}{{{''.join('r' if right else 'l' for right in _right(shown))}}}",
        r"\toprule",
        row(list(shown.columns)),
        r"\midrule",
    ]
    for cells, rule in zip(shown.itertuples(index=False, name=None), _rules(shown), strict=True):
        lines += [r"\addlinespace"] if rule else []
        lines.append(row(cells))
    lines += [r"\bottomrule", r"\end{tabular}"]
    for note in notes:
        lines.append(rf"\par\smallskip{{\footnotesize {escape_latex(note)}\par}}")
    lines.append(r"\end{table}")
    return "\n".join(lines) + "\n"


def escape_latex(text: str) -> str:
    """Text for LaTeX: special characters escaped, the tables' Greek letters and signs as mathematics."""
    return "".join(LATEX.get(character, character) for character in text)


def _html(shown: pd.DataFrame, caption: str, notes: Sequence[str]) -> str:
    right = _right(shown)
    flush_right, parted = ' class="number"', ' class="rule"'

    def inside(cell: str) -> str:
        text, heavy = _parts(cell)
        return f"<b>{html.escape(text)}</b>" if heavy else html.escape(text)

    def row(cells: Sequence[str], tag: str, rule: bool = False) -> str:
        inner = "".join(
            f"<{tag}{flush_right if flush else ''}>{inside(cell)}</{tag}>"
            for cell, flush in zip(cells, right, strict=True)
        )
        return f"<tr{parted if rule else ''}>{inner}</tr>"

    body = [
        row(cells, "td", rule)
        for cells, rule in zip(shown.itertuples(index=False, name=None), _rules(shown), strict=True)
    ]
    return "\n".join(
        [
            "<!DOCTYPE html>",
            f'<html lang="en"><head><meta charset="utf-8"><title>{html.escape(caption)}</title>',
            f"<style>{STYLE}</style></head><body><figure>",
            f"<figcaption>{html.escape(caption)}</figcaption>",
            "<table><thead>",
            row(list(shown.columns), "th"),
            "</thead><tbody>",
            *body,
            "</tbody></table>",
            *(f'<p class="note">{html.escape(note)}</p>' for note in notes),
            "</figure></body></html>",
            "",
        ]
    )

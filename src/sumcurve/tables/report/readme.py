"""The README.md of a study's folder of tables: what came out, the main figure, and where each table is."""

from collections.abc import Collection, Mapping
from itertools import groupby

from sumcurve.tables import APPENDIX, TABLES
from sumcurve.tables.report.findings import Finding
from sumcurve.tables.results import Results
from sumcurve.tables.table import Table

FIGURES: Mapping[str, str] = {
    "curves": "Scores against training records, with intervals",
    "answers": "Scores against training seconds, with the best score for the time",
    "extracts": "How far extracts of the source can go",
}


def readme(results: Results, tables: Mapping[str, Table], found: Collection[Finding], figures: Collection[str]) -> str:
    """Markdown that GitHub shows below the folder; `figures` names those that were drawn.

    Holds no measured time, so that equal evidence gives equal bytes.
    """
    lines = [f"# {_plain(results.study.title)}", ""]
    if results.study.in_part:
        lines += [f"**{results.study.in_part}**", ""]
    lines += ["## What came out", ""]
    for corpus, here in groupby(found, key=lambda one: one.corpus):
        lines += [f"### {corpus}", ""]
        lines += [f"- **{one.question}.** {_plain(one.text)} ([{one.table}]({one.table}.md))" for one in here]
        lines.append("")
    lines += [f"{_plain(' '.join(note for note in (results.seeds_note, results.caveat) if note))}", ""]
    if "curves" in figures:
        lines += [f"![{FIGURES['curves']}](figures/curves.svg)", ""]
    others = [f"[{FIGURES[name]}](figures/{name}.svg)" for name in FIGURES if name in figures and name != "curves"]
    if others:
        lines += [f"More figures: {'; '.join(others)}.", ""]
    lines += ["## Tables", "", "| table | what it holds | |", "| --- | --- | --- |"]
    for name in TABLES:
        if tables[name].rows:
            lines.append(f"| [{name}]({name}.md) | {_cell(heading(tables[name], results))} | [CSV]({name}.csv) |")
    appendix = [name for name in APPENDIX if tables[name].rows]
    lines += [f"| {name} | {_cell(heading(tables[name], results))} | [CSV]({name}.csv) |" for name in appendix]
    lines += [
        "",
        "`pages/report.html`, made beside these tables and not in git, has the summaries themselves: they are other "
        "people's text.",
        "",
    ]
    return "\n".join(lines)


def heading(table: Table, results: Results) -> str:
    """A table's caption without the study's title, which stands above all of them."""
    return table.caption.removeprefix(results.title("").rstrip(".")).lstrip(". ")


def _plain(text: str) -> str:
    """Text that starts no tag, code or emphasis; brackets of intervals are followed by no link."""
    for sign in "\\`*<":
        text = text.replace(sign, f"\\{sign}")
    return text


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|")

"""The README.md of a study's folder of tables: what came out, the main figure, and where each table is."""

import re
from collections.abc import Collection, Mapping
from itertools import groupby

from sumcurve.tables.evidence import Examples
from sumcurve.tables.report.findings import Finding
from sumcurve.tables.results import Results
from sumcurve.tables.table import Table, number, without_markup


def readme(
    results: Results,
    tables: Mapping[str, Table],
    findings: Collection[Finding],
    figures: Mapping[str, str],
    appendix: Collection[str] = (),
) -> str:
    """Markdown that GitHub shows below the folder; `figures` has the titles of those that were drawn.

    Holds no measured time, so that equal evidence gives equal bytes.
    """
    lines = [f"# {without_markup(results.study.title)}", ""]
    if results.study.in_part:
        lines += [f"**{results.study.in_part}**", ""]
    lines += ["## What came out", ""]
    for corpus, here in groupby(findings, key=lambda finding: finding.corpus):
        lines += [f"### {corpus}", ""]
        for finding in here:
            parts = [
                f"**{finding.question}** ([{finding.table}]({finding.table}.md)).",
                *map(without_markup, finding.paragraphs),
            ]
            lines += (
                [f"- {' '.join(parts)}"]
                if len(parts) == 2
                else [f"- {parts[0]}", *(f"  - {text}" for text in parts[1:])]
            )
        lines.append("")
    lines += [f"{without_markup(' '.join(note for note in (results.seeds_note, results.caveat) if note))}", ""]
    first, *others = figures or [""]
    if first:
        lines += [f"![{figures[first]}](figures/{first}.svg)", ""]
    others = [f"[{figures[name]}](figures/{name}.svg)" for name in others]
    if others:
        lines += [f"More figures: {'; '.join(others)}.", ""]
    lines += ["## Tables", "", "| table | what it holds | |", "| --- | --- | --- |"]
    for name in tables:
        if tables[name].rows and name not in appendix:
            lines.append(f"| [{name}]({name}.md) | {_cell(heading(tables[name], results))} | [CSV]({name}.csv) |")
    lines += [
        f"| {name} | {_cell(heading(tables[name], results))} | [CSV]({name}.csv) |"
        for name in appendix
        if tables[name].rows
    ]
    for examples in results.study.examples if results.study.shown_items else ():
        lines += written(results, examples)
    lines += [
        "",
        "`pages/report.html`, made beside these tables and not in git, has the summaries themselves: they are other "
        "people's text.",
        "",
    ]
    return "\n".join(lines)


def written(results: Results, examples: Examples) -> list[str]:
    """What every method wrote at its largest size of the first test items of the draw, whatever it is."""
    methods = results.largest(examples.corpus)
    shown = examples.items[: results.study.shown_items]
    if not methods or not shown:
        return []
    sizes = [
        f"{results.name(system)} {number(system.records)}" + (f" (seed {system.seeds[0]})" if system.seeds else "")
        for system in methods.values()
    ]
    lines = [
        "",
        f"## What methods wrote: {examples.corpus}",
        "",
        f"{number(len(shown))} test items drawn by seed {examples.seed}, none left out, each with the place in its "
        "package that it is of. Sources and references are other people's text and are not shown, nor are systems that "
        "copy whole sentences; what a method wrote may repeat words of either. "
        f"Training records: {without_markup(', '.join(sizes))}.",
    ]
    for place, example in enumerate(shown, start=1):
        lines += ["", f"{place}. {_others(example.id)}"]
        for system in methods.values():
            summary = " ".join(" ".join(example.summaries.get(system.cell, ())).split())
            lines.append(f"   - {results.name(system)}: {_others(summary) or '(nothing)'}")
    return lines


def heading(table: Table, results: Results) -> str:
    """A table's caption without the study's title, which stands above all of them."""
    return table.caption.removeprefix(results.title("").rstrip(".")).lstrip(". ")


def _others(text: str) -> str:
    """Text of others, of which no sign makes markup."""
    return re.sub(r"([\\`*_{}\[\]<>&|~#!])", r"\\\1", text)


def _cell(text: str) -> str:
    return without_markup(text).replace("|", "\\|")

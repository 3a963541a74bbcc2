"""The page of a study in Markdown: findings, leaderboard, figure, and where each table is. Made from its CSVs alone."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sumcurve.tables.evidence import Examples
from sumcurve.tables.report.facts import Corpus, Records, detectable
from sumcurve.tables.report.findings import SHOWN, Finding, Titles, counted
from sumcurve.tables.report.leaderboard import leaderboard, markdown
from sumcurve.tables.results import Results
from sumcurve.tables.table import listed, number, without_markup

ROWS = 9  # of the leaderboard
SIGNIFICANCE = (
    "Significant: at 5 % over all comparisons of the question (family-wise). Brackets: 95 % intervals, of differences "
    "those of the test that decides. Differences are tested in pairs on the same items: whether two intervals overlap "
    "decides nothing."
)

OLDER = (
    "Significant: at 5 % over all comparisons of the question (family-wise), in pairs on the same items. Brackets: "
    "single 95 % intervals, narrower than such a test's; that two overlap decides nothing."
)


def page(
    title: str,
    tables: Records,
    findings: Sequence[Finding],
    titles: Titles,
    captions: Mapping[str, str],
    figure: str = "",
    remarks: Sequence[str] = (),
    folder: str = "",
    corpora: Mapping[str, str] = MappingProxyType({}),
) -> list[str]:
    """The lines of a page; `captions` are of the tables that it lists, which are below `folder`.

    `corpora` says what each corpus is, and so the task.

    Holds no measured time, so that equal evidence gives equal bytes.
    """
    lines = [f"# {without_markup(title)}", "", *about(tables, findings, corpora), "## Findings", ""]
    for finding in findings[:SHOWN]:
        head = finding.head + (f", {finding.corpus}" if finding.corpus != findings[0].corpus else "")
        link = f"([{finding.table}]({folder}{finding.table}.{'md' if finding.table in captions else 'csv'}))"
        lines.append(f"- **{without_markup(head)}:** {without_markup(finding.text)} {link}")
    older = any("pointwise_low" not in row for row in tables.get("comparisons", ())[:1])
    lines += ["", " ".join(filter(None, (counted(findings), OLDER if older else SIGNIFICANCE))), ""]
    if findings:
        corpus = Corpus(findings[0].corpus, tables)
        entries = leaderboard(corpus, titles)[:ROWS]
        lines += [f"## Leaderboard: {corpus.name}", "", *markdown(entries, corpus.metric or "score", seconds=False), ""]
        notes = []
        if any(not entry.reads for entry in entries):
            notes.append("† ignores its source, not ranked.")
        if any(entry.template for entry in entries):
            notes.append("¶ writes most summaries by one sentence template.")
        if any(entry.role == "bound" for entry in entries):
            notes.append("The best single sentence sees the reference.")
        if (effect := detectable(corpus)) is not None:
            notes.append(
                f"Minimum detectable effect of two methods (80 % power): about {number(effect, 1)} {corpus.metric}."
            )
        lines += [" ".join([*notes, *remarks]), ""]
    if figure:
        lines += [f"![Score against training records, a line for every method]({figure})", ""]
    lines += ["## Tables", "", "| table | what it holds |", "| --- | --- |"]
    for name, caption in captions.items():
        lines.append(f"| [{name}]({folder}{name}.md) [CSV]({folder}{name}.csv) | {_cell(caption)} |")
    others = [f"[{name}]({folder}{name}.csv)" for name in tables if name not in captions]
    lines += ["", f"As CSV alone: {', '.join(others)}." if others else "", ""]
    return lines


def about(tables: Records, findings: Sequence[Finding], corpora: Mapping[str, str]) -> list[str]:
    """What was trained and tested on the corpus of the first finding: sizes, items and seeds."""
    if not findings:
        return []
    name = findings[0].corpus
    rows = [row for row in tables["scores"] if row["corpus"] == name]
    seeds = Counter(int(row["seeds"]) for row in {row["method"]: row for row in rows if row["records"]}.values())
    sizes = sorted({int(row["records"]) for row in rows if row["records"]})
    parts = [corpora[name]] if name in corpora else []
    parts.append(f"Test items: {number(int(rows[0]['items']))}.")
    if sizes:
        runs = ", ".join(f"{count} with {most} seed{'s' * (most > 1)}" for most, count in sorted(seeds.items())[::-1])
        parts.append(f"Training records: {listed([number(size) for size in sizes])}. Methods: {runs}.")
    return [without_markup(" ".join(parts)), ""]


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
        f"## What methods wrote: {examples.corpus}",
        "",
        f"{number(len(shown))} test items drawn by seed {examples.seed}, none left out, each with the place in its "
        "package that it is of. Sources and references are other people's text and are not shown, nor are systems that "
        "copy whole sentences; what a method wrote may repeat words of either. "
        f"Training records: {without_markup(', '.join(sizes))}.",
        "",
    ]
    for place, example in enumerate(shown, start=1):
        lines += [f"{place}. {_others(example.id)}"]
        for system in methods.values():
            summary = " ".join(" ".join(example.summaries.get(system.cell, ())).split())
            lines.append(f"   - {results.name(system)}: {_others(summary) or '(nothing)'}")
        lines.append("")
    return lines


def first_sentence(caption: str, title: str = "") -> str:
    """A table's caption without the study's title, up to its first full stop."""
    text = caption.removeprefix(title.rstrip(".")).lstrip(". ")
    return re.split(r"(?<=\.)\s", text, maxsplit=1)[0]


def _others(text: str) -> str:
    """Text of others, of which no sign makes markup."""
    return re.sub(r"([\\`*_{}\[\]<>&|~#!])", r"\\\1", text)


def _cell(text: str) -> str:
    return without_markup(text).replace("|", "\\|")

"""The page of a study in Markdown: findings, leaderboard, figure, and where each table is. Made from its CSVs alone."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sumcurve.tables.evidence import Examples
from sumcurve.tables.report.facts import Corpus, Records, detectable, identical, source
from sumcurve.tables.report.findings import IGNORES, SHOWN, Finding, Titles, counted, elsewhere, ignoring
from sumcurve.tables.report.leaderboard import leaderboard, markdown, shortened
from sumcurve.tables.results import Results
from sumcurve.tables.table import listed, number, without_markup

ROWS = 9  # of the leaderboard
BASELINES = 2  # of them, at most
TESTED = "Significant: at 5 % over all comparisons (family-wise), in pairs on the same items. Brackets: "
SIGNIFICANCE = f"{TESTED}95 % intervals, of differences those of the test that decides; their overlap decides nothing."
OLDER = f"{TESTED}single 95 % intervals, narrower than the test's; their overlap decides nothing."


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
    named: set[str] = set()  # corpora whose name was explained
    for finding in findings[:SHOWN]:
        where = finding.corpus if finding.corpus in named else elsewhere(finding.corpus)
        named.add(finding.corpus)
        head = finding.head + (f" ({where})" if finding.corpus != findings[0].corpus else "")
        link = f"([{finding.table}]({folder}{finding.table}.{'md' if finding.table in captions else 'csv'}))"
        lines.append(f"- **{without_markup(head)}:** {without_markup(finding.text)} {link}")
    older = any("pointwise_low" not in row for row in tables.get("comparisons", ())[:1])
    lines += ["", " ".join(filter(None, (counted(findings), OLDER if older else SIGNIFICANCE))), ""]
    if findings:
        corpus = Corpus(findings[0].corpus, tables)
        every = leaderboard(corpus, titles, BASELINES)
        entries = shortened(every, ROWS)
        lines += [f"## Leaderboard: {corpus.name}", "", *markdown(entries, corpus.metric or "score", seconds=False), ""]
        notes = []
        if (left_out := len(every) - len(entries)) > 0:
            notes.append(f"{left_out} more in table scores.")
        if any(not entry.reads for entry in entries):
            notes.append(ignored(corpus, any(finding.head == IGNORES for finding in findings[:SHOWN])))
        if any(entry.template for entry in entries):
            notes.append("¶ writes most summaries by one sentence template.")
        notes += same_scores(corpus, titles)
        if (effect := detectable(corpus)) is not None:
            notes.append(f"Minimum detectable effect (80 % power): about {number(effect, 1)} {corpus.metric}.")
        lines += [" ".join([*notes, *remarks]), ""]
    if figure:
        lines += [f"![Score against records]({figure})", ""]
    lines += ["## Tables", ""]
    for name, caption in captions.items():
        lines.append(f"- [{name}]({folder}{name}.md) ([CSV]({folder}{name}.csv)): {without_markup(caption)}")
    others = [f"[{name}]({folder}{name}.csv)" for name in tables if name not in captions]
    lines += ["", f"As CSV alone: {', '.join(others)}." if others else "", ""]
    return lines


def ignored(corpus: Corpus, defined: bool = False, mark: str = "†") -> str:
    """What † says; `defined`: a finding says what it means to ignore a source."""
    meaning = "" if defined else f": {ignoring([*source(corpus)])}"
    return f"{mark} ignores its source{meaning}; not ranked. Its text may still take source words for unknown ones."


def same_scores(corpus: Corpus, titles: Titles) -> list[str]:
    """A sentence on methods that are one system here, where there are any."""
    groups = [titles.all(group) for group in identical(corpus)]
    return [f"The same in every score: {'; '.join(groups)}."] if groups else []


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

"""The page of a study in Markdown: its question, how it is made anew, leaderboard, findings, figure, and where each
table is. Made from its CSVs alone.
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sumcurve.tables.evidence import Examples
from sumcurve.tables.report.facts import (
    Corpus,
    Record,
    Records,
    detectable,
    detectable_with_fewer,
    identical,
    source,
)
from sumcurve.tables.report.findings import NOT_READING, SHOWN, Finding, Titles, counted, headed, unshown
from sumcurve.tables.report.leaderboard import (
    JACKKNIFED,
    Brought,
    leaderboard,
    markdown,
    printed,
    printed_markdown,
    shortened,
)
from sumcurve.tables.results import Results
from sumcurve.tables.table import listed, number, without_markup

ROWS = 9  # of the leaderboard
BASELINES = 2  # of them, at most
TESTED = (
    "Significant: at 5 % over all comparisons (family-wise), in pairs on the same items and seeds; methods of one size "
    "by the step-down max-|t| test. Brackets at differences are "
)
SIGNIFICANCE = f"{TESTED}that test's."
OLDER = f"{TESTED}single 95 % intervals, narrower than that test's."
OVERLAP = (
    "Brackets cover test items and seeds (of single runs, items alone). Those of two methods may overlap although "
    "their paired difference is significant."
)


def page(
    title: str,
    study: str,
    tables: Records,
    findings: Sequence[Finding],
    titles: Titles,
    captions: Mapping[str, str],
    figure: str = "",
    remarks: Sequence[str] = (),
    folder: str = "",
    corpora: Mapping[str, str] = MappingProxyType({}),
    described: str = "",
    brought: Sequence[Brought] = (),
) -> list[str]:
    """The lines of a page; `study` is what commands call it, `captions` are of its tables, which are below `folder`.

    `corpora` says what each corpus is, and so the task. Where the page `described` has what tables are, the README of
    `folder` lists them. `brought` are capabilities' results of others, which stand below the leaderboard.

    Holds no measured time, so that equal evidence gives equal bytes.
    """
    lines = [f"# {without_markup(title)}", "", *about(title, tables, findings, titles, corpora)]
    lines += [
        f"Make it anew, from raw text on: `make study STUDY={study}` (how long: `make plan STUDY={study}`). Then open "
        f"`results/tables/{study}/pages/report.html`. Its tables are below.",
        "",
    ]
    if findings:
        corpus = Corpus(findings[0].corpus, tables)
        entries = shortened(leaderboard(corpus, titles, BASELINES), ROWS)
        lines += [f"## Leaderboard: {corpus.name}", "", *markdown(entries, corpus.metric or "score", seconds=False), ""]
        notes = []
        scored = {row["method"] for row in corpus.rows("scores") if row.get(corpus.column)}
        if left_out := scored - {entry.method for entry in entries}:
            notes.append(f"{len(left_out)} more systems in table scores.")
        if any(not entry.reads for entry in entries):
            notes.append(ignored(corpus, any(finding.head == NOT_READING for finding in findings[:SHOWN])))
        if any(entry.template for entry in entries):
            notes.append("¶ writes most summaries by one sentence template.")
        notes += [*same_scores(corpus, titles), OVERLAP]
        notes += [JACKKNIFED] if any(entry.jackknife for entry in entries) else []
        if (effect := detectable(corpus)) is not None:
            least = detectable_with_fewer(corpus) or 0
            fewer = f", up to {number(least, 1)} with fewer records" if round(least, 1) > round(effect, 1) else ""
            notes.append(f"Minimum detectable effect (80 % power): about {number(effect, 1)} {corpus.metric}{fewer}.")
        lines += [" ".join([*notes, *remarks]), *printed_markdown(printed(corpus, brought), corpus.metric), ""]
    lines += ["## Findings", ""]
    for finding in headed(findings[:SHOWN]):
        link = f"([{finding.table}]({folder}{finding.table}.{'md' if finding.table in captions else 'csv'}))"
        lines.append(f"- **{without_markup(finding.head)}:** {without_markup(finding.text)} {link}")
    older = any("pointwise_low" not in row for row in tables.get("comparisons", ())[:1])
    lines += ["", " ".join(filter(None, (counted(findings), OLDER if older else SIGNIFICANCE))), ""]
    if figure:
        lines += [f"![Score against records]({figure})", ""]
    lines += ["## Tables", ""]
    if described:
        return [*lines, f"[Each as a page and as CSV]({folder}README.md), [what each has]({described}).", ""]
    for name, caption in captions.items():
        links = f"[{name}]({folder}{name}.md) ([CSV]({folder}{name}.csv))"
        lines.append(f"- {links}: {without_markup(caption)}")
    others = [f"[{name}]({folder}{name}.csv)" for name in tables if name not in captions]
    lines += ["", f"As CSV alone: {', '.join(others)}." if others else "", ""]
    return lines


def question(title: str, tables: Records, findings: Sequence[Finding]) -> str:
    """What the study asks, by the methods and sizes of the first finding's corpus; nothing where its title asks."""
    if not findings or "?" in title:
        return ""
    trained = Corpus(findings[0].corpus, tables).trainings
    methods, sizes = {row["method"] for row in trained}, {int(row["records"]) for row in trained}
    if len(methods) < 2:
        return ""
    ends = " to ".join(number(size) for size in sorted({min(sizes), max(sizes)}))
    return f"Which of {len(methods)} methods summarizes best after training on {ends} records, and how sure is that?"


def ignored(corpus: Corpus, defined: bool = False, mark: str = "†") -> str:
    """What † says; `defined`: a finding says what it means."""
    meaning = "" if defined else f": {unshown([*source(corpus)])}"
    return f"{mark} not shown to read its source{meaning}; not ranked. Its text may still be made of source words."


def same_scores(corpus: Corpus, titles: Titles) -> list[str]:
    """A sentence on methods that are one system here, where there are any."""
    groups = [titles.all(group) for group in identical(corpus)]
    return [f"The same in every score: {'; '.join(groups)}."] if groups else []


def about(
    title: str, tables: Records, findings: Sequence[Finding], titles: Titles, corpora: Mapping[str, str]
) -> list[str]:
    """The question, and what was trained and tested on the corpus of the first finding: sizes, items and seeds."""
    if not findings:
        return []
    name = findings[0].corpus
    rows = [row for row in tables["scores"] if row["corpus"] == name]
    trained = Corpus(name, tables).trainings
    sizes = sorted({int(row["records"]) for row in trained})
    first = question(title, tables, findings)
    parts = [f"**{first}**"] if first else []
    parts += [without_markup(corpora[name])] if name in corpora else []
    parts.append(f"Test items: {number(int(rows[0]['items']))}.")
    if sizes:
        parts.append(f"Training records: {listed([number(size) for size in sizes])}.")
        parts.append(f"Methods: {_runs(trained, titles)}.")
        most = max((int(row.get("validated") or 0) for row in tables["methods"] if row["corpus"] == name), default=0)
        there = [int(row["records"]) for row in tables["corpora"] if (row["corpus"], row["part"]) == (name, "valid")]
        if most:
            parts.append(f"Checkpoints are chosen on {number(min([most, *there]))} validation records, not counted.")
    return [" ".join(parts), ""]


def _runs(rows: Sequence[Record], titles: Titles) -> str:
    """How many methods have how many sizes and seeds; which, where they differ in either."""
    trained: dict[str, list[Record]] = {}
    for row in rows:
        trained.setdefault(row["method"], []).append(row)
    groups: dict[tuple[int, int], list[str]] = {}
    for method, its in trained.items():
        groups.setdefault((len(its), int(its[-1]["seeds"])), []).append(method)
    several = len({sizes for sizes, _ in groups}) > 1
    parts = []
    for (sizes, seeds), methods in sorted(groups.items(), reverse=True):
        at = f" at {sizes} size{'s' * (sizes > 1)}" if several else ""
        who = titles.all(methods) if len(groups) > 1 else str(len(methods))
        parts.append(f"{who}{at} with {seeds} seed{'s' * (seeds > 1)}")
    return "; ".join(parts)


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

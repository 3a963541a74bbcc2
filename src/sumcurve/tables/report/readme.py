"""Page of a study in Markdown: its question, how to make it again, leaderboard, findings, figure, and where each
table is.
"""

import re
from collections.abc import Mapping, Sequence

from sumcurve.tables.report.contents import Contents
from sumcurve.tables.report.facts import Record
from sumcurve.tables.report.findings import SHOWN, Titles, headed
from sumcurve.tables.report.leaderboard import markdown, printed_markdown, shortened
from sumcurve.tables.table import listed, number, without_markup

ROWS = 9  # of the leaderboard
BASELINES = 2  # of them, at most


def page(
    contents: Contents,
    captions: Mapping[str, str],
    figure: str = "",
    remarks: Sequence[str] = (),
    folder: str = "",
    described: str = "",
) -> list[str]:
    """The lines of a page; `captions` are of its tables, which are below `folder`.

    Where the page `described` describes the tables, the README of `folder` lists them.

    Holds no measured time, so that equal evidence gives equal bytes.
    """
    study, findings = contents.study, contents.findings
    lines = [f"# {without_markup(contents.title)}", "", *about(contents)]
    lines += [
        f"Make it anew, from raw text on: `make study STUDY={study}` (how long: `make plan STUDY={study}`). Then open "
        f"`results/tables/{study}/pages/report.html`. Its tables are below.",
        "",
    ]
    if findings:
        board = contents.board(contents.corpora[0], BASELINES)
        corpus, entries = board.corpus, shortened(board.entries, ROWS)
        lines += [f"## Leaderboard: {corpus.name}", "", *markdown(entries, board.metric, seconds=False), ""]
        scored = {row["method"] for row in corpus.rows("scores") if row.get(corpus.column) is not None}
        left_out = scored - {entry.method for entry in entries}
        more = [f"{len(left_out)} more systems in table scores."] if left_out else []
        lines += [" ".join([*more, *board.notes, *remarks]), *printed_markdown(board.printed, board.metric), ""]
    lines += ["## Findings", ""]
    for finding in headed(findings[:SHOWN]):
        link = f"([{finding.table}]({folder}{finding.table}.csv))"
        lines.append(f"- **{without_markup(finding.head)}:** {without_markup(finding.text)} {link}")
    lines += ["", contents.significance(), ""]
    if figure:
        lines += [f"![Score against records]({figure})", ""]
    lines += ["## Tables", ""]
    if described:
        return [*lines, f"[All tables]({folder}README.md), [what each has]({described}).", ""]
    for name, caption in captions.items():
        lines.append(f"- [{name}]({folder}{name}.csv): {without_markup(caption)}")
    others = [f"[{name}]({folder}{name}.csv)" for name in contents.records if name not in captions]
    lines += ["", f"More, without a caption: {', '.join(others)}." if others else "", ""]
    return lines


def about(contents: Contents) -> list[str]:
    """The question, and the trainings and tests on the first corpus: sizes, items and seeds."""
    if not contents.findings:
        return []
    corpus = contents.corpora[0]
    parts = [f"**{contents.question}**"] if contents.question else []
    parts += [without_markup(contents.described[corpus.name])] if corpus.name in contents.described else []
    parts.append(f"Test items: {number(corpus.rows('scores')[0]['items'])}.")
    if trained := corpus.trainings:
        parts.append(f"Training records: {listed([number(size) for size in corpus.sizes])}.")
        parts.append(f"Methods: {_runs(trained, contents.titles)}.")
        most = max((row.get("validated") or 0 for row in corpus.rows("methods")), default=0)
        there = [row["records"] for row in corpus.rows("corpora", part="valid")]
        if most:
            parts.append(f"Checkpoints are chosen on {number(min([most, *there]))} validation records, not counted.")
    return [" ".join(parts), ""]


def _runs(rows: Sequence[Record], titles: Titles) -> str:
    """State how many methods have how many sizes and seeds; which, where they differ in either."""
    trained: dict[str, list[Record]] = {}
    for row in rows:
        trained.setdefault(row["method"], []).append(row)
    groups: dict[tuple[int, int], list[str]] = {}
    for method, its in trained.items():
        groups.setdefault((len(its), its[-1]["seeds"]), []).append(method)
    several = len({sizes for sizes, _ in groups}) > 1
    parts = []
    for (sizes, seeds), methods in sorted(groups.items(), reverse=True):
        at = f" at {sizes} size{'s' * (sizes > 1)}" if several else ""
        who = titles.all(methods) if len(groups) > 1 else str(len(methods))
        parts.append(f"{who}{at} with {seeds} seed{'s' * (seeds > 1)}")
    return "; ".join(parts)


def first_sentence(caption: str, title: str = "") -> str:
    """A table's caption without the study's title, up to its first full stop."""
    text = caption.removeprefix(title.rstrip(".")).lstrip(". ")
    return re.split(r"(?<=\.)\s", text, maxsplit=1)[0]

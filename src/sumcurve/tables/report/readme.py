"""Page of a study in Markdown: its question, how to make it again, leaderboard, findings, figure, and where each
table is.
"""

import re
from collections.abc import Mapping, Sequence

from sumcurve.tables.report.contents import Contents
from sumcurve.tables.report.findings import SHOWN, headed
from sumcurve.tables.report.leaderboard import markdown, printed_markdown, shortened
from sumcurve.tables.table import without_markup

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
    """The lines of a page; `captions` are of its tables, which are below `folder`; `described` is a page on all tables.

    Holds no measured time, so that equal evidence gives equal bytes.
    """
    findings = contents.findings
    lines = [f"# {without_markup(contents.title)}", "", *about(contents)]
    lines += [". ".join(f"{what.capitalize()}: `{line}`" for what, line in contents.commands.items()) + ".", ""]
    if findings:
        board = contents.board(contents.corpora[0], BASELINES)
        corpus, entries = board.corpus, shortened(board.entries, ROWS)
        lines += [f"## Leaderboard: {corpus.name}", "", *markdown(entries, board.metric, seconds=False), ""]
        scored = {row["method"] for row in corpus.rows("scores") if row.get(corpus.column) is not None}
        left_out = scored - {entry.method for entry in entries}
        more = [f"{len(left_out)} more systems in table scores."] if left_out else []
        lines += [
            " ".join([*more, *board.notes, *board.legend, *remarks]),
            *printed_markdown(board.printed, board.metric),
            "",
        ]
    lines += ["## Findings", ""]
    for finding in headed(findings[:SHOWN]):
        link = f"([{finding.table}]({folder}{finding.table}.csv))"
        lines.append(f"- {finding.markdown} {link}")
    lines += ["", contents.significance, ""]
    if figure:
        lines += [f"![Score against records]({figure})", ""]
    lines += ["## Tables", ""]
    for name, caption in captions.items():
        lines.append(f"- [{name}]({folder}{name}.csv): {without_markup(caption)}")
    others = [f"[{name}]({folder}{name}.csv)" for name in contents.records if name not in captions]
    if described:
        return [*lines, f"{', '.join(others)} ([what each has]({described})).", ""]
    lines += ["", f"More, without a caption: {', '.join(others)}." if others else "", ""]
    return lines


def about(contents: Contents) -> list[str]:
    """The question, and a table of what the study is of."""
    lines = [f"**{contents.question}**", ""] if contents.question else []
    cells = {head: without_markup(cell).replace("|", "\\|") for head, cell in contents.about.items()}
    rows = [f"| {head} | {cell} |" for head, cell in cells.items()]
    return [*lines, rows[0], "| --- | --- |", *rows[1:], ""] if rows else lines


def first_sentence(caption: str, title: str = "") -> str:
    """A table's caption without the study's title, up to its first full stop."""
    text = caption.removeprefix(title.rstrip(".")).lstrip(". ")
    return re.split(r"(?<=\.)\s", text, maxsplit=1)[0]

"""Page of a study for browsers: the answer, findings, summaries, training curves, tables.

One file that loads nothing from the network, by a policy that the browser enforces; figures and tables need no script;
links lead to files beside it. It holds other people's text: it is made beside the tables, into a folder that git
ignores, and stands in no manifest.
"""

import base64
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from sumcurve.statistics.design import Cell
from sumcurve.tables import chart
from sumcurve.tables.figures import FIGURES
from sumcurve.tables.ranking import Effect
from sumcurve.tables.report.contents import SIGNIFICANCE, Contents
from sumcurve.tables.report.findings import SHOWN, Titles, counted, headed, interval
from sumcurve.tables.report.leaderboard import APART, in_millions, printed_notes
from sumcurve.tables.report.readme import first_sentence
from sumcurve.tables.report.summaries import RUN, Reading, spaced
from sumcurve.tables.report.training import training_curves
from sumcurve.tables.results import Results
from sumcurve.tables.table import Table, number, significant

HERE = Path(__file__).parent
PLAIN = " !$&'()*+,-./:;=?@[]^_`{|}~"  # characters that the address of an image may hold unescaped
ITEMS_BYTES = 1_000_000  # of the page, for the items of all corpora


@dataclass(frozen=True)
class Shown:
    """A table on the page: its heading, its `<table>`, its `constant` columns, and its own notes.

    `cell` is the address of one of its cells for `sumcurve trace`.
    """

    name: str
    heading: str
    table: Markup
    constant: Sequence[tuple[str, str]]
    cell: str
    notes: Sequence[str]


def page(
    results: Results,
    tables: Mapping[str, Table],
    contents: Contents,
    figures: Mapping[str, bytes],
    sections: Sequence[Markup] = (),
) -> str:
    """The page as HTML; all text from records is escaped.

    `figures` are the study's SVG images by name, `sections` those of capabilities.
    """
    titles, findings = contents.titles, contents.findings
    style, script = ((HERE / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    name, _, about = results.study.title.partition(". ")
    corpora = [corpus.name for corpus in contents.corpora]
    common = _common(results)
    shown_whole = contents.leading[:1]  # by the headline
    others = [finding for at, finding in enumerate(headed(findings)) if findings[at] not in shown_whole]
    readings = [Reading(results, examples) for examples in results.study.examples if examples.items]
    environment = html()
    item = environment.from_string((HERE / "item.html").read_text(encoding="utf-8"))
    share = ITEMS_BYTES // max(1, len(readings))
    drawn = ((corpus, training_curves(results, corpus, titles)) for corpus in corpora)
    trainings = [(corpus, _data(chart.svg(curves).encode())) for corpus, curves in drawn if curves is not None]
    boards = [
        (board, _most(entry.score for entry in board.entries if entry.score), printed_notes(board.printed))
        for board in map(contents.board, contents.corpora)
        if board.entries
    ]
    parts = {
        "findings": ("Findings", others),
        "summaries": ("Summaries", readings),
        "training": ("Training curves", trainings),
        "tables": ("Tables", True),
        "provenance": ("Provenance", True),
    }
    return environment.from_string((HERE / "page.html").read_text(encoding="utf-8")).render(
        study=results.study,
        study_name=contents.study,
        name=name,
        about=about,
        facts=contents.about,
        commands=contents.commands,
        caveat=results.notes.caveat,
        parts=[(identity, title) for identity, (title, content) in parts.items() if content],
        question=contents.question,
        headline=contents.headline,
        others=others,
        shown=SHOWN,
        several=len(corpora) > 1,
        legend=dict.fromkeys(note for board, *_ in boards for note in board.legend),
        significance=SIGNIFICANCE,
        counted=counted(findings, len(findings)),
        boards=boards,
        apart=APART,
        share=results.share,
        images=[(FIGURES[name], _data(figures[name])) for name in FIGURES if name in figures],
        tables=[_shown(table, results, common) for table in tables.values() if table.rows],
        common=common,
        titles=titles,
        readings=[(reading, _items(item, reading, titles, share)) for reading in readings],
        trainings=trainings,
        sections=sections,
        outputs=len(results.outputs),
        folders=len(results.study.scores),
        signatures={
            scorer: items.signature for output in reversed(results.outputs) for scorer, items in output.scores.items()
        },
        run=RUN,
        style=Markup(style),
        script=Markup(script),
        policy="; ".join(
            [
                "default-src 'none'",
                "img-src data:",
                "style-src 'unsafe-inline'",  # bars bring their lengths
                f"script-src {_hash(script)}",
                "base-uri 'none'",
                "form-action 'none'",
            ]
        ),
    )


def _most(scores: Iterable[Effect]) -> int:
    """Score in points at which bars end: the first whole number that no interval goes beyond."""
    return math.ceil(max((score.high or score.value for score in scores), default=1.0))


def _percent(score: float, most: float) -> float:
    """Length of a score's bar in percent of the longest, which is a score of `most`."""
    return round(100 * min(1.0, max(0.0, score / most)), 1) if most > 0 else 0.0


@cache
def html() -> Environment:
    """Environment that renders templates to HTML; all text from records is escaped."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["number"] = number
    environment.filters["effect"] = interval
    environment.filters["parameters"] = in_millions
    environment.filters["significant"] = significant
    environment.filters["percent"] = _percent
    environment.filters["spaced"] = spaced
    environment.filters["scores"] = _scores_of
    return environment


def _scores_of(scores: Mapping[Cell, Sequence[float | None]]) -> str:
    """JSON of the scores of one text, by the method and size that wrote it."""
    shown = {f"{name}|{size or ''}": of for (name, size), of in scores.items()}
    return json.dumps({cell: [score and round(score, 4) for score in of] for cell, of in shown.items()})


def _items(template: Any, reading: Reading, titles: Titles, most_bytes: int) -> list[Markup]:
    """Items in the order of the draw, as many as there is room for; at least one."""
    rendered: list[Markup] = []
    for example in reading.items:
        text = template.render(item=example, reading=reading, titles=titles, place=len(rendered))
        most_bytes -= len(text.encode())
        if rendered and most_bytes < 0:
            break
        rendered.append(Markup(text))
    return rendered


def _common(results: Results) -> list[str]:
    """Notes that many tables share, and the page states once."""
    marks = [results.notes.marks, *results.notes.frames]
    notes = [results.notes.seeds, results.notes.caveat, *marks, *results.notes.identical, *results.notes.corpora]
    return [note for note in dict.fromkeys(notes) if note]


def _shown(table: Table, results: Results, common: Sequence[str]) -> Shown:
    kept = []
    for note in table.shown()[1]:
        for sentence in common:
            note = note.replace(sentence, "")
        kept += [" ".join(note.split())] if note.strip() else []
    inner, constant = table.html_table()
    heading = first_sentence(table.caption, results.title("")).rstrip(":")
    return Shown(table.name, heading, Markup(inner), constant, f"{table.name}:1:{[*table.titles][-1]}", kept)


def _data(svg: bytes) -> str:
    return f"data:image/svg+xml,{quote(chart.for_both_schemes(svg.decode()), safe=PLAIN)}"


def _hash(script: str) -> str:
    """Hash by which a policy allows an inline script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"

"""The page that people read of a study: what came out, the figure, the tables, and the summaries themselves.

One file that asks nothing of the network, by a policy that the browser enforces; figures and tables need no script. It
holds other people's text: it is made beside the tables, into a folder that git ignores, and stands in no manifest.
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from sumcurve.store.records import write_text
from sumcurve.tables.figures import FIGURES, looks_of
from sumcurve.tables.report.chart import charts, javascript
from sumcurve.tables.report.findings import Finding
from sumcurve.tables.report.readme import first_sentence
from sumcurve.tables.report.summaries import RUN, Reading
from sumcurve.tables.results import Results
from sumcurve.tables.table import Table, number

HERE = Path(__file__).parent
PLAIN = " !$&'()*+,-./:;=?@[]^_`{|}~"  # what the address of an image may hold as it is
ITEMS_BYTES = 1_000_000  # of the page, for the items of all corpora


@dataclass(frozen=True)
class Shown:
    """A table on the page: its heading, its `<table>`, and the notes that it has to itself."""

    name: str
    heading: str
    table: Markup
    notes: Sequence[str]


def write_page(
    path: Path, results: Results, tables: Mapping[str, Table], findings: Sequence[Finding], figures: Mapping[str, bytes]
) -> None:
    """Write the page; `figures` are the SVG images that a browser without scripts shows, by name."""
    write_text(path, page(results, tables, findings, figures))


def page(
    results: Results, tables: Mapping[str, Table], findings: Sequence[Finding], figures: Mapping[str, bytes]
) -> str:
    """The page as HTML; all that comes from records is escaped."""
    scores = tables["scores"].frame()
    looks = looks_of(scores)
    specifications = {
        f"chart-{corpus}-{name}": chart
        for corpus in results.corpora
        for name, chart in charts(results, scores, corpus, looks).items()
    }
    style, script = ((HERE / name).read_text() for name in ("page.css", "page.js"))
    scripts = [javascript(), script] if specifications else [script]
    common = _common(results)
    name, _, about = results.study.title.partition(". ")
    readings = [Reading(results, examples) for examples in results.study.examples if examples.items]
    environment = html()
    item = environment.from_string((HERE / "item.html").read_text())
    share = ITEMS_BYTES // max(1, len(readings))
    return environment.from_string((HERE / "page.html").read_text()).render(
        study=results.study,
        name=name,
        about=about,
        unread=any(results.reads(system) is False for system in results.systems),
        caveat=results.caveat,
        findings=[(corpus, list(here)) for corpus, here in groupby(findings, key=lambda finding: finding.corpus)],
        titles={statistics.corpus: statistics.title for statistics in results.study.statistics},
        charts={
            corpus: [
                (f"chart-{corpus}-{metric.name}", metric.title)
                for metric in results.drawn([corpus])
                if f"chart-{corpus}-{metric.name}" in specifications
            ]
            for corpus in results.corpora
            if results.sizes(corpus)
        },
        beyond=any(row["basis"] == "fit" for row in tables["answers"].rows),
        share=results.share,
        specifications=Markup(_json(specifications)),
        images=[(FIGURES[name], _data(figures[name])) for name in FIGURES if name in figures],
        tables=[_shown(tables[name], results, common) for name in tables if tables[name].rows],
        common=common,
        readings=[(reading, _items(item, reading, share)) for reading in readings],
        sections=[section for evidence in results.study.evidence.values() for section in evidence.sections(results)],
        run=RUN,
        style=Markup(style),
        scripts=[Markup(text) for text in scripts],
        policy="; ".join(
            [
                "default-src 'none'",
                "img-src data:",
                "style-src 'unsafe-inline'",  # Vega's tooltips bring theirs
                f"script-src 'unsafe-eval' {' '.join(map(_hash, scripts))}",  # Vega compiles its expressions
                "base-uri 'none'",
                "form-action 'none'",
            ]
        ),
    )


@cache
def html() -> Environment:
    """What makes templates into HTML; all that comes from records is escaped."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["number"] = number
    environment.filters["scores"] = lambda scores: json.dumps([score and round(score, 4) for score in scores])
    return environment


def _items(template: Any, reading: Reading, most_bytes: int) -> list[Markup]:
    """As many items, in the order of the draw, as there is room for; at least one."""
    rendered: list[Markup] = []
    for example in reading.items:
        text = template.render(item=example, reading=reading, place=len(rendered))
        most_bytes -= len(text.encode())
        if rendered and most_bytes < 0:
            break
        rendered.append(Markup(text))
    return rendered


def _common(results: Results) -> list[str]:
    """What many tables say of themselves, and the page once."""
    marks = [results.marks_note, *results.frame_notes]
    notes = [results.seeds_note, results.caveat, *marks, *results.identical, *results.corpora_notes]
    return [note for note in dict.fromkeys(notes) if note]


def _shown(table: Table, results: Results, common: Sequence[str]) -> Shown:
    _, reasons = table.shown()
    notes = []
    for note in table.notes:
        for sentence in common:
            note = note.replace(sentence, "")
        notes.append(" ".join(note.split()))
    kept = [*reasons, *(note for note in notes if note)]
    return Shown(table.name, first_sentence(table.caption, results.title("")), Markup(table.html_table()), kept)


def _data(svg: bytes) -> str:
    return f"data:image/svg+xml,{quote(svg, safe=PLAIN)}"


def _hash(script: str) -> str:
    """What a policy knows an inline script by."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _json(value: Any) -> str:
    """JSON that no `</script>` or comment within can end."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")

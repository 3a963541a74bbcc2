"""The page that people read of a study: the answer, findings, worth of data, summaries, training curves, tables.

One file that asks nothing of the network, by a policy that the browser enforces; figures and tables need no script;
links lead to files beside it. It holds other people's text: it is made beside the tables, into a folder that git
ignores, and stands in no manifest.
"""

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from sumcurve.settings.base import HELD_OUT
from sumcurve.store.records import write_text
from sumcurve.tables.figures import FIGURES, looks_of
from sumcurve.tables.report.chart import charts, javascript
from sumcurve.tables.report.facts import Corpus, rows_of, source
from sumcurve.tables.report.findings import (
    SHOWN,
    UNSEEN,
    Finding,
    Titles,
    about_baselines,
    counted,
    headed,
    interval,
)
from sumcurve.tables.report.leaderboard import (
    APART,
    JACKKNIFED,
    Brought,
    Entry,
    Printed,
    leaderboard,
    printed,
    printed_notes,
)
from sumcurve.tables.report.readme import OVERLAP, SIGNIFICANCE, first_sentence, ignored, question, same_scores
from sumcurve.tables.report.sizes import Size, sizes
from sumcurve.tables.report.summaries import RUN, Reading, spaced
from sumcurve.tables.report.training import HEIGHT, WIDTH, drawings
from sumcurve.tables.results import Results
from sumcurve.tables.table import TEX, Table, number, significant

HERE = Path(__file__).parent
PLAIN = " !$&'()*+,-./:;=?@[]^_`{|}~"  # what the address of an image may hold as it is
Scale = Callable[[float], float]
ITEMS_BYTES = 1_000_000  # of the page, for the items of all corpora


@dataclass(frozen=True)
class Shown:
    """A table on the page: its heading, its `<table>`, what is `constant` in it, and the notes that it has to itself.

    `cell` is the address of one of its cells for `make trace`.
    """

    name: str
    heading: str
    table: Markup
    constant: Sequence[tuple[str, str]]
    cell: str
    notes: Sequence[str]


@dataclass(frozen=True)
class Board:
    """The leaderboard of a corpus; `scale` is the place of a score on its bars, in percent.

    `held_out` says of a test part that is held out whole what it has; `printed` are results of others, below ours.
    """

    corpus: str
    held_out: str
    metric: str
    entries: Sequence[Entry]
    scale: Scale
    notes: str
    printed: Sequence[Printed] = ()

    @property
    def printed_notes(self) -> str:
        return printed_notes(self.printed)


def write_page(
    path: Path,
    results: Results,
    tables: Mapping[str, Table],
    findings: Sequence[Finding],
    figures: Mapping[str, bytes],
    study_name: str,
    brought: Sequence[Brought] = (),
) -> None:
    """Write the page; `figures` are the SVG images that a browser without scripts shows, by name.

    `brought` are capabilities' results of others, which stand below leaderboards.
    """
    write_text(path, page(results, tables, findings, figures, study_name, brought))


def page(
    results: Results,
    tables: Mapping[str, Table],
    findings: Sequence[Finding],
    figures: Mapping[str, bytes],
    study_name: str,
    brought: Sequence[Brought] = (),
) -> str:
    """The page as HTML; all that comes from records is escaped."""
    scores, records = tables["scores"].frame(), rows_of(tables)
    titles = Titles(results.titles, results.about)
    drawn = charts(results, scores, looks_of(scores), titles)
    style, *texts = ((HERE / name).read_text() for name in ("page.css", "chart.js", "page.js"))
    scripts = ["\n".join(texts)]
    if drawn:
        scripts.insert(0, javascript())
    name, _, about = results.study.title.partition(". ")
    corpora = sorted(results.corpora, key=lambda corpus: -len(results.sizes(corpus)))
    if findings:
        corpora.sort(key=lambda corpus: corpus != findings[0].corpus)
    common = _common(results)
    readings = [Reading(results, examples) for examples in results.study.examples if examples.items]
    environment = html()
    item = environment.from_string((HERE / "item.html").read_text())
    share = ITEMS_BYTES // max(1, len(readings))
    worth = [part for corpus in corpora for part in _worth(results, Corpus(corpus, records), titles)]
    trainings = [
        (corpus, results.sizes(corpus), here) for corpus in corpora if (here := drawings(results, corpus, titles))
    ]
    parts = {
        "findings": ("Findings", findings),
        "more-data": ("More data", worth),
        "summaries": ("Summaries", readings),
        "training": ("Training curves", trainings),
        "tables": ("Tables", True),
        "provenance": ("Provenance", True),
    }
    return environment.from_string((HERE / "page.html").read_text()).render(
        study=results.study,
        study_name=study_name,
        name=name,
        about=about,
        described=next((part.title for part in results.study.statistics if part.corpus == corpora[0]), ""),
        caveat=results.caveat,
        parts=[(identity, title) for identity, (title, content) in parts.items() if content],
        question=question(results.study.title, records, findings),
        findings=findings,
        baseline=[finding for finding in findings[1:] if about_baselines(finding) and finding.corpus == corpora[0]],
        headed=headed(findings),
        shown=SHOWN,
        several=len(corpora) > 1,
        significance=" ".join(filter(None, (counted(findings, len(findings)), SIGNIFICANCE))),
        boards=[board for corpus in corpora if (board := _board(Corpus(corpus, records), titles, brought)).entries],
        apart=APART,
        charts=[corpus for corpus in corpora if corpus in drawn],
        worth=worth,
        worth_untold=any(results.reads(system) is False for system in results.systems),
        unread=any(results.unread(corpus, metric.name) for corpus in drawn for metric in results.ranking),
        share=results.share,
        data=Markup(_json({"charts": drawn, "tex": TEX})),
        images=[(FIGURES[name], _data(figures[name])) for name in FIGURES if name in figures],
        tables=[_shown(table, results, common) for table in tables.values() if table.rows],
        common=common,
        titles=titles,
        readings=[(reading, _items(item, reading, titles, share)) for reading in readings],
        trainings=trainings,
        width=WIDTH,
        height=HEIGHT,
        sections=[section for evidence in results.study.evidence.values() for section in evidence.sections(results)],
        outputs=len(results.outputs),
        folders=len(results.study.scores),
        signatures={
            scorer: items.signature for output in reversed(results.outputs) for scorer, items in output.scores.items()
        },
        run=RUN,
        style=Markup(style),
        scripts=[Markup(text) for text in scripts],
        policy="; ".join(
            [
                "default-src 'none'",
                "img-src data:",
                "style-src 'unsafe-inline'",  # Vega's tooltips bring theirs, and bars their lengths
                f"script-src 'unsafe-eval' {' '.join(map(_hash, scripts))}",  # Vega compiles its expressions
                "base-uri 'none'",
                "form-action 'none'",
            ]
        ),
    )


def _board(corpus: Corpus, titles: Titles, brought: Sequence[Brought] = ()) -> Board:
    entries = leaderboard(corpus, titles)
    most = max((entry.score.high or entry.score.value for entry in entries if entry.score), default=1.0)
    notes = [
        "Bars: score with its 95 % interval; records: the largest size; seconds: to the scored checkpoint.",
        OVERLAP,
        "Italic: not trained." if any(entry.role != "trained" for entry in entries) else "",
        ignored(corpus, mark="†, hollow in charts,") if any(source(corpus)) else "",
        "¶ writes most summaries by one sentence template." if any(entry.template for entry in entries) else "",
        *same_scores(corpus, titles),
        JACKKNIFED if any(entry.jackknife for entry in entries) else "",
    ]
    held_out = UNSEEN if corpus.name.endswith(HELD_OUT) else ""
    notes_below = " ".join(filter(None, notes))
    return Board(corpus.name, held_out, corpus.metric, entries, _scale(most), notes_below, printed(corpus, brought))


def _scale(most: float) -> Scale:
    return lambda score: round(100 * min(1.0, max(0.0, score / most)), 1) if most > 0 else 0.0


def _worth(results: Results, corpus: Corpus, titles: Titles) -> list[tuple[str, str, Scale, list[Size]]]:
    """By metric of a corpus of two sizes or more every size, with the scale of its bars."""
    made = []
    for metric in results.ranked(corpus.name) if len(results.sizes(corpus.name)) > 1 else ():
        here = sizes(results, corpus, metric, titles)
        scores = [gain.score for size in here for gain in size.gains]
        made.append((corpus.name, metric.title, _scale(max(score.high or score.value for score in scores)), here))
    return made


@cache
def html() -> Environment:
    """What makes templates into HTML; all that comes from records is escaped."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["number"] = number
    environment.filters["effect"] = interval
    environment.filters["parameters"] = _parameters
    environment.filters["significant"] = significant
    environment.filters["spaced"] = spaced
    environment.filters["scores"] = lambda scores: json.dumps([score and round(score, 4) for score in scores])
    return environment


def _parameters(count: int | None) -> str:
    if count is None:
        return ""
    return number(count) if count < 1e5 else f"{significant(count / 1e6, 2)} M"


def _items(template: Any, reading: Reading, titles: Titles, most_bytes: int) -> list[Markup]:
    """As many items, in the order of the draw, as there is room for; at least one."""
    rendered: list[Markup] = []
    for example in reading.items:
        text = template.render(item=example, reading=reading, titles=titles, place=len(rendered))
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
    inner, constant = table.html_table()
    last = [column.name for column in table.columns if column.title is not None][-1]
    heading = first_sentence(table.caption, results.title("")).rstrip(":")
    return Shown(table.name, heading, Markup(inner), constant, f"{table.name}:1:{last}", kept)


def _data(svg: bytes) -> str:
    return f"data:image/svg+xml,{quote(svg, safe=PLAIN)}"


def _hash(script: str) -> str:
    """What a policy knows an inline script by."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _json(value: Any) -> str:
    """JSON that no `</script>` or comment within can end."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")

"""Tables and figures of one study, written into one folder, with its pages.

Measured time stands in those of `MEASURED` alone; all other tables are the same bytes for the same evidence in any
order.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from sumcurve.settings.study import Bootstrap
from sumcurve.store.records import write_text
from sumcurve.study.doors import APPENDIX, CAPABILITIES, LISTINGS, TABLES
from sumcurve.tables.evidence import EvidenceError, Study
from sumcurve.tables.figures import write_figures
from sumcurve.tables.report import page as report
from sumcurve.tables.report.contents import Contents
from sumcurve.tables.report.facts import Records, rows_of
from sumcurve.tables.report.figure import write_figure
from sumcurve.tables.report.findings import Finding, Titles, findings
from sumcurve.tables.report.readme import first_sentence, page
from sumcurve.tables.results import Results
from sumcurve.tables.table import Table, write_table

PAGES, FIGURES = "pages", "figures"  # folders; pages are README, REPORT, and one for Snakemake's report on each table
REPORT, README = "report.html", "README.md"  # the page that people read, and in Markdown
ANSWERS = "answers"  # the figure of README


def write_study(folder: Path, study: Study, settings: Bootstrap) -> list[Path]:
    """Write every table that has a row, and the figures, into `folder`; returns the paths of all files.

    Tables come as CSV, those that are not of the appendix with a page each in `PAGES`, too. Figures, in
    `FIGURES`, are those of `tables.figures`. `README`, with the figure `ANSWERS`, and `REPORT`, in `PAGES`, state the
    findings.
    Raises EvidenceError where the evidence does not fit.
    """
    results = Results(study, settings)
    strange = set(results.corpora) ^ {table.corpus for table in study.statistics}
    if strange:
        raise EvidenceError(f"corpora with scores or statistics, not both: {', '.join(sorted(strange))}")
    for part in (PAGES, FIGURES):
        (folder / part).mkdir(parents=True, exist_ok=True)
    tables = {name: made(name, results) for name in (*TABLES, *APPENDIX)}
    for table in tables.values():
        write_table(table, folder)
    for place, name in enumerate(TABLES, start=1):
        if tables[name].rows:
            write_text(folder / PAGES / f"{place}-{name}.html", tables[name].html())
    write_figures(results, with_levels(results, tables), folder / FIGURES)
    corpora = {table.corpus: table.title for table in study.statistics}
    lengths = {one.corpus: (one.read_tokens, one.most_tokens) for one in study.examples}
    titles = Titles(results.titles, results.about)
    contents = contents_of(folder.name, study.title, rows_of(tables), titles, corpora, lengths)
    captions = {name: heading(tables[name], results) for name in TABLES if tables[name].rows}
    write_readme(folder, results, contents, captions)
    images = {path.stem: path.read_bytes() for part in (PAGES, FIGURES) for path in (folder / part).glob("*.svg")}
    sections = [section for capability in CAPABILITIES.values() for section in capability.sections(results)]
    shown = {name: tables[name] for name in TABLES}
    write_text(folder / PAGES / REPORT, report.page(results, shown, contents, images, sections))
    return sorted(path for path in folder.rglob("*") if path.is_file())


def findings_of(records: Records, titles: Titles) -> list[Finding]:
    """Findings of a study's tables, of the core and of capabilities, the most important first."""
    return findings(records, titles, [capability.findings for capability in CAPABILITIES.values()])


def contents_of(
    study: str,
    title: str,
    records: Records,
    titles: Titles,
    described: Mapping[str, str] = MappingProxyType({}),
    lengths: Mapping[str, tuple[int, int]] = MappingProxyType({}),
) -> Contents:
    """Contents of a study's pages, with capabilities' findings and published results."""
    brought = [capability.leaderboard_rows for capability in CAPABILITIES.values()]
    return Contents(study, title, records, titles, findings_of(records, titles), described, brought, lengths)


def write_readme(folder: Path, results: Results, contents: Contents, captions: Mapping[str, str]) -> None:
    """Write README with its figure."""
    study, figure, pages = results.study, "", folder / PAGES
    if contents.findings and write_figure(contents.corpora[0], contents.titles, pages, ANSWERS, study.in_part):
        figure = f"{ANSWERS}.svg"
    lines = page(contents, captions, figure, [results.notes.caveat], "../")
    if study.in_part:
        lines[1:1] = ["", f"**{study.in_part}**"]
    lines += [f"[{REPORT}]({REPORT}) has the summaries themselves.", ""]
    write_text(pages / README, "\n".join(lines))


def heading(table: Table, results: Results) -> str:
    """The first sentence of a table's caption, without the study's title."""
    return first_sentence(table.caption, results.title(""))


def made(name: str, results: Results) -> Table:
    """The table of this name."""
    table: Table = import_module(LISTINGS[name].path).table(results)
    return table


def with_levels(results: Results, tables: Mapping[str, Table]) -> pd.DataFrame:
    """The frame of table scores, and reference lines for its figure."""
    scores = tables["scores"].frame()
    levels = [row for evidence in results.study.evidence.values() for row in evidence.levels(tables)]
    return pd.concat([scores, pd.DataFrame(levels)], ignore_index=True).copy() if levels else scores

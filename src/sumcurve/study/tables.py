"""All tables and figures of one study, written into one folder, and what people read of them.

Measured time stands in those of `MEASURED` alone; all other tables are the same bytes for the same evidence in any
order.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

import pandas as pd

from sumcurve.settings.study import Bootstrap
from sumcurve.store.records import write_text
from sumcurve.study.doors import APPENDIX, CAPABILITIES, LISTINGS, TABLES
from sumcurve.tables.evidence import EvidenceError, Study
from sumcurve.tables.figures import write_figures
from sumcurve.tables.report.facts import Corpus, Records, rows_of
from sumcurve.tables.report.figure import write_figure
from sumcurve.tables.report.findings import Finding, Titles, findings
from sumcurve.tables.report.leaderboard import Brought
from sumcurve.tables.report.page import write_page
from sumcurve.tables.report.readme import first_sentence, page, written
from sumcurve.tables.results import Results
from sumcurve.tables.table import Table, write_table

PAGES, FIGURES = "pages", "figures"  # folders; pages are HTML: one each for Snakemake's report, and REPORT
REPORT = "report.html"  # the page that people read
ANSWERS, WRITTEN = "answers", "written.md"  # the figure and the summaries of README.md


def write_study(folder: Path, study: Study, settings: Bootstrap) -> list[Path]:
    """Write every table that has a row, and the figures, into `folder`; returns the paths of all files.

    Tables come as CSV and Markdown, with a page each in `PAGES`; those of the appendix as CSV alone. Figures, in
    `FIGURES`, are those of `tables.figures` and of capabilities. README.md and the page `REPORT` say what came out.
    Raises EvidenceError where the evidence does not fit.
    """
    results = Results(study, settings)
    strange = set(results.corpora) ^ {table.corpus for table in study.statistics}
    if strange:
        raise EvidenceError(f"corpora with scores or statistics, not both: {', '.join(sorted(strange))}")
    for part in (PAGES, FIGURES):
        (folder / part).mkdir(parents=True, exist_ok=True)
    tables = {name: made(name, results) for name in (*TABLES, *APPENDIX)}
    for place, name in enumerate(TABLES, start=1):
        write_table(tables[name], folder, page=folder / PAGES / f"{place}-{name}.html")
    for name in APPENDIX:
        write_table(tables[name], folder, forms=("csv",))
    write_figures(results, with_levels(results, tables), folder / FIGURES)
    for evidence in study.evidence.values():
        evidence.figures(results, folder / FIGURES)
    records, titles = rows_of(tables), Titles(results.titles, results.about)
    all_findings = findings_of(records, titles)
    captions = {name: heading(tables[name], results) for name in TABLES if tables[name].rows}
    write_readme(folder, results, records, all_findings, titles, captions)
    images = {path.stem: path.read_bytes() for path in sorted((folder / FIGURES).glob("*.svg"))}
    report = folder / PAGES / REPORT
    shown = {name: tables[name] for name in TABLES}
    write_page(report, results, shown, all_findings, images, folder.name, results_of_others())
    return sorted(path for path in folder.rglob("*") if path.is_file())


def findings_of(records: Records, titles: Titles) -> list[Finding]:
    """What the tables of a study show, of the core and of capabilities, the most important first."""
    return findings(records, titles, [capability.findings for capability in CAPABILITIES.values()])


def results_of_others() -> list[Brought]:
    """What capabilities show below leaderboards."""
    return [capability.leaderboard_rows for capability in CAPABILITIES.values()]


def write_readme(
    folder: Path,
    results: Results,
    records: Records,
    all_findings: Sequence[Finding],
    titles: Titles,
    captions: Mapping[str, str],
) -> None:
    """Write README.md with its figure, and written.md where the study shows what methods wrote."""
    study, figure = results.study, ""
    if all_findings:
        corpus = Corpus(all_findings[0].corpus, records)
        if write_figure(corpus, titles, folder / FIGURES, ANSWERS, study.in_part):
            figure = f"{FIGURES}/{ANSWERS}.svg"
    corpora = {table.corpus: table.title for table in study.statistics}
    lines = page(
        study.title,
        folder.name,
        records,
        all_findings,
        titles,
        captions,
        figure,
        [results.caveat],
        corpora=corpora,
        brought=results_of_others(),
    )
    if study.in_part:
        lines[1:1] = ["", f"**{study.in_part}**"]
    examples = [line for shown in study.examples if study.shown_items for line in written(results, shown)]
    if examples:
        write_text(folder / WRITTEN, "\n".join([f"# {study.title.partition('. ')[0]}", "", *examples]))
        lines += [f"What every method wrote of some test items: [{WRITTEN}]({WRITTEN}).", ""]
    lines += [
        "The page `pages/report.html`, made beside these tables and not in git, has the summaries themselves.",
        "",
    ]
    write_text(folder / "README.md", "\n".join(lines))


def heading(table: Table, results: Results) -> str:
    """The first sentence of a table's caption, without the study's title."""
    return first_sentence(table.caption, results.title(""))


def made(name: str, results: Results) -> Table:
    """The table of this name."""
    table: Table = import_module(LISTINGS[name].path).table(results)
    return table


def with_levels(results: Results, tables: Mapping[str, Table]) -> pd.DataFrame:
    """The frame of table scores, and level lines for its figure."""
    scores = tables["scores"].frame()
    levels = [row for evidence in results.study.evidence.values() for row in evidence.levels(tables)]
    return pd.concat([scores, pd.DataFrame(levels)], ignore_index=True).copy() if levels else scores

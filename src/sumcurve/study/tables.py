"""All tables and figures of one study, written into one folder, and what people read of them.

Measured time stands in those of `MEASURED` alone; all other tables are the same bytes for the same evidence in any
order.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import pandas as pd

from sumcurve.settings.study import Bootstrap
from sumcurve.store.records import write_text
from sumcurve.study.doors import APPENDIX, LISTINGS, TABLES
from sumcurve.tables.evidence import EvidenceError, Study
from sumcurve.tables.figures import FIGURES as TITLES
from sumcurve.tables.figures import write_figures
from sumcurve.tables.report.findings import findings
from sumcurve.tables.report.page import write_page
from sumcurve.tables.report.readme import readme
from sumcurve.tables.results import Results
from sumcurve.tables.table import Table, write_table

PAGES, FIGURES = "pages", "figures"  # folders; pages are HTML: one each for Snakemake's report, and REPORT
REPORT = "report.html"  # the page that people read


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
    titles = dict(TITLES)
    for evidence in study.evidence.values():
        titles |= evidence.figures(results, folder / FIGURES)
    images = {path.stem: path.read_bytes() for path in sorted((folder / FIGURES).glob("*.svg"))}
    sentences = findings(results, tables)
    drawn_titles = {name: title for name, title in titles.items() if name in images}
    write_text(folder / "README.md", readme(results, tables, sentences, drawn_titles, APPENDIX))
    write_page(folder / PAGES / REPORT, results, {name: tables[name] for name in TABLES}, sentences, images)
    return sorted(path for path in folder.rglob("*") if path.is_file())


def made(name: str, results: Results) -> Table:
    """The table of this name."""
    table: Table = import_module(LISTINGS[name].path).table(results)
    return table


def with_levels(results: Results, tables: Mapping[str, Table]) -> pd.DataFrame:
    """The frame of table scores, and level lines for its figure."""
    scores = tables["scores"].frame()
    levels = [row for evidence in results.study.evidence.values() for row in evidence.levels(tables)]
    return pd.concat([scores, pd.DataFrame(levels)], ignore_index=True).copy() if levels else scores

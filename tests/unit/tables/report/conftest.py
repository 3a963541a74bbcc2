import pytest

from sumcurve.study.doors import APPENDIX, TABLES
from sumcurve.study.tables import findings_of, made
from sumcurve.tables.report.facts import rows_of
from sumcurve.tables.report.findings import Titles
from sumcurve.tables.report.page import page
from sumcurve.tables.results import Results

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><path d="M0 0h9" stroke="#333"/></svg>'


@pytest.fixture(scope="session")
def paged(settings):
    """A study's results, tables, findings and page."""

    def build(study):
        results = Results(study, settings)
        tables = {name: made(name, results) for name in (*TABLES, *APPENDIX)}
        found = findings_of(rows_of(tables), Titles(study.titles))
        shown = {name: tables[name] for name in TABLES}
        return results, tables, found, page(results, shown, found, {"answers": SVG, "curves": SVG}, "rich")

    return build


@pytest.fixture(scope="session")
def rich(rich_study, paged):
    return paged(rich_study)

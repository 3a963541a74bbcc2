import pytest

from sumcurve.study.doors import APPENDIX, TABLES
from sumcurve.study.tables import contents_of, made
from sumcurve.tables.report.facts import rows_of
from sumcurve.tables.report.findings import Titles
from sumcurve.tables.report.page import page
from sumcurve.tables.results import Results
from unit.capabilities.apes.test_tables import results as answered  # noqa: F401
from unit.capabilities.contrasts.test_tables import told  # noqa: F401
from unit.capabilities.published.test_published import printed  # noqa: F401
from unit.tables.test_study import marked_study  # noqa: F401

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><path d="M0 0h9" stroke="#333"/></svg>'


@pytest.fixture(scope="session")
def paged(settings):
    """A study's results, tables, contents and page."""

    def build(study):
        results = Results(study, settings)
        tables = {name: made(name, results) for name in (*TABLES, *APPENDIX)}
        contents = contents_of("rich", study.title, rows_of(tables), Titles(results.titles, results.about))
        shown = {name: tables[name] for name in TABLES}
        return results, tables, contents, page(results, shown, contents, {"answers": SVG, "curves": SVG})

    return build


@pytest.fixture(scope="session")
def rich(rich_study, paged):
    return paged(rich_study)

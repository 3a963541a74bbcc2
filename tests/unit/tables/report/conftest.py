import dataclasses

import pytest

from sumcurve.capabilities.extracts.evidence import Oracles
from sumcurve.capabilities.pretrained.evidence import Pretraining, Pretrainings
from sumcurve.settings.study import Equivalence
from sumcurve.study.doors import APPENDIX, TABLES
from sumcurve.study.tables import made
from sumcurve.tables.evidence import Example, Examples
from sumcurve.tables.report.findings import findings
from sumcurve.tables.report.page import page
from sumcurve.tables.results import Results

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><path d="M0 0h9" stroke="#333"/></svg>'
HOSTILE = "<script>alert('a')</script> & <b>\"bold\"</b>"


def read(outputs, corpus, count=12) -> Examples:
    """Every system says its name, and a copy that is the longer the larger its training."""
    cells = dict.fromkeys((one.method, one.records) for one in outputs if one.corpus == corpus)
    items = []
    for number in range(count):
        source = f"item {number} of the corpus is about trains that leave late and {HOSTILE}".split()
        summaries = {
            (method, records): [" ".join([method, *source[: 1 + (records or 0) // 400]]), "unheard of"]
            for method, records in cells
        }
        items.append(
            Example(f"{corpus}/{number}", [" ".join(source)], [[f"Reference {number}", HOSTILE]], source, summaries)
        )
    return Examples(corpus, 7, 400, items)


@pytest.fixture(scope="session")
def rich_study(study, evidence, papers, phased, extracts):
    """Three seeds, a last phase with all it is compared with, extracts, a pretraining, twins, items with markup."""
    outputs = [*evidence((1, 2, 3)), *papers((1, 2, 3)), *phased(study=(1, 2, 3))]
    examples = [read(outputs, corpus) for corpus in ("notes", "albums")]
    told = Pretraining("notes", "abs", {"pcov": True}, 99.0, 50, 900, 3.5, 1000, {"an overlap": 7}, 4000, 5)
    equal = Equivalence(methods={"pcov": "abs"}, margin=1.5)
    return dataclasses.replace(
        study,
        outputs=outputs,
        evidence={"extracts": Oracles(extracts(outputs)), "pretrained": Pretrainings([told])},
        examples=examples,
        equivalence=equal,
    )


@pytest.fixture(scope="session")
def hostile() -> str:
    return HOSTILE


@pytest.fixture(scope="session")
def paged(settings):
    """A study's results, tables, findings and page."""

    def build(study):
        results = Results(study, settings)
        tables = {name: made(name, results) for name in (*TABLES, *APPENDIX)}
        found = findings(results, tables)
        return results, tables, found, page(results, {name: tables[name] for name in TABLES}, found, {"curves": SVG})

    return build


@pytest.fixture(scope="session")
def rich(rich_study, paged):
    return paged(rich_study)

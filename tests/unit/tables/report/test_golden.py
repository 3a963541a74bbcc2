"""Every table's bytes, of invented studies that have rows of it."""

from dataclasses import replace

import numpy as np
import pytest

import golden
from sumcurve.capabilities.apes.entity_attention import LooksAt
from sumcurve.capabilities.labels.evidence import Related, RelatedWords
from sumcurve.scores.references import NAME, OWN, References
from sumcurve.store.manifest import hashes
from sumcurve.study.doors import APPENDIX, TABLES
from sumcurve.study.tables import made
from sumcurve.tables import VERSION
from sumcurve.tables.evidence import Missing
from sumcurve.tables.results import Results
from sumcurve.tables.table import write_table
from unit.capabilities.axis.test_axis import study as prompted
from unit.capabilities.people.test_contrasts import judged_study
from unit.tables.test_own_searches import alike, by_papers, results_of


def scored_by(outputs, name, scorer):
    """The outputs with invented values of a further scorer; what is called human wrote the second reference."""
    found = []
    for number, one in enumerate(outputs):
        rouge, metrics = one.scores["rouge"], tuple(scorer.metrics)
        values = np.random.default_rng(number).uniform(0, 100, (len(metrics), len(rouge.ids)))
        own = {OWN: ("2" if one.method == "human" else "",) * len(rouge.ids)}
        items = replace(rouge, metrics=metrics, values=values, signature=name, details=own)
        found.append(replace(one, scores=one.scores | {name: items}))
    return found


@pytest.fixture
def further(rich_study, invented, settings, answered, told, printed, marked_study):
    """Results by the tables that they, but not the richest study, have rows of."""
    human = replace(invented("notes", "human", None, None, 50), role="bound")
    words = RelatedWords("notes", "pcov", 2000, 20, 5, 0.5, 0.25, 0.1, [("mean", ["average", "sum"])])
    wide = replace(
        rich_study,
        outputs=scored_by(scored_by([*rich_study.outputs, human], NAME, References), "entity_attention", LooksAt),
        evidence={"labels": Related([words])},
        missing=[Missing("notes", "trans", 50, 1, "common", "runs/notes-trans-050-s1-12345678")],
        trained=50,
    )
    searched = results_of(rich_study, settings, [*alike(invented), *by_papers(invented)])
    return {
        ("entity_attention", "labels", "missing", "references"): Results(wide, settings),
        ("apes", "readers"): answered,
        ("contrasts", "contrast_rules"): told,
        ("contrast_people",): judged_study(rich_study, settings),
        ("data_axis", "prompts", "verdicts"): Results(prompted(), settings),
        ("descriptions",): Results(marked_study, settings),
        ("own_searches",): searched,
        ("published",): printed[1],
    }


def test_tables_are_golden(rich_tables, further, tmp_path):
    """Where they are not what they were, raise `sumcurve.tables.VERSION` and write the file anew.

    Pages are no record: they stand in no manifest, and other tests are about them.
    """
    for names, results in further.items():
        for name in names:
            write_table(made(name, results), tmp_path)
    made_now = hashes(rich_tables) | hashes(tmp_path)
    recorded = {f"{VERSION}/{name}": digest for name, digest in made_now.items() if not name.startswith("pages/")}
    differing = golden.differences("tables.txt", recorded)
    assert not differing, "\n".join(differing)


def test_every_table_has_a_golden_case():
    """Where one is named here, let an invented study have rows of it."""
    cases = {name.partition("/")[2].removesuffix(".csv") for name in golden.keys("tables.txt")}
    assert sorted({*TABLES, *APPENDIX} - cases) == []

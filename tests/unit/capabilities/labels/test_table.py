"""The table of related words."""

import dataclasses

from sumcurve.capabilities.labels.evidence import Related, RelatedWords
from sumcurve.capabilities.labels.table import table
from sumcurve.tables.results import Results


def test_related_words_are_shares_of_labels(study, settings):
    one = RelatedWords("notes", "reg_base", 2000, 20, 5, 0.5, 0.25, 0.1, [("mean", ["average", "sum"])])
    (row,) = table(Results(dataclasses.replace(study, evidence={"labels": Related([one])}), settings)).rows
    assert (row["itself"], row["function_words"], row["overlap"]) == (50, 25, 10)

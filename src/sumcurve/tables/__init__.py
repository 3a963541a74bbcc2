"""A study's tables, one module each, in order of rank; the appendix comes as CSV only.

Each module has `table(results) -> Table`. Nothing is imported here: the Snakefile reads the names on every parse.
"""

TABLES = (
    "answers",
    "scores",
    "comparisons",
    "efficiency",
    "phases",
    "verdicts",
    "descriptions",
    "methods",
    "extracts",
    "corpora",
    "pretraining",
    "apes",
    "entity_attention",
    "equivalence",
    "questions",
    "lines",
    "cloze",
    "correlations",
    "contrasts",
    "contrast_rules",
    "contrast_links",
    "contrast_people",
    "labels",
)
APPENDIX = (
    "scores_long",
    "seeds",
    "variance",
    "stopping",
    "decoding",
    "oracle_pairs",
    "oracle_features",
    "oracle_timings",
    "apes_order",
    "apes_readers",
    "metric_correlations",
    "readers",
    "missing",
)

# Those with a column of measured time: they differ from run to run.
MEASURED = ("answers", "efficiency", "methods", "seeds", "stopping", "oracle_timings", "pretraining", "readers")

# Tables of capabilities, by the folder of each; all others are modules of this package.
OF_CAPABILITIES = {
    "pretraining": "pretrained",
    "apes": "apes",
    "entity_attention": "apes",
    "cloze": "apes",
    "correlations": "people",
    "contrasts": "contrasts",
    "contrast_rules": "contrasts",
    "contrast_links": "contrasts",
    "contrast_people": "people",
    "labels": "labels",
    "extracts": "extracts",
    "oracle_pairs": "extracts",
    "oracle_features": "extracts",
    "oracle_timings": "extracts",
    "apes_order": "apes",
    "apes_readers": "apes",
    "readers": "apes",
}


def module_of(name: str) -> str:
    """The dotted name of the module that makes a table."""
    owner = OF_CAPABILITIES.get(name)
    return f"sumcurve.tables.{name}" if owner is None else f"sumcurve.capabilities.{owner}.tables.{name}"

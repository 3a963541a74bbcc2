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

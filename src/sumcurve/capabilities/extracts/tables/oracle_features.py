"""Appendix: how the number of sentences in the best extract goes with features of the text.

Akhmetov et al. (2022) discuss such correlations in their text.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from sumcurve.capabilities.extracts.tables.extracts import EXACT, Searched, searched
from sumcurve.settings.study import Bootstrap
from sumcurve.statistics.coefficients import Coefficient
from sumcurve.statistics.correlation import Correlation, correlation
from sumcurve.statistics.groups import Groups
from sumcurve.statistics.ungrouped import holm
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table

COEFFICIENTS: tuple[Coefficient, ...] = ("spearman", "pearson")
LEAST_ARTICLES = 3  # of which a correlation says anything
Feature = Callable[[pd.DataFrame], pd.Series]

FEATURES: dict[str, tuple[Literal["source", "abstract", "both"], Feature]] = {
    "source_sentences": ("source", lambda frame: frame.source_sentences),
    "source_words": ("source", lambda frame: frame.source_words),
    "source_types": ("source", lambda frame: frame.source_types),
    "source_words_per_sentence": ("source", lambda frame: frame.source_words / frame.source_sentences),
    "source_types_per_word": ("source", lambda frame: frame.source_types / frame.source_words),
    "target_sentences": ("abstract", lambda frame: frame.target_sentences),
    "target_words": ("abstract", lambda frame: frame.target_words),
    "target_words_per_sentence": ("abstract", lambda frame: frame.target_words / frame.target_sentences),
    "compression": ("both", lambda frame: frame.source_words / frame.target_words),
    "coverage": ("both", lambda frame: frame.coverage),
    "source_words_bound": ("both", lambda frame: frame.source_words_bound),
}


def table(results: Results) -> Table:
    """A row for every corpus, feature and coefficient."""
    columns = [
        *(Column(name, name) for name in ("corpus", "feature", "of", "coefficient")),
        Column("articles", "articles", "count"),
        *(Column(name, name, "number") for name in ("correlation", "low", "high")),
        *(Column(name, name, "p") for name in ("p", "p_holm")),
    ]
    caption = "Sentences in the ROUGE-1-optimal extract against features of the text"
    rows = features(searched(results), results.settings)
    return Table("oracle_features", results.title(caption), columns, rows)


def features(oracles: Sequence[Searched], settings: Bootstrap) -> list[dict[str, Any]]:
    """The paper's correlations: the size of the proven ROUGE-1 optimum against features of the text, over articles.

    Intervals and p take a group of test items as one draw (`statistics.correlation`). `p_holm` corrects over all
    coefficients of a corpus.
    """
    rows: list[dict[str, Any]] = []
    for oracle in oracles:
        proven = oracle.proven["rouge1"]
        if (EXACT, "", "rouge1") not in oracle.sentences:
            continue  # no article
        sizes = oracle.sentences[EXACT, "", "rouge1"][proven]
        of_corpus: list[dict[str, Any]] = []
        for name, (of, feature) in FEATURES.items():
            values = feature(oracle.features[proven]).to_numpy(dtype=float)
            known = np.isfinite(values)  # an abstract may be without a word
            for coefficient in COEFFICIENTS:
                result = Correlation(None)
                if known.sum() >= LEAST_ARTICLES:
                    groups = Groups.of(np.array(oracle.groups)[proven][known].tolist())
                    result = correlation(sizes[known], values[known], groups, coefficient, settings.confidence)
                of_corpus.append(
                    {"corpus": oracle.corpus, "feature": name, "of": of, "coefficient": coefficient}
                    | {"articles": int(known.sum()), "correlation": result.value}
                    | {"low": result.low, "high": result.high, "p": result.p}
                )
        tested = [row for row in of_corpus if row["p"] is not None]
        for row, p in zip(tested, holm([row["p"] for row in tested]), strict=True):
            row["p_holm"] = p
        rows += of_corpus
    return rows

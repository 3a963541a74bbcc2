"""Appendix to the table of extracts, a number a row.

`difference`: every two ways of choosing sentences on the same articles, `chosen_by` minus `against` in points of F1;
`p` is of the pair alone, the rest corrected over all pairs of a metric. `set` and `multiset`: the mean F1 in percent of
a way's extracts, as counted by Akhmetov et al. (2022), to compare with their numbers. `spearman` and `pearson`:
correlations of the number of sentences in the ROUGE-1-optimal extract with a feature of the text, discussed in their
paper.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sumcurve.capabilities.extracts.tables.extracts import EXACT, Searched, name_of, pairs_of, searched
from sumcurve.settings.study import Bootstrap
from sumcurve.statistics.coefficients import Coefficient
from sumcurve.statistics.correlation import Correlation, correlation
from sumcurve.statistics.groups import Groups
from sumcurve.statistics.ungrouped import holm
from sumcurve.tables.columns import shared
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table

COEFFICIENTS: tuple[Coefficient, ...] = ("spearman", "pearson")
LEAST_ARTICLES = 3  # fewest for a meaningful correlation
Feature = Callable[[pd.DataFrame], pd.Series]

FEATURES: dict[str, Feature] = {
    "source_sentences": lambda frame: frame.source_sentences,
    "source_words": lambda frame: frame.source_words,
    "source_types": lambda frame: frame.source_types,
    "source_words_per_sentence": lambda frame: frame.source_words / frame.source_sentences,
    "source_types_per_word": lambda frame: frame.source_types / frame.source_words,
    "target_sentences": lambda frame: frame.target_sentences,
    "target_words": lambda frame: frame.target_words,
    "target_words_per_sentence": lambda frame: frame.target_words / frame.target_sentences,
    "compression": lambda frame: frame.source_words / frame.target_words,
    "coverage": lambda frame: frame.coverage,
    "source_words_bound": lambda frame: frame.source_words_bound,
}


def table(results: Results) -> Table:
    """The rows of every corpus: differences, the paper's countings, correlations."""
    columns = [
        *(Column(name, name) for name in ("corpus", "measure", "metric", "chosen_by", "against")),
        *shared("items"),
        *(Column(name, name, "number") for name in ("value", "low", "high")),
        *(Column(name, name, "p") for name in ("p", "p_corrected")),
    ]
    oracles = searched(results)
    differences, correlations = pairs_of(results).to_dict("records"), features(oracles, results.settings)
    rows: list[dict[str, Any]] = []
    for oracle in oracles:
        here = {"corpus": oracle.corpus}
        for row in differences:
            if row["corpus"] == oracle.corpus:
                sides = {
                    column: name_of((row[f"{side}_algorithm"], row[f"{side}_optimised"]), row["metric"])
                    for column, side in (("chosen_by", "first"), ("against", "second"))
                }
                told = {"measure": "difference", "value": row["difference"], "p_corrected": row["p_family"]}
                rows.append(row | sides | told)
        for (metric, counting), by_chosen in oracle.counted.items():
            for chosen, f1 in by_chosen.items():
                told = {"measure": counting, "metric": metric, "chosen_by": name_of(chosen, metric)}
                rows.append(here | told | {"items": len(f1), "value": float(f1.mean())})
        for row in correlations:
            if row["corpus"] == oracle.corpus:
                told = {"measure": row["coefficient"], "metric": "rouge1", "chosen_by": "exact"}
                told |= {"against": row["feature"], "items": row["articles"], "value": row["correlation"]}
                rows.append(row | told | {"p_corrected": row.get("p_holm")})
    rows = [{column.name: row.get(column.name) for column in columns} for row in rows]
    caption = "Extracts: differences, the paper's countings, and correlations of the best number of sentences"
    return Table("oracle_details", results.title(caption), columns, rows)


def features(oracles: Sequence[Searched], settings: Bootstrap) -> list[dict[str, Any]]:
    """The paper's correlations: the size of the proven ROUGE-1 optimum against features of the text, over articles.

    Intervals and p treat a group of test items as one draw (`statistics.correlation`). `p_holm` corrects over all
    coefficients of a corpus.
    """
    rows: list[dict[str, Any]] = []
    for oracle in oracles:
        proven = oracle.proven["rouge1"]
        if (EXACT, "rouge1") not in oracle.sentences:
            continue  # no article
        sizes = oracle.sentences[EXACT, "rouge1"][proven]
        of_corpus: list[dict[str, Any]] = []
        for name, feature in FEATURES.items():
            values = feature(oracle.features[proven]).to_numpy(dtype=float)
            known = np.isfinite(values)  # an abstract may be without a word
            for coefficient in COEFFICIENTS:
                result = Correlation(None)
                if known.sum() >= LEAST_ARTICLES:
                    groups = Groups.of(np.array(oracle.groups)[proven][known].tolist())
                    result = correlation(sizes[known], values[known], groups, coefficient, settings.confidence)
                of_corpus.append(
                    {"corpus": oracle.corpus, "feature": name, "coefficient": coefficient}
                    | {"articles": int(known.sum()), "correlation": result.value}
                    | {"low": result.low, "high": result.high, "p": result.p}
                )
        tested = [row for row in of_corpus if row["p"] is not None]
        for row, p in zip(tested, holm([row["p"] for row in tested]), strict=True):
            row["p_holm"] = p
        rows += of_corpus
    return rows

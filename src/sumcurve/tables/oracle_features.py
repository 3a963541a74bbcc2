"""Appendix: how the number of sentences in the best extract goes with features of the text (the paper's Table 5)."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr

from sumcurve.scores.comparison import holm
from sumcurve.settings import Bootstrap
from sumcurve.tables.extracts import EXACT, Searched, searched
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table

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


def features(found: Sequence[Searched], settings: Bootstrap) -> list[dict[str, Any]]:
    """The paper's Table 5: the size of the proven ROUGE-1 optimum against features of the text, over articles.

    Intervals are Fisher's z, of Spearman's coefficient with the variance of Bonett and Wright (2000). `p_holm` corrects
    over all coefficients of a corpus.
    """
    rows: list[dict[str, Any]] = []
    for one in found:
        proven = one.proven["rouge1"]
        if (EXACT, "", "rouge1") not in one.sentences:
            continue  # no article
        sizes = one.sentences[EXACT, "", "rouge1"][proven]
        of_corpus: list[dict[str, Any]] = []
        for name, (of, feature) in FEATURES.items():
            values = feature(one.features[proven]).to_numpy(dtype=float)
            known = np.isfinite(values)  # an abstract may be without a word
            for coefficient in ("spearman", "pearson"):
                row = {"corpus": one.corpus, "feature": name, "of": of, "coefficient": coefficient}
                row |= {"articles": known.sum()} | _correlation(sizes[known], values[known], coefficient, settings)
                of_corpus.append(row)
        tested = [row for row in of_corpus if not np.isnan(row["p"])]
        for row, p in zip(tested, holm([row["p"] for row in tested]), strict=True):
            row["p_holm"] = p
        rows += of_corpus
    return rows


def _correlation(
    sizes: NDArray[np.float64], values: NDArray[np.float64], coefficient: str, settings: Bootstrap
) -> dict[str, float]:
    """A coefficient with Fisher's interval and its two-sided p of Student's t; nothing where there is no variation."""
    nothing = dict.fromkeys(("correlation", "low", "high", "p"), np.nan)
    articles = len(sizes)
    if articles < 3 or np.ptp(sizes) == 0 or np.ptp(values) == 0:
        return nothing
    if coefficient == "spearman":
        sizes, values = (pd.Series(numbers).rank().to_numpy() for numbers in (sizes, values))
    r = float(np.clip(np.corrcoef(sizes, values)[0, 1], -1, 1))
    with np.errstate(divide="ignore"):  # a perfect correlation has p 0 and is its own interval
        t = r * np.sqrt((articles - 2) / np.float64(1 - r**2))
        found = nothing | {"correlation": r, "p": float(2 * stdtr(articles - 2, -abs(t)))}
        if articles > 3:
            variance = (1.0 if coefficient == "pearson" else 1 + r**2 / 2) / (articles - 3)
            reach = ndtri((1 + settings.confidence) / 2) * np.sqrt(variance)
            low, high = np.tanh(np.arctanh(r) + np.array([-reach, reach]))
            found |= {"low": float(low), "high": float(high)}
    return found

"""Evidence of finished folders about optimal extracts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sumcurve.capabilities.capability import Folders
from sumcurve.capabilities.extracts import METRICS, PLACES
from sumcurve.capabilities.extracts.settings import Oracle, scorer_of
from sumcurve.planning.folder import Folder
from sumcurve.settings.study import Rouge
from sumcurve.store.records import read_jsonl
from sumcurve.tables.evidence import Evidence, Optimum, OptimumWords, ScoredOutput, Study, metrics_of


@dataclass(frozen=True)
class Ceiling:
    """The best extracts of a corpus's test items under one metric: proven optima, or where unproven, upper bounds.

    `optimum` holds F1 in 0..1 for each of `ids`, `proven` the number of proven ones; `source_words` is the mean F1 of
    the best text of words of the source only, in any order, an upper bound of extracts, too.
    """

    corpus: str
    metric: str
    ids: Sequence[str]
    optimum: Sequence[float]
    proven: int
    source_words: float | None

    def percents(self) -> NDArray[np.float64]:
        """The optima in percent, in the order of the ids, which is that of `align`."""
        order = sorted(range(len(self.ids)), key=lambda index: self.ids[index])
        return 100 * np.array([self.optimum[index] for index in order])


@dataclass(frozen=True)
class Extracts:
    """The best extracts of a corpus's items, from the files of `capabilities.extracts.corpus.write_oracle`.

    `choices` has a row for every article, search or system, and metric that it optimised; `features` one for every
    article, with its part and group where other than test items are included; `certificates` are those of the exact
    searches.
    """

    corpus: str
    settings: Oracle
    scorer: str
    choices: pd.DataFrame
    features: pd.DataFrame
    certificates: Sequence[Mapping[str, Any]]

    def ceilings(self) -> list[Ceiling]:
        """Ceilings of the test items; for an item with several references, the best of them."""
        made = []
        features = self.features.set_index("id")
        if "part" in features:
            features = features[features.part == "test"]
        words, tested = features.source_words_bound.groupby(item_of).max(), set(features.index)
        for metric in METRICS:
            best: dict[str, float] = {}
            proven: dict[str, bool] = {}
            for proof in self.certificates:
                if proof["metric"] == metric and proof["id"] in tested:
                    item = item_of(proof["id"])
                    best[item] = max(best.get(item, 0.0), proof["bound"])
                    proven[item] = proven.get(item, True) and proof["status"] == "proven"
            mean = float(words.mean()) if metric == "rouge1" else None
            made.append(Ceiling(self.corpus, metric, list(best), list(best.values()), sum(proven.values()), mean))
        return made


def item_of(article: str) -> str:
    """The id of an article's item: `id (reference 2)` is the item's second article."""
    return re.sub(r" \(reference \d+\)$", "", article)


@dataclass(frozen=True)
class Oracles(Evidence):
    """The best extracts of every corpus whose settings request them."""

    corpora: Sequence[Extracts] = ()
    optimum_words: ClassVar[OptimumWords] = OptimumWords(
        name="optimal extract",
        share="the mean score divided by that of the optimal extract of every test item, or its upper bound (table "
        "extracts). A summary that is no extract may score above it.",
        drawn="Optimal extract: the upper bound of extracts, item by item (a bound on it, where some are not proven "
        "optimal); abstractive methods may score above it. "
        "Source words: the best score with the source's words in any order.",
    )

    def ceilings(self, outputs: Sequence[ScoredOutput]) -> list[Ceiling]:
        """Ceilings of the corpora whose every test item has been searched, whatever the filter of the oracle."""
        metrics = metrics_of(outputs)
        scored = {
            (output.corpus, name): {*output.scores[scorer].ids}
            for output in outputs
            for name, (_, scorer) in metrics.items()
            if scorer in output.scores and not output.scores[scorer].further
        }
        every = [ceiling for corpus in self.corpora for ceiling in corpus.ceilings()]
        return [ceiling for ceiling in every if {*ceiling.ids} == scored.get((ceiling.corpus, ceiling.metric))]

    def optimum(self, study: Study, corpus: str, metric: str) -> Optimum | None:
        for ceiling in self.ceilings(study.outputs):
            if (ceiling.corpus, ceiling.metric) == (corpus, metric):
                name = "optimal extract" if ceiling.proven == len(ceiling.ids) else "bound on optimal extract"
                levels = [(name, float(ceiling.percents().mean()))]
                if ceiling.source_words is not None:
                    levels.append(("source words", 100 * ceiling.source_words))
                return Optimum(ceiling.percents(), levels)
        return None


def extracts_of(study: Study) -> Sequence[Extracts]:
    """Extracts of the corpora of a study, in their order."""
    oracles = study.evidence.get("extracts")
    return sorted(oracles.corpora, key=lambda oracle: oracle.corpus) if isinstance(oracles, Oracles) else ()


def extracts(folders: Folders, folder: Folder) -> Extracts:
    """Read the folder of a finished oracle."""
    path = folders.results / folder.key

    def table(name: str) -> pd.DataFrame:
        words = dict.fromkeys(("id", "algorithm", "optimised", *PLACES), str)
        return pd.read_csv(path / name, dtype=words, keep_default_na=False)

    return Extracts(
        folders.plan.corpus_name(folder.specification["corpus"]),
        Oracle.of_specification(folder.specification["oracle"]),
        scorer_of(Rouge.of_specification(folder.specification["rouge"])),
        table("found.csv"),
        table("features.csv"),
        list(read_jsonl(path / "certificates.jsonl")),
    )

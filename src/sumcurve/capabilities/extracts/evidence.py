"""What finished folders say of the best extracts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sumcurve.capabilities.capability import Folders
from sumcurve.capabilities.extracts import METRICS, PLACES
from sumcurve.capabilities.extracts.settings import Oracle, scorer_of
from sumcurve.settings.study import Rouge
from sumcurve.store.records import read_jsonl
from sumcurve.tables.evidence import Evidence, Optimum, OptimumWords, ScoredOutput, Study, metrics_of

if TYPE_CHECKING:
    from sumcurve.study.plan import Folder
    from sumcurve.tables.results import Results

TITLE = "How far extracts of the source can go"  # of the figure


@dataclass(frozen=True)
class Ceiling:
    """The best extracts of a corpus's test items under one metric: proven optima, or where unproven, upper bounds.

    `optimum` holds F1 in 0..1 for each of `ids`, `proven` how many of them are proven; `source_words` is the mean F1
    of the best that can be said with words of the source alone, in any order, which bounds extracts, too.
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
    """How far extracts of a corpus's items go, as `capabilities.extracts.corpus.write_oracle` left it.

    `found` has a row for every article, search or system, and metric that it optimised; `features` one for every
    article, with its part and group where others than test items are asked; `timings` the seconds of each search;
    `certificates` are those of the exact searches.
    """

    corpus: str
    settings: Oracle
    scorer: str
    choices: pd.DataFrame
    features: pd.DataFrame
    timings: pd.DataFrame
    certificates: Sequence[Mapping[str, Any]]

    def ceilings(self) -> list[Ceiling]:
        """Of the test items; of one with several references, the best of them."""
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
    """The id of the item behind an article: `id (reference 2)` is the item's second one."""
    return re.sub(r" \(reference \d+\)$", "", article)


@dataclass(frozen=True)
class Oracles(Evidence):
    """The best extracts of every corpus that asks for them."""

    corpora: Sequence[Extracts] = ()
    optimum_words: ClassVar[OptimumWords] = OptimumWords(
        name="extractive optimum",
        of_all="the best extracts",
        of_every="the best extract of every item",
        share="the mean score divided by that of the best extract of every test item, proven or bounded (table "
        "extracts). A summary that is no extract may be above it.",
        drawn="Optimum: the best extract of every item, proven (its bound: where some are not proven); no ceiling for "
        "methods that write words of their own. "
        "Source words: the best that can be said with the source's words in any order.",
    )

    def ceilings(self, outputs: Sequence[ScoredOutput]) -> list[Ceiling]:
        """Of the corpora whose every test item has been searched, whatever the filter of the oracle."""
        metrics = metrics_of(outputs)
        scored = {
            (output.corpus, name): {*output.scores[scorer].ids}
            for output in outputs
            for name, (_, scorer) in metrics.items()
            if scorer in output.scores and not output.scores[scorer].further
        }
        every = [ceiling for corpus in self.corpora for ceiling in corpus.ceilings()]
        return [ceiling for ceiling in every if {*ceiling.ids} == scored.get((ceiling.corpus, ceiling.metric))]

    def optimum(self, results: "Results", corpus: str, metric: str) -> Optimum | None:
        ceilings: list[Ceiling] = results.once("ceilings", lambda: self.ceilings(results.outputs))
        for ceiling in ceilings:
            if (ceiling.corpus, ceiling.metric) == (corpus, metric):
                name = "optimum" if ceiling.proven == len(ceiling.ids) else "bound of the optimum"
                levels = [(name, float(ceiling.percents().mean()))]
                if ceiling.source_words is not None:
                    levels.append(("source words", 100 * ceiling.source_words))
                return Optimum(ceiling.percents(), levels)
        return None

    def figures(self, results: "Results", folder: Path) -> Mapping[str, str]:
        if not self.corpora:
            return {}
        from sumcurve.capabilities.extracts.boxes import write_boxes
        from sumcurve.capabilities.extracts.tables.extracts import lengths_of, notes_of, scores_of

        scores, lengths = scores_of(results), lengths_of(results)
        write_boxes(scores, lengths, folder, "extracts", notes_of(results), results.study.in_part)
        return {"extracts": TITLE}


def extracts_of(study: Study) -> Sequence[Extracts]:
    """Of the corpora of a study, in their order."""
    oracles = study.evidence.get("extracts")
    return sorted(oracles.corpora, key=lambda oracle: oracle.corpus) if isinstance(oracles, Oracles) else ()


def extracts(folders: Folders, folder: "Folder") -> Extracts:
    """What a finished oracle's folder holds."""
    path = folders.results / folder.key

    def table(name: str) -> pd.DataFrame:
        words = dict.fromkeys(("id", "algorithm", "variant", "optimised", *PLACES), str)
        return pd.read_csv(path / name, dtype=words, keep_default_na=False)

    return Extracts(
        folders.plan.corpus_name(folder.specification["corpus"]),
        Oracle.of_specification(folder.specification["oracle"]),
        scorer_of(Rouge.of_specification(folder.specification["rouge"])),
        table("found.csv"),
        table("features.csv"),
        table("timings.csv"),
        list(read_jsonl(path / "certificates.jsonl")),
    )

"""The best extracts of every item of a corpus's test part, or other parts: proven optima, searches, systems.

An item with several references is an article for each of them, the further ones named `id (reference 2)` and so on.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sumcurve.capabilities.extracts import ALGORITHMS, EXACT, F1_GREEDY, METRICS, PLACES, SEARCHES
from sumcurve.capabilities.extracts.article import Article, Instance, instances, value
from sumcurve.capabilities.extracts.certificates import Request, certificate
from sumcurve.capabilities.extracts.counting import COUNTED, papers_rouge
from sumcurve.capabilities.extracts.improve import f1_greedy
from sumcurve.capabilities.extracts.searches import search
from sumcurve.capabilities.extracts.settings import Oracle, scorer_of
from sumcurve.capabilities.extracts.systems import extracts
from sumcurve.capabilities.extracts.unigrams import source_words_bound
from sumcurve.corpora.store import Corpus
from sumcurve.scores.scorer import group_of
from sumcurve.settings.study import Rouge
from sumcurve.store.records import Record, write_csv, write_jsonl

FOUND = ["id", "algorithm", "optimised", *METRICS, *COUNTED, "sentences"]
FEATURES = [
    "id",
    "source_sentences",
    "target_sentences",
    "source_words",
    "target_words",
    "source_types",
    "coverage",
    "source_words_bound",
]


def articles(records: Iterable[Record], settings: Oracle) -> Iterator[tuple[Article, Record]]:
    """The articles of the records that pass the filter, in order, each with its record."""

    def within(count: int, least: int, most: int | None) -> bool:
        return least <= count and (most is None or count <= most)

    for record in records:
        for number, reference in enumerate(record.all_references, start=1):
            if within(len(record.source), settings.min_source_sentences, settings.max_source_sentences) and within(
                len(reference), settings.min_target_sentences, settings.max_target_sentences
            ):
                name = record.id if number == 1 else f"{record.id} (reference {number})"
                yield Article(name, record.source, reference), record


def write_oracle(corpus: Corpus, settings: Oracle, rouge: Rouge, folder: Path) -> None:
    """Write articles.jsonl, certificates.jsonl, features.csv and found.csv of the parts of the settings.

    `sumcurve oracle verify certificates.jsonl --input articles.jsonl` checks the first two. found.csv has a row for
    every article, search or system, and metric that it optimised, with ROUGE-1 and ROUGE-2 F1 in 0..1 of its extract,
    by the study's scorer and by Akhmetov et al.'s counting. Certificates hold 0 seconds, and no budget is one of time.
    """
    given, places = list[Article](), list[dict[str, str]]()
    for part in settings.parts:
        for article, record in articles(corpus.part(part), settings):
            given.append(article)
            places.append({"part": part, "group": group_of(record)})
    scorer = scorer_of(rouge)
    made = _Examined()
    for article in given:
        made.examine(article, settings, scorer)
    write_jsonl(
        folder / "articles.jsonl",
        ({"id": article.id, "sentences": article.sentences, "abstract": article.abstract} for article in given),
    )
    write_jsonl(folder / "certificates.jsonl", made.certificates)
    if settings.parts == ("test",):  # whose groups the scores tell
        write_csv(folder / "features.csv", FEATURES, made.features)
    else:
        rows = [feature | place for feature, place in zip(made.features, places, strict=True)]
        write_csv(folder / "features.csv", [*FEATURES, *PLACES], rows)
    write_csv(folder / "found.csv", FOUND, made.choices)


class _Examined:
    """The rows of all files, an article at a time."""

    def __init__(self) -> None:
        self.features: list[dict[str, Any]] = []
        self.certificates: list[dict[str, Any]] = []
        self.choices: list[dict[str, Any]] = []

    def examine(self, article: Article, settings: Oracle, scorer: str) -> None:
        """Prove both optima and, where set, run all searches and systems."""
        both = instances(article, scorer)
        self.features.append(_features(article, both))

        def add(algorithm: str, optimised: str, sentences: Sequence[int]) -> None:
            scores = _scores(article, both, sentences)
            self.choices.append({"id": article.id, "algorithm": algorithm, "optimised": optimised} | scores)

        for order, metric in enumerate(METRICS, start=1):
            request = Request(metric, scorer, seconds=None, nodes=settings.nodes)
            self.certificates.append(certificate(article, request, clock=lambda: 0.0))
            add(ALGORITHMS[EXACT], metric, self.certificates[-1]["sentences"])
            if settings.searches:
                add(ALGORITHMS[F1_GREEDY], metric, f1_greedy(both[order - 1]).sentences)
                for name, title in SEARCHES.items():
                    add(title, metric, search(both, name, seed=settings.seed, order=order).sentences)
        if settings.searches:
            for system, sentences in extracts(article).items():
                add(system, "", sentences)


def _scores(article: Article, both: tuple[Instance, Instance], sentences: Sequence[int]) -> dict[str, Any]:
    """ROUGE-1 and ROUGE-2 F1 of an extract under every counting, and its number of sentences."""
    chosen = [article.sentences[index] for index in sentences]
    fractions = {metric: value(counted, sentences) for metric, counted in zip(METRICS, both, strict=True)}
    for name, (metric, counting) in COUNTED.items():
        fractions[name] = papers_rouge(chosen, article.abstract, METRICS.index(metric) + 1, counting)
    scores = {name: f"{top / bottom if bottom else 0.0:.6f}" for name, (top, bottom) in fractions.items()}
    return {**scores, "sentences": len(sentences)}


def _features(article: Article, both: tuple[Instance, Instance]) -> dict[str, Any]:
    """Lengths; coverage: the share of the abstract's words in the source; the best F1 with source words only."""
    words = both[0]
    numerator, denominator = source_words_bound(words)
    matched = numerator // 2
    return {
        "id": article.id,
        "source_sentences": len(article.sentences),
        "target_sentences": len(article.abstract),
        "source_words": len(words.words),
        "target_words": len(words.reference_words),
        "source_types": len(set(words.words.tolist())),
        "coverage": f"{matched / words.reference_total if words.reference_total else 0.0:.6f}",
        "source_words_bound": f"{numerator / denominator if denominator else 0.0:.6f}",
    }

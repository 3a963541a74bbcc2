"""How far an extract of every item of a corpus's test part, or others, can go: proven optima, searches, systems.

An item with several references is an article for each of them, the further ones named `id (reference 2)` and so on.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

from sumcurve.capabilities.extracts import PLACES
from sumcurve.capabilities.extracts.article import Article, Instance, instances, value
from sumcurve.capabilities.extracts.certificates import ALGORITHMS, ORDERS, Request, certificate, warm_up
from sumcurve.capabilities.extracts.improve import f1_greedy
from sumcurve.capabilities.extracts.searches import ALGORITHMS as SEARCHES
from sumcurve.capabilities.extracts.searches import Variant, search
from sumcurve.capabilities.extracts.settings import Oracle, scorer_of
from sumcurve.capabilities.extracts.systems import extracts
from sumcurve.capabilities.extracts.unigrams import source_words_bound
from sumcurve.corpora.store import Corpus
from sumcurve.scores.scorer import group_of
from sumcurve.settings.study import Rouge
from sumcurve.store.records import Record, write_csv, write_jsonl

VARIANTS: tuple[Variant, ...] = get_args(Variant)
FOUND = ["id", "algorithm", "variant", "optimised", "rouge1", "rouge2", "sentences"]
TIMINGS = ["id", "algorithm", "variant", "optimised", "seconds"]
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
    """The articles of the records that the filter lets through, in order, with these."""

    def within(count: int, least: int, most: int | None) -> bool:
        return least <= count and (most is None or count <= most)

    for record in records:
        for number, reference in enumerate(record.all_references, start=1):
            if within(len(record.source), settings.min_source_sentences, settings.max_source_sentences) and within(
                len(reference), settings.min_target_sentences, settings.max_target_sentences
            ):
                name = record.id if number == 1 else f"{record.id} (reference {number})"
                yield Article(name, record.source, reference), record


def write_oracle(
    corpus: Corpus, settings: Oracle, rouge: Rouge, folder: Path, clock: Callable[[], float] = time.perf_counter
) -> None:
    """Write articles.jsonl, certificates.jsonl, features.csv, found.csv and timings.csv of the parts of the settings.

    `sumcurve oracle verify certificates.jsonl --input articles.jsonl` checks the first two. found.csv has a row for
    every article, search or system, and metric that it optimised, with ROUGE-1 and ROUGE-2 F1 in 0..1 of what it took.
    Measured time is in timings.csv and nowhere else; certificates say 0 seconds, and no budget is one of time.
    """
    given, places = list[Article](), list[dict[str, str]]()
    for part in settings.parts:
        for article, record in articles(corpus.part(part), settings):
            given.append(article)
            places.append({"part": part, "group": group_of(record)})
    scorer = scorer_of(rouge)
    for metric in ORDERS:  # before anything is timed
        for algorithm in ALGORITHMS:
            warm_up(Request(metric, scorer, algorithm))
    made = _Examined()
    for article in given:
        made.examine(article, settings, scorer, clock)
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
    write_csv(folder / "timings.csv", TIMINGS, made.timings)


class _Examined:
    """The rows of all files, an article at a time."""

    def __init__(self) -> None:
        self.features: list[dict[str, Any]] = []
        self.certificates: list[dict[str, Any]] = []
        self.choices: list[dict[str, Any]] = []
        self.timings: list[dict[str, Any]] = []

    def examine(self, article: Article, settings: Oracle, scorer: str, clock: Callable[[], float]) -> None:
        """Prove both optima and, where asked for, run all searches and systems."""
        both = instances(article, scorer)
        self.features.append(_features(article, both))

        def add(algorithm: str, variant: str, optimised: str, search: Callable[[], Sequence[int]]) -> None:
            began = clock()
            sentences = search()
            named = {"id": article.id, "algorithm": algorithm, "variant": variant, "optimised": optimised}
            self.choices.append(named | _scores(both, sentences))
            if optimised:
                self.timings.append(named | {"seconds": f"{clock() - began:.6f}"})

        for order, metric in enumerate(ORDERS, start=1):

            def proven(metric: str = metric) -> Sequence[int]:
                request = Request(metric, scorer, seconds=None, nodes=settings.nodes)
                self.certificates.append(certificate(article, request, clock=lambda: 0.0))
                return self.certificates[-1]["sentences"]

            add("exact", "", metric, proven)
            if settings.searches:
                add("F1-greedy", "", metric, partial(_greedy, both[order - 1]))
                for algorithm in SEARCHES:
                    for variant in VARIANTS if algorithm != "Greedy" else VARIANTS[:1]:
                        options = {"seed": settings.seed, "order": order}
                        add(algorithm, variant, metric, partial(_searched, both, algorithm, variant, options))
        if settings.searches:
            for system, sentences in extracts(article).items():
                add(system, "", "", partial(tuple, sentences))


def _greedy(instance: Instance) -> Sequence[int]:
    return f1_greedy(instance).sentences


def _searched(
    both: tuple[Instance, Instance], algorithm: str, variant: Variant, options: dict[str, int]
) -> Sequence[int]:
    return search(both, algorithm, variant, seed=options["seed"], order=options["order"]).sentences


def _scores(both: tuple[Instance, Instance], sentences: Sequence[int]) -> dict[str, Any]:
    """ROUGE-1 and ROUGE-2 F1 of an extract, and how many sentences it has."""
    scores = {}
    for metric, counted in zip(ORDERS, both, strict=True):
        numerator, denominator = value(counted, sentences)
        scores[metric] = f"{numerator / denominator if denominator else 0.0:.6f}"
    return scores | {"sentences": len(sentences)}


def _features(article: Article, both: tuple[Instance, Instance]) -> dict[str, Any]:
    """Lengths; coverage: the share of the abstract's words that the source has; the best with source words alone."""
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

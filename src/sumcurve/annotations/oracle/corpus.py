"""How far an extract of every test item of a corpus can go: proven optima, the searches' shortfall, other systems.

An item with several references is an article for each of them, the further ones named `id#2` and so on.
"""

import csv
import io
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from sumcurve.annotations.oracle.article import Article, Instance, instances, value
from sumcurve.annotations.oracle.certificates import ORDERS, Request, certificate
from sumcurve.annotations.oracle.improve import f1_greedy
from sumcurve.annotations.oracle.optimum import source_words_bound
from sumcurve.annotations.oracle.searches import ALGORITHMS as SEARCHES
from sumcurve.annotations.oracle.searches import search
from sumcurve.annotations.oracle.systems import extracts
from sumcurve.records import Record, read_records, write_jsonl, write_text
from sumcurve.settings import Oracle, Rouge

FOUND = ["id", "algorithm", "variant", "optimised", "rouge1", "rouge2", "sentences"]
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


def articles(records: Iterable[Record], settings: Oracle) -> Iterator[Article]:
    """The articles of the records that the filter lets through, in order."""

    def within(count: int, least: int, most: int | None) -> bool:
        return least <= count and (most is None or count <= most)

    for record in records:
        for number, reference in enumerate(record.all_references, start=1):
            if within(len(record.source), settings.least_source_sentences, settings.most_source_sentences) and within(
                len(reference), settings.least_target_sentences, settings.most_target_sentences
            ):
                name = record.id if number == 1 else f"{record.id}#{number}"
                yield Article(name, record.source, reference)


def write_oracle(
    test: Path, settings: Oracle, rouge: Rouge, folder: Path, clock: Callable[[], float] = time.perf_counter
) -> None:
    """Write articles.jsonl, certificates.jsonl, features.csv, found.csv and timings.csv.

    `sumcurve oracle verify certificates.jsonl --input articles.jsonl` checks the first two. found.csv has a row for
    every article, search or system, and metric that it optimised, with ROUGE-1 and ROUGE-2 F1 in 0..1 of what it took.
    Measured time is in timings.csv and nowhere else; certificates say 0 seconds, and no budget is one of time.
    """
    scorer = rouge.scorer
    found: list[dict[str, Any]] = []
    features: list[dict[str, Any]] = []
    certificates: list[dict[str, Any]] = []
    timings: list[dict[str, Any]] = []
    given = list(articles(read_records(test), settings))

    def timed(article: Article, algorithm: str, variant: str, optimised: str, began: float) -> None:
        row = {"id": article.id, "algorithm": algorithm, "variant": variant, "optimised": optimised}
        timings.append(row | {"seconds": f"{clock() - began:.6f}"})

    for article in given:
        both = instances(article, scorer)
        features.append(_features(article, both))
        for metric in ORDERS:
            began = clock()
            request = Request(metric, scorer, seconds=None, nodes=settings.nodes)
            made = certificate(article, request, clock=lambda: 0.0)
            timed(article, "exact", "", metric, began)
            certificates.append(made)
            found.append(_found(article, both, "exact", "", metric, made["sentences"]))
        if not settings.searches:
            continue
        for order, metric in enumerate(ORDERS, start=1):
            began = clock()
            greedy = f1_greedy(both[order - 1])
            timed(article, "F1-greedy", "", metric, began)
            found.append(_found(article, both, "F1-greedy", "", metric, greedy.sentences))
            for algorithm in SEARCHES:
                for variant in ("paper", "code") if algorithm != "Greedy" else ("paper",):
                    began = clock()
                    result = search(both, algorithm, variant, seed=settings.seed, order=order)
                    timed(article, algorithm, variant, metric, began)
                    found.append(_found(article, both, algorithm, variant, metric, result.sentences))
        for system, sentences in extracts(article).items():
            found.append(_found(article, both, system, "", "", sentences))
    write_jsonl(
        folder / "articles.jsonl",
        ({"id": one.id, "sentences": one.sentences, "abstract": one.abstract} for one in given),
    )
    write_jsonl(folder / "certificates.jsonl", certificates)
    _write(folder / "features.csv", FEATURES, features)
    _write(folder / "found.csv", FOUND, found)
    _write(folder / "timings.csv", ["id", "algorithm", "variant", "optimised", "seconds"], timings)


def _found(
    article: Article,
    both: tuple[Instance, Instance],
    algorithm: str,
    variant: str,
    optimised: str,
    chosen: Iterable[int],
) -> dict[str, Any]:
    sentences = list(chosen)
    scores = {}
    for metric, one in zip(ORDERS, both, strict=True):
        numerator, denominator = value(one, sentences)
        scores[metric] = f"{numerator / denominator if denominator else 0.0:.6f}"
    named = {"id": article.id, "algorithm": algorithm, "variant": variant, "optimised": optimised}
    return named | scores | {"sentences": len(sentences)}


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


def _write(path: Path, columns: list[str], rows: list[dict[str, Any]]) -> None:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, fieldnames=columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, stream.getvalue())

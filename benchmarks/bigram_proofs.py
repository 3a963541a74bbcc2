"""How soon the best ROUGE-2 F1 of an article is proven, in CPU seconds of one thread: is HiGHS alone enough?

Articles are invented ones of 100 to 500 sentences (`articles.py`), articles of as many sentences chained from prepared
records (sources follow each other, the first 10 to 20 targets are the abstract: matches are rarer than in the invented
ones), and every test article of a corpus (`sumcurve oracle`'s articles.jsonl). The table beside this file,
bigram_proofs.csv, has two corpora.

python benchmarks/bigram_proofs.py [--corpus NAME=articles.jsonl …] [--records test.jsonl] [--csv FILE]
"""

import argparse
import csv
import os
import random
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["NUMBA_NUM_THREADS"] = "1"

from articles import synthetic_article

from sumcurve.capabilities.extracts import bigrams
from sumcurve.capabilities.extracts.article import Article, instance
from sumcurve.capabilities.extracts.optimum import Optimum
from sumcurve.store.records import Record, read_jsonl, read_records

SIZES = (100, 200, 300, 300, 300, 400, 400, 500, 500, 500)  # sentences
SECONDS = 60.0  # of one proof
COLUMNS = ["articles", "scorer", "solver", "count", "sentences_max", "proven", "seconds", "seconds_max", "f1"]


def chained(records: list[Record], seed: int, sentences: int) -> Article:
    """An article of so many sentences, made of records that a seed draws."""
    rng = random.Random(seed)
    source: list[str] = []
    abstract: list[str] = []
    targets = rng.randint(10, 20)
    while len(source) < sentences:
        record = rng.choice(records)
        source += record.source
        if targets > 0:
            abstract += record.target
            targets -= 1
    return Article(f"chained-{seed}-{sentences}", source[:sentences], abstract)


def row(name: str, articles: list[Article]) -> dict[str, object]:
    """How soon all of these are proven; the time to count the words is left out."""
    counted = [instance(article, "rouge-score", 2) for article in articles]
    bigrams.optimum(counted[0], seconds=SECONDS)  # what is compiled
    seconds, optima = [], list[Optimum]()
    for one in counted:
        begin = time.process_time()
        optima.append(bigrams.optimum(one, seconds=SECONDS, clock=time.process_time))
        seconds.append(time.process_time() - begin)
    cells = (
        name,
        "rouge-score",
        "highs",
        len(optima),
        max(len(article.sentences) for article in articles),
        sum(optimum.status == "proven" for optimum in optima),
        f"{sum(seconds):.2f}",
        f"{max(seconds):.2f}",
        f"{100 * sum(optimum.value for optimum in optima) / len(optima):.2f}",
    )
    print(*cells, flush=True)
    return dict(zip(COLUMNS, cells, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--records", type=Path)
    parser.add_argument("--csv", type=Path)
    arguments = parser.parse_args()
    made = [row("invented", [synthetic_article(7_000_000 + number, size) for number, size in enumerate(SIZES)])]
    for corpus in arguments.corpus:
        name, path = corpus.split("=", 1)
        articles = [Article(row["id"], row["sentences"], row["abstract"]) for row in read_jsonl(Path(path))]
        made.append(row(name, articles))
    if arguments.records:
        records = list(read_records(arguments.records))
        made.append(row("chained", [chained(records, seed, size) for seed, size in enumerate(SIZES)]))
    if arguments.csv:
        with arguments.csv.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(made)


if __name__ == "__main__":
    main()

"""How soon the best ROUGE-2 F1 of an article is proven, in CPU seconds of one thread: is HiGHS alone enough?

Articles are invented ones of 100 to 500 sentences (`articles.py`), articles of as many sentences chained from prepared
records (sources follow each other, the first 10 to 20 targets are the abstract: matches are rarer than in the invented
ones), and every test article of a corpus (`sumcurve oracle`'s articles.jsonl). `check` is the second proof
(`bigram_check`), for the first articles of each kind. The rows `branch-and-bound` of bigram_proofs.csv are of the
compiled search that proved these optima before: both ran in one process on the same articles.

python benchmarks/bigram_proofs.py [--corpus NAME=articles.jsonl …] [--records test.jsonl] [--csv FILE]
"""

import argparse
import csv
import os
import random
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["NUMBA_NUM_THREADS"] = "1"

from articles import synthetic_article

from sumcurve.capabilities.extracts import bigram_check, bigrams
from sumcurve.capabilities.extracts.article import Article, Instance, instance
from sumcurve.capabilities.extracts.optimum import Optimum
from sumcurve.store.records import Record, read_jsonl, read_records

SIZES = (100, 200, 300, 300, 300, 400, 400, 500, 500, 500)  # sentences
CHECKED = 5  # articles of each kind
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


def proof(counted: Instance) -> Optimum:
    return bigrams.optimum(counted, seconds=SECONDS, clock=time.process_time)


def second_proof(counted: Instance) -> Optimum:
    return bigram_check.optimum(counted, seconds=SECONDS, clock=time.process_time)


SOLVERS: dict[str, tuple[Callable[[Instance], Optimum], int | None]] = {
    "highs": (proof, None),
    "check": (second_proof, CHECKED),
}


def rows(name: str, articles: list[Article], scorer: str) -> list[dict[str, object]]:
    """A row for each solver; the time to count the words is in none."""
    counted = [instance(article, scorer, 2) for article in articles]
    made: list[dict[str, object]] = []
    best: dict[int, Fraction] = {}
    for solver, (prove, count) in SOLVERS.items():
        prove(counted[0])  # what is compiled
        seconds, optima = [], []
        for number, one in enumerate(counted[:count]):
            begin = time.process_time()
            optimum = prove(one)
            seconds.append(time.process_time() - begin)
            optima.append(optimum)
            value = Fraction(optimum.numerator, max(optimum.denominator, 1))
            if optimum.status == "proven" and best.setdefault(number, value) != value:
                raise SystemExit(f"{articles[number].id}: {solver} proves another optimum: a bug")
        cells = (
            name,
            scorer,
            solver,
            len(optima),
            max(len(article.sentences) for article in articles[:count]),
            sum(optimum.status == "proven" for optimum in optima),
            f"{sum(seconds):.2f}",
            f"{max(seconds):.2f}",
            f"{100 * sum(optimum.value for optimum in optima) / len(optima):.2f}",
        )
        made.append(dict(zip(COLUMNS, cells, strict=True)))
        print(*made[-1].values(), flush=True)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--records", type=Path)
    parser.add_argument("--csv", type=Path)
    arguments = parser.parse_args()
    made = []
    invented = [synthetic_article(7_000_000 + number, size) for number, size in enumerate(SIZES)]
    for scorer in ("multiset", "set"):
        made += rows("invented", invented, scorer)
    for corpus in arguments.corpus:
        name, path = corpus.split("=", 1)
        articles = [Article(row["id"], row["sentences"], row["abstract"]) for row in read_jsonl(Path(path))]
        made += rows(name, articles, "rouge-score")
    if arguments.records:
        records = list(read_records(arguments.records))
        for scorer in ("multiset", "set"):
            made += rows("chained", [chained(records, seed, size) for seed, size in enumerate(SIZES)], scorer)
    if arguments.csv:
        with arguments.csv.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(made)


if __name__ == "__main__":
    main()

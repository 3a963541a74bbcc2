"""How soon the best ROUGE-2 F1 of an article is proven, on one core, and how long HiGHS alone takes for some of them.

Articles are invented ones of the paper's shape (`articles.py`), or, with `--records`, chained from a corpus's prepared
records: the sources follow each other up to 100, 300 and 500 sentences; the first 10 to 20 targets are the abstract.
Their matches are rarer than those of the invented articles, so that the proofs are harder.

python benchmarks/oracle_exact2.py [--articles 100] [--scorers multiset,rouge-score,set] [--seconds 15] [--milp 10]
                                   [--records FILE]
"""

import argparse
import random
import resource
import statistics
import time
from pathlib import Path

from articles import synthetic_articles

from sumcurve.annotations.oracle.article import Article, instance
from sumcurve.annotations.oracle.improve import f1_greedy
from sumcurve.annotations.oracle.optimum2 import optimum2, optimum2_by_milp
from sumcurve.records import Record, read_records

SIZES = (100, 300, 500)


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=int, default=100)
    parser.add_argument("--scorers", default="multiset,rouge-score,set")
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--milp", type=int, default=10)
    parser.add_argument("--records", type=Path)
    arguments = parser.parse_args()
    if arguments.records:
        records = list(read_records(arguments.records))
        found = [chained(records, seed, SIZES[seed % len(SIZES)]) for seed in range(arguments.articles)]
    else:
        found = synthetic_articles(1, arguments.articles)
    for scorer in arguments.scorers.split(","):
        counted = [instance(article, scorer, 2) for article in found]
        optimum2(counted[0])  # compiles
        times, short, values, proven = [], [], [], 0
        for one in counted:
            begin = time.perf_counter()
            optimum = optimum2(one, seconds=arguments.seconds)
            times.append(time.perf_counter() - begin)
            proven += optimum.status == "proven"
            values.append(optimum.value)
            short.append(optimum.value - f1_greedy(one).f1)
        within = {limit: sum(seconds <= limit for seconds in times) for limit in (0.1, 1.0, 2.0, 15.0)}
        print(
            f"{scorer}: {len(times)} articles, {proven} proven, mean F1 {statistics.mean(values):.4f}; "
            f"seconds median {statistics.median(times):.4f} mean {statistics.mean(times):.4f} max {max(times):.3f}; "
            f"within {', '.join(f'{limit} s: {number}' for limit, number in within.items())}; "
            f"F1-greedy short by {statistics.mean(short):.4f} on average, {max(short):.4f} at most"
        )
        ratios = []
        for one, seconds in list(zip(counted, times, strict=True))[: arguments.milp]:
            alone = optimum2_by_milp(one, seconds=60.0)
            ratios.append(alone.seconds / seconds)
            if alone.status == "proven" and alone.value != optimum2(one).value:
                raise SystemExit("the two solvers disagree: a bug")
        if ratios:
            print(f"  HiGHS alone, on {len(ratios)} of them: {statistics.median(ratios):.1f} times as long (median)")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()

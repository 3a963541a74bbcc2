"""How soon the best ROUGE-1 F1 of an article is proven, on one core, and how long HiGHS alone takes for some of them.

Articles are invented ones of the paper's shape (`articles.py`): 100 to 500 sentences. Times are wall seconds of one
process and leave out counting, which is printed beside them. Set NUMBA_NUM_THREADS and OMP_NUM_THREADS to 1.

python benchmarks/unigram_proofs.py [--articles 300] [--scorers multiset,rouge-score,set] [--nodes 200000]
                                    [--seconds 15] [--highs 10]
"""

import argparse
import resource
import statistics
import time

from articles import synthetic_articles

from sumcurve.capabilities.extracts.article import instance
from sumcurve.capabilities.extracts.improve import f1_greedy
from sumcurve.capabilities.extracts.unigrams import NODES, optimum, optimum_by_milp, source_words_bound


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=int, default=300)
    parser.add_argument("--scorers", default="multiset,rouge-score,set")
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--highs", type=int, default=10)
    options = parser.parse_args()
    articles = synthetic_articles(1, options.articles)
    sizes = [len(article.sentences) for article in articles]
    print(f"{len(articles)} articles of {min(sizes)} to {max(sizes)} sentences, mean {statistics.mean(sizes):.0f}")
    for scorer in options.scorers.split(","):
        optimum(instance(articles[0], scorer, 1))  # compiles
        begin = time.perf_counter()
        counted = [instance(article, scorer, 1) for article in articles]
        counting = (time.perf_counter() - begin) / len(articles)
        found = [optimum(one, nodes=options.nodes, seconds=options.seconds) for one in counted]
        seconds = sorted(one.seconds for one in found)
        within = {limit: sum(one.status == "proven" and one.seconds <= limit for one in found) for limit in (0.1, 1, 2)}
        short = [one.value - f1_greedy(words).f1 for one, words in zip(found, counted, strict=True)]
        words_alone = [numerator / denominator for numerator, denominator in map(source_words_bound, counted)]
        print(
            f"{scorer}: {sum(one.status == 'proven' for one in found)} proven "
            f"({sum(one.solver == 'milp' for one in found)} with HiGHS's help), "
            f"{', '.join(f'{number} within {limit} s' for limit, number in within.items())}; "
            f"seconds median {statistics.median(seconds):.4f}, mean {statistics.mean(seconds):.4f}, "
            f"99th percentile {seconds[int(0.99 * (len(seconds) - 1))]:.3f}, max {seconds[-1]:.3f}, "
            f"and {counting:.4f} for counting; largest gap {max(one.gap for one in found):.4f}"
        )
        print(
            f"  nodes median {statistics.median(one.nodes for one in found):.0f}, "
            f"max {max(one.nodes for one in found)}; "
            f"mean F1 {statistics.mean(one.value for one in found):.4f}, with source words alone "
            f"{statistics.mean(words_alone):.4f}; F1-greedy short by {statistics.mean(short):.4f}, max {max(short):.4f}"
        )
        ratios = []
        for one, first in list(zip(counted, found, strict=True))[: options.highs]:
            second = optimum_by_milp(one, seconds=60.0)
            ratios.append(second.seconds / first.seconds)
            proven = first.status == second.status == "proven"
            if proven and first.numerator * second.denominator != second.numerator * first.denominator:
                raise SystemExit(f"the two solvers disagree: {first} and {second}")
        if ratios:
            print(
                f"  HiGHS alone on {len(ratios)} of them (60 s at most): {statistics.median(ratios):.0f} times as long"
            )
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()

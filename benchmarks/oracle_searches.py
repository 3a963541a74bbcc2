"""The five searches of Akhmetov et al. (2022) beside the same loops over the rouge-score package; ratios on one core.

Both run at the paper's limits (5,000 iterations or 700 failures in a row, 6 generations) on invented articles
(articles.py) and optimise ROUGE-1 F1 without stemming. They draw their own random numbers, so scores agree on average
only. The loops know each sentence's text and call `RougeScorer.score` for each
extract, as the authors' code calls its scorer.

What is done once for an article and all its searches, tokenising and counting, is left out of `ratio`; the last line
has it in.

    python benchmarks/oracle_searches.py --articles 3 --sentences 300
"""

import argparse
import random
import time
from collections.abc import Callable
from itertools import combinations

from articles import synthetic_article, synthetic_articles
from rouge_score.rouge_scorer import RougeScorer

from sumcurve.capabilities.extracts import SEARCHES
from sumcurve.capabilities.extracts.article import Article, Instance, instances
from sumcurve.capabilities.extracts.improve import f1_greedy
from sumcurve.capabilities.extracts.searches import LIMITS, search


class Loops:
    """The searches in plain Python."""

    def __init__(self, article: Article, seed: int) -> None:
        self.article = article
        self.rng = random.Random(seed)
        self.sentences = list(range(len(article.sentences)))
        self.a = len(article.abstract)
        self.target = "\n".join(article.abstract)
        self.one = RougeScorer(["rouge1"])
        self.evaluations = 0

    def score(self, chosen: list[int]) -> float:
        self.evaluations += 1
        text = "\n".join(self.article.sentences[index] for index in chosen)
        return self.one.score(self.target, text)["rouge1"].fmeasure

    def greedy(self) -> list[int]:
        tokens = self.one._tokenizer.tokenize
        abstract = set(tokens(self.target))
        rows = [set(tokens(sentence)) & abstract for sentence in self.article.sentences]
        cover: list[int] = []
        while True:
            best = max(self.sentences, key=lambda index: len(rows[index]))
            if not rows[best]:
                break
            cover.append(best)
            covered = set(rows[best])
            rows = [row - covered for row in rows]
        prefixes = [sorted(cover[:number]) for number in range(1, len(cover) + 1)]
        return max(prefixes, key=self.score)

    def vns(self, start: list[int]) -> list[int]:
        best, best_score, k, failures, iterations = start, self.score(start), 1, 0, 0
        while iterations < LIMITS.iterations and failures < LIMITS.failures:
            iterations += 1
            kept = self.rng.sample(best, len(best) - min(k, len(best)))
            free = [index for index in self.sentences if index not in best]
            candidate = kept + self.rng.sample(free, len(best) - len(kept))
            new = self.score(candidate)
            if new > best_score:
                best, best_score, k, failures = candidate, new, 1, 0
            else:
                k, failures = min(k + 1, 3), failures + 1
        return sorted(best)

    def genetic(self, extra: list[list[int]]) -> list[int]:
        deck = self.rng.sample(self.sentences, len(self.sentences))
        pool = [deck[place : place + self.a] for place in range(0, len(deck), self.a)] + extra
        survivors = len(pool) // 2
        for _ in range(LIMITS.generations):
            unions = [sorted(set(one) | set(two)) for one, two in combinations(pool, 2)]
            pool = [self.rng.sample(both, min(self.a, len(both))) for both in unions]
            pool = sorted(pool, key=self.score, reverse=True)[:survivors]
        return pool[0]

    def run(self, algorithm: str) -> list[int]:
        if algorithm == "greedy":
            return self.greedy()
        if algorithm == "vns":
            return self.vns(self.rng.sample(self.sentences, self.a))
        if algorithm == "vns-greedy":
            return self.vns(self.greedy())
        return self.genetic([self.greedy()] if algorithm == "genetic-greedy" else [])


def seconds(run: Callable[[], object], repetitions: int) -> float:
    """The shortest of so many runs, in process CPU seconds: others share these cores."""
    best = float("inf")
    for _ in range(repetitions):
        begin = time.process_time()
        run()
        best = min(best, time.process_time() - begin)
    return best


def compare(options: argparse.Namespace) -> None:
    drawn = [synthetic_article(seed, options.sentences) for seed in range(options.articles)]
    pairs: list[tuple[Instance, Instance]] = [instances(article, "rouge-score") for article in drawn]
    once = sum(seconds(lambda article=article: instances(article, "rouge-score"), 20) for article in drawn)
    print(f"{options.articles} articles of {options.sentences} sentences, milliseconds each")
    print(f"{'':15}{'loops':>10}{'compiled':>10}{'ratio':>9}{'F1 loops':>10}{'compiled':>10}")
    slow = fast = 0.0
    for algorithm in SEARCHES:
        loops = ours = loops_f1 = ours_f1 = 0.0
        for seed, (article, pair) in enumerate(zip(drawn, pairs, strict=True)):
            other = Loops(article, seed)
            begin = time.process_time()
            chosen = other.run(algorithm)
            loops += time.process_time() - begin
            loops_f1 += other.score(chosen)

            def compiled(pair: tuple[Instance, Instance] = pair, algorithm: str = algorithm, seed: int = seed) -> float:
                return search(pair, algorithm, seed=seed).f1

            ours_f1 += compiled()
            # The mean over seeds, since seeds decide how long a search is.
            ours += seconds(lambda c=compiled: [c(seed=s) for s in range(10)], options.repetitions) / 10
        slow, fast = slow + loops, fast + ours
        per = 1e3 / options.articles
        print(
            f"{algorithm:15}{loops * per:10.2f}{ours * per:10.3f}{loops / ours:9.0f}"
            f"{loops_f1 / options.articles:10.3f}{ours_f1 / options.articles:10.3f}"
        )
    print(f"{'all':15}{slow * per:10.2f}{fast * per:10.3f}{slow / fast:9.0f}")
    print(f"tokenised once {slow * per:10.2f}{(fast + once) * per:10.3f}{slow / (fast + once):9.0f}")


def extrapolate(options: argparse.Namespace) -> None:
    """CPU seconds of all searches for the paper's 17,038 articles, from a sample of their shape."""
    sample = synthetic_articles(7, options.sample)
    instances(sample[0], "rouge-score")
    begin = time.process_time()
    pairs = [instances(article, "rouge-score") for article in sample]
    counted = time.process_time() - begin
    begin = time.process_time()
    for pair in pairs:
        for algorithm in SEARCHES:
            search(pair, algorithm, seed=1)
    parts = {"five searches": time.process_time() - begin}
    begin = time.process_time()
    for pair in pairs:
        f1_greedy(pair[0])
        f1_greedy(pair[1])
    parts["F1-greedy, both orders"] = time.process_time() - begin
    per = 1 / options.sample
    print(f"\n{options.sample} articles of the paper's shape, one core")
    print(f"{'':25}{'ms each':>10}{'minutes for 17,038':>20}")
    for name, spent in {"tokenised and counted": counted, **parts}.items():
        print(f"{name:25}{spent * per * 1e3:10.3f}{spent * per * 17_038 / 60:20.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, number in (("articles", 3), ("sentences", 300), ("repetitions", 5), ("sample", 200)):
        parser.add_argument(f"--{name}", type=int, default=number)
    options = parser.parse_args()
    for algorithm in SEARCHES:  # compile
        search(instances(synthetic_article(0, 100), "rouge-score"), algorithm, seed=0)
    compare(options)
    extrapolate(options)


if __name__ == "__main__":
    main()

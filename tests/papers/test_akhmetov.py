"""Akhmetov, Mladenović and Mussabayev (2022): the five searches, letter by letter, and what their notebooks do instead.

The references are plain Python over words and share the random numbers of `sumcurve` (SplitMix64), so that ours must
return their very extract. What the notebooks do is told by references of its own, of which relations are tested.
"""

import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations

import pytest

from sumcurve.capabilities.extracts.article import Article, instances, value
from sumcurve.capabilities.extracts.counting import papers_rouge
from sumcurve.capabilities.extracts.searches import LIMITS, Limits, search

Score = Callable[[list[int]], Fraction]
SEARCHES = ("vns", "greedy", "vns-greedy", "genetic", "genetic-greedy")
SHORT = Limits(300, 60, 6)


class Numbers:
    """SplitMix64 (Steele, Lea and Flood, 2014), and samples drawn with it."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, limit: int) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        mixed = (self.state ^ self.state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
        return ((mixed ^ mixed >> 31) >> 32) * limit >> 32

    def to_the_front(self, items: list[int], count: int) -> list[int]:
        """So many random ones of the items, brought to their front."""
        for place in range(count):
            other = place + self.below(len(items) - place)
            items[place], items[other] = items[other], items[place]
        return items[:count]

    def in_order(self, items: list[int], count: int) -> list[int]:
        """So many random ones of the items, in their order."""
        drawn: list[int] = []
        for place, item in enumerate(items):
            if self.below(len(items) - place) < count - len(drawn):
                drawn.append(item)
        return drawn


def scorer(article: Article, order: int) -> Score:
    """F1 of ROUGE of sentences in the order given; words stand between blanks."""

    def grams(sentences: list[str]) -> Counter:
        words = " ".join(sentences).split()
        return Counter(zip(*(words[start:] for start in range(order)), strict=False))

    def score(chosen: list[int]) -> Fraction:
        ours, theirs = grams([article.sentences[index] for index in chosen]), grams(article.abstract)
        return Fraction(2 * (ours & theirs).total(), (ours.total() + theirs.total()) or 1)

    return score


def greedy(article: Article, score: Score) -> list[int]:
    """The sentence with most words of the abstract that none has yet, until none has any; then the best first n."""
    missing, taken = set(" ".join(article.abstract).split()), list[int]()
    words = [set(sentence.split()) for sentence in article.sentences]
    while words:
        best = max(range(len(words)), key=lambda index: (len(words[index] & missing), -index))
        if not words[best] & missing:
            break
        missing -= words[best]
        taken.append(best)
    prefixes = [sorted(taken[:number]) for number in range(1, len(taken) + 1)]
    return max(prefixes, key=lambda chosen: (score(chosen), -len(chosen)), default=[])


def vns(article: Article, score: Score, start: list[int], numbers: Numbers, limits: Limits) -> list[int]:
    """Replace k sentences by others; a better extract is kept and sets k to 1, a failure raises it, up to 3."""
    best, places, k, failures, d = sorted(start), list(range(len(start))), 1, 0, len(article.sentences)
    for _ in range(limits.iterations):
        count = min(k, len(best), d - len(best))
        if failures == limits.failures or count == 0:
            break
        gone = {best[place] for place in numbers.to_the_front(places, count)}
        come: list[int] = []
        while len(come) < count:
            sentence = numbers.below(d)
            if sentence not in best and sentence not in come:
                come.append(sentence)
        candidate = sorted({*best} - gone | {*come})
        if score(candidate) > score(best):
            best, k, failures = candidate, 1, 0
        else:
            k, failures = min(k + 1, 3), failures + 1
    return best


def genetic(article: Article, score: Score, more: list[list[int]], numbers: Numbers, limits: Limits) -> list[int]:
    """Steps 5 and 6: all candidates are crossed, the best of the offspring are the next ones; the last one's best."""
    d, a = len(article.sentences), min(len(article.abstract), len(article.sentences))
    if a == 0:
        return more[0] if more else []
    deck = numbers.to_the_front(list(range(d)), d)
    candidates = [sorted(deck[place : place + a]) for place in range(0, d, a)] + more
    survivors = len(candidates) // 2
    candidates = sorted(candidates, key=score, reverse=True)[:1] if len(candidates) < 2 else candidates
    for _ in range(limits.generations):
        if len(candidates) < 2:
            break
        children = []
        for mother, father in combinations(candidates, 2):
            both = sorted({*mother, *father})
            children.append(numbers.in_order(both, min(a, len(both))))
        candidates = sorted(children, key=score, reverse=True)[:survivors]
    return candidates[0]


def by_the_text(article: Article, algorithm: str, order: int, seed: int, limits: Limits) -> list[int]:
    score, numbers = scorer(article, order), Numbers(seed)
    first = greedy(article, score) if "greedy" in algorithm else []
    if algorithm == "greedy":
        return first
    if algorithm.startswith("vns"):
        d = len(article.sentences)
        drawn = numbers.to_the_front(list(range(d)), min(len(article.abstract), d))
        return vns(article, score, first if algorithm == "vns-greedy" else drawn, numbers, limits)
    return genetic(article, score, [first] if first else [], numbers, limits)


def invented(seed: int) -> Article:
    """An article of up to 24 sentences whose abstract joins halves of its sentences."""
    rng = random.Random(seed)
    source = [[f"w{int(rng.expovariate(0.08))}" for _ in range(rng.randint(2, 9))] for _ in range(rng.randint(1, 24))]
    told = [rng.choice(source)[:3] + rng.choice(source)[-3:] for _ in range(rng.randint(1, 4))]
    return Article(f"x{seed}", [" ".join(words) for words in source], [" ".join(words) for words in told])


ODD = [
    Article("x", *texts)
    for texts in (([], ["a"]), (["a b"], []), (["a"], ["a", "b", "c"]), (["a b", "", "c"], ["b c"]))
]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("algorithm", SEARCHES)
def test_each_search_is_the_texts_under_the_same_random_numbers(algorithm: str, order: int) -> None:
    for seed, article in enumerate([*map(invented, range(40)), *ODD]):
        found = search(instances(article, "rouge-score"), algorithm, seed=seed, order=order, limits=SHORT)
        expected = by_the_text(article, algorithm, order, seed, SHORT)
        assert found.sentences == expected, article
        assert Fraction(found.numerator, found.denominator or 1) == scorer(article, order)(expected)


def test_the_limits_are_the_texts() -> None:
    assert Limits(iterations=5_000, failures=700, generations=6) == LIMITS


# What the notebooks do instead (their Greedy is not published).


def notebooks_vns(article: Article, rng: random.Random, start: list[int] | None = None) -> tuple[list[int], int]:
    """The extract and the failures: k sentences and those beyond place a go, random ones come up to a + k.

    Those that went may come back; failures are counted in total; of equal ROUGE-1 the better ROUGE-2 wins. From
    Greedy's extract sentences beyond place a stay, lists of a + k or more shrink only, and ROUGE-1 alone decides.
    """
    d, a = len(article.sentences), len(article.abstract)
    scores = [scorer(article, order) for order in ((1, 2) if start is None else (1,))]
    best = rng.sample(range(d), a) if start is None else start
    rank, k, failures = [score(best) for score in scores], 1, 0
    for _ in range(10_000):
        if failures == 700:
            break
        picked = rng.sample(range(len(best)), min(k, len(best)))
        limit = a if start is None else len(best)
        kept = [index for place, index in enumerate(best) if place not in picked and place < limit]
        free = [index for index in range(d) if index not in kept]
        candidate = kept + rng.sample(free, min(max(a + k - len(kept), 0), len(free)))
        found = [score(candidate) for score in scores]
        if found > rank:
            best, rank, k = candidate, found, 1
        else:
            k, failures = min(k + 1, 3), failures + 1
    return sorted(best), failures


def notebooks_genetic(article: Article, rng: random.Random, more: list[list[int]]) -> list[int]:
    """Half of the candidates are crossed; a child is drawn from both parents' lists and stays in the order drawn."""
    d, a, score = len(article.sentences), len(article.abstract), scorer(article, 1)
    deck = rng.sample(range(d), d)
    candidates = [deck[place : place + a] for place in range(0, d, a)] + more
    survivors = len(candidates) // 2
    for _ in range(6):
        candidates = sorted(candidates, key=score, reverse=True)[:survivors]
        candidates = [rng.sample(one + two, min(a, len(one + two))) for one, two in combinations(candidates, 2)]
    return max(candidates, key=score)


def long(seed: int) -> Article:
    """60 sentences and an abstract of 6, which none of them is."""
    rng = random.Random(seed)
    source = [[f"w{int(rng.expovariate(0.03))}" for _ in range(rng.randint(4, 14))] for _ in range(60)]
    told = [rng.choice(source)[:3] + rng.choice(source)[-4:] for _ in range(6)]
    return Article(f"l{seed}", [" ".join(words) for words in source], [" ".join(words) for words in told])


def ours(article: Article, algorithm: str, seed: int) -> list[int]:
    return search(instances(article, "rouge-score"), algorithm, seed=seed).sentences


def test_summaries_of_the_notebooks_vns_grow_and_its_failures_count_in_total() -> None:
    sizes = []
    for seed in range(4):
        article = long(seed)
        chosen, failures = notebooks_vns(article, random.Random(seed))
        sizes.append(len(chosen))
        assert failures == 700
        assert len(ours(article, "vns", seed)) == 6
    assert {*sizes} <= {7, 8, 9}
    start = greedy(long(1), scorer(long(1), 1))
    grown, _ = notebooks_vns(long(1), random.Random(1), start)
    assert scorer(long(1), 1)(grown) >= scorer(long(1), 1)(start)
    assert len(ours(long(1), "vns-greedy", 1)) == len(start)


def test_children_of_the_notebooks_repeat_sentences_out_of_order_and_may_lose_greedys_extract() -> None:
    repeats = unordered = lost = 0
    for seed in range(12):
        article = long(seed)
        first = greedy(article, scorer(article, 1))
        chosen = notebooks_genetic(article, random.Random(seed), [first])
        repeats += len({*chosen}) < len(chosen)
        unordered += chosen != sorted(chosen)
        lost += scorer(article, 1)(chosen) < scorer(article, 1)(first)
        mine = ours(article, "genetic-greedy", seed)
        assert mine == sorted({*mine})
        assert len(mine) == 6
    assert repeats > 2
    assert unordered > 8
    assert lost > 0


# The two countings.


@pytest.mark.parametrize(
    ("extract", "abstract", "order", "multiset", "distinct"),
    [
        (["a a b"], ["a b b"], 1, (4, 6), (4, 4)),
        (["a b", "b c"], ["a b b c"], 2, (6, 6), (6, 6)),  # over the end of a sentence
        (["a b a b"], ["a b"], 2, (2, 4), (2, 3)),
        (["We use 3.5 mm ."], ["3 we 5"], 1, (4, 8), (4, 8)),  # a full stop parts numbers; case counts
        (["a . . b"], ["a b"], 1, (4, 5), (4, 5)),  # a piece of blanks is one empty word
        (["a", ".b"], ["a b"], 1, (4, 5), (4, 5)),  # ". " between sentences makes one, too
        ([], [], 1, (0, 0), (0, 0)),
        ([], ["a"], 2, (0, 0), (0, 0)),
    ],
)
def test_the_papers_countings_by_hand(extract, abstract, order, multiset, distinct) -> None:
    assert papers_rouge(extract, abstract, order, "multiset") == multiset
    assert papers_rouge(extract, abstract, order, "set") == distinct


def test_the_countings_are_the_searches_where_words_are_plain_and_differ_by_repeated_words_alone() -> None:
    for seed in range(30):
        article = invented(seed)
        rng = random.Random(seed)
        chosen = sorted(rng.sample(range(len(article.sentences)), rng.randint(0, len(article.sentences))))
        extract = [article.sentences[index] for index in chosen]
        for order, counted in enumerate(instances(article, "rouge-score"), start=1):
            assert papers_rouge(extract, article.abstract, order, "multiset") == value(counted, chosen)
            grams = [
                {*zip(*(" ".join(texts).split()[start:] for start in range(order)), strict=False)}
                for texts in (extract, article.abstract)
            ]
            assert papers_rouge(extract, article.abstract, order, "set") == (
                2 * len(grams[0] & grams[1]),
                len(grams[0]) + len(grams[1]),
            )


def test_another_counting_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown counting 'bag'"):
        papers_rouge(["a"], ["a"], 1, "bag")

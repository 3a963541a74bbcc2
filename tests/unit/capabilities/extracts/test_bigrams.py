import random
from collections import Counter
from fractions import Fraction
from itertools import combinations, count, pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from examples import examples
from sumcurve.capabilities.extracts import SCORERS, bigrams
from sumcurve.capabilities.extracts.article import Article, instance
from sumcurve.capabilities.extracts.certificates import plain_words
from sumcurve.capabilities.extracts.improve import f1_greedy
from unit.capabilities.extracts import bigram_check
from unit.capabilities.extracts.articles import articles, bound, consistent, f1

ARTICLE = articles("abcde", 6, 3)

TWICE = Article("x", ["a b x", "y c d x", "y e f"], ["a b g c d h e f"])  # x y between both pairs of neighbours
INSIDE = Article("x", ["a b x", "y c d", "e x y f"], ["a b c d e f"])  # x y between neighbours and in a sentence
REPEATED = Article("x", ["a b a b"], ["a b a b"])
BETWEEN = Article("x", ["a", "x", "b", "y"], ["a b", "x y"])  # both bigrams can be had, but not together
WORDLESS = Article("x", ["b", "!", "c"], ["b c"])  # what stands between parts no bigram


def invented(seed: int, sentences: int, vocabulary: int) -> Article:
    rng = random.Random(seed)
    words = [f"w{number}" for number in range(vocabulary)]

    def sentence(most: int) -> str:
        return " ".join(rng.choice(words) for _ in range(rng.randint(0, most)))

    return Article(str(seed), [sentence(8) for _ in range(sentences)], [sentence(10) for _ in range(rng.randint(2, 6))])


def naive_optimum(article: Article, scorer: str) -> Fraction:
    """The best F1 of bigrams over all extracts in document order, by counting each in plain Python."""
    words = [plain_words([sentence], scorer) for sentence in article.sentences]
    theirs = Counter(pairwise(plain_words(article.abstract, scorer)))
    best = Fraction(0)
    for size in range(1, len(words) + 1):
        for chosen in combinations(range(len(words)), size):
            ours = Counter(pairwise([word for index in chosen for word in words[index]]))
            hits = (ours & theirs).total()
            if hits:
                best = max(best, Fraction(2 * hits, ours.total() + theirs.total()))
    return best


@examples(60)
@given(ARTICLE, st.sampled_from(SCORERS))
@example(TWICE, "rouge-score")
@example(INSIDE, "rouge-score")
@example(REPEATED, "rouge-score")
@example(BETWEEN, "rouge-score")
@example(WORDLESS, "rouge-score")
@example(Article("x", ["!", "?"], ["a b"]), "rouge-score")
def test_brute_force_agrees(article, scorer) -> None:
    counted = instance(article, scorer, 2)
    best = naive_optimum(article, scorer)
    for found in (bigrams.optimum(counted), bigrams.optimum(counted, start=[]), bigram_check.optimum(counted)):
        assert found.status == "proven"
        assert f1(found) == best
        assert consistent(found, counted)


@pytest.mark.parametrize("seed", range(6))
def test_both_formulations_agree_where_brute_force_cannot_go(seed) -> None:
    counted = instance(invented(seed, 16 + 4 * seed, 5 + 3 * seed), "rouge-score", 2)
    found, other = bigrams.optimum(counted), bigram_check.optimum(counted)
    assert found.status == other.status == "proven"
    assert f1(found) == f1(other) > 0
    assert f1(bigrams.optimum(counted, start=[])) == f1(found)


@examples(40)
@given(ARTICLE, st.integers(0, 2))
def test_any_budget_gives_a_value_and_a_bound_around_the_optimum(article, nodes) -> None:
    counted = instance(article, "rouge-score", 2)
    best = naive_optimum(article, "rouge-score")
    answers = [bigrams.optimum(counted, start=[], nodes=nodes), bigrams.optimum(counted, nodes=nodes)]
    answers.append(bigrams.optimum(counted, seconds=0.0, clock=count().__next__))
    for found in answers:
        assert consistent(found, counted)
        assert f1(found) <= best <= bound(found)
    late = bigram_check.optimum(counted, seconds=0.0)
    assert f1(late) <= best <= bound(late)


@pytest.mark.parametrize("slack", [0.5, 1.0, 40.0])
def test_a_bound_that_is_not_below_one_proves_nothing(slack, monkeypatch) -> None:
    real = bigrams.milp

    def milp(aims, **options):
        answer = real(aims, **options)
        answer.mip_dual_bound -= slack
        return answer

    monkeypatch.setattr(bigrams, "milp", milp)
    for seed in range(4):
        counted = instance(invented(seed, 20, 12), "rouge-score", 2)
        found, best = bigrams.optimum(counted), f1(bigram_check.optimum(counted))
        assert f1(found) == best
        assert found.status == ("proven" if slack < 1 else "bounded")
        assert best < bound(found) or slack < 1
        assert consistent(found, counted)


def test_thousands_of_sentences_get_an_answer() -> None:
    article = invented(6, 2_000, 60)
    counted = instance(Article("x", article.sentences * 2, article.abstract), "rouge-score", 2)
    found = bigrams.optimum(counted, nodes=3)
    greedy = f1_greedy(counted)
    assert consistent(found, counted)
    assert Fraction(greedy.numerator, greedy.denominator) <= f1(found) <= bound(found)

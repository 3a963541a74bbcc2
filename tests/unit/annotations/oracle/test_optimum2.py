import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import combinations, count, pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from sumcurve.annotations.oracle import optimum2 as module
from sumcurve.annotations.oracle.article import SCORERS, Article, Instance, OracleError, instance, instances, value
from sumcurve.annotations.oracle.certificates import plain_words
from sumcurve.annotations.oracle.improve import f1_greedy
from sumcurve.annotations.oracle.optimum import Optimum
from sumcurve.annotations.oracle.optimum2 import optimum2, optimum2_by_milp
from sumcurve.annotations.oracle.searches import ALGORITHMS, search

SENTENCE = st.lists(st.sampled_from("abcde"), max_size=6).map(" ".join)
ARTICLE = st.builds(Article, st.just("x"), st.lists(SENTENCE, max_size=6), st.lists(SENTENCE, max_size=3))


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
            if scorer == "set":
                ours, theirs = Counter(set(ours)), Counter(set(theirs))
            hits = (ours & theirs).total()
            if hits:
                best = max(best, Fraction(2 * hits, ours.total() + theirs.total()))
    return best


def f1(found: Optimum) -> Fraction:
    return Fraction(found.numerator, found.denominator) if found.denominator else Fraction(0)


def bound(found: Optimum) -> Fraction:
    return Fraction(found.bound_numerator, found.bound_denominator) if found.bound_denominator else Fraction(0)


def consistent(found: Optimum, counted: Instance) -> bool:
    """Whether an answer agrees with itself and with `value`."""
    return (
        value(counted, found.sentences) == (found.numerator, found.denominator)
        and list(found.sentences) == sorted(set(found.sentences))
        and (found.status == "proven") == (bound(found) == f1(found))
        and f1(found) <= bound(found) <= 1
    )


@contextmanager
def weak_bounds() -> Iterator[None]:
    """One subgradient step a node, so that next to everything is left to the branching."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROOT_STEPS", 1)
        patch.setattr(module, "NODE_STEPS", 1)
        yield


def agrees_with_brute_force(article: Article, scorer: str) -> None:
    counted = instance(article, scorer, 2)
    found = optimum2(counted)
    assert found.status == "proven"
    assert f1(found) == naive_optimum(article, scorer)
    assert consistent(found, counted)


@settings(max_examples=1000, deadline=None)
@given(ARTICLE, st.sampled_from(SCORERS))
def test_brute_force_agrees(article, scorer) -> None:
    agrees_with_brute_force(article, scorer)


@pytest.mark.slow
@settings(max_examples=5000, deadline=None)
@given(ARTICLE, st.sampled_from(SCORERS))
def test_brute_force_agrees_on_thousands(article, scorer) -> None:
    agrees_with_brute_force(article, scorer)


@settings(max_examples=600, deadline=None)
@given(ARTICLE, st.sampled_from(["set", "rouge-score"]))
def test_branching_alone_agrees_with_brute_force(article, scorer) -> None:
    counted = instance(article, scorer, 2)
    with weak_bounds():
        found = optimum2(counted, start=[])
    assert found.status == "proven"
    assert f1(found) == naive_optimum(article, scorer)
    assert consistent(found, counted)


@settings(max_examples=60, deadline=None)
@given(ARTICLE, st.sampled_from(["set", "rouge-score"]))
def test_the_mixed_integer_program_agrees_with_brute_force(article, scorer) -> None:
    counted = instance(article, scorer, 2)
    found = optimum2_by_milp(counted)
    assert found.status == "proven"
    assert f1(found) == naive_optimum(article, scorer)
    assert consistent(found, counted)


@settings(max_examples=80, deadline=None)
@given(ARTICLE, st.sampled_from(["set", "rouge-score"]), st.integers(0, 4))
def test_any_budget_gives_a_value_and_a_bound_around_the_optimum(article, scorer, nodes) -> None:
    counted = instance(article, scorer, 2)
    optimum = naive_optimum(article, scorer)
    with weak_bounds():
        answers = [optimum2(counted, start=[], nodes=nodes), optimum2(counted, nodes=nodes)]
    answers.append(optimum2(counted, seconds=0.0, clock=count().__next__))
    for found in answers:
        assert consistent(found, counted)
        assert f1(found) <= optimum <= bound(found)


@pytest.mark.parametrize("scorer", ["set", "multiset"])
@pytest.mark.parametrize("seed", range(6))
def test_both_solvers_agree_where_brute_force_cannot_go(scorer, seed) -> None:
    counted = instance(invented(seed, 16 + seed, 5 + 3 * seed), scorer, 2)
    found, other = optimum2(counted), optimum2_by_milp(counted)
    assert found.status == other.status == "proven"
    assert f1(found) == f1(other) > 0
    with weak_bounds():
        assert f1(optimum2(counted, start=[])) == f1(found)


@pytest.mark.parametrize("scorer", ["set", "rouge-score"])
def test_a_budget_that_ends_the_branching_leaves_the_rest_to_the_program(scorer) -> None:
    counted = instance(invented(3, 20, 9), scorer, 2)
    with weak_bounds():
        found = optimum2(counted, start=[], nodes=1, seconds=60.0)
    assert (found.status, found.solver) == ("proven", "milp")
    assert f1(found) == f1(optimum2(counted))


@pytest.mark.parametrize("scorer", ["set", "rouge-score"])
def test_a_bound_that_was_cut_short_is_above_the_optimum(scorer) -> None:
    short = 0
    for seed in range(12):
        counted = instance(invented(seed, 25, 12), scorer, 2)
        optimum = optimum2(counted)
        with weak_bounds():
            cut = [optimum2(counted, start=[], nodes=nodes) for nodes in (2, 3, 5, 9, 17)]
        assert all(f1(found) <= f1(optimum) <= bound(found) for found in cut)
        assert bound(optimum2(counted, nodes=1)) < f1(optimum) + Fraction(1, 10)
        short += sum(f1(found) < f1(optimum) for found in cut)
    assert short > 10  # else the bounds would be those of the optimum itself


TWICE = Article("x", ["a b x", "y c d x", "y e f"], ["a b g c d h e f"])  # x y between both pairs of neighbours
INSIDE = Article("x", ["a b x", "y c d", "e x y f"], ["a b c d e f"])  # x y between neighbours and in a sentence
REPEATED = Article("x", ["a b a b"], ["a b a b"])


@settings(max_examples=150, deadline=None)
@given(ARTICLE, st.sampled_from(["set", "multiset"]), st.none() | st.randoms(use_true_random=False))
@example(TWICE, "set", None)
@example(INSIDE, "set", None)
@example(REPEATED, "multiset", None)
def test_any_multipliers_give_a_bound_above_all_extracts(article, scorer, rng) -> None:
    counted = instance(article, scorer, 2)
    graph, best = module._begin(counted, None)
    if best.numerator == 0:
        return
    best.numerator, best.denominator = 1, 10**6  # the bound is never below the best value, so there must be none
    kept = np.flatnonzero(counted.lengths)
    multipliers = [1.0 if rng is None else rng.random() for _ in counted.reference]
    state = module._State(graph.chains(kept), kept, best, np.array(multipliers))
    assert state.ratio_bound() >= naive_optimum(article, scorer)


@pytest.mark.parametrize("scorer", ["set", "multiset"])
def test_no_heuristic_is_above_the_optimum(scorer) -> None:
    article = invented(9, 40, 25)
    both = instances(article, scorer)
    optimum = optimum2(both[1])
    assert optimum.status == "proven"
    found = [search(both, algorithm, "paper", seed=1, order=2) for algorithm in ALGORITHMS]
    for result in [*found, f1_greedy(both[1])]:
        assert Fraction(result.numerator, result.denominator) <= f1(optimum)


def test_the_package_rouge_score_gives_the_value() -> None:
    article = invented(11, 50, 40)
    found = optimum2(instance(article, "rouge-score", 2))
    scored = RougeScorer(["rouge2"]).score(
        " ".join(article.abstract), " ".join(article.sentences[index] for index in found.sentences)
    )
    assert found.value == pytest.approx(scored["rouge2"].fmeasure, abs=1e-12)
    assert found.value > 0


def test_a_sentence_without_words_parts_no_bigram() -> None:
    found = optimum2(instance(Article("x", ["b", "!", "c"], ["b c"]), "rouge-score", 2))
    assert found.sentences == (0, 2)
    assert (found.numerator, found.denominator) == (2, 2)


def test_a_sentence_between_parts_a_bigram() -> None:
    # Both a b (0 and 2) and x y (1 and 3) can be had, but not together.
    article = Article("x", ["a", "x", "b", "y"], ["a b", "x y"])
    found = optimum2(instance(article, "rouge-score", 2))
    assert found.sentences in ((0, 2), (1, 3))
    assert (found.numerator, found.denominator) == (2, 4)


@pytest.mark.parametrize("scorer", ["set", "rouge-score"])
@pytest.mark.parametrize(
    ("sentences", "abstract"),
    [([], ["a b"]), (["a b"], []), (["a b"], ["a"]), (["!", "?"], ["a b"]), (["c d"], ["a b"]), ([], [])],
)
def test_where_nothing_can_match_the_empty_extract_is_best(scorer, sentences, abstract) -> None:
    counted = instance(Article("x", sentences, abstract), scorer, 2)
    for found in (optimum2(counted), optimum2(counted, nodes=0, seconds=0.0), optimum2_by_milp(counted)):
        assert (found.sentences, found.numerator, found.status, found.bound) == ((), 0, "proven", 0.0)
        assert consistent(found, counted)


@pytest.mark.parametrize("scorer", ["set", "rouge-score"])
def test_one_sentence_and_a_longer_abstract(scorer) -> None:
    counted = instance(Article("x", ["a b c"], ["a b", "c d e f"]), scorer, 2)
    found = optimum2(counted)
    assert (found.sentences, found.numerator, found.denominator) == ((0,), 4, 7)
    assert found.status == "proven"


@pytest.mark.parametrize("scorer", ["set", "rouge-score"])
def test_ten_thousand_sentences_get_an_answer(scorer) -> None:
    article = invented(6, 2_000, 60)
    counted = instance(Article("x", article.sentences * 5, article.abstract), scorer, 2)
    found = optimum2(counted, nodes=3)
    greedy = f1_greedy(counted)
    assert consistent(found, counted)
    assert Fraction(greedy.numerator, greedy.denominator) <= f1(found) <= bound(found)


def test_another_order_and_a_start_out_of_order_are_refused() -> None:
    article = Article("x", ["a b", "b c"], ["a b c"])
    with pytest.raises(OracleError, match="order 1"):
        optimum2(instance(article, "rouge-score", 1))
    with pytest.raises(OracleError, match="document order"):
        optimum2(instance(article, "rouge-score", 2), start=[1, 0])

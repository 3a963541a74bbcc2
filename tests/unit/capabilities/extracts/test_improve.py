from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from sumcurve.capabilities.extracts.article import Article, Instance, instance
from sumcurve.capabilities.extracts.improve import f1_greedy, improved
from unit.capabilities.extracts.articles import articles, extract_f1, subsets

SCORER = st.sampled_from(["rouge-score", "characters"])
ORDER = st.sampled_from([1, 2])


def f1(counted: Instance, chosen) -> Fraction:
    return extract_f1(counted, sorted(chosen))


@given(articles(), SCORER, ORDER, st.sets(st.integers(0, 6)))
@examples(200)
def test_no_move_improves_what_is_below_the_optimum(article, scorer, order, start) -> None:
    counted = instance(article, scorer, order)
    start = {index for index in start if index < counted.size}
    optimum = max(f1(counted, chosen) for chosen in subsets(counted.size))
    for result in (improved(counted, sorted(start)), f1_greedy(counted)):
        ours = Fraction(result.numerator, result.denominator or 1)
        chosen = set(result.sentences)
        assert result.sentences == sorted(chosen)
        assert ours == f1(counted, chosen) <= optimum
        for index in range(counted.size):
            assert f1(counted, chosen ^ {index}) <= ours
            for other in chosen:
                assert f1(counted, chosen - {other} | {index}) <= ours
    assert f1(counted, improved(counted, sorted(start)).sentences) >= f1(counted, start)


@given(articles(), SCORER, ORDER)
@examples(200)
def test_the_greedy_choice_is_that_of_a_naive_loop(article, scorer, order) -> None:
    counted = instance(article, scorer, order)
    chosen: list[int] = []
    while True:
        rest = [index for index in range(counted.size) if index not in chosen]
        best = max(rest, key=lambda index: (f1(counted, [*chosen, index]), -index), default=None)
        if best is None or f1(counted, [*chosen, best]) <= f1(counted, chosen):
            break
        chosen.append(best)
    result = f1_greedy(counted, swap=False)
    assert result.sentences == sorted(chosen)
    assert result.iterations == len(chosen)
    assert f1(counted, f1_greedy(counted).sentences) >= f1(counted, chosen)


def test_an_exchange_finds_what_greedy_misses() -> None:
    # The first choice, "a b c x", blocks the two sentences that are the abstract.
    counted = instance(Article("x", ["a b c x", "a b", "c d"], ["a b c d"]), "rouge-score", 1)
    assert f1_greedy(counted, swap=False).f1 < 1
    assert f1_greedy(counted).sentences == [1, 2]


def test_a_start_may_repeat_itself() -> None:
    counted = instance(Article("x", ["a b", "c", ""], ["a b c"]), "rouge-score", 1)
    assert improved(counted, [2, 0, 0]).sentences == [0, 1]

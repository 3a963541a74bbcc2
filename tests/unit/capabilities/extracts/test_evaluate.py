import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sumcurve.capabilities.extracts.article import Article, instance, value
from sumcurve.capabilities.extracts.evaluate import (
    closed,
    counts,
    evaluate,
    gathered,
    remove,
    remove_others,
    rescored,
    tally,
)

SENTENCE = st.lists(st.sampled_from("abcdef"), max_size=5).map(" ".join)
ARTICLE = st.builds(Article, st.just("x"), st.lists(SENTENCE, min_size=1, max_size=8), st.lists(SENTENCE, max_size=4))
SCORER = st.sampled_from(["set", "multiset", "rouge-score"])
ORDER = st.sampled_from([1, 2])


@given(ARTICLE, SCORER, ORDER, st.data())
@settings(max_examples=300, deadline=None)
def test_the_kernel_gives_the_value_and_leaves_no_trace(article, scorer, order, data) -> None:
    counted = instance(article, scorer, order)
    view = counts(counted)
    spare = tally(view)
    for _ in range(3):  # repeated sentences and any order, too
        chosen = data.draw(st.lists(st.integers(0, counted.size - 1), max_size=10))
        assert evaluate(view, np.array(chosen, np.int64), spare) == value(counted, chosen)
        assert spare.tolist() == tally(view).tolist()
        result = rescored(counted, chosen, 0)
        assert (result.numerator, result.denominator) == value(counted, chosen)
        assert 0 <= result.f1 <= 1


@given(ARTICLE, SCORER, ORDER, st.lists(st.tuples(st.booleans(), st.integers(0, 7)), max_size=20))
@settings(max_examples=200, deadline=None)
def test_adding_and_removing_ends_where_counting_anew_does(article, scorer, order, steps) -> None:
    counted = instance(article, scorer, order)
    view = counts(counted)
    spare = tally(view)
    chosen: list[int] = []
    hits = total = 0
    for adds, index in steps:
        one = np.array([index % counted.size], np.int64)
        if adds:
            more, longer = gathered(view, spare, one, 1)
            chosen.append(int(one[0]))
            hits, total = hits + more, total + longer
        elif int(one[0]) in chosen:
            less = remove(view.rows, view.types, view.counts, spare, one, 1)
            shorter = int(counted.lengths[one[0]])
            if scorer == "set":
                shorter = less + remove_others(view.other_rows, view.others, len(view.grams), spare, one, 1)
            chosen.remove(int(one[0]))
            hits, total = hits - less, total - shorter
        state = np.array(chosen, np.int64)
        assert closed(view, spare, state, len(state), hits, total) == value(counted, chosen)

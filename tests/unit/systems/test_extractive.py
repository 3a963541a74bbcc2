"""SumBasic, LexRank and LSA: what their papers say of them, and what independent programs find."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.store.records import Record, Text
from sumcurve.study.doors import SYSTEMS
from sumcurve.systems.extractive import by_score, content_words
from sumcurve.systems.lexrank import similarities, stationary
from sumcurve.systems.lsa import counts, lengths
from sumcurve.systems.sumbasic import sum_basic
from sumcurve.systems.system import Item

KINDS = ("sumbasic", "lexrank", "lsa")
WORDS = ["ant", "bee", "cat", "dog", "eel", "fox"]
sentence = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6)
documents = st.lists(sentence, min_size=1, max_size=7)
limits = {"sentences": 2, "max_tokens": 30}


def item(source, name="a"):
    return Item(Record(name, source, ["t"]), Text(name, source, ["t"]))


def system(kind, **told):
    return SYSTEMS[kind](limits | SYSTEMS[kind].Settings().own() | told, {})


@given(documents, st.sampled_from([0.15, 0.5, 0.95]))
def test_lexrank_is_the_stationary_distribution_of_its_walk(document, jumps):
    networkx = pytest.importorskip("networkx")
    weights = similarities(document)
    found = stationary(weights, jumps)
    assert found.sum() == pytest.approx(1)
    graph = networkx.from_numpy_array(weights, create_using=networkx.DiGraph)
    expected = networkx.pagerank(graph, alpha=1 - jumps, tol=1e-12, max_iter=1000)
    assert found.tolist() == pytest.approx([expected[place] for place in range(len(document))], abs=1e-8)


@given(documents)
def test_similarities_are_cosines(document):
    found = similarities(document)
    assert np.array_equal(found, found.T)
    assert found.min() >= 0
    assert found.max() <= 1
    assert np.diag(found).tolist() == [1.0] * len(document)
    assert similarities([one * 2 for one in document]).tolist() == found.tolist()  # length does not count
    for row, first in enumerate(document):
        for column, second in enumerate(document):
            assert (found[row, column] == 0) == set(first).isdisjoint(second)


@given(documents)
def test_similarities_are_sumys_under_its_weights(document):
    lex_rank = pytest.importorskip("sumy.summarizers.lex_rank").LexRankSummarizer
    found = similarities(document, lambda sentences, holding: math.log(sentences / (1 + holding)))
    frequencies = [{word: one.count(word) for word in one} for one in document]
    weights = lex_rank._compute_idf(document)
    for row, first in enumerate(document):
        for column, second in enumerate(document):
            cosine = lex_rank.cosine_similarity(first, second, frequencies[row], frequencies[column], weights)
            assert found[row, column] == pytest.approx(cosine, abs=1e-8)


@given(documents)
def test_lsa_is_sumys_where_all_topics_are_kept(document):
    lsa = pytest.importorskip("sumy.summarizers.lsa").LsaSummarizer()
    matrix = counts(document)
    _, sigma, topics = np.linalg.svd(matrix, full_matrices=False)
    assert lengths(matrix, 0.0).tolist() == pytest.approx(list(lsa._compute_ranks(sigma, topics)), abs=1e-8)


@given(documents, st.randoms(use_true_random=False), st.sampled_from([0.0, 0.5, 1.0]))
def test_lsa_knows_neither_the_order_of_sentences_nor_the_names_of_words(document, random, share):
    found = lengths(counts(document), share)
    order = random.sample(range(len(document)), len(document))
    shuffled = lengths(counts([document[place] for place in order]), share)
    assert shuffled.tolist() == pytest.approx(found[order].tolist(), abs=1e-7)
    names = dict(zip(WORDS, random.sample(WORDS, len(WORDS)), strict=True))
    renamed = lengths(counts([[names[word] for word in one] for one in document]), share)
    assert renamed.tolist() == pytest.approx(found.tolist(), abs=1e-7)
    doubled = lengths(counts([one * 2 for one in document]), share)
    assert doubled.tolist() == pytest.approx((2 * found).tolist(), abs=1e-7)


def test_sumbasic_takes_a_sentence_with_the_most_probable_word_then_squares_its_words():
    # p: ant 3/8, bee 2/8, cat, dog, eel 1/8. bee's own sentence has the highest mean but one, and no ant.
    document = [["ant", "cat", "dog"], ["bee"], ["ant", "bee"], ["ant", "eel"]]
    # With ant: means 5/24, 5/16 and 4/16.
    # Then ant is 9/64 and bee 4/64: with ant 25/192 and 17/128 are left, the last is ahead.
    # Then cat and dog are the most probable, 8/64 against ant's 81/4096 and bee's 4/64.
    assert sum_basic(document, 4) == [2, 3, 0, 1]


@given(documents, st.data())
def test_sumbasic_goes_on_where_it_stopped_and_first_takes_the_most_frequent_word(document, data):
    count = data.draw(st.integers(1, len(document)))
    whole = sum_basic(document, len(document))
    assert sorted(whole) == list(range(len(document)))
    assert sum_basic(document, count) == whole[:count]
    words = [word for one in document for word in one]
    most = max(map(words.count, words))
    assert any(words.count(word) == most for word in document[whole[0]])


@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6, unique=True), min_size=1, max_size=7))
def test_sumbasic_first_takes_what_sumy_does_where_that_has_the_most_frequent_word(document):
    sumy = pytest.importorskip("sumy.summarizers.sum_basic").SumBasicSummarizer
    words = [word for one in document for word in one]
    p = {word: words.count(word) / len(words) for word in words}
    means = [sumy._compute_average_probability_of_words(p, one) for one in document]
    first = sum_basic(document, 1)[0]
    holding = [mean for mean, one in zip(means, document, strict=True) if max(p.values()) in map(p.get, one)]
    assert means[first] == pytest.approx(max(holding))


def test_sentences_without_words_come_last_in_their_order():
    assert sum_basic([[], ["ant"], [], ["bee"]], 4)[-2:] == [0, 2]
    assert list(system("lexrank").choose([[], ["ant", "bee"], ["ant", "bee"]], 1)) == [1]
    assert list(system("lsa").choose([[], ["ant"]], 1)) == [1]


@pytest.mark.parametrize("kind", KINDS)
@given(source=documents, sentences=st.integers(1, 5), most=st.integers(1, 20))
def test_they_take_whole_sentences_in_source_order_up_to_the_corpus_s_limits(kind, source, sentences, most):
    texts = [" ".join(one) for one in source]
    (found,) = system(kind, sentences=sentences, max_tokens=10**6).summarize([item(texts)])
    rest = iter(texts)
    assert all(one in rest for one in found)
    assert len(found) == min(sentences, len(source))
    (short,) = system(kind, sentences=sentences, max_tokens=most).summarize([item(texts)])
    tokens = [token for one in found for token in one.split(" ")]
    assert [token for one in short for token in one.split(" ")] == tokens[:most]


@pytest.mark.parametrize("kind", KINDS)
def test_a_summary_does_not_depend_on_other_items(kind):
    items = [item([f"{one} {two} .", f"{two} x .", f"{one} y {two} ."], f"{one}{two}") for one, two in pairwise(WORDS)]
    together = list(system(kind).summarize(items))
    assert [next(iter(system(kind).summarize([one]))) for one in items] == together


def test_function_words_count_where_nothing_is_stopped():
    sentence = "The ants , and the bees !"
    assert content_words(sentence, stopped=True) == ["ants", "bees"]
    assert content_words(sentence, stopped=False) == ["the", "ants", "and", "the", "bees"]


@given(st.lists(st.integers(0, 5), min_size=1))
def test_the_earlier_of_equal_scores_comes_first(scores):
    shaken = [score * (1 + 1e-13 * (place % 3)) for place, score in enumerate(scores)]
    assert by_score(shaken) == sorted(range(len(scores)), key=lambda place: -scores[place])

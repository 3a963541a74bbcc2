from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from examples import examples
from sumcurve.capabilities.extracts import SCORERS
from sumcurve.capabilities.extracts.article import Article, instance, instances, value
from sumcurve.rouge_engine.tokens import tokenize

TESTED = [scorer for scorer in SCORERS if scorer != "rouge-1.5.5-m"]  # its exception table may not be installed
SENTENCE = st.lists(
    st.sampled_from(["a", "b", "c", "B", "reads", "reading", "3.5", ".", ",", "..", "e\u0301t", "中文", "\u00a0"]),
    max_size=6,
).map(" ".join)
TEXT = st.lists(SENTENCE, max_size=6)
ARTICLE = st.builds(Article, st.just("x"), TEXT, TEXT)


def words(scorer: str, sentence: str) -> list[str]:
    mode, stem = (scorer[: -len("-stem")], True) if scorer.endswith("-stem") else (scorer, False)
    return tokenize(sentence, mode, stem)


def ngrams(scorer: str, order: int, sentences: list[str]) -> Counter:
    text = [word for sentence in sentences for word in words(scorer, sentence)]
    return Counter(tuple(text[start : start + order]) for start in range(len(text) - order + 1))


def brute(article: Article, scorer: str, order: int, chosen: list[int]) -> tuple[int, int]:
    ours = ngrams(scorer, order, [article.sentences[index] for index in chosen])
    theirs = ngrams(scorer, order, article.abstract)
    return 2 * (ours & theirs).total(), ours.total() + theirs.total()


@given(ARTICLE, st.sampled_from(TESTED), st.sampled_from([1, 2]), st.data())
@examples(300)
def test_value_counts_the_ngrams_of_the_joined_sentences_in_the_order_given(article, scorer, order, data) -> None:
    size = len(article.sentences)
    chosen = data.draw(st.lists(st.integers(0, size - 1), max_size=6)) if size else []
    assert value(instance(article, scorer, order), chosen) == brute(article, scorer, order, chosen)


@given(ARTICLE, st.booleans(), st.randoms())
@examples(80)
def test_value_is_the_f1_of_rouge_score(article, stem, random) -> None:
    chosen = random.sample(range(len(article.sentences)), random.randint(0, len(article.sentences)))
    scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2"], use_stemmer=stem)
    expected = scorer.score("\n".join(article.abstract), "\n".join(article.sentences[index] for index in chosen))
    for counted in instances(article, "rouge-score-stem" if stem else "rouge-score"):
        numerator, denominator = value(counted, chosen)
        f1 = numerator / denominator if denominator else 0
        assert f1 == pytest.approx(expected[f"rouge{counted.order}"].fmeasure, abs=1e-12)


def test_a_sentence_without_words_does_not_part_its_neighbours() -> None:
    assert value(instance(Article("x", ["a b", "", "c"], ["b c"]), "rouge-score", 2), [0, 1, 2]) == (2, 3)

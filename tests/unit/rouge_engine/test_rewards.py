"""Rewards against rouge-score and against the textbook's table."""

import random
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import rouge_scorer, tokenizers

from sumcurve.rouge_engine.rewards import Reference, f1_of_ngrams, repetition, rouge_l_f1, words

TOKENS = st.lists(st.sampled_from("abc"), max_size=9)
SCORER = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)


def table(first: list[str], second: list[str]) -> int:
    @cache
    def length(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return 0
        if first[i - 1] == second[j - 1]:
            return length(i - 1, j - 1) + 1
        return max(length(i - 1, j), length(i, j - 1))

    return length(len(first), len(second))


@given(TOKENS, TOKENS)
def test_the_longest_common_subsequence_is_that_of_the_textbook(first, second) -> None:
    assert Reference(first).common(second) == table(first, second)


def test_one_reference_serves_many_candidates_and_texts_longer_than_a_machine_word() -> None:
    rng = random.Random(3)

    def text() -> list[str]:
        return [rng.choice("abcdefgh") for _ in range(rng.randrange(60, 140))]

    for _ in range(4):
        first = text()
        reference = Reference(first)
        for second in (text() for _ in range(5)):
            assert reference.common(second) == table(first, second)


@given(st.text(max_size=40))
def test_words_are_those_of_rouge_score(text) -> None:
    assert words(text) == tokenizers.DefaultTokenizer(use_stemmer=False).tokenize(text)


def pairs() -> list[tuple[str, str]]:
    """Candidates and references: short and long, equal, without a common word, without any word."""
    rng = random.Random(7)

    def text() -> str:
        alphabet = rng.choice([["a", "B", "c."], ["otter", "heron-like", "é", "42", ",", "The", "of"]])
        return " ".join(rng.choice(alphabet) for _ in range(rng.choice([0, 1, 2, 8, 30, 80])))

    texts = [text() for _ in range(300)]
    return [(one, rng.choice([one, rng.choice(texts)])) for one in texts]


def test_rouge_l_and_rouge_n_are_those_of_rouge_score() -> None:
    for candidate, reference in pairs():
        expected = SCORER.score(reference, candidate)
        ours, theirs = words(candidate), words(reference)
        found = Reference(theirs).rouge_l(ours)
        assert found == pytest.approx(expected["rougeL"].fmeasure, abs=1e-12)
        assert rouge_l_f1(ours, theirs) == found
        for order in (1, 2):
            assert f1_of_ngrams(ours, theirs, order) == pytest.approx(expected[f"rouge{order}"].fmeasure, abs=1e-12)


@given(st.lists(st.lists(st.sampled_from("ab"), min_size=1, max_size=5).map(" ".join), max_size=5))
def test_repetition_counts_trigrams_seen_before(summary) -> None:
    tokens = " ".join(summary).split()
    trigrams = [tuple(tokens[start : start + 3]) for start in range(len(tokens) - 2)]
    repeated = sum(trigram in trigrams[:place] for place, trigram in enumerate(trigrams))
    assert repetition(summary) == pytest.approx(repeated / max(1, len(trigrams)))

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.models.vocabulary import BOS, EOS, MARKS, SEP, UNK, Vocabulary

WORDS = st.lists(st.sampled_from(["the", "cat", "sat", "zyx", "qua", "<unk>", "<eos>"]), min_size=1, max_size=12)
KNOWN = Vocabulary(["the", "cat", "sat"])


@given(WORDS)
def test_source_words_survive_the_round_trip(words):
    ids, extended, unknowns = KNOWN.source(words)
    assert KNOWN.sentences(extended, unknowns) == [words]
    assert all(0 <= token < len(KNOWN) for token in ids)
    assert unknowns == list(dict.fromkeys(word for word in words if word not in ("the", "cat", "sat")))


@given(WORDS, st.lists(WORDS, min_size=1, max_size=3))
def test_target_words_are_themselves_or_unknown(source, target):
    _, _, unknowns = KNOWN.source(source)
    inputs, ids = KNOWN.target(target, unknowns, 100)
    writable = {"the", "cat", "sat", *source}
    expected = [[word if word in writable else "<unk>" for word in sentence] for sentence in target]
    assert KNOWN.sentences(ids, unknowns) == expected
    assert inputs[0] == BOS
    assert ids[-1] == EOS
    assert len(inputs) == len(ids)
    assert inputs[1:] == [token if token < len(KNOWN) else UNK for token in ids[:-1]]


def test_sep_stands_between_sentences_only():
    _, ids = KNOWN.target([["the", "cat"], ["sat"]], [], 10)
    assert ids == [5, 6, SEP, 7, EOS]
    assert KNOWN.sentences([SEP, 5, SEP, SEP, 6, EOS, 7], []) == [["the"], ["cat"]]


@pytest.mark.parametrize(("most", "expected"), [(3, [5, 6, 7, EOS]), (2, [5, 6])])
def test_only_a_whole_target_ends(most, expected):
    inputs, ids = KNOWN.target([["the", "cat", "sat"]], [], most)
    assert ids == expected
    assert inputs == [BOS, *expected[:-1]]


def test_counts_choose_the_words():
    counts = [("b", 5), ("a", 3), ("c", 3), ("d", 1)]
    assert Vocabulary.from_counts(counts, 10, 2).words == [*MARKS, "b", "a", "c"]
    assert Vocabulary.from_counts(counts, 2, 1).words == [*MARKS, "b", "a"]


@pytest.mark.parametrize("counts", [[("a", 3), ("b", 5)], [("b", 3), ("a", 3)], [("a", 3), ("a", 3)]])
def test_unsorted_counts_are_refused(counts):
    with pytest.raises(ValueError, match="not sorted"):
        Vocabulary.from_counts(counts, 10, 1)


def test_a_word_spelled_like_a_mark_is_no_mark():
    vocabulary = Vocabulary(["<eos>", "a"])
    ids, extended, unknowns = vocabulary.source(["<eos>", "a"])
    assert ids == extended == [5, 6]
    assert vocabulary.sentences(extended, unknowns) == [["<eos>", "a"]]

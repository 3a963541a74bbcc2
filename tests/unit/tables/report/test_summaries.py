"""Copied words and new ones, and tokens as people read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.tables.report.summaries import RUN, glued, marked, spaced

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "A"]), max_size=9)


@given(WORDS, WORDS)
def test_pieces_are_the_sentence_and_each_is_what_it_is_called(words, source):
    (pieces,) = marked([" ".join(words)], source)
    assert " ".join(text for text, _ in pieces).split() == words
    plain = [word.lower() for word in source]
    copies = [plain[start:end] for start in range(len(plain)) for end in range(start + 1, len(plain) + 1)]
    for text, kind in pieces:
        mine = text.lower().split()
        if kind == "new":
            assert not set(mine) & set(plain)
        else:
            assert set(mine) <= set(plain)
        if kind == "run":
            assert len(mine) >= RUN
            assert mine in copies
    if words and [word.lower() for word in words] in copies:
        assert len(pieces) == 1
        assert pieces[0][1] == ("run" if len(words) >= RUN else "")


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("returns np . exp ( x ) , if x < = 1 .", "returns np.exp (x), if x <= 1."),
        ("a dict - of - dict isn 't \" this one \" but it 's 5 %", "a dict-of-dict isn't \"this one\" but it's 5%"),
        ("y = - x", "y = -x"),
    ],
)
def test_tokens_are_read_as_people_write_them(tokens, text):
    words = tokens.split()
    assert (
        "".join(word if tight else f" {word}" for word, tight in zip(words, glued(words), strict=True)).strip() == text
    )


@given(WORDS, WORDS)
def test_pieces_for_reading_are_the_same_words_of_the_same_kinds(words, source):
    (pieces,) = marked([" ".join(words)], source)
    parts = spaced(pieces)
    assert [word for text, *_ in parts for word in text.split()] == words
    kinds = [kind for text, kind, _ in parts for _ in text.split()]
    assert kinds == [kind for text, kind in pieces for _ in text.split()]

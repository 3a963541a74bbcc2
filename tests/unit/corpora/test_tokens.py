import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sumcurve.corpora.tokens import ABBREVIATIONS, sentences, tokenize

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.text("ab1 .,'_\n!?()", max_size=60)


@given(TEXT)
def test_no_sign_is_lost_or_added(text) -> None:
    assert "".join(tokenize(text, lower=False)) == "".join(text.split())


@given(TEXT)
def test_tokens_joined_by_blanks_are_tokenized_into_themselves(text) -> None:
    tokens = tokenize(text, lower=False)
    joined = " ".join(tokens)
    assert tokenize(joined, lower=False) == tokens
    assert not tokens or joined.split(" ") == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Don't fold make_nest2 here.", "don't fold make_nest2 here ."),
        ("1.5 of 10,000 (v2.0.1a)", "1.5 of 10,000 ( v2 . 0 . 1a )"),
        ("a.b-c>=λ", "a . b - c > = λ"),
        ("<pad> </s>", "< pad > < / s >"),
    ],
)
def test_words_numbers_and_single_signs(text, tokens) -> None:
    assert tokenize(text, lower=True) == tokens.split(" ")
    assert [token.lower() for token in tokenize(text, lower=False)] == tokens.split(" ")


@settings(deadline=None)  # the first call imports nltk
@given(st.text("aB.! ?\n1(),", max_size=80))
def test_sentences_keep_every_sign_in_order(text) -> None:
    found = sentences(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(sentence and "\n" not in sentence and sentence == sentence.strip() for sentence in found)


def test_sentences_end_at_full_stops_but_not_at_abbreviations() -> None:
    assert sentences("It swims, e.g. Upstream. Dr. Otter\nsaw it. Why? Nobody knows") == [
        "It swims, e.g. Upstream.",
        "Dr. Otter saw it.",
        "Why?",
        "Nobody knows",
    ]


@pytest.mark.parametrize("abbreviation", sorted(ABBREVIATIONS))
def test_no_abbreviation_ends_a_sentence_inside(abbreviation) -> None:
    assert len(sentences(f"Otters see {abbreviation}. otters swim.")) == 1
    assert len(sentences(f"Otters see x{abbreviation}x. Otters swim.")) == 2


def test_an_empty_line_ends_a_sentence_and_a_line_break_does_not() -> None:
    assert sentences("one otter\nswims\n \ntwo herons") == ["one otter swims", "two herons"]

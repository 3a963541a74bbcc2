"""Copied and new words told apart."""

from hypothesis import given
from hypothesis import strategies as st

from sumcurve.tables.report.summaries import RUN, marked

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

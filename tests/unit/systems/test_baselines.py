"""Systems that learn nothing."""

from hypothesis import given
from hypothesis import strategies as st

from sumcurve.store.records import Record
from sumcurve.systems import baselines

sentence = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6).map(" ".join)
records = st.builds(
    Record,
    id=st.text("0123456789", min_size=1),
    source=st.lists(sentence, min_size=1, max_size=6),
    target=st.just(["a"]),
)


def tokens(sentences):
    return [token for one in sentences for token in one.split(" ")]


@given(records, st.integers(1, 8), st.integers(1, 40))
def test_lead_is_a_prefix_of_the_source(record, sentences, most):
    found = tokens(baselines.lead(record, sentences, most))
    assert found == record.source_tokens[: len(found)]
    assert len(found) == min(most, len(tokens(record.source[:sentences])))


@given(records, st.integers(1, 8))
def test_random_takes_whole_sentences_in_source_order(record, sentences):
    found = baselines.random(record, sentences, most := 10**6)
    rest = iter(record.source)
    assert all(one in rest for one in found)
    assert len(found) == min(sentences, len(record.source))
    assert baselines.random(record, sentences, most) == found


def test_random_depends_on_the_record_and_reaches_every_sentence():
    source = ["a b", "c d", "e f"]
    drawn = {baselines.random(Record(str(number), source, ["a"]), 1, 10)[0] for number in range(60)}
    assert drawn == set(source)


@given(records, st.data(), st.integers(1, 10))
def test_best_sentence_is_that_sentence_cut(record, data, most):
    best = data.draw(st.integers(0, len(record.source) - 1))
    assert tokens(baselines.best_sentence(record, best, most)) == record.source[best].split(" ")[:most]

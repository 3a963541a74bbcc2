"""Extractiveness: Grusky's algorithm against their own listing, and what copies, novel words and lengths must give."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.scores.extractiveness import ORDERS, Extractiveness, fragments, measures
from sumcurve.scores.scorer import NoSettings
from sumcurve.store.records import Record, write_jsonl

WORDS = st.lists(st.sampled_from("abcd"), max_size=14)
SENTENCES = st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6), min_size=1, max_size=4)


def listing(summary, source):
    """Figure 3 of Grusky et al. (2018), line by line, counted from 0; lengths of the fragments."""
    found = []
    i = j = 0
    while i < len(summary):
        f = 0
        while j < len(source):
            if summary[i] == source[j]:
                i_, j_ = i, j
                while i_ < len(summary) and j_ < len(source) and summary[i_] == source[j_]:
                    i_, j_ = i_ + 1, j_ + 1
                f = max(f, i_ - i)
                j = j_
            else:
                j = j + 1
        i, j = i + max(f, 1), 0
        found.append(f)
    return [length for length in found if length]


@given(WORDS, WORDS)
def test_fragments_are_those_of_the_papers_listing(summary, source):
    assert fragments(summary, source) == listing(summary, source)


@given(SENTENCES, SENTENCES)
def test_tokens_are_novel_or_covered(summary, source):
    found = measures(summary, source)
    assert found["coverage"] == pytest.approx(1 - found["novel1"] / 100)
    assert found["coverage"] - 1e-9 <= found["density"] <= found["length"]
    assert found["compression"] * found["length"] == pytest.approx(sum(map(len, source)))
    assert all(0 <= found[name] <= 100 for name in ("repeated", *(f"novel{n}" for n in ORDERS)))


@given(SENTENCES, st.data())
def test_whole_sentences_of_the_source_hold_nothing_novel(source, data):
    chosen = data.draw(st.lists(st.sampled_from(source), min_size=1))
    found = measures(chosen, source)
    assert found["coverage"] == 1
    assert all(found[f"novel{n}"] == 0 for n in ORDERS)


def test_what_is_copied_at_a_stretch_is_dense():
    source = [["a", "b", "c", "d", "e", "f", "g", "h"], ["i", "j", "k"]]
    whole, mixed = measures([["b", "c", "d", "e"]], source), measures([["e", "b", "g", "c"]], source)
    assert (whole["coverage"], whole["density"]) == (1, 4)
    assert (mixed["coverage"], mixed["density"]) == (1, 1)
    assert (whole["novel2"], mixed["novel2"]) == (0, 100)
    strange = measures([["x", "y"]], source)
    assert (strange["coverage"], strange["density"], strange["novel1"], strange["novel2"]) == (0, 0, 100, 100)
    assert strange["novel3"] == 0  # it has none
    assert measures([["x", "a", "x"]], source)["novel1"] == pytest.approx(200 / 3)  # every occurrence counts


def test_repeated_trigrams_are_those_said_before():
    def repeated(*summary):
        return measures([sentence.split() for sentence in summary], [["a"]])["repeated"]

    assert repeated() == repeated("a b") == repeated("a b c d") == 0
    assert repeated("a b c a b c") == pytest.approx(25)
    assert repeated("a b", "c a b", "c") == pytest.approx(25)  # short sentences may repeat, too


def test_references_are_measured_as_summaries_are(tmp_path):
    records = [
        Record("1", ["The fox ran home .", "it slept"], ["the fox slept"], [["a fox ran home"]], group="foxes"),
        Record("2", ["a hen sang"], ["A hen"]),
    ]

    def score(summaries, records):
        rows = [{"id": one.id, "summary": summary} for one, summary in zip(records, summaries, strict=True)]
        write_jsonl(tmp_path / "summaries.jsonl", rows)
        return Extractiveness(NoSettings()).score(tmp_path, records, {})

    found = score([["the fox ran home"], []], records)
    assert (list(found.ids), list(found.groups)) == (["1", "2"], ["foxes", "2"])
    assert found.values["coverage"] == [1, 0]  # case does not count
    assert found.values["compression"] == [7 / 4, 3]
    assert found.counts == {"empty": 1}
    three = [records[0], records[0], records[1]]
    written = [reference for record in records for reference in record.all_references]
    own = [score([reference], [record]).values for reference, record in zip(written, three, strict=True)]
    for name, mean in found.references.items():
        assert mean == pytest.approx(sum(values[name][0] for values in own) / 3)
    assert set(found.references) == set(found.values)

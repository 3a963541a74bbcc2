import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.corpora.fraction import draw, drawn_positions, read_words, records_of, write_fraction
from sumcurve.corpora.store import Corpus
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import Record, write_jsonl

RECORDS = [
    Record("a", ["the otter swims .", "it is wet ."], ["an otter swims"]),
    Record("b", ["the heron eats ."], ["herons eat", "often"]),
    Record("c", ["rain ."], ["rain"]),
]


@given(st.integers(1, 100), st.integers(1, 10**9))
def test_records_of_is_the_nearest_whole_number_and_at_least_one(percent, total) -> None:
    count = records_of(percent, total)
    assert count == 1 or abs(100 * count - percent * total) <= 50
    assert 1 <= count <= total
    assert records_of(100, total) == total


@given(st.integers(1, 99), st.integers(1, 10**6))
def test_a_larger_percentage_holds_the_smaller_one(percent, total) -> None:
    assert records_of(percent, total) <= records_of(percent + 1, total)


def test_halves_are_rounded_up() -> None:
    assert [records_of(50, total) for total in (1, 3, 5)] == [1, 2, 3]


@pytest.mark.parametrize(("percent", "total"), [(0, 10), (101, 10), (50, 0)])
def test_impossible_fractions_are_refused(percent, total) -> None:
    with pytest.raises(ValueError, match=f"{percent} % of {total}"):
        records_of(percent, total)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_fractions_of_a_seed_are_nested(seed) -> None:
    ids = [f"r-{number}" for number in range(37)]
    parts = [list(draw(ids, percent, seed)) for percent in (1, 10, 33, 67, 100)]
    for small, large in itertools.pairwise(parts):
        assert large[: len(small)] == small
        assert len(small) < len(large)
    assert sorted(parts[-1]) == list(range(37))


def test_seed_1_keeps_the_order_of_the_training_part_and_others_draw_their_own() -> None:
    ids = [f"r-{number}" for number in range(2000)]
    one, two, three = (set(draw(ids, 25, seed)) for seed in (1, 2, 3))
    assert one == set(range(500))
    for first, second in itertools.combinations((one, two, three), 2):
        # shared by chance: hypergeometric with mean 125 and standard deviation 8.4
        assert 90 < len(first & second) < 160


def test_who_is_drawn_depends_on_ids_and_not_on_their_order() -> None:
    ids = [f"r-{number}" for number in range(50)]
    back = ids[::-1]
    assert [ids[place] for place in draw(ids, 20, 7)] == [back[place] for place in draw(back, 20, 7)]


def test_a_finished_fraction_says_which_records_it_counted(tmp_path) -> None:
    records = [Record(f"r-{number}", [f"word-{number}"], ["t"]) for number in range(9)]
    write_jsonl(tmp_path / "train.jsonl", (record.as_dict() for record in records))
    train = Corpus(tmp_path).part("train")
    write_fraction(train, 5, tmp_path, 34)
    drawn = train[drawn_positions(tmp_path, train.ids, 5)]
    assert {word for word, _ in read_words(tmp_path)} == {word for record in drawn for word in record.source} | {"t"}
    assert len(drawn) == 3


@pytest.mark.parametrize(("percent", "count"), [(33, 1), (67, 2), (100, 3)])
def test_words_and_statistics_count_the_fraction_and_nothing_else(tmp_path, percent, count) -> None:
    write_jsonl(tmp_path / "train.jsonl", (record.as_dict() for record in RECORDS))
    train = Corpus(tmp_path).part("train")
    statistics = write_fraction(train, 1, tmp_path, percent)

    sources = [" ".join(record.source).split() for record in RECORDS[:count]]
    targets = [" ".join(record.target).split() for record in RECORDS[:count]]
    expected = Counter(word for text in sources + targets for word in text)
    words = list(read_words(tmp_path))
    assert dict(words) == expected
    assert words == sorted(words, key=lambda row: (-row[1], row[0]))
    assert statistics["records"] == count
    assert statistics["vocabulary"] == len(expected)
    assert statistics["mean_source_tokens"] == pytest.approx(sum(map(len, sources)) / count, abs=0.005)
    assert statistics["mean_target_tokens"] == pytest.approx(sum(map(len, targets)) / count, abs=0.005)
    assert (statistics["percent"], statistics["of_records"]) == (percent, 3)


def test_words_of_sources_and_targets_are_counted_apart(tmp_path) -> None:
    write_jsonl(tmp_path / "train.jsonl", [Record("a", ["x x y"], ["y z"]).as_dict()])
    write_fraction(Corpus(tmp_path).part("train"), 1, tmp_path, 100)
    assert (tmp_path / "words.tsv").read_text() == "x\t2\t0\ny\t1\t1\nz\t0\t1\n"


def test_a_broken_word_list_is_named_with_its_line(tmp_path) -> None:
    (tmp_path / "words.tsv").write_text("a\t2\t1\nb\t1\n")
    with pytest.raises(CorpusError, match=r"words\.tsv:2"):
        list(read_words(tmp_path))


def test_an_empty_training_part_is_refused(tmp_path) -> None:
    (tmp_path / "train.jsonl").write_text("")
    with pytest.raises(CorpusError, match="no record"):
        write_fraction(Corpus(tmp_path).part("train"), 1, tmp_path, 50)

from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.corpora.store import Corpus, take
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import Record, RecordError, Text, write_jsonl

RECORDS = [Record(f"r{n}", [f"otter {n} ."], [f"o {n}"], group=f"g{n % 2}") for n in range(6)]
TEXTS = [Text(f"r{n}", [f"Otter {n}."], [f"O {n}"]) for n in range(6)]


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    for name in ("train", "valid", "test"):
        write_jsonl(tmp_path / f"{name}.jsonl", (record.as_dict() for record in RECORDS))
        write_jsonl(tmp_path / f"{name}.text.jsonl", (text.as_dict() for text in TEXTS))
    return Corpus(tmp_path)


def test_a_part_gives_its_records_its_text_and_its_ids_in_one_order(corpus) -> None:
    part = corpus.part("valid")
    assert list(part) == RECORDS
    assert list(part) == RECORDS  # a second time, too
    assert list(part.text) == TEXTS
    assert part.ids == [record.id for record in RECORDS]
    assert list(part.with_text) == list(zip(RECORDS, TEXTS, strict=True))
    assert len(part) == 6


def test_records_are_given_in_the_order_asked_for(corpus) -> None:
    train = corpus.part("train")
    assert train[[4, 0, 2]] == [RECORDS[4], RECORDS[0], RECORDS[2]]
    assert train[range(3)] == RECORDS[:3]
    assert train[[]] == []
    with pytest.raises(CorpusError, match=r"train\.jsonl has fewer than 9 records"):
        train[[0, 8]]


def test_nothing_behind_the_last_record_asked_for_is_read(corpus) -> None:
    with corpus.part("train").path.open("a") as stream:
        stream.write("not a record\n")
    assert corpus.part("train")[[5]] == [RECORDS[5]]
    assert [*islice(corpus.part("train"), 6)] == RECORDS
    with pytest.raises(RecordError, match=r"train\.jsonl:7: not a prepared record"):
        corpus.part("train")[[6]]


def test_a_part_that_no_corpus_has_is_named(corpus) -> None:
    with pytest.raises(CorpusError, match="no part 'dev'; parts are train, valid, test"):
        corpus.part("dev")


@given(st.lists(st.integers(0, 30), unique=True, min_size=1))
def test_take_gives_rows_in_the_order_asked_for_and_reads_no_further(places) -> None:
    rows = iter(range(100, 131))
    assert take(rows, places) == [100 + place for place in places]
    assert next(rows, 131) == 100 + max(places) + 1

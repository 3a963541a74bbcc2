"""Sizes in records: the draws of percents, cut at a number."""

import json

import pytest

from sumcurve.corpora.fraction import draw, draw_records, drawn_positions, records_of, write_fraction
from sumcurve.corpora.store import Corpus
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import Record, write_jsonl


@pytest.fixture
def train(tmp_path):
    part = Corpus(tmp_path / "corpus").part("train")
    part.folder.mkdir()
    rows = [Record(f"r{n}", [f"word{n % 7} and w{n}"], [f"short {n % 3}"]) for n in range(40)]
    write_jsonl(part.path, (row.as_dict() for row in rows))
    return part


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("percent", [10, 25, 100])
def test_a_number_of_records_and_its_percent_are_the_same_folder(train, tmp_path, seed, percent) -> None:
    records = records_of(percent, 40)
    assert list(draw_records(train.ids, records, seed)) == list(draw(train.ids, percent, seed))
    folders = [tmp_path / name for name in ("percent", "records")]
    for folder in folders:
        folder.mkdir()
    told = write_fraction(train, seed, folders[0], percent)
    assert write_fraction(train, seed, folders[1], records=records) == {k: v for k, v in told.items() if k != "percent"}
    assert (folders[0] / "words.tsv").read_bytes() == (folders[1] / "words.tsv").read_bytes()
    found = [list(drawn_positions(folder, train.ids, seed)) for folder in folders]
    assert found[0] == found[1]
    assert json.loads((folders[1] / "statistics.json").read_text())["of_records"] == 40


def test_more_records_than_there_are_is_an_error_that_names_both(train, tmp_path) -> None:
    with pytest.raises(CorpusError, match=r"train\.jsonl holds 40 records, the study asks for 41"):
        write_fraction(train, 1, tmp_path, records=41)

"""arXiv and PubMed as Cohan et al. published them; every file here is written by `papers`, with invented texts."""

from collections import Counter
from pathlib import Path

import pytest

from published_formats import line, scientific, write_scientific, write_zip
from sumcurve.sources import SOURCES, raw
from sumcurve.sources.content import Content
from sumcurve.sources.raw import Dropped, RawRecord
from sumcurve.store.errors import CorpusError

ROWS = {
    "train.txt": [scientific(number) for number in range(8)],
    "val.txt": [scientific(number) for number in range(8, 10)],
    "test.txt": [scientific(number) for number in range(10, 13)],
}
PARTS = {"train.txt": "train", "val.txt": "valid", "test.txt": "test"}


def read(path: Path) -> tuple[list[RawRecord], list[Dropped]]:
    rows = list(Content(path, SOURCES["scientific_papers"], ready="records").records())
    return [row for row in rows if isinstance(row, RawRecord)], [row for row in rows if isinstance(row, Dropped)]


def check_all_of(records: list[RawRecord]) -> None:
    """That these are ROWS, sentence for sentence, whatever part came first."""
    expected = {row["article_id"]: (row, PARTS[name]) for name, rows in ROWS.items() for row in rows}
    assert len(records) == len(expected)
    for record in records:
        row, part = expected.pop(record.id)
        assert record.source == row["article_text"]
        assert [f"<S> {sentence} </S>" for sentence in record.target] == row["abstract_text"]
        assert record.split == part


@pytest.mark.parametrize("folder", ["arxiv-dataset", "pubmed-dataset", "a/b"])
def test_an_archive_gives_every_paper_with_its_sentences_and_part(tmp_path, folder) -> None:
    records, dropped = read(write_scientific(tmp_path / "some.zip", ROWS, folder))
    assert dropped == []
    check_all_of(records)
    assert str(records[8].place) == f"line 1 of {folder}/val.txt"


def test_the_unpacked_files_of_a_folder_are_the_same_papers_and_a_file_of_no_part_is_an_error(tmp_path) -> None:
    for name, rows in ROWS.items():
        (tmp_path / name).write_bytes(b"\n".join(map(line, rows)))
    (tmp_path / "vocab").write_text("the 12\n")
    records, dropped = read(tmp_path)
    assert dropped == []
    check_all_of(records)
    (tmp_path / "sample.txt").write_bytes(line(scientific(1)))
    with pytest.raises(CorpusError, match=r"sample\.txt is none of train\.txt, val\.txt, test\.txt"):
        read(tmp_path)


@pytest.mark.parametrize("marked", ["<S> one two . </S>", "<S>one two .</S>", "one two .", " <s> one two . </s> \n"])
def test_marks_of_sentences_are_taken_off(tmp_path, marked) -> None:
    row = scientific(20, abstract_text=[marked, "<S> a < b </S>", "<S> </S>", ""], article_text=["", "one .", " "])
    records, _ = read(write_scientific(tmp_path / "a.zip", ROWS | {"test.txt": [row]}))
    assert records[-1].target == ["one two .", "a < b"]
    assert records[-1].source == ["one ."]


def test_every_line_is_a_paper_or_is_counted_by_its_reason_in_its_part(tmp_path) -> None:
    whole = scientific(20)
    bad = {
        line(scientific(22, article_text=["", " "])): raw.EMPTY_SOURCE,
        line(scientific(23, abstract_text=["<S>  </S>"])): raw.EMPTY_TARGET,
        line(scientific(24, article_text=5)): raw.WRONG_TYPE,
        line(scientific(25, abstract_text=[1])): raw.WRONG_TYPE,
        line({key: value for key, value in whole.items() if key != "abstract_text"}): raw.MISSING_KEY,
        line(whole)[:99]: raw.NOT_JSON,
    }
    records, dropped = read(write_scientific(tmp_path / "a.zip", ROWS | {"val.txt": [*ROWS["val.txt"], *bad]}))
    check_all_of(records)
    assert Counter(one.reason for one in dropped) == Counter(bad.values())
    assert {(one.place.file, one.split) for one in dropped} == {("arxiv-dataset/val.txt", "valid")}
    (tmp_path / "val.txt").write_bytes(b"\n".join(bad))
    assert {one.split for one in read(tmp_path / "val.txt")[1]} == {"valid"}


@pytest.mark.parametrize("names", [["train.txt", "val.txt"], ["train.txt"], []])
def test_an_archive_without_a_part_is_an_error(tmp_path, names) -> None:
    with pytest.raises(CorpusError, match=r"where train\.txt, val\.txt, test\.txt belong"):
        read(write_scientific(tmp_path / "a.zip", {name: ROWS[name] for name in names}))
    members = {f"{folder}/{name}": b"{}" for folder in ("arxiv", "pubmed") for name in ROWS}  # every part twice
    with pytest.raises(CorpusError, match="is it the archive that the study names"):
        read(write_zip(tmp_path / "a.zip", members))

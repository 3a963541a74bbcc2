import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sumcurve.sources import SOURCES, raw
from sumcurve.sources import gigaword as source
from sumcurve.sources.content import Content
from sumcurve.sources.raw import Dropped, RawRecord
from sumcurve.store.errors import CorpusError
from titles import gigaword, org_data, sumdata, write_lines

READY = {"train": "train/train.*", "valid": "train/valid.*", "test": "Giga/*"}


def records(path: Path, ready: Any = "records") -> list[RawRecord | Dropped]:
    return list(Content(path, SOURCES["gigaword"], ready=ready).records())


def told(found: list[RawRecord | Dropped]) -> set[tuple[Any, ...]]:
    assert all(isinstance(row, RawRecord) for row in found)
    return {(row.split, *row.source, *row.target) for row in found if isinstance(row, RawRecord)}


def test_line_n_of_one_file_titles_line_n_of_the_other(tmp_path: Path) -> None:
    files = gigaword((150, 40, 30))
    found = records(org_data(tmp_path / "org_data.zip", files))
    assert Counter(row.split for row in found) == {"train": 150, "valid": 40, "test": 30}
    for row in found:
        assert isinstance(row, RawRecord)
        part, number = row.id.split(":")
        assert row.source == [files[f"{part}.src.txt"][int(number) - 1]]
        assert row.target == [files[f"{part}.tgt.txt"][int(number) - 1]]
    assert str(found[-1].place) == "line 30 of org_data/test.src.txt"


@pytest.mark.parametrize("filtered", [True, False])
def test_both_publications_and_unpacked_files_give_the_same_pairs(tmp_path: Path, filtered: bool) -> None:
    files = gigaword()
    zipped = told(records(org_data(tmp_path / "org_data.zip", files)))
    for name, lines in files.items():
        write_lines(tmp_path / "org_data" / name, lines)
    assert told(records(tmp_path / "org_data")) == zipped
    sumdata(tmp_path / "sumdata", files, filtered)
    assert told(records(tmp_path / "sumdata", READY)) == zipped
    assert len(zipped) == 220


def test_duc_has_four_references_and_is_the_test_part_of_who_names_it(tmp_path: Path) -> None:
    sumdata(tmp_path, gigaword())
    found = records(tmp_path, {**READY, "test": "DUC2004/*"})
    test = [row for row in found if isinstance(row, RawRecord) and row.split == "test"]
    assert len(test) == 7
    lines = [(tmp_path / f"DUC2004/task1_ref{n}.txt").read_text().splitlines() for n in range(4)]
    for row, *titles in zip(test, *lines, strict=True):
        assert [row.target, *row.references] == [[title] for title in titles]
    both = records(tmp_path)  # every file: what is of DUC is of no part
    assert Counter(row.reason for row in both if isinstance(row, Dropped)) == {raw.NO_SPLIT: 9 + 7}


@pytest.mark.parametrize("end", ["\r\n", "\n"])
@pytest.mark.parametrize("inside", ["a\rb", "a\x0cb", "a\u2028b", "a\x85b", "a\x1cb"])
def test_only_a_line_feed_ends_a_line(tmp_path: Path, end: str, inside: str) -> None:
    files = gigaword((5, 5, 5))
    files["train.src.txt"][2] = inside
    found = records(org_data(tmp_path / "org_data.zip", files, end))
    assert len(found) == 15
    row = found[2]
    assert isinstance(row, RawRecord)
    assert (row.source, row.target) == ([inside], [files["train.tgt.txt"][2]])


def test_mixed_line_ends_and_no_last_one_change_nothing(tmp_path: Path) -> None:
    files = gigaword((5, 5, 5))
    expected = told(records(org_data(tmp_path / "org_data.zip", files)))
    for name, lines in files.items():
        ends = ["\r\n", "\n", "\r\n", "\n", ""]
        path = tmp_path / "org_data" / name
        write_lines(path, [])
        path.write_text("".join(map(str.__add__, lines, ends)), newline="")
    assert told(records(tmp_path / "org_data")) == expected


@pytest.mark.parametrize("name", ["train.src.txt", "train.tgt.txt", "test.src.txt", "dev.tgt.txt"])
@pytest.mark.parametrize("zipped", [True, False])
def test_files_of_unequal_length_are_refused_with_the_line(tmp_path: Path, name: str, zipped: bool) -> None:
    files = gigaword((5, 5, 5))
    del files[name][2]
    path = tmp_path / "org_data"
    if zipped:
        path = org_data(tmp_path / "org_data.zip", files)
    else:
        for one, lines in files.items():
            write_lines(path / one, lines)
    with pytest.raises(CorpusError, match=rf"{name} ends behind line 4, and .* goes on"):
        records(path)


@pytest.mark.parametrize(
    ("name", "line", "reason"),
    [
        ("train.src.txt", b"", raw.EMPTY_SOURCE),
        ("train.tgt.txt", b"   ", raw.EMPTY_TARGET),
        ("train.src.txt", b"an otter\x00swims", raw.NUL),
        ("train.tgt.txt", b"an otter \xff swims", raw.NOT_UTF8),
    ],
)
def test_a_bad_line_is_dropped_with_its_pair_and_the_next_ones_stay_in_step(
    tmp_path: Path, name: str, line: bytes, reason: str
) -> None:
    files = gigaword((5, 5, 5))
    path = tmp_path / "org_data.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for one, lines in files.items():
            data = [text.encode() for text in lines]
            if one == name:
                data[2] = line
            archive.writestr(f"org_data/{one}", b"".join(text + b"\n" for text in data))
    found = records(path)
    assert [row.reason if isinstance(row, Dropped) else None for row in found] == [*[None] * 2, reason, *[None] * 12]
    assert (str(found[2].place), found[2].split) == ("line 3 of org_data/train.src.txt", "train")
    fourth = found[3]
    assert isinstance(fourth, RawRecord)
    assert (fourth.source, fourth.target) == ([files["train.src.txt"][3]], [files["train.tgt.txt"][3]])


def remove(folder: Path) -> None:
    (folder / "org_data/train.tgt.txt").unlink()


def remove_source(folder: Path) -> None:
    (folder / "org_data/train.src.txt").unlink()


@pytest.mark.parametrize(("change", "missing"), [(remove, "train.tgt.txt"), (remove_source, "train.src.txt")])
def test_a_file_without_its_other_one_is_refused(tmp_path: Path, change: Callable[[Path], None], missing: str) -> None:
    for name, lines in gigaword((5, 5, 5)).items():
        write_lines(tmp_path / "org_data" / name, lines)
    change(tmp_path)
    with pytest.raises(CorpusError, match=f"needs {missing} beside it"):
        records(tmp_path / "org_data")


def test_an_archive_without_a_part_is_refused_with_what_it_has(tmp_path: Path) -> None:
    files = gigaword((5, 5, 5))
    del files["dev.tgt.txt"]
    with pytest.raises(CorpusError, match=r"has no dev\.tgt\.txt, but dev\.src\.txt, test\.src\.txt"):
        records(org_data(tmp_path / "org_data.zip", files))


@pytest.mark.parametrize("name", ["train.src.txt", "test.tgt.txt"])
def test_an_archive_with_a_file_in_two_folders_is_refused_with_both(tmp_path: Path, name: str) -> None:
    path = org_data(tmp_path / "org_data.zip", gigaword((5, 5, 5)))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("readme.txt", "")
        archive.writestr("old/readme.txt", "")
        archive.writestr("__MACOSX/org_data/" + name, "")
    assert len(told(records(path))) == 15
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(f"old/{name}", "another line\n" * 5)
    with pytest.raises(CorpusError, match=rf"has both org_data/{name} and old/{name}: make it anew with one"):
        records(path)


def test_filtered_and_unfiltered_files_of_one_part_are_refused(tmp_path: Path) -> None:
    sumdata(tmp_path, gigaword(), filtered=True)
    sumdata(tmp_path, gigaword(), filtered=False)
    with pytest.raises(CorpusError, match=r"valid\.article\.txt are both there"):
        records(tmp_path, READY)


@pytest.mark.parametrize(
    ("part", "pattern"),
    [("train", "train/train.article*"), ("test", "Giga/input.txt"), ("test", "DUC2004/*[t0-2].txt")],
)
def test_titles_that_no_pattern_names_are_refused(tmp_path: Path, part: str, pattern: str) -> None:
    """Nothing would say that they are others: the content's sha256 is that of the files that patterns name."""
    sumdata(tmp_path, gigaword())
    with pytest.raises(CorpusError, match=r"is read with .*(title|task1).*pattern of split\.ready that names .* both"):
        records(tmp_path, {**READY, part: pattern})


def test_a_file_without_its_folder_is_refused_where_titles_lie_beside_it(tmp_path: Path) -> None:
    for name, lines in gigaword((5, 5, 5)).items():
        write_lines(tmp_path / name, lines)
    with pytest.raises(CorpusError, match=r"train\.src\.txt is read with train\.tgt\.txt.*folder of both"):
        records(tmp_path / "train.src.txt")


@pytest.mark.parametrize("share", [0.3, 0.7, 0.99])
def test_a_truncated_archive_is_refused(tmp_path: Path, share: float) -> None:
    path = org_data(tmp_path / "org_data.zip", gigaword())
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(CorpusError, match=r"org_data\.zip is no zip archive, or truncated"):
        records(path)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    for name, lines in gigaword((5, 5, 5)).items():
        write_lines(tmp_path / name, [] if name == "train.tgt.txt" else lines)
    with pytest.raises(CorpusError, match=r"train\.tgt\.txt is empty"):
        records(tmp_path)


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("lines", [40, 41])
def test_a_validation_part_that_is_passed_off_as_training_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: int, zipped: bool
) -> None:
    assert source.VALIDATION_LINES == 189_651
    monkeypatch.setattr(source, "VALIDATION_LINES", 40)
    files = gigaword((lines, 40, 3))
    path = tmp_path / "org_data"
    if zipped:
        path = org_data(tmp_path / "org_data.zip", files)
    else:
        for name, texts in files.items():
            write_lines(path / name, texts)
    if lines == 40:
        with pytest.raises(CorpusError, match=r"189,651 training pairs.*version 1\.0\.0"):
            records(path)
    else:
        assert len(told(records(path))) == 84

import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from sumcurve.sources import SOURCES, raw
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


def test_line_n_of_one_file_titles_line_n_of_the_other(tmp_path) -> None:
    files = gigaword((150, 40, 30))
    found = records(org_data(tmp_path / "org_data.zip", files))
    assert Counter(row.split for row in found) == {"train": 150, "valid": 40, "test": 30}
    for row in found:
        part, number = row.id.split(":")
        assert row.source == [files[f"{part}.src.txt"][int(number) - 1]]
        assert row.target == [files[f"{part}.tgt.txt"][int(number) - 1]]
    assert str(found[-1].place) == "line 30 of org_data/test.src.txt"


def laid(folder: Path, files: Mapping[str, Sequence[str]], zipped: bool = False) -> Path:
    """The files of org_data, unpacked or in their archive."""
    if zipped:
        return org_data(folder / "org_data.zip", files)
    for name, lines in files.items():
        write_lines(folder / "org_data" / name, lines)
    return folder / "org_data"


@pytest.mark.parametrize("filtered", [True, False])
def test_both_publications_and_unpacked_files_give_the_same_pairs(tmp_path, filtered) -> None:
    files = gigaword()
    zipped = told(records(laid(tmp_path, files, zipped=True)))
    assert told(records(laid(tmp_path, files))) == zipped
    sumdata(tmp_path / "sumdata", files, filtered)
    assert told(records(tmp_path / "sumdata", READY)) == zipped
    assert len(zipped) == 220


def test_duc_has_four_references_and_is_the_test_part_of_who_names_it(tmp_path) -> None:
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
def test_only_a_line_feed_ends_a_line(tmp_path, end, inside) -> None:
    files = gigaword((5, 5, 5))
    files["train.src.txt"][2] = inside
    found = records(org_data(tmp_path / "org_data.zip", files, end))
    assert len(found) == 15
    row = found[2]
    assert (row.source, row.target) == ([inside], [files["train.tgt.txt"][2]])


def without(*names: str, zipped: bool = False) -> Callable[[Path], Path]:
    return lambda folder: laid(folder, {n: of for n, of in gigaword((5, 5, 5)).items() if n not in names}, zipped)


def of_sumdata(folder: Path, filtered: tuple[bool, ...] = (True,)) -> Path:
    for one in filtered:
        sumdata(folder, gigaword(), one)
    return folder


REFUSED: list[tuple[Callable[[Path], Path], Any, str]] = [
    (without("train.tgt.txt"), "records", r"train\.src\.txt has no other file beside it"),
    (without("train.src.txt"), "records", r"train\.tgt\.txt has no other file beside it"),
    (lambda at: laid(at, gigaword((5, 5, 5)) | {"train.tgt.txt": []}), "records", r"train\.tgt\.txt is empty"),
    (lambda at: without()(at) / "train.src.txt", "records", r"src\.txt is read with train\.tgt\.txt.*folder of both"),
    (
        without("dev.tgt.txt", zipped=True),
        "records",
        r"has [^ ]*train\.src\.txt, .* where train\.src\.txt, .*dev\.tgt\.txt.* belong",
    ),
    (lambda at: of_sumdata(at, (True, False)), READY, r"valid\.article\.txt are both there"),
    # Nothing would say that titles are others: the content's sha256 is that of the files that patterns name.
    *(
        (of_sumdata, READY | part, r"is read with .*(title|task1).*pattern of split\.ready that names .* both")
        for part in ({"train": "train/train.article*"}, {"test": "Giga/input.txt"}, {"test": "DUC2004/*[t0-2].txt"})
    ),
]


@pytest.mark.parametrize(("write", "ready", "message"), REFUSED)
def test_files_that_are_no_pairs_are_refused(tmp_path, write, ready, message) -> None:
    with pytest.raises(CorpusError, match=message):
        records(write(tmp_path), ready)


@pytest.mark.parametrize("name", ["train.src.txt", "train.tgt.txt", "test.src.txt", "dev.tgt.txt"])
@pytest.mark.parametrize("zipped", [True, False])
def test_files_of_unequal_length_are_refused_with_the_line(tmp_path, name, zipped) -> None:
    files = gigaword((5, 5, 5))
    del files[name][2]
    with pytest.raises(CorpusError, match=rf"{name} ends behind line 4, and .* goes on"):
        records(laid(tmp_path, files, zipped))


@pytest.mark.parametrize(
    ("name", "line", "reason"),
    [
        ("train.src.txt", b"", raw.EMPTY_SOURCE),
        ("train.tgt.txt", b"   ", raw.EMPTY_TARGET),
        ("train.src.txt", b"an otter\x00swims", raw.NUL),
        ("train.tgt.txt", b"an otter \xff swims", raw.NOT_UTF8),
    ],
)
def test_a_bad_line_is_dropped_with_its_pair_and_the_next_ones_stay_in_step(tmp_path, name, line, reason) -> None:
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
    assert (fourth.source, fourth.target) == ([files["train.src.txt"][3]], [files["train.tgt.txt"][3]])


@pytest.mark.parametrize("name", ["train.src.txt", "test.tgt.txt"])
def test_an_archive_with_a_file_in_two_folders_is_refused_with_both(tmp_path, name) -> None:
    path = org_data(tmp_path / "org_data.zip", gigaword((5, 5, 5)))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("readme.txt", "")
        archive.writestr("old/readme.txt", "")
        archive.writestr("__MACOSX/org_data/" + name, "")
    assert len(told(records(path))) == 15
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(f"old/{name}", "another line\n" * 5)
    with pytest.raises(CorpusError, match=rf"org_data/{name}, .*old/{name} where .* belong, each once"):
        records(path)

"""TAC 2011's judgements; every file here is written by `published_formats`, with invented texts and scores."""

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from published_formats import tac
from sumcurve.capabilities.people.aesop import read
from sumcurve.store.errors import CorpusError

TOP = "GuidedSumm2011_eval"
GOOD = "D1101-A 1 0.5 7 2 E 4 0.4 3 5"


def pack(path: Path, files: Mapping[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as made:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            made.addfile(info, io.BytesIO(data))
    return path


def test_the_archive_and_its_folder_give_the_scores_of_every_system(tmp_path) -> None:
    files = tac(topics=3, people="ABCD", systems=5)
    found = read(pack(tmp_path / f"{TOP}.tgz", files))
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    assert found == read(tmp_path / TOP)
    assert [len(of) for of in found.values()] == [3 * 2 * 5] * 2  # of people's summaries none


def test_columns_are_those_of_the_tables(tmp_path) -> None:
    peer = b"D1101-A  1  1.042 7 2 E 4 0.951 3 5\n\n \x0c \r\nD1101-A 2 0.7 7 2 E 4 0.6 4 1"
    found = read(pack(tmp_path / "a.tgz", {f"{TOP}/manual/manual.peer.A": peer}))
    assert found == {
        "pyramid": {("1", "D1101-A"): 1.042, ("2", "D1101-A"): 0.7},
        "responsiveness": {("1", "D1101-A"): 5.0, ("2", "D1101-A"): 1.0},
    }


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("D1101-A 1 0.5 7 2 E 0.4 3 5", r"manual\.peer\.A:1: .* is no row as"),
        (f"{GOOD}\nD1101-A 2 0.5 7 2 E 4 0.4 6 5", r"manual\.peer\.A:2: .* is no row as"),
        ("D1101-A 1 0.5 7 2 E 4 0.4 3 4.5", "is no row as"),
        ("D1101-A 1 - 7 2 E 4 0.4 3 5", "is no row as"),
        ("D1101-B 1 0.5 7 2 E 4 0.4 3 5", "is no row as 'D1103-A"),
        ("D1101-A B 0.5 7 2 E 4 0.4 3 5", "is no row as"),
        (f"{GOOD}\n{GOOD}", r"manual\.peer\.A:2: .* or a second one of a summary"),
        ("", "holds no judgement"),
    ],
)
def test_rows_of_another_form_are_refused_by_their_line(tmp_path, row, message) -> None:
    with pytest.raises(CorpusError, match=message):
        read(pack(tmp_path / "a.tgz", {f"{TOP}/manual/manual.peer.A": row.encode()}))

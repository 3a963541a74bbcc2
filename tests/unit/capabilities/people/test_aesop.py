"""TAC 2011's evaluation; every file here is written by `papers`, with invented texts and scores."""

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from published_formats import tac
from sumcurve.capabilities.people.aesop import Judgement, Name, read
from sumcurve.store.errors import CorpusError

TOP = "GuidedSumm2011_eval"


def pack(path: Path, files: Mapping[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as made:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            made.addfile(info, io.BytesIO(data))
    return path


def test_a_name_says_topic_set_type_length_assessor_and_author() -> None:
    assert Name.parsed("D1103-A.M.100.A.51") == Name("D1103", "A", "M", 100, "A", "51")
    assert [Name.parsed(f"D1103-B.M.100.A.{author}").human for author in ("H", "1")] == [True, False]


@pytest.mark.parametrize("name", ["D1103.M.100.A.1", "D1103-C.M.100.A.1", "D1103-A.M.100.A", "D1103-A.M.100.A.1.txt"])
def test_another_name_is_an_error(name) -> None:
    with pytest.raises(CorpusError, match="is no name of a summary as D1103-A"):
        Name.parsed(name)


def test_the_archive_and_its_folder_give_every_summary_with_what_was_said_of_it(tmp_path) -> None:
    files = tac(topics=3, people="ABCD", systems=5)
    found = read(pack(tmp_path / f"{TOP}.tgz", files))
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    assert found == read(tmp_path / TOP)
    assert len(found) == 3 * 2 * (4 + 5)
    assert len({one.name.key for one in found}) == len(found)
    assert sum(one.name.human for one in found) == 3 * 2 * 4
    for one in found:
        folder = "models" if one.name.human else "peers"
        file = f"{TOP}/ROUGE/{folder}/{one.name.topic}-{one.name.set}.M.100.E.{one.name.author}"
        assert one.sentences == files[file].decode().splitlines()
        assert one.judgement is not None
        assert (one.judgement.pyramid is None) == one.name.human


def with_tables(files: dict[str, bytes], peer: str, model: str = "") -> dict[str, bytes]:
    """The files with these two tables of set A alone."""
    kept = {name: data for name, data in files.items() if "manual." not in name}
    return kept | {f"{TOP}/manual/manual.peer.A": peer.encode(), f"{TOP}/manual/manual.model.A": model.encode()}


def test_columns_are_those_of_the_tables(tmp_path) -> None:
    peer, model = "D1101-A  1  1.042 7 2 E 4 0.951 3 5\n\n", "D1101-A B 9 E 4 0.812 5 4\r\n"
    found = read(pack(tmp_path / "a.tgz", with_tables(tac(), peer, model)))
    judged = {one.name.key: one.judgement for one in found if one.judgement}
    assert judged == {
        ("D1101", "A", "1"): Judgement(1.042, 0.951, readability=3, responsiveness=5),
        ("D1101", "A", "B"): Judgement(None, 0.812, readability=5, responsiveness=4),
    }
    assert len(found) == 2 * 2 * 7  # those of which nothing was said are there, too


GOOD = "D1101-A 1 0.5 7 2 E 4 0.4 3 5"
REFUSED: list[tuple[dict[str, bytes] | str, str]] = [  # files beside the good ones, or the table of peers
    ("D1101-A 1 0.5 7 2 E 0.4 3 5", r"manual\.peer\.A:1: 9 columns, not 10"),
    (f"{GOOD}\nD1101-A 2 0.5 7 2 E 4 0.4 6 5", r"manual\.peer\.A:2: '6' is no grade from 1 to 5"),
    ("D1101-A 1 0.5 7 2 E 4 0.4 3 4.5", r"'4\.5' is no grade"),
    ("D1101-A 1 - 7 2 E 4 0.4 3 5", r"'-' is no Pyramid score"),
    ("D1101-B 1 0.5 7 2 E 4 0.4 3 5", r"D1101-B 1 is no summary of manual\.peer\.A"),
    ("D1101-A B 0.5 7 2 E 4 0.4 3 5", r"D1101-A B is no summary of manual\.peer\.A"),
    (f"{GOOD}\n{GOOD}", r"manual\.peer\.A:2: judged before, at .*manual\.peer\.A:1"),
    ("D1101-A 77 0.5 7 2 E 4 0.4 3 5", "a judgement of D1101 A 77, of which there is no summary"),
    ({f"{TOP}/ROUGE/peers/D1101-A.M.100.E.1": b" \n"}, "has no sentence"),
    ({f"{TOP}/ROUGE/peers/D1101-A.M.100.E.G": b"One .\n"}, "lies in peers, but its author is G"),
    ({f"{TOP}/ROUGE/peers/D1101-A.M.100.F.1": b"One .\n"}, "a second summary of D1101 A 1"),
    ({f"{TOP}/ROUGE/peers/notes": b"One .\n"}, "'notes' is no name of a summary"),
    ({f"{TOP}/../escape": b"x"}, "outside of its folder"),
    ({}, "holds no ROUGE/models/ or ROUGE/peers/"),
]


@pytest.mark.parametrize(("harm", "message"), REFUSED)
def test_files_of_another_form_are_refused(tmp_path, harm, message) -> None:
    files = with_tables(tac(), harm) if isinstance(harm, str) else tac() | harm if harm else {"notes.txt": b"x"}
    with pytest.raises(CorpusError, match=message):
        read(pack(tmp_path / "a.tgz", files))


def test_only_ends_of_lines_part_sentences_and_rows(tmp_path) -> None:
    """Not every sign that `str.splitlines` takes for one; a row of a table that is wrong is named by its line."""
    files = tac(topics=1)
    name = f"{TOP}/ROUGE/peers/D1101-A.M.100.E.1"
    inside = ["An\x0b“otter”", "swims\x0c.", "It\x1cdives", "and\u2028eats", "a\x85fish"]
    files[name] = " ".join(inside).encode() + b"\r\nIt rests.\rIt sleeps.\n"
    files[name[:-1] + "2"] = "It’s “so” .".encode("cp1252")  # quotes of newswire
    found = {one.name.author: one.sentences for one in read(pack(tmp_path / "a.tgz", files)) if one.name.set == "A"}
    assert (found["1"], found["2"]) == ([" ".join(inside), "It rests.", "It sleeps."], ["It’s “so” ."])
    with pytest.raises(CorpusError, match=r"manual\.peer\.A:2: 1 columns"):
        read(pack(tmp_path / "b.tgz", files | {f"{TOP}/manual/manual.peer.A": b" \x0c \nwrong\n"}))

"""CNN/DailyMail as tagged lines; every file here is invented."""

import tarfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from news import Story, invented, tarball
from sumcurve.sources import SOURCES, raw, tagged
from sumcurve.sources.content import Content
from sumcurve.sources.raw import Dropped, RawRecord
from sumcurve.store.errors import CorpusError

STORIES = invented({"train": 5, "valid": 2, "test": 3})
NAMES = {"train": "train", "valid": "val", "test": "test"}


def article(story: Story) -> str:
    return " ".join(story.article).lower().replace(".", " .")


def summary(story: Story, tag: str) -> str:
    return " ".join(f"<{tag}> {one.lower()} . </{tag}>" for one in story.highlights)


def of(part: str) -> list[Story]:
    return [story for story in STORIES if story.part == part]


def opennmt(end: str = "\n") -> dict[str, bytes]:
    files = {}
    for part, name in NAMES.items():
        files[f"{name}.txt.src"] = "".join(article(story) + end for story in of(part)).encode()
        files[f"{name}.txt.tgt.tagged"] = "".join(summary(story, "t") + end for story in of(part)).encode()
    return files


def nats(end: str = "\n") -> dict[str, bytes]:
    return {
        f"{name}.txt": "".join(f"{summary(story, 's')}<sec>{article(story)}{end}" for story in of(part)).encode()
        for part, name in NAMES.items()
    }


def lay(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def read(path: Path, ready: bool = True) -> list[RawRecord | Dropped]:
    return list(Content(path, SOURCES["tagged"], ready="records" if ready else None).records())


def texts(rows: Sequence[RawRecord | Dropped]) -> dict[str, tuple[object, ...]]:
    assert all(isinstance(row, RawRecord) for row in rows), rows
    return {row.id: (row.source, row.target, row.split) for row in rows if isinstance(row, RawRecord)}


def test_every_form_gives_the_same_records(tmp_path: Path) -> None:
    expected = {
        f"{NAMES[part]}-{number}": (article(story), [f"{one.lower()} ." for one in story.highlights], part)
        for part in NAMES
        for number, story in enumerate(of(part), start=1)
    }
    assert texts(read(lay(tmp_path / "opennmt", opennmt()))) == expected
    assert texts(read(lay(tmp_path / "windows", opennmt("\r\n")))) == expected
    assert texts(read(lay(tmp_path / "nats", nats()))) == expected
    assert texts(read(tarball(tmp_path / "cnndm.tar.gz", opennmt()))) == expected
    assert texts(read(tarball(tmp_path / "nats.tgz", nats()))) == expected


def test_a_file_of_both_says_its_part_by_its_name(tmp_path: Path) -> None:
    folder = lay(tmp_path, {"val.txt": nats()["val.txt"], "mine.txt": nats()["val.txt"]})
    assert {split for _, _, split in texts(read(folder / "val.txt")).values()} == {"valid"}
    assert {split for _, _, split in texts(read(folder / "mine.txt", ready=False)).values()} == {None}


@pytest.mark.parametrize(
    ("target", "source", "reason"),
    [
        (b"", b"an otter .", raw.EMPTY_TARGET),
        (b"<t> swims . </t>", b"", raw.EMPTY_SOURCE),
        (b"<t> </t>", b"an otter .", raw.EMPTY_TARGET),
        (b"swims .", b"an otter .", tagged.NOT_TAGGED),
        (b"<t> swims . </t> and", b"an otter .", tagged.NOT_TAGGED),
        (b"<t> swims .", b"an otter .", tagged.NOT_TAGGED),
        (b"<t> swims . </s>", b"an otter .", tagged.NOT_TAGGED),
        (b"<t> swims . </t>", b"an \xff otter .", raw.NOT_UTF8),
        (b"<t> sw\0ims . </t>", b"an otter .", raw.NUL),
        (b"<t> swims . </t>", b"x" * 50_000_000, raw.LONG_LINE),
    ],
)
def test_a_line_that_cannot_be_used_is_dropped_and_its_neighbours_are_paired(
    tmp_path: Path, target: bytes, source: bytes, reason: str
) -> None:
    folder = lay(
        tmp_path,
        {
            "test.txt.src": b"one .\n" + source + b"\nthree .",
            "test.txt.tgt.tagged": b"<t> 1 </t>\n" + target + b"\r\n<t> 3 </t>",
        },
    )
    first, dropped, last = read(folder)
    assert isinstance(dropped, Dropped)
    assert (dropped.reason, dropped.split, str(dropped.place)) == (reason, "test", "line 2 of test.txt.src")
    assert isinstance(first, RawRecord)
    assert isinstance(last, RawRecord)
    assert (first.source, first.target, last.source, last.target) == ("one .", ["1"], "three .", ["3"])


def test_a_line_without_one_section_mark_is_dropped(tmp_path: Path) -> None:
    folder = lay(tmp_path, {"test.txt": b"<s> a </s> b\n<s> a </s><sec>b<sec>c\n<s> a </s><sec>b\n"})
    rows = read(folder)
    assert Counter(row.reason if isinstance(row, Dropped) else None for row in rows) == {tagged.NO_SECTION: 2, None: 1}


def test_files_that_are_no_pair_are_an_error(tmp_path: Path) -> None:
    files = opennmt()
    cut = files["val.txt.src"].splitlines(keepends=True)[0]
    for path in (
        lay(tmp_path / "cut", files | {"val.txt.src": cut}),
        tarball(tmp_path / "c.tgz", files | {"val.txt.src": cut}),
    ):
        with pytest.raises(CorpusError, match=r"val\.txt\.src has 1 lines, val\.txt\.tgt\.tagged has more"):
            read(path)
    for gone in ("val.txt.src", "val.txt.tgt.tagged"):
        left = {name: data for name, data in files.items() if name != gone}
        with pytest.raises(CorpusError, match=rf"is here without {gone}"):
            read(lay(tmp_path / f"no-{gone}", left))
    with pytest.raises(CorpusError, match="holds no file"):
        read(tarball(tmp_path / "e.tgz", {"readme.md": b""}))
    packed = tarball(tmp_path / "t.tgz", files)
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(CorpusError, match=r"t\.tgz: a broken archive"):
        read(packed)


@pytest.mark.parametrize("name", ["val.txt.src", "./val.txt.src", "val.txt.tgt.tagged"])
def test_two_members_of_one_name_are_refused(tmp_path: Path, name: str) -> None:
    second = tarfile.TarInfo(name)
    second.size = 20
    path = tarball(tmp_path / "t.tgz", opennmt(), [second])
    with pytest.raises(CorpusError, match=r"t\.tgz has two members 'val\.txt\.(src|tgt\.tagged)': make it anew"):
        read(path)

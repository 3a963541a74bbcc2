"""CNN/DailyMail as it was published; every file here is written by `news`, with invented texts."""

import gzip
import hashlib
import io
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from news import Story, invented, tarball, write_lists, write_stories
from sumcurve.sources import SOURCES, raw, stories
from sumcurve.sources.content import Content
from sumcurve.sources.raw import Dropped, RawRecord
from sumcurve.store.errors import CorpusError
from sumcurve.store.members import members_in

COUNTS = {"train": 12, "valid": 3, "test": 4}


def read(path: Path, ready: bool = True) -> tuple[list[RawRecord], list[Dropped]]:
    rows = list(Content(path, SOURCES["stories"], ready="records" if ready else None).records())
    return [row for row in rows if isinstance(row, RawRecord)], [row for row in rows if isinstance(row, Dropped)]


def unpack(folder: Path, into: Path) -> None:
    """As `extractall` does, whose `filter` Python 3.11 has from 3.11.4 on, and later ones ask for."""
    for path in folder.glob("*.tgz"):
        with tarfile.open(path) as opened:
            for member in filter(tarfile.TarInfo.isfile, opened):
                (into / member.name).parent.mkdir(parents=True, exist_ok=True)
                (into / member.name).write_bytes(opened.extractfile(member).read())
    for path in folder.glob("*.txt"):
        (into / path.name).write_bytes(path.read_bytes())


def test_archives_with_lists_give_every_story_with_its_part(tmp_path: Path) -> None:
    expected = write_stories(tmp_path, COUNTS)
    records, dropped = read(tmp_path)
    assert dropped == []
    assert str(records[-1].place) == f"story {sum(COUNTS.values())} of dailymail_stories.tgz"
    assert [(record.id, record.source, record.target, record.split) for record in records] == [
        (story.id, "\n\n".join(story.article), story.highlights, story.part) for story in expected
    ]
    assert Counter(record.split for record in records) == {part: 2 * count for part, count in COUNTS.items()}
    assert all(
        record.id == hashlib.sha1(story.url.encode()).hexdigest()
        for record, story in zip(records, expected, strict=True)
    )


def test_unpacked_stories_are_those_of_the_archives(tmp_path: Path) -> None:
    write_stories(tmp_path / "packed", COUNTS)
    unpack(tmp_path / "packed", tmp_path / "unpacked")
    told = {
        folder: sorted(
            (record.id, record.source, tuple(record.target), record.split) for record in read(tmp_path / folder)[0]
        )
        for folder in ("packed", "unpacked")
    }
    assert told["packed"] == told["unpacked"]
    assert len(told["packed"]) == 2 * sum(COUNTS.values())


def test_an_archive_alone_says_no_parts(tmp_path: Path) -> None:
    write_stories(tmp_path, COUNTS)
    records, _ = read(tmp_path / "cnn_stories.tgz", ready=False)
    assert len(records) == sum(COUNTS.values())
    assert {record.split for record in records} == {None}


def one(tmp_path: Path, data: bytes) -> RawRecord | Dropped:
    path = tmp_path / f"{'ab' * 20}.story"
    path.write_bytes(data)
    records, dropped = read(path, ready=False)
    (row,) = records + dropped
    return row


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_ends_of_lines_marks_and_blank_lines_are_no_text(tmp_path: Path, end: str) -> None:
    story = invented({"test": 1})[0]
    row = one(tmp_path, b"\xef\xbb\xbf" + story.text(end).encode() + end.encode() * 3)
    assert isinstance(row, RawRecord)
    assert (row.source, row.target) == ("\n\n".join(story.article), story.highlights)
    mixed = story.text().replace("\n", "\r\n", 3)
    row = one(tmp_path, mixed.encode())
    assert isinstance(row, RawRecord)
    assert row.source == "\n\n".join(story.article)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"@highlight\n\nAn otter swims.\n", raw.EMPTY_SOURCE),  # 114 of the published stories have no article
        (b"An otter swims.\n\n@highlight\n\n", raw.EMPTY_TARGET),
        (b"An otter swims.\n", raw.EMPTY_TARGET),
        (b"", raw.EMPTY_SOURCE),
        (b"An otter \0 swims.\n\n@highlight\n\nSwims.\n", raw.NUL),
        (b"An otter \xff swims.\n\n@highlight\n\nSwims.\n", raw.NOT_UTF8),
        (b"x" * (stories.LARGEST + 1), stories.TOO_LARGE),
    ],
)
def test_a_story_that_cannot_be_used_is_dropped_for_its_reason(tmp_path: Path, data: bytes, reason: str) -> None:
    row = one(tmp_path, data)
    assert isinstance(row, Dropped)
    assert row.reason == reason


def test_lists_and_stories_that_disagree_are_counted(tmp_path: Path) -> None:
    found = invented(COUNTS)
    lost, unlisted, listed = found[0], found[1], [story for story in found if story is not found[1]]
    files = {f"cnn/stories/{story.id}.story": story.text().encode() for story in found if story is not lost}
    broken = next(story for story in found if story.part == "test")
    files[f"cnn/stories/{broken.id}.story"] = b"\xff"
    tarball(tmp_path / "cnn_stories.tgz", files)
    write_lists(tmp_path, listed, end="\r\n")
    records, dropped = read(tmp_path)
    assert len(records) == len(found) - 3
    assert Counter((row.reason, row.split) for row in dropped) == {
        (stories.NOT_LISTED, None): 1,
        (stories.NO_STORY, lost.part): 1,
        (raw.NOT_UTF8, "test"): 1,
    }
    values = {row.reason: row.value for row in dropped}
    assert unlisted.id in values[stories.NOT_LISTED]
    assert lost.id in values[stories.NO_STORY]
    places = {str(row.place) for row in dropped if row.reason != raw.NOT_UTF8}
    assert places == {"story 1 of cnn_stories.tgz", "story 1 of all_train.txt"}


def test_what_is_not_as_published_is_an_error_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = write_stories(tmp_path, COUNTS)
    size = (tmp_path / "cnn_stories.tgz").stat().st_size
    monkeypatch.setattr(stories, "PUBLISHED", {"cnn_stories.tgz": (size, sum(COUNTS.values()))})
    assert len(read(tmp_path)[0]) == len(expected)
    monkeypatch.setattr(stories, "PUBLISHED", {"cnn_stories.tgz": (size, 92_579)})
    with pytest.raises(CorpusError, match=r"cnn_stories\.tgz has the size of .*19 stories instead of 92,579"):
        read(tmp_path)
    monkeypatch.undo()
    (tmp_path / "all_val.txt").rename(tmp_path / "val.txt")
    with pytest.raises(CorpusError, match=r"holds no all_val\.txt: copy all three lists, or none"):
        read(tmp_path)
    (tmp_path / "all_val.txt").write_text(expected[0].url + "\n")
    with pytest.raises(CorpusError, match=r"all_\w+\.txt:1: this url is on the list of \w+, too \(http://cnn\.example"):
        read(tmp_path)


def member(name: str, size: int = 0, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.size, found.type, found.linkname = size, kind, "/etc/passwd"
    return found


@pytest.mark.parametrize(
    "name", ["/etc/x.story", "cnn/../../x.story", "..", "a\\b.story", "c:/x.story", "cnn//x.story"]
)
def test_a_member_that_would_be_unpacked_elsewhere_is_an_error(tmp_path: Path, name: str) -> None:
    path = tarball(tmp_path / "cnn_stories.tgz", {}, [member(name)])
    with pytest.raises(CorpusError, match=r"cnn_stories\.tgz: the member .* outside of its folder"):
        read(path, ready=False)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_a_link_or_device_is_never_read(tmp_path: Path, kind: bytes) -> None:
    story = invented({"test": 1})[0]
    good = {f"cnn/stories/{story.id}.story": story.text().encode()}
    path = tarball(tmp_path / "cnn_stories.tgz", good, [member("cnn/stories/x.story", kind=kind)])
    records, (dropped,) = read(path, ready=False)
    assert [record.id for record in records] == [story.id]
    assert dropped.reason == stories.NOT_REGULAR


def archive(folder: Path) -> bytes:
    found = invented({"train": 40})
    files = {f"cnn/stories/{story.id}.story": story.text().encode() for story in found}
    return tarball(folder / "cnn_stories.tgz", files).read_bytes()


@pytest.mark.parametrize("share", [0.0, 0.2, 0.9, 0.999])
def test_a_truncated_archive_is_an_error(tmp_path: Path, share: float) -> None:
    whole = archive(tmp_path)
    (tmp_path / "cnn_stories.tgz").write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(CorpusError, match=r"cnn_stories\.tgz: a broken archive .*copy it again"):
        read(tmp_path / "cnn_stories.tgz", ready=False)


def test_damage_is_an_error_wherever_it_is(tmp_path: Path) -> None:
    whole = archive(tmp_path)
    plain = gzip.decompress(whole)
    cut = plain.rindex(b"cnn/stories/")  # a header of the last quarter
    for name, data in {
        "no-gzip": plain,
        "changed": whole[: len(whole) // 2] + bytes(20) + whole[len(whole) // 2 + 20 :],
        "checksum": whole[:-8] + bytes(4) + whole[-4:],
        "header": gzip.compress(plain[:cut] + b"X" * 200 + plain[cut + 200 :]),
        "half-a-header": gzip.compress(plain[: cut + 100]),
        "half-a-story": gzip.compress(plain[: cut + 600]),
    }.items():
        path = tmp_path / name / "cnn_stories.tgz"
        path.parent.mkdir()
        path.write_bytes(data)
        with pytest.raises(CorpusError, match=r"cnn_stories\.tgz.*(broken|goes on behind its end).*copy it again"):
            read(path, ready=False)


def test_an_archive_that_unpacks_to_far_more_than_text_is_an_error(tmp_path: Path) -> None:
    said = tarball(tmp_path / "said_stories.tgz", {}, [member("a.story", 300_000_000)])  # zeros: 300 kB packed
    with pytest.raises(CorpusError, match=r"said_stories\.tgz unpacks to .* bytes at least"):
        read(said, ready=False)
    hidden = io.BytesIO()
    with gzip.open(hidden, "wb", compresslevel=1) as packed:
        packed.write(gzip.decompress(archive(tmp_path)))
        for _ in range(400):
            packed.write(bytes(1_000_000))  # behind its end
    (tmp_path / "cnn_stories.tgz").write_bytes(hidden.getvalue())
    with pytest.raises(CorpusError, match=r"cnn_stories\.tgz unpacks to .* bytes at least"):
        read(tmp_path / "cnn_stories.tgz", ready=False)


def test_memory_does_not_grow_with_the_archive(tmp_path: Path) -> None:
    import tracemalloc

    def peak(count: int) -> int:
        files = {
            f"cnn/stories/{number:040x}.story": Story("u", "train", ["Otters swim."] * 9, ["Swim."]).text().encode()
            for number in range(count)
        }
        path = tarball(tmp_path / f"{count}_stories.tgz", files)
        del files
        members = members_in(path, ".story", ())
        next(members)
        tracemalloc.start()
        try:
            assert sum(len(read()) > 0 for _, _, _, read in members) == count - 1
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert (peak(4000) - peak(1000)) / 3000 < 10  # bytes of a story

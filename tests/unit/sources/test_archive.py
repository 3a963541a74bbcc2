"""Zip archives that are what they say, and those that are not."""

import io
import random
import stat
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, cast

import pytest

from sumcurve import sources
from sumcurve.sources import archive
from sumcurve.sources.archive import Archive
from sumcurve.sources.raw import LONG_LINE, Refused
from sumcurve.store.errors import CorpusError

TEXT = b"".join(b"the otter swims for the %dth time\n" % number for number in range(6_000))


def pack(path: Path, files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return path


def announcing(path: Path, size: int, checksum: int | None = None) -> None:
    """Make an archive of one member announce another size, and another checksum, in both of its headers."""
    data = bytearray(path.read_bytes())
    for magic, at in ((b"PK\x03\x04", 14), (b"PK\x01\x02", 16)):
        start = data.index(magic)
        if checksum is not None:
            struct.pack_into("<I", data, start + at, checksum)
        struct.pack_into("<I", data, start + at + 8, size)
    path.write_bytes(data)


def lines(path: Path, member: str) -> list[bytes | Refused]:
    with Archive(path) as opened:
        return list(opened.lines(member))


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_lines_are_those_of_the_unpacked_file_however_it_is_packed(tmp_path: Path, method: int) -> None:
    path = pack(tmp_path / "a.zip", {"deep/er/b.txt": TEXT, "a.txt": b"one\r\ntwo\n\nfour"}, method)
    assert lines(path, "deep/er/b.txt") == TEXT.splitlines()
    assert lines(path, "a.txt") == [b"one", b"two", b"", b"four"]
    with Archive(path) as opened:
        assert opened.size("deep/er/b.txt") == len(TEXT)
        together = list(zip(opened.lines("deep/er/b.txt"), opened.lines("a.txt"), strict=False))  # two at a time
    assert together == list(zip(TEXT.splitlines(), [b"one", b"two", b"", b"four"], strict=False))


def test_members_come_in_the_order_of_the_archive_without_litter(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.mkdir("set")
        for name in ("set/b.txt", "__MACOSX/set/._b.txt", "set/.DS_Store", "set/a.txt", "vocab", "./c.txt"):
            made.writestr(name, b"x")
    with Archive(path) as opened:
        assert opened.members() == ["set/b.txt", "set/a.txt", "vocab", "./c.txt"]
        assert opened.members(lambda name: name.endswith("a.txt")) == ["set/a.txt"]


@pytest.mark.parametrize(
    "name", ["../a.txt", "/etc/a.txt", "a/../../b.txt", "C:/a.txt", "a\\b.txt", "a\nb.txt", "a//b"]
)
def test_a_path_that_leads_outside_is_refused_before_anything_is_read(tmp_path: Path, name: str) -> None:
    path = pack(tmp_path / "a.zip", {"good.txt": b"x", name: b"x"})
    with pytest.raises(CorpusError, match=r"a\.zip: the member .* outside of its folder"):
        Archive(path)


def test_two_members_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("a.txt", b"one")
        with pytest.warns(UserWarning, match="Duplicate name"):
            made.writestr("a.txt", b"two")
    with pytest.raises(CorpusError, match=r"two members 'a\.txt'"):
        Archive(path)


class Stream(io.RawIOBase):
    """A file of which zipfile cannot go back to a header, so that sizes follow behind the data."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("wb")

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self.file.write(data)

    def close(self) -> None:
        self.file.close()
        super().close()


def test_bytes_that_are_no_members_are_accepted_where_none_can_hide(tmp_path: Path) -> None:
    """Sizes behind the data, large fields and ends, a comment, folders, and more members than a short end can say."""
    path = tmp_path / "a.zip"
    with Stream(path) as stream, zipfile.ZipFile(cast(IO[bytes], stream), "w", zipfile.ZIP_DEFLATED) as made:
        made.comment = b"made " * 99
        made.mkdir("deep")
        with made.open("deep/a.txt", "w", force_zip64=True) as member:
            member.write(TEXT)
        made.writestr("b.txt", b"x")
    assert b"PK\x07\x08" in path.read_bytes()
    assert lines(path, "deep/a.txt") == TEXT.splitlines()
    assert lines(path, "b.txt") == [b"x"]
    many = pack(tmp_path / "many.zip", {f"{number}.txt": b"" for number in range(0x10001)}, zipfile.ZIP_STORED)
    with Archive(many) as opened:
        assert len(opened.members()) == 0x10001


def without(path: Path, name: str, told: int | None = None) -> None:
    """Take a member's entry out of the directory, of which the end then says so many members, or as many as it has."""
    data = path.read_bytes()
    with zipfile.ZipFile(path) as opened:
        start, names = opened.start_dir, opened.namelist()
    end = data.index(b"PK\x05\x06")
    entries = [b"PK\x01\x02" + entry for entry in data[start:end].split(b"PK\x01\x02")[1:]]
    directory = b"".join(entry for entry, own in zip(entries, names, strict=True) if own != name)
    told = len(names) - 1 if told is None else told
    end_of_all = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, told, told, len(directory), start, 0)
    path.write_bytes(data[:start] + directory + end_of_all)


@pytest.mark.parametrize("name", ["a.txt", "b.txt", "c.txt"])
def test_a_member_that_the_directory_has_lost_is_missed(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.zip"
    for told, message in ((2, r"bytes between .* belong to no member"), (3, "its end says 3 members.* has 2")):
        pack(path, {"a.txt": b"", "b.txt": b"x", "c.txt": TEXT})
        without(path, name, told)
        with pytest.raises(CorpusError, match=rf"a\.zip: .*{message}.*: fetch it"):
            Archive(path)


def test_what_stands_before_and_behind_an_archive_and_between_its_members_is_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"a.txt": TEXT, "b.txt": b"x"})
    whole = path.read_bytes()
    start = whole.index(b"PK\x01\x02")
    for data, message in (
        (whole * 2, "between its beginning and a.txt"),
        (whole + whole[:50], "goes on behind its end"),
        (whole[:start] + b"?" * 100 + whole[start:], "between its beginning and a.txt|truncated or damaged"),
    ):
        path.write_bytes(data)
        with pytest.raises(CorpusError, match=message):
            Archive(path)


def test_a_member_inside_of_another_is_refused(tmp_path: Path) -> None:
    inner = pack(tmp_path / "b.zip", {"b.txt": b"x"}, zipfile.ZIP_STORED).read_bytes()
    inner = inner[: inner.index(b"PK\x01\x02")]
    path = pack(tmp_path / "a.zip", {"a.txt": b"y" * 50 + inner, "b.txt": b"x"}, zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, data.rindex(b"PK\x01\x02") + 42, data.index(inner))
    path.write_bytes(data)
    with pytest.raises(CorpusError, match=r"a\.zip: (b\.txt begins in a\.txt|.*[Oo]verlap)"):
        Archive(path)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFDIR, stat.S_IFREG, 0])
def test_a_link_is_refused_and_not_read_as_the_text_of_its_target(tmp_path: Path, kind: int) -> None:
    path, info = tmp_path / "a.zip", zipfile.ZipInfo("a.txt")
    info.external_attr = (kind | 0o644) << 16
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(info, "../b.txt")
    if kind in (stat.S_IFREG, 0):
        assert lines(path, "a.txt") == [b"../b.txt"]
    else:
        with pytest.raises(CorpusError, match=r"a\.zip: a\.txt is a link or a device, no file"):
            Archive(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("honest_checksum", [True, False])
def test_a_member_that_unpacks_to_more_or_less_than_it_says_is_refused(
    tmp_path: Path, method: int, honest_checksum: bool
) -> None:
    """Also where the checksum is made to fit what zipfile alone would cut the content to."""
    for announced, than in ((len(TEXT) // 100, "more"), (len(TEXT) + 1000, "less")):
        path = pack(tmp_path / "a.zip", {"a.txt": TEXT}, method)
        announcing(path, announced, None if honest_checksum else zlib.crc32(TEXT[:announced]))
        with pytest.raises(CorpusError, match=rf"a\.txt (unpacks to {than} than the|is truncated or damaged)"):
            lines(path, "a.txt")


def test_a_bomb_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"a.txt": b"\0" * 30_000_000})
    with pytest.raises(CorpusError, match=r"a\.txt announces 30,000,000 bytes out of"):
        Archive(path)
    announcing(path, 1000)  # a bomb that hides what it is
    tracemalloc.start()
    with pytest.raises(CorpusError, match="unpacks to more than the 1,000 bytes"):
        lines(path, "a.txt")
    assert tracemalloc.get_traced_memory()[1] < 3_000_000
    tracemalloc.stop()


def test_a_small_file_may_repeat_a_line_as_often_as_it_likes(tmp_path: Path) -> None:
    data = b"the same\n" * 100_000
    assert len(zlib.compress(data)) * archive.LARGEST_RATIO < len(data)
    assert lines(pack(tmp_path / "a.zip", {"a.txt": data}), "a.txt") == data.splitlines()


def test_a_truncated_archive_is_an_error_wherever_it_ends(tmp_path: Path) -> None:
    whole = pack(tmp_path / "whole.zip", {"a.txt": TEXT}).read_bytes()
    path = tmp_path / "a.zip"
    for end in range(0, len(whole), 997):
        path.write_bytes(whole[:end])
        with pytest.raises(CorpusError, match=r"a\.zip is no zip archive, or truncated"):
            Archive(path)


def test_a_damaged_member_is_an_error_wherever_it_is_damaged(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"a.txt": TEXT})
    whole = path.read_bytes()
    for at in range(0, whole.index(b"PK\x01\x02"), 1511):
        broken = bytearray(whole)
        broken[at] ^= 0xFF
        path.write_bytes(broken)
        with pytest.raises(CorpusError, match=r"a\.zip.*(damaged|unpacks to)"):
            lines(path, "a.txt")


def harmed(draw: random.Random, whole: bytes) -> bytes:
    """An archive of which bytes were changed, lost or doubled at one place or more, most of them in its directory."""
    data = bytearray(whole)
    for _ in range(draw.choice([1, 1, 1, 2, 5])):
        at, count = draw.randrange(draw.choice([0, max(0, len(data) - 320)]), len(data)), draw.randrange(1, 40)
        match draw.randrange(4):
            case 0:
                data[at] ^= 1 << draw.randrange(8)
            case 1:
                data[at] = draw.randrange(256)
            case 2:
                del data[at : at + count]
            case 3:
                data[at:at] = data[at : at + count]
    return bytes(data)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_whatever_harm_is_done_the_members_are_as_they_were_or_it_is_a_corpus_error(
    tmp_path: Path, method: int
) -> None:
    path = pack(tmp_path / "a.zip", {"deep/a.txt": TEXT[:2000], "deep/é.txt": b"x\n", "c.txt": b""}, method)

    def content() -> dict[str, list[bytes | Refused]]:
        with Archive(path) as opened:
            return {member: list(opened.lines(member)) for member in opened.members()}

    whole, expected, draw = path.read_bytes(), content(), random.Random(method)
    refused = 0
    for _ in range(800):
        path.write_bytes(harmed(draw, whole))
        try:
            found = content()
        except CorpusError as error:
            said = str(error)
            refused += 1
        else:
            said = "a.zip"
            assert found == expected
        assert "a.zip" in said
    assert 400 < refused < 800  # what nobody reads, as a date, may be harmed


def test_a_folder_with_content_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"a\.zip: a\.txt/ is a folder, but has content"):
        Archive(pack(tmp_path / "a.zip", {"a.txt/": b"x"}))


def test_a_password_and_an_unknown_method_are_errors_with_a_remedy(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"a.txt": TEXT})
    whole = path.read_bytes()
    for at_local, at_central, value, message in ((6, 8, 1, "make the archive anew"), (8, 10, 98, "pack it by deflate")):
        data = bytearray(whole)
        struct.pack_into("<H", data, at_local, value)
        struct.pack_into("<H", data, data.index(b"PK\x01\x02") + at_central, value)
        path.write_bytes(data)
        with pytest.raises(CorpusError, match=message):
            lines(path, "a.txt")


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"none\.zip is missing: check raw\.path"):
        Archive(tmp_path / "none.zip")
    with pytest.raises(CorpusError, match=r"has no member 'b\.txt'"):
        lines(pack(tmp_path / "a.zip", {"a.txt": b""}), "b.txt")


def test_a_line_that_is_too_long_is_refused_and_its_neighbours_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources.lines, "LONGEST_LINE", 1000)
    data = b"\n".join([b"before", b"x" * 1000, b"x" * 1001, b"x" * 5000, b"after", b"x" * 2001])
    found = lines(pack(tmp_path / "a.zip", {"a.txt": data}), "a.txt")
    assert [line if isinstance(line, bytes) else line.reason for line in found] == [
        b"before", b"x" * 1000, LONG_LINE, LONG_LINE, b"after", LONG_LINE
    ]  # fmt: skip
    assert isinstance(found[3], Refused)
    assert found[3].value.startswith("5,001 bytes")  # its end counts


def test_memory_does_not_grow_with_the_member(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        path = pack(tmp_path / "a.zip", {"a.txt": TEXT * count})
        tracemalloc.start()
        with Archive(path) as opened:
            assert sum(1 for _ in opened.lines("a.txt")) == 6_000 * count
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    peak(1)
    assert peak(8) < 1.5 * peak(1) + 100_000


def test_a_member_can_be_read_as_a_stream(tmp_path: Path) -> None:
    with Archive(pack(tmp_path / "a.zip", {"a.txt": TEXT})) as opened, opened.open("a.txt") as stream:
        assert io.TextIOWrapper(stream).read().encode() == TEXT

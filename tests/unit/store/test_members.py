"""Archives that are what they say, and those that are not."""

import io
import random
import stat
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from sumcurve.store import members
from sumcurve.store.members import ArchiveError, is_visible, limits_of_text, zip_members

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


def content(path: Path) -> dict[str, bytes]:
    """The content of every member."""
    with zip_members(path, limits_of_text(path)) as opened:
        return {name: member.read() for name, member in opened.items()}


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_content_is_that_of_the_unpacked_file_however_it_is_packed(tmp_path, method) -> None:
    path = pack(tmp_path / "a.zip", {"deep/er/b.txt": TEXT, "a.txt": b"one\r\ntwo\n\nfour"}, method)
    assert content(path) == {"deep/er/b.txt": TEXT, "a.txt": b"one\r\ntwo\n\nfour"}
    with zip_members(path, limits_of_text(path)) as opened:  # two at a time
        with opened["deep/er/b.txt"].open() as long, opened["a.txt"].open() as short:
            together = list(zip(long, short, strict=False))
        assert opened["deep/er/b.txt"].size == len(TEXT)
    assert together == list(zip(TEXT.splitlines(keepends=True), [b"one\r\n", b"two\n", b"\n", b"four"], strict=False))


def test_members_come_in_the_order_of_the_archive_and_litter_is_told_apart(tmp_path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.mkdir("set")
        for name in ("set/b.txt", "__MACOSX/set/._b.txt", "set/.DS_Store", "set/a.txt", "vocab", "./c.txt"):
            made.writestr(name, b"x")
    assert list(filter(is_visible, content(path))) == ["set/b.txt", "set/a.txt", "vocab", "./c.txt"]


class Stream(io.FileIO):
    """A file of which zipfile cannot go back to a header, so that sizes follow behind the data."""

    def seekable(self) -> bool:
        return False

    def tell(self) -> int:
        raise OSError


def test_bytes_that_are_no_members_are_accepted_where_none_can_hide(tmp_path) -> None:
    """Sizes behind the data, large fields and ends, a comment, folders, and more members than a short end can say."""
    path = tmp_path / "a.zip"
    with Stream(path, "wb") as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        made.comment = b"made " * 99
        made.mkdir("deep")
        with made.open("deep/a.txt", "w", force_zip64=True) as member:
            member.write(TEXT)
        made.writestr("b.txt", b"x")
    assert b"PK\x07\x08" in path.read_bytes()
    assert content(path) == {"deep/a.txt": TEXT, "b.txt": b"x"}
    many = pack(tmp_path / "many.zip", {f"{number}.txt": b"" for number in range(0x10001)}, zipfile.ZIP_STORED)
    assert len(content(many)) == 0x10001


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


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("honest_checksum", [True, False])
def test_a_member_that_unpacks_to_more_or_less_than_it_says_is_refused(tmp_path, method, honest_checksum) -> None:
    """Also where the checksum is made to fit what zipfile alone would cut the content to."""
    for announced, than in ((len(TEXT) // 100, "more"), (len(TEXT) + 1000, "less")):
        path = pack(tmp_path / "a.zip", {"a.txt": TEXT}, method)
        announcing(path, announced, None if honest_checksum else zlib.crc32(TEXT[:announced]))
        with pytest.raises(ArchiveError, match=rf"a\.txt (unpacks to {than} than the|is truncated or damaged)"):
            content(path)


def test_a_bomb_is_refused_before_it_is_read(tmp_path) -> None:
    path = pack(tmp_path / "a.zip", {"a.txt": b"\0" * 30_000_000})
    with pytest.raises(ArchiveError, match=r"a\.zip unpacks to 1 members or 30,000,000 bytes"):
        content(path)
    announcing(path, 1000)  # a bomb that hides what it is
    tracemalloc.start()
    with pytest.raises(ArchiveError, match="unpacks to more than the 1,000 bytes"):
        content(path)
    assert tracemalloc.get_traced_memory()[1] < 3_000_000
    tracemalloc.stop()


def test_a_small_file_may_repeat_a_line_as_often_as_it_likes(tmp_path) -> None:
    data = b"the same\n" * 100_000
    assert len(zlib.compress(data)) * members.LARGEST_RATIO < len(data)
    assert content(pack(tmp_path / "a.zip", {"a.txt": data})) == {"a.txt": data}


def harmed(draw: random.Random, whole: bytes) -> bytes:
    """An archive of which bytes were changed, lost or doubled at one place or more, most of them in its directory."""
    data = bytearray(whole)
    for _ in range(draw.choice([1, 1, 1, 2, 5])):
        at, count = draw.randrange(draw.choice([0, max(0, len(data) - 320)]), len(data)), draw.randrange(1, 40)
        match draw.randrange(3):
            case 0:
                data[at] = draw.randrange(256)
            case 1:
                del data[at : at + count]
            case 2:
                data[at:at] = data[at : at + count]
    return bytes(data)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_whatever_harm_is_done_the_members_are_as_they_were_or_it_is_refused(tmp_path, method) -> None:
    path = pack(tmp_path / "a.zip", {"deep/a.txt": TEXT[:2000], "deep/é.txt": b"x\n", "c.txt": b""}, method)

    whole, expected, draw = path.read_bytes(), content(path), random.Random(method)
    refused = []
    for _ in range(400):
        path.write_bytes(harmed(draw, whole))
        try:
            assert content(path) == expected
        except ArchiveError as error:
            refused.append(str(error))
    assert all("a.zip" in one for one in refused)
    assert 200 < len(refused) < 400  # what nobody reads, as a date, may be harmed


# --- refusals


def doubled(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("a.txt", b"one")
        with pytest.warns(UserWarning, match="Duplicate name"):
            made.writestr("a.txt", b"two")


def of_kind(kind: int) -> Callable[[Path], None]:
    """An archive of one member of this kind, as a link."""

    def write(path: Path) -> None:
        info = zipfile.ZipInfo("a.txt")
        info.external_attr = (kind | 0o644) << 16
        with zipfile.ZipFile(path, "w") as made:
            made.writestr(info, "../b.txt")

    return write


def lost(name: str, members: int) -> Callable[[Path], None]:
    """An archive whose directory has no entry of this member, and whose end says so many."""
    return lambda path: without(pack(path, {"a.txt": b"", "b.txt": b"x", "c.txt": TEXT}), name, members)


def changed(change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(change(pack(path, {"a.txt": TEXT, "b.txt": b"x"}).read_bytes()))


def inside(path: Path) -> None:
    """An archive of which a member lies in another."""
    inner = pack(path, {"b.txt": b"x"}, zipfile.ZIP_STORED).read_bytes()
    inner = inner[: inner.index(b"PK\x01\x02")]
    data = bytearray(pack(path, {"a.txt": b"y" * 50 + inner, "b.txt": b"x"}, zipfile.ZIP_STORED).read_bytes())
    struct.pack_into("<I", data, data.rindex(b"PK\x01\x02") + 42, data.index(inner))
    path.write_bytes(data)


def with_field(at_local: int, at_central: int, value: int) -> Callable[[Path], object]:
    """An archive that says this of its member, in both of its headers."""

    def write(path: Path) -> None:
        data = bytearray(pack(path, {"a.txt": TEXT}).read_bytes())
        struct.pack_into("<H", data, at_local, value)
        struct.pack_into("<H", data, data.index(b"PK\x01\x02") + at_central, value)
        path.write_bytes(data)

    return write


OUTSIDE = ["../a.txt", "/etc/a.txt", "a/../../b.txt", "C:/a.txt", "a\\b.txt", "a\nb.txt", "a//b"]
REFUSED: list[tuple[Callable[[Path], object], str]] = [
    (lambda path: None, r"a\.zip is missing: check raw\.path"),
    *(
        (lambda path, name=name: pack(path, {"b.txt": b"x", name: b"x"}), "member .* outside of its")
        for name in OUTSIDE
    ),
    (doubled, r"two members 'a\.txt'"),
    (lambda path: pack(path, {"a.txt/": b"x"}), r"a\.txt/ is a folder, but has content"),
    *(
        (of_kind(kind), r"a\.txt is a link or a device, no file")
        for kind in (stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFDIR)
    ),
    *((lost(name, 2), r"bytes between .* belong to no member.*: copy it") for name in ("a.txt", "b.txt", "c.txt")),
    (lost("b.txt", 3), "its end says 3 members.* has 2: copy it"),
    (changed(lambda whole: whole * 2), "between its beginning and a.txt"),
    (changed(lambda whole: whole + whole[:50]), "goes on behind its end"),
    (
        changed(lambda whole: whole.replace(b"PK\x01\x02", b"?" * 100 + b"PK\x01\x02", 1)),
        "between its beginning and a.txt|truncated or damaged",
    ),
    *((changed(lambda whole, end=end: whole[:end]), "is truncated or damaged") for end in (0, 997, 5000, -30)),
    (inside, r"(b\.txt begins in a\.txt|.*[Oo]verlap)"),
    (with_field(6, 8, 1), "pack it anew"),  # a password
    (with_field(8, 10, 98), "pack it anew, by deflate"),  # a method that nobody knows
]


@pytest.mark.parametrize(("write", "message"), REFUSED)
def test_an_archive_that_may_not_be_read_is_refused(tmp_path, write, message) -> None:
    path = tmp_path / "a.zip"
    write(path)
    with pytest.raises(ArchiveError, match=message) as error:
        content(path)
    assert "a.zip" in str(error.value)


def test_a_file_of_another_kind_is_read(tmp_path) -> None:
    for kind in (stat.S_IFREG, 0):
        of_kind(kind)(tmp_path / "a.zip")
        assert content(tmp_path / "a.zip") == {"a.txt": b"../b.txt"}

"""The text of a file: unpacked, and decoded by its byte order mark, as UTF-8, or by a guess."""

import codecs
import gzip
import io
import lzma
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import zstandard

from sumcurve.files.errors import FileError
from sumcurve.machine.spelling import no_file

PACKED = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd", ".xz": b"\xfd7zXZ\0"}  # how such files begin
ARCHIVE = b"PK\x03\x04"  # how zip archives begin, and workbooks
MARKS = {  # of byte order; the longer ones first
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
WESTERN = "windows-1252"
CHUNK = 1 << 14  # compressed bytes; their content is in memory at once


@dataclass(frozen=True)
class Encoding:
    """An encoding and, where it is guessed, why; `bad` are the numbers of lines that are not UTF-8."""

    name: str
    why: str = ""
    bad: tuple[int, ...] = ()


def encoding_of(lines: Sequence[bytes]) -> Encoding:
    """The encoding of a file's lines, or of its first ones.

    By a byte order mark; UTF-16 where NUL follows line 1's letters, or they follow it; else UTF-8, unless more lines
    are not UTF-8 than hold letters beyond ASCII in it.
    """
    first = lines[0] if lines else b""
    if marked := next((name for mark, name in MARKS.items() if first.startswith(mark)), None):
        return Encoding(marked)
    for begin, name in ((1, "utf-16le"), (0, "utf-16be")):
        if first[begin::2] and not first[begin::2].strip(b"\0"):
            return Encoding(name, "every second byte of line 1 is NUL")
    bad = tuple(number for number, line in enumerate(lines, start=1) if not is_utf8(line))
    beyond = sum(not line.isascii() for line in lines) - len(bad)
    return Encoding(WESTERN, f"line {bad[0]} is not UTF-8", bad) if len(bad) > beyond else Encoding("utf-8", "", bad)


def is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def text_of(path: Path, encoding: str | None = None) -> tuple[str, list[str]]:
    """The text of a plain, .gz, .zst or .xz file, and sentences about guesses; line breaks stay.

    FileError for a file that is missing or damaged, an archive, and bytes that are no text in its encoding.
    """
    data = _unpacked(path)
    lines = data.split(b"\n")
    guess = Encoding(encoding) if encoding else encoding_of(lines)
    try:
        text = data.decode(guess.name)
    except UnicodeDecodeError as error:
        number = data[: error.start].count(b"\n") + 1
        remedy = "correct the line, or name the file's encoding (--encoding)"
        named = f"neither UTF-8 nor {guess.name}" if guess.why else f"not {guess.name.upper()}"
        raise FileError(f"{path}:{number}: {named} ({error.reason}): {remedy}") from None
    if (at := text.find("\0")) >= 0:
        number = text.count("\n", 0, at) + 1
        raise FileError(f"{path}:{number}: a NUL character, which would part words: remove it, or name the encoding")
    said = [f"Encoding of {path}: {guess.name}, a guess, since {guess.why} (--encoding)."] if guess.why else []
    return text.removeprefix("\ufeff"), said


def _unpacked(path: Path) -> bytes:
    if not path.is_file():
        raise FileError(f"{path} is a folder: name a file" if path.is_dir() else no_file(path))
    try:
        data = path.read_bytes()
        packed = next((ending for ending, magic in PACKED.items() if data.startswith(magic)), None)
        if path.suffix in PACKED and packed != path.suffix:
            raise FileError(f"{path} is not a {path.suffix} file: rename it, or copy it again")
        if data.startswith(ARCHIVE):
            raise FileError(f"{path} is an archive or a workbook: unpack it, or save the table as CSV in UTF-8")
        if packed == ".zst":
            return Frames(io.BytesIO(data)).readall()
        return {".gz": gzip.decompress, ".xz": lzma.decompress}[packed](data) if packed else data
    except (OSError, EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError) as error:
        raise FileError(f"{path} cannot be read: {error}; copy it again") from error


class Frames(io.RawIOBase):
    """Content of all frames of a .zst file; zstandard's own reader takes a truncated file for a finished one."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.frame = zstandard.ZstdDecompressor().decompressobj()
        self.rest = memoryview(b"")  # that is unpacked and not yet read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self.rest and (data := self.stream.read(CHUNK)):
            unpacked = bytearray()
            while data:
                if self.frame.eof:
                    self.frame = zstandard.ZstdDecompressor().decompressobj()
                unpacked += self.frame.decompress(data)
                data = self.frame.unused_data if self.frame.eof else b""
            self.rest = memoryview(unpacked)
        if not self.rest and not self.frame.eof:
            raise EOFError("the last zstd frame has no end")
        size = min(len(buffer), len(self.rest))
        buffer[:size], self.rest = self.rest[:size], self.rest[size:]
        return size

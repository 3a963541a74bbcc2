import gzip
import hashlib
import json
import tracemalloc
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import zstandard

from sumcurve.files import content
from sumcurve.sources.jsonl import rows
from sumcurve.sources.raw import LONG_LINE, NOT_JSON, Refused
from sumcurve.sources.source import Inside
from sumcurve.store.errors import CorpusError


def line(**changes: Any) -> bytes:
    return json.dumps({"id": "a", "source": "The otter swims.", "target": "otter", **changes}).encode()


PACKED = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}


def read(path: Path, data: bytes) -> list[Mapping[str, Any] | Refused | Inside]:
    path.write_bytes(data)
    return list(rows(path, None))


def test_compressed_files_read_like_plain_ones(tmp_path) -> None:
    data = b"".join(line(id=f"{number}", source=f"word {number}") + b"\n" for number in range(3000))
    expected = read(tmp_path / "raw.jsonl", data)
    assert len(expected) == 3000
    assert read(tmp_path / "raw.jsonl.gz", gzip.compress(data, mtime=0)) == expected
    pack = zstandard.ZstdCompressor().compress
    assert read(tmp_path / "raw.jsonl.zst", pack(data)) == expected
    assert read(tmp_path / "frames.jsonl.zst", pack(data[:1001]) + pack(data[1001:])) == expected
    assert read(tmp_path / "no_end.jsonl.zst", pack(data[:-1])) == expected


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_truncated_archive_is_an_error_wherever_it_ends(tmp_path, suffix) -> None:
    data = b"".join(line(id=f"{number}", source=f"word {number * 7919}") + b"\n" for number in range(200))
    packed = PACKED[suffix](data)
    for end in range(4, len(packed), 97):
        with pytest.raises(CorpusError, match=r"raw\.jsonl.*truncated"):
            read(tmp_path / f"raw.jsonl{suffix}", packed[:end])
    broken = bytearray(packed)
    broken[len(packed) // 2] ^= 0xFF
    if suffix == ".gz":  # zstd frames carry no checksum by default
        with pytest.raises(CorpusError, match="damaged"):
            read(tmp_path / f"raw.jsonl{suffix}", bytes(broken))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("raw.jsonl", b"", "is empty"),
        ("raw.jsonl.gz", b"", "is empty"),
        ("raw.jsonl.gz", gzip.compress(b"", mtime=0), "is empty"),
        ("raw.jsonl.zst", zstandard.ZstdCompressor().compress(b""), "is empty"),
        ("raw.jsonl.gz", line(), "is not a .gz file"),
        ("raw.jsonl.zst", line(), "is not a .zst file"),
    ],
)
def test_an_unusable_file_is_an_error_that_names_it(tmp_path, name, data, message) -> None:
    with pytest.raises(CorpusError, match=message) as error:
        read(tmp_path / name, data)
    assert str(tmp_path / name) in str(error.value)


def test_a_missing_file_and_a_folder_are_errors(tmp_path) -> None:
    for path, problem in ((tmp_path / "none.jsonl", "no such file"), (tmp_path, "is a folder")):
        with pytest.raises(CorpusError, match=problem):
            list(rows(path, None))


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_memory_does_not_grow_with_the_file(tmp_path, suffix) -> None:

    def peak(count: int) -> int:
        """Bytes in use at most, while so many lines of half a kilobyte are read."""
        texts = (hashlib.shake_128(b"%d" % number).hexdigest(200) for number in range(count))
        packed = PACKED[suffix](b"".join(line(id=text[:9], source=text) + b"\n" for text in texts))
        path = tmp_path / f"{count}.jsonl{suffix}"
        path.write_bytes(packed)
        del packed
        tracemalloc.start()
        try:
            assert sum(1 for _ in rows(path, None)) == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(10)  # what is loaded once
    small, large = peak(1000), peak(8000)  # half a megabyte, and four
    assert large < small + 200_000


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_a_line_that_is_too_long_is_refused_and_its_neighbours_are_read(tmp_path, monkeypatch, suffix) -> None:
    monkeypatch.setattr(content, "LONGEST_LINE", 1000)
    texts = [line(id="before"), b"x" * 1000, b"x" * 1001, b"x" * 5000, line(id="after"), b"x" * 2001]
    found = read(tmp_path / f"raw.jsonl{suffix}", PACKED[suffix](b"\n".join(texts)))
    reasons = [row.reason if isinstance(row, Refused) else row["id"] for row in found]
    assert reasons == ["before", NOT_JSON, LONG_LINE, LONG_LINE, "after", LONG_LINE]
    assert found[3].value.startswith("5,001 bytes")  # its end counts

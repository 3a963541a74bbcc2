from pathlib import Path
from typing import Any

import pytest

from sumcurve.capabilities.corpora_public import debian as source
from sumcurve.sources import raw
from sumcurve.sources.content import Content
from sumcurve.sources.raw import RawRecord, Refused
from sumcurve.store.errors import CorpusError
from sumcurve.study.doors import SOURCES
from titles import debian

OTTER = """\
Package: otter
Description-md5: d943033bedada21853d2ae54a2578a7b
Description-en: swims
 It swims in
 the river.
 .
 It eats:
  * fish of
    the pond
  - and bread

"""


def read(
    folder: Path, translation: str | bytes, packages: str = "Package: other\n\n", language: str = "en"
) -> list[Any]:
    (folder / "Packages").write_text(packages)
    path = folder / f"Translation-{language}"
    path.write_bytes(translation if isinstance(translation, bytes) else translation.encode())
    return list(source.rows(path, None))


def test_the_synopsis_is_the_target_and_paragraphs_and_items_are_the_source_however_lines_end(tmp_path) -> None:
    source = "It swims in the river.\n\nIt eats:\n\nfish of the pond\n\nand bread"
    expected = {"id": "otter", "source": source, "target": "swims", "group": "otter"}
    for text in (OTTER, OTTER.replace("\n", "\r\n"), OTTER.replace("\n", "\r\n", 5), OTTER.strip()):
        assert read(tmp_path, text) == [expected]


def test_a_number_in_a_sentence_is_no_item_of_a_list(tmp_path) -> None:
    lines = ["It swims since version", "2. It eats fish of", "3) kinds:", "4. roach", "5. perch and", "7. pike"]
    text = "Package: otter\nDescription-en: swims\n" + "".join(f" {line}\n" for line in lines) + "\n"
    (row,) = read(tmp_path, text)
    assert row["source"] == "It swims since version 2. It eats fish of 3) kinds:\n\nroach\n\nperch and 7. pike"


def test_lines_of_chinese_are_joined_without_a_blank_and_those_of_latin_letters_with_one(tmp_path) -> None:
    text = "Package: otter\nDescription-zh_CN: 水獭\n 水獭在河里\n 捉鱼，\n 它叫 Otto\n and swims。\n\n"
    (row,) = read(tmp_path, text, language="zh_CN")
    assert row["source"] == "水獭在河里捉鱼，它叫 Otto and swims。"
    assert row["target"] == "水獭"
    (none,) = read(tmp_path, OTTER, language="zh_CN")  # a description in another language is none
    assert isinstance(none, Refused)


def test_binary_packages_of_one_source_package_are_one_group(tmp_path) -> None:
    both = OTTER + OTTER.replace("Package: otter", "Package: libotter-dev")
    packages = "Package: otter\nVersion: 1\n\nPackage: libotter-dev\nSource: otter (1.2)\nVersion: 1\n\n"
    assert [row["group"] for row in read(tmp_path, both, packages)] == ["otter", "otter"]


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("Package: otter\nDescription-en: swims\n\n", source.NO_BODY),
        ("Package: otter\nDescription-en: swims\n .\n\n", source.NO_BODY),
        ("Package: otter\nDescription-de: schwimmt\n Im Fluss.\n\n", source.NO_ENTRY),
        ("Description-en: swims\n It swims.\n\n", source.NO_ENTRY),
        ("<html>\n<p>404\n\n", source.NO_ENTRY),
        (OTTER.replace("fish", "fi\x00sh"), raw.NUL),
        (OTTER.encode().replace(b"fish", b"\xff\xfe"), raw.NOT_UTF8),
        (OTTER.replace("fish", "fish\n   of" * 200_000), source.TOO_LARGE),
    ],
)
def test_a_bad_entry_is_one_row_with_its_reason_and_hurts_no_other(tmp_path, entry, reason) -> None:
    first, last = OTTER.encode(), OTTER.replace("otter", "heron").encode()
    found = read(tmp_path, first + (entry if isinstance(entry, bytes) else entry.encode()) + last)
    assert [row.reason if isinstance(row, Refused) else row["id"] for row in found] == ["otter", reason, "heron"]


@pytest.mark.parametrize("packages", [source.MOST_SOURCES, source.MOST_SOURCES + 1])
@pytest.mark.parametrize("of_one", [False, True])
def test_what_a_template_wrote_into_many_source_packages_is_left_out(tmp_path, packages, of_one) -> None:
    shared = " .\n Headers are in here.\n"
    lists, text = "", ""
    for number in range(packages):
        lists += f"Package: p{number}\nSource: {'pond' if of_one else f'pond{number}'}\n\n"
        text += f"Package: p{number}\nDescription-en: pond\n It has {number} fish.\n{shared}\n"
    text += f"Package: only\nDescription-en: headers\n{shared.removeprefix(' .')[1:]}\n"
    *ponds, only = read(tmp_path, text, lists)
    if packages > source.MOST_SOURCES and not of_one:
        assert [row["source"] for row in ponds] == [f"It has {number} fish." for number in range(packages)]
        assert only.reason == source.ALL_SHARED
    elif of_one or packages < source.MOST_SOURCES:  # `only` is one source package more
        assert all(row["source"].endswith("\n\nHeaders are in here.") for row in [*ponds])
        assert only["source"] == "Headers are in here."


def test_lists_become_records_whose_families_stay_together(tmp_path) -> None:
    debian(tmp_path, sources=60)
    found = list(Content(tmp_path, SOURCES["debian"]).records())
    records = [row for row in found if isinstance(row, RawRecord)]
    assert len(found) == len(records) == 120
    assert {record.group for record in records} == {f"pond{number}" for number in range(60)}
    assert not any("Headers are in here" in str(record.source) for record in records)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("Packages", None, "Packages cannot be read"),
        ("Translation-en", None, "Translation-…"),
        ("Translation-en", "", "Translation-en has no package"),
        ("Translation-en", "\n\n\n", "Translation-en has no package"),
    ],
)
def test_a_folder_without_one_of_the_lists_is_refused(tmp_path, name, data, message) -> None:
    debian(tmp_path, sources=3)
    (tmp_path / name).unlink() if data is None else (tmp_path / name).write_text(data)
    with pytest.raises(CorpusError, match=message):
        list(Content(tmp_path, SOURCES["debian"]).records())

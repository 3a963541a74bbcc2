import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sumcurve.sources import SOURCES, raw
from sumcurve.sources import lcsts as source
from sumcurve.sources.content import Content
from sumcurve.sources.raw import Dropped, RawRecord, Refused
from sumcurve.sources.source import Inside
from sumcurve.store.errors import CorpusError
from titles import document, lcsts

OTTER = ("水獭捉鱼。", "水獭")


def read(path: Path, text: str | bytes) -> list[Any]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return [row for row in source.rows(path, None) if not isinstance(row, Inside)]


def reasons(rows: list[Any]) -> list[str | None]:
    return [row.reason if isinstance(row, Refused) else None for row in rows]


def test_documents_have_ids_of_their_part_and_the_label_only_where_people_gave_one(tmp_path) -> None:
    found = read(tmp_path / "PART_I.txt", document(0, *OTTER) + document(17, "a < b & c", "1<2"))
    assert found == [
        {"id": "PART_I:0", "summary": "水獭", "short_text": "水獭捉鱼。", "split": "train"},
        {"id": "PART_I:17", "summary": "1<2", "short_text": "a < b & c", "split": "train"},
    ]
    (graded,) = read(tmp_path / "PART_III.txt", document(0, *OTTER, label=4))
    assert graded == {**found[0], "id": "PART_III:0", "split": "test", "human_label": 4}
    (own,) = read(tmp_path / "mine.txt", document(0, *OTTER, label=4))
    assert "split" not in own


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r\n", 4),
        lambda text: "\ufeff" + text,
        lambda text: text.removesuffix("\n"),
        lambda text: text.replace("    ", ""),
        lambda text: text.replace("\n", "\n\n"),
        lambda text: text.replace("<doc id=0>", '<doc id="0">'),
        lambda text: text.replace("<summary>\n        水獭\n    </summary>", "<summary>水獭</summary>"),
    ],
)
def test_white_space_and_quotes_of_copies_change_nothing(tmp_path, change) -> None:
    text = document(0, *OTTER, label=3) + document(1, *OTTER, label=2)
    assert change(text) != text
    assert read(tmp_path / "PART_II.txt", change(text)) == read(tmp_path / "PART_II.txt", text)


def without(line: str) -> str:
    return document(1, *OTTER, label=3).replace(line + "\n", "")


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (without("    </summary>"), source.BROKEN_TAGS),
        (without("    <summary>"), source.BROKEN_TAGS),
        (without("    </short_text>"), source.BROKEN_TAGS),
        (without("</doc>"), source.NOT_ENDED),
        (without("<doc id=1>"), source.OUTSIDE),
        (document(1, *OTTER).replace("short_text", "long_text"), source.BROKEN_TAGS),
        (document(1, *OTTER).replace("    <summary>", "    <summary>s</summary>\n    <summary>"), source.BROKEN_TAGS),
        (document(1, *OTTER), source.BROKEN_TAGS),
        (document(1, *OTTER, label=7), source.BAD_LABEL),
        (document(1, *OTTER, label="good"), source.BAD_LABEL),
        (document(1, "水獭\x00捉鱼。", "水獭"), raw.NUL),
        (document(1, *OTTER).encode().replace("捉".encode(), b"\xff\xfe"), raw.NOT_UTF8),
        (document(1, *OTTER, label=3).encode().replace(b"id=1", b"id=\xff"), raw.NOT_UTF8),
        (document(1, "水\n" * 5001, "水"), source.TOO_LONG),
    ],
)
def test_a_broken_document_is_one_row_with_its_reason_and_hurts_no_other(tmp_path, monkeypatch, broken, reason) -> None:
    monkeypatch.setattr(source, "LARGEST_TEXT", 5000)
    data = broken if isinstance(broken, bytes) else broken.encode()
    whole = document(0, *OTTER, label=3).encode(), document(2, *OTTER, label=3).encode()
    found = read(tmp_path / "PART_II.txt", whole[0] + data + whole[1])
    assert reasons(found) == [None, reason, None]
    assert [found[0]["id"], found[2]["id"]] == ["PART_II:0", "PART_II:2"]
    json.dumps(found[1].value, ensure_ascii=False).encode()  # what the list of dropped rows is written by


@pytest.mark.parametrize("cut", ["</doc>", "</short_text>", "<short_text>", "</summary>", "<summary>"])
def test_a_file_that_was_cut_off_loses_its_last_document_and_says_so(tmp_path, cut) -> None:
    text = document(0, *OTTER) + document(1, *OTTER)
    found = read(tmp_path / "PART_I.txt", text[: text.rindex(cut)])
    assert reasons(found) == [None, source.NOT_ENDED]
    assert found[1].value == "id 1: the file ends in it"


@pytest.mark.parametrize("data", [b"", b"\n\n", b'{"text": "a", "summary": "b"}\n', b"\x00" * 100])
def test_a_file_without_a_document_is_refused_with_its_name(tmp_path, data) -> None:
    with pytest.raises(CorpusError, match=r"PART_I\.txt"):
        read(tmp_path / "PART_I.txt", data)


def test_rows_below_the_least_grade_are_dropped_where_there_are_grades(tmp_path) -> None:
    labels = lcsts(tmp_path)
    content = Content(tmp_path, SOURCES["lcsts"], None, "records", {"human_label": 3})
    found = list(content.records())
    kept = Counter(row.split for row in found if isinstance(row, RawRecord))
    good = {part: sum(label is None or label >= 3 for label in of_part) for part, of_part in labels.items()}
    assert kept == {"train": good["PART_I"], "valid": good["PART_II"], "test": good["PART_III"]}
    assert 0 < good["PART_II"] < len(labels["PART_II"])
    assert good["PART_I"] == len(labels["PART_I"])
    dropped = {(row.reason, row.value, row.split) for row in found if isinstance(row, Dropped)}
    assert dropped == {("human_label below 3", grade, part) for grade in "12" for part in ("valid", "test")}
    assert len(found) == sum(map(len, labels.values()))


def test_a_grade_that_is_no_number_is_named(tmp_path) -> None:
    grades: list[Any] = [3, "3", "4.5", 2, None, "high", [3], True, math.nan, math.inf]
    rows = [{"id": f"{n}", "source": "s", "target": "t", "grade": grade} for n, grade in enumerate(grades)]
    path = tmp_path / "raw.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    found = list(Content(path, SOURCES["jsonl"], least={"grade": 3}).records())
    assert [row.reason if isinstance(row, Dropped) else None for row in found] == [
        *(None, None, raw.WRONG_TYPE, "grade below 3", None, raw.WRONG_TYPE, raw.WRONG_TYPE, raw.WRONG_TYPE),
        *("grade below 3", None),
    ]

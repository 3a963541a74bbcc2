"""Dialogues as DialogSum's files have them; all of these are invented."""

import json
from pathlib import Path
from typing import Any

import pytest

from sumcurve.sources.content import Content
from sumcurve.sources.raw import MISSING_KEY, NOT_JSON, WRONG_TYPE, Dropped, RawRecord
from sumcurve.store.errors import CorpusError
from sumcurve.study.doors import SOURCES

TURNS = ["#Person1#: Is the heron back?", "#Person2#: It is #1 on my list, #Person1#.", "#person1#: Good."]
SUMMARY = {"summary": "#Person1# asks about a heron.", "topic": "birds"}
THREE = {f"summary{number}": f"#Person{number}# speaks of herons." for number in (1, 2, 3)}


def row(name: str, **further: Any) -> dict[str, Any]:
    return {"fname": name, "dialogue": "\n".join(TURNS), **further}


def write(folder: Path, **rows: list[Any]) -> Path:
    for part in ("train", "dev", "test"):
        told = rows.get(part, [row(f"{part}_0", **(THREE if part == "test" else SUMMARY))])
        lines = [one if isinstance(one, str) else json.dumps(one) for one in told]
        (folder / f"dialogsum.{part}.jsonl").write_text("\n".join(lines))
    return folder


def read(folder: Path) -> tuple[dict[str, RawRecord], list[Dropped]]:
    rows = list(Content(folder, SOURCES["dialogsum"], ready="records").records())
    records = {one.id: one for one in rows if isinstance(one, RawRecord)}
    return records, [one for one in rows if isinstance(one, Dropped)]


def test_turns_are_sentences_and_the_summaries_of_the_test_part_are_a_target_and_references(tmp_path) -> None:
    (tmp_path / "dialogsum.hiddentest.dialogue.jsonl").write_text(json.dumps(row("hiddentest_0")))
    records, dropped = read(write(tmp_path))
    assert dropped == []
    assert {name: one.split for name, one in records.items()} == {
        "train_0": "train",
        "dev_0": "valid",
        "test_0": "test",
    }
    for record in records.values():
        assert record.source == [
            "Person1: Is the heron back?",
            "Person2: It is #1 on my list, Person1.",
            "person1: Good.",
        ]
        assert record.group is None
    assert (records["train_0"].target, records["train_0"].references) == ("Person1 asks about a heron.", [])
    test = records["test_0"]
    assert [test.target, *test.references] == [one.replace("#", "") for one in THREE.values()]


def test_rows_that_are_no_dialogues_are_dropped_by_reason(tmp_path) -> None:
    good, without = row("train_0", **SUMMARY), row("test_1", **{**THREE, "summary3": None})
    del without["summary3"]
    rows = [good, "{", {"fname": "train_1", **SUMMARY}, row("train_2", summary=["a"])]
    records, dropped = read(write(tmp_path, train=rows, test=[row("test_0", **THREE), without]))
    assert set(records) == {"train_0", "dev_0", "test_0"}
    assert [(one.place.file, one.place.number, one.reason, one.split) for one in dropped] == [
        ("dialogsum.test.jsonl", 2, MISSING_KEY, "test"),
        ("dialogsum.train.jsonl", 2, NOT_JSON, "train"),
        ("dialogsum.train.jsonl", 3, MISSING_KEY, "train"),
        ("dialogsum.train.jsonl", 4, WRONG_TYPE, "train"),
    ]


def test_a_file_of_another_name_is_an_error(tmp_path) -> None:
    (tmp_path / "my-dialogsum.train.jsonl").write_text(json.dumps(row("a", **SUMMARY)))
    with pytest.raises(CorpusError, match=r"my-dialogsum.train.jsonl is none of dialogsum.train.jsonl, "):
        read(tmp_path)

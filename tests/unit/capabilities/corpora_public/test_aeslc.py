"""Mails as AESLC's files have them; all of these are invented."""

from pathlib import Path

import pytest

from sumcurve.capabilities.corpora_public.aeslc import OTHER_MARKS, TOO_LONG
from sumcurve.sources.content import Content
from sumcurve.sources.raw import EMPTY_SOURCE, EMPTY_TARGET, NOT_UTF8, Dropped, RawRecord
from sumcurve.store.errors import CorpusError
from sumcurve.study.doors import SOURCES

BODY = "The boat leaves at 5 pm.\nWrite to otter@pond.example, please.\n\n"
MAILS = {
    "train/heron-a_sent_1.subject": f"{BODY}@subject\nBoat\n",
    "train/otter-b_all_docs_12.subject": f"{BODY}@subject\nBoat: a reminder",
    "dev/heron-a_sent_2.subject": f"{BODY}@subject\nBoat\n\n@ann0\nboat at five\n\n@ann1\nleaving\n\n@ann2\nboat trip",
    "test/heron-a_inbox_3.subject": f"{BODY}@subject\nBoat\n\n@ann0\na\n\n@ann1\nb\n\n@ann2\nc\n",
}


def write(folder: Path, mails: dict[str, str | bytes]) -> Path:
    for name, text in mails.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def read(folder: Path) -> tuple[dict[str, RawRecord], list[Dropped]]:
    rows = list(Content(folder, SOURCES["aeslc"], ready="records").records())
    records = {row.id: row for row in rows if isinstance(row, RawRecord)}
    return records, [row for row in rows if isinstance(row, Dropped)]


def test_a_mail_is_its_sentences_its_subject_its_mailbox_and_what_people_wrote(tmp_path) -> None:
    records, dropped = read(write(tmp_path, MAILS))
    assert dropped == []
    assert {name: (one.split, one.group) for name, one in records.items()} == {
        "heron-a_sent_1": ("train", "heron-a"),
        "otter-b_all_docs_12": ("train", "otter-b"),
        "heron-a_sent_2": ("valid", "heron-a"),
        "heron-a_inbox_3": ("test", "heron-a"),
    }
    assert all(one.source == BODY.split("\n")[:2] for one in records.values())
    assert records["otter-b_all_docs_12"].target == "Boat: a reminder"
    assert records["heron-a_sent_2"].references == ["boat at five", "leaving", "boat trip"]
    assert records["heron-a_inbox_3"].references == ["a", "b", "c"]
    assert records["heron-a_sent_1"].references == []


def test_ends_of_lines_of_other_systems_are_the_same_mail(tmp_path) -> None:
    here, there = (read(write(tmp_path / name, MAILS))[0] for name in "ab")
    for name in MAILS:
        (tmp_path / "b" / name).write_bytes((tmp_path / "b" / name).read_bytes().replace(b"\n", b"\r\n"))
    again = read(tmp_path / "b")[0]
    assert [(one.source, one.target, one.references) for one in again.values()] == [
        (one.source, one.target, one.references) for one in here.values()
    ]
    assert here.keys() == there.keys()


def test_what_is_no_mail_is_dropped_by_reason_with_its_file_and_part(tmp_path) -> None:
    bad = {
        "train/a_1.subject": b"caf\xe9\n\n@subject\nx",
        "train/a_2.subject": BODY,
        "train/a_3.subject": f"{BODY}@subject\nx\n\n@subject\ny",
        "train/a_4.subject": "\n@subject\nx",
        "train/a_5.subject": f"{BODY}@subject\n\n",
        "train/a_6.subject": "x" * (1 << 20) + f"{BODY}@subject\nx",
        "dev/a_7.subject": f"{BODY}@subject\nx\n\n@ann1\ny",
    }
    records, dropped = read(write(tmp_path, {**MAILS, **bad}))
    assert len(records) == len(MAILS)
    assert {(one.place.file, one.reason, one.split) for one in dropped} == {
        ("train/a_1.subject", NOT_UTF8, "train"),
        ("train/a_2.subject", OTHER_MARKS, "train"),
        ("train/a_3.subject", OTHER_MARKS, "train"),
        ("train/a_4.subject", EMPTY_SOURCE, "train"),
        ("train/a_5.subject", EMPTY_TARGET, "train"),
        ("train/a_6.subject", TOO_LONG, "train"),
        ("dev/a_7.subject", OTHER_MARKS, "valid"),
    }


def test_a_mail_in_another_folder_is_an_error(tmp_path) -> None:
    with pytest.raises(CorpusError, match=r"spam/a_1.subject is in none of train, dev, test: what part is it\?"):
        read(write(tmp_path, {"spam/a_1.subject": f"{BODY}@subject\nx"}))

"""Question files of CNN and the Daily Mail; every file here is written by `news`, with invented texts."""

import dataclasses
from collections import Counter
from pathlib import Path

import pytest

from news import invented, question_file, tarball
from sumcurve.capabilities.apes import published_questions as questions
from sumcurve.capabilities.apes.published_questions import Question
from sumcurve.sources import raw
from sumcurve.sources.raw import Refused

FOLDERS = {"train": "training", "valid": "validation", "test": "test"}
STORIES = invented({"train": 3, "valid": 1, "test": 2})


FILES = {  # two questions about every story, as in `cnn.tgz`
    f"cnn/questions/{FOLDERS[story.part]}/{number:02d}{story.id[2:]}.question": question_file(story)
    for story in STORIES
    for number in range(2)
}


def test_questions_of_an_archive_lead_to_their_stories(tmp_path) -> None:
    found = list(questions.questions(tarball(tmp_path / "cnn.tgz", FILES)))
    assert Counter((one.story, one.url, one.split) for one in found) == {
        (story.id, story.url, story.part): 2 for story in STORIES
    }
    for one in found:
        assert one.id[2:] == one.story[2:]
        assert one.document == "@entity0 went to @entity1 : at 10:30"
        assert one.question == "@entity0 went to @placeholder today"
        assert (one.answer, one.entities[one.answer]) == ("@entity1", "Marle: the town")  # the first colon parts
        assert list(one.entities) == ["@entity0", "@entity1", "@entity12"]


def test_unpacked_files_and_a_folder_of_archives_are_the_same(tmp_path) -> None:
    packed = tarball(tmp_path / "packed" / "cnn.tgz", FILES)
    for name, data in FILES.items():
        path = tmp_path / "unpacked" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def told(path: Path) -> list[str]:
        return sorted(map(repr, questions.questions(path)))

    assert told(packed) == told(packed.parent) == told(tmp_path / "unpacked")


def one(data: bytes) -> Question | Refused:
    try:
        return questions.question("cnn/questions/test/a.question", data.decode())
    except Refused as refused:
        return refused


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_ends_of_lines_do_not_matter(end) -> None:
    expected = one(question_file(STORIES[0]))
    assert one(question_file(STORIES[0], end=end)) == expected
    assert one(question_file(STORIES[0], end=end) + end.encode() * 2) == expected
    assert one(b"\xef\xbb\xbf" + question_file(STORIES[0])) == expected


def test_names_are_read_from_the_end_until_a_line_is_none() -> None:
    """A document's line with a colon is no name, nor is an answer."""
    whole = question_file(STORIES[0], entities={"@entity1": "a:b:c", "@entity2": ""})
    found = one(whole)
    assert found.entities == {"@entity1": "a:b:c", "@entity2": ""}
    assert found.document.endswith("10:30")
    later = one(whole.replace(b"@entity1:a", b"@entity7:d\n@entity1:a"))
    assert later == dataclasses.replace(found, entities={"@entity7": "d", **found.entities})


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", questions.NOT_FOUR),
        (question_file(STORIES[0]).replace(b"@entity0 went to @entity1 : at 10:30", b""), questions.NOT_FOUR),
        (question_file(STORIES[0]).replace(b"10:30", b"10:30\nand more"), questions.NOT_FOUR),
        (question_file(STORIES[0]).replace(b"@placeholder", b"town"), questions.NO_PLACEHOLDER),
        (question_file(STORIES[0]).replace(b"today", b"@placeholder"), questions.NO_PLACEHOLDER),
        (question_file(STORIES[0], answer="@entity9"), questions.NO_ANSWER),
        (question_file(STORIES[0], entities={}), questions.NO_ANSWER),
    ],
)
def test_a_file_of_another_form_is_refused(data, reason) -> None:
    found = one(data)
    assert isinstance(found, Refused)
    assert found.reason == reason
    assert "a.question" in found.value


def test_files_that_cannot_be_read_are_counted(tmp_path) -> None:
    good = question_file(STORIES[0])
    files = {"a.question": good, "b.question": b"\xff", "c.question": b"x" * (questions.LARGEST + 1)}
    found = list(questions.questions(tarball(tmp_path / "cnn.tgz", files | {"._d.question": b""})))
    assert [type(one) for one in found] == [Question, Refused, Refused]
    assert [one.reason for one in found if isinstance(one, Refused)] == [raw.NOT_UTF8, questions.TOO_LARGE]

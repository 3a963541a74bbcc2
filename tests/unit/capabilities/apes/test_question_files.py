"""Ready-made question files beside records; every text is invented, in the form that `news` writes."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from news import Story, tarball
from sumcurve.capabilities.apes import published_questions as hermann
from sumcurve.capabilities.apes import question_files
from sumcurve.capabilities.apes.question_files import asked_in, gathered
from sumcurve.corpora.tokenizers import tokenizer
from sumcurve.sources import raw
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import Record

STORY = Story("http://cnn.example/test/1", "test", [], [])
ENTITIES = {"@entity3": "Marta Lind", "@entity0": "Ber'gen (East)", "@entity9": "C++"}
RECORD = Record(
    STORY.id,
    ["marta lind sailed to ber'gen ( east ) .", "she writes c + + ."],
    ["marta lind reached ber'gen ( east ) .", "c + + was her luck , says marta lind 's brother ."],
)


def tokens(texts):
    return tokenizer("words").tokens(texts, True)


def file(
    question: str,
    answer: str = "@entity3",
    entities: Mapping[str, str] = ENTITIES,
    story: Story = STORY,
    end: str = "\n",
) -> bytes:
    blocks = [story.url, "@entity3 sailed", question, answer]
    return (end * 2).join([*blocks, end.join(f"{one}:{name}" for one, name in entities.items())]).encode()


def gather(folder: Path, files: Mapping[str, bytes], records=(RECORD,)) -> tuple[list, Counter]:
    """What is asked of every record by an archive of these files, and what was counted."""
    counts: Counter[str] = Counter()
    named = {f"cnn/questions/test/{name}.question": data for name, data in files.items()}
    found = gathered(tarball(folder / "cnn.tgz", named), [one.id for one in records], counts)
    return [asked_in(one, found[one.id], tokens, counts) for one in records if one.id in found], counts


def test_questions_are_joined_to_records_by_the_sha1_of_their_url(tmp_path: Path) -> None:
    files = {
        "b": file("@placeholder , @entity9's friend-@entity3 , reached @entity0 ."),
        "a": file("@entity9 was her luck , says @placeholder 's brother", "@entity3", end="\r\n"),
    }
    ((asked,), counts) = gather(tmp_path, files)
    assert asked.names == {"marta lind": 3, "ber'gen ( east": 0, "c + +": 9}
    assert [(one.sentence, " ".join(one.words), one.answer) for one in asked.questions] == [
        (0, "@placeholder , @entity9 friend - @entity3 , reached @entity0 .", 3),  # possessives as in the records
        (1, "@entity9 was her luck , says @placeholder brother", 3),
    ]
    assert counts == {"read": 2, "asked": 2}


def test_an_entity_is_its_name_whatever_a_file_s_number(tmp_path: Path) -> None:
    other = {"@entity0": "Marta Lind", "@entity5": "C++", "@entity3": "MARTA LIND", "@entity7": "Ber'gen (East)"}
    files = {
        "a": file("@placeholder reached @entity0"),
        "b": file("@entity3 of @entity0 reached @placeholder", "@entity7", other),
    }
    ((asked,), counts) = gather(tmp_path, files)
    assert asked.names == {"marta lind": 3, "ber'gen ( east": 0, "c + +": 9}
    assert {(" ".join(one.words), one.answer) for one in asked.questions} == {
        ("@placeholder reached @entity0", 3),
        ("@entity3 of @entity3 reached @placeholder", 0),
    }
    assert counts == {"read": 2, "asked": 2}


def test_a_name_without_a_word_answers_nothing_and_stays_apart(tmp_path: Path) -> None:
    entities = ENTITIES | {"@entity4": "( )"}
    files = {
        "a": file("@placeholder met @entity4", entities=entities),
        "b": file("@entity3 met @placeholder", "@entity4", entities),
    }
    ((asked,), counts) = gather(tmp_path, files)
    (question,) = asked.questions
    assert question.words == ("@placeholder", "met", "@entity4")
    assert 4 not in asked.names.values()
    assert counts == {"read": 2, "asked": 1, question_files.NO_NAME: 1}


def test_every_file_that_asks_nothing_is_counted_by_reason(tmp_path: Path) -> None:
    lonely = Record("1" * 40, ["nothing ."], ["nothing ."])
    elsewhere, alone = (Story(f"http://cnn.example/test/{number}", "test", [], []) for number in (2, 3))
    strange = {"@entity0": "Aarhus", "@entity1": "Oslo", "@entity2": "Marta Lind"}
    records = (RECORD, lonely, *(Record(one.id, ["marta lind ."], ["marta lind ."]) for one in (elsewhere, alone)))
    files = {
        "a": file("@placeholder reached @entity0"),
        "b": file("@placeholder reached @entity0"),
        "c": file("it is @placeholder", story=Story("http://cnn.example/none", "test", [], [])),
        "d": file("no question at all"),
        "e": file("@placeholder met @entity0", "@entity2", strange, elsewhere),
        "f": file("@placeholder left", "@entity0", {"@entity0": "Marta Lind"}, alone),
        "g": b"\xff\xfe",
    }
    asked, counts = gather(tmp_path, files, records)
    assert [(one.item, len(one.questions)) for one in asked] == [(RECORD.id, 1), (elsewhere.id, 0), (alone.id, 0)]
    assert counts == {
        "read": 7,
        "asked": 1,
        question_files.REPEATED: 1,
        question_files.NO_RECORD: 1,
        hermann.NO_PLACEHOLDER: 1,
        question_files.OTHER_ARTICLE: 1,
        question_files.FEW_ENTITIES: 1,
        raw.NOT_UTF8: 1,
    }
    assert counts.total() == 2 * counts["read"]  # read = asked + dropped


def test_files_about_no_record_are_an_error_that_names_one(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=rf"none of 1 question files.*a.question is about {STORY.id}.*as 'r1'.*SHA1"):
        gather(tmp_path, {"a": file("@placeholder left")}, (Record("r1", ["s"], ["t"]),))


def test_a_question_has_the_tokens_that_the_corpus_s_tokenizer_makes(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    path = tarball(tmp_path / "cnn.tgz", {"a.question": file("@placeholder 's friend ( it is @entity9 ) left")})
    found = gathered(path, [RECORD.id], counts)
    record = Record(RECORD.id, ["marta lind met c++ in ber'gen ( east ) ."], ["marta lind 's friend left ."])
    asked = asked_in(record, found[RECORD.id], lambda texts: tokenizer("ptb").tokens(texts, True), counts)
    assert asked.names["c++"] == 9
    (question,) = asked.questions
    assert " ".join(question.words) == "@placeholder 's friend -lrb- it is @entity9 -rrb- left"


def test_ready_made_names_are_found_in_hyphenated_words_where_asked(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    entities = {"@entity3": "Qaeda", "@entity9": "Bergen"}
    path = tarball(tmp_path / "cnn.tgz", {"a.question": file("al - @placeholder left @entity9", "@entity3", entities)})
    record = Record(RECORD.id, ["pro-qaeda men of east-bergen ."], ["al-qaeda left east-bergen ."])
    found = gathered(path, [RECORD.id], counts)[RECORD.id]

    def parts(texts):
        return tokenizer("words").tokens(texts, True)

    assert not asked_in(record, found, parts, counts).questions  # as about another article
    asked = asked_in(record, found, parts, counts, "parts")
    assert " ".join(asked.anonymised(record.source_tokens)) == "pro - @entity3 men of east - @entity9 ."
    assert [one.answer for one in asked.questions] == [3]

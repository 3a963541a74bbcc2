"""APES as a scorer: its two means, who is asked and who is not, what is counted."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from sumcurve.capabilities.apes import scorer as apes
from sumcurve.capabilities.apes.questions import Asked, asked_about, entity_in, write_questions
from sumcurve.capabilities.apes.settings import Apes, AttentiveSettings
from sumcurve.scores.scorer import Scores
from sumcurve.store.records import Record, RecordError, write_jsonl

RECORDS = [
    Record("two", ["."], ["ann met bob ."], group="g"),
    Record("none", ["."], ["it rained ."], group="g"),
    Record("four", ["."], ["cid met dan .", "eve met cid ."], group="h"),
]
NAMES = [{"ann": 0, "bob": 1}, {}, {"cid": 2, "dan": 5, "eve": 9}]


class Present:
    """A reader that answers with the lowest entity of the document, and is told which documents it was asked of."""

    def __init__(self, off: int = 0) -> None:
        self.off, self.asked = off, []

    def answers(
        self, documents: Sequence[Sequence[str]], questions: Sequence[Sequence[Sequence[str]]]
    ) -> list[list[int | None]]:
        found = []
        for document, of in zip(documents, questions, strict=True):
            numbers = sorted({number for word in document if (number := entity_in(word)) is not None})
            found.append([numbers[min(self.off, len(numbers) - 1)] if numbers else None] * len(of))
        return found


@pytest.fixture
def score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    readers = {tmp_path / "one": Present(), tmp_path / "two": Present(1)}
    monkeypatch.setattr(apes, "reader_of", lambda folder, renumber: readers[folder])
    questions = tmp_path / "questions"
    questions.mkdir()
    every = zip(RECORDS, NAMES, strict=True)
    asked = (Asked(record.id, names, asked_about(record.id, record.target, names)) for record, names in every)
    write_questions(questions, "test", asked)
    told = {questions: "questions", tmp_path / "two": {"seed": 8}, tmp_path / "one": {"seed": 3}}

    def run(*summaries: list[str], records: Sequence[Record] = RECORDS, guessers: bool = False) -> Scores:
        output = tmp_path / f"output-{len(list(tmp_path.iterdir()))}"
        output.mkdir()
        rows = zip(RECORDS, summaries, strict=True)
        write_jsonl(output / "summaries.jsonl", ({"id": one.id, "summary": text} for one, text in rows))
        settings = Apes(seeds=[3, 8], reader=AttentiveSettings(guessers=guessers))
        return apes.AnswersQuestions(settings).score(output, records, told)

    yield run
    apes._asked.cache_clear()


def test_the_mean_over_items_is_the_share_of_all_questions(score) -> None:
    found = score(["Ann met bob ."], ["ann ."], ["cid met dan .", "cid ."])
    assert list(found.ids) == ["two", "four"]
    told = {"questions": [2, 4], "right_3": [1, 2], "right_8": [1, 1]}
    assert {name: found.details[name] for name in told} == told
    assert found.details["answers_3"] == ["0 0", "2 2 2 2"]
    mean = sum(found.values["apes"]) / 2
    assert mean == pytest.approx(100 * (1 + 2 + 1 + 1) / (2 * 6))
    assert found.values["apes_documents"] == pytest.approx([50.0, 100 * 3 / 8])
    assert found.values["apes_entities"] == [2, 2]
    assert found.values["apes_salient"] == [2, 2]
    assert found.counts == {"empty": 0, "without_entity": 0, "questions": 6, "not_asked": 1}
    assert found.signature == "reader:attentive-100-128|seeds:3.8|entities:first-occurrence"
    by_mentions = apes.AnswersQuestions(Apes(reader=AttentiveSettings(answer="mentions"), seeds=[1]))
    assert by_mentions.signature(1) == "reader:attentive-mentions-100-128|seeds:1|entities:first-occurrence"


def test_what_names_nobody_scores_nothing_and_is_counted(score) -> None:
    found = score(["they met ."], ["ann ."], [])
    assert found.values["apes"] == found.values["apes_documents"] == [0, 0]
    assert found.values["apes_none"] == [100, 100]
    assert found.details["answers_3"] == ["- -", "- - - -"]
    assert found.values["apes_perfect"] == [0, 0]
    assert (found.counts["empty"], found.counts["without_entity"]) == (1, 2)


def test_markers_that_a_summary_writes_itself_name_nobody_and_are_counted(score) -> None:
    found = score(["they met ."], ["@entity0 @entity1 ."], ["@entity0 @entity1 @entity2's ."])
    assert found.values["apes_named"] == found.values["apes_entities"] == [0, 0]
    assert found.counts["literal_markers"] == 3  # of the two that are asked about
    assert "literal_markers" not in score(["ann ."], ["ann ."], ["dan ."]).counts


def test_questions_about_other_records_are_refused(score) -> None:
    others = [*RECORDS[:2], Record("five", ["."], ["x ."])]
    with pytest.raises(RecordError, match="questions of 3 records, but the test set has 3: 'five'"):
        score(["ann ."], ["ann ."], ["dan ."], records=others)


def test_a_test_part_of_which_nothing_is_asked_is_refused(score, tmp_path: Path) -> None:
    write_questions(tmp_path / "questions", "test", (Asked(one.id, {}, ()) for one in RECORDS))
    apes._asked.cache_clear()
    with pytest.raises(RecordError, match=r"no test reference has two entities.* remove the corpus's `cloze`"):
        score(["ann ."], ["ann ."], ["dan ."])


def test_word_overlap_answers_beside_readers_where_guessers_do(score) -> None:
    summaries = ["bob came .", "ann met ."], ["ann ."], ["cid met dan .", "eve ate ."]
    found, plain = score(*summaries, guessers=True), score(*summaries)
    # "@placeholder met bob .": ann; "ann met @placeholder .": bob. "@placeholder met dan .": cid; "cid met _": dan;
    # "_ met cid .": dan, of the sentence with more words of the question; "eve met _ .": cid, the first of two
    assert found.details["overlap"] == [2, 3]
    assert found.values["apes_overlap"] == pytest.approx([100 * 2 / 3, 100 * 3 / 3])
    assert sum(found.values["apes_overlap"]) / 2 == pytest.approx(100 * 5 / 6)
    assert "overlap" not in plain.details
    assert found.values.keys() - plain.values.keys() == {"apes_overlap"}
    assert all(found.values[name] == values for name, values in plain.values.items())


def test_who_wrote_the_reference_that_is_asked_about_is_not_asked() -> None:
    written = {name: {"system": "human", "told": {"reference": number}} for number, name in ((1, "one"), (2, "two"))}
    written["gold"] = {"system": "gold", "told": {}}
    scorer = apes.AnswersQuestions(Apes())
    assert {name: scorer.inputs(name, list(written), written) for name in written} == {
        "one": None,
        "two": {},
        "gold": {},
    }

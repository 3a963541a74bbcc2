"""Words twice in a row."""

import pytest

from sumcurve.scores.doubled import Doubled, is_doubled
from sumcurve.scores.scorer import NoSettings
from sumcurve.store.records import Record, write_jsonl


@pytest.mark.parametrize(
    ("summary", "doubled"),
    [
        (["person2 been been trouble ."], True),
        (["The the end ."], True),
        (["wait ! ! ."], False),  # signs are no words
        (["she had", "had she ?"], False),  # a sentence ends between
        (["he said that that was it ."], True),
        (["a b a b"], False),
        ([], False),
        ([""], False),
    ],
)
def test_a_word_that_follows_itself_in_a_sentence_counts(summary, doubled):
    assert is_doubled(summary) == doubled


def test_the_mean_is_the_share_of_summaries_in_percent(tmp_path):
    records = [Record(str(name), ["a source ."], ["a target ."]) for name in range(4)]
    summaries = [["no no ."], ["no ."], ["no . no"], ["yes yes"]]
    write_jsonl(
        tmp_path / "summaries.jsonl",
        [{"id": record.id, "summary": summary} for record, summary in zip(records, summaries, strict=True)],
    )
    scores = Doubled(NoSettings()).score(tmp_path, records, {})
    assert scores.values == {"doubled": [100.0, 0.0, 0.0, 100.0]}
    assert scores.references == {"doubled": 0.0}

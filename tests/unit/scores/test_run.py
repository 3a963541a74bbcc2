"""An output's summaries are scored against the test set, item by item, or not at all."""

import csv
import json

import pytest

from sumcurve.records import RecordError, write_jsonl
from sumcurve.scores import METRICS
from sumcurve.scores.rouge import score_items
from sumcurve.scores.run import write_scores
from sumcurve.settings import Rouge

TEST = [
    {"id": "a", "source": ["the fox ran"], "target": ["the fox ran home"]},
    {"id": "b", "source": ["a hen sang"], "target": ["a hen sang"], "references": [["the hen sang well"]]},
]
SUMMARIES = [{"id": "a", "summary": ["the fox"]}, {"id": "b", "summary": ["the hen sang well"]}]


@pytest.fixture
def write(tmp_path):
    def written(summaries):
        write_jsonl(tmp_path / "test.jsonl", TEST)
        write_jsonl(tmp_path / "summaries.jsonl", summaries)
        write_scores(tmp_path / "summaries.jsonl", tmp_path / "test.jsonl", Rouge(), tmp_path)
        return tmp_path

    return written


def test_items_are_kept_and_their_means_are_the_scores(write):
    folder = write(SUMMARIES)
    with (folder / "items.csv").open(newline="") as stream:
        items = list(csv.DictReader(stream))
    direct = score_items(
        [["the fox"], ["the hen sang well"]], [[["the fox ran home"]], [["a hen sang"], ["the hen sang well"]]], Rouge()
    )
    scores = json.loads((folder / "scores.json").read_text())
    assert [item["id"] for item in items] == ["a", "b"]
    for metric in METRICS:
        assert [float(item[metric]) for item in items] == [item[metric] for item in direct]
        assert scores["means"][metric] == pytest.approx(sum(float(item[metric]) for item in items) / 2, abs=1e-15)
    assert float(items[1]["rouge1"]) == 1.0  # the further reference counts


@pytest.mark.parametrize(
    ("summaries", "message"),
    [
        (SUMMARIES[::-1], r"summaries.jsonl:1: id 'b', but the test set has 'a' there"),
        (SUMMARIES[:1], "holds 1 summaries for 2 test items"),
        ([*SUMMARIES, {"id": "c", "summary": ["x"]}], "holds 3 summaries for 2 test items"),
    ],
)
def test_summaries_of_another_test_set_are_refused(write, summaries, message):
    with pytest.raises(RecordError, match=message):
        write(summaries)

"""An output is scored against the test set, item by item, or not at all, and its folder says what its columns are."""

import csv
import json
from dataclasses import asdict

import pytest
from pydantic import BaseModel

from sumcurve.rouge.scorer import score_items
from sumcurve.scores.rouge_f1 import RougeF1
from sumcurve.scores.run import write_scores
from sumcurve.scores.scorer import Metric, Scores, group_of, summaries_of
from sumcurve.settings.study import Rouge
from sumcurve.store.records import Record, RecordError, write_jsonl

TEST = [
    {"id": "a", "source": ["the fox ran"], "target": ["the fox ran home"], "group": "foxes"},
    {"id": "b", "source": ["a hen sang"], "target": ["a hen sang"], "references": [["the hen sang well"]]},
]
SUMMARIES = [{"id": "a", "summary": ["the fox"]}, {"id": "b", "summary": ["the hen sang well"]}]
DIRECT = score_items(
    [["the fox"], ["the hen sang well"]], [[["the fox ran home"]], [["a hen sang"], ["the hen sang well"]]], Rouge()
)


class Nothing(BaseModel):
    pass


class Words:
    """Counts the words of a summary, twice: each item against each half of a made-up rating."""

    Settings = Nothing
    metrics = (Metric("words", "Words", "W", "words", 1, higher_is_better=False),)
    value = 0.0
    column, halves = "rater", ("left", "right")

    def __init__(self, settings):
        self.settings = settings

    def inputs(self, output, outputs, specifications):
        return {other: other for other in outputs if other != output}

    def score(self, output, records, inputs):
        counts = [len(" ".join(row["summary"]).split()) + self.value for row in summaries_of(output, records)]
        return Scores(
            [record.id for _ in self.halves for record in records],
            [group_of(record) for _ in self.halves for record in records],
            {"words": counts * len(self.halves)},
            f"read:{'+'.join(sorted(inputs.values()))}",
            further={self.column: [half for half in self.halves for _ in records]},
            references={"words": 3.5},
        )


@pytest.fixture
def write(tmp_path):
    def written(summaries, scorer=None, inputs=None):
        write_jsonl(tmp_path / "summaries.jsonl", summaries)
        write_scores(
            "it", scorer or RougeF1(Rouge()), tmp_path, [Record(**row) for row in TEST], inputs or {}, tmp_path
        )
        with (tmp_path / "items.csv").open(newline="") as stream:
            return list(csv.DictReader(stream)), json.loads((tmp_path / "scores.json").read_text())

    return written


def test_items_are_kept_in_points_and_their_means_are_the_scores(write):
    items, scores = write(SUMMARIES)
    assert [(item["id"], item["group"]) for item in items] == [("a", "foxes"), ("b", "b")]
    assert [metric["name"] for metric in scores["metrics"]] == [metric.name for metric in RougeF1.metrics]
    for metric in scores["metrics"]:
        name = metric["name"]
        assert metric["unit"] == "points"
        for part in ("", "_precision", "_recall"):
            assert [float(item[name + part]) for item in items] == [100 * item[name + part] for item in DIRECT]
        assert scores["means"][name] == pytest.approx(sum(float(item[name]) for item in items) / 2, abs=1e-12)
    assert float(items[1]["rouge1"]) == 100.0  # the further reference counts
    assert scores["counts"] == {"empty": 0}
    items, scores = write([{"id": "a", "summary": []}, SUMMARIES[1]])
    assert (float(items[0]["rouge1"]), scores["counts"]) == (0.0, {"empty": 1})


def test_a_scorer_has_items_and_inputs_of_its_own(write, tmp_path):
    items, scores = write(SUMMARIES, Words(Nothing()), {tmp_path: "outputs/other"})
    assert scores["key"] == ["id", "rater"]
    assert [tuple(item[column] for column in (*scores["key"], "group")) for item in items] == [
        ("a", "left", "foxes"),
        ("b", "left", "b"),
        ("a", "right", "foxes"),
        ("b", "right", "b"),
    ]
    assert [float(item["words"]) for item in items] == [2, 4, 2, 4]
    assert (scores["groups"], scores["items"], scores["references"]) == (2, 4, {"words": 3.5})
    assert scores["signature"] == "read:outputs/other"
    assert scores["metrics"] == [asdict(metric) for metric in Words.metrics]
    assert scores["metrics"][0]["higher_is_better"] is False


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"value": float("nan")}, "words of item a, left is nan"),
        ({"halves": ("left", "left")}, "scorer it: item a, left comes twice"),
        ({"column": "words"}, "scorer it: two columns are called words"),
        ({"column": "group"}, "scorer it: two columns are called group"),
    ],
)
def test_an_item_has_one_row_and_a_column_one_name(write, told, message):
    broken = Words(Nothing())
    for name, value in told.items():
        setattr(broken, name, value)
    with pytest.raises(RecordError, match=message):
        write(SUMMARIES, broken)


@pytest.mark.parametrize("told", [{}, {"ranks": False, "threshold": 1.0}])
def test_what_ranks_or_decides_has_a_direction(told):
    assert Metric("length", "Length", "len", "words", higher_is_better=None, ranks=False).describes
    assert not Metric("length", "Length", "len", "words", **told).describes
    with pytest.raises(ValueError, match="metric length ranks or has a threshold: say whether higher is better"):
        Metric("length", "Length", "len", "words", higher_is_better=None, **told)


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

"""Frames of summaries: a system that fills one is seen, references are not, and all is what counting by hand gives."""

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.scores.frames import LEAST_ENGLISH, Frames, frame, measures
from sumcurve.scores.scorer import NoSettings
from sumcurve.store.records import Record, RecordError, write_jsonl
from sumcurve.systems.extractive import FUNCTION_WORDS

FILLED = [
    "returns the name of a node .",
    "Return the largest value of a list",
    "the name of a node",
    "nodes , names",
    "",
]
REFERENCES = [
    "get the name of this node .",
    "the largest of all values in a list , or nothing",
    "a node is called by its name",
    "whether two lists have the same values",
    "names and nodes",
]


def score(folder, summaries, references=REFERENCES):
    records = [Record(str(place), ["a source"], [reference], group="all") for place, reference in enumerate(references)]
    rows = [{"id": one.id, "summary": [text] if text else []} for one, text in zip(records, summaries, strict=True)]
    write_jsonl(folder / "summaries.jsonl", rows)
    return Frames(NoSettings()).score(folder, records, {})


def test_a_system_that_fills_one_frame_is_seen_and_references_are_not(tmp_path):
    found = score(tmp_path, FILLED)
    assert found.details["frame"] == ["… the … of a …", "… the … of a …", "the … of a …", "", ""]
    assert found.values["commonest_frame"] == [100, 100, 0, 0, 0]
    assert found.references == {"commonest_frame": 20, "distinct": 100}
    assert score(tmp_path, REFERENCES).values["commonest_frame"].count(100) == 1
    assert found.counts == {"empty": 1}
    assert score(tmp_path, ["nodes , names"] * 5).values == {"commonest_frame": [0] * 5, "distinct": [100, *[0] * 4]}


@given(st.lists(st.lists(st.sampled_from(["the", "of", "A", "node", "name", ",", "…"]), max_size=5), max_size=12))
def test_values_are_what_comparing_every_two_summaries_gives(words):
    texts = [" ".join(one) for one in words]
    content = "|".join(sorted({re.escape(word) for one in words for word in one if word.lower() not in FUNCTION_WORDS}))

    def of(text):
        return re.sub(rf"(?<!\S)({content})( ({content}))*(?!\S)", "_", text.lower()) if content else text.lower()

    shapes = [of(text) for text in texts]
    has = [bool(FUNCTION_WORDS & {*text.lower().split()}) for text in texts]
    agreeing = [0] * len(texts)
    for (place, one), (_, other) in product(enumerate(shapes), repeat=2):
        agreeing[place] += one == other and has[place]
    found = measures(texts)
    assert sum(found["commonest_frame"]) == 100 * max(agreeing, default=0)
    with_it = {shape for shape, value in zip(shapes, found["commonest_frame"], strict=True) if value}
    assert len(with_it) <= 1
    assert sum(found["distinct"]) == 100 * len(set(texts))
    assert found["distinct"] == [100 * (text not in texts[:place]) for place, text in enumerate(texts)]
    assert all(bool(frame(text)) == known for text, known in zip(texts, has, strict=True))


@pytest.mark.parametrize(
    "reference",
    [
        "返回 给定 节点 的 名称",
        "gibt den Namen eines Knotens im gegebenen Graphen zurück",
        "devolve o nome de um nó do grafo a partir da sua chave",
    ],
)
def test_in_another_language_frames_are_not_defined(tmp_path, reference):
    with pytest.raises(
        RecordError, match=rf"frames are not defined .* at least {LEAST_ENGLISH:g} %; write `frames: null`"
    ):
        score(tmp_path, ["x"], [reference])

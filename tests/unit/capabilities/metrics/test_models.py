"""BERTScore, on small random encoders made here, against the paper's formulas pair by pair and word by word."""

import math
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from sumcurve.capabilities.metrics.bert_score import BertScore
from sumcurve.capabilities.metrics.encoder import batches
from sumcurve.store.records import RecordError

WRITTEN = ["the otter swims", "a heron", "otter otter pond", "", "the old otter swims in the pond at night", "a heron"]
REFERENCES = [
    ["the otter swims well"],
    ["the heron waits", "a heron"],
    ["one pond"],
    ["the heron"],
    ["an otter in a pond at night", "the otter"],
    ["herons"],
]


@torch.no_grad()
def matched(by: BertScore, layer: int, candidate: str, reference: str, idf: dict[int, float] | None) -> list[float]:
    """Precision, recall and F1 of two texts, each alone and unpadded, word by word."""
    sides = []
    for text in (candidate, reference):
        ids = by.tokenizer(text)["input_ids"]
        states = by.network(torch.tensor([ids]), output_hidden_states=True).hidden_states[layer][0]
        sides.append((ids, states.tolist()))

    def cosine(one: list[float], other: list[float]) -> float:
        return sum(x * y for x, y in zip(one, other, strict=True)) / math.hypot(*one) / math.hypot(*other)

    def share(side: int) -> float:
        ids, states = sides[side]
        inner = range(1, len(ids) - 1)  # the marks weigh nothing, but can be matched
        weights = [1.0 if idf is None else idf[ids[place]] for place in inner]
        if not sum(weights):
            return 0.0
        best = [max(cosine(states[place], other) for other in sides[1 - side][1]) for place in inner]
        return sum(w * b for w, b in zip(weights, best, strict=True)) / sum(weights)

    precision, recall = share(0), share(1)
    if not len(sides[0][0]) > 2:
        return [0.0, 0.0, 0.0]
    return [precision, recall, 2 * precision * recall / (precision + recall)]


@pytest.mark.parametrize("idf", [False, True])
def test_bertscore_is_greedy_matching_word_by_word(encoder, idf) -> None:
    by = BertScore(encoder, 2)
    every = [reference for some in REFERENCES for reference in some]
    texts = [set(by.tokenizer(text)["input_ids"]) for text in every]
    numbers = {number for ids in [*texts, *(by.tokenizer(text)["input_ids"] for text in WRITTEN)] for number in ids}
    rare = {n: math.log((len(texts) + 1) / (sum(n in ids for ids in texts) + 1)) for n in numbers} if idf else None
    expected = [
        max((matched(by, 2, text, reference, rare) for reference in some), key=lambda row: row[2])
        for text, some in zip(WRITTEN, REFERENCES, strict=True)
    ]
    scores = by.scores(WRITTEN, REFERENCES, idf)
    assert torch.allclose(torch.tensor(scores), torch.tensor(expected), atol=2e-5)
    assert scores[3] == (0.0, 0.0, 0.0)  # nothing was written
    assert scores[1][2] == pytest.approx(1, abs=1e-5)  # its best reference is the same text
    low = (0.2, 0.3, 0.25)
    rescaled = by.scores(WRITTEN, REFERENCES, idf, low)
    for row, plain in zip(rescaled, scores, strict=True):
        assert row == pytest.approx([(value - base) / (1 - base) for value, base in zip(plain, low, strict=True)])


def test_scores_do_not_depend_on_what_else_is_scored_and_in_which_order(encoder) -> None:
    by = BertScore(encoder, 3)
    whole = by.scores(WRITTEN, REFERENCES)
    assert by.scores(WRITTEN[::-1], REFERENCES[::-1]) == whole[::-1]
    alone = [by.scores([text], [some])[0] for text, some in zip(WRITTEN, REFERENCES, strict=True)]
    assert torch.allclose(torch.tensor(alone), torch.tensor(whole), atol=1e-5)


def test_each_distinct_text_is_encoded_once_among_texts_of_like_length(encoder, monkeypatch) -> None:
    by = BertScore(encoder, 3)
    shapes: list[tuple[int, int]] = []
    by.network.register_forward_pre_hook(lambda _, __, given: shapes.append(given["input_ids"].shape), with_kwargs=True)
    monkeypatch.setattr("sumcurve.capabilities.metrics.bert_score.batches", lambda lengths: batches(lengths, 20))
    by.scores(WRITTEN * 3, REFERENCES * 3)
    distinct = {*WRITTEN, *(reference for some in REFERENCES for reference in some)}
    assert sum(rows for rows, _ in shapes) == len(distinct)
    assert [width for _, width in shapes] == sorted(width for _, width in shapes)


def test_batches_hold_every_place_once_and_are_of_like_lengths() -> None:
    lengths = [5, 1, 9, 30, 2, 9, 4]
    made = list(batches(lengths, 20))
    assert sorted(place for batch in made for place in batch) == list(range(7))
    flat = [lengths[place] for batch in made for place in batch]
    assert flat == sorted(flat)
    assert all(len(batch) == 1 or max(lengths[place] for place in batch) * len(batch) <= 20 for batch in made)


def test_folders_that_cannot_be_used_are_named(encoder, tmp_path) -> None:
    with pytest.raises(RecordError, match="layer 4 is asked for, but the model has 3"):
        BertScore(encoder, 4)
    with pytest.raises(RecordError, match=r"holds no \*\.safetensors"):
        BertScore(tmp_path, 1)
    part = Path(shutil.copytree(encoder, tmp_path / "part"))
    weights = load_file(part / "model.safetensors")
    del weights["encoder.layer.0.output.dense.weight"]
    save_file(weights, part / "model.safetensors", {"format": "pt"})
    with pytest.raises(RecordError, match=r"no weights encoder\.layer\.0\.output\.dense\.weight"):
        BertScore(part, 1)

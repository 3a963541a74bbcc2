"""Metrics of models, on small random ones made here, against the papers' formulas pair by pair and word by word."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import pretrained
from sumcurve.capabilities.metrics.bart_score import BartScore
from sumcurve.capabilities.metrics.bert_score import BertScore
from sumcurve.capabilities.metrics.encoder import batches
from sumcurve.capabilities.metrics.entailment import Entailment
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
SOURCES = [["The otter swims in the pond.", "It is night."], ["A heron waits.", "It is old."], ["One pond."]] * 2
LABELS = {0: "contradiction", 1: "neutral", 2: "ENTAILMENT"}


def save(folder: Path, kind: str, **told: Any) -> Path:
    """A small random RoBERTa of a class of transformers, with its tokenizer."""
    tokenizer = pretrained.make_tokenizer(["the old otter swims in a pond at night heron waits"], "bart")
    tokenizer.cls_token, tokenizer.sep_token, tokenizer.model_max_length = "<s>", "</s>", 40
    torch.manual_seed(3)
    sizes = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 32}
    config = transformers.RobertaConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=42,
        initializer_range=0.8,
        pad_token_id=tokenizer.pad_token_id,
        **sizes,
        **told,
    )
    getattr(transformers, kind)(config).eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> Path:
    return save(tmp_path_factory.mktemp("encoder"), "RobertaModel")


@pytest.fixture(scope="module")
def classifier(tmp_path_factory) -> Path:
    return save(tmp_path_factory.mktemp("classifier"), "RobertaForSequenceClassification", id2label=LABELS)


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


def test_bartscore_is_the_models_own_loss(tmp_path) -> None:
    folder = pretrained.make_folder(tmp_path, "bart", ["the old otter swims in a pond at night"], spread=0.5)
    by = BartScore(folder)
    sources = [" ".join(source) for source in SOURCES]
    scores = by.scores(sources, WRITTEN)
    for source, text, score in zip(sources, WRITTEN, scores, strict=True):
        read, labels = (
            by.tokenizer(one, return_tensors="pt", truncation=True, max_length=64) for one in (source, text)
        )
        with torch.no_grad():
            loss = by.network(**read, labels=labels["input_ids"]).loss
        assert score == pytest.approx(-loss.item(), abs=1e-4)
    assert by.scores(sources[::-1], WRITTEN[::-1]) == scores[::-1]


@torch.no_grad()
def likely(by: Entailment, premise: str, hypothesis: str) -> list[float]:
    read = by.tokenizer(premise, hypothesis, return_tensors="pt", truncation="only_first", max_length=40)
    return by.network(**read).logits.softmax(-1)[0].tolist()


def test_entailment_is_the_best_premise_of_every_sentence(classifier) -> None:
    summaries = [[text, "it is night"] if text else [] for text in WRITTEN]
    by = Entailment(classifier)
    scores = by.scores(SOURCES, summaries)
    less = Entailment(classifier, contradiction="contradiction").scores(SOURCES, summaries)
    for source, summary, score, lower in zip(SOURCES, summaries, scores, less, strict=True):
        rows = [[likely(by, premise, sentence) for premise in source] for sentence in summary]
        best = [max(row[2] for row in premises) for premises in rows]
        assert score == pytest.approx(sum(best) / len(best) if best else 0.0, abs=1e-5)
        best = [max(row[2] - row[0] for row in premises) for premises in rows]
        assert lower == pytest.approx(sum(best) / len(best) if best else 0.0, abs=1e-5)


def test_chunks_hold_whole_sentences_in_order_and_leave_room_for_the_hypothesis(classifier) -> None:
    by = Entailment(classifier)
    source = [f"Sentence {number} of the pond." for number in range(6)]
    runs = by.premises(source, True, ["the otter swims"])
    assert " ".join(runs) == " ".join(source)
    assert 1 < len(runs) < len(source)
    assert all(len(by.tokenizer(run, "the otter swims")["input_ids"]) <= 40 for run in runs)
    assert by.premises(source, False, ["x"]) == source


def test_batches_hold_every_place_once_and_are_of_like_lengths() -> None:
    lengths = [5, 1, 9, 30, 2, 9, 4]
    made = list(batches(lengths, 20))
    assert sorted(place for batch in made for place in batch) == list(range(7))
    flat = [lengths[place] for batch in made for place in batch]
    assert flat == sorted(flat)
    assert all(len(batch) == 1 or max(lengths[place] for place in batch) * len(batch) <= 20 for batch in made)


def test_folders_that_cannot_be_used_are_named(encoder, classifier, tmp_path) -> None:
    with pytest.raises(RecordError, match="layer 4 is asked for, but the model has 3"):
        BertScore(encoder, 4)
    with pytest.raises(RecordError, match=r"holds no \*\.safetensors"):
        BertScore(tmp_path, 1)
    with pytest.raises(RecordError, match="none of them 'supported': name one of them"):
        Entailment(classifier, "supported")
    unnamed = save(tmp_path / "unnamed", "RobertaForSequenceClassification", num_labels=2)
    with pytest.raises(RecordError, match="is not known: name it as `label`"):
        Entailment(unnamed)
    assert Entailment(unnamed, "LABEL_1").label == 1
    weights = load_file(unnamed / "model.safetensors")
    del weights["classifier.dense.weight"]
    save_file(weights, unnamed / "model.safetensors", {"format": "pt"})
    with pytest.raises(RecordError, match=r"no weights classifier\.dense\.weight"):
        Entailment(unnamed, "LABEL_1")

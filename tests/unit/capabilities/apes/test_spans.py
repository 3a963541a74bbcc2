"""An extractive question-answering model as a reader: its best span among the entities that a document names."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import pretrained
from sumcurve.capabilities.apes.questions import entity_in
from sumcurve.capabilities.apes.settings import SpanReaderSettings
from sumcurve.capabilities.apes.span_reader import take_over
from sumcurve.capabilities.apes.spans import MODEL, ReaderError, SpanAnswers
from sumcurve.store.records import read_csv
from towns import write_towns

SETTINGS = SpanReaderSettings(kind="transformers", sha256="ab" * 32)
DOCUMENTS = [
    ["the", "@entity0", "met", "@entity12", "at", "the", "old", "@entity3", "."],
    ["@entity3", "saw", "the", "bell", "."],
    ["nobody", "came", "."],
]
QUESTIONS = [
    [["@placeholder", "met", "@entity12", "."], ["the", "@entity0", "met", "@placeholder", "at", "night", "."]],
    [["@placeholder", "saw", "it", "."]],
    [["@placeholder", "came", "."]],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model")
    tokenizer = pretrained.make_tokenizer(["the entity12 met what at the old bell . entity3 saw it"], "bart")
    torch.manual_seed(5)
    sizes = {"layers": 1, "attention_heads": 2, "ffn_dim": 32}
    told: dict[str, Any] = {f"{side}_{name}": size for side in ("encoder", "decoder") for name, size in sizes.items()}
    told |= {name: getattr(tokenizer, name) for name in ("bos_token_id", "pad_token_id", "eos_token_id")}
    told |= {"decoder_start_token_id": tokenizer.eos_token_id, "init_std": 0.5, "dropout": 0.0}
    config = transformers.BartConfig(vocab_size=len(tokenizer), d_model=16, max_position_embeddings=128, **told)
    transformers.BartForQuestionAnswering(config).save_pretrained(path)
    tokenizer.model_max_length = 128
    tokenizer.save_pretrained(path)
    return path


@torch.no_grad()
def by_hand(reader: SpanAnswers, document: list[str], question: list[str]) -> int | None:
    """Word by word in subwords, unpadded, every mention of an entity as a span."""
    tokenizer = reader.tokenizer

    def said(words: list[str]) -> list[list[int]]:
        plain = ["what" if word == "@placeholder" else word.lstrip("@") for word in words]
        return [tokenizer(word, add_special_tokens=False)["input_ids"] for word in plain]

    # As the tokenizer joins pairs: no mark stands between the two texts, or around the second, in this one.
    whole = tokenizer([word.lstrip("@") for word in ["x"]], ["y"])["input_ids"][0]
    assert len(whole) == 2
    ids = [one for word in said(question) for one in word]
    spans: list[tuple[int, int, int]] = []
    for word, of in zip(document, said(document), strict=True):
        number = entity_in(word)
        if number is not None:
            spans.append((number, len(ids), len(ids) + len(of) - 1))
        ids += of
    out = reader.model(torch.tensor([ids]))
    liked = [(float(out.start_logits[0, start] + out.end_logits[0, end]), -number) for number, start, end in spans]
    return -max(liked)[1] if liked else None


def test_the_answer_is_the_entity_with_the_best_span(folder: Path) -> None:
    reader = SpanAnswers(folder, SETTINGS)
    found = reader.answers(DOCUMENTS, QUESTIONS)
    assert found == [
        [by_hand(reader, document, question) for question in asked]
        for document, asked in zip(DOCUMENTS, QUESTIONS, strict=True)
    ]
    assert found[1:] == [[3], [None]]


def test_what_cannot_answer_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ReaderError, match=r"no \*\.safetensors"):
        SpanAnswers(tmp_path, SETTINGS)
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    weights = load_file(folder / "model.safetensors")
    save_file({name: one for name, one in weights.items() if "qa_outputs" not in name}, tmp_path / "model.safetensors")
    with pytest.raises(ReaderError, match=r"lack qa_outputs.*never learned to answer"):
        SpanAnswers(tmp_path, SETTINGS)


def test_it_is_taken_over_with_what_it_answers_of_held_out_questions(folder: Path, tmp_path: Path) -> None:
    corpus, questions = write_towns(tmp_path / "towns", train=6, valid=4, test=6)
    stage = tmp_path / "stage"
    stage.mkdir()
    take_over({"threads": 1}, SETTINGS, folder, corpus, questions, stage)
    rows = read_csv(stage / "held_out.csv")
    assert rows
    assert set(rows[0]) == {"id", "group", "reader", "majority", "frequency", "chance"}
    assert SpanAnswers(stage / MODEL, SETTINGS).answers(DOCUMENTS, QUESTIONS)[1:] == [[3], [None]]

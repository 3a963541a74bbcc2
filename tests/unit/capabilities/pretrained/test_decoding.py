"""Pretrained models: our search against transformers' `generate`, our log-probabilities against the network's own."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import NoRepeatNGramLogitsProcessor

import pretrained
from sumcurve.capabilities.pretrained.decoding import in_subwords, target_logp, write
from sumcurve.capabilities.pretrained.model import DecoderOnly, Pretrained, load
from sumcurve.capabilities.pretrained.subwords import TextExample
from sumcurve.capabilities.pretrained.system import PretrainedSystem
from sumcurve.decoding.search import generate, greedy
from sumcurve.models.batch import Batch
from sumcurve.settings.search import Search
from sumcurve.settings.study import Reading
from sumcurve.store.records import Record, Text
from sumcurve.systems.system import Item
from unit.capabilities.pretrained.conftest import settings_of

WORDS = [f"w{number}" for number in range(30)]


@pytest.fixture(scope="module")
def items() -> list[Item]:
    rng = random.Random(3)

    def sentence(least: int, most: int) -> str:
        return " ".join(rng.choice(WORDS) for _ in range(rng.randint(least, most)))

    found = []
    for number in range(12):
        source = [sentence(2, 6).capitalize() for _ in range(rng.randint(1, 2))]
        target = [sentence(1, 3).capitalize() for _ in range(rng.randint(1, 2))]
        lowered = [[text.lower() for text in part] for part in (source, target)]
        found.append(Item(Record(str(number), *lowered, group=str(number % 5)), Text(str(number), source, target)))
    return found


@pytest.fixture(scope="module")
def made(items: list[Item], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], SimpleNamespace]:
    """A random model of a kind, its folder, and the items as examples; made once."""
    torch.set_num_threads(1)
    there: dict[str, SimpleNamespace] = {}
    texts = [sentence for item in items for sentence in (*item.text.source, *item.text.target)]

    def make(kind: str) -> SimpleNamespace:
        if kind not in there:
            folder = tmp_path_factory.mktemp(kind)
            pretrained.make_folder(folder, kind, texts, spread=pretrained.SPREAD[kind])
            model = load(folder, settings_of(kind), lower=True, seed=1).eval()
            examples = [model.subwords.example(item.record, item.text, 10, 5, 30) for item in items]
            there[kind] = SimpleNamespace(folder=folder, model=model, examples=examples)
        return there[kind]

    return make


@pytest.fixture(params=list(pretrained.ARCHITECTURES))
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


def source_mask(model: Pretrained, batch: Batch) -> Tensor:
    places = torch.arange(batch.src.shape[1])
    if isinstance(model, DecoderOnly):
        places = places.flip(0)
    return (places.unsqueeze(0) < batch.src_len.unsqueeze(1)).long()


def by_generate(model: Pretrained, batch: Batch, search: Search) -> tuple[list[list[int]], Tensor | None]:
    """What transformers writes, end mark included, and the scores of a beam.

    An n-gram of a summary is blocked where the summary has it; generate's own setting blocks those of a prompt, too.
    """
    network, told = model.network, dict[str, Any]()
    begin = len(model.prefix) or batch.src.shape[1]

    def blocked(ids: Tensor, scores: Tensor) -> Tensor:
        return NoRepeatNGramLogitsProcessor(search.block_ngram)(ids[:, begin:], scores)

    if model.prefix:
        told["decoder_input_ids"] = torch.tensor([model.prefix] * len(batch))
    if network.config.model_type == "led":
        told["global_attention_mask"] = torch.zeros_like(batch.src).index_fill(1, torch.tensor(0), 1)
    out = network.generate(
        batch.src,
        attention_mask=source_mask(model, batch),
        do_sample=False,
        num_beams=search.beam,
        max_new_tokens=search.max_tokens,
        min_new_tokens=search.min_tokens,
        logits_processor=[blocked] if search.block_ngram else [],
        length_penalty=search.alpha,
        early_stopping={"first": True, "heuristic": False, "never": "never"}[search.early_stopping],
        suppress_tokens=[one for one in model.marks.never if one < network.config.vocab_size] or None,
        pad_token_id=model.source_pad,
        eos_token_id=model.marks.end,
        return_dict_in_generate=True,
        output_scores=True,
        **told,
    )
    written = []
    for row in out.sequences[:, begin:].tolist():
        written.append(row[: row.index(model.marks.end) + 1] if model.marks.end in row else row)
    return written, out.get("sequences_scores")


SEARCHES = [
    Search(beam=1, max_tokens=9, min_tokens=0, block_ngram=0),
    Search(beam=1, max_tokens=12, min_tokens=5, block_ngram=2),
    Search(beam=4, max_tokens=9, min_tokens=0, block_ngram=0),
    Search(beam=3, max_tokens=12, min_tokens=5, block_ngram=2, alpha=2.0, early_stopping="never"),
    Search(beam=2, max_tokens=12, min_tokens=0, block_ngram=0, alpha=0.5, early_stopping="first"),
]


def check_search(model: Pretrained, examples: Sequence[TextExample], search: Search) -> None:
    """Our search writes what `generate` writes."""
    batch = model.collate(examples)
    decode = greedy if search.beam == 1 else generate
    found = decode(model, batch, search, exempt=())
    expected, scores = by_generate(model, batch, search)
    written = [[one for one in row if one != model.marks.pad] for row in found.tokens[:, 0].tolist()]
    assert written == expected
    if scores is not None:
        torch.testing.assert_close(found.score[:, 0], scores, rtol=1e-4, atol=1e-5)
    assert len({tuple(row) for row in written}) > 2


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: search.signature())
def test_the_search_gives_what_generate_gives(kind: str, search: Search, made: Callable) -> None:
    check_search(made(kind).model, made(kind).examples, search)


def own_logp(model: Pretrained, example: TextExample) -> float:
    """log p(target | source) by one plain call of the network."""
    target = torch.tensor(example.target)
    source = torch.tensor([example.source])
    with torch.no_grad():
        if isinstance(model, DecoderOnly):
            ids = torch.cat((source, target[None]), 1)
            logits = model.network(input_ids=ids).logits[0, source.shape[1] - 1 : -1]
        else:
            told = {}
            if model.network.config.model_type == "led":
                told["global_attention_mask"] = torch.zeros_like(source).index_fill(1, torch.tensor(0), 1)
            inputs = torch.tensor([[*model.prefix, *example.target[:-1]]])
            logits = model.network(input_ids=source, decoder_input_ids=inputs, **told).logits[0]
            logits = logits[len(model.prefix) - 1 :]
    return float(logits.log_softmax(1).gather(1, target[:, None]).sum())


def test_log_probabilities_are_the_networks_own(kind: str, made: Callable, items: list[Item]) -> None:
    model, examples = made(kind).model, made(kind).examples
    expected = [own_logp(model, example) for example in examples]
    system = PretrainedSystem(model, settings_of(kind), Search(beam=1, max_tokens=8), 10, 5, "cpu")
    assert system.logp(items, [item.text.target for item in items]) == pytest.approx(expected, rel=1e-4)
    others = np.array([[(number + 1) % len(items) for number in range(len(items))]])
    found = target_logp(model, examples, others, 5, "cpu")
    sums = np.add.reduceat(found.own, found.starts[:-1])
    assert sums == pytest.approx(expected, rel=1e-4)
    sources = [examples[other].source for other in others[0]]
    swapped = [replace(example, source=source) for example, source in zip(examples, sources, strict=True)]
    again = np.add.reduceat(found.others[0], found.starts[:-1])
    assert again == pytest.approx([own_logp(model, example) for example in swapped], rel=1e-4)
    assert not np.allclose(again, sums, rtol=1e-3)
    ends = [replace(example, target=[model.marks.end], words=[0], size=1) for example in examples[:3]]
    batch = model.collate(ends)  # of the end mark alone
    for memory in (None, model.encode(batch)):
        expected = [own_logp(model, example) for example in ends]
        assert model.gold(batch, memory)[0][:, 0].tolist() == pytest.approx(expected, rel=1e-4)


def test_the_words_of_a_reading_are_those_of_the_record(kind: str, made: Callable, items: list[Item]) -> None:
    """So that the scorer compares the system on the words of all others."""
    from sumcurve.models.vocabulary import Vocabulary

    system = PretrainedSystem(made(kind).model, settings_of(kind), Search(beam=1, max_tokens=8), 10, 4, "cpu")
    found = system.reading(items, Reading(others=2))
    expected = [
        len(Vocabulary([]).target([sentence.split(" ") for sentence in item.record.target], [], 4)[1]) for item in items
    ]
    assert np.diff(found.starts).tolist() == expected
    assert min(expected) < 4 < max(expected) + 1


def test_a_long_target_has_positions_behind_every_source(kind: str, made: Callable, items: list[Item]) -> None:
    """It is longer than what a search may write, and the other sources are as long as there are positions."""
    long, short = [" ".join(WORDS[:15])], ["w1"]
    asked = [
        Item(replace(item.record, target=target), Text(item.text.id, [" ".join(WORDS * 3)], target))
        for item, target in zip(items, [long, *[short] * (len(items) - 1)], strict=True)
    ]
    system = PretrainedSystem(made(kind).model, settings_of(kind), Search(beam=1, max_tokens=2), 90, 20, "cpu")
    assert np.isfinite(system.reading(asked, Reading(others=2)).others).all()


def test_company_changes_nothing(kind: str, made: Callable) -> None:
    model, examples = made(kind).model, made(kind).examples
    search = Search(beam=3, max_tokens=8, block_ngram=0)
    together = write(model, examples, search, "cpu")
    assert together == [write(model, [example], search, "cpu")[0] for example in examples]


def test_a_decoder_does_not_repeat_its_prompt(made: Callable) -> None:
    model, examples = made("gpt2").model, made("gpt2").examples
    written = write(model, examples, Search(beam=1, max_tokens=6, block_ngram=0), "cpu")
    for example, text in zip(examples, written, strict=True):
        prompt = model.subwords.text(example.source)
        assert prompt.endswith("\nSummary:")
        assert "Summary" not in text
        assert not text.startswith(prompt[:10])


def test_limits_in_words_become_limits_in_subwords(made: Callable) -> None:
    model = made("bart").model
    assert in_subwords(Search(max_tokens=10), settings_of("bart", tokens_a_word=1.5), model).max_tokens == 15
    assert in_subwords(Search(max_tokens=100), settings_of("bart"), model).max_tokens == 64 - len(model.prefix)
    with pytest.raises(ValueError, match="coverage_penalty"):
        in_subwords(Search(max_tokens=10, coverage_penalty=1.0), settings_of("bart"), model)


def test_an_output_is_cut_to_the_words_of_the_corpus(kind, made, items, tmp_path) -> None:
    system = PretrainedSystem(made(kind).model, settings_of(kind), Search(beam=2, max_tokens=3), 10, 5, "cpu")
    for summary, text in zip(system.summarize(items), system.written(system.examples(items)), strict=True):
        words = " ".join(summary).split()
        assert len(words) <= 3
        assert "".join(words) == "".join(text.lower().split())[: len("".join(words))]

"""The extract-rewrite system: what it extracts, how it rewrites, how it scores a reference."""

import itertools
import math
import random
from dataclasses import replace

import pytest
import torch

from invented import build
from sumcurve.capabilities.extract_rewrite import decoder as module
from sumcurve.capabilities.extract_rewrite.decoder import ExtractRewriteDecoder, compose, rewrite, rewriter
from sumcurve.capabilities.extract_rewrite.model import collate as collate_documents
from sumcurve.capabilities.extract_rewrite.model import read_document
from sumcurve.capabilities.extract_rewrite.settings import ExtractRewriteSettings
from sumcurve.models.batch import collate, encode
from sumcurve.models.summarizer import score
from sumcurve.models.vocabulary import EOS
from sumcurve.settings.models import RecurrentSettings
from sumcurve.settings.search import Search
from sumcurve.store.records import Record

CPU = torch.device("cpu")
SETTINGS = ExtractRewriteSettings(
    kind="extract-rewrite",
    abstractor=RecurrentSettings(
        kind="recurrent", embedding=8, hidden=8, feed="merged", copy_attention=True, output="untied"
    ),
    filters=4,
    hidden=8,
    sentences=3,
    max_sentences=4,
    rewrite_tokens=5,
)


@pytest.fixture(scope="module")
def model(vocabulary):
    """Peaked distributions; about half the rewrites end early, some extractions do."""
    model = build(SETTINGS, len(vocabulary), 1)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() >= 2:
                parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.7)
        model.abstractor.output.bias[EOS] += 2.0
        model.stop.mul_(4)
    return model.eval()


def records(count, seed=0, sentences=6):
    """Sources of 1 to `sentences` sentences, a third of their words in no vocabulary; references of 1 to 3."""
    rng = random.Random(seed)

    def text(words):
        return " ".join(rng.choice([f"w{rng.randrange(12)}", f"w{rng.randrange(12)}", "x1"]) for _ in range(words))

    return [
        Record(
            str(number),
            [text(rng.randint(1, 7)) for _ in range(rng.randint(1, sentences))],
            [text(rng.randint(1, 4)) for _ in range(rng.randint(1, 3))],
        )
        for number in range(count)
    ]


def batch_of(records, vocabulary):
    return collate([encode(record, vocabulary, 99, 99) for record in records])


def system(model, vocabulary, stops=True, **keys):
    tokens = {"source_tokens": 99, "target_tokens": 99} | {k: v for k, v in keys.items() if k.endswith("_tokens")}
    search = Search(max_tokens=keys.get("most", 50), beam=keys.get("beam", 1), min_tokens=keys.get("least", 1))
    return ExtractRewriteDecoder(model, vocabulary, search, tokens["source_tokens"], tokens["target_tokens"], stops)


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("stops", [True, False])
def test_a_summary_is_the_rewrites_of_the_extracted_sentences(stops, beam, model, vocabulary):
    """Each record and each sentence by itself, with the search, says the same."""
    made = records(12)
    summaries = system(model, vocabulary, stops, beam=beam, least=4).summarize(batch_of(made, vocabulary))
    search = Search(max_tokens=SETTINGS.rewrite_tokens, beam=beam, min_tokens=1)
    counts = set()
    for record, summary in zip(made, summaries, strict=True):
        document = read_document(record, vocabulary, 99, SETTINGS.max_sentences)
        slots = model.extractor.encode(collate_documents([document]))
        (choices,) = model.extract(model.with_stop(slots)) if stops else model.extract(slots, SETTINGS.sentences)
        assert stops or len(choices) == min(SETTINGS.sentences, len(document.sentences))
        expected = []
        for choice in choices:
            (text,) = rewrite(rewriter(model, vocabulary, search), [document.sentences[choice]], CPU).values()
            expected.append(text.split(" "))
        assert summary == expected
        counts.add(len(choices) == len(document.sentences))
    assert counts == {True, False}


def test_rewrites_obey_their_limits_and_repeat_for_repeated_sentences(model, vocabulary):
    sentences = [sentence for record in records(40, 3) for sentence in record.source]
    found = rewrite(rewriter(model, vocabulary, Search(max_tokens=50, beam=1)), sentences * 2, CPU)
    assert found.keys() == set(sentences)
    lengths = {len(text.split()) for text in found.values()}
    assert max(lengths) == SETTINGS.rewrite_tokens
    assert min(lengths) < SETTINGS.rewrite_tokens
    for source, text in found.items():  # an unknown word is copied from the own sentence only
        assert "x1" not in text.split() or "x1" in source.split()
    assert any("x1" in text.split() for text in found.values())


def test_sentences_become_examples_as_they_are_rewritten(model, vocabulary, monkeypatch):
    """Of many sentences no more examples are made than are rewritten next; the rewrites are the same."""
    sentences = [sentence for record in records(20, 3) for sentence in record.source]
    own = rewriter(model, vocabulary, Search(max_tokens=50, beam=1))
    together = rewrite(own, sentences, CPU)
    waiting = []
    pair, summarize = module._pair, own.summarize

    def made(*given):
        waiting.append(given[0])
        return pair(*given)

    def written(batch):
        assert [record.source[0] for record in batch.records] == waiting
        assert len(waiting) <= 7
        waiting.clear()
        return summarize(batch)

    monkeypatch.setitem(module.SENTENCES, "cpu", 7)
    monkeypatch.setattr(module, "_pair", made)
    monkeypatch.setattr(own, "summarize", written)
    assert rewrite(own, iter(sentences), CPU) == together
    assert not waiting


def test_the_whole_summary_is_cut(model, vocabulary):
    batch = batch_of(records(12), vocabulary)
    whole, cut = (system(model, vocabulary, False, most=most).summarize(batch) for most in (50, 6))
    shortened = 0
    for long, short in zip(whole, cut, strict=True):
        words = [word for sentence in long for word in sentence]
        assert [word for sentence in short for word in sentence] == words[:6]
        assert all(one == other[: len(one)] for one, other in zip(short, long, strict=False))
        shortened += len(words) > 6
    assert shortened


def test_only_the_first_tokens_are_read(model, vocabulary):
    made = records(12)
    limited = system(model, vocabulary, source_tokens=6).summarize(batch_of(made, vocabulary))
    heads = [replace(record, source=read_document(record, vocabulary, 6, 99).sentences) for record in made]
    assert any(head.source != record.source for head, record in zip(heads, made, strict=True))
    assert system(model, vocabulary).summarize(batch_of(heads, vocabulary)) == limited


def test_where_no_rewrite_has_a_word_the_first_sentences_stand(vocabulary):
    document = read_document(Record("r", ["w1 w2", "w3", "w4 w5", "w6"], ["w1"]), vocabulary, 99, 99)
    rewrites = {"w1 w2": "", "w3": "w7", "w4 w5": "", "w6": ""}
    assert compose(document, [0, 2], rewrites, SETTINGS, 4) == ["w1 w2", "w3", "w4"]
    assert compose(document, [0, 1], rewrites, SETTINGS, 4) == ["w7"]


def pair_logp(model, vocabulary, source, target):
    with torch.no_grad():
        return score(model.abstractor, batch_of([Record("pair", [source], [target])], vocabulary)).sum().item()


def test_logp_is_that_of_the_best_assignment(model, vocabulary):
    """Against all assignments, with fewer and with more sources than references."""
    made = records(14, 4, sentences=4)
    found = system(model, vocabulary).logp(batch_of(made, vocabulary))
    shapes = set()
    for record, total in zip(made, found.tolist(), strict=True):
        table = [[pair_logp(model, vocabulary, source, target) for source in record.source] for target in record.target]
        uses = math.ceil(len(record.target) / len(record.source))
        best = max(
            sum(row[source] for row, source in zip(table, order, strict=True))
            for order in itertools.product(range(len(record.source)), repeat=len(table))
            if all(order.count(source) <= uses for source in order)
        )
        assert total == pytest.approx(best, rel=1e-5)
        shapes.add((len(record.target) > len(record.source), len(record.target) > 1))
    assert shapes == {(False, False), (False, True), (True, True)}


def test_logp_reads_the_first_tokens_of_the_target(model, vocabulary):
    """A sentence that is cut has no end; those behind it do not count."""
    source = ["w1 w2 w3"]
    batch = batch_of([Record("r", source, ["w1 w2 w3 w4", "w5"])], vocabulary)
    found = system(model, vocabulary, target_tokens=3).logp(batch).item()
    example = encode(Record("pair", source, ["w1 w2 w3 w4"]), vocabulary, 99, 3)
    assert EOS not in example.target
    with torch.no_grad():
        assert found == pytest.approx(score(model.abstractor, collate([example])).sum().item(), rel=1e-5)

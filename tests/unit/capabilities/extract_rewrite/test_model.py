"""What is read, sampled and extracted of documents. Extractor, policy and critic by their equations: tests/papers."""

import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from invented import build
from sumcurve.capabilities.extract_rewrite.model import collate, read_document
from sumcurve.capabilities.extract_rewrite.settings import ExtractRewriteSettings
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.settings.models import RecurrentSettings
from sumcurve.store.records import Record

SIZES = [3, 1, 4, 2]  # sentences of the documents below


def settings(**keys):
    abstractor = RecurrentSettings(
        kind="recurrent", embedding=6, hidden=5, feed="merged", copy_attention=True, output="tied"
    )
    given = {"kind": "extract-rewrite", "abstractor": abstractor, "filters": 4, "hidden": 5, "sentences": 2}
    return ExtractRewriteSettings(**given | keys)


@pytest.fixture(scope="module")
def vocabulary():
    return Vocabulary(f"w{number}" for number in range(40))


@pytest.fixture
def documents(vocabulary):
    rng = random.Random(3)

    def sentence():
        return " ".join(f"w{rng.randrange(40)}" for _ in range(rng.choice([1, 2, 7])))

    records = [Record("r", [sentence() for _ in range(size)], ["w1"]) for size in SIZES]
    return [read_document(record, vocabulary, 100, 60) for record in records]


@pytest.fixture(params=[1, 2], ids=["one hop", "two hops"])
def model(request, vocabulary):
    """In double precision; no parameter is zero."""
    model = build(settings(hops=request.param), len(vocabulary), 1)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.4)
    return model.double().eval()


def slots_of(model, documents):
    return model.extractor.encode(collate(documents))


# --- what is read


@given(
    st.lists(st.lists(st.sampled_from("abc"), max_size=4).map(" ".join), min_size=1, max_size=6).filter(any),
    st.integers(1, 9),
    st.integers(1, 4),
)
def test_a_document_is_the_beginning_of_the_source(source, tokens, sentences):
    document = read_document(Record("r", source, ["a"]), Vocabulary("abc"), tokens, sentences)
    filled = [sentence for sentence in source if sentence]
    *whole, last = document.sentences
    assert whole == filled[: len(whole)]
    assert filled[len(whole)].split(" ")[: len(last.split(" "))] == last.split(" ")
    read = " ".join(document.sentences).split(" ")
    assert len(document.sentences) == sentences or len(read) == min(tokens, len(" ".join(filled).split(" ")))
    assert len(document.sentences) <= sentences
    assert len(read) <= tokens
    assert [len(ids) for ids in document.ids] == [len(sentence.split(" ")) for sentence in document.sentences]


# --- parameters


def test_weights_depend_on_the_seed_alone(vocabulary):
    torch.manual_seed(1)
    first, other = build(settings(), len(vocabulary), 5), build(settings(), len(vocabulary), 6)
    torch.manual_seed(2)
    second = build(settings(), len(vocabulary), 5)
    for name, parameter in first.named_parameters():
        assert torch.equal(parameter, second.get_parameter(name)), name
        constant = parameter.dim() == 1 and "bias" in name
        assert torch.equal(parameter, other.get_parameter(name)) == constant, name


# --- sentences


def test_padding_and_batch_mates_change_nothing(model, documents):
    together = slots_of(model, documents)
    for row, document in enumerate(documents):
        size = len(document.ids)
        assert together.mask[row].tolist() == [True] * size + [False] * (together.mask.shape[1] - size)
        alone = slots_of(model, [document]).states[0]
        torch.testing.assert_close(together.states[row, :size], alone, rtol=0, atol=1e-12)


# --- the policy


def test_what_is_sampled_from_is_what_is_scored(model, documents, monkeypatch):
    """The log-probabilities that the rollout drew with, step by step, are those of all steps at once."""
    multinomial, drawn = torch.multinomial, []

    def draw(probabilities, count):
        choice = multinomial(probabilities, count)
        drawn.append(probabilities.gather(1, choice).log())
        return choice

    monkeypatch.setattr(torch, "multinomial", draw)
    torch.manual_seed(11)
    slots = model.with_stop(slots_of(model, documents))
    choices = model.sample(slots)
    stopped = choices == slots.mask.shape[1] - 1
    real = stopped.cumsum(1) - stopped.long() == 0
    assert real.sum(1).unique().numel() > 1
    torch.testing.assert_close(torch.cat(drawn, 1)[real], model.logp(slots, choices)[real], rtol=0, atol=1e-10)


@pytest.mark.parametrize("stops", [False, True])
def test_extraction_takes_the_best_choice_at_every_step(stops, model, documents):
    with torch.no_grad():
        model.stop.mul_(-4)  # some documents stop early
    found = model.extract(
        model.with_stop(slots_of(model, documents)) if stops else slots_of(model, documents), None if stops else 3
    )
    lengths = []
    for document, extracted in zip(documents, found, strict=True):
        slots = slots_of(model, [document])
        slots = model.with_stop(slots) if stops else slots
        size = len(document.ids)
        expected = []
        while len(expected) < (size if stops else min(3, size)):
            options = [slot for slot in range(size + stops) if slot not in expected and (expected or slot < size)]
            logps = [model.logp(slots, torch.tensor([[*expected, slot]]))[0, -1] for slot in options]
            best = options[max(range(len(options)), key=logps.__getitem__)]
            if best == size:
                break
            expected.append(best)
        assert extracted == expected
        lengths.append(len(extracted))
    assert any(length < size for length, size in zip(lengths, SIZES, strict=True))

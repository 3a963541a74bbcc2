"""Golds and contrasts as every kind of system finds them: together as one by one, alike where it sees them alike."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import invented
import pretrained
from invented import build
from sumcurve.capabilities.contrasts import alternatives
from sumcurve.capabilities.contrasts.judge import judge, weigh
from sumcurve.capabilities.contrasts.sets import Contrast, Contrasted
from sumcurve.capabilities.extract_rewrite.decoder import ExtractRewriteDecoder, extract
from sumcurve.capabilities.extract_rewrite.model import read_document
from sumcurve.capabilities.extract_rewrite.settings import ExtractRewriteSettings
from sumcurve.capabilities.extract_rewrite.system import RewritingSystem
from sumcurve.capabilities.pretrained.model import load
from sumcurve.capabilities.pretrained.system import PretrainedSystem
from sumcurve.decoding.decoder import SummarizerDecoder
from sumcurve.models.recurrent import RecurrentSummarizer
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.settings.models import RecurrentSettings
from sumcurve.settings.search import Search
from sumcurve.settings.study import Reading
from sumcurve.store.records import Record, Text
from sumcurve.study.methods import read_method
from sumcurve.systems.system import Alternatives, Item
from sumcurve.systems.trained import Trained
from unit.capabilities.pretrained.conftest import settings_of

METHODS = Path(__file__).parents[4] / "config" / "methods"
KINDS = ("recurrent", "transformer", "ngram")
OURS = [name for name in invented.METHODS if read_method(METHODS / f"{name}.yaml").forms["smoke"].model.kind in KINDS]
SOURCE, TARGET = 9, 8
ALONE = 2  # sources whose targets are asked for one by one
KNOWN = [f"w{number}" for number in range(12)]
VOCABULARY = Vocabulary(KNOWN)
FOREIGN = ("x1", "x2", "x3")  # in no vocabulary

# A step multiplies other numbers of rows at once than teacher forcing does, in single precision.
CLOSE = {"rel": 1e-5, "abs": 1e-4}


def texts(seed: int = 0) -> list[Item]:
    """Sources of known and unknown words; targets of two sentences, some longer than what a system reads."""
    rng = random.Random(seed)

    def sentence(least: int, most: int) -> str:
        return " ".join(rng.choice([*KNOWN, *FOREIGN]) for _ in range(rng.randint(least, most)))

    found = []
    for number in range(7):
        source, target = [sentence(2, 5), sentence(2, 4)], [sentence(2, 4), sentence(2, 5)]
        record = Record(str(number), source, target, group=str(number % 3))
        found.append(Item(record, Text(str(number), source, target)))
    return found


def contrasted(items: list[Item], seed: int = 1) -> list[Contrasted]:
    """Every gold with exchanges of two words, and words overwritten."""
    rng = random.Random(seed)
    found = []
    for item in items:
        lengths = tuple(sentence.count(" ") + 1 for sentence in item.record.target)
        gold = tuple(word for sentence in item.record.target for word in sentence.split(" "))
        made = []
        for number in range(11):
            line = list(gold)
            first, second = rng.sample(range(len(line)), 2)
            line[first], line[second] = line[second], rng.choice(line) if number % 2 else line[first]
            made.append(Contrast("gold_noun" if number % 2 == 0 else "source_noun", tuple(line), lengths))
        found.append(Contrasted(item.record.id, gold, tuple(made), lengths))
    return found


ITEMS = texts()
BROKEN = contrasted(ITEMS)
ASKED = [
    Alternatives(item, [one.sentences, *(told.sentences for told in one.contrasts)])
    for item, one in zip(ITEMS, BROKEN, strict=True)
]


def spread(model: torch.nn.Module, by: float = 0.7) -> None:
    """Distributions that are far from uniform."""
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() >= 2:
                parameter.add_(torch.randn(parameter.shape, generator=generator) * by)


def one_by_one(system: Any) -> list[list[float]]:
    """What the system's own `logp` says of every target alone."""
    return [[system.logp([one.item], [target])[0] for target in one.targets] for one in ASKED[:ALONE]]


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.mark.parametrize("long", [0, alternatives.LONG])  # with 0, every source counts as long
@pytest.mark.parametrize("method", OURS)
def test_together_is_one_by_one(method: str, long: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alternatives, "LONG", long)
    monkeypatch.setitem(alternatives.TOGETHER, "cpu", 30)  # two sources and a half
    model = build(read_method(METHODS / f"{method}.yaml").forms["smoke"].model, len(VOCABULARY), 1)
    if isinstance(model, RecurrentSummarizer) and method == "pcov":
        model.enable_coverage()
    spread(model)
    system = Trained(SummarizerDecoder(model, VOCABULARY, Search(max_tokens=5)), SOURCE, TARGET, "cpu")
    found = weigh(system, ASKED)
    for one, alone in zip(found[:ALONE], one_by_one(system), strict=True):
        assert list(one.logp) == pytest.approx(alone, **CLOSE)
    assert [weigh(system, [one])[0].logp for one in ASKED] == [pytest.approx(one.logp, **CLOSE) for one in found]


def test_the_encoder_reads_a_source_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = build(read_method(METHODS / "abs.yaml").forms["smoke"].model, len(VOCABULARY), 1)
    read, steps = [], []
    encode, step = model.encode, model.step
    monkeypatch.setattr(model, "encode", lambda batch: read.append(len(batch)) or encode(batch))
    monkeypatch.setattr(model, "step", lambda tok, *told: steps.append(tok.numel()) or step(tok, *told))
    system = Trained(SummarizerDecoder(model, VOCABULARY, Search(max_tokens=5)), SOURCE, TARGET, "cpu")
    weigh(system, ASKED[:1])
    assert sum(read) == 1 + 1  # and one that is asked whether the model copies
    tokens = sum(
        len(system._encoded([replace(ASKED[0].item.record, target=one)])[0].target) for one in ASKED[0].targets
    )
    assert sum(steps) < 0.8 * tokens  # what targets begin with alike is read once


@pytest.mark.parametrize("copies", [True, False])
def test_unknown_words_are_told_apart_by_who_copies_them_from_the_source(copies: bool) -> None:
    settings = RecurrentSettings(kind="recurrent", embedding=8, hidden=8, feed="merged", copy_attention=copies)
    model = build(settings, len(VOCABULARY), 1)
    system = Trained(SummarizerDecoder(model, VOCABULARY, Search(max_tokens=5)), SOURCE, 4, "cpu")
    record = Record("1", ["x1 w1 x2 w2"], [])
    gold = "x1 x2 w1 w2 w3"
    swaps = {
        "x2 x1 w1 w2 w3": copies,  # both are the source's
        "x1 x2 w2 w1 w3": True,
        "x1 x2 w1 w2 w4": False,  # beyond what is read of a target
        "x9 x2 w1 w2 w3": copies,
    }
    targets = [[gold], *([one] for one in swaps)]
    (found,) = weigh(system, [Alternatives(Item(record, Text("1", record.source, [])), targets)])
    assert [seen != found.seen[0] for seen in found.seen[1:]] == list(swaps.values())
    for logp, told in zip(found.logp[1:], swaps.values(), strict=True):
        assert (logp != found.logp[0]) == told
    nobody = Item(Record("2", ["w1 w2"], []), Text("2", ["w1 w2"], []))  # x1 and x2 are one unknown word there
    (found,) = weigh(system, [Alternatives(nobody, targets[:2])])
    assert found.seen[0] == found.seen[1]
    assert found.logp[0] == found.logp[1]


def rewriting() -> RewritingSystem:
    abstractor = RecurrentSettings(
        kind="recurrent", embedding=8, hidden=8, feed="merged", copy_attention=True, output="untied"
    )
    sizes = {"filters": 4, "hidden": 8, "sentences": 2, "max_sentences": 4, "rewrite_tokens": 5}
    told = ExtractRewriteSettings(kind="extract-rewrite", abstractor=abstractor, **sizes)
    model = build(told, len(VOCABULARY), 1)
    spread(model)
    decoder = ExtractRewriteDecoder(model, VOCABULARY, Search(max_tokens=9), 99, 99, stops=False)
    return RewritingSystem(decoder, 99, 99, "cpu")


def test_a_system_that_rewrites_sentences_is_scored_sentence_by_sentence() -> None:
    system = rewriting()
    found = weigh(system, ASKED)
    decoder, model = system.decoder, system.decoder.model
    for one, asked in zip(found[:ALONE], ASKED, strict=False):
        document = read_document(asked.item.record, VOCABULARY, 99, 4)
        (chosen,) = extract(model, [document], False, torch.device("cpu"))
        alone = SummarizerDecoder(model.abstractor, VOCABULARY, Search(max_tokens=5))
        rewriter = Trained(alone, 99, 99, "cpu")
        for target, logp in zip(asked.targets, one.logp, strict=True):
            best = 0.0
            for place in chosen:
                source = [document.sentences[place]]
                item = Item(Record("", source, []), Text("", source, []))
                best += max(rewriter.logp([item], [[sentence]])[0] for sentence in target)
            assert logp == pytest.approx(best, **CLOSE)
    assert decoder.stops is False


@pytest.mark.parametrize("kind", sorted(pretrained.ARCHITECTURES))
def test_a_model_of_subwords_reads_each_source_once(kind: str, tmp_path: Path) -> None:
    words = [sentence for item in ITEMS for sentence in (*item.text.source, *item.text.target)]
    pretrained.make_folder(tmp_path, kind, words, spread=pretrained.SPREAD[kind])
    settings = settings_of(kind)
    model = load(tmp_path, settings, lower=True, seed=1).eval()
    system = PretrainedSystem(model, settings, Search(max_tokens=9), SOURCE, TARGET, "cpu")
    for one, alone in zip(weigh(system, ASKED)[:ALONE], one_by_one(system), strict=True):
        assert list(one.logp) == pytest.approx(alone, **CLOSE)
        assert len(set(one.seen)) == len(set(map(tuple, one.seen)))


class Said:
    """A system that finds targets as probable as a function of source and target says."""

    def __init__(self, says: Callable[[list[str], list[str]], float]) -> None:
        self.says = says

    def logp(self, items: Any, targets: Any) -> list[float]:
        return [self.says(item.record.source, target) for item, target in zip(items, targets, strict=True)]


def test_every_gold_comes_before_its_contrasts_and_others_sources_are_those_of_other_groups() -> None:
    asked: list[tuple[str, str]] = []

    def says(source: list[str], target: list[str]) -> float:
        asked.append((source[0], " ".join(target)))
        return -float(len(" ".join(target)))

    found = judge(Said(says), BROKEN, ITEMS, Reading(others=1))
    assert found.starts.tolist() == [12 * number for number in range(8)]
    golds = found.own[found.starts[:-1]]
    assert golds.tolist() == [-float(len(" ".join(one.sentences))) for one in BROKEN]
    assert found.contrast.sum() == 7 * 11
    assert not found.visible[~found.contrast].any()
    of = {item.record.source[0]: item.record.group for item in ITEMS}
    own, other = asked[: len(asked) // 2], asked[len(asked) // 2 :]
    assert [target for _, target in own] == [target for _, target in other]
    assert all(of[mine] != of[theirs] for (mine, _), (theirs, _) in zip(own, other, strict=True))
    items = [Item(replace(item.record, group="one"), item.text) for item in ITEMS]
    assert judge(Said(says), BROKEN, items, Reading(others=1)).other is None

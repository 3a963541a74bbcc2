"""Trained systems: summaries by item, and log-probabilities that agree with those of decoders and of reading."""

from dataclasses import replace

import pytest
import torch

from sumcurve.decoding.decoder import SummarizerDecoder
from sumcurve.models.batch import collate, encode
from sumcurve.models.summarizer import score
from sumcurve.settings.search import Search
from sumcurve.settings.study import Reading
from sumcurve.store.records import Text
from sumcurve.systems.system import Item
from sumcurve.systems.trained import Trained

SOURCE, TARGET = 11, 7


@pytest.fixture
def trained(make_model, vocabulary):
    decoder = SummarizerDecoder(make_model("pcov"), vocabulary, Search(beam=2, max_tokens=8))
    return Trained(decoder, SOURCE, TARGET, "cpu")


@pytest.fixture
def items(make_examples):
    records = [example.record for example in make_examples(60)]
    return [Item(record, Text(record.id, record.source, record.target)) for record in records]


def test_summaries_come_in_the_order_of_the_items_and_each_is_its_item_s_own(trained, items):
    whole = trained.summarize(items)
    assert trained.summarize(items[::-1]) == whole[::-1]
    assert [trained.summarize([item])[0] for item in items[:5]] == whole[:5]
    assert len({tuple(summary) for summary in whole}) > 1


def test_logp_is_the_model_s_and_takes_several_targets_of_one_item(trained, items, vocabulary):
    one = items[0]
    targets = [item.record.target for item in items]
    found = trained.logp([one] * len(items), targets)
    for target, logp in zip(targets, found, strict=True):
        with torch.no_grad():
            example = encode(replace(one.record, target=target), vocabulary, SOURCE, TARGET)
            alone = score(trained.decoder.model, collate([example])).sum()
        assert logp == pytest.approx(float(alone), rel=1e-4)
    assert trained.logp(items[:1], targets[:1]) == pytest.approx(found[:1], rel=1e-4)


def test_logp_of_own_targets_is_the_sum_of_what_reading_finds(trained, items):
    records = [item.record for item in items]
    found = trained.reading(items, Reading(others=1))
    sums = [float(found.own[start:end].sum()) for start, end in zip(found.starts, found.starts[1:], strict=False)]
    assert trained.logp(items, [record.target for record in records]) == pytest.approx(sums, rel=1e-4)

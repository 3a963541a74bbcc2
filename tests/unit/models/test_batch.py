import itertools
import random

import pytest

from sumcurve.models.batch import batches, bucketed, collate, encode, lengths
from sumcurve.models.vocabulary import PAD
from sumcurve.store.records import Record


def test_padding_returns_the_examples(make_examples, vocabulary):
    examples = make_examples(7)
    batch = collate(examples)
    for row, example in enumerate(examples):
        length = int(batch.src_len[row])
        assert batch.src[row, :length].tolist() == example.source
        assert batch.src_ext[row, :length].tolist() == example.source_ext
        assert batch.inp[row, : len(example.input)].tolist() == example.input
        assert batch.tgt[row, : len(example.target)].tolist() == example.target
        for tensor, own in ((batch.src, length), (batch.src_ext, length), (batch.inp, len(example.input))):
            assert (tensor[row, own:] == PAD).all()
        assert (batch.tgt[row, len(example.target) :] == PAD).all()
        assert vocabulary.sentences(example.source_ext, example.unknowns) == [example.record.source_tokens[:length]]
        assert int(batch.n_ext[row]) == len(example.unknowns)
    assert int(batch.inp.max()) < len(vocabulary)
    assert int(batch.src.max()) < len(vocabulary)


def test_source_is_cut(vocabulary):
    example = encode(Record("1", ["w1 w2", "w3 x1"], ["w1 x1"]), vocabulary, 3, 5)
    assert vocabulary.sentences(example.source, []) == [["w1", "w2", "w3"]]
    assert example.unknowns == []
    assert vocabulary.sentences(example.target, []) == [["w1", "<unk>"]]


@pytest.mark.parametrize("source", [[], [""]])
def test_an_empty_source_is_refused(vocabulary, source):
    with pytest.raises(ValueError, match="'r7' has an empty source"):
        encode(Record("r7", source, ["w1"]), vocabulary, 3, 5)


def test_an_epoch_holds_every_example_once(make_examples):
    examples = make_examples(53)
    parts = list(bucketed(examples, 4, random.Random(3), lengths, pool=3))
    assert sorted(example.id for part in parts for example in part) == sorted(example.id for example in examples)
    assert all(len(part) <= 4 for part in parts)
    assert sum(len(part) == 4 for part in parts) >= 53 // 4 - 4  # each pool may leave one short batch


def test_order_without_rng(make_examples):
    examples = make_examples(9)
    ids = [name for part in batches(examples, 4) for name in part.ids]
    assert ids == [example.id for example in examples]
    read = [int(n) for part in batches(examples, 4, by_length=True) for n in part.src_len]
    assert read == sorted(read)


def test_order_depends_on_the_rng_alone(make_examples):
    examples = make_examples(40)

    def order(seed):
        return [[example.id for example in part] for part in bucketed(examples, 4, random.Random(seed), lengths)]

    assert order(1) == order(1)
    assert order(1) != order(2)


def test_lengths_come_in_no_order(make_examples):
    parts = bucketed(make_examples(200), 4, random.Random(0), lengths)
    longest = [max(len(example.target) for example in part) for part in parts]
    assert sum(first > second for first, second in itertools.pairwise(longest)) > 10


def test_batches_pad_little(make_examples):
    examples = make_examples(400)

    def padding(parts):
        return sum(int((part.tgt == PAD).sum()) for part in parts)

    parts = [collate(part) for part in bucketed(examples, 8, random.Random(0), lengths)]
    assert padding(parts) < padding(list(batches(examples, 8))) / 4

"""The attentive reader: padding changes nothing, answers are among a document's entities, vectors come by word."""

import random
from pathlib import Path

import pytest
import torch
from torch import nn

from sumcurve.capabilities.apes.reader_model import BiGRU, Posing, Words, build, collate, read_vectors, start_from
from sumcurve.capabilities.apes.settings import AttentiveSettings
from sumcurve.store.records import RecordError

SMALL = AttentiveSettings(embedding=6, hidden=5, dropout=0.0)
TEXT = ["the", "@entity0", "met", "@entity3", "and", "@placeholder", "of", "the", "town"]


def words() -> Words:
    return Words.counted([TEXT, ["the", "the", "town"]], most=4, least_count=1)


def test_words_have_marks_then_entities_then_the_most_frequent_words() -> None:
    made = words()
    assert made.entities == 4  # numbers 0 to 3, whether seen or not
    assert made.words == ["the", "town", "and", "met"]
    assert made.ids(["@placeholder", "@entity0", "@entity3", "the", "of", "@entity4"]) == [2, 3, 6, 7, 1, 1]
    assert Words.from_json(made.to_json()).ids(TEXT) == made.ids(TEXT)
    with pytest.raises(ValueError, match="nothing to ask"):
        Words.counted([["no", "@placeholder"]], 10, 1)


def test_gru_over_padding_equals_packing() -> None:
    torch.manual_seed(1)
    ours = BiGRU(6, 5)
    inputs, lengths = torch.randn(4, 9, 6), torch.tensor([9, 1, 4, 7])
    packed = nn.utils.rnn.pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
    states, last = nn.GRU.forward(ours, packed)
    expected, _ = nn.utils.rnn.pad_packed_sequence(states, batch_first=True)
    found, ends = ours(inputs, lengths)
    for row, length in enumerate(lengths):
        assert torch.allclose(found[row, :length], expected[row, :length], atol=1e-6)
    assert torch.allclose(ends, torch.cat((last[0], last[1]), 1), atol=1e-6)


def test_scores_are_probabilities_of_the_documents_entities_whatever_the_batch() -> None:
    made, drawn = words(), random.Random(1)
    model = build(made, SMALL, seed=3).eval()
    posed = []
    for length in (3, 12, 7):
        document = [drawn.choice(made.words) for _ in range(length)]
        document[0], document[-1] = "@entity2", "@entity0"
        posed.append(Posing(made.ids(document), made.ids(["the", "@placeholder", "met"][: length % 3 + 1]), 0))
    together = model(collate(posed))
    for row, one in enumerate(posed):
        assert torch.allclose(together[row], model(collate([one]))[0], atol=1e-5)
    assert torch.allclose(together.exp()[:, [0, 2]].sum(1), torch.ones(3), atol=1e-5)
    assert (together.exp()[:, [1, 3]] == 0).all()


def test_vectors_of_a_file_start_known_words(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("town 1 2 3 4 5 6\nelsewhere 0 0 0 0 0 0\nthe 6 5 4 3 2 1\n")
    made = words()
    found = read_vectors(path, made, 6)
    assert found == {made.of_word("town"): [1, 2, 3, 4, 5, 6], made.of_word("the"): [6, 5, 4, 3, 2, 1]}
    model = build(made, SMALL, seed=1)
    other = model.embedding.weight[made.of_word("and")].clone()
    start_from(model, found)
    assert model.embedding.weight[made.of_word("town")].tolist() == [1, 2, 3, 4, 5, 6]
    assert torch.equal(model.embedding.weight[made.of_word("and")], other)
    path.write_text("town 1 2 3 4 5 6\nthe 1 2\n")
    with pytest.raises(RecordError, match=r"vectors.txt:2: 'the' has 2 numbers.* 6: set its `embedding`"):
        read_vectors(path, made, 6)
    path.write_text("town 1 2 3 4 5 six\n")
    with pytest.raises(RecordError, match=r"vectors.txt:1: could not convert string to float: 'six'"):
        read_vectors(path, made, 6)

"""The attentive reader: padding changes nothing, answers are among a document's entities, vectors come by word."""

import random
from pathlib import Path

import pytest
import torch
from torch import nn

from sumcurve.capabilities.apes.questions import entity_in
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


def test_by_mentions_an_entity_is_as_probable_as_the_attention_to_its_mentions() -> None:
    """Against a loop over tokens, of which those of entities that the question names do not count."""
    made = words()
    model = build(made, SMALL.model_copy(update={"answer": "mentions"}), seed=3).eval()
    texts = {
        "@entity2 met @entity0 and @entity2": "@placeholder met the",
        "the @entity1 met @entity3 and @entity0 and @entity3": "@entity1 met @placeholder",
    }
    posed = [Posing(made.ids(text.split()), made.ids(asked.split()), 0) for text, asked in texts.items()]
    batch = collate(posed)
    probabilities = model(batch).exp()
    states, asked = model.read(batch.documents, batch.lengths), model.ask(batch.questions, batch.question_lengths)
    for row, (text, question) in enumerate(texts.items()):
        shown = {entity_in(word) for word in question.split()}
        attention, total = dict.fromkeys(range(made.entities), 0.0), 0.0
        for place, word in enumerate(text.split()):
            number = entity_in(word)
            if number is not None and number not in shown:
                weight = torch.exp(states[row, place] @ model.bilinear(asked)[row]).item()
                attention[number] += weight
                total += weight
        expected = torch.tensor([attention[number] / total for number in range(made.entities)])
        assert torch.allclose(probabilities[row], expected, atol=1e-5)


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

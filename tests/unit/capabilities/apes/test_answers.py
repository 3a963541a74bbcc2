"""Answers of a reader: batched as one by one, the same whatever numbers entities have, none where nobody is named."""

import random
from collections.abc import Sequence

import pytest
import torch

from sumcurve.capabilities.apes.answers import AttentiveAnswers
from sumcurve.capabilities.apes.questions import entity_in, renumbered
from sumcurve.capabilities.apes.reader_model import IMPOSSIBLE, Posing, Words, build, collate
from sumcurve.capabilities.apes.settings import AttentiveSettings

NOUNS = ["town", "bell", "bridge", "corn", "night"]
ENTITIES = 8
WORDS = Words(ENTITIES, NOUNS)
Asked = tuple[list[list[str]], list[list[list[str]]]]


def drawn(seed: int, documents: int = 40) -> Asked:
    """Documents with up to as many entities as the reader knows, and up to four questions about each."""
    numbers = random.Random(seed)

    def text(length: int, share: float) -> list[str]:
        return [
            f"@entity{numbers.randrange(ENTITIES)}" if numbers.random() < share else numbers.choice(NOUNS)
            for _ in range(length)
        ]

    read = [text(numbers.randint(0, 30), numbers.choice([0.0, 0.3])) for _ in range(documents)]
    asked = []
    for _ in read:
        asked.append([[*text(numbers.randint(0, 6), 0.3), "@placeholder"] for _ in range(numbers.randint(0, 4))])
    return read, asked


@pytest.fixture(scope="module", params=["markers", "mentions"])
def reader(request: pytest.FixtureRequest) -> AttentiveAnswers:
    model = build(WORDS, AttentiveSettings(embedding=8, hidden=6, dropout=0.0, answer=request.param), seed=1)
    return AttentiveAnswers(model, WORDS, renumber=True, tokens=200)


@torch.no_grad()
def one_by_one(
    reader: AttentiveAnswers, documents: Sequence[Sequence[str]], questions: Sequence[Sequence[Sequence[str]]]
) -> list[list[int | None]]:
    """The loop: every question read alone, with its document, numbered by `capabilities.apes.questions.renumbered`."""
    found: list[list[int | None]] = []
    for document, asked in zip(documents, questions, strict=True):
        answers: list[int | None] = []
        for question in asked:
            if not any(entity_in(word) is not None for word in document):
                answers.append(None)
                continue
            read, put, mapping = renumbered(document, question)
            scores = reader.model(collate([Posing(WORDS.ids(read), WORDS.ids(put), 0)]))
            back = {new: old for old, new in mapping.items()}
            answers.append(back[int(scores.argmax(1))] if scores.max() > IMPOSSIBLE else None)
        found.append(answers)
    return found


def test_batches_answer_as_a_loop_does(reader: AttentiveAnswers) -> None:
    documents, questions = drawn(1)
    found = reader.answers(documents, questions)
    assert found == one_by_one(reader, documents, questions)
    for document, answers in zip(documents, found, strict=True):
        there = {entity_in(word) for word in document} - {None}
        assert set(answers) <= (there | {None} if reader.model.by_mentions else there or {None})
    assert len({answer for answers in found for answer in answers}) > 4  # it is not one answer for all


def test_texts_that_name_nobody_have_no_answers(reader: AttentiveAnswers) -> None:
    documents, questions = [["town", "bell"], []], [[["corn", "@placeholder"], ["@entity1", "@placeholder"]], []]
    assert reader.answers(documents, questions) == [[None, None], []]


def test_numbers_of_entities_mean_nothing_to_renumbered_answers(reader: AttentiveAnswers) -> None:
    documents, questions = drawn(3)
    order = list(range(ENTITIES))
    random.Random(4).shuffle(order)

    def renamed(text: Sequence[str]) -> list[str]:
        return [word if (number := entity_in(word)) is None else f"@entity{order[number]}" for word in text]

    others = reader.answers(
        [renamed(document) for document in documents], [[renamed(one) for one in asked] for asked in questions]
    )
    expected = [
        [None if answer is None else order[answer] for answer in answers]
        for answers in reader.answers(documents, questions)
    ]
    assert others == expected
    as_given = AttentiveAnswers(reader.model, WORDS, renumber=False)
    assert as_given.answers(documents, questions) != reader.answers(documents, questions)


def test_an_entity_beyond_those_known_is_never_answered(reader: AttentiveAnswers) -> None:
    as_given = AttentiveAnswers(reader.model, WORDS, renumber=False)
    question = [["@placeholder", "town"]]
    if reader.model.by_mentions:  # nor one that the question names
        asked = [[["@entity5", "@placeholder"], ["@entity6", "@placeholder"]]]
        assert as_given.answers([["@entity6", "town", "@entity5"]], asked) == [[6, 5]]
        assert as_given.answers([["@entity6", "town", "@entity6"]], asked) == [[6, None]]
    assert as_given.answers([["@entity90", "town", "@entity5"]], [question]) == [[5]]
    assert as_given.answers([["@entity90", "town"]], [question]) == [[None]]

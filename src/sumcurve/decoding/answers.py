"""What a trained reader answers to cloze questions about documents, such as summaries.

A document is read once for all its questions, beside others of its length.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch
from safetensors.torch import load_file
from torch import Tensor

from sumcurve.models.reader import AttentiveReader, Words, build, entity, padded
from sumcurve.settings import AttentiveSettings

Text = Sequence[str]  # words, entities as @entityN
TOKENS = 16_384  # of documents that are read together, padding included
WEIGHTS, WORDS = "weights.safetensors", "words.json"


class Answering(Protocol):
    """Whoever answers questions about documents."""

    def answers(self, documents: Sequence[Text], questions: Sequence[Sequence[Text]]) -> list[list[int | None]]:
        """Of every document's questions the number N of the entity (`@entityN`) that it takes for the answer.

        None where the document has no entity: nobody is asked.
        """
        ...


@dataclass(frozen=True)
class _Read:
    """A document with its questions in ids; `numbers` are the document's own of the reader's."""

    place: int
    document: list[int]
    questions: list[list[int]]
    numbers: dict[int, int]


class AttentiveAnswers:
    """Answers of an attentive reader.

    With `renumber` entities are numbered by first occurrence, the document's before the question's, as in training.
    """

    def __init__(self, model: AttentiveReader, words: Words, renumber: bool, tokens: int = TOKENS) -> None:
        self.model, self.words, self.renumber, self.tokens = model.eval(), words, renumber, tokens
        self.device = next(model.parameters()).device

    @torch.no_grad()
    def answers(self, documents: Sequence[Text], questions: Sequence[Sequence[Text]]) -> list[list[int | None]]:
        found: list[list[int | None]] = [[None] * len(asked) for asked in questions]
        read = []
        for place, (document, asked) in enumerate(zip(documents, questions, strict=True)):
            if asked and any(entity(word) is not None for word in document):
                read.append(self._read(place, document, asked))
        for batch in self._batches(read):
            for one, row in zip(batch, self._answered(batch).tolist(), strict=True):
                for number in range(len(one.questions)):
                    found[one.place][number] = one.numbers.get(row[number])
        return found

    def _read(self, place: int, document: Text, asked: Sequence[Text]) -> _Read:
        if not self.renumber:
            numbers = {number: number for word in document if (number := entity(word)) is not None}
            return _Read(place, self.words.ids(document), [self.words.ids(one) for one in asked], numbers)
        mapping: dict[int, int] = {}
        ids = self._ids(document, mapping)
        there = {new: old for old, new in mapping.items()}
        return _Read(place, ids, [self._ids(one, dict(mapping)) for one in asked], there)

    def _ids(self, text: Text, mapping: dict[int, int]) -> list[int]:
        """The ids of a text whose new entities are numbered on; adds them to `mapping`."""
        renamed = []
        for word in text:
            number = entity(word)
            renamed.append(word if number is None else f"@entity{mapping.setdefault(number, len(mapping))}")
        return self.words.ids(renamed)

    def _batches(self, read: Sequence[_Read]) -> Iterator[list[_Read]]:
        """Documents of similar length, at most `tokens` of them with padding."""
        batch: list[_Read] = []
        for one in sorted(read, key=lambda one: (len(one.document), one.place)):
            if batch and len(one.document) * (len(batch) + 1) > self.tokens:
                yield batch
                batch = []
            batch.append(one)
        if batch:
            yield batch

    def _answered(self, batch: Sequence[_Read]) -> Tensor:
        """The reader's answers [D, Q] to the questions of D documents."""
        model = self.model
        documents, lengths = (one.to(self.device) for one in padded([one.document for one in batch]))
        states = model.read(documents, lengths)  # [D, S, 2H]
        asked, asked_lengths = padded([question for one in batch for question in one.questions])
        vectors = model.bilinear(model.ask(asked.to(self.device), asked_lengths.to(self.device)))  # [N, 2H]
        most = max(len(one.questions) for one in batch)
        rows = torch.tensor([row for row, one in enumerate(batch) for _ in one.questions], device=self.device)
        columns = torch.tensor([column for one in batch for column in range(len(one.questions))], device=self.device)
        grid = vectors.new_zeros(len(batch), most, vectors.shape[1])
        grid[rows, columns] = vectors
        padding = torch.arange(states.shape[1], device=self.device) >= lengths.unsqueeze(1)  # [D, S]
        weights = (grid @ states.transpose(1, 2)).masked_fill(padding.unsqueeze(1), float("-inf")).softmax(2)
        scores = model.answer(weights @ states)  # [D, Q, S] @ [D, S, 2H] -> [D, Q, K]
        return scores.masked_fill(~model.present(documents).unsqueeze(1), float("-inf")).argmax(2)


def read_reader(folder: Path, settings: AttentiveSettings, renumber: bool, device: str = "cpu") -> AttentiveAnswers:
    """The reader whose weights and words a run's folder holds."""
    words = Words.from_json(json.loads((folder / WORDS).read_text()))
    model = build(words, settings, seed=0)
    model.load_state_dict(load_file(folder / WEIGHTS))
    return AttentiveAnswers(model.to(device), words, renumber)

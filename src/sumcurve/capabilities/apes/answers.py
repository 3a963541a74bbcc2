"""Answers of a trained reader to cloze questions about documents, such as summaries.

A document is encoded once for all its questions, in a batch of documents of its length; so are questions.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from sumcurve.capabilities.apes.questions import entity_in
from sumcurve.capabilities.apes.reader_model import AttentiveReader, Words, build, padded
from sumcurve.capabilities.apes.settings import AttentiveSettings

Text = Sequence[str]  # words, entities as @entityN
TOKENS = 8_192  # of documents, or of questions, that are read together, padding included; answers do not depend on it
NOBODY = -1  # the number of no entity
WEIGHTS, WORDS = "weights.safetensors", "words.json"


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
        """Answer every document's questions by the number N of the reader's entity (`@entityN`).

        None where the document has no entity: the reader is not run.
        """
        answers: list[list[int | None]] = [[None] * len(texts) for texts in questions]
        read = []
        for place, (document, texts) in enumerate(zip(documents, questions, strict=True)):
            if texts and any(entity_in(word) is not None for word in document):
                read.append(self._read(place, document, texts))
        if not read:  # no text names anybody, as of a method that has learned nothing
            return answers
        every = [question for reading in read for question in reading.questions]
        put, shown = self._asked(every), self._shown(every)
        starts = [0, *accumulate(len(reading.questions) for reading in read)]
        for batch in self._batches([len(reading.document) for reading in read]):
            places = [slice(starts[row], starts[row + 1]) for row in batch]
            vectors, theirs = [put[place] for place in places], [shown[place] for place in places if len(shown)]
            given_to = self._answered([read[row].document for row in batch], vectors, theirs)
            for row, given in zip(batch, given_to, strict=True):
                reading = read[row]
                answers[reading.place] = [reading.numbers.get(answer) for answer in given[: len(reading.questions)]]
        return answers

    def _read(self, place: int, document: Text, questions: Sequence[Text]) -> _Read:
        if not self.renumber:
            numbers = {number: number for word in document if (number := entity_in(word)) is not None}
            return _Read(place, self.words.ids(document), [self.words.ids(question) for question in questions], numbers)
        mapping: dict[int, int] = {}
        ids = self.words.ids(document, mapping)
        there = {new: old for old, new in mapping.items()}
        return _Read(place, ids, [self.words.ids(question, dict(mapping)) for question in questions], there)

    def _batches(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """Places of texts of similar length, at most `tokens` of them with padding."""
        batch: list[int] = []
        for place in sorted(range(len(lengths)), key=lambda place: (lengths[place], place)):
            if batch and lengths[place] * (len(batch) + 1) > self.tokens:
                yield batch
                batch = []
            batch.append(place)
        if batch:
            yield batch

    def _asked(self, questions: Sequence[list[int]]) -> Tensor:
        """Vectors of N questions that attention compares with states, [N, 2H]."""
        model = self.model
        vectors = torch.empty(len(questions), model.bilinear.out_features, device=self.device)
        for batch in self._batches([len(tensor) for tensor in questions]):
            ids, lengths = (tensor.to(self.device) for tensor in padded([questions[place] for place in batch]))
            vectors[batch] = model.bilinear(model.ask(ids, lengths))
        return vectors

    def _shown(self, questions: Sequence[list[int]]) -> Tensor:
        """Mask of the entities that each of N questions names, [N, K]; empty unless answers depend on it."""
        if not self.model.by_mentions:
            return torch.empty(0)
        return torch.stack([self.model.present(torch.tensor([question]))[0] for question in questions]).to(self.device)

    def _answered(
        self, read: Sequence[list[int]], vectors: Sequence[Tensor], shown: Sequence[Tensor]
    ) -> list[list[int]]:
        """The reader's answers to the questions of D documents, as many of each as of the one with most; NOBODY where
        a question names all entities of its document.
        """
        model = self.model
        documents, lengths = (tensor.to(self.device) for tensor in padded(read))
        states = model.read(documents, lengths)  # [D, S, 2H]
        grid = nn.utils.rnn.pad_sequence(list(vectors), batch_first=True)  # [D, Q, 2H]
        if model.by_mentions:
            theirs = nn.utils.rnn.pad_sequence(list(shown), batch_first=True)  # [D, Q, K]
            allowed = model.present(documents).unsqueeze(1) & ~theirs
            scores = model.named(grid @ states.transpose(1, 2), documents, allowed)
            answers: list[list[int]] = scores.argmax(2).where(allowed.any(2), NOBODY).tolist()
            return answers
        padding = torch.arange(states.shape[1], device=self.device) >= lengths.unsqueeze(1)  # [D, S]
        weights = (grid @ states.transpose(1, 2)).masked_fill(padding.unsqueeze(1), float("-inf")).softmax(2)
        scores = model.answer(weights @ states)  # [D, Q, S] @ [D, S, 2H] -> [D, Q, K]
        best: list[list[int]] = (
            scores.masked_fill(~model.present(documents).unsqueeze(1), float("-inf")).argmax(2).tolist()
        )
        return best


def read_reader(folder: Path, settings: AttentiveSettings, renumber: bool, device: str = "cpu") -> AttentiveAnswers:
    """The reader whose weights and words a run's folder holds."""
    words = Words.from_json(json.loads((folder / WORDS).read_text(encoding="utf-8")))
    model = build(words, settings, seed=0)
    model.load_state_dict(load_file(folder / WEIGHTS))
    return AttentiveAnswers(model.to(device), words, renumber)

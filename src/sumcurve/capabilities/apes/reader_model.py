"""The attentive reader of Chen, Bolton and Manning (2016), which answers cloze questions about entities.

A document and a question are read by two bidirectional GRUs over shared embeddings; attention between them is bilinear,
and the attended vector of the document is mapped to all entity markers, of which only those in the document are
possible answers. Alternatively, the probability of each entity is the sum of the attention to its mentions (Kadlec,
Schmid, Bajgar and Kleindienst 2016), among entities of the document that the question does not name.

Documents and questions are words in which entities are markers (`@entity3`) and one is hidden (`@placeholder`).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sumcurve.capabilities.apes.questions import entity_in
from sumcurve.capabilities.apes.settings import AttentiveSettings
from sumcurve.store.records import RecordError, open_bytes

PAD, UNK, PLACEHOLDER = 0, 1, 2
MARKS = ("<pad>", "<unk>", "@placeholder")
_SATURATED = 1e4
IMPOSSIBLE = -1e9
LEAST = 1e-9  # added to a sum of attention, whose logarithm is taken


class Words:
    """Vocabulary of a reader: three marks, then a marker for each of `entities` entities, then words.

    A marker of a larger number is an unknown word and never an answer.
    """

    def __init__(self, entities: int, words: Iterable[str]) -> None:
        self.entities = entities
        self.words = list(words)
        self.first = len(MARKS)  # the id of entity 0
        start = self.first + entities
        self._ids = {MARKS[PLACEHOLDER]: PLACEHOLDER}
        self._ids |= {word: number for number, word in enumerate(self.words, start=start)}

    @classmethod
    def counted(cls, texts: Iterable[Sequence[str]], most: int, least_count: int) -> "Words":
        """The `most` most frequent words, each at least `least_count` times in the texts, and all their entities.

        ValueError where no text has an entity.
        """
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(text)
        numbers = [number for word in counts if (number := entity_in(word)) is not None]
        if not numbers:
            raise ValueError("no text has an entity's marker: there is nothing to ask")
        words = sorted(
            (word for word in counts if entity_in(word) is None and word not in MARKS),
            key=lambda word: (-counts[word], word),
        )
        return cls(1 + max(numbers), [word for word in words[:most] if counts[word] >= least_count])

    def __len__(self) -> int:
        return self.first + self.entities + len(self.words)

    def ids(self, text: Sequence[str], numbers: dict[int, int] | None = None) -> list[int]:
        """The ids of a text; with `numbers` entities are numbered by these, and new entities are added to them."""
        ids = []
        for word in text:
            number = entity_in(word)
            if number is not None and numbers is not None:
                number = numbers.setdefault(number, len(numbers))
            if number is None:
                ids.append(self._ids.get(word, UNK))
            else:
                ids.append(self.first + number if number < self.entities else UNK)
        return ids

    def of_word(self, word: str) -> int | None:
        """The id of a word that is no mark."""
        return self._ids.get(word)

    def to_json(self) -> dict[str, Any]:
        return {"entities": self.entities, "words": self.words}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Words":
        return cls(value["entities"], value["words"])


@dataclass(frozen=True, slots=True)
class Posing:
    """A question about a document in ids, and the number of the entity that answers it."""

    document: list[int]
    question: list[int]
    answer: int


@dataclass
class ClozeBatch:
    """Cloze questions, padded on the right. Shapes: B questions, S tokens of a document, T of a question."""

    documents: Tensor  # long [B, S]
    lengths: Tensor  # long [B]
    questions: Tensor  # long [B, T]
    question_lengths: Tensor  # long [B]
    answers: Tensor  # long [B]

    def to(self, device: torch.device | str) -> "ClozeBatch":
        return ClozeBatch(**{name: tensor.to(device) for name, tensor in vars(self).items()})


def padded(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """[B, S] and the lengths [B]; a row without a token has one of padding."""
    lengths = [max(1, len(row)) for row in rows]
    whole = np.full((len(rows), max(lengths)), PAD, dtype=np.int64)
    for place, row in zip(whole, rows, strict=True):
        place[: len(row)] = row
    return torch.from_numpy(whole), torch.tensor(lengths)


def collate(items: Sequence[Posing]) -> ClozeBatch:
    answers = torch.tensor([item.answer for item in items])
    return ClozeBatch(*padded([item.document for item in items]), *padded([item.question for item in items]), answers)


class BiGRU(nn.GRU):
    """A bidirectional GRU over right-padded sequences, equal to packing them.

    An input column beside the features is 1 on padding and opens the update gate there, so that a state passes padding
    unchanged.
    """

    held: Tensor

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__(inputs, hidden, batch_first=True, bidirectional=True)
        held = torch.zeros(3 * hidden, 1)  # gates r, z, n
        held[hidden : 2 * hidden] = _SATURATED
        self.register_buffer("held", held, persistent=False)

    def forward(self, inputs: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """[B, S, E] and [B] -> states [B, S, 2H], arbitrary on padding, and each direction's last, [B, 2H]."""
        padding = torch.arange(inputs.shape[1], device=inputs.device) >= lengths.unsqueeze(1)
        weights: list[Tensor] = []
        for of_input, *others in self.all_weights:  # of each direction
            weights += [torch.cat((of_input, self.held.to(of_input.dtype)), 1), *others]
        zero = inputs.new_zeros(2, len(inputs), self.hidden_size)
        inputs = torch.cat((inputs, padding.unsqueeze(2).to(inputs.dtype)), 2)
        states, last = torch.gru(inputs, zero, weights, True, 1, 0.0, self.training, True, True)
        return states, torch.cat((last[0], last[1]), 1)


class AttentiveReader(nn.Module):
    """Chen et al. 2016, section 3.2: p(a | d, q) over the entities of the document; by mentions, Kadlec et al. 2016.

    Shapes: B questions, S tokens of a document, K entities, H a direction's width, D documents of Q questions each.
    """

    def __init__(self, words: int, entities: int, settings: AttentiveSettings) -> None:
        super().__init__()
        width = 2 * settings.hidden
        self.entities = entities
        self.embedding = nn.Embedding(words, settings.embedding, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=settings.init_std)
        self.dropout = nn.Dropout(settings.dropout)
        self.document = BiGRU(settings.embedding, settings.hidden)
        self.question = BiGRU(settings.embedding, settings.hidden)
        self.bilinear = nn.Linear(width, width, bias=False)
        self.by_mentions = settings.answer == "mentions"
        if not self.by_mentions:
            self.answer = nn.Linear(width, entities, bias=False)

    def read(self, documents: Tensor, lengths: Tensor) -> Tensor:
        """Documents [B, S] -> their states [B, S, 2H]."""
        states, _ = self.document(self.dropout(self.embedding(documents)), lengths)
        return states

    def ask(self, questions: Tensor, lengths: Tensor) -> Tensor:
        """Questions [B, T] -> [B, 2H]."""
        _, last = self.question(self.dropout(self.embedding(questions)), lengths)
        return last

    def present(self, documents: Tensor) -> Tensor:
        """Mask of the entities in documents [B, S], [B, K]."""
        numbers = documents - len(MARKS)
        there = (numbers >= 0) & (numbers < self.entities)
        mask = torch.zeros(len(documents), self.entities + 1, dtype=torch.bool, device=documents.device)
        return mask.scatter(1, numbers.where(there, self.entities), True)[:, : self.entities]

    def attention(self, states: Tensor, lengths: Tensor, questions: Tensor) -> Tensor:
        """Attention weights of each question [B, 2H] over the tokens of its document, [B, S]."""
        padding = torch.arange(states.shape[1], device=states.device) >= lengths.unsqueeze(1)
        scores = torch.einsum("bsh,bh->bs", states, self.bilinear(questions))
        return scores.masked_fill(padding, IMPOSSIBLE).softmax(1)

    def scores(self, states: Tensor, lengths: Tensor, questions: Tensor, present: Tensor) -> Tensor:
        """Log-probability of each entity of the document, [B, K]; entities not in it have a value near IMPOSSIBLE."""
        weights = self.attention(states, lengths, questions)  # [B, S]
        gathered = torch.einsum("bs,bsh->bh", weights, states)
        return self.answer(gathered).masked_fill(~present, IMPOSSIBLE).log_softmax(1)

    def named(self, scores: Tensor, documents: Tensor, allowed: Tensor) -> Tensor:
        """Log-probability of each allowed entity, [D, Q, K], by the scores of tokens [D, Q, S] of documents [D, S].

        `allowed` is [D, Q, K]; the others have IMPOSSIBLE. Attention is to mentions of allowed entities alone.
        """
        entities = torch.arange(self.entities, device=documents.device) + len(MARKS)
        mentions = (documents.unsqueeze(2) == entities).to(scores.dtype)  # [D, S, K]
        read = (allowed.to(scores.dtype) @ mentions.transpose(1, 2)) > 0  # [D, Q, K] @ [D, K, S] -> [D, Q, S]
        weights = scores.masked_fill(~read, IMPOSSIBLE).softmax(2)
        return (weights @ mentions + LEAST).log().masked_fill(~allowed, IMPOSSIBLE)

    def forward(self, batch: ClozeBatch) -> Tensor:
        """Log-probabilities [B, K]."""
        states = self.read(batch.documents, batch.lengths)
        questions = self.ask(batch.questions, batch.question_lengths)
        present = self.present(batch.documents)
        if not self.by_mentions:
            return self.scores(states, batch.lengths, questions, present)
        scores = torch.einsum("bsh,bh->bs", states, self.bilinear(questions))
        allowed = present & ~self.present(batch.questions)
        return self.named(scores.unsqueeze(1), batch.documents, allowed.unsqueeze(1)).squeeze(1)


def build(words: Words, settings: AttentiveSettings, seed: int) -> AttentiveReader:
    """A new reader, whose weights depend on settings and seed only; torch's generator is left unchanged."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return AttentiveReader(len(words), words.entities, settings)


def read_vectors(path: Path, words: Words, width: int) -> dict[int, list[float]]:
    """Vectors of the words that a file of GloVe's form has (a word and its numbers a line), by id.

    RecordError, with the line, for a line of another width or without numbers.
    """
    vectors: dict[int, list[float]] = {}
    with open_bytes(path) as stream:
        for number, line in enumerate(stream, start=1):
            word, *values = line.decode("utf-8", "replace").rstrip("\n").split(" ")
            if len(values) != width:
                raise RecordError(
                    f"{path}:{number}: {word[:40]!r} has {len(values)} numbers, but the reader's embeddings have "
                    f"{width}: set its `embedding` to the file's width, or name another file"
                )
            place = words.of_word(word)
            if place is None:
                continue
            try:
                vectors[place] = [float(value) for value in values]
            except ValueError as error:
                raise RecordError(f"{path}:{number}: {error}; a line is a word and {width} numbers") from None
    return vectors


def start_from(model: AttentiveReader, vectors: Mapping[int, Sequence[float]]) -> None:
    """Replace the embeddings of words by these vectors."""
    with torch.no_grad():
        for place, vector in vectors.items():
            model.embedding.weight[place] = torch.tensor(vector)

"""The examples that a training goes through: encoded one by one, when a batch is made, from a part's token ids."""

import hashlib
from array import array
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from sumcurve.corpora.token_ids import SENTENCE, Drawn
from sumcurve.models.batch import Example
from sumcurve.models.vocabulary import BOS, EOS, MARKS, SEP, UNK, Vocabulary

UNKNOWN = -1  # of the table from numbers of words to ids


class Spans(Sequence[list[tuple[int, int]]]):
    """Half-open spans of tokens of every record, in few bytes."""

    def __init__(self, rows: Iterable[Iterable[tuple[int, int]]]) -> None:
        self._ends, self._values = array("q", [0]), array("i")
        for row in rows:
            for span in row:
                self._values.extend(span)
            self._ends.append(len(self._values))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, number: Any) -> Any:
        values = self._values[self._ends[number] : self._ends[number + 1]]
        return list(zip(values[::2], values[1::2], strict=True))


class Examples(Sequence[Example]):
    """Records as a model reads them, as `batch.encode` would encode them; none stays in memory.

    `salient` has the spans of salient tokens of every record, in the order of `records`.
    """

    def __init__(
        self,
        records: Drawn,
        vocabulary: Vocabulary,
        source_tokens: int,
        target_tokens: int,
        salient: Sequence[list[tuple[int, int]]] | None = None,
    ) -> None:
        self.records, self.vocabulary = records, vocabulary
        self.source_tokens, self.target_tokens, self.salient = source_tokens, target_tokens, salient
        ids = {word: number for number, word in enumerate(vocabulary.words[len(MARKS) :], start=len(MARKS))}
        self._table = np.fromiter((ids.get(word, UNKNOWN) for word in records.tokens.words), dtype=np.int32)
        # The number of the word without a letter; -1: there is none.
        self._empty = next((number for number, word in enumerate(records.tokens.words) if not word), -1)

    def __len__(self) -> int:
        return len(self.records)

    def lengths(self, number: int) -> tuple[int, int]:
        """What `batch.lengths` says of the example, which is not encoded for it."""
        source, target = self.records.tokens.lengths(self.records.positions[number])
        return min(target, self.target_tokens) + (target <= self.target_tokens), min(source, self.source_tokens)

    def __getitem__(self, number: Any) -> Any:
        tokens, position = self.records.tokens, self.records.positions[number]
        words = tokens.source(position)[: self.source_tokens]
        if (words == self._empty).all():
            name = tokens.read(position).id
            raise ValueError(f"record {name!r} has an empty source; drop it when the corpus is prepared")
        size = len(self.vocabulary)
        source = self._table[words].astype(np.int64)
        extended = source.copy()
        slots: dict[int, int] = {}
        for place in np.flatnonzero(source == UNKNOWN).tolist():
            extended[place] = size + slots.setdefault(int(words[place]), len(slots))
        source[source == UNKNOWN] = UNK
        target = self._target(tokens.target(position), slots)
        marks = None
        if self.salient is not None:
            marks = [0] * len(words)
            for start, end in self.salient[number]:
                marks[start:end] = [1] * len(marks[start:end])
        return Example(
            partial(tokens.read, position),
            source,
            extended,
            [tokens.word(word) for word in slots],
            [BOS] + [token if token < size else UNK for token in target[:-1]],
            target,
            marks,
        )

    def _target(self, words: np.ndarray, slots: dict[int, int]) -> list[int]:
        """The extended ids to predict: `Vocabulary.target`."""
        most, size = self.target_tokens, len(self.vocabulary)
        cut = words[:most]
        target: list[int] = np.where(cut == SENTENCE, SEP, self._table[cut]).tolist()
        for place, token in enumerate(target):
            if token == UNKNOWN:
                slot = slots.get(int(cut[place]))
                target[place] = UNK if slot is None else size + slot
        return target if len(words) > most else [*target, EOS]

    @property
    def digest(self) -> str:
        """The sha256 (hex) of all that decides what a model reads of them."""
        whole = hashlib.sha256(self.records.digest.encode())
        whole.update("\n".join(self.vocabulary.words).encode())
        whole.update(f"\n{self.source_tokens} {self.target_tokens}".encode())
        for spans in self.salient or ():
            whole.update(repr(spans).encode())
        return whole.hexdigest()

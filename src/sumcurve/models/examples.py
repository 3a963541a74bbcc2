"""The examples that a training goes through: encoded one by one, when a batch is made."""

import hashlib
from array import array
from collections.abc import Iterable, Sequence
from typing import Any

from sumcurve.corpora.lines import Drawn
from sumcurve.models.batch import Example, encode
from sumcurve.models.vocabulary import Vocabulary


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
    """Records as a model reads them, each encoded at its access; none stays in memory.

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

    def __len__(self) -> int:
        return len(self.records)

    def lengths(self, number: int) -> tuple[int, int]:
        """Lengths of the example as in `batch.lengths`, without encoding it."""
        source, target = self.records.lengths(number)
        return min(target, self.target_tokens) + (target <= self.target_tokens), min(source, self.source_tokens)

    def __getitem__(self, number: Any) -> Any:
        salient = None if self.salient is None else self.salient[number]
        return encode(self.records[number], self.vocabulary, self.source_tokens, self.target_tokens, salient)

    @property
    def digest(self) -> str:
        """The sha256 (hex) of all that decides the examples as a model reads them."""
        whole = hashlib.sha256(self.records.digest.encode())
        whole.update("\n".join(self.vocabulary.words).encode())
        whole.update(f"\n{self.source_tokens} {self.target_tokens}".encode())
        for spans in self.salient or ():
            whole.update(repr(spans).encode())
        return whole.hexdigest()

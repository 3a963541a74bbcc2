"""Examples as ids, and padded batches of them."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from sumcurve.models.vocabulary import PAD, Vocabulary
from sumcurve.records import Record


@dataclass(frozen=True, slots=True)
class Example:
    """One record as a model reads it; `source_words` are the words that `source` holds, in order."""

    id: str
    source: list[int]
    source_ext: list[int]
    unknowns: list[str]
    input: list[int]
    target: list[int]
    source_words: list[str]


def encode(record: Record, vocabulary: Vocabulary, source_tokens: int, target_tokens: int) -> Example:
    """The record's first `source_tokens` words and its target, cut to `target_tokens` if it is longer.

    Raises ValueError for a record without a source word: attention over nothing has no value.
    """
    words = record.source_tokens[:source_tokens]
    if not any(words):
        raise ValueError(f"record {record.id!r} has an empty source; drop it when the corpus is prepared")
    source, source_ext, unknowns = vocabulary.source(words)
    sentences = [sentence.split(" ") for sentence in record.target if sentence]
    inputs, target = vocabulary.target(sentences, unknowns, target_tokens)
    return Example(record.id, source, source_ext, unknowns, inputs, target, words)


@dataclass
class Batch:
    """Examples padded on the right with PAD. Shapes: B examples, S source tokens, T target tokens.

    `tgt` holds extended ids, `n_ext` how many extended slots an example owns.
    """

    src: Tensor  # long [B, S]
    src_ext: Tensor  # long [B, S]
    src_len: Tensor  # long [B]
    inp: Tensor  # long [B, T]
    tgt: Tensor  # long [B, T]
    n_ext: Tensor  # long [B]
    unknowns: list[list[str]]
    ids: list[str]
    source_words: list[list[str]]

    def __len__(self) -> int:
        return len(self.ids)

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch with its tensors on `device`."""
        names = ("src", "src_ext", "src_len", "inp", "tgt", "n_ext")
        return replace(self, **{name: getattr(self, name).to(device, non_blocking=True) for name in names})


def _padded(rows: Sequence[Sequence[int]]) -> Tensor:
    longest = max(len(row) for row in rows)
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows], dtype=torch.long)


def collate(examples: Sequence[Example]) -> Batch:
    return Batch(
        src=_padded([example.source for example in examples]),
        src_ext=_padded([example.source_ext for example in examples]),
        src_len=torch.tensor([len(example.source) for example in examples]),
        inp=_padded([example.input for example in examples]),
        tgt=_padded([example.target for example in examples]),
        n_ext=torch.tensor([len(example.unknowns) for example in examples]),
        unknowns=[example.unknowns for example in examples],
        ids=[example.id for example in examples],
        source_words=[example.source_words for example in examples],
    )


def batches(
    examples: Sequence[Example],
    size: int,
    rng: random.Random | None,
    pool: int = 100,
    by_length: bool = False,
) -> Iterator[Batch]:
    """Every example once, in batches of `size` (the last may be smaller).

    With `rng`, one epoch in random order: shuffled examples are taken in pools of `pool` batches, sorted by
    target and source length within a pool, and batches are shuffled within it. Without, the order is that of
    `examples`, or of length with `by_length`; `Batch.ids` tell which is which.
    """

    def length(example: Example) -> tuple[int, int]:
        return len(example.target), len(example.source)

    def source_length(example: Example) -> int:
        return len(example.source)

    if rng is None:
        ordered = sorted(examples, key=source_length) if by_length else examples
        for start in range(0, len(ordered), size):
            yield collate(ordered[start : start + size])
        return
    shuffled = list(examples)
    rng.shuffle(shuffled)
    for first in range(0, len(shuffled), pool * size):
        pooled = sorted(shuffled[first : first + pool * size], key=length)
        starts = list(range(0, len(pooled), size))
        rng.shuffle(starts)
        for start in starts:
            yield collate(pooled[start : start + size])

"""Examples as ids, and padded batches of them."""

import random
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from sumcurve.models.vocabulary import PAD, Vocabulary
from sumcurve.store.records import Record

Item = TypeVar("Item")

DECODED_TOGETHER = 50  # items of a batch from which nothing is learned; results do not depend on it


@dataclass(frozen=True, slots=True)
class Example:
    """One record as a model reads it.

    `salient` marks the source's tokens that belong to a salient entity, with 1; None where not requested.
    """

    record: Record
    source: list[int]
    source_ext: list[int]
    unknowns: list[str]
    input: list[int]
    target: list[int]
    salient: list[int] | None = None

    @property
    def id(self) -> str:
        return self.record.id


def encode(
    record: Record,
    vocabulary: Vocabulary,
    source_tokens: int,
    target_tokens: int,
    salient: Sequence[tuple[int, int]] | None = None,
) -> Example:
    """The record's first `source_tokens` words and its target, cut to `target_tokens` if it is longer.

    `salient` are half-open spans of source tokens (corpora.store.read_salient).

    Raises ValueError for a record without a source word: attention over nothing has no value.
    """
    sentences = (sentence.split(" ") for sentence in record.source)
    words = list(islice(chain.from_iterable(sentences), source_tokens))  # a long source is not split whole
    if not any(words):
        raise ValueError(f"record {record.id!r} has an empty source; drop it when the corpus is prepared")
    source, source_ext, unknowns = vocabulary.source(words)
    targets = [sentence.split(" ") for sentence in record.target if sentence]
    inputs, target = vocabulary.target(targets, unknowns, target_tokens)
    marks = None
    if salient is not None:
        marks = [0] * len(words)
        for start, end in salient:
            marks[start:end] = [1] * len(marks[start:end])
    return Example(record, source, source_ext, unknowns, inputs, target, marks)


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
    records: Sequence[Record]
    salient: Tensor | None = None  # float [B, S]: 1 on tokens of salient entities

    @property
    def ids(self) -> list[str]:
        return [record.id for record in self.records]

    def __len__(self) -> int:
        return len(self.records)

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch with its tensors on `device`."""
        names = ("src", "src_ext", "src_len", "inp", "tgt", "n_ext", "salient")
        tensors = {name: getattr(self, name) for name in names}
        return replace(self, **{k: v.to(device, non_blocking=True) for k, v in tensors.items() if v is not None})


def _padded(rows: Sequence[Sequence[int]]) -> Tensor:
    whole = np.full((len(rows), max(len(row) for row in rows)), PAD, dtype=np.int64)
    for place, row in zip(whole, rows, strict=True):
        place[: len(row)] = row
    return torch.from_numpy(whole)


def collate(examples: Sequence[Example]) -> Batch:
    marks = [example.salient for example in examples if example.salient is not None]
    return Batch(
        src=_padded([example.source for example in examples]),
        src_ext=_padded([example.source_ext for example in examples]),
        src_len=torch.tensor([len(example.source) for example in examples]),
        inp=_padded([example.input for example in examples]),
        tgt=_padded([example.target for example in examples]),
        n_ext=torch.tensor([len(example.unknowns) for example in examples]),
        unknowns=[example.unknowns for example in examples],
        records=[example.record for example in examples],
        salient=_padded(marks).float() if len(marks) == len(examples) else None,
    )


def retargeted(batch: Batch, rows: Sequence[int], targets: Sequence[tuple[list[int], list[int]]]) -> Batch:
    """The sources of these rows of a batch, each with a target of its own: decoder inputs and extended ids."""
    device = batch.src.device
    chosen = torch.tensor(rows, device=device)
    return replace(
        batch,
        src=batch.src[chosen],
        src_ext=batch.src_ext[chosen],
        src_len=batch.src_len[chosen],
        inp=_padded([inputs for inputs, _ in targets]).to(device),
        tgt=_padded([target for _, target in targets]).to(device),
        n_ext=batch.n_ext[chosen],
        unknowns=[batch.unknowns[row] for row in rows],
        records=[batch.records[row] for row in rows],
        salient=None if batch.salient is None else batch.salient[chosen],
    )


def bucketed(
    items: Sequence[Item],
    size: int,
    rng: random.Random,
    length: Callable[[Item], tuple[int, ...]],
    pool: int = 100,
) -> Iterator[list[Item]]:
    """One epoch: every item once, in random order, in lists of `size` (the last may be shorter) of similar length.

    Shuffled items are taken in pools of `pool` lists, sorted by `length` within a pool, and lists are shuffled
    within it.
    """
    shuffled = array("q", range(len(items)))  # eight bytes an item, whatever the items are
    rng.shuffle(shuffled)
    for first in range(0, len(shuffled), pool * size):
        pooled = sorted((items[number] for number in shuffled[first : first + pool * size]), key=length)
        starts = list(range(0, len(pooled), size))
        rng.shuffle(starts)
        for start in starts:
            yield pooled[start : start + size]


def lengths(example: Example) -> tuple[int, int]:
    """Lengths by which training batches are bucketed."""
    return len(example.target), len(example.source)


def batches(examples: Sequence[Example], size: int, by_length: bool = False) -> Iterator[Batch]:
    """Every example once, in batches of `size` (the last may be smaller).

    In the order of `examples`, or of source length with `by_length`; `Batch.ids` identify them.
    """

    def source_length(example: Example) -> int:
        return len(example.source)

    ordered = sorted(examples, key=source_length) if by_length else examples
    for start in range(0, len(ordered), size):
        yield collate(ordered[start : start + size])

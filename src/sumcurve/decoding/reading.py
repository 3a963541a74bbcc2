"""Does a system read? Log-probabilities of every target given its own source and given those of other groups."""

import hashlib
from collections import Counter
from collections.abc import Sequence

import numpy as np
import torch

from sumcurve.decoding.logp import TargetLogp
from sumcurve.models.batch import Example, collate, retargeted
from sumcurve.models.summarizer import Summarizer
from sumcurve.models.vocabulary import UNK, Vocabulary
from sumcurve.records import Record
from sumcurve.settings import Reading

BATCH = 64  # sources encoded together, and targets scored together; results are those of any other number but for sums


class GroupError(ValueError):
    """Records that hold no two groups."""


def derangement(ids: Sequence[str], groups: Sequence[str], key: str) -> list[int]:
    """For every record the position of one of another group; no record serves twice where that can be.

    It can where no group holds more than half of the records: these are laid out group by group in the order of a keyed
    hash and shifted round by at least the largest group. Otherwise the largest group and all others serve each other.
    GroupError if there is one group only.
    """
    sizes = Counter(groups)
    if len(sizes) < 2:
        raise GroupError(
            f"all {len(ids)} test records are of one group ({groups[0]!r}): whether a system reads is asked with "
            "sources of other groups"
        )

    def keyed(text: str) -> int:
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8, key=key.encode()).digest())

    order = sorted(
        range(len(ids)), key=lambda at: (keyed(f"group {groups[at]}"), groups[at], keyed(f"record {ids[at]}"))
    )
    largest, size = max(sizes.items(), key=lambda item: (item[1], item[0]))
    others = [0] * len(ids)
    if 2 * size <= len(ids):
        shift = size + keyed("shift") % (len(ids) - 2 * size + 1)
        for place, at in enumerate(order):
            others[at] = order[(place + shift) % len(ids)]
        return others
    inside = [at for at in order if groups[at] == largest]
    outside = [at for at in order if groups[at] != largest]
    for ones, serving in ((inside, outside), (outside, inside)):
        for place, at in enumerate(ones):
            others[at] = serving[place % len(serving)]
    return others


def derangements(records: Sequence[Record], settings: Reading) -> np.ndarray:
    """[K, N]: K derangements of the records over their groups."""
    ids = [record.id for record in records]
    groups = [record.id if record.group is None else record.group for record in records]
    rounds = [derangement(ids, groups, f"reading {settings.seed} {number}") for number in range(settings.others)]
    return np.array(rounds, dtype=np.int32)


@torch.no_grad()
def target_logp(
    model: Summarizer,
    vocabulary: Vocabulary,
    examples: Sequence[Example],
    sources: np.ndarray,
    most: int,
    device: str,
) -> TargetLogp:
    """Log-probabilities of every example's target given its own source and given those of `sources` [K, N].

    Every source is encoded once and scores all targets that ask for it. The examples' targets are cut to `most` tokens.
    """
    targets = [[sentence.split(" ") for sentence in example.record.target if sentence] for example in examples]
    starts = np.cumsum([0, *(len(example.target) for example in examples)], dtype=np.int32)
    logp = np.zeros((1 + len(sources), starts[-1]), dtype=np.float32)
    asked: list[list[tuple[int, int]]] = [[(0, number)] for number in range(len(examples))]  # by source: round, target
    for index, row in enumerate(sources.tolist(), start=1):
        for number, source in enumerate(row):
            asked[source].append((index, number))
    order = sorted(range(len(examples)), key=lambda number: len(examples[number].source))
    for first in range(0, len(order), BATCH):
        together = [examples[number] for number in order[first : first + BATCH]]
        batch = collate(together).to(device)
        memory = model.encode(batch)
        pairs = [(row, *pair) for row, number in enumerate(order[first : first + BATCH]) for pair in asked[number]]
        pairs.sort(key=lambda pair: len(examples[pair[2]].target))
        for start in range(0, len(pairs), BATCH):
            part = pairs[start : start + BATCH]
            rows = [row for row, _, _ in part]
            words = [vocabulary.target(targets[number], together[row].unknowns, most) for row, _, number in part]
            scored, _ = model.gold(retargeted(batch, rows, words), memory.select(torch.tensor(rows, device=device)))
            for line, (_, index, number) in zip(scored.cpu().numpy(), part, strict=True):
                logp[index, starts[number] : starts[number + 1]] = line[: starts[number + 1] - starts[number]]
    ids = np.array([token for example in examples for token in example.target])
    known = (ids < len(vocabulary)) & (ids != UNK)
    return TargetLogp(logp[0], logp[1:], known.astype(np.uint8), starts, sources, most)

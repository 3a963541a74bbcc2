"""Does a system read? Log-probabilities of every target given its own source and given those of other groups."""

from collections.abc import Sequence

import numpy as np
import torch

from sumcurve.decoding.logp import TargetLogp
from sumcurve.models.batch import Example, collate, retargeted
from sumcurve.models.summarizer import Summarizer
from sumcurve.models.vocabulary import UNK, Vocabulary

BATCH = 64  # sources encoded together, and targets scored together; results are those of any other number but for sums


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
    wanted: list[list[tuple[int, int]]] = [[(0, number)] for number in range(len(examples))]  # by source: round, target
    for index, row in enumerate(sources.tolist(), start=1):
        for number, source in enumerate(row):
            wanted[source].append((index, number))
    order = sorted(range(len(examples)), key=lambda number: len(examples[number].source))
    for first in range(0, len(order), BATCH):
        together = [examples[number] for number in order[first : first + BATCH]]
        batch = collate(together).to(device)
        memory = model.encode(batch)
        pairs = [(row, *pair) for row, number in enumerate(order[first : first + BATCH]) for pair in wanted[number]]
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

"""Preference of a system for a gold summary over broken ones of the same source (capabilities.contrasts.sets)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from sumcurve.capabilities.contrasts.alternatives import Ids, targets_logp, together
from sumcurve.capabilities.contrasts.judged import Judged
from sumcurve.capabilities.contrasts.sets import Contrasted
from sumcurve.corpora.derangement import GroupError, derangements
from sumcurve.decoding.decoder import SummarizerDecoder
from sumcurve.models.batch import Example, collate, encode
from sumcurve.models.summarizer import ReadoutSummarizer, Summarizer
from sumcurve.models.vocabulary import BOS, UNK, Vocabulary
from sumcurve.settings.study import Reading
from sumcurve.store.records import Record
from sumcurve.systems.system import Alternatives, Item, Likelihoods, Scoring, Weighing
from sumcurve.systems.trained import Trained

Target = list[str]  # sentences of blank-separated tokens


def judge(
    system: Scoring,
    contrasted: Sequence[Contrasted],
    items: Sequence[Item],
    others: Reading,
) -> Judged:
    """Compute log-probabilities of every gold and its contrasts, given its source and one of another group (`others`).

    `items` are all test items. KeyError for a gold that belongs to none of the items.
    """
    place = {item.record.id: number for number, item in enumerate(items)}
    own = [
        Alternatives(items[place[gold.item]], [gold.sentences, *(contrast.sentences for contrast in gold.contrasts)])
        for gold in contrasted
    ]
    rows = weigh(system, own)
    try:
        places = derangements([item.record for item in items], others)[0].tolist()
        drawn = [items[places[place[gold.item]]] for gold in contrasted]
        elsewhere = [replace(targets, item=item) for targets, item in zip(own, drawn, strict=True)]
        other = flat(likelihoods.logp for likelihoods in weigh(system, elsewhere))
    except GroupError:
        other = None
    return Judged(
        own=flat(row.logp for row in rows),
        tokens=np.array([count for row in rows for count in row.tokens], dtype=np.int32),
        visible=np.array([seen != row.seen[0] for row in rows for seen in row.seen], dtype=bool),
        starts=np.cumsum([0, *(len(row.logp) for row in rows)], dtype=np.int32),
        other=other,
    )


def flat(rows: Iterable[Sequence[float]]) -> NDArray[np.float64]:
    """The values of all rows, one row after another."""
    return np.array([value for row in rows for value in row], dtype=np.float64)


def weigh(system: Scoring, alternatives: Sequence[Alternatives]) -> list[Likelihoods]:
    """Log-probabilities of all targets: by the system's own procedure, or by ours for decoders of the core.

    Each source is read once where the system's kind allows it; other systems score each target separately.
    """
    if isinstance(system, Weighing):
        return system.weigh(alternatives)
    if isinstance(system, Trained) and isinstance(system.decoder, SummarizerDecoder):
        return _of_summarizer(system, system.decoder.model, alternatives)
    pairs = [(each.item, target) for each in alternatives for target in each.targets]
    values = iter(system.logp([item for item, _ in pairs], [target for _, target in pairs]))
    return [
        Likelihoods(
            [next(values) for _ in item.targets], [words(target) for target in item.targets], list(item.targets)
        )
        for item in alternatives
    ]


def words(target: Target) -> int:
    """The tokens of a target without marks."""
    return sum(len(sentence.split(" ")) for sentence in target)


def target_ids(vocabulary: Vocabulary, target: Target, unknowns: Sequence[str], most: int) -> Ids:
    return vocabulary.target([sentence.split(" ") for sentence in target if sentence], unknowns, most)


def source_of(record: Record, vocabulary: Vocabulary, source_tokens: int) -> Example:
    """A record as an input, without a target."""
    return encode(replace(record, target=[], references=[]), vocabulary, source_tokens, 1)


def seen_ids(ids: Ids, vocabulary: Vocabulary, copies: bool) -> tuple[int, ...]:
    """Ids of a target as a model reads them: for a model that does not copy, unknown words of the source are one id."""
    return tuple(number if copies or number < len(vocabulary) else UNK for number in ids[1])


@torch.no_grad()
def copying(model: Summarizer, device: str) -> bool:
    """Tell whether a model copies."""
    batch = collate([Example(Record("", ["a"], []), [UNK], [UNK], [], [BOS], [BOS])]).to(device)
    memory = model.encode(batch)
    emission, _, _ = model.step(batch.inp, memory, model.start(memory, 1))
    return emission.copy_logp is not None


@torch.no_grad()
def _of_summarizer(system: Trained, model: Summarizer, alternatives: Sequence[Alternatives]) -> list[Likelihoods]:
    assert isinstance(model, ReadoutSummarizer)  # pretrained models have systems of their own
    vocabulary, copies = system.vocabulary, copying(model, system.device)
    examples = [source_of(item.item.record, vocabulary, system.source_tokens) for item in alternatives]
    targets = [
        [target_ids(vocabulary, target, example.unknowns, system.target_tokens) for target in item.targets]
        for item, example in zip(alternatives, examples, strict=True)
    ]
    rows: list[Likelihoods | None] = [None] * len(alternatives)
    order = sorted(range(len(alternatives)), key=lambda at: (len(targets[at][0][1]), len(examples[at].source)))
    for part in together([len(item) for item in targets], order, system.device):
        batch = collate([examples[at] for at in part]).to(system.device)
        values = targets_logp(model, batch, model.encode(batch), [targets[at] for at in part])
        for at, lines in zip(part, values, strict=True):
            rows[at] = Likelihoods(
                [math.fsum(line) for line in lines],
                [len(line) for line in lines],
                [seen_ids(ids, vocabulary, copies) for ids in targets[at]],
            )
    return [item for item in rows if item is not None]

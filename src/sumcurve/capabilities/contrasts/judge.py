"""Whether a system prefers a gold summary to broken ones of the same source (capabilities.contrasts.sets)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from sumcurve.capabilities.contrasts.alternatives import Ids, targets_logp, together
from sumcurve.capabilities.contrasts.judged import Judged
from sumcurve.capabilities.contrasts.sets import Contrasted
from sumcurve.capabilities.fairseq.system import FairseqSystem
from sumcurve.capabilities.pretrained.decoding import BATCH
from sumcurve.capabilities.pretrained.subwords import TextExample
from sumcurve.capabilities.pretrained.system import PretrainedSystem
from sumcurve.capabilities.programs.command import Command
from sumcurve.capabilities.programs.program import tokens_of
from sumcurve.corpora.derangement import GroupError, derangements
from sumcurve.decoding.decoder import SummarizerDecoder
from sumcurve.decoding.extract_rewrite import ExtractRewriteDecoder, extract
from sumcurve.models.batch import Example, collate, encode
from sumcurve.models.extract_rewrite import read_document
from sumcurve.models.summarizer import ReadoutSummarizer, Summarizer
from sumcurve.models.vocabulary import BOS, UNK, Vocabulary
from sumcurve.settings import Reading
from sumcurve.store.records import Record, Text
from sumcurve.systems.system import Item, Scoring
from sumcurve.systems.trained import Trained

PAIRS = 1024  # of a source and a target that fairseq is asked for at once

Target = list[str]  # sentences of blank-separated tokens


@dataclass(frozen=True)
class Asked:
    """A source, and the targets that a system is asked for with it."""

    item: Item
    targets: Sequence[Target]


@dataclass(frozen=True)
class Weighed:
    """What a system finds of the targets of one source, in their order.

    `logp` are sums over `tokens` tokens, in nats. `seen` is what the system sees of each: it cannot tell two apart that
    are equal here. `assigned` is what `logp` is by another procedure.
    """

    logp: Sequence[float]
    tokens: Sequence[int]
    seen: Sequence[Any]
    assigned: Sequence[float] | None = None


def judge(
    system: Scoring,
    contrasted: Sequence[Contrasted],
    items: Sequence[Item],
    others: Reading,
    target_tokens: int = 0,
) -> Judged:
    """Weigh every gold and its contrasts, given the own source and one of another group, drawn as `others` says.

    `items` are all test items; of golds and contrasts a system reads `target_tokens` tokens where it does not say so
    itself. KeyError for a gold that is of none of the items.
    """
    place = {item.record.id: number for number, item in enumerate(items)}
    own = [
        Asked(items[place[one.item]], [one.sentences, *(told.sentences for told in one.contrasts)])
        for one in contrasted
    ]
    found = weigh(system, own, target_tokens)
    try:
        row = derangements([item.record for item in items], others)[0].tolist()
        elsewhere = [replace(one, item=items[row[place[told.item]]]) for one, told in zip(own, contrasted, strict=True)]
        other = flat(one.logp for one in weigh(system, elsewhere, target_tokens))
    except GroupError:
        other = None
    assigned = [one.assigned for one in found if one.assigned is not None]
    return Judged(
        own=flat(one.logp for one in found),
        tokens=np.array([count for one in found for count in one.tokens], dtype=np.int32),
        told=np.array([seen != one.seen[0] for one in found for seen in one.seen], dtype=bool),
        starts=np.cumsum([0, *(len(one.logp) for one in found)], dtype=np.int32),
        other=other,
        assigned=flat(assigned) if assigned else None,
    )


def flat(rows: Iterable[Sequence[float]]) -> NDArray[np.float64]:
    """The values of all rows, one row after another."""
    return np.array([value for row in rows for value in row], dtype=np.float64)


def weigh(system: Scoring, asked: Sequence[Asked], target_tokens: int = 0) -> list[Weighed]:
    """What a system finds of all targets. Sources are read once each where the system's kind allows it."""
    if isinstance(system, Trained) and isinstance(system.decoder, SummarizerDecoder):
        return _of_summarizer(system, system.decoder.model, asked)
    if isinstance(system, Trained) and isinstance(system.decoder, ExtractRewriteDecoder):
        return [_of_extract_rewrite(system.decoder, one, system.device) for one in asked]
    if isinstance(system, PretrainedSystem):
        return _of_pretrained(system, asked)
    if isinstance(system, FairseqSystem):
        return _of_fairseq(system, asked)
    if isinstance(system, Command):
        return _of_command(system, asked, target_tokens)
    pairs = [(one.item, target) for one in asked for target in one.targets]
    values = iter(system.logp([item for item, _ in pairs], [target for _, target in pairs]))
    return [
        Weighed([next(values) for _ in one.targets], [words(target) for target in one.targets], list(one.targets))
        for one in asked
    ]


def words(target: Target) -> int:
    """The tokens of a target without marks."""
    return sum(len(sentence.split(" ")) for sentence in target)


def _ids(vocabulary: Vocabulary, target: Target, unknowns: Sequence[str], most: int) -> Ids:
    return vocabulary.target([sentence.split(" ") for sentence in target if sentence], unknowns, most)


def _source(record: Record, vocabulary: Vocabulary, source_tokens: int) -> Example:
    """A record to be read, without a target."""
    return encode(replace(record, target=[], references=[]), vocabulary, source_tokens, 1)


def _seen(ids: Ids, vocabulary: Vocabulary, copies: bool) -> tuple[int, ...]:
    """What a model sees of a target: unknown words of the source are one to a model that does not copy."""
    return tuple(one if copies or one < len(vocabulary) else UNK for one in ids[1])


@torch.no_grad()
def copying(model: Summarizer, device: str) -> bool:
    """Whether a model copies."""
    batch = collate([Example(Record("", ["a"], []), [UNK], [UNK], [], [BOS], [BOS])]).to(device)
    memory = model.encode(batch)
    emission, _, _ = model.step(batch.inp, memory, model.start(memory, 1))
    return emission.copy_logp is not None


@torch.no_grad()
def _of_summarizer(system: Trained, model: Summarizer, asked: Sequence[Asked]) -> list[Weighed]:
    assert isinstance(model, ReadoutSummarizer)  # pretrained models have systems of their own
    vocabulary, copies = system.vocabulary, copying(model, system.device)
    examples = [_source(one.item.record, vocabulary, system.source_tokens) for one in asked]
    targets = [
        [_ids(vocabulary, target, example.unknowns, system.target_tokens) for target in one.targets]
        for one, example in zip(asked, examples, strict=True)
    ]
    found: list[Weighed | None] = [None] * len(asked)
    order = sorted(range(len(asked)), key=lambda at: (len(targets[at][0][1]), len(examples[at].source)))
    for part in together([len(one) for one in targets], order, system.device):
        batch = collate([examples[at] for at in part]).to(system.device)
        values = targets_logp(model, batch, model.encode(batch), [targets[at] for at in part])
        for at, lines in zip(part, values, strict=True):
            found[at] = Weighed(
                [math.fsum(line) for line in lines],
                [len(line) for line in lines],
                [_seen(ids, vocabulary, copies) for ids in targets[at]],
            )
    return [one for one in found if one is not None]


@torch.no_grad()
def _of_extract_rewrite(decoder: ExtractRewriteDecoder, asked: Asked, device: str) -> Weighed:
    """Chen and Bansal's system rewrites every sentence that it extracts by itself.

    As Kumar and Cheung score it (section 3): of every extracted sentence the summary's sentence that is most probable
    as its rewrite, one may serve several; `logp` sums these. `assigned` is `ExtractRewriteDecoder.logp`: every sentence
    of the summary by a source sentence of its own, at the best assignment.
    """
    from scipy.optimize import linear_sum_assignment

    model, vocabulary = decoder.model, decoder.vocabulary
    document = read_document(asked.item.record, vocabulary, decoder.source_tokens, model.settings.max_sentences)
    (chosen,) = extract(model, [document], decoder.stops, torch.device(device))
    summaries = [_within(target, decoder.target_tokens) for target in asked.targets]
    distinct = list(dict.fromkeys(sentence for summary in summaries for sentence in summary))
    place = {sentence: number for number, sentence in enumerate(distinct)}
    sources = [
        _source(Record("", [sentence], []), vocabulary, sentence.count(" ") + 1) for sentence in document.sentences
    ]
    matrix = np.empty((len(sources), len(distinct)))
    order = sorted(range(len(sources)), key=lambda at: len(sources[at].source))
    for part in together([len(distinct)] * len(sources), order, device):
        batch = collate([sources[at] for at in part]).to(device)
        targets = [[_ids(vocabulary, [text], sources[at].unknowns, most) for text, most in distinct] for at in part]
        values = targets_logp(model.abstractor, batch, model.abstractor.encode(batch), targets)
        for at, lines in zip(part, values, strict=True):
            matrix[at] = [math.fsum(line) for line in lines]
    copies = copying(model.abstractor, device)
    unknowns = vocabulary.source([word for text in document.sentences for word in text.split(" ")])[2]
    logp, assigned, counts, seen = [], [], [], []
    for summary in summaries:
        columns = [place[sentence] for sentence in summary]
        logp.append(float(matrix[np.ix_(chosen, columns)].max(axis=1).sum()))
        whole = np.tile(matrix[:, columns].T, math.ceil(len(columns) / len(sources)))
        assigned.append(float(whole[linear_sum_assignment(whole, maximize=True)].sum()))
        counts.append(sum(most for _, most in summary))
        seen.append([_seen(_ids(vocabulary, [text], unknowns, most), vocabulary, copies) for text, most in summary])
    return Weighed(logp, counts, seen, assigned)


def _within(target: Target, most: int) -> list[tuple[str, int]]:
    """The sentences that begin within the first `most` words, and how many words of each lie there."""
    found = []
    for sentence in filter(None, target):
        if most <= 0:
            break
        found.append((sentence, min(sentence.count(" ") + 1, most)))
        most -= found[-1][1]
    return found


@torch.no_grad()
def _of_pretrained(system: PretrainedSystem, asked: Sequence[Asked]) -> list[Weighed]:
    """Tokens are read as a text of words and blanks, golds and contrasts alike."""
    model, subwords = system.model, system.model.subwords
    found: list[Weighed] = []
    for one in asked:
        targets = [subwords.target(target, system.target_tokens) for target in one.targets]
        if subwords.writes is not None:
            targets = [(ids[: subwords.writes], at[: subwords.writes], size) for ids, at, size in targets]
        item = Item(
            replace(one.item.record, target=[], references=[]), Text(one.item.text.id, one.item.text.source, [])
        )
        (source,) = system.examples([item], max(len(ids) for ids, _, _ in targets))
        distinct = {
            tuple(ids): TextExample(source.record, source.source, ids, at, size, False) for ids, at, size in targets
        }
        memory = model.encode(model.collate([source]).to(system.device))
        values: dict[tuple[int, ...], float] = {}
        ordered = sorted(distinct, key=len)
        for first in range(0, len(ordered), BATCH):
            part = ordered[first : first + BATCH]
            batch = model.collate([distinct[ids] for ids in part]).to(system.device)
            rows = torch.zeros(len(part), dtype=torch.long, device=system.device)
            scored, _ = model.gold(batch, memory.select(rows))
            values |= dict(zip(part, scored.double().sum(1).tolist(), strict=True))
        seen = [tuple(ids) for ids, _, _ in targets]
        found.append(Weighed([values[ids] for ids in seen], [len(ids) for ids in seen], seen))
    return found


def _of_fairseq(system: FairseqSystem, asked: Sequence[Asked]) -> list[Weighed]:
    vocabulary, copies = system.model.vocabulary, system.model.settings.copies
    pairs: dict[tuple[int, tuple[int, ...]], tuple[Example, list[int]]] = {}
    rows: list[list[tuple[int, ...]]] = []
    for number, one in enumerate(asked):
        example = _source(one.item.record, vocabulary, system.source_tokens)
        targets = [_ids(vocabulary, target, example.unknowns, system.target_tokens) for target in one.targets]
        rows.append([_seen(ids, vocabulary, copies) for ids in targets])
        pairs |= {(number, seen): (example, ids[1]) for seen, ids in zip(rows[-1], targets, strict=True)}
    order = sorted(pairs, key=lambda key: (len(pairs[key][0].source), len(key[1])))
    values: dict[tuple[int, tuple[int, ...]], float] = {}
    for first in range(0, len(order), PAIRS):
        part = order[first : first + PAIRS]
        scored = system.model.score([pairs[key] for key in part])
        values |= {key: math.fsum(line) for key, line in zip(part, scored, strict=True)}
    return [
        Weighed([values[number, seen] for seen in row], [len(seen) for seen in row], row)
        for number, row in enumerate(rows)
    ]


def _of_command(system: Command, asked: Sequence[Asked], target_tokens: int) -> list[Weighed]:
    cut = [[tokens_of(target, target_tokens) for target in one.targets] for one in asked]
    pairs = [(one.item, target) for one, row in zip(asked, cut, strict=True) for target, _ in row]
    values = iter(system.word_logp([item for item, _ in pairs], [target for _, target in pairs]))
    found = []
    for row in cut:
        lines = [next(values) for _ in row]
        seen = [target for target, _ in row]
        found.append(Weighed([math.fsum(line) for line in lines], [len(line) for line in lines], seen))
    return found
